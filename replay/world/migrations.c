// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/migrations.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "replay/mm/mm.h"
#include "replay/world/by_pfn.h"
#include "replay/world/grow.h"
#include "replay/world/world.h"

#define IN_INTERRUPT 0x58 /* of an event's flags: of the hard kind, the soft kind, an NMI */
#define FREES                                                                                      \
	1024 /* of a CPU that are remembered: more than one migrate_pages() moves, a power of two */
#define COMINGS 1024 /* likewise of folios put on lists, a power of two */
#define WAITING_LIMIT 4096 /* old frames whose new ones have not been seen; of more none is found */
#define INSERTION_NOT_FILE 0x1a /* anon, swapcache, swapbacked */
#define GFP_MOVABLE 0x8
#define ORDER_LIMIT 13

/* What is known of a frame: what it must have in common with the one that it goes to. 0: nothing. */
#define FRAME_ON_LIST (UINT32_C(1) << 31)
#define FRAME_TOLD (UINT32_C(1) << 30) /* added or allocated, not on a list yet */
#define FRAME_ANON (UINT32_C(1) << 29)
#define FRAME_ORDER_SHIFT 24
#define FRAME_MEMCG 0xffffff /* low bits of its inode; 0: no event tells */

struct freed_frame {
	uint64_t timestamp_ns;
	uint64_t since_ns;
	uint64_t run; /* in which its new frame comes on a list, or in the next if that */
	bool or_next; /* was one between the free before and this */
	uint32_t pfn, frame;
	int32_t pid;
	uint8_t order;
	bool counted; /* by an mm_migrate_pages */
};

struct coming {
	uint64_t timestamp_ns;
	uint64_t run;
	uint32_t pfn, frame;
};

struct migration_cpu {
	struct freed_frame freed[FREES];
	uint64_t nr_freed;
	struct coming coming[COMINGS]; /* those that nobody has told */
	uint64_t nr_comings, first_coming; /* so far; those before are somebody's */
	uint64_t run; /* number of the last drain, which puts folios on lists one after the other */
	uint64_t run_ns; /* when it began */
	bool in_run;
	struct freed_frame *waiting; /* migrated, in their order */
	uint32_t nr_waiting, room_waiting;
	uint64_t migrated_ns; /* the end of its last migration */
	uint64_t step_ns; /* time of its last free, or end of a migration */
	uint32_t memcg, pages; /* of the list that grew just before; 0: none did */
};

struct migration_pass {
	struct world_migrations *found;
	struct migration_cpu **cpu; /* NULL: none of its events has come */
	uint32_t nr_cpus;
	struct by_pfn frame;
	bool single_frees;
	bool growth_seen;
	bool failed;
};

static unsigned int frame_order(uint32_t frame)
{
	return frame >> FRAME_ORDER_SHIFT & 0x1f;
}

static void add_row(struct migration_pass *pass, const struct freed_frame *from,
		    const struct coming *to)
{
	bool early = to->timestamp_ns < from->timestamp_ns;
	struct world_migrations *found = pass->found;

	if (!grow_by_one((void **)&found->row, found->nr, &found->room, sizeof(*found->row))) {
		pass->failed = true;
		return;
	}
	found->row[found->nr++] = (struct migration){
		.since_ns = from->since_ns,
		.timestamp_ns = early ? to->timestamp_ns : from->timestamp_ns,
		.pfn = early ? to->pfn : from->pfn,
		.from = from->pfn,
		.to = to->pfn,
	};
}

static bool alike(uint32_t from, uint32_t to)
{
	return !((from ^ to) & ~(FRAME_ON_LIST | FRAME_TOLD));
}

/* A drain empties the whole batch. The new frame of one that waits for it, NULL: not seen so far. */
static const struct coming *new_frame_of(struct migration_cpu *cpu, const struct freed_frame *old)
{
	uint64_t first = cpu->first_coming;

	if (cpu->nr_comings - first > COMINGS)
		first = cpu->nr_comings - COMINGS;
	for (uint64_t i = first; i < cpu->nr_comings; i++) {
		const struct coming *coming = &cpu->coming[i & (COMINGS - 1)];

		if (coming->run < old->run || !alike(old->frame, coming->frame))
			continue;
		if (coming->run > old->run + old->or_next)
			return NULL;
		cpu->first_coming = i + 1;
		return coming;
	}
	return NULL;
}

static void pair_up(struct migration_pass *pass, struct migration_cpu *cpu)
{
	uint32_t done = 0;

	for (; done < cpu->nr_waiting; done++) {
		const struct freed_frame *old = &cpu->waiting[done];
		const struct coming *coming = new_frame_of(cpu, old);

		if (coming)
			add_row(pass, old, coming);
		else if (cpu->run <= old->run + old->or_next)
			break; /* it is yet to come */
	}
	cpu->nr_waiting -= done;
	if (done)
		memmove(cpu->waiting, cpu->waiting + done, cpu->nr_waiting * sizeof(*cpu->waiting));
}

