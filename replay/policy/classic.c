// SPDX-License-Identifier: GPL-2.0-only
/*
 * The classic LRU: an active and an inactive list per type.
 *
 *            refault within the workingset, second access
 *          .-----------------------------------------------.
 *          |                                               v
 *   new -> [ inactive: head ......... tail ]    [ active: head ......... tail ]
 *                    ^                  |                                 |
 *                    |                  +--> evicted, leaves a shadow     |
 *                    '----------------------------------------------------'
 *                       deactivated, when inactive is low or new refaults were activated
 *
 * A refaulting folio's distance is how far nonresident_age went on since it was evicted: so many
 * slots more would have kept it. If the lists that it could compete with are that long, it
 * starts active.
 *
 * Kernel: mm/vmscan.c, mm/swap.c, mm/workingset.c, v6.18. What differs: docs/fidelity.md.
 */
#include <string.h>

#include "replay/policy/policy.h"

#define SWAPPINESS_ANON_ONLY 201
#define PAGES_PER_GIB_SHIFT 18

static unsigned long int_sqrt(unsigned long x)
{
	unsigned long root = 0;

	for (unsigned long bit = 1ul << 31; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= x)
			root |= bit;
	return root;
}

/* Kernel: mm/vmscan.c, inactive_is_low(), v6.18. @file: type. */
static bool inactive_is_low(struct mm *mm, struct lruvec *lruvec, int file)
{
	int64_t inactive, active, ratio;
	unsigned long gib;

	mm_stats_use(mm, lruvec);
	inactive = lruvec_page_state(lruvec, file ? NR_INACTIVE_FILE : NR_INACTIVE_ANON);
	active = lruvec_page_state(lruvec, file ? NR_ACTIVE_FILE : NR_ACTIVE_ANON);
	gib = (unsigned long)(inactive + active) >> PAGES_PER_GIB_SHIFT;
	ratio = gib ? (int64_t)int_sqrt(10 * gib) : 1;
	return inactive * ratio < active;
}

/*
 * Kernel: mm/vmscan.c, kswapd_age_node(), v6.18; age_active_anon(), v6.1.
 * Differs: up to 5.6 each memcg's own lists decide, here the whole node's.
 */
static bool classic_ages_anon(struct reclaim_walk *walk)
{
	return walk->mm->config.total_swap_pages > 0 &&
	       inactive_is_low(walk->mm, mem_cgroup_lruvec(walk->mm->root, 0), 0);
}

static void classic_folio_added(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_add_folio(lruvec, folio);
}

static void classic_folio_removed(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_del_folio(lruvec, folio);
	folio_clear(folio, PG_lru);
}

/* Kernel: mm/swap.c, lru_activate(), v6.18. */
static void classic_folio_activated(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	if (folio_test(folio, PG_active | PG_unevictable))
		return;
	lruvec_del_folio(lruvec, folio);
	folio_set(folio, PG_active);
	lruvec_add_folio(lruvec, folio);
	lruvec_count(lruvec, COUNT_pgactivate, folio_nr_pages(folio));
	lruvec->recent_scanned[folio_is_file_lru(folio)]++;
	lruvec->recent_rotated[folio_is_file_lru(folio)]++;
}

/* Kernel: mm/swap.c, lru_move_tail(), v6.18. */
static void classic_folio_rotated(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_del_folio(lruvec, folio);
	folio_clear(folio, PG_active);
	lruvec_add_folio_tail(lruvec, folio);
}

/* Kernel: mm/vmscan.c, folio_check_references(), v6.18. */
static bool classic_references_checked(struct mm *mm, struct folio *folio, bool young)
{
	bool referenced = folio_test_clear(folio, PG_referenced);

	(void)mm;
	if (young)
		folio_set(folio, PG_referenced);
	return referenced;
}

