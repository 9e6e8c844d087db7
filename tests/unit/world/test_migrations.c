// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios that are put into other frames: which new frame belongs to which old one, and what of the folio
 * goes along.
 *
 *   /g   task 10: pages 0..3 of a file, in frames MADE_PFN + page
 *   36   kcompactd0: moves pages 2 and 1, in that order, to frames NEW and NEW + 1
 */
#include "tests/unit/made_check.h"

#define INACTIVE_FILE 2
#define ACTIVE_FILE 3
#define COMPACTOR 36
#define NEW UINT64_C(0x9000)
#define OTHER_GROUP UINT64_C(1)

static struct made_tape tape;
static struct world world;
static struct check *check;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 64);
	check = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (check)
		check_close(check);
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void list_grows(int32_t pid, uint64_t memcg, uint64_t lru)
{
	made_event(&tape, 0, pid, MOD_MEMCG_LRUVEC_STATE, memcg, lru, 1);
}

static void pages_come(void)
{
	for (uint64_t page = 0; page < 4; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 4; page++) {
		list_grows(GROUP_TASK, GROUP_ID, INACTIVE_FILE);
		made_insertion(&tape, 0, GROUP_TASK, page, INACTIVE_FILE);
	}
}

static void old_frame_freed(uint64_t page)
{
	made_event(&tape, 0, COMPACTOR, MM_PAGE_FREE, MADE_PFN + page, 0);
}

static void moved(uint64_t succeeded, uint64_t failed)
{
	made_event(&tape, 0, COMPACTOR, MM_MIGRATE_PAGES, succeeded, failed);
}

static void new_frame_comes(uint64_t pfn, uint64_t memcg, uint64_t lru)
{
	list_grows(COMPACTOR, memcg, lru);
	made_event(&tape, 0, COMPACTOR, MM_LRU_INSERTION, pfn, lru, 4);
}

static void find(uint32_t nr)
{
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(world.migrations.nr, nr);
}

static void assert_row(uint32_t n, uint64_t page, uint64_t to)
{
	assert_int_equal(world.migrations.row[n].from, MADE_PFN + page);
	assert_int_equal(world.migrations.row[n].to, to);
}

static void new_frames_are_in_the_order_of_the_old_ones(void **state)
{
	(void)state;
	pages_come();
	old_frame_freed(2);
	old_frame_freed(1);
	moved(2, 0);
	new_frame_comes(NEW, GROUP_ID, INACTIVE_FILE);
	new_frame_comes(NEW + 1, GROUP_ID, INACTIVE_FILE);
	find(2);
	assert_row(0, 2, NEW);
	assert_row(1, 1, NEW + 1);
	assert_int_equal(world.migrations.row[0].pfn, MADE_PFN + 2);
}

/* Between them one that is older than the tape, of another memcg. */
static void another_memcgs_frame_is_not_taken(void **state)
{
	(void)state;
	pages_come();
	old_frame_freed(2);
	old_frame_freed(100);
	old_frame_freed(1);
	moved(3, 0);
	new_frame_comes(NEW, GROUP_ID, INACTIVE_FILE);
	new_frame_comes(NEW + 1, OTHER_GROUP, INACTIVE_FILE);
	new_frame_comes(NEW + 2, GROUP_ID, INACTIVE_FILE);
	find(2);
	assert_row(0, 2, NEW);
	assert_row(1, 1, NEW + 2);
}

/* The new frame has filled the batch, and is on a list before its old one is freed. */
static void the_last_of_a_batch_is_early(void **state)
{
	(void)state;
	pages_come();
	old_frame_freed(2);
	new_frame_comes(NEW, GROUP_ID, INACTIVE_FILE);
	new_frame_comes(NEW + 1, GROUP_ID, INACTIVE_FILE);
	old_frame_freed(1);
	moved(2, 0);
	find(2);
	assert_row(0, 2, NEW);
	assert_row(1, 1, NEW + 1);
	assert_int_equal(world.migrations.row[1].pfn, NEW + 1);
}

static void frees_that_no_migration_counts_are_ends(void **state)
{
	(void)state;
	pages_come();
	old_frame_freed(3);
	old_frame_freed(2);
	moved(1, 1);
	new_frame_comes(NEW, GROUP_ID, INACTIVE_FILE);
	new_frame_comes(NEW + 1, GROUP_ID, INACTIVE_FILE);
	find(1);
	assert_row(0, 2, NEW);
}

/* A drain empties the batch: what comes with the next one is somebody else. */
static void the_second_drain_is_too_late(void **state)
{
	(void)state;
	pages_come();
	old_frame_freed(2);
	moved(1, 0);
	new_frame_comes(NEW, OTHER_GROUP, INACTIVE_FILE);
	made_read(&tape, 0, GROUP_TASK, 0, 0);
	new_frame_comes(NEW + 1, GROUP_ID, INACTIVE_FILE);
	find(0);
}

static void assert_decided(enum check_decision decision, uint64_t decided, uint64_t equal)
{
	const struct check_tally *tally = check_tally(check, world.command_memcg, decision);

	assert_non_null(tally);
	assert_int_equal(tally->decided, decided);
	assert_int_equal(tally->equal, equal);
}

/* Read once before and once after: the second read, 31 of which fill a batch, makes it active. */
static void a_moved_folio_remembers_its_read(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 31; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 31; page++) {
		list_grows(GROUP_TASK, GROUP_ID, INACTIVE_FILE);
		made_insertion(&tape, 0, GROUP_TASK, page, INACTIVE_FILE);
	}
	for (uint64_t page = 0; page < 31; page += 2)
		made_read(&tape, 0, GROUP_TASK, page, page);
	for (uint64_t page = 1; page < 31; page += 2)
		made_read(&tape, 0, GROUP_TASK, page, page);
	for (uint64_t page = 31; page-- > 0;)
		old_frame_freed(page);
	moved(31, 0);
	for (uint64_t page = 31; page-- > 0;)
		new_frame_comes(NEW + page, GROUP_ID, INACTIVE_FILE);
	for (uint64_t page = 0; page < 31; page += 2)
		made_read(&tape, 0, GROUP_TASK, page, page);
	for (uint64_t page = 1; page < 31; page += 2)
		made_read(&tape, 0, GROUP_TASK, page, page);
	for (uint64_t page = 0; page < 31; page += 2)
		made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, NEW + page);
	for (uint64_t page = 1; page < 31; page += 2)
		made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, NEW + page);
	check = made_check_open(&tape, &world, "6.18", 1);
	assert_int_equal(world.migrations.nr, 31);
	made_check_read(check, &world, &tape);
	assert_decided(CHECK_activation, 31, 31);
	assert_decided(CHECK_insertion_list, 62, 62);
	assert_int_equal(world.inferred[INFER_migrated], 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(new_frames_are_in_the_order_of_the_old_ones, begin,
						end),
		cmocka_unit_test_setup_teardown(another_memcgs_frame_is_not_taken, begin, end),
		cmocka_unit_test_setup_teardown(the_last_of_a_batch_is_early, begin, end),
		cmocka_unit_test_setup_teardown(frees_that_no_migration_counts_are_ends, begin,
						end),
		cmocka_unit_test_setup_teardown(the_second_drain_is_too_late, begin, end),
		cmocka_unit_test_setup_teardown(a_moved_folio_remembers_its_read, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
