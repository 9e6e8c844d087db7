// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/mmu_gather.h"

#include "tests/unit/mm/drawn.h"

#define FIRST_PFN 4096

/*
 * One hold of the lruvec's lock is one batch of frees: all folios are on one list. Frees nr folios
 * and writes the batches' sizes, runs of equal ones as "31x8".
 */
static void free_and_draw(struct drawn *drawn, unsigned int nr, uint8_t order, char *text)
{
	const struct lock_count *lock = &drawn->lruvec->lock[LOCK_folios_put];
	struct mmu_gather gather = { 0 };
	unsigned int size[512], nr_sizes = 0;
	uint64_t folios = lock->folios;

	for (unsigned int i = 0; i < nr; i++) {
		struct folio *folio = drawn_folio_of(
			drawn, drawn->group, FIRST_PFN + ((uint64_t)i << order), order, PG_lru);

		lruvec_add_folio(drawn->lruvec, folio);
	}
	for (unsigned int i = 0; i <= nr; i++) {
		if (i < nr)
			mmu_gather_free(&drawn->mm, 0, &gather,
					folio_at(drawn, FIRST_PFN + ((uint64_t)i << order)));
		else
			mmu_gather_finish(&drawn->mm, &gather);
		if (lock->folios == folios)
			continue;
		size[nr_sizes++] = (unsigned int)(lock->folios - folios);
		folios = lock->folios;
	}
	for (unsigned int i = 0, run; i < nr_sizes; i += run) {
		for (run = 1; i + run < nr_sizes && size[i + run] == size[i]; run++)
			;
		text += sprintf(text, run > 1 ? "%s%ux%u" : "%s%u", i ? " " : "", size[i], run);
	}
}

/*
 * 1024 folios of 16 KiB take two slots each: 4 in the first bundle of 8 slots, 255 in each of four
 * pages of 510. Seen live: 32 runs of 31, 4 of 7 and 1 of 4.
 */
static void madvise_of_16_mib_in_16_kib_folios_frees_in_37_batches(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	free_and_draw(drawn, 1024, 2, text);
	assert_string_equal(text, "4 31x8 7 31x8 7 31x8 7 31x8 7");
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 37);
	assert_int_equal(drawn->group->usage_pages, 0);
}

/*
 * A bundle keeps room for a pair of slots, so single pages fill it but for one: 7 and then 509.
 * Seen live for 16 MiB in 4 KiB folios: runs of 31, 13, 7 and 17.
 */
static void single_pages_leave_the_last_slot_of_a_bundle_free(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	free_and_draw(drawn, 4096, 0, text);
	assert_string_equal(text, "7 31x16 13 31x16 13 31x16 13 31x16 13 "
				  "31x16 13 31x16 13 31x16 13 31x16 13 17");
}

static void few_folios_go_in_one_batch_at_the_end(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	free_and_draw(drawn, 3, 0, text);
	assert_string_equal(text, "3");
}

static void each_zap_starts_with_the_small_bundle(void **state)
{
	struct drawn *drawn = *state;
	char text[DRAWING_BYTES];

	free_and_draw(drawn, 20, 2, text);
	assert_string_equal(text, "4 16");
	free_and_draw(drawn, 20, 2, text);
	assert_string_equal(text, "4 16");
}

/* After the first bundle and 19 pages of slots everything is freed and the small one is next. */
static void long_zap_starts_over_after_twenty_bundles(void **state)
{
	struct drawn *drawn = *state;
	const unsigned int nr = 4 + 19 * 255;
	char text[DRAWING_BYTES];

	free_and_draw(drawn, nr + 5, 2, text);
	assert_string_equal(text + strlen(text) - strlen("31x8 7 4 1"), "31x8 7 4 1");
}

static void finishing_an_empty_zap_frees_nothing(void **state)
{
	struct drawn *drawn = *state;
	struct mmu_gather gather = { 0 };

	mmu_gather_finish(&drawn->mm, &gather);
	assert_int_equal(drawn->lruvec->lock[LOCK_folios_put].holds, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, drawn_setup, drawn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(madvise_of_16_mib_in_16_kib_folios_frees_in_37_batches),
		TEST(single_pages_leave_the_last_slot_of_a_bundle_free),
		TEST(few_folios_go_in_one_batch_at_the_end),
		TEST(each_zap_starts_with_the_small_bundle),
		TEST(long_zap_starts_over_after_twenty_bundles),
		TEST(finishing_an_empty_zap_frees_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
