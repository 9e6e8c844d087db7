// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim that a task asks for in a memcg that is none of its own: what the pass over a tape makes of it.
 *
 *   /           task 20
 *   /g          tasks 10, 11; pages 0..
 */
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

static struct made_tape tape;
static struct world world;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void machine(const char *hierarchy)
{
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/release", "6.12.1\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/cgroups", "1 /\n100 /g\n101 /g/a\n102 /g/b\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/tasks",
		  "10 10 101 reader\n11 11 102 reader\n20 20 1 bash\n");
	if (hierarchy)
		made_blob(&tape, TAPE_MOMENT_START, "/proc/cgroups", hierarchy);
}

static void come(int32_t pid, uint64_t first, uint64_t last)
{
	for (uint64_t page = first; page <= last; page++)
		made_add(&tape, 0, pid, page);
}

/* One call that takes these pages; as many come free as it says. */
static void call(int32_t pid, uint64_t first, uint64_t last, uint64_t nr_reclaimed)
{
	made_event(&tape, 0, pid, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0x100cca);
	for (uint64_t page = first; page <= last; page++)
		made_delete(&tape, 0, pid, page);
	made_event(&tape, 0, pid, MM_VMSCAN_MEMCG_RECLAIM_END, nr_reclaimed);
}

static const struct foreign_reclaim *only_row(void)
{
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(world.foreign.nr_rows, 1);
	return &world.foreign.row[0];
}

static void the_roundest_number_is_found(void **state)
{
	(void)state;
	assert_int_equal(foreign_reclaim_roundest(1510, 1545), 1536);
	assert_int_equal(foreign_reclaim_roundest(96, 128), 128);
	assert_int_equal(foreign_reclaim_roundest(0, 100), 64);
	assert_int_equal(foreign_reclaim_roundest(999, 1000), 1000);
	assert_int_equal(foreign_reclaim_roundest(7, 7), 0);
}

static void calls_in_a_row_are_one_write(void **state)
{
	const struct foreign_reclaim *row;
	uint64_t second_ns;

	(void)state;
	machine(NULL);
	come(10, 0, 199);
	call(20, 0, 39, 40);
	second_ns = tape.now_ns + tape.step_ns;
	call(20, 40, 72, 33);
	call(20, 73, 104, 32); /* 73 and then 105 of 96 that were asked for */
	row = only_row();
	assert_string_equal(world.memcg[row->memcg].path, "/g/a");
	assert_int_equal(row->pages, 96);
	assert_false(row->all);
	assert_false(row->told);
	assert_int_equal(row->swappiness, FOREIGN_SWAPPINESS_UNSET);
	assert_int_equal(world.foreign.nr_calls, 3);
	assert_true(world.foreign.call[0].first && !world.foreign.call[0].last);
	assert_true(!world.foreign.call[2].first && world.foreign.call[2].last);
	assert_int_equal(foreign_reclaim_call(&world, 20, second_ns)->pages_before, 40);
	assert_null(foreign_reclaim_call(&world, 10, second_ns));
	assert_null(foreign_reclaim_call(&world, 20, second_ns + 1));
}

static void victims_of_two_memcgs_are_taken_for_their_parent(void **state)
{
	const struct foreign_reclaim *row;

	(void)state;
	machine(NULL);
	come(10, 0, 49);
	come(11, 50, 99);
	call(20, 0, 31, 32);
	call(20, 50, 81, 32);
	row = only_row();
	assert_string_equal(world.memcg[row->memcg].path, "/g");
}

static void what_stands_between_two_calls_parts_them(void **state)
{
	(void)state;
	machine(NULL);
	come(10, 0, 99);
	call(20, 0, 31, 32);
	made_read(&tape, 0, 20, 5000, 5000);
	call(20, 32, 63, 32);
	made_flush(&tape, 1); /* what others do, and flushes, do not */
	made_read(&tape, 0, 11, 5000, 5000);
	call(20, 64, 95, 32);
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(world.foreign.nr_rows, 2);
	assert_int_equal(world.foreign.row[0].pages, 32);
	assert_int_equal(world.foreign.row[1].pages, 64);
}

