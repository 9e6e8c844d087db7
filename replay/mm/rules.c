// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/rules.h"

#include <string.h>

/* 5.6 and 5.7 differ in lru_add() only. */
#define RULES_OF_5_6_AND_5_7                                                                       \
	.folio_batch_size = 15, .lru_cached_order_limit = 1, .zap_drains = true,                   \
	.release_pages = true, .memcg_stock_pages = 32, .node_lru_lock = true,                     \
	.exact_stats = true, .full_memcg_walk = true, .balance_by_rotation = true,                 \
	.file_workingset_only = true, .anon_starts_active = true

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
	{
		.release = "6.18",
		.folio_batch_size = 31,
		.lru_cached_order_limit = 1,
		.zap_drains = false,
		.memcg_stock_pages = 64,
		.note_cost_of_own_level_free = true,
		.evictable_inline = true,
		.lru_add_barrier = LRU_ADD_FLAG_LAST,
	},
};

const struct mm_rules *mm_rules_for_release(const char *release)
{
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
