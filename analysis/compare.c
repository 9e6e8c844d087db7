// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool compare_operands(const char *command, const char *usage, int nr, char **operand,
		      const char **path, struct compare_request *request)
{
	if (nr != 1 && nr != 3) {
		fprintf(stderr, "lrutape: %s: %s: usage: %s\n", command,
			nr < 1 ? "no results database named" : "name two runs or policies, or none",
			usage);
		return false;
	}
	*path = operand[0];
	if (nr == 3) {
		request->a = operand[1];
		request->b = operand[2];
	}
	return true;
}

/* ---- Arithmetic */

struct compare_value compare_difference(struct compare_value a, struct compare_value b)
{
	struct compare_value difference = { .known = a.known && b.known };

	if (difference.known && __builtin_sub_overflow(b.value, a.value, &difference.value))
		difference.known = false;
	return difference;
}

void compare_range_add(struct compare_range *range, struct compare_value difference)
{
	if (!difference.known)
		return;
	if (!range->nr || difference.value < range->low)
		range->low = difference.value;
	if (!range->nr || difference.value > range->high)
		range->high = difference.value;
	range->nr++;
}

bool compare_range_seen(const struct compare_range *range)
{
	return !range->nr || range->low > 0 || range->high < 0;
}

void compare_percent_text(struct compare_value a, struct compare_value b, char *text, size_t size)
{
	struct compare_value difference = compare_difference(a, b);
	double percent;

	if (!difference.known || (a.value == 0 && b.value != 0)) {
		snprintf(text, size, "-");
		return;
	}
	if (difference.value == 0) {
		snprintf(text, size, "0 %%");
		return;
	}
	percent = 100.0 * (double)difference.value / (double)a.value;
	if (percent >= 0.1 || percent <= -0.1)
		snprintf(text, size, "%+.1f %%", percent);
	else
		snprintf(text, size, "%+.1g %%", percent);
}

void compare_ratio_text(struct compare_value a, struct compare_value b, char *text, size_t size)
{
	if (!a.known || !b.known || b.value == 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.2f : 1", (double)a.value / (double)b.value);
}

void compare_share_text(int64_t part, int64_t whole, char *text, size_t size)
{
	/* Thousandths of a percent, in 128 bits so that no count overflows it. */
	int64_t share;

	if (whole <= 0) {
		snprintf(text, size, "-");
		return;
	}
	share = (int64_t)((__int128)part * 100000 / whole);
	if (share % 1000 == 0)
		snprintf(text, size, "%" PRId64 " %%", share / 1000);
	else
		snprintf(text, size, "%" PRId64 ".%03" PRId64 " %%", share / 1000, share % 1000);
}

/* ---- Which runs */

static int __attribute__((format(printf, 3, 4)))
problem_set(struct compare_problem *problem, bool list_runs, const char *format, ...)
{
	va_list args;

	problem->list_runs = list_runs;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return -1;
}

/* A column as text of our own, "" for NULL; NULL without memory. */
static char *column_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return strdup(text ? text : "");
}

/* Room for one more of what @array holds, doubled as needed. Return: false without memory. */
static bool grow(void **array, size_t nr, size_t member_size)
{
	void *grown;

	if (nr & (nr - 1)) /* only powers of two, and 0, are full */
		return true;
	grown = reallocarray(*array, nr ? 2 * nr : 1, member_size);
	if (!grown)
		return false;
	*array = grown;
	return true;
}

static const char runs_sql[] =
	"SELECT run_id, tape_id, ifnull(memory_pages, -1), seed, policy, base, patch,"
	" ifnull(release, ''), tape FROM v_run ORDER BY run_id";

