// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim calls of a kernel that runs MGLRU.
 *
 * Isolations are predicted in full: which folios the scan moves on and which it takes is the core's own
 * doing, held against the event's three numbers. What is taken from the tape is which of the isolated
 * folios survive.
 *
 *   begin   the walk starts, and waits
 *   [insertions: the drain at the start of each priority]
 *   isolate   the walk goes on up to here: it ages, chooses type and tiers, scans
 *   deletes   held against the isolated folios, oldest first
 *   shrink    the others go back
 *   end     the walk must be at its end as well
 *
 * The walk never runs ahead of the tape, since what is drained meanwhile belongs before the next aging and
 * the next scan. Up to 6.6 there are no isolate and shrink events: a victim that is not among the isolated
 * says that the next scan has begun.
 */
#include "replay/check/lru_gen.h"
#include "replay/event_stream.h"

#include <inttypes.h>
#include <stdlib.h>

struct reclaim_bracket *lru_gen_bracket(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);

	return task ? task->bracket : NULL;
}

static bool would_evict(const struct check *check, const struct folio *folio)
{
	return check_would_evict(check, folio) && !folio_test(folio, FOLIO_mapped);
}

/* The survivors go back, in the order in which they were taken; the walk is told what came of it. */
static void put_back(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_active)
{
	struct mm *mm = &check->machine.mm;

	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		folio_clear(folio, FOLIO_survivor | FOLIO_old);
		if (check_is_metadata(check, folio))
			check->undecided.metadata++;
		else if (folio_test(folio, PG_dirty | PG_writeback))
			check->undecided.writeback++;
		else
			check->undecided.survivors++;
		bracket->total_unknown = true;
		/* Which ones reclaim set active is known by number only: the oldest stand for them. */
		if (nr_active >= folio_nr_pages(folio)) {
			folio_set(folio, PG_active);
			nr_active -= folio_nr_pages(folio);
		}
	}
	mm->policy->putback(mm, &bracket->applied, &bracket->taken);
}

/*
 * What could be freed by now is tried once more: clean, in no page table, and not young when it was looked at.
 * Of anon that is what was written in this pass.
 */
static bool may_be_retried(const struct folio *folio)
{
	if (folio_test(folio, PG_dirty | PG_writeback | PG_active | PG_referenced))
		return false;
	return folio_test(folio, PG_swapbacked) ? folio_test(folio, FOLIO_old) :
						  !folio_test(folio, FOLIO_mapped);
}

static bool any_may_be_retried(const struct reclaim_bracket *bracket)
{
	for (const struct list_head *pos = bracket->taken.next; pos != &bracket->taken;
	     pos = pos->next)
		if (may_be_retried(list_entry(pos, const struct folio, lru)))
			return true;
	return false;
}

/* There is a second pass. What is not tried again went back before it. @victim: is, or NULL */
static void second_pass(struct check *check, struct reclaim_bracket *bracket,
			const struct folio *victim)
{
	struct list_head retried;

	list_init(&retried);
	for (struct list_head *pos = bracket->taken.next, *next; pos != &bracket->taken;
	     pos = next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		next = pos->next;
		if (folio != victim && !may_be_retried(folio))
			continue;
		folio_clear(folio, FOLIO_survivor);
		list_move_tail(pos, &retried);
	}
	put_back(check, bracket, bracket->nr_survived_active);
	while (!list_empty(&retried))
		list_move_tail(retried.next, &bracket->taken);
	bracket->nr_survived_active = 0;
	bracket->pass = PASS_SECOND;
}

static void end_scan(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_active)
{
	if (!bracket->isolated)
		return;
	if (lru_gen_is_silent(check) && !bracket->target)
		lru_gen_unscan(check, &bracket->taken);
	put_back(check, bracket, nr_active);
	bracket->isolated = false;
	bracket->pass = PASS_FIRST;
	if (bracket->has_request)
		reclaim_walk_done(&bracket->walk, &bracket->result);
	bracket->has_request = false;
}

void lru_gen_scan_done(struct check *check, struct reclaim_bracket *bracket)
{
	end_scan(check, bracket, 0);
}

