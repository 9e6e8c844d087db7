// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tape of one story, written by hand from the kernel's rules, and the same with one verdict
 * altered: check must find all decisions equal, and then exactly that one unequal.
 */
#include "tests/unit/made_check.h"

#define INACTIVE_FILE 2
#define ACTIVE_FILE 3
#define NO_PAGE UINT64_MAX

/* Which verdict of the story is recorded differently. */
enum alteration {
	AS_THE_KERNEL_DOES,
	PAGE_62_INSERTED_ACTIVE,
	REFAULT_TOO_FAR_ACTIVATED,
	REFAULT_AT_THE_BOUNDARY_NOT_ACTIVATED,
	PAGE_40_NOT_ACTIVATED,
	PAGE_5_ACTIVATED_AFTER_ONE_READ,
	FIRST_ISOLATION_ASKS_FOR_2,
	PAGE_25_SURVIVES,
	RECLAIM_STOPS_EARLY,
	RECLAIM_GOES_ON,
	TOTAL_ONE_LESS,
};

static struct made_tape tape;
static struct world world;
static struct check *check;
static uint64_t altered_ns; /* time of the event that was recorded differently, or left out */

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	altered_ns = 0;
	check = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (check) {
		check_close(check);
		world_exit(&world);
	}
	made_tape_end(&tape);
	return 0;
}

static void run_check(unsigned int nr_explain)
{
	check = made_check_open(&tape, &world, "6.18", nr_explain);
	made_check_read(check, &world, &tape);
}

/* decided - equal of a kind, all memcgs together. */
static uint64_t unequal(enum check_decision decision)
{
	uint64_t nr = 0;

	for (uint32_t n = 0; n < world.nr_memcgs; n++) {
		const struct check_tally *tally = check_tally(check, n, decision);

		if (tally)
			nr += tally->decided - tally->equal;
	}
	return nr;
}

static uint64_t decided(enum check_decision decision)
{
	const struct check_tally *tally = check_tally(check, world.command_memcg, decision);

	return tally ? tally->decided : 0;
}

/* Nothing unequal but one decision of this kind, at that time, with these two sides. */
static void assert_only_mismatch(enum check_decision decision, uint64_t timestamp_ns,
				 const char *predicted, const char *recorded)
{
	const struct check_tally *tally = check_tally(check, world.command_memcg, decision);

	assert_non_null(tally);
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		if (unequal((enum check_decision)d) != (d == (int)decision))
			fail_msg("%s: %d unequal", check_name((enum check_decision)d),
				 (int)unequal((enum check_decision)d));
	assert_int_equal(tally->first_mismatch_ns, timestamp_ns);
	assert_string_equal(tally->predicted, predicted);
	assert_string_equal(tally->recorded, recorded);
}

/* ---- the story */

static void read_page(uint64_t page)
{
	made_read(&tape, 0, GROUP_TASK, page, page);
}

/* 31 pages come in, each read once; the batch drains when the last is added. */
static void come_in(uint64_t first)
{
	for (uint64_t page = first; page < first + 31; page++) {
		made_add(&tape, 0, GROUP_TASK, page);
		if (page == first + 30)
			for (uint64_t p = first; p < first + 31; p++)
				made_insertion(&tape, 0, GROUP_TASK, p, INACTIVE_FILE);
		read_page(page);
	}
}

static void reclaim_begins(void)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
}

static void reclaim_ends(uint64_t nr_reclaimed)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, nr_reclaimed);
}

static void isolate(uint64_t nr_requested, uint64_t nr_taken)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, nr_requested, nr_taken, 0,
		   nr_taken, INACTIVE_FILE);
}

static void shrunk(uint64_t nr_scanned, uint64_t nr_reclaimed)
{
	/* The priority, number 11, is that of a kernel that does not tell it. */
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, nr_scanned, nr_reclaimed,
		   0, 0, 0, 0, 0, 0, 0, 0, TAPE_VALUE_ABSENT);
}

static void evict_page(uint64_t page)
{
	made_delete(&tape, 0, GROUP_TASK, page);
}

/* One batch: these pages are isolated and evicted, all but one. */
static void evict_batch(uint64_t first, uint64_t nr, uint64_t survivor)
{
	uint64_t nr_reclaimed = 0;

	isolate(nr, nr);
	for (uint64_t page = first; page < first + nr; page++) {
		if (page == survivor) {
			altered_ns = tape.now_ns + tape.step_ns; /* its neighbour comes instead */
			continue;
		}
		evict_page(page);
		nr_reclaimed++;
	}
	shrunk(nr, nr_reclaimed);
}

