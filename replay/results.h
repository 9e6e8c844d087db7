/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a results database: tapes, runs, what the runs counted.
 *
 * Everything goes into FILE.tmp-PID in one transaction. results_commit() makes the indexes, syncs
 * the file and renames it over FILE; until then FILE is untouched, and when anything fails it
 * stays so. There is no adding to an existing database: it is replaced whole.
 *
 *	struct results *results;
 *	struct results_problem problem;
 *
 *	if (results_create("out.db", LRUTAPE_VERSION, &results, &problem))
 *		complain(problem.text);
 *	results_add_tape(results, &(struct results_tape){ .path = ... }, &tape_id);
 *	results_add_run(results, &(struct results_run){ .tape_id = tape_id, ... }, &run_id);
 *	results_add_counter(results, run_id, memcg_id, "misses", 42);
 *	if (results_commit(results, &problem))
 *		complain(problem.text);
 *
 * The first failure sticks: all later calls return it and do nothing, so a caller that adds a
 * million rows need only look at what results_commit() says. A results handle is one thread's.
 *
 * Numbers are unsigned here and signed 64-bit in SQLite: a value above INT64_MAX is refused
 * (RESULTS_ERR_VALUE), for it is a lapsed subtraction or a TAPE_VALUE_ABSENT in all cases seen so
 * far, and SQLite would turn it into an inexact REAL.
 */
#ifndef REPLAY_RESULTS_H
#define REPLAY_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/results.h"

struct results;

enum results_error {
	RESULTS_OK = 0,
	RESULTS_ERR_OPEN = -1, /* no file can be made there */
	RESULTS_ERR_NOT_RESULTS = -2, /* FILE is something else, which is not ours to replace */
	RESULTS_ERR_BUSY = -3, /* another program is writing to FILE */
	RESULTS_ERR_WRITE = -4, /* disk full, input/output error */
	RESULTS_ERR_VALUE = -5, /* unknown name, unknown id, number too large, row given twice */
	RESULTS_ERR_MEMORY = -6,
};

struct results_problem {
	enum results_error code;
	char text[512]; /* "FILE: what, where: remedy", without newline */
};

/* Where a number is not known: NULL in the database. */
#define RESULTS_NONE UINT64_MAX

/* Strings are copied. NULL: not known (NULL in the database), except where a line says otherwise. */
struct results_tape {
	const char *path; /* as the user gave it; required */
	const char *content_hash; /* text that names its way of hashing, e.g. "crc64:0123..." */
	uint32_t format_version; /* of the tape format; 0 not known */
	const char *kernel_release; /* `uname -r` of the recorded machine */
	const char *command; /* that was recorded */
	const char *source; /* "record", or the importer's name, e.g. "ftrace-text" */
	const char *recorded_policy; /* that its kernel ran */
	const char *checked_policy; /* that results_add_agreement() is about; NULL: not checked */
	const char *checked_rules; /* the kernel release whose rules it followed */
	uint64_t first_ns, last_ns; /* trace clock; RESULTS_NONE on an empty tape */
	uint64_t nr_events;
	uint64_t nr_lost; /* events, from located losses with a count */
	uint64_t nr_losses_unknown; /* located losses without a count */
	uint64_t nr_overrun; /* events, the kernel's own total */
};

struct results_run {
	int64_t tape_id;
	const char *policy; /* full name, base[@release][+patch[=value]]...; required */
	const char *base; /* NULL: taken from policy, up to '@' or '+' */
	const char *release; /* rules in force, e.g. "6.18"; NULL: from policy, if it has one */
	uint64_t memory_pages; /* RESULTS_NONE: each memcg at its recorded limit */
	uint64_t seed; /* of the perturbation, 0: none */
	const char *program_version; /* NULL: the one given to results_create() */
	uint64_t accesses; /* folios; RESULTS_NONE: results_end_run() tells */
};

/**
 * results_create() - begin a results database
 * @path: FILE; where a results database stands there it is replaced by results_commit()
 * @program_version: LRUTAPE_VERSION; saved in meta and in runs
 * @results: set on success only; to be given to results_commit() or results_abandon()
 * @problem: filled on failure
 *
 * Refuses a FILE that exists, is not empty and is not a results database, one whose folder cannot
 * be written to, and one that another program has open for writing. Removes a FILE.tmp-PID that a
 * killed run of this program left.
 * Return: 0 or a negative enum results_error.
 */
int __attribute__((warn_unused_result))
results_create(const char *path, const char *program_version, struct results **results,
	       struct results_problem *problem);

