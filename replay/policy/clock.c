// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clock with one bit: a folio accessed since the hand last passed is passed over once more.
 *
 *          .-- accessed since: bit cleared --.
 *          v                                 |
 *   new -> [ head ..................... tail ] -> freed
 *
 * The list's tail is the hand. The access that brings a folio in does not set its bit.
 */
#include "replay/mm/one_by_one.h"

static void clock_folio_added(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_add_folio(lruvec, folio);
}

static void clock_folio_accessed(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	(void)mm, (void)cpu;
	if (!folio_test(folio, FOLIO_demanded))
		folio_set(folio, PG_referenced);
}

static struct folio *clock_victim(struct mm *mm, struct lruvec *lruvec)
{
	struct folio *folio;

	(void)mm;
	while ((folio = lruvec_oldest(lruvec, LRU_INACTIVE_FILE)) &&
	       folio_test_clear(folio, PG_referenced))
		list_move(&folio->lru, &lruvec->lists[LRU_INACTIVE_FILE]);
	return folio;
}

const struct reclaim_policy policy_clock = {
	.name = "clock",
	.summary =
		"first in, first out, but a folio accessed meanwhile gets another round; one at a time",
	.source = "Corbato: A paging experiment with the Multics system, 1968",
	ONE_BY_ONE_OPS,
	.folio_added = clock_folio_added,
	.folio_removed = one_by_one_folio_removed,
	.folio_accessed = clock_folio_accessed,
	.victim = clock_victim,
	.check = one_by_one_check,
};
