// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim below one limit walks several memcgs, and before 6.13 no event says whose list it isolates from.
 *
 *   /g        96 pages at most
 *   /g/a      task 10, pages 0..
 *   /g/b      task 11, pages 1000..
 *
 * What comes of an isolation tells, and is foreseen.
 */
#include "tests/unit/made_check.h"

#define INACTIVE_FILE 2
#define OF_B 1000

static struct made_tape tape;
static struct world world;
static struct check *check;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/release", "6.12.1\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/cgroups", "1 /\n100 /g\n101 /g/a\n102 /g/b\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/tasks", "10 10 101 r\n11 11 102 r\n");
	made_blob(&tape, TAPE_MOMENT_START, "/sys/fs/cgroup/g/memory.max", "393216\n");
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

static void run_check(void)
{
	check = made_check_open(&tape, &world, "6.12", 10);
	made_check_read(check, &world, &tape);
}

static void come(int32_t pid, uint64_t first)
{
	for (uint64_t page = first; page < first + 31; page++)
		made_add(&tape, 0, pid, page);
	for (uint64_t page = first; page < first + 31; page++)
		made_insertion(&tape, 0, pid, page, INACTIVE_FILE);
}

static void isolate(int32_t pid, uint64_t nr)
{
	made_event(&tape, 0, pid, MM_VMSCAN_LRU_ISOLATE, 4, 0, nr, nr, 0, nr, INACTIVE_FILE);
}

static void shrunk(int32_t pid, uint64_t nr, uint64_t priority)
{
	made_event(&tape, 0, pid, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, nr, nr, 0, 0, 0, 0, 0, 0, 0, 0,
		   priority);
}

static uint64_t equal(enum check_decision decision)
{
	const struct check_tally *tally = check_tally(check, world_memcg_by_id(&world, 100),
						      decision);

	return tally ? tally->equal : 0;
}

/*
 * Two tasks reclaim at a time, and the walk would have both begin with a's list. Task 11 began with b's: were that
 * found out by its victim only, task 10 would have found a's tail taken.
 */
static void two_tasks_isolate_from_different_memcgs_at_a_time(void **state)
{
	(void)state;
	come(10, 0);
	come(11, OF_B);
	made_event(&tape, 0, 11, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, 10, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	isolate(11, 1);
	isolate(10, 1);
	made_delete(&tape, 0, 10, 0);
	made_delete(&tape, 0, 11, OF_B);
	shrunk(10, 1, 4);
	shrunk(11, 1, 4);
	made_event(&tape, 0, 10, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	made_event(&tape, 0, 11, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	run_check();
	assert_int_equal(equal(CHECK_victim), 2);
}

/* 31 pages: one at priority 4, three at 3. */
static void priority_of_an_isolation_is_where_the_walk_goes_on(void **state)
{
	(void)state;
	come(10, 0);
	made_event(&tape, 0, 10, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	isolate(10, 3);
	for (uint64_t page = 0; page < 3; page++)
		made_delete(&tape, 0, 10, page);
	shrunk(10, 3, 3);
	isolate(10, 7);
	for (uint64_t page = 3; page < 10; page++)
		made_delete(&tape, 0, 10, page);
	shrunk(10, 7, 2);
	made_event(&tape, 0, 10, MM_VMSCAN_MEMCG_RECLAIM_END, 10);
	run_check();
	assert_int_equal(equal(CHECK_victim), 10);
	assert_int_equal(equal(CHECK_isolate_request), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_tasks_isolate_from_different_memcgs_at_a_time,
						begin, end),
		cmocka_unit_test_setup_teardown(priority_of_an_isolation_is_where_the_walk_goes_on,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
