// SPDX-License-Identifier: GPL-2.0-only
/* When active lists are scanned, and how much of each list. */
#include "tests/unit/mm/drawn.h"

#define FIRST_PFN 65536

/* ---- when to deactivate */

static void prepare(struct drawn *drawn, struct reclaim_walk *walk)
{
	reclaim_walk_begin(walk, &drawn->mm, drawn->group, 1, false);
	drawn->mm.policy->prepare_scan(walk);
}

/*                 inactive   active        ratio      low
 *   < 1 GiB       5          5             1          no
 *                 5          6                        yes
 *   1 GiB         65536      196608        isqrt(10)  no       3 to 1
 *                 65536      196609                   yes
 *   6 GiB         196608     1376256       isqrt(60)  no       7 to 1
 *                 196607     1376257                  yes
 *   10 GiB        240000     2381440       10         no
 *                 238000     2383440                  yes      */
static void inactive_list_is_low_by_a_ratio_that_grows_with_memory(void **state)
{
	static const struct {
		int64_t inactive, active;
		bool low;
	} table[] = {
		{ 0, 0, false },
		{ 5, 5, false },
		{ 5, 6, true },
		{ 65536, 196608, false },
		{ 65536, 196609, true },
		{ 65535, 196608, true }, /* one page below 1 GiB: 1 to 1 */
		{ 196608, 1376256, false },
		{ 196607, 1376257, true },
		{ 240000, 2381440, false },
		{ 238000, 2383440, true },
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct drawn *drawn = *state;
		struct reclaim_walk walk;

		drawn->lruvec->flushed[NR_INACTIVE_FILE] = table[i].inactive;
		drawn->lruvec->flushed[NR_ACTIVE_FILE] = table[i].active;
		prepare(drawn, &walk);
		assert_int_equal(walk.sc.may_deactivate[1], table[i].low);
		assert_false(walk.sc.may_deactivate[0]);
	}
}

/* Seen live: 11,264 pages became active after a flush; none was deactivated until the next one. */
static void sizes_between_two_flushes_decide_nothing(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;

	drawn_add_range(drawn, FIRST_PFN, 100, PG_active);
	prepare(drawn, &walk);
	assert_false(walk.sc.may_deactivate[1]);
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	prepare(drawn, &walk);
	assert_true(walk.sc.may_deactivate[1]);
	for (uint64_t pfn = FIRST_PFN; pfn < FIRST_PFN + 100; pfn++)
		mm_folio_forget(&drawn->mm, folio_at(drawn, pfn));
	prepare(drawn, &walk);
	assert_true(walk.sc.may_deactivate[1]);
}

static void new_refault_activations_are_a_reason_for_the_first_reclaim_after_a_flush(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;

	drawn->lruvec->stat[WORKINGSET_ACTIVATE_FILE] = 1;
	prepare(drawn, &walk);
	assert_false(walk.sc.may_deactivate[1]); /* not flushed yet */
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	prepare(drawn, &walk);
	assert_true(walk.sc.may_deactivate[1]);
	assert_false(walk.sc.may_deactivate[0]);
	reclaim_walk_end(&walk);
	prepare(drawn, &walk);
	assert_false(walk.sc.may_deactivate[1]);
}

static void plenty_of_inactive_file_pages_spare_anon(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;

	drawn->lruvec->flushed[NR_INACTIVE_FILE] = 4095;
	prepare(drawn, &walk);
	assert_false(walk.sc.cache_trim_mode); /* 4095 >> 12 */
	drawn->lruvec->flushed[NR_INACTIVE_FILE] = 4096;
	prepare(drawn, &walk);
	assert_true(walk.sc.cache_trim_mode);
	drawn->lruvec->flushed[WORKINGSET_ACTIVATE_FILE] = 1; /* file may be deactivated */
	prepare(drawn, &walk);
	assert_false(walk.sc.cache_trim_mode);
}

/* ---- how much to scan: sizes are told by .unseen, and nothing is really taken */

