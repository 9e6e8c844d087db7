// SPDX-License-Identifier: GPL-2.0-only
/* What is measured, not how long it took: times are whatever this machine makes them. */
#include "replay/cost/cost.h"

#include <unistd.h>

#include "tests/unit/mm/drawn.h"

#define REPEATS 3

static struct drawn *logged(unsigned int folios, uint64_t first_pfn)
{
	struct drawn *drawn = drawn_open(drawn_config());

	drawn->mm.lru_add_log = lru_add_log_open(COST_LOG_LIMIT);
	assert_non_null(drawn->mm.lru_add_log);
	for (uint64_t pfn = first_pfn; pfn < first_pfn + folios; pfn++)
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, pfn, 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_end);
	return drawn;
}

static void repeat_is_whole_rounds_over_the_log(void **state)
{
	struct drawn *drawn = logged(3100, 1000);
	struct cost_sample sample[REPEATS] = { 0 };
	struct cost_run run = { &drawn->mm, sample };

	(void)state;
	assert_true(cost_can_measure(&drawn->mm));
	assert_int_equal(cost_measure(&run, 1, REPEATS), 0);
	for (int r = 0; r < REPEATS; r++) {
		assert_true(sample[r].ns > 0);
		assert_int_equal(sample[r].folios % 3100, 0);
		assert_true(sample[r].folios > 0);
		assert_int_equal(sample[r].holds * 31, sample[r].folios);
	}
	/* The run's own lists are not touched. */
	assert_int_equal(drawn->lruvec->lru_size[LRU_INACTIVE_FILE], 3100);
	assert_mm_holds(&drawn->mm);
	drawn_close(drawn);
}

/* The same frame is added, freed and added again, within one block and across the end of another. */
static void folio_that_comes_again_is_added_again(void **state)
{
	struct drawn *drawn = drawn_open(drawn_config());
	struct cost_sample sample = { 0 };
	struct cost_run run = { &drawn->mm, &sample };

	(void)state;
	drawn->mm.lru_add_log = lru_add_log_open(COST_LOG_LIMIT);
	assert_non_null(drawn->mm.lru_add_log);
	for (int i = 0; i < 2000; i++) {
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 5000 + (uint64_t)(i % 70), 0));
		if (i % 2)
			lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
		if (i >= 69)
			mm_folio_forget(&drawn->mm,
					folio_at(drawn, 5000 + (uint64_t)((i + 1) % 70)));
	}
	lru_add_drain(&drawn->mm, 0, DRAIN_end);
	assert_int_equal(drawn->mm.lru_add_log->nr, 2000);
	assert_int_equal(cost_measure(&run, 1, 1), 0);
	assert_int_equal(sample.folios % 2000, 0);
	assert_int_equal(sample.holds * 2, sample.folios);
	drawn_close(drawn);
}

static void runs_of_different_length_take_turns(void **state)
{
	struct drawn *drawn[2] = { logged(62, 1000), logged(3100, UINT64_C(3) << 30) };
	struct cost_sample sample[2][REPEATS];
	struct cost_run run[2] = { { &drawn[0]->mm, sample[0] }, { &drawn[1]->mm, sample[1] } };

	(void)state;
	assert_int_equal(cost_measure(run, 2, REPEATS), 0);
	for (int r = 0; r < REPEATS; r++) {
		assert_int_equal(sample[0][r].folios % 62, 0);
		assert_int_equal(sample[1][r].folios % 3100, 0);
	}
	drawn_close(drawn[0]);
	drawn_close(drawn[1]);
}

extern const struct reclaim_policy policy_lru_gen;

static struct drawn *logged_lru_gen(const char *release, unsigned int folios)
{
	struct mm_config config = drawn_config();
	struct drawn *drawn;

	config.policy = &policy_lru_gen;
	config.rules = *mm_rules_for_release(release);
	drawn = drawn_open(config);
	drawn->mm.lru_add_log = lru_add_log_open(COST_LOG_LIMIT);
	assert_non_null(drawn->mm.lru_add_log);
	for (uint64_t pfn = 1000; pfn < 1000 + folios; pfn++)
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, pfn * 3, 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_end);
	return drawn;
}

