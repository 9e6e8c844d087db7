// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two loops that walk the oldest generation from its old end, in the shapes that a series of patches
 * proposes (docs/policies.md, lru_gen+prefetch and its neighbours):
 *
 *   shape            the folio to be scanned next       nr_pages                bumped folios
 *   as it is         the list's tail, looked up again   updated for each        moved one by one: reversed
 *   prefetch         remembered and its line fetched
 *   batch_counters                                      once a list's end
 *   bulk_move        remembered                                                 stay, moved as one run
 *
 * All are made from one body at compile time, merge_list() and scan_list(), so that two of them differ in
 * nothing but that.
 *
 * What the scan does with a folio, first match:
 *
 *   promoted     its flags name another generation          to the young end of that one
 *   protected    its tier may not go, or it is saturated    bumped: to the next generation
 *   ineligible   its zone is above what is asked for        bumped
 *   waiting      dirty or under writeback (locked)          bumped, to the young end, PG_reclaim set
 *   else         isolated, or set aside if that fails
 */
#include "replay/mm/lru_gen.h"

#define always_inline inline __attribute__((always_inline))

/* One call of lru_gen_scan_folios(). */
struct scan {
	struct mm *mm;
	struct lruvec *lruvec;
	struct lru_gen_folio *lrugen;
	const struct lru_gen_rules *rules;
	struct list_head *taken;
	int type, tier_idx, reclaim_idx;
	unsigned int remaining; /* folios that may still be looked at */
	uint64_t scanned, sorted, isolated; /* pages */
};

/* Folios bumped from one list, all of them to the next generation. */
struct bump_batch {
	int64_t pages;
	struct list_head *youngest; /* of the run that is still on the old list, NULL: none */
};

enum sorted_to {
	NOT_SORTED,
	SORTED_OLD_END,
	SORTED_YOUNG_END,
};

/*
 * One atomic instruction where the kernel has one: it waits for the folio's line, and what is loaded ahead
 * waits behind it.
 */
static always_inline void clear_flags_atomic(struct folio *folio, uint32_t flags)
{
	__atomic_fetch_and(&folio->flags, ~flags, __ATOMIC_SEQ_CST);
}

/*
 * The folio moves from the oldest generation to the next, in its flags.
 * Kernel: mm/vmscan.c, folio_inc_gen(), v6.18 and v6.12. Return: the generation it belongs to now.
 */
static always_inline int folio_inc_gen(const struct lru_gen_rules *rules, struct lruvec *lruvec,
				       struct folio *folio, int old_gen, bool reclaiming,
				       struct bump_batch *batch, const bool batch_counters)
{
	struct lru_gen_flags *flags = folio_lru_gen_flags(folio);
	int new_gen = (old_gen + 1) % MAX_NR_GENS;

	if (flags->gen != old_gen + 1)
		return flags->gen - 1; /* promoted meanwhile: it stays so */
	flags->gen = (uint8_t)(new_gen + 1);
	flags->refs = 0;
	clear_flags_atomic(folio, rules->refs_need_referenced ? PG_referenced :
								PG_referenced | PG_workingset);
	if (reclaiming)
		folio_set(folio, PG_reclaim);
	if (batch_counters)
		batch->pages += (int64_t)folio_nr_pages(folio);
	else
		lru_gen_update_size(lruvec, folio_is_file_lru(folio), flags->zone, old_gen, new_gen,
				    (int64_t)folio_nr_pages(folio));
	return new_gen;
}

static void count_protected(const struct lru_gen_rules *rules, struct lru_gen_folio *lrugen,
			    struct folio *folio, int type)
{
	unsigned int tier = lru_tier_from_refs(rules, folio_lru_refs(rules, folio),
					       folio_test(folio, PG_workingset));

	/* Saturated ones are moved whatever their tier does: from 6.14 on they do not count for it. */
	if (!rules->tier0_protected_counts || !lru_gen_saturated(rules, folio))
		lrugen->protected[type][tier] += folio_nr_pages(folio);
}

/* Take a run from @youngest to the list's tail to the old end of another list, in its order. */
static void move_run(struct list_head *head, struct list_head *youngest, struct list_head *to)
{
	struct list_head *oldest = head->prev, *before = youngest->prev;

	before->next = head;
	head->prev = before;
	youngest->prev = to->prev;
	to->prev->next = youngest;
	oldest->next = to;
	to->prev = oldest;
}

