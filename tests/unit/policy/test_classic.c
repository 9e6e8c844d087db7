// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/mm/drawn.h"

#define FIRST_PFN 65536

static void access_folio(struct drawn *drawn, unsigned int cpu, char letter)
{
	drawn->mm.policy->folio_accessed(&drawn->mm, cpu, folio_at(drawn, (unsigned char)letter));
}

static void drain(struct drawn *drawn, unsigned int cpu)
{
	lru_add_drain(&drawn->mm, cpu, DRAIN_recorded);
}

/* ---- second access
 *
 *   flags before          flags after             activation queued, ages
 *   -                     referenced              no
 *   referenced            -                       yes
 *   active                active referenced       no
 *   active referenced     active referenced       no
 *   unevictable           + referenced            no
 *   unevictable ref.      the same                no
 */
static void access_on_a_list_goes_by_the_state_table(void **state)
{
	static const struct {
		uint32_t before, after;
		bool queued;
	} table[] = {
		{ 0, PG_referenced, false },
		{ PG_referenced, 0, true },
		{ PG_active, PG_active | PG_referenced, false },
		{ PG_active | PG_referenced, PG_active | PG_referenced, false },
		{ PG_unevictable, PG_unevictable | PG_referenced, false },
		{ PG_unevictable | PG_referenced, PG_unevictable | PG_referenced, false },
		{ PG_swapbacked | PG_referenced, PG_swapbacked, true },
		{ PG_workingset | PG_referenced, PG_workingset, true },
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct drawn *drawn = *state;
		struct folio *folio = drawn_listed(drawn, 'A' + i, table[i].before);
		uint64_t age = drawn->lruvec->nonresident_age;

		drawn->mm.policy->folio_accessed(&drawn->mm, 0, folio);
		assert_int_equal(folio->flags, FOLIO_alive | PG_lru | table[i].after);
		assert_int_equal(drawn->mm.cpu[0].batch[BATCH_LRU_ACTIVATE].nr, table[i].queued);
		assert_int_equal(drawn->lruvec->nonresident_age, age + table[i].queued);
		drain(drawn, 0);
		assert_int_equal(folio_test(folio, PG_active),
				 table[i].queued || table[i].before & PG_active);
	}
}

/*   read once      inactive [B A]  active []      A referenced
 *   read twice     inactive [B A]  active []      A waits in the batch
 *   drain          inactive [B]    active [A]                               */
static void second_access_activates_when_the_batch_drains(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "AB", 0);
	access_folio(drawn, 0, 'A');
	access_folio(drawn, 0, 'A');
	assert_file_lists(drawn->lruvec, "inactive [B A] active []");
	assert_batch(drawn, 0, BATCH_LRU_ACTIVATE, "A");
	assert_int_equal(drawn->lruvec->nonresident_age, 1); /* ages now, not at the drain */
	drain(drawn, 0);
	assert_file_lists(drawn->lruvec, "inactive [B] active [A]");
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 1);
}

static void fourth_access_before_the_drain_queues_and_ages_again(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "A", 0);
	for (int i = 0; i < 4; i++)
		access_folio(drawn, 0, 'A');
	assert_batch(drawn, 0, BATCH_LRU_ACTIVATE, "AA");
	assert_int_equal(drawn->lruvec->nonresident_age, 2);
	drain(drawn, 0);
	assert_file_lists(drawn->lruvec, "inactive [] active [A]");
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 1);
}

static void thirty_one_second_accesses_fill_the_batch(void **state)
{
	struct drawn *drawn = *state;

	drawn_list(drawn, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcde", PG_referenced);
	for (const char *letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcd"; *letter; letter++)
		access_folio(drawn, 0, *letter);
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 0);
	access_folio(drawn, 0, 'e');
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 31);
	assert_int_equal(drawn->lruvec->lock[LOCK_lru_activate].holds, 1);
}

