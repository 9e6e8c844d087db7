// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where isolated folios went that were not evicted, on a tape without mod_memcg_lruvec_state (kernels before
 * 6.13). Victims and writes to swap tell who stayed, as long as our lists are the kernel's; whether one that
 * stayed is kept or becomes active follows from PG_referenced, by folio_check_references():
 *
 *   written to swap           it was old: kept, no longer referenced
 *   mapped, referenced        young again: activated
 *   mapped, not referenced    young: kept, and referenced from now on
 *   under writeback           activated, where memcgs do not throttle writers otherwise
 *
 * The shrink event has their numbers. Where these are others, the lists were not the kernel's.
 */
#include "replay/check/parts.h"

/* Back to the tail they came from, the oldest last, as if they had never been isolated. */
static void return_doubtful(struct reclaim_bracket *bracket, struct list_head *list)
{
	while (!list_empty(list)) {
		struct folio *folio = list_entry(list->prev, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated | FOLIO_survivor);
		folio_set(folio, PG_lru | FOLIO_doubtful);
		lruvec_add_folio_tail(bracket->applied.lruvec, folio);
	}
}

/* It was on its way to the disk when it was isolated: its references were not looked at. */
static bool was_under_writeback(const struct folio *folio)
{
	return folio_test(folio, PG_writeback) && !folio_test(folio, FOLIO_old);
}

static bool has_references(const struct folio *folio)
{
	return folio_test(folio, PG_swapbacked | FOLIO_mapped) &&
	       !folio_test(folio, PG_dirty | PG_locked) && !was_under_writeback(folio);
}

static bool was_young(const struct reclaim_bracket *bracket, const struct folio *folio)
{
	const struct told_look *told = check_told(bracket, folio);

	return told ? check_told_young(told) :
		      has_references(folio) && !folio_test(folio, FOLIO_old);
}

static bool was_activated(const struct check *check, const struct reclaim_bracket *bracket,
			  const struct folio *folio)
{
	const struct told_look *told = check_told(bracket, folio);

	return told ? check_told_activates(check, folio, told) :
		      was_young(bracket, folio) && folio_test(folio, PG_referenced);
}

/* Young, and whether it is mapped as programs are decides what becomes of it: before 6.9 the probe does not tell. */
static bool may_be_executable(const struct reclaim_bracket *bracket, const struct folio *folio)
{
	const struct told_look *told = check_told(bracket, folio);

	if (!told || told->vm_flags != TAPE_VALUE_ABSENT || !folio->file || !told->referenced)
		return false;
	return bracket->applied.lru & 1 ||
	       (told->referenced == 1 && !folio_test(folio, PG_referenced));
}

/* If all of them became active, or stayed so, they are, and if none did, they are not. */
static void learn_executable(struct check *check, const struct reclaim_bracket *bracket,
			     uint64_t nr_active)
{
	uint64_t pages = 0;

	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		const struct folio *folio = list_entry(pos, struct folio, lru);

		if (may_be_executable(bracket, folio))
			pages += folio_nr_pages(folio);
		else if (was_under_writeback(folio) || was_activated(check, bracket, folio))
			nr_active -= nr_active < folio_nr_pages(folio) ? nr_active :
									 folio_nr_pages(folio);
	}
	if (nr_active && nr_active != pages)
		return;
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		const struct folio *folio = list_entry(pos, struct folio, lru);

		if (may_be_executable(bracket, folio))
			executable_learn(check->world, folio->file, folio->index,
					 folio_nr_pages(folio), nr_active);
	}
}

/*
 * Who of them becomes active, in the order in which they are believed to: those whom their references
 * say, those that may be executable, those that the core would not evict, anyone.
 */
static bool is_candidate(const struct check *check, const struct reclaim_bracket *bracket,
			 const struct folio *folio, int pass)
{
	switch (pass) {
	case 0:
		return was_under_writeback(folio) || was_activated(check, bracket, folio);
	case 1:
		return may_be_executable(bracket, folio);
	case 2:
		return !check_must_evict(check, folio) && !has_references(folio);
	case 3:
		return !check_must_evict(check, folio);
	default:
		return true;
	}
}

static void choose_active(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_active)
{
	for (int pass = 0; pass < 5 && nr_active; pass++) {
		struct list_head *pos;

		for (pos = bracket->taken.next; pos != &bracket->taken && nr_active;
		     pos = pos->next) {
			struct folio *folio = list_entry(pos, struct folio, lru);
			uint64_t pages = folio_nr_pages(folio);

			if (folio_test(folio, PG_active) ||
			    !is_candidate(check, bracket, folio, pass))
				continue;
			folio_set(folio, PG_active | (folio_test(folio, PG_dirty | PG_writeback) ?
							      PG_reclaim :
							      0));
			nr_active -= nr_active < pages ? nr_active : pages;
			if (pass >= 3)
				bracket->flaw = "others became active";
		}
	}
	if (nr_active)
		bracket->flaw = "more became active than were left";
}

