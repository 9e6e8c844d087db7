// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/spaces.h"

#include <stdlib.h>

#include "replay/mm/lruvec.h"
#include "replay/world/world.h"

#define CLONE_VM 0x100
#define INSERTION_ANON 2 /* of mm_lru_insertion's flags */
#define INSERTION_SWAPCACHE 8
#define FIRST_ROOM 64

int spaces_init(struct world *world)
{
	struct spaces *spaces = &world->spaces;

	spaces->nr = 1;
	if (!world->growth_seen || world->single_frees || world->anon_pages_given)
		return 0;
	spaces->grown = calloc(world->nr_cpus, sizeof(*spaces->grown));
	return spaces->grown ? 0 : -1;
}

void spaces_exit(struct world *world)
{
	free(world->spaces.space);
	free(world->spaces.grown);
}

uint32_t spaces_of(struct world *world, struct world_task *task)
{
	struct spaces *spaces = &world->spaces;

	if (task->space)
		return task->space;
	if (spaces->nr >= spaces->room) {
		uint32_t room = spaces->room ? 2 * spaces->room : FIRST_ROOM;
		void *bigger = realloc(spaces->space, room * sizeof(*spaces->space));

		if (!bigger) {
			world->out_of_memory = true;
			return 0;
		}
		spaces->space = bigger;
		spaces->room = room;
	}
	spaces->space[spaces->nr] = (struct world_space){ .nr_users = 1, .memcg = task->memcg };
	task->space = spaces->nr++;
	return task->space;
}

static void charge(struct world *world, uint32_t number, int64_t pages)
{
	struct world_memcg *memcg = &world->memcg[number];

	memcg->anon_pages += pages;
	memcg->overhead_pages += pages;
	world_infer(world, INFER_anon_of_the_living);
}

static void left(struct world *world, struct world_task *task)
{
	struct world_space *space;

	if (!task->space)
		return;
	space = &world->spaces.space[task->space];
	if (!--space->nr_users) {
		world->spaces.gone = task->space;
		if (space->anon_pages)
			charge(world, space->memcg, -space->anon_pages);
		space->anon_pages = 0;
	}
	task->space = 0;
}

static void cloned(struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	struct world_task *parent = world_task(world, event->pid);
	struct world_task *child = world_task(world, (int32_t)v[TASK_NEWTASK_PID]);

	if (!parent || !child)
		return;
	child->space = 0;
	child->exited = false;
	if (!(v[TASK_NEWTASK_CLONE_FLAGS] & CLONE_VM) || !spaces_of(world, parent))
		return;
	child->space = parent->space;
	world->spaces.space[child->space].nr_users++;
}

/*
 * Not folios that were there before: put back, migrated. Nor large ones: their ends are on the tape, and a run
 * has them on its lists.
 */
static bool is_new_anon(const struct world *world, const struct tape_event *event,
			const struct grown_list *grown)
{
	uint64_t flags = event->value[MM_LRU_INSERTION_FLAGS];

	return grown->memcg && grown->item == event->value[MM_LRU_INSERTION_LRU] &&
	       grown->pages == 1 && flags & INSERTION_ANON && !(flags & INSERTION_SWAPCACHE) &&
	       event->cpu < world->nr_cpus;
}

static void anon_inserted(struct world *world, const struct tape_event *event)
{
	struct world_task *task = world_task(world, event->pid);
	struct grown_list *grown = &world->spaces.grown[event->cpu];
	uint32_t memcg, number;
	struct world_space *space;

	if (!task || task->exited || !is_new_anon(world, event, grown))
		return;
	memcg = world_memcg_by_id(world, grown->memcg);
	if (memcg == WORLD_ROOT || world->memcg[memcg].unseen[LRU_INACTIVE_ANON] ||
	    world->memcg[memcg].unseen[LRU_ACTIVE_ANON] || !spaces_of(world, task))
		return;
	/* Another group's task may have drained the batch: then they are whose the last ones were. */
	number = task->memcg == memcg ? task->space : world->memcg[memcg].anon_space;
	space = &world->spaces.space[number];
	if (!number || !space->nr_users)
		return;
	if (!space->anon_pages)
		space->memcg = memcg;
	if (space->memcg != memcg)
		return;
	world->memcg[memcg].anon_space = number;
	space->anon_pages += (int64_t)grown->pages;
	charge(world, memcg, (int64_t)grown->pages);
}

void spaces_overhead_shown(struct world *world, uint32_t number, int64_t pages)
{
	struct world_memcg *memcg = &world->memcg[number];
	int64_t anon = memcg->anon_pages, left = pages, other = memcg->overhead_pages - anon;

	/* What is charged for something else stays so. */
	if (other > 0)
		left -= other < pages / 4 ? other : pages / 4;
	memcg->overhead_pages = pages;
	if (anon <= left)
		return;
	for (uint32_t n = 1; n < world->spaces.nr; n++) {
		struct world_space *space = &world->spaces.space[n];

		if (space->memcg != number || !space->anon_pages)
			continue;
		memcg->anon_pages -= space->anon_pages;
		space->anon_pages = (int64_t)((__int128)space->anon_pages * left / anon);
		memcg->anon_pages += space->anon_pages;
	}
}

void spaces_event(struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	struct spaces *spaces = &world->spaces;
	struct world_task *task;

	spaces->gone = 0;
	switch (event->kind) {
	case EVENT_TASK_NEWTASK:
		cloned(world, event);
		break;
	case EVENT_SCHED_PROCESS_EXEC:
	case EVENT_SCHED_PROCESS_EXIT:
		task = world_task(world, event->pid);
		if (!task)
			break;
		left(world, task);
		task->exited = event->kind == EVENT_SCHED_PROCESS_EXIT;
		break;
	case EVENT_MOD_MEMCG_LRUVEC_STATE:
		if (spaces->grown && event->cpu < world->nr_cpus)
			spaces->grown[event->cpu] = (struct grown_list){
				.memcg = v[MOD_MEMCG_LRUVEC_STATE_ID],
				.item = v[MOD_MEMCG_LRUVEC_STATE_ITEM],
				.pages = v[MOD_MEMCG_LRUVEC_STATE_VAL],
			};
		break;
	case EVENT_MM_LRU_INSERTION:
		if (spaces->grown && event->cpu < world->nr_cpus) {
			anon_inserted(world, event);
			spaces->grown[event->cpu].memcg = 0;
		}
		break;
	default:
		break;
	}
}
