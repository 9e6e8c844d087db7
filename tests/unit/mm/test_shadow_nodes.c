// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "replay/mm/page_cache.h"
#include "replay/mm/workingset.h"

#define FOLIO 0x1000 /* any even value stands for one */
#define OWNER 2

static struct page_cache cache;

static int setup(void **state)
{
	(void)state;
	assert_int_equal(page_cache_init(&cache), 0);
	cache.owner = OWNER;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	page_cache_exit(&cache);
	return 0;
}

static uint64_t shadow(uint64_t age)
{
	return shadow_pack((struct shadow){ .memcg_index = 3, .age = age });
}

static void store(uint32_t file, uint64_t index, uint64_t nr, uint64_t value)
{
	assert_int_equal(page_cache_store(&cache, file, index, nr, value), 0);
}

static uint64_t listed(void)
{
	return shadow_nodes_of(&cache.shadow_nodes, OWNER);
}

/* index 0  1  2        0  1  2        0  1  2
 *       F  F  .   ->   s  F  .   ->   s  s  .   listed */
static void node_is_listed_when_its_last_folio_goes(void **state)
{
	(void)state;
	store(1, 0, 1, FOLIO);
	store(1, 1, 1, FOLIO + 2);
	store(1, 0, 1, shadow(1));
	assert_int_equal(listed(), 0);
	store(1, 1, 1, shadow(2));
	assert_int_equal(listed(), 1);
	store(1, 0, 1, FOLIO);
	assert_int_equal(listed(), 0);
}

static void truncated_shadows_leave_the_list(void **state)
{
	(void)state;
	store(1, 70, 2, shadow(1));
	assert_int_equal(listed(), 1);
	store(1, 70, 2, 0);
	assert_int_equal(listed(), 0);
	assert_int_equal(cache.nr_nodes, 0);
}

/* The kernel keeps the entry in the file itself, out of the shrinker's reach. */
static void only_page_of_a_file_has_no_node(void **state)
{
	(void)state;
	store(1, 0, 1, shadow(1));
	assert_int_equal(listed(), 0);
	store(2, 64, 1, shadow(1));
	assert_int_equal(listed(), 1);
}

/* Two folios of 128 pages are four slots of one node above; they go together, or stay. */
static void large_folios_share_a_node_above(void **state)
{
	(void)state;
	store(1, 0, 128, FOLIO);
	store(1, 128, 128, FOLIO + 2);
	store(1, 0, 128, shadow(1));
	assert_int_equal(listed(), 0);
	store(1, 128, 128, shadow(129));
	assert_int_equal(listed(), 1);
	/* One page of the second comes back alone: its 64 become a node below. */
	store(1, 130, 1, FOLIO);
	assert_int_equal(listed(), 0);
	store(1, 130, 1, shadow(200));
	assert_int_equal(listed(), 1);
	assert_int_equal(page_cache_drop_node(&cache, 1, 2), 0);
	assert_true(page_cache_dropped(&cache, 1, 130));
	assert_false(page_cache_dropped(&cache, 1, 127));
	assert_int_equal(listed(), 1);
	assert_int_equal(page_cache_slot(&cache, 1, 130), 0);
	assert_true(slot_is_shadow(page_cache_slot(&cache, 1, 127)));
}

static void small_folios_below_are_seen_by_a_node_above_made_later(void **state)
{
	(void)state;
	store(1, 3, 1, FOLIO);
	store(1, 64, 64, FOLIO + 2);
	store(1, 64, 64, shadow(1));
	assert_int_equal(listed(), 0);
	store(1, 3, 1, 0);
	assert_int_equal(listed(), 1);
}

static void add_nodes(uint64_t nr)
{
	for (uint64_t i = 1; i <= nr; i++)
		store(1, i * 64, 1, shadow(i));
}

/* 800 pages warrant 100 nodes. */
static void nodes_that_the_memcg_warrants_stay(void **state)
{
	(void)state;
	add_nodes(100);
	assert_int_equal(shadow_nodes_shrink(&cache, OWNER, 800, 0), 0);
	assert_int_equal(listed(), 100);
}

/* Half of the excess is asked for; less than a batch of 128 waits, and is remembered. */
static void scan_waits_for_a_batch_and_takes_the_oldest(void **state)
{
	(void)state;
	add_nodes(254);
	assert_int_equal(shadow_nodes_shrink(&cache, OWNER, 0, 12), 0);
	assert_int_equal(cache.shadow_nodes.list[OWNER].deferred, 127);
	store(1, 255 * 64, 2, shadow(255));
	store(1, 256 * 64, 2, shadow(256));
	assert_int_equal(shadow_nodes_shrink(&cache, OWNER, 0, 12), 128);
	assert_int_equal(listed(), 128);
	assert_int_equal(cache.shadow_nodes.list[OWNER].deferred, 127);
	assert_int_equal(page_cache_slot(&cache, 1, 128 * 64), 0);
	assert_true(slot_is_shadow(page_cache_slot(&cache, 1, 129 * 64)));
}

/* At low priorities what was put off is due: all of it, if it is as much as there is. */
static void deferred_scans_are_made_up_for(void **state)
{
	(void)state;
	add_nodes(10);
	for (int i = 0; i < 3; i++)
		assert_int_equal(shadow_nodes_shrink(&cache, OWNER, 0, 12), 0);
	assert_int_equal(cache.shadow_nodes.list[OWNER].deferred, 15);
	assert_int_equal(shadow_nodes_shrink(&cache, OWNER, 0, 0), 10);
	assert_int_equal(listed(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(node_is_listed_when_its_last_folio_goes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(truncated_shadows_leave_the_list, setup, teardown),
		cmocka_unit_test_setup_teardown(only_page_of_a_file_has_no_node, setup, teardown),
		cmocka_unit_test_setup_teardown(large_folios_share_a_node_above, setup, teardown),
		cmocka_unit_test_setup_teardown(
			small_folios_below_are_seen_by_a_node_above_made_later, setup, teardown),
		cmocka_unit_test_setup_teardown(nodes_that_the_memcg_warrants_stay, setup,
						teardown),
		cmocka_unit_test_setup_teardown(scan_waits_for_a_batch_and_takes_the_oldest, setup,
						teardown),
		cmocka_unit_test_setup_teardown(deferred_scans_are_made_up_for, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
