// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/batches.h"

#include <string.h>

#include "replay/mm/mm.h"
#include "replay/policy/policy.h"

static const enum lock_site batch_lock_site[NR_LRU_BATCHES] = {
	[BATCH_LRU_ADD] = LOCK_lru_add,
	[BATCH_LRU_MOVE_TAIL] = LOCK_lru_move_tail,
	[BATCH_LRU_DEACTIVATE_FILE] = LOCK_lru_deactivate_file,
	[BATCH_LRU_DEACTIVATE] = LOCK_lru_deactivate,
	[BATCH_LRU_LAZYFREE] = LOCK_lru_lazyfree,
	[BATCH_LRU_ACTIVATE] = LOCK_lru_activate,
	[BATCH_MLOCK] = LOCK_mlock,
};

const char *lru_batch_name(enum lru_batch which)
{
	static const char *const name[NR_LRU_BATCHES] = {
		"lru_add",	  "lru_move_tail", "lru_deactivate_file",
		"lru_deactivate", "lru_lazyfree",  "lru_activate",
		"mlock",
	};

	return name[which];
}

static void batch_reference_dropped(struct mm *mm, enum lru_batch which, struct folio *folio)
{
	assert(folio->nr_batches);
	folio->nr_batches--;
	if (which == BATCH_LRU_ADD)
		folio_clear(folio, FOLIO_in_add_batch);
	mm->batch_pages -= (int64_t)folio_nr_pages(folio);
}

/* To where its flags say, once @set are set and @gone are not. */
static void relist(struct mm *mm, struct folio *folio, uint32_t set, uint32_t gone)
{
	mm->policy->folio_removed(mm, folio->lruvec, folio);
	folio_clear(folio, PG_active | gone);
	folio_set(folio, set);
	mm->policy->folio_added(mm, folio->lruvec, folio);
	folio_set(folio, PG_lru);
}

/* Kernel: mm/swap.c, lru_deactivate(), v6.18. */
static void deactivate(struct mm *mm, struct folio *folio)
{
	if (folio_test(folio, PG_unevictable) ||
	    !(folio_test(folio, PG_active) || mm->policy->generations))
		return;
	relist(mm, folio, 0, PG_referenced);
	lruvec_count(folio->lruvec, COUNT_pgdeactivate, folio_nr_pages(folio));
}

/* Kernel: mm/swap.c, lru_lazyfree(), v6.18. */
static void make_lazyfree(struct mm *mm, struct folio *folio)
{
	if (!folio_test(folio, PG_swapbacked) ||
	    folio_test(folio, PG_swapcache | PG_unevictable | PG_writeback))
		return;
	relist(mm, folio, PG_lazyfree, PG_referenced | PG_swapbacked | PG_dirty);
}

/* Kernel: mm/mlock.c, __mlock_folio(), __munlock_folio(), v6.18. */
static void mlock_or_munlock(struct mm *mm, struct folio *folio)
{
	if (folio_test(folio, PG_mlocked) && !folio_test(folio, PG_unevictable))
		relist(mm, folio, PG_unevictable, 0);
	else if (!folio_test(folio, PG_mlocked) && folio_test(folio, PG_unevictable))
		relist(mm, folio, 0, PG_unevictable);
}

/* lru_activate() and so on. */
static void batch_move(struct mm *mm, enum lru_batch which, struct folio *folio)
{
	struct lruvec *lruvec = folio->lruvec;

	switch (which) {
	case BATCH_LRU_ACTIVATE:
		mm->policy->folio_activated(mm, lruvec, folio);
		return;
	case BATCH_LRU_MOVE_TAIL:
		if (!folio_test(folio, PG_unevictable)) {
			mm->policy->folio_rotated(mm, lruvec, folio);
			lruvec_count(lruvec, COUNT_pgrotated, folio_nr_pages(folio));
		}
		return;
	case BATCH_LRU_DEACTIVATE:
		deactivate(mm, folio);
		return;
	case BATCH_LRU_LAZYFREE:
		make_lazyfree(mm, folio);
		return;
	case BATCH_MLOCK:
		mlock_or_munlock(mm, folio);
		return;
	case BATCH_LRU_ADD: /* see drain_lru_add() */
	case BATCH_LRU_DEACTIVATE_FILE:
	case NR_LRU_BATCHES:
		break;
	}
	assert(!"this batch is not walked yet: see docs/fidelity.md");
}

