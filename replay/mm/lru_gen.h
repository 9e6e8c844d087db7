/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MGLRU: a lruvec's folios by generation instead of by two lists.
 *
 *            young end                                              old end
 *   max_seq    [ . . . . . . ]   added by faults, or rejected by reclaim
 *   max_seq-1  [ . . . . . . ]
 *   ...
 *   min_seq    [ . . . . . . ] ---> scan: evicted, or moved to the next generation
 *
 * A type (anon, file) has two to four generations, min_seq[type] to max_seq. An access by a file
 * descriptor moves nothing: it counts in the folio's flags, and the count says its tier. The scan
 * meets the folio at the old end of the oldest generation and either evicts it or, if folios of its
 * tier come back more often than those of tier 0 do, moves it on: protection.
 *
 *   lru_gen.c             generations: where a folio goes, and how it leaves
 *   lru_gen_tiers.c       access counts, tiers, and the controller that compares refault rates
 *   lru_gen_aging.c       max_seq and min_seq move
 *   lru_gen_node.c        rounds over all memcgs, and the order in which they come
 *   memcg_lru.c           that order
 *   lru_gen_scan.c        the loops over the oldest generation
 *   lru_gen_loops.c       those loops over lists of any length, to be timed
 *   lru_gen_workingset.c  shadows and refaults
 *   policy/lru_gen.c      when each of it happens in a reclaim call
 *
 * Kernel: mm/vmscan.c, include/linux/mm_inline.h, mm/workingset.c, v6.1 to v6.18; what differs between
 * releases is in struct lru_gen_rules. docs/mglru.md draws all of it.
 */
#ifndef REPLAY_MM_LRU_GEN_H
#define REPLAY_MM_LRU_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/list_loop.h"
#include "replay/mm/mm.h"
#include "replay/mm/scan_control.h"
#include "replay/mm/workingset.h"

/* Kernel: include/linux/mmzone.h, v6.18. */
#define MIN_NR_GENS 2
#define MAX_NR_GENS 4
#define MAX_NR_TIERS 4
#define MIN_LRU_BATCH 64 /* pages: enough isolated for one evict */
#define MAX_LRU_BATCH 4096 /* folios: looked at under one hold of the lock */
#define MAX_SWAPPINESS 200

#define LRU_GEN_ANON 0
#define LRU_GEN_FILE 1

/* The kernel's struct of this name: what a lruvec has under MGLRU. Lies in lruvec.private. */
struct lru_gen_folio {
	uint64_t max_seq;
	uint64_t min_seq[ANON_AND_FILE];
	struct list_head folios[MAX_NR_GENS][ANON_AND_FILE][MAX_NR_ZONES];
	int64_t nr_pages[MAX_NR_GENS][ANON_AND_FILE][MAX_NR_ZONES]; /* by the folios' flags */
	/* Exponential averages over generations gone by: the controller's memory. */
	uint64_t avg_refaulted[ANON_AND_FILE][MAX_NR_TIERS];
	uint64_t avg_total[ANON_AND_FILE][MAX_NR_TIERS];
	/* Of the oldest generation; zeroed when it is used up. */
	uint64_t evicted[ANON_AND_FILE][MAX_NR_TIERS];
	uint64_t refaulted[ANON_AND_FILE][MAX_NR_TIERS];
	uint64_t protected[ANON_AND_FILE][MAX_NR_TIERS];
	uint64_t birth_ns[MAX_NR_GENS]; /* of generations, trace clock */
	struct memcg_lru_node memcg_lru; /* on node 0 */
};

/* A folio's part of it, in folio.private[]. PG_referenced and PG_workingset count along. */
struct lru_gen_flags {
	uint8_t gen; /* its generation + 1; 0: on no generation's list */
	uint8_t refs; /* accesses beyond those that the two flags tell, LRU_REFS_WIDTH bits */
	uint8_t zone; /* since it was put on a list */
};

static inline struct lru_gen_folio *lruvec_lru_gen(const struct lruvec *lruvec)
{
	return lruvec->private;
}

static inline struct lru_gen_flags *folio_lru_gen_flags(struct folio *folio)
{
	return (struct lru_gen_flags *)folio->private;
}

