// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lru_add drain frees folios that nobody holds any more, instead of adding them.
 *
 * A folio whose owner freed it while it waited lives on by the batch's reference: the drain puts it on
 * a list under the lock, drops the reference, and takes the lock again to take it off. 7.2 looks at
 * the reference first.
 */
#include "replay/policy/policy.h"

static void dead_folios_at_drain_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->dead_folios_at_drain = true;
}

const struct policy_patch patch_dead_folios_at_drain = {
	.name = "dead_folios_at_drain",
	.base = "classic",
	.summary =
		"folios whose only reference is the batch's are freed before they are added to a list",
	.source = "JP Kobryn, 2026-04; Linux 7.2, mm/swap.c, folio_batch_move_lru()",
	.apply = dead_folios_at_drain_apply,
};
