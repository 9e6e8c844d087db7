// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/mm/drawn.h"

static void folio_belongs_on_the_list_that_its_flags_say(void **state)
{
	struct folio folio = { 0 };

	(void)state;
	assert_int_equal(folio_lru_list(&folio), LRU_INACTIVE_FILE);
	folio.flags = PG_active;
	assert_int_equal(folio_lru_list(&folio), LRU_ACTIVE_FILE);
	folio.flags = PG_swapbacked;
	assert_int_equal(folio_lru_list(&folio), LRU_INACTIVE_ANON);
	folio.flags = PG_swapbacked | PG_active;
	assert_int_equal(folio_lru_list(&folio), LRU_ACTIVE_ANON);
	folio.flags = PG_unevictable | PG_active;
	assert_int_equal(folio_lru_list(&folio), LRU_UNEVICTABLE);
}

static void new_folio_stands_at_the_head(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "ABC", 0);
	drawn_list(drawn, "DE", PG_active);
	assert_file_lists(drawn->lruvec, "inactive [C B A] active [E D]");
	assert_anon_lists(drawn->lruvec, "inactive [] active []");
}

static void tail_is_where_rotated_folios_go(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "AB", 0);
	lruvec_add_folio_tail(drawn->lruvec, drawn_folio(drawn, 'C', PG_lru));
	assert_file_lists(drawn->lruvec, "inactive [B A C] active []");
}

static void list_sizes_are_in_pages(void **state)
{
	struct drawn *drawn = *state;
	struct folio *large = drawn_folio_of(drawn, drawn->group, 'L', 4, PG_lru);

	drawn_list(drawn, "A", 0);
	lruvec_add_folio(drawn->lruvec, large);
	assert_file_lists(drawn->lruvec, "inactive [L4 A] active []");
	assert_int_equal(lruvec_lru_size(drawn->lruvec, LRU_INACTIVE_FILE), 17);
	lruvec_del_folio(drawn->lruvec, large);
	assert_file_lists(drawn->lruvec, "inactive [A] active []");
	assert_int_equal(lruvec_lru_size(drawn->lruvec, LRU_INACTIVE_FILE), 1);
}

static void pages_that_were_there_before_the_tape_count_in_exact_sizes(void **state)
{
	struct drawn *drawn = *state;

	drawn->lruvec->unseen[LRU_INACTIVE_FILE] = 40;
	drawn_list(drawn, "AB", 0);
	assert_int_equal(lruvec_lru_size(drawn->lruvec, LRU_INACTIVE_FILE), 42);
}

static void flushed_size_stands_still_until_the_next_flush(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "ABC", 0);
	assert_int_equal(lruvec_lru_size(drawn->lruvec, LRU_INACTIVE_FILE), 3);
	assert_int_equal(lruvec_page_state(drawn->lruvec, NR_INACTIVE_FILE), 0);
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	assert_int_equal(lruvec_page_state(drawn->lruvec, NR_INACTIVE_FILE), 3);
	lruvec_del_folio(drawn->lruvec, folio_at(drawn, 'A'));
	assert_int_equal(lruvec_page_state(drawn->lruvec, NR_INACTIVE_FILE), 3);
}

/*
 *   root [R]
 *     group [A B]
 *       inner [C]
 *     other [D]
 */
static void flushed_sizes_are_of_whole_subtrees_and_exact_ones_are_not(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *inner = mm_add_memcg(&drawn->mm, drawn->group, 101);
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);
	struct mem_cgroup *root = drawn->mm.root;

	drawn_list(drawn, "AB", 0);
	lruvec_add_folio(&inner->lruvec[0], drawn_folio_of(drawn, inner, 'C', 0, PG_lru));
	lruvec_add_folio(&other->lruvec[0], drawn_folio_of(drawn, other, 'D', 0, PG_lru));
	lruvec_add_folio(&root->lruvec[0], drawn_folio_of(drawn, root, 'R', 0, PG_lru));
	mem_cgroup_flush_stats(&drawn->mm, root);
	assert_int_equal(lruvec_page_state(&inner->lruvec[0], NR_INACTIVE_FILE), 1);
	assert_int_equal(lruvec_page_state(&drawn->group->lruvec[0], NR_INACTIVE_FILE), 3);
	assert_int_equal(lruvec_page_state(&other->lruvec[0], NR_INACTIVE_FILE), 1);
	assert_int_equal(lruvec_page_state(&root->lruvec[0], NR_INACTIVE_FILE), 5);
	assert_int_equal(lruvec_lru_size(&root->lruvec[0], LRU_INACTIVE_FILE), 1);
	assert_int_equal(lruvec_lru_size(&drawn->group->lruvec[0], LRU_INACTIVE_FILE), 2);
}

