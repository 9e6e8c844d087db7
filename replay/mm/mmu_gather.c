// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/mmu_gather.h"

#include "replay/mm/mm.h"

#define FIRST_BUNDLE_SLOTS 8 /* MMU_GATHER_BUNDLE */
#define BUNDLE_SLOTS 510 /* MAX_GATHER_BATCH: a page less its header, in pointers */
#define BUNDLES 20 /* the first and MAX_GATHER_BATCH_COUNT = 10000 / 510 more */

static void put_batch(struct mm *mm, struct mmu_gather *gather)
{
	if (gather->nr)
		mm_folios_put(mm, gather->folio, gather->nr);
	gather->nr = 0;
}

void mmu_gather_finish(struct mm *mm, struct mmu_gather *gather)
{
	put_batch(mm, gather);
	gather->bundle = 0;
	gather->slots = 0;
}

void mmu_gather_free(struct mm *mm, struct mmu_gather *gather, struct folio *folio)
{
	unsigned int room = gather->bundle ? BUNDLE_SLOTS : FIRST_BUNDLE_SLOTS;

	/* A bundle is full while there is no room for a pair: mm/mmu_gather.c, __tlb_remove_folio_pages(). */
	if (gather->slots >= room - 1) {
		put_batch(mm, gather);
		gather->slots = 0;
		gather->bundle = (gather->bundle + 1) % BUNDLES;
	}
	gather->slots += folio->order ? 2 : 1;
	gather->folio[gather->nr++] = folio;
	if (gather->nr == mm->config.rules.folio_batch_size)
		put_batch(mm, gather);
}
