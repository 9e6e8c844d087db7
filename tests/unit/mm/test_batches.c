// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/mm/drawn.h"

static void queue_new(struct drawn *drawn, unsigned int cpu, const char *letters)
{
	for (; *letters; letters++)
		folio_add_lru(&drawn->mm, cpu, drawn_folio(drawn, (unsigned char)*letters, 0));
}

static void queue_to_activate(struct drawn *drawn, unsigned int cpu, const char *letters)
{
	for (; *letters; letters++)
		lru_batch_queue(&drawn->mm, cpu, BATCH_LRU_ACTIVATE,
				folio_at(drawn, (unsigned char)*letters));
}

static void waiting_folio_is_charged_and_on_no_list(void **state)
{
	struct drawn *drawn = *state;

	queue_new(drawn, 0, "AB");
	assert_batch(drawn, 0, BATCH_LRU_ADD, "AB");
	assert_file_lists(drawn->lruvec, "inactive [] active []");
	assert_int_equal(drawn->group->usage_pages, 2);
	assert_false(folio_test(folio_at(drawn, 'A'), PG_lru));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [B A] active []");
	assert_true(folio_test(folio_at(drawn, 'A'), PG_lru));
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_reclaim].folios, 2);
}

/* 31 since 6.9, and full is seen after the 31st was put in: 30 wait, 31 drain. */
static void thirty_first_folio_drains_the_batch(void **state)
{
	struct drawn *drawn = *state;

	queue_new(drawn, 0, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcd");
	assert_int_equal(drawn->mm.cpu[0].batch[BATCH_LRU_ADD].nr, 30);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 0);
	queue_new(drawn, 0, "e");
	assert_batch(drawn, 0, BATCH_LRU_ADD, "");
	assert_file_lists(
		drawn->lruvec,
		"inactive [e d c b a Z Y X W V U T S R Q P O N M L K J I H G F E D C B A] active []");
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].folios, 31);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_full].drains, 1);
	assert_int_equal(drawn->mm.batch_pages_max, 31);
}

/* Seen live: 28 small folios and the large one behind them in one burst. */
static void large_folio_drains_what_waits_before_it(void **state)
{
	struct drawn *drawn = *state;

	queue_new(drawn, 0, "ABC");
	folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, drawn->group, 'L', 2, 0));
	assert_file_lists(drawn->lruvec, "inactive [L2 C B A] active []");
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_large_folio].drains, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 1);
}

static void patched_rules_let_small_large_folios_wait(void **state)
{
	struct drawn *drawn = *state;

	drawn->mm.config.rules.lru_cached_order_limit = 3;
	folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, drawn->group, 'L', 2, 0));
	assert_batch(drawn, 0, BATCH_LRU_ADD, "L2");
	assert_int_equal(drawn->mm.batch_pages, 4);
	folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, drawn->group, 'M', 3, 0));
	assert_file_lists(drawn->lruvec, "inactive [M3 L2] active []");
	assert_int_equal(drawn->mm.batch_pages, 0);
	assert_int_equal(drawn->mm.batch_pages_max, 12);
}

/* A A B A: three runs, three acquisitions, of two locks. */
static void each_run_of_one_lruvec_is_one_hold(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);

	queue_new(drawn, 0, "AB");
	folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, other, 'X', 0, 0));
	queue_new(drawn, 0, "C");
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [C B A] active []");
	assert_file_lists(&other->lruvec[0], "inactive [X] active []");
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].folios, 3);
	assert_int_equal(other->lruvec[0].lock[LOCK_lru_add].holds, 1);
}

static void drain_leaves_the_batches_of_other_cpus(void **state)
{
	struct drawn *drawn = *state;

	queue_new(drawn, 0, "A");
	queue_new(drawn, 1, "B");
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [A] active []");
	assert_batch(drawn, 1, BATCH_LRU_ADD, "B");
}