/*
 * The first pass is over. Of file folios that may be tried again no event says that they can be, so that all
 * survivors wait until it shows. Anon that has been written by now is.
 */
static void first_pass_done(struct check *check, struct reclaim_bracket *bracket,
			    uint64_t nr_active)
{
	if (lru_gen_is_silent(check) || !any_may_be_retried(bracket)) {
		end_scan(check, bracket, nr_active);
		return;
	}
	bracket->nr_survived_active = nr_active;
	bracket->pass = PASS_IS_OVER;
	if (bracket->applied.lru == LRU_INACTIVE_ANON)
		second_pass(check, bracket, NULL);
	if (bracket->has_request)
		reclaim_walk_done(&bracket->walk, &bracket->result);
	bracket->has_request = false;
}

/* Between scans the task's batches are drained, rotations before activations. */
static void drained_by_reclaim(struct check *check, struct reclaim_bracket *bracket)
{
	if (bracket->isolated || !bracket->predicted || bracket->walk.drain_told)
		return;
	bracket->walk.drain_told = true;
	lru_batch_drain(&check->machine.mm, check_cpu(check), BATCH_LRU_MOVE_TAIL, DRAIN_reclaim);
}

/* Does the event say that there is no other pass over what the task's scan has isolated? */
static bool ends_passes(const struct check *check)
{
	switch (check->event->kind) {
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
	case EVENT_MM_PAGE_FREE:
	case EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE:
	case EVENT_MM_VMSCAN_WRITE_FOLIO:
	case EVENT_BLOCK_BIO_QUEUE:
	case EVENT_BLOCK_RQ_COMPLETE:
		return false;
	default:
		return true;
	}
}

static bool has_own_order(const struct reclaim_bracket *bracket)
{
	return reclaim_walk_has_own_order(&bracket->walk);
}

/*
 * The kernel looks at the sizes as soon as it has drained. Writes that end between that and the isolation's
 * event are rotated too late for that.
 */
static void note_sizes_after_drain(struct reclaim_bracket *bracket)
{
	struct reclaim_walk *walk = &bracket->walk;
	const struct lruvec *lruvec = mem_cgroup_lruvec(bracket->top, 0);

	if (!bracket->in_drain)
		return;
	bracket->in_drain = false;
	if (has_own_order(bracket) || mem_cgroup_next(bracket->top, bracket->top))
		return;
	walk->aging_after_drain = lru_gen_should_age(walk->mm, lruvec,
						     lru_gen_swappiness(walk, bracket->top)) ?
					  AGING_YES :
					  AGING_NO;
}

void check_lru_gen_survived(struct check *check)
{
	struct reclaim_bracket *bracket = lru_gen_bracket(check);

	if (!bracket)
		return;
	note_sizes_after_drain(bracket);
	if (check_in_interrupt(check))
		return;
	if (bracket->pass != PASS_FIRST && ends_passes(check))
		end_scan(check, bracket, bracket->nr_survived_active);
	if (check->event->kind == EVENT_MM_LRU_INSERTION ||
	    check->event->kind == EVENT_MM_LRU_ACTIVATE) {
		drained_by_reclaim(check, bracket);
		bracket->in_drain = bracket->walk.drain_told;
	}
}

/* The scan that bracket->applied says, by the core. */
void lru_gen_scan(struct check *check, struct reclaim_bracket *bracket)
{
	struct mm *mm = &check->machine.mm;

	bracket->result = (struct scan_result){ 0 };
	mm->policy->isolate(mm, &bracket->applied, &bracket->taken, &bracket->result);
	bracket->isolated = true;
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		const struct folio *folio = list_entry(pos, struct folio, lru);

		if (would_evict(check, folio))
			bracket->predicted_reclaimed += folio_nr_pages(folio);
		check_note_isolated(check, bracket, folio);
		bracket->total_unknown |= folio_test(folio, FOLIO_mapped | PG_swapbacked);
	}
}

/*
 * The highest tier to evict was chosen a little before the isolation's event, when another task's victims
 * of these microseconds did not count yet: of the other tiers the one is taken whose figures are those.
 */