/*
 * One hold of the lock: folios of one lruvec, or node, go on their lists. The kernel's own step runs
 * in the shape that the rules say; a policy that puts them elsewhere is asked for each.
 */
static void add_run(struct mm *mm, struct folio *const *folio, unsigned int nr)
{
	if (!nr)
		return;
	lruvec_lock(folio[0]->lruvec, LOCK_lru_add, 0);
	if (mm->lru_add_log)
		lru_add_log_hold(mm->lru_add_log, folio, nr);
	for (unsigned int i = 0; i < nr; i++)
		folio[i]->lruvec->lock[LOCK_lru_add].folios++;
	if (mm->policy->kernel_lru_add) {
		mm->lru_add.run(&mm->lru_add, folio, nr);
		return;
	}
	for (unsigned int i = 0; i < nr; i++) {
		mm->policy->folio_added(mm, folio[i]->lruvec, folio[i]);
		folio_set(folio[i], PG_lru);
		lruvec_count(folio[i]->lruvec, COUNT_lru_insertions, 1);
	}
}

/* Only the batch holds it: freed before it is added, off lists and without the lock. */
static bool free_dead_folio(struct mm *mm, struct folio *folio)
{
	if (!mm->config.rules.dead_folios_at_drain || !folio_test(folio, FOLIO_dead) ||
	    folio->nr_batches)
		return false;
	lruvec_count(folio->lruvec, COUNT_dead_at_drain, 1);
	mm_folio_forget(mm, folio);
	return true;
}

static void drain_lru_add(struct mm *mm, struct folio_batch *batch)
{
	unsigned int first = 0, nr = 0; /* of the run, of what stays */

	for (unsigned int i = 0; i < batch->nr; i++) {
		struct folio *folio = batch->folio[i];

		batch_reference_dropped(mm, BATCH_LRU_ADD, folio);
		if (free_dead_folio(mm, folio))
			continue;
		if (nr > first &&
		    !mm_same_lru_lock(mm, batch->folio[first]->lruvec, folio->lruvec)) {
			add_run(mm, &batch->folio[first], nr - first);
			first = nr;
		}
		batch->folio[nr++] = folio;
	}
	add_run(mm, &batch->folio[first], nr - first);
	batch->nr = nr;
}

/* Operations on folios that are on lists. */
static void drain_moves(struct mm *mm, enum lru_batch which, struct folio_batch *batch)
{
	struct lruvec *locked = NULL;

	for (unsigned int i = 0; i < batch->nr; i++) {
		struct folio *folio = batch->folio[i];
		bool isolated = !folio_test(folio, PG_lru);

		batch_reference_dropped(mm, which, folio);
		/* Isolated meanwhile: what was asked for is lost. The node's lock is taken before the look. */
		if (isolated && !mm->config.rules.node_lru_lock)
			continue;
		if (!mm_same_lru_lock(mm, locked, folio->lruvec))
			lruvec_lock(folio->lruvec, batch_lock_site[which], 0);
		locked = folio->lruvec;
		if (isolated)
			continue;
		locked->lock[batch_lock_site[which]].folios++;
		batch_move(mm, which, folio);
	}
}

/* The batch's references go: folios that died while they waited leave their lists again. */
static void put_dead_folios(struct mm *mm, struct folio_batch *batch)
{
	struct lruvec *locked = NULL;

	for (unsigned int i = 0; i < batch->nr; i++) {
		struct folio *folio = batch->folio[i];

		if (!folio_test(folio, FOLIO_dead) || folio->nr_batches)
			continue;
		if (folio_test(folio, PG_lru)) {
			if (!mm_same_lru_lock(mm, locked, folio->lruvec))
				lruvec_lock(folio->lruvec, LOCK_folios_put, 0);
			locked = folio->lruvec;
			locked->lock[LOCK_folios_put].folios++;
		}
		lruvec_count(folio->lruvec, COUNT_dead_at_drain, 1);
		mm_folio_forget(mm, folio);
	}
}

