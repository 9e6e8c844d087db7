// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of isolated folios, as growing lists tell it:
 *
 *   file   31 pages, mapped, oldest first   isolated 0..7: 0 and 2 go, 3 becomes active, the others stay
 *   anon   4 pages, two written to swap     their writes end, they move to the tail: the last one first
 */
#include "tests/unit/replay/looks_story.h"

#define SWAPCACHE_FLAGS 0x1b

static void run_check_with_foresight(void)
{
	open_check("6.18");
	assert_int_equal(check_look_ahead(check, tape.reader), 0);
	made_check_read(check, &world, &tape);
}

static void list_grows(uint32_t cpu, int32_t pid, uint64_t lru)
{
	made_event(&tape, cpu, pid, MOD_MEMCG_LRUVEC_STATE, GROUP_ID, lru, 1);
}

/* 0 and @second go, 3 becomes active, the others stay; but for @unseen of them. */
static void first_isolation(uint64_t second, unsigned int unseen)
{
	reclaim_begins();
	isolate(INACTIVE_FILE, 8);
	made_delete(&tape, 0, GROUP_TASK, 0);
	made_delete(&tape, 0, GROUP_TASK, second);
	list_grows(0, GROUP_TASK, INACTIVE_FILE);
	list_grows(0, GROUP_TASK, ACTIVE_FILE);
	for (unsigned int i = 0; i < 4 - unseen; i++)
		list_grows(0, GROUP_TASK, INACTIVE_FILE);
	shrunk(8, 2, 0, 5);
}

static void survivors_go_where_the_lists_grow(void **state)
{
	(void)state;
	map_31_pages(true);
	first_isolation(2, 0);
	/* The next are 8 and 9; 1 is the youngest but for those behind it. */
	isolate(INACTIVE_FILE, 2);
	made_delete(&tape, 0, GROUP_TASK, 8);
	made_delete(&tape, 0, GROUP_TASK, 9);
	shrunk(2, 2, 0, 0);
	/* Only 3 is active; it is deactivated. */
	isolate(ACTIVE_FILE, 1);
	list_grows(0, GROUP_TASK, INACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 1, 0, 1, 0, 0, 2);
	run_check_with_foresight();
	assert_decided(CHECK_isolation, 3, 3);
	assert_decided(CHECK_victim, 4, 4);
	assert_int_equal(nr_verdicts[WORD_old], 4);
	assert_int_equal(nr_verdicts[WORD_around], 6); /* fault-around has mapped them all */
	assert_int_equal(nr_verdicts[WORD_young], 0);
	assert_int_equal(nr_verdicts[WORD_unknown], 1); /* of the active list */
	assert_null(check_drift(check, world.command_memcg, true));
}

static void a_survivor_that_no_list_takes_is_noticed(void **state)
{
	(void)state;
	map_31_pages(true);
	first_isolation(2, 1);
	run_check_with_foresight();
	assert_decided(CHECK_isolation, 1, 0);
	assert_string_equal(check_tally(check, world.command_memcg, CHECK_isolation)->recorded,
			    "fewer stayed than were left");
}

static void a_victim_that_was_not_taken_is_noticed(void **state)
{
	(void)state;
	map_31_pages(true);
	first_isolation(20, 0);
	run_check_with_foresight();
	assert_decided(CHECK_victim, 2, 1);
	assert_decided(CHECK_isolation, 1, 0);
}

/* Of four active ones only the second is in page tables still: it stays, and is put back first. */
static void an_active_folio_stays_if_somebody_has_it_mapped(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 4; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 4; page++) {
		list_grows(0, GROUP_TASK, ACTIVE_FILE);
		made_insertion(&tape, 0, GROUP_TASK, page, ACTIVE_FILE);
	}
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, 1, 1);
	made_event(&tape, 0, OTHER_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, 2, 3);
	made_event_text(&tape, 0, OTHER_TASK, SCHED_PROCESS_EXIT, "other", OTHER_TASK);
	reclaim_begins();
	isolate(ACTIVE_FILE, 4);
	list_grows(0, GROUP_TASK, ACTIVE_FILE);
	for (int i = 0; i < 3; i++)
		list_grows(0, GROUP_TASK, INACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 4, 1, 3, 1, 0, 2);
	isolate(INACTIVE_FILE, 3);
	made_delete(&tape, 0, GROUP_TASK, 0);
	made_delete(&tape, 0, GROUP_TASK, 2);
	made_delete(&tape, 0, GROUP_TASK, 3);
	shrunk(3, 3, 0, 0);
	run_check_with_foresight();
	assert_decided(CHECK_isolation, 2, 2);
	assert_decided(CHECK_victim, 3, 3);
}

