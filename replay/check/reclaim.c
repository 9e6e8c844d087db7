// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/parts.h"

#include <inttypes.h>
#include <string.h>
#include <stdlib.h>

#include "replay/mm/kswapd.h"

/* Of the file pages on lists, the share that may be older than the tape in reclaim from everybody. */
/* What GFP_KERNEL becomes in try_to_free_mem_cgroup_pages(), the same in 6.1, 6.12 and 6.18. */
#define GFP_OF_PLAIN_REQUEST 0x100cca
#define UNSEEN_SHARE_LIMIT 50 /* one in so many */

/* File pages on the lists of a subtree, and how many of them the tape has not seen come. */
static int64_t file_pages(struct mem_cgroup *top, int64_t *unseen)
{
	int64_t pages = 0;

	*unseen = 0;
	for (struct mem_cgroup *memcg = top; memcg; memcg = mem_cgroup_next(top, memcg))
		for (int lru = LRU_INACTIVE_FILE; lru <= LRU_ACTIVE_FILE; lru++) {
			pages += lruvec_lru_size(&memcg->lruvec[0], (enum lru_list)lru);
			*unseen += memcg->lruvec[0].unseen[lru];
		}
	return pages;
}

bool check_all_folios_known(struct mem_cgroup *top)
{
	for (struct mem_cgroup *memcg = top; memcg; memcg = mem_cgroup_next(top, memcg))
		if (memcg->lruvec[0].unseen[LRU_INACTIVE_FILE] ||
		    memcg->lruvec[0].unseen[LRU_ACTIVE_FILE])
			return false;
	return true;
}

/* Pages of the folio that a task has allocated and is being charged for. */
static uint64_t charge_pages(struct check *check, const struct world_task *task)
{
	struct folio *folio = task->fresh_pfn ? check_known_folio(check, task->fresh_pfn - 1) :
						NULL;

	return folio && !folio_test(folio, PG_lru | FOLIO_in_add_batch) && !folio->file ?
		       folio_nr_pages(folio) :
		       1;
}

static void bracket_advance(struct check *check, struct reclaim_bracket *bracket)
{
	check->nr_to_be_asked -= bracket->to_be_asked;
	bracket->to_be_asked = false;
	bracket->has_request = reclaim_walk_next(&bracket->walk, &bracket->request);
}

static void bracket_free(struct check *check, struct world_task *task)
{
	struct reclaim_bracket *bracket = task->bracket;

	for (; bracket; bracket = bracket->outer)
		check->nr_to_be_asked -= bracket->to_be_asked;
	check_bracket_free(task->bracket);
	task->bracket = NULL;
}

/*
 * v1: kswapd, and who reclaims from everybody, begin a round with the memcg that is most above its soft limit. That
 * is not predicted; the call that it is a part of goes on behind it.
 * Kernel: mm/vmscan.c, mem_cgroup_shrink_node(), v6.18.
 * Differs: what soft limits ask for is taken from the tape.
 */
static void soft_limit_begun(struct check *check, struct world_task *task)
{
	struct reclaim_bracket *bracket = calloc(1, sizeof(*bracket));

	if (!bracket) {
		check->failed = true;
		return;
	}
	list_init(&bracket->taken);
	bracket->top = check->machine.mm.root;
	bracket->outer = task->bracket;
	task->bracket = bracket;
	check->undecided.soft_limit++;
}

static void soft_limit_ended(struct world_task *task, uint64_t nr_reclaimed)
{
	struct reclaim_bracket *bracket = task->bracket, *outer = bracket->outer;

	bracket->outer = NULL;
	check_bracket_free(bracket);
	task->bracket = outer;
	if (!outer || !outer->predicted)
		return;
	outer->walk.sc.nr_reclaimed += nr_reclaimed;
	/* Nothing was isolated so far: what was asked for ahead of time is asked for again, of what is left. */
	if (outer->walk.sc.kswapd && outer->has_request && !outer->nr_taken) {
		kswapd_begin(&outer->walk, outer->walk.mm, outer->walk.sc.reclaim_idx);
		outer->walk.sc.nr_reclaimed = nr_reclaimed;
		outer->has_request = reclaim_walk_next(&outer->walk, &outer->request);
	}
}

void check_reclaim_goes_on(struct check *check)
{
	struct world_task *task;
	struct reclaim_bracket *bracket;

	if (!check->nr_to_be_asked)
		return;
	task = world_task(check->world, check->event->pid);
	bracket = task ? task->bracket : NULL;
	if (bracket && bracket->to_be_asked)
		bracket_advance(check, bracket);
}

