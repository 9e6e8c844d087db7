// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/lru_gen.h"
#include "replay/mm/protection.h"

static struct memcg_lru_node *node_of(struct mem_cgroup *memcg)
{
	return &lruvec_lru_gen(mem_cgroup_lruvec(memcg, 0))->memcg_lru;
}

void lru_gen_online_changed(struct mm *mm, struct mem_cgroup *memcg)
{
	if (memcg->online)
		memcg_lru_online(&mm->memcg_lru, node_of(memcg), memcg);
	else if (node_of(memcg)->list.next)
		memcg_lru_rotate(&mm->memcg_lru, node_of(memcg), MEMCG_LRU_OLD);
}

void lru_gen_rotate_memcg(struct mm *mm, struct lruvec *lruvec, enum memcg_lru_op op)
{
	struct memcg_lru_node *node = node_of(lruvec->memcg);

	if (node->list.next)
		memcg_lru_rotate(&mm->memcg_lru, node, op);
}

unsigned int lru_gen_swappiness(const struct reclaim_walk *walk, const struct mem_cgroup *memcg)
{
	if (!walk->sc.may_swap || mm_swap_left(walk->mm, memcg) < MIN_LRU_BATCH)
		return 0;
	return walk->sc.swappiness == SWAPPINESS_OF_MEMCG ? memcg->swappiness :
							    (unsigned int)walk->sc.swappiness;
}

static unsigned int fls(uint64_t x)
{
	return x ? 64 - (unsigned int)__builtin_clzll(x) : 0;
}

/* Kernel: mm/vmscan.c, set_initial_priority(), v6.12. */
static void set_initial_priority(struct reclaim_walk *walk)
{
	const struct lru_gen_rules *rules = lru_gen_rules(walk->mm);
	struct scan_control *sc = &walk->sc;
	int64_t reclaimable = 0;
	int priority;

	if (sc->priority != DEF_PRIORITY || sc->nr_to_reclaim < MIN_LRU_BATCH)
		return;
	for (unsigned int i = 0; i < walk->mm->nr_memcgs; i++) {
		const struct lruvec *lruvec = mem_cgroup_lruvec(walk->mm->memcg[i], 0);

		reclaimable += lruvec_lru_size(lruvec, LRU_INACTIVE_FILE);
		if (sc->may_swap && walk->mm->config.nr_swap_pages > 0)
			reclaimable += lruvec_lru_size(lruvec, LRU_INACTIVE_ANON);
	}
	priority = (int)fls(reclaimable > 0 ? (uint64_t)reclaimable : 0) - 1 -
		   (int)fls(sc->nr_to_reclaim - 1);
	if (priority < rules->least_initial_priority)
		priority = rules->least_initial_priority;
	sc->priority = priority > DEF_PRIORITY ? DEF_PRIORITY : priority;
}

static bool is_below_min(const struct reclaim_walk *walk, const struct mem_cgroup *memcg)
{
	return protection_of(walk->mm->root, memcg) == PROTECTION_MIN;
}

/* Kernel: mm/vmscan.c, lruvec_is_sizable(), v6.12. */
static bool is_sizable(const struct reclaim_walk *walk, struct mem_cgroup *memcg)
{
	uint64_t total = lru_gen_evictable_pages(walk->mm, mem_cgroup_lruvec(memcg, 0),
						 lru_gen_swappiness(walk, memcg));

	return (memcg->online ? total >> walk->sc.priority : total) != 0;
}

/* Its oldest file pages have been there for min_ttl. Kernel: mm/vmscan.c, lruvec_is_reclaimable(), v6.12. */
static bool is_reclaimable(const struct reclaim_walk *walk, struct mem_cgroup *memcg)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(mem_cgroup_lruvec(memcg, 0));
	uint64_t birth_ns = lrugen->birth_ns[lru_gen_from_seq(lrugen->min_seq[LRU_GEN_FILE])];
	bool sizable = is_sizable(walk, memcg);

	/* 6.1's own test of the size counts below the first priority only. */
	if (lru_gen_rules(walk->mm)->kswapd_ages)
		sizable = sizable || walk->sc.priority == DEF_PRIORITY;
	return !is_below_min(walk, memcg) && sizable &&
	       birth_ns + walk->mm->config.min_ttl_ns < walk->mm->now_ns;
}