static always_inline void batch_done(struct lruvec *lruvec, struct lru_gen_folio *lrugen, int type,
				     int zone, int gen, const struct bump_batch *batch,
				     const bool batch_counters, const bool bulk_move)
{
	int next = (gen + 1) % MAX_NR_GENS;

	if (batch_counters && batch->pages)
		lru_gen_update_size(lruvec, type, zone, gen, next, batch->pages);
	if (bulk_move && batch->youngest)
		move_run(&lrugen->folios[gen][type][zone], batch->youngest,
			 &lrugen->folios[next][type][zone]);
}

static always_inline struct list_head *next_to_scan(const struct list_head *head,
						    struct list_head *pos, const bool prefetch)
{
	struct list_head *next = pos->prev;

	if (prefetch && next != head)
		__builtin_prefetch(&list_entry(next, struct folio, lru)->flags, 1);
	return next;
}

/* Kernel: mm/vmscan.c, inc_min_seq(), its inner loop, v6.18 and v6.12. Return: the list is empty. */
static always_inline bool merge_list(struct mm *mm, struct lruvec *lruvec, int type, int zone,
				     unsigned int *remaining, const bool batch_counters,
				     const bool bulk_move, const bool prefetch)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	int gen = lru_gen_from_seq(lrugen->min_seq[type]), bumped = (gen + 1) % MAX_NR_GENS;
	struct list_head *head = &lrugen->folios[gen][type][zone];
	struct bump_batch batch = { 0 };
	struct list_head *pos = head->prev, *next;
	uint64_t folios = 0;

	while (pos != head && *remaining) {
		struct folio *folio = list_entry(pos, struct folio, lru);
		int new_gen;

		next = next_to_scan(head, pos, prefetch);
		if (rules->tier0_protected_counts)
			count_protected(rules, lrugen, folio, type);
		new_gen = folio_inc_gen(rules, lruvec, folio, gen, false, &batch, batch_counters);
		if (bulk_move && new_gen == bumped)
			batch.youngest = pos;
		else
			list_move_tail(pos, &lrugen->folios[new_gen][type][zone]);
		folios++;
		--*remaining;
		pos = prefetch || bulk_move ? next : head->prev;
	}
	batch_done(lruvec, lrugen, type, zone, gen, &batch, batch_counters, bulk_move);
	lruvec->lock[LOCK_aging].folios += folios;
	/* The kernel looks at the budget after each folio: used up to the last one, it starts over. */
	return *remaining;
}

/* Why the scan moves a folio on. */
enum sort_reason {
	SORT_NOT,
	SORT_PROMOTED,
	SORT_PROTECTED,
	SORT_INELIGIBLE,
	SORT_WAITING,
};

static always_inline enum sort_reason sort_reason(const struct scan *scan, struct folio *folio,
						  int zone)
{
	const struct lru_gen_rules *rules = scan->rules;
	int oldest = lru_gen_from_seq(scan->lrugen->min_seq[scan->type]);
	unsigned int tier;

	if (folio_lru_gen_flags(folio)->gen != oldest + 1)
		return SORT_PROMOTED;
	tier = lru_tier_from_refs(rules, folio_lru_refs(rules, folio),
				  folio_test(folio, PG_workingset));
	if ((int)tier > scan->tier_idx ||
	    (rules->saturated_protected && lru_gen_saturated(rules, folio)))
		return SORT_PROTECTED;
	if (zone > scan->reclaim_idx)
		return SORT_INELIGIBLE;
	if (rules->dirty_folios_wait &&
	    (folio_test(folio, PG_writeback) || (scan->type && folio_test(folio, PG_dirty)) ||
	     (rules->locked_folios_wait && folio_test(folio, PG_locked))))
		return SORT_WAITING;
	return SORT_NOT;
}

/*
 * Kernel: mm/vmscan.c, sort_folio(), v6.18 and v6.12.
 * @gen: set to where the folio belongs. Return: to which end of that it goes.
 */