/* Kernel: mm/swap.c, folio_mark_accessed(), v6.18. */
static void classic_folio_accessed(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	if (!folio_test(folio, PG_referenced)) {
		folio_set(folio, PG_referenced);
		return;
	}
	if (folio_test(folio, PG_unevictable | PG_active))
		return;
	if (folio_test(folio, PG_lru))
		lru_batch_queue(mm, cpu, BATCH_LRU_ACTIVATE, folio);
	else if (folio_test(folio, FOLIO_in_add_batch) && folio->cpu == cpu)
		folio_set(folio, PG_active);
	folio_clear(folio, PG_referenced);
	if (!mm->config.rules.file_workingset_only || folio_is_file_lru(folio))
		workingset_age_nonresident(folio->lruvec, folio_nr_pages(folio));
}

/*
 * Kernel: mm/swap.c, lru_note_cost_unlock_irq(), v6.18.
 * Differs: at most the levels' own sizes as of the last flush, as there.
 */
static void note_cost(struct mm *mm, struct lruvec *lruvec, int file, uint64_t nr_io,
		      uint64_t nr_rotated)
{
	uint64_t cost = mm->config.rules.cost_is_io_only ? nr_io :
							   nr_io * SWAP_CLUSTER_MAX + nr_rotated;
	bool own_level = true;

	if (mm->config.rules.balance_by_rotation ||
	    (!cost && mm->config.rules.note_cost_of_own_level_free))
		return;
	for (; lruvec; lruvec = lruvec_parent(lruvec)) {
		uint64_t size;

		mm_stats_use(mm, lruvec);
		size = (uint64_t)(lruvec_page_state(lruvec, NR_INACTIVE_ANON) +
				  lruvec_page_state(lruvec, NR_ACTIVE_ANON) +
				  lruvec_page_state(lruvec, NR_INACTIVE_FILE) +
				  lruvec_page_state(lruvec, NR_ACTIVE_FILE));
		if (!own_level || !mm->config.rules.note_cost_of_own_level_free)
			lruvec_lock(lruvec, LOCK_note_cost, 0);
		own_level = false;
		if (file)
			lruvec->file_cost += cost;
		else
			lruvec->anon_cost += cost;
		if (lruvec->file_cost + lruvec->anon_cost > size / 4) {
			lruvec->file_cost /= 2;
			lruvec->anon_cost /= 2;
		}
	}
}

/* Kernel: mm/workingset.c, workingset_test_recent(), v6.18. Return: within the workingset. */
static bool refault_is_recent(struct mm *mm, struct shadow shadow, int file)
{
	struct mem_cgroup *memcg = shadow.memcg_index < mm->nr_memcgs ?
					   mm->memcg[shadow.memcg_index] :
					   NULL;
	struct lruvec *lruvec;
	uint64_t distance, workingset_size;

	if (!memcg || !memcg->online || shadow.nid >= mm->nr_nodes)
		return false;
	lruvec = mem_cgroup_lruvec(memcg, shadow.nid);
	mm_stats_use(mm, lruvec);
	distance = (lruvec->nonresident_age - shadow.age) & WORKINGSET_AGE_MASK;
	workingset_size = (uint64_t)lruvec_page_state(lruvec, NR_ACTIVE_FILE);
	if (mm->config.rules.file_workingset_only)
		return distance <= workingset_size;
	if (!file)
		workingset_size += (uint64_t)lruvec_page_state(lruvec, NR_INACTIVE_FILE);
	if (mm_swap_left(mm, memcg) > 0) {
		workingset_size += (uint64_t)lruvec_page_state(lruvec, NR_ACTIVE_ANON);
		if (file)
			workingset_size += (uint64_t)lruvec_page_state(lruvec, NR_INACTIVE_ANON);
	}
	return distance <= workingset_size;
}

