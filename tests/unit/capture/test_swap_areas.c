// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/swap_areas.h"

#define HEADING "Filename\tType\tSize\tUsed\tPriority\n"

static void no_swap_is_not_in_use(void **state)
{
	struct swap_areas areas;

	(void)state;
	assert_int_equal(0, swap_areas_find("", &areas));
	assert_false(areas.in_use);
	assert_null(areas.filter);
	assert_int_equal(0, swap_areas_find(HEADING, &areas));
	assert_false(areas.in_use);
	assert_null(areas.filter);
}

static void swap_whose_place_is_unknown_is_in_use_all_the_same(void **state)
{
	struct swap_areas areas;

	(void)state;
	assert_int_equal(0,
			 swap_areas_find(HEADING "/no/such\\040swap file 262140 0 -2\n", &areas));
	assert_true(areas.in_use);
	assert_null(areas.filter);
	swap_areas_free(&areas);
}

/* A file with a blank in its name, as /proc/swaps writes it. Where it is no disk, there is no place. */
static void a_files_place_is_told_as_ranges_of_sectors(void **state)
{
	char name[] = "/var/tmp/lrutape swap.XXXXXX", text[256];
	static char data[64 << 10];
	struct swap_areas areas;
	int fd = mkstemp(name);

	(void)state;
	if (fd < 0)
		skip();
	memset(data, 1, sizeof(data));
	assert_int_equal(sizeof(data), write(fd, data, sizeof(data)));
	fsync(fd);
	snprintf(text, sizeof(text), HEADING "/var/tmp/lrutape\\040swap%s file 64 0 -2\n",
		 strchr(name, '.'));
	assert_int_equal(0, swap_areas_find(text, &areas));
	assert_true(areas.in_use);
	if (areas.filter) {
		unsigned long long first = 0, end = 0;
		const char *at = strstr(areas.filter, "sector >= ");

		assert_memory_equal(areas.filter, "(", 1);
		assert_non_null(strstr(areas.filter, "dev == "));
		assert_non_null(at);
		assert_int_equal(2, sscanf(at, "sector >= %llu && sector < %llu", &first, &end));
		assert_true(end > first);
	}
	swap_areas_free(&areas);
	close(fd);
	unlink(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_swap_is_not_in_use),
		cmocka_unit_test(swap_whose_place_is_unknown_is_in_use_all_the_same),
		cmocka_unit_test(a_files_place_is_told_as_ranges_of_sectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
