// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "replay/mm/zones.h"

#define DMA 0
#define DMA32 1
#define NORMAL 2
#define MOVABLE 3

/* A guest of 512 MiB with Linux 6.12: what its /proc/zoneinfo said. */
static struct zones guest(void)
{
	struct zones zones = { .nr = 5 };

	zones.zone[DMA] = (struct zone){
		.start_pfn = 1,
		.spanned_pages = 4095,
		.managed_pages = 3840,
		.mark = { 22, 27, 32 },
		.protection = { 0, 449, 449, 449, 449 },
		.free_pages = 3803,
	};
	zones.zone[DMA32] = (struct zone){
		.start_pfn = 4096,
		.spanned_pages = 126938,
		.managed_pages = 115097,
		.mark = { 655, 818, 981 },
		.free_pages = 97904,
	};
	return zones;
}

/* The guest's own are a page or three lower: it had less to manage when it computed them. */
static void marks_come_from_min_free_kbytes_and_the_scale_factor(void **state)
{
	struct zones zones = guest();

	(void)state;
	for (int i = 0; i < 5; i++)
		memset(zones.zone[i].mark, 0, sizeof(zones.zone[i].mark));
	zones_set_marks(&zones, 2715, 10, 4);
	assert_int_equal(zones.zone[DMA].mark[WMARK_MIN], 21);
	assert_int_equal(zones.zone[DMA32].mark[WMARK_MIN], 656);
	assert_int_equal(zones.zone[DMA32].mark[WMARK_LOW], 656 + 164);
	assert_int_equal(zones.zone[DMA32].mark[WMARK_HIGH], 656 + 2 * 164);
}

static void a_scale_factor_widens_the_gaps_and_leaves_min(void **state)
{
	struct zones zones = guest();

	(void)state;
	zones_set_marks(&zones, 2715, 1000, 4);
	assert_int_equal(zones.zone[DMA32].mark[WMARK_MIN], 656);
	assert_int_equal(zones.zone[DMA32].mark[WMARK_LOW], 656 + 11509);
	assert_int_equal(zones.zone[DMA32].mark[WMARK_HIGH], 656 + 2 * 11509);
}

static void highest_zone_serves_first_and_lower_ones_keep_their_protection(void **state)
{
	struct zones zones = guest();

	(void)state;
	assert_int_equal(zones_choose(&zones, WMARK_LOW, MOVABLE, 1), DMA32);
	zones.zone[DMA32].free_pages = 819;
	assert_int_equal(zones_choose(&zones, WMARK_LOW, MOVABLE, 1), DMA32);
	zones.zone[DMA32].free_pages = 818; /* not above its mark any more */
	assert_int_equal(zones_choose(&zones, WMARK_LOW, MOVABLE, 1), DMA);
	zones.zone[DMA].free_pages = 27 + 449;
	assert_int_equal(zones_choose(&zones, WMARK_LOW, MOVABLE, 1), -1);
	/* A request that only DMA can serve may take what is kept from others. */
	assert_int_equal(zones_choose(&zones, WMARK_LOW, DMA, 1), DMA);
	assert_int_equal(zones_choose(&zones, WMARK_MIN, MOVABLE, 1), DMA32);
}

static void a_large_request_needs_all_its_pages_above_the_mark(void **state)
{
	struct zones zones = guest();

	(void)state;
	zones.zone[DMA32].free_pages = 818 + 512;
	assert_true(zone_watermark_ok(&zones.zone[DMA32], WMARK_LOW, MOVABLE, 512));
	assert_false(zone_watermark_ok(&zones.zone[DMA32], WMARK_LOW, MOVABLE, 513));
}

static void one_zone_above_high_is_balance(void **state)
{
	struct zones zones = guest();

	(void)state;
	zones.zone[DMA].free_pages = 100;
	zones.zone[DMA32].free_pages = 981;
	assert_false(zones_balanced(&zones, MOVABLE));
	zones.zone[DMA32].free_pages = 982;
	assert_true(zones_balanced(&zones, MOVABLE));
	assert_false(zones_balanced(&zones, DMA) && zones.zone[DMA].free_pages <= 32);
}

static void goal_of_a_round_is_the_sum_of_high_marks_at_least_a_cluster_each(void **state)
{
	struct zones zones = guest();

	(void)state;
	assert_int_equal(zones_reclaim_goal(&zones, MOVABLE), 32 + 981);
	assert_int_equal(zones_reclaim_goal(&zones, DMA), 32);
	zones.zone[DMA].mark[WMARK_HIGH] = 5;
	assert_int_equal(zones_reclaim_goal(&zones, MOVABLE), 32 + 981);
	assert_int_equal(zones_sum(&zones, WMARK_HIGH), 5 + 981);
}

static void only_zones_with_memory_count(void **state)
{
	struct zones zones = guest();

	(void)state;
	assert_int_equal(zones_highest(&zones), DMA32);
	assert_int_equal(zones_pfn_limit(&zones, DMA), 4096);
	assert_true(zones_pfn_limit(&zones, DMA32) == UINT64_MAX);
	assert_true(zones_pfn_limit(&zones, MOVABLE) == UINT64_MAX);
	assert_int_equal(zones_of_pfn(&zones, 4095), DMA);
	assert_int_equal(zones_of_pfn(&zones, 4096), DMA32);
	assert_int_equal(zones_of_pfn(&zones, 1u << 30), DMA32);
	assert_int_equal(zones_free(&zones), 3803 + 97904);
}

/* A tape without zoneinfo. */
static void zones_without_memory_stay_so(void **state)
{
	struct zones zones = { .nr = 3 };

	(void)state;
	zones_resize(&zones, 1000, 2715, 10);
	for (unsigned int i = 0; i < zones.nr; i++) {
		assert_int_equal(zones.zone[i].managed_pages, 0);
		assert_int_equal(zones.zone[i].mark[WMARK_HIGH], 0);
	}
}

static void a_resized_machine_has_marks_for_its_size(void **state)
{
	struct zones zones = guest();

	(void)state;
	zones_resize(&zones, 3 * (3840 + 115097), 2715,
		     10); /* four times the memory: twice min_free_kbytes */
	assert_int_equal(zones.zone[DMA32].managed_pages, 115097 + 3 * 118937);
	assert_int_equal(zones.zone[DMA32].free_pages, 97904 + 3 * 118937);
	assert_in_range(zones.zone[DMA32].mark[WMARK_MIN], 1340, 1357);
	assert_int_equal(zones.zone[DMA].protection[MOVABLE], 4 * 449);
	zones_resize(&zones, -(int64_t)(UINT64_C(1) << 40), 2715, 10);
	assert_int_equal(zones.zone[DMA32].managed_pages, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_come_from_min_free_kbytes_and_the_scale_factor),
		cmocka_unit_test(a_scale_factor_widens_the_gaps_and_leaves_min),
		cmocka_unit_test(highest_zone_serves_first_and_lower_ones_keep_their_protection),
		cmocka_unit_test(a_large_request_needs_all_its_pages_above_the_mark),
		cmocka_unit_test(one_zone_above_high_is_balance),
		cmocka_unit_test(goal_of_a_round_is_the_sum_of_high_marks_at_least_a_cluster_each),
		cmocka_unit_test(only_zones_with_memory_count),
		cmocka_unit_test(zones_without_memory_stay_so),
		cmocka_unit_test(a_resized_machine_has_marks_for_its_size),
	};

	return cmocka_run_group_tests_name("zones", tests, NULL, NULL);
}
