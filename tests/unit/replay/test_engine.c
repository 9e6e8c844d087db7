// SPDX-License-Identifier: GPL-2.0-only
/* Free-running replays of small tapes whose outcome is known. */
#include "replay/engine/engine.h"
#include "replay/event_stream.h"

#include "tests/unit/made_tape.h"

#define RUNS 4
#define LIMIT_PAGES 256

static struct made_tape tape;
static struct world world;
static bool world_open;
static struct replay *replay[RUNS];

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, LIMIT_PAGES);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		replay_close(replay[i]);
		replay[i] = NULL;
	}
	if (world_open)
		world_exit(&world);
	world_open = false;
	made_tape_end(&tape);
	return 0;
}

static struct mem_cgroup *group_of(const struct replay *run)
{
	const struct mm *mm = replay_mm(run);

	for (unsigned int i = 0; i < mm->nr_memcgs; i++)
		if (mm->memcg[i]->id == GROUP_ID)
			return mm->memcg[i];
	fail();
	return NULL;
}

static void open_run(int i, const char *policy, int64_t memory_pages)
{
	struct policy_choice choice;
	char why[256];

	if (!world_open)
		assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	world_open = true;
	if (policy_parse(policy, "6.18", &choice, why, sizeof(why)))
		fail_msg("%s", why);
	replay[i] = replay_open(&world, &choice, memory_pages);
	assert_non_null(replay[i]);
}

/* Each policy's invariants, after every event. */
static void assert_run_holds(const struct replay *run)
{
	const struct mm *mm = replay_mm(run);

	for (unsigned int n = 0; n < mm->nr_memcgs; n++)
		assert_true(mm->policy->check(mm, &mm->memcg[n]->lruvec[0]));
}

static void play(void)
{
	const struct tape_event *event;
	struct event_stream *stream;
	uint64_t read_end;
	int ret;

	if (!replay[0])
		open_run(0, "classic", REPLAY_MEMORY_RECORDED);
	stream = event_stream_open(tape.reader);
	assert_non_null(stream);
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(&world, event);
		for (int i = 0; i < RUNS && replay[i]; i++) {
			replay_event(replay[i], event, read_end);
			assert_run_holds(replay[i]);
		}
		world_event_done(&world, event, read_end);
	}
	assert_int_equal(ret, 0);
	event_stream_close(stream);
	for (int i = 0; i < RUNS && replay[i]; i++) {
		replay_finish(replay[i]);
		assert_run_holds(replay[i]);
		assert_false(replay_failed(replay[i]));
	}
}

static uint64_t counter(int run, enum counter which)
{
	return group_of(replay[run])->lruvec[0].counter[which];
}

static void loop_over(uint64_t nr_pages, int rounds)
{
	for (int round = 0; round < rounds; round++)
		for (uint64_t page = 0; page < nr_pages; page++)
			made_read(&tape, 0, GROUP_TASK, page, page);
}

/* ---- known answers */

static void loop_one_page_larger_than_memory_always_misses(void **state)
{
	(void)state;
	loop_over(LIMIT_PAGES + 1, 5);
	play();
	assert_int_equal(counter(0, COUNT_accesses), 5 * (LIMIT_PAGES + 1));
	assert_int_equal(counter(0, COUNT_misses), 5 * (LIMIT_PAGES + 1));
	assert_int_equal(counter(0, COUNT_hits), 0);
	assert_int_equal(counter(0, COUNT_workingset_refault_file), 4 * (LIMIT_PAGES + 1));
	assert_true(counter(0, COUNT_resident_max) <= LIMIT_PAGES);
}

static void loop_that_fits_misses_once(void **state)
{
	(void)state;
	loop_over(100, 5);
	play();
	assert_int_equal(counter(0, COUNT_misses), 100);
	assert_int_equal(counter(0, COUNT_hits), 400);
	assert_int_equal(counter(0, COUNT_reclaims), 0);
	assert_int_equal(counter(0, COUNT_workingset_refault_file), 0);
	/* 3 batches of 31; the 7 that still waited to be added became active there, which is no move. */
	assert_int_equal(counter(0, COUNT_pgactivate), 93);
	assert_int_equal(group_of(replay[0])->lruvec[0].lru_size[LRU_ACTIVE_FILE], 100);
}

