// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine.h"

#include <stdlib.h>
#include <string.h>

#include "replay/machine.h"
#include "replay/mm/mmu_gather.h"

#define GFP_MOVABLE 0x8
#define INSERTION_ANON 2
#define INSERTION_SWAPBACKED 0x10
#define PFN_NONE UINT64_MAX
#define CHARGE_RETRIES 16 /* MAX_RECLAIM_RETRIES */
#define REQUEST_PAGES_LIMIT 1024 /* of one request; greater sizes are bytes of an object store */

/*
 * Descriptors: anon folios at their recorded frame, because their frees name it; file folios,
 * which may live longer or shorter than the recorded ones, in a range of their own.
 */
#define FILE_PFN_BASE (UINT64_C(1) << 31)

/* Allocated and on no list yet, seen on the tape only; not charged. */
#define FOLIO_fresh (1u << 30)
/* A zap has unmapped it, its batch is not complete; folio.index is the number of the task. */
#define FOLIO_gathered (1u << 29)

/* What a run remembers of a task. */
struct run_task {
	bool skip_adds; /* the recorded miss did not happen here: neither do its adds */
	struct mmu_gather *gather; /* a zap in progress, NULL before the first */
};

/*
 * How long a readahead's folios stay locked after it was submitted, unless somebody reads them before:
 * a guess, because no event tells when a device is done.
 */
#define READ_NS (5 * UINT64_C(1000000))

/* A folio whose read was submitted; named by its place, for the folio may go before. */
struct submitted_read {
	uint64_t done_ns;
	uint64_t index;
	uint32_t file;
};

struct replay {
	struct world *world;
	struct machine machine;
	const struct tape_event *event;
	struct run_task *task; /* by the world's task number */
	uint64_t room_tasks;
	uint64_t accesses;
	uint64_t nr_stimuli, nr_inferred; /* the second are part of the first */
	uint64_t inferred[NR_INFER_RULES];
	struct mem_cgroup *limited; /* NULL: none */
	struct submitted_read *reading; /* ring, in the order they will be done */
	uint64_t first_reading, nr_reading, room_reading; /* the last a power of two */
	struct future *future; /* NULL: the policy does not ask for it */
	struct future_range range; /* what the event touches, */
	uint32_t touch; /* from this number on */
	bool failed;
};

struct replay *replay_open(struct world *world, const struct policy_choice *choice,
			   int64_t memory_pages)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->world = world;
	if (machine_init(&replay->machine, world, choice, false)) {
		free(replay);
		return NULL;
	}
	if (world->limited_memcg != WORLD_ROOT) {
		replay->limited = machine_memcg(&replay->machine, world->limited_memcg);
		if (memory_pages != REPLAY_MEMORY_RECORDED)
			replay->limited->max_pages = memory_pages;
	}
	return replay;
}

void replay_foretell(struct replay *replay, struct future *future)
{
	if (replay->machine.mm.policy->next_use)
		replay->future = future;
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	for (uint64_t i = 0; i < replay->room_tasks; i++)
		free(replay->task[i].gather);
	free(replay->task);
	free(replay->reading);
	machine_exit(&replay->machine);
	free(replay);
}

int replay_log_adds(struct replay *replay, uint64_t limit)
{
	replay->machine.mm.lru_add_log = lru_add_log_open(limit);
	return replay->machine.mm.lru_add_log ? 0 : -1;
}

bool replay_failed(const struct replay *replay)
{
	return replay->failed || replay->machine.failed || replay->machine.mm.out_of_memory ||
	       replay->world->out_of_memory || (replay->future && future_failed(replay->future));
}

const struct mm *replay_mm(const struct replay *replay)
{
	return &replay->machine.mm;
}

uint64_t replay_accesses(const struct replay *replay)
{
	return replay->accesses;
}

uint64_t replay_stimuli(const struct replay *replay, uint64_t *inferred)
{
	*inferred = replay->nr_inferred;
	return replay->nr_stimuli;
}

uint64_t replay_inferred(const struct replay *replay, enum infer_rule rule)
{
	return replay->inferred[rule];
}