static int tier_of_figures(struct check *check, struct scan_request request)
{
	const uint64_t *v = check->event->value;
	const int predicted = request.tier_idx;

	for (request.tier_idx = 0; request.tier_idx < MAX_NR_TIERS; request.tier_idx++) {
		struct scan_result result = { 0 };

		lru_gen_preview(&check->machine.mm, &request, check_lru_gen_by_the_rules, NULL,
				&result);
		if (result.nr_scanned == v[MM_VMSCAN_LRU_ISOLATE_NR_SCANNED] &&
		    result.nr_taken == v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN])
			return request.tier_idx;
	}
	return predicted;
}

/* Compare the figures, with what the walk's own tier makes of it. The recorded ones then take place. */
static void compare_figures(struct check *check, struct reclaim_bracket *bracket)
{
	const uint64_t *v = check->event->value;
	struct scan_result own = { 0 };

	lru_gen_preview(&check->machine.mm, &bracket->applied, check_lru_gen_by_the_rules, NULL,
			&own);
	if (own.nr_scanned == v[MM_VMSCAN_LRU_ISOLATE_NR_SCANNED] &&
	    own.nr_taken == v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN] &&
	    !v[MM_VMSCAN_LRU_ISOLATE_NR_SKIPPED]) {
		check_equal(check, bracket->top, CHECK_isolate_figures);
		return;
	}
	check_unequal(check, bracket->top, CHECK_isolate_figures,
		      "scanned %" PRIu64 ", skipped 0, taken %" PRIu64 "|scanned %" PRIu64
		      ", skipped %" PRIu64 ", taken %" PRIu64,
		      own.nr_scanned, own.nr_taken, v[MM_VMSCAN_LRU_ISOLATE_NR_SCANNED],
		      v[MM_VMSCAN_LRU_ISOLATE_NR_SKIPPED], v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN]);
	bracket->applied.tier_idx = tier_of_figures(check, bracket->applied);
}

#define LRU_GEN_MM_WALK 2 /* bit of /sys/kernel/mm/lru_gen/enabled */

static bool any_mapped(const struct lruvec *lruvec)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);

	for (int gen = 0; gen < MAX_NR_GENS; gen++)
		for (int type = 0; type < ANON_AND_FILE; type++)
			for (int zone = 0; zone < MAX_NR_ZONES; zone++) {
				const struct list_head *head = &lrugen->folios[gen][type][zone];

				for (const struct list_head *pos = head->next; pos != head;
				     pos = pos->next)
					if (folio_test(list_entry(pos, const struct folio, lru),
						       FOLIO_mapped))
						return true;
			}
	return false;
}

/* The walk goes on to its next scan. @foreseen: where none is, 0. Return: false: it ends. */
bool lru_gen_next_scan(struct check *check, struct reclaim_bracket *bracket, uint64_t foreseen)
{
	const struct lruvec *lruvec = mem_cgroup_lruvec(bracket->top, 0);
	uint64_t agings = lruvec->counter[COUNT_aging];

	lru_gen_scan_done(check, bracket);
	bracket->walk.priority_ahead = has_own_order(bracket) ?
					       0 :
					       (uint8_t)(isolation_priority(foreseen) + 1);
	bracket->walk.aging_overruled = false;
	bracket->has_request = has_own_order(bracket) ?
				       check_lru_gen_place(check, bracket, foreseen) :
				       reclaim_walk_next(&bracket->walk, &bracket->request);
	if (bracket->walk.aging_overruled) {
		world_infer(check->world, INFER_aging_ahead);
		bracket->priority_missed = true;
	}
	if (lruvec->counter[COUNT_aging] != agings && check->walks_from_ns == UINT64_MAX &&
	    check->world->lru_gen_enabled & LRU_GEN_MM_WALK && any_mapped(lruvec))
		check->walks_from_ns = check->event->timestamp_ns;
	bracket->applied = bracket->request;
	return bracket->has_request;
}

