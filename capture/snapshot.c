// SPDX-License-Identifier: GPL-2.0-only
#include "capture/snapshot.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/text_file.h"

static const char *const counter_files[] = {
#define COUNTER_FILE(pattern) pattern,
#include "capture/snapshot_files.def"
};

static const char *const setting_files[] = {
#define SETTING_FILE(pattern) pattern,
#include "capture/snapshot_files.def"
};

/* Files of the trace instance that tell how it was set up, stored as lrutape/trace/NAME. */
static const char *const instance_files[] = {
	"events/header_page", "events/header_event",   "trace_clock",	 "trace_options",
	"buffer_size_kb",     "buffer_subbuf_size_kb", "buffer_percent",
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int snapshot_bytes(const struct snapshot_source *source, uint32_t moment, const char *name,
		   const char *data, size_t size)
{
	const struct tape_blob blob = {
		.timestamp_ns = clock_ns(source->clock),
		.moment = moment,
		.name = name,
		.data = data,
		.size = size,
	};

	return tape_writer_add_blob(source->writer, &blob);
}

int snapshot_text(const struct snapshot_source *source, uint32_t moment, const char *name,
		  const char *format, ...)
{
	va_list args;
	char *text;
	int size, error;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	if (size < 0)
		return TAPE_ERR_MEMORY;
	error = snapshot_bytes(source, moment, name, text, (size_t)size);
	free(text);
	return error;
}

/* A file that is absent or unreadable is no error: kernels differ. */
static int take_file_as(const struct snapshot_source *source, uint32_t moment, const char *path,
			const char *name)
{
	size_t size;
	char *text = text_file_read(path, SNAPSHOT_FILE_BYTES, &size);
	int error;

	if (!text)
		return 0;
	error = snapshot_bytes(source, moment, name, text, size);
	free(text);
	return error;
}

/* Reading these acts: compacts, drops caches, or bothers every CPU. */
static bool acts_when_read(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return !strcmp(name, "compact_memory") || !strcmp(name, "drop_caches") ||
	       !strcmp(name, "stat_refresh");
}

static int take_pattern(const struct snapshot_source *source, uint32_t moment, const char *pattern)
{
	int error = 0;
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !error; i++)
		if (!acts_when_read(found.gl_pathv[i]))
			error = take_file_as(source, moment, found.gl_pathv[i], found.gl_pathv[i]);
	globfree(&found);
	return error;
}

static int take_clocks(const struct snapshot_source *source, uint32_t moment)
{
	return snapshot_text(source, moment, "lrutape/clock",
			     "trace_clock %s\nmonotonic_ns %" PRIu64 "\nrealtime_ns %" PRIu64
			     "\nboottime_ns %" PRIu64 "\n",
			     source->clock == CLOCK_BOOTTIME ? "boot" : "mono",
			     clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME),
			     clock_ns(CLOCK_BOOTTIME));
}

/* per_cpu/cpuN/stats as lrutape/per_cpu/N/stats: the instance's name is of no interest later. */
int snapshot_losses(const struct snapshot_source *source, uint32_t moment)
{
	char pattern[PATH_MAX], name[64];
	int error = 0;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/per_cpu/cpu*/stats",
		 trace_instance_directory(source->instance));
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !error; i++) {
		const char *path = found.gl_pathv[i];
		int cpu = atoi(strstr(path, "/per_cpu/cpu") + strlen("/per_cpu/cpu"));

		snprintf(name, sizeof(name), "lrutape/per_cpu/%d/stats", cpu);
		error = take_file_as(source, moment, path, name);
	}
	globfree(&found);
	return error;
}

int snapshot_counters(const struct snapshot_source *source, uint32_t moment)
{
	int error = take_clocks(source, moment);

	for (size_t i = 0; i < NR(counter_files) && !error; i++)
		error = take_pattern(source, moment, counter_files[i]);
	return error;
}

int snapshot_settings(const struct snapshot_source *source, uint32_t moment)
{
	char path[PATH_MAX], name[128];
	int error = 0;

	for (size_t i = 0; i < NR(setting_files) && !error; i++)
		error = take_pattern(source, moment, setting_files[i]);
	for (size_t i = 0; i < NR(instance_files) && !error; i++) {
		snprintf(path, sizeof(path), "%s/%s", trace_instance_directory(source->instance),
			 instance_files[i]);
		snprintf(name, sizeof(name), "lrutape/trace/%s", instance_files[i]);
		error = take_file_as(source, moment, path, name);
	}
	return error;
}

/* ---- the recorded cgroups: a list without repeats, for several may have the same ancestors */

#define MAX_GROUPS 1024 /* a guess: each costs about a millisecond, more would delay the events */

struct group_list {
	char *directory[MAX_GROUPS];
	unsigned int nr;
};

static void list_group(struct group_list *list, const char *directory)
{
	for (unsigned int i = 0; i < list->nr; i++)
		if (!strcmp(list->directory[i], directory))
			return;
	if (list->nr == MAX_GROUPS)
		return;
	list->directory[list->nr] = strdup(directory);
	if (list->directory[list->nr])
		list->nr++;
}

static void list_below(struct group_list *list, const char *directory)
{
	char pattern[PATH_MAX + 16];
	glob_t found;

	list_group(list, directory);
	snprintf(pattern, sizeof(pattern), "%s/*/", directory);
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		found.gl_pathv[i][strlen(found.gl_pathv[i]) - 1] = '\0';
		list_below(list, found.gl_pathv[i]);
	}
	globfree(&found);
}