static bool reads_come_twice(enum alteration altered)
{
	come_in(0);
	come_in(31);
	/* inactive [61 .. 0] active [], all referenced; now 31..61 again: a whole batch */
	if (altered == PAGE_5_ACTIVATED_AFTER_ONE_READ) {
		made_activation(&tape, 0, GROUP_TASK, 5);
		altered_ns = tape.now_ns;
		return false;
	}
	for (uint64_t page = 31; page <= 61; page++)
		read_page(page);
	for (uint64_t page = 31; page <= 61; page++) {
		if (altered == PAGE_40_NOT_ACTIVATED && page == 40)
			continue;
		made_activation(&tape, 0, GROUP_TASK, page);
		if (page == 41)
			altered_ns = tape.now_ns;
	}
	/* inactive [30 .. 0] active [61 .. 31], age 31 */
	return altered != PAGE_40_NOT_ACTIVATED;
}

/* 31 pages: 1 at priority 4, 3, 6, 10 and the last 11 at priority 0, which is less than 32. */
static bool all_inactive_pages_go(enum alteration altered)
{
	made_flush(&tape, 1);
	reclaim_begins();
	if (altered == FIRST_ISOLATION_ASKS_FOR_2) {
		isolate(2, 1);
		altered_ns = tape.now_ns;
		evict_page(0);
		shrunk(1, 1);
	} else {
		evict_batch(0, 1, NO_PAGE);
	}
	evict_batch(1, 3, NO_PAGE);
	evict_batch(4, 6, NO_PAGE);
	evict_batch(10, 10, NO_PAGE);
	if (altered == RECLAIM_STOPS_EARLY) {
		reclaim_ends(20);
		altered_ns = tape.now_ns;
		return false;
	}
	if (altered == PAGE_25_SURVIVES) {
		evict_batch(20, 11, 25);
		reclaim_ends(30);
		return false;
	}
	evict_batch(20, 11, NO_PAGE);
	if (altered == RECLAIM_GOES_ON) {
		isolate(5, 0);
		altered_ns = tape.now_ns;
		reclaim_ends(31);
		return false;
	}
	reclaim_ends(altered == TOTAL_ONE_LESS ? 30 : 31);
	altered_ns = altered == TOTAL_ONE_LESS ? tape.now_ns : altered_ns;
	/* inactive [] active [61 .. 31], age 62; shadows: page n at age 31 + n; workingset 31 */
	return true;
}

static void insert_altered(uint64_t page, uint64_t lru, bool altered)
{
	if (altered) {
		lru ^= 1;
		altered_ns = tape.now_ns + tape.step_ns;
	}
	made_insertion(&tape, 0, GROUP_TASK, page, lru);
}

/*
 *   62   new                           inactive
 *   30   evicted at 61, now 62: 1      active, age 63
 *    0   evicted at 31, now 63: 32     inactive
 *    1   evicted at 32, now 63: 31     active: the boundary, age 64
 */
static void some_come_back(enum alteration altered)
{
	static const uint64_t page[] = { 62, 30, 0, 1 };

	for (unsigned int i = 0; i < 4; i++) {
		made_add(&tape, 0, GROUP_TASK, page[i]);
		read_page(page[i]);
	}
	insert_altered(62, INACTIVE_FILE, altered == PAGE_62_INSERTED_ACTIVE);
	insert_altered(30, ACTIVE_FILE, false);
	insert_altered(0, INACTIVE_FILE, altered == REFAULT_TOO_FAR_ACTIVATED);
	insert_altered(1, ACTIVE_FILE, altered == REFAULT_AT_THE_BOUNDARY_NOT_ACTIVATED);
}

/* inactive [0 62]: one at priority 1, one at 0. */
static void the_last_two_go(void)
{
	reclaim_begins();
	evict_batch(62, 1, NO_PAGE);
	evict_batch(0, 1, NO_PAGE);
	reclaim_ends(2);
}

static void tell(enum alteration altered)
{
	made_machine(&tape, 64);
	if (!reads_come_twice(altered) || !all_inactive_pages_go(altered))
		return;
	some_come_back(altered);
	if (altered == AS_THE_KERNEL_DOES)
		the_last_two_go();
}

static void tell_and_check(enum alteration altered)
{
	tell(altered);
	run_check(10);
}