static inline const struct lru_gen_rules *lru_gen_rules(const struct mm *mm)
{
	return &mm->config.rules.lru_gen;
}

static inline int lru_gen_from_seq(uint64_t seq)
{
	return (int)(seq % MAX_NR_GENS);
}

static inline unsigned int get_nr_gens(const struct lru_gen_folio *lrugen, int type)
{
	return (unsigned int)(lrugen->max_seq - lrugen->min_seq[type] + 1);
}

/** lru_gen_is_active() - vmstat counts this generation as active: one of the two youngest. */
static inline bool lru_gen_is_active(const struct lru_gen_folio *lrugen, int gen)
{
	return gen == lru_gen_from_seq(lrugen->max_seq) ||
	       gen == lru_gen_from_seq(lrugen->max_seq - 1);
}

/* The list of vmstat that a generation counts in. */
static inline enum lru_list lru_gen_list(const struct lru_gen_folio *lrugen, int type, int gen)
{
	return (type ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON) +
	       (lru_gen_is_active(lrugen, gen) ? 1u : 0u);
}

/** lru_gen_evictable() - reclaim with this swappiness may take folios of the type. */
static inline bool lru_gen_evictable(const struct mm *mm, int type, unsigned int swappiness)
{
	if (type == LRU_GEN_FILE)
		return swappiness <= MAX_SWAPPINESS || !lru_gen_rules(mm)->refs_need_referenced;
	return swappiness > 0;
}

/* ---- lru_gen.c */

/**
 * lru_gen_init_lruvec() - four empty generations, in lruvec->private
 * Kernel: mm/vmscan.c, lru_gen_init_lruvec(), v6.18.
 */
void lru_gen_init_lruvec(struct lruvec *lruvec);

/**
 * lru_gen_update_size() - pages change generation; the sizes of vmstat's lists follow
 * @old_gen, @new_gen: -1: they come, they go
 * Kernel: include/linux/mm_inline.h, lru_gen_update_size(), v6.18.
 */
void lru_gen_update_size(struct lruvec *lruvec, int type, int zone, int old_gen, int new_gen,
			 int64_t pages);

/**
 * lru_gen_folio_seq() - the generation in which a folio belongs that is put on a list
 * @reclaiming: it goes to the old end: rotated
 * Kernel: include/linux/mm_inline.h, lru_gen_folio_seq(), v6.18.
 */
uint64_t lru_gen_folio_seq(const struct mm *mm, const struct lruvec *lruvec,
			   const struct folio *folio, bool reclaiming);

/**
 * lru_gen_add_folio() - put a folio on the list of its generation, or on the unevictable list
 * PG_active, a message to this function, is consumed.
 * Kernel: include/linux/mm_inline.h, lru_gen_add_folio(), v6.18.
 */
void lru_gen_add_folio(struct mm *mm, struct lruvec *lruvec, struct folio *folio, bool reclaiming);

/**
 * lru_gen_del_folio() - take a folio off its list
 * @reclaiming: by reclaim; else it remembers in PG_active that its generation was active
 * Kernel: include/linux/mm_inline.h, lru_gen_del_folio(), v6.18.
 */
void lru_gen_del_folio(struct lruvec *lruvec, struct folio *folio, bool reclaiming);

/** lru_gen_add_bumped() - onto the list that a protected folio of the oldest generation goes to. */
void lru_gen_add_bumped(struct mm *mm, struct lruvec *lruvec, struct folio *folio);

/** lru_gen_check() - lists, flags and sizes agree; so do the numbers of generations. */
bool lru_gen_check(const struct mm *mm, const struct lruvec *lruvec);

/* ---- lru_gen_node.c: what concerns all memcgs of a node */

/** lru_gen_online_changed() - a new memcg joins the memcg LRU, a removed one is to be met soon. */
void lru_gen_online_changed(struct mm *mm, struct mem_cgroup *memcg);

/** lru_gen_rotate_memcg() - move a lruvec's memcg in the memcg LRU: memcg_lru_rotate() */
void lru_gen_rotate_memcg(struct mm *mm, struct lruvec *lruvec, enum memcg_lru_op op);

