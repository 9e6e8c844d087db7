// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analysis/compare.h"
#include "analysis/database.h"
#include "replay/results.h"

static struct compare_value known(int64_t value)
{
	return (struct compare_value){ .known = true, .value = value };
}

static const struct compare_value unknown;

/* ---- Arithmetic */

static void difference_is_b_minus_a_or_unknown(void **state)
{
	(void)state;
	assert_int_equal(compare_difference(known(5), known(3)).value, -2);
	assert_true(compare_difference(known(0), known(INT64_MAX)).known);
	assert_int_equal(compare_difference(known(0), known(INT64_MAX)).value, INT64_MAX);
	assert_false(compare_difference(known(-2), known(INT64_MAX)).known);
	assert_false(compare_difference(unknown, known(1)).known);
	assert_false(compare_difference(known(1), unknown).known);
}

static void difference_is_seen_if_its_spread_is_on_one_side_of_0(void **state)
{
	struct compare_range range = { 0 };

	(void)state;
	assert_true(compare_range_seen(&range)); /* nothing was perturbed */
	compare_range_add(&range, known(-3));
	compare_range_add(&range, unknown);
	compare_range_add(&range, known(-7));
	assert_int_equal(range.nr, 2);
	assert_int_equal(range.low, -7);
	assert_int_equal(range.high, -3);
	assert_true(compare_range_seen(&range));
	compare_range_add(&range, known(0));
	assert_false(compare_range_seen(&range));
	compare_range_add(&range, known(1));
	assert_false(compare_range_seen(&range));
}

