// SPDX-License-Identifier: GPL-2.0-only
/*
 * No full fence for each page that lru_add() puts on a list.
 *
 * Setting PG_lru must be seen before the page is tested for mlock, or a page that is munlocked at the
 * same time stays unevictable. Up to 5.6 smp_mb() stood between the two, inside the lock. The flag is
 * set by an atomic instruction, which on x86 orders by itself: smp_mb__after_atomic() costs nothing
 * there. Nothing is decided differently: replay/mm/lru_add.c, `replay --cost`.
 */
#include "replay/policy/policy.h"

static void mb_after_atomic_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->lru_add_barrier = LRU_ADD_MB_AFTER_ATOMIC;
}

const struct policy_patch patch_mb_after_atomic = {
	.name = "mb_after_atomic",
	.base = "classic",
	.release = "5.6",
	.summary = "smp_mb__after_atomic() for smp_mb() in lru_add(); changes cost only",
	.source =
		"Yang Shi, v4 of 2020-03-18, patch 2 of 2, 1584500541-46817-1; Linux 5.7, mm/swap.c",
	.apply = mb_after_atomic_apply,
};
