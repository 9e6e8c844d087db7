// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine/state.h"

#define MMAP_LOTSAMISS 100
#define AROUND_PAGES_LIMIT 2048 /* of one window */
#define REQUEST_PAGES_LIMIT 1024 /* of one request; greater sizes are bytes of an object store */

/*
 * A descriptor for a file folio: where additions are to be measured, near its recorded frame if that is free
 * here. Elsewhere side by side: recorded frames lie all over the machine's memory, a page of descriptors for each.
 */
uint64_t replay_pfn(struct replay *replay, uint64_t recorded)
{
	uint64_t pfn = FILE_PFN_BASE + recorded;
	struct folio *folio;

	if (replay->machine.mm.lru_add_log && recorded < FILE_PFN_BASE / 2) {
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

struct folio *replay_bring_in_for(struct replay *replay, struct mem_cgroup *memcg, uint32_t file,
				  uint64_t index, uint8_t order, uint64_t recorded_pfn,
				  bool for_write)
{
	const struct world_task *task = world_task(replay->world, replay->event->pid);
	struct folio *folio;

	replay_make_room(replay, memcg, INT64_C(1) << order);
	folio = mm_folio_born(&replay->machine.mm, replay_pfn(replay, recorded_pfn), memcg, order);
	if (!folio) {
		replay->failed = true;
		return NULL;
	}
	page_tables_forget(replay->mapped.tables, folio);
	foretell(replay, folio, file, index);
	if (task && task->fault.goes_on)
		folio_set(folio, FOLIO_in_fault);
	machine_add_file_folio(&replay->machine, folio, file, index, replay_cpu(replay), for_write);
	return folio;
}

struct folio *replay_bring_in(struct replay *replay, uint32_t file, uint64_t index, uint8_t order,
			      uint64_t recorded_pfn, bool for_write)
{
	struct mem_cgroup *memcg = replay_task_memcg(replay, replay->event->pid);

	return replay_bring_in_for(replay, memcg, file, index, order, recorded_pfn, for_write);
}

bool replay_any_present(struct replay *replay, uint32_t file, uint64_t index, uint64_t nr)
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
	struct folio *folio = replay_bring_in(replay, file, index, order, pfn,
					      world_added_for_write(replay->world, task, file,
								    index));

	if (!folio)
		return;
	if (world_is_buffer(replay->world, task, file, index)) {
		replay_stimulus(replay, INFER_buffer_made);
		machine_made_for_buffer(&replay->machine, folio, replay_cpu(replay));
	}
	machine_lock_new(&replay->machine, task, folio);
	replay_count(folio->lruvec->memcg, demanded ? COUNT_misses : COUNT_readahead, nr);
	if (demanded)
		folio_set(folio, FOLIO_demanded);
}

void replay_folio_added(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;
	uint64_t order = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER];
	uint64_t index = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX];
	uint64_t pfn = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN];
	uint32_t file = world_file(replay->world, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO]);

	if (order == TAPE_VALUE_ABSENT)
		order = 0;
	if (!mine || mine->skip_adds || order > FOLIO_ORDER_LIMIT)
		return;
	replay_stimulus(replay, NR_INFER_RULES);
	if (!replay_any_present(replay, file, index, UINT64_C(1) << order)) {
		add_recorded(replay, task, file, index, (uint8_t)order, pfn);
		return;
	}
	for (uint64_t i = 0; i >> order == 0; i++)
		if (!page_cache_folio(&replay->machine.cache, file, index + i))
			add_recorded(replay, task, file, index + i, 0, pfn + i);
}

void replay_miss_recorded(struct replay *replay, uint64_t dev, uint64_t ino, uint64_t index)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;

	if (mine)
		mine->skip_adds = page_cache_folio(&replay->machine.cache,
						   world_file(replay->world, dev, ino), index);
}

void replay_may_add_again(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;

	if (mine)
		mine->skip_adds = false;
}

/* @mark: the kernel marks the folio accessed; a yardstick is told of every access. */
static void access_folio(struct replay *replay, struct folio *folio, bool mark)
{
	const struct reclaim_policy *policy = replay->machine.mm.policy;

	folio_clear(folio, PG_locked); /* who reads a page waits for it */
	/* The same bit as the readahead marker's, for which a read takes it. */
	if (!folio_test(folio, PG_writeback))
		folio_clear(folio, PG_reclaim);
	replay->accesses++;
	replay_stimulus(replay, NR_INFER_RULES);
	replay_count(folio->lruvec->memcg, COUNT_accesses, 1);
	if (!folio_test(folio, FOLIO_demanded))
		replay_count(folio->lruvec->memcg, COUNT_hits, 1);
	foretell(replay, folio, folio->file, folio->index);
	if (mark || policy->exact)
		policy->folio_accessed(&replay->machine.mm, replay_cpu(replay), folio);
	folio_clear(folio, FOLIO_demanded);
}

