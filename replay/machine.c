// SPDX-License-Identifier: GPL-2.0-only
#include "replay/machine.h"

#include <stdlib.h>
#include <string.h>

static void set_unseen(struct mem_cgroup *memcg, const struct world_memcg *from)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(memcg, 0);

	for (int i = 0; i < WORLD_LIST_STATS; i++) {
		lruvec->unseen[i] = from->unseen[i];
		lruvec->stat[i] += from->unseen[i];
		mm_charge(memcg, from->unseen[i]);
	}
	memcg->max_pages = from->limit_pages;
	memcg->high_pages = from->high_pages;
	memcg->min_pages = from->min_pages;
	memcg->low_pages = from->low_pages;
	memcg->swap_max_pages = from->swap_limit_pages;
	memcg->memsw_max_pages = from->memsw_limit_pages;
	memcg->swap_pages = memcg->swapped_pages = from->swapped_pages;
	memcg->overhead_pages = from->overhead_pages;
	mm_charge(memcg, from->overhead_pages);
	if (from->swappiness >= 0)
		memcg->swappiness = (uint8_t)(from->swappiness > 200 ? 200 : from->swappiness);
}

bool machine_grow(struct machine *machine, void **array, uint64_t *room, uint64_t number,
		  size_t bytes)
{
	uint64_t more = number * 2 + 64;
	void *bigger = realloc(*array, more * bytes);

	if (!bigger) {
		machine->failed = true;
		return false;
	}
	memset((char *)bigger + *room * bytes, 0, (more - *room) * bytes);
	*array = bigger;
	*room = more;
	return true;
}

bool machine_page_cached(void *ctx, uint64_t index)
{
	const struct machine_pages *pages = ctx;

	return page_cache_folio(pages->cache, pages->file, index);
}

struct mem_cgroup *machine_memcg(struct machine *machine, uint32_t number)
{
	struct world *world = machine->world;
	struct mem_cgroup *parent;

	if (number < machine->room_memcgs && machine->memcg[number])
		return machine->memcg[number];
	if (number >= machine->room_memcgs) {
		uint32_t room = world->room_memcgs;
		struct mem_cgroup **bigger = realloc(machine->memcg,
						     room * sizeof(struct mem_cgroup *));

		if (!bigger) {
			machine->failed = true;
			return machine->mm.root;
		}
		memset(bigger + machine->room_memcgs, 0,
		       (room - machine->room_memcgs) * sizeof(struct mem_cgroup *));
		machine->memcg = bigger;
		machine->room_memcgs = room;
	}
	/* Parents have lower numbers than their children, so this ends at the root. */
	parent = machine_memcg(machine, world->memcg[number].parent);
	machine->memcg[number] = mm_add_memcg(&machine->mm, parent, world->memcg[number].id);
	if (!machine->memcg[number]) {
		machine->failed = true;
		return machine->mm.root;
	}
	set_unseen(machine->memcg[number], &world->memcg[number]);
	return machine->memcg[number];
}

uint32_t machine_number(const struct machine *machine, const struct mem_cgroup *memcg)
{
	for (uint32_t n = 0; n < machine->room_memcgs; n++)
		if (machine->memcg[n] == memcg)
			return n;
	return WORLD_ROOT;
}

/* Check knows in which zone each frame lies; a run's frames are names only. */
static void set_zone_starts(struct mm_config *config, const struct zones *zones)
{
	if (!config->hold_drains || !zones->nr)
		return;
	for (unsigned int i = 0; i < MAX_NR_ZONES; i++)
		config->zone_start_pfn[i] = i < zones->nr && zones->zone[i].managed_pages ?
						    zones->zone[i].start_pfn :
					    i ? UINT64_MAX :
						0;
}

/* A group that was empty when the tape began: what it is charged for besides came later. */
static void forget_later_overhead(struct mem_cgroup *memcg)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(memcg, 0);

	if (lruvec->flushed_own_pages == memcg->overhead_pages)
		lruvec->flushed_own_pages = 0;
}