static struct run_task *run_task(struct replay *replay, const struct world_task *task)
{
	if (task->number >= replay->room_tasks) {
		uint64_t room = (uint64_t)task->number * 2 + 64;
		struct run_task *bigger = realloc(replay->task, room * sizeof(*bigger));

		if (!bigger) {
			replay->failed = true;
			return NULL;
		}
		memset(bigger + replay->room_tasks, 0,
		       (room - replay->room_tasks) * sizeof(*bigger));
		replay->task = bigger;
		replay->room_tasks = room;
	}
	return &replay->task[task->number];
}

static unsigned int event_cpu(const struct replay *replay)
{
	unsigned int nr = replay->machine.mm.config.nr_cpus;

	return replay->event->cpu < nr ? replay->event->cpu : nr - 1;
}

static struct mem_cgroup *task_memcg(struct replay *replay, int32_t pid)
{
	struct world_task *task = world_task(replay->world, pid);

	return machine_memcg(&replay->machine, task ? task->memcg : WORLD_ROOT);
}

/* One stimulus; @rule: how it was drawn from other events, NR_INFER_RULES: an event names it. */
static void stimulus(struct replay *replay, enum infer_rule rule)
{
	replay->nr_stimuli++;
	if (rule == NR_INFER_RULES)
		return;
	replay->nr_inferred++;
	replay->inferred[rule]++;
}

static void count(struct mem_cgroup *memcg, enum counter counter, uint64_t n)
{
	lruvec_count(mem_cgroup_lruvec(memcg, 0), counter, n);
}

/* ---- charging */

static void evicted(void *ctx, struct folio *folio, uint64_t shadow)
{
	struct replay *replay = ctx;

	machine_evicted(&replay->machine, folio, shadow);
}

static void return_stock(struct lru_cpu *cpu)
{
	if (cpu->stock_memcg && cpu->stock_pages)
		mm_charge(cpu->stock_memcg, -cpu->stock_pages);
	cpu->stock_memcg = NULL;
	cpu->stock_pages = 0;
}

/* The lowest memcg from here up that has no room for so many pages, NULL: all have. */
static struct mem_cgroup *over_limit(struct mem_cgroup *memcg, int64_t pages)
{
	for (; memcg; memcg = memcg->parent)
		if (memcg->max_pages != MEMCG_UNLIMITED &&
		    memcg->usage_pages + pages > memcg->max_pages)
			return memcg;
	return NULL;
}

/*
 * Room for a folio that mm_folio_born() will charge: reclaim until its memcg has it.
 * Kernel: mm/memcontrol.c, try_charge_memcg(), v6.18.
 * Differs: one stock per CPU instead of seven; no OOM kill: after the retries the charge is forced.
 */
static void make_room(struct replay *replay, struct mem_cgroup *memcg, int64_t pages)
{
	struct mm *mm = &replay->machine.mm;
	struct lru_cpu *cpu = &mm->cpu[event_cpu(replay)];
	int64_t batch = mm->config.rules.memcg_stock_pages;
	struct mem_cgroup *full;
	bool drained = false;

	if (cpu->stock_memcg == memcg && cpu->stock_pages >= pages) {
		cpu->stock_pages -= pages;
		mm_charge(memcg, -pages); /* the folio's own charge puts them back */
		return;
	}
	if (pages < batch && !over_limit(memcg, batch)) {
		if (cpu->stock_memcg != memcg)
			return_stock(cpu);
		cpu->stock_memcg = memcg;
		cpu->stock_pages += batch - pages;
		mm_charge(memcg, batch - pages);
		if (cpu->stock_pages > batch)
			return_stock(cpu);
		return;
	}
	for (int retry = 0; (full = over_limit(memcg, pages)) && retry < CHARGE_RETRIES; retry++) {
		int64_t lacking = full->usage_pages + pages - full->max_pages;
		int64_t goal = mm->policy->exact ? lacking : pages;

		reclaim_run(mm, full, (uint64_t)goal, false, event_cpu(replay), evicted, replay);
		if (over_limit(memcg, pages) && !drained) {
			for (unsigned int i = 0; i < mm->config.nr_cpus; i++)
				return_stock(&mm->cpu[i]);
			drained = true;
		}
	}
}

