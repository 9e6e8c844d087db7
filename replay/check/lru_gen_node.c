// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where reclaim from everybody is, under MGLRU from 6.3 on. It comes to memcgs in an order that it draws at
 * random, and no event names one. What tells:
 *
 *   whose list   the first victim's owner: the stream has looked ahead for it. Without one, the
 *                isolation's figures
 *   round        the priority, in the shrink event ahead; within one, a memcg comes but once
 *
 * A memcg that gives nothing has no event: one that is aged, or too small. That it was visited is known
 * where a round was completed: there follows one at a lower priority.
 *
 *   round at 6   a a a | b b |        . c, aged: no event
 *   round at 5   b ...                  the round at 6 was completed, so it came to c
 */
#include "replay/check/parts.h"
#include "replay/event_stream.h"
#include "replay/mm/lru_gen.h"

static struct memcg_lru_node *node_of(struct mem_cgroup *memcg)
{
	return &lruvec_lru_gen(mem_cgroup_lruvec(memcg, 0))->memcg_lru;
}

static bool was_visited(const struct reclaim_bracket *bracket, const struct mem_cgroup *memcg)
{
	for (unsigned int i = 0; i < bracket->nr_visited; i++)
		if (bracket->visited[i] == memcg->index)
			return true;
	return false;
}

static void enter(struct reclaim_bracket *bracket, struct mem_cgroup *memcg)
{
	reclaim_walk_enter(&bracket->walk, memcg);
	if (bracket->nr_visited < VISITED_ROOM && !was_visited(bracket, memcg))
		bracket->visited[bracket->nr_visited++] = memcg->index;
}

/* The walk leaves the memcg that it is in. */
static void leave(struct check *check, struct reclaim_bracket *bracket)
{
	struct mem_cgroup *memcg = bracket->walk.memcg;
	enum memcg_lru_op op;

	if (bracket->walk.state != WALK_LRUVEC || !memcg)
		return;
	op = lru_gen_rotation(&bracket->walk);
	if (op != MEMCG_LRU_NOP)
		lru_gen_rotate_memcg(&check->machine.mm, mem_cgroup_lruvec(memcg, 0), op);
	bracket->walk.memcg = NULL;
	bracket->walk.state = WALK_MEMCG;
}

/* Memcgs that a completed round came to, and that gave nothing. */
static void visit_the_rest(struct check *check, struct reclaim_bracket *bracket)
{
	struct mm *mm = &check->machine.mm;
	struct scan_request request;

	for (struct mem_cgroup *memcg = mm->root; memcg; memcg = mem_cgroup_next(mm->root, memcg)) {
		if (was_visited(bracket, memcg) ||
		    !memcg_lru_is_old(&mm->memcg_lru, node_of(memcg)))
			continue;
		enter(bracket, memcg);
		if (!mm->policy->shrink_next(&bracket->walk, mem_cgroup_lruvec(memcg, 0), &request))
			leave(check, bracket);
		/* It would have given something: so the round was not completed, or it was gone. */
	}
}

/* Return: false: the walk has no further round. */
static bool next_round(struct check *check, struct reclaim_bracket *bracket, int priority)
{
	bool begun = bracket->walk.state != WALK_NODE;

	leave(check, bracket);
	if (begun && priority >= 0 && priority < bracket->walk.sc.priority)
		visit_the_rest(check, bracket);
	bracket->nr_visited = 0;
	return reclaim_walk_next_round(&bracket->walk);
}

/* It is about to be aged and then left alone, so that nothing is isolated from it. */
static bool would_age(const struct reclaim_bracket *bracket, struct mem_cgroup *memcg)
{
	const struct reclaim_walk *walk = &bracket->walk;

	return walk->sc.priority != DEF_PRIORITY && memcg->online &&
	       lru_gen_should_age(walk->mm, mem_cgroup_lruvec(memcg, 0),
				  lru_gen_swappiness(walk, memcg));
}

enum scan_fate check_lru_gen_by_the_rules(void *ctx, struct folio *folio, bool would_take)
{
	(void)ctx, (void)folio;
	return would_take ? SCAN_TAKES : SCAN_MOVES_ON;
}

/* The isolation's figures would come out so from this memcg's lists. */
static bool has_figures(struct check *check, const struct reclaim_bracket *bracket,
			struct mem_cgroup *memcg)
{
	struct mm *mm = &check->machine.mm;
	const uint64_t *v = check->event->value;
	struct lruvec *lruvec = mem_cgroup_lruvec(memcg, 0);
	int type = v[MM_VMSCAN_LRU_ISOLATE_LRU] == LRU_INACTIVE_FILE;
	const struct scan_request request = {
		.lruvec = lruvec,
		.lru = (enum lru_list)v[MM_VMSCAN_LRU_ISOLATE_LRU],
		.nr_to_scan = MAX_LRU_BATCH,
		.tier_idx = get_tier_idx(mm, lruvec, type),
		.swappiness = lru_gen_swappiness(&bracket->walk, memcg),
		.reclaim_idx = bracket->walk.sc.reclaim_idx < MAX_NR_ZONES ?
				       bracket->walk.sc.reclaim_idx :
				       MAX_NR_ZONES - 1,
	};
	struct scan_result result = { 0 };

