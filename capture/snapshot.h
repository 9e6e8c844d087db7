/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a machine says of itself, copied into the tape before and after the events, so that a replay
 * configures itself from it and can be held against the kernel's own counters.
 */
#ifndef CAPTURE_SNAPSHOT_H
#define CAPTURE_SNAPSHOT_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "capture/memcg.h"
#include "capture/trace_instance.h"
#include "schema/tape_writer.h"

/* Longest piece of a file that a snapshot takes. */
#define SNAPSHOT_FILE_BYTES (4u << 20)

struct snapshot_source {
	struct tape_writer *writer;
	const struct memcg_hierarchy *hierarchy;
	char *const *directory; /* absolute, of the memory cgroups that are recorded */
	unsigned int nr_directories;
	const struct trace_instance *instance;
	clockid_t clock; /* the trace clock as clock_gettime() has it */
};

/**
 * snapshot_counters() - what the recorded run moves: clocks, vmstat, zoneinfo and their like
 * @moment: TAPE_MOMENT_START, TAPE_MOMENT_END or a number between
 * Taken next to the first and the last event. Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
snapshot_counters(const struct snapshot_source *source, uint32_t moment);

/** snapshot_losses() - per_cpu/cpuN/stats of the trace instance. Return: as above. */
int __attribute__((warn_unused_result))
snapshot_losses(const struct snapshot_source *source, uint32_t moment);

/** snapshot_settings() - what it does not move: sysctls, devices, THP, trace set-up. Return: as above. */
int __attribute__((warn_unused_result))
snapshot_settings(const struct snapshot_source *source, uint32_t moment);

/**
 * snapshot_tasks() - all threads with their memory cgroups, and all memory cgroups
 * Stores lrutape/tasks, lines of "tid tgid memcg_inode comm", and lrutape/cgroups, lines of
 * "inode path" with the path below the hierarchy's mount. Return: as above.
 */
int __attribute__((warn_unused_result))
snapshot_tasks(const struct snapshot_source *source, uint32_t moment);

/** snapshot_groups() - memory.* of the recorded cgroups, all below them and above. Return: as above. */
int __attribute__((warn_unused_result))
snapshot_groups(const struct snapshot_source *source, uint32_t moment);

/** snapshot_process() - what /proc says of a followed process, its mappings included. Return: as above. */
int __attribute__((warn_unused_result))
snapshot_process(const struct snapshot_source *source, uint32_t moment, pid_t pid);

/** snapshot_text() - a fact that no file holds. Return: as above. */
int __attribute__((format(printf, 4, 5), warn_unused_result))
snapshot_text(const struct snapshot_source *source, uint32_t moment, const char *name,
	      const char *format, ...);

/** snapshot_bytes() - the same for text that is already there. Return: as above. */
int __attribute__((warn_unused_result))
snapshot_bytes(const struct snapshot_source *source, uint32_t moment, const char *name,
	       const char *data, size_t size);

#endif
