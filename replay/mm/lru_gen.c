// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/lru_gen.h"

void lru_gen_init_lruvec(struct lruvec *lruvec)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);

	lrugen->max_seq = MIN_NR_GENS + 1;
	for (int gen = 0; gen < MAX_NR_GENS; gen++)
		for (int type = 0; type < ANON_AND_FILE; type++)
			for (int zone = 0; zone < MAX_NR_ZONES; zone++)
				list_init(&lrugen->folios[gen][type][zone]);
}

void lru_gen_update_size(struct lruvec *lruvec, int type, int zone, int old_gen, int new_gen,
			 int64_t pages)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	enum lru_list old, new;

	if (old_gen >= 0)
		lrugen->nr_pages[old_gen][type][zone] -= pages;
	if (new_gen >= 0)
		lrugen->nr_pages[new_gen][type][zone] += pages;
	if (old_gen < 0) {
		lruvec_update_size(lruvec, lru_gen_list(lrugen, type, new_gen), pages);
		return;
	}
	old = lru_gen_list(lrugen, type, old_gen);
	if (new_gen < 0) {
		lruvec_update_size(lruvec, old, -pages);
		return;
	}
	new = lru_gen_list(lrugen, type, new_gen);
	if (!(old & 1) && (new & 1)) {
		lruvec_update_size(lruvec, old, -pages);
		lruvec_update_size(lruvec, new, pages);
	}
}

/* Reclaim started to write it, and that is not over: not to be met again too soon. */
static bool under_reclaim(const struct folio *folio)
{
	return folio_test(folio, PG_reclaim) && folio_test(folio, PG_dirty | PG_writeback);
}

static bool not_in_swap_cache(const struct folio *folio)
{
	return !folio_is_file_lru(folio) && !folio_test(folio, PG_swapcache);
}

/* Up to 6.13: since 6.1.69 and 6.7, and before that. */
static uint64_t seq_by_place(const struct lru_gen_rules *rules, const struct lru_gen_folio *lrugen,
			     const struct folio *folio, bool reclaiming)
{
	uint64_t min_seq = lrugen->min_seq[folio_is_file_lru(folio)];

	if (folio_test(folio, PG_active))
		return lrugen->max_seq;
	if (not_in_swap_cache(folio) || under_reclaim(folio))
		return rules->new_to_oldest ? min_seq + 1 : lrugen->max_seq - 1;
	if (reclaiming || rules->new_to_oldest || min_seq + MIN_NR_GENS >= lrugen->max_seq)
		return min_seq;
	return min_seq + 1;
}

/* From 6.14 on: counted back from the youngest. */
static uint64_t seq_by_age(const struct lru_gen_folio *lrugen, const struct folio *folio,
			   bool reclaiming)
{
	uint64_t min_seq = lrugen->min_seq[folio_is_file_lru(folio)], seq;
	unsigned int workingset = folio_test(folio, PG_workingset), gen;

	if (folio_test(folio, PG_active))
		gen = MIN_NR_GENS - workingset;
	else if (reclaiming)
		gen = MAX_NR_GENS;
	else if (not_in_swap_cache(folio) || under_reclaim(folio))
		gen = MIN_NR_GENS;
	else
		gen = MAX_NR_GENS - workingset;
	seq = lrugen->max_seq + 1 - gen;
	return lrugen->max_seq + 1 < gen || seq < min_seq ? min_seq : seq;
}

uint64_t lru_gen_folio_seq(const struct mm *mm, const struct lruvec *lruvec,
			   const struct folio *folio, bool reclaiming)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);

	const struct lru_gen_rules *rules = lru_gen_rules(mm);

	return rules->insertion_by_age ? seq_by_age(lrugen, folio, reclaiming) :
					 seq_by_place(rules, lrugen, folio, reclaiming);
}

void lru_gen_add_folio(struct mm *mm, struct lruvec *lruvec, struct folio *folio, bool reclaiming)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	struct lru_gen_flags *flags = folio_lru_gen_flags(folio);
	int type = folio_is_file_lru(folio), gen;
	struct list_head *list;

	if (folio_test(folio, PG_unevictable)) {
		folio_clear(folio, PG_active);
		lruvec_add_folio(lruvec, folio);
		return;
	}
	gen = lru_gen_from_seq(lru_gen_folio_seq(mm, lruvec, folio, reclaiming));
	if (folio_test(folio, PG_active) && lru_gen_rules(mm)->activation_clears_refs) {
		flags->refs = 0;
		folio_clear(folio, PG_referenced);
	}
	folio_clear(folio, PG_active);
	flags->gen = (uint8_t)(gen + 1);
	flags->zone = mm_folio_zone(mm, folio);
	lru_gen_update_size(lruvec, type, flags->zone, -1, gen, (int64_t)folio_nr_pages(folio));
	list = &lrugen->folios[gen][type][flags->zone];
	if (reclaiming)
		list_add_tail(&folio->lru, list);
	else
		list_add(&folio->lru, list);
}

