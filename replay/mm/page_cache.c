// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/page_cache.h"

#include <stdlib.h>
#include <string.h>

#include "replay/mm/huge_room.h"
#include "replay/mm/workingset.h"

#define FIRST_TABLE_SIZE 1024
#define NODE_BYTES (PAGE_CACHE_NODE_SLOTS * sizeof(uint64_t))
#define ROOM_NODES (HUGE_ROOM_BYTES / NODE_BYTES)

#define UPPER (1u << 31) /* in a node's file: its slots say what the 64 nodes below it are */
/* What they are; bit 0 as in a packed shadow. */
#define UPPER_SHADOW 1 /* the shadow of a folio of 64 pages and more */
#define UPPER_FOLIO 2 /* such a folio */
#define UPPER_CHILD 4 /* a node of the kernel's */
/* The same place in the table, one bit for each of its slots' pages: those whose shadow was dropped. */
#define DROPPED (1u << 30)

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
	shadow_nodes_exit(&cache->shadow_nodes);
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
	*node = (struct page_cache_node){
		.slot = slot, .base = base, .file = file, .owner = cache->owner
	};
	cache->nr_nodes++;
	return node;
}

/* Entries behind the hole move up, so that every search still ends at an empty place. */
static void remove_node(struct page_cache *cache, struct page_cache_node *node)
{
	uint64_t hole = (uint64_t)(node - cache->table);

	if (node->shadow_node)
		shadow_nodes_del(&cache->shadow_nodes, node->shadow_node);
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

/* All 64 slots are one folio's, or its shadow's: no node in the kernel, but one entry of the node above. */
static bool is_one_entry(const struct page_cache_node *node)
{
	if (node->file & UPPER || node->nr_used < PAGE_CACHE_NODE_SLOTS ||
	    (node->nr_shadows && node->nr_shadows < PAGE_CACHE_NODE_SLOTS))
		return false;
	for (unsigned int i = 1; i < PAGE_CACHE_NODE_SLOTS; i++)
		if (node->slot[i] != node->slot[0])
			return false;
	return true;
}

/*
 * Nothing but shadows, in a node of the kernel's own. It has none for the only page of a file.
 * Kernel: mm/workingset.c, workingset_update_node(), v6.18.
 */
static bool is_shadow_node(const struct page_cache_node *node)
{
	if (node->nr_used != node->nr_shadows || is_one_entry(node))
		return false;
	return node->nr_used > 1 || node->base || !node->slot[0] || node->file & UPPER;
}

static int update_list(struct page_cache *cache, struct page_cache_node *node)
{
	bool is = node->nr_used && is_shadow_node(node);

	if (is == (node->shadow_node != 0))
		return 0;
	if (!is) {
		shadow_nodes_del(&cache->shadow_nodes, node->shadow_node);
		node->shadow_node = 0;
		return 0;
	}
	node->shadow_node = shadow_nodes_add(&cache->shadow_nodes, node->owner, node->file,
					     node->base);
	return node->shadow_node ? 0 : -1;
}

static void set_slot(struct page_cache_node *node, uint64_t i, uint64_t value)
{
	uint64_t *slot = &node->slot[i];

	node->nr_used = (uint8_t)(node->nr_used + !!value - !!*slot);
	node->nr_shadows = (uint8_t)(node->nr_shadows + slot_is_shadow(value) -
				     slot_is_shadow(*slot));
	*slot = value;
}

static uint64_t kind_in_upper(const struct page_cache_node *node)
{
	if (!node->slot || !node->nr_used)
		return 0;
	if (!is_one_entry(node))
		return UPPER_CHILD;
	return slot_is_shadow(node->slot[0]) ? UPPER_SHADOW : UPPER_FOLIO;
}

/* The first folio of 64 pages in a range of 64 times 64: from now on it is followed what is there. */
static struct page_cache_node *add_upper(struct page_cache *cache, uint32_t file, uint64_t base)
{
	struct page_cache_node *upper = add_node(cache, file | UPPER, base);

	if (!upper)
		return NULL;
	cache->nr_uppers++;
	for (uint64_t i = 0; i < PAGE_CACHE_NODE_SLOTS; i++)
		set_slot(upper, i,
			 kind_in_upper(find_node(cache, file, base << PAGE_CACHE_NODE_SHIFT | i)));
	return upper;
}

/* What a node is to the one above it has changed, or not. @kind: of UPPER_*, 0: it is gone. */
static int update_upper(struct page_cache *cache, uint32_t file, uint64_t base, uint64_t kind)
{
	uint64_t i = base & (PAGE_CACHE_NODE_SLOTS - 1);
	struct page_cache_node *upper;

	base >>= PAGE_CACHE_NODE_SHIFT;
	if (!cache->nr_uppers && kind != UPPER_FOLIO)
		return 0;
	upper = find_node(cache, file | UPPER, base);
	if (!upper->slot) {
		if (kind != UPPER_FOLIO)
			return 0;
		upper = add_upper(cache, file, base);
		if (!upper)
			return -1;
	}
	if (upper->slot[i] == kind)
		return 0;
	set_slot(upper, i, kind);
	if (upper->nr_used)
		return update_list(cache, upper);
	cache->nr_uppers--;
	remove_node(cache, upper);
	return 0;
}

static int store_slot(struct page_cache *cache, uint32_t file, uint64_t index, uint64_t value)
{
	uint64_t base = index >> PAGE_CACHE_NODE_SHIFT, kind;
	struct page_cache_node *node = find_node(cache, file, base);

	if (!node->slot) {
		if (!value)
			return 0;
		node = add_node(cache, file, base);
		if (!node)
			return -1;
	}
	set_slot(node, index & (PAGE_CACHE_NODE_SLOTS - 1), value);
	if (update_list(cache, node))
		return -1;
	kind = kind_in_upper(node);
	if (!node->nr_used)
		remove_node(cache, node);
	return update_upper(cache, file, base, kind);
}

int page_cache_store(struct page_cache *cache, uint32_t file, uint64_t index, uint64_t nr,
		     uint64_t value)
{
	for (; nr; nr--, index++)
		if (store_slot(cache, file, index, value))
			return -1;
	return 0;
}

/* What a node's slots held is gone, and remembered to have been there. */
static int drop_shadows(struct page_cache *cache, uint32_t file, uint64_t base)
{
	struct page_cache_node *node = find_node(cache, file, base), *dropped;
	uint64_t pages = 0, *mask;

	if (!node->slot)
		return 0;
	for (unsigned int i = 0; i < PAGE_CACHE_NODE_SLOTS; i++)
		pages |= (uint64_t) !!node->slot[i] << i;
	memset(node->slot, 0, NODE_BYTES);
	remove_node(cache, node);
	dropped = find_node(cache, file | DROPPED, base >> PAGE_CACHE_NODE_SHIFT);
	if (!dropped->slot)
		dropped = add_node(cache, file | DROPPED, base >> PAGE_CACHE_NODE_SHIFT);
	if (!dropped)
		return -1;
	mask = &dropped->slot[base & (PAGE_CACHE_NODE_SLOTS - 1)];
	dropped->nr_used = (uint8_t)(dropped->nr_used + !*mask);
	*mask |= pages;
	return 0;
}

int page_cache_drop_node(struct page_cache *cache, uint32_t file, uint64_t base)
{
	struct page_cache_node *upper;

	if (!(file & UPPER))
		return drop_shadows(cache, file, base) || update_upper(cache, file, base, 0) ? -1 :
											       0;
	for (uint64_t i = 0; i < PAGE_CACHE_NODE_SLOTS; i++)
		if (drop_shadows(cache, file & ~UPPER, base << PAGE_CACHE_NODE_SHIFT | i))
			return -1;
	upper = find_node(cache, file, base);
	memset(upper->slot, 0, NODE_BYTES);
	remove_node(cache, upper);
	cache->nr_uppers--;
	return 0;
}

bool page_cache_dropped(const struct page_cache *cache, uint32_t file, uint64_t index)
{
	uint64_t base = index >> PAGE_CACHE_NODE_SHIFT;
	const struct page_cache_node *dropped = find_node(cache, file | DROPPED,
							  base >> PAGE_CACHE_NODE_SHIFT);

	return dropped->slot && dropped->slot[base & (PAGE_CACHE_NODE_SLOTS - 1)] >>
						(index & (PAGE_CACHE_NODE_SLOTS - 1)) &
					1;
}

static void node_gone(struct page_cache *cache, struct page_cache_node *node,
		      void (*found)(void *ctx, struct folio *folio), void *ctx)
{
	uint64_t before = 0;

	for (unsigned int i = 0; i < PAGE_CACHE_NODE_SLOTS; i++) {
		uint64_t slot = node->slot[i];

		node->slot[i] = 0;
		if (slot && slot != before && !slot_is_shadow(slot) &&
		    !(node->file & (UPPER | DROPPED)))
			found(ctx, (struct folio *)(uintptr_t)slot);
		before = slot;
	}
	cache->nr_uppers -= node->file & UPPER ? 1 : 0;
	remove_node(cache, node);
}

void page_cache_file_gone(struct page_cache *cache, uint32_t file, uint64_t nr_pages,
			  void (*found)(void *ctx, struct folio *folio), void *ctx)
{
	uint64_t nr = nr_pages / PAGE_CACHE_NODE_SLOTS + 1;

	if (nr <= cache->table_mask) {
		for (uint64_t base = 0; base < nr; base++) {
			const uint32_t kind[] = { file, file | UPPER, file | DROPPED };

			for (unsigned int i = 0; i < 3; i++) {
				struct page_cache_node *node = find_node(cache, kind[i], base);

				if (node->slot)
					node_gone(cache, node, found, ctx);
			}
		}
		return;
	}
	/* Removing moves others up: what stands here then is looked at again. */
	for (uint64_t i = 0; i <= cache->table_mask; i++)
		while (cache->table[i].slot && (cache->table[i].file & ~(UPPER | DROPPED)) == file)
			node_gone(cache, &cache->table[i], found, ctx);
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
