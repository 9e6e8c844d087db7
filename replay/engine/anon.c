// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine/state.h"

#include <stdlib.h>

/*
 * The recorded kernel uses this frame anew, so that its old folio was freed there. Here it may
 * still be in a zap's unfinished batch, or dead in an LRU batch that this policy keeps longer.
 */
static void vacate(struct replay *replay, struct folio *folio)
{
	if (folio_test(folio, FOLIO_gathered) && !folio_test(folio, FOLIO_dead))
		mmu_gather_finish(&replay->machine.mm, replay->task[folio->index].gather);
	if (!folio_test(folio, FOLIO_alive))
		return;
	if (folio_test(folio, FOLIO_dead))
		mm_folio_move(&replay->machine.mm, folio,
			      memmap_take_dense(&replay->machine.mm.memmap));
	else
		machine_forget(&replay->machine, folio); /* the tape lost its free */
}

void replay_page_allocated(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct folio *folio;

	if (!task || v[MM_PAGE_ALLOC_PFN] == PFN_NONE || v[MM_PAGE_ALLOC_PFN] >= FILE_PFN_BASE ||
	    v[MM_PAGE_ALLOC_ORDER] > FOLIO_ORDER_LIMIT ||
	    !(v[MM_PAGE_ALLOC_GFP_FLAGS] & GFP_MOVABLE))
		return;
	folio = memmap_folio(&replay->machine.mm.memmap, v[MM_PAGE_ALLOC_PFN]);
	if (!folio) {
		replay->failed = true;
		return;
	}
	vacate(replay, folio);
	folio->flags = FOLIO_fresh;
	folio->order = (uint8_t)v[MM_PAGE_ALLOC_ORDER];
	folio->file = task->memcg; /* until it is born, the world's number of who asked for it */
}

/*
 * In this run the folio keeps its place. Kernel: mm/migrate.c, migrate_folio_move(), v6.18.
 * Differs: that it comes to its list's head by it is left out.
 * Return: the event has shown that.
 */
static bool migrated(struct replay *replay)
{
	const struct migration *migration = migrations_of(replay->world, replay->event);
	struct memmap *memmap = &replay->machine.mm.memmap;
	struct folio *folio, *there;

	if (!migration || migration->from >= FILE_PFN_BASE || migration->to >= FILE_PFN_BASE)
		return false;
	folio = memmap_folio(memmap, migration->from);
	there = memmap_folio(memmap, migration->to);
	if (!folio || !there) {
		replay->failed = true;
		return false;
	}
	if (!folio_test(folio, FOLIO_alive) || folio_test(folio, FOLIO_dead | FOLIO_gathered))
		return false;
	vacate(replay, there);
	return !folio_test(there, FOLIO_alive) &&
	       mm_folio_move(&replay->machine.mm, folio, migration->to);
}

void replay_inserted(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct mm *mm = &replay->machine.mm;
	uint64_t pfn = v[MM_LRU_INSERTION_PFN];
	struct mem_cgroup *memcg;
	struct folio *folio;
	uint8_t order = 0;

	if (!(v[MM_LRU_INSERTION_FLAGS] & INSERTION_ANON) || pfn >= FILE_PFN_BASE)
		return;
	migrated(replay);
	folio = memmap_folio(&mm->memmap, pfn);
	if (!folio) {
		replay->failed = true;
		return;
	}
	if (folio_test(folio, FOLIO_alive)) {
		if (folio->order && !folio_test(folio, FOLIO_dead | FOLIO_gathered))
			return; /* put back by migration or advice: nothing new */
		vacate(replay, folio);
	}
	if (folio_test(folio, FOLIO_fresh)) {
		order = folio->order;
		memcg = machine_memcg(&replay->machine, folio->file);
	} else {
		/* A single page, whose end the tape may not show: then it counts as overhead. */
		if (!replay->world->single_frees)
			return;
		replay->inferred[INFER_anon_order_unknown]++;
		replay->inferred[INFER_anon_owner_by_inserter]++;
		memcg = replay_task_memcg(replay, replay->event->pid);
	}
	replay_stimulus(replay, INFER_anon_added_at_insertion);
	replay_make_room(replay, memcg, INT64_C(1) << order);
	folio = mm_folio_born(mm, pfn, memcg, order);
	if (!folio) {
		replay->failed = true;
		return;
	}
	if (v[MM_LRU_INSERTION_FLAGS] & INSERTION_SWAPBACKED)
		folio_set(folio, PG_swapbacked);
	replay_count(memcg, COUNT_anon_alloc, folio_nr_pages(folio));
	folio_add_lru_vma(mm, replay_cpu(replay), folio);
}

void replay_page_freed(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;
	uint64_t pfn = replay->event->value[MM_PAGE_FREE_PFN];
	struct folio *folio;

	if (!mine || pfn >= FILE_PFN_BASE)
		return;
	folio = memmap_folio(&replay->machine.mm.memmap, pfn);
	if (!folio)
		return;
	folio_clear(folio, FOLIO_fresh);
	if (!folio_test(folio, FOLIO_alive) || folio_test(folio, FOLIO_dead | FOLIO_gathered))
		return;
	if (migrated(replay))
		return;
	replay_stimulus(replay, INFER_zap_batches);
	replay_count(folio->lruvec->memcg, COUNT_anon_free, folio_nr_pages(folio));
	replay_zap_folio(replay, folio);
}

void replay_zap_folio(struct replay *replay, struct folio *folio)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;

	if (!mine)
		return;
	if (!mine->gather)
		mine->gather = calloc(1, sizeof(*mine->gather));
	if (!mine->gather) {
		replay->failed = true;
		return;
	}
	folio_set(folio, FOLIO_gathered | PG_locked); /* reclaim keeps its hands off it */
	folio->index = task->number;
	mmu_gather_free(&replay->machine.mm, replay_cpu(replay), mine->gather, folio);
}

void replay_zap_over(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;

	if (mine && mine->gather)
		mmu_gather_finish(&replay->machine.mm, mine->gather);
}
