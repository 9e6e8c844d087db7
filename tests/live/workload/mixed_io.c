// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and buffered writes of a file: random 4 KiB ones, three of four in a hot quarter, or passes
 * from end to end, whose readahead brings in large folios. Seeded: each run asks the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define CHUNK_BYTES (128u << 10)

static void fail(const char *what, const char *file)
{
	fprintf(stderr, "mixed_io: %s: %s: %s\n", file, what, strerror(errno));
	exit(1);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)next_random(state) * limit >> 64);
}

static void random_ops(int fd, const char *file, uint64_t nr_ops, uint64_t write_percent,
		       uint64_t nr_pages, uint64_t seed)
{
	char page[PAGE_BYTES];

	memset(page, 1, sizeof(page));
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		fail("posix_fadvise", file);
	for (uint64_t i = 0; i < nr_ops; i++) {
		uint64_t hot = below(&seed, 100) < 75 ? nr_pages / 4 : nr_pages;
		off_t at = (off_t)(below(&seed, hot) * PAGE_BYTES);

		if (below(&seed, 100) < write_percent) {
			if (pwrite(fd, page, sizeof(page), at) != sizeof(page))
				fail("write", file);
		} else if (pread(fd, page, sizeof(page), at) != sizeof(page)) {
			fail("read", file);
		}
	}
}

static void passes(int fd, const char *file, uint64_t nr)
{
	static char chunk[CHUNK_BYTES];

	for (uint64_t pass = 0; pass < nr; pass++) {
		ssize_t n;

		if (lseek(fd, 0, SEEK_SET) < 0)
			fail("seek", file);
		while ((n = read(fd, chunk, sizeof(chunk))) > 0)
			;
		if (n < 0)
			fail("read", file);
	}
}

int main(int argc, char **argv)
{
	static const struct option list[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "ops", required_argument, NULL, 'o' },
		{ "write-percent", required_argument, NULL, 'w' },
		{ "passes", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	uint64_t nr_ops = 0, write_percent = 0, nr_passes = 0, seed = 7;
	const char *file = "random_read.data";
	off_t bytes;
	int c, fd;

	while ((c = getopt_long(argc, argv, "", list, NULL)) != -1) {
		switch (c) {
		case 'f':
			file = optarg;
			break;
		case 'o':
			nr_ops = strtoull(optarg, NULL, 10);
			break;
		case 'w':
			write_percent = strtoull(optarg, NULL, 10);
			break;
		case 'p':
			nr_passes = strtoull(optarg, NULL, 10);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 10);
			break;
		case 'h':
			puts("usage: mixed_io --file FILE [--ops N [--write-percent N]] [--passes N] [--seed N]\n"
			     "  random 4 KiB reads and writes of FILE, then passes over all of it");
			return 0;
		default:
			return 2;
		}
	}
	fd = open(file, O_RDWR);
	if (fd < 0)
		fail("open", file);
	bytes = lseek(fd, 0, SEEK_END);
	if (bytes < (off_t)(4 * PAGE_BYTES) || !seed) {
		fprintf(stderr,
			"mixed_io: a file of 4 pages or more and a seed other than 0 are needed\n");
		return 2;
	}
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail("posix_fadvise", file);
	if (nr_ops)
		random_ops(fd, file, nr_ops, write_percent, (uint64_t)bytes / PAGE_BYTES, seed);
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_NORMAL))
		fail("posix_fadvise", file);
	passes(fd, file, nr_passes);
	return close(fd) ? 1 : 0;
}
