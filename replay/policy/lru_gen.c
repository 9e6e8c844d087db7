// SPDX-License-Identifier: GPL-2.0-only
/*
 * MGLRU: when its parts (replay/mm/lru_gen.h) act in a reclaim call. lru_gen_node.c has what is decided
 * once a round, and which memcg comes next where nobody's limit says.
 *
 * Each priority of a call comes to a lruvec once:
 *
 *   drain this CPU's batches
 *   until enough pages were looked at:
 *      how many?     all evictable pages >> priority; nothing if only two generations are left
 *      age?          if so, and the priority is below 12: a new generation, and the lruvec is left alone
 *      evict:        choose a type and its tiers, scan (lru_gen_scan.c), give up empty generations,
 *                    free what was isolated, put back what could not be freed
 *
 * One scan is one request of the walk (replay/mm/scan_control.h).
 *
 * Kernel: mm/vmscan.c, try_to_shrink_lruvec(), v6.1 to v6.18. What differs: docs/fidelity.md.
 */
#include <string.h>

#include "replay/mm/lru_gen.h"
#include "replay/policy/policy.h"

static int lru_gen_init(struct mm *mm, struct lruvec *lruvec)
{
	(void)mm;
	lru_gen_init_lruvec(lruvec);
	return 0;
}

static void lru_gen_folio_added(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	/* Kernel: mm/swap.c, folio_add_lru(), v6.18: whatever a fault brings in is active, readahead too. */
	if (folio_test_clear(folio, FOLIO_in_fault))
		folio_set(folio, PG_active);
	lru_gen_add_folio(mm, lruvec, folio, false);
}

static void lru_gen_folio_removed(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lru_gen_del_folio(lruvec, folio, false);
	folio_clear(folio, PG_lru);
}

/* Kernel: mm/swap.c, lru_move_tail(), v6.18. */
static void lru_gen_folio_rotated(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	lru_gen_del_folio(lruvec, folio, false);
	folio_clear(folio, PG_active);
	lru_gen_add_folio(mm, lruvec, folio, true);
}

/*
 * A neighbour of a folio that reclaim found young was young as well. What its look at it does to the
 * flags happens here at once with the move. Kernel: mm/vmscan.c, lru_gen_look_around(), v6.18.
 */
static void lru_gen_folio_activated(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);

	if (folio_test(folio, PG_active | PG_unevictable))
		return;
	if (rules->refs_need_referenced)
		folio_set(folio, PG_workingset);
	else if (rules->activation_clears_refs)
		folio_clear(folio, PG_workingset);
	lru_gen_del_folio(lruvec, folio, false);
	folio_set(folio, PG_active);
	lru_gen_add_folio(mm, lruvec, folio, false);
	lruvec_count(lruvec, COUNT_pgactivate, folio_nr_pages(folio));
}

static void lru_gen_folio_accessed(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	(void)cpu;
	lru_gen_inc_refs(mm, folio);
}

static void lru_gen_folio_refault(struct mm *mm, struct folio *folio, struct shadow shadow)
{
	lru_gen_refault(mm, folio, shadow);
}

static struct shadow lru_gen_evict(struct mm *mm, struct folio *folio, struct mem_cgroup *target)
{
	(void)target; /* the folio's own memcg remembers it, whoever reclaims */
	return lru_gen_eviction(mm, folio);
}

enum shrink_phase {
	SHRINK_EVICT, /* next: another evict, if need be */
	SHRINK_SCAN, /* next: a scan of one */
	SHRINK_ENDED,
};

/* The loop variables of try_to_shrink_lruvec() and isolate_folios(), kept between two scans. */
struct lru_gen_shrink {
	enum shrink_phase phase;
	unsigned int swappiness;
	uint64_t max_seq; /* when it began */
	uint64_t scanned; /* pages that the evicts so far count for */
	uint64_t nr_to_scan;
	int type, tier_idx; /* of the next scan */
	bool other_type_next;
	bool need_aging; /* the last look said so */
	bool scanned_anon;
	uint64_t reclaimed_before; /* sc.nr_reclaimed when it began */
};