static void correct_tape_is_equal_in_all_its_decisions(void **state)
{
	(void)state;
	tell_and_check(AS_THE_KERNEL_DOES);
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		assert_int_equal(unequal((enum check_decision)d), 0);
	assert_int_equal(decided(CHECK_insertion_list), 62 + 4);
	assert_int_equal(decided(CHECK_refault_verdict), 3);
	assert_int_equal(decided(CHECK_activation), 31);
	assert_int_equal(decided(CHECK_isolate_request), 5 + 2);
	assert_int_equal(decided(CHECK_victim), 31 + 2);
	assert_int_equal(decided(CHECK_reclaim_stop), 2);
	assert_int_equal(decided(CHECK_reclaimed_total), 2);
	assert_null(check_mismatch(check, 0));
	assert_int_equal(check_undecided(check)->unseen_folio, 0);
	assert_int_equal(check_undecided(check)->survivors, 0);
	assert_int_equal(check_undecided(check)->foreign, 0);
	assert_null(check_tally(check, WORLD_ROOT, CHECK_victim));
	assert_null(check_tally(check, 4711, CHECK_victim));
}

static void wrong_list_of_a_new_folio_is_found(void **state)
{
	(void)state;
	tell_and_check(PAGE_62_INSERTED_ACTIVE);
	assert_only_mismatch(CHECK_insertion_list, altered_ns, "pfn 103e to inactive_file",
			     "to active_file");
}

static void assert_refault_mismatch(const char *predicted, const char *recorded)
{
	const struct check_tally *tally = check_tally(check, world.command_memcg,
						      CHECK_refault_verdict);

	assert_int_equal(unequal(CHECK_refault_verdict), 1);
	assert_int_equal(unequal(CHECK_insertion_list), 1); /* the list follows the verdict */
	assert_int_equal(tally->first_mismatch_ns, altered_ns);
	assert_string_equal(tally->predicted, predicted);
	assert_string_equal(tally->recorded, recorded);
}

static void refault_activated_from_too_far_is_found(void **state)
{
	(void)state;
	tell_and_check(REFAULT_TOO_FAR_ACTIVATED);
	assert_refault_mismatch("pfn 1000 inactive", "active");
}

static void refault_at_the_boundary_not_activated_is_found(void **state)
{
	(void)state;
	tell_and_check(REFAULT_AT_THE_BOUNDARY_NOT_ACTIVATED);
	assert_refault_mismatch("pfn 1001 active", "inactive");
}

/* Told when the next one of the batch comes. */
static void missing_activation_is_found(void **state)
{
	(void)state;
	tell_and_check(PAGE_40_NOT_ACTIVATED);
	assert_only_mismatch(CHECK_activation, altered_ns, "pfn 1028 activated", "not activated");
	assert_int_equal(decided(CHECK_activation), 31);
}

static void activation_without_a_second_read_is_found(void **state)
{
	(void)state;
	tell_and_check(PAGE_5_ACTIVATED_AFTER_ONE_READ);
	assert_only_mismatch(CHECK_activation, altered_ns, "not activated", "pfn 1005 activated");
	assert_int_equal(world.inferred[INFER_read_at_insertion], 1);
}

static void wrong_size_of_an_isolation_is_found(void **state)
{
	(void)state;
	tell_and_check(FIRST_ISOLATION_ASKS_FOR_2);
	assert_only_mismatch(CHECK_isolate_request, altered_ns, "inactive_file, 1 pages",
			     "inactive_file, 2 pages");
	assert_int_equal(decided(CHECK_victim), 31);
}

/* One that survived is one mismatch, whatever comes behind it, and one page less in the end. */
static void passed_over_victim_counts_once(void **state)
{
	const struct check_tally *tally;

	(void)state;
	tell_and_check(PAGE_25_SURVIVES);
	assert_int_equal(unequal(CHECK_victim), 1);
	assert_int_equal(decided(CHECK_victim), 30);
	tally = check_tally(check, world.command_memcg, CHECK_victim);
	assert_int_equal(tally->first_mismatch_ns, altered_ns);
	assert_string_equal(tally->predicted, "pfn 1019");
	assert_string_equal(tally->recorded, "pfn 101a");
	assert_int_equal(unequal(CHECK_isolate_request), 0);
}

static void reclaim_that_stops_early_is_found(void **state)
{
	(void)state;
	tell_and_check(RECLAIM_STOPS_EARLY);
	assert_only_mismatch(CHECK_reclaim_stop, altered_ns, "goes on with inactive_file, 11 pages",
			     "stops");
}

