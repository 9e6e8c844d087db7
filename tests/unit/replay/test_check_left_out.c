// SPDX-License-Identifier: GPL-2.0-only
/* Who else takes folios, what check leaves undecided, and broken tapes. */
#include "tests/unit/replay/check_story.h"

/* ---- who else takes folios */

/* 31 pages of the root's are read twice, so that the root's time passes and the group's does not. */
static void others_age_the_root(void)
{
	for (int round = 0; round < 2; round++)
		for (uint64_t page = 0; page < 31; page++) {
			if (!round)
				made_event(&tape, 1, OTHER_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE,
					   0x8000 + page, MADE_INO + 1, page, MADE_DEV, 0);
			if (!round && page == 30)
				for (uint64_t p = 0; p < 31; p++)
					made_event(&tape, 1, OTHER_TASK, MM_LRU_INSERTION,
						   0x8000 + p, INACTIVE_FILE, 4);
			made_event(&tape, 1, OTHER_TASK, MM_FILEMAP_GET_PAGES, MADE_INO + 1,
				   MADE_DEV, page, page);
		}
	for (uint64_t p = 0; p < 31; p++)
		made_event(&tape, 1, OTHER_TASK, MM_LRU_ACTIVATE, 0x8000 + p);
}

/*
 * DAMON evicts for the root: the distance is 1 + 31 by the root's time, beyond its 31 active pages,
 * and would be 0 by the group's.
 */
static void folio_evicted_by_kdamond_leaves_a_shadow_of_the_root(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	made_flush(&tape, 1);
	made_delete(&tape, 1, KDAMOND_TASK, 5);
	others_age_the_root();
	made_add(&tape, 0, GROUP_TASK, 5);
	read_page(5);
	made_insertion(&tape, 0, GROUP_TASK, 5, INACTIVE_FILE);
	run_check(1);
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		assert_int_equal(unequal((enum check_decision)d), 0);
	assert_int_equal(decided(CHECK_refault_verdict), 1);
	assert_int_equal(check_undecided(check)->foreign, 1);
	assert_int_equal(world.inferred[INFER_eviction_by_kdamond], 1);
}

/* Outside reclaim a deletion is truncation: no shadow, and coming back is no refault. */
static void truncated_folio_comes_back_as_new(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	all_inactive_pages_go(AS_THE_KERNEL_DOES);
	made_delete(&tape, 0, GROUP_TASK, 40);
	made_delete(&tape, 0, OTHER_TASK,
		    30); /* its shadow goes with it, though no folio is there */
	made_add(&tape, 0, GROUP_TASK, 40);
	read_page(40);
	made_insertion(&tape, 0, GROUP_TASK, 40, INACTIVE_FILE);
	run_check(0);
	assert_int_equal(unequal(CHECK_insertion_list), 0);
	assert_int_equal(decided(CHECK_refault_verdict), 0);
	assert_int_equal(check_undecided(check)->foreign, 0);
}

/* A tape that does not say who was in the group, and may have missed some of its folios. */
static void made_unknown_machine(void)
{
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/release", "6.18.44\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/facts", "memory_limit=262144\n");
}

/* ---- what is left undecided */

static void folios_from_before_the_tape_are_not_decided(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_insertion(&tape, 0, GROUP_TASK, 500, INACTIVE_FILE);
	made_activation(&tape, 0, GROUP_TASK, 501);
	made_delete(&tape, 0, GROUP_TASK, 502); /* truncation of a stranger: nothing to decide */
	reclaim_begins();
	made_delete(&tape, 0, GROUP_TASK, 503);
	run_check(0);
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		assert_int_equal(decided((enum check_decision)d), 0);
	assert_int_equal(check_undecided(check)->unseen_folio, 3);
}

#define DISK (254 << 20)
#define BDEV_FS 3 /* device of the file system that holds the disks' inodes */

/* A block of 1 KiB of the third page of the disk: made referenced, and found when it is looked up again. */
static void buffer_is_made(uint64_t list)
{
	made_machine(&tape, 64);
	made_blob(&tape, TAPE_MOMENT_START, "/proc/self/mountinfo",
		  "22 1 254:0 / / rw - ext4 x rw\n");
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, MADE_PFN, DISK, 2, BDEV_FS,
		   0);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, MADE_PFN, list, 4);
}

static void metadata_comes_active(void **state)
{
	(void)state;
	buffer_is_made(ACTIVE_FILE);
	run_check(0);
	assert_int_equal(decided(CHECK_insertion_list), 1);
	assert_int_equal(unequal(CHECK_insertion_list), 0);
}

static void metadata_that_comes_inactive_is_found(void **state)
{
	(void)state;
	buffer_is_made(INACTIVE_FILE);
	run_check(0);
	assert_int_equal(unequal(CHECK_insertion_list), 1);
}

