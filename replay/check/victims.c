// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/parts.h"

#include <inttypes.h>

struct folio *check_next_victim(const struct check *check, const struct reclaim_bracket *bracket)
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
	while ((expected = check_next_victim(check, bracket)) &&
	       folio_test(expected, FOLIO_doubtful)) {
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
			     struct folio *folio, bool in_turn)
{
	bool drifted = check_drifted(check, bracket->top,
				     bracket->applied.lru >= LRU_INACTIVE_FILE);

	bracket->predicted_reclaimed += folio_nr_pages(folio);
	if (in_turn && !check_told_stranger(bracket, folio)) {
		if (check_is_foreseen(check, folio))
			check->undecided.foreseen++;
		else if (!drifted)
			check_equal(check, bracket->top, CHECK_victim);
		return;
	}
	if (!drifted)
		check_unequal(
			check, bracket->top, CHECK_victim, "another|pfn %" PRIx32 "%s", folio->pfn,
			folio_test(folio, FOLIO_isolated) && !in_turn ? "" : ", not isolated");
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
		check_shown(bracket, folio, &bracket->nr_freed);
		return;
	}
	if (!check_must_evict(check, folio)) {
		compare_examined(check, bracket, folio,
				 check_shown(bracket, folio, &bracket->nr_freed));
		return;
	}
	expected = check_next_victim(check, bracket);
	if (expected && expected != folio && folio_test(expected, FOLIO_doubtful)) {
		settle_doubtful(check, bracket);
		expected = check_next_victim(check, bracket);
	}
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
	uint64_t shadow;

	if (folio_test(folio, PG_lazyfree)) {
		machine_forget(&check->machine, folio); /* nobody will miss it: no shadow */
		return;
	}
	if (folio_test(folio, PG_swapbacked))
		mm_charge_swapped(folio->lruvec->memcg, (int64_t)folio_nr_pages(folio));
	shadow = shadow_pack(mm->policy->evict(mm, folio, target));
	machine_evicted(&check->machine, folio, shadow);
	mm_folio_forget(mm, folio);
}

void check_anon_victim(struct check *check, struct reclaim_bracket *bracket, struct folio *folio)
{
	/* A page of a split folio that nothing maps: no eviction. See next_survivor(). */
	if (bracket->any_back && folio_test(folio, FOLIO_split)) {
		machine_forget(&check->machine, folio);
		return;
	}
	/* Up to 6.8 they are freed from a list, to whose head each of them went. */
	compare_examined(check, bracket, folio,
			 check->machine.mm.config.rules.release_pages ?
				 check_shown_last_first(bracket, folio) :
				 check_shown(bracket, folio,
					     folio_test(folio, PG_lazyfree) ? &bracket->nr_dropped :
									      &bracket->nr_freed));
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

	if (bracket && bracket->at_ahead + 1 < bracket->nr_ahead &&
	    bracket->ahead[bracket->at_ahead] != v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN])
		bracket->at_ahead++;
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
		/* A soft limit's shadows are the memcg's own. */
		check_evict(check, folio, bracket->outer ? folio->lruvec->memcg : bracket->target);
	} else if (task && world_task_is_kdamond(task)) {
		world_infer(check->world, INFER_eviction_by_kdamond);
		check_foreign_eviction(check, folio);
		check_evict(check, folio, NULL);
	} else {
		check->world->nr_stimuli++;
		check_gone(check, folio);
		machine_forget(&check->machine, folio);
		page_cache_store(
			&check->machine.cache,
			world_file(check->world, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO]),
			v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX], UINT64_C(1) << order, 0);
	}
}

void check_inactive_shrunk(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	if (!bracket || !bracket->predicted || !bracket->isolated)
		return;
	check_place_again(check, bracket, v[MM_VMSCAN_LRU_SHRINK_INACTIVE_PRIORITY]);
	if (check->growth)
		check_isolation_settled(check, bracket);
	else
		check_survivors_placed(check, bracket);
	check_looks_over(check, bracket, v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_REF_KEEP],
			 v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_UNMAP_FAIL]);
	bracket->result.nr_scanned = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_SCANNED];
	bracket->result.nr_reclaimed = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_RECLAIMED];
	check_isolation_done(check, bracket);
}

void check_active_shrunk(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	if (!bracket || !bracket->predicted || !bracket->isolated)
		return;
	check_place_again(check, bracket,
			  check->event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_PRIORITY]);
	if (check->growth)
		check_isolation_settled(check, bracket);
	else
		check_deactivated_placed(check, bracket);
	check_looks_over(check, bracket, 0, 0);
	check_isolation_done(check, bracket);
}