static int load_runs(sqlite3 *db, struct compare *compare, struct compare_problem *problem)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db, runs_sql, -1, &statement, NULL) != SQLITE_OK)
		return problem_set(problem, false, "%s", sqlite3_errmsg(db));
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct compare_run *run;

		if (!grow((void **)&compare->run, compare->nr_runs, sizeof(*run))) {
			sqlite3_finalize(statement);
			return problem_set(problem, false, "out of memory");
		}
		run = &compare->run[compare->nr_runs++];
		*run = (struct compare_run){
			.run_id = sqlite3_column_int64(statement, 0),
			.tape_id = sqlite3_column_int64(statement, 1),
			.memory_pages = sqlite3_column_int64(statement, 2),
			.seed = sqlite3_column_int64(statement, 3),
			.policy = column_text(statement, 4),
			.base = column_text(statement, 5),
			.patch = column_text(statement, 6),
			.release = column_text(statement, 7),
			.tape = column_text(statement, 8),
		};
		if (!run->policy || !run->base || !run->patch || !run->release || !run->tape) {
			sqlite3_finalize(statement);
			return problem_set(problem, false, "out of memory");
		}
	}
	sqlite3_finalize(statement);
	if (code != SQLITE_DONE)
		return problem_set(problem, false, "%s", sqlite3_errmsg(db));
	return 0;
}

static bool same_input(const struct compare_run *a, const struct compare_run *b)
{
	return a->tape_id == b->tape_id && a->memory_pages == b->memory_pages;
}

/* True if both may make a pair: same input, same memory, same perturbation. */
static bool same_place(const struct compare_run *a, const struct compare_run *b)
{
	return same_input(a, b) && a->seed == b->seed;
}

static bool wanted(const struct compare_request *request, const struct compare_run *run)
{
	char number[32];

	if (request->memory_pages >= 0 && run->memory_pages != request->memory_pages)
		return false;
	if (!request->tape)
		return true;
	snprintf(number, sizeof(number), "%" PRId64, run->tape_id);
	return !strcmp(request->tape, number) || !strcmp(request->tape, run->tape);
}

/* "classic@6.18+x" is also called "classic+x". */
static bool is_called(const struct compare_run *run, const char *name)
{
	size_t base_size = strlen(run->base);

	if (!strcmp(run->policy, name))
		return true;
	if (strncmp(run->base, name, base_size))
		return false;
	name += base_size;
	return *run->patch ? *name == '+' && !strcmp(name + 1, run->patch) : *name == '\0';
}

/* A name that is all digits is a run's number. Return: NULL: no name of that kind, or no such run. */
static const struct compare_run *find_number(const struct compare *compare, const char *name,
					     bool *is_number)
{
	*is_number = *name && strspn(name, "0123456789") == strlen(name);
	for (size_t i = 0; *is_number && i < compare->nr_runs; i++) {
		char number[32];

		snprintf(number, sizeof(number), "%" PRId64, compare->run[i].run_id);
		if (!strcmp(number, name))
			return &compare->run[i];
	}
	return NULL;
}

static int add_pair(struct compare *compare, const struct compare_run *a,
		    const struct compare_run *b, struct compare_problem *problem)
{
	/* Twice the same policy in the same place: the first one stands for both. */
	for (size_t i = 0; i < compare->nr_pairs; i++)
		if (same_place(compare->pair[i].a, a))
			return 0;
	if (!grow((void **)&compare->pair, compare->nr_pairs, sizeof(*compare->pair)))
		return problem_set(problem, false, "out of memory");
	compare->pair[compare->nr_pairs++] = (struct compare_pair){ .a = a, .b = b };
	return 0;
}

/* The same two policies in the same place under other seeds. */
static int add_perturbed(struct compare *compare, const struct compare_run *a,
			 const struct compare_run *b, struct compare_problem *problem)
{
	if (!same_place(a, b))
		return 0;
	for (size_t i = 0; i < compare->nr_runs; i++)
		for (size_t j = 0; j < compare->nr_runs; j++) {
			const struct compare_run *again_a = &compare->run[i],
						 *again_b = &compare->run[j];

			if (same_input(again_a, a) && same_place(again_a, again_b) &&
			    again_a->seed > a->seed && !strcmp(again_a->policy, a->policy) &&
			    !strcmp(again_b->policy, b->policy) &&
			    add_pair(compare, again_a, again_b, problem))
				return -1;
		}
	return 0;
}

/* One side of a named comparison: does this run belong to it? */
struct side {
	const char *name;
	bool is_number;
	const struct compare_run *run; /* of that number */
	size_t nr_runs; /* that are called so */
};

static bool on_side(const struct side *side, const struct compare_run *run)
{
	return side->is_number ? side->run == run : is_called(run, side->name);
}

