// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memcg LRU: memcgs have letters. Bins are drawn, so that a test says in which generation a memcg is and
 * how often a call comes to it, and its place in a bin where all share one.
 */
#include "replay/mm/memcg_lru.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MEMCGS 26

static struct memcg_lru lru;
static struct memcg_lru_node node[MEMCGS];
static char letter[MEMCGS];

static int begin(void **state)
{
	(void)state;
	memset(node, 0, sizeof(node));
	memcg_lru_init(&lru, 0);
	return 0;
}

static struct memcg_lru_node *at(char name)
{
	return &node[name - 'A'];
}

static void online(const char *names)
{
	for (; *names; names++) {
		letter[*names - 'A'] = *names;
		memcg_lru_online(&lru, at(*names), &letter[*names - 'A']);
	}
}

static unsigned int nr_in(unsigned int gen)
{
	unsigned int nr = 0;

	for (int bin = 0; bin < MEMCG_NR_BINS; bin++)
		for (struct list_head *pos = lru.bin[gen][bin].next; pos != &lru.bin[gen][bin];
		     pos = pos->next)
			nr++;
	assert_int_equal(nr, lru.nr_memcgs[gen]);
	return nr;
}

/* Those of a generation, by name: "AC". */
static void assert_gen(uint64_t seq, const char *names)
{
	char text[MEMCGS + 1] = "";
	size_t nr = 0;

	for (int i = 0; i < MEMCGS; i++)
		if (node[i].list.next && node[i].gen == seq % MEMCG_NR_GENS)
			text[nr++] = (char)('A' + i);
	assert_string_equal(text, names);
	assert_int_equal(nr_in((unsigned int)(seq % MEMCG_NR_GENS)), nr);
}

/* Each round of a call's memcgs, in its order, with the same op for all. */
static void walk(char *names, enum memcg_lru_op op)
{
	struct memcg_lru_walk walk = { 0 };
	struct memcg_lru_node *last = NULL;
	const char *owner;
	size_t nr = 0;

	while ((owner = memcg_lru_next(&lru, &walk, last, last ? op : MEMCG_LRU_NOP))) {
		assert_true(nr < 100);
		names[nr++] = *owner;
		last = at(*owner);
	}
	names[nr] = '\0';
}

static void a_new_memcg_is_met_by_the_next_call(void **state)
{
	(void)state;
	online("ABC");
	assert_gen(lru.seq, "ABC");
	assert_gen(lru.seq + 1, "");
	assert_true(memcg_lru_is_old(&lru, at('B')));
}