static void activated_folios_go_to_the_active_head_in_order(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "ABCD", 0);
	drawn_list(drawn, "E", PG_active);
	queue_to_activate(drawn, 0, "CAE");
	assert_file_lists(drawn->lruvec, "inactive [D C B A] active [E]");
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_file_lists(drawn->lruvec, "inactive [D B] active [A C E]");
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_activate].holds, 1);
}

/* Whoever clears the lru flag first wins: the batch comes too late and the activation is lost. */
static void activation_is_lost_if_the_folio_was_isolated_meanwhile(void **state)
{
	struct drawn *drawn = *state;
	struct scan_request request = { .lruvec = drawn->lruvec,
					.lru = LRU_INACTIVE_FILE,
					.nr_to_scan = 1 };
	struct scan_result result = { 0 };
	struct list_head taken;

	drawn_list(drawn, "AB", 0);
	queue_to_activate(drawn, 0, "A");
	list_init(&taken);
	drawn->mm.policy->isolate(&drawn->mm, &request, &taken, &result);
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_activate].holds, 0);
	drawn->mm.policy->putback(&drawn->mm, &request, &taken);
	assert_file_lists(drawn->lruvec, "inactive [A B] active []");
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 0);
}

/* lru_add first, lru_activate last: what was just added can be activated by the same drain. */
static void one_drain_adds_and_then_activates(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "Z", 0);
	queue_new(drawn, 0, "A");
	queue_to_activate(drawn, 0, "ZA");
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_file_lists(drawn->lruvec, "inactive [] active [A Z]");
}

static void end_of_writeback_rotates_to_the_inactive_tail(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "AB", 0);
	drawn_list(drawn, "C", PG_active);
	lru_batch_queue(&drawn->mm, 0, BATCH_LRU_MOVE_TAIL, folio_at(drawn, 'B'));
	lru_batch_queue(&drawn->mm, 0, BATCH_LRU_MOVE_TAIL, folio_at(drawn, 'C'));
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_file_lists(drawn->lruvec, "inactive [A B C] active []");
	assert_int_equal(drawn->lruvec->counter[COUNT_pgrotated], 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_move_tail].holds, 1);
}

/* Added to the list and taken off again, since only the batch's reference was left. */
static void folio_that_died_in_the_batch_costs_two_holds(void **state)
{
	struct drawn *drawn = *state;
	struct folio *a;

	queue_new(drawn, 0, "AB");
	a = folio_at(drawn, 'A');
	mm_folios_put(&drawn->mm, &a, 1);
	assert_batch(drawn, 0, BATCH_LRU_ADD, "AB");
	assert_int_equal(drawn->group->usage_pages, 2); /* charged until the drain */
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_file_lists(drawn->lruvec, "inactive [B] active []");
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].folios, 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 1);
	assert_int_equal(drawn->lruvec->counter[COUNT_dead_at_drain], 1);
	assert_int_equal(drawn->group->usage_pages, 1);
}

static void dead_folio_lives_until_the_last_batch_lets_go(void **state)
{
	struct drawn *drawn = *state;
	struct folio *a = drawn_listed(drawn, 'A', 0);

	queue_to_activate(drawn, 0, "A");
	queue_to_activate(drawn, 1, "A");
	mm_folios_put(&drawn->mm, &a, 1);
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_true(folio_test(a, FOLIO_alive));
	lru_add_drain(&drawn->mm, 1, DRAIN_recorded);
	assert_false(folio_test(a, FOLIO_alive));
	assert_int_equal(drawn->group->usage_pages, 0);
	assert_mm_holds(&drawn->mm);
}

static void folio_queued_twice_in_one_batch_is_let_go_once(void **state)
{
	struct drawn *drawn = *state;
	struct folio *a = drawn_listed(drawn, 'A', 0);

	queue_to_activate(drawn, 0, "AA");
	mm_folios_put(&drawn->mm, &a, 1);
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_false(folio_test(a, FOLIO_alive));
	assert_int_equal(drawn->lruvec->counter[COUNT_dead_at_drain], 1);
	assert_int_equal(drawn->group->usage_pages, 0);
}

