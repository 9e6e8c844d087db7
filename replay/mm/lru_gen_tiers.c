// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often a folio was accessed is kept in two flags and a field of two bits:
 *
 *   accesses                0    1     2        3         4        5 and more
 *   up to 6.13, set         -    R     R WS     R WS, 1   2        3
 *   refs = field + WS       0    0     1        2         3        4
 *   tier                    0    0     1        2         2        3
 *   from 6.14 on, set       -    R     R, 1     2         3        3 and WS
 *   refs = R ? field+1 : 0  0    1     2        3         4        4
 *   tier                    0    0     1        2         2        3
 *
 * R is PG_referenced, WS PG_workingset. The last column is "saturated".
 *
 * Each tier's refault rate is held against that of tier 0, as a proportional controller would: its
 * folios may be evicted as long as they come back at most b/a times as often.
 */
#include "replay/mm/lru_gen.h"

/* Refaults and totals of a tier, of this generation and the average of those before. */
struct ctrl_pos {
	uint64_t refaulted, total;
	uint64_t gain;
};

static unsigned int refs_max(const struct lru_gen_rules *rules)
{
	return (1u << rules->refs_width) - 1;
}

void lru_gen_inc_refs(const struct mm *mm, struct folio *folio)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct lru_gen_flags *flags = folio_lru_gen_flags(folio);

	if (folio_test(folio, PG_unevictable))
		return;
	if (!folio_test(folio, PG_referenced)) {
		folio_set(folio, PG_referenced);
		if (rules->refs_need_referenced)
			flags->refs = 0;
		return;
	}
	if (!rules->refs_need_referenced && !folio_test(folio, PG_workingset))
		folio_set(folio, PG_workingset);
	else if (flags->refs < refs_max(rules))
		flags->refs++;
	else if (rules->refs_need_referenced)
		folio_set(folio, PG_workingset);
}

void lru_gen_set_accesses(const struct mm *mm, struct folio *folio, unsigned int accesses)
{
	folio_clear(folio, PG_referenced | PG_workingset);
	folio_lru_gen_flags(folio)->refs = 0;
	while (accesses--)
		lru_gen_inc_refs(mm, folio);
}

unsigned int folio_lru_refs(const struct lru_gen_rules *rules, const struct folio *folio)
{
	const struct lru_gen_flags *flags = (const struct lru_gen_flags *)folio->private;

	if (rules->refs_need_referenced)
		return folio_test(folio, PG_referenced) ? flags->refs + 1u : 0;
	return flags->refs + (folio_test(folio, PG_workingset) ? 1u : 0u);
}

static unsigned int ceil_log2(unsigned int x)
{
	unsigned int log = 0;

	while (1u << log < x)
		log++;
	return log;
}

unsigned int lru_tier_from_refs(const struct lru_gen_rules *rules, unsigned int refs,
				bool workingset)
{
	if (rules->refs_need_referenced)
		return workingset ? MAX_NR_TIERS - 1 : ceil_log2(refs);
	return ceil_log2(refs + 1);
}

bool lru_gen_saturated(const struct lru_gen_rules *rules, const struct folio *folio)
{
	unsigned int refs = folio_lru_refs(rules, folio);

	if (rules->refs_need_referenced)
		return refs + (folio_test(folio, PG_workingset) ? 1u : 0u) == refs_max(rules) + 2;
	return refs == refs_max(rules) + 1;
}

/* @tier: MAX_NR_TIERS sums up all of them. */
static struct ctrl_pos read_ctrl_pos(const struct mm *mm, const struct lru_gen_folio *lrugen,
				     int type, int tier, uint64_t gain)
{
	struct ctrl_pos pos = { .gain = gain };
	int last = tier < MAX_NR_TIERS ? tier : MAX_NR_TIERS - 1;

	for (int t = tier % MAX_NR_TIERS; t <= last; t++) {
		pos.refaulted += lrugen->avg_refaulted[type][t] + lrugen->refaulted[type][t];
		pos.total += lrugen->avg_total[type][t] + lrugen->evicted[type][t];
		if (t || lru_gen_rules(mm)->tier0_protected_counts)
			pos.total += lrugen->protected[type][t];
	}
	return pos;
}

/* Those of @pv come back rarely enough, compared with those of @sp, to be evicted. */
static bool positive_ctrl_err(const struct ctrl_pos *sp, const struct ctrl_pos *pv)
{
	return pv->refaulted < MIN_LRU_BATCH ||
	       pv->refaulted * (sp->total + MIN_LRU_BATCH) * sp->gain <=
		       (sp->refaulted + 1) * pv->total * pv->gain;
}

/* Tiers 1 to @return may go as tier 0, or whatever @sp is, may. */
static int highest_tier(const struct mm *mm, const struct lru_gen_folio *lrugen, int type,
			const struct ctrl_pos *sp, uint64_t gain)
{
	int tier;

	for (tier = 1; tier < MAX_NR_TIERS; tier++) {
		struct ctrl_pos pv = read_ctrl_pos(mm, lrugen, type, tier, gain);

		if (!positive_ctrl_err(sp, &pv))
			break;
	}
	return tier - 1;
}

int get_tier_idx(const struct mm *mm, const struct lruvec *lruvec, int type)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct ctrl_pos sp = read_ctrl_pos(mm, lrugen, type, 0, rules->tier0_gain);

	return highest_tier(mm, lrugen, type, &sp, rules->tier_gain);
}

int get_type_to_scan(const struct mm *mm, const struct lruvec *lruvec, unsigned int swappiness,
		     int *tier_idx)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	const uint64_t gain[ANON_AND_FILE] = { swappiness, MAX_SWAPPINESS - swappiness };
	bool all_tiers = lru_gen_rules(mm)->type_by_all_tiers;
	int first = all_tiers ? MAX_NR_TIERS : 0, type;
	struct ctrl_pos sp = read_ctrl_pos(mm, lrugen, LRU_GEN_ANON, first, gain[LRU_GEN_ANON]);
	struct ctrl_pos pv = read_ctrl_pos(mm, lrugen, LRU_GEN_FILE, first, gain[LRU_GEN_FILE]);

	type = positive_ctrl_err(&sp, &pv);
	*tier_idx = -1;
	if (all_tiers)
		return type;
	sp = read_ctrl_pos(mm, lrugen, !type, 0, gain[!type]);
	*tier_idx = highest_tier(mm, lrugen, type, &sp, gain[type]);
	return type;
}

void reset_ctrl_pos(const struct mm *mm, struct lruvec *lruvec, int type)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);

	for (int tier = 0; tier < MAX_NR_TIERS; tier++) {
		struct ctrl_pos pos = read_ctrl_pos(mm, lrugen, type, tier, 1);

		lrugen->avg_refaulted[type][tier] = pos.refaulted / 2;
		lrugen->avg_total[type][tier] = pos.total / 2;
		lrugen->refaulted[type][tier] = 0;
		lrugen->evicted[type][tier] = 0;
		lrugen->protected[type][tier] = 0;
	}
}
