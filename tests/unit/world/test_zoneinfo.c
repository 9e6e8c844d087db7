// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/zoneinfo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Linux 6.12, shortened. */
static const char two_zones[] = "Node 0, zone      DMA\n"
				"  per-node stats\n"
				"      nr_inactive_anon 1792\n"
				"  pages free     3803\n"
				"        boost    0\n"
				"        min      22\n"
				"        low      27\n"
				"        high     32\n"
				"        promo    37\n"
				"        spanned  4095\n"
				"        present  3998\n"
				"        managed  3840\n"
				"        cma      0\n"
				"        protection: (0, 449, 450, 451, 452)\n"
				"      nr_free_pages 3803\n"
				"  pagesets\n"
				"    cpu: 0\n"
				"              count: 1453\n"
				"              high:  6963\n"
				"              batch: 31\n"
				"  node_unreclaimable:  0\n"
				"  start_pfn:           1\n"
				"Node 0, zone    DMA32\n"
				"  pages free     97904\n"
				"        min      655\n"
				"        low      818\n"
				"        high     981\n"
				"        managed  115097\n"
				"        protection: (0, 0, 0, 0, 0)\n"
				"  start_pfn:           4096\n"
				"Node 1, zone   Normal\n"
				"  pages free     5\n"
				"        managed  100\n";

static void zones_of_the_first_node_are_read(void **state)
{
	struct zones zones;

	(void)state;
	zoneinfo_read(&zones, two_zones);
	assert_int_equal(zones.nr, 2);
	assert_int_equal(zones.zone[0].free_pages, 3803);
	assert_int_equal(zones.zone[0].mark[WMARK_MIN], 22);
	assert_int_equal(zones.zone[0].mark[WMARK_HIGH], 32);
	assert_int_equal(zones.zone[0].start_pfn, 1);
	assert_int_equal(zones.zone[0].spanned_pages, 4095);
	assert_int_equal(zones.zone[0].protection[0], 0);
	assert_int_equal(zones.zone[0].protection[1], 449);
	assert_int_equal(zones.zone[0].protection[4], 452);
	assert_int_equal(zones.zone[1].managed_pages, 115097);
	assert_int_equal(zones.zone[1].mark[WMARK_LOW], 818);
	assert_int_equal(zones.zone[1].start_pfn, 4096);
}

static void other_text_is_no_zone(void **state)
{
	static const char *const texts[] = { "",
					     "\n\n",
					     "Node 0, zone",
					     "Node 0, zone DMA\n",
					     "  pages free 5\n",
					     "Node 0, zone DMA\nprotection: (" };
	struct zones zones;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		zoneinfo_read(&zones, texts[i]);
		assert_int_equal(zones.nr, 0);
	}
}

static void figures_without_end_are_cut(void **state)
{
	struct zones zones;

	(void)state;
	zoneinfo_read(&zones, "Node 0, zone DMA\n  managed 99999999999999999999\n  high -1\n"
			      "  protection: (9,9,9,9,9,9,9,9,9,9,9,9)\n");
	assert_int_equal(zones.nr, 1);
	assert_true(zones.zone[0].managed_pages <= UINT64_C(1) << 40);
	assert_true(zones.zone[0].mark[WMARK_HIGH] <= UINT64_C(1) << 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_of_the_first_node_are_read),
		cmocka_unit_test(other_text_is_no_zone),
		cmocka_unit_test(figures_without_end_are_cut),
	};

	return cmocka_run_group_tests_name("zoneinfo", tests, NULL, NULL);
}