/* New, and read twice before the lru_add batch drained: it is put on the active list at once. */
static void second_access_in_the_own_add_batch_sets_active(void **state)
{
	struct drawn *drawn = *state;

	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	access_folio(drawn, 0, 'A');
	access_folio(drawn, 0, 'A');
	assert_true(folio_test(folio_at(drawn, 'A'), PG_active));
	assert_false(folio_test(folio_at(drawn, 'A'), PG_referenced));
	assert_batch(drawn, 0, BATCH_LRU_ACTIVATE, "");
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	drain(drawn, 0);
	assert_file_lists(drawn->lruvec, "inactive [] active [A]");
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 0);
}

/* The other CPU looks in its own batch only: referenced is gone and time passed, for nothing. */
static void second_access_in_the_add_batch_of_another_cpu_is_lost(void **state)
{
	struct drawn *drawn = *state;

	folio_add_lru(&drawn->mm, 0, drawn_folio(drawn, 'A', 0));
	access_folio(drawn, 1, 'A');
	access_folio(drawn, 1, 'A');
	assert_false(folio_test(folio_at(drawn, 'A'), PG_active | PG_referenced));
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	drain(drawn, 0);
	assert_file_lists(drawn->lruvec, "inactive [A] active []");
}

static void second_access_of_an_isolated_folio_only_ages(void **state)
{
	struct drawn *drawn = *state;
	struct folio *folio = drawn_folio(drawn, 'A', FOLIO_isolated | PG_referenced);

	drawn->mm.policy->folio_accessed(&drawn->mm, 0, folio);
	assert_int_equal(folio->flags, FOLIO_alive | FOLIO_isolated);
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	assert_batch(drawn, 0, BATCH_LRU_ACTIVATE, "");
	folio_clear(folio, FOLIO_isolated);
}

static void large_folio_is_activated_at_once_and_ages_by_its_pages(void **state)
{
	struct drawn *drawn = *state;
	struct folio *folio = drawn_folio_of(drawn, drawn->group, 'L', 4, PG_lru | PG_referenced);

	lruvec_add_folio(drawn->lruvec, folio);
	drawn->mm.policy->folio_accessed(&drawn->mm, 0, folio);
	assert_file_lists(drawn->lruvec, "inactive [] active [L4]");
	assert_int_equal(drawn->lruvec->nonresident_age, 16);
	assert_int_equal(drawn->mm.root->lruvec[0].nonresident_age, 16);
	assert_int_equal(drawn->lruvec->counter[COUNT_pgactivate], 16);
}

/* ---- eviction and refault */

static struct shadow evict(struct drawn *drawn, uint64_t pfn, uint32_t flags,
			   struct mem_cgroup *target)
{
	struct folio *folio = drawn_folio(drawn, pfn, flags);
	struct shadow shadow = drawn->mm.policy->evict(&drawn->mm, folio, target);

	mm_folio_forget(&drawn->mm, folio);
	return shadow;
}

static bool refault(struct drawn *drawn, uint64_t pfn, uint32_t flags, struct shadow shadow)
{
	struct folio *folio = drawn_folio(drawn, pfn, flags);

	drawn->mm.policy->refault(&drawn->mm, folio, shadow);
	assert_true(folio_test(folio, FOLIO_refaulted));
	assert_int_equal(folio_test(folio, FOLIO_refault_active), folio_test(folio, PG_active));
	return folio_test(folio, PG_active);
}

static void shadow_holds_the_age_before_its_own_eviction(void **state)
{
	struct drawn *drawn = *state;
	struct shadow shadow;

	drawn->lruvec->nonresident_age = 40;
	shadow = evict(drawn, 'A', 0, drawn->group);
	assert_int_equal(shadow.age, 40);
	assert_int_equal(shadow.memcg_index, drawn->group->index);
	assert_false(shadow.workingset);
	assert_int_equal(drawn->lruvec->nonresident_age, 41);
	assert_true(evict(drawn, 'B', PG_workingset, drawn->group).workingset);
}

