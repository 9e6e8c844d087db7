// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/kswapd.h"

#include "tests/unit/mm/drawn.h"

#define FIRST_PFN 65536

/* One zone: 100 pages are the high mark. */
static void one_zone(struct drawn *drawn, int64_t free_pages)
{
	drawn->mm.zones.nr = 1;
	drawn->mm.zones.zone[0] = (struct zone){
		.start_pfn = 1,
		.spanned_pages = 1u << 20,
		.managed_pages = 1u << 20,
		.mark = { 60, 80, 100 },
		.free_pages = free_pages,
	};
}

static void evicted(void *ctx, struct folio *folio, uint64_t shadow)
{
	(void)shadow;
	*(uint64_t *)ctx += folio_nr_pages(folio);
}

/* 4100 pages: 1 at priority 12, 2 at 11, 4, 7, 15, 31, and each round looked at fewer than 100. */
static void rounds_go_on_until_a_zone_is_above_high(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	uint64_t nr = 0;
	const struct reclaim_hooks hooks = { .ctx = &nr, .evicted = evicted };

	one_zone(drawn, 0);
	drawn_add_range(drawn, FIRST_PFN, 4100, 0);
	drawn->mm.zones.zone[0].free_pages = 70;
	kswapd_begin(&walk, &drawn->mm, 0);
	assert_int_equal(walk.sc.nr_to_reclaim, 100);
	reclaim_finish(&walk, 0, &hooks);
	assert_int_equal(nr, 1 + 2 + 4 + 7 + 15 + 31);
	assert_int_equal(drawn->mm.zones.zone[0].free_pages, 70 + (int64_t)nr);
	assert_true(zones_balanced(&drawn->mm.zones, 0));
}

/* 20 of 20480 pages at priority 10, round after round, though the zone is far above its high mark. */
static void boost_is_worked_off_at_priority_10(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	uint64_t nr = 0;
	const struct reclaim_hooks hooks = { .ctx = &nr, .evicted = evicted };

	one_zone(drawn, 1000);
	drawn_add_range(drawn, FIRST_PFN, 20480, 0);
	drawn->mm.zones.zone[0].free_pages = 1000;
	kswapd_begin(&walk, &drawn->mm, 0);
	kswapd_boost(&walk, 512);
	reclaim_finish(&walk, 0, &hooks);
	assert_in_range(nr, 512, 512 + 20);
	assert_int_equal(walk.sc.priority, DEF_PRIORITY - 2);
}

/* Below the high mark and the boost together the boost counts as a mark only. */
static void boost_of_a_zone_that_lacks_pages_raises_its_mark(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	uint64_t nr = 0;
	const struct reclaim_hooks hooks = { .ctx = &nr, .evicted = evicted };

	one_zone(drawn, 0);
	drawn_add_range(drawn, FIRST_PFN, 20480, 0);
	drawn->mm.zones.zone[0].free_pages = 70;
	kswapd_begin(&walk, &drawn->mm, 0);
	kswapd_boost(&walk, 512);
	assert_false(walk.sc.boosted);
	reclaim_finish(&walk, 0, &hooks);
	assert_true(drawn->mm.zones.zone[0].free_pages > 100 + 512);
	assert_true(walk.sc.priority < DEF_PRIORITY - 2);
}

/* All 1,000 anon folios are active: 32 of each memcg's are asked for where a round begins, and nowhere else. */
static void anon_is_aged_before_each_round(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	struct scan_request request;
	const struct scan_result nothing = { 0 };
	unsigned int rounds = 0;

	one_zone(drawn, 0);
	drawn_add_range(drawn, FIRST_PFN, 1000, PG_active | PG_swapbacked);
	drawn_add_range(drawn, FIRST_PFN + 1000, 8192, 0);
	drawn->mm.zones.zone[0].free_pages = 0;
	drawn->mm.config.total_swap_pages = 1000;
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	kswapd_begin(&walk, &drawn->mm, 0);
	while (reclaim_walk_next(&walk, &request)) {
		if (kswapd_may_sleep(&walk, true)) {
			rounds++;
			for (struct mem_cgroup *memcg = drawn->mm.root; memcg;
			     memcg = mem_cgroup_next(drawn->mm.root, memcg)) {
				assert_int_equal(request.lru, LRU_ACTIVE_ANON);
				assert_int_equal(request.nr_to_scan, SWAP_CLUSTER_MAX);
				assert_ptr_equal(request.lruvec, mem_cgroup_lruvec(memcg, 0));
				reclaim_walk_done(&walk, &nothing);
				assert_true(reclaim_walk_next(&walk, &request));
			}
		}
		reclaim_walk_done(&walk, &nothing);
	}
	assert_int_equal(rounds,
			 DEF_PRIORITY); /* each raised the priority, since nothing came free */
}

