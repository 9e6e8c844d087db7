/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The per-CPU folio batches in front of the LRU lists, and who drains them.
 *
 *   folio_add_lru()  ->  [ lru_add batch of this CPU ]  --drain-->  lruvec lists, under lru_lock
 *                          up to 31 folios wait here:
 *                          on no list, not reclaimable, charged
 *
 * One acquisition of lru_lock serves one run of folios of the same lruvec: a batch that fills
 * up costs one hold for 31 folios, a folio that may not wait costs one hold for itself.
 * Kernel: mm/swap.c, v6.18.
 */
#ifndef REPLAY_MM_BATCHES_H
#define REPLAY_MM_BATCHES_H

#include <stdint.h>

#include "replay/mm/vmstat.h"

struct folio;
struct mm;

/* In the order in which lru_add_drain() empties them. */
enum lru_batch {
	BATCH_LRU_ADD,
	BATCH_LRU_MOVE_TAIL,
	BATCH_LRU_DEACTIVATE_FILE,
	BATCH_LRU_DEACTIVATE,
	BATCH_LRU_LAZYFREE,
	BATCH_LRU_ACTIVATE,
	BATCH_MLOCK,
	NR_LRU_BATCHES
};

#define FOLIO_BATCH_ROOM 64 /* more than any release's capacity; check holds drains back */

struct folio_batch {
	unsigned int nr;
	struct folio *folio[FOLIO_BATCH_ROOM]; /* oldest first */
};

#define MEMCG_STOCK_LIMIT 7 /* NR_MEMCG_STOCK */

/* Pages that are charged to a memcg and that no folio has taken yet. */
struct memcg_stock {
	struct mem_cgroup *memcg; /* NULL: the slot is free */
	int64_t pages;
};

struct lru_cpu {
	struct folio_batch batch[NR_LRU_BATCHES];
	struct memcg_stock stock[MEMCG_STOCK_LIMIT]; /* the first rules.nr_memcg_stocks are used */
	unsigned int next_stock; /* the slot that makes room when none is free */
};

struct drain_count {
	uint64_t drains;
	uint64_t folios;
};

/** lru_batch_name() - the kernel's name of a batch, as results rows have it. */
const char *lru_batch_name(enum lru_batch which);

/**
 * lru_batch_queue() - put a folio in a CPU's batch, and drain it if the rules say so
 * @which: batch
 *
 * The batch takes a reference. With mm_config.hold_drains it only fills; the oldest entry falls
 * out unmoved when there is no room, which means that the tape lost the drain.
 * Kernel: mm/swap.c, __folio_batch_add_and_move(), v6.18.
 */
void lru_batch_queue(struct mm *mm, unsigned int cpu, enum lru_batch which, struct folio *folio);

/**
 * lru_batch_drain() - move a batch's folios to their lists
 * Kernel: mm/swap.c, folio_batch_move_lru(), v6.18.
 */
void lru_batch_drain(struct mm *mm, unsigned int cpu, enum lru_batch which, enum drain_cause cause);

/** lru_add_drain() - drain all batches of one CPU. Kernel: mm/swap.c, lru_add_drain(), v6.18. */
void lru_add_drain(struct mm *mm, unsigned int cpu, enum drain_cause cause);

/** lru_batch_remove() - take a folio out of a batch unmoved. Return: its place there, or -1. */
int lru_batch_remove(struct mm *mm, unsigned int cpu, enum lru_batch which, struct folio *folio);

/** lru_batch_remove_at() - take the i-th folio out of a batch unmoved. @i: below its number. */
void lru_batch_remove_at(struct mm *mm, unsigned int cpu, enum lru_batch which, unsigned int i);

/**
 * folio_end_writeback() - a folio's write is done: to the tail of its list, if reclaim had met it
 * @cpu: that handles the device's interrupt
 * Kernel: mm/filemap.c, folio_end_writeback(), mm/swap.c, folio_rotate_reclaimable(), v6.18.
 */
void folio_end_writeback(struct mm *mm, unsigned int cpu, struct folio *folio);

/** folio_deactivate() - to an inactive list when the batch drains. Kernel: mm/swap.c, v6.18. */
void folio_deactivate(struct mm *mm, unsigned int cpu, struct folio *folio);

/**
 * folio_mark_lazyfree() - an anon folio may be dropped instead of swapped, unless it is written to before
 * It goes to the inactive file list when the batch drains.
 * Kernel: mm/swap.c, folio_mark_lazyfree(), v6.18.
 */
void folio_mark_lazyfree(struct mm *mm, unsigned int cpu, struct folio *folio);

/**
 * mlock_folio(), munlock_folio() - to the unevictable list, and back, when the batch drains
 * Kernel: mm/mlock.c, mlock_folio(), munlock_folio(), v6.18.
 * Differs: one mlock at a time: no count of them. A new folio of a locked vma goes by way of lru_add first.
 */
void mlock_folio(struct mm *mm, unsigned int cpu, struct folio *folio);
void munlock_folio(struct mm *mm, unsigned int cpu, struct folio *folio);

/** folio_add_lru() - a new folio waits to be put on a list. Kernel: mm/swap.c, v6.18. */
void folio_add_lru(struct mm *mm, unsigned int cpu, struct folio *folio);

/**
 * folio_add_lru_vma() - the same for a new anon folio
 * Kernel: mm/swap.c, folio_add_lru_vma(), v6.18; lru_cache_add_active_or_unevictable(), v5.6.
 */
void folio_add_lru_vma(struct mm *mm, unsigned int cpu, struct folio *folio);

#endif
