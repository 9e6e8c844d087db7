// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/mm/drawn.h"

#define FIRST_PFN 65536

struct victims {
	char text[DRAWING_BYTES];
	size_t at;
	uint64_t nr, last_shadow;
};

static void evicted(void *ctx, struct folio *folio, uint64_t shadow)
{
	struct victims *victims = ctx;

	victims->nr++;
	victims->last_shadow = shadow;
	if (folio->pfn < FIRST_PFN)
		victims->at = draw_folio(victims->text, victims->at, folio);
}

static uint64_t reclaim(struct drawn *drawn, uint64_t nr_pages, struct victims *victims)
{
	const struct reclaim_hooks hooks = { .ctx = victims, .evicted = evicted };

	memset(victims, 0, sizeof(*victims));
	return reclaim_run(&drawn->mm, drawn->group, nr_pages, false, 0, &hooks);
}

/* Run a walk that frees whatever it asks for, and write its requests: "12:1 11:2". */
static uint64_t walk_and_draw(struct drawn *drawn, uint64_t nr_pages, char *text)
{
	const char *start = text;
	struct reclaim_walk walk;
	struct scan_request request;

	text[0] = '\0';
	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, nr_pages, false);
	while (reclaim_walk_next(&walk, &request)) {
		struct scan_result result = { 0 };
		struct list_head taken;

		text += sprintf(text, "%s%d:%u", text > start ? " " : "", walk.sc.priority,
				(unsigned int)request.nr_to_scan);
		list_init(&taken);
		drawn->mm.policy->isolate(&drawn->mm, &request, &taken, &result);
		result.nr_reclaimed = result.nr_taken;
		while (!list_empty(&taken))
			mm_folio_forget(&drawn->mm, list_entry(taken.next, struct folio, lru));
		reclaim_walk_done(&walk, &result);
	}
	reclaim_walk_end(&walk);
	return walk.sc.nr_reclaimed;
}

/*
 * Seen live, 3,952 of 6,862 reclaims: a group of about 5,000 inactive pages does not free the 32
 * that one charge asks for, but the smallest sum of size >> priority that reaches 32.
 */
static void five_thousand_pages_are_scanned_1_2_4_9_19(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	drawn_add_range(drawn, FIRST_PFN, 5000, 0);
	assert_int_equal(walk_and_draw(drawn, 1, text), 35);
	assert_string_equal(text, "12:1 11:2 10:4 9:9 8:19");
}

static void lists_below_4096_pages_are_left_alone_at_priority_12(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	drawn_add_range(drawn, FIRST_PFN, 4095, 0);
	assert_int_equal(walk_and_draw(drawn, 1, text), 57);
	/* 4095, 4094, 4091, 4084 and 4069 pages: the size is looked at anew each time. */
	assert_string_equal(text, "11:1 10:3 9:7 8:15 7:31");
}

/* Priority 11 wants 39 pages; after the first 32 the goal is met and the rest is let go. */
static void goal_is_looked_at_after_each_batch_of_32(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	drawn_add_range(drawn, FIRST_PFN, 81920, 0);
	assert_int_equal(walk_and_draw(drawn, 1, text), 20 + 32);
	assert_string_equal(text, "12:20 11:32");
}

/* 59 pages of 64 at priorities 12 and 11; at 10 the list must give 64 by itself. */
static void each_priority_counts_from_zero_against_the_whole_goal(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	drawn_add_range(drawn, FIRST_PFN, 81920, 0);
	assert_int_equal(walk_and_draw(drawn, 64, text), 20 + 39 + 64);
	assert_string_equal(text, "12:20 11:32 11:7 10:32 10:32");
}

static void goal_is_the_charge_but_at_least_32_pages(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;

	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 1, false);
	assert_int_equal(walk.sc.nr_to_reclaim, 32);
	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 512, false);
	assert_int_equal(walk.sc.nr_to_reclaim, 512);
}

