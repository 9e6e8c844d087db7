/* SPDX-License-Identifier: GPL-2.0-only */
/* One recording from its first check to the last thing undone. */
#ifndef CAPTURE_RECORDING_H
#define CAPTURE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture_problem.h"

struct recording_options {
	const char *tape; /* file to write */
	char *const *command; /* ends with NULL; NULL: the whole machine for duration_ns */
	const char *command_line; /* the same as one text */
	const char *events; /* see event_set_choose(); NULL: the default ones */
	uint64_t memory_bytes; /* limit of the command's own cgroup; UINT64_MAX: none */
	int swappiness; /* of that cgroup; -1: as inherited */
	uint64_t buffer_bytes; /* of the ring buffer, for each CPU */
	const char *clock; /* "mono" or "boot" */
	uint64_t duration_ns; /* 0: until the command ends */
};

struct recording_result {
	int command_status; /* as a shell tells it, 0 without a command */
	bool is_timed_out; /* duration_ns passed: the command got SIGTERM for it */
	bool has_failed; /* the tape is not what it should be; problem tells why */
	bool has_tape; /* a readable tape is left */
	uint64_t duration_ns; /* tracing on to tracing off */
	uint64_t nr_events;
	uint64_t reader_cpu_ns; /* of the threads that read and compress */
	uint64_t oom_kills; /* tasks that the memory limit killed */
	unsigned int nr_cpus;
};

/**
 * recording_run() - record
 * @say: gets what the user should know on the way: missing events, losses, things left by dead recorders
 * @result: filled
 * @problem: what went wrong where -1 is returned or result->has_failed is set
 *
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the command, and the recording ends with it; a second one
 * ends the recording at once and leaves the command alone. If the tape cannot be written any more,
 * tracing stops, the command runs to its end, and the tape stays readable up to there.
 * Return: 0, or -1: nothing was recorded and nothing is left behind.
 */
int __attribute__((warn_unused_result))
recording_run(const struct recording_options *options, FILE *say, struct recording_result *result,
	      struct capture_problem *problem);

#endif