static void memory_size_in_place_of_the_recorded_one(void **state)
{
	(void)state;
	loop_over(300, 3);
	open_run(0, "classic", REPLAY_MEMORY_RECORDED);
	open_run(1, "classic", 400);
	open_run(2, "classic", 100);
	play();
	assert_int_equal(counter(0, COUNT_misses), 900);
	assert_int_equal(counter(1, COUNT_misses), 300);
	assert_int_equal(counter(2, COUNT_misses), 900);
	assert_true(counter(2, COUNT_resident_max) <= 100);
}

static void run_beside_others_ends_as_it_does_alone(void **state)
{
	uint64_t alone[NR_COUNTERS];

	(void)state;
	loop_over(200, 2);
	loop_over(300, 2);
	open_run(0, "classic", 250);
	play();
	memcpy(alone, group_of(replay[0])->lruvec[0].counter, sizeof(alone));
	replay_close(replay[0]);
	replay[0] = NULL;
	world_exit(&world);
	assert_int_equal(tape_reader_rewind(tape.reader), 0);
	assert_int_equal(world_init(&world, tape.reader), 0);
	open_run(0, "classic", 100);
	open_run(1, "classic", 250);
	open_run(2, "classic+large_folio_lru_cache", 250);
	play();
	assert_memory_equal(alone, group_of(replay[1])->lruvec[0].counter, sizeof(alone));
	/* Single pages only: the patch changes nothing. */
	assert_memory_equal(alone, group_of(replay[2])->lruvec[0].counter, sizeof(alone));
}

static void page_read_twice_in_a_row_is_one_access_to_mark(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 5, 5);
	for (int i = 0; i < 10; i++)
		made_read(&tape, 0, GROUP_TASK, 5, 5);
	play();
	assert_int_equal(counter(0, COUNT_hits), 10);
	assert_int_equal(counter(0, COUNT_pgactivate), 0);
}

static void two_tasks_reading_one_page_are_two_accesses_to_mark(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 31; page++)
		made_read(&tape, 0, GROUP_TASK, page, page); /* on the list by the 31st */
	for (uint64_t page = 0; page < 31; page++)
		made_read(&tape, 0, GROUP_TASK + 1, page, page);
	play();
	assert_int_equal(counter(0, COUNT_pgactivate), 31);
}

/* ---- what of the recording is stimulus */

static void sync_readahead(uint64_t page, uint64_t nr)
{
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, page, 32, nr, 0);
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_RA_UNBOUNDED, MADE_INO, MADE_DEV, page, nr, 0);
}

static void recorded_miss_brings_its_page_in(void **state)
{
	(void)state;
	sync_readahead(9, 1);
	made_add(&tape, 0, GROUP_TASK, 9);
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	play();
	assert_int_equal(counter(0, COUNT_misses), 1);
	assert_int_equal(counter(0, COUNT_hits), 0);
	assert_int_equal(counter(0, COUNT_readahead), 0);
	assert_int_equal(replay_inferred(replay[0], INFER_readahead_modelled), 0);
}

static void page_that_the_recording_had_and_this_run_has_not_is_read_alone(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	play();
	assert_int_equal(counter(0, COUNT_misses), 1);
	assert_int_equal(replay_inferred(replay[0], INFER_readahead_modelled), 1);
}

/* Twice the pages that fit here, one after the other, then all again: the recording had them still. */
static void loop_with_windows(bool windows)
{
	made_type(&tape, EVENT_PAGE_CACHE_RA_UNBOUNDED, "", NULL);
	for (uint64_t page = 0; page < 2 * LIMIT_PAGES; page++) {
		made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, page, 32,
			   1, UINT64_MAX);
		if (windows)
			made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_RA_ORDER, MADE_INO, MADE_DEV,
				   page, 0, 1, 0);
		made_add(&tape, 0, GROUP_TASK, page);
		made_read(&tape, 0, GROUP_TASK, page, page);
	}
	for (uint64_t page = 0; page < 2 * LIMIT_PAGES; page++)
		made_read(&tape, 0, GROUP_TASK, page, page);
}

