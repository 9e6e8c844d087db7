// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/anon.h"

#include <stdlib.h>
#include <string.h>

#include "replay/world/anon_state.h"
#include "replay/world/world.h"

#define PAGE_SHIFT 12
/* Of an address space, with five levels of tables; the kernel's own lie above. */
#define USER_PAGES (UINT64_C(1) << 44)
#define GFP_MOVABLE 0x8
#define INSERTION_ANON 2
#define INSERTION_SWAPCACHE 8
#define INSERTION_SWAPBACKED 0x10
#define ORDER_LIMIT 13
#define CLONE_VM 0x100
#define FAULT_WRITE 2
/* Pages of an mm from here on: at which address, no event tells. */
#define NO_ADDRESS (UINT64_C(1) << 38)

/* Grow an array to hold at least @nr + 1. Return: it does. */
static bool grow(struct anon_world *anon, void **array, uint32_t *room, uint32_t nr, size_t bytes)
{
	uint32_t bigger = *room ? *room * 2 : 64;
	void *moved;

	if (nr < *room)
		return true;
	if (bigger <= nr)
		bigger = nr + 1;
	moved = realloc(*array, bigger * bytes);
	if (!moved) {
		anon->failed = true;
		return false;
	}
	memset((char *)moved + *room * bytes, 0, (bigger - *room) * bytes);
	*array = moved;
	*room = bigger;
	return true;
}

/* Page numbers of addresses have 52 bits at most, mms 2^11 of them at a time: far apart in any case. */
static uint64_t address_key(uint32_t mm, uint64_t index)
{
	return (uint64_t)mm << 40 ^ index ^ UINT64_C(1) << 63;
}

static void put_address(struct anon_world *anon, uint64_t key, uint32_t number)
{
	if (!key_map_put(&anon->by_address, key, number))
		anon->failed = true;
}

static uint32_t *pfn_entry(struct anon_world *anon, uint64_t pfn)
{
	uint32_t *entry;

	if (pfn >= MEMMAP_PFN_LIMIT)
		return NULL;
	entry = by_pfn_make(&anon->pfn, pfn);
	anon->failed |= !entry;
	return entry;
}

struct anon_world *anon_open(void)
{
	struct anon_world *anon = calloc(1, sizeof(*anon));

	if (!anon)
		return NULL;
	if (by_pfn_init(&anon->pfn) || anon_new_mm(anon)) {
		anon_close(anon);
		return NULL;
	}
	return anon;
}

void anon_close(struct anon_world *anon)
{
	if (!anon)
		return;
	by_pfn_exit(&anon->pfn);
	free(anon->page);
	free(anon->space);
	key_map_exit(&anon->by_address);
	key_map_exit(&anon->swap.by_sector);
	free(anon->fresh);
	free(anon->task);
	free(anon->step);
	free(anon);
}

bool anon_failed(const struct anon_world *anon)
{
	return anon->failed;
}

uint32_t anon_new_mm(struct anon_world *anon)
{
	if (!grow(anon, (void **)&anon->space, &anon->room_spaces, anon->nr_spaces,
		  sizeof(*anon->space)))
		return ANON_NONE;
	anon->space[anon->nr_spaces] = (struct mm_space){ .first = ANON_NONE, .nr_users = 1 };
	return anon->nr_spaces++;
}

const struct anon_step *anon_steps(const struct anon_world *anon, uint32_t *nr)
{
	*nr = anon->nr_steps;
	return anon->step;
}

static struct anon_task *anon_task(struct anon_world *anon, const struct world_task *task)
{
	uint32_t from = anon->room_tasks;

	if (!grow(anon, (void **)&anon->task, &anon->room_tasks, task->number, sizeof(*anon->task)))
		return NULL;
	for (; from < anon->room_tasks; from++)
		anon->task[from].fresh = anon->task[from].touched = ANON_NONE;
	if (!anon->task[task->number].mm && task->tgid) {
		/* Of the start's snapshot: threads of one process share an mm. */
		uint32_t *mm = key_map_find(&anon->by_address, address_key(0, task->tgid));

		if (!mm) {
			put_address(anon, address_key(0, task->tgid), anon_new_mm(anon));
			mm = key_map_find(&anon->by_address, address_key(0, task->tgid));
		} else {
			anon->space[*mm].nr_users++;
		}
		anon->task[task->number].mm = mm ? *mm : 0;
	}
	return &anon->task[task->number];
}

struct anon_step *anon_add_step(struct anon_world *anon, enum anon_what what, uint32_t number)
{
	const struct anon_page *page = &anon->page[number];

