// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a reclaim call is, when the tape shows something else than the walk asked for. An isolation's
 * event names a list and a number of pages, not whose list; a victim names its owner.
 *
 *   walk:   a inactive 1 | b inactive 21 | b active 9 | ...
 *   tape:                  inactive 21                       a was passed over: go on at b
 */
#include "replay/check/state.h"

#define STEPS_BY_LIST 8
#define STEPS_BY_NUMBER 16

/* What the walk may come to and is looked for. */
struct sought {
	enum lru_list lru;
	uint64_t nr; /* pages, 0: any */
	const struct lruvec *not_lruvec; /* another one's; NULL: anybody's */
	unsigned int steps;
};

static bool is_sought(const struct scan_request *request, const struct sought *sought)
{
	return request->lru == sought->lru && (!sought->nr || request->nr_to_scan == sought->nr) &&
	       request->lruvec != sought->not_lruvec;
}

/* Let the walk go on, as if nothing came of what it asks for. Return: it came there, and stays there. */
static bool walk_on(struct reclaim_bracket *bracket, const struct sought *sought)
{
	struct reclaim_walk walk = bracket->walk;
	struct mem_cgroup *position = bracket->top->reclaim_position;
	uint64_t generation = bracket->top->reclaim_generation;
	struct scan_request request;
	const struct scan_result nothing = { 0 };

	walk.looks_ahead = true;
	for (unsigned int step = 0; step < sought->steps; step++) {
		reclaim_walk_done(&walk, &nothing);
		if (!reclaim_walk_next(&walk, &request))
			break;
		if (is_sought(&request, sought)) {
			bracket->walk = walk;
			bracket->walk.looks_ahead = false;
			bracket->request = request;
			return true;
		}
	}
	bracket->top->reclaim_position = position;
	bracket->top->reclaim_generation = generation;
	return false;
}

bool check_place_by_request(struct reclaim_bracket *bracket, enum lru_list lru, uint64_t nr)
{
	const struct scan_request *request = &bracket->request;

	if (!bracket->has_request)
		return false;
	if (request->lru == lru && request->nr_to_scan == nr)
		return true;
	/* The same number from another memcg's list is no chance. */
	if (walk_on(bracket, &(struct sought){ .lru = lru,
					       .nr = nr,
					       .not_lruvec = request->lruvec,
					       .steps = STEPS_BY_NUMBER }))
		return true;
	return request->lru == lru ||
	       walk_on(bracket, &(struct sought){ .lru = lru, .steps = STEPS_BY_LIST });
}

/* Others were isolated: those that are out go back to the tail they came from, as if they had never been. */
static void isolate_from(struct check *check, struct reclaim_bracket *bracket,
			 struct lruvec *lruvec)
{
	while (!list_empty(&bracket->taken)) {
		struct folio *folio = list_entry(bracket->taken.prev, struct folio, lru);

		if (!(bracket->applied.lru & 1) && check_would_evict(check, folio))
			bracket->predicted_reclaimed -= folio_nr_pages(folio);
		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated | FOLIO_survivor);
		folio_set(folio, PG_lru);
		lruvec_add_folio_tail(folio->lruvec, folio);
	}
	bracket->applied.lruvec = lruvec;
	check_apply_isolation(check, bracket, bracket->nr_taken);
}

void check_place_by_victim(struct check *check, struct reclaim_bracket *bracket,
			   const struct folio *victim)
{
	struct lruvec *lruvec = victim->lruvec;

	if (!bracket->isolated || bracket->any_victim || lruvec == bracket->applied.lruvec ||
	    folio_test(victim, FOLIO_isolated) || !folio_test(victim, PG_lru))
		return;
	world_infer(check->world, INFER_lruvec_of_victim);
	isolate_from(check, bracket, lruvec);
	bracket->misplaced = true;
}