static void flush_of_one_subtree_leaves_its_siblings_stale(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);

	drawn_list(drawn, "AB", 0);
	lruvec_add_folio(&other->lruvec[0], drawn_folio_of(drawn, other, 'D', 0, PG_lru));
	mem_cgroup_flush_stats(&drawn->mm, drawn->group);
	assert_int_equal(lruvec_page_state(drawn->lruvec, NR_INACTIVE_FILE), 2);
	assert_int_equal(lruvec_page_state(&other->lruvec[0], NR_INACTIVE_FILE), 0);
}

static void flushed_value_below_zero_reads_as_zero(void **state)
{
	struct drawn *drawn = *state;

	drawn->lruvec->stat[NR_ACTIVE_FILE] = -7;
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	assert_int_equal(lruvec_page_state(drawn->lruvec, NR_ACTIVE_FILE), 0);
}

/*
 *   root - group - b - d      pre-order: group b d c, and nothing beside group
 *        \       \ c
 *         other
 */
static void memcgs_are_walked_parents_first(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *b = mm_add_memcg(&drawn->mm, drawn->group, 1);
	struct mem_cgroup *c = mm_add_memcg(&drawn->mm, drawn->group, 2);
	struct mem_cgroup *d = mm_add_memcg(&drawn->mm, b, 3);
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 4);
	struct mem_cgroup *at = NULL;
	struct mem_cgroup *const all[] = { drawn->mm.root, drawn->group, b, d, c, other, NULL };

	assert_ptr_equal(at = mem_cgroup_next(drawn->group, at), drawn->group);
	assert_ptr_equal(at = mem_cgroup_next(drawn->group, at), b);
	assert_ptr_equal(at = mem_cgroup_next(drawn->group, at), d);
	assert_ptr_equal(at = mem_cgroup_next(drawn->group, at), c);
	assert_null(mem_cgroup_next(drawn->group, at));
	at = NULL;
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_ptr_equal(at = mem_cgroup_next(drawn->mm.root, at), all[i]);
}

static void charges_count_at_every_level_above(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *inner = mm_add_memcg(&drawn->mm, drawn->group, 101);
	struct folio *folio = drawn_folio_of(drawn, inner, 'A', 3, 0);

	assert_int_equal(inner->usage_pages, 8);
	assert_int_equal(drawn->group->usage_pages, 8);
	assert_int_equal(drawn->mm.root->usage_pages, 8);
	mm_folio_forget(&drawn->mm, folio);
	assert_int_equal(inner->usage_pages, 0);
	assert_int_equal(drawn->mm.root->usage_pages, 0);
}

static void forgotten_folio_leaves_list_batch_and_charge(void **state)
{
	struct drawn *drawn = *state;
	struct folio *a = drawn_listed(drawn, 'A', 0);

	drawn_list(drawn, "B", 0);
	folio_add_lru(&drawn->mm, 1, drawn_folio(drawn, 'C', 0));
	lru_batch_queue(&drawn->mm, 0, BATCH_LRU_ACTIVATE, a);
	lru_batch_queue(&drawn->mm, 1, BATCH_LRU_ACTIVATE, a);
	mm_folio_forget(&drawn->mm, a);
	mm_folio_forget(&drawn->mm, folio_at(drawn, 'C'));
	assert_file_lists(drawn->lruvec, "inactive [B] active []");
	assert_batch(drawn, 0, BATCH_LRU_ACTIVATE, "");
	assert_batch(drawn, 1, BATCH_LRU_ACTIVATE, "");
	assert_batch(drawn, 1, BATCH_LRU_ADD, "");
	assert_int_equal(drawn->group->usage_pages, 1);
	assert_int_equal(drawn->mm.batch_pages, 0);
	mm_folio_forget(&drawn->mm, a); /* once more says nothing */
	assert_int_equal(drawn->group->usage_pages, 1);
}

