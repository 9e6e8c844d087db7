// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/mmu_gather.h"

#include "replay/mm/mm.h"

#define FIRST_BUNDLE_SLOTS 8 /* MMU_GATHER_BUNDLE */
#define BUNDLES 20 /* the first and MAX_GATHER_BATCH_COUNT = 10000 / 510 more */

static void put_batch(struct mm *mm, struct mmu_gather *gather)
{
	if (gather->nr)
		mm_folios_put(mm, gather->folio, gather->nr);
	gather->nr = 0;
}

static void put_bundle(struct mm *mm, struct mmu_gather *gather)
{
	if (mm->config.rules.zap_drains && gather->nr)
		lru_add_drain(mm, gather->cpu, DRAIN_zap);
	put_batch(mm, gather);
	gather->slots = 0;
}

void mmu_gather_finish(struct mm *mm, struct mmu_gather *gather)
{
	put_bundle(mm, gather);
	gather->bundle = 0;
}

void mmu_gather_free(struct mm *mm, unsigned int cpu, struct mmu_gather *gather,
		     struct folio *folio)
{
	const struct mm_rules *rules = &mm->config.rules;
	unsigned int room = gather->bundle ? MMU_GATHER_BUNDLE_SLOTS : FIRST_BUNDLE_SLOTS;

	gather->cpu = cpu;
	if (!gather->bundle && !gather->slots && rules->zap_drains)
		lru_add_drain(mm, cpu, DRAIN_zap);
	/*
	 * A bundle is full while there is no room for a pair: mm/mmu_gather.c,
	 * __tlb_remove_folio_pages(). Before there were pairs, one slot was room enough.
	 */
	if (gather->slots >= room - (rules->release_pages ? 0 : 1)) {
		put_bundle(mm, gather);
		gather->bundle = (gather->bundle + 1) % BUNDLES;
	}
	gather->slots += folio->order && !rules->release_pages ? 2 : 1;
	gather->folio[gather->nr++] = folio;
	if (gather->nr == rules->folio_batch_size && !rules->release_pages)
		put_batch(mm, gather);
}
