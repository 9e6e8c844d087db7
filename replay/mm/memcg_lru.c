// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/memcg_lru.h"

#include <assert.h>
#include <stddef.h>

static uint8_t gen_of(uint64_t seq)
{
	return (uint8_t)(seq % MEMCG_NR_GENS);
}

/* xorshift64*, Vigna 2016. */
static uint8_t random_bin(struct memcg_lru *lru)
{
	lru->draws ^= lru->draws >> 12;
	lru->draws ^= lru->draws << 25;
	lru->draws ^= lru->draws >> 27;
	return (uint8_t)(lru->draws * UINT64_C(0x2545f4914f6cdd1d) >> 61); /* of eight */
}

static_assert(MEMCG_NR_BINS == 8, "three bits say a bin");

void memcg_lru_init(struct memcg_lru *lru, uint64_t seed)
{
	*lru = (struct memcg_lru){ 0 };
	for (int gen = 0; gen < MEMCG_NR_GENS; gen++)
		for (int bin = 0; bin < MEMCG_NR_BINS; bin++)
			list_init(&lru->bin[gen][bin]);
	memcg_lru_seed(lru, seed);
}

void memcg_lru_seed(struct memcg_lru *lru, uint64_t seed)
{
	lru->draws = seed ? seed : MEMCG_LRU_SEED;
}

/* The old generation is empty: the young one takes its place. */
static void step_on(struct memcg_lru *lru, uint8_t left)
{
	if (!lru->nr_memcgs[left] && left == gen_of(lru->seq))
		lru->seq++;
}

void memcg_lru_online(struct memcg_lru *lru, struct memcg_lru_node *node, void *owner)
{
	uint8_t bin = random_bin(lru);

	node->owner = owner;
	node->gen = gen_of(lru->seq);
	node->seg = MEMCG_LRU_NOP;
	list_add_tail(&node->list, &lru->bin[node->gen][bin]);
	lru->nr_memcgs[node->gen]++;
}

void memcg_lru_rotate(struct memcg_lru *lru, struct memcg_lru_node *node, enum memcg_lru_op op)
{
	uint8_t bin = random_bin(lru), old = node->gen;

	node->seg = op == MEMCG_LRU_HEAD || op == MEMCG_LRU_TAIL ? (uint8_t)op : MEMCG_LRU_NOP;
	if (op == MEMCG_LRU_OLD)
		node->gen = gen_of(lru->seq);
	else if (op == MEMCG_LRU_YOUNG)
		node->gen = gen_of(lru->seq + 1);
	list_del(&node->list);
	if (op == MEMCG_LRU_HEAD || op == MEMCG_LRU_OLD)
		list_add(&node->list, &lru->bin[node->gen][bin]);
	else
		list_add_tail(&node->list, &lru->bin[node->gen][bin]);
	lru->nr_memcgs[old]--;
	lru->nr_memcgs[node->gen]++;
	step_on(lru, old);
}

void memcg_lru_release(struct memcg_lru *lru, struct memcg_lru_node *node)
{
	if (!node->list.next)
		return;
	list_del(&node->list);
	node->list = (struct list_head){ 0 };
	lru->nr_memcgs[node->gen]--;
	step_on(lru, node->gen);
}

bool memcg_lru_is_old(const struct memcg_lru *lru, const struct memcg_lru_node *node)
{
	return node->list.next && node->gen == gen_of(lru->seq);
}

void *memcg_lru_next(struct memcg_lru *lru, struct memcg_lru_walk *walk,
		     struct memcg_lru_node *last, enum memcg_lru_op op)
{
	struct list_head *head, *at;

	if (!walk->begun) {
		walk->begun = true;
		walk->gen = gen_of(lru->seq);
		walk->bin = walk->first_bin = random_bin(lru);
		walk->next = lru->bin[walk->gen][walk->bin].next;
	}
	head = &lru->bin[walk->gen][walk->bin];
	/* The place of the next is looked up first: the tail of this bin is met again, unless it was it. */
	at = walk->next;
	if (op != MEMCG_LRU_NOP)
		memcg_lru_rotate(lru, last, op);
	while (at == head) {
		walk->bin = (uint8_t)((walk->bin + 1) % MEMCG_NR_BINS);
		if (walk->bin == walk->first_bin)
			return NULL;
		head = &lru->bin[walk->gen][walk->bin];
		at = head->next;
	}
	walk->next = at->next;
	return list_entry(at, struct memcg_lru_node, list)->owner;
}
