// SPDX-License-Identifier: GPL-2.0-only
/* Reclaim from everybody under MGLRU: whose turn it is, where it goes then, and when it is enough. */
#include "replay/mm/kswapd.h"
#include "replay/mm/lru_gen.h"

#include "tests/unit/mm/drawn.h"

extern const struct reclaim_policy policy_lru_gen;

#define FIRST_PFN 65536
#define MS UINT64_C(1000000)

static struct drawn *open_lru_gen(const char *name)
{
	struct mm_config config = drawn_config();
	struct policy_choice choice;
	char why[256];

	assert_int_equal(policy_parse(name, "6.18", &choice, why, sizeof(why)), 0);
	config.policy = &policy_lru_gen;
	config.rules = choice.rules;
	return drawn_open(config);
}

static struct memcg_lru_node *node_of(struct mem_cgroup *memcg)
{
	return &lruvec_lru_gen(mem_cgroup_lruvec(memcg, 0))->memcg_lru;
}

static void fill(struct drawn *drawn, struct mem_cgroup *memcg, uint64_t first, unsigned int nr)
{
	for (uint64_t pfn = first; pfn < first + nr; pfn++) {
		struct folio *folio = drawn_folio_of(drawn, memcg, pfn, 0, 0);

		lru_gen_add_folio(&drawn->mm, mem_cgroup_lruvec(memcg, 0), folio, false);
		folio_set(folio, PG_lru);
	}
}

/* One zone: high mark 100, and so many free pages. */
static void one_zone(struct drawn *drawn, int64_t free_pages)
{
	drawn->mm.zones.nr = 1;
	drawn->mm.zones.zone[0] = (struct zone){
		.start_pfn = 1,
		.spanned_pages = 1u << 20,
		.managed_pages = 1u << 20,
		.mark = { 60, 80, 100 },
		.free_pages = free_pages,
	};
}

static void evicted(void *ctx, struct folio *folio, uint64_t shadow)
{
	(void)shadow;
	*(uint64_t *)ctx += folio_nr_pages(folio);
}

static uint64_t direct_reclaim(struct drawn *drawn)
{
	uint64_t nr = 0;
	const struct reclaim_hooks hooks = { .ctx = &nr, .evicted = evicted };

	reclaim_run(&drawn->mm, NULL, SWAP_CLUSTER_MAX, false, 0, &hooks);
	return nr;
}

static uint64_t kswapd(struct drawn *drawn)
{
	uint64_t nr = 0;
	const struct reclaim_hooks hooks = { .ctx = &nr, .evicted = evicted };
	struct reclaim_walk walk;

	kswapd_begin(&walk, &drawn->mm, 0);
	reclaim_finish(&walk, 0, &hooks);
	return nr;
}

/* Oldest generation 0 is empty and is given up first: one page looked at, enough at priority 12. */
static void direct_reclaim_takes_one_batch_of_one_memcg(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 101);

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	fill(drawn, other, FIRST_PFN + 8192, 8192);
	assert_int_equal(direct_reclaim(drawn), 64);
	assert_int_equal(direct_reclaim(drawn), 64);
	assert_true(memcg_lru_is_old(&drawn->mm.memcg_lru, node_of(drawn->group)));
	assert_true(memcg_lru_is_old(&drawn->mm.memcg_lru, node_of(other)));
	assert_mm_holds(&drawn->mm);
	drawn_close(drawn);
}

/* Nothing is to be had from it at this priority: one retry at the tail, then it waits for the others. */
static void a_memcg_that_is_too_small_is_tried_twice(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct reclaim_walk walk;

	(void)state;
	reclaim_walk_begin(&walk, &drawn->mm, NULL, 32, false);
	assert_true(reclaim_walk_next_round(&walk));
	fill(drawn, drawn->group, FIRST_PFN, 4095);
	reclaim_walk_enter(&walk, drawn->group);
	assert_int_equal(lru_gen_rotation(&walk), MEMCG_LRU_TAIL);
	lru_gen_rotate_memcg(&drawn->mm, drawn->lruvec, MEMCG_LRU_TAIL);
	assert_int_equal(lru_gen_rotation(&walk), MEMCG_LRU_YOUNG);
	fill(drawn, drawn->group, FIRST_PFN + 5000, 1);
	assert_int_equal(lru_gen_rotation(&walk), MEMCG_LRU_NOP); /* 4096 >> 12 is a page */
	drawn_close(drawn);
}

static void a_memcg_that_was_aged_becomes_young(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct scan_request request;
	struct reclaim_walk walk;

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	/* Two generations are left of four: nothing can be taken before there is a third. */
	lruvec_lru_gen(drawn->lruvec)->min_seq[LRU_GEN_ANON] = 2;
	lruvec_lru_gen(drawn->lruvec)->min_seq[LRU_GEN_FILE] = 2;
	reclaim_walk_begin(&walk, &drawn->mm, NULL, 32, false);
	walk.sc.priority = DEF_PRIORITY - 1;
	assert_true(reclaim_walk_next_round(&walk));
	reclaim_walk_enter(&walk, drawn->group);
	assert_false(policy_lru_gen.shrink_next(&walk, drawn->lruvec, &request));
	assert_int_equal(drawn->lruvec->counter[COUNT_aging], 1);
	assert_int_equal(lru_gen_rotation(&walk), MEMCG_LRU_YOUNG);
	drawn_close(drawn);
}