/* The limited memcg's overhead as it is known now: see INFER_overhead_at_reclaim. */
static void follow_overhead(struct replay *replay)
{
	int64_t overhead;

	if (!replay->limited)
		return;
	overhead = replay->world->memcg[replay->world->limited_memcg].overhead_pages;
	if (overhead == replay->limited->overhead_pages)
		return;
	overhead -= replay->limited->overhead_pages;
	if (overhead > 0)
		make_room(replay, replay->limited, overhead);
	mm_charge(replay->limited, overhead);
	replay->limited->overhead_pages += overhead;
}

/* ---- file folios */

/* A descriptor for a file folio: near its recorded frame if that is free here. */
static uint64_t file_pfn(struct replay *replay, uint64_t recorded)
{
	uint64_t pfn = FILE_PFN_BASE + recorded;
	struct folio *folio;

	if (recorded < FILE_PFN_BASE / 2) {
		folio = memmap_folio(&replay->machine.mm.memmap, pfn);
		if (folio && !folio_test(folio, FOLIO_alive))
			return pfn;
	}
	return memmap_take_dense(&replay->machine.mm.memmap);
}

/* A policy that knows the future is told when a folio is used next, after this event. */
static void foretell(struct replay *replay, struct folio *folio, uint32_t file, uint64_t index)
{
	const struct world_file *where = &replay->world->file[file];
	uint64_t at = index - replay->range.first;
	uint32_t from = replay->touch + (uint32_t)replay->range.nr, next = FOLIO_NEVER_USED;

	if (!replay->future)
		return;
	if (!folio->order && at < replay->range.nr &&
	    replay->event->kind != EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE) {
		next = future_after(replay->future, replay->touch + (uint32_t)at);
	} else {
		for (uint64_t i = 0; i < folio_nr_pages(folio); i++) {
			uint32_t use = future_next_use(replay->future, where->dev, where->ino,
						       index + i, from, replay->touch);

			next = use < next ? use : next;
		}
	}
	replay->machine.mm.policy->next_use(&replay->machine.mm, folio, next);
}

static struct folio *bring_in(struct replay *replay, uint32_t file, uint64_t index, uint8_t order,
			      uint64_t recorded_pfn, bool for_write)
{
	struct mem_cgroup *memcg = task_memcg(replay, replay->event->pid);
	struct folio *folio;

	make_room(replay, memcg, INT64_C(1) << order);
	folio = mm_folio_born(&replay->machine.mm, file_pfn(replay, recorded_pfn), memcg, order);
	if (!folio) {
		replay->failed = true;
		return NULL;
	}
	foretell(replay, folio, file, index);
	machine_add_file_folio(&replay->machine, folio, file, index, event_cpu(replay), for_write);
	return folio;
}

static bool any_present(struct replay *replay, uint32_t file, uint64_t index, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		if (page_cache_folio(&replay->machine.cache, file, index + i))
			return true;
	return false;
}

static void add_recorded(struct replay *replay, const struct world_task *task, uint32_t file,
			 uint64_t index, uint8_t order, uint64_t pfn)
{
	uint64_t nr = UINT64_C(1) << order;
	bool demanded = future_add_is_demanded(task, file, index, nr);
	struct folio *folio = bring_in(replay, file, index, order, pfn,
				       world_added_for_write(replay->world, task, file, index));

	if (!folio)
		return;
	machine_lock_new(&replay->machine, task, folio);
	count(folio->lruvec->memcg, demanded ? COUNT_misses : COUNT_readahead, nr);
	if (demanded)
		folio_set(folio, FOLIO_demanded);
}

static void file_folio_added(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? run_task(replay, task) : NULL;
	uint64_t order = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER];
	uint64_t index = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX];
	uint64_t pfn = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN];
	uint32_t file = world_file(replay->world, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO]);

	if (order == TAPE_VALUE_ABSENT)
		order = 0;
	if (!mine || mine->skip_adds || order > FOLIO_ORDER_LIMIT)
		return;
	stimulus(replay, NR_INFER_RULES);
	if (!any_present(replay, file, index, UINT64_C(1) << order)) {
		add_recorded(replay, task, file, index, (uint8_t)order, pfn);
		return;
	}
	for (uint64_t i = 0; i >> order == 0; i++)
		if (!page_cache_folio(&replay->machine.cache, file, index + i))
			add_recorded(replay, task, file, index + i, 0, pfn + i);
}

