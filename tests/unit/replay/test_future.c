// SPDX-License-Identifier: GPL-2.0-only
/* The index of a tape's future, over tapes small enough to see it at a glance. */
#include "replay/future.h"

#include "tests/unit/made_tape.h"

static struct made_tape tape;
static struct future *future;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 256);
	future = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	future_close(future);
	made_tape_end(&tape);
	return 0;
}

static void read_future(void)
{
	assert_int_equal(future_read(made_tape_read(&tape), &future), 0);
}

static uint32_t next_use(uint64_t page, uint32_t from)
{
	return future_next_use(future, MADE_DEV, MADE_INO, page, from, from);
}

/*   touch   0  1  2  3  4
 *   page    5  6  5  7  5    */
static void touches_of_a_page_lead_to_each_other(void **state)
{
	static const uint64_t pages[] = { 5, 6, 5, 7, 5 };

	(void)state;
	for (int i = 0; i < 5; i++)
		made_read(&tape, 0, GROUP_TASK, pages[i], pages[i]);
	read_future();
	assert_int_equal(future_after(future, 0), 2);
	assert_int_equal(future_after(future, 2), 4);
	assert_int_equal(future_after(future, 4), FOLIO_NEVER_USED);
	assert_int_equal(future_after(future, 1), FOLIO_NEVER_USED);
	assert_int_equal(next_use(7, 0), 3);
	assert_int_equal(next_use(5, 3), 4);
	assert_int_equal(next_use(5, 5), FOLIO_NEVER_USED);
	assert_int_equal(next_use(8, 0), FOLIO_NEVER_USED);
}

/* Runs ask in turn within one event: what one has asked does not take anything from the next. */
static void looking_ahead_settles_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++)
		made_read(&tape, 0, GROUP_TASK, 5, 5);
	read_future();
	assert_int_equal(future_next_use(future, MADE_DEV, MADE_INO, 5, 4, 1), 4);
	assert_int_equal(future_next_use(future, MADE_DEV, MADE_INO, 5, 1, 1), 1);
}

static void page_of_another_file_is_another_page(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 5, 5);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_GET_PAGES, MADE_INO + 1, MADE_DEV, 5, 5);
	made_read(&tape, 0, GROUP_TASK, 5, 5);
	read_future();
	assert_int_equal(future_after(future, 0), 2);
	assert_int_equal(future_after(future, 1), FOLIO_NEVER_USED);
	assert_int_equal(future_next_use(future, MADE_DEV, MADE_INO + 1, 5, 0, 0), 1);
}

/*   read of 2..5 (touches 0 to 3), read of 4 (touch 4)   */
static void long_read_touches_page_by_page(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 2, 5);
	made_read(&tape, 0, GROUP_TASK, 4, 4);
	read_future();
	assert_int_equal(future_after(future, 2), 4);
	assert_int_equal(future_after(future, 3), FOLIO_NEVER_USED);
}

/* Keeping the page over its truncation would not save the read behind it. */
static void truncation_ends_a_future(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 5, 5); /* touch 0 */
	made_delete(&tape, 0, GROUP_TASK, 5); /* 1 */
	made_read(&tape, 0, GROUP_TASK, 5, 5); /* 2 */
	made_read(&tape, 0, GROUP_TASK, 5, 5); /* 3 */
	read_future();
	assert_int_equal(future_after(future, 0), FOLIO_NEVER_USED);
	assert_int_equal(next_use(5, 0), 0);
	assert_int_equal(next_use(5, 1), FOLIO_NEVER_USED);
	assert_int_equal(next_use(5, 2), 2);
	assert_int_equal(future_after(future, 2), 3);
}

static void eviction_on_the_tape_is_no_end(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 5, 5);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_delete(&tape, 0, GROUP_TASK, 5);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	made_delete(&tape, 0, KDAMOND_TASK, 5);
	made_read(&tape, 0, GROUP_TASK, 5, 5);
	read_future();
	assert_int_equal(future_after(future, 0), 3);
}

/*   a miss of page 5; readahead adds 5 to 8:
 *   5 is a use, the others are not, until they are read   */
static void what_readahead_adds_unasked_is_no_use(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 8, 8); /* touch 0 */
	made_read(&tape, 0, GROUP_TASK, 5, 5); /* 1 */
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, 5, 32, 1, 0);
	for (uint64_t page = 5; page <= 8; page++)
		made_add(&tape, 0, GROUP_TASK, page); /* 2 to 5 */
	made_read(&tape, 0, GROUP_TASK, 5, 5); /* 6 */
	made_read(&tape, 0, GROUP_TASK, 8, 8); /* 7 */
	read_future();
	assert_int_equal(future_after(future, 1), 2);
	assert_int_equal(future_after(future, 2), 6);
	assert_int_equal(future_after(future, 0), 7);
	assert_int_equal(next_use(8, 5), 7);
	assert_int_equal(next_use(6, 0), FOLIO_NEVER_USED);
}

static void many_pages_are_found_again(void **state)
{
	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint64_t page = 0; page < 20000; page++)
			made_event(&tape, 0, 1, PAGE_REQUEST, page * UINT64_C(0x123456789), 1);
	read_future();
	for (uint32_t page = 0; page < 20000; page++) {
		assert_int_equal(future_after(future, page), 20000 + page);
		assert_int_equal(future_next_use(future, 0, 0, page * UINT64_C(0x123456789), 1, 0),
				 page ? page : 20000);
	}
	assert_in_range(future_bytes(future), 40000 * 4, 40000 * 4 + 20000 * 48);
}

static void tape_without_events_has_no_future(void **state)
{
	(void)state;
	read_future();
	assert_int_equal(next_use(1, 0), FOLIO_NEVER_USED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(touches_of_a_page_lead_to_each_other),
		TEST(looking_ahead_settles_nothing),
		TEST(page_of_another_file_is_another_page),
		TEST(long_read_touches_page_by_page),
		TEST(truncation_ends_a_future),
		TEST(eviction_on_the_tape_is_no_end),
		TEST(what_readahead_adds_unasked_is_no_use),
		TEST(many_pages_are_found_again),
		TEST(tape_without_events_has_no_future),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
