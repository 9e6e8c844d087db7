// SPDX-License-Identifier: GPL-2.0-only
/*
 * kpageflags and kpagecgroup hold a u64 for each pfn. They are read side by side, in pieces, while the
 * machine goes on: a page that moves meanwhile can be seen twice, or not at all, and its events are
 * on the tape. A folio is its head's entry and as many entries behind it as say that they are tails.
 */
#include "capture/warm_start.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kernel-page-flags.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/text_file.h"
#include "schema/tape_format.h"
#include "schema/warm_pages.h"

#define PIECE_ENTRIES 65536u
#define BLOB_BYTES (TAPE_BLOB_BYTES_MAX / 2) /* then the next one begins */
#define MAP_BYTES (1ull << 30) /* a file is looked at in pieces of so much */

static const struct {
	unsigned int kernel_bit;
	uint32_t flag;
} flag_of_bit[] = {
	{ KPF_ACTIVE, WARM_PAGE_ACTIVE },
	{ KPF_ANON, WARM_PAGE_ANON },
	{ KPF_SWAPBACKED, WARM_PAGE_SWAPBACKED },
	{ KPF_REFERENCED, WARM_PAGE_REFERENCED },
	{ KPF_UNEVICTABLE, WARM_PAGE_UNEVICTABLE },
	{ KPF_MMAP, WARM_PAGE_MAPPED },
	{ KPF_DIRTY, WARM_PAGE_DIRTY },
	{ KPF_WRITEBACK, WARM_PAGE_WRITEBACK },
	{ KPF_SWAPCACHE, WARM_PAGE_SWAPCACHE },
};

struct page_walk {
	const struct snapshot_source *source;
	int flags_fd, memcg_fd;
	uint64_t flags[PIECE_ENTRIES], memcg[PIECE_ENTRIES];
	struct warm_pages_writer writer;
	unsigned int nr_blobs;
	/* The folio whose tails may still come. */
	uint64_t pfn, nr_pages, page_flags, owner;
};

/* Return: entries, 0 at the end of memory, -1 with errno set. */
static ssize_t read_entries(int fd, uint64_t pfn, uint64_t *to)
{
	ssize_t got;

	do {
		got = pread(fd, to, PIECE_ENTRIES * sizeof(*to), (off_t)(pfn * sizeof(*to)));
	} while (got < 0 && errno == EINTR);
	return got < 0 ? got : got / (ssize_t)sizeof(*to);
}

static int finish_folio(struct page_walk *walk)
{
	uint32_t flags = 0;

	if (!walk->nr_pages)
		return 0;
	for (size_t i = 0; i < sizeof(flag_of_bit) / sizeof(flag_of_bit[0]); i++)
		if (walk->page_flags >> flag_of_bit[i].kernel_bit & 1)
			flags |= flag_of_bit[i].flag;
	/* A folio that was split while we looked may show any number of tails: the power below it. */
	if (warm_pages_add(&walk->writer, walk->pfn,
			   63 - (unsigned int)__builtin_clzll(walk->nr_pages), flags, walk->owner))
		return TAPE_ERR_MEMORY;
	walk->nr_pages = 0;
	return 0;
}

static int take_entry(struct page_walk *walk, uint64_t pfn, uint64_t flags, uint64_t memcg)
{
	int error;

	if (flags >> KPF_COMPOUND_TAIL & 1) {
		walk->nr_pages += walk->nr_pages && pfn == walk->pfn + walk->nr_pages;
		return 0;
	}
	error = finish_folio(walk);
	if (!(flags >> KPF_LRU & 1))
		return error;
	walk->pfn = pfn;
	walk->nr_pages = 1;
	walk->page_flags = flags;
	walk->owner = memcg;
	return error;
}

static int end_blob(struct page_walk *walk, uint64_t end_pfn)
{
	char name[64];
	size_t size;
	uint8_t *bytes = warm_pages_finish(&walk->writer, end_pfn, &size);
	int error = TAPE_ERR_MEMORY;

	if (bytes) {
		snprintf(name, sizeof(name), "lrutape/warm_pages/%u", walk->nr_blobs++);
		error = snapshot_bytes(walk->source, TAPE_MOMENT_START, name, (const char *)bytes,
				       size);
	}
	free(bytes);
	walk->writer.first_pfn = end_pfn;
	return error;
}

static int walk_pages(struct page_walk *walk)
{
	uint64_t pfn = 0;
	ssize_t nr = 0, nr_memcg;
	int error = 0;

	while (!error && (nr = read_entries(walk->flags_fd, pfn, walk->flags)) > 0) {
		nr_memcg = walk->memcg_fd < 0 ? 0 : read_entries(walk->memcg_fd, pfn, walk->memcg);
		for (ssize_t i = nr_memcg < 0 ? 0 : nr_memcg; i < nr; i++)
			walk->memcg[i] = 0;
		for (ssize_t i = 0; i < nr && !error; i++)
			error = take_entry(walk, pfn + (uint64_t)i, walk->flags[i], walk->memcg[i]);
		pfn += (uint64_t)nr;
		if (!error && walk->writer.runs_bytes > BLOB_BYTES && !walk->nr_pages)
			error = end_blob(walk, pfn);
	}
	if (nr < 0)
		return TAPE_ERR_IO;
	error = error ? error : finish_folio(walk);
	return error ? error : end_blob(walk, pfn);
}

