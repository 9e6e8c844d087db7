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

/* What the machine needs for other things is taken from the zones, as far as it is known: see INFER_overhead_at_kswapd. */
static void follow_overhead(struct replay *replay)
{
	struct zones *zones = &replay->machine.mm.zones;
	int64_t overhead = overhead_at(&replay->world->overhead, replay->event->timestamp_ns,
				       &replay->overhead_at);

	zones->zone[zones_highest(zones)].free_pages -= overhead - replay->machine_overhead_pages;
	replay->machine_overhead_pages = overhead;
}

static bool yardstick(const struct replay *replay)
{
	return replay->machine.mm.policy->exact;
}

/* One isolation after the other, as long as its time has come. */
static void kswapd_until(struct replay *replay, uint64_t now_ns)
{
	struct run_kswapd *kswapd = &replay->kswapd;
	const struct reclaim_hooks hooks = replay_hooks(replay);
	uint64_t nr_taken = 0;

	while (kswapd->awake && kswapd->next_ns <= now_ns) {
		kswapd->awake = reclaim_step(&kswapd->walk, replay_cpu(replay), &hooks, &nr_taken);
		kswapd->next_ns += nr_taken * replay->world->kswapd_page_ns;
	}
	if (!kswapd->awake)
		replay->machine.mm.zones.boost_pages = 0;
}

void replay_kswapd(struct replay *replay)
{
	if (!replay->kswapd.awake)
		return;
	follow_overhead(replay);
	kswapd_until(replay, replay->event->timestamp_ns);
}

static void wake_kswapd(struct replay *replay, unsigned int highest, uint64_t boost)
{
	struct run_kswapd *kswapd = &replay->kswapd;

	if (kswapd->awake) {
		if (boost)
			kswapd_boost(&kswapd->walk, boost);
		return;
	}
	kswapd_begin(&kswapd->walk, &replay->machine.mm, highest);
	kswapd->walk.sc.may_swap = replay->world->anon != NULL;
	if (boost)
		kswapd_boost(&kswapd->walk, boost);
	kswapd->awake = true;
	kswapd->next_ns = replay->event->timestamp_ns;
	kswapd_until(replay, yardstick(replay) ? UINT64_MAX : kswapd->next_ns);
}

void replay_find_memory(struct replay *replay, int64_t pages, const struct reclaim_hooks *hooks)
{
	struct mm *mm = &replay->machine.mm;
	struct zones *zones = &mm->zones;
	unsigned int highest = zones->nr - 1, cpu = replay_cpu(replay);
	bool may_swap = replay->world->anon != NULL;

	if (!zones->nr)
		return;
	follow_overhead(replay);
	if (zones_choose(zones, WMARK_LOW, highest, (uint64_t)pages) >= 0)
		return;
	wake_kswapd(replay, highest, 0);
	for (int retry = 0;
	     retry < ALLOC_RETRIES && zones_choose(zones, WMARK_MIN, highest, (uint64_t)pages) < 0;
	     retry++)
		reclaim_run(mm, NULL, SWAP_CLUSTER_MAX, may_swap, cpu, hooks);
}

void replay_kswapd_woken(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	uint64_t boost = overhead_boost(&replay->world->overhead, replay->event->timestamp_ns);

	if (!replay->machine.mm.zones.nr || !boost || yardstick(replay) ||
	    v[MM_VMSCAN_KSWAPD_WAKE_ZID] >= ZONES_LIMIT)
		return;
	replay_stimulus(replay, INFER_kswapd_boosted);
	follow_overhead(replay);
	wake_kswapd(replay, (unsigned int)v[MM_VMSCAN_KSWAPD_WAKE_ZID], boost);
}