/*
 * Three that were all mapped before the look before: one stays. Two are evicted soon, so that it was the third;
 * their evictions have told that, and are not counted.
 */
static void who_stayed_active_is_told_by_those_that_are_evicted(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 3; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 3; page++) {
		list_grows(0, GROUP_TASK, ACTIVE_FILE);
		made_insertion(&tape, 0, GROUP_TASK, page, ACTIVE_FILE);
	}
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, 0, 2);
	reclaim_begins();
	isolate(ACTIVE_FILE, 3);
	for (int i = 0; i < 3; i++)
		list_grows(0, GROUP_TASK, ACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 3, 3, 0, 3, 0, 2);
	isolate(ACTIVE_FILE, 3);
	list_grows(0, GROUP_TASK, ACTIVE_FILE);
	for (int i = 0; i < 2; i++)
		list_grows(0, GROUP_TASK, INACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 3, 1, 2, 1, 0, 2);
	isolate(INACTIVE_FILE, 2);
	made_delete(&tape, 0, GROUP_TASK, 0);
	made_delete(&tape, 0, GROUP_TASK, 2);
	shrunk(2, 2, 0, 0);
	run_check_with_foresight();
	assert_decided(CHECK_isolation, 3, 3);
	assert_null(check_tally(check, world.command_memcg, CHECK_victim));
	assert_int_equal(check_undecided(check)->foreseen, 2);
}

static void many_flaws_in_a_row_are_a_drift(void **state)
{
	(void)state;
	map_31_pages(true);
	reclaim_begins();
	for (unsigned int i = 0; i < 10; i++) {
		isolate(INACTIVE_FILE, 2);
		list_grows(0, GROUP_TASK, INACTIVE_FILE); /* and the other one? */
		shrunk(2, 0, 0, 2);
	}
	run_check_with_foresight();
	assert_null(check_tally(check, world.command_memcg, CHECK_isolation));
	assert_non_null(check_drift(check, world.command_memcg, true));
	assert_int_equal(check_drift(check, world.command_memcg, true)->isolations, 10);
	assert_null(check_drift(check, world.command_memcg, false));
}

static void write_out(uint64_t nr)
{
	made_event_text(&tape, 0, GROUP_TASK, BLOCK_BIO_QUEUE, "W", MADE_DEV, SWAP_SECTOR + 8 * nr,
			8);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_WRITE_FOLIO, ANON_PFN + nr, 9);
}

/* Both are written, their writes end on the other CPU, and they go, @first of the two before the other. */
static void swap_out_two(uint64_t first)
{
	for (uint64_t nr = 0; nr < 4; nr++) {
		list_grows(0, GROUP_TASK, INACTIVE_ANON);
		made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN + nr, INACTIVE_ANON,
			   ANON_FLAGS);
	}
	reclaim_begins();
	isolate(INACTIVE_ANON, 2);
	write_out(0);
	write_out(1);
	list_grows(0, GROUP_TASK, INACTIVE_ANON);
	list_grows(0, GROUP_TASK, INACTIVE_ANON);
	shrunk(2, 0, 0, 0);
	made_event_text(&tape, 1, OTHER_TASK, BLOCK_RQ_COMPLETE, "W", MADE_DEV, SWAP_SECTOR, 16);
	list_grows(1, OTHER_TASK, INACTIVE_ANON);
	list_grows(1, OTHER_TASK, INACTIVE_ANON);
	isolate(INACTIVE_ANON, 2);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, ANON_PFN + first, 0);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, ANON_PFN + 1 - first, 0);
	shrunk(2, 2, 0, 0);
}