static void reclaim_for_a_limit_of_its_own_is_nobody_elses(void **state)
{
	(void)state;
	machine(NULL);
	made_blob(&tape, TAPE_MOMENT_START, "/sys/fs/cgroup/g/memory.high", "400000\n");
	come(10, 0, 99);
	come(11, 100, 199);
	call(10, 0, 31, 32);
	call(10, 100, 131, 32); /* below /g, too */
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(world.foreign.nr_rows, 0);
}

static void memcg_without_a_known_limit_may_have_got_one_since(void **state)
{
	(void)state;
	machine(NULL);
	come(10, 0, 99);
	call(10, 0, 31, 32);
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(world.foreign.nr_rows, 0);
}

static void victims_that_the_tape_did_not_see_come_tell_nothing(void **state)
{
	(void)state;
	machine(NULL);
	call(20, 0, 31, 32);
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(world.foreign.nr_rows, 0);
}

#define V1 "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t4\t3\t1\n"

static void memcg_of_v1_that_was_emptied_is_asked_for_all(void **state)
{
	(void)state;
	machine(V1);
	come(10, 0, 99);
	call(20, 0, 31, 32);
	call(20, 32, 63, 32);
	call(20, 64, 95, 32);
	assert_true(only_row()->all);
}

static void memcg_of_v1_whose_limit_was_lowered_is_not(void **state)
{
	(void)state;
	machine(V1);
	come(10, 0, 199);
	call(20, 0, 31, 32);
	call(20, 32, 63, 32);
	assert_false(only_row()->all);
	assert_int_equal(world.foreign.row[0].pages, 64);
}

static void mark_tells_all_of_it(void **state)
{
	const struct foreign_reclaim *row;

	(void)state;
	machine(NULL);
	come(10, 0, 199);
	call(20, 0, 31, 32);
	made_event_text(&tape, 0, 20, FTRACE_PRINT, "memory.reclaim 77 0 /g/a\n", 0);
	call(20, 32, 63, 32);
	call(20, 64, 95, 32);
	call(20, 96, 127, 32);
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(world.foreign.nr_rows, 2);
	row = &world.foreign.row[1];
	assert_true(row->told);
	assert_int_equal(row->pages, 77);
	assert_int_equal(row->swappiness, 0);
	assert_string_equal(world.memcg[row->memcg].path, "/g/a");
	assert_int_equal(world.foreign.row[0].pages, 32);
}

static void mark_of_force_empty_names_no_number(void **state)
{
	(void)state;
	machine(V1);
	come(10, 0, 199);
	made_event_text(&tape, 0, 20, FTRACE_PRINT, "memory.force_empty /g/a\n", 0);
	call(20, 32, 63, 32);
	assert_true(only_row()->all);
	assert_true(world.foreign.row[0].told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_roundest_number_is_found, begin, end),
		cmocka_unit_test_setup_teardown(calls_in_a_row_are_one_write, begin, end),
		cmocka_unit_test_setup_teardown(victims_of_two_memcgs_are_taken_for_their_parent,
						begin, end),
		cmocka_unit_test_setup_teardown(what_stands_between_two_calls_parts_them, begin,
						end),
		cmocka_unit_test_setup_teardown(reclaim_for_a_limit_of_its_own_is_nobody_elses,
						begin, end),
		cmocka_unit_test_setup_teardown(memcg_without_a_known_limit_may_have_got_one_since,
						begin, end),
		cmocka_unit_test_setup_teardown(victims_that_the_tape_did_not_see_come_tell_nothing,
						begin, end),
		cmocka_unit_test_setup_teardown(memcg_of_v1_that_was_emptied_is_asked_for_all,
						begin, end),
		cmocka_unit_test_setup_teardown(memcg_of_v1_whose_limit_was_lowered_is_not, begin,
						end),
		cmocka_unit_test_setup_teardown(mark_tells_all_of_it, begin, end),
		cmocka_unit_test_setup_teardown(mark_of_force_empty_names_no_number, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
