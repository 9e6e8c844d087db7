/* SPDX-License-Identifier: GPL-2.0-only */
/* One run of `lrutape replay`: which policy, by whose core, and its rows of the results database. */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "replay/accuracy.h"
#include "replay/core.h"
#include "replay/policy_file.h"
#include "replay/results.h"

struct run {
	const struct replay_core *core; /* NULL: not opened */
	struct core_about about;
	int64_t memory_pages; /* REPLAY_MEMORY_RECORDED: as recorded */
	uint64_t seed;
	bool perturbed; /* the seed shifts more than unseen accesses */
	enum access_fill fill; /* FILL_DRAWN, or one of its extremes beside the run of run_id */
	bool own_looks; /* what the kernel's own looks found stands in, whenever they come */
	bool is_recorded; /* the recorded policy as it was recorded: what the kernel did is known */
	struct replay *replay;
	struct policy_file file; /* the user's own policy or variant; zeroed: the program's */
	int64_t run_id;
};

/**
 * run_open() - make a run ready for the first event
 * @run: zeroed but for memory_pages, seed, perturbed and fill; run_close() it, whatever is returned
 * @policy: --policy, or the recorded one
 * @recorded: base policy that the tape's kernel ran: what a variant is a variant of
 * @release: of the tape
 * @log_adds: as replay_log_adds() has it; 0: not
 * @why: on CORE_ERR_NAME a sentence
 * Return: 0 or a negative enum core_error.
 */
int __attribute__((warn_unused_result))
run_open(struct run *run, struct world *world, const char *policy, const char *recorded,
	 const char *release, uint64_t log_adds, char *why, size_t why_bytes);

/** run_close() - free it. */
void run_close(struct run *run);

/** run_add() - its row; run->run_id is set. Failures of results stick, here and below. */
void run_add(struct run *run, struct results *results, int64_t tape_id, const struct world *world);

/** run_add_counts() - what it counted, after its end. */
void run_add_counts(const struct run *run, struct results *results, const struct world *world);

/**
 * run_add_trust() - how far it is an estimate, and where it is the recorded policy's at the recorded size,
 * how far from what the kernel counted
 */
void run_add_trust(const struct run *run, struct results *results, const struct world *world,
		   const struct accuracy *accuracy);

/** run_add_stress() - what it counted, as an extreme of another run. */
void run_add_stress(const struct run *run, struct results *results);

/** run_add_moment() - the counters that are worth following over time, as they stand now. */
void run_add_moment(const struct run *run, struct results *results, uint64_t timestamp_ns);

#endif
