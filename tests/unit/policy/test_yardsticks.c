// SPDX-License-Identifier: GPL-2.0-only
/* fifo, lru, clock and opt over lists that can be drawn; head on the left, next victim on the right. */
#include "replay/mm/one_by_one.h"

#include "tests/unit/mm/drawn.h"

static struct drawn *drawn;
static char evicted[64]; /* letters, in the order in which they went */

static void open_policy(const char *name)
{
	struct mm_config config = drawn_config();
	struct policy_choice choice;
	char why[256];

	assert_int_equal(policy_parse(name, "6.18", &choice, why, sizeof(why)), 0);
	config.policy = choice.base;
	config.rules = choice.rules;
	drawn = drawn_open(config);
	evicted[0] = '\0';
}

static int end(void **state)
{
	(void)state;
	drawn_close(drawn);
	return 0;
}

static void note_evicted(void *ctx, struct folio *folio, uint64_t shadow)
{
	size_t nr = strlen(evicted);

	(void)ctx;
	assert_true(slot_is_shadow(shadow));
	evicted[nr] = (char)folio->pfn;
	evicted[nr + 1] = '\0';
}

/* Each letter comes by the access that did not find it. */
static void bring_in(const char *letters)
{
	for (; *letters; letters++) {
		struct folio *folio = drawn_folio(drawn, (unsigned char)*letters, FOLIO_demanded);

		folio_add_lru(&drawn->mm, 0, folio);
		drawn->mm.policy->folio_accessed(&drawn->mm, 0, folio);
		folio_clear(folio, FOLIO_demanded);
		assert_mm_holds(&drawn->mm);
	}
}

static void access_folios(const char *letters)
{
	for (; *letters; letters++)
		drawn->mm.policy->folio_accessed(&drawn->mm, 0,
						 folio_at(drawn, (unsigned char)*letters));
	assert_mm_holds(&drawn->mm);
}

static uint64_t reclaim(uint64_t pages)
{
	const struct reclaim_hooks hooks = { .evicted = note_evicted };
	uint64_t nr = reclaim_run(&drawn->mm, drawn->group, pages, false, 0, &hooks);

	assert_mm_holds(&drawn->mm);
	return nr;
}

static void set_flags(const char *letters, uint32_t flags)
{
	for (; *letters; letters++)
		folio_set(folio_at(drawn, (unsigned char)*letters), flags);
}

static void clear_flags(const char *letters, uint32_t flags)
{
	for (; *letters; letters++)
		folio_clear(folio_at(drawn, (unsigned char)*letters), flags);
}

/* ---- all of them */

static const char *const names[] = { "fifo", "lru", "clock", "opt" };

#define for_each_yardstick(name)                                                                   \
	for (unsigned int i_ = 0; i_ < 4 && (name = names[i_], open_policy(name), true);           \
	     i_++, drawn_close(drawn))

static void no_folio_waits_in_a_batch(void **state)
{
	const char *name;

	(void)state;
	for_each_yardstick(name)
	{
		bring_in("AB");
		assert_int_equal(drawn->mm.batch_pages, 0);
		assert_int_equal(drawn->lruvec->lru_size[LRU_INACTIVE_FILE], 2);
	}
}

static void reclaim_frees_what_is_lacking_and_no_more(void **state)
{
	const char *name;

	(void)state;
	for_each_yardstick(name)
	{
		bring_in("ABCDEFGH");
		assert_int_equal(reclaim(1), 1);
		assert_int_equal(strlen(evicted), 1);
		assert_int_equal(reclaim(3), 3);
		assert_int_equal(strlen(evicted), 4);
	}
}

static void what_cannot_go_is_passed_over_and_goes_later(void **state)
{
	const char *name;

	(void)state;
	for_each_yardstick(name)
	{
		bring_in("ABCD");
		set_flags("ABC", PG_dirty);
		assert_int_equal(reclaim(1), 1);
		assert_string_equal(evicted, "D");
		clear_flags("ABC", PG_dirty);
		assert_int_equal(reclaim(3), 3);
		assert_int_equal(drawn->lruvec->lru_size[LRU_INACTIVE_FILE], 0);
	}
}

