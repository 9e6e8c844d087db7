// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels without isolate events: up to 6.6.
 *
 * The call's first scan takes place when the CPU's batch is drained. Later ones show by their victims: one
 * that is not among the isolated says that the next scan has begun, or that this was another task's.
 */
#include "replay/check/lru_gen.h"

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

static bool others_reclaim(const struct check *check, const struct reclaim_bracket *bracket)
{
	const struct world *world = check->world;

	for (uint64_t i = 0; i <= world->task_mask; i++) {
		const struct reclaim_bracket *other = world->task[i] ? world->task[i]->bracket :
								       NULL;

		if (other && other != bracket && other->target == bracket->target)
			return true;
	}
	return false;
}

static void move_all(struct list_head *from, struct list_head *to)
{
	while (!list_empty(from))
		list_move_tail(from->next, to);
}

/* What the bracket has isolated was another task's scan. Return: false: there is no room for it. */
static bool park(struct check *check, struct reclaim_bracket *bracket)
{
	for (int i = 0; i < PARKED_SCANS; i++) {
		struct parked_scan *parked = &check->parked[i];

		if (parked->target)
			continue;
		parked->target = bracket->target;
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

/* Nobody reclaims there any more: what nobody claimed has survived. */
static void put_back_parked(struct check *check, const struct mem_cgroup *target)
{
	struct mm *mm = &check->machine.mm;

	for (int i = 0; i < PARKED_SCANS; i++) {
		struct parked_scan *parked = &check->parked[i];

		if (parked->target != target)
			continue;
		mm->policy->putback(mm, &parked->applied, &parked->taken);
		parked->target = NULL;
	}
}

/*
 * A victim that is not among the isolated: another task's scan, or the next one. If that has not taken it
 * either, and others reclaim from the same lists, it was theirs.
 */
void lru_gen_scan_up_to(struct check *check, struct reclaim_bracket *bracket,
			const struct folio *folio)
{
	if (lru_gen_is_taken(bracket, folio) || take_parked(check, bracket, folio))
		return;
	bracket->scan_begun = true;
	if (!scan_something(check, bracket))
		return;
	while (!lru_gen_is_taken(bracket, folio) && folio_test(folio, PG_lru) &&
	       others_reclaim(check, bracket) && park(check, bracket)) {
		bracket->applied.tier_idx = get_tier_idx(&check->machine.mm,
							 bracket->applied.lruvec,
							 bracket->applied.lru == LRU_INACTIVE_FILE);
		lru_gen_scan(check, bracket);
	}
}

void lru_gen_silent_ended(struct check *check, const struct reclaim_bracket *bracket)
{
	if (!others_reclaim(check, bracket))
		put_back_parked(check, bracket->target);
}
