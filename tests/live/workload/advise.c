// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program can tell the kernel of its pages, between reads of a file and touches of memory that
 * together do not fit their limit. Most accesses go to a few pages, as u^3 of a random u falls. After each
 * so many, something happens to a stretch of pages: see kinds[]. Seeded: each run asks the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define HUGE_BYTES (2u << 20)

static struct {
	const char *file;
	uint64_t file_pages, memory_pages, nr_ops, every, stretch, seed;
} options = { .nr_ops = 60000, .every = 400, .stretch = 96, .seed = 1 };

static uint64_t state;
static char *memory;
static int file = -1, pipes[2];

static void fail(const char *what)
{
	fprintf(stderr, "advise: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t below(uint64_t limit)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint64_t)((unsigned __int128)(state * 0x2545f4914f6cdd1dull) * limit >> 64);
}

/* Skewed, and scattered: neighbours in popularity are no neighbours in memory. */
static uint64_t popular(uint64_t limit)
{
	uint64_t u = below(UINT64_C(1) << 32), cube = u * u >> 32;

	cube = cube * u >> 32;
	return (cube * limit >> 32) * 2654435761u % limit;
}

static void read_page(uint64_t page, bool by_splice)
{
	loff_t at = (loff_t)(page * PAGE_BYTES);
	char buffer[PAGE_BYTES];

	if (!by_splice) {
		if (pread(file, buffer, PAGE_BYTES, at) != PAGE_BYTES)
			fail("pread");
	} else if (splice(file, &at, pipes[1], NULL, PAGE_BYTES, 0) != PAGE_BYTES ||
		   read(pipes[0], buffer, PAGE_BYTES) != PAGE_BYTES) {
		fail("splice");
	}
}

/* ---- what happens to a stretch: the first page is given */

static void advise(uint64_t page, int advice)
{
	if (madvise(memory + page * PAGE_BYTES, options.stretch * PAGE_BYTES, advice))
		fail("madvise");
}

static void cold(uint64_t page)
{
	advise(page, MADV_COLD);
}

static void pageout(uint64_t page)
{
	advise(page, MADV_PAGEOUT);
}

static void lazyfree(uint64_t page)
{
	advise(page, MADV_FREE);
}

static void drop(uint64_t page)
{
	advise(page, MADV_DONTNEED);
}

/* The stretch locked before is not any more. */
static void lock(uint64_t page)
{
	static uint64_t locked = UINT64_MAX;

	if (locked != UINT64_MAX &&
	    munlock(memory + locked * PAGE_BYTES, options.stretch * PAGE_BYTES))
		fail("munlock");
	if (mlock(memory + page * PAGE_BYTES, options.stretch * PAGE_BYTES))
		fail("mlock");
	locked = page;
}

/* Everything, and then nothing: each eighth time, since it is so much. */
static void lock_all(uint64_t page)
{
	static unsigned int nr;
	static bool locked;

	if (nr++ % 8)
		return;
	if (locked ? munlockall() : mlockall(MCL_CURRENT | MCL_FUTURE))
		fail("mlockall");
	locked = !locked;
	(void)page;
}

/* Pages of the file that cannot go: every fourth is dirty. */
static void not_needed(uint64_t page)
{
	page = below(options.file_pages - options.stretch);
	for (uint64_t i = 0; i < options.stretch; i += 4)
		if (pwrite(file, &page, sizeof(page), (off_t)((page + i) * PAGE_BYTES)) !=
		    sizeof(page))
			fail("pwrite");
	if ((errno = posix_fadvise(file, (off_t)(page * PAGE_BYTES), options.stretch * PAGE_BYTES,
				   POSIX_FADV_DONTNEED)))
		fail("posix_fadvise");
}

/* A file of its own, of which a half is cut off, and later the rest. */
static void cut(uint64_t page)
{
	static int fd = -1;
	static char bytes[PAGE_BYTES];

	if (fd >= 0)
		close(fd); /* no name: the file goes */
	fd = open(".", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		fail("O_TMPFILE");
	for (uint64_t i = 0; i < options.stretch; i++)
		if (write(fd, bytes, PAGE_BYTES) != PAGE_BYTES)
			fail("write");
	if (ftruncate(fd, (off_t)(options.stretch / 2 * PAGE_BYTES)))
		fail("ftruncate");
	(void)page;
}

static void nothing(uint64_t page)
{
	(void)page;
}

static const struct kind {
	const char *name, *help;
	void (*happens)(uint64_t page);
	bool shared, huge, splice;
} kinds[] = {
	{ "cold", "MADV_COLD", cold, false, false, false },
	{ "pageout", "MADV_PAGEOUT", pageout, false, false, false },
	{ "free", "MADV_FREE", lazyfree, false, false, false },
	{ "lock", "mlock, munlock", lock, false, false, false },
	{ "lockall", "mlockall, munlockall", lock_all, false, false, false },
	{ "dontneed", "POSIX_FADV_DONTNEED of pages of which some are dirty", not_needed, false,
	  false, false },
	{ "cut", "ftruncate of a fresh file, and its end", cut, false, false, false },
	{ "shmem", "the memory is shared: tmpfs", nothing, true, false, false },
	{ "split", "MADV_DONTNEED of parts of folios of 2 MiB", drop, false, true, false },
	{ "splice", "the file is read by splice", nothing, false, false, true },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void run(const struct kind *kind)
{
	for (uint64_t i = 1; i <= options.nr_ops; i++) {
		bool of_memory = options.memory_pages && (!options.file_pages || below(2));

		if (of_memory) {
			volatile char *at = memory + popular(options.memory_pages) * PAGE_BYTES;

			if (below(100) < 30)
				(*at)++;
			else
				(void)*at;
		} else {
			read_page(popular(options.file_pages), kind->splice);
		}
		if (i % options.every)
			continue;
		kind->happens(options.memory_pages ? below(options.memory_pages - options.stretch) :
						     0);
	}
}

static void usage(FILE *to)
{
	fputs("usage: advise KIND [--file FILE --file-pages N] [--memory-pages N] [--ops N] [--every N]\n"
	      "              [--stretch PAGES] [--seed N]\n",
	      to);
	for (unsigned int i = 0; i < NR_KINDS; i++)
		fprintf(to, "  %-9s %s\n", kinds[i].name, kinds[i].help);
}

static uint64_t number(const char *name, const char *text)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || !value || value > UINT32_MAX) {
		fprintf(stderr, "advise: --%s %s: not a number from 1 to %u\n", name, text,
			UINT32_MAX);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option list[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "file-pages", required_argument, NULL, 'F' },
		{ "memory-pages", required_argument, NULL, 'm' },
		{ "ops", required_argument, NULL, 'n' },
		{ "every", required_argument, NULL, 'e' },
		{ "stretch", required_argument, NULL, 'S' },
		{ "seed", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const struct kind *kind = NULL;
	int option, at = 0;

	while ((option = getopt_long(argc, argv, "h", list, &at)) != -1) {
		uint64_t *to = option == 'F' ? &options.file_pages :
			       option == 'm' ? &options.memory_pages :
			       option == 'n' ? &options.nr_ops :
			       option == 'e' ? &options.every :
			       option == 'S' ? &options.stretch :
			       option == 's' ? &options.seed :
					       NULL;

		if (to) {
			*to = number(list[at].name, optarg);
		} else if (option == 'f') {
			options.file = optarg;
		} else {
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	for (unsigned int i = 0; optind + 1 == argc && i < NR_KINDS; i++)
		if (!strcmp(argv[optind], kinds[i].name))
			kind = &kinds[i];
	if (!kind || !options.file != !options.file_pages ||
	    !(options.file_pages + options.memory_pages) ||
	    (options.memory_pages && options.memory_pages <= options.stretch) ||
	    (options.file && options.file_pages <= options.stretch)) {
		usage(stderr);
		return 2;
	}
	state = options.seed * 0x9e3779b97f4a7c15ull;
	if (options.file) {
		file = open(options.file, O_RDWR);
		if (file < 0 || posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM) || pipe(pipes))
			fail(options.file);
	}
	if (options.memory_pages) {
		size_t bytes = options.memory_pages * PAGE_BYTES;

		memory = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
			      (kind->shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			fail("mmap");
		memory += -(uintptr_t)memory & (HUGE_BYTES - 1);
		if (kind->huge && madvise(memory, bytes, MADV_HUGEPAGE))
			fail("MADV_HUGEPAGE");
		/* All but a few: zeroes are swapped without I/O, of which no event names the page. */
		for (uint64_t i = 0; i < options.memory_pages; i++)
			if (i % 16)
				memory[i * PAGE_BYTES] = 1;
	}
	run(kind);
	return 0;
}
