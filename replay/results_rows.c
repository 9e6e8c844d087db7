// SPDX-License-Identifier: GPL-2.0-only
/*
 * A row is a list of values in the order of its table's columns, each of a kind that says what is
 * allowed: TAPE(), RUN(), U64() and so on.
 */
#include "replay/results_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every statement that adds rows, prepared once. */
#define STATEMENTS(S)                                                                              \
	S(SET_META, "INSERT OR REPLACE INTO meta VALUES (?, ?)")                                   \
	S(ADD_COUNTER_KIND, "INSERT INTO counter_kind VALUES (?, ?, ?, ?)")                        \
	S(ADD_LOCK_SITE, "INSERT INTO lock_site VALUES (?, ?, ?)")                                 \
	S(ADD_DRAIN_CAUSE, "INSERT INTO drain_cause VALUES (?, ?, ?)")                             \
	S(ADD_CAUSE, "INSERT INTO cause VALUES (?, ?, ?)")                                         \
	S(ADD_TAPE,                                                                                \
	  "INSERT INTO tape VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)")        \
	S(SET_WALKS, "UPDATE tape SET walks_from_ns = ?2 WHERE tape_id = ?1")                      \
	S(ADD_MEMCG, "INSERT INTO memcg VALUES (?, ?, ?, ?)")                                      \
	S(ADD_AGREEMENT, "INSERT INTO agreement VALUES (?, ?, ?, ?, ?, ?, ?, ?)")                  \
	S(ADD_DISAGREEMENT, "INSERT INTO disagreement VALUES (?, ?, ?, ?, ?)")                     \
	S(ADD_DRIFT, "INSERT INTO drift VALUES (?, ?, ?, ?, ?, ?)")                                \
	S(ADD_UNDECIDED, "INSERT INTO undecided VALUES (?, ?, ?, ?)")                              \
	S(ADD_INFERRED_BY_CHECK, "INSERT INTO inferred_by_check VALUES (?, ?, ?)")                 \
	S(ADD_MISMATCH, "INSERT INTO mismatch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")           \
	S(ADD_RUN, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)")            \
	S(END_RUN, "UPDATE run SET accesses = ?2, stimuli = ?3, inferred = ?4 WHERE run_id = ?1")  \
	S(ADD_SETTING, "INSERT INTO run_setting VALUES (?, ?, ?)")                                 \
	S(ADD_COUNTER, "INSERT INTO counter VALUES (?, ?, ?, ?)")                                  \
	S(ADD_COUNTER_AT, "INSERT INTO counter_at VALUES (?, ?, ?, ?, ?)")                         \
	S(ADD_LOCK_HOLD, "INSERT INTO lock_hold VALUES (?, ?, ?, ?, ?)")                           \
	S(ADD_DRAIN, "INSERT INTO drain VALUES (?, ?, ?, ?, ?)")                                   \
	S(ADD_INFERRED, "INSERT INTO inferred VALUES (?, ?, ?)")                                   \
	S(ADD_ACCURACY, "INSERT INTO accuracy VALUES (?, ?, ?, ?, ?, ?)")                          \
	S(ADD_ESTIMATE, "INSERT INTO estimate VALUES (?, ?, ?, ?, ?, ?)")                          \
	S(ADD_STRESS, "INSERT INTO stress VALUES (?, ?, ?, ?, ?)")                                 \
	S(ADD_COST, "INSERT INTO cost VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")             \
	S(ADD_COST_REPEAT, "INSERT INTO cost_repeat VALUES (?, ?, ?, ?, ?, ?)")

enum statement {
#define AS_ENUM(name, sql) name,
	STATEMENTS(AS_ENUM) NR_STATEMENTS
};

static const char *const statement_sql[NR_STATEMENTS] = {
#define AS_SQL(name, sql) [name] = sql,
	STATEMENTS(AS_SQL)
};

/* A name of one of schema/'s lists. */
struct word {
	int number;
	const char *name;
	const char *unit;
	const char *meaning;
};

static const struct word counter_kinds[] = {
#define COUNTER(number, name, unit, meaning) { number, #name, unit, meaning },
#include "schema/counters.def"
};

static const struct word lock_sites[] = {
#define LOCK_SITE(number, name, meaning) { number, #name, NULL, meaning },
#include "schema/lock_sites.def"
};

static const struct word drain_causes[] = {
#define DRAIN_CAUSE(number, name, meaning) { number, #name, NULL, meaning },
#include "schema/drain_causes.def"
};

