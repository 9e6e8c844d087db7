/* SPDX-License-Identifier: GPL-2.0-only */
/* How far the runs of a pair are estimates, and how far the recorded policy's run was from the kernel. */
#ifndef ANALYSIS_COMPARE_TRUST_H
#define ANALYSIS_COMPARE_TRUST_H

#include "analysis/compare.h"

/*
 * A difference is not decidable from a tape below a third of the share of unknown verdicts. In a simulation
 * of a small two-list LRU (16 workloads, 8 changes of policy each) 44 % of the verdicts were unknown, and
 * one estimate in ten was off by 15 % and more.
 */
#define COMPARE_UNDECIDABLE_DIVISOR 3

/* What a run asked of mapped pages. */
struct compare_estimate {
	bool known; /* it asked anything */
	int64_t asked, unknown, unseen_faults;
	double first_unknown_seconds; /* since the tape began; below 0: none */
};

#define COMPARE_ACCURACY_LINES 6

/* A counter of the recorded policy's own run beside the kernel's. */
struct compare_accuracy {
	char name[32];
	int64_t kernel, replay;
	int64_t nr_seeds, low, high; /* the same run under other seeds: least and greatest */
};

struct compare_trust {
	struct compare_estimate a, b;
	size_t nr_accuracy; /* of the tape's recorded policy, wherever in the database; 0: it was not run */
	struct compare_accuracy accuracy[COMPARE_ACCURACY_LINES];
};

/**
 * compare_load_trust() - of both runs, and of their tape
 * A database from before there were such tables has nothing.
 * Return: 0, or -1: sqlite3_errmsg() says what failed.
 */
int __attribute__((warn_unused_result))
compare_load_trust(sqlite3 *db, const struct compare_pair *pair, struct compare_trust *trust);

/** compare_undecidable_percent() - differences below so many percent of a are not decidable; 0: all are. */
double compare_undecidable_percent(const struct compare_trust *trust);

#endif
