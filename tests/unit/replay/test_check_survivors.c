// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of isolated folios, on a tape that does not tell it: 31 mapped pages of a file, oldest first,
 * and anon pages. Those that are not evicted were young; once more young, they become active.
 */
#include "tests/unit/replay/looks_story.h"

#define GFP_OF_ANON 8

/* 4 of the file's folios; the first is evicted, the others were young. */
static void first_look(void)
{
	reclaim_begins();
	isolate(INACTIVE_FILE, 4);
	made_delete(&tape, 0, GROUP_TASK, 0);
	shrunk(4, 1, 0, 3);
}

static void who_is_young_stays_and_goes_to_the_head(void **state)
{
	(void)state;
	map_31_pages(false);
	first_look();
	for (uint64_t page = 4; page < 31; page++) {
		isolate(INACTIVE_FILE, 1);
		made_delete(&tape, 0, GROUP_TASK, page);
		shrunk(1, 1, 0, 0);
	}
	run_check("6.12");
	assert_decided(CHECK_victim, 28, 28);
	assert_decided(CHECK_isolation, 28, 28);
	assert_int_equal(nr_verdicts[WORD_old], 28);
	assert_int_equal(nr_verdicts[WORD_around], 3);
}

/* All others gone, the three that had been young are looked at again. */
static void second_look(uint64_t nr_active, uint64_t nr_ref_keep)
{
	map_31_pages(false);
	first_look();
	isolate(INACTIVE_FILE, 27);
	for (uint64_t page = 4; page < 31; page++)
		made_delete(&tape, 0, GROUP_TASK, page);
	shrunk(27, 27, 0, 0);
	isolate(INACTIVE_FILE, 3);
	made_delete(&tape, 0, GROUP_TASK, 1);
	shrunk(3, 1, nr_active, nr_ref_keep);
}

static void who_is_young_again_becomes_active(void **state)
{
	(void)state;
	second_look(2, 0);
	isolate(ACTIVE_FILE, 2);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 2, 0, 2, 0);
	run_check("6.12");
	assert_decided(CHECK_isolation, 4, 4);
	assert_int_equal(nr_verdicts[WORD_young], 2);
	assert_int_equal(nr_verdicts[WORD_unknown],
			 2); /* their bits were cleared and told to nobody */
}

static void another_number_than_references_say_is_a_flaw(void **state)
{
	(void)state;
	second_look(1, 1);
	run_check("6.12");
	assert_decided(CHECK_isolation, 3, 2);
}

static void more_young_ones_than_stayed_are_a_flaw(void **state)
{
	(void)state;
	second_look(2, 1);
	run_check("6.12");
	assert_decided(CHECK_isolation, 3, 2);
}

static void victim_out_of_turn_is_found(void **state)
{
	(void)state;
	map_31_pages(false);
	reclaim_begins();
	isolate(INACTIVE_FILE, 4);
	made_delete(&tape, 0, GROUP_TASK, 2);
	made_delete(&tape, 0, GROUP_TASK, 1);
	shrunk(4, 2, 0, 2);
	run_check("6.12");
	assert_decided(CHECK_victim, 2, 1);
	assert_decided(CHECK_isolation, 1, 0);
}

static void anon_pages(unsigned int nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, ANON_PFN + i, 0, GFP_OF_ANON, 1);
		made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN + i, INACTIVE_ANON,
			   ANON_FLAGS);
	}
}

static void write_to_swap(uint64_t i)
{
	made_event_text(&tape, 0, GROUP_TASK, BLOCK_BIO_QUEUE, "W", MADE_DEV, SWAP_SECTOR + 8 * i,
			8);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_WRITE_FOLIO, ANON_PFN + i, 0);
}

static void free_anon(uint64_t i)
{
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, ANON_PFN + i, 0);
}

/* Written ones whose write ends within the same isolation were old all the same. */
static void write_that_ends_at_once_is_no_reference(void **state)
{
	(void)state;
	anon_pages(4);
	reclaim_begins();
	isolate(INACTIVE_ANON, 2);
	write_to_swap(0);
	made_event_text(&tape, 0, GROUP_TASK, BLOCK_RQ_COMPLETE, "W", MADE_DEV, SWAP_SECTOR, 8);
	shrunk(2, 0, 0, 1);
	isolate(INACTIVE_ANON, 4);
	free_anon(0);
	shrunk(4, 1, 1, 2);
	run_check("6.12");
	assert_decided(CHECK_isolation, 2, 2);
}

/* @first and @second are freed, in this order. */
static void two_written_ones_go(uint64_t first, uint64_t second)
{
	anon_pages(2);
	reclaim_begins();
	isolate(INACTIVE_ANON, 2);
	write_to_swap(0);
	write_to_swap(1);
	shrunk(2, 0, 0, 0);
	made_event_text(&tape, 0, GROUP_TASK, BLOCK_RQ_COMPLETE, "W", MADE_DEV, SWAP_SECTOR, 16);
	isolate(INACTIVE_ANON, 2);
	free_anon(first);
	free_anon(second);
	shrunk(2, 2, 0, 0);
}

static void anon_folios_are_freed_in_order_by_6_12(void **state)
{
	(void)state;
	two_written_ones_go(1, 0); /* rotated one by one: the last is at the tail */
	run_check("6.12");
	assert_decided(CHECK_isolation, 2, 2);
}

static void anon_folios_are_freed_last_first_by_6_1(void **state)
{
	(void)state;
	two_written_ones_go(0, 1);
	run_check("6.1");
	assert_decided(CHECK_isolation, 2, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_is_young_stays_and_goes_to_the_head),
		TEST(who_is_young_again_becomes_active),
		TEST(another_number_than_references_say_is_a_flaw),
		TEST(more_young_ones_than_stayed_are_a_flaw),
		TEST(victim_out_of_turn_is_found),
		TEST(write_that_ends_at_once_is_no_reference),
		TEST(anon_folios_are_freed_in_order_by_6_12),
		TEST(anon_folios_are_freed_last_first_by_6_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