static void a_call_comes_to_each_old_memcg_once(void **state)
{
	char names[128];
	unsigned int seen[MEMCGS] = { 0 };

	(void)state;
	online("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	memcg_lru_rotate(&lru, at('D'), MEMCG_LRU_YOUNG);
	walk(names, MEMCG_LRU_NOP);
	assert_int_equal(strlen(names), MEMCGS - 1);
	for (const char *name = names; *name; name++)
		seen[*name - 'A']++;
	for (int i = 0; i < MEMCGS; i++)
		assert_int_equal(seen[i], i != 'D' - 'A');
}

static void calls_begin_at_bins_drawn(void **state)
{
	char names[128];
	bool first[MEMCGS] = { false };
	unsigned int nr = 0;

	(void)state;
	online("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (int i = 0; i < 64; i++) {
		walk(names, MEMCG_LRU_NOP);
		nr += !first[names[0] - 'A'];
		first[names[0] - 'A'] = true;
	}
	assert_int_equal(nr, MEMCG_NR_BINS); /* the first of each, for nobody was moved */
}

static void what_is_aged_waits_for_all_others(void **state)
{
	(void)state;
	online("ABC");
	memcg_lru_rotate(&lru, at('A'), MEMCG_LRU_YOUNG);
	assert_gen(lru.seq, "BC");
	assert_gen(lru.seq + 1, "A");
	assert_false(memcg_lru_is_old(&lru, at('A')));
	memcg_lru_rotate(&lru, at('C'), MEMCG_LRU_YOUNG);
	memcg_lru_rotate(&lru, at('B'), MEMCG_LRU_YOUNG);
	/* Nobody is left: the young ones are the old ones now. */
	assert_int_equal(lru.seq, 1);
	assert_gen(lru.seq, "ABC");
	assert_gen(lru.seq + 1, "");
}

static void generations_go_round(void **state)
{
	(void)state;
	online("A");
	for (unsigned int i = 1; i <= 7; i++) {
		memcg_lru_rotate(&lru, at('A'), MEMCG_LRU_YOUNG);
		assert_int_equal(lru.seq, i);
		assert_gen(lru.seq, "A");
	}
}

static void tail_and_head_stay_in_their_generation(void **state)
{
	(void)state;
	online("AB");
	memcg_lru_rotate(&lru, at('A'), MEMCG_LRU_TAIL);
	assert_int_equal(at('A')->seg, MEMCG_LRU_TAIL);
	memcg_lru_rotate(&lru, at('B'), MEMCG_LRU_HEAD);
	assert_int_equal(at('B')->seg, MEMCG_LRU_HEAD);
	assert_gen(lru.seq, "AB");
	/* Any other move forgets it. */
	memcg_lru_rotate(&lru, at('A'), MEMCG_LRU_YOUNG);
	assert_int_equal(at('A')->seg, MEMCG_LRU_NOP);
}

/* In its bin a head comes before those that were there, a tail after them. */
static void head_comes_first_and_tail_last_in_a_bin(void **state)
{
	(void)state;
	online("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (int i = 0; i < 100; i++) {
		char name = (char)('A' + i % MEMCGS);
		bool head = i & 1;
		struct list_head *list = &at(name)->list;
		bool found = false;

		memcg_lru_rotate(&lru, at(name), head ? MEMCG_LRU_HEAD : MEMCG_LRU_TAIL);
		for (int bin = 0; bin < MEMCG_NR_BINS; bin++) {
			struct list_head *all = &lru.bin[at(name)->gen][bin];

			found |= (head ? all->next : all->prev) == list;
		}
		assert_true(found);
	}
}

static void a_removed_memcg_is_met_soon(void **state)
{
	(void)state;
	online("AB");
	memcg_lru_rotate(&lru, at('A'), MEMCG_LRU_YOUNG);
	memcg_lru_rotate(&lru, at('A'), MEMCG_LRU_OLD);
	assert_gen(lru.seq, "AB");
	memcg_lru_release(&lru, at('A'));
	assert_gen(lru.seq, "B");
	memcg_lru_release(&lru, at('A')); /* it is not there any more */
	memcg_lru_rotate(&lru, at('B'), MEMCG_LRU_TAIL);
	assert_gen(lru.seq, "B");
}

static void the_last_old_one_that_is_released_lets_the_young_ones_in(void **state)
{
	(void)state;
	online("AB");
	memcg_lru_rotate(&lru, at('B'), MEMCG_LRU_YOUNG);
	memcg_lru_release(&lru, at('A'));
	assert_int_equal(lru.seq, 1);
	assert_gen(lru.seq, "B");
}

/* Where all go to the tail of some bin, one that lies ahead is met again, but none for ever. */
static void a_call_ends_whatever_is_moved_meanwhile(void **state)
{
	char names[128];

	(void)state;
	online("ABCDEFGH");
	for (int i = 0; i < 50; i++) {
		walk(names, MEMCG_LRU_TAIL);
		assert_true(strlen(names) >= 8);
		assert_gen(lru.seq, "ABCDEFGH");
	}
	walk(names, MEMCG_LRU_YOUNG);
	assert_int_equal(strlen(names), 8);
	assert_gen(lru.seq, "ABCDEFGH");
}

static void the_same_seed_draws_the_same_bins(void **state)
{
	char first[128], again[128], other[128];

	(void)state;
	online("ABCDEFGH");
	walk(first, MEMCG_LRU_NOP);
	begin(NULL);
	online("ABCDEFGH");
	walk(again, MEMCG_LRU_NOP);
	assert_string_equal(first, again);
	begin(NULL);
	memcg_lru_seed(&lru, 5);
	online("ABCDEFGH");
	walk(other, MEMCG_LRU_NOP);
	assert_string_not_equal(first, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_new_memcg_is_met_by_the_next_call, begin),
		cmocka_unit_test_setup(a_call_comes_to_each_old_memcg_once, begin),
		cmocka_unit_test_setup(calls_begin_at_bins_drawn, begin),
		cmocka_unit_test_setup(what_is_aged_waits_for_all_others, begin),
		cmocka_unit_test_setup(generations_go_round, begin),
		cmocka_unit_test_setup(tail_and_head_stay_in_their_generation, begin),
		cmocka_unit_test_setup(head_comes_first_and_tail_last_in_a_bin, begin),
		cmocka_unit_test_setup(a_removed_memcg_is_met_soon, begin),
		cmocka_unit_test_setup(the_last_old_one_that_is_released_lets_the_young_ones_in,
				       begin),
		cmocka_unit_test_setup(a_call_ends_whatever_is_moved_meanwhile, begin),
		cmocka_unit_test_setup(the_same_seed_draws_the_same_bins, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