/**
 * results_set_meta() - a fact about the whole database, e.g. "command_line"
 * @key: not one of schema_version, program, program_version: those are set already
 *
 * A key given twice keeps the last value.
 * Return: 0 or a negative enum results_error.
 */
int results_set_meta(struct results *results, const char *key, const char *value);

/** results_add_tape() - @tape_id is set to what runs refer to. Return: 0 or negative. */
int results_add_tape(struct results *results, const struct results_tape *tape, int64_t *tape_id);

/**
 * results_add_memcg() - name a memcg of a tape
 * @memcg_id: inode number of the cgroup's folder, as in the events
 * @path: from the cgroup root, "/" at its head; NULL where not known
 * @limit_bytes: recorded limit; RESULTS_NONE: no limit, or not known
 *
 * Counters of a memcg_id that was never named are kept all the same.
 * Return: 0 or a negative enum results_error.
 */
int results_add_memcg(struct results *results, int64_t tape_id, uint64_t memcg_id, const char *path,
		      uint64_t limit_bytes);

/* How `check` fared on a tape: recorded against predicted decisions of one kind. */
struct results_agreement {
	int64_t tape_id;
	uint64_t memcg_id;
	const char *decision; /* kind, e.g. "victim" */
	uint64_t decided; /* decisions of this kind on the tape */
	uint64_t equal; /* of these, predicted as recorded; not more than decided */
	uint64_t first_mismatch_ns; /* trace clock; RESULTS_NONE: no mismatch */
	const char *first_predicted, *first_recorded; /* its sides in words */
};

/** results_add_agreement() - Return: 0 or a negative enum results_error. */
int results_add_agreement(struct results *results, const struct results_agreement *agreement);

/**
 * results_add_disagreement() - how many decisions were not predicted where a cause stands before them
 * @cause: its name
 *
 * Return: 0 or a negative enum results_error.
 */
int results_add_disagreement(struct results *results, int64_t tape_id, uint64_t memcg_id,
			     const char *decision, const char *cause, uint64_t count);

/**
 * results_add_drift() - the order of a memcg's lists was lost
 * @file: of those of files, else of those of anon
 * @since_ns: trace clock
 * @isolations: since then; of them @equal as predicted
 *
 * Return: 0 or a negative enum results_error.
 */
int results_add_drift(struct results *results, int64_t tape_id, uint64_t memcg_id, bool file,
		      uint64_t since_ns, uint64_t isolations, uint64_t equal);

/** results_set_walks() - from when on page-table walks may have moved folios unseen. Return: 0 or negative. */
int results_set_walks(struct results *results, int64_t tape_id, uint64_t from_ns);

/** results_add_undecided() - verdicts seen and not decided, of one kind. Return: 0 or negative. */
int results_add_undecided(struct results *results, int64_t tape_id, const char *what,
			  const char *cause, uint64_t count);

/** results_add_inferred_by_check() - what check inferred by the named rule. Return: 0 or negative. */
int results_add_inferred_by_check(struct results *results, int64_t tape_id, const char *rule,
				  uint64_t count);

/* One decision that was not predicted. */
struct results_mismatch {
	int64_t tape_id;
	uint64_t number; /* from 1, in tape order */
	uint64_t timestamp_ns; /* trace clock */
	uint64_t memcg_id;
	uint32_t cpu;
	int32_t pid;
	const char *decision, *cause;
	const char *predicted, *recorded, *state; /* in words */
};

/** results_add_mismatch() - Return: 0 or a negative enum results_error. */
int results_add_mismatch(struct results *results, const struct results_mismatch *mismatch);

/** results_add_run() - @run_id is set to what all of the following refer to. Return: 0 or negative. */
int results_add_run(struct results *results, const struct results_run *run, int64_t *run_id);

/**
 * results_end_run() - tell what a run was given once that is known
 * @accesses: folios
 * @stimuli: reads, adds, frees, truncations and so on
 * @inferred: of these, drawn from other events by some rule
 * Return: 0 or negative.
 */
int results_end_run(struct results *results, int64_t run_id, uint64_t accesses, uint64_t stimuli,
		    uint64_t inferred);

/** results_add_setting() - a policy's or patch's setting, as text. Return: 0 or negative. */
int results_add_setting(struct results *results, int64_t run_id, const char *name,
			const char *value);

/**
 * results_add_counter() - a run's final count
 * @memcg_id: RESULTS_NO_MEMCG for what belongs to none
 * @name: of counters.def
 *
 * Each (run, memcg, name) once. Rows of value 0 are kept: "counted, none" is not "not counted".
 * Totals over memcgs are the views' work, not the caller's.
 * Return: 0 or a negative enum results_error.
 */