/* Misses of a file's faults, less the pages that others of them found. NULL without memory. */
static uint32_t *mmap_miss(struct replay *replay, uint32_t file)
{
	struct run_mapped *mapped = &replay->mapped;

	if (!machine_has_room(&replay->machine, (void **)&mapped->mmap_miss,
			      &mapped->room_mmap_miss, file, sizeof(*mapped->mmap_miss)))
		return NULL;
	return &mapped->mmap_miss[file];
}

static void major_fault(struct replay *replay, struct mem_cgroup *memcg, uint32_t file)
{
	uint32_t *miss = mmap_miss(replay, file);

	replay_count(memcg, COUNT_pgmajfault, 1);
	if (miss && *miss < MMAP_LOTSAMISS * 10)
		++*miss;
}

static void note_mmap_hits(struct replay *replay, uint32_t file, uint32_t nr)
{
	uint32_t *miss = mmap_miss(replay, file);

	if (miss)
		*miss -= *miss < nr ? *miss : nr;
}

/* Pages that a fault on an executable page may read at once, 0: it is on no executable mapping, for all we know. */
static uint64_t executable_pages(const struct replay *replay, uint32_t file, uint64_t index)
{
	const struct world *world = replay->world;

	if (!replay->machine.mm.config.rules.fault_reads_executable ||
	    executable_page(world, file, index) != EXECUTABLE)
		return 0;
	return executable_end(world, file, index) - index;
}

/*
 * A fault needs a page that is not here, and no recorded window or add brings it.
 * Kernel: mm/filemap.c, do_sync_mmap_readahead(), v6.18.
 * Differs: one struct file for all who map a file; MADV_RANDOM and MADV_SEQUENTIAL are not told apart.
 */
static struct folio *read_around(struct replay *replay, struct mem_cgroup *memcg, uint32_t file,
				 uint64_t index)
{
	const struct world_file *where = &replay->world->file[file];
	struct file_ra_state ra = {
		.ra_pages = where->ra_pages == UINT32_MAX ? READAHEAD_PRESET_PAGES :
							    where->ra_pages,
		.max_order = where->max_order,
	};
	struct readahead_window window = { index, 1, READAHEAD_NO_PAGE, .plain = true };
	const uint32_t *miss = mmap_miss(replay, file);
	uint64_t executable = executable_pages(replay, file, index);

	if (!miss || *miss > MMAP_LOTSAMISS || !replay->world->readahead_seen)
		; /* the page alone */
	else if (executable)
		readahead_executable(&ra, index, executable, &window);
	else
		readahead_around(&ra, index, &window);
	replay_bring_window(replay, memcg, file, &window, index, index);
	return page_cache_folio(&replay->machine.cache, file, index);
}

void replay_window_of_fault(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	const struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;
	const struct readahead_window window = {
		.start = v[PAGE_CACHE_RA_ORDER_INDEX],
		.size = v[PAGE_CACHE_RA_ORDER_SIZE],
		.mark = READAHEAD_NO_PAGE,
	};

	if (!mine || !mine->fault_file || mine->skip_adds || !window.size ||
	    window.size > AROUND_PAGES_LIMIT || v[PAGE_CACHE_RA_ORDER_ORDER])
		return;
	/* What of it the recorded kernel had already has no add on the tape. */
	replay_bring_window(replay, machine_memcg(&replay->machine, task->memcg), mine->fault_file,
			    &window, mine->fault_index, mine->fault_index);
}

/* @copies: what is mapped is a copy of the page. */
static void touch_mapped_file(struct replay *replay, uint32_t file, uint64_t index,
			      struct mem_cgroup *memcg, bool copies)
{
	struct folio *folio = page_cache_folio(&replay->machine.cache, file, index);

	replay->accesses++;
	replay_count(memcg, COUNT_accesses, 1);
	if (folio) {
		if (!folio_test(folio, FOLIO_demanded))
			replay_count(memcg, COUNT_hits, 1);
	} else {
		folio = read_around(replay, memcg, file, index);
		if (!folio)
			return;
		replay_stimulus(replay, INFER_fault_modelled);
	}
	folio_clear(folio, FOLIO_demanded | PG_locked);
	if (copies)
		return;
	replay_look_begins(replay, folio);
	replay_set_mapped(folio);
	replay_mapped(replay, folio);
}

void replay_touch_mapped_file(struct replay *replay, uint32_t file, uint64_t index,
			      struct mem_cgroup *memcg)
{
	touch_mapped_file(replay, file, index, memcg, false);
}

