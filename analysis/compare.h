/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two runs side by side: which two, what they counted, and how the numbers relate.
 * What is printed of it, and how, is compare_command.c's.
 *
 *   compare.c          arithmetic, and which runs
 *   compare_counted.c  what they counted, and how far to believe it
 *   compare_cost.c     what was measured
 */
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

/* ---- Arithmetic */

struct compare_value {
	bool known; /* false: this run did not count it */
	int64_t value;
};

/** compare_difference() - b - a; not known where either is not, or where it does not fit. */
struct compare_value compare_difference(struct compare_value a, struct compare_value b);

/* Least and greatest of some differences. */
struct compare_range {
	size_t nr; /* of differences; 0: there are no perturbed pairs */
	int64_t low, high;
};

/** compare_range_add() - one more difference; one that is not known is left out. */
void compare_range_add(struct compare_range *range, struct compare_value difference);

/** compare_range_seen() - all differences have one sign, or there are none. */
bool compare_range_seen(const struct compare_range *range);

/**
 * compare_percent_text() - the difference in percent of a
 * @text: room for the result: "-5.5 %", "0 %", or "-" where a is 0 or either is not known
 *
 * A difference never reads as none: below a tenth of a percent digits are added.
 */
void compare_percent_text(struct compare_value a, struct compare_value b, char *text, size_t size);

/** compare_ratio_text() - a to b, e.g. "15.15 : 1"; "-" where b is 0 or either is not known. */
void compare_ratio_text(struct compare_value a, struct compare_value b, char *text, size_t size);

/**
 * compare_share_text() - part of whole in percent, rounded down
 *
 * Rounded down, so that "100 %" says all of them; "-" where whole is not above 0.
 */
void compare_share_text(int64_t part, int64_t whole, char *text, size_t size);

/* ---- Which runs */

struct compare_run {
	int64_t run_id, tape_id;
	int64_t memory_pages; /* -1: each memcg at its recorded limit */
	int64_t seed;
	char *policy, *base, *patch, *release, *tape;
};

struct compare_pair {
	const struct compare_run *a, *b;
};

/* What the user asked for. */
struct compare_request {
	const char *a, *b; /* run numbers or policy names; both NULL: a patch and its base */
	const char *tape; /* number or file name; NULL: all */
	int64_t memory_pages; /* -1: all */
};

/**
 * compare_operands() - read FILE.db and two runs or policies, or none
 * @command, @usage: for the message
 * @nr, @operand: what the options left of the command line; its strings are kept
 * Return: false: misused, and a message has told how.
 */
bool compare_operands(const char *command, const char *usage, int nr, char **operand,
		      const char **path, struct compare_request *request);

struct compare_problem {
	bool list_runs; /* the list of runs would help */
	char text[512]; /* "what: remedy", without file name and newline */
};

struct compare {
	struct compare_run *run;
	size_t nr_runs;
	struct compare_pair *pair; /* one for each tape, memory size and seed */
	size_t nr_pairs; /* perturbed ones included */
	size_t nr_other_patches; /* that the pairs leave aside, because none were named */
};

/**
 * compare_select() - find the pairs of runs to lay side by side
 * @compare: filled; compare_free() it, whatever is returned
 *
 * Without names: the first unpatched run's base against the first of its patches, wherever both ran
 * on one tape at one memory size and seed. Two run numbers: these, whatever they ran on. Names: all
 * places where both ran. A policy may be named without its release.
 * Return: 0, or -1: *problem is filled.
 */
int __attribute__((warn_unused_result))
compare_select(sqlite3 *db, const struct compare_request *request, struct compare *compare,
	       struct compare_problem *problem);

void compare_free(struct compare *compare);

/**
 * compare_is_perturbed() - true of a pair that an earlier one stands for: the same under another seed
 * The first of them, commonly that of seed 0, is the one to be reported.
 */
bool compare_is_perturbed(const struct compare *compare, const struct compare_pair *pair);

/** compare_nr_perturbed() - pairs for which this one stands. */
size_t compare_nr_perturbed(const struct compare *compare, const struct compare_pair *pair);

/* ---- What they counted */

/* A line of the report: one number, or two (lock sites: holds and folios), of both runs. */
struct compare_line {
	char *name;
	char *unit;
	struct compare_value a, b;
	struct compare_value a_folios, b_folios;
	struct compare_range range; /* of b - a, over this pair and its perturbed ones */
};

