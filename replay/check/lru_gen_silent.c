// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim calls of a kernel that runs MGLRU and has no isolate and shrink events: up to 6.6. A victim that is
 * not among the isolated says that the next scan has begun.
 *
 * In reclaim from everybody its owner says whose scan that is. 6.1 comes to all memcgs in the tree's order;
 * how much it does to each hangs on free pages, which are in no event. So the walk goes on to the owner: what
 * it would have scanned on its way was not, unless the scan takes nothing and leaves no trace.
 */
#include "replay/check/lru_gen.h"

#define STEPS_PER_MEMCG 4 /* of a walk on its way to one */

/* The walk goes on until a scan has taken something. Return: false: it ends before that. */
static bool scan_something(struct check *check, struct reclaim_bracket *bracket)
{
	while (lru_gen_next_scan(check, bracket, 0)) {
		lru_gen_scan(check, bracket);
		if (!list_empty(&bracket->taken))
			return true;
	}
	return false;
}

/*
 * The call's first scan takes place as soon as the CPU's batch is drained. Later ones show only by their
 * victims.
 */
void check_lru_gen_drained(struct check *check)
{
	struct reclaim_bracket *bracket = lru_gen_bracket(check);

	if (!lru_gen_is_silent(check) || !bracket || !bracket->predicted || bracket->scan_begun ||
	    check->machine.mm.cpu[check_cpu(check)].batch[BATCH_LRU_ADD].nr)
		return;
	bracket->scan_begun = true;
	scan_something(check, bracket);
}

/* Other tasks that reclaim from the same lists. */
static unsigned int others(const struct check *check, const struct reclaim_bracket *bracket)
{
	const struct world *world = check->world;
	unsigned int nr = 0;

	for (uint64_t i = 0; i <= world->task_mask; i++) {
		const struct reclaim_bracket *other = world->task[i] ? world->task[i]->bracket :
								       NULL;

		nr += other && other != bracket && other->top == bracket->top;
	}
	return nr;
}

static void move_all(struct list_head *from, struct list_head *to)
{
	while (!list_empty(from))
		list_move_tail(from->next, to);
}

void lru_gen_unscan(struct check *check, struct list_head *taken)
{
	while (!list_empty(taken)) {
		struct folio *folio = list_entry(taken->prev, struct folio, lru);

		if (folio_test(folio, FOLIO_survivor))
			break;
		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated | PG_active);
		folio_set(folio, PG_lru);
		lru_gen_add_folio(&check->machine.mm, folio->lruvec, folio, true);
	}
}

/* What the bracket has isolated was another task's scan. Return: false: there is no room for it. */
static bool park(struct check *check, struct reclaim_bracket *bracket)
{
	for (int i = 0; i < PARKED_SCANS; i++) {
		struct parked_scan *parked = &check->parked[i];

		if (parked->target)
			continue;
		parked->target = bracket->top;
		parked->applied = bracket->applied;
		parked->result = bracket->result;
		list_init(&parked->taken);
		move_all(&bracket->taken, &parked->taken);
		bracket->total_unknown = true;
		return true;
	}
	return false;
}

/* A scan that another task's victim had shown was this one's. Return: there is one with this folio. */
static bool take_parked(struct check *check, struct reclaim_bracket *bracket,
			const struct folio *folio)
{
	for (int i = 0; i < PARKED_SCANS; i++) {
		struct parked_scan *parked = &check->parked[i];

		if (!parked->target)
			continue;
		for (const struct list_head *pos = parked->taken.next; pos != &parked->taken;
		     pos = pos->next) {
			if (pos != &folio->lru)
				continue;
			lru_gen_next_scan(check, bracket, 0);
			bracket->applied = parked->applied;
			bracket->result = parked->result;
			bracket->isolated = true;
			bracket->total_unknown = true;
			move_all(&parked->taken, &bracket->taken);
			parked->target = NULL;
			return true;
		}
	}
	return false;
}

static bool is_untouched(const struct reclaim_bracket *bracket)
{
	return bracket->isolated && !bracket->result.nr_reclaimed;
}

/* A task whose scan has this folio, and none of whose folios was evicted yet. */
static struct reclaim_bracket *other_with(const struct check *check,
					  const struct reclaim_bracket *bracket,
					  const struct folio *folio)
{
	const struct world *world = check->world;

	for (uint64_t i = 0; folio_test(folio, FOLIO_isolated) && i <= world->task_mask; i++) {
		struct reclaim_bracket *other = world->task[i] ? world->task[i]->bracket : NULL;

		if (other && other != bracket && other->predicted && other->top == bracket->top &&
		    is_untouched(other) && lru_gen_is_taken(other, folio))
			return other;
	}
	return NULL;
}