static void reclaim_that_goes_on_is_found(void **state)
{
	(void)state;
	tell_and_check(RECLAIM_GOES_ON);
	assert_only_mismatch(CHECK_isolate_request, altered_ns, "the call ends",
			     "inactive_file, 5 pages");
}

static void wrong_total_is_found(void **state)
{
	(void)state;
	tell_and_check(TOTAL_ONE_LESS);
	assert_only_mismatch(CHECK_reclaimed_total, altered_ns, "31 pages", "30 pages");
}

static void mismatches_are_kept_with_their_state_up_to_the_number_asked_for(void **state)
{
	const struct check_mismatch *mismatch;

	(void)state;
	tell(REFAULT_TOO_FAR_ACTIVATED);
	run_check(1);
	mismatch = check_mismatch(check, 0);
	assert_non_null(mismatch);
	assert_int_equal(mismatch->decision, CHECK_insertion_list);
	assert_int_equal(mismatch->timestamp_ns, altered_ns);
	assert_int_equal(mismatch->memcg, world.command_memcg);
	assert_int_equal(mismatch->pid, GROUP_TASK);
	assert_int_equal(mismatch->cpu, 0);
	assert_string_equal(mismatch->predicted, "pfn 1000 to inactive_file");
	assert_string_equal(mismatch->recorded, "to active_file");
	assert_non_null(strstr(mismatch->state, "active_file 32 31")); /* now, at the last flush */
	assert_null(check_mismatch(check, 1));
}

static void times_of_mismatches_are_kept_where_none_is_explained(void **state)
{
	(void)state;
	tell(TOTAL_ONE_LESS);
	run_check(0);
	assert_only_mismatch(CHECK_reclaimed_total, altered_ns, "31 pages", "30 pages");
	assert_null(check_mismatch(check, 0));
}

/* ---- other ways of the same */

static void assert_all_equal(void)
{
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		if (unequal((enum check_decision)d))
			fail_msg("%s: %s", check_name((enum check_decision)d),
				 check_mismatch(check, 0)->state);
}

/* Somebody on the CPU calls lru_add_drain(): three activations come before the batch is full. */
static void activations_of_an_early_drain_are_equal(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	for (uint64_t page = 5; page < 8; page++)
		read_page(page);
	for (uint64_t page = 5; page < 8; page++)
		made_activation(&tape, 0, OTHER_TASK, page);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_activation), 3);
}

/* Read four times before the batch drains: it stands there twice and is activated once. */
static void folio_queued_twice_is_activated_once(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	for (int times = 0; times < 3; times++) {
		read_page(5);
		read_page(100); /* elsewhere, so that each read of page 5 counts */
	}
	for (uint64_t page = 6; page < 30; page++)
		read_page(page);
	made_activation(&tape, 0, GROUP_TASK, 5);
	for (uint64_t page = 6; page < 30; page++)
		made_activation(&tape, 0, GROUP_TASK, page);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_activation), 25);
}

static void deactivate_batch(uint64_t nr)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, nr, nr, 0, nr, ACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, nr, 0, nr, 0,
		   TAPE_VALUE_ABSENT, 2);
}

/*
 * All 62 pages are active: of them 1, 3, 7, 12, 19 and 20 are deactivated at priorities 5 to 0, each
 * after the inactive list was scanned: 0, 0, 0, 2, 10 and 30 pages, in the order they came in.
 */
static void deactivated_folios_are_evicted_in_turn(void **state)
{
	static const struct {
		uint64_t evicted, deactivated;
	} round[] = { { 0, 1 }, { 0, 3 }, { 0, 7 }, { 2, 12 }, { 10, 19 }, { 30, 20 } };
	uint64_t next = 0;

	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	come_in(31);
	for (uint64_t page = 0; page < 62; page++) {
		read_page(page);
		for (uint64_t p = page - 30; (page == 30 || page == 61) && p <= page; p++)
			made_activation(&tape, 0, GROUP_TASK, p);
	}
	made_flush(&tape, 1);
	reclaim_begins();
	for (unsigned int i = 0; i < sizeof(round) / sizeof(round[0]); i++) {
		if (round[i].evicted)
			evict_batch(next, round[i].evicted, NO_PAGE);
		next += round[i].evicted;
		deactivate_batch(round[i].deactivated);
	}
	reclaim_ends(42);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_isolate_request), 9);
	assert_int_equal(decided(CHECK_victim), 42);
	assert_int_equal(decided(CHECK_reclaim_stop), 1);
}

static void dirty_page(uint64_t page)
{
	made_event_text(&tape, 0, GROUP_TASK, WRITEBACK_DIRTY_FOLIO, "254:0", MADE_INO, page, 0);
}

