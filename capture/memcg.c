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

uint64_t memcg_of_path(const struct memcg_hierarchy *hierarchy, char *path)
{
	char directory[2 * PATH_MAX], file[PATH_MAX];
	struct stat status;

	for (;;) {
		char *slash;

		snprintf(directory, sizeof(directory), "%s%s", hierarchy->mount,
			 strcmp(path, "/") ? path : "");
		if (hierarchy->version == 1 || !strcmp(path, "/") ||
		    !access(file_in(directory, "memory.current", file), F_OK))
			return stat(directory, &status) ? 0 : status.st_ino;
		slash = strrchr(path, '/');
		slash[slash == path] = '\0';
	}
}

uint64_t memcg_of_task(const struct memcg_hierarchy *hierarchy, pid_t tid, char *path)
{
	char file[64], *text;
	uint64_t inode = 0;

	snprintf(file, sizeof(file), "/proc/%d/cgroup", tid);
	text = text_file_read(file, CONTROL_FILE_BYTES, NULL);
	if (text && hierarchy->version && memcg_path_of_task(hierarchy, text, path))
		inode = memcg_of_path(hierarchy, path);
	free(text);
	if (!inode)
		path[0] = '\0';
	return inode;
}

static uint64_t read_limit(const struct memcg_group *group)
{
	const char *file = group->hierarchy.version == 1 ? "memory.limit_in_bytes" : "memory.max";
	char path[PATH_MAX];
	char *text = text_file_read(file_in(group->directory, file, path), CONTROL_FILE_BYTES,
				    NULL);
	uint64_t limit = text && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;

	free(text);
	/* v1 says "no limit" with a number near the largest, v2 with a word. */
	return limit == 0 || limit > INT64_MAX / 2 ? UINT64_MAX : limit;
}

int memcg_group_find(const struct memcg_hierarchy *hierarchy, const char *name,
		     struct memcg_group *group, struct capture_problem *problem)
{
	size_t mount_length = strlen(hierarchy->mount), length;
	char whole[2 * PATH_MAX], real[PATH_MAX], file[PATH_MAX];
	struct stat status;

	memset(group, 0, sizeof(*group));
	if (hierarchy->version == 0)
		return capture_problem_set(
			problem, "/proc/self/mountinfo: no memory cgroup is mounted, v1 or v2: "
				 "record without --cgroup");
	group->hierarchy = *hierarchy;
	if (strncmp(name, hierarchy->mount, mount_length))
		snprintf(whole, sizeof(whole), "%s/%s", hierarchy->mount, name);
	else
		snprintf(whole, sizeof(whole), "%s", name);
	if (!realpath(whole, real) || stat(real, &status) || !S_ISDIR(status.st_mode))
		return capture_problem_set(problem,
					   "%s: no such memory cgroup (looked for %s): "
					   "/proc/PID/cgroup shows where a process is",
					   name, whole);
	length = strlen(real);
	if (strncmp(real, hierarchy->mount, mount_length) ||
	    access(file_in(real, "cgroup.procs", file), F_OK) || length >= PATH_MAX)
		return capture_problem_set(problem,
					   "%s: not a cgroup of the memory hierarchy at %s", name,
					   hierarchy->mount);
	memcpy(group->directory, real, length + 1);
	group->inode = status.st_ino;
	group->limit_bytes = read_limit(group);
	return 0;
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
	char path[PATH_MAX], text[32];
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
	group->limit_bytes = read_limit(group);
	return 0;
}

/* v1 limits memory and swap together, v2 swap alone. */
static int set_swap(struct memcg_group *group, const struct memcg_settings *settings,
		    struct capture_problem *problem)
{
	bool is_v1 = group->hierarchy.version == 1;
	char path[PATH_MAX], text[32];
	int error;

	if (settings->swap_bytes == UINT64_MAX)
		return 0;
	file_in(group->directory, is_v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max", path);
	snprintf(text, sizeof(text), "%" PRIu64,
		 settings->swap_bytes + (is_v1 ? group->limit_bytes : 0));
	error = text_file_write(path, text);
	if (error)
		return capture_problem_set(
			problem, "%s: cannot set a swap limit of %s bytes: %s: %s", path, text,
			strerror(-error),
			error == -ENOENT ? "this kernel does not account swap (CONFIG_SWAP, and "
					   "swapaccount=1 before 6.1): record without --swap" :
					   "choose another --swap");
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
	group->is_ours = true;
	if (set_swappiness(group, settings->swappiness, problem) ||
	    set_limit(group, settings->limit_bytes, problem) ||
	    set_swap(group, settings, problem)) {
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

	if (group->directory[0] && group->is_ours)
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