static void pages_that_the_recording_had_come_in_windows_of_the_run(void **state)
{
	uint64_t windows;

	(void)state;
	loop_with_windows(true);
	play();
	assert_int_equal(counter(0, COUNT_accesses), 4 * LIMIT_PAGES);
	/* Windows of 4 to 32 pages, each begun by the marker of the one before. */
	windows = replay_inferred(replay[0], INFER_readahead_modelled);
	assert_in_range(windows, 2 * LIMIT_PAGES / 32, 2 * LIMIT_PAGES / 32 + 8);
	assert_int_equal(counter(0, COUNT_misses), 2 * LIMIT_PAGES + 1);
	assert_int_equal(counter(0, COUNT_readahead), 2 * LIMIT_PAGES - 1);
	assert_true(counter(0, COUNT_resident_max) <= LIMIT_PAGES);
}

static void fault_in(uint64_t ino, uint64_t page)
{
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_FAULT, ino, MADE_DEV, page);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, 0x4000 + page, ino, page,
		   MADE_DEV, 0);
}

/* A few faults missed in one file, very many in the other; the recording has both files still. */
static void fault_reads_around_in_a_file_whose_faults_seldom_missed(void **state)
{
	uint64_t before = 2 * LIMIT_PAGES + 40;

	(void)state;
	made_type(&tape, EVENT_PAGE_CACHE_RA_UNBOUNDED, "", NULL);
	for (uint64_t page = 0; page < 40; page++)
		fault_in(MADE_INO + 1, page);
	for (uint64_t page = 0; page < 2 * LIMIT_PAGES; page++)
		fault_in(MADE_INO, page);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_FAULT, MADE_INO, MADE_DEV, 20);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_FAULT, MADE_INO + 1, MADE_DEV, 20);
	made_event(&tape, 0, GROUP_TASK, SCHED_PROCESS_EXIT, GROUP_TASK);
	play();
	assert_int_equal(replay_inferred(replay[0], INFER_fault_modelled), 2);
	assert_int_equal(counter(0, COUNT_pgmajfault), before + 2);
	/* The page alone, and 4 to 35. */
	assert_int_equal(counter(0, COUNT_misses) + counter(0, COUNT_readahead), before + 1 + 32);
}

static void file_read_at_random_comes_page_by_page(void **state)
{
	(void)state;
	loop_with_windows(false); /* at the file's begin one was due */
	play();
	assert_int_equal(replay_inferred(replay[0], INFER_readahead_modelled), 2 * LIMIT_PAGES);
}

/* The recorded kernel evicted the page and read it again. This run has more memory: a hit. */
static void recorded_eviction_is_no_stimulus(void **state)
{
	(void)state;
	sync_readahead(9, 1);
	made_add(&tape, 0, GROUP_TASK, 9);
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_delete(&tape, 0, GROUP_TASK, 9);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	sync_readahead(9, 4);
	for (uint64_t page = 9; page < 13; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	play();
	assert_int_equal(counter(0, COUNT_misses), 1);
	assert_int_equal(counter(0, COUNT_hits), 1);
	assert_int_equal(counter(0, COUNT_readahead), 0); /* no miss, no readahead */
	assert_int_equal(counter(0, COUNT_truncated), 0);
	assert_int_equal(counter(0, COUNT_foreign_evictions), 0);
}

static void rest_of_the_window_is_readahead(void **state)
{
	(void)state;
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, 0, 32, 1, 0);
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_RA_UNBOUNDED, MADE_INO, MADE_DEV, 0, 4, 3);
	for (uint64_t page = 0; page < 4; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 4; page++)
		made_read(&tape, 0, GROUP_TASK, page, page);
	play();
	assert_int_equal(counter(0, COUNT_misses), 1);
	assert_int_equal(counter(0, COUNT_readahead), 3);
	assert_int_equal(counter(0, COUNT_hits), 3);
}

