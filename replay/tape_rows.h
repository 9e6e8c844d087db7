/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of a results database that say what a tape is, and how `check` fared on it. */
#ifndef REPLAY_TAPE_ROWS_H
#define REPLAY_TAPE_ROWS_H

#include <stdint.h>

#include "replay/check/check.h"
#include "replay/results.h"
#include "replay/world/world.h"
#include "schema/tape_reader.h"

#define MISMATCHES_KEPT 10000 /* rows of mismatch for each tape: the first ones */

/**
 * tape_rows_begin() - the row of the tape itself, which runs refer to
 * @path: as the user gave it
 * @recorded_policy: what its kernel ran
 * @checked: what check predicts by
 * @tape_id: set
 * Return: 0 or a negative enum results_error, which sticks.
 */
int tape_rows_begin(struct results *results, const char *path, const struct tape_reader *reader,
		    const struct world *world, const char *recorded_policy,
		    const struct policy_choice *checked, int64_t *tape_id);

/** tape_rows_end() - its memcgs, and what check found, once the tape was read. Failures stick. */
void tape_rows_end(struct results *results, int64_t tape_id, const struct world *world,
		   const struct check *check);

#endif
