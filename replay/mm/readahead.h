/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readahead: which window a read that misses, or that meets the marker, brings in.
 *
 *        start            start + size - async_size       start + size
 *          |<------ asked for ------>|<------ async_size ------>|
 *                                    ^ marker: who reads this folio starts the next window
 *
 * The state is that of a struct file; a tape names none, so that the callers keep one for each task and
 * file. All sizes are base pages.
 */
#ifndef REPLAY_MM_READAHEAD_H
#define REPLAY_MM_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define READAHEAD_PRESET_PAGES 32 /* VM_READAHEAD_PAGES: 128 KiB */
#define READAHEAD_NO_PAGE UINT64_MAX

/* Kernel: include/linux/fs.h, struct file_ra_state, v6.18. */
struct file_ra_state {
	uint64_t start;
	uint64_t size, async_size;
	uint64_t ra_pages; /* limit of a window; 0: no readahead */
	uint64_t io_pages; /* what the device takes at once; 0: no more than ra_pages */
	uint64_t prev_page; /* where the last read ended; READAHEAD_NO_PAGE before the first */
	uint8_t order; /* log2 of base pages, of the folios tried last */
	uint8_t max_order; /* of the mapping; 0: no large folios */
	bool fadv_random; /* FADV_RANDOM */
};

struct readahead_window {
	uint64_t start, size;
	uint64_t mark; /* the page whose folio gets the marker, READAHEAD_NO_PAGE: none */
	uint8_t order; /* log2 of base pages, as page_cache_ra_order is asked for it */
	uint8_t folio_order; /* what the mapping and the size leave of it */
	bool plain; /* just the pages asked for, small, without marker; ra is left as it was */
};

/* The page cache that the window is for. */
struct readahead_cache {
	bool (*cached)(void *ctx, uint64_t index); /* the page is in memory, read already or not */
	void *ctx;
};

/**
 * readahead_sync() - a page that a read needs is not in memory
 * @ra: moved on
 * @index: the page
 * @req_count: pages that the read still asks for, from @index on; at least 1
 * @window: filled
 *
 * Kernel: mm/readahead.c, page_cache_sync_ra(), force_page_cache_ra(), v6.18.
 * Differs: a block cgroup is never congested.
 */
void readahead_sync(struct file_ra_state *ra, const struct readahead_cache *cache, uint64_t index,
		    uint64_t req_count, struct readahead_window *window);

/**
 * readahead_async() - a read met the folio with the marker
 * @index: the page that the read is at
 * @folio_pages: size of the folio there
 * @window: filled on true
 *
 * Kernel: mm/readahead.c, page_cache_async_ra(), v6.18.
 * Return: a window is to be read.
 */
bool readahead_async(struct file_ra_state *ra, const struct readahead_cache *cache, uint64_t index,
		     uint64_t folio_pages, uint64_t req_count, struct readahead_window *window);

/**
 * readahead_around() - a page that a fault needs is not in memory: a window around it
 * Kernel: mm/filemap.c, do_sync_mmap_readahead(), v6.18.
 * Differs: the vma's flags are on no tape: not VM_SEQ_READ, VM_RAND_READ or VM_HUGEPAGE; the count of misses
 * that ends readahead around is the caller's.
 */
void readahead_around(struct file_ra_state *ra, uint64_t index, struct readahead_window *window);

/**
 * readahead_executable() - the same on an executable mapping: a window from the page on, without marker
 * @pages: from @index to the mapping's end, at least 1
 *
 * Kernel: mm/filemap.c, do_sync_mmap_readahead(), v6.18.
 * Differs: exec_folio_order() is 0, as on all machines but arm64.
 */
void readahead_executable(struct file_ra_state *ra, uint64_t index, uint64_t pages,
			  struct readahead_window *window);

/**
 * readahead_folio_order() - the folio at a place of a window
 * @index: where the next one begins
 * @last: the last page of the window that is in the file
 *
 * Kernel: mm/readahead.c, page_cache_ra_order(), v6.18.
 * Return: log2 of base pages.
 */
uint8_t readahead_folio_order(const struct readahead_window *window, uint64_t index, uint64_t last);

#endif
