// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/mm/page_cache.h"
#include "replay/mm/workingset.h"

static int setup(void **state)
{
	static struct page_cache cache;

	*state = &cache;
	return page_cache_init(&cache);
}

static int teardown(void **state)
{
	page_cache_exit(*state);
	return 0;
}

static uint64_t shadow(uint64_t age)
{
	return shadow_pack((struct shadow){ .memcg_index = 3, .age = age });
}

static void untouched_slot_holds_nothing(void **state)
{
	assert_int_equal(page_cache_slot(*state, 1, 0), 0);
	assert_null(page_cache_folio(*state, 1, 1ul << 40));
	assert_int_equal(page_cache_shadow(*state, 1, 0, 512), 0);
}

/* index   62 63 | 64 65 66     a node ends at 63
 *          .  F |  F  F  .   */
static void large_folio_fills_all_its_slots_across_nodes(void **state)
{
	struct folio *const folio = (struct folio *)0x1000;

	assert_int_equal(page_cache_store(*state, 1, 63, 3, (uintptr_t)folio), 0);
	assert_null(page_cache_folio(*state, 1, 62));
	assert_ptr_equal(page_cache_folio(*state, 1, 63), folio);
	assert_ptr_equal(page_cache_folio(*state, 1, 64), folio);
	assert_ptr_equal(page_cache_folio(*state, 1, 65), folio);
	assert_null(page_cache_folio(*state, 1, 66));
}

static void files_do_not_see_each_others_pages(void **state)
{
	assert_int_equal(page_cache_store(*state, 1, 7, 1, 0x1000), 0);
	assert_null(page_cache_folio(*state, 2, 7));
	assert_int_equal(page_cache_store(*state, 2, 7, 1, 0x2000), 0);
	assert_ptr_equal(page_cache_folio(*state, 1, 7), (void *)0x1000);
	assert_ptr_equal(page_cache_folio(*state, 2, 7), (void *)0x2000);
}

static void shadow_is_no_folio(void **state)
{
	assert_int_equal(page_cache_store(*state, 1, 7, 1, shadow(5)), 0);
	assert_null(page_cache_folio(*state, 1, 7));
	assert_int_equal(page_cache_slot(*state, 1, 7), shadow(5));
	assert_int_equal(page_cache_shadow(*state, 1, 7, 1), shadow(5));
}

/* index  4    5    6    7
 *        s1   s2   .    F     a folio over 4..7 meets s2, over 4..4 s1 */
static void folio_over_several_shadows_meets_the_one_at_the_highest_index(void **state)
{
	assert_int_equal(page_cache_store(*state, 1, 4, 1, shadow(1)), 0);
	assert_int_equal(page_cache_store(*state, 1, 5, 1, shadow(2)), 0);
	assert_int_equal(page_cache_store(*state, 1, 7, 1, 0x1000), 0);
	assert_int_equal(page_cache_shadow(*state, 1, 4, 4), shadow(2));
	assert_int_equal(page_cache_shadow(*state, 1, 4, 1), shadow(1));
	assert_int_equal(page_cache_shadow(*state, 1, 6, 2), 0);
}

static void node_goes_with_its_last_slot(void **state)
{
	struct page_cache *cache = *state;

	assert_int_equal(page_cache_store(cache, 1, 0, 64, 0x1000), 0);
	assert_int_equal(cache->nr_nodes - cache->nr_uppers, 1);
	assert_int_equal(page_cache_store(cache, 1, 0, 63, 0), 0);
	assert_int_equal(cache->nr_nodes - cache->nr_uppers, 1);
	assert_ptr_equal(page_cache_folio(cache, 1, 63), (void *)0x1000);
	assert_int_equal(page_cache_store(cache, 1, 63, 1, 0), 0);
	assert_int_equal(cache->nr_nodes, 0);
	assert_null(
		page_cache_folio(cache, 1, 63)); /* the last look-up's node is not asked again */
	assert_int_equal(page_cache_store(cache, 1, 0, 64, 0), 0);
	assert_int_equal(cache->nr_nodes, 0);
}