/** lru_gen_swappiness() - of a memcg in this call: 0 if it has no swap left. Kernel: mm/vmscan.c, get_swappiness(), v6.18. */
unsigned int lru_gen_swappiness(const struct reclaim_walk *walk, const struct mem_cgroup *memcg);

/**
 * lru_gen_prepare_scan() - a round, or a priority, begins
 * kswapd looks whether anything is old enough, and in 6.1 ages; then batches are drained, and a large goal
 * starts at the priority that has a chance to meet it.
 * Kernel: mm/vmscan.c, lru_gen_age_node(), set_initial_priority(), lru_gen_shrink_node(), v6.12 and v6.1.
 * Differs: who is to be killed where nothing is older than min_ttl_ms is not decided; that it would be is counted.
 */
void lru_gen_prepare_scan(struct reclaim_walk *walk);

/** lru_gen_has_own_order() - there is a memcg LRU: 6.3 on. */
bool lru_gen_has_own_order(const struct mm *mm);

/**
 * lru_gen_next_memcg() - where the last memcg goes, and which one comes next
 * Kernel: mm/vmscan.c, shrink_many(), shrink_one(), v6.12.
 */
struct mem_cgroup *lru_gen_next_memcg(struct reclaim_walk *walk);

/**
 * lru_gen_rotation() - shrink_one()'s answer: where the memcg goes that was just shrunk
 * Kernel: mm/vmscan.c, shrink_one(), lruvec_is_sizable(), v6.12.
 */
enum memcg_lru_op lru_gen_rotation(const struct reclaim_walk *walk);

/**
 * lru_gen_should_abort_scan() - enough, before enough pages were looked at?
 * Kernel: mm/vmscan.c, should_abort_scan(), v6.12 and v6.1.
 * Differs: memory tiering's marks are not known. In check free pages are not, so that only the goal counts.
 */
bool lru_gen_should_abort_scan(struct reclaim_walk *walk);

/* ---- lru_gen_tiers.c */

/**
 * lru_gen_inc_refs() - an access by file descriptor: counted, nothing moves
 * Kernel: mm/swap.c, lru_gen_inc_refs(), v6.18; folio_inc_refs(), v6.12.
 */
void lru_gen_inc_refs(const struct mm *mm, struct folio *folio);

/** folio_lru_refs() - accesses beyond the first. Kernel: include/linux/mm_inline.h, v6.18. */
unsigned int folio_lru_refs(const struct lru_gen_rules *rules, const struct folio *folio);

/** lru_gen_tier() - of a folio with so many accesses. Kernel: lru_tier_from_refs(), v6.18. */
unsigned int lru_tier_from_refs(const struct lru_gen_rules *rules, unsigned int refs,
				bool workingset);

/** lru_gen_set_accesses() - as if it had been accessed so often; @accesses: from 5 on it is saturated. */
void lru_gen_set_accesses(const struct mm *mm, struct folio *folio, unsigned int accesses);

/** lru_gen_saturated() - accessed so often that no more can be counted: always protected. */
bool lru_gen_saturated(const struct lru_gen_rules *rules, const struct folio *folio);

/**
 * get_tier_idx() - the highest tier whose folios may be evicted
 * Those above come back too often, measured by tier 0 of the same type.
 * Kernel: mm/vmscan.c, get_tier_idx(), v6.18.
 */
int get_tier_idx(const struct mm *mm, const struct lruvec *lruvec, int type);

/**
 * get_type_to_scan() - anon or file, by their refault rates and swappiness
 * @tier_idx: set to the highest tier to evict, or -1: get_tier_idx() is to be asked
 * Kernel: mm/vmscan.c, get_type_to_scan(), v6.18 and v6.12.
 */
int get_type_to_scan(const struct mm *mm, const struct lruvec *lruvec, unsigned int swappiness,
		     int *tier_idx);

/**
 * reset_ctrl_pos() - the oldest generation is used up: its counts become part of the averages
 * Kernel: mm/vmscan.c, reset_ctrl_pos(), v6.18. Differs: one generation's counts are kept, as without
 * CONFIG_LRU_GEN_STATS.
 */
void reset_ctrl_pos(const struct mm *mm, struct lruvec *lruvec, int type);

