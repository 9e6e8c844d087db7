// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anon pages by name: what each event says of which page. An address's page number is its index; what is
 * written down of each step is "new 5", "touched 5 store", and so on.
 */
#include "replay/world/anon.h"

#include <inttypes.h>

#include "replay/event_stream.h"
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

#define TASK GROUP_TASK
#define OTHER 20
#define SWAP_SECTOR 8000
#define MOVABLE 8
#define CLONE_VM 0x100

static struct made_tape tape;
static char said[4096];

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 64);
	/* All three are on the tape, unfiltered. */
	made_type(&tape, EVENT_PAGE_FAULT_USER, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_ALLOC, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_FREE, "", NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_tape_end(&tape);
	return 0;
}

static void fault(int32_t pid, uint64_t index, bool store)
{
	made_event(&tape, 0, pid, PAGE_FAULT_USER, index << 12, store ? 6 : 4);
}

static void alloc(int32_t pid, uint64_t pfn, uint64_t order)
{
	made_event(&tape, 0, pid, MM_PAGE_ALLOC, pfn, order, MOVABLE, 0);
}

static void insert(int32_t pid, uint64_t pfn, uint64_t flags)
{
	made_event(&tape, 0, pid, MM_LRU_INSERTION, pfn, 0, flags);
}

static void bio(int32_t pid, uint64_t sector, uint64_t pages, const char *rwbs)
{
	made_event_text(&tape, 0, pid, BLOCK_BIO_QUEUE, rwbs, MADE_DEV, sector, pages * 8);
}

/* The steps of all events, "; " after each event that had some. */
static const char *steps(void)
{
	static const char *const name[] = {
		[ANON_NEW] = "new",	      [ANON_TOUCHED] = "touched",
		[ANON_FREED] = "freed",	      [ANON_COLD] = "cold",
		[ANON_LAZYFREE] = "lazyfree", [ANON_PAGEOUT] = "pageout",
		[ANON_LOCKED] = "locked",     [ANON_UNLOCKED] = "unlocked",
		[ANON_READ_AHEAD] = "ahead",  [ANON_UNMAPPED] = "unmapped",
		[ANON_EVICTED] = "evicted",
	};
	const struct tape_event *event;
	struct event_stream *stream;
	struct world world;
	uint64_t read_end;
	size_t at = 0;

	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_non_null(world.anon);
	stream = event_stream_open(tape.reader);
	said[0] = '\0';
	while (event_stream_next(stream, &event, &read_end) > 0) {
		const struct anon_step *step;
		uint32_t nr;

		world_event(&world, event);
		step = anon_steps(world.anon, &nr);
		for (uint32_t i = 0; i < nr; i++)
			at += (size_t)snprintf(said + at, sizeof(said) - at, "%s%s %" PRIu64 "%s%s",
					       i ? ", " : "", name[step[i].what], step[i].index,
					       step[i].order ? " large" : "",
					       step[i].write  ? " store" :
					       step[i].locked ? " locked" :
								"");
		if (nr)
			at += (size_t)snprintf(said + at, sizeof(said) - at, "; ");
		world_event_done(&world, event, read_end);
	}
	event_stream_close(stream);
	world_exit(&world);
	return said;
}

static void first_touch_is_a_new_page_and_the_next_fault_the_same(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	fault(TASK, 5, true);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 100, 0);
	fault(TASK, 5, false);
	assert_string_equal(steps(), "new 5, touched 5 store; freed 5; ");
}