static void victims_go_from_the_tail_oldest_first(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;

	/* 26 pages: 26 >> 4, 25 >> 3, 22 >> 2, 17 >> 1 and the 9 left at priority 0 */
	drawn_list(drawn, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0);
	assert_int_equal(reclaim(drawn, 1, &victims), 26);
	assert_string_equal(victims.text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	assert_file_lists(drawn->lruvec, "inactive [] active []");
	assert_int_equal(drawn->group->usage_pages, 0);
	assert_int_equal(shadow_unpack(victims.last_shadow).age, 25);
}

static void reclaim_counts_what_it_looks_at_and_what_it_takes(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;
	const uint64_t *counter = drawn->lruvec->counter;

	drawn_add_range(drawn, FIRST_PFN, 5000, 0);
	reclaim(drawn, 1, &victims);
	assert_int_equal(victims.nr, 35);
	assert_int_equal(counter[COUNT_reclaims], 1);
	assert_int_equal(counter[COUNT_isolations], 5);
	assert_int_equal(counter[COUNT_pgscan_file], 35);
	assert_int_equal(counter[COUNT_pgscan_direct], 35);
	assert_int_equal(counter[COUNT_pgscan_kswapd], 0);
	assert_int_equal(counter[COUNT_pgsteal_file], 35);
	assert_int_equal(counter[COUNT_pgsteal_direct], 35);
	assert_int_equal(counter[COUNT_pgsteal_anon], 0);
}

/* Five priorities: 1 hold each to prepare, 1 to isolate, 1 to put back, though nothing is left. */
static void lock_is_held_thrice_for_each_priority(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;
	const struct lock_count *lock = drawn->lruvec->lock;

	drawn_add_range(drawn, FIRST_PFN, 5000, 0);
	reclaim(drawn, 1, &victims);
	assert_int_equal(lock[LOCK_prepare_scan].holds, 5);
	assert_int_equal(lock[LOCK_isolate].holds, 5);
	assert_int_equal(lock[LOCK_isolate].folios, 35);
	assert_int_equal(lock[LOCK_putback].holds, 5);
	assert_int_equal(lock[LOCK_putback].folios, 0);
	assert_int_equal(lock[LOCK_note_cost].holds, 0);
	assert_int_equal(drawn->mm.root->lruvec[0].lock[LOCK_note_cost].holds, 0);
}

/* An inactive list that gives nothing ends its shrink before putback; an active one does not. */
static void nothing_taken_costs_no_putback_on_inactive_lists(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;
	const struct lock_count *lock = drawn->lruvec->lock;

	drawn->lruvec->unseen[LRU_INACTIVE_FILE] = 1;
	reclaim(drawn, 1, &victims);
	assert_int_equal(lock[LOCK_isolate].holds, drawn->lruvec->counter[COUNT_isolations]);
	assert_true(lock[LOCK_isolate].holds > 0);
	assert_int_equal(lock[LOCK_putback].holds, 0);
}

/*
 *   inactive [.. C B A]     A waits in CPU 1's lru_activate batch: one more reference, it survives
 *   inactive [A .. C]       and goes to the head
 */
static void folio_in_a_batch_of_another_cpu_survives_at_the_head(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;
	struct folio *a = drawn_listed(drawn, 'A', PG_referenced);

	drawn_list(drawn, "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0);
	lru_batch_queue(&drawn->mm, 1, BATCH_LRU_ACTIVATE, a);
	reclaim(drawn, 1, &victims);
	assert_string_equal(victims.text, "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq");
	assert_ptr_equal(drawn->lruvec->lists[LRU_INACTIVE_FILE].next, &a->lru);
	assert_false(folio_test(a, PG_referenced)); /* looking at it took the flag */
	assert_batch(drawn, 1, BATCH_LRU_ACTIVATE, "A");
	assert_mm_holds(&drawn->mm);
}

static void reclaim_drains_the_batches_of_its_own_cpu_first(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;
	struct folio *a = drawn_listed(drawn, 'A', 0);

	drawn_list(drawn, "BCDEFGHIJKLMNOPQRSTUVWXYZ", 0);
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, '0', 0));
	folio_add_lru(&drawn->mm, 1, drawn_folio(drawn, '1', 0));
	lru_batch_queue(&drawn->mm, 0, BATCH_LRU_ACTIVATE, a);
	reclaim(drawn, 1, &victims);
	assert_string_equal(victims.text, "BCDEFGHIJKLMNOPQRSTUVWXYZ0");
	assert_file_lists(drawn->lruvec, "inactive [] active [A]");
	assert_batch(drawn, 1, BATCH_LRU_ADD, "1");
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_reclaim].drains, 1);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ACTIVATE][DRAIN_reclaim].drains, 1);
}

/* Dirty folios at the tail become active, and age the lists as any activation does. */
static void dirty_folio_at_the_tail_is_activated(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;

	drawn_list(drawn, "A", PG_dirty);
	drawn_list(drawn, "BCDEFGHIJKLMNOPQRSTUVWXYZ", 0);
	assert_int_equal(reclaim(drawn, 1, &victims), 25);
	assert_file_lists(drawn->lruvec, "inactive [] active [A]");
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 1);
	assert_int_equal(drawn->lruvec->nonresident_age, 25 + 1);
}

/* Requested 2, taken one folio of 512 pages: the request goes by pages, the list by folios. */
static void whole_folios_are_taken_even_if_they_are_more_than_asked_for(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;

	for (uint64_t i = 0; i < 10; i++)
		lruvec_add_folio(drawn->lruvec, drawn_folio_of(drawn, drawn->group,
							       FIRST_PFN + i * 512, 9, PG_lru));
	assert_int_equal(reclaim(drawn, 1, &victims), 512); /* 5120 >> 12 is 1 */
	assert_int_equal(victims.nr, 1);
	assert_int_equal(drawn->lruvec->counter[COUNT_pgscan_file], 512);
	assert_int_equal(drawn->lruvec->nonresident_age, 512);
}

/*
 * An empty group: all priorities in vain, and once more with a full walk of the memcgs. Nothing
 * was passed over, so that there is no third attempt.
 */
