/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory control groups: a recorded command's own, and others, in the v1 or the v2 hierarchy. */
#ifndef CAPTURE_MEMCG_H
#define CAPTURE_MEMCG_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "capture/capture_problem.h"

/* Where the memory controller is mounted. */
struct memcg_hierarchy {
	int version; /* 1, 2, or 0: there is no memory controller */
	char mount[PATH_MAX];
	int number; /* hierarchy column of /proc/cgroups, 0 for v2 */
};

struct memcg_group {
	struct memcg_hierarchy hierarchy;
	char directory[PATH_MAX]; /* absolute; empty: no group */
	bool is_ours; /* made by memcg_group_create() */
	uint64_t inode; /* of the directory: the id in tracepoints */
	uint64_t limit_bytes; /* as the kernel rounded it, UINT64_MAX: none */
	bool enabled_controller; /* v2: memory was not yet in the root's subtree_control */
};

struct memcg_settings {
	uint64_t limit_bytes; /* UINT64_MAX: none */
	uint64_t swap_bytes; /* beside the limit; UINT64_MAX: no limit of its own */
	int swappiness; /* -1: as inherited */
};

/** memcg_find_hierarchy() - look for the memory controller. Return: nothing; version 0 if there is none. */
void memcg_find_hierarchy(struct memcg_hierarchy *hierarchy);

/**
 * memcg_path_of_task() - a task's place in the hierarchy
 * @cgroup_file: text of /proc/PID/cgroup
 * @path: room of PATH_MAX, set to the path below the mount, "/" for the root
 * Return: whether the text names one.
 */
bool memcg_path_of_task(const struct memcg_hierarchy *hierarchy, const char *cgroup_file,
			char *path);

/**
 * memcg_of_path() - inode of the memory cgroup that tasks in a cgroup are charged to
 * @path: below the mount; in v2 shortened to the nearest group that has the memory controller
 * Return: 0 if there is no such directory.
 */
uint64_t memcg_of_path(const struct memcg_hierarchy *hierarchy, char *path);

/**
 * memcg_of_task() - inode of the directory of a task's memory cgroup
 * @tid: thread id
 * @path: room of PATH_MAX, set to its path below the mount, see memcg_of_path()
 * Return: 0 if the task is gone or there is no hierarchy; @path is then "".
 */
uint64_t memcg_of_task(const struct memcg_hierarchy *hierarchy, pid_t tid, char *path);

/**
 * memcg_group_find() - an existing group
 * @name: its directory, or its path in the hierarchy as /proc/PID/cgroup shows it
 * @group: filled on success; memcg_group_remove() leaves such a group alone
 * Return: 0, or -1 with the problem told.
 */
int __attribute__((warn_unused_result))
memcg_group_find(const struct memcg_hierarchy *hierarchy, const char *name,
		 struct memcg_group *group, struct capture_problem *problem);

/**
 * memcg_group_create() - make the group lrutape-PID at the top of the hierarchy
 * @settings: its limits
 * @group: filled on success; ends with memcg_group_remove()
 * Return: 0, or -1 with the problem told and nothing left behind.
 */
int __attribute__((warn_unused_result))
memcg_group_create(const struct memcg_hierarchy *hierarchy, const struct memcg_settings *settings,
		   struct memcg_group *group, struct capture_problem *problem);

/** memcg_group_join() - the calling process enters the group. Return: 0 or a negative errno. */
int memcg_group_join(const struct memcg_group *group);

/** memcg_group_oom_kills() - tasks that the group's limit has killed; 0 if the kernel does not count. */
uint64_t memcg_group_oom_kills(const struct memcg_group *group);

/**
 * memcg_group_remove() - take the group away; none made is fine
 * Return: 0, or the number of processes that still live in it, in which case it stays.
 */
unsigned int memcg_group_remove(struct memcg_group *group);

/**
 * memcg_clean_stale() - remove groups of recorders that are gone
 * @hierarchy: where to look
 * @say: one line for each group found
 */
void memcg_clean_stale(const struct memcg_hierarchy *hierarchy, FILE *say);

#endif