int machine_init(struct machine *machine, struct world *world, const struct policy_choice *choice,
		 bool hold_drains)
{
	struct mm_config config = {
		.policy = choice->base,
		.rules = choice->rules,
		.nr_nodes = 1,
		.nr_cpus = world->nr_cpus > MM_CPU_LIMIT ? MM_CPU_LIMIT : world->nr_cpus,
		.cgroup_v1 = world->cgroup_v1,
		.swappiness = (uint8_t)world->swappiness,
		.total_swap_pages = world->total_swap_pages,
		.nr_swap_pages = world->nr_swap_pages,
		.flushes_unseen = !world->flushes_seen,
		.hold_drains = hold_drains,
		.min_ttl_ns = world->lru_gen_min_ttl_ms < UINT32_MAX ?
				      world->lru_gen_min_ttl_ms * 1000000 :
				      0,
		.recursive_protection = world->recursive_protection,
	};

	set_zone_starts(&config, &world->zones);
	memset(machine, 0, sizeof(*machine));
	machine->world = world;
	machine->memcg = calloc(world->room_memcgs, sizeof(struct mem_cgroup *));
	if (!machine->memcg)
		return -1;
	machine->room_memcgs = world->room_memcgs;
	if (mm_init(&machine->mm, &config))
		goto err_free_memcgs;
	if (page_cache_init(&machine->cache))
		goto err_exit_mm;
	machine->mm.zones = world->zones;
	machine->mm.page_cache = &machine->cache;
	machine->memcg[WORLD_ROOT] = machine->mm.root;
	machine->mm.root->id = world->memcg[WORLD_ROOT].id;
	set_unseen(machine->mm.root, &world->memcg[WORLD_ROOT]);
	for (uint32_t n = 1; n < world->nr_memcgs; n++)
		machine_memcg(machine, n);
	mem_cgroup_flush_stats(&machine->mm, machine->mm.root);
	for (unsigned int i = 0; i < machine->mm.nr_memcgs; i++)
		forget_later_overhead(machine->mm.memcg[i]);
	if (machine->failed)
		goto err_exit;
	return 0;

err_exit:
	page_cache_exit(&machine->cache);
err_exit_mm:
	mm_exit(&machine->mm);
err_free_memcgs:
	free(machine->memcg);
	return -1;
}

void machine_exit(struct machine *machine)
{
	for (uint64_t i = 0; i < machine->room_pending; i++)
		free(machine->pending[i].folio);
	free(machine->pending);
	page_cache_exit(&machine->cache);
	mm_exit(&machine->mm);
	free(machine->memcg);
	memset(machine, 0, sizeof(*machine));
}

struct mem_cgroup *machine_limit(struct mem_cgroup *memcg)
{
	for (; memcg; memcg = memcg->parent)
		if (memcg->max_pages != MEMCG_UNLIMITED)
			return memcg;
	return NULL;
}

void machine_add_file_folio(struct machine *machine, struct folio *folio, uint32_t file,
			    uint64_t index, unsigned int cpu, bool for_write)
{
	uint64_t nr = folio_nr_pages(folio);
	uint64_t shadow = page_cache_shadow(&machine->cache, file, index, nr);

	folio->file = file;
	folio->index = index;
	/* Nodes that hold swap's shadows are charged to nobody. */
	machine->cache.owner = folio_test(folio, PG_swapbacked) ? machine->mm.root->index :
								  folio->lruvec->memcg->index;
	if (page_cache_store(&machine->cache, file, index, nr, (uint64_t)(uintptr_t)folio))
		machine->failed = true;
	if (shadow && !for_write)
		machine->mm.policy->refault(&machine->mm, folio, shadow_unpack(shadow));
	folio_add_lru(&machine->mm, cpu, folio);
}

void machine_made_for_buffer(struct machine *machine, struct folio *folio, unsigned int cpu)
{
	folio_set(folio, PG_referenced);
	machine->mm.policy->folio_accessed(&machine->mm, cpu, folio);
}

static struct pending_read *pending_of(struct machine *machine, const struct world_task *task)
{
	if (!machine_has_room(machine, (void **)&machine->pending, &machine->room_pending,
			      task->number, sizeof(*machine->pending)))
		return NULL;
	return &machine->pending[task->number];
}

void machine_lock_new(struct machine *machine, const struct world_task *task, struct folio *folio)
{
	struct pending_read *pending;

	/* A writer's folios are unlocked once they are written to, and no event of its own says so. */
	if (!world_in_readahead(task, folio->file, folio->index))
		return;
	pending = pending_of(machine, task);
	if (!pending)
		return;
	if (pending->nr == pending->room) {
		uint32_t room = pending->room ? pending->room * 2 : 64;
		struct folio **bigger = realloc(pending->folio, room * sizeof(struct folio *));

		if (!bigger) {
			machine->failed = true;
			return;
		}
		pending->folio = bigger;
		pending->room = room;
	}
	folio_set(folio, PG_locked);
	pending->folio[pending->nr++] = folio;
}

