// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anonymous pages of which no event tells the end: a group is charged for them while their process lives.
 */
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

#define CHILD 12
#define ANON_FLAGS 0x13 /* mapped, anon, swapbacked */
#define CLONE_VM 0x100

static struct made_tape tape;
static struct world world;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 1000);
	made_type(&tape, EVENT_MM_PAGE_FREE, "order > 0", NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void play(void)
{
	const struct tape_event *event;

	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	while (tape_reader_next(tape.reader, &event) > 0)
		world_event(&world, event);
}

static void anon_folio_comes(int32_t pid, uint64_t pages)
{
	made_event(&tape, 0, pid, MOD_MEMCG_LRUVEC_STATE, GROUP_ID, 0, pages);
	made_event(&tape, 0, pid, MM_LRU_INSERTION, MADE_PFN, 0, ANON_FLAGS);
}

static void anon_comes(int32_t pid, uint64_t pages)
{
	while (pages-- > 0)
		anon_folio_comes(pid, 1);
}

static void child_begins(uint64_t clone_flags)
{
	made_event_text(&tape, 0, GROUP_TASK, TASK_NEWTASK, "child", CHILD, clone_flags);
	made_event_text(&tape, 0, GROUP_TASK, SCHED_PROCESS_FORK, "child", GROUP_TASK, CHILD);
}

static void exits(int32_t pid)
{
	made_event_text(&tape, 0, pid, SCHED_PROCESS_EXIT, "child", (uint64_t)pid);
}

static int64_t overhead(void)
{
	return world.memcg[world_memcg_by_id(&world, GROUP_ID)].overhead_pages;
}

/* They are told when they are allocated and when they are freed. */
static void large_folios_are_not_counted_again(void **state)
{
	(void)state;
	anon_folio_comes(GROUP_TASK, 4);
	anon_folio_comes(GROUP_TASK, 1);
	play();
	assert_int_equal(overhead(), 1);
}

static void anon_is_charged_until_its_process_exits(void **state)
{
	(void)state;
	anon_comes(GROUP_TASK, 3);
	child_begins(0);
	anon_comes(CHILD, 4);
	anon_comes(CHILD, 1);
	exits(CHILD);
	/* What was left in its batch comes on a list now, and is freed at once. */
	anon_comes(CHILD, 1);
	play();
	assert_int_equal(overhead(), 3);
	assert_int_equal(world.inferred[INFER_anon_of_the_living], 9);
}

static void threads_share_it(void **state)
{
	(void)state;
	child_begins(CLONE_VM);
	anon_comes(CHILD, 4);
	exits(CHILD);
	play();
	assert_int_equal(overhead(), 4);
}

static void a_program_that_takes_over_begins_without(void **state)
{
	(void)state;
	anon_comes(GROUP_TASK, 4);
	made_event_text(&tape, 0, GROUP_TASK, SCHED_PROCESS_EXEC, "/bin/x", GROUP_TASK, GROUP_TASK);
	anon_comes(GROUP_TASK, 1);
	play();
	assert_int_equal(overhead(), 1);
}

static void what_a_drain_of_others_brings_is_of_who_came_last(void **state)
{
	(void)state;
	anon_comes(GROUP_TASK, 2);
	anon_comes(OTHER_TASK, 2);
	exits(GROUP_TASK);
	play();
	assert_int_equal(overhead(), 0);
}

static void a_smaller_charge_shows_what_was_given_back(void **state)
{
	(void)state;
	anon_comes(GROUP_TASK, 8);
	play();
	spaces_overhead_shown(&world, world_memcg_by_id(&world, GROUP_ID), 6);
	assert_int_equal(overhead(), 6);
	assert_int_equal(world.memcg[world_memcg_by_id(&world, GROUP_ID)].anon_pages, 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(large_folios_are_not_counted_again),
		TEST(anon_is_charged_until_its_process_exits),
		TEST(threads_share_it),
		TEST(a_program_that_takes_over_begins_without),
		TEST(what_a_drain_of_others_brings_is_of_who_came_last),
		TEST(a_smaller_charge_shows_what_was_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