static void replaced_slot_counts_once(void **state)
{
	struct page_cache *cache = *state;

	assert_int_equal(page_cache_store(cache, 1, 9, 1, 0x1000), 0);
	assert_int_equal(page_cache_store(cache, 1, 9, 1, shadow(1)), 0);
	assert_int_equal(page_cache_store(cache, 1, 9, 1, 0x2000), 0);
	assert_int_equal(page_cache_store(cache, 1, 9, 1, 0), 0);
	assert_int_equal(cache->nr_nodes, 0);
}

/* Against a plain array, through growth and removals that make holes in the table. */
static void any_order_of_stores_and_clears_reads_back(void **state)
{
	enum { FILES = 3, PAGES = 1 << 15 };
	uint64_t *model = calloc((size_t)FILES * PAGES, sizeof(*model));
	uint64_t x = 88172645463325252u;
	struct page_cache *cache = *state;

	assert_non_null(model);
	for (int step = 0; step < 300000; step++) {
		uint32_t file;
		uint64_t page, value;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		file = (uint32_t)(x >> 20) % FILES;
		page = (x >> 32) % PAGES & (step % 1000 < 500 ? ~0ul : ~63ul);
		value = step / 50000 % 2 ? 0 : (uint64_t)(step + 1) << 12;
		assert_int_equal(page_cache_store(cache, file, page * 7, 1, value), 0);
		model[file * PAGES + page] = value;
	}
	for (uint32_t i = 0; i < FILES * PAGES; i++)
		assert_int_equal(page_cache_slot(cache, i / PAGES, i % PAGES * 7), model[i]);
	for (uint32_t i = 0; i < FILES * PAGES; i++)
		assert_int_equal(page_cache_store(cache, i / PAGES, i % PAGES * 7, 1, 0), 0);
	assert_int_equal(cache->nr_nodes, 0);
	free(model);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void count_folio(void *ctx, struct folio *folio)
{
	uint64_t *sum = ctx;

	*sum += (uintptr_t)folio;
}

/* Whether its nodes are looked up one by one or the table is gone through: @nr_pages decides. */
static void file_that_goes_leaves_nothing(void **state)
{
	const uint64_t nr_pages[] = { 1000, UINT64_C(1) << 60 };
	struct page_cache *cache = *state;

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t sum = 0;

		assert_int_equal(page_cache_store(cache, 1, 3, 2, 0x1000), 0);
		assert_int_equal(page_cache_store(cache, 1, 64, 64, 0x2000), 0);
		assert_int_equal(page_cache_store(cache, 1, 700, 1, shadow(1)), 0);
		assert_int_equal(page_cache_drop_node(cache, 1, 700 / 64), 0);
		assert_int_equal(page_cache_store(cache, 1, 701, 1, shadow(2)), 0);
		assert_int_equal(page_cache_store(cache, 2, 3, 1, 0x4000), 0);
		page_cache_file_gone(cache, 1, nr_pages[i], count_folio, &sum);
		assert_int_equal(sum, 0x3000);
		assert_null(page_cache_folio(cache, 1, 3));
		assert_false(page_cache_dropped(cache, 1, 700));
		assert_int_equal(page_cache_slot(cache, 1, 701), 0);
		assert_ptr_equal(page_cache_folio(cache, 2, 3), (void *)0x4000);
		assert_int_equal(cache->nr_nodes, 1);
		assert_int_equal(cache->nr_uppers, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(untouched_slot_holds_nothing),
		TEST(large_folio_fills_all_its_slots_across_nodes),
		TEST(files_do_not_see_each_others_pages),
		TEST(shadow_is_no_folio),
		TEST(folio_over_several_shadows_meets_the_one_at_the_highest_index),
		TEST(node_goes_with_its_last_slot),
		TEST(replaced_slot_counts_once),
		TEST(file_that_goes_leaves_nothing),
		TEST(any_order_of_stores_and_clears_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