/* Kernel: mm/workingset.c, workingset_refault(), v6.18. */
static void classic_refault(struct mm *mm, struct folio *folio, struct shadow shadow)
{
	struct lruvec *lruvec = folio->lruvec;
	uint64_t nr_pages = folio_nr_pages(folio);
	int file = folio_is_file_lru(folio);

	lruvec_count(lruvec, file ? COUNT_workingset_refault_file : COUNT_workingset_refault_anon,
		     nr_pages);
	folio_set(folio, FOLIO_refaulted);
	if (!refault_is_recent(mm, shadow, file))
		return;
	folio_set(folio, PG_active | FOLIO_refault_active);
	workingset_age_nonresident(lruvec, nr_pages);
	lruvec->stat[file ? WORKINGSET_ACTIVATE_FILE : WORKINGSET_ACTIVATE_ANON] +=
		(int64_t)nr_pages;
	lruvec_count(lruvec, file ? COUNT_workingset_activate_file : COUNT_workingset_activate_anon,
		     nr_pages);
	if (shadow.workingset) {
		folio_set(folio, PG_workingset);
		if (!mm->config.rules.balance_by_rotation)
			lruvec_lock(lruvec, LOCK_note_cost, 0);
		note_cost(mm, lruvec, file, nr_pages, 0);
		lruvec_count(lruvec,
			     file ? COUNT_workingset_restore_file : COUNT_workingset_restore_anon,
			     nr_pages);
	}
}

/* Kernel: mm/workingset.c, workingset_eviction(), v6.18. */
static struct shadow classic_evict(struct mm *mm, struct folio *folio, struct mem_cgroup *target)
{
	struct mem_cgroup *memcg = target ? target : mm->root;
	struct lruvec *lruvec = mem_cgroup_lruvec(memcg, folio->lruvec->nid);
	struct shadow shadow = {
		.memcg_index = memcg->index,
		.nid = (uint16_t)lruvec->nid,
		.workingset = folio_test(folio, PG_workingset),
	};

	/* While only files had shadows, the folio's own memcg aged, and before the look. */
	if (mm->config.rules.file_workingset_only)
		workingset_age_nonresident(folio->lruvec, folio_nr_pages(folio));
	shadow.age = lruvec->nonresident_age;
	if (!mm->config.rules.file_workingset_only)
		workingset_age_nonresident(lruvec, folio_nr_pages(folio));
	return shadow;
}

/* Check does not know what is free: it takes it for the most at which kswapd wakes, or a task reclaims itself. */
static int64_t free_pages(const struct reclaim_walk *walk)
{
	const struct mm *mm = walk->mm;

	return mm->config.hold_drains ?
		       (int64_t)zones_sum(&mm->zones, walk->sc.kswapd ? WMARK_LOW : WMARK_MIN) :
		       zones_free(&mm->zones);
}

/*
 * Global reclaim finds so few file pages that it had better take anon: file pages and free ones
 * together are below the high marks. Kernel: mm/vmscan.c, prepare_scan_control(), v6.18.
 */
static bool file_is_tiny(const struct reclaim_walk *walk)
{
	struct mm *mm = walk->mm;
	int64_t file = 0, anon = 0;

	if (walk->sc.target_mem_cgroup || !mm->zones.nr)
		return false;
	for (struct mem_cgroup *memcg = mm->root; memcg; memcg = mem_cgroup_next(mm->root, memcg)) {
		const struct lruvec *lruvec = mem_cgroup_lruvec(memcg, 0);

		file += lruvec_lru_size(lruvec, LRU_INACTIVE_FILE) +
			lruvec_lru_size(lruvec, LRU_ACTIVE_FILE);
		anon += lruvec_lru_size(lruvec, LRU_INACTIVE_ANON);
	}
	return file + free_pages(walk) <= (int64_t)zones_sum(&mm->zones, WMARK_HIGH) &&
	       !walk->sc.may_deactivate[0] && anon >> walk->sc.priority;
}

