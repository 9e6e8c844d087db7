// SPDX-License-Identifier: GPL-2.0-only
/* Free-running replays of anon pages under a limit, with swap: small tapes whose outcome is known. */
#include <inttypes.h>

#include "replay/engine/engine.h"
#include "replay/event_stream.h"

#include "tests/unit/made_tape.h"

#define LIMIT_PAGES 128
#define FIRST_FRAME 0x2000
#define MOVABLE 8

static struct made_tape tape;
static struct world world;
static struct replay *replay;
static uint64_t next_frame;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, LIMIT_PAGES);
	made_type(&tape, EVENT_PAGE_FAULT_USER, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_ALLOC, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_FREE, "", NULL);
	tape.step_ns = 100000; /* time enough for a write to swap */
	next_frame = FIRST_FRAME;
	return 0;
}

static int end(void **state)
{
	(void)state;
	replay_close(replay);
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void swap(const char *name, uint64_t pages)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "Filename Type Size Used Priority\n%s partition %" PRIu64 " 0 -2\n", name,
		 pages * 4);
	made_blob(&tape, TAPE_MOMENT_START, "/proc/swaps", text);
}

/* The recorded kernel had memory for all: each page is allocated once, and is there from then on. */
static void touch(uint64_t index)
{
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, index << 12, 4);
}

static void first_touch(uint64_t index)
{
	touch(index);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, next_frame++, 0, MOVABLE, 0);
}

static void play(void)
{
	const struct tape_event *event;
	struct policy_choice choice;
	struct event_stream *stream;
	uint64_t read_end;
	char why[256];

	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(policy_parse("classic", "6.18", &choice, why, sizeof(why)), 0);
	replay = replay_open(&world, &choice, REPLAY_MEMORY_RECORDED);
	assert_non_null(replay);
	stream = event_stream_open(tape.reader);
	while (event_stream_next(stream, &event, &read_end) > 0) {
		const struct mm *mm = replay_mm(replay);

		world_event(&world, event);
		replay_event(replay, event, read_end);
		for (unsigned int n = 0; n < mm->nr_memcgs; n++)
			assert_true(mm->policy->check(mm, &mm->memcg[n]->lruvec[0]));
		world_event_done(&world, event, read_end);
	}
	event_stream_close(stream);
	replay_finish(replay);
	assert_false(replay_failed(replay));
}

static uint64_t counter(enum counter which)
{
	return replay_memcg(replay, world_memcg_by_id(&world, GROUP_ID))->lruvec[0].counter[which];
}

static void pages_that_do_not_fit_go_to_swap_and_come_back_as_refaults(void **state)
{
	(void)state;
	swap("/dev/sda2", 1000);
	for (uint64_t i = 0; i < 2 * LIMIT_PAGES; i++)
		first_touch(i);
	for (uint64_t i = 0; i < 8; i++)
		touch(i);
	play();
	assert_true(counter(COUNT_pswpout) >= LIMIT_PAGES);
	assert_true(counter(COUNT_pgsteal_anon) >= LIMIT_PAGES);
	assert_true(counter(COUNT_pgmajfault) >= 1 && counter(COUNT_pgmajfault) <= 8);
	assert_int_equal(counter(COUNT_workingset_refault_anon), counter(COUNT_pswpin));
	assert_true(counter(COUNT_pswpin) >=
		    counter(COUNT_pgmajfault)); /* neighbours are read too */
	assert_true(counter(COUNT_resident_max) <= LIMIT_PAGES);
	/* Pages are in memory, in swap, or both; swap has one slot for each at most. */
	assert_true(1000 - replay_mm(replay)->config.nr_swap_pages <= 2 * LIMIT_PAGES);
}

static void synchronous_swap_reads_one_page_at_a_time(void **state)
{
	(void)state;
	swap("/dev/zram0", 1000);
	for (uint64_t i = 0; i < 2 * LIMIT_PAGES; i++)
		first_touch(i);
	for (uint64_t i = 0; i < 8; i++)
		touch(i);
	play();
	assert_int_equal(counter(COUNT_pswpin), counter(COUNT_pgmajfault));
	assert_true(counter(COUNT_pgmajfault) >= 1);
	assert_int_equal(counter(COUNT_pgrotated), 0); /* freed by the scan that wrote them */
}

