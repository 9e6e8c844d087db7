// SPDX-License-Identifier: GPL-2.0-only
/*
 * One activation that nothing predicts, behind each of the facts that may be the reason for it:
 *
 *   31 pages come in and are read once | the fact | page 5 is activated
 */
#include "tests/unit/made_check.h"

#define INACTIVE_FILE 2
#define ACTIVE_FILE 3
#define PAGE 5
#define MAPPED_PAGE 98

static struct made_tape tape;
static struct world world;
static struct check *check;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 64);
	for (uint64_t page = 0; page < 31; page++) {
		made_add(&tape, 0, GROUP_TASK, page);
		if (page == 30)
			for (uint64_t p = 0; p < 31; p++)
				made_insertion(&tape, 0, GROUP_TASK, p, INACTIVE_FILE);
		made_read(&tape, 0, GROUP_TASK, page, page);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	check_close(check);
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void read_checked(unsigned int nr_kept)
{
	check = made_check_open(&tape, &world, "6.18", nr_kept);
	made_check_read(check, &world, &tape);
}

/* The tape has one wrong decision, of this kind. */
static void assert_cause_of(enum check_decision decision, enum check_cause expected)
{
	const struct check_tally *tally;
	uint64_t sum = 0;

	read_checked(1);
	tally = check_tally(check, world.command_memcg, decision);
	assert_non_null(tally);
	for (int c = 0; c < NR_CHECK_CAUSES; c++)
		sum += tally->cause[c];
	assert_int_equal(sum, 1);
	assert_int_equal(tally->decided - tally->equal, 1);
	assert_string_equal(check_cause_name(check_mismatch(check, 0)->cause),
			    check_cause_name(expected));
	assert_int_equal(tally->cause[expected], 1);
}

static void assert_cause(enum check_cause expected)
{
	made_activation(&tape, 0, GROUP_TASK, PAGE);
	assert_cause_of(CHECK_activation, expected);
}

static void without_any_fact_it_is_unexplained(void **state)
{
	(void)state;
	assert_cause(CHECK_CAUSE_unexplained);
}

/* It waits in a batch, and whoever maps it may make it young. */
static void made_mapped_page(void)
{
	made_add(&tape, 0, GROUP_TASK, MAPPED_PAGE);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, MAPPED_PAGE,
		   MAPPED_PAGE);
}

static void a_loss_on_any_cpu_comes_first(void **state)
{
	(void)state;
	made_mapped_page();
	made_lost(&tape, 1, 3);
	made_read(&tape, 1, OTHER_TASK, 0, 0); /* a loss is told before the next event of its CPU */
	made_insertion(&tape, 0, GROUP_TASK, MAPPED_PAGE, ACTIVE_FILE);
	assert_cause_of(CHECK_insertion_list, CHECK_CAUSE_lost_events);
}

static void a_mapped_folio_may_have_been_referenced_unseen(void **state)
{
	(void)state;
	made_mapped_page();
	made_insertion(&tape, 0, GROUP_TASK, MAPPED_PAGE, ACTIVE_FILE);
	assert_cause_of(CHECK_insertion_list, CHECK_CAUSE_unseen_reference);
}

static void another_folio_that_is_mapped_is_no_reason(void **state)
{
	(void)state;
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, PAGE + 1,
		   PAGE + 1);
	assert_cause(CHECK_CAUSE_unexplained);
}

static void a_dirty_folio_is_not_modelled(void **state)
{
	(void)state;
	made_event_text(&tape, 0, GROUP_TASK, WRITEBACK_DIRTY_FOLIO, "254:0", MADE_INO, PAGE, 0);
	assert_cause(CHECK_CAUSE_not_modelled);
}

static void a_page_that_comes_active_may_have_an_older_shadow(void **state)
{
	(void)state;
	made_add(&tape, 0, GROUP_TASK, 99);
	made_insertion(&tape, 0, GROUP_TASK, 99, ACTIVE_FILE);
	assert_cause_of(CHECK_insertion_list, CHECK_CAUSE_unseen_shadow);
}

/* Page 0 is dirty when reclaim meets it. A later call evicts page 20, which is not its turn. */
static void behind_dirty_folios_the_order_of_a_list_is_not_modelled(void **state)
{
	uint64_t second_ns = 0;
	unsigned int nr = 0;

	(void)state;
	made_event_text(&tape, 0, GROUP_TASK, WRITEBACK_DIRTY_FOLIO, "254:0", MADE_INO, 0, 0);
	for (uint64_t call = 0; call < 2; call++) {
		made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
		second_ns = tape.now_ns;
		made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, 2, 2, 0, 2,
			   INACTIVE_FILE);
		if (call)
			made_delete(&tape, 0, GROUP_TASK, 20);
		made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 2, call, 0, 0, 0,
			   0, 0, 0, 0, 0, 12, 4);
		made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, call);
	}
	read_checked(100);
	for (unsigned int i = 0; check_mismatch(check, i); i++) {
		if (check_mismatch(check, i)->timestamp_ns < second_ns)
			continue;
		assert_string_equal(check_cause_name(check_mismatch(check, i)->cause),
				    "not_modelled");
		nr++;
	}
	assert_true(nr > 0);
}

static void a_folio_of_the_group_evicted_by_kdamond_is_foreign(void **state)
{
	(void)state;
	made_delete(&tape, 1, KDAMOND_TASK, PAGE + 1);
	assert_cause(CHECK_CAUSE_foreign_eviction);
	assert_int_equal(check_undecided(check)->foreign, 1);
}

static void every_kind_of_undecided_is_listed_once(void **state)
{
	struct check_undecided_kind kind;
	unsigned int nr = 0;
	uint64_t sum = 0;

	(void)state;
	made_delete(&tape, 1, KDAMOND_TASK, PAGE + 1);
	assert_cause(CHECK_CAUSE_foreign_eviction);
	for (; check_undecided_kind(check, nr, &kind); nr++) {
		assert_true(kind.name[0] && kind.meaning[0]);
		sum += kind.count;
	}
	assert_int_equal(nr * sizeof(uint64_t), sizeof(struct check_undecided));
	assert_int_equal(sum, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_any_fact_it_is_unexplained),
		TEST(a_loss_on_any_cpu_comes_first),
		TEST(a_mapped_folio_may_have_been_referenced_unseen),
		TEST(another_folio_that_is_mapped_is_no_reason),
		TEST(a_dirty_folio_is_not_modelled),
		TEST(a_page_that_comes_active_may_have_an_older_shadow),
		TEST(behind_dirty_folios_the_order_of_a_list_is_not_modelled),
		TEST(a_folio_of_the_group_evicted_by_kdamond_is_foreign),
		TEST(every_kind_of_undecided_is_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