/* Kernel: mm/vmscan.c, prepare_scan_control(), v6.18. */
static void classic_prepare_scan(struct reclaim_walk *walk)
{
	struct scan_control *sc = &walk->sc;
	struct lruvec *target = mem_cgroup_lruvec(walk->top, 0);

	if (!walk->mm->config.rules.balance_by_rotation)
		lruvec_lock(target, LOCK_prepare_scan, 0);
	sc->anon_cost = target->anon_cost;
	sc->file_cost = target->file_cost;
	if (walk->mm->config.rules.reclaim_flushes)
		mem_cgroup_flush_pending(walk->mm);
	mm_stats_use(walk->mm, target);
	for (int file = 0; file < ANON_AND_FILE; file++) {
		int64_t activated = lruvec_page_state(target, file ? WORKINGSET_ACTIVATE_FILE :
								     WORKINGSET_ACTIVATE_ANON);

		/* Anon had no refaults to count while only files had shadows. */
		sc->may_deactivate[file] = sc->force_deactivate ||
					   activated != target->refaults[file] ||
					   inactive_is_low(walk->mm, target, file);
	}
	sc->cache_trim_mode = lruvec_page_state(target, NR_INACTIVE_FILE) >> sc->priority &&
			      !sc->may_deactivate[1];
	sc->file_is_tiny = file_is_tiny(walk);
}

/* Kernel: mm/vmscan.c, snapshot_refaults(), v6.18. */
static void classic_reclaim_end(struct mm *mm, struct mem_cgroup *top)
{
	for (unsigned int nid = 0; nid < mm->nr_nodes; nid++) {
		struct lruvec *lruvec = mem_cgroup_lruvec(top, nid);

		mm_stats_use(mm, lruvec);
		lruvec->refaults[0] = lruvec_page_state(lruvec, WORKINGSET_ACTIVATE_ANON);
		lruvec->refaults[1] = lruvec_page_state(lruvec, WORKINGSET_ACTIVATE_FILE);
	}
}

/* The loop variables of shrink_lruvec(), kept between two isolations. */
struct classic_shrink {
	uint64_t nr[NR_LRU_LISTS], targets[NR_LRU_LISTS]; /* pages left and in the beginning */
	uint64_t nr_reclaimed;
	unsigned int lru; /* next list of the round */
	bool proportional_reclaim; /* never stop before all targets are met */
	bool anon_aged; /* the last step, aging anon without scanning it, was handed out */
	bool loop_ended;
};

static_assert(sizeof(struct classic_shrink) <= SHRINK_STATE_BYTES, "room between isolations");

enum scan_balance {
	SCAN_EQUAL,
	SCAN_FRACT,
	SCAN_ANON,
	SCAN_FILE,
};

static enum scan_balance scan_balance(struct reclaim_walk *walk, unsigned int swappiness)
{
	const struct scan_control *sc = &walk->sc;

	if (!sc->may_swap || mm_swap_left(walk->mm, walk->memcg) <= 0)
		return SCAN_FILE;
	if (sc->target_mem_cgroup && !swappiness)
		return SCAN_FILE;
	if (swappiness == SWAPPINESS_ANON_ONLY)
		return SCAN_ANON;
	if (!sc->priority && swappiness)
		return SCAN_EQUAL;
	if (sc->file_is_tiny)
		return SCAN_ANON;
	if (sc->cache_trim_mode)
		return SCAN_FILE;
	return SCAN_FRACT;
}

/* Shares of scanning by cost. Return: their sum. */
static uint64_t fractions_by_cost(const struct scan_control *sc, unsigned int swappiness,
				  uint64_t fraction[ANON_AND_FILE])
{
	uint64_t total = sc->anon_cost + sc->file_cost;
	uint64_t anon = total + sc->anon_cost, file = total + sc->file_cost;

	total = anon + file;
	fraction[0] = swappiness * (total + 1) / (anon + 1);
	fraction[1] = (200 - (swappiness > 200 ? 200 : swappiness)) * (total + 1) / (file + 1);
	return fraction[0] + fraction[1];
}

/*
 * Shares by how many of the pages looked at were rotated, and the decay of those numbers, which takes
 * the lock. Kernel: mm/vmscan.c, get_scan_count(), v5.6.
 */
