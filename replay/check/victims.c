// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/state.h"

#include <inttypes.h>

/* The first isolated folio that reclaim should free now, NULL: none is left. */
static struct folio *next_victim(const struct check *check, const struct reclaim_bracket *bracket)
{
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (!folio_test(folio, FOLIO_survivor) && check_must_evict(check, folio))
			return folio;
	}
	return NULL;
}

/*
 * The kernel did not take the doubtful folios that were expected next: they did survive the last
 * time, and others were isolated in their place.
 */
static void settle_doubtful(struct check *check, struct reclaim_bracket *bracket)
{
	struct scan_request more = bracket->applied;
	struct scan_result result = { 0 };
	struct folio *expected;

	more.nr_to_scan = 0;
	while ((expected = next_victim(check, bracket)) && folio_test(expected, FOLIO_doubtful)) {
		folio_set(expected, FOLIO_survivor);
		more.nr_to_scan += folio_nr_pages(expected);
	}
	if (more.nr_to_scan)
		check->machine.mm.policy->isolate(&check->machine.mm, &more, &bracket->taken,
						  &result);
}

/*
 * Whether it goes depends on page tables, of which no event tells; but it must be among those taken, and
 * behind the last one that went.
 */
static void compare_examined(struct check *check, struct reclaim_bracket *bracket,
			     struct folio *folio)
{
	bool drifted = check_drifted(check, bracket->top,
				     bracket->applied.lru >= LRU_INACTIVE_FILE);

	bracket->predicted_reclaimed += folio_nr_pages(folio);
	if (check_shown(bracket, folio, &bracket->nr_freed)) {
		if (!drifted)
			check_equal(check, bracket->top, CHECK_victim);
		return;
	}
	if (!drifted)
		check_unequal(check, bracket->top, CHECK_victim, "another|pfn %" PRIx32 "%s",
			      folio->pfn,
			      folio_test(folio, FOLIO_isolated) ? "" : ", not isolated");
	if (!folio_test(folio, FOLIO_isolated))
		check_stranger(check, bracket, folio);
}

static void compare_victim(struct check *check, struct reclaim_bracket *bracket,
			   struct folio *folio)
{
	struct folio *expected;

	if (!check->world->writeback.seen && folio_test(folio, PG_dirty)) {
		/* It was written back, and perhaps rotated: no event says when either ended. */
		check->undecided.writeback++;
		world_infer(check->world, INFER_writeback_ended);
		if (!folio_test(folio, FOLIO_isolated))
			bracket->strangers += folio_nr_pages(folio);
		bracket->total_unknown = true;
		if (check->growth)
			check_shown(bracket, folio, &bracket->nr_freed);
		return;
	}
	if (check->growth && !check_must_evict(check, folio)) {
		compare_examined(check, bracket, folio);
		return;
	}
	expected = next_victim(check, bracket);
	if (expected && expected != folio && folio_test(expected, FOLIO_doubtful)) {
		settle_doubtful(check, bracket);
		expected = next_victim(check, bracket);
	}
	if (check->growth)
		check_shown(bracket, folio, &bracket->nr_freed);
	if (folio == expected) {
		check_equal(check, bracket->top, CHECK_victim);
		return;
	}
	if (check_is_metadata(check, folio)) {
		check->undecided.metadata++;
		return;
	}
	if (expected)
		check_unequal(check, bracket->top, CHECK_victim,
			      "pfn %" PRIx32 "|pfn %" PRIx32 "%s", expected->pfn, folio->pfn,
			      folio_test(folio, FOLIO_isolated) ? "" : ", not isolated");
	else
		check_unequal(check, bracket->top, CHECK_victim, "no victim|pfn %" PRIx32,
			      folio->pfn);
	if (!folio_test(folio, FOLIO_isolated)) {
		bracket->strangers += folio_nr_pages(folio);
		bracket->confused = true;
		return;
	}
	for (struct list_head *pos = bracket->taken.next;
	     pos != &bracket->taken && pos != &folio->lru; pos = pos->next)
		folio_set(list_entry(pos, struct folio, lru), FOLIO_survivor);
}

void check_evict(struct check *check, struct folio *folio, struct mem_cgroup *target)
{
	struct mm *mm = &check->machine.mm;
	uint64_t shadow = shadow_pack(mm->policy->evict(mm, folio, target));

	machine_evicted(&check->machine, folio, shadow);
	mm_folio_forget(mm, folio);
}

void check_anon_victim(struct check *check, struct reclaim_bracket *bracket, struct folio *folio)
{
	compare_examined(check, bracket, folio);
	check_looked_at(check, bracket, folio, OUTCOME_evicted);
	check_evict(check, folio, bracket->target);
}