/* Put on the inactive list and touched twice, so that a drain activates it. */
static void touched_buffer_is_accessed(void **state)
{
	(void)state;
	buffer_is_made(INACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 11, 1024);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 8, 1024);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 12, 1024);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, MADE_PFN);
	run_check(0);
	assert_int_equal(decided(CHECK_activation), 1);
	assert_int_equal(unequal(CHECK_activation), 0);
}

static void activation_of_metadata_that_no_event_explains_is_not_decided(void **state)
{
	(void)state;
	buffer_is_made(INACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 11, 1024);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, MADE_PFN);
	run_check(0);
	assert_int_equal(decided(CHECK_activation), 0);
	assert_int_equal(check_undecided(check)->metadata, 1);
}

static void reclaim_of_a_group_with_unknown_folios_is_not_predicted(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_blob(&tape, TAPE_MOMENT_START, "/cg/g/memory.stat", "inactive_file 4096\n");
	come_in(0);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	reclaim_ends(1);
	run_check(0);
	assert_int_equal(decided(CHECK_victim), 0);
	assert_int_equal(decided(CHECK_reclaim_stop), 0);
	assert_int_equal(check_undecided(check)->warm_group, 1);
	assert_int_equal(check_undecided(check)->foreign, 1);
}

static void global_reclaim_is_not_predicted(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	made_event(&tape, 0, OTHER_TASK, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	made_delete(&tape, 0, OTHER_TASK, 7);
	made_event(&tape, 0, OTHER_TASK, MM_VMSCAN_DIRECT_RECLAIM_END, 1);
	run_check(0);
	assert_int_equal(decided(CHECK_reclaim_stop), 0);
	assert_int_equal(check_undecided(check)->global_reclaim, 1);
	assert_int_equal(check_undecided(check)->foreign, 1);
}

static const char zone[] = "Node 0, zone    DMA32\n"
			   "  pages free     10\n"
			   "        min      20\n"
			   "        low      40\n"
			   "        high     60\n"
			   "        spanned  10000\n"
			   "        managed  10000\n"
			   "        protection: (0)\n"
			   "  start_pfn:           1\n";

/* v1: in the middle of a call a memcg above its soft limit gives a page. The call goes on, and is predicted. */
static void what_a_soft_limit_asks_for_is_part_of_a_call(void **state)
{
	const struct check_tally *tally;

	(void)state;
	made_machine(&tape, 64);
	made_blob(&tape, TAPE_MOMENT_START, "/proc/zoneinfo", zone);
	come_in(0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_BEGIN, 0, 0);
	isolate(1, 1);
	evict_page(0);
	shrunk(1, 1);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_END, 1);
	evict_batch(1, 1, NO_PAGE);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_DIRECT_RECLAIM_END, 2);
	run_check(0);
	tally = check_tally(check, WORLD_ROOT, CHECK_isolate_request);
	assert_non_null(tally);
	assert_int_equal(tally->decided, 1);
	assert_int_equal(unequal(CHECK_isolate_request), 0);
	assert_int_equal(unequal(CHECK_victim), 0);
	assert_int_equal(check_undecided(check)->soft_limit, 1);
	assert_int_equal(check_undecided(check)->foreign, 1);
}

/*
 *   isolated 1 2 3, evicted 1 2       3 is doubtful: back at the tail     [.. 4 3]
 *   isolated 7: 3 .. 9, evicted 4     so 3 did survive, at the head:     [3 .. 4], and 10 is in
 *   evicted 5 .. 10                   equal, all of them
 */
static void doubtful_survivor_is_settled_by_the_next_isolation(void **state)
{
	(void)state;
	made_unknown_machine();
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	isolate(3, 3);
	evict_page(1);
	evict_page(2);
	shrunk(3, 2);
	evict_batch(4, 7, NO_PAGE);
	evict_batch(11, 10, NO_PAGE);
	isolate(11, 11);
	for (uint64_t page = 21; page <= 30; page++)
		evict_page(page);
	evict_page(3);
	shrunk(11, 11);
	reclaim_ends(31);
	run_check(1);
	assert_int_equal(unequal(CHECK_victim), 0);
	assert_int_equal(decided(CHECK_victim), 31);
	assert_int_equal(unequal(CHECK_isolate_request), 0);
	assert_int_equal(unequal(CHECK_reclaim_stop), 0);
	assert_int_equal(check_undecided(check)->survivors, 1);
}

/* It was never isolated: a stranger stood in its place. Then it is the next to go. */
static void doubtful_survivor_may_be_the_next_victim(void **state)
{
	(void)state;
	made_unknown_machine();
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	isolate(3, 3);
	evict_page(1);
	evict_page(2);
	shrunk(3, 2);
	evict_batch(3, 7, NO_PAGE);
	run_check(1);
	assert_true(world.memcg_inferred);
	assert_int_equal(unequal(CHECK_victim), 0);
	assert_int_equal(decided(CHECK_victim), 10);
	assert_int_equal(check_undecided(check)->survivors, 1);
}