static void fruitless_reclaim_is_tried_again_with_a_full_walk(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;

	assert_int_equal(reclaim(drawn, 1, &victims), 0);
	assert_int_equal(drawn->lruvec->lock[LOCK_prepare_scan].holds, 2 * 13);
}

/*
 *   inactive [] active [C B A], as of the flush active 0: not low, nothing may be deactivated. The
 *   third attempt deactivates whatever the ratio says.
 */
static void third_attempt_deactivates_by_force(void **state)
{
	struct drawn *drawn = *state;
	struct victims victims;

	drawn_list(drawn, "ABC", PG_active);
	assert_int_equal(reclaim(drawn, 1, &victims), 1);
	assert_string_equal(victims.text, "A");
	assert_file_lists(drawn->lruvec, "inactive [C B] active []");
	assert_int_equal(drawn->lruvec->counter[COUNT_pgdeactivate], 3);
	assert_int_equal(drawn->lruvec->lock[LOCK_prepare_scan].holds, 3 * 13);
}

/* Refaults are a reason to deactivate in the first attempt only: it ends with their snapshot. */
static void refaults_are_forgotten_between_attempts(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	struct scan_request request;

	drawn->lruvec->unseen[LRU_ACTIVE_FILE] = 1;
	drawn->lruvec->flushed[WORKINGSET_ACTIVATE_FILE] = 7;
	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 1, false);
	assert_true(reclaim_walk_next(&walk, &request));
	assert_int_equal(request.lru, LRU_ACTIVE_FILE);
	assert_false(walk.sc.memcg_full_walk);
	reclaim_walk_done(&walk, &(const struct scan_result){ 0 });
	assert_true(reclaim_walk_next(&walk, &request));
	assert_true(walk.sc.memcg_full_walk);
	assert_true(walk.sc.force_deactivate);
	assert_int_equal(drawn->lruvec->refaults[1], 7);
}

/*
 *   group [64] - one [64]      scan counts 1 1 3 7 13 at priorities 6 to 2: 36 pages from all three
 *              \ two [64]      after priority 3, and 49 of 40 after the first 13 of priority 2
 */
static void partial_walk_stops_after_the_memcg_that_gave_enough(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *one = mm_add_memcg(&drawn->mm, drawn->group, 101);
	struct mem_cgroup *two = mm_add_memcg(&drawn->mm, drawn->group, 102);
	struct victims victims;

	for (uint64_t i = 0; i < 64; i++) {
		drawn_listed(drawn, FIRST_PFN + i, 0);
		lruvec_add_folio(&one->lruvec[0],
				 drawn_folio_of(drawn, one, FIRST_PFN + 64 + i, 0, PG_lru));
		lruvec_add_folio(&two->lruvec[0],
				 drawn_folio_of(drawn, two, FIRST_PFN + 128 + i, 0, PG_lru));
	}
	assert_int_equal(reclaim(drawn, 40, &victims), 49);
	assert_int_equal(drawn->lruvec->counter[COUNT_pgsteal_file], 25);
	assert_int_equal(one->lruvec[0].counter[COUNT_pgsteal_file], 12);
	assert_int_equal(two->lruvec[0].counter[COUNT_pgsteal_file], 12);
	/* All shadows name the memcg whose limit was hit, and its age goes on. */
	assert_int_equal(shadow_unpack(victims.last_shadow).memcg_index, drawn->group->index);
	assert_int_equal(drawn->lruvec->nonresident_age, 49);
	assert_int_equal(one->lruvec[0].nonresident_age, 0);
}

static void siblings_of_the_target_are_left_alone(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);
	struct victims victims;

	drawn_list(drawn, "AB", 0);
	lruvec_add_folio(&other->lruvec[0], drawn_folio_of(drawn, other, 'X', 0, PG_lru));
	assert_int_equal(reclaim(drawn, 1, &victims), 2);
	assert_file_lists(&other->lruvec[0], "inactive [X] active []");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, drawn_setup, drawn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(five_thousand_pages_are_scanned_1_2_4_9_19),
		TEST(lists_below_4096_pages_are_left_alone_at_priority_12),
		TEST(goal_is_looked_at_after_each_batch_of_32),
		TEST(each_priority_counts_from_zero_against_the_whole_goal),
		TEST(goal_is_the_charge_but_at_least_32_pages),
		TEST(victims_go_from_the_tail_oldest_first),
		TEST(reclaim_counts_what_it_looks_at_and_what_it_takes),
		TEST(lock_is_held_thrice_for_each_priority),
		TEST(nothing_taken_costs_no_putback_on_inactive_lists),
		TEST(folio_in_a_batch_of_another_cpu_survives_at_the_head),
		TEST(reclaim_drains_the_batches_of_its_own_cpu_first),
		TEST(dirty_folio_at_the_tail_is_activated),
		TEST(whole_folios_are_taken_even_if_they_are_more_than_asked_for),
		TEST(fruitless_reclaim_is_tried_again_with_a_full_walk),
		TEST(third_attempt_deactivates_by_force),
		TEST(refaults_are_forgotten_between_attempts),
		TEST(partial_walk_stops_after_the_memcg_that_gave_enough),
		TEST(siblings_of_the_target_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