/* The memcg whose limit was hit, not the folio's own; global reclaim is the root's. */
static void shadow_belongs_to_the_target_of_the_reclaim(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *inner = mm_add_memcg(&drawn->mm, drawn->group, 101);
	struct folio *folio = drawn_folio_of(drawn, inner, 'A', 0, 0);
	struct shadow shadow = drawn->mm.policy->evict(&drawn->mm, folio, drawn->group);

	assert_int_equal(shadow.memcg_index, drawn->group->index);
	assert_int_equal(inner->lruvec[0].nonresident_age, 0);
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	shadow = drawn->mm.policy->evict(&drawn->mm, folio, NULL);
	assert_int_equal(shadow.memcg_index, drawn->mm.root->index);
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	assert_int_equal(drawn->mm.root->lruvec[0].nonresident_age, 2);
}

/*   active file 5 pages      evicted at age 100
 *   returns at age 105       distance 5: the last that activates
 *   returns at age 106       distance 6: too far                   */
static void refault_within_the_workingset_activates(void **state)
{
	struct drawn *drawn = *state;
	const struct shadow shadow = { .memcg_index = drawn->group->index, .age = 100 };

	drawn->lruvec->flushed[NR_ACTIVE_FILE] = 5;
	drawn->lruvec->nonresident_age = 105;
	assert_true(refault(drawn, 'A', 0, shadow));
	drawn->lruvec->nonresident_age = 106;
	assert_false(refault(drawn, 'B', 0, shadow));
	assert_int_equal(drawn->lruvec->counter[COUNT_workingset_refault_file], 2);
	assert_int_equal(drawn->lruvec->counter[COUNT_workingset_activate_file], 1);
}

static void refault_is_judged_by_the_size_at_the_last_flush(void **state)
{
	struct drawn *drawn = *state;
	const struct shadow shadow = { .memcg_index = drawn->group->index, .age = 0 };

	drawn_list(drawn, "ABCDE", PG_active);
	drawn->lruvec->nonresident_age = 3;
	assert_false(refault(drawn, 'X', 0, shadow));
	mem_cgroup_flush_stats(&drawn->mm, drawn->mm.root);
	assert_true(refault(drawn, 'Y', 0, shadow));
}

/*   file refault competes with   active file, and with swap also both anon lists
 *   anon refault competes with   both file lists, and with swap also active anon    */
static void workingset_is_what_the_folio_could_have_displaced(void **state)
{
	static const struct {
		uint32_t flags;
		int64_t swap_pages;
		uint64_t workingset;
	} table[] = {
		{ 0, 0, 1000 },
		{ 0, 1, 1000 + 100 + 10 },
		{ PG_swapbacked, 0, 1000 + 1 },
		{ PG_swapbacked, 1, 1000 + 1 + 10 },
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct drawn *drawn = *state;
		const struct shadow shadow = { .memcg_index = drawn->group->index };

		drawn->mm.config.nr_swap_pages = table[i].swap_pages;
		drawn->lruvec->flushed[NR_ACTIVE_FILE] = 1000;
		drawn->lruvec->flushed[NR_INACTIVE_ANON] = 100;
		drawn->lruvec->flushed[NR_ACTIVE_ANON] = 10;
		drawn->lruvec->flushed[NR_INACTIVE_FILE] = 1;
		drawn->lruvec->nonresident_age = table[i].workingset;
		assert_true(refault(drawn, 'A' + 2 * i, table[i].flags, shadow));
		drawn->lruvec->nonresident_age = table[i].workingset + 1;
		assert_false(refault(drawn, 'B' + 2 * i, table[i].flags, shadow));
	}
}

