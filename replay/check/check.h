/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * check: replay the recorded policy and hold each verdict that the tape shows against the core's.
 *
 * Teacher-forced: after each comparison the recorded verdict is what happens, so one wrong
 * prediction does not make the next ones wrong. Drains and flushes come from the tape.
 */
#ifndef REPLAY_CHECK_CHECK_H
#define REPLAY_CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/event_stream.h"
#include "replay/policy/policy.h"
#include "replay/world/world.h"

enum check_decision {
#define DECISION(number, name, meaning) CHECK_##name = number,
#include "replay/decisions.def"
	NR_CHECK_DECISIONS
};

enum check_cause {
#define CAUSE(number, name, meaning) CHECK_CAUSE_##name = number,
#include "schema/causes.def"
	NR_CHECK_CAUSES
};

#define CHECK_SIDE_BYTES 96 /* one side of a mismatch in words */
#define CHECK_STATE_BYTES 384

struct check_tally {
	uint64_t decided; /* recorded verdicts that the core had an opinion on */
	uint64_t equal;
	uint64_t first_mismatch_ns; /* UINT64_MAX: none */
	char predicted[CHECK_SIDE_BYTES], recorded[CHECK_SIDE_BYTES]; /* of the first mismatch */
	uint64_t cause[NR_CHECK_CAUSES]; /* of all mismatches; their sum is decided - equal */
};

/* One mismatch with the state around it, for --explain. */
struct check_mismatch {
	uint64_t timestamp_ns;
	uint32_t memcg; /* number of the world's */
	uint32_t cpu;
	int32_t pid;
	enum check_decision decision;
	enum check_cause cause;
	char predicted[CHECK_SIDE_BYTES], recorded[CHECK_SIDE_BYTES];
	char state[CHECK_STATE_BYTES];
};

/* Verdicts seen and not decided, and why. */
struct check_undecided {
#define UNDECIDED(name, cause, meaning) uint64_t name;
#include "replay/check/undecided.def"
};

/* One of them, as a list has it. */
struct check_undecided_kind {
	const char *name, *meaning;
	enum check_cause cause;
	uint64_t count;
};

/* From when on the lists of a memcg are not those of the kernel any more, as far as can be told. */
struct check_drift {
	uint64_t since_ns; /* UINT64_MAX: they are */
	uint64_t isolations, equal; /* since then, not in the tally */
};

/* What became of a folio that reclaim isolated. */
enum check_outcome {
	OUTCOME_evicted,
	OUTCOME_written, /* to swap; it goes when that is done, unless it is touched */
	OUTCOME_kept,
	OUTCOME_activated,
	OUTCOME_deactivated,
};

/* What that says of its page tables: see verdicts.c. */
enum check_word {
	WORD_old,
	WORD_young,
	WORD_around,
	WORD_unknown,
};

/* The kernel's look at one mapped folio. */
struct check_verdict {
	uint64_t since_ns; /* end of the last look */
	bool first; /* there was none: since its add, or, for anonymous memory, its insertion */
	uint64_t begin_ns, end_ns; /* it was looked at between these */
	uint64_t index, pages; /* of a file; base pages */
	uint32_t file; /* number of the world's, 0: anonymous or shmem */
	uint32_t memcg, pfn;
	bool is_file;
	bool unsure; /* its lists have drifted, or an isolation was flawed lately: it may be another folio's */
	enum check_outcome outcome;
	enum check_word word;
	bool of_active; /* it was taken from an active list */
	bool told; /* by the probe on folio_referenced(), and the word is its */
	int32_t referenced; /* then: page table entries that were young; -1: a lock was held */
};

struct check;
struct folio;

/** check_name() - a decision's name in JSON and results. */
const char *check_name(enum check_decision decision);

/** check_cause_name() - a cause's name in JSON and results. */
const char *check_cause_name(enum check_cause cause);

/** check_cause_meaning() - what holds where it is counted, in words. */
const char *check_cause_meaning(enum check_cause cause);

/**
 * check_open() - begin to check a tape
 * @world: must be given each event before check_event() is
 * @choice: the recorded policy
 * @nr_explain: mismatches to keep with their state
 * Return: ends with check_close(); NULL without memory.
 */
struct check *check_open(struct world *world, const struct policy_choice *choice,
			 unsigned int nr_explain);

/**
 * check_look_ahead() - a pass over the tape, for what only later events tell
 * Which of an active list's mapped folios stayed there: see ahead.c. Without it check decides that by what came
 * before. Costs the pass, and up to 128 MiB.
 * @reader: at its first event, and there again afterwards
 * Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
check_look_ahead(struct check *check, struct tape_reader *reader);

/**
 * check_tell_verdicts() - call a function for each mapped folio that the kernel looked at
 * Before the first event.
 */
void check_tell_verdicts(struct check *check,
			 void (*on_verdict)(void *ctx, const struct check_verdict *verdict),
			 void *ctx);

/** check_outcome_name() - in lists of verdicts. */
const char *check_outcome_name(enum check_outcome outcome);

/** check_word_name() - in lists of verdicts. */
const char *check_word_name(enum check_word word);

/**
 * check_drift() - whether a memcg's lists have drifted
 * @file: file lists, or else anon
 * Return: NULL if they have not.
 */
const struct check_drift *check_drift(const struct check *check, uint32_t memcg, bool file);

/**
 * check_event() - compare or apply one event
 * @read_end: of event_stream_next()
 */
void check_event(struct check *check, const struct tape_event *event, uint64_t read_end);

/** check_foresees() - what the stream is to look ahead for: event_stream_foresee(). */
enum foresight check_foresees(const struct check *check);

/** check_foresee() - before check_event(): event_stream_victims() of the event, if it has any. */
void check_foresee(struct check *check, const struct tape_event *event, const uint32_t *pfn,
		   unsigned int nr);

/** check_failed() - the replay's own memory ran out; the figures are worth nothing. */
bool check_failed(const struct check *check);

/** check_tally() - figures of a memcg, or NULL if it has none. @memcg: number of the world's. */
const struct check_tally *check_tally(const struct check *check, uint32_t memcg,
				      enum check_decision decision);

/** check_undecided() - what was left out. */
const struct check_undecided *check_undecided(const struct check *check);

/** check_undecided_kind() - the i-th kind of what was left out. Return: false past the last one. */
bool check_undecided_kind(const struct check *check, unsigned int i,
			  struct check_undecided_kind *kind);

/**
 * check_walks_from() - since when page-table walks may have moved folios unseen
 * An aging of MGLRU that walks page tables promotes what it finds young there, and no event says which. From
 * the first one of a group with mapped folios on its decisions are not to be had exactly.
 * Return: ns of the tape's clock; UINT64_MAX: never.
 */
uint64_t check_walks_from(const struct check *check);

/** check_mismatch() - the i-th mismatch in tape order, NULL past the last one kept. */
const struct check_mismatch *check_mismatch(const struct check *check, unsigned int i);

/** check_close() - free it. */
void check_close(struct check *check);

#endif
