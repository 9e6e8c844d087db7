// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random 4 KiB preads of a file that does not fit: three of four go to a hot part. The file's pages
 * are dropped first, so that every one of them enters the page cache under a recorder's eyes, and
 * FADV_RANDOM keeps readahead away, so that folios are of order 0. Seeded: each run reads the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

static struct {
	const char *file;
	uint64_t file_bytes, hot_bytes;
	uint64_t nr_reads; /* of each thread */
	double seconds, end; /* end then, whatever the reads; 0: no limit */
	bool keep; /* the file's pages stay where they are */
	unsigned int nr_threads;
	unsigned int hot_percent;
	uint64_t seed;
} options = {
	.file = "random_read.data",
	.file_bytes = 192u << 20,
	.nr_reads = 260000,
	.nr_threads = 1,
	.hot_percent = 75,
	.seed = 7,
};

static void fail(const char *what, const char *remedy)
{
	fprintf(stderr, "random_read: %s: %s: %s%s\n", options.file, what, strerror(errno), remedy);
	exit(1);
}

/* xorshift64*, Vigna 2016: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* Below a limit, without the bias and the division of %. */
static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)next_random(state) * limit >> 64);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *read_pages(void *arg)
{
	uint64_t state = (options.seed + 1 + (uintptr_t)arg) * 0x9e3779b97f4a7c15ull;
	uint64_t nr_pages = options.file_bytes / PAGE_BYTES,
		 nr_hot = options.hot_bytes / PAGE_BYTES;
	char buffer[PAGE_BYTES];
	uint64_t nr_done = 0;
	int fd = open(options.file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open", "");
	errno = posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	if (errno)
		fail("FADV_RANDOM", "");
	for (uint64_t i = 0; i < options.nr_reads; i++) {
		bool hot = random_below(&state, 100) < options.hot_percent;
		uint64_t page = random_below(&state, hot ? nr_hot : nr_pages);

		if (options.seconds > 0 && i % 1024 == 0 && now() > options.end)
			break;
		nr_done++;
		if (pread(fd, buffer, PAGE_BYTES, (off_t)(page * PAGE_BYTES)) != PAGE_BYTES)
			fail("cannot read", "");
	}
	close(fd);
	return (void *)(uintptr_t)nr_done;
}

/* Data of its own size and of any content: a sparse file would do, but reads of holes cost no I/O. */
static void make_file(void)
{
	static char buffer[1u << 20];
	struct stat status;
	int fd = open(options.file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &status))
		fail("cannot open or make", "");
	for (uint64_t at = (uint64_t)status.st_size; at < options.file_bytes;) {
		uint64_t size = options.file_bytes - at < sizeof(buffer) ? options.file_bytes - at :
									   sizeof(buffer);

		memset(buffer, (int)(at >> 20) + 1, size);
		if (pwrite(fd, buffer, size, (off_t)at) != (ssize_t)size)
			fail("cannot write", ": choose another --file or a smaller --file-size");
		at += size;
	}
	if (fsync(fd))
		fail("fsync", "");
	errno = options.keep ? 0 : posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (errno)
		fail("FADV_DONTNEED", "");
	close(fd);
}

static void usage(FILE *to)
{
	fputs("usage: random_read [--file FILE] [--file-size SIZE] [--hot-size SIZE] [--hot-percent N]\n"
	      "                   [--reads N] [--threads N] [--seed N] [--seconds N] [--keep] [--prepare]\n"
	      "  --file FILE      made if it is absent or too small; default random_read.data\n"
	      "  --file-size SIZE default 192M\n"
	      "  --hot-size SIZE  part that is read more often; default 22 % of the file\n"
	      "  --hot-percent N  share of the reads that go there, default 75\n"
	      "  --reads N        of each thread, default 260000\n"
	      "  --threads N      default 1\n"
	      "  --seed N         default 7\n"
	      "  --seconds N      end after so long, before the reads are done\n"
	      "  --keep           do not drop the file's pages first\n"
	      "  --prepare        only make the file and drop its pages\n",
	      to);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'M' || *end == 'G')
		value <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 30, end++;
	if (errno || end == text || *end || *text == '-') {
		fprintf(stderr, "random_read: %s: not a number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "file-size", required_argument, NULL, 's' },
		{ "hot-size", required_argument, NULL, 'o' },
		{ "hot-percent", required_argument, NULL, 'p' },
		{ "reads", required_argument, NULL, 'r' },
		{ "threads", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 'S' },
		{ "seconds", required_argument, NULL, 'e' },
		{ "keep", no_argument, NULL, 'k' },
		{ "prepare", no_argument, NULL, 'P' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool only_prepare = false;
	pthread_t *threads;
	double begin, seconds, cpu_before;
	struct timespec cpu;
	uint64_t nr_done = 0;
	int option;

	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (option) {
		case 'f':
			options.file = optarg;
			break;
		case 's':
			options.file_bytes = number(optarg);
			break;
		case 'o':
			options.hot_bytes = number(optarg);
			break;
		case 'p':
			options.hot_percent = (unsigned int)number(optarg);
			break;
		case 'r':
			options.nr_reads = number(optarg);
			break;
		case 't':
			options.nr_threads = (unsigned int)number(optarg);
			break;
		case 'S':
			options.seed = number(optarg);
			break;
		case 'e':
			options.seconds = (double)number(optarg);
			options.nr_reads = UINT64_MAX;
			break;
		case 'k':
			options.keep = true;
			break;
		case 'P':
			only_prepare = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (!options.hot_bytes)
		options.hot_bytes = options.file_bytes / 100 * 22;
	if (optind < argc || !options.nr_threads || options.nr_threads > 4096 ||
	    options.hot_bytes < PAGE_BYTES || options.hot_bytes > options.file_bytes ||
	    options.file_bytes >> 50) {
		usage(stderr);
		return 2;
	}
	make_file();
	if (only_prepare)
		return 0;
	threads = calloc(options.nr_threads, sizeof(*threads));
	if (!threads)
		fail("no memory", "");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	cpu_before = (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9;
	begin = now();
	options.end = begin + options.seconds;
	for (unsigned int i = 0; i < options.nr_threads; i++) {
		errno = pthread_create(&threads[i], NULL, read_pages, (void *)(uintptr_t)i);
		if (errno)
			fail("pthread_create", "");
	}
	for (unsigned int i = 0; i < options.nr_threads; i++) {
		void *done;

		pthread_join(threads[i], &done);
		nr_done += (uintptr_t)done;
	}
	seconds = now() - begin;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("threads %u reads %llu seconds %.3f reads/s %.0f cpu_seconds %.3f\n",
	       options.nr_threads, (unsigned long long)nr_done, seconds, (double)nr_done / seconds,
	       (double)cpu.tv_sec + (double)cpu.tv_nsec * 1e-9 - cpu_before);
	free(threads);
	return 0;
}
