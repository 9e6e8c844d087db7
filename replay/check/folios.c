// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/parts.h"

#include <stdio.h>
#include <string.h>

/* Of a fault's error code. */
#define FAULT_WRITE 2
#define FAULT_USER 4

struct folio *check_born(struct check *check, uint64_t pfn, struct mem_cgroup *memcg,
			 uint64_t order)
{
	struct folio *old = check_known_folio(check, pfn);

	if (order > FOLIO_ORDER_LIMIT)
		return NULL;
	if (old)
		machine_forget(&check->machine, old);
	old = mm_folio_born(&check->machine.mm, pfn, memcg, (uint8_t)order);
	if (old) {
		page_tables_forget(check->tables, old);
		check_look_begins(check, old);
	}
	return old;
}

/*
 * A single page of zeroes that the task gets. Where faults are on the tape, one that none of them asked for is
 * told apart; where they are not, it is the last one.
 */
static void note_zeroed(const struct world *world, struct world_task *task, uint64_t pfn)
{
	if (!world->faults_seen)
		task->nr_unfaulted = 0;
	else if (task->in_write_fault)
		return;
	if (task->nr_unfaulted == UNFAULTED_ROOM)
		memmove(task->unfaulted_pfn, task->unfaulted_pfn + 1,
			(--task->nr_unfaulted) * sizeof(task->unfaulted_pfn[0]));
	task->unfaulted_pfn[task->nr_unfaulted++] = pfn;
}

void check_page_allocated(struct check *check)
{
	const uint64_t *v = check->event->value;

	struct world_task *task = world_task(check->world, check->event->pid);

	if (v[MM_PAGE_ALLOC_PFN] == PFN_NONE || !(v[MM_PAGE_ALLOC_GFP_FLAGS] & GFP_MOVABLE))
		return;
	check->world->nr_stimuli++;
	if (task) {
		task->fresh_pfn = v[MM_PAGE_ALLOC_PFN] + 1;
		if (!v[MM_PAGE_ALLOC_ORDER] && v[MM_PAGE_ALLOC_GFP_FLAGS] & GFP_ZERO)
			note_zeroed(check->world, task, v[MM_PAGE_ALLOC_PFN]);
		task->in_write_fault = false;
	}
	check_born(check, v[MM_PAGE_ALLOC_PFN], check_task_memcg(check, check->event->pid),
		   v[MM_PAGE_ALLOC_ORDER]);
}

void check_fault_begun(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct world_task *task = world_task(check->world, check->event->pid);

	if (!task)
		return;
	task->in_write_fault = v[PAGE_FAULT_USER_ERROR_CODE] & FAULT_WRITE;
	if (v[PAGE_FAULT_USER_ERROR_CODE] & FAULT_USER) /* not in a system call */
		task->nr_unfaulted = 0;
}

/* A page of an exec's arguments. It may wait on another CPU than the one that the task runs on by then. */
static void stack_begun(struct check *check, uint64_t pfn)
{
	struct mm *mm = &check->machine.mm;
	struct folio *folio = check_known_folio(check, pfn);

	if (!folio || folio->file)
		return;
	if (!folio_test(folio, PG_lru)) {
		check->stack_pfn[check->nr_stacks++ % STACKS_ROOM] = pfn + 1;
	} else if (mm->policy->generations) {
		/* It is on a list already, as if a fault had brought it. */
		world_infer(check->world, INFER_exec_stack);
		mm->policy->folio_removed(mm, folio->lruvec, folio);
		folio_clear(folio, PG_active);
		mm->policy->folio_added(mm, folio->lruvec, folio);
		folio_set(folio, PG_lru);
	}
}

/*
 * The pages of arguments are those that exec() allocated of zeroes for no fault. What it writes to the stack
 * after it was set up, faults do: those pages are like others.
 */
void check_exec_begun(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);

	if (!check->world->allocs_seen || !task)
		return;
	task->exec_begun = false;
	for (unsigned int i = 0; i < task->nr_unfaulted; i++)
		stack_begun(check, task->unfaulted_pfn[i]);
	task->nr_unfaulted = 0;
}

/* It was isolated a moment ago, and waits with all its flags in the lru_add batch. */
static void migrated(struct check *check, struct folio *folio, uint64_t pfn)
{
	if (folio_test(folio, FOLIO_in_add_batch))
		return; /* the pass took it for one that it was not */
	world_infer(check->world, INFER_migrated);
	page_tables_migrated(check->tables, folio, pfn);
	check_look_moved(check, folio, pfn);
	folio = machine_migrate(&check->machine, folio, pfn);
	if (!folio)
		return;
	folio_clear(folio, FOLIO_out | FOLIO_moved | FOLIO_survivor | FOLIO_doubtful | FOLIO_alone);
	folio_add_lru(&check->machine.mm, check_cpu(check), folio);
}

