// SPDX-License-Identifier: GPL-2.0-only
/*
 * munmap, exit and MADV_DONTNEED drain the CPU's LRU batches, as they did up to 6.13.
 *
 * A task that drops memory which it has just got puts the last of it on a list first, to be taken off
 * again. 6.14 leaves it in its batch: fewer and fuller drains, and folios that die while they wait.
 */
#include "replay/policy/policy.h"

static void zap_drains_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->zap_drains = true;
}

const struct policy_patch patch_zap_drains = {
	.name = "zap_drains",
	.base = "classic",
	.summary = "munmap, exit and MADV_DONTNEED drain the CPU's batches before they free folios",
	.source =
		"Linux 6.13, mm/memory.c, mm/mmap.c, mm/swap_state.c; taken out by Rik van Riel in 6.14",
	.apply = zap_drains_apply,
};
