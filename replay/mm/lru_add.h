/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lru_add(): the folios of a drained batch go on their lists, under the LRU lock, in the shapes that
 * the kernel has given this step:
 *
 *   rules                      evictability test    after PG_lru is set, before the test
 *   5.6                        a call                smp_mb(): a full fence
 *   5.6+inline_evictable       inline                smp_mb()
 *   5.6+mb_after_atomic        a call                smp_mb__after_atomic(): no code on x86
 *   5.7, or 5.6 with both      inline                smp_mb__after_atomic()
 *   5.18 on                    inline                none: PG_lru is set after the move
 *
 * They all decide the same; what differs is what a folio costs while others wait for the lock. All are
 * made from one body at compile time, so that two of them differ in nothing but that: replay/cost.h
 * measures it.
 *
 * Flags are set by the atomic instructions that the kernel uses there, and the lock's word is taken and
 * released as an uncontended spinlock is. Not there, in any shape: switching interrupts off and on,
 * per-CPU vmstat and event counters (the lruvec's own stand for them), finding the memcg's lruvec (the
 * folio knows it), the indirect call for each folio that 5.6 makes, the tracepoint's jump. So a folio
 * costs less here than in the kernel, and what a shape saves is a greater share of it.
 */
#ifndef REPLAY_MM_LRU_ADD_H
#define REPLAY_MM_LRU_ADD_H

#include <stdbool.h>
#include <stdint.h>

struct folio;
struct lru_add;
struct mm_rules;

/* Folios of one lock's lruvecs, on no list: take the lock, put each where it belongs, release it. */
typedef void lru_add_run_fn(struct lru_add *lru_add, struct folio *const *folio, unsigned int nr);

/* The flags of a file: whether its folios may be reclaimed (AS_UNEVICTABLE). */
struct address_space {
	unsigned long flags;
};

#define LRU_ADD_MAPPINGS 16 /* files share them by number: none is unevictable in a replay */

struct lru_add {
	lru_add_run_fn *run; /* the shape that the rules say */
	uint32_t lock;
	uint64_t unevictable_pgrescued, unevictable_pgculled; /* folios */
	struct address_space mapping[LRU_ADD_MAPPINGS];
};

/** lru_add_init() - choose the shape. */
void lru_add_init(struct lru_add *lru_add, const struct mm_rules *rules);

/** lru_add_shape_name() - in words, for tables: "page_evictable() a call, smp_mb()". */
const char *lru_add_shape_name(const struct mm_rules *rules);

/* ---- What was added, in its order, for those who want to do it again. */

struct lru_add_record {
	uint32_t pfn;
	uint32_t flags; /* enum folio_flag, before the add */
	uint32_t file;
	uint16_t memcg; /* index in mm.memcg[] */
	uint8_t order;
	bool takes_lock; /* the first folio of its hold */
};

struct lru_add_log {
	struct lru_add_record *record;
	uint64_t nr, room, limit;
	uint64_t nr_holds;
	uint64_t nr_left_out; /* folios beyond the limit */
	bool failed; /* no memory: the log is not whole */
};

/** lru_add_log_open() - an empty log of up to @limit folios; NULL without memory. */
struct lru_add_log *lru_add_log_open(uint64_t limit);

/** lru_add_log_hold() - the next hold of the lock, about to put these folios on their lists. */
void lru_add_log_hold(struct lru_add_log *log, struct folio *const *folio, unsigned int nr);

/** lru_add_log_close() - free it; NULL is fine. */
void lru_add_log_close(struct lru_add_log *log);

#endif