static const struct word causes[] = {
#define CAUSE(number, name, meaning) { number, #name, NULL, meaning },
#include "schema/causes.def"
};

/* Those lists, for messages and look-ups. */
struct word_list {
	const char *file; /* below schema/ */
	const struct word *word;
	size_t nr;
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static const struct word_list counter_list = { "counters.def", counter_kinds, NR(counter_kinds) };
static const struct word_list lock_site_list = { "lock_sites.def", lock_sites, NR(lock_sites) };
static const struct word_list drain_list = { "drain_causes.def", drain_causes, NR(drain_causes) };
static const struct word_list cause_list = { "causes.def", causes, NR(causes) };

/* ---- One way to add a row */

enum value_kind {
	VALUE_TEXT, /* NULL stays NULL */
	VALUE_REQUIRED, /* text, and not empty */
	VALUE_WORD, /* a name of a list */
	VALUE_U64,
	VALUE_U64_OR_NONE, /* RESULTS_NONE becomes NULL */
	VALUE_I64,
	VALUE_DOUBLE,
	VALUE_TAPE, /* the id of a tape that was added */
	VALUE_RUN, /* of a run */
};

struct value {
	enum value_kind kind;
	const char *what; /* for messages */
	union {
		struct {
			const char *text;
			int size; /* bytes, -1: up to its end */
			const struct word_list *list;
		};
		uint64_t u64;
		int64_t i64;
		double number;
	};
};

/* clang-format off */
#define TEXT(text_) { .kind = VALUE_TEXT, .text = (text_), .size = -1 }
#define TEXT_PART(text_, size_) { .kind = VALUE_TEXT, .text = (text_), .size = (int)(size_) }
#define REQUIRED(what_, text_) { .kind = VALUE_REQUIRED, .what = (what_), .text = (text_), .size = -1 }
#define WORD(list_, text_) { .kind = VALUE_WORD, .text = (text_), .size = -1, .list = &(list_) }
#define U64(what_, n) { .kind = VALUE_U64, .what = (what_), .u64 = (n) }
#define U64_OR_NONE(what_, n) { .kind = VALUE_U64_OR_NONE, .what = (what_), .u64 = (n) }
#define I64(n) { .kind = VALUE_I64, .i64 = (n) }
#define DOUBLE(n) { .kind = VALUE_DOUBLE, .number = (n) }
#define TAPE(id) { .kind = VALUE_TAPE, .i64 = (id) }
#define RUN(id) { .kind = VALUE_RUN, .i64 = (id) }
/* clang-format on */

#define ADD(results, which, ...)                                                                   \
	add_row(results, which, (const struct value[]){ __VA_ARGS__ },                             \
		sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value))

static int __attribute__((format(printf, 2, 3)))
refuse(struct results *results, const char *format, ...)
{
	char why[256];
	va_list args;

	if (results->problem.code)
		return results->problem.code;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return results_problem_set(&results->problem, RESULTS_ERR_VALUE, "%s: %s", results->name,
				   why);
}

static bool list_has(const struct word_list *list, const char *name)
{
	for (size_t i = 0; name && i < list->nr; i++)
		if (!strcmp(list->word[i].name, name))
			return true;
	return false;
}

/* Hold a value to what is allowed. Return: 0 or RESULTS_ERR_VALUE. */
static int check_value(struct results *results, const struct value *value)
{
	switch (value->kind) {
	case VALUE_REQUIRED:
		if (!value->text || !*value->text)
			return refuse(results, "%s: must not be empty", value->what);
		return 0;
	case VALUE_WORD:
		if (!list_has(value->list, value->text))
			return refuse(results, "%s: no such name in schema/%s",
				      value->text ? value->text : "(none)", value->list->file);
		return 0;
	case VALUE_U64_OR_NONE:
		if (value->u64 == RESULTS_NONE)
			return 0;
		/* fall through */
	case VALUE_U64:
		if (value->u64 > INT64_MAX)
			return refuse(results,
				      "%s is %" PRIu64
				      ", more than a results database holds (2^63 - 1)",
				      value->what, value->u64);
		return 0;
	case VALUE_TAPE:
		if (value->i64 < 1 || value->i64 > results->nr_tapes)
			return refuse(results, "tape %" PRId64 ": was not added", value->i64);
		return 0;
	case VALUE_RUN:
		if (value->i64 < 1 || value->i64 > results->nr_runs)
			return refuse(results, "run %" PRId64 ": was not added", value->i64);
		return 0;
	case VALUE_TEXT:
	case VALUE_I64:
	case VALUE_DOUBLE:
		break;
	}
	return 0;
}

