// SPDX-License-Identifier: GPL-2.0-only
#include "capture/memcg.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/stale_owner.h"
#include "capture/text_file.h"

#define CONTROL_FILE_BYTES (1u << 20)
#define MOUNTINFO_BYTES (16u << 20)

static const char *file_in(const char *directory, const char *name, char *path)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
		path[0] = '\0'; /* opening it then fails with ENOENT */
	return path;
}

/* Whether a comma or blank separated list has that word. */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length) {
		bool starts = at == list || strchr(", \n", at[-1]);

		if (starts && (at[length] == '\0' || strchr(", \n", at[length])))
			return true;
	}
	return false;
}

/* mountinfo writes blank, tab, newline and backslash as \ooo. */
static void unescape(const char *from, char *to, size_t room)
{
	while (*from && room > 1) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
		room--;
	}
	*to = '\0';
}

static bool has_controller(const char *mount, const char *file)
{
	char path[PATH_MAX];
	char *list = text_file_read(file_in(mount, file, path), CONTROL_FILE_BYTES, NULL);
	bool has = list && list_has(list, "memory");

	free(list);
	return has;
}

static int hierarchy_number(void)
{
	char *text = text_file_read("/proc/cgroups", CONTROL_FILE_BYTES, NULL), *line;
	int number = 0;

	line = text ? strstr(text, "\nmemory\t") : NULL;
	if (line)
		number = atoi(line + strlen("\nmemory\t"));
	free(text);
	return number;
}

void memcg_find_hierarchy(struct memcg_hierarchy *hierarchy)
{
	char *text = text_file_read("/proc/self/mountinfo", MOUNTINFO_BYTES, NULL);
	char *rest = text, *line;

	memset(hierarchy, 0, sizeof(*hierarchy));
	while (hierarchy->version == 0 && (line = strsep(&rest, "\n"))) {
		char where[PATH_MAX], type[64], options[1024];
		const char *tail = strstr(line, " - ");

		if (!tail || sscanf(line, "%*s %*s %*s %*s %4095s", where) != 1 ||
		    sscanf(tail, " - %63s %*s %1023s", type, options) != 2)
			continue;
		unescape(where, hierarchy->mount, sizeof(hierarchy->mount));
		if (!strcmp(type, "cgroup") && list_has(options, "memory"))
			hierarchy->version = 1;
		else if (!strcmp(type, "cgroup2") &&
			 has_controller(hierarchy->mount, "cgroup.controllers"))
			hierarchy->version = 2;
	}
	free(text);
	if (hierarchy->version == 1)
		hierarchy->number = hierarchy_number();
	if (hierarchy->version == 0)
		hierarchy->mount[0] = '\0';
}

/* A line of /proc/PID/cgroup is "number:controllers:path"; that of v2 is "0::path". */
static bool line_is_of(const struct memcg_hierarchy *hierarchy, const char *number,
		       const char *path)
{
	char controllers[256];

	if (hierarchy->version == 2)
		return !strncmp(number, "0::", 3);
	number = strchr(number, ':') + 1;
	snprintf(controllers, sizeof(controllers), "%.*s", (int)(path - 1 - number), number);
	return list_has(controllers, "memory");
}

bool memcg_path_of_task(const struct memcg_hierarchy *hierarchy, const char *cgroup_file,
			char *path)
{
	const char *line = cgroup_file;

	while (*line) {
		const char *end = strchrnul(line, '\n');
		const char *where = memchr(line, ':', (size_t)(end - line));

		where = where ? memchr(where + 1, ':', (size_t)(end - where - 1)) : NULL;
		if (where && line_is_of(hierarchy, line, ++where)) {
			snprintf(path, PATH_MAX, "%.*s", (int)(end - where), where);
			return path[0] == '/';
		}
		line = *end ? end + 1 : end;
	}
	return false;
}

static int enable_controller(struct memcg_group *group, struct capture_problem *problem)
{
	char path[PATH_MAX];
	int error;

	if (group->hierarchy.version != 2 ||
	    has_controller(group->hierarchy.mount, "cgroup.subtree_control"))
		return 0;
	file_in(group->hierarchy.mount, "cgroup.subtree_control", path);
	error = text_file_write(path, "+memory");
	if (error)
		return capture_problem_set(problem,
					   "%s: cannot enable the memory controller: %s: "
					   "write +memory to it, or record without --memory",
					   path, strerror(-error));
	group->enabled_controller = true;
	return 0;
}

static int set_limit(struct memcg_group *group, uint64_t limit_bytes,
		     struct capture_problem *problem)
{
	const char *file = group->hierarchy.version == 1 ? "memory.limit_in_bytes" : "memory.max";
	char path[PATH_MAX], text[32], *set;
	int error;

	group->limit_bytes = limit_bytes;
	if (limit_bytes == UINT64_MAX)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, limit_bytes);
	error = text_file_write(file_in(group->directory, file, path), text);
	if (error)
		return capture_problem_set(problem,
					   "%s: cannot set a limit of %s bytes: %s: choose "
					   "another --memory",
					   path, text, strerror(-error));
	set = text_file_read(path, CONTROL_FILE_BYTES, NULL);
	if (set)
		group->limit_bytes = strtoull(set, NULL, 10);
	free(set);
	return 0;
}

