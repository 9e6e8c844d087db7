// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/anon.h"

#include <stdlib.h>
#include <string.h>

#include "replay/world/by_pfn.h"
#include "replay/world/world.h"

#define PAGE_SHIFT 12
#define USER_PAGES                                                                                 \
	(UINT64_C(1)                                                                               \
	 << 44) /* of an address space, with five levels of tables; the kernel's own lie above */
#define GFP_MOVABLE 0x8
#define INSERTION_ANON 2
#define INSERTION_SWAPCACHE 8
#define INSERTION_SWAPBACKED 0x10
#define ORDER_LIMIT 13
#define CLONE_VM 0x100
#define FAULT_WRITE 2
#define SECTORS_PER_PAGE 8
#define NONE UINT32_MAX
#define SECTORS_LIMIT (1u << 20) /* of one request */
#define SUBMIT_LIMIT_NS 200000 /* between two writes of one reclaim */
#define BURST_LIMIT_NS UINT64_C(1000000000)
#define LONG_BURST 32 /* pages */
#define SHORT_BURST 4
#define RANGE_LIMIT (UINT64_C(1) << 20) /* pages of one call that are looked at */

/* Advice, the same on x86, arm64 and most others. Kernel: include/uapi/asm-generic/mman-common.h, v6.18. */
#define ADVICE_FREE 8
#define ADVICE_COLD 20
#define ADVICE_PAGEOUT 21

/* Of pfn_entry: allocated, and not known yet what for. */
#define ENTRY_FRESH (UINT32_C(1) << 31)

/* An anon page, of one base page. */
struct anon_page {
	uint64_t index;
	uint32_t file;
	uint32_t mm;
	uint32_t pfn; /* where the recorded kernel has it, NONE: swapped out */
	uint32_t next; /* of the same mm, NONE: the last */
	uint8_t order; /* of its folio */
	bool gone;
	bool in_flight; /* submitted to swap's device */
	bool lazyfree; /* reclaim may drop it, unless it is written to before */
};

/* A frame allocated and not yet seen to be anything. */
struct fresh {
	uint64_t pfn;
	uint64_t fault_index; /* page of the fault it was allocated in */
	uint32_t fault_mm; /* 0: in none */
	uint32_t memcg;
	uint32_t task; /* number */
	uint8_t order;
	bool used;
	bool locked;
};

/* What is remembered of a task. */
struct anon_task {
	uint32_t mm; /* 0: a kernel thread, or never seen */
	uint32_t fresh; /* place in fresh[], NONE */
	uint32_t touched; /* page of its last fault, NONE */
	uint64_t fault_index;
	uint32_t fault_mm; /* 0: not in a fault */
	uint64_t write_sector; /* of the block_bio_queue before a mm_vmscan_write_folio, 0: none */
	uint32_t write_dev;
	uint64_t written_ns; /* when it last wrote a folio to swap */
	/* What the mlock that it is in has still to bring in; nothing if first >= end. */
	uint64_t populate_first, populate_end;
	bool pages_out; /* it is in MADV_PAGEOUT */
};

/* Writes to swap from when the device had none to when it has none again. */
struct write_burst {
	uint64_t first_ns, nr_outstanding, nr_done;
};

struct key_map {
	uint64_t *key; /* 0: empty */
	uint32_t *value;
	uint64_t mask, nr;
};

struct mm_space {
	uint32_t file; /* 0: no page yet */
	uint32_t first; /* page, NONE */
	uint32_t nr_users;
};

struct anon_world {
	struct anon_page *page;
	uint32_t nr_pages, room_pages;
	struct mm_space *space; /* by mm; 0: of pages whose address is not known */
	uint32_t nr_spaces, room_spaces;
	struct key_map by_address, by_sector;
	struct by_pfn pfn; /* 1 + page, or ENTRY_FRESH | place in fresh[], 0: nothing */
	struct fresh *fresh;
	uint32_t nr_fresh, room_fresh;
	struct anon_task *task; /* by the world's number */
	uint32_t room_tasks;
	struct anon_step *step;
	uint32_t nr_steps, room_steps;
	uint64_t nr_nameless;
	struct write_burst burst;
	uint64_t submit_ns, nr_submits; /* between two writes of one task, all together */
	uint64_t long_ns, nr_long; /* of bursts of many pages: time, pages */
	uint64_t short_ns, nr_short; /* of those of few: time, bursts */
	bool failed;
};

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