/* Each loop handles each folio of its list once, in each release's code and with each patch. */
static void loops_handle_the_whole_list(void **state)
{
	static const char *const release[] = { "6.1", "6.12", "6.18" };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct drawn *drawn = logged_lru_gen(release[i], 3000);
		struct cost_list *list = cost_list_open(&drawn->mm, 5000);
		struct cost_sample sample[REPEATS];
		struct cost_run run = { &drawn->mm, sample };

		assert_non_null(list);
		assert_true(cost_has_loops(&drawn->mm));
		assert_int_equal(cost_list_folios(list), 5000);
		drawn->mm.config.rules.lru_gen.bulk_move = i == 1;
		drawn->mm.config.rules.lru_gen.prefetch = i == 2;
		for (unsigned int loop = 0; loop < policy_lru_gen.nr_loops; loop++) {
			assert_int_equal(cost_measure_loop(&run, 1, list, loop, 5000, REPEATS), 0);
			for (int r = 0; r < REPEATS; r++) {
				assert_true(sample[r].ns > 0 && sample[r].holds > 0);
				assert_int_equal(sample[r].folios, 5000 * sample[r].holds);
			}
		}
		cost_list_close(list);
		assert_mm_holds(&drawn->mm);
		drawn_close(drawn);
	}
}

/* No frame twice, and no more than there is room for within its neighbourhood. */
static void list_is_as_long_as_the_frames_allow(void **state)
{
	struct drawn *drawn = logged_lru_gen("6.12", 31);
	struct cost_list *list = cost_list_open(&drawn->mm, UINT64_C(1) << 20);

	(void)state;
	assert_non_null(list);
	assert_int_equal(cost_list_folios(list), 31 * 4 * 64);
	cost_list_close(list);
	drawn_close(drawn);
}

static void run_without_a_log_or_adds_cannot_be_measured(void **state)
{
	struct drawn *drawn = drawn_open(drawn_config());

	(void)state;
	assert_false(cost_can_measure(&drawn->mm));
	drawn->mm.lru_add_log = lru_add_log_open(COST_LOG_LIMIT);
	assert_non_null(drawn->mm.lru_add_log);
	assert_false(cost_can_measure(&drawn->mm));
	drawn_close(drawn);
}

static void quartiles_lie_between_the_values_they_fall_between(void **state)
{
	double five[] = { 5, 1, 4, 2, 3 }, two[] = { 10, 20 }, one[] = { 7 };
	struct cost_quartiles q = cost_quartiles(five, 5);

	(void)state;
	assert_true(q.low == 2 && q.median == 3 && q.high == 4);
	q = cost_quartiles(two, 2);
	assert_true(q.low == 12.5 && q.median == 15 && q.high == 17.5);
	q = cost_quartiles(one, 1);
	assert_true(q.low == 7 && q.median == 7 && q.high == 7);
}

static void host_is_told_without_its_name(void **state)
{
	char text[COST_HOST_BYTES] = "", name[256] = "";

	(void)state;
	cost_host(text, sizeof(text));
	assert_non_null(strstr(text, ", "));
	gethostname(name, sizeof(name) - 1);
	assert_true(strlen(name) < 4 || !strstr(text, name));
	cost_host(text, 8);
	assert_true(strlen(text) < 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeat_is_whole_rounds_over_the_log),
		cmocka_unit_test(folio_that_comes_again_is_added_again),
		cmocka_unit_test(runs_of_different_length_take_turns),
		cmocka_unit_test(loops_handle_the_whole_list),
		cmocka_unit_test(list_is_as_long_as_the_frames_allow),
		cmocka_unit_test(run_without_a_log_or_adds_cannot_be_measured),
		cmocka_unit_test(quartiles_lie_between_the_values_they_fall_between),
		cmocka_unit_test(host_is_told_without_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