/* A recorded miss: its adds happen here only if the page is missing here too. */
static void miss_recorded(struct replay *replay, uint64_t dev, uint64_t ino, uint64_t index)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? run_task(replay, task) : NULL;

	if (mine)
		mine->skip_adds = page_cache_folio(&replay->machine.cache,
						   world_file(replay->world, dev, ino), index);
}

static void may_add_again(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? run_task(replay, task) : NULL;

	if (mine)
		mine->skip_adds = false;
}

/* @mark: the kernel marks the folio accessed; a yardstick is told of every access. */
static void access_folio(struct replay *replay, struct folio *folio, bool mark)
{
	const struct reclaim_policy *policy = replay->machine.mm.policy;

	folio_clear(folio, PG_locked); /* who reads a page waits for it */
	replay->accesses++;
	stimulus(replay, NR_INFER_RULES);
	count(folio->lruvec->memcg, COUNT_accesses, 1);
	if (!folio_test(folio, FOLIO_demanded))
		count(folio->lruvec->memcg, COUNT_hits, 1);
	foretell(replay, folio, folio->file, folio->index);
	if (mark || policy->exact)
		policy->folio_accessed(&replay->machine.mm, event_cpu(replay), folio);
	folio_clear(folio, FOLIO_demanded);
}

/* Neither a folio nor a shadow: the recorded kernel had it before the tape, and so it is here. */
static void read_of_older(struct replay *replay)
{
	struct mem_cgroup *memcg = task_memcg(replay, replay->event->pid);

	replay->accesses++;
	stimulus(replay, INFER_read_of_older);
	count(memcg, COUNT_accesses, 1);
	count(memcg, COUNT_hits, 1);
}

/* Kernel: mm/filemap.c, filemap_read(), v6.18: which folios of a read are marked. */
static void pages_read(struct replay *replay, uint64_t read_end)
{
	const uint64_t *v = replay->event->value;
	uint32_t file = world_file(replay->world, v[MM_FILEMAP_GET_PAGES_S_DEV],
				   v[MM_FILEMAP_GET_PAGES_I_INO]);
	struct world_reader *reader = world_reader(replay->world, replay->event->pid, file);
	uint64_t page = v[MM_FILEMAP_GET_PAGES_INDEX];
	bool first = true;

	if (!reader)
		return;
	while (page <= read_end) {
		struct folio *folio = page_cache_folio(&replay->machine.cache, file, page);
		uint64_t next;

		if (!folio) {
			if (page >= replay->world->file[file].seen_pages)
				return; /* asked for, but most likely behind the file's end */
			if (replay->world->adds_seen &&
			    !page_cache_slot(&replay->machine.cache, file, page)) {
				read_of_older(replay);
				first = false;
				page++;
				continue;
			}
			folio = bring_in(replay, file, page, 0, 0, false);
			if (!folio)
				return;
			stimulus(replay, INFER_readahead_modelled);
			count(folio->lruvec->memcg, COUNT_misses, 1);
			folio_set(folio, FOLIO_demanded);
		}
		next = folio->index + folio_nr_pages(folio);
		access_folio(replay, folio,
			     !(first && reader->prev_page >= folio->index &&
			       reader->prev_page < next));
		first = false;
		if (next <= page)
			return;
		page = next;
	}
}

/* A request of an imported access stream: each one is an access, of one page. */
static void page_requested(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	uint64_t nr = v[PAGE_REQUEST_SIZE];
	uint32_t file = world_file(replay->world, 0, 0);

	if (nr == TAPE_VALUE_ABSENT || !nr || nr > REQUEST_PAGES_LIMIT)
		nr = 1;
	for (uint64_t i = 0; i < nr; i++) {
		struct folio *folio = page_cache_folio(&replay->machine.cache, file,
						       v[PAGE_REQUEST_ID] + i);

		if (!folio) {
			folio = bring_in(replay, file, v[PAGE_REQUEST_ID] + i, 0, 0, false);
			if (!folio)
				return;
			count(folio->lruvec->memcg, COUNT_misses, 1);
			folio_set(folio, FOLIO_demanded);
		}
		access_folio(replay, folio, true);
	}
}