static_assert(sizeof(struct lru_gen_shrink) <= SHRINK_STATE_BYTES, "room between isolations");

static struct lru_gen_shrink *shrink_state(struct reclaim_walk *walk)
{
	return (struct lru_gen_shrink *)walk->shrink_state;
}

static const struct lru_gen_shrink *shrink_state_of(const struct reclaim_walk *walk)
{
	return (const struct lru_gen_shrink *)walk->shrink_state;
}

static void lru_gen_shrink_begin(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	struct lru_gen_shrink *shrink = shrink_state(walk);

	/* In its own order of memcgs reclaim drains once a round. */
	if (!walk->sc.run_eviction && !reclaim_walk_has_own_order(walk)) {
		if (!walk->mm->config.hold_drains)
			lru_add_drain(walk->mm, walk->cpu, DRAIN_reclaim);
		else if (!walk->drain_told)
			lru_batch_drain(walk->mm, walk->cpu, BATCH_LRU_MOVE_TAIL, DRAIN_reclaim);
		walk->drain_told = false;
	}
	memset(shrink, 0, sizeof(*shrink));
	shrink->swappiness = walk->sc.run_eviction ? walk->sc.run_eviction_swappiness :
						     lru_gen_swappiness(walk, walk->memcg);
	shrink->reclaimed_before = walk->sc.nr_reclaimed;
	walk->memcg_aged = false;
	shrink->max_seq = lruvec_lru_gen(lruvec)->max_seq;
}

/* Kernel: mm/vmscan.c, run_eviction(), v6.18: what its loop may still reclaim, 0: it ends. */
static uint64_t run_eviction_pages(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	const struct scan_control *sc = &walk->sc;

	if (sc->nr_reclaimed >= sc->nr_to_reclaim ||
	    lru_gen_oldest_seq(walk->mm, lruvec, shrink_state(walk)->swappiness) >
		    sc->run_eviction_seq)
		return 0;
	return sc->nr_to_reclaim - sc->nr_reclaimed;
}

/*
 * In check sizes may be some pages from what they were when the kernel looked: rotations and activations of
 * these microseconds count or do not. Whether it aged shows in the priority of what it isolates next: at an
 * earlier one it would have isolated as well.
 */
static bool needs_aging(struct reclaim_walk *walk, struct lruvec *lruvec, uint64_t nr)
{
	const struct lru_gen_rules *rules = lru_gen_rules(walk->mm);
	const struct lru_gen_shrink *shrink = shrink_state(walk);
	bool by_sizes = lru_gen_should_age(walk->mm, lruvec, shrink->swappiness), told;

	if (walk->aging_after_drain != AGING_UNSEEN)
		by_sizes = walk->aging_after_drain == AGING_YES;
	walk->aging_after_drain = AGING_UNSEEN;
	if (!walk->priority_ahead || !rules->aging_by_sizes || rules->evicts_after_aging ||
	    walk->sc.priority == DEF_PRIORITY || !nr ||
	    lru_gen_oldest_seq(walk->mm, lruvec, shrink->swappiness) + MIN_NR_GENS !=
		    lruvec_lru_gen(lruvec)->max_seq)
		return by_sizes;
	told = walk->sc.priority >= walk->priority_ahead;
	if (told == by_sizes || (told && shrink->scanned))
		return by_sizes;
	walk->aging_overruled = true;
	return told;
}

/*
 * Kernel: mm/vmscan.c, get_nr_to_scan(), v6.1 to v6.18.
 * Return: pages; 0: leave the lruvec alone, for it has too few generations, or was aged.
 */