	if (!grow(anon, (void **)&anon->step, &anon->room_steps, anon->nr_steps,
		  sizeof(*anon->step)))
		return NULL;
	anon->step[anon->nr_steps] = (struct anon_step){
		.what = what,
		.file = page->file,
		.index = page->index,
		.pfn = page->pfn,
	};
	return &anon->step[anon->nr_steps++];
}

/* ---- pages */

/* @mm: 0: the address is not known. Return: number of the first of 1 << @order, ANON_NONE without memory. */
static uint32_t new_pages(struct anon_world *anon, struct world *world, uint32_t mm, uint64_t index,
			  uint64_t pfn, uint8_t order)
{
	uint32_t nr = UINT32_C(1) << order, first = anon->nr_pages;
	struct mm_space *space = &anon->space[mm];

	if (!space->file)
		space->file = world_file(world, ANON_DEV, mm);
	if (!mm) {
		/* A place of its own, aligned to its size. */
		index = (anon->nr_nameless + nr - 1) & ~(uint64_t)(nr - 1);
		anon->nr_nameless = index + nr;
	}
	if (!grow(anon, (void **)&anon->page, &anon->room_pages, first + nr - 1,
		  sizeof(*anon->page)))
		return ANON_NONE;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t *entry = pfn_entry(anon, pfn + i);

		anon->page[first + i] = (struct anon_page){
			.index = index + i,
			.file = space->file,
			.mm = mm,
			.pfn = (uint32_t)(pfn + i),
			.next = space->first,
			.order = order,
		};
		space->first = first + i;
		if (mm)
			put_address(anon, address_key(mm, index + i), first + i);
		if (entry)
			*entry = first + i + 1;
	}
	anon->nr_pages += nr;
	return first;
}

void anon_page_gone(struct anon_world *anon, uint32_t number)
{
	struct anon_page *page = &anon->page[number];
	uint32_t *entry = page->pfn == ANON_NONE ? NULL : pfn_entry(anon, page->pfn);

	if (page->gone)
		return;
	anon_add_step(anon, ANON_FREED, number);
	if (entry)
		*entry = 0;
	page->pfn = ANON_NONE;
	page->gone = true;
}

uint32_t anon_page_at(const struct anon_world *anon, uint32_t mm, uint64_t index)
{
	const uint32_t *number = mm ? key_map_find(&anon->by_address, address_key(mm, index)) :
				      NULL;

	return number && !anon->page[*number].gone ? *number : ANON_NONE;
}

uint32_t anon_page_in_frame(struct anon_world *anon, uint64_t pfn)
{
	const uint32_t *entry = pfn_entry(anon, pfn);

	return entry && *entry && !(*entry & ENTRY_FRESH) ? *entry - 1 : ANON_NONE;
}

/* Swapped in: the page is in this frame again. */
void anon_page_came_in(struct anon_world *anon, uint32_t number, uint64_t pfn)
{
	uint32_t *entry = pfn_entry(anon, pfn);

	anon->page[number].pfn = (uint32_t)pfn;
	anon->page[number].order = 0;
	if (entry)
		*entry = number + 1;
}

bool anon_in_frame(struct anon_world *anon, uint64_t pfn, uint32_t *file, uint64_t *index)
{
	uint32_t number = anon_page_in_frame(anon, pfn);

	if (number == ANON_NONE)
		return false;
	*file = anon->page[number].file;
	*index = anon->page[number].index;
	return true;
}

uint64_t anon_fault_index(const struct anon_world *anon, const struct world_task *task)
{
	return task->number < anon->room_tasks && anon->task[task->number].fault_mm ?
		       anon->task[task->number].fault_index :
		       UINT64_MAX;
}

/* ---- frames allocated, and what they turn out to be */

void anon_forget_fresh(struct anon_world *anon, uint32_t at)
{
	struct fresh *fresh = &anon->fresh[at];
	uint32_t *entry = pfn_entry(anon, fresh->pfn);

	if (entry && *entry == (ENTRY_FRESH | at))
		*entry = 0;
	if (anon->task[fresh->task].fresh == at)
		anon->task[fresh->task].fresh = ANON_NONE;
	fresh->used = false;
}

