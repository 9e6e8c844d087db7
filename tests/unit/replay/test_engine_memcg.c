// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free-running replays in a tree of memcgs: stocks of charges, memory.high, reclaim that somebody else asks for.
 *
 *   /           task 20
 *   /a .. /h    tasks 10 .. 17
 */
#include "replay/engine/engine.h"
#include "replay/event_stream.h"

#include "tests/unit/made_tape.h"

#define NR_GROUPS 8

static struct made_tape tape;
static struct world world;
static struct replay *replay;
static bool world_open;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/cgroups",
		  "1 /\n100 /a\n101 /b\n102 /c\n103 /d\n104 /e\n105 /f\n106 /g\n107 /h\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/tasks",
		  "10 10 100 r\n11 11 101 r\n12 12 102 r\n13 13 103 r\n14 14 104 r\n15 15 105 r\n"
		  "16 16 106 r\n17 17 107 r\n20 20 1 bash\n");
	return 0;
}

static int end(void **state)
{
	(void)state;
	replay_close(replay);
	replay = NULL;
	if (world_open)
		world_exit(&world);
	world_open = false;
	made_tape_end(&tape);
	return 0;
}

static void play(const char *policy)
{
	const struct tape_event *event;
	struct policy_choice choice;
	struct event_stream *stream;
	uint64_t read_end;
	char why[256];

	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	world_open = true;
	assert_int_equal(policy_parse(policy, "6.18", &choice, why, sizeof(why)), 0);
	replay = replay_open(&world, &choice, REPLAY_MEMORY_RECORDED);
	assert_non_null(replay);
	stream = event_stream_open(tape.reader);
	assert_non_null(stream);
	while (event_stream_next(stream, &event, &read_end) > 0) {
		world_event(&world, event);
		replay_event(replay, event, read_end);
		world_event_done(&world, event, read_end);
	}
	assert_false(replay_failed(replay));
	event_stream_close(stream);
}

static const struct mem_cgroup *group(int n)
{
	const struct mm *mm = replay_mm(replay);

	for (unsigned int i = 0; i < mm->nr_memcgs; i++)
		if (mm->memcg[i]->id == (uint64_t)(100 + n))
			return mm->memcg[i];
	fail();
	return NULL;
}

static uint64_t counter(int n, enum counter which)
{
	return group(n)->lruvec[0].counter[which];
}

/* Each group's task reads one page of its own, in turn; the file is read in order. */
static void read_in_turn(int nr_groups, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		made_read(&tape, 0, 10 + (int32_t)(i % (uint64_t)nr_groups), i, i);
}

/* ---- stocks */

static void one_cpu_has_seven_memcgs_in_stock(void **state)
{
	(void)state;
	read_in_turn(7, 7 * 10);
	play("classic@6.18");
	for (int n = 0; n < 7; n++)
		assert_int_equal(group(n)->usage_pages, 64); /* 10 pages, and 54 in stock */
}

static void eighth_memcg_takes_the_place_of_another(void **state)
{
	int full = 0, drained = 0;

	(void)state;
	read_in_turn(8, 8);
	play("classic@6.18");
	for (int n = 0; n < 8; n++) {
		full += group(n)->usage_pages == 64;
		drained += group(n)->usage_pages == 1;
	}
	assert_int_equal(full, 7);
	assert_int_equal(drained, 1);
}

static void up_to_6_15_there_was_one_stock(void **state)
{
	(void)state;
	read_in_turn(2, 2 * 10);
	play("classic@6.12");
	assert_int_equal(group(0)->usage_pages, 10);
	assert_int_equal(group(1)->usage_pages, 10 + 63); /* filled anew at each turn */
}

/* ---- memory.high */

static void high(const char *pages_in_bytes)
{
	made_blob(&tape, TAPE_MOMENT_START, "/sys/fs/cgroup/a/memory.high", pages_in_bytes);
}

static void who_charges_above_high_reclaims_a_batch_when_the_read_is_done(void **state)
{
	(void)state;
	high("1048576\n"); /* 256 pages */
	read_in_turn(1, 4 * 64 + 1);
	play("classic@6.12");
	/* The fifth batch of charges goes above. */
	assert_int_equal(counter(0, COUNT_reclaims), 1);
	assert_in_range(counter(0, COUNT_pgsteal_direct), 64, 128);
	assert_true(group(0)->usage_pages <= 256);
}