/* ---- lru_gen_aging.c */

/** lru_gen_evictable_pages() - pages of all live generations of the evictable types. */
uint64_t lru_gen_evictable_pages(const struct mm *mm, const struct lruvec *lruvec,
				 unsigned int swappiness);

/** lru_gen_oldest_seq() - min_seq of the type that decides when to age. */
uint64_t lru_gen_oldest_seq(const struct mm *mm, const struct lruvec *lruvec,
			    unsigned int swappiness);

/**
 * lru_gen_should_age() - too few generations are left, or they are too unequal
 * Kernel: mm/vmscan.c, should_run_aging(), v6.18 and v6.12.
 */
bool lru_gen_should_age(const struct mm *mm, const struct lruvec *lruvec, unsigned int swappiness);

/**
 * lru_gen_inc_max_seq() - a new youngest generation; with four of them, the oldest merges into the next
 * Kernel: mm/vmscan.c, try_to_inc_max_seq(), inc_max_seq(), inc_min_seq(), v6.18.
 * Differs: page tables are not walked: no tape shows young bits.
 */
void lru_gen_inc_max_seq(struct mm *mm, struct lruvec *lruvec, unsigned int swappiness);

/**
 * lru_gen_try_to_inc_min_seq() - give up oldest generations that have become empty
 * Return: there was one.
 * Kernel: mm/vmscan.c, try_to_inc_min_seq(), v6.18 and v6.12.
 */
bool lru_gen_try_to_inc_min_seq(struct mm *mm, struct lruvec *lruvec, unsigned int swappiness);

/* ---- lru_gen_scan.c */

/**
 * lru_gen_scan_folios() - isolate from the oldest generation of a type
 * @request: type (by its lru), budget, tier
 * @taken: gets the isolated folios, oldest first
 * @result: nr_scanned, nr_taken, nr_pgscan, nr_pgrefill are added to
 * Return: pages looked at, 0 if nothing came of it.
 * Kernel: mm/vmscan.c, scan_folios(), sort_folio(), isolate_folio(), v6.18 and v6.12.
 */
uint64_t lru_gen_scan_folios(struct mm *mm, const struct scan_request *request,
			     struct list_head *taken, struct scan_result *result);

enum scan_fate {
	SCAN_MOVES_ON,
	SCAN_TAKES,
};

/**
 * lru_gen_preview() - what lru_gen_scan_folios() would find; nothing changes
 * @fate: asked for each folio, oldest first: does the scan take it? @would_take: by the rules it does
 * @result: nr_scanned and nr_taken are added to
 */
void lru_gen_preview(struct mm *mm, const struct scan_request *request,
		     enum scan_fate (*fate)(void *ctx, struct folio *folio, bool would_take),
		     void *ctx, struct scan_result *result);

/**
 * lru_gen_merge_oldest() - move the folios of the oldest generation to the next, for inc_min_seq()
 * @remaining: folios that may still be moved; counted down
 * Return: done; false: the budget ended first.
 */
bool lru_gen_merge_oldest(struct mm *mm, struct lruvec *lruvec, int type, unsigned int *remaining);

/** lru_gen_shape_name() - the loops' shape in words, for tables. */
const char *lru_gen_shape_name(const struct mm_rules *rules);

/* ---- lru_gen_loops.c */

#define NR_LRU_GEN_LOOPS 3

/* The loops over the oldest generation, to be timed: merged into the next, bumped, isolated. */
extern const struct list_loop lru_gen_loop[NR_LRU_GEN_LOOPS];

/* ---- lru_gen_workingset.c */

/**
 * lru_gen_eviction() - an isolated folio is reclaimed: counted by its tier, remembered in a shadow
 * Kernel: mm/workingset.c, lru_gen_eviction(), v6.18 and v6.12.
 */
struct shadow lru_gen_eviction(const struct mm *mm, struct folio *folio);

/**
 * lru_gen_refault() - it comes back: counted if its generation is still recent
 * Kernel: mm/workingset.c, lru_gen_refault(), v6.18 and v6.12.
 */
void lru_gen_refault(const struct mm *mm, struct folio *folio, struct shadow shadow);

#endif
