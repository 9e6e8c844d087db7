// SPDX-License-Identifier: GPL-2.0-only
/* A machine whose memory runs out, with no limit anywhere. */
#include "replay/engine/engine.h"
#include "replay/event_stream.h"

#include "tests/unit/made_tape.h"

#define TASK 20 /* in the root */
#define NR_PAGES 1000

/* 600 of 1,000 pages are free; kswapd is woken at 40 and stops above 60. */
static const char one_zone[] = "Node 0, zone    DMA32\n"
			       "  pages free     600\n"
			       "        min      20\n"
			       "        low      40\n"
			       "        high     60\n"
			       "        spanned  1000\n"
			       "        managed  1000\n"
			       "        protection: (0)\n"
			       "  start_pfn:           1\n";

static struct made_tape tape;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/release", "6.18.44\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/cgroups", "1 /\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/tasks", "20 20 1 reader\n");
	made_blob(&tape, TAPE_MOMENT_START, "/proc/sys/vm/min_free_kbytes", "80\n");
	made_blob(&tape, TAPE_MOMENT_START, "/proc/sys/vm/watermark_scale_factor", "10\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_tape_end(&tape);
	return 0;
}

/* Each page is read once. Return: what a counter of the root came to. */
static uint64_t run(int64_t memory_pages, enum counter counter)
{
	struct policy_choice choice;
	const struct tape_event *event;
	struct event_stream *stream;
	struct replay *replay;
	struct world world;
	uint64_t read_end, value;
	char why[256];

	for (uint64_t page = 0; page < NR_PAGES; page++) {
		made_add(&tape, 0, TASK, page);
		made_read(&tape, 0, TASK, page, page);
	}
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_int_equal(policy_parse("classic", "6.18", &choice, why, sizeof(why)), 0);
	replay = replay_open(&world, &choice, memory_pages);
	assert_non_null(replay);
	stream = event_stream_open(tape.reader);
	assert_non_null(stream);
	while (event_stream_next(stream, &event, &read_end) > 0) {
		world_event(&world, event);
		replay_event(replay, event, read_end);
		world_event_done(&world, event, read_end);
	}
	assert_false(replay_failed(replay));
	value = replay_mm(replay)->root->lruvec[0].counter[counter];
	assert_true(!replay_mm(replay)->zones.nr || zones_free(&replay_mm(replay)->zones) > 20);
	event_stream_close(stream);
	replay_close(replay);
	world_exit(&world);
	return value;
}

static void kswapd_makes_the_room(void **state)
{
	uint64_t stolen;

	(void)state;
	made_blob(&tape, TAPE_MOMENT_START, "/proc/zoneinfo", one_zone);
	stolen = run(REPLAY_MEMORY_RECORDED, COUNT_pgsteal_kswapd);
	/* 1,000 pages come, 560 fit; no more than a round's last step is freed beyond the high mark. */
	assert_in_range(stolen, NR_PAGES - 560, NR_PAGES - 560 + 100);
}

static void more_memory_than_is_read_evicts_nothing(void **state)
{
	(void)state;
	made_blob(&tape, TAPE_MOMENT_START, "/proc/zoneinfo", one_zone);
	assert_int_equal(run(2000, COUNT_pgsteal_kswapd), 0);
}

static void less_memory_evicts_more(void **state)
{
	(void)state;
	made_blob(&tape, TAPE_MOMENT_START, "/proc/zoneinfo", one_zone);
	assert_in_range(run(800, COUNT_pgsteal_kswapd), NR_PAGES - 380, NR_PAGES - 380 + 120);
}

static void without_zones_memory_is_endless(void **state)
{
	(void)state;
	assert_int_equal(run(REPLAY_MEMORY_RECORDED, COUNT_pgsteal_kswapd), 0);
}

static void with_many_files_from_before_memory_is_endless(void **state)
{
	(void)state;
	made_blob(&tape, TAPE_MOMENT_START, "/proc/zoneinfo", one_zone);
	made_blob(&tape, TAPE_MOMENT_START, "/proc/vmstat", "nr_inactive_file 21\n");
	assert_int_equal(run(REPLAY_MEMORY_RECORDED, COUNT_pgsteal_kswapd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kswapd_makes_the_room, begin, end),
		cmocka_unit_test_setup_teardown(more_memory_than_is_read_evicts_nothing, begin,
						end),
		cmocka_unit_test_setup_teardown(less_memory_evicts_more, begin, end),
		cmocka_unit_test_setup_teardown(without_zones_memory_is_endless, begin, end),
		cmocka_unit_test_setup_teardown(with_many_files_from_before_memory_is_endless,
						begin, end),
	};

	return cmocka_run_group_tests_name("engine_memory", tests, NULL, NULL);
}