/* Reclaim's deletions are verdicts and stay out; the others are what the workload did. */
static void file_folio_deleted(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	uint32_t file = world_file(replay->world, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO]);
	uint64_t index = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX];
	uint64_t order = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER];
	struct mm *mm = &replay->machine.mm;
	bool foreign;

	if (!task || task->in_reclaim)
		return;
	if (order == TAPE_VALUE_ABSENT || order > FOLIO_ORDER_LIMIT)
		order = 0;
	foreign = world_task_is_kdamond(task);
	stimulus(replay, foreign ? INFER_eviction_by_kdamond : NR_INFER_RULES);
	for (uint64_t i = 0; i >> order == 0; i++) {
		struct folio *folio = page_cache_folio(&replay->machine.cache, file, index + i);

		if (!folio) {
			/* Truncation takes the shadows along, eviction leaves them. */
			if (!foreign)
				page_cache_store(&replay->machine.cache, file, index + i, 1, 0);
			continue;
		}
		count(folio->lruvec->memcg, foreign ? COUNT_foreign_evictions : COUNT_truncated,
		      folio_nr_pages(folio));
		if (foreign)
			machine_evicted(&replay->machine, folio,
					shadow_pack(mm->policy->evict(mm, folio, NULL)));
		machine_forget(&replay->machine, folio);
	}
}

/* ---- reads in flight */

static void read_done(struct replay *replay, const struct submitted_read *read)
{
	struct folio *folio = page_cache_folio(&replay->machine.cache, read->file, read->index);

	if (folio)
		folio_clear(folio, PG_locked);
}

static void reads_done(struct replay *replay)
{
	while (replay->nr_reading) {
		const struct submitted_read *read =
			&replay->reading[replay->first_reading & (replay->room_reading - 1)];

		if (read->done_ns > replay->event->timestamp_ns)
			return;
		read_done(replay, read);
		replay->first_reading++;
		replay->nr_reading--;
	}
}

static void grow_reading(struct replay *replay)
{
	uint64_t room = replay->room_reading ? replay->room_reading * 2 : 1024;
	struct submitted_read *bigger = malloc(room * sizeof(*bigger));

	if (!bigger) {
		replay->failed = true;
		return;
	}
	for (uint64_t i = 0; i < replay->nr_reading; i++)
		bigger[i] =
			replay->reading[(replay->first_reading + i) & (replay->room_reading - 1)];
	free(replay->reading);
	replay->reading = bigger;
	replay->room_reading = room;
	replay->first_reading = 0;
}

/* The task is past adding: its window goes to the device. */
static void reads_submitted(struct replay *replay, const struct world_task *task)
{
	struct folio **folio;
	uint32_t nr = machine_take_new(&replay->machine, task, &folio);

	for (uint32_t i = 0; i < nr; i++) {
		if (replay->nr_reading == replay->room_reading)
			grow_reading(replay);
		if (replay->failed)
			return;
		replay->reading[(replay->first_reading + replay->nr_reading++) &
				(replay->room_reading - 1)] = (struct submitted_read){
			.done_ns = replay->event->timestamp_ns + READ_NS,
			.file = folio[i]->file,
			.index = folio[i]->index,
		};
	}
}

/* ---- anon folios */

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

static void page_allocated(struct replay *replay)
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
 * The kernel put a folio on a list: for an anon one that is the first sign that it is one. Only
 * that it came is taken, not where it went or when its batch drained.
 */
