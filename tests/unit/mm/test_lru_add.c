// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/lru_add.h"

#include "tests/unit/mm/drawn.h"

/* Whatever the shape, every list gets what its flags say, and the lock is free afterwards. */
static void every_shape_puts_folios_where_their_flags_say(void **state)
{
	(void)state;
	for (int is_inline = 0; is_inline < 2; is_inline++)
		for (int order = LRU_ADD_SMP_MB; order <= LRU_ADD_FLAG_LAST; order++) {
			struct mm_config config = drawn_config();
			struct drawn *drawn;

			config.rules.evictable_inline = is_inline;
			config.rules.lru_add_barrier = (enum lru_add_barrier)order;
			drawn = drawn_open(config);
			folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
			folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'B', PG_active));
			folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'C', PG_swapbacked));
			folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'D', PG_mlocked));
			lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
			assert_file_lists(drawn->lruvec, "inactive [A] active [B]");
			assert_anon_lists(drawn->lruvec, "inactive [C] active []");
			assert_int_equal(drawn->lruvec->lru_size[LRU_UNEVICTABLE], 1);
			assert_int_equal(drawn->lruvec->counter[COUNT_lru_insertions], 4);
			assert_int_equal(drawn->mm.lru_add.lock, 0);
			for (int letter = 'A'; letter <= 'D'; letter++)
				assert_true(folio_test(folio_at(drawn, (uint64_t)letter), PG_lru));
			drawn_close(drawn);
		}
}

static void file_that_may_not_be_reclaimed_is_unevictable(void **state)
{
	struct drawn *drawn = *state;
	struct folio *folio = drawn_folio(drawn, 'A', 0);

	folio->file = 3;
	drawn->mm.lru_add.mapping[3].flags = 1 << 3; /* AS_UNEVICTABLE */
	folio_add_lru(&drawn->mm, 0, folio);
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'B', 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_file_lists(drawn->lruvec, "inactive [B] active []");
	assert_true(folio_test(folio, PG_unevictable));
}

/* A A X A: three holds. */
static void log_tells_holds_and_what_was_added(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);
	const struct lru_add_log *log;
	static const bool takes_lock[] = { true, false, true, true };

	drawn->mm.lru_add_log = lru_add_log_open(5);
	assert_non_null(drawn->mm.lru_add_log);
	log = drawn->mm.lru_add_log;
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'B', PG_active));
	folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, other, 'X', 0, 0));
	folio_add_lru(&drawn->mm, 0, drawn_folio_of(drawn, drawn->group, 'L', 2, 0));
	assert_int_equal(log->nr, 4);
	assert_int_equal(log->nr_holds, 3);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(log->record[i].pfn, "ABXL"[i]);
		assert_int_equal(log->record[i].takes_lock, takes_lock[i]);
		assert_false(log->record[i].flags & PG_lru);
	}
	assert_true(log->record[1].flags & PG_active);
	assert_int_equal(log->record[2].memcg, other->index);
	assert_int_equal(log->record[3].order, 2);
	/* A hold that does not fit is left out whole. */
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'C', 0));
	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'D', 0));
	lru_add_drain(&drawn->mm, 0, DRAIN_reclaim);
	assert_int_equal(log->nr, 4);
	assert_int_equal(log->nr_left_out, 2);
	assert_false(log->failed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, drawn_setup, drawn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_puts_folios_where_their_flags_say),
		TEST(file_that_may_not_be_reclaimed_is_unevictable),
		TEST(log_tells_holds_and_what_was_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
