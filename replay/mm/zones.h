/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The zones of a node: how many pages are free, and the marks that wake kswapd and end its work.
 *
 *   free pages      high  --------  kswapd stops here, if any zone of the request is above it
 *                   low   --------  an allocation that finds every zone below wakes kswapd
 *                   min   --------  and below this one it reclaims by itself first
 *
 * A zone keeps more than its mark free of requests that a higher zone could serve: its protection.
 * Pages on per-CPU lists are not free here, as in the kernel.
 */
#ifndef REPLAY_MM_ZONES_H
#define REPLAY_MM_ZONES_H

#include <stdbool.h>
#include <stdint.h>

#define ZONES_LIMIT 8 /* MAX_NR_ZONES is 5 on x86 */

enum zone_mark { WMARK_MIN, WMARK_LOW, WMARK_HIGH, NR_WMARKS };

struct zone {
	uint64_t start_pfn, spanned_pages;
	uint64_t managed_pages; /* 0: no memory in it */
	uint64_t mark[NR_WMARKS]; /* pages */
	uint64_t protection[ZONES_LIMIT]; /* by the highest zone of the request: lowmem_reserve */
	int64_t free_pages;
};

/* By the kernel's zone index: DMA, DMA32, Normal, Movable, Device, or fewer as it was built. */
struct zones {
	uint64_t boost_pages; /* watermark_boost of the highest zone; above the high mark only */
	unsigned int nr; /* 0: the tape does not say */
	struct zone zone[ZONES_LIMIT];
};

/** zones_highest() - index of the highest zone that has memory; 0 if none has. */
unsigned int zones_highest(const struct zones *zones);

/**
 * zones_pfn_limit() - where the zones end whose folios reclaim for @highest may take
 * Return: a pfn; UINT64_MAX if no zone with memory lies beyond.
 */
uint64_t zones_pfn_limit(const struct zones *zones, unsigned int highest);

/** zones_of_pfn() - the zone of a page frame; the highest with memory if none spans it. */
unsigned int zones_of_pfn(const struct zones *zones, uint64_t pfn);

/**
 * zone_watermark_ok() - a zone may give @nr_pages to a request
 * @highest: highest zone that the request could be served from
 * Kernel: mm/page_alloc.c, __zone_watermark_ok(), v6.18.
 * Differs: no order is asked for, so that a free page is as good as another; no part of the free pages
 * is kept for atomic requests or CMA.
 */
bool zone_watermark_ok(const struct zone *zone, enum zone_mark mark, unsigned int highest,
		       uint64_t nr_pages);

/**
 * zones_choose() - where an allocation's pages come from: the highest zone above its mark
 * Return: the zone's index, -1: all of them are below it.
 * Kernel: mm/page_alloc.c, get_page_from_freelist(), v6.18.
 */
int zones_choose(const struct zones *zones, enum zone_mark mark, unsigned int highest,
		 uint64_t nr_pages);

/** zones_balanced() - kswapd has nothing to do. Kernel: mm/vmscan.c, pgdat_balanced(), v6.18. */
bool zones_balanced(const struct zones *zones, unsigned int highest);

/**
 * zones_all_above() - each zone that has memory is above its mark
 * @extra: pages that the mark counts for more
 */
bool zones_all_above(const struct zones *zones, enum zone_mark mark, unsigned int highest,
		     uint64_t extra);

/** zones_free_above() - each zone has as many free pages as its mark says. Kernel: mm/vmscan.c, should_abort_scan(), v6.1. */
bool zones_free_above(const struct zones *zones, enum zone_mark mark, unsigned int highest);

/**
 * zones_reclaim_goal() - pages that a round of kswapd wants to reclaim
 * Kernel: mm/vmscan.c, kswapd_shrink_node(), v6.18.
 */
uint64_t zones_reclaim_goal(const struct zones *zones, unsigned int highest);

/** zones_sum() - of all zones: a mark, in pages. */
uint64_t zones_sum(const struct zones *zones, enum zone_mark mark);

/** zones_free() - free pages of all zones. */
int64_t zones_free(const struct zones *zones);

/**
 * zones_set_marks() - watermarks from the settings they are made of
 * @min_free_kbytes: /proc/sys/vm/min_free_kbytes
 * @scale_factor: /proc/sys/vm/watermark_scale_factor, of 10,000
 * @page_kib: KiB in a page
 * Kernel: mm/page_alloc.c, __setup_per_zone_wmarks(), v6.18.
 * Differs: no zone is highmem or movable, no boost.
 */
void zones_set_marks(struct zones *zones, uint64_t min_free_kbytes, uint64_t scale_factor,
		     uint64_t page_kib);

/**
 * zones_resize() - give the highest zone more memory, or less, and all of them marks for it
 * @pages: to add, free ones; negative takes them, so that fewer than none may be free
 * The settings grow as the root of memory does, as the kernel's own preset of min_free_kbytes.
 */
void zones_resize(struct zones *zones, int64_t pages, uint64_t min_free_kbytes,
		  uint64_t scale_factor);

/** pages_part() - a * b / c without overflow, of counts of pages. @c: not 0. */
static inline uint64_t pages_part(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

#endif