/* Folios that are out, because the events of their putback were lost, go back. */
static void give_back(struct check *check, struct reclaim_bracket *bracket)
{
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next)
		folio_clear(list_entry(pos, struct folio, lru), FOLIO_survivor | FOLIO_doubtful);
	if (!list_empty(&bracket->taken))
		check->machine.mm.policy->putback(&check->machine.mm, &bracket->applied,
						  &bracket->taken);
}

/* Pages of a subtree that are charged and wait in lru_add batches. */
static int64_t waiting_pages(const struct check *check, const struct mem_cgroup *top)
{
	const struct mm *mm = &check->machine.mm;
	int64_t pages = 0;

	for (unsigned int cpu = 0; cpu < mm->config.nr_cpus; cpu++) {
		const struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ADD];

		for (unsigned int i = 0; i < batch->nr; i++) {
			const struct mem_cgroup *memcg = batch->folio[i]->lruvec->memcg;

			while (memcg && memcg != top)
				memcg = memcg->parent;
			pages += memcg ? (int64_t)folio_nr_pages(batch->folio[i]) : 0;
		}
	}
	return pages;
}

/*
 * Of what a full memcg uses for other things, those below it have as they had at the tape's end. Charges
 * count, not lists: folios may be isolated.
 */
static void share_overhead(struct mem_cgroup *target)
{
	int64_t all = 0, known = 0;

	for (struct mem_cgroup *child = target->first_child; child; child = child->next_sibling)
		known += child->usage_pages;
	for (int lru = 0; lru < NR_LRU_LISTS; lru++)
		known += lruvec_lru_size(&target->lruvec[0], (enum lru_list)lru);
	for (struct mem_cgroup *memcg = mem_cgroup_next(target, target); memcg;
	     memcg = mem_cgroup_next(target, memcg))
		all += memcg->overhead_pages;
	known -= all;
	for (struct mem_cgroup *memcg = mem_cgroup_next(target, target); all > 0 && memcg;
	     memcg = mem_cgroup_next(target, memcg)) {
		int64_t share = (int64_t)((__int128)(target->max_pages - known) *
					  memcg->overhead_pages / all);

		/* Shares of nothing could not grow again. */
		share = share > 0 || !memcg->overhead_pages ? share : 1;
		mm_charge(memcg, share - memcg->overhead_pages);
		memcg->overhead_pages = share;
	}
}

/* Pages of a subtree that a replay has on lists, or that wait to come on one. */
static int64_t listed_pages(const struct check *check, struct mem_cgroup *target)
{
	int64_t listed = waiting_pages(check, target);

	for (struct mem_cgroup *memcg = target; memcg; memcg = mem_cgroup_next(target, memcg)) {
		const struct lruvec *lruvec = &memcg->lruvec[0];

		for (int lru = 0; lru < NR_LRU_LISTS; lru++) {
			/* Anon folios that a replay cannot follow count as overhead. */
			if (lru >= LRU_INACTIVE_FILE || check->world->single_frees)
				listed += lruvec_lru_size(lruvec, (enum lru_list)lru);
			else
				listed += lruvec->unseen[lru];
		}
	}
	return listed;
}

void check_overhead_bounded(struct check *check)
{
	struct mem_cgroup *target = machine_limit(check_task_memcg(check, check->event->pid));
	uint32_t number;
	int64_t room;

	if (!check->world->spaces.grown || !target)
		return;
	number = machine_number(&check->machine, target);
	room = target->max_pages - listed_pages(check, target);
	if (check->world->memcg[number].overhead_pages > room)
		spaces_overhead_shown(check->world, number, room > 0 ? room : 0);
}

/* What memory and swap together leave for a memcg's memory, MEMCG_UNLIMITED: anything. */
static int64_t room_beside_swap(const struct mem_cgroup *target)
{
	return target->memsw_max_pages == MEMCG_UNLIMITED ?
		       MEMCG_UNLIMITED :
		       target->memsw_max_pages - target->swapped_pages;
}

/*
 * A charge tries memory and swap together first, and for a batch. Who fails there reclaims without swapping, also
 * if it is memory's own limit that the charge of a single page fails at in the end.
 */