/* What is not bound is NULL. */
static void bind_value(sqlite3_stmt *statement, int position, const struct value *value)
{
	switch (value->kind) {
	case VALUE_TEXT:
	case VALUE_REQUIRED:
	case VALUE_WORD:
		if (value->text)
			sqlite3_bind_text(statement, position, value->text, value->size,
					  SQLITE_STATIC);
		break;
	case VALUE_U64_OR_NONE:
		if (value->u64 == RESULTS_NONE)
			break;
		/* fall through */
	case VALUE_U64:
		sqlite3_bind_int64(statement, position, (int64_t)value->u64);
		break;
	case VALUE_I64:
	case VALUE_TAPE:
	case VALUE_RUN:
		sqlite3_bind_int64(statement, position, value->i64);
		break;
	case VALUE_DOUBLE:
		sqlite3_bind_double(statement, position, value->number);
		break;
	}
}

/* Add a row, unless something failed before. Return: 0, or what failed first. */
static int add_row(struct results *results, enum statement which, const struct value *value,
		   size_t nr)
{
	sqlite3_stmt *statement;
	int code;

	if (results->problem.code)
		return results->problem.code;
	statement = results->statement[which];
	for (size_t i = 0; i < nr; i++) {
		if (check_value(results, &value[i]))
			return results->problem.code;
	}
	for (size_t i = 0; i < nr; i++)
		bind_value(statement, (int)i + 1, &value[i]);
	errno = 0;
	code = sqlite3_step(statement);
	if (code != SQLITE_DONE)
		results_failed(results, code);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return results->problem.code;
}

int results_open_rows(struct results *results)
{
	results->statement = calloc(NR_STATEMENTS, sizeof(*results->statement));
	if (!results->statement)
		return results_failed(results, SQLITE_NOMEM);
	for (int i = 0; i < NR_STATEMENTS; i++) {
		int code = sqlite3_prepare_v3(results->db, statement_sql[i], -1,
					      SQLITE_PREPARE_PERSISTENT, &results->statement[i],
					      NULL);

		if (code != SQLITE_OK)
			return results_failed(results, code);
	}
	return 0;
}

void results_close_rows(struct results *results)
{
	for (int i = 0; results->statement && i < NR_STATEMENTS; i++)
		sqlite3_finalize(results->statement[i]);
	free(results->statement);
	results->statement = NULL;
}

static void add_words(struct results *results, enum statement which, const struct word_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct word *word = &list->word[i];

		if (word->unit)
			ADD(results, which, I64(word->number), TEXT(word->name), TEXT(word->unit),
			    TEXT(word->meaning));
		else
			ADD(results, which, I64(word->number), TEXT(word->name),
			    TEXT(word->meaning));
	}
}

int results_add_words(struct results *results)
{
	add_words(results, ADD_COUNTER_KIND, &counter_list);
	add_words(results, ADD_LOCK_SITE, &lock_site_list);
	add_words(results, ADD_DRAIN_CAUSE, &drain_list);
	add_words(results, ADD_CAUSE, &cause_list);
	return results->problem.code;
}

int results_set_meta(struct results *results, const char *key, const char *value)
{
	return ADD(results, SET_META, REQUIRED("a meta key", key), TEXT(value ? value : ""));
}

int results_add_tape(struct results *results, const struct results_tape *tape, int64_t *tape_id)
{
	*tape_id = 0;
	if (!ADD(results, ADD_TAPE, U64("tape_id", (uint64_t)results->nr_tapes + 1),
		 REQUIRED("a tape's path", tape->path), TEXT(tape->content_hash),
		 U64_OR_NONE("format_version",
			     tape->format_version ? tape->format_version : RESULTS_NONE),
		 TEXT(tape->kernel_release), TEXT(tape->command), TEXT(tape->source),
		 TEXT(tape->recorded_policy), U64_OR_NONE("first_ns", tape->first_ns),
		 U64_OR_NONE("last_ns", tape->last_ns), U64("nr_events", tape->nr_events),
		 U64("nr_lost", tape->nr_lost), U64("nr_losses_unknown", tape->nr_losses_unknown),
		 U64("nr_overrun", tape->nr_overrun), TEXT(tape->checked_policy),
		 TEXT(tape->checked_rules)))
		*tape_id = ++results->nr_tapes;
	return results->problem.code;
}