static always_inline enum sorted_to sort_folio(struct scan *scan, struct folio *folio, int zone,
					       int *gen, struct bump_batch *batch,
					       const bool batch_counters)
{
	const struct lru_gen_rules *rules = scan->rules;
	int oldest = lru_gen_from_seq(scan->lrugen->min_seq[scan->type]);
	enum sort_reason reason = sort_reason(scan, folio, zone);

	switch (reason) {
	case SORT_NOT:
		return NOT_SORTED;
	case SORT_PROMOTED:
		*gen = folio_lru_gen_flags(folio)->gen - 1;
		return SORTED_YOUNG_END;
	case SORT_PROTECTED:
		count_protected(rules, scan->lrugen, folio, scan->type);
		lruvec_count(scan->lruvec, COUNT_protected, folio_nr_pages(folio));
		if (rules->protection_counts_as_activation)
			lruvec_count(scan->lruvec,
				     scan->type ? COUNT_workingset_activate_file :
						  COUNT_workingset_activate_anon,
				     folio_nr_pages(folio));
		break;
	case SORT_INELIGIBLE:
	case SORT_WAITING:
		break;
	}
	*gen = folio_inc_gen(rules, scan->lruvec, folio, oldest, reason == SORT_WAITING, batch,
			     batch_counters);
	if (reason == SORT_WAITING || (reason == SORT_PROTECTED && rules->protected_to_young_end))
		return SORTED_YOUNG_END;
	return SORTED_OLD_END;
}

/* Kernel: mm/vmscan.c, isolate_folio(), v6.18 and v6.12. Differs: a folio on a list can always be had. */
static void isolate_folio(struct scan *scan, struct folio *folio)
{
	const struct lru_gen_rules *rules = scan->rules;

	if (!folio_test(folio, PG_referenced)) {
		folio_lru_gen_flags(folio)->refs = 0;
		if (!rules->refs_need_referenced)
			folio_clear(folio, PG_workingset);
	}
	if (!rules->refs_need_referenced)
		folio_clear(folio, PG_referenced);
	if (rules->dirty_folios_wait)
		folio_clear(folio, PG_reclaim);
	lru_gen_del_folio(scan->lruvec, folio, true);
	clear_flags_atomic(folio, PG_lru);
	folio_set(folio, FOLIO_isolated);
	list_add_tail(&folio->lru, scan->taken);
}

/* Kernel: mm/vmscan.c, scan_folios(), one zone's list, v6.18 and v6.12. */
static always_inline void scan_list(struct scan *scan, int zone, const bool batch_counters,
				    const bool bulk_move, const bool prefetch)
{
	struct lru_gen_folio *lrugen = scan->lrugen;
	int gen = lru_gen_from_seq(lrugen->min_seq[scan->type]), bumped = (gen + 1) % MAX_NR_GENS;
	struct list_head *head = &lrugen->folios[gen][scan->type][zone];
	struct bump_batch batch = { 0 };
	struct list_head *pos = head->prev, *next;

	while (pos != head) {
		struct folio *folio = list_entry(pos, struct folio, lru);
		uint64_t pages = folio_nr_pages(folio);
		enum sorted_to end;
		int new_gen = 0;

		next = next_to_scan(head, pos, prefetch);
		scan->scanned += pages;
		end = sort_folio(scan, folio, zone, &new_gen, &batch, batch_counters);
		if (end == NOT_SORTED) {
			isolate_folio(scan, folio);
			scan->isolated += pages;
		} else {
			scan->sorted += pages;
			if (end == SORTED_YOUNG_END)
				list_move(pos, &lrugen->folios[new_gen][scan->type][zone]);
			else if (bulk_move && new_gen == bumped)
				batch.youngest = pos;
			else
				list_move_tail(pos, &lrugen->folios[new_gen][scan->type][zone]);
		}
		if (!--scan->remaining || scan->isolated >= MIN_LRU_BATCH)
			break;
		pos = prefetch || bulk_move ? next : head->prev;
	}
	batch_done(scan->lruvec, lrugen, scan->type, zone, gen, &batch, batch_counters, bulk_move);
}

/* Each at the start of a cache line, so that none has the better place. */
#define SHAPE(name, batch_counters, bulk_move, prefetch)                                           \
	static __attribute__((noinline, aligned(64))) bool merge_##name(                           \
		struct mm *mm, struct lruvec *lruvec, int type, int zone, unsigned int *remaining) \
	{                                                                                          \
		return merge_list(mm, lruvec, type, zone, remaining, batch_counters, bulk_move,    \
				  prefetch);                                                       \
	}                                                                                          \
	static __attribute__((noinline, aligned(64))) void scan_##name(struct scan *scan,          \
								       int zone)                   \
	{                                                                                          \
		scan_list(scan, zone, batch_counters, bulk_move, prefetch);                        \
	}

SHAPE(plain, false, false, false)
SHAPE(prefetch, false, false, true)
SHAPE(bulk, false, true, false)
SHAPE(bulk_prefetch, false, true, true)
SHAPE(counters, true, false, false)
SHAPE(counters_prefetch, true, false, true)
SHAPE(counters_bulk, true, true, false)
SHAPE(counters_bulk_prefetch, true, true, true)