int results_add_counter(struct results *results, int64_t run_id, uint64_t memcg_id,
			const char *name, uint64_t value);

/**
 * results_add_counter_at() - a count as it stood at a moment
 * @timestamp_ns: trace clock
 * @value: since the run began, not since the last row
 *
 * The caller chooses the moments; runs over one tape that use the same ones can be laid side by side.
 * Return: 0 or a negative enum results_error.
 */
int results_add_counter_at(struct results *results, int64_t run_id, uint64_t memcg_id,
			   uint64_t timestamp_ns, const char *name, uint64_t value);

/**
 * results_add_lock_hold() - holds of lruvec locks at one place of the code
 * @site: of lock_sites.def
 * @holds: times the lock was taken
 * @folios: folios handled while it was held
 *
 * Return: 0 or a negative enum results_error.
 */
int results_add_lock_hold(struct results *results, int64_t run_id, uint64_t memcg_id,
			  const char *site, uint64_t holds, uint64_t folios);

/**
 * results_add_drain() - drains of one per-CPU batch for one cause, all CPUs
 * @batch: the lock_sites.def name of its drain, e.g. "lru_add"
 * @cause: of drain_causes.def
 * @drains: times
 * @folios: folios that waited in the batch, all drains together
 *
 * Return: 0 or a negative enum results_error.
 */
int results_add_drain(struct results *results, int64_t run_id, const char *batch, const char *cause,
		      uint64_t drains, uint64_t folios);

/** results_add_inferred() - stimuli that the named rule made from verdicts. Return: 0 or negative. */
int results_add_inferred(struct results *results, int64_t run_id, const char *rule, uint64_t count);

/**
 * results_add_accuracy() - a count of a run beside the recorded kernel's own
 * @name: of counters.def
 * @source: where the kernel's is from
 * Return: 0 or a negative enum results_error.
 */
int results_add_accuracy(struct results *results, int64_t run_id, uint64_t memcg_id,
			 const char *name, uint64_t kernel, uint64_t replay, const char *source);

/* Verdicts on mapped pages that a run asked for. */
struct results_estimate {
	uint64_t stream; /* seed of the accesses that are not on the tape */
	uint64_t asked,
		unknown; /* the second are part of the first: the tape did not decide them */
	uint64_t first_unknown_ns; /* trace clock; RESULTS_NONE: none */
	uint64_t unseen_faults; /* drawn accesses to pages that the run had taken away */
};

/** results_add_estimate() - one a run at most. Return: 0 or a negative enum results_error. */
int results_add_estimate(struct results *results, int64_t run_id,
			 const struct results_estimate *estimate);

/**
 * results_add_stress() - a final count of a run with its unknown time filled otherwise
 * @fill: "never" or "always"
 * @name: of counters.def
 * Return: 0 or a negative enum results_error.
 */
int results_add_stress(struct results *results, int64_t run_id, const char *fill, uint64_t memcg_id,
		       const char *name, uint64_t value);

/* What a step took on the machine at hand: measured, unlike all else. */
struct results_cost {
	const char *step; /* "lru_add" */
	const char *shape; /* of its code, in words */
	const char *host; /* CPU and kernel, not the machine's name */
	unsigned int repeats;
	uint64_t folios, holds; /* of one round of what was timed */
	double ns_per_folio[3], ns_per_hold[3]; /* median, lower and upper quartile */
};

/** results_add_cost() - of a run, once for each step. Return: 0 or negative. */
int results_add_cost(struct results *results, int64_t run_id, const struct results_cost *cost);

/**
 * results_add_cost_repeat() - one repeat of that measurement
 * @repeat: from 1; the same number of two runs of one tape was measured in turn
 * Return: 0 or a negative enum results_error.
 */
int results_add_cost_repeat(struct results *results, int64_t run_id, const char *step,
			    unsigned int repeat, uint64_t ns, uint64_t folios, uint64_t holds);

/** results_problem() - the failure that sticks; code RESULTS_OK and empty text if there is none. */
const struct results_problem *results_problem(const struct results *results);

/**
 * results_commit() - finish the database and put it in FILE's place
 * @results: no longer valid afterwards, whatever is returned
 * @problem: filled on failure; may be NULL
 *
 * Return: 0: FILE is the new database, on the disk. Negative enum results_error: FILE is as it was.
 */
int __attribute__((warn_unused_result))
results_commit(struct results *results, struct results_problem *problem);

/** results_abandon() - leave FILE as it was, remove what was written; @results may be NULL. */
void results_abandon(struct results *results);

#endif