static void swap_scans(struct reclaim_bracket *a, struct reclaim_bracket *b)
{
	const struct scan_request applied = a->applied;
	const struct scan_result result = a->result;
	struct list_head taken;

	list_init(&taken);
	move_all(&a->taken, &taken);
	move_all(&b->taken, &a->taken);
	move_all(&taken, &b->taken);
	a->applied = b->applied;
	a->result = b->result;
	b->applied = applied;
	b->result = result;
}

/*
 * Of two tasks that began to scan at about one time, the other was first: they change places, and if this one's
 * had not begun, the other's has not now. Return: this one has the folio.
 */
static bool change_places(struct check *check, struct reclaim_bracket *bracket,
			  const struct folio *folio)
{
	struct reclaim_bracket *other = other_with(check, bracket, folio);

	if (!other)
		return false;
	if (!is_untouched(bracket)) {
		if (!lru_gen_next_scan(check, bracket, 0))
			return false;
		bracket->result = (struct scan_result){ 0 };
		bracket->isolated = true;
		other->isolated = false;
	}
	swap_scans(bracket, other);
	bracket->total_unknown = other->total_unknown = true;
	return true;
}

void lru_gen_silent_ended(struct check *check, const struct reclaim_bracket *bracket)
{
	if (others(check, bracket))
		return;
	for (int i = 0; i < PARKED_SCANS; i++) {
		struct parked_scan *parked = &check->parked[i];

		if (parked->target != bracket->top)
			continue;
		lru_gen_unscan(check, &parked->taken);
		check->machine.mm.policy->putback(&check->machine.mm, &parked->applied,
						  &parked->taken);
		parked->target = NULL;
	}
}

static bool takes_nothing(struct check *check, const struct reclaim_bracket *bracket)
{
	struct scan_result result = { 0 };

	lru_gen_preview(&check->machine.mm, &bracket->applied, check_lru_gen_by_the_rules, NULL,
			&result);
	return !result.nr_taken;
}

/* Folios that the task is about to evict, from the current event on. */
struct sought_folios {
	const uint32_t *pfn;
	unsigned int nr;
	uint64_t skip; /* pages that others have taken before */
	unsigned int nr_taken; /* of them */
	bool first_taken;
};

static enum scan_fate look_for(void *ctx, struct folio *folio, bool would_take)
{
	struct sought_folios *sought = ctx;

	if (!would_take)
		return SCAN_MOVES_ON;
	if (sought->skip) {
		sought->skip -= folio_nr_pages(folio) < sought->skip ? folio_nr_pages(folio) :
								       sought->skip;
		return SCAN_MOVES_ON;
	}
	for (unsigned int i = 0; i < sought->nr; i++)
		if (sought->pfn[i] == folio->pfn) {
			sought->nr_taken++;
			sought->first_taken |= !i;
			break;
		}
	return SCAN_TAKES;
}

/* How many of them a scan would take, 0 if not the first. */
static unsigned int nr_found(struct check *check, const struct reclaim_bracket *bracket,
			     const struct scan_request *request, const struct folio *first,
			     unsigned int scans_before)
{
	unsigned int left = bracket->nr_ahead - bracket->at_ahead;
	const bool ahead = left && bracket->ahead[bracket->at_ahead] == first->pfn;
	struct sought_folios sought = {
		.pfn = ahead ? bracket->ahead + bracket->at_ahead : &first->pfn,
		.nr = !ahead		   ? 1 :
		      left < MIN_LRU_BATCH ? left :
					     MIN_LRU_BATCH,
		.skip = (uint64_t)scans_before * MIN_LRU_BATCH,
	};
	struct scan_result result = { 0 };

	lru_gen_preview(&check->machine.mm, request, look_for, &sought, &result);
	return sought.first_taken ? sought.nr_taken : 0;
}

/*
 * The scan at hand would take this folio: at its own tier, or at another that suits the task's next victims
 * better, or after scans of others who were not seen to evict anything since.
 */
static bool would_take(struct check *check, struct reclaim_bracket *bracket,
		       const struct folio *folio, unsigned int *scans_before)
{
	struct scan_request request = bracket->applied;
	unsigned int best = nr_found(check, bracket, &request, folio, 0), nr;

	*scans_before = 0;
	for (request.tier_idx = 0; request.tier_idx < MAX_NR_TIERS; request.tier_idx++) {
		nr = nr_found(check, bracket, &request, folio, 0);
		if (nr > best) {
			best = nr;
			bracket->applied.tier_idx = request.tier_idx;
		}
	}
	for (unsigned int i = others(check, bracket); !best && i > 0; i--) {
		best = nr_found(check, bracket, &bracket->applied, folio, i);
		*scans_before = i;
	}
	return best > 0;
}