void lru_gen_add_bumped(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	struct lru_gen_flags *flags = folio_lru_gen_flags(folio);
	int type = folio_is_file_lru(folio), gen = lru_gen_from_seq(lrugen->min_seq[type] + 1);
	struct list_head *list;

	flags->gen = (uint8_t)(gen + 1);
	flags->zone = mm_folio_zone(mm, folio);
	lru_gen_update_size(lruvec, type, flags->zone, -1, gen, (int64_t)folio_nr_pages(folio));
	list = &lrugen->folios[gen][type][flags->zone];
	if (lru_gen_rules(mm)->protected_to_young_end)
		list_add(&folio->lru, list);
	else
		list_add_tail(&folio->lru, list);
}

void lru_gen_del_folio(struct lruvec *lruvec, struct folio *folio, bool reclaiming)
{
	struct lru_gen_flags *flags = folio_lru_gen_flags(folio);
	int gen = flags->gen - 1;

	if (gen < 0) {
		lruvec_del_folio(lruvec, folio);
		return;
	}
	if (!reclaiming && lru_gen_is_active(lruvec_lru_gen(lruvec), gen))
		folio_set(folio, PG_active);
	flags->gen = 0;
	lru_gen_update_size(lruvec, folio_is_file_lru(folio), flags->zone, gen, -1,
			    (int64_t)folio_nr_pages(folio));
	list_del(&folio->lru);
}

/* Folios on one list; what the flags say is added up in @pages, by generation. */
static bool check_list(const struct lruvec *lruvec, int type, int zone, int gen,
		       int64_t pages[MAX_NR_GENS][ANON_AND_FILE][MAX_NR_ZONES])
{
	const struct list_head *head = &lruvec_lru_gen(lruvec)->folios[gen][type][zone];

	for (struct list_head *pos = head->next; pos != head; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);
		const struct lru_gen_flags *flags = folio_lru_gen_flags(folio);

		if (!folio_test(folio, PG_lru) || folio_test(folio, PG_active | PG_unevictable) ||
		    folio->lruvec != lruvec || folio_is_file_lru(folio) != type ||
		    flags->zone != zone || !flags->gen || flags->gen > MAX_NR_GENS)
			return false;
		pages[flags->gen - 1][type][zone] += (int64_t)folio_nr_pages(folio);
	}
	return true;
}

bool lru_gen_check(const struct mm *mm, const struct lruvec *lruvec)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	int64_t pages[MAX_NR_GENS][ANON_AND_FILE][MAX_NR_ZONES] = { 0 };
	int64_t size[NR_LRU_LISTS] = { 0 };

	for (int type = 0; type < ANON_AND_FILE; type++) {
		unsigned int nr = get_nr_gens(lrugen, type);

		if (nr < MIN_NR_GENS || nr > MAX_NR_GENS)
			return false;
	}
	if (lru_gen_rules(mm)->types_coupled &&
	    lrugen->min_seq[LRU_GEN_ANON] > lrugen->min_seq[LRU_GEN_FILE])
		return false;
	for (int gen = 0; gen < MAX_NR_GENS; gen++)
		for (int type = 0; type < ANON_AND_FILE; type++)
			for (int zone = 0; zone < MAX_NR_ZONES; zone++)
				if (!check_list(lruvec, type, zone, gen, pages))
					return false;
	for (int gen = 0; gen < MAX_NR_GENS; gen++)
		for (int type = 0; type < ANON_AND_FILE; type++)
			for (int zone = 0; zone < MAX_NR_ZONES; zone++) {
				if (pages[gen][type][zone] != lrugen->nr_pages[gen][type][zone])
					return false;
				size[lru_gen_list(lrugen, type, gen)] += pages[gen][type][zone];
			}
	for (int lru = 0; lru < LRU_UNEVICTABLE; lru++)
		if (size[lru] != lruvec->lru_size[lru])
			return false;
	return true;
}