static int find_side(const struct compare *compare, struct side *side,
		     struct compare_problem *problem)
{
	side->run = find_number(compare, side->name, &side->is_number);
	for (size_t i = 0; i < compare->nr_runs; i++)
		side->nr_runs += on_side(side, &compare->run[i]);
	if (side->nr_runs == 0)
		return problem_set(problem, true, "no run %s%s: the runs are",
				   side->is_number ? "" : "of a policy called ", side->name);
	return 0;
}

static int select_named(const struct compare_request *request, struct compare *compare,
			struct compare_problem *problem)
{
	struct side a = { .name = request->a }, b = { .name = request->b };
	bool restricted = request->tape || request->memory_pages >= 0;

	if (find_side(compare, &a, problem) || find_side(compare, &b, problem))
		return -1;
	if (a.is_number && b.is_number)
		return add_pair(compare, a.run, b.run, problem) ||
				       add_perturbed(compare, a.run, b.run, problem) ?
			     -1 :
			     0;
	for (size_t i = 0; i < compare->nr_runs; i++)
		for (size_t j = 0; j < compare->nr_runs; j++) {
			const struct compare_run *run_a = &compare->run[i],
						 *run_b = &compare->run[j];

			if (on_side(&a, run_a) && on_side(&b, run_b) && same_place(run_a, run_b) &&
			    wanted(request, run_a) && add_pair(compare, run_a, run_b, problem))
				return -1;
		}
	if (compare->nr_pairs == 0)
		return problem_set(
			problem, true,
			"%s and %s ran on no tape%s at the same memory size and seed: name two "
			"run numbers of",
			a.name, b.name, restricted ? " that you chose" : "");
	return 0;
}

static bool is_patch_of(const struct compare_run *run, const struct compare_run *base)
{
	return *base->patch == '\0' && *run->patch && !strcmp(run->base, base->base) &&
	       !strcmp(run->release, base->release) && same_place(run, base);
}

static int select_patch_and_base(const struct compare_request *request, struct compare *compare,
				 struct compare_problem *problem)
{
	const struct compare_run *first = NULL, *patched = NULL;
	bool restricted = request->tape || request->memory_pages >= 0;

	/* The runs are in the order of their numbers, so the first that fits is the one. */
	for (size_t i = 0; i < compare->nr_runs && !first; i++)
		for (size_t j = 0; j < compare->nr_runs && !first; j++)
			if (wanted(request, &compare->run[i]) &&
			    is_patch_of(&compare->run[j], &compare->run[i])) {
				first = &compare->run[i];
				patched = &compare->run[j];
			}
	if (!first)
		return problem_set(
			problem, true,
			"no policy ran both with and without a patch on %s: name two run "
			"numbers of",
			restricted ? "the tape and at the memory size that you chose" :
				     "one tape at one memory size");
	for (size_t i = 0; i < compare->nr_runs; i++)
		for (size_t j = 0; j < compare->nr_runs; j++) {
			const struct compare_run *a = &compare->run[i], *b = &compare->run[j];

			if (!wanted(request, a) || !is_patch_of(b, a) ||
			    strcmp(a->policy, first->policy))
				continue;
			if (strcmp(b->policy, patched->policy))
				compare->nr_other_patches += a->seed == first->seed;
			else if (add_pair(compare, a, b, problem))
				return -1;
		}
	return 0;
}

int compare_select(sqlite3 *db, const struct compare_request *request, struct compare *compare,
		   struct compare_problem *problem)
{
	memset(compare, 0, sizeof(*compare));
	problem->list_runs = false;
	problem->text[0] = '\0';
	if (load_runs(db, compare, problem))
		return -1;
	if (compare->nr_runs == 0)
		return problem_set(problem, false,
				   "holds no runs: make some with `lrutape replay`");
	if (request->a)
		return select_named(request, compare, problem);
	if (compare->nr_runs == 1)
		return problem_set(problem, true,
				   "holds one run only: give `lrutape replay` a second "
				   "--policy; the run is");
	return select_patch_and_base(request, compare, problem);
}

bool compare_is_perturbed(const struct compare *compare, const struct compare_pair *pair)
{
	for (const struct compare_pair *before = compare->pair; before < pair; before++)
		if (same_input(before->a, pair->a))
			return true;
	return false;
}

