/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the recorded kernel itself counted, to hold a free-running replay of the recorded policy against.
 *
 * Three sources, the first that has a counter: memory.stat, for the machine /proc/vmstat, at the tape's end less that at
 * its start; the kernel's own count_memcg_events; or totals that other events carry (what reclaim calls say they
 * have reclaimed).
 */
#ifndef REPLAY_ACCURACY_H
#define REPLAY_ACCURACY_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/vmstat.h"
#include "replay/world/world.h"
#include "schema/tape_reader.h"

enum accuracy_source {
	ACCURACY_MEMORY_STAT,
	ACCURACY_VMSTAT, /* the machine's, of all memcgs together */
	ACCURACY_COUNT_EVENTS,
	ACCURACY_OTHER_EVENTS,
};

struct accuracy;

/**
 * accuracy_open() - begin to count, with what the snapshots say
 * @world: not owned; its memcgs are named by number
 * Return: ends with accuracy_close(); NULL without memory.
 */
struct accuracy *accuracy_open(const struct tape_reader *reader, const struct world *world);

/** accuracy_event() - the next event, after the world has seen it. */
void accuracy_event(struct accuracy *accuracy, struct world *world, const struct tape_event *event);

/**
 * accuracy_value() - what the kernel counted for a memcg
 * @memcg: number of the world's
 * @counter: by the name that counters.def gives it; not all are the kernel's
 * @source: set to where it is from
 * Return: the count; -1: the tape does not have it.
 */
int64_t accuracy_value(const struct accuracy *accuracy, const struct world *world, uint32_t memcg,
		       enum counter counter, enum accuracy_source *source);

/** accuracy_source_name() - in words. */
const char *accuracy_source_name(enum accuracy_source source);

/** accuracy_failed() - memory ran out. */
bool accuracy_failed(const struct accuracy *accuracy);

/** accuracy_close() - free it; NULL is fine. */
void accuracy_close(struct accuracy *accuracy);

#endif
