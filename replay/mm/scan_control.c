// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/scan_control.h"

#include <string.h>

#include "replay/mm/kswapd.h"
#include "replay/mm/mm.h"
#include "replay/mm/protection.h"
#include "replay/mm/page_cache.h"
#include "replay/policy/policy.h"

static bool lru_is_active(enum lru_list lru)
{
	return lru == LRU_ACTIVE_ANON || lru == LRU_ACTIVE_FILE;
}

void reclaim_walk_begin(struct reclaim_walk *walk, struct mm *mm, struct mem_cgroup *target,
			uint64_t nr_to_reclaim, bool may_swap)
{
	uint64_t least = mm->policy->exact ? 1 : SWAP_CLUSTER_MAX;

	memset(walk, 0, sizeof(*walk));
	walk->mm = mm;
	walk->top = target ? target : mm->root;
	walk->state = WALK_NODE;
	walk->sc = (struct scan_control){
		.nr_to_reclaim = nr_to_reclaim < least ? least : nr_to_reclaim,
		.target_mem_cgroup = target,
		.reclaim_idx = MAX_NR_ZONES - 1,
		.priority = DEF_PRIORITY,
		.may_swap = may_swap,
		.swappiness = SWAPPINESS_OF_MEMCG,
		.memcg_full_walk = mm->config.rules.full_memcg_walk,
	};
}

void reclaim_walk_begin_eviction(struct reclaim_walk *walk, struct mm *mm, struct mem_cgroup *memcg,
				 uint64_t seq, unsigned int swappiness, uint64_t nr_to_reclaim)
{
	memset(walk, 0, sizeof(*walk));
	walk->mm = mm;
	walk->top = walk->memcg = memcg;
	walk->state = WALK_LRUVEC;
	walk->sc = (struct scan_control){
		.nr_to_reclaim = nr_to_reclaim,
		.target_mem_cgroup = memcg,
		.reclaim_idx = MAX_NR_ZONES - 1,
		.may_swap = true,
		.swappiness = SWAPPINESS_OF_MEMCG,
		.run_eviction = true,
		.run_eviction_seq = seq,
		.run_eviction_swappiness = swappiness,
	};
	mm->policy->shrink_begin(walk, mem_cgroup_lruvec(memcg, 0));
}

/* shrink_node() begins: one priority, all memcgs. */
static void walk_begin_node(struct reclaim_walk *walk)
{
	walk->sc.nr_scanned = 0;
	if (!walk->anon_aged)
		walk->nr_asked = 0;
	walk->anon_aged = false;
	walk->round_reclaimed = walk->sc.nr_reclaimed;
	walk->memcg_lru = (struct memcg_lru_walk){ 0 };
	walk->mm->policy->prepare_scan(walk);
	walk->memcg = NULL;
	walk->state = WALK_MEMCG;
}

/*
 * Before each of its rounds kswapd deactivates a batch of each memcg's anon folios, where the policy wants it.
 * Kernel: mm/vmscan.c, kswapd_age_node(), v6.18; age_active_anon(), v6.1.
 * Return: there is one more to be asked for.
 */
static bool walk_age_next(struct reclaim_walk *walk, struct scan_request *request)
{
	const struct reclaim_policy *policy = walk->mm->policy;

	if (!walk->anon_aged) {
		if (!walk->sc.kswapd || !policy->ages_anon || !policy->ages_anon(walk))
			return false;
		walk->anon_aged = true;
		walk->nr_asked = 0;
		walk->memcg = NULL;
	}
	walk->memcg = mem_cgroup_next(walk->top, walk->memcg);
	if (!walk->memcg)
		return false;
	*request = (struct scan_request){ .lruvec = mem_cgroup_lruvec(walk->memcg, 0),
					  .lru = LRU_ACTIVE_ANON,
					  .nr_to_scan = SWAP_CLUSTER_MAX };
	return true;
}

static bool ask(struct reclaim_walk *walk, struct scan_request *request)
{
	request->pfn_limit = walk->sc.pfn_limit;
	walk->request = *request;
	walk->nr_asked++;
	return true;
}

