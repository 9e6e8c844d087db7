// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a probe on folio_referenced() tells (`record --probe-referenced`): of each isolated folio that reclaim
 * asked page tables about, how many of their entries were young, and of what mappings.
 *
 *   isolate a b c d     a: 0     b: 2     d: 1, executable     shrink
 *                       c was locked, or on its way to the disk: not asked about
 *
 * The looks come in the order in which the folios were isolated, and they name them: of an active list nothing
 * else does. A folio that was looked at and that we have not isolated takes the place of one of which no look has told.
 */
#include "replay/check/parts.h"

#include <string.h>

/* Kernel: include/linux/mm.h, v6.12. */
#define VM_EXEC 0x4
#define VM_LOCKED 0x2000

static unsigned int place_of(const struct reclaim_bracket *bracket, const struct folio *folio)
{
	unsigned int i = 0;

	while (i < bracket->nr_order && bracket->order[i] != folio)
		i++;
	return i;
}

const struct told_look *check_told(const struct reclaim_bracket *bracket, const struct folio *folio)
{
	unsigned int i = bracket->nr_told ? place_of(bracket, folio) : bracket->nr_order;

	return i < bracket->nr_order && bracket->told[i].known ? &bracket->told[i] : NULL;
}

bool check_told_stranger(const struct reclaim_bracket *bracket, const struct folio *folio)
{
	const struct told_look *told = check_told(bracket, folio);

	return told && told->stranger;
}

bool check_told_young(const struct told_look *told)
{
	return told->referenced > 0;
}

bool check_told_executable(const struct check *check, const struct folio *folio,
			   const struct told_look *told)
{
	if (!folio_is_file_lru(folio))
		return false;
	if (told->vm_flags != TAPE_VALUE_ABSENT)
		return told->vm_flags & VM_EXEC;
	return executable_page(check->world, folio->file, folio->index) == EXECUTABLE;
}

/* A look that could not be had for a lock counts as young. */
bool check_told_stays(const struct check *check, const struct folio *folio,
		      const struct told_look *told)
{
	return told->referenced && check_told_executable(check, folio, told);
}

bool check_told_activates(const struct check *check, const struct folio *folio,
			  const struct told_look *told)
{
	if (told->vm_flags != TAPE_VALUE_ABSENT && told->vm_flags & VM_LOCKED)
		return true;
	return told->referenced > 0 && (folio_test(folio, PG_referenced) || told->referenced > 1 ||
					check_told_executable(check, folio, told));
}

void check_told_leaves(struct folio *folio, const struct told_look *told)
{
	if (told->referenced > 0)
		folio_set(folio, PG_referenced);
	else if (!told->referenced)
		folio_clear(folio, PG_referenced);
}

/* ---- the events */

static void remove_at(struct reclaim_bracket *bracket, unsigned int i)
{
	unsigned int behind = --bracket->nr_order - i;

	memmove(bracket->order + i, bracket->order + i + 1, behind * sizeof(bracket->order[0]));
	memmove(bracket->told + i, bracket->told + i + 1, behind * sizeof(bracket->told[0]));
}

static void insert_at(struct reclaim_bracket *bracket, unsigned int i, struct folio *folio)
{
	unsigned int behind = bracket->nr_order++ - i;

	memmove(bracket->order + i + 1, bracket->order + i, behind * sizeof(bracket->order[0]));
	memmove(bracket->told + i + 1, bracket->told + i, behind * sizeof(bracket->told[0]));
	bracket->order[i] = folio;
	bracket->told[i] = (struct told_look){ .stranger = true };
}

/* The youngest that no look has told of goes back: it was not isolated. */
static void give_back_one(struct check *check, struct reclaim_bracket *bracket)
{
	for (unsigned int i = bracket->nr_order; i-- > bracket->nr_told;) {
		struct folio *folio = bracket->order[i];

		if (!folio_test(folio, FOLIO_isolated))
			continue;
		remove_at(bracket, i);
		check_not_taken(check, bracket, folio);
		return;
	}
}

/* Return: it stands among those taken now. */
static bool take_stranger(struct check *check, struct reclaim_bracket *bracket, struct folio *folio)
{
	struct list_head *before = &bracket->taken;

	if (!folio_test(folio, PG_lru) || folio->lruvec != bracket->applied.lruvec ||
	    folio_test(folio, PG_unevictable))
		return false;
	give_back_one(check, bracket);
	if (bracket->nr_order == ISOLATION_ROOM)
		return false;
	for (unsigned int i = bracket->nr_told; i < bracket->nr_order; i++)
		if (folio_test(bracket->order[i], FOLIO_isolated)) {
			before = &bracket->order[i]->lru;
			break;
		}
	lruvec_del_folio(folio->lruvec, folio);
	folio_clear(folio, PG_lru | PG_active);
	folio_set(folio, FOLIO_isolated | (bracket->applied.lru & 1 ? PG_active : 0));
	/* Linked in front of `before`, which is its younger neighbour. */
	list_init(&folio->lru);
	list_move_tail(&folio->lru, before);
	insert_at(bracket, bracket->nr_told, folio);
	return true;
}

/* Return: an isolation of the current event's task that is being looked at; NULL: it is in none. */
static struct reclaim_bracket *looking(struct check *check)
{
	struct world_task *task = check_in_interrupt(check) ?
					  NULL :
					  world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	return bracket && bracket->predicted && bracket->isolated &&
			       !check->machine.mm.policy->generations ?
		       bracket :
		       NULL;
}

void check_look_begun(struct check *check)
{
	struct reclaim_bracket *bracket = looking(check);

	if (bracket)
		bracket->look_pfn = check->event->value[FOLIO_LOOK_PFN] + 1;
}

void check_look_told(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct reclaim_bracket *bracket = looking(check);
	uint64_t pfn = v[FOLIO_REFERENCED_PFN];
	struct folio *folio;
	unsigned int place;

	if (!bracket)
		return;
	if (pfn == TAPE_VALUE_ABSENT)
		pfn = bracket->look_pfn - 1;
	bracket->look_pfn = 0;
	folio = check_known_folio(check, pfn);
	if (!folio)
		return;
	check_place_by_victim(check, bracket, folio);
	bracket->any_victim = true;
	place = place_of(bracket, folio);
	if (place == bracket->nr_order) {
		bracket->flaw = "one that was not taken was looked at";
		if (!take_stranger(check, bracket, folio))
			return;
		place = place_of(bracket, folio);
	}
	if (place < bracket->nr_told && !bracket->told[place].known)
		bracket->flaw = "they were looked at in another order";
	bracket->told[place].known = true;
	bracket->told[place].referenced = (int32_t)v[FOLIO_REFERENCED_REFERENCED];
	bracket->told[place].vm_flags = v[FOLIO_REFERENCED_VM_FLAGS];
	if (place >= bracket->nr_told)
		bracket->nr_told = place + 1;
	if (!folio->file || !check_told_young(&bracket->told[place]))
		return;
	folio_set(folio, FOLIO_mapped);
	if (v[FOLIO_REFERENCED_VM_FLAGS] != TAPE_VALUE_ABSENT)
		executable_learn(check->world, folio->file, folio->index, folio_nr_pages(folio),
				 v[FOLIO_REFERENCED_VM_FLAGS] & VM_EXEC);
}

void check_looks_lost(struct check *check)
{
	for (uint64_t i = 0; i <= check->world->task_mask; i++) {
		struct world_task *task = check->world->task[i];
		struct reclaim_bracket *bracket = task ? task->bracket : NULL;

		if (bracket)
			bracket->look_pfn = 0;
	}
}