static void page_written_to_swap_is_known_again_by_its_sector(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	fault(TASK, 6, true);
	alloc(TASK, 101, 0);
	insert(TASK, 101, 2 | 0x10);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	for (uint64_t i = 0; i < 2; i++) {
		bio(TASK, SWAP_SECTOR + 8 * i, 1, "W");
		made_event(&tape, 0, TASK, MM_VMSCAN_WRITE_FOLIO, 100 + i, 9);
	}
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 100, 0);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 101, 0);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 2);
	fault(TASK, 6, false); /* read together with its neighbour */
	alloc(TASK, 200, 0);
	bio(TASK, SWAP_SECTOR, 1, "R");
	alloc(TASK, 201, 0);
	bio(TASK, SWAP_SECTOR + 8, 1, "R");
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 200, 0);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 201, 0);
	assert_string_equal(steps(), "new 5; new 6; unmapped 5; unmapped 6; evicted 5; evicted 6; "
				     "touched 6; ahead 5; freed 5; freed 6; ");
}

/* On a list before anybody has mapped it: it does not say yet that it is anonymous. */
static void page_read_ahead_from_swap_stays_the_page_it_is(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	insert(TASK, 100, 2 | 0x10);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	bio(TASK, SWAP_SECTOR, 1, "W");
	made_event(&tape, 0, TASK, MM_VMSCAN_WRITE_FOLIO, 100, 9);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 100, 0);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	fault(TASK, 6, true);
	alloc(TASK, 200, 0);
	bio(TASK, SWAP_SECTOR, 1, "R");
	insert(TASK, 200, 4 | 8 | 0x10);
	fault(TASK, 5, false);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 200, 0);
	assert_string_equal(steps(), "new 5; unmapped 5; evicted 5; ahead 5; touched 5; freed 5; ");
}

static void fault_at_a_kernel_address_is_no_page(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	insert(TASK, 100, 2 | 0x10);
	made_event(&tape, 0, TASK, PAGE_FAULT_USER, UINT64_C(0xffff888000005000), 4);
	fault(TASK, 5, false);
	assert_string_equal(steps(), "new 5; touched 5; ");
}

static void fault_on_a_page_in_swap_without_io_brings_it_in(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	insert(OTHER, 100, 2 | 0x10);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, TASK, MM_VMSCAN_WRITE_FOLIO, 100, 9);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 100, 0);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	fault(TASK, 5, false);
	alloc(TASK, 300, 0);
	fault(TASK, 9, false);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 300, 0);
	assert_string_equal(steps(), "new 5; unmapped 5; evicted 5; touched 5; freed 5; ");
}

static void large_folio_is_as_many_pages_at_its_aligned_address(void **state)
{
	(void)state;
	fault(TASK, 0x206, true);
	alloc(TASK, 512, 2);
	fault(TASK, 0x207, false);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 512, 2);
	assert_string_equal(
		steps(),
		"new 516 large, touched 519; freed 516, freed 517, freed 518, freed 519; ");
}

static void page_cache_pages_are_none_and_shared_memory_is_as_anonymous(void **state)
{
	(void)state;
	fault(TASK, 5, false);
	made_event(&tape, 0, TASK, MM_FILEMAP_FAULT, MADE_INO, MADE_DEV, 3);
	alloc(TASK, MADE_PFN + 3, 0);
	made_add(&tape, 0, TASK, 3);
	fault(TASK, 7, false);
	alloc(TASK, 100, 0);
	insert(TASK, 100, 4 | 0x10); /* shmem */
	fault(TASK, 8, false);
	assert_string_equal(steps(), "new 7; ");
}

/* Nameless pages are numbered from 0 on. */
static void write_to_tmpfs_has_no_address_and_leaves_that_of_the_fault_alone(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	alloc(TASK, 101, 0);
	alloc(TASK, 102, 0);
	fault(TASK, 5, false);
	assert_string_equal(steps(), "new 5; new 0; new 1, touched 5; ");
}

static void copy_on_write_ends_the_page_that_was_there(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	fault(TASK, 5, true);
	alloc(TASK, 101, 0);
	fault(TASK, 5, false);
	assert_string_equal(steps(), "new 5, touched 5 store; freed 5, new 5, touched 5; ");
}

