/* SPDX-License-Identifier: GPL-2.0-only */
/* What `lrutape replay` was asked for. */
#ifndef REPLAY_REPLAY_OPTIONS_H
#define REPLAY_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/cost/cost.h"

#define POLICY_LIMIT 64
#define MEMORY_LIMIT 64
#define RUN_LIMIT 1024 /* over one tape */

struct memory_size {
	int64_t pages; /* 0: see percent */
	unsigned int percent; /* of the recorded limit; 0 and pages 0: as recorded */
};

struct replay_options {
	const char *output;
	const char *policy[POLICY_LIMIT];
	unsigned int nr_policies;
	struct memory_size memory[MEMORY_LIMIT];
	unsigned int nr_memories;
	uint64_t interval_ns;
	unsigned int cost_repeats; /* 0: nothing is measured */
	uint64_t list[COST_LISTS_LIMIT]; /* folios: lengths of the lists to measure loops over */
	unsigned int nr_lists;
	unsigned int nr_perturbed; /* runs beside each unperturbed one */
	unsigned int nr_draws; /* the same, of unseen accesses only */
	bool stress; /* each run also with unknown time filled to the extremes */
	uint64_t first_seed;
	char **tape;
	int nr_tapes;
};

/**
 * replay_options_parse() - read the command line
 * @options: zeroed; filled. Its strings are argv's
 * Return: 0; COMMAND_MISUSED, with a message; or -1: something was printed instead of a replay.
 */
int replay_options_parse(int argc, char **argv, struct replay_options *options);

#endif
