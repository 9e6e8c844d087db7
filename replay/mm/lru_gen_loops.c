// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loops of lru_gen_scan.c and lru_gen_aging.c, each over one list: the oldest generation of file folios in
 * one zone, as long as asked for.
 *
 *   inc_min_seq     a budget of MAX_LRU_BATCH at a time, all join the next generation
 *   sort_folio      scanned, and all protected: bumped to the next generation
 *   isolate_folio   scanned, and all isolated, MIN_LRU_BATCH at a time
 */
#include "replay/mm/lru_gen.h"

#define LOOP_ZONE 2 /* ZONE_NORMAL of x86 */
#define PROTECTED_ACCESSES 3 /* by file descriptor: of tier 1 or higher in each release */

static void fill(struct mm *mm, struct lruvec *lruvec, struct folio *const *folio, uint64_t nr,
		 unsigned int accesses)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	int gen = lru_gen_from_seq(0);

	(void)mm;
	lru_gen_init_lruvec(lruvec);
	for (uint64_t i = 0; i < nr; i++) {
		struct lru_gen_flags *flags = folio_lru_gen_flags(folio[i]);

		folio[i]->lruvec = lruvec;
		folio[i]->flags = FOLIO_alive | PG_lru;
		*flags = (struct lru_gen_flags){ .gen = (uint8_t)(gen + 1), .zone = LOOP_ZONE };
		for (unsigned int n = 0; n < accesses; n++)
			lru_gen_inc_refs(mm, folio[i]);
		list_add(&folio[i]->lru, &lrugen->folios[gen][LRU_GEN_FILE][LOOP_ZONE]);
		lru_gen_update_size(lruvec, LRU_GEN_FILE, LOOP_ZONE, -1, gen,
				    (int64_t)folio_nr_pages(folio[i]));
	}
}

static void fill_read_once(struct mm *mm, struct lruvec *lruvec, struct folio *const *folio,
			   uint64_t nr)
{
	fill(mm, lruvec, folio, nr, 0);
}

static void fill_protected(struct mm *mm, struct lruvec *lruvec, struct folio *const *folio,
			   uint64_t nr)
{
	fill(mm, lruvec, folio, nr, PROTECTED_ACCESSES);
}

static bool used_up(const struct lruvec *lruvec)
{
	return list_empty(
		&lruvec_lru_gen(lruvec)->folios[lru_gen_from_seq(0)][LRU_GEN_FILE][LOOP_ZONE]);
}

static uint64_t run_inc_min_seq(struct mm *mm, struct lruvec *lruvec)
{
	uint64_t folios = 0;

	while (!used_up(lruvec)) {
		unsigned int remaining = MAX_LRU_BATCH;

		lru_gen_merge_oldest(mm, lruvec, LRU_GEN_FILE, &remaining);
		folios += MAX_LRU_BATCH - remaining;
	}
	return folios;
}

static uint64_t run_scan(struct mm *mm, struct lruvec *lruvec, int tier_idx)
{
	const struct scan_request request = {
		.lruvec = lruvec,
		.lru = LRU_INACTIVE_FILE,
		.nr_to_scan = MAX_LRU_BATCH,
		.tier_idx = tier_idx,
		.reclaim_idx = MAX_NR_ZONES - 1,
	};
	struct scan_result result = { 0 };

	while (!used_up(lruvec)) {
		struct list_head taken;

		list_init(&taken);
		lru_gen_scan_folios(mm, &request, &taken, &result);
	}
	return result.nr_scanned; /* pages, and each folio is one */
}

static uint64_t run_sort_folio(struct mm *mm, struct lruvec *lruvec)
{
	return run_scan(mm, lruvec, 0);
}

static uint64_t run_isolate_folio(struct mm *mm, struct lruvec *lruvec)
{
	return run_scan(mm, lruvec, MAX_NR_TIERS);
}

const struct list_loop lru_gen_loop[NR_LRU_GEN_LOOPS] = {
	{ "inc_min_seq", fill_read_once, run_inc_min_seq },
	{ "sort_folio", fill_protected, run_sort_folio },
	{ "isolate_folio", fill_read_once, run_isolate_folio },
};
