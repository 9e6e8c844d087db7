/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy of your own as a shared object: `lrutape replay --policy ./mine.so`.
 *
 *	#include "replay/policy/object.h"
 *
 *	static const struct reclaim_policy policy_mine = { .name = "mine", ... };
 *
 *	POLICY_OBJECT(policy_mine);
 *
 * Built in the top folder of the sources that the program was built from, whose functions it may call:
 *
 *	gcc -std=gnu11 -O2 -fno-strict-aliasing -fPIC -shared -I. -o mine.so mine.c
 */
#ifndef REPLAY_POLICY_OBJECT_H
#define REPLAY_POLICY_OBJECT_H

#include "replay/policy/policy.h"

/* Counts up when an op changes its meaning. A change of a struct shows in its size. */
#define POLICY_OBJECT_ABI 1u

#define POLICY_OBJECT_SYMBOL "lrutape_policy"

enum policy_object_struct {
	POLICY_OBJECT_RECLAIM_POLICY,
	POLICY_OBJECT_FOLIO,
	POLICY_OBJECT_LRUVEC,
	POLICY_OBJECT_MEM_CGROUP,
	POLICY_OBJECT_MM,
	POLICY_OBJECT_MM_RULES,
	POLICY_OBJECT_RECLAIM_WALK,
	POLICY_OBJECT_SCAN_REQUEST,
	POLICY_OBJECT_SCAN_RESULT,
	NR_POLICY_OBJECT_STRUCTS
};

#define POLICY_OBJECT_SIZES                                                                        \
	{                                                                                          \
		sizeof(struct reclaim_policy), sizeof(struct folio), sizeof(struct lruvec),        \
			sizeof(struct mem_cgroup), sizeof(struct mm), sizeof(struct mm_rules),     \
			sizeof(struct reclaim_walk), sizeof(struct scan_request),                  \
			sizeof(struct scan_result)                                                 \
	}

/* What the file shows of itself. The first two members stay where they are for ever. */
struct policy_object {
	uint32_t abi, object_bytes;
	uint32_t size[NR_POLICY_OBJECT_STRUCTS]; /* of the structs as it was built with them */
	const struct reclaim_policy *policy; /* NULL: a variant */
	const char *variant; /* name of a whole core that `make variant` built; NULL: a policy */
	const void *core; /* its struct replay_core */
	uint32_t core_bytes, world_bytes; /* of that struct, and of struct world */
};

#define POLICY_OBJECT(the_policy)                                                                  \
	__attribute__((visibility("default"))) const struct policy_object lrutape_policy = {       \
		.abi = POLICY_OBJECT_ABI,                                                          \
		.object_bytes = sizeof(struct policy_object),                                      \
		.size = POLICY_OBJECT_SIZES,                                                       \
		.policy = &(the_policy),                                                           \
	}

#endif
