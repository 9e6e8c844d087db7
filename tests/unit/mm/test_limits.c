// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a charge does not fit, and when swap is full.
 *
 *   root
 *     group      limit 100, with swap 120
 *       child
 */
#include "tests/unit/mm/drawn.h"

static struct mem_cgroup *child;

static struct drawn *begin(bool cgroup_v1)
{
	struct mm_config config = drawn_config();
	struct drawn *drawn;

	config.cgroup_v1 = cgroup_v1;
	config.total_swap_pages = config.nr_swap_pages = 1000;
	drawn = drawn_open(config);
	child = mm_add_memcg(&drawn->mm, drawn->group, 77);
	assert_non_null(child);
	drawn->group->max_pages = 100;
	return drawn;
}

static void assert_over(const struct mem_cgroup *expected, int64_t pages, bool memsw,
			int64_t lacking)
{
	int64_t lacks;
	bool with_swap;

	assert_ptr_equal(mm_over_limit(child, pages, &lacks, &with_swap), expected);
	if (!expected)
		return;
	assert_int_equal(with_swap, memsw);
	assert_int_equal(lacks, lacking);
}

static void what_is_swapped_counts_where_both_are_limited(void **state)
{
	struct drawn *drawn = begin(true);

	(void)state;
	mm_charge(child, 90);
	mm_charge_swapped(child, 25);
	assert_over(NULL, 10, false, 0);
	assert_over(drawn->group, 11, false, 1);
	drawn->group->memsw_max_pages = 120;
	assert_over(NULL, 5, false, 0);
	assert_over(drawn->group, 6, true, 1);
	/* Both lack: memory with swap is tried first. */
	assert_over(drawn->group, 64, true, 59);
	mm_charge_swapped(child, -20);
	assert_over(drawn->group, 12, false, 2);
	drawn_close(drawn);
}

static void a_groups_swap_limit_is_full_at_half(void **state)
{
	struct drawn *drawn = begin(false);

	(void)state;
	drawn->group->swap_max_pages = 100;
	mm_charge_swap(&drawn->mm, child, 49);
	assert_false(mm_swap_full(&drawn->mm, child));
	assert_int_equal(mm_swap_left(&drawn->mm, child), 51);
	mm_charge_swap(&drawn->mm, child, 1);
	assert_true(mm_swap_full(&drawn->mm, child));
	drawn->mm.config.cgroup_v1 = true; /* which has no such limit */
	assert_false(mm_swap_full(&drawn->mm, child));
	mm_charge_swap(&drawn->mm, child, 451);
	assert_true(mm_swap_full(&drawn->mm, child));
	drawn_close(drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_swapped_counts_where_both_are_limited),
		cmocka_unit_test(a_groups_swap_limit_is_full_at_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
