/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests of check: the story that test_check.c alters, and what it is made of. */
#ifndef TESTS_UNIT_REPLAY_CHECK_STORY_H
#define TESTS_UNIT_REPLAY_CHECK_STORY_H

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

static inline int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	altered_ns = 0;
	check = NULL;
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	if (check) {
		check_close(check);
		world_exit(&world);
	}
	made_tape_end(&tape);
	return 0;
}

static inline void run_check(unsigned int nr_explain)
{
	check = made_check_open(&tape, &world, "6.18", nr_explain);
	made_check_read(check, &world, &tape);
}

/* decided - equal of a kind, all memcgs together. */
static inline uint64_t unequal(enum check_decision decision)
{
	uint64_t nr = 0;

	for (uint32_t n = 0; n < world.nr_memcgs; n++) {
		const struct check_tally *tally = check_tally(check, n, decision);

		if (tally)
			nr += tally->decided - tally->equal;
	}
	return nr;
}

static inline uint64_t decided(enum check_decision decision)
{
	const struct check_tally *tally = check_tally(check, world.command_memcg, decision);

	return tally ? tally->decided : 0;
}

/* Nothing unequal but one decision of this kind, at that time, with these two sides. */
static inline void assert_only_mismatch(enum check_decision decision, uint64_t timestamp_ns,
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

static inline void read_page(uint64_t page)
{
	made_read(&tape, 0, GROUP_TASK, page, page);
}

/* 31 pages come in, each read once; the batch drains when the last is added. */
static inline void come_in(uint64_t first)
{
	for (uint64_t page = first; page < first + 31; page++) {
		made_add(&tape, 0, GROUP_TASK, page);
		if (page == first + 30)
			for (uint64_t p = first; p < first + 31; p++)
				made_insertion(&tape, 0, GROUP_TASK, p, INACTIVE_FILE);
		read_page(page);
	}
}

static inline void reclaim_begins(void)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
}

static inline void reclaim_ends(uint64_t nr_reclaimed)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, nr_reclaimed);
}

static inline void isolate(uint64_t nr_requested, uint64_t nr_taken)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, nr_requested, nr_taken, 0,
		   nr_taken, INACTIVE_FILE);
}

static inline void shrunk(uint64_t nr_scanned, uint64_t nr_reclaimed)
{
	/* The priority, number 11, is that of a kernel that does not tell it. */
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, nr_scanned, nr_reclaimed,
		   0, 0, 0, 0, 0, 0, 0, 0, TAPE_VALUE_ABSENT);
}

static inline void evict_page(uint64_t page)
{
	made_delete(&tape, 0, GROUP_TASK, page);
}

/* One batch: these pages are isolated and evicted, all but one. */
static inline void evict_batch(uint64_t first, uint64_t nr, uint64_t survivor)
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

static inline bool reads_come_twice(enum alteration altered)
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
static inline bool all_inactive_pages_go(enum alteration altered)
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

static inline void insert_altered(uint64_t page, uint64_t lru, bool altered)
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
static inline void some_come_back(enum alteration altered)
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
static inline void the_last_two_go(void)
{
	reclaim_begins();
	evict_batch(62, 1, NO_PAGE);
	evict_batch(0, 1, NO_PAGE);
	reclaim_ends(2);
}

static inline void tell(enum alteration altered)
{
	made_machine(&tape, 64);
	if (!reads_come_twice(altered) || !all_inactive_pages_go(altered))
		return;
	some_come_back(altered);
	if (altered == AS_THE_KERNEL_DOES)
		the_last_two_go();
}

static inline void tell_and_check(enum alteration altered)
{
	tell(altered);
	run_check(10);
}

static inline void assert_all_equal(void)
{
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		if (unequal((enum check_decision)d))
			fail_msg("%s: %s", check_name((enum check_decision)d),
				 check_mismatch(check, 0)->state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
