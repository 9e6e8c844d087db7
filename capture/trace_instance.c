// SPDX-License-Identifier: GPL-2.0-only
#include "capture/trace_instance.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tracefs.h>
#include <unistd.h>

#include "capture/format_file.h"
#include "capture/stale_owner.h"
#include "capture/text_file.h"
#include "capture/tracefs_mount.h"

#define CONTROL_FILE_BYTES (1u << 20)

struct trace_instance {
	struct tracefs_instance *tracefs;
	char *directory;
};

int trace_instance_find_tracefs(const char **directory, struct capture_problem *problem)
{
	static char found[PATH_MAX];
	char instances[PATH_MAX + 16];

	/* libtracefs would mount it where it is not: a recorder leaves a machine as it found it. */
	if (!tracefs_mount_find(found))
		return capture_problem_set(
			problem, "/proc/self/mounts: no tracefs is mounted: run "
				 "`mount -t tracefs nodev /sys/kernel/tracing` as root; a kernel "
				 "without CONFIG_TRACING cannot record");
	snprintf(instances, sizeof(instances), "%s/instances", found);
	if (access(instances, R_OK | W_OK | X_OK))
		return capture_problem_set(
			problem, "%s: %s: %s", instances, strerror(errno),
			errno == EACCES || errno == EPERM ?
				"recording needs root (sudo lrutape record ...)" :
				"recording needs trace instances, Linux 3.11 or newer");
	if (tracefs_set_tracing_dir(found))
		return capture_problem_set(problem, "%s: libtracefs does not take it: %s", found,
					   strerror(errno));
	*directory = found;
	return 0;
}

void trace_instance_clean_stale(const char *tracefs, FILE *say)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *list;

	snprintf(path, sizeof(path), "%s/instances", tracefs);
	list = opendir(path);
	while (list && (entry = readdir(list))) {
		pid_t owner = stale_owner(entry->d_name);

		/* An instance whose buffers somebody reads cannot be removed: EBUSY. */
		snprintf(path, sizeof(path), "%s/instances/%s", tracefs, entry->d_name);
		if (owner && !rmdir(path))
			fprintf(say, "lrutape: %s: left by recorder %d, which is gone: removed\n",
				path, owner);
	}
	if (list)
		closedir(list);
}

static void file_of(const struct trace_instance *instance, const char *file, char *path)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/%s", instance->directory, file) >= PATH_MAX)
		path[0] = '\0';
}

char *trace_instance_read(const struct trace_instance *instance, const char *file, size_t *size)
{
	char path[PATH_MAX];

	file_of(instance, file, path);
	return text_file_read(path, CONTROL_FILE_BYTES, size);
}

/* The last entry of error_log as one line: "event filter parse error: Field not found". */
static void last_error(const struct trace_instance *instance, char *text, size_t room)
{
	char *log = trace_instance_read(instance, "error_log", NULL), *at, *last = NULL;

	text[0] = '\0';
	for (at = log; at && (at = strstr(at, "error: ")); at++)
		last = at;
	if (last)
		snprintf(text, room, " (%.*s)", (int)strcspn(last + 7, "\n"), last + 7);
	free(log);
}

int trace_instance_write(struct trace_instance *instance, const char *file, const char *text,
			 struct capture_problem *problem)
{
	char path[PATH_MAX], log_path[PATH_MAX], told[160] = "";
	int error;

	file_of(instance, "error_log", log_path);
	if (strstr(file, "filter"))
		text_file_write(log_path, "");
	file_of(instance, file, path);
	error = text_file_write(path, text);
	if (!error)
		return 0;
	if (strstr(file, "filter")) {
		last_error(instance, told, sizeof(told));
		return capture_problem_set(
			problem,
			"%s: the kernel refuses \"%.200s\": %s%s: an event's fields "
			"are in the file format beside it",
			path, text, strerror(-error), told);
	}
	return capture_problem_set(problem, "%s: the kernel refuses \"%.200s\": %s%s", path, text,
				   strerror(-error), told);
}

