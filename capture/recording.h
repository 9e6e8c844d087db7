/* SPDX-License-Identifier: GPL-2.0-only */
/* One recording from its first check to the last thing undone. */
#ifndef CAPTURE_RECORDING_H
#define CAPTURE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "capture/capture_problem.h"

struct recording_options {
	const char
		*tape; /* file to write; with ring or rotate: name of the segments, .000 and on */
	char *const *command; /* ends with NULL; NULL: none */
	const char *command_line; /* the same as one text */
	const char *cgroup; /* an existing memory cgroup to record; NULL: none */
	const pid_t *pid; /* processes to record while they live */
	unsigned int nr_pids;
	const char *events; /* see event_set_choose(); NULL: the default ones */
	uint64_t memory_bytes; /* limit of the command's own cgroup; UINT64_MAX: none */
	uint64_t swap_bytes; /* swap limit of that cgroup; UINT64_MAX: none */
	int swappiness; /* of that cgroup; -1: as inherited */
	uint64_t buffer_bytes; /* of the ring buffer, for each CPU */
	const char *clock; /* "mono" or "boot" */
	uint64_t duration_ns; /* 0: until the command or all processes end, or a signal comes */
	uint64_t snapshot_every_ns; /* 0: only at the start and the end */
	bool probe_referenced; /* what folio_referenced() answers, by kprobes */
	bool warm; /* list the pages on LRU lists at the start */
	char *const *warm_file; /* list the cached pages of these files at the start */
	unsigned int nr_warm_files;
	uint64_t ring_bytes; /* keep the newest so many bytes on disk; 0: keep all */
	uint64_t max_bytes; /* stop recording when the tape has so many; 0: never */
	uint64_t rotate_bytes; /* begin a new segment when one has so many; 0: see ring_bytes */
	uint64_t rotate_ns; /* begin a new segment after so long; 0: never */
};

struct recording_result {
	int command_status; /* as a shell tells it, 0 without a command */
	bool is_timed_out; /* duration_ns passed: the command got SIGTERM for it */
	bool is_full; /* max_bytes were reached: recording stopped there */
	bool has_failed; /* the tape is not what it should be; problem tells why */
	bool has_tape; /* a readable tape is left */
	uint64_t duration_ns; /* tracing on to tracing off */
	uint64_t nr_events; /* of all segments, removed ones too */
	uint64_t nr_lost; /* by the kernel's own count, of all segments */
	uint64_t reader_cpu_ns; /* of the threads that read and compress */
	uint64_t process_cpu_ns; /* of the whole recorder, set-up and snapshots included */
	uint64_t tape_bytes; /* written, removed segments too */
	uint64_t oom_kills; /* tasks that the memory limit killed */
	unsigned int nr_cpus;
	bool is_segmented;
	unsigned int first_segment, last_segment; /* numbers of those that this recording left */
};

/**
 * recording_run() - record
 * @say: gets what the user should know on the way: missing events, losses, things left by dead recorders
 * @result: filled
 * @problem: what went wrong where -1 is returned or result->has_failed is set
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the command, and the recording ends with it; a second one
 * ends the recording at once and leaves the command alone. Without a command the first one ends it.
 * SIGUSR1 puts a marker on the tape. If the tape cannot be written any more, tracing stops, the
 * command runs to its end, and the tape stays readable up to there.
 * Return: 0, or -1: nothing was recorded and nothing is left behind.
 */
int __attribute__((warn_unused_result))
recording_run(const struct recording_options *options, FILE *say, struct recording_result *result,
	      struct capture_problem *problem);

#endif