/* Distance is measured at the level that evicted, time passes at the new owner's. */
static void refault_in_another_group_ages_that_group(void **state)
{
	struct drawn *drawn = *state;
	struct mem_cgroup *other = mm_add_memcg(&drawn->mm, NULL, 102);
	const struct shadow shadow = { .memcg_index = drawn->group->index };
	struct folio *folio = drawn_folio_of(drawn, other, 'A', 2, 0);

	drawn->lruvec->flushed[NR_ACTIVE_FILE] = 1;
	other->lruvec[0].nonresident_age = 1000;
	drawn->mm.policy->refault(&drawn->mm, folio, shadow);
	assert_true(folio_test(folio, PG_active));
	assert_int_equal(drawn->lruvec->nonresident_age, 0);
	assert_int_equal(other->lruvec[0].nonresident_age, 1004);
	assert_int_equal(drawn->mm.root->lruvec[0].nonresident_age, 4);
	assert_int_equal(other->lruvec[0].counter[COUNT_workingset_refault_file], 4);
	assert_int_equal(other->lruvec[0].stat[WORKINGSET_ACTIVATE_FILE], 4);
}

static void shadow_of_a_removed_group_is_counted_and_never_activates(void **state)
{
	struct drawn *drawn = *state;
	struct shadow shadow = { .memcg_index = drawn->group->index };

	drawn->lruvec->flushed[NR_ACTIVE_FILE] = 1000;
	drawn->group->online = false;
	assert_false(refault(drawn, 'A', 0, shadow));
	shadow.memcg_index = 4711; /* never was */
	assert_false(refault(drawn, 'B', 0, shadow));
	assert_int_equal(drawn->lruvec->counter[COUNT_workingset_refault_file], 2);
}

static void distance_goes_on_over_the_wrap_of_the_age(void **state)
{
	struct drawn *drawn = *state;
	struct shadow shadow;

	drawn->lruvec->flushed[NR_ACTIVE_FILE] = 5;
	drawn->lruvec->nonresident_age = WORKINGSET_AGE_MASK - 1;
	shadow = shadow_unpack(shadow_pack(evict(drawn, 'A', 0, drawn->group)));
	drawn->lruvec->nonresident_age += 4;
	assert_true(refault(drawn, 'B', 0, shadow));
	drawn->lruvec->nonresident_age += 1; /* and one by the refault itself */
	assert_false(refault(drawn, 'C', 0, shadow));
}

/* It was active when it was evicted: I/O for what we should have kept, 32 times a rotation. */
static void restored_folio_gets_its_flag_back_and_costs_io(void **state)
{
	struct drawn *drawn = *state;
	struct lruvec *root = &drawn->mm.root->lruvec[0];

	drawn->lruvec->flushed[NR_ACTIVE_FILE] = root->flushed[NR_ACTIVE_FILE] = 4000;
	assert_true(
		refault(drawn, 'A', 0,
			(struct shadow){ .memcg_index = drawn->group->index, .workingset = true }));
	assert_true(folio_test(folio_at(drawn, 'A'), PG_workingset));
	assert_int_equal(drawn->lruvec->counter[COUNT_workingset_restore_file], 1);
	assert_int_equal(drawn->lruvec->file_cost, 32);
	assert_int_equal(root->file_cost, 32);
	assert_int_equal(drawn->lruvec->anon_cost, 0);
	assert_int_equal(drawn->lruvec->lock[LOCK_note_cost].holds, 1);
	assert_int_equal(root->lock[LOCK_note_cost].holds, 1);
}

static void refault_too_far_away_is_not_restored(void **state)
{
	struct drawn *drawn = *state;

	drawn->lruvec->nonresident_age = 1;
	assert_false(
		refault(drawn, 'A', 0,
			(struct shadow){ .memcg_index = drawn->group->index, .workingset = true }));
	assert_false(folio_test(folio_at(drawn, 'A'), PG_workingset));
	assert_int_equal(drawn->lruvec->file_cost, 0);
}

/* ---- cost */