struct compare_lines {
	struct compare_line *line;
	size_t nr;
};

enum compare_section {
	COMPARE_COUNTERS, /* folios not used */
	COMPARE_LOCKS, /* holds, folios; the last line is "all" */
	COMPARE_DRAINS, /* drains, folios; named "batch, cause" */
};

/**
 * compare_load() - one section of the report, all memcgs together, in the order of its .def file
 * @lines: filled; compare_lines_free() them, whatever is returned
 *
 * Return: 0, or -1: sqlite3_errmsg() says what failed.
 */
int __attribute__((warn_unused_result))
compare_load(sqlite3 *db, enum compare_section section, const struct compare_pair *pair,
	     struct compare_lines *lines);

void compare_lines_free(struct compare_lines *lines);

/**
 * compare_load_ranges() - how far each line's difference spreads over the pair and its perturbed ones
 * @lines: of compare_load(); nothing is done where there are no perturbed pairs
 *
 * Return: 0, or -1: sqlite3_errmsg() says what failed.
 */
int __attribute__((warn_unused_result))
compare_load_ranges(sqlite3 *db, enum compare_section section, const struct compare *compare,
		    const struct compare_pair *pair, struct compare_lines *lines);

/** compare_line_differs() - true if a number differs, or only one of the runs has it; perturbed ones too. */
bool compare_line_differs(const struct compare_line *line);

/** compare_line_is_zero() - true if every number that is known is 0. */
bool compare_line_is_zero(const struct compare_line *line);

/* ---- What was measured */

enum compare_cost_line {
	COMPARE_NS_PER_FOLIO,
	COMPARE_NS_PER_HOLD,
	COMPARE_SATURATED_HOLDS, /* a second: 1 / hold */
	NR_COMPARE_COST_LINES
};

/** compare_cost_name() - of a line, as --csv has it: "ns_per_folio". */
const char *compare_cost_name(enum compare_cost_line line);

/*
 * A difference between two runs, repeat by repeat, in percent of a: its median, and what the middle half
 * of the repeats lies between. It is seen if that half is on one side of 0.
 */
struct compare_spread {
	double percent, low, high;
	bool seen;
};

struct compare_cost {
	bool a_known, b_known; /* the run was measured */
	char *step; /* "lru_add", or a loop and the length of its list: "inc_min_seq 8192" */
	char *a_shape, *b_shape, *host; /* host: of a, where both are known */
	bool same_host; /* else they were not measured together, and nothing compares */
	int64_t repeats; /* that both have */
	double a[NR_COMPARE_COST_LINES], b[NR_COMPARE_COST_LINES];
	double a_folios_per_hold, b_folios_per_hold;
	struct compare_spread spread[NR_COMPARE_COST_LINES];
};

struct compare_costs {
	struct compare_cost *cost; /* by step, in the order they were measured */
	size_t nr;
};

/**
 * compare_load_costs() - native cost of each step of the kernel that was measured for either run
 * @costs: filled; compare_costs_free() it, whatever is returned
 *
 * A database from before there were costs is one without any.
 * Return: 0, or -1: sqlite3_errmsg() says what failed.
 */
int __attribute__((warn_unused_result))
compare_load_costs(sqlite3 *db, const struct compare_pair *pair, struct compare_costs *costs);

void compare_costs_free(struct compare_costs *costs);

/**
 * compare_spread() - the middle of some differences
 * @percent: one a repeat; sorted by it
 * @nr: at least 1
 */
struct compare_spread compare_spread(double *percent, size_t nr);

/* How far to believe a pair. */
struct compare_belief {
	char *recorded_policy; /* NULL: not known */
	int64_t decided, equal; /* both 0: the tape was not checked */
	char *least_decision; /* kind with the lowest share; NULL: none */
	int64_t least_decided, least_equal;
	int64_t nr_events, nr_lost, nr_losses_unknown;
	int64_t inferred, stimuli; /* of the run with the greater share; stimuli -1: not known */
	int64_t walks_from_ns; /* from when on a run lacks page-table walks; INT64_MAX: it does not */
};

/** compare_load_belief() - of both runs' tapes, the worse number. Return: 0 or -1, as above. */
int __attribute__((warn_unused_result))
compare_load_belief(sqlite3 *db, const struct compare_pair *pair, struct compare_belief *belief);

void compare_belief_free(struct compare_belief *belief);

#endif
