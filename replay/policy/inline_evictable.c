// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test for unevictable pages inline, in lru_add().
 *
 * Each page that a batch adds is tested while the LRU lock is held, and up to 5.6 that was a call into
 * another file. 5.7 made page_evictable() an inline function. Nothing is decided differently: the
 * same body is compiled with and without the call, replay/mm/lru_add.c, and `replay --cost` times it.
 */
#include "replay/policy/policy.h"

static void inline_evictable_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->evictable_inline = true;
}

const struct policy_patch patch_inline_evictable = {
	.name = "inline_evictable",
	.base = "classic",
	.release = "5.6",
	.summary = "page_evictable() is inlined into lru_add(); changes cost only",
	.source =
		"Yang Shi, v4 of 2020-03-18, patch 1 of 2, 1584500541-46817-1; Linux 5.7, mm/internal.h",
	.apply = inline_evictable_apply,
};
