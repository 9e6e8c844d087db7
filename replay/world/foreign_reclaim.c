// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/foreign_reclaim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/world/by_pfn.h"
#include "replay/world/grow.h"
#include "replay/world/world.h"

#define ROW_GAP_NS (UINT64_C(20) * 1000000) /* a longer pause ends a row: a guess */
#define EMPTIED_SHARE 16 /* force_empty leaves no more than one page in so many: a guess */
#define VICTIM_MEMCGS 16 /* of one row; those of more count as nobody's */
#define STRAY_SHARE 16 /* of the victims, one in so many may seem to be another memcg's: a guess */

/* What the pass knows of a task in reclaim calls. */
struct open_row {
	int32_t pid; /* 0: a free place */
	bool in_call;
	uint64_t begin_ns, end_ns; /* of the call it is in, or of the last one */
	uint64_t pages,
		pages_before; /* that came free: so far, and before the last call that freed some */
	struct {
		uint32_t memcg;
		uint64_t nr;
	} victims[VICTIM_MEMCGS]; /* by memcg; a place is free if its nr is 0 */
	uint64_t nr_victims,
		nr_own; /* all, and those that may have gone for a limit of the task's own */
	uint32_t first_call, nr_calls; /* in pass.call */
	bool marked; /* this is what the mark asked for: */
	struct foreign_reclaim mark;
};

struct pass {
	struct world *world; /* whose rows are looked for */
	struct world tasks; /* who is in which memcg at the event at hand */
	struct by_pfn owner; /* 1 + number of the memcg that a file folio came to */
	uint64_t *nr_owned; /* file pages of a memcg by number */
	uint32_t room_owned;
	struct open_row *row;
	uint32_t nr_open, room_open;
	struct foreign_call *call; /* of open rows, and of those that are over */
	uint32_t nr_calls, room_calls;
	bool failed;
};

uint64_t foreign_reclaim_roundest(uint64_t above, uint64_t upto)
{
	for (int shift = 63; shift >= 0; shift--) {
		uint64_t n = upto >> shift << shift;

		if (n > above)
			return n;
	}
	return 0;
}

void foreign_reclaim_exit(struct foreign_reclaims *foreign)
{
	free(foreign->row);
	free(foreign->call);
	memset(foreign, 0, sizeof(*foreign));
}

/* ---- whose a frame is */

static uint32_t *owner_of(struct pass *pass, uint64_t pfn)
{
	uint32_t *owner;

	if (pfn >= MEMMAP_PFN_LIMIT)
		return NULL;
	owner = by_pfn_make(&pass->owner, pfn);
	pass->failed |= !owner;
	return owner;
}

static void count_owned(struct pass *pass, uint32_t memcg, int64_t pages)
{
	while (memcg >= pass->room_owned) {
		uint32_t room = pass->room_owned ? pass->room_owned * 2 : 64;
		uint64_t *more = realloc(pass->nr_owned, room * sizeof(*more));

		if (!more) {
			pass->failed = true;
			return;
		}
		memset(more + pass->room_owned, 0, (room - pass->room_owned) * sizeof(*more));
		pass->nr_owned = more;
		pass->room_owned = room;
	}
	pass->nr_owned[memcg] += (uint64_t)pages;
}

static bool is_below(const struct world *world, uint32_t memcg, uint32_t top)
{
	while (memcg != top && memcg != WORLD_ROOT)
		memcg = world->memcg[memcg].parent;
	return memcg == top;
}

static uint64_t owned_below(const struct pass *pass, uint32_t top)
{
	uint64_t pages = 0;

	for (uint32_t n = 0; n < pass->tasks.nr_memcgs && n < pass->room_owned; n++)
		if (is_below(&pass->tasks, n, top))
			pages += pass->nr_owned[n];
	return pages;
}

static uint64_t folio_pages(uint64_t order)
{
	return order > 13 ? 1 : UINT64_C(1) << order; /* absent: an old kernel's single page */
}

static void folio_came(struct pass *pass, const struct tape_event *event)
{
	const struct world_task *task = world_task(&pass->tasks, event->pid);
	uint32_t *owner = owner_of(pass, event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN]);
	int64_t pages = (int64_t)folio_pages(event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER]);

	if (!task || !owner)
		return;
	if (*owner)
		count_owned(pass, *owner - 1, -pages); /* its end was not seen */
	*owner = task->memcg + 1;
	count_owned(pass, task->memcg, pages);
}