static void wait_for_new(struct migration_pass *pass, struct migration_cpu *cpu,
			 const struct freed_frame *old)
{
	if (cpu->nr_waiting == WAITING_LIMIT)
		cpu->nr_waiting = 0;
	if (grow_by_one((void **)&cpu->waiting, cpu->nr_waiting, &cpu->room_waiting,
			sizeof(*cpu->waiting)))
		cpu->waiting[cpu->nr_waiting++] = *old;
	else
		pass->failed = true;
}

static void page_freed(struct migration_pass *pass, struct migration_cpu *cpu,
		       const struct tape_event *event)
{
	uint64_t pfn = event->value[MM_PAGE_FREE_PFN], order = event->value[MM_PAGE_FREE_ORDER];
	uint32_t *frame = pfn < MEMMAP_PFN_LIMIT ? by_pfn_find(&pass->frame, pfn) : NULL;

	if (pfn >= MEMMAP_PFN_LIMIT || order > ORDER_LIMIT)
		return;
	if (!(event->flags & IN_INTERRUPT))
		cpu->freed[cpu->nr_freed++ & (FREES - 1)] = (struct freed_frame){
			.timestamp_ns = event->timestamp_ns,
			.since_ns = cpu->migrated_ns,
			.run = cpu->run + (cpu->run_ns <= cpu->step_ns),
			.or_next = cpu->run_ns > cpu->step_ns,
			.pfn = (uint32_t)pfn,
			.frame = frame && *frame & FRAME_ON_LIST ? *frame : 0,
			.pid = event->pid,
			.order = (uint8_t)order,
		};
	if (frame)
		*frame = 0;
}

/* The task's last frees are those that mm_migrate_pages counts. */
static void pages_migrated(struct migration_pass *pass, struct migration_cpu *cpu,
			   const struct tape_event *event)
{
	uint64_t left = event->value[MM_MIGRATE_PAGES_SUCCEEDED], first = cpu->nr_freed;

	while (left && first && cpu->nr_freed - first < FREES) {
		const struct freed_frame *freed = &cpu->freed[--first & (FREES - 1)];
		uint64_t pages = UINT64_C(1) << freed->order;

		if (freed->pid == event->pid && !freed->counted)
			left -= pages < left ? pages : left;
	}
	for (; first < cpu->nr_freed; first++) {
		struct freed_frame *freed = &cpu->freed[first & (FREES - 1)];

		if (freed->pid != event->pid || freed->counted || !freed->frame ||
		    (pass->growth_seen && frame_order(freed->frame) != freed->order))
			continue;
		freed->counted = true;
		wait_for_new(pass, cpu, freed);
	}
	cpu->migrated_ns = event->timestamp_ns;
	pair_up(pass, cpu);
}

static void frame_told(struct migration_pass *pass, uint64_t pfn, uint32_t what)
{
	uint32_t *frame = pfn < MEMMAP_PFN_LIMIT ? by_pfn_make(&pass->frame, pfn) : NULL;

	if (frame)
		*frame = what;
	else if (pfn < MEMMAP_PFN_LIMIT)
		pass->failed = true;
}

static void put_on_list(struct migration_pass *pass, struct migration_cpu *cpu,
			const struct tape_event *event)
{
	uint64_t pfn = event->value[MM_LRU_INSERTION_PFN];
	bool anon = event->value[MM_LRU_INSERTION_FLAGS] & INSERTION_NOT_FILE;
	uint32_t *frame = pfn < MEMMAP_PFN_LIMIT ? by_pfn_make(&pass->frame, pfn) : NULL;
	uint32_t before, order = 0;

	if (!cpu->in_run) {
		cpu->run++;
		cpu->run_ns = event->timestamp_ns;
	}
	if (!frame) {
		pass->failed |= pfn < MEMMAP_PFN_LIMIT;
		return;
	}
	while (order < ORDER_LIMIT && UINT32_C(1) << order < cpu->pages)
		order++;
	before = *frame;
	*frame = FRAME_ON_LIST | (anon ? FRAME_ANON : 0) | order << FRAME_ORDER_SHIFT | cpu->memcg;
	if (!before) {
		cpu->coming[cpu->nr_comings++ & (COMINGS - 1)] = (struct coming){
			.timestamp_ns = event->timestamp_ns,
			.run = cpu->run,
			.pfn = (uint32_t)pfn,
			.frame = *frame,
		};
	}
	/* The end of such a frame is on no tape. */
	if (anon && !pass->single_frees && !order)
		*frame = 0;
	if (cpu->nr_waiting)
		pair_up(pass, cpu);
}

static void list_grew(struct migration_cpu *cpu, const struct tape_event *event)
{
	const uint64_t *v = event->value;

	if (v[MOD_MEMCG_LRUVEC_STATE_ITEM] >= WORLD_LIST_STATS ||
	    (int32_t)v[MOD_MEMCG_LRUVEC_STATE_VAL] <= 0)
		return;
	cpu->memcg = v[MOD_MEMCG_LRUVEC_STATE_ID] & FRAME_MEMCG;
	cpu->pages = (uint32_t)v[MOD_MEMCG_LRUVEC_STATE_VAL];
}

