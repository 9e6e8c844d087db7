/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memcg LRU of MGLRU, from 6.3 on: in which order reclaim from everybody comes to the memcgs of a node.
 *
 *   seq + 1  young   [0] [1] [2] ... [7]   bins
 *   seq      old     [0] [1] [2] ... [7]   <- a call starts at a random bin, and visits all eight
 *
 *   head    first in a random bin of the same generation   soft limit exceeded
 *   tail    last in a random bin of the same generation    memory.low, or too small: one retry
 *   old     first in a random bin of the old generation    its directory was removed
 *   young   last in a random bin of the young generation   aged, memory.min, or tried twice
 *
 * When the old generation has become empty, the young one is the old one. So a large memcg stays where it is
 * and is met by each call, until it has nothing cold left; a small one waits for a round of all others.
 *
 * Which bins the kernel drew is on no tape. A run draws its own, seeded; check finds out by the victims whose
 * turn it was.
 */
#ifndef REPLAY_MM_MEMCG_LRU_H
#define REPLAY_MM_MEMCG_LRU_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/list.h"

/* Kernel: include/linux/mmzone.h, v6.12. */
#define MEMCG_NR_GENS 3
#define MEMCG_NR_BINS 8

/* The values are those that segments have. Kernel: mm/vmscan.c, v6.12. */
enum memcg_lru_op {
	MEMCG_LRU_NOP,
	MEMCG_LRU_HEAD,
	MEMCG_LRU_TAIL,
	MEMCG_LRU_OLD,
	MEMCG_LRU_YOUNG,
};

/* A lruvec's place. */
struct memcg_lru_node {
	struct list_head list; /* in a bin; next NULL: in none */
	uint8_t gen; /* seq % MEMCG_NR_GENS */
	uint8_t seg; /* head, tail, or neither: how it came there */
	void *owner; /* the lruvec */
};

/* Of a node. */
struct memcg_lru {
	uint64_t seq;
	unsigned int nr_memcgs[MEMCG_NR_GENS];
	struct list_head bin[MEMCG_NR_GENS][MEMCG_NR_BINS];
	uint64_t draws; /* state of the generator of bins, not 0 */
};

/* Loop variables of shrink_many(). */
struct memcg_lru_walk {
	bool begun;
	uint8_t gen, bin, first_bin;
	struct list_head *next; /* of the bin: what comes after the memcg at hand */
};

#define MEMCG_LRU_SEED UINT64_C(0x9e3779b97f4a7c15)

/** memcg_lru_init() - nobody is in it. @seed: of the bins */
void memcg_lru_init(struct memcg_lru *lru, uint64_t seed);

/** memcg_lru_seed() - other bins from now on. */
void memcg_lru_seed(struct memcg_lru *lru, uint64_t seed);

/**
 * memcg_lru_online() - a new memcg: last in a random bin of the old generation
 * @owner: what memcg_lru_next() hands out for it
 * Kernel: mm/vmscan.c, lru_gen_online_memcg(), v6.12.
 */
void memcg_lru_online(struct memcg_lru *lru, struct memcg_lru_node *node, void *owner);

/**
 * memcg_lru_rotate() - move it, as above. @op: not MEMCG_LRU_NOP
 * Kernel: mm/vmscan.c, lru_gen_rotate_memcg(), v6.12.
 */
void memcg_lru_rotate(struct memcg_lru *lru, struct memcg_lru_node *node, enum memcg_lru_op op);

/**
 * memcg_lru_release() - it is in no bin any more
 * Kernel: mm/vmscan.c, lru_gen_release_memcg(), v6.12.
 */
void memcg_lru_release(struct memcg_lru *lru, struct memcg_lru_node *node);

/** memcg_lru_is_old() - the next call comes to it. */
bool memcg_lru_is_old(const struct memcg_lru *lru, const struct memcg_lru_node *node);

/**
 * memcg_lru_next() - the next memcg of a call
 * @walk: zeroed before the first one
 * @op: what becomes of the one handed out last, MEMCG_LRU_NOP: it stays. Done after the next is chosen.
 * @last: the one handed out last
 * Kernel: mm/vmscan.c, shrink_many(), v6.12. Differs: nobody else moves memcgs meanwhile.
 * Return: the owner; NULL: all bins were visited.
 */
void *memcg_lru_next(struct memcg_lru *lru, struct memcg_lru_walk *walk,
		     struct memcg_lru_node *last, enum memcg_lru_op op);

#endif