/* Kernel: mm/vmscan.c, lru_gen_age_node(), v6.12; age_lruvec(), v6.1. */
static void age_node(struct reclaim_walk *walk)
{
	struct mm *mm = walk->mm;
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	bool reclaimable = !mm->config.min_ttl_ns;

	if (rules->kswapd_ages && !walk->memcgs_need_aging) {
		walk->memcgs_need_aging = true;
		return;
	}
	for (struct mem_cgroup *memcg = mm->root; memcg; memcg = mem_cgroup_next(mm->root, memcg)) {
		struct lruvec *lruvec = mem_cgroup_lruvec(memcg, 0);
		unsigned int swappiness = lru_gen_swappiness(walk, memcg);
		bool old_enough = !mm->config.min_ttl_ns || is_reclaimable(walk, memcg);

		protection_calculate(mm, mm->root, memcg);
		reclaimable |= old_enough;
		if (rules->kswapd_ages && old_enough && !is_below_min(walk, memcg) &&
		    lru_gen_should_age(mm, lruvec, swappiness))
			lru_gen_inc_max_seq(mm, lruvec, swappiness);
	}
	if (!reclaimable)
		lruvec_count(mem_cgroup_lruvec(mm->root, 0), COUNT_min_ttl_oom, 1);
}

void lru_gen_prepare_scan(struct reclaim_walk *walk)
{
	if (walk->sc.target_mem_cgroup)
		return;
	if (walk->sc.kswapd)
		age_node(walk);
	if (!lru_gen_rules(walk->mm)->memcg_lru)
		return;
	if (!walk->mm->config.hold_drains)
		lru_add_drain(walk->mm, walk->cpu, DRAIN_reclaim);
	set_initial_priority(walk);
}

bool lru_gen_has_own_order(const struct mm *mm)
{
	return lru_gen_rules(mm)->memcg_lru;
}

bool lru_gen_should_abort_scan(struct reclaim_walk *walk)
{
	const struct mm *mm = walk->mm;
	struct scan_control *sc = &walk->sc;
	/* kswapd counts anew in each round. */
	uint64_t reclaimed = sc->nr_reclaimed - (sc->kswapd ? walk->round_reclaimed : 0);
	bool marks_known = !mm->config.hold_drains && mm->zones.nr;

	if (sc->target_mem_cgroup)
		return false;
	if (!lru_gen_rules(mm)->kswapd_ages)
		return reclaimed >= sc->nr_to_reclaim ||
		       (sc->kswapd && marks_known &&
			zones_all_above(&mm->zones, WMARK_HIGH, sc->reclaim_idx, MIN_LRU_BATCH));
	if ((sc->kswapd && reclaimed < sc->nr_to_reclaim) || sc->priority > DEF_PRIORITY - 2 ||
	    !marks_known ||
	    !zones_free_above(&mm->zones, sc->kswapd ? WMARK_HIGH : WMARK_LOW, sc->reclaim_idx))
		return false;
	sc->nr_reclaimed += MIN_LRU_BATCH; /* so that the caller takes it for progress */
	return true;
}

enum memcg_lru_op lru_gen_rotation(const struct reclaim_walk *walk)
{
	struct mem_cgroup *memcg = walk->memcg;

	if (walk->memcg_aged && memcg->online)
		return MEMCG_LRU_YOUNG;
	if (!walk->memcg_aged && is_sizable(walk, memcg))
		return MEMCG_LRU_NOP;
	return node_of(memcg)->seg != MEMCG_LRU_TAIL ? MEMCG_LRU_TAIL : MEMCG_LRU_YOUNG;
}

/* Passed over, and moved. Kernel: mm/vmscan.c, shrink_one(), v6.12. */
static enum memcg_lru_op protected_to(const struct reclaim_walk *walk, struct mem_cgroup *memcg)
{
	switch (protection_of(walk->mm->root, memcg)) {
	case PROTECTION_MIN:
		return MEMCG_LRU_YOUNG;
	case PROTECTION_LOW:
		return node_of(memcg)->seg != MEMCG_LRU_TAIL ? MEMCG_LRU_TAIL : MEMCG_LRU_NOP;
	case PROTECTION_NONE:
		break;
	}
	return MEMCG_LRU_NOP;
}

struct mem_cgroup *lru_gen_next_memcg(struct reclaim_walk *walk)
{
	struct memcg_lru *lru = &walk->mm->memcg_lru;
	struct mem_cgroup *memcg = walk->memcg;
	enum memcg_lru_op op = memcg ? lru_gen_rotation(walk) : MEMCG_LRU_NOP;

	for (;;) {
		if (memcg && lru_gen_should_abort_scan(walk)) {
			if (op != MEMCG_LRU_NOP)
				memcg_lru_rotate(lru, node_of(memcg), op);
			return NULL;
		}
		memcg = memcg_lru_next(lru, &walk->memcg_lru, memcg ? node_of(memcg) : NULL, op);
		if (!memcg)
			return NULL;
		op = MEMCG_LRU_NOP;
		if (!memcg->online && memcg->usage_pages <= 0) {
			memcg_lru_release(lru, node_of(memcg));
			continue;
		}
		op = protected_to(walk, memcg);
		if (op == MEMCG_LRU_NOP)
			return memcg;
	}
}
