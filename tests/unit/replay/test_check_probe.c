// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the probe on folio_referenced() tells, and what check makes of it. 31 mapped pages of a file, oldest first;
 * the lists' growth, where it is on the tape, is that of Linux 6.13 and newer.
 */
#include "tests/unit/replay/looks_story.h"

#define READ 0x1
#define EXEC 0x5

static bool grows; /* lists that grow are on the tape */

static int begin_without_growth(void **state)
{
	grows = false;
	return begin(state);
}

static void list_grows(uint64_t lru)
{
	if (grows)
		made_event(&tape, 0, GROUP_TASK, MOD_MEMCG_LRUVEC_STATE, GROUP_ID, lru, 1);
}

static void look(uint64_t page, uint64_t referenced, uint64_t vm_flags)
{
	made_event(&tape, 0, GROUP_TASK, FOLIO_REFERENCED, MADE_PFN + page, 1, referenced,
		   vm_flags);
}

static void active_shrunk(uint64_t nr, uint64_t nr_active)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, nr, nr_active,
		   nr - nr_active, nr_active);
}

static void evict_next(uint64_t page)
{
	isolate(INACTIVE_FILE, 1);
	look(page, 0, 0);
	made_delete(&tape, 0, GROUP_TASK, page);
	shrunk(1, 1, 0, 0);
}

/* The first three, young once and executable, become active; the fourth is young, and no program: kept. */
static void three_become_active(void)
{
	map_31_pages(grows);
	reclaim_begins();
	isolate(INACTIVE_FILE, 4);
	look(0, 1, EXEC);
	look(1, 1, EXEC);
	look(2, 1, EXEC);
	look(3, 1, READ);
	for (int i = 0; i < 3; i++)
		list_grows(ACTIVE_FILE);
	list_grows(INACTIVE_FILE);
	shrunk(4, 0, 3, 1);
}

/* Of the active ones the second alone stays: executable, and young again. */
static void the_second_stays(void)
{
	three_become_active();
	isolate(ACTIVE_FILE, 3);
	look(0, 0, 0);
	look(1, 1, EXEC);
	look(2, 1, READ);
	list_grows(ACTIVE_FILE);
	list_grows(INACTIVE_FILE);
	list_grows(INACTIVE_FILE);
	active_shrunk(3, 1);
	for (uint64_t page = 4; page < 31; page++)
		evict_next(page);
	evict_next(3);
	evict_next(0);
	evict_next(2);
}

static void who_stays_active_is_told(void **state)
{
	(void)state;
	the_second_stays();
	run_check("6.12");
	assert_decided(CHECK_victim, 30, 30);
	assert_decided(CHECK_isolation, 32, 32);
	assert_decided(CHECK_page_tables, 34, 34); /* of active lists nothing else says it */
	assert_int_equal(nr_verdicts[WORD_old], 31);
	assert_int_equal(nr_verdicts[WORD_young], 2);
	assert_int_equal(nr_verdicts[WORD_around], 4);
	assert_int_equal(nr_verdicts[WORD_unknown], 0);
}

static void who_stays_active_is_told_where_growth_is_as_well(void **state)
{
	(void)state;
	grows = true;
	the_second_stays();
	run_check("6.18");
	assert_decided(CHECK_victim, 30, 30);
	assert_decided(CHECK_isolation, 32, 32);
	assert_decided(CHECK_page_tables, 34, 34);
}

static void another_number_that_stays_is_a_flaw(void **state)
{
	(void)state;
	three_become_active();
	isolate(ACTIVE_FILE, 3);
	look(0, 1, EXEC);
	look(1, 1, EXEC);
	look(2, 1, EXEC);
	active_shrunk(3, 2);
	run_check("6.12");
	assert_decided(CHECK_isolation, 2, 1);
}

/* Evicted and yet young: that it was old is inferred, and wrong. */
static void inferred_word_is_held_against_the_probe(void **state)
{
	(void)state;
	map_31_pages(grows);
	reclaim_begins();
	isolate(INACTIVE_FILE, 2);
	look(0, 1, READ);
	made_delete(&tape, 0, GROUP_TASK, 0);
	look(1, 0, 0);
	made_delete(&tape, 0, GROUP_TASK, 1);
	shrunk(2, 2, 0, 0);
	run_check("6.12");
	assert_decided(CHECK_page_tables, 2, 1);
}

/* The kernel's tail is 1, ours is 0: the look puts that right before the next isolation. */
static void look_corrects_the_list(void **state)
{
	(void)state;
	map_31_pages(grows);
	reclaim_begins();
	evict_next(1);
	evict_next(0);
	evict_next(2);
	run_check("6.12");
	assert_decided(CHECK_victim, 3, 2);
	assert_decided(CHECK_isolation, 3, 2);
}

/* Before 6.9: the folio in one event, the answer in another. */
static void two_events_are_one_look(void **state)
{
	(void)state;
	made_type(&tape, EVENT_FOLIO_REFERENCED, "", "pfn");
	map_31_pages(grows);
	reclaim_begins();
	isolate(INACTIVE_FILE, 2);
	for (uint64_t page = 0; page < 2; page++) {
		made_event(&tape, 0, GROUP_TASK, FOLIO_LOOK, MADE_PFN + page, 1);
		made_event(&tape, 0, GROUP_TASK, FOLIO_REFERENCED, 0, 1, page, READ);
		if (!page)
			made_delete(&tape, 0, GROUP_TASK, page);
	}
	shrunk(2, 1, 0, 1);
	run_check("6.1");
	assert_decided(CHECK_page_tables, 2, 2);
	assert_int_equal(nr_verdicts[WORD_old], 1);
	assert_int_equal(nr_verdicts[WORD_around], 1);
}

/* Its first half is gone: whose answer it is nobody knows. */
static void half_a_look_after_a_loss_is_none(void **state)
{
	(void)state;
	made_type(&tape, EVENT_FOLIO_REFERENCED, "", "pfn");
	map_31_pages(grows);
	reclaim_begins();
	isolate(INACTIVE_FILE, 1);
	made_event(&tape, 0, GROUP_TASK, FOLIO_LOOK, MADE_PFN, 1);
	assert_int_equal(tape_stream_lost(tape_writer_stream(tape.writer, 0), 3), 0);
	made_event(&tape, 0, GROUP_TASK, FOLIO_REFERENCED, 0, 1, 1, READ);
	made_delete(&tape, 0, GROUP_TASK, 0);
	shrunk(1, 1, 0, 0);
	run_check("6.1");
	assert_null(check_tally(check, world.command_memcg, CHECK_page_tables));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_without_growth, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_stays_active_is_told),
		TEST(who_stays_active_is_told_where_growth_is_as_well),
		TEST(another_number_that_stays_is_a_flaw),
		TEST(inferred_word_is_held_against_the_probe),
		TEST(look_corrects_the_list),
		TEST(two_events_are_one_look),
		TEST(half_a_look_after_a_loss_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
