/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page frame numbers exchanged in blocks of 8192 pages: what is contiguous or aligned within a
 * block stays so, which is all that a folio needs.
 *
 * Only blocks in use change places, and only with blocks of the same zone, so that a page keeps its
 * zone and the greatest pfn stays where it is.
 */
#ifndef CAPTURE_ANONYMIZE_PFN_H
#define CAPTURE_ANONYMIZE_PFN_H

#include "capture/keyed_map.h"

#define PFN_BLOCK_BITS 13 /* 32 MiB of 4 KiB pages; no folio of an LRU list is larger */

struct pfn_block;

struct pfn_map {
	struct pfn_block *block; /* after pfn_map_shuffle() by number */
	uint64_t nr, room;
	uint64_t *seen; /* hash of block numbers + 1 */
	uint64_t mask, last_seen;
	const struct pfn_block *last;
};

/** pfn_map_use() - a pfn is on the tape. Return: 0 or -1 without memory. */
int __attribute__((warn_unused_result)) pfn_map_use(struct pfn_map *map, uint64_t pfn);

/**
 * pfn_map_shuffle() - choose where each block goes, once all are known
 * @zoneinfo: text of /proc/zoneinfo, "" if there is none
 */
void pfn_map_shuffle(struct pfn_map *map, const struct hash_key *key, const char *zoneinfo);

/** pfn_map_get() - what a pfn becomes; all ones stay. */
uint64_t pfn_map_get(struct pfn_map *map, uint64_t pfn);

/** pfn_map_free() - free the map's memory. */
void pfn_map_free(struct pfn_map *map);

#endif
