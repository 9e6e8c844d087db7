// SPDX-License-Identifier: GPL-2.0-only
/* The per-CPU batches as they were before they grew to 31. Worked example of docs/policies.md. */
#include "replay/policy/policy.h"

static void batch_of_15_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->folio_batch_size = 15;
}

const struct policy_patch patch_batch_of_15 = {
	.name = "batch_of_15",
	.base = "classic",
	.summary = "15 folios fill a per-CPU batch",
	.source = "Linux up to 6.8, include/linux/pagevec.h: PAGEVEC_SIZE",
	.apply = batch_of_15_apply,
};
