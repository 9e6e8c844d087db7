/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page cache: what each slot of each file holds, a folio or the shadow of one.
 *
 * Slots come in nodes of 64, as in the kernel's xarray; a node lives while one slot of it is
 * used. All files share one hash of nodes.
 *
 * A folio of 64 pages and more is one entry of a node higher up there, whose slots are 64 pages wide.
 * Here it fills whole nodes; a node of its own kind, which stands in the same hash, then says what
 * the 64 below it are, so that the shadows of large folios live as long as the kernel's:
 *
 *   upper   [ child | folio   | folio   | shadow  | -  ... ]     made when the first large folio comes
 *              |        |
 *           [ f s f ] [ F F F .. F ]
 */
#ifndef REPLAY_MM_PAGE_CACHE_H
#define REPLAY_MM_PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/shadow_nodes.h"

struct folio;

#define PAGE_CACHE_NODE_SHIFT 6
#define PAGE_CACHE_NODE_SLOTS (1u << PAGE_CACHE_NODE_SHIFT)

/* A node: the key lies here in the hash, not with the slots, so that a lookup touches two lines. */
struct page_cache_node {
	uint64_t *slot; /* 0, a folio's address, or a packed shadow (bit 0); NULL: no node here */
	uint64_t base; /* index >> PAGE_CACHE_NODE_SHIFT */
	uint32_t file;
	uint32_t shadow_node; /* number in the list of those with shadows only, 0: is not one */
	uint16_t owner; /* memcg index of who was charged for the node */
	uint8_t nr_used; /* slots that are not 0 */
	uint8_t nr_shadows; /* of them */
};

struct page_cache {
	struct page_cache_node *table; /* open addressing */
	uint64_t table_mask;
	uint64_t nr_nodes;
	uint64_t nr_uppers; /* of them */
	void **room; /* huge_room.h; where the slots of nodes come from */
	uint64_t nr_rooms;
	uint64_t nr_carved; /* nodes of the last room that were in use at some time */
	uint64_t *free_slots; /* of nodes no longer in use, linked through their first slot */
	uint16_t owner; /* memcg index that new nodes are charged to: of the task that adds */
	struct shadow_nodes shadow_nodes;
};

/** page_cache_init() - an empty page cache. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result)) page_cache_init(struct page_cache *cache);

/** page_cache_exit() - free all nodes; the folios are not touched. */
void page_cache_exit(struct page_cache *cache);

/** page_cache_slot() - what a slot holds, 0 for nothing. @index: base pages from the file's start. */
uint64_t page_cache_slot(struct page_cache *cache, uint32_t file, uint64_t index);

/** page_cache_folio() - the folio that holds a page of a file, NULL if it is not in memory. */
struct folio *page_cache_folio(struct page_cache *cache, uint32_t file, uint64_t index);

/**
 * page_cache_store() - set some slots
 * @nr: slots from @index on
 * @value: for all of them: 0 clears
 * Return: 0, or -1 without memory (clearing never fails).
 */
int page_cache_store(struct page_cache *cache, uint32_t file, uint64_t index, uint64_t nr,
		     uint64_t value);

/**
 * page_cache_drop_node() - a node that holds shadows only goes, and they with it
 * @file, @base: as its list of shadow nodes has it
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result))
page_cache_drop_node(struct page_cache *cache, uint32_t file, uint64_t base);

/** page_cache_dropped() - page_cache_drop_node() has taken a shadow of this page at some time. */
bool page_cache_dropped(const struct page_cache *cache, uint32_t file, uint64_t index);

/**
 * page_cache_file_gone() - clear all slots of a file, and what is remembered of it
 * @nr_pages: none of its pages is at this index or beyond
 * @found: called for each folio, which must not touch the page cache
 */
void page_cache_file_gone(struct page_cache *cache, uint32_t file, uint64_t nr_pages,
			  void (*found)(void *ctx, struct folio *folio), void *ctx);

/**
 * page_cache_shadow() - the shadow that a new folio over some slots meets
 * Return: the packed entry at the highest index that has one, 0 for none.
 * Kernel: mm/filemap.c, __filemap_add_folio(), v6.18.
 */
uint64_t page_cache_shadow(struct page_cache *cache, uint32_t file, uint64_t index, uint64_t nr);

#endif
