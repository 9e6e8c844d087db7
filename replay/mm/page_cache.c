// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/page_cache.h"

#include <stdlib.h>
#include <string.h>

#include "replay/mm/huge_room.h"
#include "replay/mm/workingset.h"

#define FIRST_TABLE_SIZE 1024
#define NODE_BYTES (PAGE_CACHE_NODE_SLOTS * sizeof(uint64_t))
#define ROOM_NODES (HUGE_ROOM_BYTES / NODE_BYTES)

static uint64_t node_hash(uint32_t file, uint64_t base)
{
	uint64_t x = base * UINT64_C(0x9e3779b97f4a7c15) ^ ((uint64_t)file << 32 | file);

	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

int page_cache_init(struct page_cache *cache)
{
	memset(cache, 0, sizeof(*cache));
	cache->table = calloc(FIRST_TABLE_SIZE, sizeof(*cache->table));
	cache->table_mask = FIRST_TABLE_SIZE - 1;
	return cache->table ? 0 : -1;
}

void page_cache_exit(struct page_cache *cache)
{
	for (uint64_t i = 0; i < cache->nr_rooms; i++)
		huge_room_unmap(cache->room[i]);
	free(cache->room);
	free(cache->table);
	memset(cache, 0, sizeof(*cache));
}

/* The node, or the empty place where it belongs. */
static struct page_cache_node *find_node(const struct page_cache *cache, uint32_t file,
					 uint64_t base)
{
	uint64_t i = node_hash(file, base) & cache->table_mask;

	while (cache->table[i].slot &&
	       (cache->table[i].base != base || cache->table[i].file != file))
		i = (i + 1) & cache->table_mask;
	return &cache->table[i];
}

static int grow(struct page_cache *cache)
{
	struct page_cache bigger = *cache;

	bigger.table_mask = cache->table_mask * 2 + 1;
	bigger.table = calloc(bigger.table_mask + 1, sizeof(*bigger.table));
	if (!bigger.table)
		return -1;
	for (uint64_t i = 0; i <= cache->table_mask; i++) {
		const struct page_cache_node *node = &cache->table[i];

		if (node->slot)
			*find_node(&bigger, node->file, node->base) = *node;
	}
	free(cache->table);
	*cache = bigger;
	return 0;
}

static int add_room(struct page_cache *cache)
{
	void **bigger = realloc(cache->room, (cache->nr_rooms + 1) * sizeof(void *));

	if (!bigger)
		return -1;
	cache->room = bigger;
	/* The first one is for small replays, of which there may be many: page by page. */
	cache->room[cache->nr_rooms] = huge_room_map(cache->nr_rooms);
	if (!cache->room[cache->nr_rooms])
		return -1;
	cache->nr_rooms++;
	cache->nr_carved = 0;
	return 0;
}

/* The 64 slots of a new node, all 0. */
static uint64_t *new_slots(struct page_cache *cache)
{
	uint64_t *slot = cache->free_slots;

	if (slot) {
		cache->free_slots = (uint64_t *)(uintptr_t)slot[0];
		slot[0] = 0;
		return slot;
	}
	if ((!cache->nr_rooms || cache->nr_carved == ROOM_NODES) && add_room(cache))
		return NULL;
	return (uint64_t *)cache->room[cache->nr_rooms - 1] +
	       cache->nr_carved++ * PAGE_CACHE_NODE_SLOTS;
}

static struct page_cache_node *add_node(struct page_cache *cache, uint32_t file, uint64_t base)
{
	struct page_cache_node *node;
	uint64_t *slot;

	if ((cache->nr_nodes + 1) * 2 > cache->table_mask && grow(cache))
		return NULL;
	slot = new_slots(cache);
	if (!slot)
		return NULL;
	node = find_node(cache, file, base);
	*node = (struct page_cache_node){ .slot = slot, .base = base, .file = file };
	cache->nr_nodes++;
	return node;
}

/* Entries behind the hole move up, so that every search still ends at an empty place. */
static void remove_node(struct page_cache *cache, struct page_cache_node *node)
{
	uint64_t hole = (uint64_t)(node - cache->table);

	node->slot[0] = (uint64_t)(uintptr_t)cache->free_slots; /* the others are 0 */
	cache->free_slots = node->slot;
	for (uint64_t i = (hole + 1) & cache->table_mask; cache->table[i].slot;
	     i = (i + 1) & cache->table_mask) {
		uint64_t home = node_hash(cache->table[i].file, cache->table[i].base) &
				cache->table_mask;

		if (((i - home) & cache->table_mask) < ((i - hole) & cache->table_mask))
			continue;
		cache->table[hole] = cache->table[i];
		hole = i;
	}
	cache->table[hole].slot = NULL;
	cache->nr_nodes--;
}

uint64_t page_cache_slot(struct page_cache *cache, uint32_t file, uint64_t index)
{
	const struct page_cache_node *node = find_node(cache, file, index >> PAGE_CACHE_NODE_SHIFT);

	return node->slot ? node->slot[index & (PAGE_CACHE_NODE_SLOTS - 1)] : 0;
}

struct folio *page_cache_folio(struct page_cache *cache, uint32_t file, uint64_t index)
{
	uint64_t slot = page_cache_slot(cache, file, index);

	return slot && !slot_is_shadow(slot) ? (struct folio *)(uintptr_t)slot : NULL;
}

int page_cache_store(struct page_cache *cache, uint32_t file, uint64_t index, uint64_t nr,
		     uint64_t value)
{
	for (; nr; nr--, index++) {
		uint64_t base = index >> PAGE_CACHE_NODE_SHIFT;
		struct page_cache_node *node = find_node(cache, file, base);
		uint64_t *slot;

		if (!node->slot) {
			if (!value)
				continue;
			node = add_node(cache, file, base);
			if (!node)
				return -1;
		}
		slot = &node->slot[index & (PAGE_CACHE_NODE_SLOTS - 1)];
		node->nr_used += !*slot && value;
		node->nr_used -= *slot && !value;
		*slot = value;
		if (!node->nr_used)
			remove_node(cache, node);
	}
	return 0;
}

uint64_t page_cache_shadow(struct page_cache *cache, uint32_t file, uint64_t index, uint64_t nr)
{
	while (nr--) {
		uint64_t slot = page_cache_slot(cache, file, index + nr);

		if (slot_is_shadow(slot))
			return slot;
	}
	return 0;
}
