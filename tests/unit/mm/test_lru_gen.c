// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/lru_gen.h"

#include "tests/unit/mm/drawn.h"

extern const struct reclaim_policy policy_lru_gen;

static struct drawn *open_lru_gen(const char *name)
{
	struct mm_config config = drawn_config();
	struct policy_choice choice;
	char why[256];

	assert_int_equal(policy_parse(name, "6.18", &choice, why, sizeof(why)), 0);
	config.policy = &policy_lru_gen;
	config.rules = choice.rules;
	return drawn_open(config);
}

static struct lru_gen_folio *lrugen_of(struct drawn *drawn)
{
	return lruvec_lru_gen(drawn->lruvec);
}

/* New file folios, put on their lists: the first letter is the oldest. */
static void add(struct drawn *drawn, const char *letters, uint32_t flags)
{
	for (; *letters; letters++) {
		struct folio *folio = drawn_folio(drawn, (unsigned char)*letters, flags);

		lru_gen_add_folio(&drawn->mm, drawn->lruvec, folio, false);
		folio_set(folio, PG_lru);
	}
}

static void access_folio(struct drawn *drawn, char letter, unsigned int times)
{
	while (times--)
		lru_gen_inc_refs(&drawn->mm, folio_at(drawn, (unsigned char)letter));
}

/* "[young .. old]" of one generation's file folios, in the one zone there is. */
static void assert_gen_at(struct drawn *drawn, uint64_t seq, const char *drawing, const char *file,
			  int line)
{
	char text[DRAWING_BYTES];

	draw_list(text, 0,
		  &lrugen_of(drawn)->folios[lru_gen_from_seq(seq)][LRU_GEN_FILE][MAX_NR_ZONES - 1]);
	_assert_string_equal(text, drawing, file, line);
	assert_mm_holds(&drawn->mm);
}

#define assert_gen(drawn, seq, drawing) assert_gen_at(drawn, seq, drawing, __FILE__, __LINE__)

/* One scan of file folios. Return: what it took, "oldest first" letters in @taken. */
static uint64_t scan(struct drawn *drawn, int tier_idx, char *letters)
{
	const struct scan_request request = { .lruvec = drawn->lruvec,
					      .lru = LRU_INACTIVE_FILE,
					      .nr_to_scan = MAX_LRU_BATCH,
					      .tier_idx = tier_idx,
					      .reclaim_idx = MAX_NR_ZONES - 1 };
	struct scan_result result = { 0 };
	struct list_head taken;
	uint64_t counts;
	size_t at = 0;

	list_init(&taken);
	counts = lru_gen_scan_folios(&drawn->mm, &request, &taken, &result);
	while (!list_empty(&taken)) {
		struct folio *folio = list_entry(taken.next, struct folio, lru);

		at = draw_folio(letters, at, folio);
		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated);
	}
	letters[at] = '\0';
	return counts;
}

static void new_lruvec_has_four_empty_generations(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	assert_int_equal(lrugen_of(drawn)->max_seq, 3);
	assert_int_equal(lrugen_of(drawn)->min_seq[LRU_GEN_FILE], 0);
	assert_int_equal(get_nr_gens(lrugen_of(drawn), LRU_GEN_FILE), 4);
	for (uint64_t seq = 0; seq < 4; seq++)
		assert_gen(drawn, seq, "[]");
	drawn_close(drawn);
}

static void folio_starts_where_it_came_from_says(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	add(drawn, "AB", 0);
	add(drawn, "C", PG_active);
	add(drawn, "D", PG_reclaim | PG_dirty);
	assert_gen(drawn, 1, "[B A]");
	assert_gen(drawn, 3, "[C]");
	assert_gen(drawn, 2, "[D]");
	assert_false(folio_test(folio_at(drawn, 'C'), PG_active));
	assert_int_equal(drawn->lruvec->lru_size[LRU_ACTIVE_FILE], 2);
	assert_int_equal(drawn->lruvec->lru_size[LRU_INACTIVE_FILE], 2);
	drawn_close(drawn);
}