/* Page 5 is dirty when its turn comes: activated, not evicted, and not on the inactive list again. */
static void dirty_folio_is_expected_to_be_activated(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	dirty_page(5);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	evict_batch(1, 3, NO_PAGE);
	isolate(6, 6);
	for (uint64_t page = 4; page < 10; page++)
		if (page != 5)
			evict_page(page);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 6, 5, 1, 0, 0, 0, 0, 1,
		   0, 0, TAPE_VALUE_ABSENT);
	evict_batch(10, 10, NO_PAGE);
	evict_batch(20, 11, NO_PAGE);
	reclaim_ends(30);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_victim), 30);
	assert_int_equal(check_undecided(check)->survivors, 0);
}

/* Page 5 was met dirty, and is on the disk now: it comes back to the tail, and is the next to go. */
static void written_folio_comes_back_to_the_tail(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	dirty_page(5);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	evict_batch(1, 3, NO_PAGE);
	isolate(6, 6);
	for (uint64_t page = 4; page < 10; page++)
		if (page != 5)
			evict_page(page);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 6, 5, 1, 0, 0, 0, 0, 1,
		   0, 0, TAPE_VALUE_ABSENT);
	made_event(&tape, 0, 2, EXT4_WRITEPAGES, MADE_DEV, MADE_INO, 0, 0, 1);
	made_event_text(&tape, 0, 2, BLOCK_BIO_QUEUE, "W", MADE_DEV, 800, 8, 0);
	made_event(&tape, 0, 2, EXT4_WRITEPAGES_RESULT, MADE_DEV, MADE_INO);
	made_event_text(&tape, 0, 0, BLOCK_RQ_COMPLETE, "W", MADE_DEV, 800, 8, 0);
	isolate(10, 10);
	evict_page(5);
	for (uint64_t page = 10; page < 19; page++)
		evict_page(page);
	shrunk(10, 10);
	evict_batch(19, 12, NO_PAGE);
	reclaim_ends(31);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_victim), 31);
	assert_int_equal(check_undecided(check)->writeback, 0);
	assert_int_equal(world.inferred[INFER_written_in_order], 1);
}

static void eviction_of_a_dirty_folio_is_not_decided(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	dirty_page(0);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE); /* written back by then */
	run_check(1);
	assert_int_equal(decided(CHECK_victim), 0);
	assert_int_equal(check_undecided(check)->writeback, 1);
	assert_int_equal(world.inferred[INFER_writeback_ended], 1);
}

/* Compaction took it off its list and put it back: at the head now, the last to go. */
static void folio_inserted_again_is_the_youngest(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	made_insertion(&tape, 0, GROUP_TASK, 0, INACTIVE_FILE);
	reclaim_begins();
	evict_batch(1, 1, NO_PAGE);
	evict_batch(2, 3, NO_PAGE);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_victim), 4);
	assert_int_equal(world.inferred[INFER_reinserted], 1);
}

/* A locked page goes to the unevictable list whatever the policy says. */
static void unevictable_folio_is_taken_as_it_comes(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_add(&tape, 0, GROUP_TASK, 7);
	made_insertion(&tape, 0, GROUP_TASK, 7, 4);
	run_check(1);
	assert_all_equal();
	assert_int_equal(decided(CHECK_insertion_list), 0);
}

/* ---- who else takes folios */

/* 31 pages of the root's are read twice, so that the root's time passes and the group's does not. */
static void others_age_the_root(void)
{
	for (int round = 0; round < 2; round++)
		for (uint64_t page = 0; page < 31; page++) {
			if (!round)
				made_event(&tape, 1, OTHER_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE,
					   0x8000 + page, MADE_INO + 1, page, MADE_DEV, 0);
			if (!round && page == 30)
				for (uint64_t p = 0; p < 31; p++)
					made_event(&tape, 1, OTHER_TASK, MM_LRU_INSERTION,
						   0x8000 + p, INACTIVE_FILE, 4);
			made_event(&tape, 1, OTHER_TASK, MM_FILEMAP_GET_PAGES, MADE_INO + 1,
				   MADE_DEV, page, page);
		}
	for (uint64_t p = 0; p < 31; p++)
		made_event(&tape, 1, OTHER_TASK, MM_LRU_ACTIVATE, 0x8000 + p);
}

/*
 * DAMON evicts for the root: the distance is 1 + 31 by the root's time, beyond its 31 active pages,
 * and would be 0 by the group's.
 */
