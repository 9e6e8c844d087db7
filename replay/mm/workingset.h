/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shadow entries: what an evicted folio leaves in its page-cache or swap-cache slot.
 *
 * The frame is shared by all policies: which memcg and node, and bits whose meaning is the
 * policy's own (the classic LRU keeps an age and the workingset flag there).
 */
#ifndef REPLAY_MM_WORKINGSET_H
#define REPLAY_MM_WORKINGSET_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/lruvec.h"

/* Ages wrap at this many bits: 63 - 1 flag - 10 node - 16 memcg. Kernel: mm/workingset.c, v6.18. */
#define WORKINGSET_AGE_BITS 36
#define WORKINGSET_AGE_MASK ((UINT64_C(1) << WORKINGSET_AGE_BITS) - 1)

struct shadow {
	uint16_t memcg_index;
	uint16_t nid; /* below 1 << 10 */
	bool workingset;
	uint64_t age; /* the policy's, WORKINGSET_AGE_BITS wide */
};

/* Packed entries have bit 0 set, which no folio pointer has: a slot can hold either. */
static inline uint64_t shadow_pack(struct shadow shadow)
{
	return ((shadow.age & WORKINGSET_AGE_MASK) << 28) | ((uint64_t)shadow.memcg_index << 12) |
	       ((uint64_t)(shadow.nid & 1023) << 2) | ((uint64_t)shadow.workingset << 1) | 1;
}

static inline struct shadow shadow_unpack(uint64_t entry)
{
	return (struct shadow){
		.age = entry >> 28,
		.memcg_index = (uint16_t)(entry >> 12),
		.nid = (uint16_t)((entry >> 2) & 1023),
		.workingset = (entry >> 1) & 1,
	};
}

static inline bool slot_is_shadow(uint64_t slot)
{
	return slot & 1;
}

/**
 * workingset_age_nonresident() - time passes for refault distances
 * @lruvec: this level and all above it
 * @pages: evicted or activated
 * Kernel: mm/workingset.c, workingset_age_nonresident(), v6.18.
 */
static inline void workingset_age_nonresident(struct lruvec *lruvec, uint64_t pages)
{
	for (; lruvec; lruvec = lruvec_parent(lruvec))
		lruvec->nonresident_age += pages;
}

#endif
