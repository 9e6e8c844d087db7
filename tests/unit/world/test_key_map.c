// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "replay/world/key_map.h"

#define NR 20000 /* the map grows several times */

/* Far apart and close together, and never 0. */
static uint64_t key(uint32_t i)
{
	return i % 2 ? i + UINT64_C(1) : (uint64_t)i << 40 | 1;
}

static void numbers_are_found_under_their_keys_only(void **state)
{
	struct key_map map = { 0 };

	(void)state;
	assert_null(key_map_find(&map, 1));
	for (uint32_t i = 0; i < NR; i++) {
		assert_true(key_map_put(&map, key(i), i));
		assert_int_equal(map.nr, i + 1);
	}
	for (uint32_t i = 0; i < NR; i++) {
		assert_non_null(key_map_find(&map, key(i)));
		assert_int_equal(*key_map_find(&map, key(i)), i);
		assert_null(key_map_find(&map, key(i) | UINT64_C(1) << 63));
	}
	key_map_exit(&map);
}

static void last_number_put_under_a_key_counts(void **state)
{
	struct key_map map = { 0 };

	(void)state;
	assert_true(key_map_put(&map, 7, 1));
	assert_true(key_map_put(&map, 7, 2));
	assert_int_equal(*key_map_find(&map, 7), 2);
	assert_int_equal(map.nr, 1);
	key_map_exit(&map);
	assert_null(key_map_find(&map, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_found_under_their_keys_only),
		cmocka_unit_test(last_number_put_under_a_key_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
