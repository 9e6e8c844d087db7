// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/policy/with_policy.h"

/* 1024 = 33 x 31 + 1: the last folio reaches its list before it is freed. */
static void zap_drains_what_still_waits(void **state)
{
	struct drawn *drawn = open_policy("classic+zap_drains");

	(void)state;
	churn(drawn, 10, 1024, 0);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_full].drains, 10 * 33);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_zap].drains, 10);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_zap].folios, 10);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 10 * 34);
	assert_int_equal(drawn->lruvec->counter[COUNT_dead_at_drain], 0);
	churn_over(drawn);
	drawn_close(drawn);
}

static void without_it_the_rest_carries_over(void **state)
{
	struct drawn *drawn = open_policy("classic");

	(void)state;
	churn(drawn, 10, 1024, 0);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 10 * 1024 / 31);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_zap].drains, 0);
	/* After the n-th loop n of its folios wait, die, and are drained by the next. */
	assert_int_equal(drawn->lruvec->counter[COUNT_dead_at_drain],
			 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9);
	churn_over(drawn);
	drawn_close(drawn);
}

static void zap_leaves_the_batches_of_other_cpus(void **state)
{
	struct drawn *drawn = open_policy("classic+zap_drains");
	struct mmu_gather gather = { 0 };

	(void)state;
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	folio_add_lru(&drawn->mm, 1, drawn_folio(drawn, 'B', 0));
	mmu_gather_free(&drawn->mm, 1, &gather, drawn_listed(drawn, 'C', PG_swapbacked));
	assert_batch(drawn, 0, BATCH_LRU_ADD, "A");
	assert_batch(drawn, 1, BATCH_LRU_ADD, "");
	assert_file_lists(drawn->lruvec, "inactive [B] active []");
	mmu_gather_finish(&drawn->mm, &gather);
	drawn_close(drawn);
}

/* What another task adds in the middle of a zap is drained with the zap's next bundle. */
static void each_bundle_drains_again(void **state)
{
	struct drawn *drawn = open_policy("classic+zap_drains");
	struct mmu_gather gather = { 0 };

	(void)state;
	mmu_gather_free(&drawn->mm, 0, &gather, drawn_listed(drawn, 'A', PG_swapbacked));
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'B', 0));
	assert_batch(drawn, 0, BATCH_LRU_ADD, "B");
	mmu_gather_finish(&drawn->mm, &gather);
	assert_batch(drawn, 0, BATCH_LRU_ADD, "");
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_zap].drains, 1);
	drawn_close(drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zap_drains_what_still_waits),
		cmocka_unit_test(without_it_the_rest_carries_over),
		cmocka_unit_test(zap_leaves_the_batches_of_other_cpus),
		cmocka_unit_test(each_bundle_drains_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
