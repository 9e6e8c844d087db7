/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's steps cost on the machine at hand, by the code of each run's policy: measured, not
 * counted, and not the same twice. All descriptors lie at their pfn x 64 on huge pages, as in the kernel's
 * memmap; runs take turns on the same ones, see turns.h.
 *
 * lru_add() (lru_add.c): a run's log of adds (mm.lru_add_log) is done again, folio by folio and hold by
 * hold, by the code that did it in the replay, mm.lru_add.run. A repeat goes through the log in blocks:
 * descriptors are written as an allocation would, then the block is timed. So they are in the cache but
 * not in its first level, where pages that were filled meanwhile would have pushed them out of. A block in
 * which the task lost the CPU is done again.
 *
 * A policy's loops over lists (loops.c): lists of a given length in the order in which the run added its
 * folios are filled, then the loop is timed over the whole of one. What of a long list is still in which
 * cache is as it comes.
 */
#ifndef REPLAY_COST_COST_H
#define REPLAY_COST_COST_H

#include <stdbool.h>
#include <stdint.h>

struct mm;

#define COST_LOG_LIMIT (UINT64_C(4) << 20) /* folios of one run: 64 MiB of log */
#define COST_REPEATS_LEAST 5 /* fewer have no spread worth the name */
#define COST_REPEATS_LIMIT 1001
#define COST_REPEATS_PRESET 31
#define COST_HOST_BYTES 256

struct cost_sample {
	uint64_t ns; /* of all rounds together */
	uint64_t folios, holds; /* done in that time */
};

struct cost_run {
	const struct mm *mm; /* with a log; the policy's lru_add() is the kernel's */
	struct cost_sample *sample; /* one a repeat; filled */
};

/** cost_can_measure() - the run kept a log with something in it, and adds as the kernel does. */
bool cost_can_measure(const struct mm *mm);

/**
 * cost_measure() - time all runs, in turns
 * @repeats: 1 to COST_REPEATS_LIMIT
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result))
cost_measure(struct cost_run *run, unsigned int nr_runs, unsigned int repeats);

#define COST_LISTS_LIMIT 8 /* lengths asked for at once */
#define COST_LIST_LEAST 1024 /* folios; fewer take no time worth the name */
#define COST_LIST_LIMIT (UINT64_C(4) << 20)

/* Folios to make lists of, oldest first, in the order of a run's adds. */
struct cost_list;

/**
 * cost_list_open() - as many different folios as a log has, up to @limit
 * Where it has fewer, the same sequence follows again in other frames, moved by multiples of 512 within 2 MiB
 * of descriptors, then in the next 2 MiB, so that what lay side by side does so again.
 * Return: NULL without memory.
 */
struct cost_list *cost_list_open(const struct mm *mm, uint64_t limit);

/** cost_list_folios() - how many there are. */
uint64_t cost_list_folios(const struct cost_list *list);

/** cost_list_close() - free it; NULL is fine. */
void cost_list_close(struct cost_list *list);

/** cost_has_loops() - the policy has loops to measure. */
bool cost_has_loops(const struct mm *mm);

/**
 * cost_measure_loop() - time one loop of all runs, in turns
 * @run: of policies with the same loops
 * @loop: number, below the policy's nr_loops
 * @length: folios of the list, at most cost_list_folios()
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result))
cost_measure_loop(struct cost_run *run, unsigned int nr_runs, struct cost_list *list,
		  unsigned int loop, uint64_t length, unsigned int repeats);

/** The middle of some numbers, and what the middle half of them lies between. */
struct cost_quartiles {
	double low, median, high;
};

/** cost_quartiles() - @value: sorted by it. @nr: at least 1 */
struct cost_quartiles cost_quartiles(double *value, unsigned int nr);

/** cost_host() - the machine in words: CPU, kernel, architecture; not its name. */
void cost_host(char *text, unsigned int text_bytes);

#endif