static void at_high_nobody_reclaims(void **state)
{
	(void)state;
	high("1048576\n");
	read_in_turn(1, 4 * 64);
	play("classic@6.12");
	assert_int_equal(counter(0, COUNT_reclaims), 0);
}

/* One read brings in two batches: more than one is owed, and reclaimed before it is done. */
static void who_owes_two_batches_reclaims_at_once(void **state)
{
	(void)state;
	high("262144\n"); /* 64 pages */
	for (uint64_t page = 0; page < 3 * 64; page++)
		made_add(&tape, 0, 10, page);
	play("classic@6.12");
	assert_int_equal(counter(0, COUNT_reclaims), 1);
	assert_true(counter(0, COUNT_pgsteal_direct) >= 64);
}

static void yardstick_keeps_no_more_than_high(void **state)
{
	(void)state;
	high("262144\n");
	read_in_turn(1, 200);
	play("lru");
	assert_int_equal(group(0)->usage_pages, 64);
}

/* ---- reclaim that somebody else asks for */

static void somebody_takes(uint64_t first, uint64_t last)
{
	made_event(&tape, 0, 20, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0x100cca);
	for (uint64_t page = first; page <= last; page++)
		made_delete(&tape, 0, 20, page);
	made_event(&tape, 0, 20, MM_VMSCAN_MEMCG_RECLAIM_END, last - first + 1);
}

static void fill(uint64_t nr)
{
	for (uint64_t page = 0; page < nr; page++) {
		made_add(&tape, 0, 10, page);
		made_read(&tape, 0, 10, page, page);
	}
}

static void asked_of_all_policies_alike(const char *policy)
{
	fill(400);
	made_flush(&tape, 1);
	somebody_takes(0, 63);
	somebody_takes(64, 127);
	play(policy);
	assert_in_range(counter(0, COUNT_pgsteal_file), 128, 128 + 64);
	assert_int_equal(replay_inferred(replay, INFER_foreign_reclaim), 1);
}

static void classic_is_asked_for_as_much(void **state)
{
	(void)state;
	asked_of_all_policies_alike("classic@6.12");
}

static void lru_gen_is_asked_for_as_much(void **state)
{
	(void)state;
	asked_of_all_policies_alike("lru_gen@6.12");
}

static void yardstick_is_asked_for_exactly_that(void **state)
{
	(void)state;
	fill(400);
	somebody_takes(0, 127);
	play("fifo");
	assert_int_equal(counter(0, COUNT_pgsteal_file), 128);
}

static void force_empty_takes_what_a_run_has_more(void **state)
{
	(void)state;
	made_blob(&tape, TAPE_MOMENT_START, "/proc/cgroups", "memory\t4\t3\t1\n");
	fill(200);
	made_event_text(&tape, 0, 20, FTRACE_PRINT, "memory.force_empty /a\n", 0);
	somebody_takes(0, 31);
	play("classic@6.18");
	assert_int_equal(group(0)->usage_pages, 0);
	assert_int_equal(counter(0, COUNT_pgsteal_file), 200);
	assert_int_equal(replay_inferred(replay, INFER_foreign_reclaim), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_cpu_has_seven_memcgs_in_stock, begin, end),
		cmocka_unit_test_setup_teardown(eighth_memcg_takes_the_place_of_another, begin,
						end),
		cmocka_unit_test_setup_teardown(up_to_6_15_there_was_one_stock, begin, end),
		cmocka_unit_test_setup_teardown(
			who_charges_above_high_reclaims_a_batch_when_the_read_is_done, begin, end),
		cmocka_unit_test_setup_teardown(at_high_nobody_reclaims, begin, end),
		cmocka_unit_test_setup_teardown(who_owes_two_batches_reclaims_at_once, begin, end),
		cmocka_unit_test_setup_teardown(yardstick_keeps_no_more_than_high, begin, end),
		cmocka_unit_test_setup_teardown(classic_is_asked_for_as_much, begin, end),
		cmocka_unit_test_setup_teardown(lru_gen_is_asked_for_as_much, begin, end),
		cmocka_unit_test_setup_teardown(yardstick_is_asked_for_exactly_that, begin, end),
		cmocka_unit_test_setup_teardown(force_empty_takes_what_a_run_has_more, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