/* What the walk of kswapd asks for first, of 8,192 anon pages and so many file pages. */
static struct scan_request first_request(struct drawn *drawn, unsigned int nr_file, bool in_check)
{
	struct reclaim_walk walk;
	struct scan_request request;

	one_zone(drawn, 0);
	drawn->mm.config.total_swap_pages = drawn->mm.config.nr_swap_pages = 10000;
	drawn_add_range(drawn, FIRST_PFN, 8192, PG_swapbacked);
	drawn_add_range(drawn, FIRST_PFN + 8192, nr_file, 0);
	drawn->mm.zones.zone[0].free_pages = 70;
	drawn->mm.config.hold_drains = in_check;
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	kswapd_begin(&walk, &drawn->mm, 0);
	assert_true(reclaim_walk_next(&walk, &request));
	return request;
}

static void fewer_file_pages_than_the_high_mark_lacks_are_spared(void **state)
{
	struct scan_request request = first_request(*state, 30, false);

	assert_int_equal(request.lru, LRU_INACTIVE_ANON);
	assert_int_equal(request.nr_to_scan, 8192 >> DEF_PRIORITY);
}

/* Which knows no free pages: as many as the low mark. */
static void in_check_too_if_they_are_fewer_than_from_low_to_high(void **state)
{
	struct scan_request request = first_request(*state, 20, true);

	assert_int_equal(request.lru, LRU_INACTIVE_ANON);
	assert_int_equal(request.nr_to_scan, 8192 >> DEF_PRIORITY);
}

static void in_check_not_if_they_are_more(void **state)
{
	struct scan_request request = first_request(*state, 21, true);

	assert_true(request.nr_to_scan < 8192 >> DEF_PRIORITY);
}

/* Without swap nothing would come of it. */
static void without_swap_anon_is_not_aged(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	struct scan_request request;

	one_zone(drawn, 0);
	drawn_add_range(drawn, FIRST_PFN, 1000, PG_active | PG_swapbacked);
	drawn_add_range(drawn, FIRST_PFN + 1000, 8192, 0);
	drawn->mm.zones.zone[0].free_pages = 0;
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	kswapd_begin(&walk, &drawn->mm, 0);
	assert_true(reclaim_walk_next(&walk, &request));
	assert_int_equal(request.lru, LRU_INACTIVE_FILE);
}

static void a_round_that_looked_at_enough_keeps_its_priority(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	struct scan_request request;
	int last = DEF_PRIORITY;
	unsigned int rounds_at_last = 0;

	one_zone(drawn, 0);
	drawn_add_range(drawn, FIRST_PFN, 4096 * 128, 0); /* 128 at priority 12 */
	drawn->mm.zones.zone[0].free_pages = 0;
	kswapd_begin(&walk, &drawn->mm, 0);
	for (int i = 0; i < 12 && reclaim_walk_next(&walk, &request); i++) {
		rounds_at_last += kswapd_may_sleep(&walk, true);
		last = walk.sc.priority;
		reclaim_walk_done(&walk,
				  &(struct scan_result){ .nr_scanned = request.nr_to_scan,
							 .nr_taken = request.nr_to_scan,
							 .nr_reclaimed = request.nr_to_scan });
	}
	assert_int_equal(last, DEF_PRIORITY);
	assert_int_equal(rounds_at_last, 3); /* four batches of 32 each */
}

static void without_progress_it_gives_up_at_priority_1(void **state)
{
	struct drawn *drawn = *state;
	struct reclaim_walk walk;
	struct scan_request request;
	int least = DEF_PRIORITY;

	one_zone(drawn, 0);
	drawn_add_range(drawn, FIRST_PFN, 5000, 0);
	kswapd_begin(&walk, &drawn->mm, 0);
	while (reclaim_walk_next(&walk, &request)) {
		least = walk.sc.priority;
		reclaim_walk_done(&walk, &(struct scan_result){ 0 });
	}
	assert_int_equal(least, 1);
}