static void large_folio_is_read_as_one(void **state)
{
	(void)state;
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, 16, 32, 1, 0);
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_RA_ORDER, MADE_INO, MADE_DEV, 16, 4, 16, 8);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, MADE_PFN, MADE_INO, 16,
		   MADE_DEV, 4);
	made_read(&tape, 0, GROUP_TASK, 16, 31);
	play();
	assert_int_equal(counter(0, COUNT_accesses), 1);
	assert_int_equal(counter(0, COUNT_misses), 16);
	assert_int_equal(counter(0, COUNT_hits), 0);
	assert_int_equal(counter(0, COUNT_resident_max), 64); /* charged in one batch */
}

static void page_older_than_the_tape_is_a_hit_and_charged_to_nobody(void **state)
{
	(void)state;
	made_add(&tape, 0, GROUP_TASK, 3);
	made_read(&tape, 0, GROUP_TASK, 40, 40);
	play();
	assert_int_equal(counter(0, COUNT_accesses), 1);
	assert_int_equal(counter(0, COUNT_hits), 1);
	assert_int_equal(counter(0, COUNT_misses), 1); /* page 3, which came and was not read */
	assert_int_equal(replay_inferred(replay[0], INFER_read_of_older), 1);
}

static void truncation_takes_folio_and_shadow(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	made_delete(&tape, 0, OTHER_TASK, 9);
	made_delete(&tape, 0, OTHER_TASK, 10); /* not here: nothing to take */
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	play();
	assert_int_equal(counter(0, COUNT_truncated), 1);
	assert_int_equal(counter(0, COUNT_misses), 2);
	assert_int_equal(counter(0, COUNT_workingset_refault_file), 0);
}

static void eviction_by_kdamond_is_a_stimulus_and_leaves_a_shadow(void **state)
{
	(void)state;
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	made_delete(&tape, 0, KDAMOND_TASK, 9);
	made_delete(&tape, 0, KDAMOND_TASK, 9); /* gone here: its shadow stays */
	made_read(&tape, 0, GROUP_TASK, 9, 9);
	play();
	assert_int_equal(counter(0, COUNT_foreign_evictions), 1);
	assert_int_equal(counter(0, COUNT_workingset_refault_file), 1);
	assert_int_equal(replay_mm(replay[0])->root->lruvec[0].nonresident_age, 1);
	assert_int_equal(group_of(replay[0])->lruvec[0].nonresident_age, 0);
}

static void tasks_outside_the_group_do_not_fill_it(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 1000; page++)
		made_read(&tape, 0, OTHER_TASK, page, page);
	made_read(&tape, 0, GROUP_TASK, 5, 5); /* charged to whoever touched it first */
	play();
	assert_int_equal(counter(0, COUNT_reclaims), 0);
	assert_int_equal(counter(0, COUNT_resident_max), 0);
	assert_int_equal(replay_mm(replay[0])->root->lruvec[0].counter[COUNT_misses], 1000);
	assert_int_equal(replay_mm(replay[0])->root->lruvec[0].counter[COUNT_hits], 1);
}

/*
 * 150 pages are read twice: active. 110 more make reclaim evict from them; then, after a flush told
 * that 150 are active, the evicted ones come back within that distance and start active.
 */
static void refaults_are_activated_once_a_flush_has_told_the_sizes(void **state)
{
	(void)state;
	loop_over(150, 2);
	for (uint64_t page = 1000; page < 1110; page++)
		made_read(&tape, 0, GROUP_TASK, page, page);
	for (uint64_t page = 1000; page < 1010; page++)
		made_read(&tape, 0, GROUP_TASK, page, page);
	made_flush(&tape, 1);
	for (uint64_t page = 1010; page < 1020; page++)
		made_read(&tape, 0, GROUP_TASK, page, page);
	play();
	assert_true(counter(0, COUNT_workingset_refault_file) >= 20);
	assert_int_equal(counter(0, COUNT_workingset_activate_file), 10);
}