static void from_6_14_on_it_starts_by_its_age(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.18");

	(void)state;
	add(drawn, "A", 0);
	add(drawn, "B", PG_workingset);
	add(drawn, "C", PG_active);
	add(drawn, "D", PG_active | PG_workingset);
	assert_gen(drawn, 0, "[A]");
	assert_gen(drawn, 1, "[B]");
	assert_gen(drawn, 2, "[C]");
	assert_gen(drawn, 3, "[D]");
	drawn_close(drawn);
}

static void accesses_say_the_tier(void **state)
{
	static const unsigned int tier[] = { 0, 0, 1, 2, 2, 3, 3 };
	static const char *const release[] = { "lru_gen@6.1", "lru_gen@6.12", "lru_gen@6.18" };

	(void)state;
	for (int r = 0; r < 3; r++) {
		struct drawn *drawn = open_lru_gen(release[r]);
		const struct lru_gen_rules *rules = lru_gen_rules(&drawn->mm);

		for (unsigned int n = 0; n < 7; n++) {
			char letter[2] = { (char)('A' + n), '\0' };
			const struct folio *folio;

			add(drawn, letter, 0);
			access_folio(drawn, *letter, n);
			folio = folio_at(drawn, (unsigned char)*letter);
			assert_int_equal(lru_tier_from_refs(rules, folio_lru_refs(rules, folio),
							    folio_test(folio, PG_workingset)),
					 tier[n]);
			assert_int_equal(lru_gen_saturated(rules, folio), n >= 5);
		}
		drawn_close(drawn);
	}
}

/* A is the oldest. B and D were read twice, and tier 1 may not go. */
static void protected_at_the_next_generation(const char *name, const char *next)
{
	struct drawn *drawn = open_lru_gen(name);
	char taken[DRAWING_BYTES];

	lrugen_of(drawn)->min_seq[LRU_GEN_FILE] = lrugen_of(drawn)->min_seq[LRU_GEN_ANON] = 1;
	add(drawn, "ABCD", 0);
	access_folio(drawn, 'B', 2);
	access_folio(drawn, 'D', 2);
	assert_gen(drawn, 1, "[D C B A]");
	assert_int_equal(scan(drawn, 0, taken), 4);
	assert_string_equal(taken, "AC");
	assert_gen(drawn, 1, "[]");
	assert_gen(drawn, 2, next);
	assert_int_equal(lrugen_of(drawn)->protected[LRU_GEN_FILE][1], 2);
	assert_int_equal(folio_lru_refs(lru_gen_rules(&drawn->mm), folio_at(drawn, 'B')), 0);
	drawn_close(drawn);
}

static void protected_folios_are_reversed(void **state)
{
	(void)state;
	protected_at_the_next_generation("lru_gen@6.12", "[B D]");
	protected_at_the_next_generation("lru_gen@6.12+prefetch+batch_counters", "[B D]");
	protected_at_the_next_generation("lru_gen@6.12+bulk_move", "[D B]");
	protected_at_the_next_generation("lru_gen@6.18", "[D B]"); /* at the young end */
}

static void saturated_folio_stays_whatever_its_tier_does(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	char taken[DRAWING_BYTES];

	(void)state;
	lrugen_of(drawn)->min_seq[LRU_GEN_FILE] = 1;
	add(drawn, "ABC", 0);
	access_folio(drawn, 'B', 5);
	scan(drawn, MAX_NR_TIERS - 1, taken);
	assert_string_equal(taken, "AC");
	assert_gen(drawn, 2, "[B]");
	drawn_close(drawn);
}

static void aging_of_mapped_folios_is_where_walks_are_missing(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	drawn->mm.now_ns = 5;
	lru_gen_inc_max_seq(&drawn->mm, drawn->lruvec, 0);
	assert_int_equal(drawn->mm.walks_from_ns, 0);
	drawn->lruvec->has_mapped = true;
	drawn->mm.now_ns = 7;
	lru_gen_inc_max_seq(&drawn->mm, drawn->lruvec, 0);
	drawn->mm.now_ns = 9;
	lru_gen_inc_max_seq(&drawn->mm, drawn->lruvec, 0);
	assert_int_equal(drawn->mm.walks_from_ns, 7);
	drawn_close(drawn);
}

