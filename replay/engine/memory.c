// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's memory: who finds no page above a watermark wakes kswapd, and reclaims himself below the
 * lowest one. Only where next to all file folios came after the tape began: elsewhere the folios that could
 * be evicted are mostly those that the run cannot see.
 */
#include "replay/engine/state.h"
#include "replay/mm/kswapd.h"

#define ALLOC_RETRIES 16 /* MAX_RECLAIM_RETRIES */

void replay_memory_init(struct replay *replay, int64_t memory_pages)
{
	struct zones *zones = &replay->machine.mm.zones;
	int64_t recorded = world_machine_pages(replay->world);

	if (recorded == INT64_MAX) {
		zones->nr = 0; /* endless */
		return;
	}
	if (replay->limited || memory_pages == REPLAY_MEMORY_RECORDED)
		return;
	zones_resize(zones, memory_pages - recorded, replay->world->min_free_kbytes,
		     replay->world->watermark_scale_factor);
}

void replay_follow_memory(struct replay *replay)
{
	struct zones *zones = &replay->machine.mm.zones;
	int64_t overhead = replay->world->machine_overhead_pages;

	if (!zones->nr)
		return;
	zones->zone[zones_highest(zones)].free_pages -= overhead - replay->machine_overhead_pages;
	replay->machine_overhead_pages = overhead;
}

void replay_find_memory(struct replay *replay, int64_t pages, const struct reclaim_hooks *hooks)
{
	struct mm *mm = &replay->machine.mm;
	struct zones *zones = &mm->zones;
	unsigned int highest = zones->nr - 1, cpu = replay_cpu(replay);
	bool may_swap = replay->world->anon != NULL;
	struct reclaim_walk walk;

	if (!zones->nr || zones_choose(zones, WMARK_LOW, highest, (uint64_t)pages) >= 0)
		return;
	kswapd_begin(&walk, mm, highest);
	walk.sc.may_swap = may_swap;
	reclaim_finish(&walk, cpu, hooks);
	for (int retry = 0;
	     retry < ALLOC_RETRIES && zones_choose(zones, WMARK_MIN, highest, (uint64_t)pages) < 0;
	     retry++)
		reclaim_run(mm, NULL, SWAP_CLUSTER_MAX, may_swap, cpu, hooks);
}