bool check_migrated(struct check *check)
{
	const struct migration *migration = migrations_of(check->world, check->event);
	struct folio *folio = migration ? check_known_folio(check, migration->from) : NULL;

	if (folio)
		migrated(check, folio, migration->to);
	return folio;
}

void check_page_freed(struct check *check)
{
	struct folio *folio = check_known_folio(check, check->event->value[MM_PAGE_FREE_PFN]);
	const struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	check->world->nr_stimuli++;
	if (folio && check_migrated(check))
		return;
	if (!check->event->value[MM_PAGE_FREE_ORDER])
		folio = check_split_at(check, check->event->value[MM_PAGE_FREE_PFN]);
	if (!folio)
		return;
	if (check->machine.mm.policy->generations && bracket && bracket->predicted &&
	    folio_test(folio, PG_swapbacked) && folio_test(folio, FOLIO_isolated | PG_lru) &&
	    !check_in_interrupt(check)) {
		check_lru_gen_victim(check, bracket, folio);
		check_evict(check, folio, bracket->target);
		return;
	}
	/* Of a file folio's end in reclaim its removal from the page cache has told. */
	if (!check->machine.mm.policy->generations && bracket && bracket->isolated &&
	    !check_in_interrupt(check) && folio->lruvec == bracket->applied.lruvec &&
	    folio_test(folio, FOLIO_isolated | PG_lru))
		check_anon_victim(check, bracket, folio);
	else if (!check->machine.mm.policy->generations && task && world_task_is_kdamond(task) &&
		 folio_test(folio, PG_swapcache))
		check_evict(check, folio, NULL);
	else {
		check_gone(check, folio);
		check_slot_freed(check, folio);
		machine_forget(&check->machine, folio);
	}
}

void check_folio_added(struct check *check)
{
	const uint64_t *v = check->event->value;
	uint64_t order = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER];
	uint32_t file = world_file(check->world, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO]);
	struct world_task *task = world_task(check->world, check->event->pid);
	uint64_t index = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX];
	struct folio *folio;
	bool for_write;

	check->world->nr_stimuli++;
	if (order == TAPE_VALUE_ABSENT)
		order = 0; /* no such field up to 5.15, where file folios are single pages */
	folio = check_born(check, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN],
			   check_task_memcg(check, check->event->pid), order);
	if (!folio || !task)
		return;
	for_write = world_added_for_write(check->world, task, file, index);
	if (for_write)
		world_infer(check->world, INFER_added_for_write);
	if (task->fault.goes_on)
		folio_set(folio, FOLIO_in_fault);
	machine_add_file_folio(&check->machine, folio, file, index, check_cpu(check), for_write);
	if (world_is_buffer(check->world, task, file, index)) {
		world_infer(check->world, INFER_buffer_made);
		check_buffer_made(check, folio);
	}
	machine_lock_new(&check->machine, task, folio);
}

void check_folio_dirtied(struct check *check)
{
	check->world->nr_stimuli++;
	machine_dirtied(&check->machine, check->event);
}

static void rotate(void *ctx, struct folio *folio)
{
	check_rotate_later(ctx, folio);
}

void check_writeback(struct check *check)
{
	machine_writeback(&check->machine, rotate, check);
}

/* Return: the current event is a fault that takes a copy of the folio, and leaves it as it is. */
static bool fault_copies(struct check *check, const struct folio *folio)
{
	struct world_task *task = world_task(check->world, check->event->pid);

	if (check->event->kind != EVENT_MM_FILEMAP_FAULT || !task)
		return false;
	if (!folio_test(folio, PG_locked))
		faults_found(check->world, task);
	return task->fault.copies;
}

/* Page tables point to these now, and nothing will tell when they do not any more. */
void check_pages_mapped(struct check *check, uint64_t dev, uint64_t ino, uint64_t index,
			uint64_t last)
{
	uint32_t file = world_file(check->world, dev, ino);

	for (uint64_t n = 0; index <= last && n < MAPPED_PAGES_LIMIT; index++, n++) {
		struct folio *folio = page_cache_folio(&check->machine.cache, file, index);

		if (!folio || fault_copies(check, folio) ||
		    executable_is_copied(check->world, file, index))
			continue;
		folio_set(folio, FOLIO_mapped);
		check_mapped(check, folio);
		if (check->event->kind == EVENT_MM_FILEMAP_MAP_PAGES)
			check_mapped_around(check, folio);
	}
}