/*
 * The next memcg of a partial walk. All such walks of a subtree share one place in it: each goes on
 * where the last one stopped, and ends where the tree ends.
 * Kernel: mm/memcontrol.c, mem_cgroup_iter(), v6.18.
 */
static struct mem_cgroup *next_of_partial_walk(struct reclaim_walk *walk)
{
	struct mem_cgroup *top = walk->top, *next;

	if (!walk->memcg)
		walk->generation = top->reclaim_generation;
	else if (walk->generation != top->reclaim_generation)
		return NULL;
	next = mem_cgroup_next(top, top->reclaim_position);
	top->reclaim_position = next;
	if (next)
		return next;
	top->reclaim_generation++;
	if (walk->memcg)
		return NULL;
	walk->generation = top->reclaim_generation;
	return top->reclaim_position = top;
}

/* Return: the walk passes this memcg over. */
static bool walk_skips(struct reclaim_walk *walk)
{
	protection_calculate(walk->mm, walk->top, walk->memcg);
	switch (protection_of(walk->top, walk->memcg)) {
	case PROTECTION_NONE:
		break;
	case PROTECTION_LOW:
		if (walk->sc.memcg_low_reclaim)
			break;
		walk->sc.memcg_low_skipped = true;
		return true;
	case PROTECTION_MIN:
		return true;
	}
	return false;
}

bool reclaim_walk_has_own_order(const struct reclaim_walk *walk)
{
	const struct reclaim_policy *policy = walk->mm->policy;

	return !walk->sc.target_mem_cgroup && policy->has_own_order &&
	       policy->has_own_order(walk->mm);
}

/*
 * shrink_node_memcgs() takes the next memcg. A walk that is not a full one may stop as soon as
 * the goal is met. Return: NULL: there is no more.
 */
static struct mem_cgroup *next_memcg(struct reclaim_walk *walk)
{
	bool partial = !walk->sc.kswapd && !walk->sc.memcg_full_walk;

	if (reclaim_walk_has_own_order(walk))
		return walk->mm->policy->next_memcg(walk);
	if (partial && walk->memcg && walk->sc.nr_reclaimed >= walk->sc.nr_to_reclaim)
		return NULL;
	do
		walk->memcg = partial ? next_of_partial_walk(walk) :
					mem_cgroup_next(walk->top, walk->memcg);
	while (walk->memcg && walk_skips(walk));
	return walk->memcg;
}

void reclaim_walk_enter(struct reclaim_walk *walk, struct mem_cgroup *memcg)
{
	walk->memcg = memcg;
	walk->state = WALK_LRUVEC;
	walk->mm->policy->shrink_begin(walk, mem_cgroup_lruvec(memcg, 0));
}

static void walk_next_memcg(struct reclaim_walk *walk)
{
	struct mem_cgroup *memcg = next_memcg(walk);

	if (memcg) {
		reclaim_walk_enter(walk, memcg);
	} else {
		walk->memcg = NULL;
		walk->state = WALK_ENDED; /* of this priority: see walk_next_priority() */
	}
}

/* do_try_to_free_pages() after shrink_zones(). Return: another priority follows. */
static bool walk_next_priority(struct reclaim_walk *walk)
{
	struct scan_control *sc = &walk->sc;

	if (sc->kswapd)
		return kswapd_next_round(walk);
	if (sc->nr_reclaimed >= sc->nr_to_reclaim)
		return false;
	if (--sc->priority >= 0)
		return true;
	if (sc->nr_reclaimed)
		return false;
	/* Each attempt ends as a call does. */
	walk->mm->policy->reclaim_end(walk->mm, walk->top);
	sc->priority = DEF_PRIORITY;
	if (!sc->memcg_full_walk) {
		sc->memcg_full_walk = true;
		return true;
	}
	if (sc->skipped_deactivate && !sc->force_deactivate) {
		sc->force_deactivate = true;
		sc->skipped_deactivate = false;
		return true;
	}
	if (sc->memcg_low_skipped && !sc->memcg_low_reclaim) {
		sc->force_deactivate = false;
		sc->memcg_low_reclaim = true;
		sc->memcg_low_skipped = false;
		return true;
	}
	return false;
}

