/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits that were written while the recording ran: memory.max and memory.high of groups.
 *
 * No event tells a write. The recorder's readings do (`record --snapshot-every`, and the one at the end): a group
 * that was made on the tape has its first reading's limit from the start, for it was empty; another value than
 * the last one counts from its reading on.
 */
#ifndef REPLAY_WORLD_LIMITS_H
#define REPLAY_WORLD_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tape_reader;
struct world;

struct world_limit;

struct world_limits {
	struct world_limit *row; /* in the order of their times */
	uint32_t nr, room;
	uint32_t next; /* that has not come yet */
	uint32_t nr_changes; /* of a group's limits so far */
};

/** limits_read() - gather the readings behind the start's. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result))
limits_read(struct world_limits *limits, const struct tape_reader *reader);

/** limits_exit() - free them. */
void limits_exit(struct world_limits *limits);

/** limits_pass() - readings up to now count. */
void limits_pass(struct world *world, uint64_t now_ns);

/** limits_of_new() - a memcg has been made at @now_ns: what it is going to be limited to. */
void limits_of_new(struct world *world, uint32_t memcg, uint64_t now_ns);

/** limits_any() - a reading behind the start's has shown a limit. */
bool limits_any(const struct world_limits *limits);

#endif