/* Seen from its beginning, there are no strangers: it was locked or held, and is at the head. */
static void survivor_of_a_group_seen_whole_is_at_the_head(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	isolate(3, 3);
	evict_page(1);
	evict_page(2);
	shrunk(3, 2);
	evict_batch(3, 7, NO_PAGE);
	run_check(1);
	assert_int_equal(unequal(CHECK_victim), 1);
	assert_string_equal(check_mismatch(check, 0)->predicted, "pfn 1004");
	assert_string_equal(check_mismatch(check, 0)->recorded, "pfn 1003, not isolated");
}

/* ---- anon */

#define FLAGS_ANON 0x12 /* anon, swapbacked */
#define INACTIVE_ANON 0

static void large_anon_folio_is_decided_and_a_single_page_is_taken_as_it_comes(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, 0x4000, 2, 8, 1);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, 0x4000, INACTIVE_ANON, FLAGS_ANON);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, 0x5000, INACTIVE_ANON, FLAGS_ANON);
	run_check(0);
	assert_int_equal(decided(CHECK_insertion_list), 1);
	assert_int_equal(unequal(CHECK_insertion_list), 0);
	assert_int_equal(world.inferred[INFER_anon_added_at_insertion], 2);
	assert_int_equal(world.inferred[INFER_anon_of_before], 1); /* no allocation told of it */
}

/* ---- broken tapes */

static void task_that_begins_reclaim_anew_gives_its_folios_back(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	isolate(3, 3); /* shrink and end are lost */
	reclaim_begins();
	made_delete(&tape, 0, GROUP_TASK, 0);
	isolate(3, 3);
	reclaim_ends(3);
	made_delete(&tape, 1, KDAMOND_TASK, 1);
	made_delete(&tape, 1, OTHER_TASK, 2);
	isolate(3, 3); /* outside any call */
	run_check(0);
}

static void isolation_of_nothing_after_a_lost_shrink_gives_the_folios_back(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	isolate(3, 3);
	isolate(3, 0);
	reclaim_ends(0);
	for (uint64_t page = 0; page < 31; page++)
		made_delete(&tape, 0, OTHER_TASK, page);
	run_check(0);
}

static void expectations_end_with_a_loss(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	for (uint64_t page = 0; page <= 30; page++)
		read_page(page);
	made_lost(&tape, 0, 31); /* the activations were among them */
	read_page(3);
	made_activation(&tape, 0, GROUP_TASK, 30);
	run_check(0);
	assert_true(unequal(CHECK_activation) <= 1);
}

static void impossible_values_are_passed_over(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, UINT64_MAX, 1, 2, 3, 0);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, 9, 1, UINT64_MAX, 3, 200);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, 9, 1, UINT64_MAX, 3, 13);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_DELETE_FROM_PAGE_CACHE, 9, 1, UINT64_MAX, 3,
		   63);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, MADE_PFN, 99, 4);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, UINT64_C(1) << 32, 2, 4);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, UINT64_MAX);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, UINT64_MAX, 0, 8, 0);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, 77, 64, 8, 0);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, UINT64_MAX - 1, 3);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV, 30, 3);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV, UINT64_MAX,
		   UINT64_MAX);
	made_flush(&tape, 12345);
	reclaim_begins();
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, UINT64_MAX, UINT64_MAX, 0,
		   UINT64_MAX, 77);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, UINT64_MAX, UINT64_MAX, 0,
		   UINT64_MAX, 2);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 1, UINT64_MAX, 0, 0, 0,
		   0, UINT64_MAX, UINT64_MAX, 0, 0, 99, 0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 1, UINT64_MAX, 0, 0, 99,
		   0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, 0, 0, 0, 3, 4);
	reclaim_ends(UINT64_MAX);
	reclaim_ends(0);
	run_check(100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(folio_evicted_by_kdamond_leaves_a_shadow_of_the_root),
		TEST(truncated_folio_comes_back_as_new),
		TEST(folios_from_before_the_tape_are_not_decided),
		TEST(metadata_comes_active),
		TEST(metadata_that_comes_inactive_is_found),
		TEST(touched_buffer_is_accessed),
		TEST(activation_of_metadata_that_no_event_explains_is_not_decided),
		TEST(reclaim_of_a_group_with_unknown_folios_is_not_predicted),
		TEST(global_reclaim_is_not_predicted),
		TEST(what_a_soft_limit_asks_for_is_part_of_a_call),
		TEST(doubtful_survivor_is_settled_by_the_next_isolation),
		TEST(doubtful_survivor_may_be_the_next_victim),
		TEST(survivor_of_a_group_seen_whole_is_at_the_head),
		TEST(large_anon_folio_is_decided_and_a_single_page_is_taken_as_it_comes),
		TEST(task_that_begins_reclaim_anew_gives_its_folios_back),
		TEST(isolation_of_nothing_after_a_lost_shrink_gives_the_folios_back),
		TEST(expectations_end_with_a_loss),
		TEST(impossible_values_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
