// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/policy/with_policy.h"

/* 1024 = 68 x 15 + 4; frees: a bundle of 7 slots, then of 509: [7] [15 x 33][14] [15 x 33][13] */
static void holds_serve_15_folios_at_most(void **state)
{
	struct drawn *drawn = open_policy("classic+folio_batch_15");

	(void)state;
	churn(drawn, 1, 1024, 0);
	assert_int_equal(drawn->mm.drain[BATCH_LRU_ADD][DRAIN_full].drains, 68);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_add].holds, 68);
	assert_int_equal(drawn->mm.cpu[0].batch[BATCH_LRU_ADD].nr, 4);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].folios, 1020);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 1 + 34 + 34);
	churn_over(drawn);
	drawn_close(drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_serve_15_folios_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
