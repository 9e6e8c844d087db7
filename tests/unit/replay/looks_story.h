/* SPDX-License-Identifier: GPL-2.0-only */
/* What tests of reclaim's looks at mapped folios have in common: 31 mapped pages of a file, and what is found of them. */
#ifndef TESTS_UNIT_REPLAY_LOOKS_STORY_H
#define TESTS_UNIT_REPLAY_LOOKS_STORY_H

#include "tests/unit/made_check.h"

#define INACTIVE_ANON 0
#define INACTIVE_FILE 2
#define ACTIVE_FILE 3
#define ANON_PFN UINT64_C(0x8000)
#define ANON_FLAGS 0x13 /* mapped, anon, swapbacked */
#define SWAP_SECTOR UINT64_C(800)

static struct made_tape tape;
static struct world world;
static struct check *check;
static unsigned int nr_verdicts[4]; /* by word */

static inline int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 64);
	check = NULL;
	memset(nr_verdicts, 0, sizeof(nr_verdicts));
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	check_close(check);
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static inline void count_verdict(void *ctx, const struct check_verdict *verdict)
{
	(void)ctx;
	nr_verdicts[verdict->word]++;
}

/* Its verdicts are counted; nothing has been read. */
static inline void open_check(const char *release)
{
	check = made_check_open(&tape, &world, release, 1);
	check_tell_verdicts(check, count_verdict, NULL);
}

static inline void run_check(const char *release)
{
	open_check(release);
	made_check_read(check, &world, &tape);
}

static inline void assert_decided(enum check_decision decision, uint64_t decided, uint64_t equal)
{
	const struct check_tally *tally = check_tally(check, world.command_memcg, decision);

	assert_non_null(tally);
	assert_int_equal(tally->decided, decided);
	assert_int_equal(tally->equal, equal);
}

static inline void reclaim_begins(void)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
}

static inline void isolate(uint64_t lru, uint64_t nr)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_ISOLATE, 4, 0, nr, nr, 0, nr, lru);
}

static inline void shrunk(uint64_t nr, uint64_t nr_reclaimed, uint64_t nr_active,
			  uint64_t nr_ref_keep)
{
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, nr, nr_reclaimed, 0, 0,
		   0, 0, 0, nr_active, nr_ref_keep);
}

/* @grows: lists that grow are on the tape, as from Linux 6.13 on. */
static inline void map_31_pages(bool grows)
{
	for (uint64_t page = 0; page < 31; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 31; page++) {
		if (grows)
			made_event(&tape, 0, GROUP_TASK, MOD_MEMCG_LRUVEC_STATE, GROUP_ID,
				   INACTIVE_FILE, 1);
		made_insertion(&tape, 0, GROUP_TASK, page, INACTIVE_FILE);
	}
	made_event(&tape, 0, GROUP_TASK, MM_FILEMAP_MAP_PAGES, MADE_INO, MADE_DEV, 0, 30);
}

#endif