/* No swap-in and no page cache took the frame: a new anon page, or one of which the tape lost sight. */
static void fresh_is_anon(struct anon_world *anon, struct world *world, uint32_t at)
{
	struct fresh fresh = anon->fresh[at];
	uint64_t index = fresh.fault_index & ~((UINT64_C(1) << fresh.order) - 1);
	struct anon_step *step;
	uint32_t number;

	anon_forget_fresh(anon, at);
	for (uint64_t i = 0; fresh.fault_mm && i >> fresh.order == 0; i++) {
		number = anon_page_at(anon, fresh.fault_mm, index + i);
		if (number == ANON_NONE)
			continue;
		if (!fresh.order && anon->page[number].pfn == ANON_NONE) {
			anon_page_came_in(anon, number,
					  fresh.pfn); /* from swap without a bio: zram, zswap */
			return;
		}
		anon_page_gone(anon, number); /* copied on write, or its unmapping was not seen */
	}
	number = new_pages(anon, world, fresh.fault_mm, index, fresh.pfn, fresh.order);
	if (number == ANON_NONE)
		return;
	step = anon_add_step(anon, ANON_NEW, number);
	if (!step)
		return;
	step->memcg = fresh.memcg;
	step->order = fresh.order;
	step->locked = fresh.locked;
}

static void settle_task(struct anon_world *anon, struct world *world, struct anon_task *task)
{
	const struct fresh *fresh;

	if (task->fresh == ANON_NONE)
		return;
	fresh = &anon->fresh[task->fresh];
	/* A fault needs one new folio: what its task allocates behind it has no address, as a write to tmpfs. */
	if (!fresh->populated && fresh->fault_index == task->fault_index)
		task->fault_mm = 0;
	fresh_is_anon(anon, world, task->fresh);
}

/* The next page that an mlock brings in; no fault tells of it. Return: false: the task is in none. */
static bool next_populated(struct anon_world *anon, struct anon_task *task)
{
	for (; task->populate_first < task->populate_end; task->populate_first++) {
		uint32_t number = anon_page_at(anon, task->mm, task->populate_first);

		if (number == ANON_NONE || anon->page[number].pfn == ANON_NONE)
			return true;
	}
	return false;
}

static void page_allocated(struct anon_world *anon, struct world *world,
			   const struct tape_event *event, const struct world_task *who,
			   struct anon_task *task)
{
	const uint64_t *v = event->value;
	uint64_t pfn = v[MM_PAGE_ALLOC_PFN], order = v[MM_PAGE_ALLOC_ORDER];
	uint32_t *entry, number, at;
	bool populated;

	if (!(v[MM_PAGE_ALLOC_GFP_FLAGS] & GFP_MOVABLE) || order > ORDER_LIMIT)
		return;
	settle_task(anon, world, task);
	number = anon_page_in_frame(anon, pfn);
	if (number != ANON_NONE)
		anon_page_gone(anon, number); /* the tape lost its free */
	entry = pfn_entry(anon, pfn);
	if (!entry)
		return;
	for (at = 0; at < anon->nr_fresh && anon->fresh[at].used; at++)
		;
	if (at == anon->nr_fresh) {
		if (!grow(anon, (void **)&anon->fresh, &anon->room_fresh, at, sizeof(*anon->fresh)))
			return;
		anon->nr_fresh++;
	}
	populated = next_populated(anon, task);
	if (!populated && task->locks_all && !task->fault_mm) {
		populated = true;
		task->populate_first = NO_ADDRESS + anon->nr_nameless;
		anon->nr_nameless += UINT64_C(1) << order;
	}
	anon->fresh[at] = (struct fresh){
		.pfn = pfn,
		.fault_index = populated ? task->populate_first : task->fault_index,
		.fault_mm = populated ? task->mm : task->fault_mm,
		.populated = populated,
		.locked = populated || anon->space[task->mm].lock_future,
		.memcg = who->memcg,
		.task = who->number,
		.order = (uint8_t)order,
		.used = true,
	};
	*entry = ENTRY_FRESH | at;
	task->fresh = at;
}

/* On a list before it is mapped, and so before it is anonymous; or tmpfs's. */
static void swapped_in(struct anon_world *anon, const uint32_t *entry)
{
	const struct fresh *fresh;
	uint64_t pfn;
	uint32_t number;

	if (!(*entry & ENTRY_FRESH))
		return;
	fresh = &anon->fresh[*entry & ~ENTRY_FRESH];
	number = anon_page_at(anon, fresh->fault_mm, fresh->fault_index);
	pfn = fresh->pfn;
	anon_forget_fresh(anon, *entry & ~ENTRY_FRESH);
	if (number != ANON_NONE && anon->page[number].pfn == ANON_NONE)
		anon_page_came_in(anon, number, pfn); /* without I/O */
}