static void folio_evicted_by_kdamond_leaves_a_shadow_of_the_root(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	made_flush(&tape, 1);
	made_delete(&tape, 1, KDAMOND_TASK, 5);
	others_age_the_root();
	made_add(&tape, 0, GROUP_TASK, 5);
	read_page(5);
	made_insertion(&tape, 0, GROUP_TASK, 5, INACTIVE_FILE);
	run_check(1);
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		assert_int_equal(unequal((enum check_decision)d), 0);
	assert_int_equal(decided(CHECK_refault_verdict), 1);
	assert_int_equal(check_undecided(check)->foreign, 1);
	assert_int_equal(world.inferred[INFER_eviction_by_kdamond], 1);
}

/* Outside reclaim a deletion is truncation: no shadow, and coming back is no refault. */
static void truncated_folio_comes_back_as_new(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	all_inactive_pages_go(AS_THE_KERNEL_DOES);
	made_delete(&tape, 0, GROUP_TASK, 40);
	made_delete(&tape, 0, OTHER_TASK,
		    30); /* its shadow goes with it, though no folio is there */
	made_add(&tape, 0, GROUP_TASK, 40);
	read_page(40);
	made_insertion(&tape, 0, GROUP_TASK, 40, INACTIVE_FILE);
	run_check(0);
	assert_int_equal(unequal(CHECK_insertion_list), 0);
	assert_int_equal(decided(CHECK_refault_verdict), 0);
	assert_int_equal(check_undecided(check)->foreign, 0);
}

/* A tape that does not say who was in the group, and may have missed some of its folios. */
static void made_unknown_machine(void)
{
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/release", "6.18.44\n");
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/facts", "memory_limit=262144\n");
}

/* ---- what is left undecided */

static void folios_from_before_the_tape_are_not_decided(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_insertion(&tape, 0, GROUP_TASK, 500, INACTIVE_FILE);
	made_activation(&tape, 0, GROUP_TASK, 501);
	made_delete(&tape, 0, GROUP_TASK, 502); /* truncation of a stranger: nothing to decide */
	reclaim_begins();
	made_delete(&tape, 0, GROUP_TASK, 503);
	run_check(0);
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		assert_int_equal(decided((enum check_decision)d), 0);
	assert_int_equal(check_undecided(check)->unseen_folio, 3);
}

#define DISK (254 << 20)
#define BDEV_FS 3 /* device of the file system that holds the disks' inodes */

/* A block of 1 KiB of the third page of the disk: made referenced, and found when it is looked up again. */
static void buffer_is_made(uint64_t list)
{
	made_machine(&tape, 64);
	made_blob(&tape, TAPE_MOMENT_START, "/proc/self/mountinfo",
		  "22 1 254:0 / / rw - ext4 x rw\n");
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, MADE_PFN, DISK, 2, BDEV_FS,
		   0);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, MADE_PFN, list, 4);
}

static void metadata_comes_active(void **state)
{
	(void)state;
	buffer_is_made(ACTIVE_FILE);
	run_check(0);
	assert_int_equal(decided(CHECK_insertion_list), 1);
	assert_int_equal(unequal(CHECK_insertion_list), 0);
}

static void metadata_that_comes_inactive_is_found(void **state)
{
	(void)state;
	buffer_is_made(INACTIVE_FILE);
	run_check(0);
	assert_int_equal(unequal(CHECK_insertion_list), 1);
}

/* Put on the inactive list and touched twice, so that a drain activates it. */
static void touched_buffer_is_accessed(void **state)
{
	(void)state;
	buffer_is_made(INACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 11, 1024);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 8, 1024);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 12, 1024);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, MADE_PFN);
	run_check(0);
	assert_int_equal(decided(CHECK_activation), 1);
	assert_int_equal(unequal(CHECK_activation), 0);
}

static void activation_of_metadata_that_no_event_explains_is_not_decided(void **state)
{
	(void)state;
	buffer_is_made(INACTIVE_FILE);
	made_event(&tape, 0, GROUP_TASK, BLOCK_TOUCH_BUFFER, DISK, 11, 1024);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, MADE_PFN);
	run_check(0);
	assert_int_equal(decided(CHECK_activation), 0);
	assert_int_equal(check_undecided(check)->metadata, 1);
}

static void reclaim_of_a_group_with_unknown_folios_is_not_predicted(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_blob(&tape, TAPE_MOMENT_START, "/cg/g/memory.stat", "inactive_file 4096\n");
	come_in(0);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	reclaim_ends(1);
	run_check(0);
	assert_int_equal(decided(CHECK_victim), 0);
	assert_int_equal(decided(CHECK_reclaim_stop), 0);
	assert_int_equal(check_undecided(check)->warm_group, 1);
	assert_int_equal(check_undecided(check)->foreign, 1);
}