static void flush_told(uint64_t force, uint64_t needs_flush)
{
	made_event(&tape, 0, OTHER_TASK, MEMCG_FLUSH_STATS, 1, 1000, force, needs_flush);
}

/* The event also fires where there is nothing to do. */
static void only_a_flush_that_is_forced_or_needed_tells_sizes(void **state)
{
	static const struct {
		uint64_t force, needs_flush;
		int64_t told;
	} table[] = { { 0, 0, 0 }, { 1, 0, 31 }, { 0, 1, 31 } };

	for (unsigned int i = 0; i < 3; i++) {
		loop_over(31, 1);
		flush_told(table[i].force, table[i].needs_flush);
		play();
		assert_int_equal(lruvec_page_state(&group_of(replay[0])->lruvec[0],
						   NR_INACTIVE_FILE),
				 table[i].told);
		end(state);
		begin(state);
	}
}

/* Written anew where it was evicted: an allocation for a write drops the shadow without a look. */
static void page_that_comes_back_to_be_written_is_no_refault(void **state)
{
	(void)state;
	sync_readahead(9, 2);
	made_add(&tape, 0, GROUP_TASK, 9);
	made_add(&tape, 0, GROUP_TASK, 10);
	made_read(&tape, 0, GROUP_TASK, 9, 10);
	made_read(&tape, 0, GROUP_TASK, 20, 20);
	made_delete(&tape, 0, KDAMOND_TASK, 9);
	made_delete(&tape, 0, KDAMOND_TASK, 10);
	made_add(&tape, 0, GROUP_TASK, 9); /* in no window */
	sync_readahead(10, 1);
	made_add(&tape, 0, GROUP_TASK, 10);
	play();
	assert_int_equal(counter(0, COUNT_foreign_evictions), 2);
	assert_int_equal(counter(0, COUNT_workingset_refault_file), 1);
}

/* A writer reads nothing: its pages are no readahead in preparation, and can be reclaimed. */
static void pages_of_a_task_that_only_writes_can_be_reclaimed(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 4 * LIMIT_PAGES; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	play();
	assert_true(counter(0, COUNT_pgsteal_file) > 3 * LIMIT_PAGES - 64);
	assert_true(counter(0, COUNT_resident_max) <= LIMIT_PAGES);
}