static void lru_inserted(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct mm *mm = &replay->machine.mm;
	uint64_t pfn = v[MM_LRU_INSERTION_PFN];
	struct mem_cgroup *memcg;
	struct folio *folio;
	uint8_t order = 0;

	if (!(v[MM_LRU_INSERTION_FLAGS] & INSERTION_ANON) || pfn >= FILE_PFN_BASE)
		return;
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
		memcg = task_memcg(replay, replay->event->pid);
	}
	stimulus(replay, INFER_anon_added_at_insertion);
	make_room(replay, memcg, INT64_C(1) << order);
	folio = mm_folio_born(mm, pfn, memcg, order);
	if (!folio) {
		replay->failed = true;
		return;
	}
	if (v[MM_LRU_INSERTION_FLAGS] & INSERTION_SWAPBACKED)
		folio_set(folio, PG_swapbacked);
	count(memcg, COUNT_anon_alloc, folio_nr_pages(folio));
	folio_add_lru_vma(mm, event_cpu(replay), folio);
}

static void page_freed(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? run_task(replay, task) : NULL;
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
	if (!mine->gather) {
		mine->gather = calloc(1, sizeof(*mine->gather));
		if (!mine->gather) {
			replay->failed = true;
			return;
		}
	}
	stimulus(replay, INFER_zap_batches);
	count(folio->lruvec->memcg, COUNT_anon_free, folio_nr_pages(folio));
	folio_set(folio, FOLIO_gathered);
	folio->index = task->number;
	mmu_gather_free(&replay->machine.mm, event_cpu(replay), mine->gather, folio);
}

/* A task that allocates or reads is not in the middle of a zap any more. */
static void zap_over(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? run_task(replay, task) : NULL;

	if (mine && mine->gather)
		mmu_gather_finish(&replay->machine.mm, mine->gather);
}

void replay_event(struct replay *replay, const struct tape_event *event, uint64_t read_end)
{
	const uint64_t *v = event->value;

	replay->event = event;
	reads_done(replay);
	if (replay->future)
		replay->range = future_range(event, read_end);
	if (event_ends_readahead(event)) {
		struct world_task *task = world_task(replay->world, event->pid);

		if (task)
			reads_submitted(replay, task);
	}
	switch (event->kind) {
	case EVENT_MM_FILEMAP_GET_PAGES:
		zap_over(replay);
		pages_read(replay, read_end);
		may_add_again(replay);
		break;
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		file_folio_added(replay);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		file_folio_deleted(replay);
		break;
	case EVENT_PAGE_CACHE_SYNC_RA:
		miss_recorded(replay, v[PAGE_CACHE_SYNC_RA_S_DEV], v[PAGE_CACHE_SYNC_RA_I_INO],
			      v[PAGE_CACHE_SYNC_RA_INDEX]);
		break;
	case EVENT_MM_FILEMAP_FAULT:
		zap_over(replay);
		miss_recorded(replay, v[MM_FILEMAP_FAULT_S_DEV], v[MM_FILEMAP_FAULT_I_INO],
			      v[MM_FILEMAP_FAULT_INDEX]);
		break;
	case EVENT_PAGE_CACHE_ASYNC_RA:
		may_add_again(replay);
		break;
	case EVENT_MM_PAGE_ALLOC:
		zap_over(replay);
		page_allocated(replay);
		break;
	case EVENT_MM_LRU_INSERTION:
		lru_inserted(replay);
		break;
	case EVENT_MM_PAGE_FREE:
		page_freed(replay);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN:
		follow_overhead(replay);
		break;
	case EVENT_PAGE_REQUEST:
		page_requested(replay);
		break;
	case EVENT_CGROUP_RMDIR:
		machine_memcg_removed(&replay->machine, event);
		break;
	case EVENT_MEMCG_FLUSH_STATS:
	case EVENT_CGROUP_RSTAT_LOCKED:
		machine_flush(&replay->machine, event);
		break;
	default:
		break;
	}
	replay->touch += (uint32_t)replay->range.nr;
}

void replay_finish(struct replay *replay)
{
	struct mm *mm = &replay->machine.mm;

	for (uint64_t i = 0; i < replay->room_tasks; i++)
		if (replay->task[i].gather)
			mmu_gather_finish(mm, replay->task[i].gather);
	for (unsigned int cpu = 0; cpu < mm->config.nr_cpus; cpu++)
		lru_add_drain(mm, cpu, DRAIN_end);
	/* The batches are the machine's; the figure stands with what the run is about. */
	count(replay->limited ? replay->limited : mm->root, COUNT_batch_pages_max,
	      (uint64_t)mm->batch_pages_max);
}
