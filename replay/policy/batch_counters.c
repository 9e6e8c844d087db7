// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes of generations updated once for all folios that one scan bumps.
 *
 * Each folio that the aging or the eviction of MGLRU moves to the next generation changes two sizes, and those of
 * vmstat's lists as well where the next generation is an active one. Nobody reads them before the lock is dropped,
 * so that one update at the end of each list does. No decision changes.
 *
 * The loops are made with and without it from one body: replay/mm/lru_gen_scan.c.
 */
#include "replay/policy/policy.h"

static void batch_counters_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->lru_gen.batch_counters = true;
}

const struct policy_patch patch_batch_counters = {
	.name = "batch_counters",
	.base = "lru_gen",
	.summary =
		"sizes of generations are updated once a list, not once a folio; decisions are equal",
	.source =
		"Kairui Song, 'mm, lru_gen: batch update pages when aging', 20240123184552.59758-1; in no release",
	.apply = batch_counters_apply,
};
