// SPDX-License-Identifier: GPL-2.0-only
/* What faults on file pages tell: of writes to private mappings, and of executable ones. */
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

#define RA_PAGES 64
#define LATER_NS (UINT64_C(1) << 30)

static struct made_tape tape;
static struct world world;
static struct world_task *task;
static uint32_t file;
static uint64_t now_ns;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 100);
	if (world_init(&world, made_tape_read(&tape)))
		return -1;
	file = world_file(&world, MADE_DEV, MADE_INO);
	task = world_task(&world, GROUP_TASK);
	now_ns = LATER_NS;
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void happens(const struct tape_event *event)
{
	world.now_ns = event->timestamp_ns;
	faults_event(&world, event);
}

static void faulted(uint64_t page)
{
	uint64_t v[] = { [MM_FILEMAP_FAULT_I_INO] = MADE_INO,
			 [MM_FILEMAP_FAULT_S_DEV] = MADE_DEV,
			 [MM_FILEMAP_FAULT_INDEX] = page };

	happens(&(struct tape_event){ .timestamp_ns = now_ns,
				      .pid = GROUP_TASK,
				      .kind = EVENT_MM_FILEMAP_FAULT,
				      .value = v });
}

static void mapped_around(uint64_t first, uint64_t last)
{
	uint64_t v[] = { [MM_FILEMAP_MAP_PAGES_I_INO] = MADE_INO,
			 [MM_FILEMAP_MAP_PAGES_S_DEV] = MADE_DEV,
			 [MM_FILEMAP_MAP_PAGES_INDEX] = first,
			 [MM_FILEMAP_MAP_PAGES_LAST_INDEX] = last };

	happens(&(struct tape_event){ .timestamp_ns = now_ns,
				      .pid = GROUP_TASK,
				      .kind = EVENT_MM_FILEMAP_MAP_PAGES,
				      .value = v });
}

static void window(uint64_t first, uint64_t size, uint64_t async)
{
	uint64_t v[] = {
		[PAGE_CACHE_RA_ORDER_I_INO] = MADE_INO,	  [PAGE_CACHE_RA_ORDER_S_DEV] = MADE_DEV,
		[PAGE_CACHE_RA_ORDER_INDEX] = first,	  [PAGE_CACHE_RA_ORDER_ORDER] = 0,
		[PAGE_CACHE_RA_ORDER_SIZE] = size,	  [PAGE_CACHE_RA_ORDER_ASYNC_SIZE] = async,
		[PAGE_CACHE_RA_ORDER_RA_PAGES] = RA_PAGES
	};

	happens(&(struct tape_event){ .timestamp_ns = now_ns,
				      .pid = GROUP_TASK,
				      .kind = EVENT_PAGE_CACHE_RA_ORDER,
				      .value = v });
}

static void dirtied(uint64_t page)
{
	uint64_t v[] = {
		[WRITEBACK_DIRTY_FOLIO_INO] = MADE_INO, [WRITEBACK_DIRTY_FOLIO_INDEX] = page
	};

	happens(&(struct tape_event){ .timestamp_ns = now_ns,
				      .pid = GROUP_TASK,
				      .kind = EVENT_WRITEBACK_DIRTY_FOLIO,
				      .value = v });
}

/* A fault on a page that is in memory. */
static bool found_copies(uint64_t page)
{
	faulted(page);
	faults_found(&world, task);
	return task->fault.copies;
}

static void fault_that_no_fault_around_came_across_copies(void **state)
{
	(void)state;
	assert_true(found_copies(5));
	assert_true(executable_is_copied(&world, file, 5));
	assert_false(executable_is_copied(&world, file, 6));
	assert_int_equal(world.inferred[INFER_fault_copies], 1);
	faulted(5); /* of a page that is not in memory any more: the next process writes to it as well */
	assert_true(task->fault.copies);
}

static void fault_behind_fault_around_does_not(void **state)
{
	(void)state;
	mapped_around(0, 15);
	assert_false(found_copies(5)); /* the marker's page, or one that was locked */
	assert_true(found_copies(5)); /* nothing came before this one */
}

static void page_that_is_being_read_may_be_passed_over(void **state)
{
	(void)state;
	faulted(200);
	window(168, RA_PAGES, RA_PAGES / 4);
	assert_false(found_copies(180));
	now_ns += LATER_NS;
	assert_false(found_copies(168 + RA_PAGES * 3 / 4)); /* the marker */
	assert_true(found_copies(180));
}

static void who_waited_for_the_device_and_faults_again_copies(void **state)
{
	(void)state;
	faulted(200);
	window(168, RA_PAGES, RA_PAGES / 4);
	assert_true(found_copies(200));
}

static void shared_mapping_is_not_copied(void **state)
{
	(void)state;
	faulted(5);
	dirtied(5);
	assert_false(task->fault.copies);
	assert_false(found_copies(6));
}

static void window_of_a_fault_tells_the_end_of_an_executable_mapping(void **state)
{
	(void)state;
	faulted(100);
	window(68, RA_PAGES, RA_PAGES / 4); /* so it is up to 6.16 on all mappings */
	assert_int_equal(executable_page(&world, file, 100), EXECUTABLE_UNKNOWN);
	faulted(20);
	window(20, 30, 0);
	assert_int_equal(executable_page(&world, file, 0), EXECUTABLE);
	assert_int_equal(executable_page(&world, file, 49), EXECUTABLE);
	assert_int_equal(executable_page(&world, file, 50), EXECUTABLE_NOT);
	assert_int_equal(executable_end(&world, file, 30), 50);
	assert_int_equal(world.inferred[INFER_executable_window], 1);
	executable_learn(&world, file, 30, 1, false); /* a guess */
	assert_int_equal(executable_page(&world, file, 30), EXECUTABLE);
}

static void window_around_a_fault_is_not_of_one(void **state)
{
	(void)state;
	faulted(20);
	window(20, RA_PAGES, 0);
	assert_int_equal(executable_end(&world, file, 30), UINT64_MAX);
	faulted(200);
	window(168, RA_PAGES, RA_PAGES / 4);
	assert_int_equal(executable_page(&world, file, 200), EXECUTABLE_NOT);
	assert_int_equal(executable_end(&world, file, 30), 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(fault_that_no_fault_around_came_across_copies),
		TEST(fault_behind_fault_around_does_not),
		TEST(page_that_is_being_read_may_be_passed_over),
		TEST(who_waited_for_the_device_and_faults_again_copies),
		TEST(shared_mapping_is_not_copied),
		TEST(window_of_a_fault_tells_the_end_of_an_executable_mapping),
		TEST(window_around_a_fault_is_not_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
