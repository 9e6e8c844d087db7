/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A folio, and the memmap that holds all of them.
 *
 * Descriptors lie at pfn x 64 bytes within chunks of MEMMAP_CHUNK_PAGES, as the kernel's struct
 * page do in its memmap, so that walking a list touches memory in the pattern it does there.
 */
#ifndef REPLAY_MM_FOLIO_H
#define REPLAY_MM_FOLIO_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/list.h"

struct lruvec;

/*
 * Folio flags, by the kernel's names (include/linux/page-flags.h). The last group is ours: it
 * stands for what the kernel knows by reference counts and page tables.
 */
#define FOLIO_ZONE_SHIFT 25

enum folio_flag {
	PG_lru = 1u << 0, /* on a lruvec list; whoever clears it may move the folio */
	PG_active = 1u << 1, /* belongs on the active list; may be set before it is on one */
	PG_referenced = 1u << 2,
	PG_workingset = 1u << 3, /* was active some time; goes into the shadow entry */
	PG_unevictable = 1u << 4,
	PG_mlocked = 1u << 5,
	PG_dirty = 1u << 6,
	PG_writeback = 1u << 7,
	PG_reclaim = 1u << 8, /* rotate when writeback ends */
	PG_readahead = 1u << 9, /* asynchronous readahead starts when this folio is read */
	PG_swapbacked = 1u << 10, /* anon or shmem: belongs on the anon lists */
	PG_swapcache = 1u << 11,
	PG_locked = 1u << 12, /* a read is being prepared: reclaim passes it over */
	PG_lazyfree = 1u << 13, /* ours: anon and not PG_swapbacked any more, since MADV_FREE */
	FOLIO_alive = 1u << 16, /* charged and not freed */
	FOLIO_isolated = 1u << 17, /* taken off its list by reclaim */
	FOLIO_dead = 1u << 18, /* its owner freed it; only a batch holds it still */
	FOLIO_mapped = 1u << 19,
	FOLIO_in_add_batch = 1u << 20, /* waits in some CPU's lru_add batch */
	FOLIO_refaulted = 1u << 21, /* its slot held a shadow entry when it came */
	FOLIO_refault_active = 1u << 22, /* workingset_refault() set PG_active */
	FOLIO_demanded = 1u << 23, /* brought in by an access that is still to be counted */
	FOLIO_in_fault = 1u << 24, /* added while its task handles a page fault */
	FOLIO_zone = 7u << FOLIO_ZONE_SHIFT, /* index of the zone that its pages are from */
};

struct folio {
	struct list_head lru;
	struct lruvec *lruvec; /* of the memcg it is charged to; NULL before it was ever charged */
	uint64_t index; /* base pages from the start of its file */
	uint32_t file; /* number of its file, 0 for anon */
	uint32_t pfn;
	uint32_t flags; /* enum folio_flag */
	uint8_t order; /* log2 of base pages */
	uint8_t nr_batches; /* batches that hold a reference */
	uint16_t cpu; /* whose lru_add batch, valid with FOLIO_in_add_batch */
	uint64_t private[2]; /* the policy's own room, see reclaim_policy.folio_private_bytes */
};

static_assert(sizeof(struct folio) == 64, "a descriptor lies at pfn x 64");

static inline unsigned long folio_nr_pages(const struct folio *folio)
{
	return 1ul << folio->order;
}

static inline bool folio_test(const struct folio *folio, uint32_t flags)
{
	return folio->flags & flags;
}

static inline void folio_set(struct folio *folio, uint32_t flags)
{
	folio->flags |= flags;
}

static inline void folio_clear(struct folio *folio, uint32_t flags)
{
	folio->flags &= ~flags;
}

static inline bool folio_test_clear(struct folio *folio, uint32_t flag)
{
	bool was = folio->flags & flag;

	folio->flags &= ~flag;
	return was;
}

/* Kernel: include/linux/mm_inline.h, folio_is_file_lru(), v6.18. */
static inline bool folio_is_file_lru(const struct folio *folio)
{
	return !folio_test(folio, PG_swapbacked);
}

#define MEMMAP_CHUNK_SHIFT 15 /* 32768 descriptors: 2 MiB of them */
#define MEMMAP_CHUNK_PAGES (1u << MEMMAP_CHUNK_SHIFT)
#define MEMMAP_PFN_LIMIT (UINT64_C(1) << 32) /* 16 TiB of 4 KiB pages */
/* Frames from here on are no recorded ones: a replay gives them out one after the other. */
#define MEMMAP_DENSE_PFN (UINT64_C(3) << 30)

struct memmap {
	struct folio **chunk; /* by pfn >> MEMMAP_CHUNK_SHIFT */
	uint64_t nr_chunks_used;
	uint64_t next_dense; /* first frame from MEMMAP_DENSE_PFN on that was never given out */
	uint64_t free_dense; /* freed last, linked through folio.index; 0: none */
};

/** memmap_init() - an empty memmap. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result)) memmap_init(struct memmap *memmap);

/** memmap_exit() - free all descriptors. */
void memmap_exit(struct memmap *memmap);

/**
 * memmap_add_chunk() - make room for the descriptors around a pfn
 * @pfn: below MEMMAP_PFN_LIMIT
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result)) memmap_add_chunk(struct memmap *memmap, uint64_t pfn);

/**
 * memmap_folio() - the descriptor of a page frame, zeroed until it is first used
 * @pfn: page frame number
 * Return: valid as long as the memmap; NULL if pfn is beyond MEMMAP_PFN_LIMIT or memory is out.
 */
static inline struct folio *memmap_folio(struct memmap *memmap, uint64_t pfn)
{
	struct folio *folio;

	if (__builtin_expect(pfn >= MEMMAP_PFN_LIMIT, 0))
		return NULL;
	if (__builtin_expect(!memmap->chunk[pfn >> MEMMAP_CHUNK_SHIFT], 0) &&
	    memmap_add_chunk(memmap, pfn))
		return NULL;
	folio = &memmap->chunk[pfn >> MEMMAP_CHUNK_SHIFT][pfn & (MEMMAP_CHUNK_PAGES - 1)];
	/* Never looked at: set up only now, so that untouched memory stays away. */
	if (__builtin_expect(!folio->lru.next, 0)) {
		list_init(&folio->lru);
		folio->pfn = (uint32_t)pfn;
	}
	return folio;
}

/**
 * memmap_take_dense() - a frame that is not in use, of those from MEMMAP_DENSE_PFN on
 * The one freed last, whose descriptor is still in the cache, as the page allocator does it.
 * Return: a page frame number; MEMMAP_PFN_LIMIT without memory, or if all are taken.
 */
uint64_t memmap_take_dense(struct memmap *memmap);

/** memmap_give_dense() - a frame is free again. @folio: its descriptor, not alive. */
static inline void memmap_give_dense(struct memmap *memmap, struct folio *folio)
{
	if (folio->pfn < MEMMAP_DENSE_PFN)
		return;
	folio->index = memmap->free_dense;
	memmap->free_dense = folio->pfn;
}

#endif
