// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios that their owner says something of.
 *
 *   sys_enter_madvise, mlock, munlock     of which addresses: the anon pages there, as world/anon.h knows them
 *   lists grow, by no folio that an event names   the batch with some of them drains
 *   mm_vmscan_write_folio, mm_page_free, and then
 *   mm_vmscan_reclaim_pages               MADV_PAGEOUT, which names each folio by itself
 *
 * Without the calls on the tape nobody can tell which folios MADV_COLD, MADV_FREE and mlock move.
 */
#include "replay/check/parts.h"

#include <stdlib.h>
#include <string.h>

void check_advice_free(struct check *check)
{
	for (unsigned int i = 0; check->advice && i < check->machine.mm.config.nr_cpus * NR_ADVICES;
	     i++)
		free(check->advice[i].entry);
	free(check->advice);
	free(check->gone);
}

static struct advice_queue *queue_of(struct check *check, unsigned int cpu, enum advice advice)
{
	return &check->advice[cpu * NR_ADVICES + advice];
}

static void queue(struct check *check, enum advice advice, struct folio *folio, bool undo)
{
	struct advice_queue *queue = queue_of(check, check_cpu(check), advice);

	if (queue->first + queue->nr == queue->room) {
		uint32_t room = queue->nr * 2 + 64;
		struct advised_folio *bigger;

		memmove(queue->entry, queue->entry + queue->first,
			queue->nr * sizeof(*queue->entry));
		queue->first = 0;
		bigger = realloc(queue->entry, room * sizeof(*bigger));
		if (!bigger) {
			check->failed = true;
			return;
		}
		queue->entry = bigger;
		queue->room = room;
	}
	queue->entry[queue->first + queue->nr++] = (struct advised_folio){ folio, undo };
}

/* Its list changes: @flags are set, and those of where it was are gone. */
static void move(struct check *check, struct folio *folio, uint32_t flags, uint32_t gone)
{
	struct mm *mm = &check->machine.mm;

	if (folio_test(folio, PG_lru))
		mm->policy->folio_removed(mm, folio->lruvec, folio);
	folio_clear(folio, PG_active | gone);
	folio_set(folio, flags);
	mm->policy->folio_added(mm, folio->lruvec, folio);
	folio_set(folio, PG_lru);
}

/*
 * What the batch does to the folio, if it does.
 * Kernel: mm/swap.c, lru_deactivate(), lru_lazyfree(), v6.18; mm/mlock.c, __mlock_folio(), __munlock_folio(), v6.18.
 */
static bool advice_moves(struct check *check, enum advice advice, const struct advised_folio *entry)
{
	struct folio *folio = entry->folio;

	if (!folio_test(folio, FOLIO_alive) || folio_test(folio, FOLIO_isolated))
		return false;
	switch (advice) {
	case ADVICE_COLD:
		if (folio_test(folio, PG_unevictable) || !folio_test(folio, PG_active) ||
		    !folio_test(folio, PG_lru) || !folio_test(folio, PG_swapbacked))
			return false;
		move(check, folio, 0, PG_referenced);
		return true;
	case ADVICE_LAZYFREE:
		if (folio_test(folio, PG_unevictable) || !folio_test(folio, PG_swapbacked))
			return false;
		if (folio_test_clear(folio, PG_swapcache))
			machine_leave_page_cache(&check->machine, folio);
		/* Mapped: whether it goes hangs on its page table entry. */
		move(check, folio, PG_lazyfree | FOLIO_mapped,
		     PG_referenced | PG_swapbacked | PG_dirty | PG_reclaim);
		return true;
	case ADVICE_MLOCK:
		if (entry->undo != folio_test(folio, PG_unevictable) ||
		    folio_test(folio, PG_lru) != folio_test(folio, PG_swapbacked))
			return false;
		if (entry->undo)
			move(check, folio, PG_swapbacked, PG_unevictable | PG_mlocked);
		else
			move(check, folio, PG_swapbacked | PG_unevictable | PG_mlocked, 0);
		return true;
	case NR_ADVICES:
		break;
	}
	return false;
}

static bool fits(const struct folio *folio, const struct list_growth *growth)
{
	return folio_test(folio, FOLIO_alive) && folio->lruvec->memcg->id == growth->memcg &&
	       folio_nr_pages(folio) == growth->pages;
}

static bool drained(struct check *check, unsigned int cpu, enum advice advice,
		    const struct list_growth *growth)
{
	struct advice_queue *queue = queue_of(check, cpu, advice);
	bool undo = growth->lru != LRU_UNEVICTABLE;

	for (uint32_t i = 0; i < queue->nr; i++) {
		const struct advised_folio *entry = &queue->entry[queue->first + i];

		if ((advice == ADVICE_MLOCK && entry->undo != undo) ||
		    !fits(entry->folio, growth) || !advice_moves(check, advice, entry))
			continue;
		/* Those in front were found as they were not to be. */
		queue->first += i + 1;
		queue->nr -= i + 1;
		return true;
	}
	return false;
}

/* The last page that an mlock brings in fills the batch before any event says what it is. */
static bool newest_is_locked(struct check *check, const struct list_growth *growth)
{
	const struct world_task *task = world_task(check->world, growth->pid);
	struct advised_folio entry = { 0 };

	if (!task || !task->fresh_pfn)
		return false;
	entry.folio = check_known_folio(check, task->fresh_pfn - 1);
	return entry.folio && !entry.folio->file && !folio_test(entry.folio, PG_lru) &&
	       fits(entry.folio, growth) && advice_moves(check, ADVICE_MLOCK, &entry);
}

