// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flags of the next folio fetched while the one at hand is worked on.
 *
 * The walk over the oldest generation is a chain of dependent loads: the next address lies in the folio at hand.
 * The patch reads it first and prefetches the next folio's flags for writing. No decision changes.
 *
 * The loops are made with and without it from one body: replay/mm/lru_gen_scan.c.
 */
#include "replay/policy/policy.h"

static void prefetch_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->lru_gen.prefetch = true;
}

const struct policy_patch patch_prefetch = {
	.name = "prefetch",
	.base = "lru_gen",
	.summary =
		"the flags of the folio to be scanned next are fetched ahead; decisions are equal",
	.source =
		"Kairui Song, 'mm, lru_gen: batch update pages when aging', 20240123184552.59758-1; in no release",
	.apply = prefetch_apply,
};
