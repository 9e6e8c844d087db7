// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/policy/with_policy.h"

/* Three folios wait, the middle one's owner goes. */
static struct drawn *one_of_three_is_dead(const char *policy)
{
	struct drawn *drawn = open_policy(policy);
	struct folio *dead = drawn_folio(drawn, 'B', 0);

	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	folio_add_lru(&drawn->mm, 0, dead);
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'C', 0));
	mm_folios_put(&drawn->mm, &dead, 1);
	assert_int_equal(drawn->group->usage_pages, 3);
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [C A] active []");
	assert_int_equal(drawn->group->usage_pages, 2);
	assert_int_equal(drawn->lruvec->counter[COUNT_dead_at_drain], 1);
	return drawn;
}

static void dead_folio_is_never_added(void **state)
{
	struct drawn *drawn = one_of_three_is_dead("classic+dead_folios_at_drain");

	(void)state;
	assert_int_equal(drawn->lruvec->counter[COUNT_lru_insertions], 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].folios, 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 0);
	drawn_close(drawn);
}

static void without_it_the_lock_is_taken_twice(void **state)
{
	struct drawn *drawn = one_of_three_is_dead("classic");

	(void)state;
	assert_int_equal(drawn->lruvec->counter[COUNT_lru_insertions], 3);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].folios, 3);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 1);
	drawn_close(drawn);
}

static void batch_of_dead_folios_takes_no_lock(void **state)
{
	struct drawn *drawn = open_policy("classic+dead_folios_at_drain");
	struct folio *dead = drawn_folio(drawn, 'A', 0);

	(void)state;
	folio_add_lru(&drawn->mm, 0, dead);
	mm_folios_put(&drawn->mm, &dead, 1);
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_reclaim].drains, 1);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 0);
	assert_int_equal(drawn->group->usage_pages, 0);
	assert_false(folio_test(dead, FOLIO_alive));
	drawn_close(drawn);
}

/* The dead one between them is no reason to release the lock; the other group is. */
static void dead_folio_of_another_group_breaks_no_run(void **state)
{
	struct drawn *drawn = open_policy("classic+dead_folios_at_drain");
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);
	struct folio *dead = drawn_folio_of(drawn, other, 'X', 0, 0);

	(void)state;
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	folio_add_lru(&drawn->mm, 0, dead);
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'B', 0));
	mm_folios_put(&drawn->mm, &dead, 1);
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 1);
	assert_int_equal(other->lruvec[0].lock[LOCK_lru_add].holds, 0);
	assert_int_equal(other->lruvec[0].counter[COUNT_dead_at_drain], 1);
	drawn_close(drawn);
}

/* It waits in lru_activate as well: the drain of lru_add is not its end. */
static void folio_that_another_batch_holds_is_added(void **state)
{
	struct drawn *drawn = open_policy("classic+dead_folios_at_drain");
	struct folio *folio = drawn_folio(drawn, 'A', 0);

	(void)state;
	folio_add_lru(&drawn->mm, 0, folio);
	lru_batch_queue(&drawn->mm, 1, BATCH_LRU_ACTIVATE, folio);
	mm_folios_put(&drawn->mm, &folio, 1);
	lru_batch_drain(&drawn->mm, 0, BATCH_LRU_ADD, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [A] active []");
	lru_batch_drain(&drawn->mm, 1, BATCH_LRU_ACTIVATE, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [] active []");
	assert_int_equal(drawn->group->usage_pages, 0);
	drawn_close(drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dead_folio_is_never_added),
		cmocka_unit_test(without_it_the_lock_is_taken_twice),
		cmocka_unit_test(batch_of_dead_folios_takes_no_lock),
		cmocka_unit_test(dead_folio_of_another_group_breaks_no_run),
		cmocka_unit_test(folio_that_another_batch_holds_is_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
