// SPDX-License-Identifier: GPL-2.0-only
/*
 * First in, first out: accesses change nothing. The shortest whole policy.
 *
 *   new -> [ head ............ tail ] -> freed
 */
#include "replay/mm/one_by_one.h"

/* A new folio, or one that could not go when its turn came: to the young end of its list. */
static void fifo_folio_added(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_add_folio(lruvec, folio);
}

static void fifo_folio_accessed(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	(void)mm, (void)cpu, (void)folio;
}

static struct folio *fifo_victim(struct mm *mm, struct lruvec *lruvec)
{
	(void)mm;
	return lruvec_oldest(lruvec, LRU_INACTIVE_FILE);
}

const struct reclaim_policy policy_fifo = {
	.name = "fifo", /* also file, command line, results column, and the line in policies.def */
	.summary = "the folio that came first goes first; one at a time",
	.source = "the least a policy can do",
	ONE_BY_ONE_OPS,
	.folio_added = fifo_folio_added,
	.folio_removed = one_by_one_folio_removed,
	.folio_accessed = fifo_folio_accessed,
	.victim = fifo_victim,
	.check = one_by_one_check,
};
