/* SPDX-License-Identifier: GPL-2.0-only */
/* From a trace instance's ring buffers to a tape's streams: a thread for each CPU. */
#ifndef CAPTURE_RING_READER_H
#define CAPTURE_RING_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/capture_problem.h"
#include "capture/memcg.h"
#include "capture/referenced_probe.h"
#include "capture/trace_instance.h"
#include "schema/tape_writer.h"

struct ring_readers;

/* By common_type; entries of events that are not recorded are RING_READER_NO_TYPE. */
#define RING_READER_TYPES 65536
#define RING_READER_NO_TYPE UINT16_MAX

/* Of each CPU so many losses are listed with their place; all of them are on the tape. */
#define RING_READER_PLACES 64

/* What the readers need to know; all that it points to must outlive them. */
struct ring_reader_setup {
	struct trace_instance *instance; /* set up, not tracing yet */
	const uint16_t *type_of_id; /* RING_READER_TYPES numbers of tape types */
	struct tape_writer *writer; /* the first tape; only streams are used */
	/* Markers: records of ftrace:print, whose text goes from an offset to the record's end. */
	uint16_t marker_type; /* RING_READER_NO_TYPE: none are taken */
	uint16_t marker_text_offset;
	/* A task_newtask with CLONE_INTO_CGROUP makes a lrutape:task_memcg follow it. */
	uint16_t newtask_type; /* RING_READER_NO_TYPE: they are not looked at */
	uint16_t newtask_pid_offset, newtask_flags_offset;
	uint16_t task_memcg_type;
	const struct memcg_hierarchy *hierarchy;
	/* A record that has a folio's address gets its frame in place of that. */
	uint16_t folio_type; /* RING_READER_NO_TYPE: none has */
	uint16_t folio_offset;
	const struct referenced_probe *probe;
	/*
	 * By tape type: what a thread of the recorder does for itself stays off the tape. Not by a filter
	 * in the kernel: that would cost the recorded tasks 10 to 30 ns at each of their events.
	 */
	bool is_own_work[RING_READER_NO_TYPE];
};

struct ring_reader_place {
	uint64_t since_ns, until_ns; /* events before and after the loss; 0: none before */
	uint64_t count; /* EVENT_LOST_UNKNOWN: the kernel did not say */
};

/* What one CPU's reader has put on one tape. */
struct ring_reader_totals {
	unsigned int cpu;
	uint64_t nr_events;
	uint64_t nr_added; /* those of them that are the recorder's own: not from the ring */
	uint64_t nr_pages; /* sub-buffers of the ring */
	uint64_t nr_losses; /* places where events were lost */
	uint64_t nr_lost; /* events, of those places where the kernel said how many */
	uint64_t nr_losses_unknown; /* places where it did not */
	uint64_t nr_unknown_type; /* records of no declared type, left out */
	uint64_t nr_own; /* records of the recorder's own work, left out */
	uint64_t nr_backwards; /* times that ran backwards, raised to the one before */
	uint64_t nr_markers;
	uint64_t nr_cloned_into, nr_cloned_gone; /* looked up, and those that were gone by then */
	uint64_t cpu_ns; /* CPU time of the thread */
	uint64_t overrun; /* the kernel's own count, filled in by the caller */
	struct ring_reader_place place[RING_READER_PLACES]; /* the first of nr_losses */
};

/**
 * ring_readers_start() - open every CPU's buffer and start its thread
 * @readers: set on success; ends with ring_readers_free()
 * Return: 0, or -1 with the problem told and nothing left running.
 */
int __attribute__((warn_unused_result))
ring_readers_start(const struct ring_reader_setup *setup, struct ring_readers **readers,
		   struct capture_problem *problem);

/** ring_readers_nr() - number of readers. */
unsigned int ring_readers_nr(const struct ring_readers *readers);

/** ring_reader_tid() - thread id of the i-th reader. */
pid_t ring_reader_tid(const struct ring_readers *readers, unsigned int i);

/** ring_reader_totals() - of the i-th reader and the tape that the last turn, or the stop, ended. */
struct ring_reader_totals *ring_reader_totals(struct ring_readers *readers, unsigned int i);

/**
 * ring_reader_stats() - per_cpu/cpuN/stats at the last turn, before the old tape's last events were read
 * What it counts as overwritten is so located on the old tape, and what comes later on the new one.
 * Return: text, owned by the reader until its next turn; NULL: it could not be read.
 */
const char *ring_reader_stats(const struct ring_readers *readers, unsigned int i);

/**
 * ring_readers_failed_fd() - readable once a reader gave up, because the tape cannot be written
 * Such a reader goes on emptying its buffer, so that the kernel's loss counts stay true.
 */
int ring_readers_failed_fd(const struct ring_readers *readers);

/**
 * ring_readers_limit() - be told when the tape is large enough
 * @bytes: 0: never. The fd of ring_readers_limit_fd() is readable from then on, until it is read.
 */
void ring_readers_limit(struct ring_readers *readers, uint64_t bytes);

/** ring_readers_limit_fd() - an eventfd, see ring_readers_limit(). */
int ring_readers_limit_fd(const struct ring_readers *readers);

/**
 * ring_readers_turn() - go on with another tape
 * @writer: with the same types under the same numbers
 * Each reader takes what its buffer holds, finishes its stream of the old tape, and begins one of
 * the new. No event is lost or on both. Returns when all have turned: the old tape is the caller's.
 */
void ring_readers_turn(struct ring_readers *readers, struct tape_writer *writer);

/**
 * ring_readers_stop() - read what is left and end the threads
 * Tracing must be off. Closes the buffers. Return: 0, or -1: a reader had failed (see the writer's
 * problem, or @problem where reading itself failed).
 */
int ring_readers_stop(struct ring_readers *readers, struct capture_problem *problem);

/** ring_readers_free() - stop if needed, free; NULL is fine. */
void ring_readers_free(struct ring_readers *readers);

#endif