size_t compare_nr_perturbed(const struct compare *compare, const struct compare_pair *pair)
{
	size_t nr = 0;

	for (size_t i = 0; i < compare->nr_pairs; i++)
		nr += &compare->pair[i] != pair && same_input(compare->pair[i].a, pair->a);
	return nr;
}

void compare_free(struct compare *compare)
{
	for (size_t i = 0; i < compare->nr_runs; i++) {
		free(compare->run[i].policy);
		free(compare->run[i].base);
		free(compare->run[i].patch);
		free(compare->run[i].release);
		free(compare->run[i].tape);
	}
	free(compare->run);
	free(compare->pair);
	memset(compare, 0, sizeof(*compare));
}

/* ---- What they counted */

/* Each: name, unit, value of a, of b, folios of a, of b. ?1 is run a, ?2 run b. */
static const char *const section_sql[] = {
	[COMPARE_COUNTERS] =
		"SELECT name, unit, max(CASE run_id WHEN ?1 THEN value END),"
		" max(CASE run_id WHEN ?2 THEN value END), NULL, NULL"
		" FROM v_counter_total WHERE run_id IN (?1, ?2) GROUP BY number ORDER BY number",
	[COMPARE_LOCKS] =
		"SELECT site, 'holds', max(CASE run_id WHEN ?1 THEN holds END),"
		" max(CASE run_id WHEN ?2 THEN holds END), max(CASE run_id WHEN ?1 THEN folios END),"
		" max(CASE run_id WHEN ?2 THEN folios END)"
		" FROM v_lock_total WHERE run_id IN (?1, ?2) GROUP BY number ORDER BY number = 0, number",
	[COMPARE_DRAINS] =
		"SELECT batch || ', ' || cause, 'drains', max(CASE run_id WHEN ?1 THEN drains END),"
		" max(CASE run_id WHEN ?2 THEN drains END), max(CASE run_id WHEN ?1 THEN folios END),"
		" max(CASE run_id WHEN ?2 THEN folios END)"
		" FROM v_drain WHERE run_id IN (?1, ?2) GROUP BY batch_number, cause_number"
		" ORDER BY batch_number, cause_number",
};

static struct compare_value column_value(sqlite3_stmt *statement, int column)
{
	return (struct compare_value){
		.known = sqlite3_column_type(statement, column) != SQLITE_NULL,
		.value = sqlite3_column_int64(statement, column),
	};
}

/* A run that has any lock sites, or drains, had none of those that it does not name. */
static void fill_zeros(struct compare_lines *lines)
{
	const struct compare_value zero = { .known = true };
	bool a_counted = false, b_counted = false;

	for (size_t i = 0; i < lines->nr; i++) {
		a_counted |= lines->line[i].a.known;
		b_counted |= lines->line[i].b.known;
	}
	for (size_t i = 0; i < lines->nr; i++) {
		struct compare_line *line = &lines->line[i];

		if (a_counted && !line->a.known)
			line->a = line->a_folios = zero;
		if (b_counted && !line->b.known)
			line->b = line->b_folios = zero;
	}
}

int compare_load(sqlite3 *db, enum compare_section section, const struct compare_pair *pair,
		 struct compare_lines *lines)
{
	sqlite3_stmt *statement;
	int code;

	*lines = (struct compare_lines){ 0 };
	if (sqlite3_prepare_v2(db, section_sql[section], -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct compare_line *line;

		if (!grow((void **)&lines->line, lines->nr, sizeof(*line)))
			break;
		line = &lines->line[lines->nr++];
		*line = (struct compare_line){
			.name = column_text(statement, 0),
			.unit = column_text(statement, 1),
			.a = column_value(statement, 2),
			.b = column_value(statement, 3),
			.a_folios = column_value(statement, 4),
			.b_folios = column_value(statement, 5),
		};
		if (!line->name || !line->unit)
			break;
	}
	sqlite3_finalize(statement);
	if (section != COMPARE_COUNTERS)
		fill_zeros(lines);
	return code == SQLITE_DONE ? 0 : -1;
}

static const struct compare_line *find_line(const struct compare_lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->nr; i++)
		if (!strcmp(lines->line[i].name, name))
			return &lines->line[i];
	return NULL;
}

