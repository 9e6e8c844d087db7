// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and stores to memory that is mapped: anonymous pages, a file, or both. After the first fault
 * they reach no tracepoint, so the workload keeps the truth itself: its sequence follows from the
 * seed, and a log has the time of every 64th access, which is too little memory to disturb a limit.
 * Few pages are touched often, most of them rarely.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define LOG_EVERY 64u /* accesses between two times in the log */
#define SCATTER 2654435761u /* a prime: ranks lie scattered over the pages */

static struct {
	const char *file, *log;
	uint64_t anon_pages, file_pages, nr_ops, delay_ns, shift_every;
	unsigned int write_percent, file_percent, nr_tasks;
	uint64_t seed;
	bool prepare, huge;
} options = {
	.anon_pages = 24576,
	.nr_ops = 500000,
	.delay_ns = 1000,
	.write_percent = 30,
	.file_percent = 50,
	.nr_tasks = 1,
	.seed = 7,
};

static void fail(const char *what)
{
	fprintf(stderr, "mapped_touch: %s: %s\n", what, strerror(errno));
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

/* A page; the share of accesses of the r-th hottest falls like r to the power of -2/3. */
static uint64_t random_page(uint64_t *state, uint64_t nr_pages, uint64_t shift)
{
	uint64_t u = next_random(state) >> 32;
	uint64_t rank = nr_pages * (u * u >> 32) >> 32;

	rank = rank * u >> 32;
	return (uint64_t)((unsigned __int128)(rank + shift) * SCATTER % nr_pages);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void prepare_file(void)
{
	static char page[PAGE_BYTES];
	int fd = open(options.file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		fail(options.file);
	for (uint64_t i = 0; i < options.file_pages; i++)
		if (pwrite(fd, page, sizeof(page), (off_t)(i * PAGE_BYTES)) != sizeof(page))
			fail(options.file);
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail(options.file);
	close(fd);
}

static char *map(bool anon)
{
	uint64_t bytes = (anon ? options.anon_pages : options.file_pages) * PAGE_BYTES;
	int fd = anon ? -1 : open(options.file, O_RDONLY | O_CLOEXEC);
	char *memory;

	if (!bytes)
		return NULL;
	if (!anon && (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)))
		fail(options.file);
	memory = mmap(NULL, bytes, anon ? PROT_READ | PROT_WRITE : PROT_READ,
		      anon ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	if (fd >= 0)
		close(fd);
	if (anon)
		madvise(memory, bytes, options.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return memory;
}

static void wait_until(uint64_t then_ns)
{
	while (now_ns() < then_ns)
		;
}

/* The log: magic, operations, seed, anon and file pages, write and file percent, shift, times. */
static void write_log(const uint64_t *at, uint64_t nr, unsigned int task)
{
	const uint64_t head[] = { 0x6d61707065643031u,	options.nr_ops,	    options.seed + task,
				  options.anon_pages,	options.file_pages, options.write_percent,
				  options.file_percent, options.shift_every };
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%u", options.log, task);
	file = fopen(path, "wb");
	if (!file || fwrite(head, sizeof(head), 1, file) != 1 || fwrite(at, 8, nr, file) != nr ||
	    fclose(file))
		fail(path);
}

static void touch(unsigned int task)
{
	uint64_t state = (options.seed + task + 1) * 0x9e3779b97f4a7c15ull;
	uint64_t nr_times = options.nr_ops / LOG_EVERY + 1, shift = 0, sum = 0;
	volatile char *anon = map(true), *file = map(false);
	uint64_t *at = calloc(nr_times, sizeof(*at));

	if (!at)
		fail("calloc");
	for (uint64_t i = 0; i < options.nr_ops; i++) {
		uint64_t draw = next_random(&state);
		bool is_file = file && (!anon || draw % 100 < options.file_percent);

		if (!(i % LOG_EVERY))
			at[i / LOG_EVERY] = now_ns();
		if (options.shift_every && i && !(i % options.shift_every))
			shift += 37;
		if (is_file) {
			sum += (uint64_t)
				file[random_page(&state, options.file_pages, shift) * PAGE_BYTES];
		} else {
			volatile char *byte =
				anon + random_page(&state, options.anon_pages, shift) * PAGE_BYTES;

			if ((draw >> 32) % 100 < options.write_percent)
				(*byte)++;
			else
				sum += (uint64_t)*byte;
		}
		if (options.delay_ns)
			wait_until(now_ns() + options.delay_ns);
	}
	if (options.log)
		write_log(at, (options.nr_ops + LOG_EVERY - 1) / LOG_EVERY, task);
	free(at);
	if (sum == 1) /* the loads are not to be optimised away */
		puts("");
}

static uint64_t number(const char *text)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (end == text || *end) {
		fprintf(stderr, "mapped_touch: %s is no number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option list[] = {
		{ "anon-pages", required_argument, NULL, 'a' },
		{ "file", required_argument, NULL, 'f' },
		{ "file-pages", required_argument, NULL, 'p' },
		{ "ops", required_argument, NULL, 'n' },
		{ "delay-ns", required_argument, NULL, 'd' },
		{ "write-percent", required_argument, NULL, 'w' },
		{ "file-percent", required_argument, NULL, 'r' },
		{ "shift-every", required_argument, NULL, 'e' },
		{ "tasks", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "log", required_argument, NULL, 'l' },
		{ "huge", no_argument, NULL, 'H' },
		{ "prepare", no_argument, NULL, 'P' },
		{ 0 },
	};
	int c, status, failed = 0;

	while ((c = getopt_long(argc, argv, "", list, NULL)) != -1) {
		switch (c) {
		case 'a':
			options.anon_pages = number(optarg);
			break;
		case 'f':
			options.file = optarg;
			break;
		case 'p':
			options.file_pages = number(optarg);
			break;
		case 'n':
			options.nr_ops = number(optarg);
			break;
		case 'd':
			options.delay_ns = number(optarg);
			break;
		case 'w':
			options.write_percent = (unsigned int)number(optarg);
			break;
		case 'r':
			options.file_percent = (unsigned int)number(optarg);
			break;
		case 'e':
			options.shift_every = number(optarg);
			break;
		case 't':
			options.nr_tasks = (unsigned int)number(optarg);
			break;
		case 's':
			options.seed = number(optarg);
			break;
		case 'l':
			options.log = optarg;
			break;
		case 'H':
			options.huge = true;
			break;
		case 'P':
			options.prepare = true;
			break;
		default:
			return 2;
		}
	}
	if (!options.file)
		options.file_pages = 0;
	if (options.anon_pages >= UINT32_MAX || options.file_pages >= UINT32_MAX) {
		fputs("mapped_touch: too many pages\n", stderr);
		return 2;
	}
	if (options.prepare) {
		prepare_file();
		return 0;
	}
	if (!options.anon_pages && !options.file_pages) {
		fputs("mapped_touch: nothing to touch\n", stderr);
		return 2;
	}
	for (unsigned int task = 1; task < options.nr_tasks; task++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (!pid) {
			touch(task);
			return 0;
		}
	}
	touch(0);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