static uint64_t fractions_by_rotation(struct lruvec *lruvec, unsigned int swappiness,
				      uint64_t fraction[ANON_AND_FILE])
{
	lruvec_lock(lruvec, LOCK_prepare_scan, 0);
	for (int file = 0; file < ANON_AND_FILE; file++) {
		enum lru_list lru = file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;
		int64_t size = lruvec_lru_size(lruvec, lru) + lruvec_lru_size(lruvec, lru + 1);
		uint64_t prio = file ? 200 - (swappiness > 200 ? 200 : swappiness) : swappiness;

		if (lruvec->recent_scanned[file] > (uint64_t)(size > 0 ? size : 0) / 4) {
			lruvec->recent_scanned[file] /= 2;
			lruvec->recent_rotated[file] /= 2;
		}
		fraction[file] = prio * (lruvec->recent_scanned[file] + 1) /
				 (lruvec->recent_rotated[file] + 1);
	}
	return fraction[0] + fraction[1] + 1;
}

/* Kernel: mm/vmscan.c, get_scan_count(), v6.18. */
static void get_scan_count(struct reclaim_walk *walk, struct lruvec *lruvec,
			   struct classic_shrink *shrink)
{
	const struct scan_control *sc = &walk->sc;
	unsigned int swappiness = reclaim_walk_swappiness(walk);
	enum scan_balance balance = scan_balance(walk, swappiness);
	uint64_t fraction[ANON_AND_FILE], denominator = 1;

	if (balance == SCAN_FRACT && walk->mm->config.rules.balance_by_rotation)
		denominator = fractions_by_rotation(lruvec, swappiness, fraction);
	else if (balance == SCAN_FRACT)
		denominator = fractions_by_cost(sc, swappiness, fraction);
	for (unsigned int lru = 0; lru < LRU_UNEVICTABLE; lru++) {
		int is_file = lru >= LRU_INACTIVE_FILE;
		uint64_t size = reclaim_walk_pages(walk, lruvec, (enum lru_list)lru);
		uint64_t scan = reclaim_walk_unprotected(walk, lruvec->memcg, size) >> sc->priority;

		if (!scan && !walk->memcg->online)
			scan = size < SWAP_CLUSTER_MAX ? size : SWAP_CLUSTER_MAX;
		if (balance == SCAN_FRACT)
			scan = walk->memcg->online ?
				       scan * fraction[is_file] / denominator :
				       (scan * fraction[is_file] + denominator - 1) / denominator;
		else if ((balance == SCAN_FILE) != is_file && balance != SCAN_EQUAL)
			scan = 0;
		shrink->nr[lru] = shrink->targets[lru] = scan;
	}
}

static struct classic_shrink *shrink_state(struct reclaim_walk *walk)
{
	return (struct classic_shrink *)walk->shrink_state;
}

static void classic_shrink_begin(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	struct classic_shrink *shrink = shrink_state(walk);

	memset(shrink, 0, sizeof(*shrink));
	get_scan_count(walk, lruvec, shrink);
	shrink->proportional_reclaim = !walk->sc.target_mem_cgroup && !walk->sc.kswapd &&
				       walk->sc.priority == DEF_PRIORITY;
}

/*
 * A round over the four lists is complete and the goal met: scan on only so far that both types
 * end in the proportion of their targets. Return: go on.
 */