static void folio_migrated(struct pass *pass, const struct tape_event *event)
{
	const struct migration *migration = migrations_of(pass->world, event);
	uint32_t *from = migration ? owner_of(pass, migration->from) : NULL;
	uint32_t *to = from ? owner_of(pass, migration->to) : NULL;

	if (!to)
		return;
	*to = *from;
	*from = 0;
}

/* ---- rows */

static struct open_row *row_of(struct pass *pass, int32_t pid, bool make)
{
	struct open_row *place = NULL;

	for (uint32_t i = 0; i < pass->nr_open; i++) {
		if (pass->row[i].pid == pid)
			return &pass->row[i];
		if (!pass->row[i].pid)
			place = &pass->row[i];
	}
	if (!make)
		return NULL;
	if (!place) {
		if (!grow_by_one((void **)&pass->row, pass->nr_open, &pass->room_open,
				 sizeof(*pass->row))) {
			pass->failed = true;
			return NULL;
		}
		place = &pass->row[pass->nr_open++];
	}
	*place = (struct open_row){ .pid = pid };
	return place;
}

static uint32_t depth_of(const struct world *world, uint32_t memcg)
{
	uint32_t depth = 0;

	for (; memcg != WORLD_ROOT; memcg = world->memcg[memcg].parent)
		depth++;
	return depth;
}

static uint64_t victims_below(const struct pass *pass, const struct open_row *row, uint32_t top)
{
	uint64_t nr = 0;

	for (int i = 0; i < VICTIM_MEMCGS; i++)
		if (is_below(&pass->tasks, row->victims[i].memcg, top))
			nr += row->victims[i].nr;
	return nr;
}

/*
 * The lowest memcg that has the victims below it: next to all of them, since a frame may have changed hands
 * without an event. WORLD_ROOT: there is none, or what was taken may have been the task's own.
 */
static uint32_t target_of(const struct pass *pass, const struct open_row *row)
{
	const struct world *world = &pass->tasks;
	uint64_t least = row->nr_victims - row->nr_victims / STRAY_SHARE;
	uint32_t target = WORLD_ROOT;

	if (!row->nr_victims || row->nr_own * 2 > row->nr_victims)
		return WORLD_ROOT;
	for (int i = 0; i < VICTIM_MEMCGS && row->victims[i].nr; i++)
		for (uint32_t n = row->victims[i].memcg; n != WORLD_ROOT;
		     n = world->memcg[n].parent)
			if (victims_below(pass, row, n) >= least &&
			    depth_of(world, n) > depth_of(world, target))
				target = n;
	return target;
}

static void keep_row(struct pass *pass, const struct open_row *open, uint32_t target)
{
	struct foreign_reclaims *foreign = &pass->world->foreign;
	struct foreign_reclaim row = { .memcg = target, .swappiness = FOREIGN_SWAPPINESS_UNSET };
	uint32_t left = open->nr_calls;

	if (open->marked) {
		row = open->mark;
	} else {
		row.pages = foreign_reclaim_roundest(open->pages_before, open->pages);
		row.all = pass->world->cgroup_v1 &&
			  owned_below(pass, target) * EMPTIED_SHARE <= open->pages;
	}
	if (!grow_by_one((void **)&foreign->row, foreign->nr_rows, &foreign->room_rows,
			 sizeof(*foreign->row))) {
		pass->failed = true;
		return;
	}
	for (uint32_t i = open->first_call; i < pass->nr_calls; i++) {
		struct foreign_call *call = &pass->call[i];

		if (call->pid != open->pid)
			continue;
		if (!grow_by_one((void **)&foreign->call, foreign->nr_calls, &foreign->room_calls,
				 sizeof(*foreign->call))) {
			pass->failed = true;
			return;
		}
		call->row = foreign->nr_rows;
		call->last = --left == 0;
		foreign->call[foreign->nr_calls++] = *call;
	}
	foreign->row[foreign->nr_rows++] = row;
}

static bool any_row_open(const struct pass *pass)
{
	for (uint32_t i = 0; i < pass->nr_open; i++)
		if (pass->row[i].pid && pass->row[i].nr_calls)
			return true;
	return false;
}

static void end_row(struct pass *pass, struct open_row *row)
{
	uint32_t target = target_of(pass, row);

	if (row->nr_calls && (row->marked || (target != WORLD_ROOT && row->pages)))
		keep_row(pass, row, target);
	row->pid = 0;
	if (!any_row_open(pass))
		pass->nr_calls = 0;
}

