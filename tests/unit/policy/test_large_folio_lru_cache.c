// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock holds of the patch and its base, counted: 1024 folios allocated and dropped, loop by loop.
 */
#include "tests/unit/policy/with_policy.h"

#define FOLIOS 1024

/* The loops use frames by turns, as allocators do: a folio may still wait when its frame is free. */
static void churn_to_the_end(struct drawn *drawn, unsigned int loops, uint8_t order)
{
	churn(drawn, loops, FOLIOS, order);
	churn_over(drawn);
}

static void unpatched_kernel_takes_the_lock_for_each_16_kib_folio(void **state)
{
	struct drawn *drawn = open_policy("classic");

	(void)state;
	churn_to_the_end(drawn, 10, 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 10 * FOLIOS);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 10 * 37);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_large_folio].drains, 10 * FOLIOS);
	drawn_close(drawn);
}

/* 10240 folios are 330 batches of 31 and a rest of 10, which carries over from loop to loop. */
static void patched_kernel_takes_it_for_each_31(void **state)
{
	struct drawn *drawn = open_policy("classic+large_folio_lru_cache");
	uint64_t dead;

	(void)state;
	churn_to_the_end(drawn, 10, 2);
	dead = drawn->lruvec->counter[COUNT_dead_at_drain];
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 331);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].folios, 10 * FOLIOS);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_full].drains, 330);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_end].folios, 10);
	/* Each loop leaves loop * 1024 mod 31 folios that die in the batch: 1, 2, ... 10. */
	assert_int_equal(dead, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10);
	drawn_close(drawn);
}

static void folios_at_the_order_limit_do_not_wait(void **state)
{
	struct drawn *drawn = open_policy("classic+large_folio_lru_cache");

	(void)state;
	churn_to_the_end(drawn, 1, 3);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, FOLIOS);
	drawn_close(drawn);
	drawn = open_policy("classic+large_folio_lru_cache=4");
	churn_to_the_end(drawn, 1, 3);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 34);
	drawn_close(drawn);
}

static void limit_of_1_is_the_unpatched_kernel(void **state)
{
	struct drawn *drawn = open_policy("classic+large_folio_lru_cache=1");

	(void)state;
	churn_to_the_end(drawn, 1, 2);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, FOLIOS);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 37);
	drawn_close(drawn);
}

static void single_pages_are_batched_either_way(void **state)
{
	struct drawn *drawn = open_policy("classic");
	uint64_t holds;

	(void)state;
	churn_to_the_end(drawn, 1, 0);
	holds = drawn->lruvec->lock[LOCK_lru_add].holds;
	assert_int_equal(holds, 34);
	drawn_close(drawn);
	drawn = open_policy("classic+large_folio_lru_cache");
	churn_to_the_end(drawn, 1, 0);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, holds);
	drawn_close(drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpatched_kernel_takes_the_lock_for_each_16_kib_folio),
		cmocka_unit_test(patched_kernel_takes_it_for_each_31),
		cmocka_unit_test(folios_at_the_order_limit_do_not_wait),
		cmocka_unit_test(limit_of_1_is_the_unpatched_kernel),
		cmocka_unit_test(single_pages_are_batched_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
