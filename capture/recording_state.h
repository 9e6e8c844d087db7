/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of a recording share; for recording*.c only. */
#ifndef CAPTURE_RECORDING_STATE_H
#define CAPTURE_RECORDING_STATE_H

#include <signal.h>

#include "capture/event_set.h"
#include "capture/followed_tasks.h"
#include "capture/memcg.h"
#include "capture/recorded_command.h"
#include "capture/recording.h"
#include "capture/referenced_probe.h"
#include "capture/ring_reader.h"
#include "capture/segment_files.h"
#include "capture/snapshot.h"
#include "capture/trace_instance.h"
#include "schema/tape_writer.h"

#define RECORDING_GROUPS 64 /* distinct memory cgroups of followed processes */

struct recording {
	const struct recording_options *options;
	FILE *say;
	struct recording_result *result;
	struct capture_problem *problem;

	sigset_t mask_before;
	int signal_fd;
	const char *tracefs;
	struct event_catalogue catalogue;
	struct event_set events;
	struct memcg_hierarchy hierarchy;
	struct memcg_group group; /* whose limit counts: the command's, or the named one */
	char *directory[RECORDING_GROUPS]; /* recorded memory cgroups */
	unsigned int nr_directories;
	struct recorded_command command;
	struct followed_tasks followed;
	struct referenced_probe probe; /* of options->probe_referenced */
	struct trace_instance *instance;
	uint16_t *type_of_id;
	struct ring_reader_setup setup;
	struct ring_readers *readers;
	uint64_t *overrun_before; /* by reader: the kernel's count when the segment began */
	uint64_t begin_ns;
	uint32_t moment; /* of the last snapshot between start and end */
	bool snapshots_full; /* the tape takes no more of them */
	bool tape_failed;

	/* The tape, or the present segment of it. */
	struct segment_files segments;
	unsigned int segment_number, first_segment;
	char *path;
	struct tape_writer *writer;
	bool tape_made; /* this recording created or truncated the file */
	struct snapshot_source snapshot;
	uint64_t segment_begin_ns;
	uint64_t largest_segment; /* bytes of a finished one */
};

/** recording_now_ns() - CLOCK_MONOTONIC. */
uint64_t recording_now_ns(void);

/** recording_tape_problem() - the tape's problem becomes the recording's. Return: -1. */
int recording_tape_problem(struct recording *r);

/** recording_is_segmented() - whether it goes on in a new file now and then. */
bool recording_is_segmented(const struct recording *r);

/* ---- recording_tape.c */

/** recording_open_tape() - make the file, with event types and settings. Return: 0, or -1 told. */
int __attribute__((warn_unused_result)) recording_open_tape(struct recording *r);

/** recording_begin_tape() - counters of the start. Return: 0, or -1 told. */
int __attribute__((warn_unused_result)) recording_begin_tape(struct recording *r);

/** recording_turn_tape() - go on in a new segment. Return: 0, or -1 told. */
int __attribute__((warn_unused_result)) recording_turn_tape(struct recording *r);

/**
 * recording_end_tape() - the rest of the snapshots; finish the file, the readers have stopped
 * Return: 0, or -1 told; a tape is left either way.
 */
int recording_end_tape(struct recording *r);

/** recording_snapshot() - one between start and end. Return: 0, or -1 told. */
int __attribute__((warn_unused_result)) recording_snapshot(struct recording *r);

/* ---- recording_wait.c */

/** recording_wait() - until the command ends, a signal comes, the time is over or the tape is full. */
void recording_wait(struct recording *r);

#endif
