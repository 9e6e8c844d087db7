// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare_rows.h"

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

		if (!compare_grow((void **)&compare->run, compare->nr_runs, sizeof(*run))) {
			sqlite3_finalize(statement);
			return problem_set(problem, false, "out of memory");
		}
		run = &compare->run[compare->nr_runs++];
		*run = (struct compare_run){
			.run_id = sqlite3_column_int64(statement, 0),
			.tape_id = sqlite3_column_int64(statement, 1),
			.memory_pages = sqlite3_column_int64(statement, 2),
			.seed = sqlite3_column_int64(statement, 3),
			.policy = compare_text_column(statement, 4),
			.base = compare_text_column(statement, 5),
			.patch = compare_text_column(statement, 6),
			.release = compare_text_column(statement, 7),
			.tape = compare_text_column(statement, 8),
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

/* True if both may make a pair: same input, same memory, same perturbation. */
static bool same_place(const struct compare_run *a, const struct compare_run *b)
{
	return compare_same_input(a, b) && a->seed == b->seed;
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
	if (!compare_grow((void **)&compare->pair, compare->nr_pairs, sizeof(*compare->pair)))
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

			if (compare_same_input(again_a, a) && same_place(again_a, again_b) &&
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
		if (compare_same_input(before->a, pair->a))
			return true;
	return false;
}

size_t compare_nr_perturbed(const struct compare *compare, const struct compare_pair *pair)
{
	size_t nr = 0;

	for (size_t i = 0; i < compare->nr_pairs; i++)
		nr += &compare->pair[i] != pair && compare_same_input(compare->pair[i].a, pair->a);
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