static bool shrink_in_proportion(struct classic_shrink *shrink)
{
	uint64_t nr_file = shrink->nr[LRU_INACTIVE_FILE] + shrink->nr[LRU_ACTIVE_FILE];
	uint64_t nr_anon = shrink->nr[LRU_INACTIVE_ANON] + shrink->nr[LRU_ACTIVE_ANON];
	enum lru_list small, large;
	uint64_t percentage;

	if (!nr_file || !nr_anon)
		return false;
	small = nr_file > nr_anon ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;
	large = nr_file > nr_anon ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;
	percentage = (nr_file > nr_anon ? nr_anon : nr_file) * 100 /
		     (shrink->targets[small] + shrink->targets[small + 1] + 1);
	shrink->nr[small] = shrink->nr[small + 1] = 0;
	for (unsigned int lru = large; lru <= large + 1u; lru++) {
		uint64_t scanned = shrink->targets[lru] - shrink->nr[lru];
		uint64_t nr = shrink->targets[lru] * (100 - percentage) / 100;

		shrink->nr[lru] = nr - (nr < scanned ? nr : scanned);
	}
	return true;
}

/* The rounds that are left would pass over active lists that may not be deactivated, and do nothing else. */
static bool only_active_is_left(const struct classic_shrink *shrink, const struct scan_control *sc)
{
	return !shrink->nr[LRU_INACTIVE_ANON] && !shrink->nr[LRU_INACTIVE_FILE] &&
	       (!shrink->nr[LRU_ACTIVE_ANON] || !sc->may_deactivate[0]) &&
	       shrink->nr[LRU_ACTIVE_FILE] && !sc->may_deactivate[1];
}

/*
 * Kernel: mm/vmscan.c, shrink_lruvec(), v6.18. The goal is compared with what this lruvec gave,
 * not with what the call has gathered so far.
 */
static bool classic_shrink_next(struct reclaim_walk *walk, struct lruvec *lruvec,
				struct scan_request *request)
{
	struct classic_shrink *shrink = shrink_state(walk);
	struct scan_control *sc = &walk->sc;

	while (!shrink->loop_ended) {
		if (!shrink->lru && !shrink->nr[LRU_INACTIVE_ANON] &&
		    !shrink->nr[LRU_ACTIVE_FILE] && !shrink->nr[LRU_INACTIVE_FILE])
			break;
		if (!shrink->lru && only_active_is_left(shrink, sc)) {
			sc->skipped_deactivate = true;
			break;
		}
		while (shrink->lru < LRU_UNEVICTABLE) {
			enum lru_list lru = (enum lru_list)shrink->lru++;
			uint64_t nr = shrink->nr[lru] < SWAP_CLUSTER_MAX ? shrink->nr[lru] :
									   SWAP_CLUSTER_MAX;

			if (!nr)
				continue;
			shrink->nr[lru] -= nr;
			if ((lru & 1) && !sc->may_deactivate[lru >= LRU_INACTIVE_FILE]) {
				sc->skipped_deactivate = true;
				continue;
			}
			*request = (struct scan_request){ .lruvec = lruvec,
							  .lru = lru,
							  .nr_to_scan = nr };
			return true;
		}
		shrink->lru = 0;
		if (shrink->nr_reclaimed >= sc->nr_to_reclaim && !shrink->proportional_reclaim)
			shrink->loop_ended = !shrink_in_proportion(shrink);
	}
	if (!shrink->loop_ended) {
		shrink->loop_ended = true;
	}
	if (!shrink->anon_aged) {
		shrink->anon_aged = true;
		sc->nr_reclaimed += shrink->nr_reclaimed;
		if (walk->mm->config.total_swap_pages > 0 && inactive_is_low(walk->mm, lruvec, 0)) {
			*request = (struct scan_request){ .lruvec = lruvec,
							  .lru = LRU_ACTIVE_ANON,
							  .nr_to_scan = SWAP_CLUSTER_MAX };
			return true;
		}
	}
	return false;
}

/* Less than a full batch was the last of its list. */
static void classic_shrink_follow(struct reclaim_walk *walk, const struct scan_request *request,
				  uint64_t nr)
{
	if (nr < SWAP_CLUSTER_MAX)
		shrink_state(walk)->nr[request->lru] = 0;
}

