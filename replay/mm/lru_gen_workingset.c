// SPDX-License-Identifier: GPL-2.0-only
/*
 * A shadow holds the seq of the generation that was the oldest at the eviction, and the access count.
 * There is no distance: a refault is recent while that generation is the oldest one still, or from
 * 6.14 on while it would be one of the four youngest.
 *
 *   age    min_seq[type] << refs_width | accesses beyond the first, less one
 */
#include "replay/mm/lru_gen.h"

struct shadow lru_gen_eviction(const struct mm *mm, struct folio *folio)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct lruvec *lruvec = folio->lruvec;
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	int type = folio_is_file_lru(folio);
	unsigned int refs = folio_lru_refs(rules, folio);
	bool workingset = folio_test(folio, PG_workingset);

	lrugen->evicted[type][lru_tier_from_refs(rules, refs, workingset)] += folio_nr_pages(folio);
	return (struct shadow){
		.memcg_index = lruvec->memcg->index,
		.nid = (uint16_t)lruvec->nid,
		.workingset = rules->refs_need_referenced ? workingset : refs != 0,
		.age = lrugen->min_seq[type] << rules->refs_width | (refs ? refs - 1 : 0),
	};
}

static bool is_recent(const struct lru_gen_rules *rules, const struct lru_gen_folio *lrugen,
		      int type, uint64_t token)
{
	uint64_t mask = WORKINGSET_AGE_MASK >> rules->refs_width;
	uint64_t max_seq = lrugen->max_seq & mask;

	token >>= rules->refs_width;
	if (rules->recent_is_four_generations)
		return (max_seq > token ? max_seq - token : token - max_seq) < MAX_NR_GENS;
	return token == (lrugen->min_seq[type] & mask);
}

void lru_gen_refault(const struct mm *mm, struct folio *folio, struct shadow shadow)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct lruvec *lruvec = folio->lruvec;
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	int type = folio_is_file_lru(folio);
	uint64_t nr_pages = folio_nr_pages(folio);
	unsigned int low = (unsigned int)shadow.age & ((1u << rules->refs_width) - 1), refs;
	bool recent = is_recent(rules, lrugen, type, shadow.age);
	bool in_fault = folio_test(folio, FOLIO_in_fault), restored;

	folio_set(folio, FOLIO_refaulted);
	if (shadow.memcg_index != lruvec->memcg->index || shadow.nid != lruvec->nid)
		return;
	if (recent || rules->old_refaults_count)
		lruvec_count(lruvec,
			     type ? COUNT_workingset_refault_file : COUNT_workingset_refault_anon,
			     nr_pages);
	if (!recent)
		return;
	refs = low + (rules->refs_need_referenced ? 1u : (unsigned int)shadow.workingset);
	lrugen->refaulted[type][lru_tier_from_refs(rules, refs, shadow.workingset)] += nr_pages;
	if (rules->refs_need_referenced ? in_fault : !rules->protection_counts_as_activation)
		lruvec_count(lruvec,
			     type ? COUNT_workingset_activate_file : COUNT_workingset_activate_anon,
			     nr_pages);
	if (rules->refs_need_referenced) {
		restored = shadow.workingset;
		if (!restored)
			folio_lru_gen_flags(folio)->refs = (uint8_t)low;
	} else {
		restored = in_fault ||
			   refs >= (1u << rules->refs_width) - !rules->restored_at_saturation;
		if (restored)
			folio_lru_gen_flags(folio)->refs = (uint8_t)((1u << rules->refs_width) - 1);
	}
	if (!restored)
		return;
	folio_set(folio, PG_workingset);
	lruvec_count(lruvec, type ? COUNT_workingset_restore_file : COUNT_workingset_restore_anon,
		     nr_pages);
}
