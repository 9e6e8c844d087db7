// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/rules.h"

#include <string.h>

static const struct mm_rules releases[] = {
	{
		.release = "6.18",
		.folio_batch_size = 31,
		.lru_cached_order_limit = 1,
		.zap_drains = false,
		.memcg_stock_pages = 64,
		.note_cost_of_own_level_free = true,
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