bool check_advice_drained(struct check *check, unsigned int cpu, const struct list_growth *growth)
{
	switch (growth->lru) {
	case LRU_INACTIVE_ANON:
		return drained(check, cpu, ADVICE_COLD, growth) ||
		       drained(check, cpu, ADVICE_MLOCK, growth);
	case LRU_INACTIVE_FILE:
		return drained(check, cpu, ADVICE_LAZYFREE, growth);
	case LRU_UNEVICTABLE:
		return drained(check, cpu, ADVICE_MLOCK, growth) || newest_is_locked(check, growth);
	default:
		return false;
	}
}

void check_advice_over(struct check *check, unsigned int cpu)
{
	for (int advice = 0; advice < NR_ADVICES; advice++)
		queue_of(check, cpu, (enum advice)advice)->nr = 0;
}

/*
 * Young bits go, and what was seen of it before.
 * Kernel: mm/madvise.c, madvise_cold_or_pageout_pte_range(), v6.18.
 * Differs: each page is taken for one that nobody else maps.
 */
static void cool(struct folio *folio)
{
	folio_clear(folio, PG_referenced);
	if (folio_test(folio, PG_active))
		folio_set(folio, PG_workingset);
}

static void advised(struct check *check, enum advice advice, struct folio *folio, bool undo)
{
	struct advised_folio now = { folio, undo };

	check->world->nr_stimuli++;
	if (check->advice)
		queue(check, advice, folio, undo);
	else
		advice_moves(check, advice, &now); /* nothing will tell when the batch drains */
}

void check_advised(struct check *check)
{
	uint32_t nr;
	const struct anon_step *step = anon_steps(check->world->anon, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		struct folio *folio = step[i].pfn == ANON_NO_FRAME ?
					      NULL :
					      check_known_folio(check, step[i].pfn);

		if (!folio && step[i].what == ANON_FREED && step[i].pfn == ANON_NO_FRAME)
			check_swapped_page_freed(check);
		if (!folio || (folio->file && !folio_test(folio, PG_swapbacked)))
			continue;
		switch (step[i].what) {
		case ANON_COLD:
			cool(folio);
			advised(check, ADVICE_COLD, folio, false);
			break;
		case ANON_PAGEOUT:
			check->world->nr_stimuli++;
			cool(folio);
			break;
		case ANON_LAZYFREE:
			advised(check, ADVICE_LAZYFREE, folio, false);
			break;
		case ANON_NEW:
			if (step[i].locked)
				advised(check, ADVICE_MLOCK, folio, false);
			break;
		case ANON_LOCKED:
		case ANON_UNLOCKED:
			advised(check, ADVICE_MLOCK, folio, step[i].what == ANON_UNLOCKED);
			break;
		default:
			break;
		}
	}
}

/* ---- MADV_PAGEOUT, and DAMON's */

void check_isolated_alone(struct check *check, struct folio *folio)
{
	struct mm *mm = &check->machine.mm;

	if (!check->growth || !folio_test(folio, PG_lru))
		return;
	mm->policy->folio_removed(mm, folio->lruvec, folio);
	list_init(&folio->lru);
	folio_set(folio, FOLIO_isolated | FOLIO_alone);
	cool(folio);
}

void check_gone(struct check *check, const struct folio *folio)
{
	struct gone_queue *gone;

	if (!check->gone || !folio->file || check_in_interrupt(check))
		return;
	gone = &check->gone[check_cpu(check)];
	gone->entry[gone->nr++ % GONE_ROOM] = (struct gone_folio){
		.lruvec = folio->lruvec,
		.index = folio->index,
		.file = folio->file,
		.flags = folio->flags & (PG_workingset | PG_active | PG_swapbacked),
		.pid = check->event->pid,
		.order = folio->order,
	};
}

/*
 * Their shadows are the root's. They are stored now: meanwhile nothing but this task's folios went.
 * Kernel: mm/vmscan.c, reclaim_folio_list(), v6.18.
 */
void check_pages_reclaimed(struct check *check)
{
	struct mm *mm = &check->machine.mm;
	uint64_t left = check->event->value[MM_VMSCAN_RECLAIM_PAGES_NR_RECLAIMED], nr = 0;
	struct gone_queue *gone = check->gone ? &check->gone[check_cpu(check)] : NULL;

	while (gone && nr < gone->nr && nr < GONE_ROOM) {
		const struct gone_folio *entry = &gone->entry[(gone->nr - nr - 1) % GONE_ROOM];

		if (entry->pid != check->event->pid || UINT64_C(1) << entry->order > left)
			break;
		left -= UINT64_C(1) << entry->order;
		nr++;
	}
	for (; nr; nr--) {
		const struct gone_folio *entry = &gone->entry[(gone->nr - nr) % GONE_ROOM];
		struct folio folio = {
			.lruvec = entry->lruvec,
			.flags = entry->flags,
			.order = entry->order,
		};

		if (folio_test(&folio, PG_active))
			folio_set(&folio, PG_workingset);
		world_infer(check->world, INFER_paged_out);
		if (page_cache_store(&check->machine.cache, entry->file, entry->index,
				     folio_nr_pages(&folio),
				     shadow_pack(mm->policy->evict(mm, &folio, NULL))))
			check->failed = true;
	}
	if (gone)
		gone->nr = 0;
}
