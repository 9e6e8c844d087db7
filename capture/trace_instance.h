/* SPDX-License-Identifier: GPL-2.0-only */
/* A tracefs instance of our own: buffers, clock and events that nobody else sees or disturbs. */
#ifndef CAPTURE_TRACE_INSTANCE_H
#define CAPTURE_TRACE_INSTANCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture_problem.h"

struct trace_instance;

struct trace_instance_settings {
	uint64_t buffer_bytes; /* per CPU */
	const char *clock; /* name in trace_clock */
	unsigned int wake_percent; /* a waiting reader sleeps until a buffer is so full */
};

/**
 * trace_instance_find_tracefs() - where tracefs is mounted, and may we use it
 * @directory: set to its path, owned by this file
 * Mounts nothing. Return: 0, or -1 with the problem told.
 */
int __attribute__((warn_unused_result))
trace_instance_find_tracefs(const char **directory, struct capture_problem *problem);

/** trace_instance_clean_stale() - remove instances of dead recorders, with a line to @say for each. */
void trace_instance_clean_stale(const char *tracefs, FILE *say);

/**
 * trace_instance_create() - make lrutape-PID, not tracing, with its buffers and clock set
 * @settings: in force when this returns
 * @instance: set on success; ends with trace_instance_destroy()
 * Return: 0, or -1 with the problem told and nothing left behind.
 */
int __attribute__((warn_unused_result))
trace_instance_create(const struct trace_instance_settings *settings,
		      struct trace_instance **instance, struct capture_problem *problem);

/** trace_instance_directory() - its absolute path, valid while it lives. */
const char *trace_instance_directory(const struct trace_instance *instance);

/**
 * trace_instance_write() - write a control file of the instance
 * @file: name below its directory
 * Return: 0, or -1 with the problem told, the kernel's own words from error_log included.
 */
int __attribute__((warn_unused_result))
trace_instance_write(struct trace_instance *instance, const char *file, const char *text,
		     struct capture_problem *problem);

/** trace_instance_read() - read a file of it. Return: to be freed; NULL with errno set. */
char *trace_instance_read(const struct trace_instance *instance, const char *file, size_t *size);

/** trace_instance_sub_buffer_bytes() - size of the pages that trace_pipe_raw hands out. */
unsigned int trace_instance_sub_buffer_bytes(const struct trace_instance *instance);

/** trace_instance_overrun() - events lost on one CPU by the kernel's own count, 0 if it has none. */
uint64_t trace_instance_overrun(const struct trace_instance *instance, unsigned int cpu);

/** trace_instance_overrun_in() - the same in a text of per_cpu/cpuN/stats. */
uint64_t trace_instance_overrun_in(const char *stats);

/** trace_instance_stop() - no event from here on; safe in any state, NULL is fine. */
void trace_instance_stop(struct trace_instance *instance);

/**
 * trace_instance_destroy() - remove it and free; NULL is fine
 * All its files must be closed. Return: 0 or a negative errno, in which case the directory stays.
 */
int trace_instance_destroy(struct trace_instance *instance);

#endif