/* What folio_check_references() leaves behind. */
static void leave_references(const struct reclaim_bracket *bracket, struct folio *folio)
{
	const struct told_look *told = check_told(bracket, folio);

	if (told) {
		check_told_leaves(folio, told);
		return;
	}
	if (!has_references(folio))
		return;
	if (folio_test(folio, FOLIO_old))
		folio_clear(folio, PG_referenced);
	else
		folio_set(folio, PG_referenced);
}

static void judge(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_active,
		  uint64_t nr_ref_keep)
{
	uint64_t kept = 0;

	if (bracket->nr_told)
		learn_executable(check, bracket, nr_active);
	choose_active(check, bracket, nr_active);
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);
		bool active = folio_test(folio, PG_active);

		folio_clear(folio, FOLIO_survivor | FOLIO_doubtful);
		/* Referenced, and not activated: not for its references, then. */
		if (!active && was_activated(check, bracket, folio))
			bracket->flaw = "fewer became active";
		kept += was_young(bracket, folio) && !active ? folio_nr_pages(folio) : 0;
		leave_references(bracket, folio);
		check_stayed(check, bracket, folio, active);
	}
	if (kept < nr_ref_keep && nr_ref_keep != TAPE_VALUE_ABSENT)
		bracket->flaw = "more were young than stayed";
}

/* Nothing but references keeps a clean folio, and of these no event told. */
static void note_mapped(struct check *check, struct folio *folio)
{
	folio_set(folio, FOLIO_mapped);
	if (!folio->file || check->world->file[folio->file].mapped)
		return;
	check->world->file[folio->file].mapped = true;
	world_infer(check->world, INFER_mapped_unseen);
}

void check_survivors_placed(struct check *check, struct reclaim_bracket *bracket)
{
	const uint64_t *v = check->event->value;
	const uint64_t nr_active = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE0] +
				   v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE1];
	const uint64_t nr_ref_keep = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_REF_KEEP];
	const bool any_referenced = nr_active || (nr_ref_keep && nr_ref_keep != TAPE_VALUE_ABSENT);
	struct list_head doubtful, not_isolated;
	struct mm *mm = &check->machine.mm;
	struct folio *folio;

	list_init(&doubtful);
	list_init(&not_isolated);
	/* For each stranger that was evicted, the youngest of these was not isolated at all. */
	while (bracket->strangers && !list_empty(&bracket->taken)) {
		folio = list_entry(bracket->taken.prev, struct folio, lru);
		bracket->strangers -= folio_nr_pages(folio) < bracket->strangers ?
					      folio_nr_pages(folio) :
					      bracket->strangers;
		folio_set(folio, FOLIO_survivor);
		list_move(&folio->lru, &not_isolated);
	}
	/*
	 * The others, a recording that saw the group from its beginning says, were locked or held;
	 * elsewhere an unseen folio may have stood in their place.
	 */
	while ((folio = check_next_victim(check, bracket))) {
		check->undecided.survivors++;
		folio_set(folio, FOLIO_survivor);
		if (check->world->memcg_inferred || bracket->some_unseen || bracket->confused)
			list_move_tail(&folio->lru, &doubtful);
		else if (any_referenced && !check->world->mappings_seen)
			note_mapped(check, folio);
	}
	return_doubtful(bracket, &not_isolated);
	return_doubtful(bracket, &doubtful);
	judge(check, bracket, nr_active, nr_ref_keep);
	mm->policy->putback(mm, &bracket->applied, &bracket->taken);
	check_isolation_judged(check, bracket);
}

static void deactivated_as_told(struct check *check, struct reclaim_bracket *bracket,
				uint64_t nr_active)
{
	struct mm *mm = &check->machine.mm;
	uint64_t stayed = 0;

	learn_executable(check, bracket, nr_active);
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);
		const struct told_look *told = check_told(bracket, folio);
		bool stays = told && check_told_stays(check, folio, told);

		if (stays)
			stayed += folio_nr_pages(folio);
		else if (mm->policy->examine_active)
			mm->policy->examine_active(mm, folio->lruvec, folio);
		check_stayed(check, bracket, folio, stays);
	}
	if (stayed != nr_active)
		bracket->flaw = "others stayed active";
}

void check_deactivated_placed(struct check *check, struct reclaim_bracket *bracket)
{
	uint64_t nr_active = check->event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_NR_ACTIVE];
	struct mm *mm = &check->machine.mm;
	bool any_mapped = false;

	if (bracket->nr_told) {
		deactivated_as_told(check, bracket, nr_active);
		mm->policy->putback(mm, &bracket->applied, &bracket->taken);
		check_isolation_judged(check, bracket);
		return;
	}
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next)
		any_mapped |= folio_test(list_entry(pos, struct folio, lru), FOLIO_mapped);
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);
		/* Which ones stayed is not told, only how many: the oldest mapped ones stand for them. */
		bool stays = nr_active >= folio_nr_pages(folio) &&
			     (!any_mapped || folio_test(folio, FOLIO_mapped));

		if (stays)
			nr_active -= folio_nr_pages(folio);
		else if (mm->policy->examine_active)
			mm->policy->examine_active(mm, folio->lruvec, folio);
		check_stayed(check, bracket, folio, stays);
	}
	mm->policy->putback(mm, &bracket->applied, &bracket->taken);
	check_isolation_judged(check, bracket);
}