bool reclaim_walk_next_round(struct reclaim_walk *walk)
{
	if (walk->state != WALK_NODE && !walk_next_priority(walk)) {
		walk->state = WALK_ENDED;
		return false;
	}
	walk_begin_node(walk);
	return true;
}

/*
 * Pages that a memcg's shadows are weighed against: those of its lists and slabs, at the last flush.
 * Kernel: mm/workingset.c, count_shadow_nodes(), v6.18.
 * Differs: all that is charged and on no list counts as slab. Where the tape does not tell flushes,
 * the sizes are those of now.
 */
static int64_t shadow_pages(struct mm *mm, struct mem_cgroup *memcg)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(memcg, 0);

	mm_stats_use(mm, lruvec);
	return mm->config.flushes_unseen ? lruvec_own_pages(lruvec) : lruvec->flushed_own_pages;
}

/*
 * Kernel: mm/shrinker.c, shrink_slab(), v6.18.
 * Differs: shadow nodes only, and the root's stay: they are weighed against the machine. An exact
 * policy, which has no shadows of its own, keeps what it is given.
 */
static void shrink_slab(struct reclaim_walk *walk)
{
	struct mm *mm = walk->mm;

	if (!mm->page_cache || mm->policy->exact || walk->looks_ahead || !walk->memcg->parent)
		return;
	if (shadow_nodes_shrink(mm->page_cache, walk->memcg->index, shadow_pages(mm, walk->memcg),
				walk->sc.priority) < 0)
		mm->out_of_memory = true;
}

bool reclaim_walk_next(struct reclaim_walk *walk, struct scan_request *request)
{
	for (;;) {
		switch (walk->state) {
		case WALK_NODE:
			if (walk_age_next(walk, request))
				return ask(walk, request);
			walk_begin_node(walk);
			break;
		case WALK_MEMCG:
			walk_next_memcg(walk);
			if (walk->state == WALK_ENDED && walk_next_priority(walk))
				walk->state = WALK_NODE;
			break;
		case WALK_LRUVEC:
			if (walk->mm->policy->shrink_next(walk, mem_cgroup_lruvec(walk->memcg, 0),
							  request))
				return ask(walk, request);
			shrink_slab(walk);
			walk->state = walk->sc.run_eviction ? WALK_ENDED : WALK_MEMCG;
			break;
		case WALK_ENDED:
			return false;
		}
	}
}

void reclaim_walk_done(struct reclaim_walk *walk, const struct scan_result *result)
{
	if (!lru_is_active(walk->request.lru))
		walk->sc.nr_scanned += result->nr_taken;
	walk->mm->policy->shrink_done(walk, &walk->request, result);
}

uint64_t reclaim_walk_pages(const struct reclaim_walk *walk, const struct lruvec *lruvec,
			    enum lru_list lru)
{
	int64_t pages = 0;

	if (!walk->sc.pfn_limit) {
		pages = lruvec_lru_size(lruvec, lru);
		return pages > 0 ? (uint64_t)pages : 0;
	}
	for (const struct list_head *pos = lruvec->lists[lru].next; pos != &lruvec->lists[lru];
	     pos = pos->next) {
		const struct folio *folio = list_entry(pos, struct folio, lru);

		if (folio->pfn < walk->sc.pfn_limit)
			pages += (int64_t)folio_nr_pages(folio);
	}
	return (uint64_t)pages;
}

uint64_t reclaim_walk_unprotected(struct reclaim_walk *walk, const struct mem_cgroup *memcg,
				  uint64_t pages)
{
	uint64_t min = memcg->emin_pages, low = memcg->elow_pages;

	if (memcg == walk->top || (!min && !low))
		return pages;
	if (!walk->sc.memcg_low_reclaim && low > min) {
		walk->sc.memcg_low_skipped = true;
		return protection_scale(memcg, pages, low);
	}
	return protection_scale(memcg, pages, min);
}