static void aging_merges_the_oldest_reversed(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12"), *bulk;

	(void)state;
	add(drawn, "AB", 0); /* in generation 1 */
	lru_gen_inc_max_seq(&drawn->mm, drawn->lruvec, 0); /* 0 goes, empty */
	add(drawn, "CD", 0); /* in 2 */
	assert_gen(drawn, 1, "[B A]");
	assert_gen(drawn, 2, "[D C]");
	lru_gen_inc_max_seq(&drawn->mm, drawn->lruvec, 0);
	assert_gen(drawn, 2, "[D C A B]");
	assert_int_equal(lrugen_of(drawn)->min_seq[LRU_GEN_FILE], 2);
	assert_int_equal(lrugen_of(drawn)->max_seq, 5);
	drawn_close(drawn);

	bulk = open_lru_gen("lru_gen@6.12+bulk_move");
	add(bulk, "AB", 0);
	lru_gen_inc_max_seq(&bulk->mm, bulk->lruvec, 0);
	add(bulk, "CD", 0);
	lru_gen_inc_max_seq(&bulk->mm, bulk->lruvec, 0);
	assert_gen(bulk, 2, "[D C B A]");
	drawn_close(bulk);
}

static void tier_is_protected_once_it_comes_back_too_often(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct lru_gen_folio *lrugen = lrugen_of(drawn);

	(void)state;
	lrugen->evicted[LRU_GEN_FILE][0] = 1000;
	lrugen->refaulted[LRU_GEN_FILE][0] = 100;
	lrugen->evicted[LRU_GEN_FILE][1] = 1000;
	lrugen->refaulted[LRU_GEN_FILE][1] = 63;
	assert_int_equal(get_tier_idx(&drawn->mm, drawn->lruvec, LRU_GEN_FILE), 3);
	lrugen->refaulted[LRU_GEN_FILE][1] = 189; /* 189 x 1064 <= 101 x 1000 x 2 */
	assert_int_equal(get_tier_idx(&drawn->mm, drawn->lruvec, LRU_GEN_FILE), 3);
	lrugen->refaulted[LRU_GEN_FILE][1] = 190;
	assert_int_equal(get_tier_idx(&drawn->mm, drawn->lruvec, LRU_GEN_FILE), 0);
	drawn_close(drawn);
}

static void counts_become_averages_that_halve(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	struct lru_gen_folio *lrugen = lrugen_of(drawn);

	(void)state;
	lrugen->evicted[LRU_GEN_FILE][2] = 100;
	lrugen->protected[LRU_GEN_FILE][2] = 11;
	lrugen->refaulted[LRU_GEN_FILE][2] = 40;
	reset_ctrl_pos(&drawn->mm, drawn->lruvec, LRU_GEN_FILE);
	assert_int_equal(lrugen->avg_total[LRU_GEN_FILE][2], 55);
	assert_int_equal(lrugen->avg_refaulted[LRU_GEN_FILE][2], 20);
	assert_int_equal(lrugen->evicted[LRU_GEN_FILE][2], 0);
	reset_ctrl_pos(&drawn->mm, drawn->lruvec, LRU_GEN_FILE);
	assert_int_equal(lrugen->avg_total[LRU_GEN_FILE][2], 27);
	drawn_close(drawn);
}

/* Return: refaults that count for the controller, after @agings. */
static uint64_t refaults_after(const char *name, unsigned int agings)
{
	struct drawn *drawn = open_lru_gen(name);
	struct folio *folio = drawn_folio(drawn, 'A', 0);
	struct shadow shadow = lru_gen_eviction(&drawn->mm, folio);
	uint64_t counted;

	while (agings--)
		lru_gen_inc_max_seq(&drawn->mm, drawn->lruvec, 0);
	lru_gen_refault(&drawn->mm, folio, shadow_unpack(shadow_pack(shadow)));
	counted = lrugen_of(drawn)->refaulted[LRU_GEN_FILE][0];
	drawn_close(drawn);
	return counted;
}

static void refault_is_recent_for_a_generation_or_for_four(void **state)
{
	(void)state;
	assert_int_equal(refaults_after("lru_gen@6.12", 0), 1);
	assert_int_equal(refaults_after("lru_gen@6.12", 1), 0);
	assert_int_equal(refaults_after("lru_gen@6.18", 0), 1);
	assert_int_equal(refaults_after("lru_gen@6.18", 1),
			 0); /* it was the oldest of four already */
}

