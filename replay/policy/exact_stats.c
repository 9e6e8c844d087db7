// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stale statistics cost: list sizes and refault counts are flushed at each use.
 *
 * Whether active folios are deactivated, whether a refault is within the workingset and whether anon is
 * left alone hangs on statistics as of the last rstat flush, up to 2 s ago and longer. No kernel flushes
 * each time, it would take too long; this tells what it would decide if it could.
 */
#include "replay/policy/policy.h"

static void exact_stats_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->exact_stats = true;
}

const struct policy_patch patch_exact_stats = {
	.name = "exact_stats",
	.base = "classic",
	.summary = "lruvec_page_state() is up to date at each use, not as of the last flush",
	.source =
		"no kernel's; up to 5.12, before rstat, it was so but for batches of 32 pages a CPU",
	.apply = exact_stats_apply,
};