/* Begin to shrink a memcg. Return: its walk asks for the list that was isolated from. */
static bool begin_at(struct reclaim_bracket *bracket, struct mem_cgroup *memcg)
{
	struct reclaim_walk *walk = &bracket->walk;
	const struct reclaim_policy *policy = walk->mm->policy;
	struct lruvec *lruvec = mem_cgroup_lruvec(memcg, 0);
	struct scan_request request;

	walk->memcg = memcg;
	walk->state = WALK_LRUVEC;
	policy->shrink_begin(walk, lruvec);
	for (int i = 0; i < NR_LRU_LISTS && policy->shrink_next(walk, lruvec, &request); i++) {
		if (request.lru != bracket->applied.lru)
			continue;
		walk->request = bracket->request = request;
		return true;
	}
	return false;
}

/*
 * Whose active list it was, no victim tells. The number of pages, unless it is a full batch, is the last
 * of a memcg's size >> priority: the memcg is taken whose size comes next to that.
 */
static struct mem_cgroup *owner_by_number(struct reclaim_bracket *bracket)
{
	const int priority = bracket->walk.sc.priority;
	const uint64_t nr = bracket->applied.nr_to_scan;
	uint64_t least = UINT64_MAX, least_size = nr << priority;
	struct mem_cgroup *owner = NULL;

	for (struct mem_cgroup *memcg = bracket->top; memcg;
	     memcg = mem_cgroup_next(bracket->top, memcg)) {
		uint64_t pages = reclaim_walk_pages(&bracket->walk, mem_cgroup_lruvec(memcg, 0),
						    bracket->applied.lru);
		uint64_t size = reclaim_walk_unprotected(&bracket->walk, memcg, pages);
		uint64_t off, step = UINT64_C(1) << priority, batches = size >> priority;

		if (!pages)
			continue;
		/* Of a size of several batches, the rest counts. */
		if (batches > SWAP_CLUSTER_MAX)
			size -= (batches / SWAP_CLUSTER_MAX * SWAP_CLUSTER_MAX) << priority;
		off = size < least_size	       ? least_size - size :
		      size < least_size + step ? 0 :
						 size - least_size - step + 1;
		if (off == least)
			owner = NULL;
		if (off >= least)
			continue;
		least = off;
		owner = memcg;
	}
	return owner;
}

static bool place_at(struct check *check, struct reclaim_bracket *bracket)
{
	struct mem_cgroup *memcg = bracket->applied.lruvec->memcg, *owner = NULL;

	bracket->walk.mm->policy->prepare_scan(&bracket->walk);
	if (!bracket->any_victim && bracket->applied.nr_to_scan < SWAP_CLUSTER_MAX)
		owner = owner_by_number(bracket);
	if (owner && owner != memcg) {
		world_infer(check->world, INFER_lruvec_by_number);
		isolate_from(check, bracket, mem_cgroup_lruvec(owner, 0));
		memcg = owner;
	}
	return begin_at(bracket, memcg);
}

void check_place_again(struct check *check, struct reclaim_bracket *bracket, uint64_t priority)
{
	struct scan_control *sc = &bracket->walk.sc;

	if (priority > DEF_PRIORITY ||
	    (bracket->has_request && !bracket->misplaced && sc->priority == (int)priority))
		return;
	/* Watermarks that were boosted for fragmentation are in no event; that kswapd stays at 10 tells. */
	if (sc->kswapd && priority == DEF_PRIORITY - 2 && sc->priority == DEF_PRIORITY - 3 &&
	    !sc->boosted) {
		sc->boosted = true;
		world_infer(check->world, INFER_kswapd_boosted);
	}
	sc->priority = (int)priority;
	bracket->walk.nr_asked = 2; /* in the middle of a round */
	bracket->has_request = place_at(check, bracket);
	/* It would not deactivate, and did: that is the attempt after nothing was found at any priority. */
	if (!bracket->has_request && !sc->force_deactivate) {
		sc->memcg_full_walk = sc->force_deactivate = true;
		bracket->has_request = place_at(check, bracket);
		sc->force_deactivate = bracket->has_request;
	}
}
