/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of the machine that is neither free nor a file folio's, over the time of a tape: anonymous and kernel
 * memory, and what CPUs keep in lists of their own, which may be thousands of pages.
 *
 *   free at the start - added to the page cache since, and not removed - free now = used for other things
 *
 * What is free now is known where the tape has /proc/zoneinfo, at its end at least, and where kswapd wakes and
 * finds work: no zone is above its low mark then, unless watermarks are boosted. Between two such moments it is taken to go on evenly; so a run need not learn
 * of memory that came free only when the recorded kernel had run out of it. A pass before the runs finds them.
 */
#ifndef REPLAY_WORLD_OVERHEAD_H
#define REPLAY_WORLD_OVERHEAD_H

#include <stdint.h>

struct tape_reader;
struct world;

struct overhead_point {
	uint64_t timestamp_ns;
	int64_t pages;
};

/* kswapd woke since watermarks were boosted, not since they were met. */
struct overhead_boost {
	uint64_t wake_ns;
	uint64_t pages; /* to be freed */
};

struct overhead {
	struct overhead_point *point; /* by time */
	uint32_t nr, room;
	struct overhead_boost *boost; /* by time */
	uint32_t nr_boosts, room_boosts;
};

/**
 * overhead_find() - the pass over a tape on which the machine's own memory runs out
 * @reader: at its first event, where it is put again
 * Return: 0, -1 without memory, or a negative enum tape_error of the reader.
 */
int __attribute__((warn_unused_result))
overhead_find(struct world *world, struct tape_reader *reader);

/**
 * overhead_at() - pages used for other things
 * @at: 0 at first; where to look the next time, if time does not go back
 */
int64_t overhead_at(const struct overhead *overhead, uint64_t timestamp_ns, uint32_t *at);

/** overhead_boost() - by how many pages watermarks were boosted where kswapd woke at that time; 0: they were not */
uint64_t overhead_boost(const struct overhead *overhead, uint64_t wake_ns);

/** overhead_exit() - free all. */
void overhead_exit(struct overhead *overhead);

#endif
