// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reclaim that somebody outside of a memcg asked for: a run is asked for as much. It makes one call where the
 * recorded kernel's ended, so that reads and flushes come between them as they did, and with the last all that are left.
 */
#include "replay/engine/state.h"

#include <stdlib.h>

#define FRUITLESS_RETRIES 16 /* MAX_RECLAIM_RETRIES */

int replay_foreign_init(struct replay *replay)
{
	replay->foreign = calloc(replay->world->foreign.nr_rows + 1, sizeof(*replay->foreign));
	return replay->foreign ? 0 : -1;
}

/* Kernel: mm/swap.c, lru_add_drain_all(), v6.18. */
static void drain_all_batches(struct mm *mm)
{
	for (unsigned int cpu = 0; cpu < mm->config.nr_cpus; cpu++)
		lru_add_drain(mm, cpu, DRAIN_drain_all);
}

static uint64_t reclaim_for(struct replay *replay, const struct foreign_reclaim *asked,
			    uint64_t nr_pages)
{
	const struct reclaim_hooks hooks = replay_hooks(replay);
	struct reclaim_walk walk;

	reclaim_walk_begin(&walk, &replay->machine.mm,
			   machine_memcg(&replay->machine, asked->memcg), nr_pages,
			   replay->world->anon != NULL);
	walk.sc.swappiness = asked->swappiness;
	return reclaim_finish(&walk, replay_cpu(replay), &hooks);
}

/* Kernel: mm/memcontrol-v1.c, mem_cgroup_force_empty(), v6.18. Return: it goes on. */
static bool empty_on(struct replay *replay, const struct foreign_reclaim *asked,
		     struct run_foreign *mine)
{
	struct mem_cgroup *memcg = machine_memcg(&replay->machine, asked->memcg);

	if (!mine->nr_calls++) {
		drain_all_batches(&replay->machine.mm);
		replay_stock_drain_all(replay, memcg);
	}
	if (mine->fruitless == FRUITLESS_RETRIES || memcg->usage_pages <= 0)
		return false;
	mine->fruitless += !reclaim_for(replay, asked, 1);
	return true;
}

/* Kernel: mm/vmscan.c, user_proactive_reclaim(), v6.18. Return: it goes on. */
static bool reclaim_on(struct replay *replay, const struct foreign_reclaim *asked,
		       struct run_foreign *mine)
{
	struct mm *mm = &replay->machine.mm;
	uint64_t left = asked->pages > mine->freed ? asked->pages - mine->freed : 0, freed;

	if (!left || mine->fruitless > FRUITLESS_RETRIES)
		return false;
	if (mine->fruitless == FRUITLESS_RETRIES)
		drain_all_batches(mm);
	mine->nr_calls++;
	freed = reclaim_for(replay, asked,
			    mm->policy->exact ? left : reclaim_proactive_batch(mm, left));
	mine->freed += freed;
	mine->fruitless += !freed;
	return true;
}

void replay_foreign_reclaim(struct replay *replay, const struct foreign_call *call)
{
	const struct foreign_reclaim *asked = &replay->world->foreign.row[call->row];
	struct run_foreign *mine = &replay->foreign[call->row];

	if (call->first)
		replay_stimulus(replay, asked->told ? NR_INFER_RULES : INFER_foreign_reclaim);
	while ((asked->all ? empty_on : reclaim_on)(replay, asked, mine) && call->last)
		;
}