static void reclaim_ends_where_nothing_can_go(void **state)
{
	const char *name;

	(void)state;
	for_each_yardstick(name)
	{
		assert_int_equal(reclaim(1), 0);
		bring_in("ABC");
		set_flags("ABC", PG_locked);
		assert_int_equal(reclaim(1), 0);
		assert_int_equal(drawn->lruvec->lru_size[LRU_INACTIVE_FILE], 3);
		assert_in_range(drawn->lruvec->counter[COUNT_pgscan_file], 3, 6);
	}
}

static void anon_folios_stay(void **state)
{
	const char *name;

	(void)state;
	for_each_yardstick(name)
	{
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'X', PG_swapbacked));
		bring_in("A");
		assert_int_equal(reclaim(2), 1);
		assert_string_equal(evicted, "A");
	}
}

static void removed_folios_are_forgotten(void **state)
{
	const char *name;

	(void)state;
	for_each_yardstick(name)
	{
		bring_in("ABCDE");
		for (const char *letter = "CAE"; *letter; letter++) {
			mm_folio_forget(&drawn->mm, folio_at(drawn, (unsigned char)*letter));
			assert_mm_holds(&drawn->mm);
		}
		assert_int_equal(reclaim(5), 2);
	}
}

static void large_folio_goes_as_a_whole(void **state)
{
	const char *name;

	(void)state;
	for_each_yardstick(name)
	{
		folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, drawn->group, 'L', 2, 0));
		assert_int_equal(reclaim(1), 4);
		assert_int_equal(drawn->lruvec->lru_size[LRU_INACTIVE_FILE], 0);
	}
}

/* ---- one by one */

static void fifo_ignores_accesses(void **state)
{
	(void)state;
	open_policy("fifo");
	bring_in("ABC");
	access_folios("AAA");
	assert_file_lists(drawn->lruvec, "inactive [C B A] active []");
	reclaim(1);
	assert_string_equal(evicted, "A");
}

static void lru_moves_what_is_accessed_to_the_head(void **state)
{
	(void)state;
	open_policy("lru");
	bring_in("ABC");
	access_folios("A");
	assert_file_lists(drawn->lruvec, "inactive [A C B] active []");
	reclaim(1);
	assert_string_equal(evicted, "B");
}

/*   [C B A], A accessed again   the hand passes A, clears its bit, takes B
 *   [A C]                       now C, then A                               */
static void clock_gives_another_round_to_what_was_accessed_again(void **state)
{
	(void)state;
	open_policy("clock");
	bring_in("ABC");
	access_folios("A");
	assert_file_lists(drawn->lruvec, "inactive [C B A] active []");
	reclaim(1);
	assert_string_equal(evicted, "B");
	assert_file_lists(drawn->lruvec, "inactive [A C] active []");
	reclaim(2);
	assert_string_equal(evicted, "BCA");
}

static void clock_with_all_accessed_takes_the_oldest(void **state)
{
	(void)state;
	open_policy("clock");
	bring_in("ABC");
	access_folios("CBA");
	reclaim(1);
	assert_string_equal(evicted, "A");
	reclaim(1);
	assert_string_equal(evicted, "AB"); /* their bits are gone */
}

/* ---- opt */

static void tell(char letter, uint32_t use)
{
	drawn->mm.policy->next_use(&drawn->mm, folio_at(drawn, (unsigned char)letter), use);
	assert_mm_holds(&drawn->mm);
}

static void opt_takes_what_is_used_last(void **state)
{
	(void)state;
	open_policy("opt");
	bring_in("ABCDE");
	tell('A', 10);
	tell('B', 50);
	tell('C', FOLIO_NEVER_USED);
	tell('D', 40);
	tell('E', 20);
	reclaim(3);
	assert_string_equal(evicted, "CBD");
	tell('A', 30); /* accessed: its next use is later than E's now */
	reclaim(1);
	assert_string_equal(evicted, "CBDA");
}