static void global_reclaim_is_not_predicted(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	made_event(&tape, 0, OTHER_TASK, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	made_delete(&tape, 0, OTHER_TASK, 7);
	made_event(&tape, 0, OTHER_TASK, MM_VMSCAN_DIRECT_RECLAIM_END, 1);
	run_check(0);
	assert_int_equal(decided(CHECK_reclaim_stop), 0);
	assert_int_equal(check_undecided(check)->global_reclaim, 1);
	assert_int_equal(check_undecided(check)->foreign, 1);
}

/*
 *   isolated 1 2 3, evicted 1 2       3 is doubtful: back at the tail     [.. 4 3]
 *   isolated 7: 3 .. 9, evicted 4     so 3 did survive, at the head:     [3 .. 4], and 10 is in
 *   evicted 5 .. 10                   equal, all of them
 */
static void doubtful_survivor_is_settled_by_the_next_isolation(void **state)
{
	(void)state;
	made_unknown_machine();
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	isolate(3, 3);
	evict_page(1);
	evict_page(2);
	shrunk(3, 2);
	evict_batch(4, 7, NO_PAGE);
	evict_batch(11, 10, NO_PAGE);
	isolate(11, 11);
	for (uint64_t page = 21; page <= 30; page++)
		evict_page(page);
	evict_page(3);
	shrunk(11, 11);
	reclaim_ends(31);
	run_check(1);
	assert_int_equal(unequal(CHECK_victim), 0);
	assert_int_equal(decided(CHECK_victim), 31);
	assert_int_equal(unequal(CHECK_isolate_request), 0);
	assert_int_equal(unequal(CHECK_reclaim_stop), 0);
	assert_int_equal(check_undecided(check)->survivors, 1);
}

/* It was never isolated: a stranger stood in its place. Then it is the next to go. */
static void doubtful_survivor_may_be_the_next_victim(void **state)
{
	(void)state;
	made_unknown_machine();
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	isolate(3, 3);
	evict_page(1);
	evict_page(2);
	shrunk(3, 2);
	evict_batch(3, 7, NO_PAGE);
	run_check(1);
	assert_true(world.memcg_inferred);
	assert_int_equal(unequal(CHECK_victim), 0);
	assert_int_equal(decided(CHECK_victim), 10);
	assert_int_equal(check_undecided(check)->survivors, 1);
}

/* Seen from its beginning, there are no strangers: it was locked or held, and is at the head. */
static void survivor_of_a_group_seen_whole_is_at_the_head(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	evict_batch(0, 1, NO_PAGE);
	isolate(3, 3);
	evict_page(1);
	evict_page(2);
	shrunk(3, 2);
	evict_batch(3, 7, NO_PAGE);
	run_check(1);
	assert_int_equal(unequal(CHECK_victim), 1);
	assert_string_equal(check_mismatch(check, 0)->predicted, "pfn 1004");
	assert_string_equal(check_mismatch(check, 0)->recorded, "pfn 1003, not isolated");
}

/* ---- anon */

#define FLAGS_ANON 0x12 /* anon, swapbacked */
#define INACTIVE_ANON 0

static void large_anon_folio_is_decided_and_a_single_page_is_taken_as_it_comes(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, 0x4000, 2, 8, 1);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, 0x4000, INACTIVE_ANON, FLAGS_ANON);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, 0x5000, INACTIVE_ANON, FLAGS_ANON);
	run_check(0);
	assert_int_equal(decided(CHECK_insertion_list), 1);
	assert_int_equal(unequal(CHECK_insertion_list), 0);
	assert_int_equal(world.inferred[INFER_anon_added_at_insertion], 2);
	assert_int_equal(world.inferred[INFER_anon_of_before], 1); /* no allocation told of it */
}

/* ---- broken tapes */

static void task_that_begins_reclaim_anew_gives_its_folios_back(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	isolate(3, 3); /* shrink and end are lost */
	reclaim_begins();
	made_delete(&tape, 0, GROUP_TASK, 0);
	isolate(3, 3);
	reclaim_ends(3);
	made_delete(&tape, 1, KDAMOND_TASK, 1);
	made_delete(&tape, 1, OTHER_TASK, 2);
	isolate(3, 3); /* outside any call */
	run_check(0);
}

