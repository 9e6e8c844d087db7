// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write files out and drop their pages, so that a recorded command finds none of them in memory. What
 * is dropped so leaves no shadow. usage: uncache PATH..., files or trees of them
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_OPEN_DIRECTORIES 32

static int uncache(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	int fd, error;

	(void)ftw;
	if (type != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "uncache: %s: %s\n", path, strerror(errno));
		return 1;
	}
	if (fdatasync(fd))
		fprintf(stderr, "uncache: %s: %s\n", path, strerror(errno));
	error = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (error)
		fprintf(stderr, "uncache: %s: %s\n", path, strerror(error));
	close(fd);
	return error != 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], uncache, MAX_OPEN_DIRECTORIES, FTW_PHYS))
			return 1;
	return 0;
}