static void call_begun(struct pass *pass, const struct tape_event *event)
{
	struct open_row *row = row_of(pass, event->pid, true);

	if (!row || !grow_by_one((void **)&pass->call, pass->nr_calls, &pass->room_calls,
				 sizeof(*pass->call))) {
		pass->failed = true;
		return;
	}
	if (!row->nr_calls++)
		row->first_call = pass->nr_calls;
	row->in_call = true;
	row->begin_ns = event->timestamp_ns;
	pass->call[pass->nr_calls++] = (struct foreign_call){
		.begin_ns = event->timestamp_ns,
		.pid = event->pid,
		.first = row->nr_calls == 1,
		.pages_before = row->pages,
	};
}

static void call_ended(struct pass *pass, const struct tape_event *event)
{
	struct open_row *row = row_of(pass, event->pid, false);
	uint64_t nr = event->value[MM_VMSCAN_MEMCG_RECLAIM_END_NR_RECLAIMED];

	if (!row || !row->in_call)
		return;
	row->in_call = false;
	row->end_ns = event->timestamp_ns;
	if (!nr || nr >> 40)
		return;
	row->pages_before = row->pages;
	row->pages += nr;
}

/*
 * Reclaim for a limit of the task's own takes what lies below a memcg that has one, or where none has, what lies
 * below the task's own memcg, whose limit may have been set after the start.
 */
static bool may_be_own(const struct pass *pass, uint32_t own, uint32_t victim)
{
	const struct world *world = &pass->tasks;
	bool limited = false;

	for (uint32_t n = own; n != WORLD_ROOT; n = world->memcg[n].parent) {
		if (world->memcg[n].limit_pages == INT64_MAX &&
		    world->memcg[n].high_pages == INT64_MAX)
			continue;
		limited = true;
		if (is_below(world, victim, n))
			return true;
	}
	return !limited && own != WORLD_ROOT &&
	       (is_below(world, victim, own) || is_below(world, own, victim));
}

static void saw_victim(struct pass *pass, struct open_row *row, uint32_t memcg)
{
	const struct world_task *task = world_task(&pass->tasks, row->pid);

	row->nr_victims++;
	row->nr_own += !task || may_be_own(pass, task->memcg, memcg);
	for (int i = 0; i < VICTIM_MEMCGS; i++)
		if (!row->victims[i].nr || row->victims[i].memcg == memcg) {
			row->victims[i].memcg = memcg;
			row->victims[i].nr++;
			return;
		}
}

static void folio_went(struct pass *pass, const struct tape_event *event)
{
	struct open_row *row = row_of(pass, event->pid, false);
	uint32_t *owner = owner_of(pass, event->value[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN]);

	if (!owner || !*owner)
		return;
	if (row && row->in_call)
		saw_victim(pass, row, *owner - 1);
	count_owned(pass, *owner - 1,
		    -(int64_t)folio_pages(event->value[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER]));
	*owner = 0;
}

/* The lists that isolated folios go back to. */
static void list_grew(struct pass *pass, const struct tape_event *event)
{
	struct open_row *row = row_of(pass, event->pid, false);
	uint32_t memcg;

	if (!row || !row->in_call)
		return;
	memcg = world_memcg_by_id(&pass->tasks, event->value[MOD_MEMCG_LRUVEC_STATE_ID]);
	if (memcg != WORLD_ROOT)
		saw_victim(pass, row, memcg);
}

/*
 * "memory.reclaim PAGES SWAPPINESS PATH" or "memory.force_empty PATH", by the task that does it next.
 * SWAPPINESS is -1 if none was asked for.
 */
static void mark_seen(struct pass *pass, const struct tape_event *event)
{
	const char *text = tape_event_string(event, FTRACE_PRINT_BUF, NULL);
	struct foreign_reclaim mark = { .told = true, .swappiness = FOREIGN_SWAPPINESS_UNSET };
	unsigned long long pages;
	struct open_row *row;
	int swappiness, at = 0;

	if (sscanf(text, "memory.reclaim %llu %d %n", &pages, &swappiness, &at) == 2 && at) {
		mark.pages = pages;
		if (swappiness >= 0 && swappiness <= 201)
			mark.swappiness = swappiness;
	} else {
		at = 0;
		sscanf(text, "memory.force_empty %n", &at);
		mark.all = true;
	}
	if (!at)
		return;
	mark.memcg = world_memcg_by_path(&pass->tasks, text + at, strcspn(text + at, "\n"));
	row = row_of(pass, event->pid, false);
	if (row)
		end_row(pass, row);
	row = mark.memcg == WORLD_ROOT ? NULL : row_of(pass, event->pid, true);
	if (!row)
		return;
	row->marked = true;
	row->mark = mark;
}