static void opt_may_take_what_has_just_come(void **state)
{
	(void)state;
	open_policy("opt");
	bring_in("AB");
	tell('A', 1);
	tell('B', 2);
	reclaim(1);
	assert_string_equal(evicted, "B");
}

/* A dirty folio that is never used again does not cost a look in each reclaim, nor its place for ever. */
static void opt_tries_what_stood_aside_again(void **state)
{
	uint64_t scanned;

	(void)state;
	open_policy("opt");
	bring_in("ABCDE");
	tell('A', FOLIO_NEVER_USED);
	for (char letter = 'B'; letter <= 'E'; letter++)
		tell(letter, 100u - (uint32_t)letter);
	set_flags("A", PG_dirty);
	reclaim(1);
	assert_string_equal(evicted, "B");
	scanned = drawn->lruvec->counter[COUNT_pgscan_file];
	reclaim(1);
	assert_string_equal(evicted, "BC");
	assert_in_range(drawn->lruvec->counter[COUNT_pgscan_file] - scanned, 1, 2);
	clear_flags("A", PG_dirty);
	reclaim(2);
	assert_string_equal(evicted, "BCAD");
}

static uint64_t draw(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) % limit;
}

#define FRAMES 200
#define FIRST_FRAME 1000

/* Against looking through all of them: the victim is one that no other is used later than. */
static void assert_latest(const uint32_t *use, const bool *alive, uint64_t victim)
{
	for (uint64_t i = 0; i < FRAMES; i++)
		assert_true(!alive[i] || use[i] <= use[victim]);
}

static void opt_heap_agrees_with_a_look_at_all(void **state)
{
	uint64_t random = 88172645463325252, nr_alive = 0;
	uint32_t use[FRAMES] = { 0 };
	bool alive[FRAMES] = { false };

	(void)state;
	open_policy("opt");
	for (uint32_t now = 1; now < 20000; now++) {
		uint64_t i = draw(&random, FRAMES);
		struct folio *folio = folio_at(drawn, FIRST_FRAME + i);

		use[i] = draw(&random, 8) ? now + (uint32_t)draw(&random, 1000) : FOLIO_NEVER_USED;
		if (alive[i] && !draw(&random, 5)) {
			mm_folio_forget(&drawn->mm, folio);
			alive[i] = false;
			nr_alive--;
		} else if (alive[i]) {
			drawn->mm.policy->next_use(&drawn->mm, folio, use[i]);
		} else {
			folio = drawn_folio(drawn, FIRST_FRAME + i, 0);
			drawn->mm.policy->next_use(&drawn->mm, folio, use[i]);
			folio_add_lru(&drawn->mm, 0, folio);
			alive[i] = true;
			nr_alive++;
		}
		if (nr_alive > FRAMES / 2) {
			struct folio *victim = drawn->mm.policy->victim(&drawn->mm, drawn->lruvec);

			i = victim->pfn - FIRST_FRAME;
			assert_latest(use, alive, i);
			assert_int_equal(reclaim(1), 1);
			alive[i] = folio_test(folio_at(drawn, FIRST_FRAME + i), FOLIO_alive);
			assert_false(alive[i]);
			nr_alive--;
		}
		if (!(now % 16))
			assert_mm_holds(&drawn->mm);
		evicted[0] = '\0';
	}
}

#define ALL(name) cmocka_unit_test(name)
#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALL(no_folio_waits_in_a_batch),
		ALL(reclaim_frees_what_is_lacking_and_no_more),
		ALL(what_cannot_go_is_passed_over_and_goes_later),
		ALL(reclaim_ends_where_nothing_can_go),
		ALL(anon_folios_stay),
		ALL(removed_folios_are_forgotten),
		ALL(large_folio_goes_as_a_whole),
		TEST(fifo_ignores_accesses),
		TEST(lru_moves_what_is_accessed_to_the_head),
		TEST(clock_gives_another_round_to_what_was_accessed_again),
		TEST(clock_with_all_accessed_takes_the_oldest),
		TEST(opt_takes_what_is_used_last),
		TEST(opt_may_take_what_has_just_come),
		TEST(opt_tries_what_stood_aside_again),
		TEST(opt_heap_agrees_with_a_look_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
