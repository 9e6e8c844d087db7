// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/import_text.h"

static void time_has_one_to_nine_decimals_and_a_colon(void **state)
{
	static const struct {
		const char *text;
		uint64_t timestamp_ns;
		uint32_t tick_ns;
	} cases[] = {
		{ "1832.674455: x", 1832674455000, 1000 },
		{ "0.5:", 500000000, 100000000 },
		{ "12.000000001:", 12000000001, 1 },
		{ "18446744072.999999999:", UINT64_C(18446744072999999999), 1 },
	};
	static const char *const wrong[] = {
		"12.:",	  "12:",   ".5:",   "12.5",	     "12.5 :",
		"12.5x:", "-1.5:", " 1.5:", "1.0000000001:", "18446744073.0:",
	};
	uint64_t timestamp_ns;
	uint32_t tick_ns;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *behind = import_read_time(cases[i].text, &timestamp_ns, &tick_ns);

		assert_ptr_equal(behind, strchr(cases[i].text, ':') + 1);
		assert_true(timestamp_ns == cases[i].timestamp_ns);
		assert_int_equal(tick_ns, cases[i].tick_ns);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (import_read_time(wrong[i], &timestamp_ns, &tick_ns))
			fail_msg("taken for a time: %s", wrong[i]);
}

static void number_ends_at_its_limit(void **state)
{
	uint64_t value;

	(void)state;
	assert_non_null(import_read_number("4095]", 4095, &value));
	assert_int_equal(value, 4095);
	assert_null(import_read_number("4096]", 4095, &value));
	assert_null(import_read_number("7", 5, &value));
	assert_null(import_read_number("", 5, &value));
	assert_null(import_read_number("x1", 5, &value));
	assert_non_null(import_read_number("18446744073709551615", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	assert_null(import_read_number("18446744073709551616", UINT64_MAX, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_has_one_to_nine_decimals_and_a_colon),
		cmocka_unit_test(number_ends_at_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