static uint64_t get_nr_to_scan(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	struct mm *mm = walk->mm;
	struct lru_gen_shrink *shrink = shrink_state(walk);
	unsigned int swappiness = shrink->swappiness;
	uint64_t total = lru_gen_evictable_pages(mm, lruvec, swappiness);
	uint64_t nr = walk->memcg->online ? total >> walk->sc.priority : total;

	if (walk->sc.run_eviction)
		return run_eviction_pages(walk, lruvec);
	if (lru_gen_rules(mm)->scales_by_protection && walk->memcg->online)
		nr = reclaim_walk_unprotected(walk, walk->memcg, total) >> walk->sc.priority;
	shrink->need_aging = needs_aging(walk, lruvec, nr);
	if (shrink->need_aging && walk->sc.priority != DEF_PRIORITY &&
	    (walk->memcg->online || lru_gen_rules(mm)->evicts_after_aging)) {
		if (lru_gen_rules(mm)->kswapd_ages && walk->sc.kswapd)
			return 0; /* it does so before the next round */
		lru_gen_inc_max_seq(mm, lruvec, swappiness);
		walk->memcg_aged = true;
		return lru_gen_rules(mm)->evicts_after_aging ? nr : 0;
	}
	if (lru_gen_oldest_seq(mm, lruvec, swappiness) + MIN_NR_GENS >
	    lruvec_lru_gen(lruvec)->max_seq)
		return 0;
	return nr;
}

/* Which type an evict tries first. Kernel: mm/vmscan.c, isolate_folios(), v6.1 to v6.18. */
static void choose_type(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	const struct mm *mm = walk->mm;
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	struct lru_gen_shrink *shrink = shrink_state(walk);
	unsigned int swappiness = shrink->swappiness;

	shrink->tier_idx = -1;
	shrink->other_type_next = lru_gen_evictable(mm, LRU_GEN_ANON, swappiness) &&
				  lru_gen_evictable(mm, LRU_GEN_FILE, swappiness);
	if (!swappiness)
		shrink->type = LRU_GEN_FILE;
	else if (lru_gen_rules(mm)->older_type_first &&
		 lrugen->min_seq[LRU_GEN_ANON] < lrugen->min_seq[LRU_GEN_FILE])
		shrink->type = LRU_GEN_ANON;
	else if (swappiness == 1)
		shrink->type = LRU_GEN_FILE;
	else if (swappiness >= MAX_SWAPPINESS)
		shrink->type = LRU_GEN_ANON;
	else
		shrink->type = get_type_to_scan(mm, lruvec, swappiness, &shrink->tier_idx);
	if (shrink->tier_idx < 0)
		shrink->tier_idx = get_tier_idx(mm, lruvec, shrink->type);
}

static void choose_other_type(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	struct lru_gen_shrink *shrink = shrink_state(walk);

	shrink->type = !shrink->type;
	shrink->tier_idx = get_tier_idx(walk->mm, lruvec, shrink->type);
	shrink->other_type_next = false;
}

/*
 * The scans of an evict are over: empty generations go, and a lruvec that has only two left counts as
 * exhausted. Kernel: mm/vmscan.c, evict_folios(), v6.1 to v6.18. Return: pages that the evict counts for.
 */
static uint64_t finish_scans(struct mm *mm, struct lruvec *lruvec, unsigned int swappiness,
			     uint64_t scanned)
{
	scanned += lru_gen_try_to_inc_min_seq(mm, lruvec, swappiness);
	if (lru_gen_oldest_seq(mm, lruvec, swappiness) + MIN_NR_GENS >
	    lruvec_lru_gen(lruvec)->max_seq)
		return 0;
	return scanned;
}

/* What the loop over one lruvec needs to know of itself. Kernel: mm/vmscan.c, should_abort_scan(), v6.1. */
static bool had_its_share(const struct reclaim_walk *walk, const struct lruvec *lruvec)
{
	const struct lru_gen_shrink *shrink = shrink_state_of(walk);

	/* Of direct reclaim: aged twice, or it would swap too much. */
	return lru_gen_rules(walk->mm)->evicts_after_aging && !walk->sc.kswapd &&
	       (lruvec_lru_gen(lruvec)->max_seq - shrink->max_seq > 1 ||
		(walk->sc.nr_reclaimed >= walk->sc.nr_to_reclaim && shrink->scanned_anon));
}

