/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page-cache nodes that hold nothing but shadow entries, oldest first, and their shrinker.
 *
 *   memcg:  [ oldest ... | ... newest ]     a node enters when its last folio is evicted,
 *            \_ dropped _/                  leaves when a folio comes back
 *
 * The kernel keeps so many of them as could matter: shadows for as many pages as the memcg has, if
 * an eighth of a node's slots is used. What is beyond that goes a node at a time, each with up to
 * 64 shadows, and their refaults become plain misses.
 */
#ifndef REPLAY_MM_SHADOW_NODES_H
#define REPLAY_MM_SHADOW_NODES_H

#include <stdbool.h>
#include <stdint.h>

struct page_cache;

/* One node in its memcg's list; named by its place, because the nodes' own table moves. */
struct shadow_node {
	uint64_t base; /* index >> PAGE_CACHE_NODE_SHIFT */
	uint32_t file;
	uint32_t older, newer; /* numbers, 0: none */
	uint16_t owner; /* memcg index, who was charged for the node */
};

struct shadow_list {
	uint32_t oldest, newest; /* numbers, 0: none */
	uint64_t nr;
	uint64_t deferred; /* scans that earlier calls left for later ones */
};

/* What the shrinker found when it was called last. */
struct shadow_call {
	uint64_t freeable; /* nodes too many, 0: it was not called since this was looked at */
	uint64_t deferred; /* scans put off until then */
	int priority;
};

struct shadow_nodes {
	struct shadow_node *node; /* by number, from 1 on */
	uint32_t nr_used; /* highest number in use so far */
	uint32_t room;
	uint32_t free; /* linked through newer */
	struct shadow_list *list; /* by memcg index */
	uint32_t nr_lists;
	struct shadow_call last;
};

/** shadow_nodes_exit() - free the lists. */
void shadow_nodes_exit(struct shadow_nodes *nodes);

/**
 * shadow_nodes_add() - a node's last folio went
 * @owner: memcg index
 * Return: its number, to be kept by the node; 0 without memory.
 */
uint32_t shadow_nodes_add(struct shadow_nodes *nodes, uint16_t owner, uint32_t file, uint64_t base);

/** shadow_nodes_del() - a node is gone, or has a folio again. @number: from shadow_nodes_add(). */
void shadow_nodes_del(struct shadow_nodes *nodes, uint32_t number);

/** shadow_nodes_of() - how many nodes of a memcg hold only shadows. */
uint64_t shadow_nodes_of(const struct shadow_nodes *nodes, uint16_t owner);

/**
 * shadow_nodes_shrink() - one call of the shrinker for a memcg
 * @cache: whose nodes they are; the oldest lose all their shadows
 * @owner: memcg index
 * @pages: on the memcg's lists and in its slabs; an eighth as many nodes stay
 * @priority: of the reclaim that calls it
 *
 * What is less than a batch of 128, and less than all, is put off until it is that much.
 * Kernel: mm/shrinker.c, do_shrink_slab(), v6.18.
 * Kernel: mm/workingset.c, count_shadow_nodes(), scan_shadow_nodes(), v6.18.
 * Return: nodes dropped, -1 without memory.
 */
int64_t shadow_nodes_shrink(struct page_cache *cache, uint16_t owner, int64_t pages, int priority);

#endif