int results_add_memcg(struct results *results, int64_t tape_id, uint64_t memcg_id, const char *path,
		      uint64_t limit_bytes)
{
	return ADD(results, ADD_MEMCG, TAPE(tape_id), U64("memcg_id", memcg_id), TEXT(path),
		   U64_OR_NONE("limit_bytes", limit_bytes));
}

int results_add_agreement(struct results *results, const struct results_agreement *agreement)
{
	if (agreement->equal > agreement->decided)
		return refuse(results, "%s: %" PRIu64 " equal of %" PRIu64 " decided",
			      agreement->decision, agreement->equal, agreement->decided);
	return ADD(results, ADD_AGREEMENT, TAPE(agreement->tape_id),
		   U64("memcg_id", agreement->memcg_id),
		   REQUIRED("a decision", agreement->decision), U64("decided", agreement->decided),
		   U64("equal", agreement->equal),
		   U64_OR_NONE("first_mismatch_ns", agreement->first_mismatch_ns),
		   TEXT(agreement->first_predicted), TEXT(agreement->first_recorded));
}

int results_add_disagreement(struct results *results, int64_t tape_id, uint64_t memcg_id,
			     const char *decision, const char *cause, uint64_t count)
{
	return ADD(results, ADD_DISAGREEMENT, TAPE(tape_id), U64("memcg_id", memcg_id),
		   REQUIRED("a decision", decision), WORD(cause_list, cause), U64("count", count));
}

int results_add_drift(struct results *results, int64_t tape_id, uint64_t memcg_id, bool file,
		      uint64_t since_ns, uint64_t isolations, uint64_t equal)
{
	return ADD(results, ADD_DRIFT, TAPE(tape_id), U64("memcg_id", memcg_id),
		   TEXT(file ? "file" : "anon"), U64("since_ns", since_ns),
		   U64("isolations", isolations), U64("equal", equal));
}

int results_set_walks(struct results *results, int64_t tape_id, uint64_t from_ns)
{
	return ADD(results, SET_WALKS, TAPE(tape_id), U64("walks_from_ns", from_ns));
}

int results_add_undecided(struct results *results, int64_t tape_id, const char *what,
			  const char *cause, uint64_t count)
{
	return ADD(results, ADD_UNDECIDED, TAPE(tape_id), REQUIRED("what was not decided", what),
		   WORD(cause_list, cause), U64("count", count));
}

int results_add_inferred_by_check(struct results *results, int64_t tape_id, const char *rule,
				  uint64_t count)
{
	return ADD(results, ADD_INFERRED_BY_CHECK, TAPE(tape_id),
		   REQUIRED("an inference rule", rule), U64("count", count));
}

int results_add_mismatch(struct results *results, const struct results_mismatch *mismatch)
{
	return ADD(results, ADD_MISMATCH, TAPE(mismatch->tape_id), U64("number", mismatch->number),
		   U64("timestamp_ns", mismatch->timestamp_ns), U64("memcg_id", mismatch->memcg_id),
		   U64("cpu", mismatch->cpu), I64(mismatch->pid),
		   REQUIRED("a decision", mismatch->decision), WORD(cause_list, mismatch->cause),
		   REQUIRED("a side of a mismatch", mismatch->predicted),
		   REQUIRED("a side of a mismatch", mismatch->recorded), TEXT(mismatch->state));
}

int results_add_run(struct results *results, const struct results_run *run, int64_t *run_id)
{
	const char *policy = run->policy ? run->policy : "";
	/* base[@release][+patch[=value]]... */
	size_t base_size = strcspn(policy, "@+"), named_size = strcspn(policy, "+");
	const char *patches = policy[named_size] ? policy + named_size + 1 : "";
	struct value base = TEXT_PART(policy, base_size), release = TEXT(run->release);

	if (run->base)
		base = (struct value)TEXT(run->base);
	if (!run->release && base_size != named_size)
		release = (struct value)TEXT_PART(policy + base_size + 1,
						  named_size - base_size - 1);
	*run_id = 0;
	if (!ADD(results, ADD_RUN, U64("run_id", (uint64_t)results->nr_runs + 1),
		 TAPE(run->tape_id), REQUIRED("a run's policy", run->policy), base, TEXT(patches),
		 release, U64_OR_NONE("memory_pages", run->memory_pages), U64("seed", run->seed),
		 TEXT(run->program_version ? run->program_version : results->program_version),
		 U64_OR_NONE("accesses", run->accesses)))
		*run_id = ++results->nr_runs;
	return results->problem.code;
}

