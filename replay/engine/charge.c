// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine/state.h"

#define CHARGE_RETRIES 16 /* MAX_RECLAIM_RETRIES: those that freed nothing, or asked for much */
#define COSTLY_PAGES 8 /* 1 << PAGE_ALLOC_COSTLY_ORDER */

static void evicted(void *ctx, struct folio *folio, uint64_t shadow)
{
	struct replay *replay = ctx;

	if (folio_test(folio, FOLIO_mapped))
		replay_page_unmapped(replay, folio);
	page_tables_forget(replay->mapped.tables, folio);
	if (folio_test(folio, PG_swapcache))
		replay_swapped_out(replay, folio);
	machine_evicted(&replay->machine, folio, shadow);
}

static bool executable(void *ctx, const struct folio *folio)
{
	const struct replay *replay = ctx;

	return executable_page(replay->world, folio->file, folio->index) == EXECUTABLE;
}

/* Whether what is in memory differs from what is in swap is on no tape: it was written to, to be safe. */
static bool unmap(void *ctx, struct folio *folio)
{
	replay_page_unmapped(ctx, folio);
	return folio_test(folio, PG_dirty);
}

struct reclaim_hooks replay_hooks(struct replay *replay)
{
	return (struct reclaim_hooks){
		.ctx = replay,
		.evicted = evicted,
		.referenced = replay_referenced,
		.executable = executable,
		.add_to_swap = replay_add_to_swap,
		.unmap = unmap,
		.write_out = replay_write_out,
		.wait_for_write = replay_wait_for_write,
		.put_back = replay_put_back,
	};
}

/* Reclaim until there is room for so many pages, or no hope. @may_swap: as the charge of a batch has left it. */
static void reclaim_room(struct replay *replay, struct mem_cgroup *memcg, int64_t pages,
			 bool may_swap, const struct reclaim_hooks *hooks)
{
	struct mm *mm = &replay->machine.mm;
	int retries = CHARGE_RETRIES;
	struct mem_cgroup *full;
	bool drained = false, memsw;
	int64_t lacking;

	while ((full = mm_over_limit(memcg, pages, &lacking, &memsw))) {
		may_swap &= !memsw;
		int64_t goal = mm->policy->exact ? lacking : pages;
		int64_t before = full->usage_pages;

		reclaim_run(mm, full, (uint64_t)goal, replay->world->anon && may_swap,
			    replay_cpu(replay), hooks);
		if (!mm_over_limit(memcg, pages, &lacking, &memsw))
			return;
		if (full->usage_pages >= before)
			replay_wait_for_device(replay);
		if (!drained) {
			replay_stock_drain_all(replay, full);
			drained = true;
			continue;
		}
		/* Where something came free a few pages are tried for as long as it does. */
		if (full->usage_pages < before && pages <= COSTLY_PAGES)
			continue;
		if (!retries--)
			return;
	}
}

void replay_make_room(struct replay *replay, struct mem_cgroup *memcg, int64_t pages)
{
	int64_t batch = replay->machine.mm.config.rules.memcg_stock_pages, lacking;
	bool memsw;
	const struct reclaim_hooks hooks = replay_hooks(replay);

	replay_find_memory(replay, pages, &hooks);
	if (replay_stock_consume(replay, memcg, pages))
		return;
	if (batch < pages)
		batch = pages;
	if (!mm_over_limit(memcg, batch, &lacking, &memsw)) {
		if (pages < batch)
			replay_stock_refill(replay, memcg, batch - pages);
	} else {
		reclaim_room(replay, memcg, pages, !memsw, &hooks);
		batch = pages;
	}
	replay_charged(replay, memcg, pages, batch);
}

void replay_follow_overhead(struct replay *replay)
{
	int64_t overhead;

	if (!replay->limited)
		return;
	overhead = replay->world->memcg[replay->world->limited_memcg].overhead_pages;
	if (overhead < 0)
		overhead = 0;
	if (overhead == replay->limited->overhead_pages)
		return;
	overhead -= replay->limited->overhead_pages;
	if (overhead > 0)
		replay_make_room(replay, replay->limited, overhead);
	mm_charge(replay->limited, overhead);
	replay->limited->overhead_pages += overhead;
}