static void folios_beyond_the_wakers_zone_are_passed_over(void **state)
{
	struct drawn *drawn = *state;
	struct list_head taken;
	struct scan_result result = { 0 };
	struct scan_request request = {
		.lruvec = drawn->lruvec, .lru = LRU_INACTIVE_FILE, .nr_to_scan = 2, .pfn_limit = 'a'
	};
	char text[DRAWING_BYTES];

	list_init(&taken);
	drawn_list(drawn, "aAbBcC", 0);
	drawn->mm.policy->isolate(&drawn->mm, &request, &taken, &result);
	assert_int_equal(result.nr_taken, 2);
	draw_list(text, 0, &taken);
	assert_string_equal(text, "[A B]");
	draw_list(text, 0, &drawn->lruvec->lists[LRU_INACTIVE_FILE]);
	assert_string_equal(text, "[b a C c]");
	drawn->mm.policy->putback(&drawn->mm, &request, &taken);
}

/* Two groups a and b: a partial walk that a satisfies goes on at b the next time. */
static void partial_walks_share_a_cursor(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *b = mm_add_memcg(&drawn->mm, NULL, 200);
	struct reclaim_walk walk;
	struct scan_request request;

	assert_non_null(b);
	drawn_add_range(drawn, FIRST_PFN, 4096 * 40, 0);
	for (uint64_t pfn = 500000; pfn < 500000 + 4096 * 40; pfn++) {
		struct folio *folio = drawn_folio_of(drawn, b, pfn, 0, PG_lru);

		lruvec_add_folio(folio->lruvec, folio);
	}
	for (int call = 0; call < 4; call++) {
		struct lruvec *first = NULL;

		reclaim_walk_begin(&walk, &drawn->mm, NULL, 32, false);
		while (reclaim_walk_next(&walk, &request)) {
			first = first ? first : request.lruvec;
			reclaim_walk_done(
				&walk, &(struct scan_result){ .nr_scanned = request.nr_to_scan,
							      .nr_taken = request.nr_to_scan,
							      .nr_reclaimed = request.nr_to_scan });
		}
		reclaim_walk_end(&walk);
		assert_ptr_equal(first, call % 2 ? mem_cgroup_lruvec(b, 0) : drawn->lruvec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			fewer_file_pages_than_the_high_mark_lacks_are_spared, drawn_setup,
			drawn_teardown),
		cmocka_unit_test_setup_teardown(
			in_check_too_if_they_are_fewer_than_from_low_to_high, drawn_setup,
			drawn_teardown),
		cmocka_unit_test_setup_teardown(in_check_not_if_they_are_more, drawn_setup,
						drawn_teardown),
		cmocka_unit_test_setup_teardown(rounds_go_on_until_a_zone_is_above_high,
						drawn_setup, drawn_teardown),
		cmocka_unit_test_setup_teardown(boost_is_worked_off_at_priority_10, drawn_setup,
						drawn_teardown),
		cmocka_unit_test_setup_teardown(boost_of_a_zone_that_lacks_pages_raises_its_mark,
						drawn_setup, drawn_teardown),
		cmocka_unit_test_setup_teardown(anon_is_aged_before_each_round, drawn_setup,
						drawn_teardown),
		cmocka_unit_test_setup_teardown(without_swap_anon_is_not_aged, drawn_setup,
						drawn_teardown),
		cmocka_unit_test_setup_teardown(a_round_that_looked_at_enough_keeps_its_priority,
						drawn_setup, drawn_teardown),
		cmocka_unit_test_setup_teardown(without_progress_it_gives_up_at_priority_1,
						drawn_setup, drawn_teardown),
		cmocka_unit_test_setup_teardown(folios_beyond_the_wakers_zone_are_passed_over,
						drawn_setup, drawn_teardown),
		cmocka_unit_test_setup_teardown(partial_walks_share_a_cursor, drawn_setup,
						drawn_teardown),
	};

	return cmocka_run_group_tests_name("kswapd", tests, NULL, NULL);
}
