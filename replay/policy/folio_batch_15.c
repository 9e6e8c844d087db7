// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches of 15 folios, as they were up to 6.8.
 *
 * 6.9 made struct folio_batch hold 31 (PAGEVEC_SIZE), so that one hold of the lruvec lock serves twice
 * as many folios. This takes it back: more holds, and folios that reach their lists earlier.
 */
#include "replay/policy/policy.h"

static void folio_batch_15_apply(struct mm_rules *rules, int64_t value)
{
	(void)value; /* no setting */
	rules->folio_batch_size = 15;
}

const struct policy_patch patch_folio_batch_15 = {
	.name = "folio_batch_15",
	.base = "classic",
	.summary = "15 folios fill a per-CPU batch or a batch of frees, not 31",
	.source = "Linux 6.8, include/linux/pagevec.h: PAGEVEC_SIZE; 31 by Matthew Wilcox in 6.9",
	.apply = folio_batch_15_apply,
};