/* By batch_counters, bulk_move, prefetch. */
static const struct {
	bool (*merge)(struct mm *, struct lruvec *, int, int, unsigned int *);
	void (*scan)(struct scan *, int);
	const char *name;
} shape[2][2][2] = {
	{
		{ { merge_plain, scan_plain, "as in the kernel" },
		  { merge_prefetch, scan_prefetch, "prefetch" } },
		{ { merge_bulk, scan_bulk, "bulk move" },
		  { merge_bulk_prefetch, scan_bulk_prefetch, "bulk move, prefetch" } },
	},
	{
		{ { merge_counters, scan_counters, "batched counters" },
		  { merge_counters_prefetch, scan_counters_prefetch,
		    "batched counters, prefetch" } },
		{ { merge_counters_bulk, scan_counters_bulk, "batched counters, bulk move" },
		  { merge_counters_bulk_prefetch, scan_counters_bulk_prefetch,
		    "batched counters, bulk move, prefetch" } },
	},
};

const char *lru_gen_shape_name(const struct mm_rules *rules)
{
	const struct lru_gen_rules *lru_gen = &rules->lru_gen;

	return shape[lru_gen->batch_counters][lru_gen->bulk_move][lru_gen->prefetch].name;
}

bool lru_gen_merge_oldest(struct mm *mm, struct lruvec *lruvec, int type, unsigned int *remaining)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	bool (*merge)(struct mm *, struct lruvec *, int, int, unsigned int *) =
		shape[rules->batch_counters][rules->bulk_move][rules->prefetch].merge;

	for (int zone = 0; zone < MAX_NR_ZONES; zone++)
		if (!merge(mm, lruvec, type, zone, remaining))
			return false;
	return true;
}

static struct scan scan_of(struct mm *mm, const struct scan_request *request,
			   struct list_head *taken)
{
	return (struct scan){
		.mm = mm,
		.lruvec = request->lruvec,
		.lrugen = lruvec_lru_gen(request->lruvec),
		.rules = lru_gen_rules(mm),
		.taken = taken,
		.type = request->lru == LRU_INACTIVE_FILE,
		.tier_idx = request->tier_idx,
		.reclaim_idx = request->reclaim_idx,
		.remaining = request->nr_to_scan < MAX_LRU_BATCH ?
				     (unsigned int)request->nr_to_scan :
				     MAX_LRU_BATCH,
	};
}

uint64_t lru_gen_scan_folios(struct mm *mm, const struct scan_request *request,
			     struct list_head *taken, struct scan_result *result)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct scan scan = scan_of(mm, request, taken);

	/* Eligible zones from the highest down, then the ineligible ones. */
	for (int i = MAX_NR_ZONES; i > 0; i--) {
		shape[rules->batch_counters][rules->bulk_move][rules->prefetch].scan(
			&scan, (request->reclaim_idx + i) % MAX_NR_ZONES);
		if (!scan.remaining || scan.isolated >= MIN_LRU_BATCH)
			break;
	}
	result->nr_scanned += scan.scanned;
	result->nr_taken += scan.isolated;
	result->nr_pgscan += scan.isolated;
	result->nr_pgrefill += scan.sorted;
	return scan.isolated || !scan.remaining ? scan.scanned : 0;
}

void lru_gen_preview(struct mm *mm, const struct scan_request *request,
		     enum scan_fate (*fate)(void *ctx, struct folio *folio, bool would_take),
		     void *ctx, struct scan_result *result)
{
	struct scan scan = scan_of(mm, request, NULL);
	int gen = lru_gen_from_seq(scan.lrugen->min_seq[scan.type]);

	for (int i = MAX_NR_ZONES; i > 0; i--) {
		int zone = (request->reclaim_idx + i) % MAX_NR_ZONES;
		struct list_head *head = &scan.lrugen->folios[gen][scan.type][zone];

		for (struct list_head *pos = head->prev; pos != head; pos = pos->prev) {
			struct folio *folio = list_entry(pos, struct folio, lru);
			bool take = sort_reason(&scan, folio, zone) == SORT_NOT;

			result->nr_scanned += folio_nr_pages(folio);
			if (fate(ctx, folio, take) == SCAN_TAKES)
				result->nr_taken += folio_nr_pages(folio);
			if (!--scan.remaining || result->nr_taken >= MIN_LRU_BATCH)
				return;
		}
	}
}