/*
 * In reclaim from everybody: to the next scan that has left a trace, of this folio or NULL of any. Return:
 * there is one, and it waits.
 */
static bool go_on_to(struct check *check, struct reclaim_bracket *bracket,
		     const struct folio *folio, unsigned int *scans_before)
{
	const unsigned int steps = STEPS_PER_MEMCG * check->machine.mm.nr_memcgs;

	for (unsigned int step = 0; step < steps && lru_gen_next_scan(check, bracket, 0); step++) {
		if (takes_nothing(check, bracket))
			lru_gen_scan(check, bracket);
		else if (!folio || would_take(check, bracket, folio, scans_before))
			return true;
		else
			reclaim_walk_leave(&bracket->walk);
	}
	return false;
}

/* The walk would not come to these lists, and the kernel did: it is not told what comes of it. */
static void apply_to(struct check *check, struct reclaim_bracket *bracket, struct lruvec *lruvec,
		     bool file)
{
	const uint8_t reclaim_idx = bracket->walk.sc.reclaim_idx;

	bracket->has_request = false;
	bracket->applied = (struct scan_request){
		.lruvec = lruvec,
		.lru = file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON,
		.nr_to_scan = MAX_LRU_BATCH,
		.tier_idx = get_tier_idx(&check->machine.mm, lruvec, file),
		.swappiness = lru_gen_swappiness(&bracket->walk, lruvec->memcg),
		.reclaim_idx = reclaim_idx < MAX_NR_ZONES ? reclaim_idx : MAX_NR_ZONES - 1,
	};
}

static bool scan_next(struct check *check, struct reclaim_bracket *bracket,
		      const struct folio *folio)
{
	struct reclaim_walk before;
	unsigned int scans_before;

	if (bracket->target)
		return scan_something(check, bracket);
	before = bracket->walk;
	if (go_on_to(check, bracket, folio, &scans_before)) {
		check_equal(check, bracket->top, CHECK_isolate_request);
	} else {
		bracket->walk = before;
		apply_to(check, bracket, folio->lruvec, folio_is_file_lru(folio));
		if (!would_take(check, bracket, folio, &scans_before))
			return false;
		check_unequal(check, bracket->top, CHECK_isolate_request, "the end|%s",
			      check_lru_name[bracket->applied.lru]);
	}
	world_infer(check->world, INFER_memcg_of_victim);
	if (bracket->applied.tier_idx !=
	    get_tier_idx(&check->machine.mm, folio->lruvec, folio_is_file_lru(folio)))
		world_infer(check->world, INFER_tier_of_victims);
	lru_gen_scan(check, bracket);
	while (scans_before-- && park(check, bracket))
		lru_gen_scan(check, bracket);
	return true;
}

/*
 * A victim that is not among the isolated: another task's scan, or the next one. If that has not taken it
 * either, and others reclaim from the same lists, it was theirs.
 */
void lru_gen_scan_up_to(struct check *check, struct reclaim_bracket *bracket,
			const struct folio *folio)
{
	if (lru_gen_is_taken(bracket, folio) || take_parked(check, bracket, folio) ||
	    change_places(check, bracket, folio))
		return;
	bracket->scan_begun = true;
	if (!scan_next(check, bracket, folio))
		return;
	while (bracket->target && !lru_gen_is_taken(bracket, folio) && folio_test(folio, PG_lru) &&
	       others(check, bracket) && park(check, bracket)) {
		bracket->applied.tier_idx = get_tier_idx(&check->machine.mm,
							 bracket->applied.lruvec,
							 bracket->applied.lru == LRU_INACTIVE_FILE);
		lru_gen_scan(check, bracket);
	}
}

bool lru_gen_finish_silently(struct check *check, struct reclaim_bracket *bracket)
{
	bool goes_on = false;

	if (bracket->walk.sc.kswapd) {
		lru_gen_scan_done(check, bracket);
		return false;
	}
	if (!bracket->target)
		return go_on_to(check, bracket, NULL, NULL);
	/* Scans that took nothing, or nothing that could go, left no trace. */
	while (lru_gen_next_scan(check, bracket, 0)) {
		lru_gen_scan(check, bracket);
		goes_on |= lru_gen_next_victim(check, bracket) != NULL;
	}
	return goes_on;
}