static uint64_t mix(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

/* The value under a key, NULL: none. */
static uint32_t *map_find(const struct key_map *map, uint64_t key)
{
	if (!map->key)
		return NULL;
	for (uint64_t i = mix(key) & map->mask; map->key[i]; i = (i + 1) & map->mask)
		if (map->key[i] == key)
			return &map->value[i];
	return NULL;
}

static void map_put(struct anon_world *anon, struct key_map *map, uint64_t key, uint32_t value)
{
	uint32_t *at = map_find(map, key);
	uint64_t i;

	if (at) {
		*at = value;
		return;
	}
	if (!map->key || map->nr * 2 > map->mask) {
		struct key_map bigger = { .mask = map->key ? map->mask * 2 + 1 : 4095 };

		bigger.key = calloc(bigger.mask + 1, sizeof(*bigger.key));
		bigger.value = calloc(bigger.mask + 1, sizeof(*bigger.value));
		if (!bigger.key || !bigger.value) {
			free(bigger.key);
			free(bigger.value);
			anon->failed = true;
			return;
		}
		for (uint64_t j = 0; map->key && j <= map->mask; j++)
			if (map->key[j])
				map_put(anon, &bigger, map->key[j], map->value[j]);
		free(map->key);
		free(map->value);
		*map = bigger;
	}
	for (i = mix(key) & map->mask; map->key[i]; i = (i + 1) & map->mask)
		;
	map->key[i] = key;
	map->value[i] = value;
	map->nr++;
}

/* Page numbers of addresses have 52 bits at most, mms 2^11 of them at a time: far apart in any case. */
static uint64_t address_key(uint32_t mm, uint64_t index)
{
	return (uint64_t)mm << 40 ^ index ^ UINT64_C(1) << 63;
}

static uint64_t sector_key(uint64_t dev, uint64_t sector)
{
	return dev << 42 ^ sector ^ UINT64_C(1) << 63;
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
	free(anon->by_address.key);
	free(anon->by_address.value);
	free(anon->by_sector.key);
	free(anon->by_sector.value);
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
		return NONE;
	anon->space[anon->nr_spaces] = (struct mm_space){ .first = NONE, .nr_users = 1 };
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
		anon->task[from].fresh = anon->task[from].touched = NONE;
	if (!anon->task[task->number].mm && task->tgid) {
		/* Of the start's snapshot: threads of one process share an mm. */
		uint32_t *mm = map_find(&anon->by_address, address_key(0, task->tgid));

		if (!mm) {
			map_put(anon, &anon->by_address, address_key(0, task->tgid),
				anon_new_mm(anon));
			mm = map_find(&anon->by_address, address_key(0, task->tgid));
		} else {
			anon->space[*mm].nr_users++;
		}
		anon->task[task->number].mm = mm ? *mm : 0;
	}
	return &anon->task[task->number];
}

static struct anon_step *add_step(struct anon_world *anon, enum anon_what what, uint32_t number)
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

/* @mm: 0: the address is not known. Return: number of the first of 1 << @order, NONE without memory. */
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
		return NONE;
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
			map_put(anon, &anon->by_address, address_key(mm, index + i), first + i);
		if (entry)
			*entry = first + i + 1;
	}
	anon->nr_pages += nr;
	return first;
}

static void page_gone(struct anon_world *anon, uint32_t number)
{
	struct anon_page *page = &anon->page[number];
	uint32_t *entry = page->pfn == NONE ? NULL : pfn_entry(anon, page->pfn);

	if (page->gone)
		return;
	add_step(anon, ANON_FREED, number);
	if (entry)
		*entry = 0;
	page->pfn = NONE;
	page->gone = true;
}