void check_folio_deleted(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct folio *folio = check_known_folio(check, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN]);
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	uint64_t order = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER];

	if (order == TAPE_VALUE_ABSENT || order > FOLIO_ORDER_LIMIT)
		order = 0;
	if (!folio || !folio->file) {
		/* In memory before the tape began. Truncation leaves no shadow in its place. */
		if (bracket)
			check->undecided.unseen_folio++;
		return;
	}
	if (bracket && bracket->predicted) {
		if (check->machine.mm.policy->generations) {
			check_lru_gen_victim(check, bracket, folio);
		} else {
			check_place_by_victim(check, bracket, folio);
			compare_victim(check, bracket, folio);
			bracket->any_victim = true;
		}
		check_looked_at(check, bracket, folio, OUTCOME_evicted);
		check_evict(check, folio, bracket->target);
	} else if (bracket) {
		check_foreign_eviction(check, folio);
		check_evict(check, folio, bracket->target);
	} else if (task && world_task_is_kdamond(task)) {
		world_infer(check->world, INFER_eviction_by_kdamond);
		check_foreign_eviction(check, folio);
		check_evict(check, folio, NULL);
	} else {
		check->world->nr_stimuli++;
		machine_forget(&check->machine, folio);
		page_cache_store(
			&check->machine.cache,
			world_file(check->world, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO]),
			v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX], UINT64_C(1) << order, 0);
	}
}

/* Back to the tail they came from, the oldest last, as if they had never been isolated. */
static void return_doubtful(struct reclaim_bracket *bracket, struct list_head *list)
{
	while (!list_empty(list)) {
		struct folio *folio = list_entry(list->prev, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated | FOLIO_survivor);
		folio_set(folio, PG_lru | FOLIO_doubtful);
		lruvec_add_folio_tail(bracket->applied.lruvec, folio);
	}
}

/* Who of the survivors becomes active is known by number only: those the core would first. */
static void place_survivors(struct check *check, struct reclaim_bracket *bracket,
			    uint64_t nr_active)
{
	for (int pass = 0; pass < 2; pass++) {
		struct list_head *pos;

		for (pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
			struct folio *folio = list_entry(pos, struct folio, lru);

			folio_clear(folio, FOLIO_survivor | FOLIO_doubtful);
			if (!nr_active || folio_test(folio, PG_active) ||
			    (!pass && check_would_evict(check, folio)))
				continue;
			folio_set(folio, PG_active | (folio_test(folio, PG_dirty | PG_writeback) ?
							      PG_reclaim :
							      0));
			nr_active -= nr_active < folio_nr_pages(folio) ? nr_active :
									 folio_nr_pages(folio);
		}
	}
}

void check_inactive_shrunk(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	struct mm *mm = &check->machine.mm;
	struct list_head doubtful, not_isolated;
	struct folio *folio;

	if (!bracket || !bracket->predicted || !bracket->isolated)
		return;
	check_place_again(check, bracket, v[MM_VMSCAN_LRU_SHRINK_INACTIVE_PRIORITY]);
	if (check->growth) {
		check_isolation_settled(check, bracket);
		check_looks_over(check, bracket, v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_REF_KEEP],
				 v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_UNMAP_FAIL]);
		bracket->result.nr_scanned = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_SCANNED];
		bracket->result.nr_reclaimed = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_RECLAIMED];
		check_isolation_done(check, bracket);
		return;
	}
	list_init(&doubtful);
	list_init(&not_isolated);
	/* For each stranger that was evicted, the youngest of these was not isolated at all. */
	while (bracket->strangers && !list_empty(&bracket->taken)) {
		folio = list_entry(bracket->taken.prev, struct folio, lru);
		bracket->strangers -= folio_nr_pages(folio) < bracket->strangers ?
					      folio_nr_pages(folio) :
					      bracket->strangers;
		folio_set(folio, FOLIO_survivor);
		list_move(&folio->lru, &not_isolated);
	}
	/*
	 * The others, a recording that saw the group from its beginning says, were locked or held;
	 * elsewhere an unseen folio may have stood in their place.
	 */
	while ((folio = next_victim(check, bracket))) {
		check->undecided.survivors++;
		folio_set(folio, FOLIO_survivor);
		if (check->world->memcg_inferred || bracket->some_unseen || bracket->confused)
			list_move_tail(&folio->lru, &doubtful);
	}
	return_doubtful(bracket, &not_isolated);
	return_doubtful(bracket, &doubtful);
	place_survivors(check, bracket,
			v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE0] +
				v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE1]);
	mm->policy->putback(mm, &bracket->applied, &bracket->taken);
	bracket->result.nr_scanned = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_SCANNED];
	bracket->result.nr_reclaimed = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_RECLAIMED];
	check_isolation_done(check, bracket);
}

void check_active_shrunk(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	uint64_t nr_active = check->event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_NR_ACTIVE];
	struct mm *mm = &check->machine.mm;
	bool any_mapped = false;

	if (!bracket || !bracket->predicted || !bracket->isolated)
		return;
	check_place_again(check, bracket,
			  check->event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_PRIORITY]);
	if (check->growth) {
		check_isolation_settled(check, bracket);
		check_looks_over(check, bracket, 0, 0);
		check_isolation_done(check, bracket);
		return;
	}
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next)
		any_mapped |= folio_test(list_entry(pos, struct folio, lru), FOLIO_mapped);
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		/* Which ones stayed is not told, only how many: the oldest mapped ones stand for them. */
		if (nr_active >= folio_nr_pages(folio) &&
		    (!any_mapped || folio_test(folio, FOLIO_mapped)))
			nr_active -= folio_nr_pages(folio);
		else if (mm->policy->examine_active)
			mm->policy->examine_active(mm, folio->lruvec, folio);
	}
	mm->policy->putback(mm, &bracket->applied, &bracket->taken);
	check_isolation_done(check, bracket);
}
