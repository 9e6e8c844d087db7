// SPDX-License-Identifier: GPL-2.0-only
#include "capture/segment_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS 3 /* at least: numbers go on beyond 999 */

char *segment_files_path(const char *tape, unsigned int number)
{
	char *path;

	return asprintf(&path, "%s.%0*u", tape, DIGITS, number) < 0 ? NULL : path;
}

/* Return: whether a file's name is that of a segment, and its number. */
static bool segment_number(const char *file, const char *base, unsigned int *number)
{
	size_t length = strlen(base);
	char *end;
	unsigned long value;

	if (strncmp(file, base, length) || file[length] != '.' ||
	    strlen(file + length + 1) < DIGITS || !isdigit((unsigned char)file[length + 1]))
		return false;
	errno = 0;
	value = strtoul(file + length + 1, &end, 10);
	*number = (unsigned int)value;
	return !*end && !errno && value < INT_MAX;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct segment_file *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

int segment_files_add(struct segment_files *files, unsigned int number, uint64_t bytes)
{
	if (files->nr == files->room) {
		unsigned int room = files->room ? 2 * files->room : 16;
		struct segment_file *more = reallocarray(files->file, room, sizeof(*more));

		if (!more)
			return -1;
		files->file = more;
		files->room = room;
	}
	files->file[files->nr++] = (struct segment_file){ number, bytes };
	files->bytes += bytes;
	if (number >= files->next)
		files->next = number + 1;
	return 0;
}

int segment_files_scan(struct segment_files *files, const char *tape,
		       struct capture_problem *problem)
{
	const char *slash = strrchr(tape, '/');
	char *directory = slash ? strndup(tape, (size_t)(slash - tape + 1)) : strdup("./");
	const char *base = slash ? slash + 1 : tape;
	struct dirent *entry;
	struct stat status;
	unsigned int number;
	int failed = 0;
	DIR *list;

	memset(files, 0, sizeof(*files));
	files->tape = tape;
	list = directory ? opendir(directory) : NULL;
	if (!list) {
		failed = capture_problem_set(problem,
					     "%s: cannot list: %s: name an existing directory",
					     directory ? directory : tape, strerror(errno));
		free(directory);
		return failed;
	}
	while (!failed && (entry = readdir(list)))
		if (segment_number(entry->d_name, base, &number) &&
		    !fstatat(dirfd(list), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(status.st_mode) &&
		    segment_files_add(files, number, (uint64_t)status.st_size))
			failed = capture_problem_set(problem, "out of memory");
	closedir(list);
	free(directory);
	if (files->nr)
		qsort(files->file, files->nr, sizeof(*files->file), compare_numbers);
	return failed;
}

void segment_files_trim(struct segment_files *files, uint64_t keep_bytes)
{
	unsigned int nr = 0;

	while (nr < files->nr && files->bytes > keep_bytes) {
		char *path = segment_files_path(files->tape, files->file[nr].number);

		if (!path)
			break;
		unlink(path);
		free(path);
		files->bytes -= files->file[nr++].bytes;
	}
	if (!nr)
		return;
	files->nr -= nr;
	memmove(files->file, files->file + nr, files->nr * sizeof(*files->file));
}

void segment_files_free(struct segment_files *files)
{
	free(files->file);
	memset(files, 0, sizeof(*files));
}
