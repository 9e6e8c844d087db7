// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a reclaim call is, when the tape shows something else than the walk asked for. An isolation's
 * event names a list and a number of pages, not whose list; a victim names its owner.
 *
 *   walk:   a inactive 1 | b inactive 21 | b active 9 | ...
 *   tape:                  inactive 21                       a was passed over: go on at b
 */
#include "replay/check/parts.h"

#include "replay/event_stream.h"

#define STEPS_BY_LIST 8
#define STEPS_BY_NUMBER 16

/* What the walk may come to and is looked for. */
struct sought {
	enum lru_list lru;
	uint64_t nr; /* pages, 0: any */
	const struct lruvec *lruvec; /* whose; NULL: anybody's, */
	const struct lruvec *not_lruvec; /* but not this one's; NULL: this one's, too */
	int priority; /* -1: any */
	unsigned int steps;
};

static bool is_sought(const struct reclaim_walk *walk, const struct scan_request *request,
		      const struct sought *sought)
{
	return request->lru == sought->lru && (!sought->nr || request->nr_to_scan == sought->nr) &&
	       request->lruvec != sought->not_lruvec &&
	       (!sought->lruvec || request->lruvec == sought->lruvec) &&
	       (sought->priority < 0 || walk->sc.priority == sought->priority);
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
		if (is_sought(&walk, &request, sought)) {
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
					       .priority = -1,
					       .steps = STEPS_BY_NUMBER }))
		return true;
	return request->lru == lru ||
	       walk_on(bracket,
		       &(struct sought){ .lru = lru, .priority = -1, .steps = STEPS_BY_LIST });
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
 * By how much a memcg's list would have to differ from what it is, in pages, for this number to be asked for. Unless
 * it is a full batch, it is the last of size >> priority.
 */
static uint64_t off_number(struct reclaim_bracket *bracket, struct mem_cgroup *memcg,
			   enum lru_list lru, uint64_t nr)
{
	const int priority = bracket->walk.sc.priority;
	uint64_t pages = reclaim_walk_pages(&bracket->walk, mem_cgroup_lruvec(memcg, 0), lru);
	uint64_t size = reclaim_walk_unprotected(&bracket->walk, memcg, pages);
	uint64_t step = UINT64_C(1) << priority, batches = size >> priority;
	uint64_t least_size = nr << priority;

	if (!pages)
		return UINT64_MAX;
	/* Of a size of several batches, the rest counts. */
	if (batches > SWAP_CLUSTER_MAX)
		size -= (batches / SWAP_CLUSTER_MAX * SWAP_CLUSTER_MAX) << priority;
	return size < least_size	? least_size - size :
	       size < least_size + step ? 0 :
					  size - least_size - step + 1;
}

/* Whose active list it was, no victim tells: the memcg is taken whose size comes next to the number. */
static struct mem_cgroup *owner_by_number(struct reclaim_bracket *bracket, enum lru_list lru,
					  uint64_t nr)
{
	struct mem_cgroup *owner = NULL;
	uint64_t least = UINT64_MAX;

	for (struct mem_cgroup *memcg = bracket->top; memcg;
	     memcg = mem_cgroup_next(bracket->top, memcg)) {
		uint64_t off = off_number(bracket, memcg, lru, nr);

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
		owner = owner_by_number(bracket, bracket->applied.lru, bracket->applied.nr_to_scan);
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

bool check_foresees_owners(const struct check *check)
{
	return !check->machine.mm.policy->generations && !check->growth &&
	       check->world->nr_memcgs > 2;
}

/* A folio of this isolation, or of the next one of the same list, is evicted: whose it is. NULL: not known. */
static struct lruvec *owner_of_victim(struct check *check, const struct reclaim_bracket *bracket,
				      uint64_t pfn)
{
	const struct folio *folio = pfn == UINT64_MAX ? NULL : check_known_folio(check, pfn);
	const struct mem_cgroup *memcg = folio ? folio->lruvec->memcg : NULL;

	while (memcg && memcg != bracket->top)
		memcg = memcg->parent;
	return memcg ? folio->lruvec : NULL;
}

/*
 * Of an active list, or of one that nothing was evicted of. A walk goes over a memcg's lists before it comes to
 * the next one: where the number suits the memcg that it was at, it is still there.
 */
static struct lruvec *owner_of_number(struct reclaim_bracket *bracket, enum lru_list lru,
				      uint64_t nr)
{
	struct lruvec *last = bracket->applied.lruvec;
	uint64_t step = UINT64_C(1) << bracket->walk.sc.priority;
	struct mem_cgroup *owner;

	if (nr >= SWAP_CLUSTER_MAX)
		return NULL;
	if ((lru & 1) && last && off_number(bracket, last->memcg, lru, nr) <= step)
		return last;
	owner = owner_by_number(bracket, lru, nr);
	return owner ? mem_cgroup_lruvec(owner, 0) : NULL;
}

bool check_place_foreseen(struct check *check, struct reclaim_bracket *bracket, bool follows,
			  uint64_t foreseen)
{
	const uint64_t *v = check->event->value;
	enum lru_list lru = (enum lru_list)v[MM_VMSCAN_LRU_ISOLATE_LRU];
	uint64_t nr = v[MM_VMSCAN_LRU_ISOLATE_NR_REQUESTED];
	int priority = isolation_priority(foreseen);
	struct scan_control *sc = &bracket->walk.sc;
	bool there = follows && (priority < 0 || sc->priority == priority);
	struct lruvec *owner = owner_of_victim(check, bracket, isolation_victim(foreseen));

	if (there && (!owner || (lru & 1) || owner == bracket->request.lruvec))
		return true;
	if (priority < 0 || priority > DEF_PRIORITY || sc->kswapd)
		return follows;
	if (follows && walk_on(bracket, &(struct sought){ .lru = lru,
							  .nr = nr,
							  .lruvec = lru & 1 ? NULL : owner,
							  .priority = priority,
							  .steps = STEPS_BY_NUMBER }))
		return true;
	sc->priority = priority;
	if (lru & 1)
		owner = NULL;
	world_infer(check->world, owner ? INFER_lruvec_of_victim : INFER_lruvec_by_number);
	if (!owner)
		owner = owner_of_number(bracket, lru, nr);
	if (!owner)
		owner = follows ? bracket->request.lruvec : bracket->applied.lruvec;
	if (!owner)
		return follows;
	bracket->top->reclaim_position = owner->memcg;
	bracket->walk.mm->policy->prepare_scan(&bracket->walk);
	bracket->applied.lru = lru;
	bracket->applied.lruvec = owner;
	follows = begin_at(bracket, owner->memcg);
	if (!follows && !sc->force_deactivate) {
		sc->memcg_full_walk = sc->force_deactivate = true;
		bracket->walk.mm->policy->prepare_scan(&bracket->walk);
		follows = begin_at(bracket, owner->memcg);
		sc->force_deactivate = follows;
	}
	return follows;
}