/* The same on a kernel that shows its readahead: there a write is told from a read. */
static void writes_beside_readahead_can_be_reclaimed_too(void **state)
{
	(void)state;
	sync_readahead(5000, 1);
	made_add(&tape, 0, GROUP_TASK, 5000);
	made_read(&tape, 0, GROUP_TASK, 5000, 5000);
	for (uint64_t page = 0; page < 4 * LIMIT_PAGES; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	play();
	assert_true(counter(0, COUNT_resident_max) <= LIMIT_PAGES);
}

/* ---- anon */

#define FLAGS_ANON 0x12 /* anon, swapbacked */
#define ANON_PFN 0x100000

/* Loops of 1024 folios of 16 KiB, allocated and dropped, as the churn workload does. */
static void anon_churn(int loops)
{
	for (int loop = 0; loop < loops; loop++) {
		for (uint64_t i = 0; i < 1024; i++) {
			made_event(&tape, 0, OTHER_TASK, MM_PAGE_ALLOC, ANON_PFN + 4 * i, 2, 8, 1);
			made_event(&tape, 0, OTHER_TASK, MM_LRU_INSERTION, ANON_PFN + 4 * i, 0,
				   FLAGS_ANON);
		}
		for (uint64_t i = 0; i < 1024; i++)
			made_event(&tape, 0, OTHER_TASK, MM_PAGE_FREE, ANON_PFN + 4 * i, 2);
	}
}

static const struct lruvec *root_lruvec(int run)
{
	return &replay_mm(replay[run])->root->lruvec[0];
}

static void churn_takes_1061_holds_a_loop_and_70_with_the_patch(void **state)
{
	(void)state;
	anon_churn(10);
	open_run(0, "classic", REPLAY_MEMORY_RECORDED);
	open_run(1, "classic+large_folio_lru_cache", REPLAY_MEMORY_RECORDED);
	play();
	for (int run = 0; run < 2; run++) {
		assert_int_equal(root_lruvec(run)->counter[COUNT_anon_alloc], 40960);
		assert_int_equal(root_lruvec(run)->counter[COUNT_anon_free], 40960);
		assert_int_equal(root_lruvec(run)->lock[LOCK_folios_put].folios, 10240);
	}
	assert_int_equal(root_lruvec(0)->lock[LOCK_lru_add].holds, 10240);
	assert_int_equal(root_lruvec(0)->lock[LOCK_folios_put].holds, 370);
	/* 330 batches, and the rest of each loop, whose frames come again, in one of its own */
	assert_true(root_lruvec(1)->lock[LOCK_lru_add].holds >= 331);
	assert_true(root_lruvec(1)->lock[LOCK_lru_add].holds <= 341);
	assert_true(root_lruvec(1)->lock[LOCK_folios_put].holds >= 370);
	assert_true(root_lruvec(1)->lock[LOCK_folios_put].holds <= 390);
}

static void anon_folio_is_charged_until_it_is_freed(void **state)
{
	(void)state;
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, ANON_PFN, 4, 8, 1);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN, 0, FLAGS_ANON);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, ANON_PFN, 4);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, ANON_PFN + 64, 2, 8, 1);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN + 64, 0, FLAGS_ANON);
	play();
	assert_int_equal(counter(0, COUNT_anon_alloc), 16 + 4);
	assert_int_equal(counter(0, COUNT_anon_free), 16);
	assert_int_equal(group_of(replay[0])->lruvec[0].lru_size[LRU_INACTIVE_ANON], 4);
}

static void single_anon_pages_count_only_where_their_frees_are_on_the_tape(void **state)
{
	(void)state;
	made_type(&tape, EVENT_MM_PAGE_FREE, "order > 0", NULL);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, ANON_PFN, 0, FLAGS_ANON);
	play();
	assert_int_equal(counter(0, COUNT_anon_alloc), 0);
}

static void allocations_that_are_not_movable_are_none_of_ours(void **state)
{
	(void)state;
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, ANON_PFN, 4, 0, 1);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, UINT64_MAX, 0, 8, 1); /* failed */
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, ANON_PFN, 4);
	play();
	assert_int_equal(counter(0, COUNT_anon_alloc), 0);
	assert_int_equal(counter(0, COUNT_anon_free), 0);
}

/* ---- memcgs that come and go */

static void group_made_later_has_its_own_counts_and_goes_offline_when_it_is_removed(void **state)
{
	char path[16];

	(void)state;
	for (uint64_t id = 200; id < 240; id++) {
		snprintf(path, sizeof(path), "/new%d", (int)id);
		made_event_text(&tape, 0, OTHER_TASK, CGROUP_MKDIR, path, 0, 1, id, 0);
		made_event_text(&tape, 0, OTHER_TASK, CGROUP_ATTACH_TASK, path, 0, id, 1,
				OTHER_TASK, 0, 0);
		for (uint64_t page = 0; page < 3; page++)
			made_read(&tape, 0, OTHER_TASK, id * 10 + page, id * 10 + page);
	}
	made_event_text(&tape, 0, OTHER_TASK, CGROUP_RMDIR, "/new239", 0, 1, 239, 0);
	play();
	for (unsigned int i = 0; i < replay_mm(replay[0])->nr_memcgs; i++) {
		const struct mem_cgroup *memcg = replay_mm(replay[0])->memcg[i];

		assert_int_equal(memcg->online, memcg->id != 239);
		assert_int_equal(memcg->lruvec[0].counter[COUNT_misses], memcg->id >= 200 ? 3 : 0);
	}
}

/* ---- broken tapes */

