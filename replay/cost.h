/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lru_add() costs on the machine at hand, measured: not a count, and not the same twice.
 *
 * A run's log of adds (mm.lru_add_log) is done again, folio by folio and hold by hold, by the code
 * that did it in the replay, mm.lru_add.run. Descriptors lie at their pfn x 64 on huge pages, as in
 * the kernel's memmap. The runs take turns on one CPU, on the same descriptors:
 *
 *   repeat 1:  run A  run B  run C
 *   repeat 2:  run C  run B  run A      ...
 *
 * so that what is slow for a while is slow for all, and one repeat of A can be held against the same
 * repeat of B. A repeat goes through the log in blocks: descriptors are written as an allocation
 * would, then the block is timed. So they are in the cache but not in its first level, where pages that
 * were filled meanwhile would have pushed them out of. A block in which the task lost the CPU
 * is done again.
 */
#ifndef REPLAY_COST_H
#define REPLAY_COST_H

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

/** The middle of some numbers, and what the middle half of them lies between. */
struct cost_quartiles {
	double low, median, high;
};

/** cost_quartiles() - @value: sorted by it. @nr: at least 1 */
struct cost_quartiles cost_quartiles(double *value, unsigned int nr);

/** cost_host() - the machine in words: CPU, kernel, architecture; not its name. */
void cost_host(char *text, unsigned int text_bytes);

#endif