static void classic_shrink_done(struct reclaim_walk *walk, const struct scan_request *request,
				const struct scan_result *result)
{
	request->lruvec->recent_scanned[request->lru >= LRU_INACTIVE_FILE] += result->nr_taken;
	if (request->lru & 1)
		return;
	shrink_state(walk)->nr_reclaimed += result->nr_reclaimed;
	if (result->nr_taken)
		note_cost(walk->mm, request->lruvec, request->lru == LRU_INACTIVE_FILE,
			  result->nr_written, result->nr_scanned - result->nr_reclaimed);
}

/*
 * Kernel: mm/vmscan.c, isolate_lru_folios(), v6.18.
 * Differs: a folio on a list can always be isolated.
 */
static void classic_isolate(struct mm *mm, const struct scan_request *request,
			    struct list_head *taken, struct scan_result *result)
{
	struct lruvec *lruvec = request->lruvec;
	struct list_head *list = &lruvec->lists[request->lru], skipped;

	(void)mm;
	list_init(&skipped);
	while (result->nr_scanned < request->nr_to_scan && !list_empty(list)) {
		struct folio *folio = list_entry(list->prev, struct folio, lru);
		uint64_t nr_pages = folio_nr_pages(folio);

		if (request->pfn_limit && folio->pfn >= request->pfn_limit) {
			list_move(&folio->lru, &skipped);
			continue;
		}
		result->nr_scanned += nr_pages;
		result->nr_taken += nr_pages;
		folio_clear(folio, PG_lru);
		folio_set(folio, FOLIO_isolated);
		list_move_tail(&folio->lru, taken);
	}
	/* Those of other zones, in the order in which they were met, become the youngest. */
	while (!list_empty(&skipped))
		list_move(skipped.prev, list);
	lruvec_update_size(lruvec, request->lru, -(int64_t)result->nr_taken);
	if (request->lru & 1)
		result->nr_pgrefill = result->nr_scanned;
	else
		result->nr_pgscan = result->nr_scanned;
}

/*
 * Kernel: mm/vmscan.c, shrink_active_list(), v6.18. Those that stay are not asked for.
 */
static bool classic_examine_active(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	folio_clear(folio, PG_active);
	folio_set(folio, PG_workingset);
	lruvec_count(lruvec, COUNT_pgdeactivate, folio_nr_pages(folio));
	return false;
}

/* Kernel: mm/vmscan.c, move_folios_to_lru(), v6.18. */
static void classic_putback(struct mm *mm, const struct scan_request *request,
			    struct list_head *list)
{
	struct lruvec *lruvec = request->lruvec;

	while (!list_empty(list)) {
		struct folio *folio = list_entry(list->next, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated);
		folio_set(folio, PG_lru);
		lruvec_add_folio(lruvec, folio);
		if (folio_test(folio, PG_active) && !mm->config.rules.file_workingset_only)
			workingset_age_nonresident(lruvec, folio_nr_pages(folio));
	}
}

static bool classic_check(const struct mm *mm, const struct lruvec *lruvec)
{
	(void)mm;
	return lruvec_check(lruvec);
}

const struct reclaim_policy policy_classic = {
	.name = "classic",
	.summary = "active and inactive lists with refault distances",
	.source = "Linux 6.18, mm/vmscan.c, mm/swap.c, mm/workingset.c",
	.kernel_lru_add = true,
	.folio_added = classic_folio_added,
	.folio_activated = classic_folio_activated,
	.folio_rotated = classic_folio_rotated,
	.folio_removed = classic_folio_removed,
	.folio_accessed = classic_folio_accessed,
	.refault = classic_refault,
	.evict = classic_evict,
	.prepare_scan = classic_prepare_scan,
	.ages_anon = classic_ages_anon,
	.shrink_begin = classic_shrink_begin,
	.shrink_next = classic_shrink_next,
	.shrink_follow = classic_shrink_follow,
	.shrink_done = classic_shrink_done,
	.isolate = classic_isolate,
	.references_checked = classic_references_checked,
	.examine_active = classic_examine_active,
	.putback = classic_putback,
	.reclaim_end = classic_reclaim_end,
	.check = classic_check,
};
