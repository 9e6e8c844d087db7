// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/protection.h"

#include "tests/unit/mm/drawn.h"

static void children_within_the_parent_have_what_they_ask_for(void **state)
{
	(void)state;
	assert_int_equal(protection_effective(500, 1000, 300, 600, 500, false), 300);
	assert_int_equal(protection_effective(200, 1000, 300, 600, 500, false), 200);
}

static void children_that_ask_for_more_share_by_what_they_claim(void **state)
{
	(void)state;
	/* 300 and 600 claimed of 450: half of each. */
	assert_int_equal(protection_effective(300, 900, 300, 450, 900, true), 150);
	assert_int_equal(protection_effective(600, 900, 700, 450, 900, true), 300);
}

static void recursive_protection_spreads_the_rest_by_unprotected_usage(void **state)
{
	(void)state;
	/* Parent 600 of usage 1000, children claim 200: 400 left, for 800 pages of unprotected usage. */
	assert_int_equal(protection_effective(600, 1000, 200, 600, 200, true),
			 200 + 400 * 400 / 800);
	assert_int_equal(protection_effective(400, 1000, 0, 600, 200, true), 400 * 400 / 800);
	assert_int_equal(protection_effective(400, 1000, 0, 600, 200, false), 0);
}

static void protection_never_exceeds_usage_nor_the_parent(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t n[4], usage, siblings, sum;

		for (int j = 0; j < 4; j++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			n[j] = seed >> 52;
		}
		/* Two children: this one, and one that uses and claims as n[3] says. */
		usage = n[0];
		if (n[2] > usage + n[3]) /* no parent has more protected than it uses */
			n[2] = usage + n[3];
		siblings = (usage < n[1] ? usage : n[1]) + n[3] / 2;
		for (int recursive = 0; recursive < 2; recursive++) {
			sum = protection_effective(usage, usage + n[3], n[1], n[2], siblings,
						   recursive) +
			      protection_effective(n[3], usage + n[3], n[3] / 2, n[2], siblings,
						   recursive);
			assert_true(protection_effective(usage, usage + n[3], n[1], n[2], siblings,
							 recursive) <= usage);
			assert_true(sum <= n[2]);
		}
	}
}

/* A tree: the group, with two children of 100 and 300 pages below it. */
struct tree {
	struct drawn *drawn;
	struct mem_cgroup *a, *b;
};

static struct tree tree_of(struct drawn *drawn)
{
	struct tree tree = { .drawn = drawn };

	tree.a = mm_add_memcg(&drawn->mm, drawn->group, 101);
	tree.b = mm_add_memcg(&drawn->mm, drawn->group, 102);
	assert_non_null(tree.a);
	assert_non_null(tree.b);
	mm_charge(tree.a, 100);
	mm_charge(tree.b, 300);
	return tree;
}

static void settle(struct tree *tree, struct mem_cgroup *top)
{
	for (struct mem_cgroup *memcg = top; memcg; memcg = mem_cgroup_next(top, memcg))
		protection_calculate(&tree->drawn->mm, top, memcg);
}

static void a_target_protects_itself_from_nobody(void **state)
{
	struct tree tree = tree_of(*state);

	tree.drawn->group->min_pages = 1000;
	settle(&tree, tree.drawn->group);
	assert_int_equal(protection_of(tree.drawn->group, tree.drawn->group), PROTECTION_NONE);
	settle(&tree, tree.drawn->mm.root);
	assert_int_equal(protection_of(tree.drawn->mm.root, tree.drawn->group), PROTECTION_MIN);
}

static void what_the_grandparent_does_not_protect_is_not_protected(void **state)
{
	struct tree tree = tree_of(*state);

	tree.a->low_pages = 1000;
	settle(&tree, tree.drawn->group);
	assert_int_equal(protection_of(tree.drawn->group, tree.a), PROTECTION_LOW);
	assert_int_equal(protection_of(tree.drawn->group, tree.b), PROTECTION_NONE);
	/* Seen from the root, the group has no memory.low to hand on. */
	settle(&tree, tree.drawn->mm.root);
	assert_int_equal(protection_of(tree.drawn->mm.root, tree.a), PROTECTION_NONE);
	tree.drawn->group->low_pages = 150;
	settle(&tree, tree.drawn->mm.root);
	assert_int_equal(tree.a->elow_pages, 100);
	assert_int_equal(protection_of(tree.drawn->mm.root, tree.a), PROTECTION_LOW);
	assert_int_equal(protection_of(tree.drawn->mm.root, tree.b), PROTECTION_NONE);
}