int compare_load_ranges(sqlite3 *db, enum compare_section section, const struct compare *compare,
			const struct compare_pair *pair, struct compare_lines *lines)
{
	static const struct compare_value none = { .known = true };

	if (!compare_nr_perturbed(compare, pair))
		return 0;
	for (size_t p = 0; p < compare->nr_pairs; p++) {
		struct compare_lines again;

		if (!same_input(compare->pair[p].a, pair->a))
			continue;
		if (compare_load(db, section, &compare->pair[p], &again)) {
			compare_lines_free(&again);
			return -1;
		}
		for (size_t i = 0; i < lines->nr; i++) {
			const struct compare_line *line = find_line(&again, lines->line[i].name);

			/* A lock site or drain that neither of these two runs had. */
			compare_range_add(&lines->line[i].range,
					  line ? compare_difference(line->a, line->b) : none);
		}
		compare_lines_free(&again);
	}
	return 0;
}

void compare_lines_free(struct compare_lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++) {
		free(lines->line[i].name);
		free(lines->line[i].unit);
	}
	free(lines->line);
	*lines = (struct compare_lines){ 0 };
}

static bool values_differ(struct compare_value a, struct compare_value b)
{
	return a.known != b.known || (a.known && a.value != b.value);
}

bool compare_line_differs(const struct compare_line *line)
{
	return values_differ(line->a, line->b) || values_differ(line->a_folios, line->b_folios) ||
	       line->range.low || line->range.high;
}

bool compare_line_is_zero(const struct compare_line *line)
{
	return !(line->a.known && line->a.value) && !(line->b.known && line->b.value) &&
	       !(line->a_folios.known && line->a_folios.value) &&
	       !(line->b_folios.known && line->b_folios.value);
}

/* @part of @whole is less than @least_part of @least_whole; a whole of 0 is no share at all. */
static bool lower_share(int64_t part, int64_t whole, int64_t least_part, int64_t least_whole)
{
	return whole > 0 &&
	       (least_whole <= 0 || (__int128)part * least_whole < (__int128)least_part * whole);
}

static const char agreement_sql[] = "SELECT decision, decided, equal FROM v_agreement_total"
				    " WHERE tape_id = ? ORDER BY decision";

static const char belief_sql[] =
	"SELECT recorded_policy, nr_events, max(nr_lost, nr_overrun), nr_losses_unknown,"
	" ifnull(inferred, 0), ifnull(stimuli, -1) FROM v_belief WHERE run_id = ?";

/* Agreement over the kinds of decision of one tape, added to what is there. */
static int load_agreement(sqlite3 *db, int64_t tape_id, struct compare_belief *belief)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db, agreement_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, tape_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t decided = sqlite3_column_int64(statement, 1);
		int64_t equal = sqlite3_column_int64(statement, 2);

		belief->decided += decided;
		belief->equal += equal;
		if (!lower_share(equal, decided, belief->least_equal, belief->least_decided))
			continue;
		free(belief->least_decision);
		belief->least_decision = column_text(statement, 0);
		belief->least_decided = decided;
		belief->least_equal = equal;
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

/* Losses of one run's tape and what was inferred in the run. */
static int load_run_belief(sqlite3 *db, const struct compare_run *run, bool other_tape,
			   struct compare_belief *belief)
{
	sqlite3_stmt *statement;
	int64_t inferred, stimuli;
	bool found;

