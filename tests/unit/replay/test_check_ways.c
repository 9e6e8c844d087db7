// SPDX-License-Identifier: GPL-2.0-only
/* Other ways than the story of test_check.c in which all decisions are equal. */
#include "tests/unit/replay/check_story.h"

/* Somebody on the CPU calls lru_add_drain(): three activations come before the batch is full. */
static void activations_of_an_early_drain_are_equal(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	for (uint64_t page = 5; page < 8; page++)
		read_page(page);
	for (uint64_t page = 5; page < 8; page++)
		made_activation(&tape, 0, OTHER_TASK, page);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_activation), 3);
}

/* Read four times before the batch drains: it stands there twice and is activated once. */
static void folio_queued_twice_is_activated_once(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	for (int times = 0; times < 3; times++) {
		read_page(5);
		read_page(100); /* elsewhere, so that each read of page 5 counts */
	}
	for (uint64_t page = 6; page < 30; page++)
		read_page(page);
	made_activation(&tape, 0, GROUP_TASK, 5);
	for (uint64_t page = 6; page < 30; page++)
		made_activation(&tape, 0, GROUP_TASK, page);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_activation), 25);
}

static void deactivate_batch(uint64_t nr)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, nr, nr, 0, nr, ACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, nr, 0, nr, 0,
		   TAPE_VALUE_ABSENT, 2);
}

/*
 * All 62 pages are active: of them 1, 3, 7, 12, 19 and 20 are deactivated at priorities 5 to 0, each
 * after the inactive list was scanned: 0, 0, 0, 2, 10 and 30 pages, in the order they came in.
 */
static void deactivated_folios_are_evicted_in_turn(void **state)
{
	static const struct {
		uint64_t evicted, deactivated;
	} round[] = { { 0, 1 }, { 0, 3 }, { 0, 7 }, { 2, 12 }, { 10, 19 }, { 30, 20 } };
	uint64_t next = 0;

	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	come_in(31);
	for (uint64_t page = 0; page < 62; page++) {
		read_page(page);
		for (uint64_t p = page - 30; (page == 30 || page == 61) && p <= page; p++)
			made_activation(&tape, 0, GROUP_TASK, p);
	}
	made_flush(&tape, 1);
	reclaim_begins();
	for (unsigned int i = 0; i < sizeof(round) / sizeof(round[0]); i++) {
		if (round[i].evicted)
			evict_batch(next, round[i].evicted, NO_PAGE);
		next += round[i].evicted;
		deactivate_batch(round[i].deactivated);
	}
	reclaim_ends(42);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_isolate_request), 9);
	assert_int_equal(decided(CHECK_victim), 42);
	assert_int_equal(decided(CHECK_reclaim_stop), 1);
}

static void dirty_page(uint64_t page)
{
	made_event_text(&tape, 0, GROUP_TASK, WRITEBACK_DIRTY_FOLIO, "254:0", MADE_INO, page, 0);
}

/* Page 5 is dirty when its turn comes: activated, not evicted, and not on the inactive list again. */
static void dirty_folio_is_expected_to_be_activated(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	dirty_page(5);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	evict_batch(1, 3, NO_PAGE);
	isolate(6, 6);
	for (uint64_t page = 4; page < 10; page++)
		if (page != 5)
			evict_page(page);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 6, 5, 1, 0, 0, 0, 0, 1,
		   0, 0, TAPE_VALUE_ABSENT);
	evict_batch(10, 10, NO_PAGE);
	evict_batch(20, 11, NO_PAGE);
	reclaim_ends(30);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_victim), 30);
	assert_int_equal(check_undecided(check)->survivors, 0);
}

/* Page 5 was met dirty, and is on the disk now: it comes back to the tail, and is the next to go. */
static void written_folio_comes_back_to_the_tail(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	dirty_page(5);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	evict_batch(1, 3, NO_PAGE);
	isolate(6, 6);
	for (uint64_t page = 4; page < 10; page++)
		if (page != 5)
			evict_page(page);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 6, 5, 1, 0, 0, 0, 0, 1,
		   0, 0, TAPE_VALUE_ABSENT);
	made_event(&tape, 0, 2, EXT4_WRITEPAGES, MADE_DEV, MADE_INO, 0, 0, 1);
	made_event_text(&tape, 0, 2, BLOCK_BIO_QUEUE, "W", MADE_DEV, 800, 8, 0);
	made_event(&tape, 0, 2, EXT4_WRITEPAGES_RESULT, MADE_DEV, MADE_INO);
	made_event_text(&tape, 0, 0, BLOCK_RQ_COMPLETE, "W", MADE_DEV, 800, 8, 0);
	isolate(10, 10);
	evict_page(5);
	for (uint64_t page = 10; page < 19; page++)
		evict_page(page);
	shrunk(10, 10);
	evict_batch(19, 12, NO_PAGE);
	reclaim_ends(31);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_victim), 31);
	assert_int_equal(check_undecided(check)->writeback, 0);
	assert_int_equal(world.inferred[INFER_written_in_order], 1);
}

static void eviction_of_a_dirty_folio_is_not_decided(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	dirty_page(0);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE); /* written back by then */
	run_check(1);
	assert_int_equal(decided(CHECK_victim), 0);
	assert_int_equal(check_undecided(check)->writeback, 1);
	assert_int_equal(world.inferred[INFER_writeback_ended], 1);
}

/* Compaction took it off its list and put it back: at the head now, the last to go. */
static void folio_inserted_again_is_the_youngest(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	made_insertion(&tape, 0, GROUP_TASK, 0, INACTIVE_FILE);
	reclaim_begins();
	evict_batch(1, 1, NO_PAGE);
	evict_batch(2, 3, NO_PAGE);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_victim), 4);
	assert_int_equal(world.inferred[INFER_reinserted], 1);
}

/* A locked page goes to the unevictable list whatever the policy says. */
static void unevictable_folio_is_taken_as_it_comes(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_add(&tape, 0, GROUP_TASK, 7);
	made_insertion(&tape, 0, GROUP_TASK, 7, 4);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_insertion_list), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(activations_of_an_early_drain_are_equal),
		TEST(folio_queued_twice_is_activated_once),
		TEST(deactivated_folios_are_evicted_in_turn),
		TEST(dirty_folio_is_expected_to_be_activated),
		TEST(written_folio_comes_back_to_the_tail),
		TEST(eviction_of_a_dirty_folio_is_not_decided),
		TEST(folio_inserted_again_is_the_youngest),
		TEST(unevictable_folio_is_taken_as_it_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