static void impossible_values_are_passed_over(void **state)
{
	(void)state;
	loop_over(40, 1);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, UINT64_MAX, 1, 2, 3, 0);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, 9, 1, 5, 3, 200);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, 9, 1, UINT64_MAX - 100, 3,
		   13);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_DELETE_FROM_PAGE_CACHE, 9, 1, UINT64_MAX, 3,
		   63);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, UINT64_C(1) << 32, 0, FLAGS_ANON);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, 7, 99, FLAGS_ANON);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, 7, 99, FLAGS_ANON);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, 77, 64, 8, 0);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, UINT64_MAX - 1, 3);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV, 30, 3);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV, UINT64_MAX,
		   UINT64_MAX);
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, UINT64_MAX,
		   UINT64_MAX, UINT64_MAX, UINT64_MAX);
	made_event(&tape, 0, GROUP_TASK, PAGE_CACHE_RA_UNBOUNDED, MADE_INO, MADE_DEV, UINT64_MAX,
		   UINT64_MAX, UINT64_MAX);
	made_flush(&tape, 12345);
	loop_over(40, 1);
	play();
	assert_int_equal(counter(0, COUNT_accesses), 80);
}

static void memory_smaller_than_one_folio_forces_the_charge(void **state)
{
	(void)state;
	loop_over(40, 2);
	open_run(0, "classic", 1);
	play();
	assert_int_equal(counter(0, COUNT_misses), 80);
	assert_true(counter(0, COUNT_resident_max) <= 40);
}

static void group_in_memory_before_the_tape_is_over_a_smaller_limit_at_once(void **state)
{
	(void)state;
	made_blob(&tape, TAPE_MOMENT_START, "/cg/g/memory.stat",
		  "inactive_file 409600\nactive_file 4096\n");
	loop_over(10, 1);
	open_run(0, "classic", 50);
	play(); /* its 101 pages are unknown, and cannot be evicted */
	assert_int_equal(counter(0, COUNT_misses), 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(loop_one_page_larger_than_memory_always_misses),
		TEST(loop_that_fits_misses_once),
		TEST(memory_size_in_place_of_the_recorded_one),
		TEST(run_beside_others_ends_as_it_does_alone),
		TEST(page_read_twice_in_a_row_is_one_access_to_mark),
		TEST(two_tasks_reading_one_page_are_two_accesses_to_mark),
		TEST(recorded_miss_brings_its_page_in),
		TEST(page_that_the_recording_had_and_this_run_has_not_is_read_alone),
		TEST(pages_that_the_recording_had_come_in_windows_of_the_run),
		TEST(fault_reads_around_in_a_file_whose_faults_seldom_missed),
		TEST(file_read_at_random_comes_page_by_page),
		TEST(recorded_eviction_is_no_stimulus),
		TEST(rest_of_the_window_is_readahead),
		TEST(large_folio_is_read_as_one),
		TEST(page_older_than_the_tape_is_a_hit_and_charged_to_nobody),
		TEST(truncation_takes_folio_and_shadow),
		TEST(eviction_by_kdamond_is_a_stimulus_and_leaves_a_shadow),
		TEST(tasks_outside_the_group_do_not_fill_it),
		TEST(refaults_are_activated_once_a_flush_has_told_the_sizes),
		TEST(only_a_flush_that_is_forced_or_needed_tells_sizes),
		TEST(page_that_comes_back_to_be_written_is_no_refault),
		TEST(pages_of_a_task_that_only_writes_can_be_reclaimed),
		TEST(writes_beside_readahead_can_be_reclaimed_too),
		TEST(churn_takes_1061_holds_a_loop_and_70_with_the_patch),
		TEST(anon_folio_is_charged_until_it_is_freed),
		TEST(single_anon_pages_count_only_where_their_frees_are_on_the_tape),
		TEST(allocations_that_are_not_movable_are_none_of_ours),
		TEST(group_made_later_has_its_own_counts_and_goes_offline_when_it_is_removed),
		TEST(impossible_values_are_passed_over),
		TEST(memory_smaller_than_one_folio_forces_the_charge),
		TEST(group_in_memory_before_the_tape_is_over_a_smaller_limit_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