/* Reclaim for its own limit moves it as well. */
static void aging_for_a_limit_makes_it_young(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct scan_request request;
	struct reclaim_walk walk;

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	lruvec_lru_gen(drawn->lruvec)->min_seq[LRU_GEN_ANON] = 2;
	lruvec_lru_gen(drawn->lruvec)->min_seq[LRU_GEN_FILE] = 2;
	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 32, false);
	walk.sc.priority = DEF_PRIORITY - 1;
	assert_true(memcg_lru_is_old(&drawn->mm.memcg_lru, node_of(drawn->group)));
	reclaim_walk_next(&walk, &request);
	assert_false(memcg_lru_is_old(&drawn->mm.memcg_lru, node_of(drawn->group)));
	drawn_close(drawn);
}

static void memory_min_is_passed_over_and_low_is_put_off_once(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct reclaim_walk walk;
	unsigned int visits = 0;

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	drawn->group->emin_pages = 10000;
	assert_int_equal(direct_reclaim(drawn), 0);
	drawn->group->emin_pages = 0;
	drawn->group->elow_pages = 10000;
	/* Once to the tail of some bin, and then it is scanned: in the same call, or in one soon after. */
	for (int call = 0; call < 3; call++) {
		reclaim_walk_begin(&walk, &drawn->mm, NULL, 32, false);
		assert_true(reclaim_walk_next_round(&walk));
		walk.memcg = NULL;
		for (struct mem_cgroup *memcg; (memcg = lru_gen_next_memcg(&walk));) {
			reclaim_walk_enter(&walk, memcg);
			visits += memcg == drawn->group;
		}
	}
	assert_in_range(visits, 1, 3);
	drawn_close(drawn);
}

static void kswapd_stops_where_all_zones_are_well_above_high(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	/* 100 more would be its goal; but 64 above the mark are enough. */
	one_zone(drawn, 90);
	assert_int_equal(kswapd(drawn), 128);
	drawn_close(drawn);
}

static void a_large_goal_starts_at_a_higher_priority(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct reclaim_walk walk;

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	one_zone(drawn, 0);
	kswapd_begin(&walk, &drawn->mm, 0);
	assert_true(reclaim_walk_next_round(&walk));
	assert_int_equal(walk.sc.nr_to_reclaim, 100);
	/* 8192 inactive pages of 14 bits, 99 of 7: 14 - 1 - 7 = 6. */
	assert_int_equal(walk.sc.priority, 6);
	drawn_close(drawn);
}

/* 6.1 has no order of its own: each call comes to all memcgs, and takes a batch of each. */
static void up_to_6_1_each_call_takes_from_all(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.1");
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 101);

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 4096);
	fill(drawn, other, FIRST_PFN + 8192, 4096);
	/* Once more, for generation 0 is empty at first: that counts as a page. */
	direct_reclaim(drawn);
	fill(drawn, drawn->group, FIRST_PFN + 20000, 4096);
	fill(drawn, other, FIRST_PFN + 30000, 4096);
	assert_int_equal(direct_reclaim(drawn), 128);
	drawn_close(drawn);
}

/* 6.1's kswapd ages before a round, not in it, and not before the first. */
static void in_6_1_kswapd_ages_between_rounds(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.1");
	struct reclaim_walk walk;

	(void)state;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	lruvec_lru_gen(drawn->lruvec)->min_seq[LRU_GEN_ANON] = 2;
	lruvec_lru_gen(drawn->lruvec)->min_seq[LRU_GEN_FILE] = 2;
	one_zone(drawn, 0);
	kswapd_begin(&walk, &drawn->mm, 0);
	assert_true(reclaim_walk_next_round(&walk));
	assert_int_equal(drawn->lruvec->counter[COUNT_aging], 0);
	assert_true(reclaim_walk_next_round(&walk));
	assert_int_equal(drawn->lruvec->counter[COUNT_aging], 1);
	drawn_close(drawn);
}

static void nothing_older_than_min_ttl_is_a_kill(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	const struct lruvec *root;
	struct reclaim_walk walk;

	(void)state;
	root = mem_cgroup_lruvec(drawn->mm.root, 0);
	drawn->mm.config.min_ttl_ns = 1000 * MS;
	fill(drawn, drawn->group, FIRST_PFN, 8192);
	one_zone(drawn, 0);
	drawn->mm.now_ns = 900 * MS; /* generations began at 0 */
	kswapd_begin(&walk, &drawn->mm, 0);
	assert_true(reclaim_walk_next_round(&walk));
	assert_int_equal(root->counter[COUNT_min_ttl_oom], 1);
	drawn->mm.now_ns = 1100 * MS;
	kswapd_begin(&walk, &drawn->mm, 0);
	assert_true(reclaim_walk_next_round(&walk));
	assert_int_equal(root->counter[COUNT_min_ttl_oom], 1);
	/* It never keeps from evicting. */
	drawn->mm.now_ns = 900 * MS;
	assert_true(kswapd(drawn) > 0);
	drawn_close(drawn);
}

