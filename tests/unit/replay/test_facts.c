// SPDX-License-Identifier: GPL-2.0-only
/* Facts of accesses, and that no stream drawn from them contradicts one. */
#include "replay/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define DEV 1
#define INO 2
#define END 100000
#define SEEDS 200

static struct access_facts *facts;

static int begin(void **state)
{
	(void)state;
	facts = facts_open();
	return facts ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	facts_close(facts);
	return 0;
}

static void fact(uint64_t page, enum access_fact kind, uint64_t ns)
{
	facts_add(facts, DEV, INO, page, kind, ns);
}

static struct access_stream stream(enum access_fill fill, uint64_t seed)
{
	return (struct access_stream){ .facts = facts, .fill = fill, .seed = seed };
}

static enum access_known ask(enum access_fill fill, uint64_t seed, uint64_t page, uint64_t after,
			     uint64_t until, bool *accessed)
{
	struct access_stream of = stream(fill, seed);

	return facts_accessed(&of, DEV, INO, page, after, until, accessed);
}

static uint64_t next_unseen(enum access_fill fill, uint64_t seed, uint64_t page, uint64_t after)
{
	struct access_stream of = stream(fill, seed);

	return facts_next_unseen(&of, DEV, INO, page, after);
}

/* Touched at 1000, young at 2000 and 3000, old at 4000, young at 5000, unmapped at 6000, touched at 9000. */
static void one_life(uint64_t page)
{
	fact(page, FACT_TOUCHED, 1000);
	fact(page, FACT_YOUNG, 2000);
	fact(page, FACT_YOUNG, 3000);
	fact(page, FACT_OLD, 4000);
	fact(page, FACT_YOUNG, 5000);
	fact(page, FACT_UNMAPPED, 6000);
	fact(page, FACT_TOUCHED, 9000);
}

static void what_the_facts_decide_no_seed_changes(void **state)
{
	(void)state;
	one_life(1);
	assert_int_equal(facts_settle(facts, END), 0);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		bool accessed;

		assert_int_equal(ask(FILL_DRAWN, seed, 1, 999, 2000, &accessed), ACCESS_SEEN);
		assert_true(accessed); /* the touch */
		assert_int_equal(ask(FILL_DRAWN, seed, 1, 2000, 3000, &accessed), ACCESS_SEEN);
		assert_true(accessed);
		assert_int_equal(ask(FILL_DRAWN, seed, 1, 3000, 4000, &accessed), ACCESS_NONE);
		assert_false(accessed);
		assert_int_equal(ask(FILL_DRAWN, seed, 1, 5000, 8999, &accessed), ACCESS_NONE);
		assert_false(accessed);
		assert_int_equal(ask(FILL_DRAWN, seed, 1, 5000, 9000, &accessed), ACCESS_SEEN);
		assert_true(accessed);
	}
}

static void what_they_leave_open_is_said_to_be_drawn(void **state)
{
	bool accessed;

	(void)state;
	one_life(1);
	assert_int_equal(facts_settle(facts, END), 0);
	/* After a fault the bit was set by the fault: the first look says nothing of later accesses. */
	assert_int_equal(ask(FILL_DRAWN, 1, 1, 1000, 2000, &accessed), ACCESS_DRAWN);
	/* Some time in there, but perhaps not in this half of it. */
	assert_int_equal(ask(FILL_DRAWN, 1, 1, 2000, 2500, &accessed), ACCESS_DRAWN);
	assert_int_equal(ask(FILL_NEVER, 1, 1, 1000, 2000, &accessed), ACCESS_DRAWN);
	assert_false(accessed);
	assert_int_equal(ask(FILL_ALWAYS, 1, 1, 1000, 2000, &accessed), ACCESS_DRAWN);
	assert_true(accessed);
	/* Nothing is known of another page: it was never mapped. */
	assert_int_equal(ask(FILL_DRAWN, 1, 2, 0, END, &accessed), ACCESS_NONE);
	assert_false(accessed);
}

/* Halves of a stretch that had an access: one of them has it, whatever the seed. */
static void an_access_known_to_be_there_is_in_one_of_the_halves(void **state)
{
	uint64_t first = 0, second = 0;

	(void)state;
	one_life(1);
	assert_int_equal(facts_settle(facts, END), 0);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		bool a, b;

		ask(FILL_DRAWN, seed, 1, 4000, 4500, &a);
		ask(FILL_DRAWN, seed, 1, 4500, 5000, &b);
		assert_true(a || b);
		first += a;
		second += b;
	}
	assert_true(first > SEEDS / 4 && second > SEEDS / 4);
}

