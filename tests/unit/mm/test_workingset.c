// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/mm/drawn.h"

static void shadow_reads_back_as_it_was_packed(void **state)
{
	static const struct shadow shadows[] = {
		{ 0, 0, false, 0 },
		{ 65534, 1023, true, WORKINGSET_AGE_MASK },
		{ 1, 0, true, 1 },
		{ 65534, 0, false, UINT64_C(1) << 35 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(shadows) / sizeof(shadows[0]); i++) {
		struct shadow back = shadow_unpack(shadow_pack(shadows[i]));

		assert_int_equal(back.memcg_index, shadows[i].memcg_index);
		assert_int_equal(back.nid, shadows[i].nid);
		assert_int_equal(back.workingset, shadows[i].workingset);
		assert_int_equal(back.age, shadows[i].age);
	}
}

static void age_is_kept_in_36_bits(void **state)
{
	struct shadow shadow = { .age = (UINT64_C(1) << 36) + 5 };

	(void)state;
	assert_int_equal(shadow_unpack(shadow_pack(shadow)).age, 5);
}

static void packed_shadow_never_looks_like_a_folio_or_nothing(void **state)
{
	(void)state;
	assert_true(slot_is_shadow(shadow_pack((struct shadow){ 0 })));
	assert_int_not_equal(shadow_pack((struct shadow){ 0 }), 0);
	assert_false(slot_is_shadow((uint64_t)(uintptr_t)state & ~1ul));
}

/*   root +3 - group +3 - inner +3        inner ages
 *           \ other +0            */
static void time_passes_at_each_level_above_and_nowhere_else(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *inner = mm_add_memcg(&drawn->mm, drawn->group, 101);
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);

	workingset_age_nonresident(&inner->lruvec[0], 3);
	assert_int_equal(inner->lruvec[0].nonresident_age, 3);
	assert_int_equal(drawn->lruvec->nonresident_age, 3);
	assert_int_equal(drawn->mm.root->lruvec[0].nonresident_age, 3);
	assert_int_equal(other->lruvec[0].nonresident_age, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shadow_reads_back_as_it_was_packed),
		cmocka_unit_test(age_is_kept_in_36_bits),
		cmocka_unit_test(packed_shadow_never_looks_like_a_folio_or_nothing),
		cmocka_unit_test_setup_teardown(time_passes_at_each_level_above_and_nowhere_else,
						drawn_setup, drawn_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
