// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/readahead.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t round_up_power_of_two(uint64_t n)
{
	uint64_t power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

static unsigned int floor_log2(uint64_t n)
{
	return n ? 63 - (unsigned int)__builtin_clzll(n) : 0;
}

/* Kernel: mm/readahead.c, ractl_max_pages(), v6.18. */
static uint64_t max_pages(const struct file_ra_state *ra, uint64_t req_count)
{
	if (req_count > ra->ra_pages && ra->io_pages > ra->ra_pages)
		return least(req_count, ra->io_pages);
	return ra->ra_pages;
}

/* Kernel: mm/readahead.c, get_init_ra_size(), v6.18. */
static uint64_t first_size(uint64_t req_count, uint64_t max)
{
	uint64_t size;

	if (req_count > max / 4)
		return max;
	size = round_up_power_of_two(req_count);
	if (size <= max / 32)
		return size * 4;
	if (size <= max / 4)
		return size * 2;
	return max;
}

/* Kernel: mm/readahead.c, get_next_ra_size(), v6.18. */
static uint64_t next_size(uint64_t size, uint64_t max)
{
	if (size < max / 16)
		return size * 4;
	if (size <= max / 2)
		return size * 2;
	return max;
}

/* Kernel: mm/readahead.c, page_cache_ra_order(), v6.18: what it makes of the order. */
static void submit(struct file_ra_state *ra, struct readahead_window *window)
{
	uint8_t asked = ra->order;

	if (ra->order > ra->max_order)
		ra->order = ra->max_order;
	if (ra->order > floor_log2(ra->size))
		ra->order = (uint8_t)floor_log2(ra->size);
	*window = (struct readahead_window){
		.start = ra->start,
		.size = ra->size,
		.mark = ra->async_size ? ra->start + ra->size - ra->async_size : READAHEAD_NO_PAGE,
		.order = asked,
		.folio_order = ra->order,
	};
}

static void read_plainly(uint64_t index, uint64_t pages, struct readahead_window *window)
{
	*window = (struct readahead_window){
		.start = index,
		.size = pages,
		.mark = READAHEAD_NO_PAGE,
		.plain = true,
	};
}

/*
 * Pages in memory directly before @index, at most @max. @whole: set if they reach the file's begin.
 * Kernel: mm/readahead.c, page_cache_sync_ra(), v6.18: by page_cache_prev_miss().
 */
static uint64_t cached_before(const struct readahead_cache *cache, uint64_t index, uint64_t max,
			      bool *whole)
{
	uint64_t n = 0;

	while (n < max && n < index && cache->cached(cache->ctx, index - 1 - n))
		n++;
	*whole = n == index;
	return n;
}

void readahead_sync(struct file_ra_state *ra, const struct readahead_cache *cache, uint64_t index,
		    uint64_t req_count, struct readahead_window *window)
{
	uint64_t max, before;
	bool whole;

	if (!ra->ra_pages) {
		read_plainly(index, 1, window);
		return;
	}
	if (ra->fadv_random) {
		read_plainly(index,
			     least(req_count,
				   ra->io_pages > ra->ra_pages ? ra->io_pages : ra->ra_pages),
			     window);
		return;
	}
	max = max_pages(ra, req_count);
	/* Unsigned, as in the kernel: before the first read, prev_page is no neighbour of any page. */
	if (!index || req_count > max ||
	    (ra->prev_page != READAHEAD_NO_PAGE && index - ra->prev_page <= 1)) {
		ra->start = index;
		ra->size = first_size(req_count, max);
		ra->async_size = ra->size > req_count ? ra->size - req_count : ra->size / 2;
		ra->order = 0;
		submit(ra, window);
		return;
	}
	before = cached_before(cache, index, max, &whole);
	if (before <= req_count) {
		read_plainly(index, req_count, window);
		return;
	}
	if (whole)
		before *= 2;
	ra->start = index;
	ra->size = least(before + req_count, max);
	ra->async_size = 1;
	ra->order = 0;
	submit(ra, window);
}

bool readahead_async(struct file_ra_state *ra, const struct readahead_cache *cache, uint64_t index,
		     uint64_t folio_pages, uint64_t req_count, struct readahead_window *window)
{
	uint64_t max = max_pages(ra, req_count), end, aligned;
	unsigned int align;

	if (!ra->ra_pages)
		return false;
	if (index == (ra->start + ra->size - ra->async_size) / folio_pages * folio_pages) {
		uint64_t size = next_size(ra->size, max);

		ra->start += ra->size;
		ra->size = size > ra->size ? size : ra->size;
	} else {
		/* Somebody else's marker: the pages from here to the next hole tell the window's size. */
		uint64_t hole = index + 1;

		while (hole - index <= max && cache->cached(cache->ctx, hole))
			hole++;
		if (hole - index > max)
			return false;
		ra->start = hole;
		ra->size = next_size(hole - index + req_count, max);
	}
	ra->order += 2;
	align = (unsigned int)__builtin_ctzll(max);
	if (ra->order < align)
		align = ra->order;
	end = ra->start + ra->size;
	aligned = end >> align << align;
	if (aligned > ra->start)
		ra->size -= end - aligned;
	ra->async_size = ra->size;
	submit(ra, window);
	return true;
}

void readahead_around(struct file_ra_state *ra, uint64_t index, struct readahead_window *window)
{
	if (!ra->ra_pages) {
		read_plainly(index, 1, window);
		return;
	}
	ra->start = index > ra->ra_pages / 2 ? index - ra->ra_pages / 2 : 0;
	ra->size = ra->ra_pages;
	ra->async_size = ra->ra_pages / 4;
	ra->order = 0;
	submit(ra, window);
}

void readahead_executable(struct file_ra_state *ra, uint64_t index, uint64_t pages,
			  struct readahead_window *window)
{
	if (!ra->ra_pages) {
		read_plainly(index, 1, window);
		return;
	}
	ra->start = index;
	ra->size = pages < ra->ra_pages ? pages : ra->ra_pages;
	ra->async_size = 0;
	ra->order = 0;
	submit(ra, window);
}

uint8_t readahead_folio_order(const struct readahead_window *window, uint64_t index, uint64_t last)
{
	unsigned int order = window->folio_order;

	if (index & ((UINT64_C(1) << order) - 1))
		order = (unsigned int)__builtin_ctzll(index);
	while (order > 0 && index + (UINT64_C(1) << order) - 1 > last)
		order--;
	return (uint8_t)order;
}