static void next_unseen_access_is_one_that_the_stream_has(void **state)
{
	(void)state;
	one_life(1);
	assert_int_equal(facts_settle(facts, END), 0);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		uint64_t ns = next_unseen(FILL_DRAWN, seed, 1, 2200);
		bool accessed;

		assert_true(ns > 2200 && (ns <= 3000 || (ns > 4000 && ns <= 5000)));
		ask(FILL_DRAWN, seed, 1, ns - 1, ns, &accessed);
		assert_true(accessed);
		ask(FILL_DRAWN, seed, 1, 2200, ns - 1, &accessed);
		assert_false(accessed);
		/* What the tape shows is not unseen. */
		assert_true(next_unseen(FILL_DRAWN, seed, 1, 5000) == UINT64_MAX);
	}
}

static void often_young_pages_are_drawn_more_often_than_old_ones(void **state)
{
	uint64_t hot = 0, cold = 0;

	(void)state;
	fact(1, FACT_TOUCHED, 1000);
	fact(2, FACT_TOUCHED, 1000);
	for (uint64_t ns = 2000; ns <= 10000; ns += 1000) {
		fact(1, FACT_YOUNG, ns);
		fact(2, FACT_OLD, ns);
	}
	assert_int_equal(facts_settle(facts, END), 0);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		bool accessed;

		assert_int_equal(ask(FILL_DRAWN, seed, 1, 10000, 11000, &accessed), ACCESS_DRAWN);
		hot += accessed;
		ask(FILL_DRAWN, seed, 2, 10000, 11000, &accessed);
		cold += accessed;
	}
	assert_true(hot > SEEDS / 2);
	assert_true(cold < SEEDS / 5);
}

static void looks_without_outcome_and_ends_stay_unknown(void **state)
{
	bool accessed;

	(void)state;
	fact(1, FACT_TOUCHED, 1000);
	fact(1, FACT_LOOKED, 2000);
	fact(1, FACT_LOOKED, 3000);
	fact(2, FACT_TOUCHED, 1000);
	fact(2, FACT_GONE, 2000);
	assert_int_equal(facts_settle(facts, END), 0);
	assert_int_equal(ask(FILL_DRAWN, 1, 1, 2000, 3000, &accessed), ACCESS_DRAWN);
	assert_int_equal(ask(FILL_DRAWN, 1, 1, 3000, END, &accessed), ACCESS_DRAWN);
	assert_int_equal(ask(FILL_DRAWN, 1, 2, 2000, END, &accessed), ACCESS_NONE);
	assert_int_equal(facts_counted(facts, FACT_LOOKED), 2);
	assert_int_equal(facts_pages(facts), 2);
}

/* A fault makes a page young, so that reclaim cannot have taken it at its first look. */
static void old_after_a_fault_says_that_a_look_is_missing(void **state)
{
	bool accessed;

	(void)state;
	fact(1, FACT_TOUCHED, 1000);
	fact(1, FACT_UNMAPPED, 9000);
	assert_int_equal(facts_settle(facts, END), 0);
	assert_int_equal(ask(FILL_DRAWN, 1, 1, 1000, 3000, &accessed), ACCESS_DRAWN);
	for (uint64_t seed = 0; seed < SEEDS; seed++) { /* but not shortly before it went */
		ask(FILL_DRAWN, seed, 1, 8900, 9000, &accessed);
		assert_false(accessed);
	}
}

/* Reclaim may have had no use for their list. */
static void pages_that_stay_and_are_not_looked_at_are_not_hot(void **state)
{
	uint64_t stayed = 0, went = 0;

	(void)state;
	for (uint64_t page = 10; page < 20; page++)
		for (uint64_t ns = 1000; ns <= 19000; ns += 3000) {
			fact(page, FACT_TOUCHED, ns);
			fact(page, FACT_UNMAPPED, ns + 1000);
		}
	fact(1, FACT_TOUCHED, 1000);
	assert_int_equal(facts_settle(facts, 21000), 0);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		bool accessed;

		ask(FILL_DRAWN, seed, 1, 10000, 11000, &accessed);
		stayed += accessed;
		ask(FILL_DRAWN, seed, 10, 19000, 19400, &accessed);
		went += accessed;
	}
	assert_true(stayed < SEEDS / 2);
	assert_true(went < SEEDS / 2);
}

