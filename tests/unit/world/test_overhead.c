// SPDX-License-Identifier: GPL-2.0-only
/* What the machine's memory is used for besides files, as kswapd's wakeups and snapshots tell. */
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

#define KSWAPD 60
#define TASK 20
#define INACTIVE_FILE 2

/* 6,000 of 10,000 pages are free; kswapd wakes at 400 and stops above 600. */
static const char start_zone[] = "Node 0, zone    DMA32\n"
				 "  pages free     6000\n"
				 "        min      200\n"
				 "        low      400\n"
				 "        high     600\n"
				 "        spanned  10000\n"
				 "        managed  10000\n"
				 "        protection: (0)\n"
				 "  start_pfn:           1\n";

static struct made_tape tape;
static struct world world;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/release", "6.12.1\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/cgroups", "1 /\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/tasks", "20 20 1 reader\n60 60 1 kswapd0\n");
	made_blob(&tape, TAPE_MOMENT_START, "/proc/zoneinfo", start_zone);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void come(uint64_t first, uint64_t nr)
{
	for (uint64_t page = first; page < first + nr; page++)
		made_add(&tape, 0, TASK, page);
}

static uint64_t wake(void)
{
	made_event(&tape, 1, KSWAPD, MM_VMSCAN_KSWAPD_WAKE, 0, 0, 0);
	return tape.now_ns;
}

/* An isolation, and as many pages go. */
static void scan(uint64_t requested, uint64_t priority, uint64_t first, uint64_t nr)
{
	made_event(&tape, 1, KSWAPD, MM_VMSCAN_LRU_ISOLATE, 0, 0, requested, nr, 0, nr,
		   INACTIVE_FILE);
	for (uint64_t page = first; page < first + nr; page++)
		made_delete(&tape, 1, KSWAPD, page);
	made_event(&tape, 1, KSWAPD, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, nr, nr, 0, 0, 0, 0, 0, 0, 0,
		   0, priority);
}

static void open_world(void)
{
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
}

static int64_t at(uint64_t timestamp_ns)
{
	uint32_t from = 0;

	return overhead_at(&world.overhead, timestamp_ns, &from);
}

static void at_a_wakeup_free_is_low(void **state)
{
	uint64_t wake_ns;

	(void)state;
	come(0, 5000);
	wake_ns = wake();
	scan(24, 12, 0, 24);
	open_world();
	assert_int_equal(at(wake_ns), 6000 - 5000 - 400);
	/* It has come to that evenly. */
	assert_in_range(at(wake_ns / 2), 299, 301);
}

static void at_the_end_of_a_call_free_is_high(void **state)
{
	uint64_t end_ns;

	(void)state;
	come(0, 5000);
	wake();
	scan(32, 12, 0, 32);
	scan(32, 11, 32, 300); /* half of the last round is taken for more than enough */
	end_ns = tape.now_ns;
	open_world();
	assert_int_equal(at(end_ns), 6000 - (5000 - 332) - 600 - 150);
	assert_true(world.kswapd_page_ns > 0);
}

static void wakeup_without_work_tells_nothing(void **state)
{
	(void)state;
	come(0, 5000);
	wake();
	come(5000, 300);
	open_world();
	assert_int_equal(at(tape.now_ns), 0);
	assert_int_equal(world.inferred[INFER_overhead_at_kswapd], 0);
}

/* It stays at priority 10 for 640 pages, of which 512 are the pageblock that was taken. */
static void boosted_watermarks_are_told_by_the_priority(void **state)
{
	uint64_t wake_ns;

	(void)state;
	come(0, 3000);
	wake_ns = wake();
	scan(10, 12, 0, 10);
	scan(20, 11, 10, 20);
	for (uint64_t round = 0; round < 16; round++)
		scan(31, 10, 30 + 31 * round, 31);
	open_world();
	assert_int_equal(overhead_boost(&world.overhead, wake_ns), 512);
	assert_int_equal(overhead_boost(&world.overhead, wake_ns + 1), 0);
	assert_int_equal(at(wake_ns), 0);
}

static void boost_is_not_more_than_once_and_a_half_the_high_mark(void **state)
{
	uint64_t wake_ns;

	(void)state;
	come(0, 3000);
	wake_ns = wake();
	for (uint64_t round = 0; round < 40; round++)
		scan(31, 10, 31 * round, 31);
	open_world();
	assert_int_equal(overhead_boost(&world.overhead, wake_ns), 900);
}

static void snapshot_counts_all_that_is_free(void **state)
{
	static const char end_zone[] = "Node 0, zone    DMA32\n"
				       "  pages free     700\n"
				       "        high     600\n"
				       "        managed  10000\n"
				       "      nr_zone_inactive_file 4000\n"
				       "      nr_zone_active_file 976\n";
	struct tape_blob blob = { .moment = TAPE_MOMENT_END,
				  .name = "/proc/zoneinfo",
				  .data = end_zone,
				  .size = sizeof(end_zone) - 1 };

	(void)state;
	come(0, 5000);
	wake();
	scan(24, 12, 0, 24);
	blob.timestamp_ns = tape.now_ns + 1;
	assert_int_equal(tape_writer_add_blob(tape.writer, &blob), 0);
	open_world();
	assert_int_equal(at(tape.now_ns + 1), 6000 - 700 - 4976);
}

static void without_kswapd_nothing_is_looked_for(void **state)
{
	(void)state;
	come(0, 5000);
	open_world();
	assert_int_equal(world.overhead.nr, 0);
	assert_int_equal(at(tape.now_ns), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(at_a_wakeup_free_is_low, begin, end),
		cmocka_unit_test_setup_teardown(at_the_end_of_a_call_free_is_high, begin, end),
		cmocka_unit_test_setup_teardown(wakeup_without_work_tells_nothing, begin, end),
		cmocka_unit_test_setup_teardown(boosted_watermarks_are_told_by_the_priority, begin,
						end),
		cmocka_unit_test_setup_teardown(
			boost_is_not_more_than_once_and_a_half_the_high_mark, begin, end),
		cmocka_unit_test_setup_teardown(snapshot_counts_all_that_is_free, begin, end),
		cmocka_unit_test_setup_teardown(without_kswapd_nothing_is_looked_for, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