static bool charge_may_swap(const struct check *check, const struct mem_cgroup *target,
			    uint64_t nr_pages)
{
	int64_t batch = check->machine.mm.config.rules.memcg_stock_pages;
	int64_t room = target ? room_beside_swap(target) : MEMCG_UNLIMITED;

	if (batch < (int64_t)nr_pages)
		batch = (int64_t)nr_pages;
	return room == MEMCG_UNLIMITED ||
	       (target->max_pages != MEMCG_UNLIMITED && target->max_pages + batch <= room);
}

/* The memcg is at its limit now; its own part of that which is on no list is the rest. */
static void note_overhead(struct check *check, struct mem_cgroup *target)
{
	int64_t listed, full = target->max_pages;

	if (room_beside_swap(target) < full)
		full = room_beside_swap(target);
	if (full == MEMCG_UNLIMITED)
		return;
	listed = listed_pages(check, target);
	target->overhead_pages = full > listed ? full - listed : 0;
	spaces_overhead_shown(check->world, machine_number(&check->machine, target),
			      target->overhead_pages);
	share_overhead(target);
	world_infer(check->world, INFER_overhead_at_reclaim);
}

/* Of what was written to memory.reclaim, the part that the next call is to free. */
static uint64_t foreign_batch(const struct check *check, const struct foreign_reclaim *asked,
			      uint64_t freed)
{
	return reclaim_proactive_batch(&check->machine.mm,
				       asked->pages > freed ? asked->pages - freed : 0);
}

/* Somebody outside of a memcg may have asked for this call. */
static void look_for_asker(struct check *check, struct reclaim_bracket *bracket)
{
	const struct foreign_call *call = world_foreign_call(check->world, check->event->pid);

	if (!call)
		return;
	bracket->asked = &check->world->foreign.row[call->row];
	bracket->asked_before = call->pages_before;
	if (call->first && !bracket->asked->told)
		world_infer(check->world, INFER_foreign_reclaim);
}

/*
 * The memcg that a task reclaims for, and how many pages. memory.high is enforced on the way back to user
 * space, for a batch of charges; there the request is a plain GFP_KERNEL, elsewhere it is the folio's.
 * Kernel: mm/memcontrol.c, mem_cgroup_handle_over_high(), v6.18.
 */
static struct mem_cgroup *reclaim_target(struct check *check, struct reclaim_bracket *bracket,
					 const struct world_task *task, uint64_t *nr_pages)
{
	struct mem_cgroup *own = machine_memcg(&check->machine, task->memcg);
	struct mem_cgroup *limit = machine_limit(own), *high = own;
	bool plain = check->event->value[MM_VMSCAN_MEMCG_RECLAIM_BEGIN_GFP_FLAGS] ==
		     GFP_OF_PLAIN_REQUEST;

	if (bracket->asked) {
		*nr_pages = bracket->asked->all ?
				    1 :
				    foreign_batch(check, bracket->asked, bracket->asked_before);
		return machine_memcg(&check->machine, bracket->asked->memcg);
	}
	while (high && high->high_pages == MEMCG_UNLIMITED)
		high = high->parent;
	*nr_pages = charge_pages(check, task);
	if (high && (plain || !limit)) {
		*nr_pages = check->machine.mm.config.rules.memcg_stock_pages;
		return high;
	}
	if (!limit && task->memcg != WORLD_ROOT) {
		/* A limit set after the start is in no event: the nearest memcg is the likeliest. */
		world_infer(check->world, INFER_limit_of_own_memcg);
		return own;
	}
	return limit;
}

/* Without zones, kswapd's goal is not known, nor which folios a request can use. */
static bool global_is_known(const struct check *check, struct reclaim_bracket *bracket)
{
	int64_t unseen, all = file_pages(check->machine.mm.root, &unseen);

	bracket->some_unseen = unseen > 0;
	return check->machine.mm.zones.nr && unseen * UNSEEN_SHARE_LIMIT <= all &&
	       check->event->kind != EVENT_MM_VMSCAN_NODE_RECLAIM_BEGIN;
}

