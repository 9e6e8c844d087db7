// SPDX-License-Identifier: GPL-2.0-only
/* What classic@5.6 does otherwise than classic@6.18. */
#include "tests/unit/policy/with_policy.h"

static void node_has_one_lock_for_all_groups(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);

	(void)state;
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, other, 'X', 0, 0));
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'B', 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [B A] active []");
	assert_file_lists(&other->lruvec[0], "inactive [X] active []");
	/* The hold stands with the first folio's group, each folio with its own. */
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].folios, 2);
	assert_int_equal(other->lruvec[0].lock[LOCK_lru_add].holds, 0);
	assert_int_equal(other->lruvec[0].lock[LOCK_lru_add].folios, 1);
	drawn_close(drawn);
}

static void lock_is_taken_before_it_is_seen_that_a_folio_was_isolated(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");

	(void)state;
	lru_batch_queue(&drawn->mm, 0, BATCH_LRU_ACTIVATE, drawn_folio(drawn, 'A', 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_activate].holds, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_activate].folios, 0);
	drawn_close(drawn);
	drawn = open_policy("classic");
	lru_batch_queue(&drawn->mm, 0, BATCH_LRU_ACTIVATE, drawn_folio(drawn, 'A', 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_activate].holds, 0);
	drawn_close(drawn);
}

static void anon_starts_active(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");

	(void)state;
	folio_add_lru_vma(&drawn->mm, 0, drawn_folio(drawn, 'A', PG_swapbacked));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_anon_lists(drawn->lruvec, "inactive [] active [A]");
	drawn_close(drawn);
	drawn = open_policy("classic");
	folio_add_lru_vma(&drawn->mm, 0, drawn_folio(drawn, 'A', PG_swapbacked));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_anon_lists(drawn->lruvec, "inactive [A] active []");
	drawn_close(drawn);
}

/*
 * Bundles of 8, 510, 506 single pages. The lock is handed on after 32 entries: 8, then 510 = 15 x 32 +
 * 30, then 506 = 15 x 32 + 26. Without batches of 15 or 31 between.
 */
static void zap_holds_the_lock_for_32_pages(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");

	(void)state;
	churn(drawn, 1, 1024, 0);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].folios, 1024);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 1 + 16 + 16);
	assert_int_equal(drawn->lruvec->counter[COUNT_dead_at_drain], 0);
	churn_over(drawn);
	drawn_close(drawn);
}

static void each_dying_large_folio_has_a_hold_of_its_own(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");

	(void)state;
	churn(drawn, 1, 100, 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 100);
	churn_over(drawn);
	drawn_close(drawn);
}

/* A group's page evicted for its parent's limit: the group ages, and before the look. */
static void eviction_ages_the_pages_own_group_first(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");
	struct mem_cgroup *inner = mm_add_memcg(&drawn->mm, drawn->group, 102);
	struct folio *folio = drawn_folio_of(drawn, inner, 'A', 0, 0);
	struct shadow shadow;

	(void)state;
	shadow = drawn->mm.policy->evict(&drawn->mm, folio, drawn->group);
	assert_int_equal(shadow.age, 1);
	assert_int_equal(inner->lruvec[0].nonresident_age, 1);
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	drawn_close(drawn);
}

/* 20 inactive and 10 active file pages, plenty of anon: only the active file pages count. */
static bool refault_activates(uint64_t distance)
{
	struct mm_config config = drawn_config();
	struct drawn *drawn;
	struct folio *folio;
	struct shadow shadow = { 0 };
	bool active;

	config.rules = *mm_rules_for_release("5.6");
	config.nr_swap_pages = config.total_swap_pages = 1000;
	drawn = drawn_open(config);
	shadow.memcg_index = drawn->group->index;
	drawn_add_range(drawn, 1000, 20, 0);
	drawn_add_range(drawn, 2000, 10, PG_active);
	drawn_add_range(drawn, 3000, 100, PG_active | PG_swapbacked);
	workingset_age_nonresident(drawn->lruvec, distance);
	folio = drawn_folio(drawn, 'A', 0);
	drawn->mm.policy->refault(&drawn->mm, folio, shadow);
	active = folio_test(folio, PG_active);
	drawn_close(drawn);
	return active;
}

static void workingset_is_the_active_file_list(void **state)
{
	(void)state;
	assert_true(refault_activates(10));
	assert_false(refault_activates(11));
}

static void second_access_of_anon_ages_nothing(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");
	struct folio *anon = drawn_listed(drawn, 'A', PG_swapbacked | PG_referenced);
	struct folio *file = drawn_listed(drawn, 'B', PG_referenced);

	(void)state;
	drawn->mm.policy->folio_accessed(&drawn->mm, 0, anon);
	assert_int_equal(drawn->lruvec->nonresident_age, 0);
	drawn->mm.policy->folio_accessed(&drawn->mm, 0, file);
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	drawn_close(drawn);
}