#define ALL UINT64_MAX

/*
 * Requests of the first lruvec at one priority, by list: "ia 3 if 7". Of each request *share* in
 * 32 pages are reclaimed.
 */
static void shrink_and_draw(struct reclaim_walk *walk, struct drawn *drawn, uint64_t share,
			    char *text)
{
	static const char *const name[] = { "ia", "aa", "if", "af" };
	const struct reclaim_policy *policy = drawn->mm.policy;
	struct scan_request request;
	char *at = text;

	*text = '\0';
	walk->memcg = drawn->group;
	policy->shrink_begin(walk, drawn->lruvec);
	while (policy->shrink_next(walk, drawn->lruvec, &request)) {
		const struct scan_result result = {
			.nr_scanned = request.nr_to_scan,
			.nr_reclaimed = share == ALL ? request.nr_to_scan : share,
		};

		at += sprintf(at, "%s%s %u", at > text ? " " : "", name[request.lru],
			      (unsigned int)request.nr_to_scan);
		policy->shrink_done(walk, &request, &result);
	}
}

static void set_sizes(struct drawn *drawn, int64_t ia, int64_t aa, int64_t inactive_file,
		      int64_t af)
{
	drawn->lruvec->unseen[LRU_INACTIVE_ANON] = ia;
	drawn->lruvec->unseen[LRU_ACTIVE_ANON] = aa;
	drawn->lruvec->unseen[LRU_INACTIVE_FILE] = inactive_file;
	drawn->lruvec->unseen[LRU_ACTIVE_FILE] = af;
}

static void begin(struct drawn *drawn, struct reclaim_walk *walk, bool swap)
{
	drawn->mm.config.nr_swap_pages = drawn->mm.config.total_swap_pages = swap ? 1000 : 0;
	reclaim_walk_begin(walk, &drawn->mm, drawn->group, 1, swap);
	drawn->mm.policy->prepare_scan(walk);
	walk->sc.may_deactivate[0] = walk->sc.may_deactivate[1] = true;
	walk->sc.cache_trim_mode = false;
}

static void without_swap_only_file_lists_are_scanned(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 10, 4096 * 10, 4096 * 3, 4096 * 4);
	begin(drawn, &walk, false);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 3 af 4");
}

static void group_with_swappiness_0_scans_no_anon(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 10, 0, 4096 * 3, 0);
	drawn->group->swappiness = 0;
	begin(drawn, &walk, true);
	walk.sc.priority = 0;
	set_sizes(drawn, 10, 0, 3, 0);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 3");
}

/* Without costs: anon 60 * 1 / 1, file 140 * 1 / 1 of 200. The four lists in the kernel's order. */
static void swappiness_divides_the_scan(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 10, 4096 * 20, 4096 * 10, 4096 * 20);
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "ia 3 aa 6 if 7 af 14");
}

/*
 * anon_cost 100, file_cost 0: t0 = 100, a = 200, f = 100, t = 300;
 * ap = 60 * 301 / 201 = 89, fp = 140 * 301 / 101 = 417, den 506:
 * of 100 pages each, anon 17 and file 82.
 */
static void costly_anon_is_scanned_less(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 100, 0, 4096 * 100, 0);
	drawn->lruvec->anon_cost = 100;
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, 0, text);
	assert_string_equal(text, "ia 17 if 32 if 32 if 18");
}

static void at_priority_0_both_types_are_scanned_in_full(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 5, 0, 6, 0);
	begin(drawn, &walk, true);
	walk.sc.priority = 0;
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "ia 5 if 6");
}

static void cache_trim_mode_scans_file_lists_only(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 5, 0, 4096 * 6, 0);
	begin(drawn, &walk, true);
	walk.sc.cache_trim_mode = true;
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 6");
}