int warm_start_pages(const struct snapshot_source *source, struct capture_problem *problem)
{
	struct page_walk *walk = calloc(1, sizeof(*walk));
	int error;

	if (!walk)
		return capture_problem_set(problem, "out of memory");
	walk->source = source;
	walk->flags_fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	walk->memcg_fd = open("/proc/kpagecgroup", O_RDONLY | O_CLOEXEC);
	if (walk->flags_fd < 0) {
		capture_problem_set(problem,
				    "/proc/kpageflags: cannot open: %s: --warm needs root and a "
				    "kernel with CONFIG_PROC_PAGE_MONITOR",
				    strerror(errno));
		free(walk);
		return -1;
	}
	error = walk_pages(walk);
	if (error)
		capture_problem_set(problem, "--warm: %s: record without it",
				    error == TAPE_ERR_IO     ? "/proc/kpageflags cannot be read" :
				    error == TAPE_ERR_MEMORY ? "out of memory" :
							       "more pages than a tape can list");
	free(walk->writer.memcg);
	free(walk->writer.runs);
	close(walk->flags_fd);
	if (walk->memcg_fd >= 0)
		close(walk->memcg_fd);
	free(walk);
	return error ? -1 : 0;
}

/* ---- files */

/*
 * The device as tracepoints have it: the superblock's, which the mount table shows and stat does not
 * on btrfs. Return: whether it was found.
 */
static bool superblock_device(int fd, unsigned int *major_number, unsigned int *minor_number)
{
	char path[64], *text, *line;
	int mount_id = -1, id;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	text = text_file_read(path, 4096, NULL);
	line = text ? strstr(text, "mnt_id:") : NULL;
	if (line)
		mount_id = atoi(line + strlen("mnt_id:"));
	free(text);
	text = text_file_read("/proc/self/mountinfo", SNAPSHOT_FILE_BYTES, NULL);
	for (line = text; line && *line && !found; line = strchrnul(line, '\n')) {
		line += *line == '\n';
		found = sscanf(line, "%d %*d %u:%u", &id, major_number, minor_number) == 3 &&
			id == mount_id;
	}
	free(text);
	return found;
}

struct cache_range {
	uint64_t offset, length;
};

struct cache_counts {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

#ifndef __NR_cachestat
#define __NR_cachestat 451 /* the same on all architectures, since 6.5 */
#endif

static void print_cached(FILE *to, const unsigned char *in_core, uint64_t nr, uint64_t first_page)
{
	for (uint64_t i = 0, last; i < nr; i++) {
		if (!(in_core[i] & 1))
			continue;
		for (last = i; last + 1 < nr && (in_core[last + 1] & 1); last++)
			;
		fprintf(to, "cached %" PRIu64 " %" PRIu64 "\n", first_page + i, first_page + last);
		i = last;
	}
}

/* Return: 0 or an errno. */
static int print_file(FILE *to, const char *path, int fd, uint64_t page_bytes)
{
	struct cache_range range = { 0, 0 };
	struct cache_counts counts;
	unsigned int major_number, minor_number;
	unsigned char *in_core;
	struct stat status;
	uint64_t file_bytes;
	int error = 0;

	if (fstat(fd, &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return EINVAL;
	if (!superblock_device(fd, &major_number, &minor_number)) {
		major_number = major(status.st_dev);
		minor_number = minor(status.st_dev);
	}
	file_bytes = (uint64_t)status.st_size;
	fprintf(to, "file %u %" PRIu64 " %" PRIu64 " %s\n", major_number << 20 | minor_number,
		(uint64_t)status.st_ino, (file_bytes + page_bytes - 1) / page_bytes, path);
	if (!syscall(__NR_cachestat, fd, &range, &counts, 0))
		fprintf(to,
			"cachestat %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			counts.cached, counts.dirty, counts.writeback, counts.evicted,
			counts.recently_evicted);
	in_core = malloc(MAP_BYTES / page_bytes);
	if (!in_core)
		return ENOMEM;
	/* Mapped, never touched: mincore() tells of the page cache. */
	for (uint64_t at = 0; at < file_bytes && !error; at += MAP_BYTES) {
		size_t bytes = file_bytes - at < MAP_BYTES ? file_bytes - at : MAP_BYTES;
		void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)at);

		if (map == MAP_FAILED || mincore(map, bytes, in_core))
			error = errno;
		else
			print_cached(to, in_core, (bytes + page_bytes - 1) / page_bytes,
				     at / page_bytes);
		if (map != MAP_FAILED)
			munmap(map, bytes);
	}
	free(in_core);
	return error;
}

int warm_start_files(const struct snapshot_source *source, char *const *path, unsigned int nr,
		     struct capture_problem *problem)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int error = 0;

	if (!to)
		return capture_problem_set(problem, "out of memory");
	for (unsigned int i = 0; i < nr && !error; i++) {
		int fd = open(path[i], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

		error = fd < 0 ? errno : print_file(to, path[i], fd, page_bytes);
		if (fd >= 0)
			close(fd);
		if (error)
			capture_problem_set(
				problem, "--warm-file %s: %s: %s", path[i], strerror(error),
				error == EINVAL ? "name a regular file" : "check its name");
	}
	if (fclose(to) && !error)
		error = capture_problem_set(problem, "out of memory");
	if (!error && snapshot_bytes(source, TAPE_MOMENT_START, "lrutape/warm_files", text, size))
		error = capture_problem_set(problem, "--warm-file: more than a tape can list");
	free(text);
	return error ? -1 : 0;
}