void reclaim_walk_end(struct reclaim_walk *walk)
{
	walk->state = WALK_ENDED;
	walk->mm->policy->reclaim_end(walk->mm, walk->top);
}

/* What shrink_folio_list() says of one folio. */
enum folio_verdict {
	FOLIO_RECLAIM,
	FOLIO_KEEP,
	FOLIO_ACTIVATE,
};

static bool folio_is_young(const struct reclaim_hooks *hooks, struct folio *folio)
{
	return folio_test(folio, FOLIO_mapped) && hooks->referenced &&
	       hooks->referenced(hooks->ctx, folio);
}

/* Programs: their folios stay active as long as they are found young. */
static bool is_executable(const struct reclaim_hooks *hooks, const struct folio *folio)
{
	return hooks->executable && folio_is_file_lru(folio) &&
	       hooks->executable(hooks->ctx, folio);
}

/*
 * Kernel: mm/vmscan.c, folio_check_references(), v6.18.
 * Differs: a folio is mapped by one vma.
 */
static enum folio_verdict check_references(struct mm *mm, const struct reclaim_hooks *hooks,
					   struct folio *folio)
{
	bool young = folio_is_young(hooks, folio);
	bool activate = mm->policy->references_checked(mm, folio, young);

	if (!young)
		return FOLIO_RECLAIM;
	return activate || is_executable(hooks, folio) ? FOLIO_ACTIVATE : FOLIO_KEEP;
}

/*
 * Of an active list executable folios that are young stay there; they go back first.
 * Kernel: mm/vmscan.c, shrink_active_list(), v6.18.
 * Differs: all folios are evictable.
 */
static void examine_active(struct mm *mm, const struct scan_request *request,
			   const struct reclaim_hooks *hooks, struct list_head *taken)
{
	struct list_head stay, *pos = taken->next;

	list_init(&stay);
	while (pos != taken) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		pos = pos->next;
		if (folio_is_young(hooks, folio) && is_executable(hooks, folio))
			list_move_tail(&folio->lru, &stay);
		else
			mm->policy->examine_active(mm, request->lruvec, folio);
	}
	if (!list_empty(&stay))
		mm->policy->putback(mm, request, &stay);
}

/* An anon folio that is not young: to swap with it. FOLIO_RECLAIM: what is in swap is its content. */
static enum folio_verdict swap_out(struct reclaim_walk *walk, const struct reclaim_hooks *hooks,
				   struct folio *folio, struct scan_result *result)
{
	if (!folio_test(folio, PG_swapcache)) {
		if (!hooks->add_to_swap || !hooks->add_to_swap(hooks->ctx, folio))
			return FOLIO_ACTIVATE; /* no swap slot */
		folio_set(folio, PG_swapcache | PG_dirty);
	}
	if (folio_test_clear(folio, FOLIO_mapped) && hooks->unmap(hooks->ctx, folio))
		folio_set(folio, PG_dirty);
	if (!folio_test(folio, PG_dirty))
		return FOLIO_RECLAIM;
	if (folio->nr_batches)
		return FOLIO_KEEP;
	folio_clear(folio, PG_dirty);
	folio_set(folio, PG_reclaim | PG_writeback);
	result->nr_written += folio_nr_pages(folio);
	lruvec_count(folio->lruvec, COUNT_pswpout, folio_nr_pages(folio));
	if (!hooks->write_out(hooks->ctx, folio))
		return FOLIO_KEEP;
	folio_clear(folio, PG_reclaim | PG_writeback);
	(void)walk;
	return FOLIO_RECLAIM;
}

/*
 * Kernel: mm/vmscan.c, shrink_folio_list(), v6.18.
 * Differs: docs/fidelity.md.
 */
static enum folio_verdict shrink_folio(struct reclaim_walk *walk, const struct reclaim_hooks *hooks,
				       struct folio *folio, struct scan_result *result)
{
	bool swapbacked = folio_test(folio, PG_swapbacked);
	enum folio_verdict verdict;

