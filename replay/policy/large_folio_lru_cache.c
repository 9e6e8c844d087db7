// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let small large folios wait in the per-CPU batches.
 *
 * Unpatched, folio_may_be_lru_cached() is true for single pages only: any large folio drains the
 * batch it is put in, itself included, so that each 16 KiB folio costs one hold of the lruvec
 * lock. The patch raises the limit to orders below PAGE_ALLOC_COSTLY_ORDER.
 */
#include "replay/policy/policy.h"

static const struct policy_param order_limit = {
	.name = "order_limit",
	.unit = "log2 of base pages",
	.preset = 3, /* PAGE_ALLOC_COSTLY_ORDER, include/linux/mmzone.h */
	.least = 1,
	.greatest = 10,
	.help = "folios of a lower order than this may wait in a batch; 1 is the unpatched kernel",
};

static void large_folio_lru_cache_apply(struct mm_rules *rules, int64_t value)
{
	rules->lru_cached_order_limit = (unsigned int)value;
}

const struct policy_patch patch_large_folio_lru_cache = {
	.name = "large_folio_lru_cache",
	.base = "classic",
	.summary =
		"folios of small orders wait in the per-CPU LRU batches instead of draining them",
	.source = "Barry Song, RFC of mid-2026: folio_may_be_lru_cached() tests "
		  "folio_order() < PAGE_ALLOC_COSTLY_ORDER",
	.param = &order_limit,
	.apply = large_folio_lru_cache_apply,
};