static void percent_never_hides_a_difference(void **state)
{
	static const struct {
		int64_t a, b;
		const char *text;
	} cases[] = {
		{ 41207, 38950, "-5.5 %" },
		{ 100, 100, "0 %" },
		{ 0, 0, "0 %" },
		{ 0, 7, "-" },
		{ 7, 0, "-100.0 %" },
		{ 1, 2, "+100.0 %" },
		{ 1000000, 1000001, "+0.0001 %" },
		{ 1000000, 999999, "-0.0001 %" },
		{ INT64_MAX, INT64_MAX - 1, "-1e-17 %" },
		{ 1000, 1001, "+0.1 %" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		compare_percent_text(known(cases[i].a), known(cases[i].b), text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
	compare_percent_text(unknown, known(1), text, sizeof(text));
	assert_string_equal(text, "-");
}

static void ratio_is_a_to_b(void **state)
{
	char text[64];

	(void)state;
	compare_ratio_text(known(21220000), known(1400645), text, sizeof(text));
	assert_string_equal(text, "15.15 : 1");
	compare_ratio_text(known(0), known(5), text, sizeof(text));
	assert_string_equal(text, "0.00 : 1");
	compare_ratio_text(known(5), known(0), text, sizeof(text));
	assert_string_equal(text, "-");
	compare_ratio_text(known(5), unknown, text, sizeof(text));
	assert_string_equal(text, "-");
}

static void share_of_100_means_all(void **state)
{
	char text[64];

	(void)state;
	compare_share_text(62962, 62962, text, sizeof(text));
	assert_string_equal(text, "100 %");
	compare_share_text(999999999, 1000000000, text, sizeof(text));
	assert_string_equal(text, "99.999 %");
	compare_share_text(0, 3, text, sizeof(text));
	assert_string_equal(text, "0 %");
	compare_share_text(1, 2000, text, sizeof(text));
	assert_string_equal(text, "0.050 %");
	compare_share_text(INT64_MAX, INT64_MAX, text, sizeof(text));
	assert_string_equal(text, "100 %");
	compare_share_text(0, 0, text, sizeof(text));
	assert_string_equal(text, "-");
}

/* ---- Which runs */

struct run_given {
	int tape; /* counted from 1 */
	const char *policy;
	uint64_t memory_pages, seed;
};

/* A database of these runs, each with one counter of its run number. */
static sqlite3 *database_of(const struct run_given *given, size_t nr)
{
	char path[] = "/tmp/lrutape-test-XXXXXX";
	int fd = mkstemp(path); /* an empty file may be replaced */
	struct results *results;
	struct results_problem problem;
	struct database_problem database_problem;
	struct results_tape tape = { .path = "one.lrt", .nr_events = 100 };
	int64_t id;
	sqlite3 *db;

	assert_true(fd >= 0);
	close(fd);
	if (results_create(path, "0.1.0", &results, &problem))
		fail_msg("%s", problem.text);
	results_add_tape(results, &tape, &id);
	tape.path = "/somewhere/two.lrt";
	results_add_tape(results, &tape, &id);
	for (size_t i = 0; i < nr; i++) {
		struct results_run run = { .tape_id = given[i].tape,
					   .policy = given[i].policy,
					   .memory_pages = given[i].memory_pages,
					   .seed = given[i].seed,
					   .accesses = 10 };

		results_add_run(results, &run, &id);
		results_end_run(results, id, 10, 10, 0);
		results_add_counter(results, id, 1, "misses", (uint64_t)id);
	}
	if (results_commit(results, &problem))
		fail_msg("%s", problem.text);
	if (database_open(path, &db, &database_problem))
		fail_msg("%s", database_problem.text);
	unlink(path); /* stays open */
	return db;
}

/* "1-2 3-4": the pairs that are selected, or the problem. */
static const char *selected(sqlite3 *db, struct compare_request request)
{
	static char text[600];
	struct compare compare;
	struct compare_problem problem;
	size_t size = 0;

	text[0] = '\0';
	if (compare_select(db, &request, &compare, &problem)) {
		snprintf(text, sizeof(text), "%s", problem.text);
		assert_int_equal(compare.nr_pairs, 0);
	}
	for (size_t i = 0; i < compare.nr_pairs; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%d-%d", i ? " " : "",
					 (int)compare.pair[i].a->run_id,
					 (int)compare.pair[i].b->run_id);
	if (compare.nr_other_patches)
		snprintf(text + size, sizeof(text) - size, " and %zu", compare.nr_other_patches);
	compare_free(&compare);
	return text;
}

#define ANY .memory_pages = -1

static void without_names_a_patch_meets_its_base_wherever_both_ran(void **state)
{
	static const struct run_given given[] = {
		{ 1, "opt", 100, 0 },
		{ 1, "classic@6.18+p", 100, 0 },
		{ 1, "classic@6.18", 100, 0 },
		{ 1, "classic@6.18", 200, 0 },
		{ 1, "classic@6.18+p", 200, 0 },
		{ 2, "classic@6.18", 100, 0 },
		{ 2, "classic@6.12+p", 100, 0 },
		{ 2, "classic@6.18+p", 100, 1 },
		{ 2, "classic@6.18", 100, 1 },
		{ 1, "classic@6.18+q", 100, 0 },
		{ 1, "classic@6.18", 100, 0 },
		{ 1, "lru_gen@6.18", 100, 0 },
		{ 1, "lru_gen@6.18+p", 100, 0 },
	};
	sqlite3 *db = database_of(given, sizeof(given) / sizeof(given[0]));

	(void)state;
	assert_string_equal(selected(db, (struct compare_request){ ANY }), "3-2 4-5 9-8 and 2");
	assert_string_equal(selected(db, (struct compare_request){ .tape = "2", ANY }), "9-8");
	assert_string_equal(selected(db, (struct compare_request){ .tape = "two.lrt", ANY }),
			    "9-8");
	assert_string_equal(selected(db, (struct compare_request){ .memory_pages = 200 }), "4-5");
	assert_non_null(strstr(selected(db, (struct compare_request){ .memory_pages = 300 }),
			       "no policy ran both with and without a patch"));
	sqlite3_close(db);
}

static void named_runs_are_found_by_number_or_policy(void **state)
{
	static const struct run_given given[] = {
		{ 1, "classic@6.18", 100, 0 }, { 1, "classic@6.18+p=3", 100, 0 },
		{ 1, "opt", 100, 0 },	       { 1, "classic@6.18", 200, 0 },
		{ 1, "opt", 200, 0 },	       { 2, "fifo", 100, 0 },
	};
	sqlite3 *db = database_of(given, sizeof(given) / sizeof(given[0]));

	(void)state;
#define NAMED(x, y) ((struct compare_request){ .a = (x), .b = (y), ANY })
	assert_string_equal(selected(db, NAMED("1", "6")), "1-6");
	assert_string_equal(selected(db, NAMED("2", "2")), "2-2");
	assert_string_equal(selected(db, NAMED("classic@6.18", "opt")), "1-3 4-5");
	assert_string_equal(selected(db, NAMED("opt", "classic")), "3-1 5-4");
	assert_string_equal(selected(db, NAMED("classic", "classic+p=3")), "1-2");
	assert_string_equal(selected(db, NAMED("4", "opt")), "4-5");
	assert_non_null(
		strstr(selected(db, NAMED("classic", "class")), "no run of a policy called class"));
	assert_non_null(strstr(selected(db, NAMED("1", "7")), "no run 7"));
	assert_non_null(strstr(selected(db, NAMED("classic", "fifo")), "ran on no tape"));
	sqlite3_close(db);
}

static void too_few_runs_are_a_clear_problem(void **state)
{
	static const struct run_given given[] = { { 1, "classic", 100, 0 } };
	sqlite3 *db = database_of(given, 1);

	(void)state;
	assert_non_null(
		strstr(selected(db, (struct compare_request){ ANY }), "holds one run only"));
	sqlite3_close(db);
	db = database_of(NULL, 0);
	assert_non_null(strstr(selected(db, (struct compare_request){ ANY }), "holds no runs"));
	sqlite3_close(db);
}

static void lines_hold_both_sides(void **state)
{
	static const struct run_given given[] = { { 1, "classic", 100, 0 },
						  { 1, "classic+p", 100, 0 } };
	struct compare_request request = { ANY };
	sqlite3 *db = database_of(given, 2);
	struct compare compare;
	struct compare_problem problem;
	struct compare_lines lines;
	struct compare_belief belief;

	(void)state;
	assert_int_equal(compare_select(db, &request, &compare, &problem), 0);
	assert_int_equal(compare_load(db, COMPARE_COUNTERS, &compare.pair[0], &lines), 0);
	assert_int_equal(lines.nr, 1);
	assert_string_equal(lines.line[0].name, "misses");
	assert_int_equal(lines.line[0].a.value, 1);
	assert_int_equal(lines.line[0].b.value, 2);
	assert_true(compare_line_differs(&lines.line[0]));
	assert_false(compare_line_is_zero(&lines.line[0]));
	compare_lines_free(&lines);
	assert_int_equal(compare_load_belief(db, &compare.pair[0], &belief), 0);
	assert_int_equal(belief.decided, 0);
	assert_int_equal(belief.stimuli, 10);
	assert_int_equal(belief.nr_events, 100);
	assert_int_equal(belief.walks_from_ns, INT64_MAX);
	compare_belief_free(&belief);
	compare_free(&compare);
	sqlite3_close(db);
}

static void difference_is_seen_if_the_middle_half_is_on_one_side_of_0(void **state)
{
	double below[] = { -2, -6, -3, -5, 1 }, around[] = { -2, 2, -1, 1, 0 }, one[] = { 3 };
	struct compare_spread spread = compare_spread(below, 5);

	(void)state;
	assert_true(spread.low == -5 && spread.percent == -3 && spread.high == -2);
	assert_true(spread.seen);
	spread = compare_spread(around, 5);
	assert_true(spread.low == -1 && spread.percent == 0 && spread.high == 1);
	assert_false(spread.seen);
	spread = compare_spread(one, 1);
	assert_true(spread.low == 3 && spread.high == 3 && spread.seen);
}

static void database_without_costs_has_none(void **state)
{
	struct compare_run run = { .run_id = 1 };
	struct compare_pair pair = { &run, &run };
	struct compare_costs costs;
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(compare_load_costs(db, &pair, &costs), 0);
	assert_int_equal(costs.nr, 0);
	compare_costs_free(&costs);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(difference_is_seen_if_the_middle_half_is_on_one_side_of_0),
		cmocka_unit_test(database_without_costs_has_none),
		cmocka_unit_test(difference_is_b_minus_a_or_unknown),
		cmocka_unit_test(difference_is_seen_if_its_spread_is_on_one_side_of_0),
		cmocka_unit_test(percent_never_hides_a_difference),
		cmocka_unit_test(ratio_is_a_to_b),
		cmocka_unit_test(share_of_100_means_all),
		cmocka_unit_test(without_names_a_patch_meets_its_base_wherever_both_ran),
		cmocka_unit_test(named_runs_are_found_by_number_or_policy),
		cmocka_unit_test(too_few_runs_are_a_clear_problem),
		cmocka_unit_test(lines_hold_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