	if (folio_test(folio, PG_locked))
		return FOLIO_KEEP;
	if (folio_test(folio, PG_unevictable))
		return FOLIO_ACTIVATE;
	if (folio_test(folio, PG_writeback)) {
		/* On v1 a memcg's reclaimer waits for what an earlier scan has submitted. */
		if (!swapbacked || !hooks->wait_for_write || !folio_test(folio, PG_reclaim) ||
		    !walk->mm->config.cgroup_v1 || !walk->sc.target_mem_cgroup) {
			folio_set(folio, PG_reclaim);
			return FOLIO_ACTIVATE;
		}
		hooks->wait_for_write(hooks->ctx, folio);
	}
	verdict = check_references(walk->mm, hooks, folio);
	/* Used again after MADV_FREE, which means that it was written to before anything else. */
	if (folio_test(folio, PG_lazyfree) && verdict != FOLIO_RECLAIM) {
		folio_clear(folio, PG_lazyfree);
		folio_set(folio, PG_swapbacked);
		return FOLIO_ACTIVATE;
	}
	if (verdict == FOLIO_RECLAIM && swapbacked)
		verdict = swap_out(walk, hooks, folio, result);
	else if (verdict == FOLIO_RECLAIM && folio_test(folio, PG_dirty))
		verdict = FOLIO_ACTIVATE;
	if (verdict == FOLIO_RECLAIM && folio->nr_batches)
		verdict = FOLIO_KEEP; /* somebody else's reference */
	return verdict;
}

static void count_stolen(const struct reclaim_walk *walk, struct lruvec *lruvec, bool file,
			 uint64_t nr_pages)
{
	if (walk->sc.by_owner)
		return;
	lruvec_count(lruvec, file ? COUNT_pgsteal_file : COUNT_pgsteal_anon, nr_pages);
	lruvec_count(lruvec, walk->sc.kswapd ? COUNT_pgsteal_kswapd : COUNT_pgsteal_direct,
		     nr_pages);
}

static uint64_t shrink_folio_list(struct reclaim_walk *walk, struct list_head *taken,
				  const struct reclaim_hooks *hooks, struct scan_result *result)
{
	struct mm *mm = walk->mm;
	uint64_t nr_reclaimed = 0;
	struct list_head *next;

	for (struct list_head *pos = taken->next; pos != taken; pos = next) {
		struct folio *folio = list_entry(pos, struct folio, lru);
		struct lruvec *lruvec = folio->lruvec;
		uint64_t nr_pages = folio_nr_pages(folio);
		bool file = folio_is_file_lru(folio);
		enum folio_verdict verdict;

		next = pos->next;
		verdict = shrink_folio(walk, hooks, folio, result);
		switch (verdict) {
		case FOLIO_ACTIVATE:
			folio_set(folio, PG_active);
			if (folio_test(folio, PG_dirty | PG_writeback))
				folio_set(folio, PG_reclaim); /* it comes back when written */
			lruvec_count(lruvec, COUNT_pgactivate, nr_pages);
			lruvec->recent_rotated[file] += nr_pages;
			break;
		case FOLIO_KEEP:
			break;
		case FOLIO_RECLAIM:
			nr_reclaimed += nr_pages;
			count_stolen(walk, lruvec, file, nr_pages);
			if (folio_test(folio, PG_lazyfree)) {
				/* Nobody will miss what was in it. */
				lruvec_count(lruvec, COUNT_pglazyfreed, nr_pages);
				folio_clear(folio, FOLIO_mapped);
				hooks->evicted(hooks->ctx, folio, 0);
				mm_folio_forget(mm, folio);
				break;
			}
			hooks->evicted(hooks->ctx, folio,
				       shadow_pack(mm->policy->evict(mm, folio,
								     walk->sc.target_mem_cgroup)));
			mm_folio_forget(mm, folio);
			break;
		}
	}
	return nr_reclaimed;
}