static void a_written_folio_rotates_when_its_write_ends(void **state)
{
	(void)state;
	swap_out_two(1);
	run_check_with_foresight();
	assert_decided(CHECK_isolation, 2, 2);
	assert_decided(CHECK_victim, 2, 2);
	assert_int_equal(nr_verdicts[WORD_old], 4); /* both written, and both gone */
}

static void the_other_order_of_rotation_is_noticed(void **state)
{
	(void)state;
	swap_out_two(0);
	run_check_with_foresight();
	assert_decided(CHECK_isolation, 2, 1);
}

static void anon_page(uint64_t nr)
{
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, nr << 12, 6);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, ANON_PFN + nr, 0, 8, 0);
	list_grows(0, GROUP_TASK, INACTIVE_ANON);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN + nr, INACTIVE_ANON,
		   ANON_FLAGS);
}

/* Of two that are written, one is faulted on meanwhile: by a fault with this error code. */
static void fault_on_what_is_written(uint64_t error_code)
{
	made_type(&tape, EVENT_PAGE_FAULT_USER, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_ALLOC, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_FREE, "", NULL);
	for (uint64_t nr = 0; nr < 4; nr++)
		anon_page(nr);
	reclaim_begins();
	isolate(INACTIVE_ANON, 2);
	write_out(0);
	write_out(1);
	list_grows(0, GROUP_TASK, INACTIVE_ANON);
	list_grows(0, GROUP_TASK, INACTIVE_ANON);
	shrunk(2, 0, 0, 0);
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, 0, error_code);
	made_event_text(&tape, 1, OTHER_TASK, BLOCK_RQ_COMPLETE, "W", MADE_DEV, SWAP_SECTOR, 16);
	list_grows(1, OTHER_TASK, INACTIVE_ANON);
	isolate(INACTIVE_ANON, 1);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, ANON_PFN + 1, 0);
	shrunk(1, 1, 0, 0);
	run_check_with_foresight();
}

static void a_folio_faulted_on_while_it_is_written_stays_where_it_is(void **state)
{
	(void)state;
	fault_on_what_is_written(4);
	assert_decided(CHECK_isolation, 2, 2);
	assert_decided(CHECK_victim, 1, 1);
}

static void a_fault_on_a_mapped_page_meets_no_swap_cache(void **state)
{
	(void)state;
	fault_on_what_is_written(7);
	assert_decided(CHECK_isolation, 2, 1);
}

static void swap_in(uint64_t lru)
{
	made_event_text(&tape, 0, GROUP_TASK, BLOCK_BIO_QUEUE, "R", MADE_DEV, SWAP_SECTOR + 8, 8);
	list_grows(0, GROUP_TASK, lru);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN + 99, lru, SWAPCACHE_FLAGS);
}

/* Nothing was ever flushed: the workingset has no size, and nothing is within it. */
static void the_sector_read_tells_whose_refault_it_is(void **state)
{
	(void)state;
	swap_out_two(1);
	swap_in(INACTIVE_ANON);
	run_check_with_foresight();
	assert_decided(CHECK_refault_verdict, 1, 1);
}

static void a_refault_that_was_decided_otherwise_is_noticed(void **state)
{
	(void)state;
	swap_out_two(1);
	swap_in(INACTIVE_ANON + 1);
	run_check_with_foresight();
	assert_decided(CHECK_refault_verdict, 1, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(survivors_go_where_the_lists_grow),
		TEST(a_survivor_that_no_list_takes_is_noticed),
		TEST(a_victim_that_was_not_taken_is_noticed),
		TEST(an_active_folio_stays_if_somebody_has_it_mapped),
		TEST(who_stayed_active_is_told_by_those_that_are_evicted),
		TEST(many_flaws_in_a_row_are_a_drift),
		TEST(a_written_folio_rotates_when_its_write_ends),
		TEST(the_other_order_of_rotation_is_noticed),
		TEST(a_folio_faulted_on_while_it_is_written_stays_where_it_is),
		TEST(a_fault_on_a_mapped_page_meets_no_swap_cache),
		TEST(the_sector_read_tells_whose_refault_it_is),
		TEST(a_refault_that_was_decided_otherwise_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