static void moved_folio_keeps_its_place_on_the_list_and_in_the_batch(void **state)
{
	struct drawn *drawn = *state;
	struct folio *to;

	drawn_list(drawn, "ABC", 0);
	lru_batch_queue(&drawn->mm, 1, BATCH_LRU_ACTIVATE, folio_at(drawn, 'A'));
	lru_batch_queue(&drawn->mm, 1, BATCH_LRU_ACTIVATE, folio_at(drawn, 'B'));
	to = mm_folio_move(&drawn->mm, folio_at(drawn, 'B'), 'X');
	assert_ptr_equal(to, folio_at(drawn, 'X'));
	assert_file_lists(drawn->lruvec, "inactive [C X A] active []");
	assert_batch(drawn, 1, BATCH_LRU_ACTIVATE, "AX");
	assert_false(folio_test(folio_at(drawn, 'B'), FOLIO_alive));
	assert_mm_holds(&drawn->mm);
	assert_non_null(mm_folio_born(&drawn->mm, 'B', drawn->group, 0));
}

static void memcgs_deeper_than_the_limit_are_refused(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *memcg = drawn->group;
	unsigned int depth = 1;

	for (struct mem_cgroup *next; (next = mm_add_memcg(&drawn->mm, memcg, depth)); depth++)
		memcg = next;
	assert_int_equal(depth, MEMCG_DEPTH_LIMIT);
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
}

/* Frames 'L' to 'O'. The first page is met first from the tail, then the last one. */
static void split_folio_is_as_many_pages_in_its_place(void **state)
{
	struct drawn *drawn = *state;
	struct folio *large;

	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	large = drawn_folio_of(drawn, drawn->group, 'L', 2, PG_workingset);
	folio_add_lru(&drawn->mm, 0, large);
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'Z', 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_file_lists(drawn->lruvec, "inactive [Z L2 A] active []");
	assert_true(mm_folio_split(&drawn->mm, large));
	assert_file_lists(drawn->lruvec, "inactive [Z M N O L A] active []");
	assert_int_equal(lruvec_lru_size(drawn->lruvec, LRU_INACTIVE_FILE), 6);
	assert_int_equal(drawn->group->usage_pages, 6);
	assert_true(folio_test(folio_at(drawn, 'N'), PG_workingset));
	assert_true(lruvec_check(drawn->lruvec));
	assert_false(mm_folio_split(&drawn->mm, large)); /* it is one page now */
}

static void folio_over_a_frame_in_use_is_not_split(void **state)
{
	struct drawn *drawn = *state;
	struct folio *large = drawn_folio_of(drawn, drawn->group, 'L', 1, 0);

	folio_add_lru(&drawn->mm, 0, large);
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'M', 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_recorded);
	assert_false(mm_folio_split(&drawn->mm, large));
	assert_file_lists(drawn->lruvec, "inactive [M L1] active []");
	assert_int_equal(drawn->group->usage_pages, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, drawn_setup, drawn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folio_belongs_on_the_list_that_its_flags_say),
		TEST(new_folio_stands_at_the_head),
		TEST(split_folio_is_as_many_pages_in_its_place),
		TEST(folio_over_a_frame_in_use_is_not_split),
		TEST(tail_is_where_rotated_folios_go),
		TEST(list_sizes_are_in_pages),
		TEST(pages_that_were_there_before_the_tape_count_in_exact_sizes),
		TEST(flushed_size_stands_still_until_the_next_flush),
		TEST(flushed_sizes_are_of_whole_subtrees_and_exact_ones_are_not),
		TEST(flush_of_one_subtree_leaves_its_siblings_stale),
		TEST(flushed_value_below_zero_reads_as_zero),
		TEST(memcgs_are_walked_parents_first),
		TEST(charges_count_at_every_level_above),
		TEST(forgotten_folio_leaves_list_batch_and_charge),
		TEST(moved_folio_keeps_its_place_on_the_list_and_in_the_batch),
		TEST(memcgs_deeper_than_the_limit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
