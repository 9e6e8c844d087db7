// SPDX-License-Identifier: GPL-2.0-only
#include "replay/cost.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "replay/mm/mm.h"
#include "replay/policy/policy.h"

#define BLOCK_FOLIOS 1024 /* 64 KiB of descriptors: more than a first-level cache holds */
#define SAMPLE_FOLIOS (1u << 19) /* a repeat does at least so many */
#define BLOCK_TRIES 8
#define CHUNK_BYTES (MEMMAP_CHUNK_PAGES * sizeof(struct folio))

struct bench {
	struct folio **chunk; /* by pfn >> MEMMAP_CHUNK_SHIFT, as struct memmap has them */
	struct lruvec *lruvec; /* by memcg index */
	uint32_t *lruvec_block; /* the last block that it was in */
	struct mem_cgroup memcg; /* all of them */
	unsigned int nr_lruvecs;
	struct folio *folio[BLOCK_FOLIOS];
	unsigned int hold[BLOCK_FOLIOS + 1]; /* where in the block each begins, and its end */
	uint32_t nr_blocks; /* so far; stamps descriptors, so that none is in a block twice */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int64_t times_preempted(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

/* A chunk of descriptors on a huge page, if the machine has one to give. */
static struct folio *new_chunk(void)
{
	char *map = mmap(NULL, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	char *chunk;

	if (map == MAP_FAILED)
		return NULL;
	chunk = (char *)(((uintptr_t)map + CHUNK_BYTES - 1) & ~(uintptr_t)(CHUNK_BYTES - 1));
	if (chunk > map)
		munmap(map, (size_t)(chunk - map));
	munmap(chunk + CHUNK_BYTES, (size_t)(map + CHUNK_BYTES - chunk));
	madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE);
	memset(chunk, 0, CHUNK_BYTES);
	return (struct folio *)chunk;
}

static void bench_exit(struct bench *bench)
{
	for (uint64_t i = 0; bench->chunk && i < MEMMAP_PFN_LIMIT >> MEMMAP_CHUNK_SHIFT; i++)
		if (bench->chunk[i])
			munmap(bench->chunk[i], CHUNK_BYTES);
	free(bench->chunk);
	free(bench->lruvec);
	free(bench->lruvec_block);
	free(bench);
}

static int add_chunks(struct bench *bench, const struct lru_add_log *log)
{
	for (uint64_t i = 0; i < log->nr; i++) {
		struct folio **chunk = &bench->chunk[log->record[i].pfn >> MEMMAP_CHUNK_SHIFT];

		if (!*chunk)
			*chunk = new_chunk();
		if (!*chunk)
			return -1;
	}
	return 0;
}

static struct bench *bench_open(const struct cost_run *run, unsigned int nr_runs)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (!bench)
		return NULL;
	for (unsigned int i = 0; i < nr_runs; i++)
		if (run[i].mm->nr_memcgs > bench->nr_lruvecs)
			bench->nr_lruvecs = run[i].mm->nr_memcgs;
	bench->chunk = calloc(MEMMAP_PFN_LIMIT >> MEMMAP_CHUNK_SHIFT, sizeof(struct folio *));
	bench->lruvec = calloc(bench->nr_lruvecs, sizeof(struct lruvec));
	bench->lruvec_block = calloc(bench->nr_lruvecs, sizeof(uint32_t));
	if (!bench->chunk || !bench->lruvec || !bench->lruvec_block)
		goto err_exit;
	for (unsigned int i = 0; i < nr_runs; i++)
		if (add_chunks(bench, run[i].mm->lru_add_log))
			goto err_exit;
	return bench;

err_exit:
	bench_exit(bench);
	return NULL;
}

/*
 * Descriptors as allocation and page cache leave them, not on a list and in the cache; lists empty.
 * Return: records that make the block, from @first on; whole holds, no folio twice.
 */
static unsigned int prepare_block(struct bench *bench, const struct lru_add_log *log,
				  uint64_t first, unsigned int *nr_holds)
{
	unsigned int nr = 0, end = 0; /* folios, and those of whole holds */
	uint32_t stamp = ++bench->nr_blocks;

	*nr_holds = 0;
	for (uint64_t i = first; i < log->nr && nr < BLOCK_FOLIOS; i++) {
		const struct lru_add_record *record = &log->record[i];
		struct folio *folio = &bench->chunk[record->pfn >> MEMMAP_CHUNK_SHIFT]
						   [record->pfn & (MEMMAP_CHUNK_PAGES - 1)];

		if (record->takes_lock || i == first) {
			bench->hold[(*nr_holds)++] = nr;
			end = nr;
		}
		if (folio->index == stamp)
			goto cut;
		if (bench->lruvec_block[record->memcg] != stamp)
			lruvec_init(&bench->lruvec[record->memcg], &bench->memcg, 0);
		bench->lruvec_block[record->memcg] = stamp;
		list_init(&folio->lru);
		folio->lruvec = &bench->lruvec[record->memcg];
		folio->index = stamp;
		folio->file = record->file;
		folio->pfn = record->pfn;
		folio->flags = record->flags;
		folio->order = record->order;
		bench->folio[nr++] = folio;
	}
	if (first + nr == log->nr || log->record[first + nr].takes_lock) {
		bench->hold[*nr_holds] = nr;
		return nr;
	}
cut:
	/* The last hold is not whole: it begins the next block, unless this one is nothing else. */
	if (!end) {
		bench->hold[*nr_holds] = nr;
		return nr;
	}
	bench->hold[--*nr_holds] = end;
	return end;
}

/* One round over a run's log. */
static void round_over(struct bench *bench, const struct mm *mm, struct cost_sample *sample)
{
	const struct lru_add_log *log = mm->lru_add_log;
	struct lru_add lru_add = mm->lru_add;
	unsigned int nr, nr_holds;

	for (uint64_t at = 0; at < log->nr; at += nr) {
		uint64_t ns = 0;

		for (int try = 0; try < BLOCK_TRIES; try++) {
			int64_t preempted;

			nr = prepare_block(bench, log, at, &nr_holds);
			preempted = times_preempted();
			ns = now_ns();
			for (unsigned int i = 0; i < nr_holds; i++)
				lru_add.run(&lru_add, &bench->folio[bench->hold[i]],
					    bench->hold[i + 1] - bench->hold[i]);
			ns = now_ns() - ns;
			if (times_preempted() == preempted)
				break;
		}
		sample->ns += ns;
		sample->folios += nr;
		sample->holds += nr_holds;
	}
}

bool cost_can_measure(const struct mm *mm)
{
	return mm->policy->kernel_lru_add && mm->lru_add_log && mm->lru_add_log->nr;
}

int cost_measure(struct cost_run *run, unsigned int nr_runs, unsigned int repeats)
{
	struct bench *bench = bench_open(run, nr_runs);
	cpu_set_t before, one;
	bool pinned;
	int cpu = sched_getcpu();

	if (!bench)
		return -1;
	CPU_ZERO(&one);
	if (cpu >= 0)
		CPU_SET(cpu, &one);
	pinned = cpu >= 0 && !sched_getaffinity(0, sizeof(before), &before) &&
		 !sched_setaffinity(0, sizeof(one), &one);
	/* The first repeat warms up: code, page tables, the CPU's clock. */
	for (unsigned int r = 0; r <= repeats; r++)
		for (unsigned int i = 0; i < nr_runs; i++) {
			struct cost_run *turn = &run[r & 1 ? i : nr_runs - 1 - i];
			struct cost_sample sample = { 0 };

			do
				round_over(bench, turn->mm, &sample);
			while (sample.folios < SAMPLE_FOLIOS);
			if (r)
				turn->sample[r - 1] = sample;
		}
	if (pinned)
		sched_setaffinity(0, sizeof(before), &before);
	bench_exit(bench);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The value at a share of the way through sorted ones, between two where none stands there. */
static double at_quarter(const double *value, unsigned int nr, unsigned int quarter)
{
	unsigned int place = (nr - 1) * quarter; /* in quarters */
	double next = value[place / 4 + 1 < nr ? place / 4 + 1 : nr - 1];

	return value[place / 4] + (next - value[place / 4]) * (place % 4) / 4;
}

struct cost_quartiles cost_quartiles(double *value, unsigned int nr)
{
	qsort(value, nr, sizeof(*value), by_value);
	return (struct cost_quartiles){
		.low = at_quarter(value, nr, 1),
		.median = at_quarter(value, nr, 2),
		.high = at_quarter(value, nr, 3),
	};
}

void cost_host(char *text, unsigned int text_bytes)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], model[128] = "unknown CPU";
	struct utsname name;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "model name : %127[^\n]", model) == 1)
			break;
	if (file)
		fclose(file);
	if (uname(&name))
		snprintf(text, text_bytes, "%s", model);
	else
		snprintf(text, text_bytes, "%s, %s %.*s, %s", model, name.sysname,
			 (int)strcspn(name.release, "-"), name.release, name.machine);
}