/* The page of an address, NONE: not known, or gone. */
static uint32_t page_at(const struct anon_world *anon, uint32_t mm, uint64_t index)
{
	const uint32_t *number = mm ? map_find(&anon->by_address, address_key(mm, index)) : NULL;

	return number && !anon->page[*number].gone ? *number : NONE;
}

static uint32_t page_in_frame(struct anon_world *anon, uint64_t pfn)
{
	const uint32_t *entry = pfn_entry(anon, pfn);

	return entry && *entry && !(*entry & ENTRY_FRESH) ? *entry - 1 : NONE;
}

/* Swapped in: the page is in this frame again. */
static void page_came_in(struct anon_world *anon, uint32_t number, uint64_t pfn)
{
	uint32_t *entry = pfn_entry(anon, pfn);

	anon->page[number].pfn = (uint32_t)pfn;
	anon->page[number].order = 0;
	if (entry)
		*entry = number + 1;
}

bool anon_in_frame(struct anon_world *anon, uint64_t pfn, uint32_t *file, uint64_t *index)
{
	uint32_t number = page_in_frame(anon, pfn);

	if (number == NONE)
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

static void forget_fresh(struct anon_world *anon, uint32_t at)
{
	struct fresh *fresh = &anon->fresh[at];
	uint32_t *entry = pfn_entry(anon, fresh->pfn);

	if (entry && *entry == (ENTRY_FRESH | at))
		*entry = 0;
	if (anon->task[fresh->task].fresh == at)
		anon->task[fresh->task].fresh = NONE;
	fresh->used = false;
}

/* No swap-in and no page cache took the frame: a new anon page, or one of which the tape lost sight. */
static void fresh_is_anon(struct anon_world *anon, struct world *world, uint32_t at)
{
	struct fresh fresh = anon->fresh[at];
	uint64_t index = fresh.fault_index & ~((UINT64_C(1) << fresh.order) - 1);
	struct anon_step *step;
	uint32_t number;

	forget_fresh(anon, at);
	for (uint64_t i = 0; fresh.fault_mm && i >> fresh.order == 0; i++) {
		number = page_at(anon, fresh.fault_mm, index + i);
		if (number == NONE)
			continue;
		if (!fresh.order && anon->page[number].pfn == NONE) {
			page_came_in(anon, number,
				     fresh.pfn); /* from swap without a bio: zram, zswap */
			return;
		}
		page_gone(anon, number); /* copied on write, or its unmapping was not seen */
	}
	number = new_pages(anon, world, fresh.fault_mm, index, fresh.pfn, fresh.order);
	if (number == NONE)
		return;
	step = add_step(anon, ANON_NEW, number);
	if (!step)
		return;
	step->memcg = fresh.memcg;
	step->order = fresh.order;
	step->locked = fresh.locked;
}

static void settle_task(struct anon_world *anon, struct world *world, struct anon_task *task)
{
	const struct fresh *fresh;

	if (task->fresh == NONE)
		return;
	fresh = &anon->fresh[task->fresh];
	/* A fault needs one new folio: what its task allocates behind it has no address, as a write to tmpfs. */
	if (!fresh->locked && fresh->fault_index == task->fault_index)
		task->fault_mm = 0;
	fresh_is_anon(anon, world, task->fresh);
}

/* The next page that an mlock brings in; no fault tells of it. Return: false: the task is in none. */
static bool next_populated(struct anon_world *anon, struct anon_task *task)
{
	for (; task->populate_first < task->populate_end; task->populate_first++) {
		uint32_t number = page_at(anon, task->mm, task->populate_first);

		if (number == NONE || anon->page[number].pfn == NONE)
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
	bool locked;

	if (!(v[MM_PAGE_ALLOC_GFP_FLAGS] & GFP_MOVABLE) || order > ORDER_LIMIT)
		return;
	settle_task(anon, world, task);
	number = page_in_frame(anon, pfn);
	if (number != NONE)
		page_gone(anon, number); /* the tape lost its free */
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
	locked = next_populated(anon, task);
	anon->fresh[at] = (struct fresh){
		.pfn = pfn,
		.fault_index = locked ? task->populate_first : task->fault_index,
		.fault_mm = locked ? task->mm : task->fault_mm,
		.locked = locked,
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
	number = page_at(anon, fresh->fault_mm, fresh->fault_index);
	pfn = fresh->pfn;
	forget_fresh(anon, *entry & ~ENTRY_FRESH);
	if (number != NONE && anon->page[number].pfn == NONE)
		page_came_in(anon, number, pfn); /* without I/O */
}

static void page_inserted(struct anon_world *anon, struct world *world,
			  const struct tape_event *event, const struct world_task *who)
{
	uint64_t pfn = event->value[MM_LRU_INSERTION_PFN];
	uint32_t *entry = pfn_entry(anon, pfn);
	struct anon_step *step;
	uint32_t number;

	if (!entry)
		return;
	if ((event->value[MM_LRU_INSERTION_FLAGS] & (INSERTION_ANON | INSERTION_SWAPCACHE)) ==
	    INSERTION_SWAPCACHE) {
		swapped_in(anon, entry);
		return;
	}
	/* Shared memory is swapped as anonymous memory is, and lives on the same lists. */
	if (!(event->value[MM_LRU_INSERTION_FLAGS] &
	      (INSERTION_ANON | INSERTION_SWAPBACKED))) { /* migrated page cache */
		if (*entry & ENTRY_FRESH)
			forget_fresh(anon, *entry & ~ENTRY_FRESH);
		else if (*entry)
			page_gone(anon, *entry - 1);
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
	step = number == NONE ? NULL : add_step(anon, ANON_NEW, number);
	if (step)
		step->memcg = who->memcg;
}

static void page_cache_added(struct anon_world *anon, const struct tape_event *event)
{
	const uint32_t *entry = pfn_entry(anon, event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN]);

	if (entry && *entry & ENTRY_FRESH)
		forget_fresh(anon, *entry & ~ENTRY_FRESH);
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
	task->pages_out = false;
	task->touched = page_at(anon, task->mm, index);
	if (task->touched == NONE)
		return;
	step = add_step(anon, ANON_TOUCHED, task->touched);
	if (step)
		step->write = event->value[PAGE_FAULT_USER_ERROR_CODE] & FAULT_WRITE;
}

static void page_freed(struct anon_world *anon, const struct tape_event *event,
		       const struct world_task *who, const struct anon_task *task)
{
	uint64_t pfn = event->value[MM_PAGE_FREE_PFN], order = event->value[MM_PAGE_FREE_ORDER];
	uint32_t *entry = pfn_entry(anon, pfn);

	if (!entry || !*entry || order > ORDER_LIMIT)
		return;
	if (*entry & ENTRY_FRESH) {
		forget_fresh(anon, *entry & ~ENTRY_FRESH);
		return;
	}
	for (uint64_t i = 0; i >> order == 0; i++) {
		uint32_t number = page_in_frame(anon, pfn + i);

		if (number == NONE)
			continue;
		if (!who->in_reclaim && !task->pages_out) {
			page_gone(anon, number);
			continue;
		}
		add_step(anon, ANON_EVICTED, number);
		*pfn_entry(anon, pfn + i) = 0;
		anon->page[number].pfn = NONE;
		/* Dropped, not swapped: the next touch finds a new page, in this kernel. */
		anon->page[number].gone = anon->page[number].lazyfree;
	}
}

/* ---- what an owner says of its pages */

static void advised(struct anon_world *anon, const struct anon_task *task, enum anon_what what,
		    uint64_t start, uint64_t bytes)
{
	uint64_t first = start >> PAGE_SHIFT, nr = bytes >> PAGE_SHIFT;

	for (uint64_t i = 0; i < nr && i < RANGE_LIMIT; i++) {
		uint32_t number = page_at(anon, task->mm, first + i);

		if (number == NONE)
			continue;
		if (what == ANON_LAZYFREE && anon->page[number].pfn == NONE) {
			page_gone(anon, number);
			continue;
		}
		anon->page[number].lazyfree = what == ANON_LAZYFREE;
		add_step(anon, what, number);
	}
}

static void madvised(struct anon_world *anon, struct world *world, const struct tape_event *event,
		     struct anon_task *task)
{
	const uint64_t *v = event->value;
	uint64_t start = v[SYS_ENTER_MADVISE_START], bytes = v[SYS_ENTER_MADVISE_LEN];

	settle_task(anon, world, task);
	task->fault_mm = 0;
	task->populate_end = 0;
	task->pages_out = v[SYS_ENTER_MADVISE_BEHAVIOR] == ADVICE_PAGEOUT;
	switch (v[SYS_ENTER_MADVISE_BEHAVIOR]) {
	case ADVICE_FREE:
		advised(anon, task, ANON_LAZYFREE, start, bytes);
		break;
	case ADVICE_COLD:
		advised(anon, task, ANON_COLD, start, bytes);
		break;
	case ADVICE_PAGEOUT:
		advised(anon, task, ANON_PAGEOUT, start, bytes);
		break;
	default:
		break;
	}
}

static void locked(struct anon_world *anon, struct world *world, const struct tape_event *event,
		   struct anon_task *task)
{
	uint64_t start = event->value[SYS_ENTER_MLOCK_START];
	uint64_t bytes = event->value[SYS_ENTER_MLOCK_LEN];

	settle_task(anon, world, task);
	task->fault_mm = 0;
	task->populate_first = start >> PAGE_SHIFT;
	task->populate_end = task->populate_first + (bytes >> PAGE_SHIFT);
	advised(anon, task, ANON_LOCKED, start, bytes);
}

static void unlocked(struct anon_world *anon, struct world *world, const struct tape_event *event,
		     struct anon_task *task)
{
	settle_task(anon, world, task);
	task->fault_mm = 0;
	task->populate_end = 0;
	advised(anon, task, ANON_UNLOCKED, event->value[SYS_ENTER_MUNLOCK_START],
		event->value[SYS_ENTER_MUNLOCK_LEN]);
}

/* ---- swap's I/O */

static void bio_queued(struct anon_world *anon, const struct tape_event *event,
		       struct anon_task *task)
{
	const uint64_t *v = event->value;
	const char *rwbs = tape_event_string(event, BLOCK_BIO_QUEUE_RWBS, NULL);
	uint64_t sector = v[BLOCK_BIO_QUEUE_SECTOR], dev = v[BLOCK_BIO_QUEUE_DEV];
	const uint32_t *number;
	struct fresh fresh;

	if (rwbs && *rwbs == 'W') {
		task->write_sector = sector;
		task->write_dev = (uint32_t)dev;
		return;
	}
	number = map_find(&anon->by_sector, sector_key(dev, sector));
	if (!rwbs || *rwbs != 'R' || !number || anon->page[*number].gone || task->fresh == NONE)
		return;
	fresh = anon->fresh[task->fresh];
	forget_fresh(anon, task->fresh);
	for (uint64_t i = 0; i >> fresh.order == 0; i++) {
		number = map_find(&anon->by_sector, sector_key(dev, sector + i * SECTORS_PER_PAGE));
		if (!number || anon->page[*number].gone)
			continue;
		page_came_in(anon, *number, fresh.pfn + i);
		if (*number != task->touched)
			add_step(anon, ANON_READ_AHEAD, *number);
	}
}

static void write_submitted(struct anon_world *anon, struct anon_page *page, uint64_t ns)
{
	struct write_burst *burst = &anon->burst;

	if (page->in_flight)
		return;
	if (burst->nr_outstanding && ns - burst->first_ns > BURST_LIMIT_NS)
		*burst = (struct write_burst){ 0 }; /* some end was not seen */
	if (!burst->nr_outstanding)
		*burst = (struct write_burst){ .first_ns = ns };
	burst->nr_outstanding++;
	page->in_flight = true;
}

static void write_completed(struct anon_world *anon, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	const char *rwbs = tape_event_string(event, BLOCK_RQ_COMPLETE_RWBS, NULL);
	struct write_burst *burst = &anon->burst;
	uint64_t sector = v[BLOCK_RQ_COMPLETE_SECTOR];

	if (!rwbs || *rwbs != 'W' || v[BLOCK_RQ_COMPLETE_NR_SECTOR] > SECTORS_LIMIT)
		return;
	for (uint64_t i = 0; i < v[BLOCK_RQ_COMPLETE_NR_SECTOR]; i += SECTORS_PER_PAGE) {
		const uint32_t *number = map_find(&anon->by_sector,
						  sector_key(v[BLOCK_RQ_COMPLETE_DEV], sector + i));

		if (!number || !anon->page[*number].in_flight)
			continue;
		anon->page[*number].in_flight = false;
		burst->nr_done++;
		if (!burst->nr_outstanding || --burst->nr_outstanding)
			continue;
		if (burst->nr_done >= LONG_BURST) {
			anon->long_ns += event->timestamp_ns - burst->first_ns;
			anon->nr_long += burst->nr_done;
		} else if (burst->nr_done <= SHORT_BURST) {
			anon->short_ns += event->timestamp_ns - burst->first_ns;
			anon->nr_short++;
		}
	}
}

bool anon_swap_times(const struct anon_world *anon, struct swap_times *times)
{
	if (!anon->nr_submits || !anon->nr_long)
		return false;
	times->submit_ns = anon->submit_ns / anon->nr_submits;
	times->page_ns = anon->long_ns / anon->nr_long;
	times->least_ns = anon->nr_short ? anon->short_ns / anon->nr_short : times->page_ns * 4;
	return true;
}

static void written_out(struct anon_world *anon, const struct tape_event *event,
			struct anon_task *task)
{
	uint64_t pfn = event->value[MM_VMSCAN_WRITE_FOLIO_PFN];
	uint32_t number = page_in_frame(anon, pfn);
	uint64_t sector = task->write_sector;
	uint8_t order;

	task->write_sector = 0;
	if (number == NONE)
		return;
	if (event->timestamp_ns - task->written_ns < SUBMIT_LIMIT_NS) {
		anon->submit_ns += event->timestamp_ns - task->written_ns;
		anon->nr_submits++;
	}
	task->written_ns = event->timestamp_ns;
	order = anon->page[number].order;
	for (uint64_t i = 0; i >> order == 0; i++) {
		number = page_in_frame(anon, pfn + i);
		if (number == NONE)
			continue;
		add_step(anon, ANON_UNMAPPED, number);
		if (!sector)
			continue;
		map_put(anon, &anon->by_sector,
			sector_key(task->write_dev, sector + i * SECTORS_PER_PAGE), number);
		write_submitted(anon, &anon->page[number], event->timestamp_ns);
	}
}

/* ---- address spaces */

static void mm_put(struct anon_world *anon, uint32_t mm)
{
	if (!mm || mm >= anon->nr_spaces || --anon->space[mm].nr_users)
		return;
	/* Those in memory are freed one by one, under an event each. */
	for (uint32_t n = anon->space[mm].first; n != NONE; n = anon->page[n].next)
		if (anon->page[n].pfn == NONE)
			page_gone(anon, n);
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
		page_freed(anon, event, who, task);
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
		bio_queued(anon, event, task);
		break;
	case EVENT_BLOCK_RQ_COMPLETE:
		write_completed(anon, event);
		break;
	case EVENT_MM_VMSCAN_WRITE_FOLIO:
		written_out(anon, event, task);
		break;
	case EVENT_SYS_ENTER_MADVISE:
		madvised(anon, world, event, task);
		break;
	case EVENT_SYS_ENTER_MLOCK:
		locked(anon, world, event, task);
		break;
	case EVENT_SYS_ENTER_MUNLOCK:
		unlocked(anon, world, event, task);
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