static int set_swappiness(struct memcg_group *group, int swappiness,
			  struct capture_problem *problem)
{
	char path[PATH_MAX], text[16];
	int error;

	if (swappiness < 0)
		return 0;
	file_in(group->directory, "memory.swappiness", path);
	snprintf(text, sizeof(text), "%d", swappiness);
	error = text_file_write(path, text);
	if (error == -ENOENT)
		return capture_problem_set(
			problem,
			"%s: this kernel has no swappiness per group (cgroup "
			"v2): leave --swappiness out and set /proc/sys/vm/swappiness",
			path);
	if (error)
		return capture_problem_set(problem,
					   "%s: cannot set %d: %s: 0 to 100 on most kernels, "
					   "0 to 200 since 5.8",
					   path, swappiness, strerror(-error));
	return 0;
}

int memcg_group_create(const struct memcg_hierarchy *hierarchy,
		       const struct memcg_settings *settings, struct memcg_group *group,
		       struct capture_problem *problem)
{
	struct stat status;
	char name[64];

	memset(group, 0, sizeof(*group));
	if (hierarchy->version == 0)
		return capture_problem_set(
			problem, "/proc/self/mountinfo: no memory cgroup is mounted, v1 "
				 "or v2: mount one (mount -t cgroup2 none /sys/fs/cgroup), or "
				 "record without --memory and --swappiness");
	group->hierarchy = *hierarchy;
	if (enable_controller(group, problem))
		return -1;
	snprintf(name, sizeof(name), "lrutape-%d", getpid());
	file_in(hierarchy->mount, name, group->directory);
	if (mkdir(group->directory, 0755)) {
		capture_problem_set(problem, "%s: cannot make the command's memory cgroup: %s: %s",
				    group->directory, strerror(errno),
				    errno == EACCES || errno == EPERM || errno == EROFS ?
					    "run as root, outside of containers" :
					    "record without --memory");
		group->directory[0] = '\0';
		memcg_group_remove(group);
		return -1;
	}
	if (set_swappiness(group, settings->swappiness, problem) ||
	    set_limit(group, settings->limit_bytes, problem)) {
		memcg_group_remove(group);
		return -1;
	}
	if (!stat(group->directory, &status))
		group->inode = status.st_ino;
	return 0;
}

int memcg_group_join(const struct memcg_group *group)
{
	char path[PATH_MAX];

	return text_file_write(file_in(group->directory, "cgroup.procs", path), "0");
}

uint64_t memcg_group_oom_kills(const struct memcg_group *group)
{
	const char *file = group->hierarchy.version == 1 ? "memory.oom_control" : "memory.events";
	char path[PATH_MAX], *text, *line;
	uint64_t kills = 0;

	if (!group->directory[0])
		return 0;
	text = text_file_read(file_in(group->directory, file, path), CONTROL_FILE_BYTES, NULL);
	line = text ? strstr(text, "oom_kill ") : NULL;
	if (line)
		kills = strtoull(line + strlen("oom_kill "), NULL, 10);
	free(text);
	return kills;
}

static unsigned int count_processes(const char *directory)
{
	char path[PATH_MAX];
	char *text = text_file_read(file_in(directory, "cgroup.procs", path), CONTROL_FILE_BYTES,
				    NULL);
	unsigned int nr = 0;

	for (const char *at = text; at && *at; at++)
		nr += *at == '\n';
	free(text);
	return nr;
}

/* Tasks that were reaped a moment ago can still hold a group for a few milliseconds. */
static unsigned int remove_directory(const char *directory)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	unsigned int nr = 0;

	for (int i = 0; i < 100; i++) {
		if (!rmdir(directory) || errno == ENOENT)
			return 0;
		nr = count_processes(directory);
		if (nr > 0 && i > 20)
			break;
		nanosleep(&pause, NULL);
	}
	return nr > 0 ? nr : 1;
}

unsigned int memcg_group_remove(struct memcg_group *group)
{
	unsigned int nr = 0;
	char path[PATH_MAX];

	if (group->directory[0])
		nr = remove_directory(group->directory);
	group->directory[0] = '\0';
	if (group->enabled_controller && !nr)
		text_file_write(file_in(group->hierarchy.mount, "cgroup.subtree_control", path),
				"-memory");
	group->enabled_controller = false;
	return nr;
}

void memcg_clean_stale(const struct memcg_hierarchy *hierarchy, FILE *say)
{
	DIR *list = hierarchy->version ? opendir(hierarchy->mount) : NULL;
	struct dirent *entry;
	char path[PATH_MAX];
	unsigned int nr;

	while (list && (entry = readdir(list))) {
		pid_t owner = stale_owner(entry->d_name);

		if (!owner)
			continue;
		file_in(hierarchy->mount, entry->d_name, path);
		nr = count_processes(path);
		if (nr)
			fprintf(say,
				"lrutape: %s: left by recorder %d, which is gone; still in it: %u process%s; "
				"removed by the next recording after their end\n",
				path, owner, nr, nr == 1 ? "" : "es");
		else if (!remove_directory(path))
			fprintf(say, "lrutape: %s: left by recorder %d, which is gone: removed\n",
				path, owner);
	}
	if (list)
		closedir(list);
}