	if (sqlite3_prepare_v2(db, belief_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, run->run_id);
	found = sqlite3_step(statement) == SQLITE_ROW;
	if (found) {
		if (other_tape) {
			belief->nr_events += sqlite3_column_int64(statement, 1);
			belief->nr_lost += sqlite3_column_int64(statement, 2);
			belief->nr_losses_unknown += sqlite3_column_int64(statement, 3);
		}
		if (!belief->recorded_policy && sqlite3_column_type(statement, 0) != SQLITE_NULL)
			belief->recorded_policy = column_text(statement, 0);
		inferred = sqlite3_column_int64(statement, 4);
		stimuli = sqlite3_column_int64(statement, 5);
		if (belief->stimuli <= 0 ||
		    lower_share(belief->inferred, belief->stimuli, inferred, stimuli)) {
			belief->inferred = inferred;
			belief->stimuli = stimuli;
		}
	}
	sqlite3_finalize(statement);
	return found ? 0 : -1;
}

/* The earlier one of both runs. */
static int load_walks(sqlite3 *db, const struct compare_pair *pair, struct compare_belief *belief)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db,
			       "SELECT CAST(value AS INTEGER) FROM run_setting"
			       " WHERE name = 'walks_from_ns' AND run_id IN (?, ?)",
			       -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		if (sqlite3_column_int64(statement, 0) < belief->walks_from_ns)
			belief->walks_from_ns = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

int compare_load_belief(sqlite3 *db, const struct compare_pair *pair, struct compare_belief *belief)
{
	bool other_tape = pair->a->tape_id != pair->b->tape_id;

	*belief = (struct compare_belief){ .stimuli = -1, .walks_from_ns = INT64_MAX };
	if (load_walks(db, pair, belief) || load_run_belief(db, pair->a, true, belief) ||
	    load_run_belief(db, pair->b, other_tape, belief) ||
	    load_agreement(db, pair->a->tape_id, belief))
		return -1;
	return other_tape ? load_agreement(db, pair->b->tape_id, belief) : 0;
}

void compare_belief_free(struct compare_belief *belief)
{
	free(belief->recorded_policy);
	free(belief->least_decision);
	*belief = (struct compare_belief){ 0 };
}

/* ---- What was measured */

const char *compare_cost_name(enum compare_cost_line line)
{
	static const char *const name[] = {
		[COMPARE_NS_PER_FOLIO] = "ns_per_folio",
		[COMPARE_NS_PER_HOLD] = "ns_per_hold",
		[COMPARE_SATURATED_HOLDS] = "saturated_holds_per_second",
	};

	return name[line];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The value a share of the way through sorted ones, between two where none stands there. */
static double at_quarter(const double *value, size_t nr, size_t quarter)
{
	size_t place = (nr - 1) * quarter; /* in quarters */
	double next = value[place / 4 + 1 < nr ? place / 4 + 1 : nr - 1];

	return value[place / 4] + (next - value[place / 4]) * (double)(place % 4) / 4;
}

struct compare_spread compare_spread(double *percent, size_t nr)
{
	struct compare_spread spread;

	qsort(percent, nr, sizeof(*percent), by_value);
	spread.low = at_quarter(percent, nr, 1);
	spread.percent = at_quarter(percent, nr, 2);
	spread.high = at_quarter(percent, nr, 3);
	spread.seen = spread.low > 0 || spread.high < 0;
	return spread;
}

static const char has_cost_sql[] = "SELECT 1 FROM sqlite_master WHERE name = 'v_cost'";

static const char steps_sql[] =
	"SELECT step FROM v_cost WHERE run_id IN (?1, ?2) GROUP BY step ORDER BY min(run_id), folios,"
	" step";

static const char cost_sql[] =
	"SELECT shape, host, ns_per_folio, ns_per_hold, saturated_holds_per_second, folios_per_hold"
	" FROM v_cost WHERE run_id = ? AND step = ?";

static const char repeats_sql[] =
	"SELECT a.ns_per_folio, b.ns_per_folio, a.ns_per_hold, b.ns_per_hold"
	" FROM v_cost_repeat AS a JOIN v_cost_repeat AS b ON b.step = a.step AND b.repeat = a.repeat"
	" WHERE a.run_id = ?1 AND b.run_id = ?2 AND a.step = ?3 ORDER BY a.repeat";

/* Return: 1: *value and so on are filled; 0: not measured; -1: failed. */
static int load_run_cost(sqlite3 *db, int64_t run_id, const char *step, char **shape, char **host,
			 double *value, double *folios_per_hold)
{
	sqlite3_stmt *statement;
	int code, ret = 0;

	if (sqlite3_prepare_v2(db, cost_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, run_id);
	sqlite3_bind_text(statement, 2, step, -1, SQLITE_STATIC);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW) {
		*shape = column_text(statement, 0);
		*host = column_text(statement, 1);
		for (int i = 0; i < NR_COMPARE_COST_LINES; i++)
			value[i] = sqlite3_column_double(statement, 2 + i);
		*folios_per_hold = sqlite3_column_double(statement, 5);
		ret = *shape && *host ? 1 : -1;
	} else if (code != SQLITE_DONE) {
		ret = -1;
	}
	sqlite3_finalize(statement);
	return ret;
}

/* Differences of the same repeats of both, which were measured one after the other. */
static int load_spreads(sqlite3 *db, const struct compare_pair *pair, struct compare_cost *cost)
{
	double *percent[NR_COMPARE_COST_LINES] = { NULL };
	sqlite3_stmt *statement;
	size_t nr = 0, room = 0;
	int code = SQLITE_ERROR;

	if (sqlite3_prepare_v2(db, repeats_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	sqlite3_bind_text(statement, 3, cost->step, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		double folio[2], hold[2];

		if (nr == room) {
			room = room ? 2 * room : 64;
			for (int i = 0; i < NR_COMPARE_COST_LINES; i++) {
				double *grown = reallocarray(percent[i], room, sizeof(*grown));

				if (!grown) {
					code = SQLITE_NOMEM;
					goto out;
				}
				percent[i] = grown;
			}
		}
		for (int side = 0; side < 2; side++) {
			folio[side] = sqlite3_column_double(statement, side);
			hold[side] = sqlite3_column_double(statement, 2 + side);
		}
		percent[COMPARE_NS_PER_FOLIO][nr] = 100 * (folio[1] / folio[0] - 1);
		percent[COMPARE_NS_PER_HOLD][nr] = 100 * (hold[1] / hold[0] - 1);
		percent[COMPARE_SATURATED_HOLDS][nr] = 100 * (hold[0] / hold[1] - 1);
		nr++;
	}
	cost->repeats = (int64_t)nr;
	for (int i = 0; nr && i < NR_COMPARE_COST_LINES; i++)
		cost->spread[i] = compare_spread(percent[i], nr);
out:
	sqlite3_finalize(statement);
	for (int i = 0; i < NR_COMPARE_COST_LINES; i++)
		free(percent[i]);
	return code == SQLITE_DONE ? 0 : -1;
}

/* One step of both runs; cost->step is set. */
static int load_cost(sqlite3 *db, const struct compare_pair *pair, struct compare_cost *cost)
{
	char *b_host = NULL;
	int a, b, ret;

	a = load_run_cost(db, pair->a->run_id, cost->step, &cost->a_shape, &cost->host, cost->a,
			  &cost->a_folios_per_hold);
	b = a < 0 ? -1 :
		    load_run_cost(db, pair->b->run_id, cost->step, &cost->b_shape, &b_host, cost->b,
				  &cost->b_folios_per_hold);
	if (a < 0 || b < 0) {
		free(b_host);
		return -1;
	}
	cost->a_known = a > 0;
	cost->b_known = b > 0;
	/* Runs over another tape had no turns with these. */
	cost->same_host = a > 0 && b > 0 && !strcmp(cost->host, b_host) &&
			  pair->a->tape_id == pair->b->tape_id;
	ret = cost->same_host ? load_spreads(db, pair, cost) : 0;
	if (!cost->host)
		cost->host = b_host;
	else
		free(b_host);
	return ret;
}

/* Return: SQLITE_DONE if all went well. */
static int load_steps(sqlite3 *db, sqlite3_stmt *statement, const struct compare_pair *pair,
		      struct compare_costs *costs)
{
	int code;

	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct compare_cost *grown = reallocarray(costs->cost, costs->nr + 1,
							  sizeof(*grown));

		if (!grown)
			return SQLITE_NOMEM;
		costs->cost = grown;
		grown += costs->nr++;
		*grown = (struct compare_cost){ .step = column_text(statement, 0) };
		if (!grown->step || load_cost(db, pair, grown))
			return SQLITE_ERROR;
	}
	return code;
}

int compare_load_costs(sqlite3 *db, const struct compare_pair *pair, struct compare_costs *costs)
{
	sqlite3_stmt *statement;
	int code;

	*costs = (struct compare_costs){ 0 };
	if (sqlite3_prepare_v2(db, has_cost_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	code = sqlite3_step(statement);
	sqlite3_finalize(statement);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? 0 : -1;
	if (sqlite3_prepare_v2(db, steps_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	code = load_steps(db, statement, pair, costs);
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

void compare_costs_free(struct compare_costs *costs)
{
	for (size_t i = 0; i < costs->nr; i++) {
		free(costs->cost[i].step);
		free(costs->cost[i].a_shape);
		free(costs->cost[i].b_shape);
		free(costs->cost[i].host);
	}
	free(costs->cost);
	*costs = (struct compare_costs){ 0 };
}
