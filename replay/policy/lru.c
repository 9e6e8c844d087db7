// SPDX-License-Identifier: GPL-2.0-only
/*
 * Least recently used, exactly: each access moves its folio to the young end at once.
 *
 *          .--- accessed ---.
 *          v                |
 *   new -> [ head ............ tail ] -> freed
 */
#include "replay/mm/one_by_one.h"

static void lru_folio_added(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_add_folio(lruvec, folio);
}

static void lru_folio_accessed(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	(void)mm, (void)cpu;
	if (folio_test(folio, PG_lru))
		list_move(&folio->lru, &folio->lruvec->lists[folio_lru_list(folio)]);
}

static struct folio *lru_victim(struct mm *mm, struct lruvec *lruvec)
{
	(void)mm;
	return lruvec_oldest(lruvec, LRU_INACTIVE_FILE);
}

const struct reclaim_policy policy_lru = {
	.name = "lru",
	.summary = "the folio that was accessed longest ago goes first; one at a time",
	.source =
		"Mattson, Gecsei, Slutz, Traiger: Evaluation techniques for storage hierarchies, 1970",
	ONE_BY_ONE_OPS,
	.folio_added = lru_folio_added,
	.folio_removed = one_by_one_folio_removed,
	.folio_accessed = lru_folio_accessed,
	.victim = lru_victim,
	.check = one_by_one_check,
};
