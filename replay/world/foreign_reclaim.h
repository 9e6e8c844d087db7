/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reclaim that somebody outside of a memcg asks for: memory.reclaim of cgroup v2, memory.force_empty and
 * a lowered limit of v1.
 *
 * No event tells the write. What shows is a row of reclaim calls of one task, one right behind the other, and
 * the task is in no memcg whose limit they could be for:
 *
 *   task, in /    begin .. end 64   begin .. end 71   begin .. end 33     and then something else, or a pause
 *   victims       /x                /x                /x, /x/y
 *
 * Whom it is for, the victims tell: the lowest memcg that has them all below it. What was asked for lies between
 * what had come free before the last call and after it; the roundest number in there is taken. A pass over the
 * tape finds the rows before the runs begin.
 *
 * Where the same task has written a mark into the recording's trace_marker just before, all of it is known:
 * "memory.reclaim PAGES SWAPPINESS PATH", SWAPPINESS -1 for none, or "memory.force_empty PATH".
 */
#ifndef REPLAY_WORLD_FOREIGN_RECLAIM_H
#define REPLAY_WORLD_FOREIGN_RECLAIM_H

#include <stdbool.h>
#include <stdint.h>

struct tape_reader;
struct world;

#define FOREIGN_SWAPPINESS_UNSET (-1)

/* One write. */
struct foreign_reclaim {
	uint32_t memcg; /* number */
	uint64_t pages; /* asked for, or most likely so */
	bool all; /* v1: memory.force_empty, of all that the memcg has */
	bool told; /* by a mark: nothing of this is inferred */
	int swappiness; /* 0..201, or FOREIGN_SWAPPINESS_UNSET: the memcg's */
};

/* One of its reclaim calls. */
struct foreign_call {
	uint64_t begin_ns; /* of its begin event */
	int32_t pid;
	uint32_t row; /* in foreign_reclaims.row */
	bool first, last; /* of its row */
	uint64_t pages_before; /* that came free in the row's earlier calls */
};

struct foreign_reclaims {
	struct foreign_reclaim *row;
	uint32_t nr_rows, room_rows;
	struct foreign_call *call; /* by time */
	uint32_t nr_calls, room_calls;
};

/**
 * foreign_reclaim_find() - the pass over the tape
 * @reader: at its first event, where it is put again
 * Return: 0, -1 without memory, or a negative enum tape_error of the reader.
 */
int __attribute__((warn_unused_result))
foreign_reclaim_find(struct world *world, struct tape_reader *reader);

/** foreign_reclaim_call() - the call that a task begins at that moment; NULL: it is for its own memcg's limit. */
const struct foreign_call *foreign_reclaim_call(const struct world *world, int32_t pid,
						uint64_t begin_ns);

/** foreign_reclaim_exit() - free all. */
void foreign_reclaim_exit(struct foreign_reclaims *foreign);

/**
 * foreign_reclaim_roundest() - the number in (above, upto] that the greatest power of two divides
 * Return: 0 if there is none.
 */
uint64_t foreign_reclaim_roundest(uint64_t above, uint64_t upto);

#endif