static void say(uint64_t index, uint64_t pages, uint64_t advice)
{
	made_event(&tape, 0, GROUP_TASK, SYS_ENTER_MADVISE, index << 12, pages << 12, advice);
}

/* The second call finds swap entries, whose pages are in memory still. */
static void pageout_writes_each_mapped_page_once(void **state)
{
	(void)state;
	swap("/dev/sda2", 1000);
	for (uint64_t i = 0; i < 40; i++)
		first_touch(i);
	say(0, 20, 21);
	say(0, 20, 21);
	play();
	assert_int_equal(counter(COUNT_pswpout), 20);
	assert_int_equal(counter(COUNT_pgsteal_anon), 0); /* no reclaim call */
	assert_int_equal(counter(COUNT_pgmajfault), 0);
}

static void lazyfree_pages_go_without_a_write(void **state)
{
	(void)state;
	swap("/dev/sda2", 1000);
	for (uint64_t i = 0; i < 40; i++)
		first_touch(i);
	say(0, 40, 8);
	for (uint64_t i = 40; i < LIMIT_PAGES + 30; i++)
		first_touch(i);
	play();
	assert_true(counter(COUNT_pglazyfreed) >= 30);
	/* Anon lists are scanned as well, by the balance of costs. */
	assert_true(counter(COUNT_pswpout) < counter(COUNT_pglazyfreed));
	assert_int_equal(counter(COUNT_workingset_refault_anon), 0);
}

static void locked_pages_stay_in_memory(void **state)
{
	(void)state;
	swap("/dev/sda2", 1000);
	for (uint64_t i = 0; i < 40; i++)
		first_touch(i);
	made_event(&tape, 0, GROUP_TASK, SYS_ENTER_MLOCK, 0, UINT64_C(40) << 12);
	for (uint64_t i = 40; i < 2 * LIMIT_PAGES; i++)
		first_touch(i);
	for (uint64_t i = 0; i < 40; i++)
		touch(i);
	play();
	assert_true(counter(COUNT_pswpout) > 0);
	assert_int_equal(counter(COUNT_pgmajfault), 0);
}

static void without_swap_anon_pages_stay(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < LIMIT_PAGES + 20; i++)
		first_touch(i);
	play();
	assert_int_equal(counter(COUNT_pswpout), 0);
	assert_int_equal(counter(COUNT_pgsteal_anon), 0);
	assert_true(counter(COUNT_resident_max) >= LIMIT_PAGES);
}

static void swap_that_is_full_takes_no_more(void **state)
{
	(void)state;
	swap("/dev/sda2", 10);
	for (uint64_t i = 0; i < LIMIT_PAGES + 40; i++)
		first_touch(i);
	play();
	assert_true(counter(COUNT_pswpout) <= 10);
	assert_true(replay_mm(replay)->config.nr_swap_pages >= 0);
}

static void freed_pages_give_back_memory_and_slots(void **state)
{
	(void)state;
	swap("/dev/sda2", 1000);
	for (uint64_t i = 0; i < 2 * LIMIT_PAGES; i++)
		first_touch(i);
	touch(0); /* after it the last one is known to be anon */
	for (uint64_t i = 0; i < 2 * LIMIT_PAGES; i++)
		made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, FIRST_FRAME + i, 0);
	made_event(&tape, 0, GROUP_TASK, SCHED_PROCESS_EXIT, GROUP_TASK);
	play();
	assert_int_equal(replay_mm(replay)->config.nr_swap_pages, 1000);
	assert_int_equal(counter(COUNT_anon_alloc), 2 * LIMIT_PAGES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pages_that_do_not_fit_go_to_swap_and_come_back_as_refaults),
		TEST(synchronous_swap_reads_one_page_at_a_time),
		TEST(pageout_writes_each_mapped_page_once),
		TEST(lazyfree_pages_go_without_a_write),
		TEST(locked_pages_stay_in_memory),
		TEST(without_swap_anon_pages_stay),
		TEST(swap_that_is_full_takes_no_more),
		TEST(freed_pages_give_back_memory_and_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
