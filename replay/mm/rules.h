/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers and switches in which kernel releases, and patches to them, differ.
 *
 * A release is a row of values, not a copy of the code; a patch changes values of its base.
 */
#ifndef REPLAY_MM_RULES_H
#define REPLAY_MM_RULES_H

#include <stdbool.h>

struct mm_rules {
	const char *release; /* "6.18" */
	unsigned int folio_batch_size; /* PAGEVEC_SIZE: 15 up to 6.8, 31 from 6.9 */
	unsigned int lru_cached_order_limit; /* folios of a lower order may wait in a batch: 1 */
	bool zap_drains; /* munmap, exit and MADV_DONTNEED drain the local batches: up to 6.13 */
	unsigned int memcg_stock_pages; /* MEMCG_CHARGE_BATCH: 64 */
	bool note_cost_of_own_level_free; /* the caller's lock serves the first level: 6.17 on */
};

/** mm_rules_for_release() - the row of a release, "6.18" or a full uname -r; NULL: not modelled. */
const struct mm_rules *mm_rules_for_release(const char *release);

/** mm_rules_list() - the modelled releases, newest last; @nr set to their number. */
const struct mm_rules *mm_rules_list(unsigned int *nr);

#endif
