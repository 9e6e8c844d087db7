/* SPDX-License-Identifier: GPL-2.0-only */
/* From a trace instance's ring buffers to a tape's streams: a thread for each CPU. */
#ifndef CAPTURE_RING_READER_H
#define CAPTURE_RING_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/capture_problem.h"
#include "capture/trace_instance.h"
#include "schema/tape_writer.h"

struct ring_readers;

/* By common_type; entries of events that are not recorded are RING_READER_NO_TYPE. */
#define RING_READER_TYPES 65536
#define RING_READER_NO_TYPE UINT16_MAX

/* What one CPU's reader has seen; read it after ring_readers_stop(). */
struct ring_reader_totals {
	unsigned int cpu;
	uint64_t nr_events;
	uint64_t nr_pages; /* sub-buffers of the ring */
	uint64_t nr_losses; /* places where events were lost */
	uint64_t nr_lost; /* events, of those places where the kernel said how many */
	uint64_t nr_losses_unknown; /* places where it did not */
	uint64_t nr_unknown_type; /* records of no declared type, left out */
	uint64_t nr_backwards; /* times that ran backwards, raised to the one before */
	uint64_t cpu_ns; /* CPU time of the thread */
	uint64_t
		overrun; /* the kernel's own count, filled in by the caller of ring_readers_stop() */
};

/**
 * ring_readers_start() - open every CPU's buffer and start its thread
 * @instance: set up, not tracing yet; must outlive the readers
 * @type_of_id: RING_READER_TYPES numbers of tape types; must outlive the readers
 * @writer: the tape; only streams are used
 * @readers: set on success; ends with ring_readers_free()
 * Return: 0, or -1 with the problem told and nothing left running.
 */
int __attribute__((warn_unused_result))
ring_readers_start(struct trace_instance *instance, const uint16_t *type_of_id,
		   struct tape_writer *writer, struct ring_readers **readers,
		   struct capture_problem *problem);

/** ring_readers_nr() - number of readers. */
unsigned int ring_readers_nr(const struct ring_readers *readers);

/** ring_reader_tid() - thread id of the i-th reader. */
pid_t ring_reader_tid(const struct ring_readers *readers, unsigned int i);

/** ring_reader_totals() - of the i-th reader, final after ring_readers_stop(). */
struct ring_reader_totals *ring_reader_totals(struct ring_readers *readers, unsigned int i);

/**
 * ring_readers_failed_fd() - readable once a reader gave up, because the tape cannot be written
 * Such a reader goes on emptying its buffer, so that the kernel's loss counts stay true.
 */
int ring_readers_failed_fd(const struct ring_readers *readers);

/**
 * ring_readers_stop() - read what is left and end the threads
 * Tracing must be off. Closes the buffers. Return: 0, or -1: a reader had failed (see the writer's
 * problem, or @problem where reading itself failed).
 */
int ring_readers_stop(struct ring_readers *readers, struct capture_problem *problem);

/** ring_readers_free() - stop if needed, free; NULL is fine. */
void ring_readers_free(struct ring_readers *readers);

#endif