static void a_list_is_scanned_in_proportion_to_what_is_not_protected(void **state)
{
	struct tree tree = tree_of(*state);

	assert_int_equal(protection_scale(tree.b, 300, 0), 300);
	assert_int_equal(protection_scale(tree.b, 300, 150), 300 - 300 * 150 / 301);
	assert_int_equal(protection_scale(tree.b, 300, 300), 32);
	assert_int_equal(protection_scale(tree.b, 8, 0), 32);
}

/* Files of the group: A to T; of child a: a to t, whose min is all it has. */
static void protected_groups_are_not_scanned(void **state)
{
	struct tree tree = tree_of(*state);
	struct reclaim_walk walk;
	struct scan_request request;

	drawn_add_range(tree.drawn, 65536, 6000, 0);
	for (uint64_t pfn = 200000; pfn < 206000; pfn++) {
		struct folio *folio = drawn_folio_of(tree.drawn, tree.a, pfn, 0, PG_lru);

		lruvec_add_folio(folio->lruvec, folio);
	}
	tree.a->min_pages = 10000;
	reclaim_walk_begin(&walk, &tree.drawn->mm, tree.drawn->group, 32, false);
	while (reclaim_walk_next(&walk, &request)) {
		assert_ptr_equal(request.lruvec, tree.drawn->lruvec);
		reclaim_walk_done(&walk, &(struct scan_result){ 0 });
	}
}

/* memory.low gives way when there was nothing else: the last attempt scans the group. */
static void low_gives_way_in_the_last_attempt(void **state)
{
	struct tree tree = tree_of(*state);
	struct reclaim_walk walk;
	struct scan_request request;
	unsigned int of_a = 0;

	for (uint64_t pfn = 200000; pfn < 206000; pfn++) {
		struct folio *folio = drawn_folio_of(tree.drawn, tree.a, pfn, 0, PG_lru);

		lruvec_add_folio(folio->lruvec, folio);
	}
	tree.a->low_pages = 10000;
	reclaim_walk_begin(&walk, &tree.drawn->mm, tree.drawn->group, 32, false);
	while (reclaim_walk_next(&walk, &request)) {
		assert_ptr_equal(request.lruvec, mem_cgroup_lruvec(tree.a, 0));
		assert_true(walk.sc.memcg_low_reclaim);
		of_a++;
		reclaim_walk_done(&walk,
				  &(struct scan_result){ .nr_taken = request.nr_to_scan,
							 .nr_reclaimed = request.nr_to_scan });
	}
	assert_true(of_a > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_within_the_parent_have_what_they_ask_for),
		cmocka_unit_test(children_that_ask_for_more_share_by_what_they_claim),
		cmocka_unit_test(recursive_protection_spreads_the_rest_by_unprotected_usage),
		cmocka_unit_test(protection_never_exceeds_usage_nor_the_parent),
		cmocka_unit_test_setup_teardown(a_target_protects_itself_from_nobody, drawn_setup,
						drawn_teardown),
		cmocka_unit_test_setup_teardown(
			what_the_grandparent_does_not_protect_is_not_protected, drawn_setup,
			drawn_teardown),
		cmocka_unit_test_setup_teardown(
			a_list_is_scanned_in_proportion_to_what_is_not_protected, drawn_setup,
			drawn_teardown),
		cmocka_unit_test_setup_teardown(protected_groups_are_not_scanned, drawn_setup,
						drawn_teardown),
		cmocka_unit_test_setup_teardown(low_gives_way_in_the_last_attempt, drawn_setup,
						drawn_teardown),
	};

	return cmocka_run_group_tests_name("protection", tests, NULL, NULL);
}