uint32_t machine_take_new(struct machine *machine, const struct world_task *task,
			  struct folio ***folio)
{
	struct pending_read *pending;
	uint32_t nr;

	if (task->number >= machine->room_pending)
		return 0;
	pending = &machine->pending[task->number];
	*folio = pending->folio;
	nr = pending->nr;
	pending->nr = 0;
	return nr;
}

void machine_reads_submitted(struct machine *machine, const struct world_task *task)
{
	struct folio **folio;
	uint32_t nr = machine_take_new(machine, task, &folio);

	for (uint32_t i = 0; i < nr; i++)
		folio_clear(folio[i], PG_locked);
}

void machine_writeback(struct machine *machine, void (*rotate)(void *ctx, struct folio *folio),
		       void *ctx)
{
	const struct writeback *writeback = &machine->world->writeback;

	for (uint32_t i = 0; i < writeback->written.nr; i++) {
		const struct written_page *page = &writeback->written.page[i];
		struct folio *folio = page_cache_folio(&machine->cache, page->file, page->index);

		if (!folio)
			continue;
		folio_clear(folio, PG_dirty);
		folio_set(folio, PG_writeback);
	}
	for (uint32_t i = 0; i < writeback->ended.nr; i++) {
		const struct written_page *page = &writeback->ended.page[i];
		struct folio *folio = page_cache_folio(&machine->cache, page->file, page->index);

		if (folio && folio_test_clear(folio, PG_writeback) &&
		    folio_test_clear(folio, PG_reclaim) && !folio_test(folio, PG_dirty))
			rotate(ctx, folio);
	}
}

void machine_marker_met(struct machine *machine, const struct tape_event *event)
{
	struct folio *folio = page_cache_folio(&machine->cache,
					       world_file(machine->world,
							  event->value[PAGE_CACHE_ASYNC_RA_S_DEV],
							  event->value[PAGE_CACHE_ASYNC_RA_I_INO]),
					       event->value[PAGE_CACHE_ASYNC_RA_INDEX]);

	if (folio && !folio_test(folio, PG_writeback))
		folio_clear(folio, PG_reclaim);
}

struct folio *machine_dirtied(struct machine *machine, const struct tape_event *event)
{
	struct folio *folio;
	uint64_t dev;

	if (!parse_bdi(tape_event_string(event, WRITEBACK_DIRTY_FOLIO_NAME, NULL), &dev))
		return NULL;
	folio = page_cache_folio(&machine->cache,
				 world_file(machine->world, dev,
					    event->value[WRITEBACK_DIRTY_FOLIO_INO]),
				 event->value[WRITEBACK_DIRTY_FOLIO_INDEX]);
	if (!folio)
		return NULL;
	folio_set(folio, PG_dirty);
	folio_clear(folio, PG_reclaim);
	return folio;
}

/* Only slots that still hold this folio: another may have taken its place by migration. */
static void leave_page_cache(struct machine *machine, const struct folio *folio, uint64_t value)
{
	for (uint64_t i = 0; folio->file && i < folio_nr_pages(folio); i++) {
		uint64_t slot = page_cache_slot(&machine->cache, folio->file, folio->index + i);

		if (slot == (uint64_t)(uintptr_t)folio &&
		    page_cache_store(&machine->cache, folio->file, folio->index + i, 1, value))
			machine->failed = true;
	}
}

void machine_leave_page_cache(struct machine *machine, struct folio *folio)
{
	leave_page_cache(machine, folio, 0);
	folio->file = 0;
}

struct folio *machine_migrate(struct machine *machine, struct folio *folio, uint64_t pfn)
{
	struct mm *mm = &machine->mm;
	struct folio *old = memmap_folio(&mm->memmap, pfn), *moved;

	if (old && folio_test(old, FOLIO_alive))
		machine_forget(machine, old);
	mm_folio_take_off(mm, folio);
	moved = mm_folio_move(mm, folio, pfn);
	if (!moved)
		return NULL;
	for (uint64_t i = 0; moved->file && i < folio_nr_pages(moved); i++)
		if (page_cache_slot(&machine->cache, moved->file, moved->index + i) ==
			    (uint64_t)(uintptr_t)folio &&
		    page_cache_store(&machine->cache, moved->file, moved->index + i, 1,
				     (uint64_t)(uintptr_t)moved))
			machine->failed = true;
	folio_clear(moved,
		    FOLIO_isolated | FOLIO_refaulted | FOLIO_refault_active | FOLIO_in_fault);
	return moved;
}

