// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/zones.h"

#define SWAP_CLUSTER 32 /* SWAP_CLUSTER_MAX */
#define KIB_PER_PAGE 4

unsigned int zones_highest(const struct zones *zones)
{
	unsigned int highest = 0;

	for (unsigned int i = 0; i < zones->nr; i++)
		if (zones->zone[i].managed_pages)
			highest = i;
	return highest;
}

uint64_t zones_pfn_limit(const struct zones *zones, unsigned int highest)
{
	for (unsigned int i = highest + 1; i < zones->nr; i++)
		if (zones->zone[i].managed_pages)
			return zones->zone[i].start_pfn;
	return UINT64_MAX;
}

unsigned int zones_of_pfn(const struct zones *zones, uint64_t pfn)
{
	for (unsigned int i = 0; i < zones->nr; i++) {
		const struct zone *zone = &zones->zone[i];

		if (zone->managed_pages && pfn >= zone->start_pfn &&
		    pfn - zone->start_pfn < zone->spanned_pages)
			return i;
	}
	return zones_highest(zones);
}

bool zone_watermark_ok(const struct zone *zone, enum zone_mark mark, unsigned int highest,
		       uint64_t nr_pages)
{
	uint64_t kept = zone->mark[mark] +
			zone->protection[highest < ZONES_LIMIT ? highest : ZONES_LIMIT - 1];

	return zone->free_pages - (int64_t)(nr_pages - 1) > (int64_t)kept;
}

int zones_choose(const struct zones *zones, enum zone_mark mark, unsigned int highest,
		 uint64_t nr_pages)
{
	for (unsigned int i = highest < zones->nr ? highest + 1 : zones->nr; i-- > 0;)
		if (zones->zone[i].managed_pages &&
		    zone_watermark_ok(&zones->zone[i], mark, highest, nr_pages))
			return (int)i;
	return -1;
}

bool zones_balanced(const struct zones *zones, unsigned int highest)
{
	unsigned int boosted = zones_highest(zones);

	for (unsigned int i = 0; i < zones->nr && i <= highest; i++)
		if (zones->zone[i].managed_pages &&
		    zone_watermark_ok(&zones->zone[i], WMARK_HIGH, highest,
				      1 + (i == boosted ? zones->boost_pages : 0)))
			return true;
	return false;
}

bool zones_all_above(const struct zones *zones, enum zone_mark mark, unsigned int highest,
		     uint64_t extra)
{
	for (unsigned int i = 0; i < zones->nr && i <= highest; i++)
		if (zones->zone[i].managed_pages &&
		    !zone_watermark_ok(&zones->zone[i], mark, highest, extra + 1))
			return false;
	return true;
}

bool zones_free_above(const struct zones *zones, enum zone_mark mark, unsigned int highest)
{
	for (unsigned int i = 0; i < zones->nr && i <= highest; i++)
		if (zones->zone[i].managed_pages &&
		    zones->zone[i].free_pages < (int64_t)zones->zone[i].mark[mark])
			return false;
	return true;
}

uint64_t zones_reclaim_goal(const struct zones *zones, unsigned int highest)
{
	uint64_t goal = 0;

	for (unsigned int i = 0; i < zones->nr && i <= highest; i++) {
		const struct zone *zone = &zones->zone[i];

		if (zone->managed_pages)
			goal += zone->mark[WMARK_HIGH] > SWAP_CLUSTER ? zone->mark[WMARK_HIGH] :
									SWAP_CLUSTER;
	}
	return goal;
}

uint64_t zones_sum(const struct zones *zones, enum zone_mark mark)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < zones->nr; i++)
		if (zones->zone[i].managed_pages)
			sum += zones->zone[i].mark[mark];
	return sum;
}

int64_t zones_free(const struct zones *zones)
{
	int64_t sum = 0;

	for (unsigned int i = 0; i < zones->nr; i++)
		if (zones->zone[i].managed_pages)
			sum += zones->zone[i].free_pages;
	return sum;
}

void zones_set_marks(struct zones *zones, uint64_t min_free_kbytes, uint64_t scale_factor,
		     uint64_t page_kib)
{
	uint64_t pages_min = min_free_kbytes / page_kib, managed = 0;

	for (unsigned int i = 0; i < zones->nr; i++)
		managed += zones->zone[i].managed_pages;
	if (!managed)
		return;
	for (unsigned int i = 0; i < zones->nr; i++) {
		struct zone *zone = &zones->zone[i];
		uint64_t min = pages_part(pages_min, zone->managed_pages, managed);
		uint64_t gap = pages_part(zone->managed_pages, scale_factor, 10000);

		if (!zone->managed_pages)
			continue;
		gap = gap > min / 4 ? gap : min / 4;
		zone->mark[WMARK_MIN] = min;
		zone->mark[WMARK_LOW] = min + gap;
		zone->mark[WMARK_HIGH] = min + 2 * gap;
	}
}

static uint64_t int_sqrt(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

void zones_resize(struct zones *zones, int64_t pages, uint64_t min_free_kbytes,
		  uint64_t scale_factor)
{
	struct zone *zone = &zones->zone[zones_highest(zones)];
	uint64_t before = 0, after = 0, root;

	for (unsigned int i = 0; i < zones->nr; i++)
		before += zones->zone[i].managed_pages;
	root = int_sqrt(before << 16); /* roots with 8 bits behind the point */
	if (!before || !root)
		return; /* no zone has memory that could become more or less */
	if (pages <= -(int64_t)zone->managed_pages)
		pages = 1 - (int64_t)zone->managed_pages; /* a zone without memory would be none */
	zone->managed_pages = (uint64_t)((int64_t)zone->managed_pages + pages);
	zone->free_pages += pages;
	after = (uint64_t)((int64_t)before + pages);
	zones_set_marks(zones, pages_part(min_free_kbytes, int_sqrt(after << 16), root),
			scale_factor, KIB_PER_PAGE);
	/* What a zone keeps from requests for higher ones is a share of those. */
	for (unsigned int i = 0; i < zones->nr; i++)
		for (unsigned int j = i + 1; j < ZONES_LIMIT; j++)
			if (zones->zone[i].protection[j] && &zones->zone[i] != zone)
				zones->zone[i].protection[j] = pages_part(
					zones->zone[i].protection[j], after, before);
}