static void released_folios_off_the_lists_cost_no_hold(void **state)
{
	struct drawn *drawn = *state;
	struct folio *folio[3] = { drawn_folio(drawn, 'A', 0), drawn_folio(drawn, 'B', 0),
				   drawn_listed(drawn, 'C', 0) };

	mm_folios_put(&drawn->mm, folio, 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 0);
	mm_folios_put(&drawn->mm, folio + 2, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 1);
	assert_int_equal(drawn->group->usage_pages, 0);
}

static void folio_taken_out_of_a_batch_leaves_the_others_in_order(void **state)
{
	struct drawn *drawn = *state;

	queue_new(drawn, 0, "ABCD");
	assert_int_equal(lru_batch_remove(&drawn->mm, 0, BATCH_LRU_ADD, folio_at(drawn, 'B')), 1);
	assert_batch(drawn, 0, BATCH_LRU_ADD, "ACD");
	assert_int_equal(lru_batch_remove(&drawn->mm, 0, BATCH_LRU_ADD, folio_at(drawn, 'B')), -1);
	assert_false(folio_test(folio_at(drawn, 'B'), FOLIO_in_add_batch));
	assert_int_equal(folio_at(drawn, 'B')->nr_batches, 0);
	assert_int_equal(drawn->mm.batch_pages, 3);
}

static void held_batches_only_fill_and_the_oldest_falls_out(void **state)
{
	struct drawn *drawn = *state;

	drawn->mm.config.hold_drains = true;
	for (unsigned int i = 0; i <= FOLIO_BATCH_ROOM; i++)
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 1000 + i, 0));
	assert_int_equal(drawn->mm.cpu[0].batch[BATCH_LRU_ADD].nr, FOLIO_BATCH_ROOM);
	assert_int_equal(drawn->mm.cpu[0].batch[BATCH_LRU_ADD].folio[0]->pfn, 1001);
	assert_file_lists(drawn->lruvec, "inactive [] active []");
	assert_false(folio_test(folio_at(drawn, 1000), FOLIO_in_add_batch));
}

static void empty_batch_drains_without_a_trace(void **state)
{
	struct drawn *drawn = *state;

	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	for (int which = 0; which < NR_LRU_BATCHES; which++)
		assert_int_equal(drawn->mm.drain[which][DRAIN_reclaim].drains, 0);
}

static void batches_have_the_kernels_names(void **state)
{
	(void)state;
	assert_string_equal(lru_batch_name(BATCH_LRU_ADD), "lru_add");
	assert_string_equal(lru_batch_name(BATCH_LRU_ACTIVATE), "lru_activate");
	assert_string_equal(lru_batch_name(BATCH_MLOCK), "mlock");
}

/* On the inactive anon list, [C B A], A the oldest. */
static void three_anon(struct drawn *drawn)
{
	for (const char *letter = "ABC"; *letter; letter++) {
		struct folio *folio = drawn_folio(drawn, (unsigned char)*letter, PG_swapbacked);

		folio_add_lru(&drawn->mm, 0, folio);
	}
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
}

static void assert_sizes(const struct drawn *drawn, const int64_t pages[NR_LRU_LISTS])
{
	for (int lru = 0; lru < NR_LRU_LISTS; lru++)
		assert_int_equal(lruvec_lru_size(drawn->lruvec, (enum lru_list)lru), pages[lru]);
	assert_true(lruvec_check(drawn->lruvec));
}

static void cold_folio_leaves_the_active_list_and_inactive_ones_stay(void **state)
{
	struct drawn *drawn = *state;
	struct mm *mm = &drawn->mm;

	three_anon(drawn);
	mm->policy->folio_activated(mm, drawn->lruvec, folio_at(drawn, 'A'));
	folio_set(folio_at(drawn, 'A'), PG_referenced);
	folio_deactivate(mm, 0, folio_at(drawn, 'A'));
	folio_deactivate(mm, 0, folio_at(drawn, 'B'));
	assert_batch(drawn, 0, BATCH_LRU_DEACTIVATE, "A");
	lru_add_drain(mm, 0, DRAIN_advise);
	assert_sizes(drawn, (int64_t[]){ 3, 0, 0, 0, 0 });
	assert_false(folio_test(folio_at(drawn, 'A'), PG_referenced | PG_active));
	assert_ptr_equal(lruvec_oldest(drawn->lruvec, LRU_INACTIVE_ANON), folio_at(drawn, 'B'));
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_deactivate].holds, 1);
}