static void note_rotations(struct drawn *drawn, enum lru_list lru, uint64_t nr_scanned,
			   uint64_t nr_reclaimed)
{
	const struct scan_request request = { .lruvec = drawn->lruvec,
					      .lru = lru,
					      .nr_to_scan = nr_scanned };
	const struct scan_result result = { .nr_scanned = nr_scanned,
					    .nr_taken = nr_scanned,
					    .nr_reclaimed = nr_reclaimed };
	struct reclaim_walk walk;

	reclaim_walk_begin(&walk, &drawn->mm, drawn->group, 1, true);
	drawn->mm.policy->shrink_done(&walk, &request, &result);
}

static void survivors_of_the_inactive_list_are_a_cost_at_each_level(void **state)
{
	struct drawn *drawn = *state;
	struct lruvec *root = &drawn->mm.root->lruvec[0];

	drawn->lruvec->flushed[NR_ACTIVE_FILE] = root->flushed[NR_ACTIVE_FILE] = 1000;
	note_rotations(drawn, LRU_INACTIVE_FILE, 10, 3);
	note_rotations(drawn, LRU_INACTIVE_ANON, 32, 30);
	assert_int_equal(drawn->lruvec->file_cost, 7);
	assert_int_equal(drawn->lruvec->anon_cost, 2);
	assert_int_equal(root->file_cost, 7);
	/* The first level is done under the hold that put them back. */
	assert_int_equal(drawn->lruvec->lock[LOCK_note_cost].holds, 0);
	assert_int_equal(root->lock[LOCK_note_cost].holds, 2);
}

static void scan_that_frees_all_costs_nothing(void **state)
{
	struct drawn *drawn = *state;

	note_rotations(drawn, LRU_INACTIVE_FILE, 32, 32);
	note_rotations(drawn, LRU_ACTIVE_FILE, 32, 0);
	assert_int_equal(drawn->lruvec->file_cost, 0);
	assert_int_equal(drawn->mm.root->lruvec[0].lock[LOCK_note_cost].holds, 0);
}

/* A quarter of 100 pages is 25: a cost of 25 stays, 26 is halved, at each level by its own size. */
static void cost_is_halved_above_a_quarter_of_the_lists(void **state)
{
	struct drawn *drawn = *state;
	struct lruvec *root = &drawn->mm.root->lruvec[0];

	for (int item = NR_INACTIVE_ANON; item <= NR_ACTIVE_FILE; item++)
		drawn->lruvec->flushed[item] = 25;
	root->flushed[NR_ACTIVE_FILE] = 1000;
	note_rotations(drawn, LRU_INACTIVE_ANON, 5, 0);
	note_rotations(drawn, LRU_INACTIVE_FILE, 20, 0);
	assert_int_equal(drawn->lruvec->anon_cost + drawn->lruvec->file_cost, 25);
	note_rotations(drawn, LRU_INACTIVE_FILE, 1, 0);
	assert_int_equal(drawn->lruvec->anon_cost, 2);
	assert_int_equal(drawn->lruvec->file_cost, 10);
	assert_int_equal(root->file_cost, 21);
}

/* ---- isolation, deactivation, putback */

static void isolate(struct drawn *drawn, const struct scan_request *request,
		    struct scan_result *result, struct list_head *taken)
{
	list_init(taken);
	memset(result, 0, sizeof(*result));
	drawn->mm.policy->isolate(&drawn->mm, request, taken, result);
}

