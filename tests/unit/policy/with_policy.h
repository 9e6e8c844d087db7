/* SPDX-License-Identifier: GPL-2.0-only */
/* A drawn machine under a policy's full name, and the churn of a task that fills memory and drops it. */
#ifndef TESTS_UNIT_POLICY_WITH_POLICY_H
#define TESTS_UNIT_POLICY_WITH_POLICY_H

#include "replay/mm/mmu_gather.h"

#include "tests/unit/mm/drawn.h"

#define CHURN_FIRST_PFN 65536

static inline struct drawn *open_policy(const char *name)
{
	struct mm_config config = drawn_config();
	struct policy_choice choice;
	char why[256];

	assert_int_equal(policy_parse(name, "6.18", &choice, why, sizeof(why)), 0);
	config.rules = choice.rules;
	return drawn_open(config);
}

/* New folios wait for their list, then a zap frees them in the order in which they came. */
static inline void churn(struct drawn *drawn, unsigned int loops, unsigned int folios,
			 uint8_t order)
{
	uint64_t next = CHURN_FIRST_PFN;

	for (unsigned int loop = 0; loop < loops; loop++) {
		struct mmu_gather gather = { 0 };
		uint64_t first = next;

		for (; next < first + ((uint64_t)folios << order); next += UINT64_C(1) << order)
			folio_add_lru_vma(&drawn->mm, 0,
					  drawn_folio_of(drawn, drawn->group, next, order,
							 PG_swapbacked));
		for (uint64_t pfn = first; pfn < next; pfn += UINT64_C(1) << order)
			mmu_gather_free(&drawn->mm, 0, &gather, folio_at(drawn, pfn));
		mmu_gather_finish(&drawn->mm, &gather);
	}
}

static inline void churn_over(struct drawn *drawn)
{
	lru_add_drain(&drawn->mm, 0, DRAIN_end);
	assert_int_equal(drawn->group->usage_pages, 0);
	assert_mm_holds(&drawn->mm);
}

#endif