static void restored_folio_notes_no_cost(void **state)
{
	struct drawn *drawn = open_policy("classic@5.6");
	struct folio *folio = drawn_folio(drawn, 'A', 0);
	struct shadow shadow = { .memcg_index = drawn->group->index, .workingset = true };

	(void)state;
	drawn->mm.policy->refault(&drawn->mm, folio, shadow);
	assert_true(folio_test(folio, PG_workingset));
	assert_int_equal(drawn->lruvec->file_cost, 0);
	assert_int_equal(drawn->lruvec->lock[LOCK_note_cost].holds, 0);
	drawn_close(drawn);
}

/*
 * 256 pages a list. Anon: half of what was looked at was rotated; file: nothing was. At priority 4
 * with swappiness 60: anon 60 * 41 / 21 = 117, file 140 * 41 / 1 = 5740, of 5858 together.
 */
static void rotated_anon_is_scanned_less(void **state)
{
	struct mm_config config = drawn_config();
	struct drawn *drawn;
	struct reclaim_walk walk;
	struct scan_request request;

	(void)state;
	config.rules = *mm_rules_for_release("5.6");
	config.nr_swap_pages = config.total_swap_pages = 1000;
	drawn = drawn_open(config);
	drawn_add_range(drawn, 1000, 256, PG_swapbacked);
	drawn_add_range(drawn, 2000, 256, PG_active | PG_swapbacked);
	drawn_add_range(drawn, 3000, 256, 0);
	drawn_add_range(drawn, 4000, 256, PG_active);
	drawn->lruvec->recent_scanned[0] = drawn->lruvec->recent_scanned[1] = 40;
	drawn->lruvec->recent_rotated[0] = 20;
	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 32, true);
	walk.sc.priority = 4;
	walk.memcg = drawn->group;
	drawn->mm.policy->shrink_begin(&walk, drawn->lruvec);
	/* 16 * 117 / 5858 = 0 of each anon list, 16 * 5740 / 5858 = 15 of each file list. */
	assert_true(drawn->mm.policy->shrink_next(&walk, drawn->lruvec, &request));
	assert_int_equal(request.lru, LRU_INACTIVE_FILE);
	assert_int_equal(request.nr_to_scan, 15);
	assert_int_equal(drawn->lruvec->lock[LOCK_prepare_scan].holds, 1);
	/* Above a quarter of its lists a type's numbers are halved. */
	drawn->lruvec->recent_scanned[0] = 129;
	drawn->mm.policy->shrink_begin(&walk, drawn->lruvec);
	assert_int_equal(drawn->lruvec->recent_scanned[0], 64);
	assert_int_equal(drawn->lruvec->recent_rotated[0], 10);
	assert_int_equal(drawn->lruvec->recent_scanned[1], 40);
	drawn_close(drawn);
}

/* Only the first of two children has enough; 6.18 stops there, 5.6 goes on. */
static unsigned int children_visited(const char *policy)
{
	struct drawn *drawn = open_policy(policy);
	struct mem_cgroup *child[2];
	struct reclaim_walk walk;
	struct scan_request request;
	unsigned int visited = 0;

	for (int i = 0; i < 2; i++) {
		child[i] = mm_add_memcg(&drawn->mm, drawn->group, 200 + (uint64_t)i);
		for (uint64_t pfn = 0; pfn < 300000; pfn += 512)
			lruvec_add_folio(&child[i]->lruvec[0],
					 drawn_folio_of(drawn, child[i],
							1000000 + 1000000 * (uint64_t)i + pfn, 9,
							PG_lru));
	}
	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 32, false);
	while (reclaim_walk_next(&walk, &request)) {
		struct scan_result result = { .nr_scanned = 512,
					      .nr_taken = 512,
					      .nr_reclaimed = 512 };

		for (int i = 0; i < 2; i++)
			if (request.lruvec == &child[i]->lruvec[0])
				visited |= 1u << i;
		reclaim_walk_done(&walk, &result);
	}
	reclaim_walk_end(&walk);
	drawn_close(drawn);
	return visited;
}

static void reclaim_visits_all_groups(void **state)
{
	(void)state;
	assert_int_equal(children_visited("classic@5.6"), 3);
	assert_int_equal(children_visited("classic"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_has_one_lock_for_all_groups),
		cmocka_unit_test(lock_is_taken_before_it_is_seen_that_a_folio_was_isolated),
		cmocka_unit_test(anon_starts_active),
		cmocka_unit_test(zap_holds_the_lock_for_32_pages),
		cmocka_unit_test(each_dying_large_folio_has_a_hold_of_its_own),
		cmocka_unit_test(eviction_ages_the_pages_own_group_first),
		cmocka_unit_test(workingset_is_the_active_file_list),
		cmocka_unit_test(second_access_of_anon_ages_nothing),
		cmocka_unit_test(restored_folio_notes_no_cost),
		cmocka_unit_test(rotated_anon_is_scanned_less),
		cmocka_unit_test(reclaim_visits_all_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