/* Fault-around finds this folio, NULL: none. Return: its page counts as a hit. */
static bool map_around(struct replay *replay, struct folio *folio)
{
	if (!folio || folio_test(folio, PG_readahead))
		return false;
	if (executable_is_copied(replay->world, folio->file, folio->index))
		return !folio_test(folio, PG_workingset); /* there is a copy, or soon will be */
	if (!folio_test(folio, FOLIO_mapped)) {
		replay_look_begins(replay, folio);
		replay_set_mapped(folio);
	}
	replay_mapped(replay, folio);
	return !folio_test(folio, PG_workingset);
}

void replay_touch_unseen(struct replay *replay, uint32_t file, uint64_t index,
			 struct mem_cgroup *memcg)
{
	uint64_t first = index & ~(uint64_t)(FAULT_AROUND_PAGES - 1);
	uint32_t hits = 0;

	for (uint64_t i = first; i < first + FAULT_AROUND_PAGES; i++) {
		struct folio *folio = page_cache_folio(&replay->machine.cache, file, i);

		if (!folio || !folio_test(folio, PG_locked))
			hits += map_around(replay, folio);
	}
	note_mmap_hits(replay, file, hits);
	if (!page_cache_folio(&replay->machine.cache, file, index))
		major_fault(replay, memcg, file);
	replay_touch_mapped_file(replay, file, index, memcg);
}

/* Return: it is in memory, or was in the file's time here, so that it can be read again. */
static bool can_touch(struct replay *replay, uint32_t file, uint64_t index)
{
	return page_cache_slot(&replay->machine.cache, file, index);
}

/* A page that has never been in memory here either, as far as the run knows, was before the tape: not counted. */
static void count_major(struct replay *replay, const struct world_task *task, struct run_task *mine)
{
	if (!mine->fault_is_major || mine->fault_is_counted ||
	    !can_touch(replay, mine->fault_file, mine->fault_index))
		return;
	mine->fault_is_counted = true;
	major_fault(replay, machine_memcg(&replay->machine, task->memcg), mine->fault_file);
}

/*
 * What made the recorded task fault is not so in this run: the page is mapped here. Where it was mapped there
 * as well, another address space faults.
 */
static bool no_fault_here(struct replay *replay, uint32_t file, uint64_t index)
{
	const struct access_facts *facts = replay->mapped.stream.facts;
	const struct world_file *where = &replay->world->file[file];
	struct folio *folio = page_cache_folio(&replay->machine.cache, file, index);

	return facts && folio && folio_test(folio, FOLIO_mapped) &&
	       !facts_was_mapped(facts, where->dev, where->ino, index, replay->event->timestamp_ns);
}

void replay_file_fault(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;
	uint32_t file = world_file(replay->world, v[MM_FILEMAP_FAULT_S_DEV],
				   v[MM_FILEMAP_FAULT_I_INO]);

	if (!mine)
		return;
	/* Else the fault-around before it has not found the page, or it waited for the page and begins anew. */
	if (mine->fault_file != file || mine->fault_index != v[MM_FILEMAP_FAULT_INDEX])
		replay_fault_over(replay);
	else
		count_major(replay, task, mine);
	replay_miss_recorded(replay, v[MM_FILEMAP_FAULT_S_DEV], v[MM_FILEMAP_FAULT_I_INO],
			     v[MM_FILEMAP_FAULT_INDEX]);
	mine->fault_file = file;
	mine->fault_index = v[MM_FILEMAP_FAULT_INDEX];
	mine->fault_copies = task->fault.copies;
	mine->fault_is_counted = false;
	mine->fault_is_major = !page_cache_folio(&replay->machine.cache, file, mine->fault_index);
	count_major(replay, task, mine);
	if (!mine->fault_is_major) {
		if (!no_fault_here(replay, file, mine->fault_index))
			note_mmap_hits(replay, file, 1);
		replay_fault_over(replay);
	}
}

void replay_fault_over(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;
	uint32_t file = mine ? mine->fault_file : 0;

	if (!file)
		return;
	mine->fault_is_major |= !page_cache_folio(&replay->machine.cache, file, mine->fault_index);
	count_major(replay, task, mine);
	mine->fault_file = 0;
	if (!can_touch(replay, file, mine->fault_index))
		return;
	touch_mapped_file(replay, file, mine->fault_index,
			  machine_memcg(&replay->machine, task->memcg), mine->fault_copies);
}