	if (get_nr_gens(lruvec_lru_gen(lruvec), type) <= MIN_NR_GENS)
		return false;
	lru_gen_preview(mm, &request, check_lru_gen_by_the_rules, NULL, &result);
	return result.nr_scanned == v[MM_VMSCAN_LRU_ISOLATE_NR_SCANNED] &&
	       result.nr_taken == v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN];
}

/* The round at this priority has not come to it yet, and there is something to look at. */
static bool is_due(const struct reclaim_bracket *bracket, struct mem_cgroup *memcg, int priority)
{
	const struct reclaim_walk *walk = &bracket->walk;
	uint64_t pages = lru_gen_evictable_pages(walk->mm, mem_cgroup_lruvec(memcg, 0),
						 lru_gen_swappiness(walk, memcg));

	return pages >> priority &&
	       (priority != walk->sc.priority || !was_visited(bracket, memcg)) &&
	       memcg_lru_is_old(&walk->mm->memcg_lru, node_of(memcg));
}

/* Whose lists were isolated from; NULL: nothing tells. */
static struct mem_cgroup *owner_of_isolation(struct check *check, struct reclaim_bracket *bracket,
					     uint64_t foreseen)
{
	struct mm *mm = &check->machine.mm;
	uint64_t pfn = isolation_victim(foreseen);
	struct folio *victim = pfn == UINT64_MAX ? NULL : check_known_folio(check, pfn);
	struct mem_cgroup *current = bracket->walk.state == WALK_LRUVEC ? bracket->walk.memcg :
									  NULL;
	struct mem_cgroup *owner = victim && victim->file ? victim->lruvec->memcg : NULL;
	bool taken = check->event->value[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN];
	int priority = isolation_priority(foreseen) >= 0 ? isolation_priority(foreseen) :
							   bracket->walk.sc.priority;

	if (owner && (taken || has_figures(check, bracket, owner)))
		return owner;
	if (current && has_figures(check, bracket, current))
		return current;
	for (struct mem_cgroup *memcg = mm->root; memcg; memcg = mem_cgroup_next(mm->root, memcg))
		if (is_due(bracket, memcg, priority) && has_figures(check, bracket, memcg))
			return memcg;
	return owner ? owner : current;
}

/* The walk, which is in this memcg, asks for a scan of it. */
static bool ask(struct check *check, struct reclaim_bracket *bracket, struct mem_cgroup *owner)
{
	return !would_age(bracket, owner) &&
	       check->machine.mm.policy->shrink_next(&bracket->walk, mem_cgroup_lruvec(owner, 0),
						     &bracket->request);
}

bool check_lru_gen_place(struct check *check, struct reclaim_bracket *bracket, uint64_t foreseen)
{
	struct reclaim_walk *walk = &bracket->walk;
	struct mem_cgroup *owner, *current;
	int priority = isolation_priority(foreseen);
	struct scan_request request;
	bool same_round;

	if (walk->state == WALK_NODE)
		next_round(check, bracket, priority);
	owner = owner_of_isolation(check, bracket, foreseen);
	if (priority < 0)
		priority = walk->sc.priority;
	current = walk->state == WALK_LRUVEC ? walk->memcg : NULL;
	same_round = priority == walk->sc.priority;
	if (!owner)
		return false;
	if (owner == current && same_round && ask(check, bracket, owner))
		return true;
	world_infer(check->world, INFER_memcg_of_victim);
	same_round &= !was_visited(bracket, owner) || node_of(owner)->seg == MEMCG_LRU_TAIL;
	if (same_round && current) {
		/* What it still asks for was not done: that round was over. */
		if (current != owner &&
		    walk->mm->policy->shrink_next(walk, mem_cgroup_lruvec(current, 0), &request))
			same_round = false;
		leave(check, bracket);
	}
	if (!same_round)
		next_round(check, bracket, priority);
	bracket->priority_missed = walk->sc.priority != priority;
	walk->sc.priority = priority;
	enter(bracket, owner);
	return ask(check, bracket, owner);
}

bool check_lru_gen_would_go_on(struct check *check, struct reclaim_bracket *bracket)
{
	struct reclaim_walk *walk = &bracket->walk;
	struct mem_cgroup *current = walk->state == WALK_LRUVEC ? walk->memcg : NULL;
	bool goes_on = false;

	if (walk->state == WALK_NODE)
		return false; /* nothing was isolated: what it met was too small, or aged */
	if (current && !walk->sc.kswapd)
		goes_on = walk->mm->policy->shrink_next(walk, mem_cgroup_lruvec(current, 0),
							&bracket->request);
	leave(check, bracket);
	return goes_on || (!walk->sc.kswapd && walk->sc.nr_reclaimed < walk->sc.nr_to_reclaim &&
			   walk->sc.priority > 0);
}
