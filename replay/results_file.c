// SPDX-License-Identifier: GPL-2.0-only
#include "replay/results_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/unfinished_file.h"

/* Big-endian, as in SQLite's file header. */
static uint32_t header_u32(const unsigned char *header, size_t byte)
{
	return (uint32_t)header[byte] << 24 | (uint32_t)header[byte + 1] << 16 |
	       (uint32_t)header[byte + 2] << 8 | header[byte + 3];
}

/* True if @path is empty or holds a results database of any schema version. */
static bool may_be_replaced(const char *path)
{
	unsigned char header[72];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, header, sizeof(header), 0);
	close(fd);
	return n == 0 || (n == sizeof(header) && !memcmp(header, "SQLite format 3", 16) &&
			  header_u32(header, 68) == RESULTS_APPLICATION_ID);
}

int results_refuse_journal(const char *name, const char *target, struct results_problem *problem)
{
	static const char *const ending[] = { "-journal", "-wal" };
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		if (snprintf(path, sizeof(path), "%s%s", target, ending[i]) >= (int)sizeof(path))
			continue;
		if (stat(path, &st) == 0 && st.st_size > 0)
			return results_problem_set(
				problem, RESULTS_ERR_BUSY,
				"%s: another program is writing to it, %s is there: close "
				"that program, or choose another name",
				name, path);
	}
	return 0;
}

int results_find_target(const char *name, char **target, mode_t *mode,
			struct results_problem *problem)
{
	struct stat st;

	*mode = 0;
	if (name[0] == '\0')
		return results_problem_set(problem, RESULTS_ERR_OPEN,
					   "-o: the results database needs a file name");
	if (stat(name, &st) < 0) {
		if (errno != ENOENT)
			return results_problem_set(problem, RESULTS_ERR_OPEN, "%s: %s", name,
						   strerror(errno));
		if (lstat(name, &st) == 0)
			return results_problem_set(
				problem, RESULTS_ERR_OPEN,
				"%s: is a symbolic link to nothing: remove it, or choose "
				"another name",
				name);
		*target = strdup(name);
		if (!*target)
			return results_problem_set(problem, RESULTS_ERR_MEMORY, "%s: out of memory",
						   name);
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return results_problem_set(problem, RESULTS_ERR_NOT_RESULTS,
					   "%s: is %s: choose the name of a file", name,
					   S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
	if (access(name, R_OK | W_OK) < 0)
		return results_problem_set(
			problem, RESULTS_ERR_OPEN,
			"%s: there is one that may not be replaced: %s: choose another name", name,
			strerror(errno));
	if (!may_be_replaced(name))
		return results_problem_set(
			problem, RESULTS_ERR_NOT_RESULTS,
			"%s: is there and is not a results database: choose another name, "
			"or remove it first",
			name);
	*target = realpath(name, NULL);
	if (!*target)
		return results_problem_set(problem, RESULTS_ERR_OPEN, "%s: %s", name,
					   strerror(errno));
	*mode = st.st_mode & 0777;
	return 0;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* True if a process that lives here, or one elsewhere that holds SQLite's lock, writes to @path. */
static bool temporary_in_use(const char *path, long pid)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd;
	bool in_use;

	if (pid <= 0 || pid > INT_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return true;
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return true;
	in_use = fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
	close(fd);
	return in_use;
}

void results_remove_stale(const char *target)
{
	const char *slash = strrchr(target, '/');
	const char *base = slash ? slash + 1 : target;
	size_t base_size = strlen(base);
	char *folder = folder_of(target);
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];
		const char *pid_text = entry->d_name + base_size + 5;
		char *end;
		long pid;

		if (strncmp(entry->d_name, base, base_size) ||
		    strncmp(entry->d_name + base_size, ".tmp-", 5))
			continue;
		if (*pid_text < '1' || *pid_text > '9')
			continue;
		errno = 0;
		pid = strtol(pid_text, &end, 10);
		if (errno || *end ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
			    (int)sizeof(path))
			continue;
		if (!temporary_in_use(path, pid))
			unlink(path);
	}
	if (dir)
		closedir(dir);
	free(folder);
}

int results_create_temporary(struct results *results, mode_t mode, struct results_problem *problem)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
	int fd;

	if (asprintf(&results->temporary, "%s.tmp-%ld", results->target, (long)getpid()) < 0) {
		results->temporary = NULL;
		return results_problem_set(problem, RESULTS_ERR_MEMORY, "%s: out of memory",
					   results->name);
	}
	/* Before it is there, so that there is no moment between. */
	unfinished_file_begin(results->temporary);
	fd = open(results->temporary, flags, 0666);
	if (fd < 0 && errno == EEXIST) {
		/* Named after our own number, so a process that is no more left it. */
		unlink(results->temporary);
		fd = open(results->temporary, flags, 0666);
	}
	if (fd < 0) {
		int code = results_problem_set(
			problem, RESULTS_ERR_OPEN,
			"%s: cannot make a file there: %s: choose another folder", results->name,
			strerror(errno));

		unfinished_file_end();
		free(results->temporary);
		results->temporary = NULL;
		return code;
	}
	/* A file system without permissions is no reason to fail. */
	if (mode)
		(void)!fchmod(fd, mode);
	close(fd);
	return 0;
}

static int sync_path(struct results *results, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	/* EINVAL: the file system has nothing to sync, which is its own business. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		error = results_problem_set(&results->problem, RESULTS_ERR_WRITE,
					    "%s: %s to disk: %s", results->name, path,
					    strerror(errno));
	if (fd >= 0)
		close(fd);
	return error;
}

int results_put_in_place(struct results *results)
{
	char *folder;
	int error;

	if (sync_path(results, results->temporary))
		return results->problem.code;
	if (results_refuse_journal(results->name, results->target, &results->problem))
		return results->problem.code;
	error = rename(results->temporary, results->target);
	unfinished_file_end();
	if (error)
		return results_problem_set(&results->problem, RESULTS_ERR_WRITE,
					   "%s: cannot be put in place: %s", results->name,
					   strerror(errno));
	free(results->temporary);
	results->temporary = NULL;

	/* The database is there; whether its name would outlive a crash now is all this can change. */
	folder = folder_of(results->target);
	if (folder)
		(void)!sync_path(results, folder);
	free(folder);
	return 0;
}
