// SPDX-License-Identifier: GPL-2.0-only
/* Of both patches that change cost only: inline_evictable and mb_after_atomic. */
#include "tests/unit/policy/with_policy.h"

static const char *const names[] = {
	"classic@5.6",
	"classic@5.6+inline_evictable",
	"classic@5.6+mb_after_atomic",
	"classic@5.6+inline_evictable+mb_after_atomic",
	"classic@5.7",
};

#define NR_NAMES (sizeof(names) / sizeof(names[0]))

static void each_patch_changes_its_part_of_the_shape(void **state)
{
	static const char *const shapes[NR_NAMES] = {
		"page_evictable() a call, smp_mb()",
		"page_evictable() inline, smp_mb()",
		"page_evictable() a call, smp_mb__after_atomic()",
		"page_evictable() inline, smp_mb__after_atomic()",
		"page_evictable() inline, smp_mb__after_atomic()",
	};
	lru_add_run_fn *run[NR_NAMES];

	(void)state;
	for (unsigned int i = 0; i < NR_NAMES; i++) {
		struct drawn *drawn = open_policy(names[i]);

		assert_string_equal(lru_add_shape_name(&drawn->mm.config.rules), shapes[i]);
		run[i] = drawn->mm.lru_add.run;
		drawn_close(drawn);
	}
	/* Other code, not another name: four shapes, of which 5.7 shares the last. */
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_true(run[i] != run[j]);
	assert_true(run[4] == run[3]);
}

static void all_shapes_decide_the_same(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NR_NAMES; i++) {
		struct drawn *drawn = open_policy(names[i]);
		struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);

		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'B', PG_active));
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'C', PG_mlocked | PG_active));
		folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, other, 'X', 0, 0));
		folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'D', PG_unevictable));
		folio_add_lru_vma(&drawn->mm, 0, drawn_folio(drawn, 'E', PG_swapbacked));
		lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
		assert_file_lists(drawn->lruvec, "inactive [D A] active [B]");
		assert_anon_lists(drawn->lruvec, "inactive [] active [E]");
		assert_file_lists(&other->lruvec[0], "inactive [X] active []");
		assert_int_equal(drawn->lruvec->lru_size[LRU_UNEVICTABLE], 1);
		assert_false(folio_test(folio_at(drawn, 'C'), PG_active));
		assert_int_equal(drawn->mm.lru_add.unevictable_pgculled, 1);
		assert_int_equal(drawn->mm.lru_add.unevictable_pgrescued, 1);
		assert_int_equal(drawn->lruvec->recent_scanned[1], 3);
		assert_int_equal(drawn->lruvec->recent_rotated[1], 1);
		assert_mm_holds(&drawn->mm);
		drawn_close(drawn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_patch_changes_its_part_of_the_shape),
		cmocka_unit_test(all_shapes_decide_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