static int set_up(struct trace_instance *instance, const struct trace_instance_settings *settings,
		  struct capture_problem *problem)
{
	char text[32];
	struct capture_problem ignored;

	if (trace_instance_write(instance, "tracing_on", "0", problem))
		return -1;
	snprintf(text, sizeof(text), "%" PRIu64, (settings->buffer_bytes + 1023) / 1024);
	if (trace_instance_write(instance, "buffer_size_kb", text, problem)) {
		size_t used = strlen(problem->text);

		snprintf(problem->text + used, sizeof(problem->text) - used,
			 ": choose a smaller --buffer-size, it is taken for each CPU");
		return -1;
	}
	if (trace_instance_write(instance, "trace_clock", settings->clock, problem))
		return -1;
	/* Overwriting keeps the place of a loss known; it is the default, and set in case it is not. */
	if (trace_instance_write(instance, "options/overwrite", "1", problem))
		return -1;
	/* Absent before 5.4: readers then wake for every page, which costs more and loses nothing. */
	snprintf(text, sizeof(text), "%u", settings->wake_percent);
	if (trace_instance_write(instance, "buffer_percent", text, &ignored))
		return 0;
	return 0;
}

int trace_instance_create(const struct trace_instance_settings *settings,
			  struct trace_instance **instance, struct capture_problem *problem)
{
	struct trace_instance *made = calloc(1, sizeof(*made));
	char name[64];

	if (!made)
		return capture_problem_set(problem, "out of memory");
	snprintf(name, sizeof(name), "lrutape-%d", getpid());
	made->tracefs = tracefs_instance_create(name);
	if (!made->tracefs) {
		capture_problem_set(problem,
				    "%s: cannot make a trace instance: %s: recording needs root, "
				    "and memory for its buffers",
				    name, strerror(errno));
		free(made);
		return -1;
	}
	made->directory = tracefs_instance_get_dir(made->tracefs);
	if (!made->directory)
		capture_problem_set(problem, "out of memory");
	if (!made->directory || set_up(made, settings, problem)) {
		trace_instance_destroy(made);
		return -1;
	}
	*instance = made;
	return 0;
}

const char *trace_instance_directory(const struct trace_instance *instance)
{
	return instance->directory;
}

unsigned int trace_instance_sub_buffer_bytes(const struct trace_instance *instance)
{
	/* The instance's own header page: the top level's tells the top level's size. */
	char *text = trace_instance_read(instance, "events/header_page", NULL);
	unsigned int bytes = text ? format_file_sub_buffer_bytes(text) : 0;

	free(text);
	return bytes ? bytes : (unsigned int)sysconf(_SC_PAGESIZE);
}

uint64_t trace_instance_overrun_in(const char *stats)
{
	const char *line = strstr(stats, "overrun: ");

	return line ? strtoull(line + strlen("overrun: "), NULL, 10) : 0;
}

uint64_t trace_instance_overrun(const struct trace_instance *instance, unsigned int cpu)
{
	char file[64], *text;
	uint64_t nr;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	text = trace_instance_read(instance, file, NULL);
	nr = text ? trace_instance_overrun_in(text) : 0;
	free(text);
	return nr;
}

void trace_instance_stop(struct trace_instance *instance)
{
	char path[PATH_MAX];

	if (!instance || !instance->directory)
		return;
	file_of(instance, "tracing_on", path);
	text_file_write(path, "0");
}

int trace_instance_destroy(struct trace_instance *instance)
{
	int error = 0;

	if (!instance)
		return 0;
	trace_instance_stop(instance);
	if (tracefs_instance_destroy(instance->tracefs) && errno != ENOENT)
		error = -errno;
	tracefs_instance_free(instance->tracefs);
	if (instance->directory)
		tracefs_put_tracing_file(instance->directory);
	free(instance);
	return error;
}
