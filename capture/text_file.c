// SPDX-License-Identifier: GPL-2.0-only
#include "capture/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *text_file_read(const char *path, size_t limit_bytes, size_t *size)
{
	/* Nonblocking: a file that waits for something to happen must not hold up a snapshot. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t room = limit_bytes < 4096 ? limit_bytes : 4096, used = 0;
	char *text, *more;
	ssize_t got;
	int error;

	if (fd < 0)
		return NULL;
	text = malloc(room + 1);
	while (text && used < limit_bytes) {
		if (used == room) {
			room = room > limit_bytes / 2 ? limit_bytes : 2 * room;
			more = realloc(text, room + 1);
			if (!more)
				goto err_free;
			text = more;
		}
		got = read(fd, text + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			goto err_free;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	close(fd);
	if (!text)
		return NULL;
	text[used] = '\0';
	if (size)
		*size = used;
	return text;

err_free:
	error = errno;
	free(text);
	close(fd);
	errno = error;
	return NULL;
}

static int write_whole(const char *path, int flags, const char *text)
{
	int fd = open(path, O_WRONLY | flags | O_CLOEXEC);
	size_t size = strlen(text);
	int error = 0;
	ssize_t put;

	if (fd < 0)
		return -errno;
	do {
		put = write(fd, text, size);
	} while (put < 0 && errno == EINTR);
	if (put < 0)
		error = -errno;
	else if ((size_t)put != size)
		error = -EIO;
	close(fd);
	return error;
}

int text_file_write(const char *path, const char *text)
{
	return write_whole(path, O_TRUNC, text);
}

int text_file_append(const char *path, const char *text)
{
	return write_whole(path, O_APPEND, text);
}
