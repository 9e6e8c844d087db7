// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/policy/with_policy.h"

static void prepare(struct drawn *drawn, struct reclaim_walk *walk)
{
	reclaim_walk_begin(walk, &drawn->mm, drawn->group, 32, false);
	drawn->mm.policy->prepare_scan(walk);
}

/* Active folios outnumber inactive ones, but no flush has said so yet. */
static bool deactivates_unflushed(const char *policy)
{
	struct drawn *drawn = open_policy(policy);
	struct reclaim_walk walk;
	bool may;

	drawn_add_range(drawn, 1000, 100, PG_active);
	drawn_add_range(drawn, 2000, 10, 0);
	prepare(drawn, &walk);
	may = walk.sc.may_deactivate[1];
	drawn_close(drawn);
	return may;
}

static void sizes_since_the_last_flush_decide(void **state)
{
	(void)state;
	assert_true(deactivates_unflushed("classic+exact_stats"));
	assert_false(deactivates_unflushed("classic"));
}

/* Evicted, then 50 more pages: a distance of 50 is within 60 active pages, once they are counted. */
static bool refault_activates_unflushed(const char *policy)
{
	struct drawn *drawn = open_policy(policy);
	struct folio *folio = drawn_listed(drawn, 'A', 0);
	struct shadow shadow = drawn->mm.policy->evict(&drawn->mm, folio, drawn->group);
	bool active;

	mm_folio_forget(&drawn->mm, folio);
	workingset_age_nonresident(drawn->lruvec, 50);
	drawn_add_range(drawn, 1000, 60, PG_active);
	folio = drawn_folio(drawn, 'A', 0);
	drawn->mm.policy->refault(&drawn->mm, folio, shadow);
	active = folio_test(folio, PG_active);
	drawn_close(drawn);
	return active;
}

static void refault_is_judged_by_the_size_now(void **state)
{
	(void)state;
	assert_true(refault_activates_unflushed("classic+exact_stats"));
	assert_false(refault_activates_unflushed("classic"));
}

static void groups_below_are_counted(void **state)
{
	struct drawn *drawn = open_policy("classic+exact_stats");
	struct mem_cgroup *inner = mm_add_memcg(&drawn->mm, drawn->group, 102);
	struct reclaim_walk walk;

	(void)state;
	for (uint64_t pfn = 1000; pfn < 1100; pfn++)
		lruvec_add_folio(&inner->lruvec[0],
				 drawn_folio_of(drawn, inner, pfn, 0, PG_lru | PG_active));
	prepare(drawn, &walk);
	assert_true(walk.sc.may_deactivate[1]);
	assert_int_equal(lruvec_page_state(drawn->lruvec, NR_ACTIVE_FILE), 100);
	drawn_close(drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_since_the_last_flush_decide),
		cmocka_unit_test(refault_is_judged_by_the_size_now),
		cmocka_unit_test(groups_below_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
