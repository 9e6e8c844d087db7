/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs that are measured take turns on one CPU:
 *
 *   repeat 1:  run A  run B  run C
 *   repeat 2:  run C  run B  run A      ...
 *
 * so that what is slow for a while is slow for all, and one repeat of A can be held against the same
 * repeat of B.
 */
#ifndef REPLAY_COST_TURNS_H
#define REPLAY_COST_TURNS_H

#include <stdint.h>

#include "replay/cost/cost.h"

#define COST_SAMPLE_FOLIOS (1u << 19) /* a repeat does at least so many */

struct cost_turn {
	/* Do the sequence once: add to ns, folios and holds what was timed. */
	void (*round)(void *ctx, struct cost_sample *sample);
	void *ctx;
	struct cost_sample *sample; /* one a repeat; filled */
};

/** cost_take_turns() - rounds of each, as often as a repeat needs, @repeats times and once to warm up. */
void cost_take_turns(const struct cost_turn *turn, unsigned int nr_turns, unsigned int repeats);

/** cost_now_ns() - a clock to take differences of. */
uint64_t cost_now_ns(void);

/** cost_preempted() - how often this thread has lost its CPU so far. */
int64_t cost_preempted(void);

#endif
