/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How munmap, exit and MADV_DONTNEED free folios: in the batches that mmu_gather makes.
 *
 * Zapped folios collect in bundles of slots, the first of 8, the others a page of 510; a large
 * folio takes two. A bundle with one slot left is full: there must be room for two. It is freed
 * in folio batches of 31, its rest as a short one:
 *
 *   1024 folios of 16 KiB = 2048 slots:  8 -> [4]   510 -> [31 x 8][7]   (four times)   37 batches
 *
 * Up to 6.8 each folio took one slot, and release_pages() freed a bundle as a whole. Up to 6.13 a zap
 * drained the CPU's LRU batches when it began, and with each bundle that it freed.
 *
 * Kernel: mm/mmu_gather.c, mm/swap_state.c, free_pages_and_swap_cache(), v6.18.
 */
#ifndef REPLAY_MM_MMU_GATHER_H
#define REPLAY_MM_MMU_GATHER_H

#include <stdint.h>

#include "replay/mm/batches.h"

#define MMU_GATHER_BUNDLE_SLOTS 510 /* MAX_GATHER_BATCH: a page less its header, in pointers */

struct mmu_gather {
	unsigned int bundle; /* number of the current one within this zap, 0 the first */
	unsigned int slots; /* used in it */
	unsigned int nr; /* folios of the batch being put together */
	unsigned int cpu; /* that the zap runs on */
	struct folio *folio[MMU_GATHER_BUNDLE_SLOTS];
};

/**
 * mmu_gather_free() - the next folio that a zap frees
 * @cpu: that the zap runs on now
 * @folio: alive; freed at once or when its batch is complete
 */
void mmu_gather_free(struct mm *mm, unsigned int cpu, struct mmu_gather *gather,
		     struct folio *folio);

/** mmu_gather_finish() - the zap is over: free what is left, start anew. */
void mmu_gather_finish(struct mm *mm, struct mmu_gather *gather);

#endif
