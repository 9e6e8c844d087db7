/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers and switches in which kernel releases, and patches to them, differ.
 *
 * A release is a row of values, not a copy of the code; a patch changes values of its base.
 */
#ifndef REPLAY_MM_RULES_H
#define REPLAY_MM_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* What stands in lru_add() between setting PG_lru and the test whether the folio is evictable. */
enum lru_add_barrier {
	LRU_ADD_SMP_MB, /* a full fence: up to 5.6 */
	LRU_ADD_MB_AFTER_ATOMIC, /* the atomic set orders already, on x86: 5.7 to 5.17 */
	LRU_ADD_FLAG_LAST, /* nothing: PG_lru is set after the move, by the drain: 5.18 on */
};

/*
 * MGLRU. The great change came in 6.14; smaller ones went into stable releases as well, so that Debian's
 * 6.1.192 has the insertion rule of 6.7 and its 6.12.117 is not 6.12.0. The row of a release is that of its
 * last stable version.
 */
struct lru_gen_rules {
	uint8_t refs_width; /* bits of the access count: 2 in every known configuration for amd64 */
	bool refs_need_referenced; /* the second encoding, see lru_gen_tiers.c: 6.14 on */
	bool insertion_by_age; /* counted back from max_seq, by PG_workingset: 6.14 on */
	bool activation_clears_refs; /* 6.13 on, 6.12.114 */
	uint8_t tier0_gain, tier_gain; /* 1:2, from 6.14 on 2:3 */
	bool tier0_protected_counts; /* protected pages of tier 0 are counted too: 6.14 on */
	bool type_by_all_tiers; /* anon or file by the sums of all tiers: 6.14 on; before by tier 0 */
	bool older_type_first; /* min_seq decides which type is scanned: up to 6.13 */
	bool types_coupled; /* anon never has fewer generations than file: up to 6.13 */
	bool min_seq_returns_early; /* nothing is done to min_seq where no list is empty: 6.18 */
	bool aging_by_sizes; /* with three generations their sizes decide: up to 6.13 */
	bool silent; /* reclaim emits no isolate and shrink events: up to 6.6 */
	bool evicts_after_aging; /* in the same call: 6.1 */
	bool memcg_lru; /* reclaim from everybody has an order of its own: 6.3 on */
	bool kswapd_ages; /* before a round, and nowhere else: 6.1 */
	bool new_to_oldest; /* a new folio joins min_seq, an anon one min_seq + 1: before 6.1.69 */
	bool saturated_protected; /* whatever tiers may go: not before 6.1.69 */
	bool restored_at_saturation; /* a refault counts as a stall if its folio was saturated: before 6.1.69 */
	bool budget_is_nr_to_scan; /* of one scan: 6.18; before MAX_LRU_BATCH */
	bool scales_by_protection; /* memory.min and low leave less to look at: 6.18 */
	uint8_t least_initial_priority; /* of a large goal: 6 from 6.12 on, before 0 */
	bool protected_to_young_end; /* protected folios go to the young end: 6.14 on */
	bool dirty_folios_wait; /* they are sorted, not isolated: not in 6.12.114 and 7.x */
	bool locked_folios_wait; /* so are locked ones: up to 6.13, where dirty ones are */
	bool rejected_to_youngest; /* what reclaim could not free joins max_seq: up to 6.13 */
	bool old_refaults_count; /* WORKINGSET_REFAULT counts those that are not recent: 6.6 on */
	bool recent_is_four_generations; /* 6.14 on; before, the oldest generation only */
	bool protection_counts_as_activation; /* WORKINGSET_ACTIVATE is of protected folios: up to 6.5 */

	/* Kairui Song's series, in no release: how the loops over the oldest generation are written. */
	bool batch_counters, bulk_move, prefetch;
};

struct mm_rules {
	const char *release; /* "6.18" */
	unsigned int folio_batch_size; /* PAGEVEC_SIZE: 15 up to 6.8, 31 from 6.9 */
	unsigned int lru_cached_order_limit; /* folios of a lower order may wait in a batch: 1 */
	bool zap_drains; /* munmap, exit and MADV_DONTNEED drain the local batches: up to 6.13 */
	bool dead_folios_at_drain; /* the lru_add drain frees what only it still holds: 7.2 on */
	bool release_pages; /* a zap's bundle is freed as a whole, 32 folios a hold: up to 6.8 */
	unsigned int memcg_stock_pages; /* MEMCG_CHARGE_BATCH: 32 up to 5.19, 64 from 6.0 */
	unsigned int
		nr_memcg_stocks; /* memcgs whose charges a CPU keeps in stock: 1, NR_MEMCG_STOCK = 7 from 6.16 */
	unsigned int
		proactive_parts; /* memory.reclaim asks for one in so many of what is left: 4 from 6.9, before 1 */
	/* The caller's lock serves the first level, and no cost is not noted: 6.17 on. */
	bool note_cost_of_own_level_free;
	bool node_lru_lock; /* one lru_lock for all memcgs of a node: up to 5.10 */
	bool exact_stats; /* lruvec_page_state() is up to date, not of the last rstat flush: up to 5.12 */
	bool full_memcg_walk; /* reclaim visits all memcgs below its target: up to 6.11 */
	bool reclaim_flushes; /* enough pending updates are flushed at each priority: 6.1, gone in 6.7 */
	bool cost_is_io_only; /* a page of I/O costs 1, rotations nothing: up to 6.3 */
	bool kswapd_scans_only; /* kswapd's rounds count pages looked at, not those freed: up to 6.1 */
	bool balance_by_rotation; /* recent_rotated/recent_scanned instead of costs: up to 5.7 */
	bool file_workingset_only; /* no ages and no shadows of anon: up to 5.8 */
	bool anon_starts_active; /* up to 5.8 */
	/* A fault that misses on an executable mapping reads from its page on, not around it: 6.17 on. */
	bool fault_reads_executable;

	struct lru_gen_rules lru_gen;

	/* What one folio costs in lru_add(); no decision hangs on these. */
	bool evictable_inline; /* page_evictable() is no call: 5.7 on */
	enum lru_add_barrier lru_add_barrier;
};

/** mm_rules_for_release() - the row of a release, "6.18" or a full uname -r; NULL: not modelled. */
const struct mm_rules *mm_rules_for_release(const char *release);

/** mm_rules_list() - the modelled releases, newest last; @nr set to their number. */
const struct mm_rules *mm_rules_list(unsigned int *nr);

#endif
