// SPDX-License-Identifier: GPL-2.0-only
/* From the text of pagemap:mm_lru_insertion to frames of folios, whose addresses the probe gets. */
#include "capture/referenced_probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct referenced_probe probe;

static void two_frames_tell_where_the_row_begins(void **state)
{
	(void)state;
	assert_int_equal(
		referenced_probe_learn(
			&probe,
			"# tracer: nop\n"
			" dd-7 [001] d..1. 9.5: mm_lru_insertion: folio=ffffea0000040000 pfn=0x1000 lru=0 flags=Ma\n"
			" dd-7 [001] d..1. 9.6: mm_lru_insertion: folio=ffffea0000040040 pfn=0x1001 lru=0 flags=Ma\n"
			" dd-7 [001] d..1. 9.7: mm_lru_insertion: folio=ffffea0000000c00 pfn=0x30 lru=0 flags=Ma\n"),
		0);
	assert_int_equal(probe.page_bytes, 64);
	assert_true(probe.first_page == UINT64_C(0xffffea0000000000));
	assert_int_equal(referenced_probe_pfn(&probe, UINT64_C(0xffffea0000c0de40)), 0x30379);
	assert_int_equal(referenced_probe_pfn(&probe, 64), 0); /* none of theirs */
}

static void older_kernels_say_page(void **state)
{
	(void)state;
	assert_int_equal(referenced_probe_learn(&probe, "x: page=0xfff00000 pfn=0x10 lru=0\n"
							"x: page=0xfff00038 pfn=0x11 lru=0\n"),
			 0);
	assert_int_equal(probe.page_bytes, 56);
	assert_int_equal(referenced_probe_pfn(&probe, 0xfff00070), 0x12);
}

static void one_frame_is_not_enough(void **state)
{
	(void)state;
	assert_int_equal(referenced_probe_learn(&probe, ""), -1);
	assert_int_equal(referenced_probe_learn(&probe, "x: folio=ff000400 pfn=0x10 lru=0\n"
							"x: folio=ff000400 pfn=0x10 lru=1\n"),
			 -1);
}

/* Sparse memory without a map in one row, or addresses that the kernel hides. */
static void frames_that_are_in_no_row_are_refused(void **state)
{
	(void)state;
	assert_int_equal(referenced_probe_learn(&probe, "x: folio=ff000400 pfn=0x10 lru=0\n"
							"x: folio=ff000440 pfn=0x11 lru=0\n"
							"x: folio=12340440 pfn=0x12 lru=0\n"),
			 -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_frames_tell_where_the_row_begins),
		cmocka_unit_test(older_kernels_say_page),
		cmocka_unit_test(one_frame_is_not_enough),
		cmocka_unit_test(frames_that_are_in_no_row_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