/* What is left of a removed group is always worth a look: at most 32 pages, rounded up. */
static void removed_group_is_scanned_at_any_priority(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 1, 0, 5, 0);
	drawn->group->online = false;
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, 0, text);
	assert_string_equal(text, "ia 1 if 4"); /* 1 * 60 / 200 and 5 * 140 / 200, rounded up */
	set_sizes(drawn, 0, 0, 4095, 0);
	begin(drawn, &walk, false);
	shrink_and_draw(&walk, drawn, 0, text);
	assert_string_equal(text, "if 32");
}

/*
 * Targets 100 anon and 120 file. After a round of 32 and 32 the goal is met: 68 of 101 anon pages
 * are left, 67 percent; so file may go to 33 percent, 39 pages, of which 7 are left.
 *
 * With 200 file pages it is 66, of which 34 are left: 32 and 2, but after the 32 there is no anon to
 * be in proportion with.
 */
static void types_stop_in_the_proportion_of_their_targets(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 200, 0, 4096 * 240, 0);
	drawn->group->swappiness = 100;
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "ia 32 if 32 if 7");
	set_sizes(drawn, 4096 * 200, 0, 4096 * 400, 0);
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "ia 32 if 32 if 32");
}

static void scan_goes_on_to_the_end_while_the_goal_is_not_met(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 80, 0, 4096 * 100, 0);
	drawn->group->swappiness = 100;
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, 1, text);
	assert_string_equal(text, "ia 32 if 32 ia 8 if 18");
}

static void direct_reclaim_at_the_first_priority_meets_all_targets(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 0, 0, 4096 * 70, 0);
	begin(drawn, &walk, false);
	walk.sc.target_mem_cgroup = NULL;
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 32 if 32 if 6");
	walk.sc.priority = 11;
	set_sizes(drawn, 0, 0, 2048 * 70, 0);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 32");
}

static void active_list_is_passed_over_while_inactive_is_not_low(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 0, 0, 4096 * 2, 4096 * 40);
	begin(drawn, &walk, false);
	walk.sc.may_deactivate[1] = false;
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 2");
	assert_true(walk.sc.skipped_deactivate);
}

static void active_anon_alone_does_not_keep_the_loop_going(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 4096 * 10, 4096 * 100, 0, 0);
	drawn->group->swappiness = 200;
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, 0, text);
	assert_string_equal(text, "ia 10 aa 32");
}

/* Even where anon is not scanned at all: 32 pages, if there is swap and inactive anon is low. */
static void anon_is_aged_at_the_end_of_each_lruvec(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	char text[DRAWING_BYTES];

	set_sizes(drawn, 0, 4096, 4096 * 2, 0);
	drawn->lruvec->flushed[NR_ACTIVE_ANON] = 1;
	drawn->group->swappiness = 0;
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 2 aa 32");
	drawn->lruvec->flushed[NR_INACTIVE_ANON] = 1;
	begin(drawn, &walk, true);
	shrink_and_draw(&walk, drawn, ALL, text);
	assert_string_equal(text, "if 2");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, drawn_setup, drawn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(inactive_list_is_low_by_a_ratio_that_grows_with_memory),
		TEST(sizes_between_two_flushes_decide_nothing),
		TEST(new_refault_activations_are_a_reason_for_the_first_reclaim_after_a_flush),
		TEST(plenty_of_inactive_file_pages_spare_anon),
		TEST(without_swap_only_file_lists_are_scanned),
		TEST(group_with_swappiness_0_scans_no_anon),
		TEST(swappiness_divides_the_scan),
		TEST(costly_anon_is_scanned_less),
		TEST(at_priority_0_both_types_are_scanned_in_full),
		TEST(cache_trim_mode_scans_file_lists_only),
		TEST(removed_group_is_scanned_at_any_priority),
		TEST(types_stop_in_the_proportion_of_their_targets),
		TEST(scan_goes_on_to_the_end_while_the_goal_is_not_met),
		TEST(direct_reclaim_at_the_first_priority_meets_all_targets),
		TEST(active_list_is_passed_over_while_inactive_is_not_low),
		TEST(active_anon_alone_does_not_keep_the_loop_going),
		TEST(anon_is_aged_at_the_end_of_each_lruvec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