static struct migration_cpu *cpu_of(struct migration_pass *pass, const struct tape_event *event)
{
	uint32_t n = event->cpu < pass->nr_cpus ? event->cpu : pass->nr_cpus - 1;

	if (!pass->cpu[n])
		pass->cpu[n] = calloc(1, sizeof(**pass->cpu));
	pass->failed |= !pass->cpu[n];
	return pass->cpu[n];
}

static void pass_event(struct migration_pass *pass, const struct tape_event *event)
{
	struct migration_cpu *cpu = cpu_of(pass, event);

	if (!cpu)
		return;
	switch (event->kind) {
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		frame_told(pass, event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN], FRAME_TOLD);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		frame_told(pass, event->value[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN], 0);
		break;
	case EVENT_MM_PAGE_ALLOC:
		if (event->value[MM_PAGE_ALLOC_GFP_FLAGS] & GFP_MOVABLE)
			frame_told(pass, event->value[MM_PAGE_ALLOC_PFN], FRAME_TOLD);
		break;
	case EVENT_MM_PAGE_FREE:
		page_freed(pass, cpu, event);
		break;
	case EVENT_MM_LRU_INSERTION:
		put_on_list(pass, cpu, event);
		break;
	case EVENT_MM_MIGRATE_PAGES:
		pages_migrated(pass, cpu, event);
		break;
	default:
		break;
	}
	if (event->flags & IN_INTERRUPT)
		return;
	if (event->kind == EVENT_MM_PAGE_FREE || event->kind == EVENT_MM_MIGRATE_PAGES)
		cpu->step_ns = event->timestamp_ns;
	cpu->in_run = event->kind == EVENT_MM_LRU_INSERTION ||
		      (cpu->in_run && event->kind == EVENT_MOD_MEMCG_LRUVEC_STATE);
	cpu->memcg = cpu->pages = 0;
	if (event->kind == EVENT_MOD_MEMCG_LRUVEC_STATE)
		list_grew(cpu, event);
}

static int by_time(const void *a, const void *b)
{
	const struct migration *one = a, *two = b;

	return one->timestamp_ns != two->timestamp_ns ?
		       (one->timestamp_ns > two->timestamp_ns) -
			       (one->timestamp_ns < two->timestamp_ns) :
		       (one->pfn > two->pfn) - (one->pfn < two->pfn);
}

int migrations_find(struct world *world, struct tape_reader *reader)
{
	struct migration_pass pass = {
		.found = &world->migrations,
		.nr_cpus = world->nr_cpus > MM_CPU_LIMIT ? MM_CPU_LIMIT : world->nr_cpus,
		.growth_seen = world->growth_seen,
		.single_frees = world->single_frees,
	};
	const struct tape_event *event;
	int ret = 0;

	if (!tape_reader_kind_events(reader, EVENT_MM_MIGRATE_PAGES) ||
	    !tape_reader_kind_events(reader, EVENT_MM_PAGE_FREE))
		return 0;
	pass.cpu = calloc(pass.nr_cpus, sizeof(*pass.cpu));
	pass.failed = !pass.cpu || by_pfn_init(&pass.frame);
	while (!pass.failed && (ret = tape_reader_next(reader, &event)) > 0)
		pass_event(&pass, event);
	if (world->migrations.nr)
		qsort(world->migrations.row, world->migrations.nr, sizeof(*world->migrations.row),
		      by_time);
	if (pass.failed)
		ret = -1;
	else if (!ret)
		ret = tape_reader_rewind(reader);
	by_pfn_exit(&pass.frame);
	for (uint32_t i = 0; pass.cpu && i < pass.nr_cpus; i++) {
		if (pass.cpu[i])
			free(pass.cpu[i]->waiting);
		free(pass.cpu[i]);
	}
	free(pass.cpu);
	return ret;
}

void migrations_exit(struct world_migrations *migrations)
{
	free(migrations->row);
	memset(migrations, 0, sizeof(*migrations));
}

const struct migration *migrations_of(const struct world *world, const struct tape_event *event)
{
	const struct migration key = {
		.timestamp_ns = event->timestamp_ns,
		.pfn = (uint32_t)event
			       ->value[event->kind == EVENT_MM_PAGE_FREE ? MM_PAGE_FREE_PFN :
									   MM_LRU_INSERTION_PFN],
	};

	return world->migrations.nr ? bsearch(&key, world->migrations.row, world->migrations.nr,
					      sizeof(key), by_time) :
				      NULL;
}

#define HELD_LIMIT 4096 /* migrations ahead that are looked at: more than one call's */

bool migrations_hold(const struct world *world, uint32_t pfn)
{
	const struct world_migrations *all = &world->migrations;
	uint32_t first = 0, end = all->nr;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (all->row[middle].timestamp_ns < world->now_ns)
			first = middle + 1;
		else
			end = middle;
	}
	for (uint32_t i = first; i < all->nr && i - first < HELD_LIMIT; i++)
		if (all->row[i].from == pfn && all->row[i].since_ns <= world->now_ns)
			return true;
	return false;
}