/* Same page, other frame. */
static void page_migrated(struct anon_world *anon, uint64_t from, uint64_t to)
{
	uint32_t number = anon_page_in_frame(anon, from), there = anon_page_in_frame(anon, to);
	uint32_t *entry;

	if (number == ANON_NONE)
		return;
	if (there != ANON_NONE)
		anon_page_gone(anon, there); /* the tape lost its free */
	*pfn_entry(anon, from) = 0;
	entry = pfn_entry(anon, to);
	anon->page[number].pfn = entry ? (uint32_t)to : ANON_NONE;
	if (!entry)
		return;
	if (*entry & ENTRY_FRESH)
		anon_forget_fresh(anon, *entry & ~ENTRY_FRESH);
	*entry = number + 1;
}

static void folio_migrated(struct anon_world *anon, const struct migration *migration)
{
	uint32_t number = anon_page_in_frame(anon, migration->from);
	uint8_t order = number == ANON_NONE ? 0 : anon->page[number].order;

	for (uint32_t i = 0; i >> order == 0; i++)
		page_migrated(anon, migration->from + i, migration->to + i);
}

static void page_inserted(struct anon_world *anon, struct world *world,
			  const struct tape_event *event, const struct world_task *who)
{
	uint64_t pfn = event->value[MM_LRU_INSERTION_PFN];
	uint32_t *entry = pfn_entry(anon, pfn);
	const struct migration *migration = migrations_of(world, event);
	struct anon_step *step;
	uint32_t number;

	if (!entry)
		return;
	if (migration)
		folio_migrated(anon, migration);
	if ((event->value[MM_LRU_INSERTION_FLAGS] & (INSERTION_ANON | INSERTION_SWAPCACHE)) ==
	    INSERTION_SWAPCACHE) {
		swapped_in(anon, entry);
		return;
	}
	/* Shared memory is swapped as anonymous memory is, and lives on the same lists. */
	if (!(event->value[MM_LRU_INSERTION_FLAGS] &
	      (INSERTION_ANON | INSERTION_SWAPBACKED))) { /* migrated page cache */
		if (*entry & ENTRY_FRESH)
			anon_forget_fresh(anon, *entry & ~ENTRY_FRESH);
		else if (*entry)
			anon_page_gone(anon, *entry - 1);
		return;
	}
	if (*entry & ENTRY_FRESH) {
		fresh_is_anon(anon, world, *entry & ~ENTRY_FRESH);
		return;
	}
	if (*entry)
		return;
	/* Its allocation was not seen: migration's target, or from before the tape. */
	number = new_pages(anon, world, 0, 0, pfn, 0);
	step = number == ANON_NONE ? NULL : anon_add_step(anon, ANON_NEW, number);
	if (step)
		step->memcg = who->memcg;
}

static void page_cache_added(struct anon_world *anon, const struct tape_event *event)
{
	const uint32_t *entry = pfn_entry(anon, event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN]);

	if (entry && *entry & ENTRY_FRESH)
		anon_forget_fresh(anon, *entry & ~ENTRY_FRESH);
}

/* ---- faults and frees */

static void faulted(struct anon_world *anon, struct world *world, const struct tape_event *event,
		    struct anon_task *task)
{
	uint64_t index = event->value[PAGE_FAULT_USER_ADDRESS] >> PAGE_SHIFT;
	struct anon_step *step;

	if (index >= USER_PAGES)
		return;
	settle_task(anon, world, task);
	task->fault_mm = task->mm;
	task->fault_index = index;
	task->populate_end = 0;
	task->locks_all = false;
	task->pages_out = false;
	task->touched = anon_page_at(anon, task->mm, index);
	if (task->touched == ANON_NONE)
		return;
	step = anon_add_step(anon, ANON_TOUCHED, task->touched);
	if (step)
		step->write = event->value[PAGE_FAULT_USER_ERROR_CODE] & FAULT_WRITE;
}

static void page_freed(struct anon_world *anon, const struct world *world,
		       const struct tape_event *event, const struct world_task *who,
		       const struct anon_task *task)
{
	const struct migration *migration;
	uint64_t pfn = event->value[MM_PAGE_FREE_PFN], order = event->value[MM_PAGE_FREE_ORDER];
	uint32_t *entry = pfn_entry(anon, pfn);

	if (!entry || !*entry || order > ORDER_LIMIT)
		return;
	if (*entry & ENTRY_FRESH) {
		anon_forget_fresh(anon, *entry & ~ENTRY_FRESH);
		return;
	}
	migration = migrations_of(world, event);
	if (migration) {
		folio_migrated(anon, migration);
		return;
	}
	for (uint64_t i = 0; i >> order == 0; i++) {
		uint32_t number = anon_page_in_frame(anon, pfn + i);

		if (number == ANON_NONE)
			continue;
		if (!who->in_reclaim && !task->pages_out) {
			anon_page_gone(anon, number);
			continue;
		}
		anon_add_step(anon, ANON_EVICTED, number);
		*pfn_entry(anon, pfn + i) = 0;
		anon->page[number].pfn = ANON_NONE;
		/* Dropped, not swapped: the next touch finds a new page, in this kernel. */
		anon->page[number].gone = anon->page[number].lazyfree;
	}
}