/* What a task does between two calls of a row, and what may come to pass on its CPU then. */
static bool may_stand_within(const struct tape_event *event)
{
	switch (event->kind) {
	case EVENT_LOST:
	case EVENT_MM_LRU_INSERTION:
	case EVENT_MM_LRU_ACTIVATE:
	case EVENT_MEMCG_FLUSH_STATS:
	case EVENT_CGROUP_RSTAT_LOCKED:
	case EVENT_MOD_MEMCG_LRUVEC_STATE:
	case EVENT_BLOCK_RQ_COMPLETE:
	case EVENT_MM_PAGE_FREE:
		return true;
	default:
		return false;
	}
}

static void pass_event(struct pass *pass, const struct tape_event *event)
{
	struct open_row *row = event->pid && pass->nr_open ? row_of(pass, event->pid, false) : NULL;
	bool begins = event->kind == EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN;

	if (row && row->nr_calls && !row->in_call &&
	    (begins ? event->timestamp_ns - row->end_ns > ROW_GAP_NS : !may_stand_within(event)))
		end_row(pass, row);
	switch (event->kind) {
	case EVENT_SCHED_PROCESS_FORK:
	case EVENT_SCHED_PROCESS_EXIT:
	case EVENT_TASK_MEMCG:
	case EVENT_CGROUP_ATTACH_TASK:
	case EVENT_CGROUP_MKDIR:
	case EVENT_CGROUP_RMDIR:
		world_event(&pass->tasks, event);
		break;
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		folio_came(pass, event);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		folio_went(pass, event);
		break;
	case EVENT_MM_PAGE_FREE:
	case EVENT_MM_LRU_INSERTION:
		folio_migrated(pass, event);
		break;
	case EVENT_MOD_MEMCG_LRUVEC_STATE:
		list_grew(pass, event);
		break;
	case EVENT_FTRACE_PRINT:
		mark_seen(pass, event);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN:
		call_begun(pass, event);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_END:
		call_ended(pass, event);
		break;
	default:
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct foreign_call *one = a, *two = b;

	return one->begin_ns != two->begin_ns ?
		       (one->begin_ns > two->begin_ns) - (one->begin_ns < two->begin_ns) :
		       (one->pid > two->pid) - (one->pid < two->pid);
}

/* There is nothing to find where no memcg reclaims, or where who is in which is only inferred. */
static bool may_have_any(const struct world *world, const struct tape_reader *reader)
{
	return !world->memcg_inferred && !world->all_in_command_memcg &&
	       tape_reader_kind_events(reader, EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN);
}

int foreign_reclaim_find(struct world *world, struct tape_reader *reader)
{
	struct pass pass = { .world = world };
	const struct tape_event *event;
	int ret;

	if (!may_have_any(world, reader))
		return 0;
	ret = world_init_tasks(&pass.tasks, reader);
	if (ret)
		return ret;
	pass.failed = by_pfn_init(&pass.owner) != 0;
	while (!pass.failed && (ret = tape_reader_next(reader, &event)) > 0)
		pass_event(&pass, event);
	for (uint32_t i = 0; !pass.failed && i < pass.nr_open; i++)
		if (pass.row[i].pid)
			end_row(&pass, &pass.row[i]);
	if (world->foreign.nr_calls)
		qsort(world->foreign.call, world->foreign.nr_calls, sizeof(*world->foreign.call),
		      by_time);
	if (pass.failed || pass.tasks.out_of_memory)
		ret = -1;
	else if (!ret)
		ret = tape_reader_rewind(reader);
	by_pfn_exit(&pass.owner);
	free(pass.nr_owned);
	free(pass.row);
	free(pass.call);
	world_exit(&pass.tasks);
	return ret;
}

const struct foreign_call *foreign_reclaim_call(const struct world *world, int32_t pid,
						uint64_t begin_ns)
{
	const struct foreign_call key = { .begin_ns = begin_ns, .pid = pid };

	return world->foreign.nr_calls ? bsearch(&key, world->foreign.call, world->foreign.nr_calls,
						 sizeof(key), by_time) :
					 NULL;
}