static void empty_generations_are_given_up_down_to_two(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	assert_true(lru_gen_try_to_inc_min_seq(&drawn->mm, drawn->lruvec, 0));
	assert_int_equal(lrugen_of(drawn)->min_seq[LRU_GEN_FILE], 2);
	assert_false(lru_gen_try_to_inc_min_seq(&drawn->mm, drawn->lruvec, 0));
	drawn_close(drawn);
}

/*
 *   anon  0 [a]  1 []  2 []  3 []        file  0 []  1 []  2 []  3 []
 *
 * Up to 6.13 file has no fewer generations given up than anon has, and no more either.
 */
static void empty_file_generations_wait_for_anon(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	add(drawn, "a", PG_swapbacked | PG_swapcache);
	lrugen_of(drawn)->min_seq[LRU_GEN_ANON] = lrugen_of(drawn)->min_seq[LRU_GEN_FILE] = 1;
	lrugen_of(drawn)->max_seq = 4;
	assert_false(lru_gen_try_to_inc_min_seq(&drawn->mm, drawn->lruvec, 60));
	assert_int_equal(lrugen_of(drawn)->min_seq[LRU_GEN_ANON], 1);
	assert_int_equal(lrugen_of(drawn)->min_seq[LRU_GEN_FILE], 1);
	drawn_close(drawn);
}

static void folio_that_lost_its_list_remembers_that_it_was_young(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");

	(void)state;
	add(drawn, "A", PG_active);
	add(drawn, "B", 0);
	lru_gen_del_folio(drawn->lruvec, folio_at(drawn, 'A'), false);
	lru_gen_del_folio(drawn->lruvec, folio_at(drawn, 'B'), false);
	assert_true(folio_test(folio_at(drawn, 'A'), PG_active));
	assert_false(folio_test(folio_at(drawn, 'B'), PG_active));
	folio_clear(folio_at(drawn, 'A'), PG_lru);
	folio_clear(folio_at(drawn, 'B'), PG_lru);
	drawn_close(drawn);
}

static enum scan_fate as_it_is(void *ctx, struct folio *folio, bool would_take)
{
	(void)ctx, (void)folio;
	return would_take ? SCAN_TAKES : SCAN_MOVES_ON;
}

static void preview_finds_what_the_scan_finds_and_changes_nothing(void **state)
{
	struct drawn *drawn = open_lru_gen("lru_gen@6.12");
	const struct scan_request request = { .lruvec = drawn->lruvec,
					      .lru = LRU_INACTIVE_FILE,
					      .nr_to_scan = MAX_LRU_BATCH,
					      .reclaim_idx = MAX_NR_ZONES - 1 };
	struct scan_result result = { 0 };
	char taken[DRAWING_BYTES];

	(void)state;
	lrugen_of(drawn)->min_seq[LRU_GEN_FILE] = 1;
	add(drawn, "ABCD", 0);
	access_folio(drawn, 'B', 2);
	lru_gen_preview(&drawn->mm, &request, as_it_is, NULL, &result);
	assert_int_equal(result.nr_scanned, 4);
	assert_int_equal(result.nr_taken, 3);
	assert_gen(drawn, 1, "[D C B A]");
	scan(drawn, 0, taken);
	assert_string_equal(taken, "ACD");
	drawn_close(drawn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_lruvec_has_four_empty_generations),
		cmocka_unit_test(folio_starts_where_it_came_from_says),
		cmocka_unit_test(from_6_14_on_it_starts_by_its_age),
		cmocka_unit_test(accesses_say_the_tier),
		cmocka_unit_test(protected_folios_are_reversed),
		cmocka_unit_test(saturated_folio_stays_whatever_its_tier_does),
		cmocka_unit_test(aging_of_mapped_folios_is_where_walks_are_missing),
		cmocka_unit_test(aging_merges_the_oldest_reversed),
		cmocka_unit_test(tier_is_protected_once_it_comes_back_too_often),
		cmocka_unit_test(counts_become_averages_that_halve),
		cmocka_unit_test(refault_is_recent_for_a_generation_or_for_four),
		cmocka_unit_test(empty_generations_are_given_up_down_to_two),
		cmocka_unit_test(empty_file_generations_wait_for_anon),
		cmocka_unit_test(folio_that_lost_its_list_remembers_that_it_was_young),
		cmocka_unit_test(preview_finds_what_the_scan_finds_and_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
