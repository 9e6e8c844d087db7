// SPDX-License-Identifier: GPL-2.0-only
/* Which facts a tape gives: faults, looks of the recorded kernel's reclaim, swap-outs, ends. */
#include "replay/facts.h"

#include "tests/unit/made_tape.h"

#define MOVABLE 8
#define FRAME 0x3000

static struct made_tape tape;
static struct access_facts *facts;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 64);
	made_type(&tape, EVENT_PAGE_FAULT_USER, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_ALLOC, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_FREE, "", NULL);
	made_type(&tape, EVENT_MOD_MEMCG_LRUVEC_STATE, "item < 5", NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	facts_close(facts);
	facts = NULL;
	made_tape_end(&tape);
	return 0;
}

static void read_facts(void)
{
	struct policy_choice choice;
	char why[256];

	assert_int_equal(policy_parse("classic", "6.18", &choice, why, sizeof(why)), 0);
	assert_int_equal(facts_read(made_tape_read(&tape), &choice, &facts), 0);
}

static void grown(uint64_t list, int64_t pages)
{
	made_event(&tape, 0, GROUP_TASK, MOD_MEMCG_LRUVEC_STATE, GROUP_ID, list, (uint64_t)pages);
}

static void anon_page(uint64_t index)
{
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, index << 12, 6);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, FRAME + index, 0, MOVABLE, 0);
	grown(0, 1);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, FRAME + index, 0, 2 | 0x10);
}

static void survivor_of_an_inactive_list_was_young(void **state)
{
	(void)state;
	anon_page(1);
	anon_page(2);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	grown(0, -2);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 0, 0, 2, 2, 0, 2, 0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_WRITE_FOLIO, FRAME + 1, 9);
	grown(0, 1); /* page 1, written */
	grown(1, 1); /* page 2, activated */
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 2, 0, 0, 0, 0, 0, 1, 0,
		   0, 0, 12, 9);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 0);
	read_facts();
	assert_int_equal(facts_pages(facts), 2);
	assert_int_equal(facts_counted(facts, FACT_TOUCHED), 2);
	assert_int_equal(facts_counted(facts, FACT_YOUNG), 1);
	assert_int_equal(facts_counted(facts, FACT_UNMAPPED), 1);
}

static void bio(uint64_t sector, const char *rwbs)
{
	made_event_text(&tape, 0, GROUP_TASK, BLOCK_BIO_QUEUE, rwbs, MADE_DEV, sector, 8);
}

/* It lies in the swap cache, under its slot's name; its looks are the page's all the same. */
static void page_that_came_back_from_swap_is_looked_at(void **state)
{
	(void)state;
	anon_page(1);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 0, 0, 1, 1, 0, 1, 0);
	bio(8000, "W");
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_WRITE_FOLIO, FRAME + 1, 9);
	grown(0, 1);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		   0, 0, 12, 9);
	made_event_text(&tape, 0, GROUP_TASK, BLOCK_RQ_COMPLETE, "W", MADE_DEV, 8000, 8);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 0, 0, 1, 1, 0, 1, 0);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, FRAME + 1, 0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 1, 1, 0, 0, 0, 0, 0, 0,
		   0, 0, 12, 9);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, 1 << 12, 4);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, FRAME + 9, 0, MOVABLE, 0);
	bio(8000, "R");
	grown(0, 1);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, FRAME + 9, 0, 2 | 8 | 0x10);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 0, 0, 1, 1, 0, 1, 0);
	grown(0, 1);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 1, 0, 0, 0, 0, 0, 0, 0,
		   1, 0, 12, 9);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 0);
	read_facts();
	assert_int_equal(facts_pages(facts), 1);
	assert_int_equal(facts_counted(facts, FACT_TOUCHED), 2);
	assert_int_equal(facts_counted(facts, FACT_UNMAPPED), 2); /* written, and freed */
	assert_int_equal(facts_counted(facts, FACT_YOUNG), 1);
}

static void faults_on_files_and_around_them_are_told_apart(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 16; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	/* The address is that of page 5 of a whole window. */
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, UINT64_C(0x105) << 12, 4);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, 0, 15);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_FAULT, MADE_INO, MADE_DEV, 20);
	made_delete(&tape, 0, GROUP_TASK, 3); /* truncated */
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_delete(&tape, 0, GROUP_TASK, 4);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	read_facts();
	assert_int_equal(facts_counted(facts, FACT_TOUCHED), 2); /* 5 and 20 */
	assert_int_equal(facts_counted(facts, FACT_MAPPED), 15);
	assert_int_equal(facts_counted(facts, FACT_GONE), 1);
	assert_int_equal(facts_counted(facts, FACT_UNMAPPED), 1);
}

/* The fault comes before the addition that it is the reason of. */
static void page_that_a_fault_brought_in_is_unmapped_when_reclaim_takes_it(void **state)
{
	(void)state;
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_FAULT, MADE_INO, MADE_DEV, 7);
	made_add(&tape, 0, GROUP_TASK, 7);
	made_add(&tape, 0, GROUP_TASK, 8); /* read ahead, and nobody's */
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_delete(&tape, 0, GROUP_TASK, 7);
	made_delete(&tape, 0, GROUP_TASK, 8);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 2);
	made_add(&tape, 0, GROUP_TASK, 7);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, 0, 15);
	read_facts();
	assert_int_equal(facts_counted(facts, FACT_TOUCHED), 1);
	assert_int_equal(facts_counted(facts, FACT_UNMAPPED), 1);
	assert_int_equal(facts_counted(facts, FACT_MAPPED), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(survivor_of_an_inactive_list_was_young),
		TEST(page_that_came_back_from_swap_is_looked_at),
		TEST(faults_on_files_and_around_them_are_told_apart),
		TEST(page_that_a_fault_brought_in_is_unmapped_when_reclaim_takes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
