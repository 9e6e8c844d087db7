// SPDX-License-Identifier: GPL-2.0-only
/* Charges that a CPU keeps in stock, so that not each folio's charge climbs the tree of memcgs. */
#include "replay/engine/state.h"

#include <assert.h>

static void drain_stock(struct memcg_stock *stock)
{
	if (stock->memcg && stock->pages)
		mm_charge(stock->memcg, -stock->pages);
	*stock = (struct memcg_stock){ 0 };
}

bool replay_stock_consume(struct replay *replay, struct mem_cgroup *memcg, int64_t pages)
{
	struct mm *mm = &replay->machine.mm;
	struct lru_cpu *cpu = &mm->cpu[replay_cpu(replay)];

	for (unsigned int i = 0; i < mm->config.rules.nr_memcg_stocks; i++) {
		struct memcg_stock *stock = &cpu->stock[i];

		if (stock->memcg != memcg)
			continue;
		if (stock->pages < pages)
			return false;
		stock->pages -= pages;
		mm_charge(memcg, -pages); /* the folio's own charge puts them back */
		return true;
	}
	return false;
}

/* The memcg's slot, a free one, or one that makes room for it. */
static struct memcg_stock *slot_for(struct lru_cpu *cpu, const struct mem_cgroup *memcg,
				    unsigned int nr_slots)
{
	struct memcg_stock *stock = NULL;

	assert(nr_slots && nr_slots <= MEMCG_STOCK_LIMIT);
	for (unsigned int i = 0; i < nr_slots; i++) {
		if (cpu->stock[i].memcg == memcg)
			return &cpu->stock[i];
		if (!stock && !cpu->stock[i].memcg)
			stock = &cpu->stock[i];
	}
	if (!stock) {
		stock = &cpu->stock[cpu->next_stock];
		cpu->next_stock = (cpu->next_stock + 1) % nr_slots;
		drain_stock(stock);
	}
	return stock;
}

void replay_stock_refill(struct replay *replay, struct mem_cgroup *memcg, int64_t pages)
{
	struct mm *mm = &replay->machine.mm;
	struct memcg_stock *stock = slot_for(&mm->cpu[replay_cpu(replay)], memcg,
					     mm->config.rules.nr_memcg_stocks);

	stock->memcg = memcg;
	stock->pages += pages;
	mm_charge(memcg, pages);
	if (stock->pages > mm->config.rules.memcg_stock_pages)
		drain_stock(stock);
}

static bool any_stock_below(const struct lru_cpu *cpu, const struct mem_cgroup *top)
{
	for (unsigned int i = 0; i < MEMCG_STOCK_LIMIT; i++) {
		const struct mem_cgroup *memcg = cpu->stock[i].memcg;

		while (memcg && memcg != top)
			memcg = memcg->parent;
		if (memcg && cpu->stock[i].pages)
			return true;
	}
	return false;
}

void replay_stock_drain_all(struct replay *replay, const struct mem_cgroup *top)
{
	struct mm *mm = &replay->machine.mm;

	for (unsigned int n = 0; n < mm->config.nr_cpus; n++) {
		if (!any_stock_below(&mm->cpu[n], top))
			continue;
		for (unsigned int i = 0; i < MEMCG_STOCK_LIMIT; i++)
			drain_stock(&mm->cpu[n].stock[i]);
	}
}