void lru_batch_drain(struct mm *mm, unsigned int cpu, enum lru_batch which, enum drain_cause cause)
{
	struct folio_batch *batch = &mm->cpu[cpu].batch[which];

	if (!batch->nr)
		return;
	mm->drain[which][cause].drains++;
	mm->drain[which][cause].folios += batch->nr;
	if (which == BATCH_LRU_ADD)
		drain_lru_add(mm, batch);
	else
		drain_moves(mm, which, batch);
	put_dead_folios(mm, batch);
	batch->nr = 0;
}

void lru_add_drain(struct mm *mm, unsigned int cpu, enum drain_cause cause)
{
	for (int which = 0; which < NR_LRU_BATCHES; which++)
		lru_batch_drain(mm, cpu, (enum lru_batch)which, cause);
}

void lru_batch_remove_at(struct mm *mm, unsigned int cpu, enum lru_batch which, unsigned int i)
{
	struct folio_batch *batch = &mm->cpu[cpu].batch[which];
	struct folio *folio = batch->folio[i];

	batch->nr--;
	memmove(&batch->folio[i], &batch->folio[i + 1], (batch->nr - i) * sizeof(batch->folio[0]));
	batch_reference_dropped(mm, which, folio);
}

int lru_batch_remove(struct mm *mm, unsigned int cpu, enum lru_batch which, struct folio *folio)
{
	struct folio_batch *batch = &mm->cpu[cpu].batch[which];

	for (unsigned int i = 0; i < batch->nr; i++) {
		if (batch->folio[i] != folio)
			continue;
		lru_batch_remove_at(mm, cpu, which, i);
		return (int)i;
	}
	return -1;
}

void lru_batch_queue(struct mm *mm, unsigned int cpu, enum lru_batch which, struct folio *folio)
{
	struct folio_batch *batch = &mm->cpu[cpu].batch[which];
	const struct mm_rules *rules = &mm->config.rules;

	if (batch->nr == FOLIO_BATCH_ROOM)
		lru_batch_remove(mm, cpu, which, batch->folio[0]);
	batch->folio[batch->nr++] = folio;
	folio->nr_batches++;
	if (which == BATCH_LRU_ADD) {
		folio_set(folio, FOLIO_in_add_batch);
		folio->cpu = (uint16_t)cpu;
	}
	mm->batch_pages += (int64_t)folio_nr_pages(folio);
	if (mm->batch_pages > mm->batch_pages_max)
		mm->batch_pages_max = mm->batch_pages;
	if (mm->config.hold_drains)
		return;
	if (folio->order >= rules->lru_cached_order_limit)
		lru_batch_drain(mm, cpu, which, DRAIN_large_folio);
	else if (batch->nr >= rules->folio_batch_size)
		lru_batch_drain(mm, cpu, which, DRAIN_full);
}

void folio_end_writeback(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	folio_clear(folio, PG_writeback);
	if (!folio_test_clear(folio, PG_reclaim))
		return;
	if (!folio_test(folio, PG_locked | PG_dirty | PG_unevictable) && folio_test(folio, PG_lru))
		lru_batch_queue(mm, cpu, BATCH_LRU_MOVE_TAIL, folio);
}

void folio_add_lru(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	lru_batch_queue(mm, cpu, BATCH_LRU_ADD, folio);
}

void folio_add_lru_vma(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	if (mm->config.rules.anon_starts_active)
		folio_set(folio, PG_active);
	folio_add_lru(mm, cpu, folio);
}

void folio_deactivate(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	if (!folio_test(folio, PG_unevictable) &&
	    (folio_test(folio, PG_active) || mm->policy->generations))
		lru_batch_queue(mm, cpu, BATCH_LRU_DEACTIVATE, folio);
}

void folio_mark_lazyfree(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	if (folio_test(folio, PG_swapbacked) && !folio_test(folio, PG_swapcache | PG_unevictable))
		lru_batch_queue(mm, cpu, BATCH_LRU_LAZYFREE, folio);
}

void mlock_folio(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	folio_set(folio, PG_mlocked);
	lru_batch_queue(mm, cpu, BATCH_MLOCK, folio);
}

void munlock_folio(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	folio_clear(folio, PG_mlocked);
	lru_batch_queue(mm, cpu, BATCH_MLOCK, folio);
}
