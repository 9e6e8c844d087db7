// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

static struct made_tape tape;
static struct world world;
static uint32_t file;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 100);
	if (world_init(&world, made_tape_read(&tape)))
		return -1;
	file = world_file(&world, MADE_DEV, MADE_INO);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void nothing_is_known_before_a_page_is(void **state)
{
	(void)state;
	assert_int_equal(executable_page(&world, file, 5), EXECUTABLE_UNKNOWN);
	executable_learn(&world, file, 5, 1, false);
	assert_int_equal(executable_page(&world, file, 5), EXECUTABLE_UNKNOWN);
	assert_int_equal(world.inferred[INFER_executable_part], 0);
}

static void a_page_is_like_the_nearest_known_one(void **state)
{
	(void)state;
	executable_learn(&world, file, 10, 4, true);
	executable_learn(&world, file, 2000, 1, false);
	assert_int_equal(executable_page(&world, file, 0), EXECUTABLE);
	assert_int_equal(executable_page(&world, file, 12), EXECUTABLE);
	assert_int_equal(executable_page(&world, file, 900), EXECUTABLE);
	assert_int_equal(executable_page(&world, file, 1500), EXECUTABLE_NOT);
	assert_int_equal(executable_page(&world, file, 90000), EXECUTABLE_NOT);
	assert_int_equal(world.inferred[INFER_executable_part], 1);
}

static void a_file_that_goes_takes_it_along(void **state)
{
	(void)state;
	executable_learn(&world, file, 10, 4, true);
	executable_forget(&world, file);
	assert_int_equal(executable_page(&world, file, 10), EXECUTABLE_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_known_before_a_page_is),
		TEST(a_page_is_like_the_nearest_known_one),
		TEST(a_file_that_goes_takes_it_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