static void isolation_takes_from_the_tail_in_order(void **state)
{
	struct drawn *drawn = *state;
	const struct scan_request request = { .lruvec = drawn->lruvec,
					      .lru = LRU_INACTIVE_FILE,
					      .nr_to_scan = 2 };
	char text[DRAWING_BYTES];
	struct scan_result result;
	struct list_head taken;

	drawn_list(drawn, "ABC", 0);
	isolate(drawn, &request, &result, &taken);
	draw_list(text, 0, &taken);
	assert_string_equal(text, "[A B]");
	assert_file_lists(drawn->lruvec, "inactive [C] active []");
	assert_int_equal(result.nr_scanned, 2);
	assert_int_equal(result.nr_taken, 2);
	assert_int_equal(lruvec_lru_size(drawn->lruvec, LRU_INACTIVE_FILE), 1);
	assert_false(folio_test(folio_at(drawn, 'A'), PG_lru));
	drawn->mm.policy->putback(&drawn->mm, &request, &taken);
	assert_file_lists(drawn->lruvec, "inactive [B A C] active []");
	assert_mm_holds(&drawn->mm);
}

/* Two pages asked for, one folio of 512 taken: seen live. */
static void isolation_takes_whole_folios(void **state)
{
	struct drawn *drawn = *state;
	const struct scan_request request = { .lruvec = drawn->lruvec,
					      .lru = LRU_INACTIVE_FILE,
					      .nr_to_scan = 2 };
	struct scan_result result;
	struct list_head taken;

	lruvec_add_folio(drawn->lruvec, drawn_folio_of(drawn, drawn->group, 'L', 9, PG_lru));
	drawn_list(drawn, "A", 0);
	isolate(drawn, &request, &result, &taken);
	assert_int_equal(result.nr_taken, 512);
	assert_file_lists(drawn->lruvec, "inactive [A] active []");
	drawn->mm.policy->putback(&drawn->mm, &request, &taken);
}

/*   active [D C B A] -> A and B deactivated:  inactive [B A ..]  active [D C]
 *   referenced is kept, so that one more access activates again                 */
static void deactivated_folio_keeps_referenced_and_gets_the_workingset_flag(void **state)
{
	struct drawn *drawn = *state;
	const struct scan_request request = { .lruvec = drawn->lruvec,
					      .lru = LRU_ACTIVE_FILE,
					      .nr_to_scan = 2 };
	struct scan_result result;
	struct list_head taken;

	drawn_list(drawn, "AB", PG_active | PG_referenced);
	drawn_list(drawn, "CD", PG_active);
	drawn_list(drawn, "Z", 0);
	isolate(drawn, &request, &result, &taken);
	for (struct list_head *pos = taken.next; pos != &taken; pos = pos->next)
		assert_false(drawn->mm.policy->examine_active(&drawn->mm, drawn->lruvec,
							      list_entry(pos, struct folio, lru)));
	drawn->mm.policy->putback(&drawn->mm, &request, &taken);
	assert_file_lists(drawn->lruvec, "inactive [B A Z] active [D C]");
	assert_true(folio_test(folio_at(drawn, 'A'), PG_workingset));
	assert_true(folio_test(folio_at(drawn, 'A'), PG_referenced));
	assert_int_equal(drawn->lruvec->counter[COUNT_pgdeactivate], 2);
	assert_int_equal(drawn->lruvec->nonresident_age, 0);
	access_folio(drawn, 0, 'A');
	assert_batch(drawn, 0, BATCH_LRU_ACTIVATE, "A");
}

/* Put back active: the lists age, whoever made it active. */
static void survivor_that_became_active_ages_the_lists(void **state)
{
	struct drawn *drawn = *state;
	const struct scan_request request = { .lruvec = drawn->lruvec,
					      .lru = LRU_INACTIVE_FILE,
					      .nr_to_scan = 2 };
	struct scan_result result;
	struct list_head taken;

	drawn_list(drawn, "ABC", 0);
	isolate(drawn, &request, &result, &taken);
	folio_set(folio_at(drawn, 'B'), PG_active);
	drawn->mm.policy->putback(&drawn->mm, &request, &taken);
	assert_file_lists(drawn->lruvec, "inactive [A C] active [B]");
	assert_int_equal(drawn->lruvec->nonresident_age, 1);
	assert_int_equal(drawn->mm.root->lruvec[0].nonresident_age, 1);
}

