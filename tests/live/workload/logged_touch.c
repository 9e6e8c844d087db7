// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random touches of an mmapped file and of anonymous memory: most go to a few pages, as u^3 of a
 * random u falls. With --log each touch is written down, with the frame that it found, so that what is
 * said later about young and old pages can be held against it. Seeded: each run asks the same.
 *
 * The log: 16 bytes a touch, struct touch in host order; taken from memory that is locked, and
 * written past the page cache.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define LOG_ALIGN 4096u
#define FLUSH_PAGES 64u
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_PFN ((UINT64_C(1) << 55) - 1)

struct touch {
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint32_t took_ns; /* until the page was there and touched, at most 4 s */
	uint32_t pfn; /* 0: gone again before one could look */
};

static struct {
	const char *file, *log;
	bool neighbour, flush_tlb, text;
	uint64_t file_pages, anon_pages, nr_touches, file_percent, write_percent, seed, pause_ns;
} options = { .nr_touches = 400000, .file_percent = 50, .write_percent = 30, .seed = 1 };

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "logged_touch: %s: %s: %s\n", name, what, strerror(errno));
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

/* Skewed, and scattered: neighbours in popularity are no neighbours in memory. */
static uint64_t popular(uint64_t *state, uint64_t limit)
{
	uint64_t u = next_random(state) >> 32, cube = u * u >> 32;

	cube = cube * u >> 32;
	return (cube * limit >> 32) * 2654435761u % limit;
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * Sleeps most of the time, on any CPU. While a process has run on one CPU only, the kernel takes pages out
 * of its TLB one by one, and x86 clears young bits without that: an access through what the TLB still has
 * leaves no trace. With a second CPU each reclaim empties the TLB.
 */
static void *neighbour(void *arg)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (;;)
		nanosleep(&pause, NULL);
	return arg;
}

static uint32_t frame_of(int pagemap, const volatile char *at)
{
	uint64_t entry;

	if (pread(pagemap, &entry, sizeof(entry), (off_t)((uintptr_t)at / PAGE_BYTES * 8)) !=
		    sizeof(entry) ||
	    !(entry & PAGEMAP_PRESENT))
		return 0;
	return (uint32_t)(entry & PAGEMAP_PFN);
}

static void *map(size_t bytes, int flags, int fd, const char *name)
{
	void *memory = mmap(NULL, bytes, PROT_READ | (fd < 0 ? PROT_WRITE : 0), flags, fd, 0);

	if (memory == MAP_FAILED)
		fail("mmap", name);
	return memory;
}

/*
 * Nothing of this process is in a TLB when it returns: a change of what pages allow is a flush, and more
 * than 33 pages are a flush of all (x86: tlb_single_page_flush_ceiling). The pages are locked, so that
 * reclaim sees nothing of them.
 */
static void flush_tlb(void)
{
	static char *pages;
	static bool writable = true;

	if (!pages) {
		pages = map(FLUSH_PAGES * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, "flush");
		if (mlock(pages, FLUSH_PAGES * PAGE_BYTES))
			fail("mlock", "flush");
		memset(pages, 1, FLUSH_PAGES * PAGE_BYTES);
	}
	writable = !writable;
	if (mprotect(pages, FLUSH_PAGES * PAGE_BYTES, PROT_READ | (writable ? PROT_WRITE : 0)))
		fail("mprotect", "flush");
}

static void touch_all(volatile char *file, volatile char *anon, struct touch *touches, int pagemap)
{
	uint64_t state = options.seed * 0x9e3779b97f4a7c15ull;

	for (uint64_t i = 0; i < options.nr_touches; i++) {
		bool in_file = below(&state, 100) < options.file_percent;
		volatile char *at = in_file ?
					    file + popular(&state, options.file_pages) *
							    PAGE_BYTES :
					    anon + popular(&state, options.anon_pages) * PAGE_BYTES;
		bool write = !in_file && below(&state, 100) < options.write_percent;
		uint64_t begin, took;

		if (options.flush_tlb)
			flush_tlb();
		begin = now_ns();
		if (write)
			(*at)++;
		else
			(void)*at;
		took = now_ns() - begin;
		if (touches)
			touches[i] = (struct touch){
				.begin_ns = begin,
				.took_ns = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took,
				.pfn = frame_of(pagemap, at),
			};
		while (options.pause_ns && now_ns() - begin - took < options.pause_ns)
			;
	}
}