/* shrink_inactive_list() or shrink_active_list(), as the request's list says. */
static void shrink_list(struct reclaim_walk *walk, const struct scan_request *request,
			const struct reclaim_hooks *hooks, struct scan_result *result)
{
	struct mm *mm = walk->mm;
	struct lruvec *lruvec = request->lruvec;
	struct list_head taken;

	list_init(&taken);
	if (!mm->policy->drains_before_lruvec)
		lru_add_drain(mm, walk->cpu, DRAIN_reclaim);
	mm->policy->isolate(mm, request, &taken, result);
	if (!result->goes_on)
		lruvec_lock(lruvec, LOCK_isolate, result->nr_taken);
	lruvec_count(lruvec, COUNT_isolations, 1);
	lruvec_count(lruvec, COUNT_pgrefill, result->nr_pgrefill);
	if (lru_is_active(request->lru)) {
		examine_active(mm, request, hooks, &taken);
		lruvec_lock(lruvec, LOCK_putback, result->nr_taken);
	} else {
		bool file = request->lru == LRU_INACTIVE_FILE;

		lruvec_count(lruvec, file ? COUNT_pgscan_file : COUNT_pgscan_anon,
			     result->nr_pgscan);
		lruvec_count(lruvec, walk->sc.kswapd ? COUNT_pgscan_kswapd : COUNT_pgscan_direct,
			     result->nr_pgscan);
		if (!result->nr_taken)
			return;
		result->nr_reclaimed = shrink_folio_list(walk, &taken, hooks, result);
		lruvec_lock(lruvec, LOCK_putback, result->nr_taken - result->nr_reclaimed);
	}
	mm->policy->putback(mm, request, &taken);
}

bool reclaim_step(struct reclaim_walk *walk, unsigned int cpu, const struct reclaim_hooks *hooks,
		  uint64_t *nr_taken)
{
	struct scan_request request;
	struct scan_result result = { 0 };

	walk->cpu = cpu;
	if (!walk->any_step)
		lruvec_count(mem_cgroup_lruvec(walk->top, 0), COUNT_reclaims, 1);
	walk->any_step = true;
	if (!reclaim_walk_next(walk, &request)) {
		reclaim_walk_end(walk);
		return false;
	}
	shrink_list(walk, &request, hooks, &result);
	if (hooks->put_back)
		hooks->put_back(hooks->ctx);
	reclaim_walk_done(walk, &result);
	*nr_taken = result.nr_taken;
	return true;
}

uint64_t reclaim_finish(struct reclaim_walk *walk, unsigned int cpu,
			const struct reclaim_hooks *hooks)
{
	uint64_t nr_taken;

	while (reclaim_step(walk, cpu, hooks, &nr_taken))
		;
	return walk->sc.nr_reclaimed;
}

uint64_t reclaim_folio(struct mm *mm, unsigned int cpu, struct folio *folio,
		       const struct reclaim_hooks *hooks)
{
	struct reclaim_walk walk = { .mm = mm, .top = mm->root, .sc.by_owner = true };
	struct reclaim_hooks blind = *hooks;
	struct scan_result result = { 0 };
	struct list_head taken;
	uint64_t nr_reclaimed;

	if (!folio_test(folio, PG_lru) || folio_test(folio, PG_unevictable))
		return 0;
	blind.referenced = NULL;
	mm->policy->folio_removed(mm, folio->lruvec, folio);
	folio_set(folio, FOLIO_isolated);
	list_init(&taken);
	list_init(&folio->lru);
	list_add(&folio->lru, &taken);
	nr_reclaimed = shrink_folio_list(&walk, &taken, &blind, &result);
	if (!list_empty(&taken)) {
		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated);
		folio_add_lru(mm, cpu, folio);
	}
	return nr_reclaimed;
}

uint64_t reclaim_run(struct mm *mm, struct mem_cgroup *target, uint64_t nr_to_reclaim,
		     bool may_swap, unsigned int cpu, const struct reclaim_hooks *hooks)
{
	struct reclaim_walk walk;

	reclaim_walk_begin(&walk, mm, target, nr_to_reclaim, may_swap);
	return reclaim_finish(&walk, cpu, hooks);
}

uint64_t reclaim_proactive_batch(const struct mm *mm, uint64_t left)
{
	return left / mm->config.rules.proactive_parts;
}