static void a_removed_memcg_is_old_and_goes_when_nothing_is_charged(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	lru_gen_rotate_memcg(&drawn->mm, drawn->lruvec, MEMCG_LRU_YOUNG);
	assert_false(memcg_lru_is_old(&drawn->mm.memcg_lru, node_of(drawn->group)));
	mm_memcg_removed(&drawn->mm, drawn->group);
	assert_true(memcg_lru_is_old(&drawn->mm.memcg_lru, node_of(drawn->group)));
	direct_reclaim(drawn);
	assert_null(node_of(drawn->group)->list.next);
	drawn_close(drawn);
}

/* Insertion before 6.1.69: oldest generation, whatever there is between. */
static void before_6_1_69_new_folios_join_the_oldest(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.1.50");
	struct folio *folio = drawn_folio(drawn, 'A', 0);

	(void)state;
	assert_string_equal(drawn->mm.config.rules.release, "6.1.68");
	assert_int_equal(lru_gen_folio_seq(&drawn->mm, drawn->lruvec, folio, false), 0);
	folio_set(folio, PG_swapbacked);
	assert_int_equal(lru_gen_folio_seq(&drawn->mm, drawn->lruvec, folio, false), 1);
	folio_set(folio, PG_active);
	assert_int_equal(lru_gen_folio_seq(&drawn->mm, drawn->lruvec, folio, false), 3);
	drawn_close(drawn);
	/* Each of Debian's kernels calls itself 6.1.0; and 6.1.192 has what 6.1.69 brought. */
	assert_string_equal(mm_rules_for_release("6.1.0-40-amd64")->release, "6.1");
	assert_string_equal(mm_rules_for_release("6.1.69")->release, "6.1");
	assert_string_equal(mm_rules_for_release("6.1.192")->release, "6.1");
}

/* 3,000 folios, so many of them in the youngest of three generations. Return: the priority of a call's first scan. */
static int first_scan(unsigned int nr_young, int told, bool *overruled, uint64_t *agings)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct lruvec *lruvec = mem_cgroup_lruvec(drawn->group, 0);
	struct reclaim_walk walk;
	struct scan_request request;
	int priority;

	fill(drawn, drawn->group, FIRST_PFN, 3000 - nr_young);
	for (uint64_t pfn = FIRST_PFN + 4000; pfn < FIRST_PFN + 4000 + nr_young; pfn++) {
		struct folio *folio = drawn_folio_of(drawn, drawn->group, pfn, 0, PG_active);

		lru_gen_add_folio(&drawn->mm, lruvec, folio, false);
		folio_set(folio, PG_lru);
	}
	assert_true(lru_gen_try_to_inc_min_seq(&drawn->mm, lruvec, 0)); /* an empty one */
	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 32, false);
	walk.priority_ahead = (uint8_t)(told + 1);
	assert_true(reclaim_walk_next(&walk, &request));
	priority = walk.sc.priority;
	*overruled = walk.aging_overruled;
	*agings = lruvec->counter[COUNT_aging];
	reclaim_walk_end(&walk);
	drawn_close(drawn);
	return priority;
}

static void priority_of_the_next_scan_says_whether_it_was_aged_before(void **state)
{
	bool overruled;
	uint64_t agings;

	(void)state;
	assert_int_equal(first_scan(1400, -1, &overruled, &agings), 11);
	assert_int_equal(agings, 0);
	assert_int_equal(first_scan(1600, -1, &overruled, &agings), 10);
	assert_int_equal(agings, 1);
	assert_false(overruled);
	assert_int_equal(first_scan(1400, 11, &overruled, &agings), 11);
	assert_false(overruled);
	assert_int_equal(first_scan(1400, 10, &overruled, &agings), 10);
	assert_int_equal(agings, 1);
	assert_true(overruled);
	assert_int_equal(first_scan(1600, 11, &overruled, &agings), 11);
	assert_int_equal(agings, 0);
	assert_true(overruled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(direct_reclaim_takes_one_batch_of_one_memcg),
		cmocka_unit_test(a_memcg_that_is_too_small_is_tried_twice),
		cmocka_unit_test(a_memcg_that_was_aged_becomes_young),
		cmocka_unit_test(aging_for_a_limit_makes_it_young),
		cmocka_unit_test(memory_min_is_passed_over_and_low_is_put_off_once),
		cmocka_unit_test(kswapd_stops_where_all_zones_are_well_above_high),
		cmocka_unit_test(a_large_goal_starts_at_a_higher_priority),
		cmocka_unit_test(up_to_6_1_each_call_takes_from_all),
		cmocka_unit_test(in_6_1_kswapd_ages_between_rounds),
		cmocka_unit_test(nothing_older_than_min_ttl_is_a_kill),
		cmocka_unit_test(a_removed_memcg_is_old_and_goes_when_nothing_is_charged),
		cmocka_unit_test(before_6_1_69_new_folios_join_the_oldest),
		cmocka_unit_test(priority_of_the_next_scan_says_whether_it_was_aged_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