/* Kernel: mm/vmscan.c, try_to_shrink_lruvec(), v6.1 to v6.18. */
static void evict_done(struct reclaim_walk *walk, struct lruvec *lruvec, uint64_t nr_evict)
{
	struct lru_gen_shrink *shrink = shrink_state(walk);

	shrink->scanned += nr_evict;
	shrink->phase = SHRINK_EVICT;
	if (!nr_evict) {
		shrink->phase = SHRINK_ENDED;
		return;
	}
	if ((shrink->scanned >= shrink->nr_to_scan && !walk->sc.run_eviction) ||
	    had_its_share(walk, lruvec) || lru_gen_should_abort_scan(walk))
		shrink->phase = SHRINK_ENDED;
	/* There is enough to evict without aging: 6.1's kswapd need not look. */
	if (shrink->phase == SHRINK_ENDED && !shrink->need_aging &&
	    walk->sc.nr_reclaimed - shrink->reclaimed_before >= MIN_LRU_BATCH)
		walk->memcgs_need_aging = false;
}

/* Reclaim for a limit moves it at once; in reclaim from everybody that is done with the choice of the next. */
static bool shrink_ended(const struct reclaim_walk *walk, struct lruvec *lruvec)
{
	if (walk->memcg_aged && walk->sc.target_mem_cgroup && !walk->sc.run_eviction &&
	    lru_gen_rules(walk->mm)->memcg_lru)
		lru_gen_rotate_memcg(walk->mm, lruvec, MEMCG_LRU_YOUNG);
	return false;
}

/* In a run all folios lie in one zone, and whoever reclaims has use for them. */
static uint8_t eligible_zone(const struct reclaim_walk *walk)
{
	const uint8_t highest = MAX_NR_ZONES - 1;

	return walk->mm->config.hold_drains && walk->sc.reclaim_idx < highest ?
		       walk->sc.reclaim_idx :
		       highest;
}

static bool lru_gen_shrink_next(struct reclaim_walk *walk, struct lruvec *lruvec,
				struct scan_request *request)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	struct lru_gen_shrink *shrink = shrink_state(walk);

	for (;;) {
		if (shrink->phase == SHRINK_ENDED)
			return shrink_ended(walk, lruvec);
		if (shrink->phase == SHRINK_EVICT) {
			shrink->nr_to_scan = get_nr_to_scan(walk, lruvec);
			if (!shrink->nr_to_scan) {
				shrink->phase = SHRINK_ENDED;
				continue;
			}
			choose_type(walk, lruvec);
			shrink->phase = SHRINK_SCAN;
		}
		if (get_nr_gens(lrugen, shrink->type) > MIN_NR_GENS)
			break;
		/* Of two generations nothing is taken. */
		if (shrink->other_type_next)
			choose_other_type(walk, lruvec);
		else
			evict_done(walk, lruvec,
				   finish_scans(walk->mm, lruvec, shrink->swappiness, 0));
	}
	*request = (struct scan_request){
		.lruvec = lruvec,
		.lru = shrink->type ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON,
		.nr_to_scan = lru_gen_rules(walk->mm)->budget_is_nr_to_scan ? shrink->nr_to_scan :
									      MAX_LRU_BATCH,
		.tier_idx = shrink->tier_idx,
		.swappiness = shrink->swappiness,
		.reclaim_idx = eligible_zone(walk),
		.other_type_next = shrink->other_type_next,
	};
	return true;
}

/* Kernel: mm/vmscan.c, isolate_folios(), evict_folios(): under the lock, v6.1 to v6.18. */
static void lru_gen_isolate(struct mm *mm, const struct scan_request *request,
			    struct list_head *taken, struct scan_result *result)
{
	uint64_t scanned = lru_gen_scan_folios(mm, request, taken, result);

	result->goes_on = !scanned && request->other_type_next;
	if (!result->goes_on)
		result->nr_evict = finish_scans(mm, request->lruvec, request->swappiness, scanned);
}

static void lru_gen_shrink_done(struct reclaim_walk *walk, const struct scan_request *request,
				const struct scan_result *result)
{
	walk->sc.nr_reclaimed += result->nr_reclaimed;
	shrink_state(walk)->scanned_anon |= request->lru == LRU_INACTIVE_ANON && result->nr_scanned;
	if (result->goes_on)
		choose_other_type(walk, request->lruvec);
	else
		evict_done(walk, request->lruvec, result->nr_evict);
}

