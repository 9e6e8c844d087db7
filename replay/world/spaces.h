/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address spaces: which tasks share one, when it ends, and how much anonymous memory it holds.
 *
 * Without swap the default events do not tell when anonymous pages are freed. They tell when each comes on a
 * list, and when processes exit or execute another program, which frees all of theirs at once. What a group
 * is charged for so grows and shrinks with its processes; what one gives back while it lives is not seen
 * before a reclaim call shows how much the group is charged for (INFER_overhead_at_reclaim).
 */
#ifndef REPLAY_WORLD_SPACES_H
#define REPLAY_WORLD_SPACES_H

#include <stdbool.h>
#include <stdint.h>

struct tape_event;
struct world;
struct world_task;

struct world_space {
	uint32_t nr_users; /* tasks */
	uint32_t memcg; /* number: whom its anonymous pages are charged to */
	int64_t anon_pages;
};

/* mod_memcg_lruvec_state: a list grew on a CPU; the insertion behind it is of that folio. */
struct grown_list {
	uint64_t memcg; /* inode of its directory, 0: none */
	uint64_t item, pages;
};

struct spaces {
	struct world_space *space; /* by number; 0 is none */
	uint32_t nr, room;
	uint32_t gone; /* the one that the current event ends, 0: none */
	struct grown_list *grown; /* by CPU; NULL: anonymous pages are not followed */
};

/** spaces_init() - nothing is known. The world must know its CPUs. Return: 0, or -1 without memory. */
int spaces_init(struct world *world);

/** spaces_exit() - free everything. */
void spaces_exit(struct world *world);

/** spaces_event() - take in what an event says about them. */
void spaces_event(struct world *world, const struct tape_event *event);

/**
 * spaces_overhead_shown() - a memcg is charged for so many pages that are on no list of a replay
 * If that is less than what came in its address spaces, all have given back the same share of it.
 */
void spaces_overhead_shown(struct world *world, uint32_t memcg, int64_t pages);

/** spaces_of() - number of a task's, made if it has none yet; 0 without memory. */
uint32_t spaces_of(struct world *world, struct world_task *task);

#endif
