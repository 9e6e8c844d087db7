// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.high: who charges above it owes a batch of pages, and reclaims them on his way back to user space, or at
 * once if he owes more than one batch.
 *
 *   charge, above high -> owes 64 -> read ends -> reclaim of 64, for each level above its high
 *                      -> owes 128 ------------> at once
 *
 * Then the kernel makes him wait, the longer the further above; a replay has no time to lose by that.
 */
#include "replay/engine/state.h"

#define HIGH_RETRIES 16 /* MAX_RECLAIM_RETRIES */
#define OVERAGE_SHIFT 20 /* MEMCG_DELAY_PRECISION_SHIFT */
#define DELAY_SHIFT 14 /* MEMCG_DELAY_SCALING_SHIFT */
#define HZ 250 /* as Debian's kernels have it; no tape tells */

static bool above_high(const struct mem_cgroup *memcg)
{
	return memcg->parent && memcg->usage_pages > memcg->high_pages;
}

/*
 * Kernel: mm/memcontrol.c, calculate_high_delay(), mem_find_max_overage(), v6.18.
 * Differs: HZ is 250.
 */
static uint64_t delay_jiffies(const struct mem_cgroup *memcg, uint64_t nr_pages, uint64_t batch)
{
	uint64_t most = 0;

	for (; memcg; memcg = memcg->parent) {
		uint64_t overage, high;

		if (!above_high(memcg))
			continue;
		high = memcg->high_pages > 0 ? (uint64_t)memcg->high_pages : 1;
		overage = ((uint64_t)(memcg->usage_pages - memcg->high_pages) << OVERAGE_SHIFT) /
			  high;
		most = overage > most ? overage : most;
	}
	if (most >> 28)
		most = UINT64_C(1) << 28; /* 256 times above it: the square would not fit */
	return (most * most >> (OVERAGE_SHIFT + DELAY_SHIFT)) * HZ * nr_pages / batch;
}

/* Kernel: mm/memcontrol.c, reclaim_high(), v6.18. Return: pages freed. */
static uint64_t reclaim_high(struct replay *replay, struct mem_cgroup *memcg, uint64_t nr_pages)
{
	const struct reclaim_hooks hooks = replay_hooks(replay);
	uint64_t freed = 0;

	for (; memcg; memcg = memcg->parent)
		if (above_high(memcg))
			freed += reclaim_run(&replay->machine.mm, memcg, nr_pages,
					     replay->world->anon != NULL, replay_cpu(replay),
					     &hooks);
	return freed;
}

/* A yardstick keeps no more than high, as if it were the limit. */
static void reclaim_exactly(struct replay *replay, struct mem_cgroup *memcg)
{
	const struct reclaim_hooks hooks = replay_hooks(replay);

	for (; memcg; memcg = memcg->parent)
		if (above_high(memcg))
			reclaim_run(&replay->machine.mm, memcg,
				    (uint64_t)(memcg->usage_pages - memcg->high_pages),
				    replay->world->anon != NULL, replay_cpu(replay), &hooks);
}

static void owe(struct replay *replay, struct mem_cgroup *memcg, uint64_t pages)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;

	if (!mine)
		return;
	mine->over_high = memcg;
	mine->over_high_pages += pages;
	if (mine->over_high_pages > replay->machine.mm.config.rules.memcg_stock_pages)
		replay_over_high(replay);
}

void replay_charged(struct replay *replay, struct mem_cgroup *memcg, int64_t pages, int64_t batch)
{
	struct mem_cgroup *up = memcg;

	mm_charge(memcg, pages); /* for the look only: the folio's own charge follows */
	while (up && !above_high(up))
		up = up->parent;
	if (up && replay->machine.mm.policy->exact)
		reclaim_exactly(replay, memcg);
	else if (up)
		owe(replay, memcg, (uint64_t)batch);
	mm_charge(memcg, -pages);
}

void replay_over_high(struct replay *replay)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task && task->number < replay->room_tasks ?
				      &replay->task[task->number] :
				      NULL;
	uint64_t batch = replay->machine.mm.config.rules.memcg_stock_pages, nr_pages;
	int retries = HIGH_RETRIES;
	uint64_t ask;

	if (!mine || !mine->over_high_pages || !batch)
		return;
	nr_pages = ask = mine->over_high_pages;
	mine->over_high_pages = 0;
	for (;;) {
		uint64_t freed = reclaim_high(replay, mine->over_high, ask);

		if (delay_jiffies(mine->over_high, nr_pages, batch) <= HZ / 100)
			return;
		if (!freed && !retries--)
			return;
		ask = SWAP_CLUSTER_MAX;
	}
}