static void list_above(struct group_list *list, const char *directory, size_t mount_length)
{
	char above[PATH_MAX], *slash;

	snprintf(above, sizeof(above), "%s", directory);
	while ((slash = strrchr(above, '/')) && (size_t)(slash - above) >= mount_length) {
		*slash = '\0';
		list_group(list, above);
	}
}

int snapshot_groups(const struct snapshot_source *source, uint32_t moment)
{
	struct group_list *list = calloc(1, sizeof(*list));
	char pattern[PATH_MAX + 16];
	int error = 0;

	if (!list)
		return TAPE_ERR_MEMORY;
	for (unsigned int i = 0; i < source->nr_directories; i++)
		list_below(list, source->directory[i]);
	for (unsigned int i = 0; i < source->nr_directories; i++)
		list_above(list, source->directory[i], strlen(source->hierarchy->mount));
	for (unsigned int i = 0; i < list->nr; i++) {
		snprintf(pattern, sizeof(pattern), "%s/memory.*", list->directory[i]);
		error = error ?: take_pattern(source, moment, pattern);
		free(list->directory[i]);
	}
	free(list);
	return error;
}

int snapshot_process(const struct snapshot_source *source, uint32_t moment, pid_t pid)
{
	static const char *const files[] = { "cmdline", "cgroup",	"status",	 "statm",
					     "stat",	"smaps_rollup", "oom_score_adj", "maps" };
	char path[64];
	int error = 0;

	for (size_t i = 0; i < NR(files) && !error; i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		error = take_file_as(source, moment, path, path);
	}
	return error;
}

/* ---- tasks and cgroups */

/* Cgroup paths repeat from task to task: the last one is remembered. */
struct path_inode {
	char path[PATH_MAX];
	uint64_t inode;
};

static uint64_t memcg_inode(const struct memcg_hierarchy *hierarchy, const char *cgroup_file,
			    struct path_inode *last)
{
	char path[PATH_MAX];

	if (!hierarchy->version || !memcg_path_of_task(hierarchy, cgroup_file, path))
		return 0;
	if (strcmp(path, last->path)) {
		memcpy(last->path, path, sizeof(path));
		last->inode = memcg_of_path(hierarchy, path);
	}
	return last->inode;
}

/* Tasks come and go while they are listed: one that is gone is left out. */
static void print_task(FILE *to, const struct snapshot_source *source, int tgid, int tid,
		       struct path_inode *last)
{
	char path[64], *comm, *cgroup;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/cgroup", tgid, tid);
	cgroup = text_file_read(path, SNAPSHOT_FILE_BYTES, NULL);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", tgid, tid);
	comm = text_file_read(path, SNAPSHOT_FILE_BYTES, NULL);
	if (cgroup && comm) {
		comm[strcspn(comm, "\n")] = '\0';
		fprintf(to, "%d %d %" PRIu64 " %s\n", tid, tgid,
			memcg_inode(source->hierarchy, cgroup, last), comm);
	}
	free(comm);
	free(cgroup);
}

static void print_process(FILE *to, const struct snapshot_source *source, int tgid,
			  struct path_inode *last)
{
	struct dirent *entry;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	threads = opendir(path);
	while (threads && (entry = readdir(threads)))
		if (isdigit((unsigned char)entry->d_name[0]))
			print_task(to, source, tgid, atoi(entry->d_name), last);
	if (threads)
		closedir(threads);
}

static void print_tasks(FILE *to, const struct snapshot_source *source)
{
	struct path_inode last = { .path = "" };
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes)))
		if (isdigit((unsigned char)entry->d_name[0]))
			print_process(to, source, atoi(entry->d_name), &last);
	if (processes)
		closedir(processes);
}

/* nftw() has no argument for its callback; the recorder takes one snapshot at a time. */
static FILE *cgroups_to;
static size_t cgroups_mount_length;

static int print_cgroup(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)place;
	if (kind == FTW_D)
		fprintf(cgroups_to, "%" PRIu64 " %s\n", (uint64_t)status->st_ino,
			path[cgroups_mount_length] ? path + cgroups_mount_length : "/");
	return 0;
}

static void print_cgroups(FILE *to, const struct snapshot_source *source)
{
	if (!source->hierarchy->version)
		return;
	cgroups_to = to;
	cgroups_mount_length = strlen(source->hierarchy->mount);
	nftw(source->hierarchy->mount, print_cgroup, 16, FTW_PHYS | FTW_MOUNT);
}

static int take_printed(const struct snapshot_source *source, uint32_t moment, const char *name,
			void (*print)(FILE *to, const struct snapshot_source *source))
{
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);
	int error;

	if (!to)
		return TAPE_ERR_MEMORY;
	print(to, source);
	if (fclose(to)) {
		free(text);
		return TAPE_ERR_MEMORY;
	}
	error = snapshot_bytes(source, moment, name, text, size);
	free(text);
	return error;
}

int snapshot_tasks(const struct snapshot_source *source, uint32_t moment)
{
	int error = take_printed(source, moment, "lrutape/cgroups", print_cgroups);

	return error ? error : take_printed(source, moment, "lrutape/tasks", print_tasks);
}
