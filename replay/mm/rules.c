// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/rules.h"

#include <stdlib.h>
#include <string.h>

/* 5.6 and 5.7 differ in lru_add() only. */
#define RULES_OF_5_6_AND_5_7                                                                       \
	.folio_batch_size = 15, .lru_cached_order_limit = 1, .zap_drains = true,                   \
	.release_pages = true, .memcg_stock_pages = 32, .nr_memcg_stocks = 1,                      \
	.proactive_parts = 1, .node_lru_lock = true, .exact_stats = true, .full_memcg_walk = true, \
	.balance_by_rotation = true, .kswapd_scans_only = true, .file_workingset_only = true,      \
	.anon_starts_active = true

/* 6.1.192, 6.12.117 and 6.7 up to 6.13: rules of MGLRU that 6.14 changed. */
#define LRU_GEN_UP_TO_6_13                                                                         \
	.refs_width = 2, .tier0_gain = 1, .tier_gain = 2, .older_type_first = true,                \
	.types_coupled = true, .aging_by_sizes = true, .rejected_to_youngest = true
#define LRU_GEN_OF_6_1                                                                             \
	LRU_GEN_UP_TO_6_13, .silent = true, .evicts_after_aging = true, .kswapd_ages = true,       \
			    .dirty_folios_wait = true, .locked_folios_wait = true,                 \
			    .protection_counts_as_activation = true

#define RULES_OF_6_1                                                                               \
	.folio_batch_size = 15, .lru_cached_order_limit = 1, .zap_drains = true,                   \
	.release_pages = true, .memcg_stock_pages = 64, .nr_memcg_stocks = 1,                      \
	.proactive_parts = 1, .full_memcg_walk = true, .reclaim_flushes = true,                    \
	.cost_is_io_only = true, .kswapd_scans_only = true, .evictable_inline = true,              \
	.lru_add_barrier = LRU_ADD_FLAG_LAST

static const struct mm_rules releases[] = {
	{
		.release = "5.6",
		RULES_OF_5_6_AND_5_7,
		.evictable_inline = false,
		.lru_add_barrier = LRU_ADD_SMP_MB,
	},
	{
		.release = "5.7",
		RULES_OF_5_6_AND_5_7,
		.evictable_inline = true,
		.lru_add_barrier = LRU_ADD_MB_AFTER_ATOMIC,
	},
	/* Up to 6.1.68: what its stable releases took from 6.7 is not there yet. */
	{
		.release = "6.1.68",
		RULES_OF_6_1,
		.lru_gen = { LRU_GEN_OF_6_1, .new_to_oldest = true,
			     .restored_at_saturation = true },
	},
	{
		.release = "6.1",
		RULES_OF_6_1,
		.lru_gen = { LRU_GEN_OF_6_1, .saturated_protected = true },
	},
	{
		.release = "6.7",
		.folio_batch_size = 15,
		.lru_cached_order_limit = 1,
		.zap_drains = true,
		.release_pages = true,
		.memcg_stock_pages = 64,
		.nr_memcg_stocks = 1,
		.proactive_parts = 1,
		.full_memcg_walk = true,
		.evictable_inline = true,
		.lru_add_barrier = LRU_ADD_FLAG_LAST,
		.lru_gen = { LRU_GEN_UP_TO_6_13, .dirty_folios_wait = true,
			     .locked_folios_wait = true, .old_refaults_count = true,
			     .memcg_lru = true, .saturated_protected = true },
	},
	{
		.release = "6.12",
		.folio_batch_size = 31,
		.lru_cached_order_limit = 1,
		.zap_drains = true,
		.memcg_stock_pages = 64,
		.nr_memcg_stocks = 1,
		.proactive_parts = 4,
		.evictable_inline = true,
		.lru_add_barrier = LRU_ADD_FLAG_LAST,
		.lru_gen = { LRU_GEN_UP_TO_6_13, .least_initial_priority = 6,
			     .activation_clears_refs = true, .old_refaults_count = true,
			     .memcg_lru = true, .saturated_protected = true },
	},
	{
		.release = "6.18",
		.folio_batch_size = 31,
		.lru_cached_order_limit = 1,
		.zap_drains = false,
		.memcg_stock_pages = 64,
		.nr_memcg_stocks = 7,
		.proactive_parts = 4,
		.note_cost_of_own_level_free = true,
		.fault_reads_executable = true,
		.evictable_inline = true,
		.lru_add_barrier = LRU_ADD_FLAG_LAST,
		.lru_gen = { .refs_width = 2,
			     .refs_need_referenced = true,
			     .insertion_by_age = true,
			     .activation_clears_refs = true,
			     .tier0_gain = 2,
			     .tier_gain = 3,
			     .tier0_protected_counts = true,
			     .type_by_all_tiers = true,
			     .min_seq_returns_early = true,
			     .budget_is_nr_to_scan = true,
			     .scales_by_protection = true,
			     .least_initial_priority = 6,
			     .protected_to_young_end = true,
			     .dirty_folios_wait = true,
			     .old_refaults_count = true,
			     .recent_is_four_generations = true,
			     .memcg_lru = true,
			     .saturated_protected = true },
	},
};

/*
 * 6.1.1 to 6.1.67 go by the row of 6.1.68. Not 6.1.0: each of Debian's kernels of 6.1 calls itself so.
 */
static bool is_before_6_1_69(const char *release)
{
	char *end;
	unsigned long point;

	if (strncmp(release, "6.1.", 4) || release[4] < '1' || release[4] > '9')
		return false;
	point = strtoul(release + 4, &end, 10);
	return point < 69;
}

const struct mm_rules *mm_rules_for_release(const char *release)
{
	if (is_before_6_1_69(release))
		release = "6.1.68";
	for (unsigned int i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		size_t n = strlen(releases[i].release);

		if (!strncmp(release, releases[i].release, n) &&
		    (release[n] < '0' || release[n] > '9'))
			return &releases[i];
	}
	return NULL;
}

const struct mm_rules *mm_rules_list(unsigned int *nr)
{
	*nr = sizeof(releases) / sizeof(releases[0]);
	return releases;
}
