// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/shadow_nodes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "replay/mm/page_cache.h"

#define SHRINK_BATCH 128 /* Kernel: mm/shrinker.c, v6.18 */
#define FIRST_ROOM 256

void shadow_nodes_exit(struct shadow_nodes *nodes)
{
	free(nodes->node);
	free(nodes->list);
	memset(nodes, 0, sizeof(*nodes));
}

static struct shadow_list *list_of(struct shadow_nodes *nodes, uint16_t owner)
{
	if (owner >= nodes->nr_lists) {
		uint32_t nr = owner + 16u;
		struct shadow_list *bigger = realloc(nodes->list, nr * sizeof(*bigger));

		if (!bigger)
			return NULL;
		memset(bigger + nodes->nr_lists, 0, (nr - nodes->nr_lists) * sizeof(*bigger));
		nodes->list = bigger;
		nodes->nr_lists = nr;
	}
	return &nodes->list[owner];
}

static uint32_t take_number(struct shadow_nodes *nodes)
{
	uint32_t number = nodes->free;

	if (number) {
		nodes->free = nodes->node[number].newer;
		return number;
	}
	if (nodes->nr_used + 1 >= nodes->room) {
		uint32_t room = nodes->room ? nodes->room * 2 : FIRST_ROOM;
		struct shadow_node *bigger = realloc(nodes->node, room * sizeof(*bigger));

		if (!bigger)
			return 0;
		nodes->node = bigger;
		nodes->room = room;
	}
	return ++nodes->nr_used;
}

uint32_t shadow_nodes_add(struct shadow_nodes *nodes, uint16_t owner, uint32_t file, uint64_t base)
{
	struct shadow_list *list = list_of(nodes, owner);
	uint32_t number = list ? take_number(nodes) : 0;

	if (!number)
		return 0;
	nodes->node[number] = (struct shadow_node){
		.base = base, .file = file, .older = list->newest, .owner = owner
	};
	if (list->newest)
		nodes->node[list->newest].newer = number;
	else
		list->oldest = number;
	list->newest = number;
	list->nr++;
	return number;
}

void shadow_nodes_del(struct shadow_nodes *nodes, uint32_t number)
{
	struct shadow_node *node = &nodes->node[number];
	struct shadow_list *list = &nodes->list[node->owner];

	assert(number && number <= nodes->nr_used && list->nr);
	if (node->older)
		nodes->node[node->older].newer = node->newer;
	else
		list->oldest = node->newer;
	if (node->newer)
		nodes->node[node->newer].older = node->older;
	else
		list->newest = node->older;
	list->nr--;
	node->newer = nodes->free;
	nodes->free = number;
}

uint64_t shadow_nodes_of(const struct shadow_nodes *nodes, uint16_t owner)
{
	return owner < nodes->nr_lists ? nodes->list[owner].nr : 0;
}

/* Return: nodes dropped, -1 without memory. */
static int64_t scan(struct page_cache *cache, uint16_t owner, uint64_t nr_to_scan)
{
	int64_t nr = 0;

	for (; nr_to_scan; nr_to_scan--, nr++) {
		uint32_t oldest = cache->shadow_nodes.list[owner].oldest;

		if (!oldest)
			break;
		/* Takes it off the list. */
		if (page_cache_drop_node(cache, cache->shadow_nodes.node[oldest].file,
					 cache->shadow_nodes.node[oldest].base))
			return -1;
	}
	return nr;
}

int64_t shadow_nodes_shrink(struct page_cache *cache, uint16_t owner, int64_t pages, int priority)
{
	uint64_t nr_nodes = shadow_nodes_of(&cache->shadow_nodes, owner);
	uint64_t warranted = (uint64_t)(pages > 0 ? pages : 0) >> (PAGE_CACHE_NODE_SHIFT - 3);
	uint64_t freeable, delta, total, deferred, scanned = 0;
	struct shadow_list *list;
	int64_t freed = 0;

	if (nr_nodes <= warranted)
		return 0;
	freeable = nr_nodes - warranted;
	delta = freeable / 2;
	list = &cache->shadow_nodes.list[owner];
	deferred = list->deferred;
	cache->shadow_nodes.last = (struct shadow_call){ freeable, deferred, priority };
	total = (deferred >> priority) + delta;
	if (total > 2 * freeable)
		total = 2 * freeable;
	while (total >= SHRINK_BATCH || total >= freeable) {
		uint64_t nr = total < SHRINK_BATCH ? total : SHRINK_BATCH;
		int64_t dropped = scan(cache, owner, nr);

		if (dropped < 0)
			return -1;
		freed += dropped;
		total -= nr;
		scanned += nr;
	}
	deferred += delta;
	deferred = deferred > scanned ? deferred - scanned : 0;
	list->deferred = deferred < 2 * freeable ? deferred : 2 * freeable;
	return freed;
}