void check_reclaim_begun(struct check *check, bool memcg_reclaim)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	bool kswapd = check->event->kind == EVENT_MM_VMSCAN_KSWAPD_WAKE;
	uint64_t nr_pages = SWAP_CLUSTER_MAX;
	struct reclaim_bracket *bracket;

	if (!task)
		return;
	if (check->event->kind == EVENT_MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_BEGIN && task->bracket) {
		soft_limit_begun(check, task);
		return;
	}
	/* kswapd was woken from its nap, which no event begins. Elsewhere the end event was lost. */
	if (task->bracket && kswapd && check->machine.mm.policy->generations)
		check_lru_gen_ended(check, 0);
	else if (task->bracket && kswapd)
		check_reclaim_ended(check, 0);
	if (task->bracket)
		give_back(check, task->bracket);
	bracket_free(check, task);
	bracket = calloc(1, sizeof(*bracket));
	task->bracket = bracket;
	if (!bracket) {
		check->failed = true;
		return;
	}
	list_init(&bracket->taken);
	if (memcg_reclaim) {
		look_for_asker(check, bracket);
		bracket->target = reclaim_target(check, bracket, task, &nr_pages);
	}
	bracket->top = bracket->target ? bracket->target : check->machine.mm.root;
	bracket->predicted = memcg_reclaim ?
				     bracket->target && check_all_folios_known(bracket->target) :
				     global_is_known(check, bracket);
	if (bracket->predicted && check->machine.mm.policy->generations &&
	    !world_reads_known(check->world)) {
		check->undecided.no_reads++;
		bracket->predicted = false;
		return;
	}
	if (bracket->predicted && bracket->target && !bracket->asked)
		note_overhead(check, bracket->target);
	if (!bracket->predicted) {
		if (memcg_reclaim)
			check->undecided.warm_group++;
		else
			check->undecided.global_reclaim++;
		return;
	}
	if (kswapd)
		kswapd_begin(&bracket->walk, &check->machine.mm,
			     (unsigned int)check->event->value[MM_VMSCAN_KSWAPD_WAKE_ZID]);
	else
		reclaim_walk_begin(&bracket->walk, &check->machine.mm, bracket->target, nr_pages,
				   bracket->asked ||
					   charge_may_swap(check, bracket->target, nr_pages));
	if (bracket->asked)
		bracket->walk.sc.swappiness = bracket->asked->swappiness;
	/* MGLRU's walk must not run ahead of the tape. */
	if (!check->machine.mm.policy->generations)
		bracket_advance(check, bracket);
}

bool check_would_evict(const struct check *check, const struct folio *folio)
{
	return !folio_test(folio,
			   PG_unevictable | PG_dirty | PG_writeback | PG_swapbacked | PG_locked) &&
	       !folio->nr_batches && !check_is_metadata(check, folio); /* buffers hold metadata */
}

bool check_must_evict(const struct check *check, const struct folio *folio)
{
	return check_would_evict(check, folio) && !folio_test(folio, FOLIO_mapped);
}

void check_apply_isolation(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_taken)
{
	struct mm *mm = &check->machine.mm;

	bracket->result = (struct scan_result){ 0 };
	bracket->nr_taken = nr_taken;
	bracket->strangers = 0;
	bracket->confused = false;
	bracket->flaw = NULL;
	bracket->any_back = false;
	bracket->nr_looks = 0;
	bracket->nr_growth = 0;
	bracket->growth_pages = 0;
	bracket->nr_told = 0;
	bracket->look_pfn = 0;
	memset(bracket->told, 0, sizeof(bracket->told));
	bracket->isolated_ns = check->event->timestamp_ns;
	bracket->nr_order = bracket->nr_freed = bracket->nr_written = bracket->nr_dropped = 0;
	if (!nr_taken)
		return;
	check_split_tail(check, &bracket->applied, nr_taken);
	mm->policy->isolate(mm, &bracket->applied, &bracket->taken, &bracket->result);
	while (bracket->result.nr_taken > nr_taken) {
		struct folio *folio = list_entry(bracket->taken.prev, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated);
		folio_set(folio, PG_lru);
		lruvec_add_folio_tail(folio->lruvec, folio);
		bracket->result.nr_taken -= folio_nr_pages(folio);
	}
	if (bracket->result.nr_taken != nr_taken)
		bracket->flaw = "more than the list has";
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		check_note_isolated(check, bracket, folio);
		if (folio->file && check->world->file[folio->file].mapped)
			folio_set(folio, FOLIO_mapped);
		folio_set(folio, FOLIO_moved);
		if (bracket->nr_order < ISOLATION_ROOM)
			bracket->order[bracket->nr_order++] = folio;
		if (!(bracket->applied.lru & 1) && check_must_evict(check, folio))
			bracket->predicted_reclaimed += folio_nr_pages(folio);
	}
	bracket->nr_left = bracket->nr_order;
}

void check_isolation_done(struct check *check, struct reclaim_bracket *bracket)
{
	bracket->isolated = false;
	if (!bracket->has_request)
		return; /* the walk never asked for it */
	reclaim_walk_done(&bracket->walk, &bracket->result);
	bracket->to_be_asked = true;
	check->nr_to_be_asked++;
}

