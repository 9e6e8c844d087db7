// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/output.h"

static const char *const columns[] = { "name", "n" };

/* Two rows that hold what each format has to take care of. */
static void check_rows(enum output_format format, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	struct output *output = output_begin(to, format, columns, 2);

	assert_non_null(output);
	output_text(output, "a,\"b\"\n", 6);
	output_integer(output, INT64_MIN);
	output_text(output, "\xc3\xa9", 2); /* one character, two bytes */
	output_null(output);
	output_text(output, "x", 1);
	output_real(output, 0.1);
	output_null(output);
	output_real(output, INFINITY);
	assert_int_equal(output_end(output), 0);
	fclose(to);
	assert_string_equal(text, expected);
	free(text);
}

static void table_is_aligned_and_obeys_no_control_bytes(void **state)
{
	(void)state;
	check_rows(OUTPUT_TABLE, "name                       n\n"
				 "a,\"b\"?  -9223372036854775808\n"
				 "\xc3\xa9                          -\n"
				 "x                        0.1\n"
				 "-                          -\n");
}

static void csv_is_as_rfc_4180_says(void **state)
{
	(void)state;
	check_rows(OUTPUT_CSV, "name,n\r\n"
			       "\"a,\"\"b\"\"\n\",-9223372036854775808\r\n"
			       "\xc3\xa9,\r\n"
			       "x,0.1\r\n"
			       ",\r\n");
}

static void json_is_an_array_of_objects(void **state)
{
	(void)state;
	check_rows(OUTPUT_JSON, "[\n"
				"{\"name\": \"a,\\\"b\\\"\\u000a\", \"n\": -9223372036854775808},\n"
				"{\"name\": \"\xc3\xa9\", \"n\": null},\n"
				"{\"name\": \"x\", \"n\": 0.1},\n"
				"{\"name\": null, \"n\": null}\n"
				"]\n");
}

static void no_rows_are_an_empty_array(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(output_end(output_begin(to, OUTPUT_JSON, columns, 2)), 0);
	fclose(to);
	assert_string_equal(text, "[]\n");
	free(text);
}

static void a_full_disk_is_reported(void **state)
{
	FILE *to = fopen("/dev/full", "w");
	struct output *output;

	(void)state;
	assert_non_null(to);
	output = output_begin(to, OUTPUT_CSV, columns, 2);
	assert_int_equal(output_end(output), -1);
	assert_int_equal(errno, ENOSPC);
	fclose(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_aligned_and_obeys_no_control_bytes),
		cmocka_unit_test(csv_is_as_rfc_4180_says),
		cmocka_unit_test(json_is_an_array_of_objects),
		cmocka_unit_test(no_rows_are_an_empty_array),
		cmocka_unit_test(a_full_disk_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
