// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/page_cache.h"

#include <stdlib.h>
#include <string.h>

#include "replay/mm/workingset.h"

#define FIRST_TABLE_SIZE 1024

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
	cache->table = calloc(FIRST_TABLE_SIZE, sizeof(struct page_cache_node *));
	cache->table_mask = FIRST_TABLE_SIZE - 1;
	return cache->table ? 0 : -1;
}

void page_cache_exit(struct page_cache *cache)
{
	if (cache->table)
		for (uint64_t i = 0; i <= cache->table_mask; i++)
			free(cache->table[i]);
	free(cache->table);
	memset(cache, 0, sizeof(*cache));
}

static uint64_t find_place(const struct page_cache *cache, uint32_t file, uint64_t base)
{
	uint64_t i = node_hash(file, base) & cache->table_mask;

	while (cache->table[i] && (cache->table[i]->base != base || cache->table[i]->file != file))
		i = (i + 1) & cache->table_mask;
	return i;
}

static struct page_cache_node *find_node(struct page_cache *cache, uint32_t file, uint64_t base)
{
	struct page_cache_node *node = cache->last;

	if (node && node->base == base && node->file == file)
		return node;
	node = cache->table[find_place(cache, file, base)];
	if (node)
		cache->last = node;
	return node;
}

static int grow(struct page_cache *cache)
{
	struct page_cache bigger = *cache;

	bigger.table_mask = cache->table_mask * 2 + 1;
	bigger.table = calloc(bigger.table_mask + 1, sizeof(struct page_cache_node *));
	if (!bigger.table)
		return -1;
	for (uint64_t i = 0; i <= cache->table_mask; i++) {
		struct page_cache_node *node = cache->table[i];

		if (node)
			bigger.table[find_place(&bigger, node->file, node->base)] = node;
	}
	free(cache->table);
	*cache = bigger;
	return 0;
}

static struct page_cache_node *add_node(struct page_cache *cache, uint32_t file, uint64_t base)
{
	struct page_cache_node *node;

	if ((cache->nr_nodes + 1) * 2 > cache->table_mask && grow(cache))
		return NULL;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->file = file;
	node->base = base;
	cache->table[find_place(cache, file, base)] = node;
	cache->nr_nodes++;
	cache->last = node;
	return node;
}

/* Entries behind the hole move up, so that every search still ends at an empty place. */
static void remove_node(struct page_cache *cache, struct page_cache_node *node)
{
	uint64_t hole = find_place(cache, node->file, node->base);

	for (uint64_t i = (hole + 1) & cache->table_mask; cache->table[i];
	     i = (i + 1) & cache->table_mask) {
		uint64_t home = node_hash(cache->table[i]->file, cache->table[i]->base) &
				cache->table_mask;

		if (((i - home) & cache->table_mask) < ((i - hole) & cache->table_mask))
			continue;
		cache->table[hole] = cache->table[i];
		hole = i;
	}
	cache->table[hole] = NULL;
	cache->nr_nodes--;
	if (cache->last == node)
		cache->last = NULL;
	free(node);
}

uint64_t page_cache_slot(struct page_cache *cache, uint32_t file, uint64_t index)
{
	struct page_cache_node *node = find_node(cache, file, index >> PAGE_CACHE_NODE_SHIFT);

	return node ? node->slot[index & (PAGE_CACHE_NODE_SLOTS - 1)] : 0;
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

		if (!node) {
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
