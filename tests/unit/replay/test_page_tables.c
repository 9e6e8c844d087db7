// SPDX-License-Identifier: GPL-2.0-only
#include "replay/page_tables.h"

#include "tests/unit/made_tape.h"

static struct made_tape tape;
static struct world world;
static struct machine machine;
static struct page_tables *tables;
static struct folio *folio;
static unsigned int nr_unmapped, nr_young, nr_last;

static int begin(void **state)
{
	struct policy_choice choice;
	char why[256];

	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 100);
	if (world_init(&world, made_tape_read(&tape)) ||
	    policy_parse("classic", "6.18", &choice, why, sizeof(why)) ||
	    machine_init(&machine, &world, &choice, false))
		return -1;
	tables = page_tables_open(&machine);
	folio = memmap_folio(&machine.mm.memmap, MADE_PFN);
	nr_unmapped = nr_young = nr_last = 0;
	return !tables || !folio ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	page_tables_close(tables);
	machine_exit(&machine);
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static bool map(int32_t pid)
{
	return page_tables_map(tables, world_task(&world, pid), folio);
}

static void unmapped(void *ctx, struct folio *gone, bool young, bool last)
{
	(void)ctx;
	assert_ptr_equal(gone, folio);
	nr_unmapped++;
	nr_young += young;
	nr_last += last;
}

static void task_ends(int32_t pid)
{
	world.spaces.gone = world_task(&world, pid)->space;
	page_tables_space_gone(tables, unmapped, NULL);
}

static void a_folio_is_young_once_for_each_that_maps_it(void **state)
{
	(void)state;
	assert_true(map(GROUP_TASK));
	assert_false(map(GROUP_TASK));
	assert_true(map(OTHER_TASK));
	task_ends(GROUP_TASK);
	assert_int_equal(nr_young, 1);
	assert_int_equal(nr_last, 0);
	task_ends(OTHER_TASK);
	assert_int_equal(nr_young, 2);
	assert_int_equal(nr_last, 1);
}

static void a_look_makes_old_what_was_mapped_before(void **state)
{
	(void)state;
	map(GROUP_TASK);
	page_tables_looked(tables, folio);
	assert_false(page_tables_of(tables, folio)->young);
	map(OTHER_TASK);
	assert_true(page_tables_of(tables, folio)->young);
	task_ends(GROUP_TASK);
	assert_int_equal(nr_young, 0);
	task_ends(OTHER_TASK);
	assert_int_equal(nr_young, 1);
}

static void a_frame_that_begins_anew_is_mapped_by_nobody(void **state)
{
	(void)state;
	map(GROUP_TASK);
	page_tables_forget(tables, folio);
	assert_null(page_tables_of(tables, folio));
	task_ends(GROUP_TASK);
	assert_int_equal(nr_unmapped, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_folio_is_young_once_for_each_that_maps_it),
		TEST(a_look_makes_old_what_was_mapped_before),
		TEST(a_frame_that_begins_anew_is_mapped_by_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