/* ---- address spaces */

static void mm_put(struct anon_world *anon, uint32_t mm)
{
	if (!mm || mm >= anon->nr_spaces || --anon->space[mm].nr_users)
		return;
	/* Those in memory are freed one by one, under an event each. */
	for (uint32_t n = anon->space[mm].first; n != ANON_NONE; n = anon->page[n].next)
		if (anon->page[n].pfn == ANON_NONE)
			anon_page_gone(anon, n);
}

static void task_cloned(struct anon_world *anon, struct world *world,
			const struct tape_event *event)
{
	const uint64_t *v = event->value;
	struct world_task *parent = world_task(world, event->pid);
	struct world_task *child = world_task(world, (int32_t)v[TASK_NEWTASK_PID]);
	struct anon_task *of = parent ? anon_task(anon, parent) : NULL, *task;
	uint32_t mm;

	if (!of || !child)
		return;
	settle_task(anon, world, of);
	of = anon_task(anon, parent); /* the array may have moved, here and below */
	if (!of)
		return;
	mm = of->mm;
	task = anon_task(anon, child);
	if (!task)
		return;
	if (mm && v[TASK_NEWTASK_CLONE_FLAGS] & CLONE_VM) {
		task->mm = mm;
		anon->space[mm].nr_users++;
	} else {
		task->mm = anon_new_mm(anon);
	}
	task->fault_mm = 0;
}

static void task_left_mm(struct anon_world *anon, struct anon_task *task, bool execs)
{
	uint32_t old = task->mm;

	task->mm = execs ? anon_new_mm(anon) : 0;
	task->fault_mm = 0;
	mm_put(anon, old);
}

void anon_event(struct anon_world *anon, struct world *world, const struct tape_event *event)
{
	struct world_task *who = world_task(world, event->pid);
	struct anon_task *task = who ? anon_task(anon, who) : NULL;

	anon->nr_steps = 0;
	if (!task || anon->failed)
		return;
	switch (event->kind) {
	case EVENT_PAGE_FAULT_USER:
		faulted(anon, world, event, task);
		break;
	case EVENT_MM_PAGE_ALLOC:
		page_allocated(anon, world, event, who, task);
		break;
	case EVENT_MM_PAGE_FREE:
		page_freed(anon, world, event, who, task);
		break;
	case EVENT_MM_LRU_INSERTION:
		page_inserted(anon, world, event, who);
		break;
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		page_cache_added(anon, event);
		break;
	case EVENT_MM_FILEMAP_FAULT:
	case EVENT_PAGE_CACHE_SYNC_RA:
	case EVENT_PAGE_CACHE_RA_UNBOUNDED:
	case EVENT_PAGE_CACHE_RA_ORDER:
		/* What is allocated from here on is for the page cache. */
		settle_task(anon, world, task);
		task->fault_mm = 0;
		break;
	case EVENT_BLOCK_BIO_QUEUE:
		anon_bio_queued(anon, event, task);
		break;
	case EVENT_BLOCK_RQ_COMPLETE:
		anon_write_completed(anon, event);
		break;
	case EVENT_MM_VMSCAN_WRITE_FOLIO:
		anon_written_out(anon, event, task);
		break;
	case EVENT_SYS_ENTER_MADVISE:
	case EVENT_SYS_ENTER_MLOCK:
	case EVENT_SYS_ENTER_MUNLOCK:
	case EVENT_SYS_ENTER_MLOCKALL:
	case EVENT_SYS_ENTER_MUNLOCKALL:
		settle_task(anon, world, task);
		anon_advised(anon, event, task);
		break;
	case EVENT_TASK_NEWTASK:
		task_cloned(anon, world, event);
		break;
	case EVENT_SCHED_PROCESS_EXEC:
		settle_task(anon, world, task);
		task_left_mm(anon, task, true);
		break;
	case EVENT_SCHED_PROCESS_EXIT:
		settle_task(anon, world, task);
		task_left_mm(anon, task, false);
		break;
	default:
		break;
	}
}