void check_lru_gen_isolated(struct check *check, uint64_t foreseen)
{
	const uint64_t *v = check->event->value;
	struct reclaim_bracket *bracket = lru_gen_bracket(check);
	uint64_t lru = v[MM_VMSCAN_LRU_ISOLATE_LRU];
	const char *predicted;

	if (!bracket || !bracket->predicted ||
	    (lru != LRU_INACTIVE_ANON && lru != LRU_INACTIVE_FILE))
		return;
	/* What comes of one that took nothing is another isolation's, and maybe another priority's. */
	if (!has_own_order(bracket)) {
		bracket->priority_missed = false;
		foreseen = v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN] ? foreseen : 0;
	}
	predicted = lru_gen_next_scan(check, bracket, foreseen) ?
			    check_lru_name[bracket->request.lru] :
			    "the end";
	if (bracket->has_request && bracket->request.lru == lru) {
		check_equal(check, bracket->top, CHECK_isolate_request);
	} else {
		check_unequal(check, bracket->top, CHECK_isolate_request, "%s|%s", predicted,
			      check_lru_name[lru]);
		/* The scan takes place all the same; the walk is not told, for it is somewhere else. */
		struct mem_cgroup *memcg = has_own_order(bracket) && bracket->walk.memcg ?
						   bracket->walk.memcg :
						   bracket->top;

		bracket->has_request = false;
		bracket->applied = (struct scan_request){
			.lruvec = mem_cgroup_lruvec(memcg, 0),
			.lru = (enum lru_list)lru,
			.nr_to_scan = MAX_LRU_BATCH,
			.tier_idx = get_tier_idx(&check->machine.mm, mem_cgroup_lruvec(memcg, 0),
						 lru == LRU_INACTIVE_FILE),
			.swappiness = lru_gen_swappiness(&bracket->walk, memcg),
		};
	}
	bracket->applied.reclaim_idx = (uint8_t)v[MM_VMSCAN_LRU_ISOLATE_HIGHEST_ZONEIDX];
	if (bracket->applied.reclaim_idx >= MAX_NR_ZONES)
		bracket->applied.reclaim_idx = MAX_NR_ZONES - 1;
	lru_gen_settle_metadata(check, &bracket->applied, v[MM_VMSCAN_LRU_ISOLATE_NR_SCANNED],
				v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN]);
	compare_figures(check, bracket);
	lru_gen_scan(check, bracket);
	if (!v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN]) /* no shrink event follows */
		lru_gen_scan_done(check, bracket);
}

void check_lru_gen_shrunk(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct reclaim_bracket *bracket = lru_gen_bracket(check);
	uint64_t nr_reclaimed = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_RECLAIMED];
	uint64_t priority = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_PRIORITY];

	if (!bracket || !bracket->predicted)
		return;
	if (!bracket->isolated || bracket->pass != PASS_FIRST) {
		check->undecided.second_pass++;
		bracket->walk.sc.nr_reclaimed += nr_reclaimed;
		if (bracket->pass == PASS_IS_OVER)
			second_pass(check, bracket, NULL);
		end_scan(check, bracket, 0);
		return;
	}
	if (bracket->result.nr_evict == v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_SCANNED] &&
	    (uint64_t)bracket->walk.sc.priority == priority && !bracket->priority_missed)
		check_equal(check, bracket->top, CHECK_shrink_figures);
	else
		check_unequal(check, bracket->top, CHECK_shrink_figures,
			      "%" PRIu64 " pages at priority %d%s|%" PRIu64
			      " pages at priority %" PRIu64,
			      bracket->result.nr_evict, bracket->walk.sc.priority,
			      bracket->walk.aging_overruled ? ", aged otherwise" : "",
			      v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_SCANNED], priority);
	bracket->result.nr_reclaimed = nr_reclaimed;
	first_pass_done(check, bracket,
			v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE0] +
				v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE1]);
}

bool lru_gen_is_silent(const struct check *check)
{
	return check->machine.mm.config.rules.lru_gen.silent;
}

bool lru_gen_is_taken(const struct reclaim_bracket *bracket, const struct folio *folio)
{
	for (const struct list_head *pos = bracket->taken.next; pos != &bracket->taken;
	     pos = pos->next)
		if (pos == &folio->lru)
			return true;
	return false;
}

struct folio *lru_gen_next_victim(const struct check *check, const struct reclaim_bracket *bracket)
{
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (!folio_test(folio, FOLIO_survivor) && would_evict(check, folio))
			return folio;
	}
	return NULL;
}

