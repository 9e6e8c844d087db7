// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema/warm_pages.h"

static struct warm_pages_writer writer;

static void runs_come_back_as_folios_went_in(void **state)
{
	struct warm_pages_reader reader;
	struct warm_run run;
	uint8_t *bytes;
	size_t size;

	(void)state;
	writer.first_pfn = 100;
	assert_int_equal(0, warm_pages_add(&writer, 110, 0, WARM_PAGE_ACTIVE, 7));
	assert_int_equal(0,
			 warm_pages_add(&writer, 111, 0, WARM_PAGE_ACTIVE, 7)); /* alike: one run */
	assert_int_equal(0,
			 warm_pages_add(&writer, 112, 2, WARM_PAGE_ANON | WARM_PAGE_SWAPCACHE, 7));
	assert_int_equal(0,
			 warm_pages_add(&writer, 116, 2, WARM_PAGE_ANON | WARM_PAGE_SWAPCACHE, 0));
	assert_int_equal(0, warm_pages_add(&writer, 1ull << 40, 9, 0, 1ull << 60));
	bytes = warm_pages_finish(&writer, 1ull << 41, &size);
	assert_non_null(bytes);
	assert_int_equal(0, warm_pages_open(&reader, bytes, size));
	assert_int_equal(reader.first_pfn, 100);
	assert_int_equal(reader.end_pfn, 1ull << 41);
	assert_int_equal(1, warm_pages_next(&reader, &run));
	assert_true(run.pfn == 110 && run.nr_folios == 2 && run.order == 0 && run.memcg == 7 &&
		    run.flags == WARM_PAGE_ACTIVE);
	assert_int_equal(1, warm_pages_next(&reader, &run));
	assert_true(run.pfn == 112 && run.nr_folios == 1 && run.order == 2 && run.memcg == 7 &&
		    run.flags == (WARM_PAGE_ANON | WARM_PAGE_SWAPCACHE));
	assert_int_equal(1, warm_pages_next(&reader, &run));
	assert_true(run.pfn == 116 && run.memcg == 0);
	assert_int_equal(1, warm_pages_next(&reader, &run));
	assert_true(run.pfn == 1ull << 40 && run.order == 9 && run.memcg == 1ull << 60);
	assert_int_equal(0, warm_pages_next(&reader, &run));
	free(bytes);
}

static void a_range_without_folios_is_a_blob_too(void **state)
{
	struct warm_pages_reader reader;
	struct warm_run run;
	uint8_t *bytes;
	size_t size;

	(void)state;
	writer.first_pfn = 5;
	bytes = warm_pages_finish(&writer, 9, &size);
	assert_non_null(bytes);
	assert_int_equal(0, warm_pages_open(&reader, bytes, size));
	assert_int_equal(0, warm_pages_next(&reader, &run));
	free(bytes);
}

/* Whatever is flipped or cut off: an answer, and no run outside the range that the head names. */
static void damage_is_told_or_harmless(void **state)
{
	struct warm_pages_reader reader;
	struct warm_run run;
	uint8_t *bytes, *copy;
	size_t size;

	(void)state;
	for (uint64_t pfn = 0; pfn < 200; pfn += 3)
		assert_int_equal(0, warm_pages_add(&writer, pfn, pfn % 2, (uint32_t)pfn % 512,
						   pfn % 5));
	bytes = warm_pages_finish(&writer, 300, &size);
	assert_non_null(bytes);
	for (size_t cut = 0; cut < size; cut++) {
		copy = malloc(cut + 1); /* so that a sanitizer sees the end */
		memcpy(copy, bytes, cut);
		if (!warm_pages_open(&reader, copy, cut)) {
			int got;

			while ((got = warm_pages_next(&reader, &run)) > 0)
				;
			assert_int_equal(got, -1);
		}
		free(copy);
	}
	for (size_t bit = 0; bit < 8 * size; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!warm_pages_open(&reader, bytes, size))
			while (warm_pages_next(&reader, &run) > 0)
				assert_true(run.pfn >= reader.first_pfn &&
					    run.pfn + (run.nr_folios << run.order) <=
						    reader.end_pfn);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_come_back_as_folios_went_in),
		cmocka_unit_test(a_range_without_folios_is_a_blob_too),
		cmocka_unit_test(damage_is_told_or_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