static void isolation_of_nothing_after_a_lost_shrink_gives_the_folios_back(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	reads_come_twice(AS_THE_KERNEL_DOES);
	reclaim_begins();
	isolate(3, 3);
	isolate(3, 0);
	reclaim_ends(0);
	for (uint64_t page = 0; page < 31; page++)
		made_delete(&tape, 0, OTHER_TASK, page);
	run_check(0);
}

static void expectations_end_with_a_loss(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	for (uint64_t page = 0; page <= 30; page++)
		read_page(page);
	made_lost(&tape, 0, 31); /* the activations were among them */
	read_page(3);
	made_activation(&tape, 0, GROUP_TASK, 30);
	run_check(0);
	assert_true(unequal(CHECK_activation) <= 1);
}

static void impossible_values_are_passed_over(void **state)
{
	(void)state;
	made_machine(&tape, 64);
	come_in(0);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, UINT64_MAX, 1, 2, 3, 0);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, 9, 1, UINT64_MAX, 3, 200);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_ADD_TO_PAGE_CACHE, 9, 1, UINT64_MAX, 3, 13);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_DELETE_FROM_PAGE_CACHE, 9, 1, UINT64_MAX, 3,
		   63);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, MADE_PFN, 99, 4);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, UINT64_C(1) << 32, 2, 4);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_ACTIVATE, UINT64_MAX);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, UINT64_MAX, 0, 8, 0);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, 77, 64, 8, 0);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, UINT64_MAX - 1, 3);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV, 30, 3);
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV, UINT64_MAX,
		   UINT64_MAX);
	made_flush(&tape, 12345);
	reclaim_begins();
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, UINT64_MAX, UINT64_MAX, 0,
		   UINT64_MAX, 77);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, UINT64_MAX, UINT64_MAX, 0,
		   UINT64_MAX, 2);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 1, UINT64_MAX, 0, 0, 0,
		   0, UINT64_MAX, UINT64_MAX, 0, 0, 99, 0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 1, UINT64_MAX, 0, 0, 99,
		   0);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, 0, 0, 0, 3, 4);
	reclaim_ends(UINT64_MAX);
	reclaim_ends(0);
	run_check(100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(correct_tape_is_equal_in_all_its_decisions),
		TEST(wrong_list_of_a_new_folio_is_found),
		TEST(refault_activated_from_too_far_is_found),
		TEST(refault_at_the_boundary_not_activated_is_found),
		TEST(missing_activation_is_found),
		TEST(activation_without_a_second_read_is_found),
		TEST(wrong_size_of_an_isolation_is_found),
		TEST(passed_over_victim_counts_once),
		TEST(reclaim_that_stops_early_is_found),
		TEST(reclaim_that_goes_on_is_found),
		TEST(wrong_total_is_found),
		TEST(mismatches_are_kept_with_their_state_up_to_the_number_asked_for),
		TEST(times_of_mismatches_are_kept_where_none_is_explained),
		TEST(activations_of_an_early_drain_are_equal),
		TEST(folio_queued_twice_is_activated_once),
		TEST(deactivated_folios_are_evicted_in_turn),
		TEST(dirty_folio_is_expected_to_be_activated),
		TEST(written_folio_comes_back_to_the_tail),
		TEST(eviction_of_a_dirty_folio_is_not_decided),
		TEST(folio_inserted_again_is_the_youngest),
		TEST(unevictable_folio_is_taken_as_it_comes),
		TEST(folio_evicted_by_kdamond_leaves_a_shadow_of_the_root),
		TEST(truncated_folio_comes_back_as_new),
		TEST(folios_from_before_the_tape_are_not_decided),
		TEST(metadata_comes_active),
		TEST(metadata_that_comes_inactive_is_found),
		TEST(touched_buffer_is_accessed),
		TEST(activation_of_metadata_that_no_event_explains_is_not_decided),
		TEST(reclaim_of_a_group_with_unknown_folios_is_not_predicted),
		TEST(global_reclaim_is_not_predicted),
		TEST(doubtful_survivor_is_settled_by_the_next_isolation),
		TEST(doubtful_survivor_may_be_the_next_victim),
		TEST(survivor_of_a_group_seen_whole_is_at_the_head),
		TEST(large_anon_folio_is_decided_and_a_single_page_is_taken_as_it_comes),
		TEST(task_that_begins_reclaim_anew_gives_its_folios_back),
		TEST(isolation_of_nothing_after_a_lost_shrink_gives_the_folios_back),
		TEST(expectations_end_with_a_loss),
		TEST(impossible_values_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
