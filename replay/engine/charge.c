// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine/state.h"

#define CHARGE_RETRIES 16 /* MAX_RECLAIM_RETRIES: those that freed nothing, or asked for much */
#define COSTLY_PAGES 8 /* 1 << PAGE_ALLOC_COSTLY_ORDER */

static void evicted(void *ctx, struct folio *folio, uint64_t shadow)
{
	struct replay *replay = ctx;

	if (folio_test(folio, FOLIO_mapped))
		replay_page_unmapped(replay, folio);
	machine_evicted(&replay->machine, folio, shadow);
}

/* Whether what is in memory differs from what is in swap is on no tape: it was written to, to be safe. */
static bool unmap(void *ctx, struct folio *folio)
{
	replay_page_unmapped(ctx, folio);
	return folio_test(folio, PG_dirty);
}

static void return_stock(struct lru_cpu *cpu)
{
	if (cpu->stock_memcg && cpu->stock_pages)
		mm_charge(cpu->stock_memcg, -cpu->stock_pages);
	cpu->stock_memcg = NULL;
	cpu->stock_pages = 0;
}

/* The lowest memcg from here up that has no room for so many pages, NULL: all have. */
static struct mem_cgroup *over_limit(struct mem_cgroup *memcg, int64_t pages)
{
	for (; memcg; memcg = memcg->parent)
		if (memcg->max_pages != MEMCG_UNLIMITED &&
		    memcg->usage_pages + pages > memcg->max_pages)
			return memcg;
	return NULL;
}

void replay_make_room(struct replay *replay, struct mem_cgroup *memcg, int64_t pages)
{
	struct mm *mm = &replay->machine.mm;
	struct lru_cpu *cpu = &mm->cpu[replay_cpu(replay)];
	int64_t batch = mm->config.rules.memcg_stock_pages;
	struct mem_cgroup *full;
	bool drained = false;
	const struct reclaim_hooks hooks = {
		.ctx = replay,
		.evicted = evicted,
		.referenced = replay_referenced,
		.add_to_swap = replay_add_to_swap,
		.unmap = unmap,
		.write_out = replay_write_out,
		.wait_for_write = replay_wait_for_write,
	};
	int retries = CHARGE_RETRIES;

	replay_find_memory(replay, pages, &hooks);
	if (cpu->stock_memcg == memcg && cpu->stock_pages >= pages) {
		cpu->stock_pages -= pages;
		mm_charge(memcg, -pages); /* the folio's own charge puts them back */
		return;
	}
	if (pages < batch && !over_limit(memcg, batch)) {
		if (cpu->stock_memcg != memcg)
			return_stock(cpu);
		cpu->stock_memcg = memcg;
		cpu->stock_pages += batch - pages;
		mm_charge(memcg, batch - pages);
		if (cpu->stock_pages > batch)
			return_stock(cpu);
		return;
	}
	while ((full = over_limit(memcg, pages))) {
		int64_t lacking = full->usage_pages + pages - full->max_pages;
		int64_t goal = mm->policy->exact ? lacking : pages;
		int64_t before = full->usage_pages;

		reclaim_run(mm, full, (uint64_t)goal, replay->world->anon != NULL,
			    replay_cpu(replay), &hooks);
		if (!over_limit(memcg, pages))
			return;
		if (!drained) {
			for (unsigned int i = 0; i < mm->config.nr_cpus; i++)
				return_stock(&mm->cpu[i]);
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

void replay_follow_overhead(struct replay *replay)
{
	int64_t overhead;

	if (!replay->limited)
		return;
	overhead = replay->world->memcg[replay->world->limited_memcg].overhead_pages;
	if (overhead == replay->limited->overhead_pages)
		return;
	overhead -= replay->limited->overhead_pages;
	if (overhead > 0)
		replay_make_room(replay, replay->limited, overhead);
	mm_charge(replay->limited, overhead);
	replay->limited->overhead_pages += overhead;
}
