// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group whose memory and swap together are at their limit does not swap out: reclaim takes files only.
 *
 *   /g   31 file pages, 30 anon pages, 3 of which went to swap
 */
#include "tests/unit/made_check.h"

#define INACTIVE_ANON 0
#define INACTIVE_FILE 2
#define ANON_PFN UINT64_C(0x8000)
#define ANON_FLAGS 0x13 /* mapped, anon, swapbacked */
#define LIMIT_PAGES 200

static struct made_tape tape;
static struct world world;
static struct check *check;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, LIMIT_PAGES);
	made_blob(&tape, TAPE_MOMENT_START, "/proc/swaps",
		  "Filename\tType\tSize\tUsed\tPriority\n/swapfile file 40960 0 -2\n");
	check = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (check)
		check_close(check);
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void pages_come(void)
{
	for (uint64_t page = 0; page < 31; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 31; page++)
		made_insertion(&tape, 0, GROUP_TASK, page, INACTIVE_FILE);
	for (uint64_t page = 0; page < 30; page++) {
		made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, ANON_PFN + page, 0, 8, 1);
		made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN + page, INACTIVE_ANON,
			   ANON_FLAGS);
	}
}

static void isolate(uint64_t lru, uint64_t nr, uint64_t nr_taken)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, nr, nr, 0, nr_taken, lru);
}

static void shrunk(uint64_t nr, uint64_t nr_reclaimed)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, nr, nr_reclaimed, 0, 0,
		   0, 0, 0, 0, 0);
}

/* One page of 31 at priority 4, when nothing is scanned of the 30 others. */
static void call_for_files(uint64_t page)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	isolate(INACTIVE_FILE, 1, 1);
	made_delete(&tape, 0, GROUP_TASK, page);
	shrunk(1, 1);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
}

static void limit_with_swap(uint64_t pages)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)pages * 4096);
	made_blob(&tape, TAPE_MOMENT_START, "/sys/fs/cgroup/memory/g/memory.memsw.limit_in_bytes",
		  text);
}

static void run(uint64_t equal)
{
	const struct check_tally *tally;

	check = made_check_open(&tape, &world, "6.18", 1);
	made_check_read(check, &world, &tape);
	tally = check_tally(check, world.command_memcg, CHECK_isolate_request);
	assert_non_null(tally);
	assert_int_equal(tally->decided, 1);
	assert_int_equal(tally->equal, equal);
}

static void without_room_beside_swap_files_only_go(void **state)
{
	(void)state;
	limit_with_swap(LIMIT_PAGES);
	pages_come();
	call_for_files(0);
	run(1);
}

/* A charge is tried for a batch of 64 pages first. */
static void room_for_less_than_a_batch_is_none(void **state)
{
	(void)state;
	limit_with_swap(LIMIT_PAGES + 63);
	pages_come();
	call_for_files(0);
	run(1);
}

static void with_room_anon_pages_are_asked_for_too(void **state)
{
	(void)state;
	limit_with_swap(LIMIT_PAGES + 64);
	pages_come();
	call_for_files(0);
	run(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_room_beside_swap_files_only_go, begin, end),
		cmocka_unit_test_setup_teardown(room_for_less_than_a_batch_is_none, begin, end),
		cmocka_unit_test_setup_teardown(with_room_anon_pages_are_asked_for_too, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
