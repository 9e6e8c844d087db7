// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios that one scan bumps move to the next generation as one run.
 *
 * One by one from the old end to the old end they come out reversed. As a run they keep their order, so that later
 * scans meet them oldest first: a change of policy, however small. Those that go to the young end (6.14 on: all
 * protected ones) are moved one by one as before.
 *
 * The loops are made with and without it from one body: replay/mm/lru_gen_scan.c.
 */
#include "replay/policy/policy.h"

static void bulk_move_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->lru_gen.bulk_move = true;
}

const struct policy_patch patch_bulk_move = {
	.name = "bulk_move",
	.base = "lru_gen",
	.summary = "bumped folios are moved to the next generation as one run; changes their order",
	.source =
		"Kairui Song, 'mm, lru_gen: batch update pages when aging', 20240123184552.59758-1; in no release",
	.apply = bulk_move_apply,
};