void machine_forget(struct machine *machine, struct folio *folio)
{
	leave_page_cache(machine, folio, 0);
	mm_folio_forget(&machine->mm, folio);
}

void machine_evicted(struct machine *machine, struct folio *folio, uint64_t shadow)
{
	leave_page_cache(machine, folio, shadow);
}

/* This run may have a folio that the recorded kernel had evicted before it let the inode go. */
static void folio_without_inode(void *ctx, struct folio *folio)
{
	struct machine *machine = ctx;

	if (!folio_test(folio, FOLIO_alive))
		return; /* it has slots in more than one node */
	lruvec_count(folio->lruvec, COUNT_truncated, folio_nr_pages(folio));
	mm_folio_forget(&machine->mm, folio);
}

void machine_inode_evicted(struct machine *machine, const struct tape_event *event)
{
	uint32_t file = world_file(machine->world, event->value[INODE_EVICTED_DEV],
				   event->value[INODE_EVICTED_INO]);

	page_cache_file_gone(&machine->cache, file, machine->world->file[file].seen_pages,
			     folio_without_inode, machine);
	executable_forget(machine->world, file);
}

void machine_swap_out(struct machine *machine, struct folio *folio, uint32_t file, uint64_t index)
{
	leave_page_cache(machine, folio, 0);
	folio->file = file;
	folio->index = index;
	machine->cache.owner = machine->mm.root->index;
	if (file && page_cache_store(&machine->cache, file, index, folio_nr_pages(folio),
				     (uint64_t)(uintptr_t)folio))
		machine->failed = true;
}

bool machine_anon_is_given(struct machine *machine, const struct mem_cgroup *memcg)
{
	return machine->world->anon_pages_given &&
	       memcg == machine_memcg(machine, machine->world->command_memcg);
}

void machine_memcg_removed(struct machine *machine, const struct tape_event *event)
{
	uint32_t number;

	if (event->value[CGROUP_RMDIR_ROOT] != machine->world->memory_hierarchy)
		return;
	number = world_memcg_by_id(machine->world, event->value[CGROUP_RMDIR_ID]);
	if (number != WORLD_ROOT)
		mm_memcg_removed(&machine->mm, machine_memcg(machine, number));
}

bool machine_flushes(const struct machine *machine, const struct tape_event *event, uint32_t *memcg)
{
	uint64_t id;

	if (event->kind == EVENT_CGROUP_RSTAT_LOCKED) {
		if ((int64_t)event->value[CGROUP_RSTAT_LOCKED_CPU] != -1)
			return false;
		id = event->value[CGROUP_RSTAT_LOCKED_ID];
	} else {
		if (!event->value[MEMCG_FLUSH_STATS_FORCE] &&
		    !event->value[MEMCG_FLUSH_STATS_NEEDS_FLUSH])
			return false;
		id = event->value[MEMCG_FLUSH_STATS_ID];
	}
	*memcg = world_memcg_by_id(machine->world, id);
	return true;
}

void machine_flush(struct machine *machine, const struct tape_event *event)
{
	uint32_t memcg;

	if (machine_flushes(machine, event, &memcg))
		mem_cgroup_flush_stats(&machine->mm, machine_memcg(machine, memcg));
}

#define FLUSH_NS UINT64_C(2000000000) /* FLUSH_TIME */

static void take_limits(struct machine *machine)
{
	const struct world *world = machine->world;

	machine->nr_limits_taken = world->limits.nr_changes;
	for (uint32_t n = 1; n < world->nr_memcgs && n < machine->room_memcgs; n++) {
		struct mem_cgroup *memcg = machine->memcg[n];

		if (!memcg || memcg == machine->limit_given)
			continue;
		memcg->max_pages = world->memcg[n].limit_pages;
		memcg->high_pages = world->memcg[n].high_pages;
		memcg->swap_max_pages = world->memcg[n].swap_limit_pages;
		memcg->memsw_max_pages = world->memcg[n].memsw_limit_pages;
	}
}

void machine_time_passes(struct machine *machine, uint64_t now_ns)
{
	machine->mm.now_ns = now_ns;
	if (machine->nr_limits_taken != machine->world->limits.nr_changes)
		take_limits(machine);
	if (machine->world->flushes_seen || now_ns < machine->next_flush_ns)
		return;
	if (machine->next_flush_ns) {
		world_infer(machine->world, INFER_flush_by_time);
		mem_cgroup_flush_stats(&machine->mm, machine->mm.root);
	}
	machine->next_flush_ns = now_ns + FLUSH_NS;
}