int results_end_run(struct results *results, int64_t run_id, uint64_t accesses, uint64_t stimuli,
		    uint64_t inferred)
{
	return ADD(results, END_RUN, RUN(run_id), U64("accesses", accesses),
		   U64("stimuli", stimuli), U64("inferred", inferred));
}

int results_add_setting(struct results *results, int64_t run_id, const char *name,
			const char *value)
{
	return ADD(results, ADD_SETTING, RUN(run_id), REQUIRED("a setting's name", name),
		   TEXT(value ? value : ""));
}

int results_add_counter(struct results *results, int64_t run_id, uint64_t memcg_id,
			const char *name, uint64_t value)
{
	return ADD(results, ADD_COUNTER, RUN(run_id), U64("memcg_id", memcg_id),
		   WORD(counter_list, name), U64(name, value));
}

int results_add_counter_at(struct results *results, int64_t run_id, uint64_t memcg_id,
			   uint64_t timestamp_ns, const char *name, uint64_t value)
{
	return ADD(results, ADD_COUNTER_AT, RUN(run_id), U64("memcg_id", memcg_id),
		   U64("timestamp_ns", timestamp_ns), WORD(counter_list, name), U64(name, value));
}

int results_add_lock_hold(struct results *results, int64_t run_id, uint64_t memcg_id,
			  const char *site, uint64_t holds, uint64_t folios)
{
	return ADD(results, ADD_LOCK_HOLD, RUN(run_id), U64("memcg_id", memcg_id),
		   WORD(lock_site_list, site), U64("holds", holds), U64("folios", folios));
}

int results_add_drain(struct results *results, int64_t run_id, const char *batch, const char *cause,
		      uint64_t drains, uint64_t folios)
{
	return ADD(results, ADD_DRAIN, RUN(run_id), WORD(lock_site_list, batch),
		   WORD(drain_list, cause), U64("drains", drains), U64("folios", folios));
}

int results_add_inferred(struct results *results, int64_t run_id, const char *rule, uint64_t count)
{
	return ADD(results, ADD_INFERRED, RUN(run_id), REQUIRED("an inference rule", rule),
		   U64("count", count));
}

int results_add_accuracy(struct results *results, int64_t run_id, uint64_t memcg_id,
			 const char *name, uint64_t kernel, uint64_t replay, const char *source)
{
	return ADD(results, ADD_ACCURACY, RUN(run_id), U64("memcg_id", memcg_id),
		   WORD(counter_list, name), U64(name, kernel), U64(name, replay),
		   REQUIRED("where a kernel's count is from", source));
}

int results_add_estimate(struct results *results, int64_t run_id,
			 const struct results_estimate *estimate)
{
	return ADD(results, ADD_ESTIMATE, RUN(run_id), U64("stream", estimate->stream),
		   U64("asked", estimate->asked), U64("unknown", estimate->unknown),
		   U64_OR_NONE("first_unknown_ns", estimate->first_unknown_ns),
		   U64("unseen_faults", estimate->unseen_faults));
}

int results_add_stress(struct results *results, int64_t run_id, const char *fill, uint64_t memcg_id,
		       const char *name, uint64_t value)
{
	return ADD(results, ADD_STRESS, RUN(run_id),
		   REQUIRED("what unknown time is filled with", fill), U64("memcg_id", memcg_id),
		   WORD(counter_list, name), U64(name, value));
}

int results_add_cost(struct results *results, int64_t run_id, const struct results_cost *cost)
{
	const double *folio = cost->ns_per_folio, *hold = cost->ns_per_hold;

	return ADD(results, ADD_COST, RUN(run_id), REQUIRED("a cost's step", cost->step),
		   REQUIRED("a cost's shape", cost->shape), REQUIRED("a cost's host", cost->host),
		   U64("repeats", cost->repeats), U64("folios", cost->folios),
		   U64("holds", cost->holds), DOUBLE(folio[0]), DOUBLE(folio[1]), DOUBLE(folio[2]),
		   DOUBLE(hold[0]), DOUBLE(hold[1]), DOUBLE(hold[2]));
}

int results_add_cost_repeat(struct results *results, int64_t run_id, const char *step,
			    unsigned int repeat, uint64_t ns, uint64_t folios, uint64_t holds)
{
	return ADD(results, ADD_COST_REPEAT, RUN(run_id), REQUIRED("a cost's step", step),
		   U64("repeat", repeat), U64("ns", ns), U64("folios", folios),
		   U64("holds", holds));
}