static void threads_share_an_address_space_and_children_have_their_own(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	made_event(&tape, 0, TASK, TASK_NEWTASK, 50, CLONE_VM);
	made_event(&tape, 0, TASK, TASK_NEWTASK, 60, 0);
	fault(50, 5, false);
	fault(60, 5, false);
	assert_string_equal(steps(), "new 5; touched 5; ");
}

static void what_is_in_swap_goes_with_the_last_task(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	insert(TASK, 100, 2 | 0x10);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	bio(TASK, SWAP_SECTOR, 1, "W");
	made_event(&tape, 0, TASK, MM_VMSCAN_WRITE_FOLIO, 100, 9);
	made_event(&tape, 0, TASK, MM_PAGE_FREE, 100, 0);
	made_event(&tape, 0, TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	made_event(&tape, 0, TASK, SCHED_PROCESS_EXIT, TASK);
	assert_string_equal(steps(), "new 5; unmapped 5; evicted 5; freed 5; ");
}

static void without_faults_or_frees_nothing_is_named(void **state)
{
	struct world world;

	(void)state;
	made_tape_end(&tape);
	made_tape_begin(&tape, NULL);
	made_machine(&tape, 64);
	made_type(&tape, EVENT_PAGE_FAULT_USER, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_ALLOC, "gfp_flags & 8 && order > 0", NULL);
	made_type(&tape, EVENT_MM_PAGE_FREE, "", NULL);
	fault(TASK, 5, true);
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	assert_null(world.anon);
	world_exit(&world);
}

static void say(uint64_t index, uint64_t pages, uint64_t advice)
{
	made_event(&tape, 0, TASK, SYS_ENTER_MADVISE, index << 12, pages << 12, advice);
}

static void advice_names_the_known_pages_of_its_range(void **state)
{
	(void)state;
	for (uint64_t i = 5; i < 8; i++) {
		fault(TASK, i, true);
		alloc(TASK, 100 + i, 0);
	}
	say(6, 5, 20);
	say(5, 1, 21);
	say(5, 3, 4); /* MADV_DONTNEED, whose frees have events */
	assert_string_equal(steps(), "new 5; new 6; new 7, cold 6, cold 7; pageout 5; ");
}

/* In memory reclaim may drop it, which is the kernel's decision; in swap it goes at once. */
static void lazyfree_pages_are_new_when_touched_again(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	fault(TASK, 6, true);
	alloc(TASK, 101, 0);
	insert(TASK, 101, 0x12);
	made_event(&tape, 0, 9, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	bio(9, SWAP_SECTOR, 1, "W");
	made_event(&tape, 0, 9, MM_VMSCAN_WRITE_FOLIO, 101, 0);
	made_event(&tape, 0, 9, MM_PAGE_FREE, 101, 0);
	made_event(&tape, 0, 9, MM_VMSCAN_DIRECT_RECLAIM_END, 1);
	say(5, 2, 8);
	made_event(&tape, 0, 9, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, 9, MM_PAGE_FREE, 100, 0);
	made_event(&tape, 0, 9, MM_VMSCAN_DIRECT_RECLAIM_END, 1);
	fault(TASK, 5, true);
	alloc(TASK, 102, 0);
	fault(TASK, 5, true);
	assert_string_equal(steps(), "new 5; new 6; unmapped 6; evicted 6; lazyfree 5, freed 6; "
				     "evicted 5; new 5, touched 5 store; ");
}

static void pages_that_an_mlock_brings_in_are_named_in_order(void **state)
{
	(void)state;
	fault(TASK, 6, true);
	alloc(TASK, 101, 0);
	made_event(&tape, 0, TASK, SYS_ENTER_MLOCK, UINT64_C(5) << 12, UINT64_C(3) << 12);
	alloc(TASK, 100, 0);
	alloc(TASK, 102, 0);
	made_event(&tape, 0, TASK, SYS_ENTER_MUNLOCK, UINT64_C(5) << 12, UINT64_C(1) << 12);
	assert_string_equal(steps(), "new 6, locked 6; new 5 locked; new 7 locked, unlocked 5; ");
}

static void munlock_all(void)
{
	const uint64_t nothing = 0;

	made_event_values(&tape, 0, TASK, EVENT_SYS_ENTER_MUNLOCKALL, &nothing, 0, "");
}

/* Those there in the order of addresses, what it brings in, and what comes later. */
static void mlockall_locks_what_is_there_and_what_comes(void **state)
{
	(void)state;
	fault(TASK, 6, true);
	alloc(TASK, 101, 0);
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	made_event(&tape, 0, TASK, SYS_ENTER_MLOCKALL, 3);
	fault(TASK, 9, true);
	alloc(TASK, 103, 0);
	munlock_all();
	fault(TASK, 8, true);
	alloc(TASK, 104, 0);
	fault(TASK, 8, true);
	assert_string_equal(steps(), "new 6; new 5, locked 5, locked 6; new 9 locked, unlocked 5, "
				     "unlocked 6, unlocked 9; new 8, touched 8 store; ");
}

/* No event says at which addresses: but whose they are is known, and munlockall unlocks them. */
static void pages_that_an_mlockall_brings_in_are_unlocked_too(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	made_event(&tape, 0, TASK, SYS_ENTER_MLOCKALL, 1);
	alloc(TASK, 101, 0);
	munlock_all();
	assert_string_equal(
		steps(),
		"new 5, locked 5; new 274877906944 locked, unlocked 5, unlocked 274877906944; ");
}

/* A page that comes from swap is put on its list before it is mapped: no sign of tmpfs. */
static void page_from_swap_keeps_its_name_when_it_is_inserted_unmapped(void **state)
{
	(void)state;
	fault(TASK, 5, true);
	alloc(TASK, 100, 0);
	insert(TASK, 100, 0x12);
	made_event(&tape, 0, 9, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	bio(9, SWAP_SECTOR, 1, "W");
	made_event(&tape, 0, 9, MM_VMSCAN_WRITE_FOLIO, 100, 0);
	made_event(&tape, 0, 9, MM_PAGE_FREE, 100, 0);
	made_event(&tape, 0, 9, MM_VMSCAN_DIRECT_RECLAIM_END, 1);
	fault(TASK, 5, false);
	alloc(TASK, 101, 0);
	bio(TASK, SWAP_SECTOR, 1, "R");
	insert(TASK, 101, 0x1c);
	fault(TASK, 5, true);
	assert_string_equal(steps(), "new 5; unmapped 5; evicted 5; touched 5; touched 5 store; ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mlockall_locks_what_is_there_and_what_comes),
		TEST(pages_that_an_mlockall_brings_in_are_unlocked_too),
		TEST(first_touch_is_a_new_page_and_the_next_fault_the_same),
		TEST(page_written_to_swap_is_known_again_by_its_sector),
		TEST(page_read_ahead_from_swap_stays_the_page_it_is),
		TEST(fault_at_a_kernel_address_is_no_page),
		TEST(fault_on_a_page_in_swap_without_io_brings_it_in),
		TEST(large_folio_is_as_many_pages_at_its_aligned_address),
		TEST(page_cache_pages_are_none_and_shared_memory_is_as_anonymous),
		TEST(write_to_tmpfs_has_no_address_and_leaves_that_of_the_fault_alone),
		TEST(copy_on_write_ends_the_page_that_was_there),
		TEST(threads_share_an_address_space_and_children_have_their_own),
		TEST(what_is_in_swap_goes_with_the_last_task),
		TEST(without_faults_or_frees_nothing_is_named),
		TEST(advice_names_the_known_pages_of_its_range),
		TEST(lazyfree_pages_are_new_when_touched_again),
		TEST(pages_that_an_mlock_brings_in_are_named_in_order),
		TEST(page_from_swap_keeps_its_name_when_it_is_inserted_unmapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
