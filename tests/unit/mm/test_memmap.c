// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/mm/drawn.h"

static int setup(void **state)
{
	static struct memmap memmap;

	*state = &memmap;
	return memmap_init(&memmap);
}

static int teardown(void **state)
{
	memmap_exit(*state);
	return 0;
}

static void neighbouring_frames_have_descriptors_64_bytes_apart(void **state)
{
	char *first = (char *)memmap_folio(*state, 1000);

	for (uint64_t pfn = 1000; pfn < 1100; pfn++)
		assert_ptr_equal(memmap_folio(*state, pfn), first + (pfn - 1000) * 64);
}

static void descriptor_knows_its_frame_and_is_dead_at_first(void **state)
{
	struct folio *folio = memmap_folio(*state, 0x12345678);

	assert_int_equal(folio->pfn, 0x12345678);
	assert_int_equal(folio->flags, 0);
	assert_true(list_empty(&folio->lru));
	assert_null(folio->lruvec);
	folio->flags = FOLIO_alive;
	assert_ptr_equal(memmap_folio(*state, 0x12345678), folio);
	assert_int_equal(folio->flags, FOLIO_alive);
}

static void only_touched_chunks_take_memory(void **state)
{
	struct memmap *memmap = *state;

	assert_int_equal(memmap->nr_chunks_used, 0);
	memmap_folio(memmap, 0);
	memmap_folio(memmap, MEMMAP_CHUNK_PAGES - 1);
	assert_int_equal(memmap->nr_chunks_used, 1);
	memmap_folio(memmap, MEMMAP_CHUNK_PAGES);
	memmap_folio(memmap, MEMMAP_PFN_LIMIT - 1);
	assert_int_equal(memmap->nr_chunks_used, 3);
}

static void frame_beyond_16_tib_has_no_descriptor(void **state)
{
	assert_null(memmap_folio(*state, MEMMAP_PFN_LIMIT));
	assert_null(memmap_folio(*state, UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(neighbouring_frames_have_descriptors_64_bytes_apart,
						setup, teardown),
		cmocka_unit_test_setup_teardown(descriptor_knows_its_frame_and_is_dead_at_first,
						setup, teardown),
		cmocka_unit_test_setup_teardown(only_touched_chunks_take_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(frame_beyond_16_tib_has_no_descriptor, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