/* Kernel: mm/vmscan.c, folio_check_references(), lru_gen_set_refs(), v6.18 and v6.12. */
static bool lru_gen_references_checked(struct mm *mm, struct folio *folio, bool young)
{
	bool referenced = folio_test(folio, PG_referenced);

	if (lru_gen_rules(mm)->refs_need_referenced) {
		if (!young)
			return false;
		/* Two young sightings, told by the two flags, make it a folio of the workingset. */
		folio_lru_gen_flags(folio)->refs = 0;
		if (!folio_test(folio, PG_referenced | PG_workingset)) {
			folio_set(folio, PG_referenced);
			return false;
		}
		folio_clear(folio, PG_referenced);
		folio_set(folio, PG_workingset);
		return true;
	}
	folio_clear(folio, PG_referenced);
	if (young)
		folio_set(folio, PG_referenced);
	return referenced;
}

/* What reclaim could not free. Kernel: mm/vmscan.c, evict_folios(), v6.18 and v6.12. */
static void reject(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct lru_gen_flags *flags = folio_lru_gen_flags(folio);

	if (rules->rejected_to_youngest) {
		if (folio_test(folio, PG_reclaim) && folio_test(folio, PG_dirty | PG_writeback)) {
			/* To be rotated soon; the flag that isolation cleared is given back. */
			if (folio_test(folio, PG_workingset))
				folio_set(folio, PG_referenced);
			return;
		}
		folio_clear(folio, PG_workingset);
	} else if (lru_gen_folio_seq(mm, lruvec, folio, false) !=
		   lruvec_lru_gen(lruvec)->min_seq[folio_is_file_lru(folio)]) {
		return;
	}
	flags->refs = 0;
	folio_clear(folio, PG_referenced);
	folio_set(folio, PG_active);
}

/* Kernel: mm/vmscan.c, move_folios_to_lru(), v6.18. Differs: clean folios get no second pass. */
static void lru_gen_putback(struct mm *mm, const struct scan_request *request,
			    struct list_head *list)
{
	for (struct list_head *pos = list->next; pos != list; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (!folio_test(folio, PG_unevictable))
			reject(mm, request->lruvec, folio);
	}
	while (!list_empty(list)) {
		struct folio *folio = list_entry(list->next, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated);
		folio_set(folio, PG_lru);
		lru_gen_add_folio(mm, request->lruvec, folio, false);
	}
}

static void lru_gen_reclaim_end(struct mm *mm, struct mem_cgroup *top)
{
	(void)mm, (void)top;
}

const struct reclaim_policy policy_lru_gen = {
	.name = "lru_gen",
	.summary = "MGLRU: generations, and tiers of refault rates within them",
	.source = "Linux 6.1 to 6.18, mm/vmscan.c, mm/workingset.c, include/linux/mm_inline.h",
	.folio_private_bytes = sizeof(struct lru_gen_flags),
	.lruvec_private_bytes = sizeof(struct lru_gen_folio),
	.drains_before_lruvec = true,
	.generations = true,
	.init = lru_gen_init,
	.online_changed = lru_gen_online_changed,
	.folio_added = lru_gen_folio_added,
	.folio_activated = lru_gen_folio_activated,
	.folio_rotated = lru_gen_folio_rotated,
	.folio_removed = lru_gen_folio_removed,
	.folio_accessed = lru_gen_folio_accessed,
	.refault = lru_gen_folio_refault,
	.evict = lru_gen_evict,
	.prepare_scan = lru_gen_prepare_scan,
	.has_own_order = lru_gen_has_own_order,
	.next_memcg = lru_gen_next_memcg,
	.shrink_begin = lru_gen_shrink_begin,
	.shrink_next = lru_gen_shrink_next,
	.shrink_done = lru_gen_shrink_done,
	.isolate = lru_gen_isolate,
	.references_checked = lru_gen_references_checked,
	.putback = lru_gen_putback,
	.reclaim_end = lru_gen_reclaim_end,
	.loop = lru_gen_loop,
	.nr_loops = NR_LRU_GEN_LOOPS,
	.loop_shape = lru_gen_shape_name,
	.check = lru_gen_check,
};