static void write_log(const char *touches, size_t bytes)
{
	int fd = open(options.log, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0644);
	size_t whole = (bytes + LOG_ALIGN - 1) / LOG_ALIGN * LOG_ALIGN;

	if (fd < 0)
		fail("open", options.log);
	for (size_t at = 0; at < whole;) {
		ssize_t n = write(fd, touches + at, whole - at);

		if (n <= 0)
			fail("write", options.log);
		at += (size_t)n;
	}
	if (ftruncate(fd, (off_t)bytes) || close(fd))
		fail("write", options.log);
}

static uint64_t number(const char *name, const char *text)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > UINT32_MAX) {
		fprintf(stderr, "logged_touch: --%s %s: not a number up to %u\n", name, text,
			UINT32_MAX);
		exit(2);
	}
	return value;
}

static const char usage[] =
	"usage: logged_touch [--file FILE --file-pages N] [--anon-pages N] [--touches N]\n"
	"                    [--file-percent N] [--write-percent N] [--pause NS] [--seed N] [--log FILE]\n"
	"  --file-percent   of touches that go to the file, if there is both (default 50)\n"
	"  --write-percent  of touches of anonymous pages that write (default 30)\n"
	"  --log FILE       write each touch down (needs root, to see frames)\n"
	"  --neighbour      a second thread, so that the process runs on more than one CPU\n"
	"  --flush-tlb      empty the TLB before each touch, so that none of them is without a young bit\n"
	"  --text           the first half of the file is mapped as programs are, executable\n";

int main(int argc, char **argv)
{
	static const struct option list[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "file-pages", required_argument, NULL, 'F' },
		{ "anon-pages", required_argument, NULL, 'A' },
		{ "touches", required_argument, NULL, 'n' },
		{ "file-percent", required_argument, NULL, 'p' },
		{ "write-percent", required_argument, NULL, 'w' },
		{ "pause", required_argument, NULL, 'P' },
		{ "seed", required_argument, NULL, 's' },
		{ "log", required_argument, NULL, 'l' },
		{ "neighbour", no_argument, NULL, 'N' },
		{ "flush-tlb", no_argument, NULL, 'T' },
		{ "text", no_argument, NULL, 'x' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	volatile char *file = NULL, *anon = NULL;
	struct touch *touches = NULL;
	size_t log_bytes = 0;
	int option, at = 0, pagemap = -1;

	while ((option = getopt_long(argc, argv, "h", list, &at)) != -1) {
		switch (option) {
		case 'f':
			options.file = optarg;
			break;
		case 'F':
			options.file_pages = number(list[at].name, optarg);
			break;
		case 'A':
			options.anon_pages = number(list[at].name, optarg);
			break;
		case 'n':
			options.nr_touches = number(list[at].name, optarg);
			break;
		case 'p':
			options.file_percent = number(list[at].name, optarg);
			break;
		case 'w':
			options.write_percent = number(list[at].name, optarg);
			break;
		case 'P':
			options.pause_ns = number(list[at].name, optarg);
			break;
		case 's':
			options.seed = number(list[at].name, optarg);
			break;
		case 'l':
			options.log = optarg;
			break;
		case 'N':
			options.neighbour = true;
			break;
		case 'T':
			options.flush_tlb = true;
			break;
		case 'x':
			options.text = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind < argc || !options.file != !options.file_pages ||
	    !(options.file_pages + options.anon_pages) || !options.seed) {
		fputs(usage, stderr);
		return 2;
	}
	if (!options.file_pages)
		options.file_percent = 0;
	if (!options.anon_pages)
		options.file_percent = 100;
	if (options.log) {
		log_bytes = options.nr_touches * sizeof(*touches);
		touches = map(log_bytes + LOG_ALIGN, MAP_PRIVATE | MAP_ANONYMOUS, -1, "log");
		if (mlock(touches, log_bytes + LOG_ALIGN))
			fail("mlock", "log");
		pagemap = open("/proc/self/pagemap", O_RDONLY);
		if (pagemap < 0)
			fail("open", "/proc/self/pagemap");
	}
	if (options.file) {
		int fd = open(options.file, O_RDONLY);

		if (fd < 0)
			fail("open", options.file);
		file = map(options.file_pages * PAGE_BYTES, MAP_SHARED, fd, options.file);
		if (options.text &&
		    mprotect((void *)(uintptr_t)file, options.file_pages / 2 * PAGE_BYTES,
			     PROT_READ | PROT_EXEC))
			fail("mprotect", options.file);
	}
	if (options.anon_pages)
		anon = map(options.anon_pages * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   "memory");
	if (options.neighbour) {
		pthread_t thread;

		if ((errno = pthread_create(&thread, NULL, neighbour, NULL)))
			fail("pthread_create", "neighbour");
	}
	touch_all(file, anon, touches, pagemap);
	if (touches)
		write_log((char *)touches, log_bytes);
	return 0;
}
