/* SPDX-License-Identifier: GPL-2.0-only */
/* What `replay --cost` measures of the runs over a tape, and its rows in the results. */
#ifndef REPLAY_COST_MEASURE_H
#define REPLAY_COST_MEASURE_H

#include "replay/replay_options.h"
#include "replay/results.h"
#include "replay/run.h"

/**
 * measure_costs() - all runs of a tape that can be measured, in turns; notes on stderr say which cannot
 * @options: cost_repeats is not 0
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result))
measure_costs(struct results *results, const struct run *run, int nr_runs,
	      const struct replay_options *options);

#endif