void check_isolated(struct check *check, uint64_t foreseen)
{
	const uint64_t *v = check->event->value;
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	uint64_t lru = v[MM_VMSCAN_LRU_ISOLATE_LRU], nr = v[MM_VMSCAN_LRU_ISOLATE_NR_REQUESTED];
	bool follows;

	if (!bracket || !bracket->predicted || lru >= NR_LRU_LISTS)
		return;
	check_drained_by_reclaim(check);
	if (bracket->has_request && bracket->request.lru == lru &&
	    bracket->request.nr_to_scan == nr) {
		check_equal(check, bracket->top, CHECK_isolate_request);
	} else if (bracket->has_request) {
		check_unequal(check, bracket->top, CHECK_isolate_request,
			      "%s, %" PRIu64 " pages|%s, %" PRIu64 " pages",
			      check_lru_name[bracket->request.lru], bracket->request.nr_to_scan,
			      check_lru_name[lru], nr);
	} else {
		check_unequal(check, bracket->top, CHECK_isolate_request,
			      "the call ends|%s, %" PRIu64 " pages", check_lru_name[lru], nr);
	}
	follows = check_place_by_request(bracket, (enum lru_list)lru, nr);
	if (foreseen)
		follows = check_place_foreseen(check, bracket, follows, foreseen);
	if (follows && bracket->request.nr_to_scan != nr && check->machine.mm.policy->shrink_follow)
		check->machine.mm.policy->shrink_follow(&bracket->walk, &bracket->request, nr);
	give_back(check, bracket);
	bracket->applied = (struct scan_request){
		.lruvec = follows		  ? bracket->request.lruvec :
			  bracket->applied.lruvec ? bracket->applied.lruvec :
						    mem_cgroup_lruvec(bracket->top, 0),
		.lru = (enum lru_list)lru,
		.nr_to_scan = nr,
		.pfn_limit = bracket->walk.sc.pfn_limit,
	};
	bracket->has_request = follows;
	bracket->any_victim = bracket->misplaced = false;
	check_apply_isolation(check, bracket, v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN]);
	bracket->result.nr_scanned = v[MM_VMSCAN_LRU_ISOLATE_NR_SCANNED];
	bracket->isolated = true;
	/* An empty inactive isolation has no shrink event; an active one has. */
	if (!v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN] && !(lru & 1))
		check_isolation_done(check, bracket);
}

static bool may_stop_here(const struct reclaim_bracket *bracket)
{
	return !bracket->has_request || kswapd_may_sleep(&bracket->walk, bracket->has_request);
}

void check_flushes(struct check *check)
{
	for (uint64_t i = 0; i <= check->world->task_mask; i++) {
		struct world_task *task = check->world->task[i];
		struct reclaim_bracket *bracket = task ? task->bracket : NULL;

		if (bracket && bracket->predicted && bracket->walk.sc.kswapd &&
		    !bracket->isolated) {
			if (bracket->to_be_asked)
				bracket_advance(check, bracket);
			if (may_stop_here(bracket))
				check->machine.mm.policy->reclaim_end(&check->machine.mm,
								      bracket->top);
		}
	}
}

void check_reclaim_ended(struct check *check, uint64_t nr_reclaimed)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	if (!bracket)
		return;
	if (check->event->kind == EVENT_MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_END && bracket->outer) {
		soft_limit_ended(task, nr_reclaimed);
		return;
	}
	if (bracket->predicted) {
		give_back(check, bracket);
		if (may_stop_here(bracket))
			check_equal(check, bracket->top, CHECK_reclaim_stop);
		else
			check_unequal(check, bracket->top, CHECK_reclaim_stop,
				      "goes on with %s, %" PRIu64 " pages|stops",
				      check_lru_name[bracket->request.lru],
				      bracket->request.nr_to_scan);
		/* The total of global reclaim includes slab pages, and kswapd's is in no event. */
		if (bracket->total_unknown || !bracket->target)
			;
		else if (bracket->predicted_reclaimed == nr_reclaimed)
			check_equal(check, bracket->top, CHECK_reclaimed_total);
		else
			check_unequal(check, bracket->top, CHECK_reclaimed_total,
				      "%" PRIu64 " pages|%" PRIu64 " pages",
				      bracket->predicted_reclaimed, nr_reclaimed);
		reclaim_walk_end(&bracket->walk);
	}
	bracket_free(check, task);
}