void replay_faulted_around(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	uint32_t file = world_file(replay->world, v[MM_FILEMAP_MAP_PAGES_S_DEV],
				   v[MM_FILEMAP_MAP_PAGES_I_INO]);
	uint64_t first = v[MM_FILEMAP_MAP_PAGES_INDEX], last = v[MM_FILEMAP_MAP_PAGES_LAST_INDEX];
	struct run_task *mine = task ? replay_task(replay, task) : NULL;
	uint64_t demanded = mine ? world_faulted_page(replay->world, task, first, last) :
				   UINT64_MAX;
	bool faults = demanded == UINT64_MAX || !no_fault_here(replay, file, demanded);
	uint32_t hits = 0;

	if (!faults)
		first = last = demanded; /* an access, and nobody looks around it */
	for (uint64_t i = first; i <= last && i - first < MAPPED_PAGES_LIMIT; i++) {
		struct folio *folio = page_cache_folio(&replay->machine.cache, file, i);

		/* What is still being read is passed over; that some of it is, no event tells. */
		if (folio)
			folio_clear(folio, PG_locked);
		if (faults)
			hits += map_around(replay, folio);
		if (i != demanded || !can_touch(replay, file, i))
			continue;
		mine->fault_file = file;
		mine->fault_index = i;
		mine->fault_is_major = mine->fault_is_counted = mine->fault_copies = false;
		if (folio)
			replay_fault_over(replay);
	}
	note_mmap_hits(replay, file, hits);
}

/* Neither a folio nor a shadow: the recorded kernel had it before the tape, and so it is here. */
static void read_of_older(struct replay *replay)
{
	struct mem_cgroup *memcg = replay_task_memcg(replay, replay->event->pid);

	replay->accesses++;
	replay_stimulus(replay, INFER_read_of_older);
	replay_count(memcg, COUNT_accesses, 1);
	replay_count(memcg, COUNT_hits, 1);
}

void replay_pages_read(struct replay *replay, uint64_t read_end)
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
			    !page_cache_slot(&replay->machine.cache, file, page) &&
			    !page_cache_dropped(&replay->machine.cache, file, page)) {
				read_of_older(replay);
				first = false;
				page++;
				continue;
			}
			folio = replay_read_missing(replay, reader, file, page,
						    v[MM_FILEMAP_GET_PAGES_LAST_INDEX]);
			if (!folio)
				return;
		}
		if (folio_test(folio, PG_readahead))
			replay_read_marker(replay, reader, folio,
					   v[MM_FILEMAP_GET_PAGES_LAST_INDEX]);
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

void replay_buffer_touched(struct replay *replay)
{
	uint64_t index = world_touched_page(replay->event);
	uint32_t file = world_touched_file(replay->world, replay->event);
	struct folio *folio = file ? page_cache_folio(&replay->machine.cache, file, index) : NULL;

	/* One of before the tape is held by it still; one that this run has taken away is made anew. */
	if (!file || (!folio && !page_cache_slot(&replay->machine.cache, file, index)))
		return;
	if (!folio) {
		folio = replay_bring_in(replay, file, index, 0, 0, false);
		if (!folio)
			return;
		machine_made_for_buffer(&replay->machine, folio, replay_cpu(replay));
		replay_count(folio->lruvec->memcg, COUNT_misses, 1);
		folio_set(folio, FOLIO_demanded);
	}
	access_folio(replay, folio, true);
}

void replay_page_requested(struct replay *replay)
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
			folio = replay_bring_in(replay, file, v[PAGE_REQUEST_ID] + i, 0, 0, false);
			if (!folio)
				return;
			replay_count(folio->lruvec->memcg, COUNT_misses, 1);
			folio_set(folio, FOLIO_demanded);
		}
		access_folio(replay, folio, true);
	}
}

void replay_folio_deleted(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	uint32_t file = world_file(replay->world, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO]);
	uint64_t index = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX];
	uint64_t order = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER];
	struct mm *mm = &replay->machine.mm;
	bool foreign;

	if (!task)
		return;
	if (order == TAPE_VALUE_ABSENT || order > FOLIO_ORDER_LIMIT)
		order = 0;
	if (task->in_reclaim) {
		for (uint64_t i = 0; i >> order == 0; i++)
			replay_written_unseen(replay, file, index + i);
		return;
	}
	foreign = world_task_is_kdamond(task);
	replay_stimulus(replay, foreign ? INFER_eviction_by_kdamond : NR_INFER_RULES);
	for (uint64_t i = 0; i >> order == 0; i++) {
		struct folio *folio = page_cache_folio(&replay->machine.cache, file, index + i);

		if (!folio) {
			/* Truncation takes the shadows along, eviction leaves them. */
			if (!foreign)
				page_cache_store(&replay->machine.cache, file, index + i, 1, 0);
			continue;
		}
		replay_count(folio->lruvec->memcg,
			     foreign ? COUNT_foreign_evictions : COUNT_truncated,
			     folio_nr_pages(folio));
		if (foreign)
			machine_evicted(&replay->machine, folio,
					shadow_pack(mm->policy->evict(mm, folio, NULL)));
		machine_forget(&replay->machine, folio);
	}
}