static void lazyfree_folio_goes_to_the_inactive_file_list(void **state)
{
	struct drawn *drawn = *state;

	three_anon(drawn);
	folio_set(folio_at(drawn, 'B'), PG_swapcache); /* it has a slot still: it stays */
	folio_mark_lazyfree(&drawn->mm, 0, folio_at(drawn, 'A'));
	folio_mark_lazyfree(&drawn->mm, 0, folio_at(drawn, 'B'));
	lru_add_drain(&drawn->mm, 0, DRAIN_advise);
	assert_sizes(drawn, (int64_t[]){ 2, 0, 1, 0, 0 });
	assert_true(folio_test(folio_at(drawn, 'A'), PG_lazyfree));
	assert_false(folio_test(folio_at(drawn, 'A'), PG_swapbacked));
}

static void locked_folio_is_unevictable_until_it_is_unlocked(void **state)
{
	struct drawn *drawn = *state;

	three_anon(drawn);
	mlock_folio(&drawn->mm, 0, folio_at(drawn, 'A'));
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_sizes(drawn, (int64_t[]){ 2, 0, 0, 0, 1 });
	munlock_folio(&drawn->mm, 0, folio_at(drawn, 'A'));
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_sizes(drawn, (int64_t[]){ 3, 0, 0, 0, 0 });
	assert_ptr_equal(lruvec_oldest(drawn->lruvec, LRU_INACTIVE_ANON), folio_at(drawn, 'B'));
}

/* Both wait in the batch: what counts is the flag when it drains. */
static void folio_locked_and_unlocked_in_one_batch_stays(void **state)
{
	struct drawn *drawn = *state;

	three_anon(drawn);
	mlock_folio(&drawn->mm, 0, folio_at(drawn, 'A'));
	munlock_folio(&drawn->mm, 0, folio_at(drawn, 'A'));
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_sizes(drawn, (int64_t[]){ 3, 0, 0, 0, 0 });
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, drawn_setup, drawn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(waiting_folio_is_charged_and_on_no_list),
		TEST(thirty_first_folio_drains_the_batch),
		TEST(large_folio_drains_what_waits_before_it),
		TEST(patched_rules_let_small_large_folios_wait),
		TEST(each_run_of_one_lruvec_is_one_hold),
		TEST(drain_leaves_the_batches_of_other_cpus),
		TEST(activated_folios_go_to_the_active_head_in_order),
		TEST(activation_is_lost_if_the_folio_was_isolated_meanwhile),
		TEST(one_drain_adds_and_then_activates),
		TEST(end_of_writeback_rotates_to_the_inactive_tail),
		TEST(folio_that_died_in_the_batch_costs_two_holds),
		TEST(dead_folio_lives_until_the_last_batch_lets_go),
		TEST(folio_queued_twice_in_one_batch_is_let_go_once),
		TEST(released_folios_off_the_lists_cost_no_hold),
		TEST(folio_taken_out_of_a_batch_leaves_the_others_in_order),
		TEST(held_batches_only_fill_and_the_oldest_falls_out),
		TEST(empty_batch_drains_without_a_trace),
		TEST(cold_folio_leaves_the_active_list_and_inactive_ones_stay),
		TEST(lazyfree_folio_goes_to_the_inactive_file_list),
		TEST(locked_folio_is_unevictable_until_it_is_unlocked),
		TEST(folio_locked_and_unlocked_in_one_batch_stays),
		cmocka_unit_test(batches_have_the_kernels_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
