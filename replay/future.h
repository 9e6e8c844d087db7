/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tape will ask for: the next use of each page, for policies that know the future.
 *
 * A pass over the tape numbers the touches of pages in the order in which they happen, and links
 * each with the next of the same page. A replay counts along, so that the number of the touch at
 * hand finds the next one in one step. What counts is told by the events alone, so that the
 * numbers are the same whatever a run has in memory:
 *
 *   use    a page of a read, of an imported request; an addition that a miss asked for (a read or a
 *          fault that did not find the page, or a page that is going to be written to)
 *   end    truncation, invalidation: what comes after does not profit from the page
 *   none   an addition that only readahead asked for; it has a number and no links
 *
 * Memory: 4 bytes a touch, and 21 to 43 bytes a page, once for all runs over the tape.
 */
#ifndef REPLAY_FUTURE_H
#define REPLAY_FUTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/policy/policy.h"
#include "replay/world/world.h"
#include "schema/tape_reader.h"

/* Touches of one tape: 4 GiB of memory. */
#define FUTURE_TOUCH_LIMIT (UINT32_C(1) << 30)

#define FUTURE_TOO_LONG 1

struct future;

enum future_touch {
	FUTURE_NONE,
	FUTURE_USE,
	FUTURE_END,
};

/* The pages of one file that an event touches, one touch each, in this order. */
struct future_range {
	uint64_t dev, ino;
	uint64_t first, nr; /* pages; nr may be 0 */
};

/**
 * future_add_is_demanded() - a miss asked for pages that a task adds to the page cache
 * Else only its readahead did.
 */
static inline bool future_add_is_demanded(const struct world_task *task, uint32_t file,
					  uint64_t index, uint64_t nr)
{
	return task->demand_file != file ||
	       (task->demand_first <= index + nr - 1 && index <= task->demand_last);
}

/** future_range() - what an event touches. @world: has seen it. @read_end: of event_stream_next(). */
struct future_range future_range(const struct world *world, const struct tape_event *event,
				 uint64_t read_end);

/**
 * future_read() - the pass over the tape
 * @reader: at its first event, and there again afterwards
 * @future: set to the index; ends with future_close()
 * Return: 0, FUTURE_TOO_LONG, or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
future_read(struct tape_reader *reader, struct future **future);

/**
 * future_after() - when a page is used again
 * @touch: of that page
 * Return: number of a later touch, or FOLIO_NEVER_USED.
 */
uint32_t future_after(const struct future *future, uint32_t touch);

/**
 * future_next_use() - when a page is used next, whatever touched it last
 * @from: number of the first touch that may be meant
 * @settled: no later call asks for what came before this touch; at most @from
 * Return: number of a touch, or FOLIO_NEVER_USED.
 */
uint32_t future_next_use(struct future *future, uint64_t dev, uint64_t ino, uint64_t page,
			 uint32_t from, uint32_t settled);

/** future_failed() - memory ran out while it was asked; the answers are worth nothing. */
bool future_failed(const struct future *future);

/** future_bytes() - memory it takes. */
uint64_t future_bytes(const struct future *future);

/** future_close() - free it; NULL is fine. */
void future_close(struct future *future);

#endif