/* MADV_FREE: not swapbacked any more, hence on a file list. */
static void lazily_freed_anon_folio_sits_on_a_file_list(void **state)
{
	struct drawn *drawn = *state;
	struct folio *folio = drawn_folio(drawn, 'A', PG_swapbacked);

	drawn->mm.policy->folio_added(&drawn->mm, drawn->lruvec, folio);
	folio_set(folio, PG_lru);
	assert_anon_lists(drawn->lruvec, "inactive [A] active []");
	drawn->mm.policy->folio_removed(&drawn->mm, drawn->lruvec, folio);
	assert_false(folio_test(folio, PG_lru));
	folio_clear(folio, PG_swapbacked);
	drawn->mm.policy->folio_added(&drawn->mm, drawn->lruvec, folio);
	assert_file_lists(drawn->lruvec, "inactive [A] active []");
	folio_set(folio, PG_lru);
}

/* ---- the invariants can fail */

static void check_sees_a_wrong_size_a_wrong_list_and_a_lost_flag(void **state)
{
	struct drawn *drawn = *state;
	struct folio *a = drawn_listed(drawn, 'A', 0);
	const struct reclaim_policy *policy = drawn->mm.policy;

	assert_true(policy->check(&drawn->mm, drawn->lruvec));
	drawn->lruvec->lru_size[LRU_INACTIVE_FILE]++;
	assert_false(policy->check(&drawn->mm, drawn->lruvec));
	drawn->lruvec->lru_size[LRU_INACTIVE_FILE]--;
	folio_set(a, PG_active);
	assert_false(policy->check(&drawn->mm, drawn->lruvec));
	folio_clear(a, PG_active | PG_lru);
	assert_false(policy->check(&drawn->mm, drawn->lruvec));
	folio_set(a, PG_lru);
	a->lruvec = &drawn->mm.root->lruvec[0];
	assert_false(policy->check(&drawn->mm, drawn->lruvec));
	a->lruvec = drawn->lruvec;
	assert_true(policy->check(&drawn->mm, drawn->lruvec));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, drawn_setup, drawn_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(access_on_a_list_goes_by_the_state_table),
		TEST(second_access_activates_when_the_batch_drains),
		TEST(fourth_access_before_the_drain_queues_and_ages_again),
		TEST(thirty_one_second_accesses_fill_the_batch),
		TEST(second_access_in_the_own_add_batch_sets_active),
		TEST(second_access_in_the_add_batch_of_another_cpu_is_lost),
		TEST(second_access_of_an_isolated_folio_only_ages),
		TEST(large_folio_is_activated_at_once_and_ages_by_its_pages),
		TEST(shadow_holds_the_age_before_its_own_eviction),
		TEST(shadow_belongs_to_the_target_of_the_reclaim),
		TEST(refault_within_the_workingset_activates),
		TEST(refault_is_judged_by_the_size_at_the_last_flush),
		TEST(workingset_is_what_the_folio_could_have_displaced),
		TEST(refault_in_another_group_ages_that_group),
		TEST(shadow_of_a_removed_group_is_counted_and_never_activates),
		TEST(distance_goes_on_over_the_wrap_of_the_age),
		TEST(restored_folio_gets_its_flag_back_and_costs_io),
		TEST(refault_too_far_away_is_not_restored),
		TEST(survivors_of_the_inactive_list_are_a_cost_at_each_level),
		TEST(scan_that_frees_all_costs_nothing),
		TEST(cost_is_halved_above_a_quarter_of_the_lists),
		TEST(isolation_takes_from_the_tail_in_order),
		TEST(isolation_takes_whole_folios),
		TEST(deactivated_folio_keeps_referenced_and_gets_the_workingset_flag),
		TEST(survivor_that_became_active_ages_the_lists),
		TEST(lazily_freed_anon_folio_sits_on_a_file_list),
		TEST(check_sees_a_wrong_size_a_wrong_list_and_a_lost_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