static void mapped_from_a_fault_until_it_goes(void **state)
{
	(void)state;
	one_life(1);
	assert_int_equal(facts_settle(facts, END), 0);
	assert_false(facts_was_mapped(facts, DEV, INO, 1, 1000));
	assert_true(facts_was_mapped(facts, DEV, INO, 1, 1001));
	assert_true(facts_was_mapped(facts, DEV, INO, 1, 6000));
	assert_false(facts_was_mapped(facts, DEV, INO, 1, 9000));
	assert_false(facts_was_mapped(facts, DEV, INO, 2, 9000));
}

static void looks_come_one_after_the_other(void **state)
{
	uint64_t ns = 0;

	(void)state;
	one_life(1);
	assert_int_equal(facts_settle(facts, END), 0);
	assert_int_equal(facts_next_look(facts, DEV, INO, 1, 1000, &ns), FACT_YOUNG);
	assert_int_equal(ns, 2000);
	assert_int_equal(facts_next_look(facts, DEV, INO, 1, 3000, &ns), FACT_OLD);
	assert_int_equal(facts_next_look(facts, DEV, INO, 1, 5000, &ns), FACT_UNMAPPED);
	assert_int_equal(ns, 6000);
	assert_int_equal(facts_next_look(facts, DEV, INO, 1, 6000, &ns),
			 FACT_GONE); /* touched first */
	assert_int_equal(facts_next_look(facts, DEV, INO, 9, 0, &ns), FACT_GONE);
}

static void same_seed_same_stream(void **state)
{
	(void)state;
	one_life(1);
	one_life(2);
	assert_int_equal(facts_settle(facts, END), 0);
	assert_int_equal(next_unseen(FILL_DRAWN, 7, 1, 2000), next_unseen(FILL_DRAWN, 7, 1, 2000));
	assert_int_not_equal(next_unseen(FILL_DRAWN, 7, 1, 2000),
			     next_unseen(FILL_DRAWN, 8, 1, 2000));
	assert_int_not_equal(next_unseen(FILL_DRAWN, 7, 1, 2000),
			     next_unseen(FILL_DRAWN, 7, 2, 2000));
}

static void looks_on_active_lists_tell_the_same_of_time(void **state)
{
	uint64_t ns;

	(void)state;
	fact(1, FACT_TOUCHED, 1000);
	fact(1, FACT_YOUNG, 2000);
	fact(1, FACT_ACTIVE_OLD, 3000);
	fact(1, FACT_ACTIVE_YOUNG, 4000);
	assert_int_equal(facts_settle(facts, END), 0);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		bool accessed;

		assert_int_equal(ask(FILL_DRAWN, seed, 1, 2000, 3000, &accessed), ACCESS_NONE);
		assert_false(accessed);
		assert_int_equal(ask(FILL_DRAWN, seed, 1, 3000, 4000, &accessed), ACCESS_SEEN);
		assert_true(accessed);
	}
	assert_int_equal(facts_next_look(facts, DEV, INO, 1, 1500, &ns), FACT_YOUNG);
	assert_int_equal(facts_next_look(facts, DEV, INO, 1, 2000, &ns), FACT_ACTIVE_OLD);
	assert_int_equal(facts_next_look(facts, DEV, INO, 1, 3000, &ns), FACT_ACTIVE_YOUNG);
	assert_int_equal(ns, 4000);
	assert_int_equal(facts_counted(facts, FACT_OLD), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(looks_on_active_lists_tell_the_same_of_time),
		TEST(what_the_facts_decide_no_seed_changes),
		TEST(what_they_leave_open_is_said_to_be_drawn),
		TEST(an_access_known_to_be_there_is_in_one_of_the_halves),
		TEST(next_unseen_access_is_one_that_the_stream_has),
		TEST(often_young_pages_are_drawn_more_often_than_old_ones),
		TEST(looks_without_outcome_and_ends_stay_unknown),
		TEST(old_after_a_fault_says_that_a_look_is_missing),
		TEST(pages_that_stay_and_are_not_looked_at_are_not_hot),
		TEST(mapped_from_a_fault_until_it_goes),
		TEST(looks_come_one_after_the_other),
		TEST(same_seed_same_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