void check_lru_gen_victim(struct check *check, struct reclaim_bracket *bracket, struct folio *folio)
{
	struct folio *expected;

	if (bracket->pass == PASS_IS_OVER)
		second_pass(check, bracket, folio);
	if (lru_gen_is_silent(check))
		lru_gen_scan_up_to(check, bracket, folio);
	if (bracket->isolated && !lru_gen_is_taken(bracket, folio))
		lru_gen_settle_victim(check, bracket, folio);
	if (folio_test(folio, PG_dirty)) {
		check->undecided.writeback++;
		world_infer(check->world, INFER_writeback_ended);
		bracket->total_unknown = true;
		return;
	}
	bracket->total_unknown |= check_is_metadata(check, folio);
	expected = lru_gen_next_victim(check, bracket);
	bracket->result.nr_reclaimed += lru_gen_is_silent(check) ? folio_nr_pages(folio) : 0;
	if (lru_gen_is_taken(bracket, folio) && !folio_test(folio, FOLIO_survivor)) {
		/* Those before it survived: why is told by no event. */
		for (struct list_head *pos = bracket->taken.next; pos != &folio->lru;
		     pos = pos->next)
			folio_set(list_entry(pos, struct folio, lru), FOLIO_survivor);
		check_equal(check, bracket->top, CHECK_victim);
	} else if (!bracket->isolated && !lru_gen_is_silent(check)) {
		check->undecided.second_pass++;
		bracket->total_unknown = true;
	} else if (expected) {
		check_unequal(check, bracket->top, CHECK_victim,
			      "pfn %" PRIx32 "|pfn %" PRIx32 "%s", expected->pfn, folio->pfn,
			      folio_test(folio, FOLIO_isolated) ? ", passed over" :
								  ", not isolated");
	} else {
		check_unequal(check, bracket->top, CHECK_victim, "no victim|pfn %" PRIx32,
			      folio->pfn);
	}
}

/* What the walk still asked for, before it came to its end. */
bool lru_gen_finish_walk(struct check *check, struct reclaim_bracket *bracket)
{
	if (has_own_order(bracket)) {
		lru_gen_scan_done(check, bracket);
		return check_lru_gen_would_go_on(check, bracket);
	}
	return lru_gen_is_silent(check) ? lru_gen_finish_silently(check, bracket) :
					  lru_gen_next_scan(check, bracket, 0);
}

void check_lru_gen_ended(struct check *check, uint64_t nr_reclaimed)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	if (!bracket)
		return;
	if (bracket->predicted) {
		bool goes_on = lru_gen_finish_walk(check, bracket);

		/* When kswapd stops hangs on free pages, which are in no event. */
		if (bracket->walk.sc.kswapd)
			;
		else if (goes_on)
			check_unequal(check, bracket->top, CHECK_reclaim_stop,
				      "goes on with %s|stops",
				      check_lru_name[bracket->request.lru]);
		else
			check_equal(check, bracket->top, CHECK_reclaim_stop);
		if (bracket->total_unknown || !bracket->target)
			; /* counted with the folios that survived */
		else if (bracket->predicted_reclaimed == nr_reclaimed)
			check_equal(check, bracket->top, CHECK_reclaimed_total);
		else
			check_unequal(check, bracket->top, CHECK_reclaimed_total,
				      "%" PRIu64 " pages|%" PRIu64 " pages",
				      bracket->predicted_reclaimed, nr_reclaimed);
		reclaim_walk_end(&bracket->walk);
		if (lru_gen_is_silent(check))
			lru_gen_silent_ended(check, bracket);
	}
	check_bracket_free(bracket);
	task->bracket = NULL;
}

void check_lru_gen_activated(struct check *check)
{
	struct mm *mm = &check->machine.mm;
	struct folio *folio = check_known_folio(check, check->event->value[MM_LRU_ACTIVATE_PFN]);

	if (!folio) {
		check->undecided.unseen_folio++;
		return;
	}
	/* Reclaim looked at the page tables around a folio: nothing else says which it found young. */
	check->undecided.young++;
	if (folio_test(folio, PG_lru))
		mm->policy->folio_activated(mm, folio->lruvec, folio);
}
