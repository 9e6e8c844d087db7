// SPDX-License-Identifier: GPL-2.0-only
/*
 * Aging makes a new youngest generation. Generations are counted modulo four, so with four of them in
 * use the oldest has to make way first: its folios join the next, one by one from the old end to the old
 * end, which reverses them.
 *
 *   max_seq  5  4  3  2 = min_seq         max_seq  6  5  4  3 = min_seq
 *            .  c  b  a           -->              .  .  c  b a(reversed)
 *
 * Nobody ages at priority 12, and after a successful aging most releases evict nothing more in that
 * call: see policy/lru_gen.c.
 */
#include "replay/mm/lru_gen.h"

uint64_t lru_gen_evictable_pages(const struct mm *mm, const struct lruvec *lruvec,
				 unsigned int swappiness)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	uint64_t total = 0;

	for (int type = 0; type < ANON_AND_FILE; type++) {
		if (!lru_gen_evictable(mm, type, swappiness))
			continue;
		for (uint64_t seq = lrugen->min_seq[type]; seq <= lrugen->max_seq; seq++)
			for (int zone = 0; zone < MAX_NR_ZONES; zone++) {
				int64_t n = lrugen->nr_pages[lru_gen_from_seq(seq)][type][zone];

				total += n > 0 ? (uint64_t)n : 0;
			}
	}
	return total;
}

/* The share of lru_gen_evictable_pages() that is in one generation. */
static uint64_t pages_of_seq(const struct mm *mm, const struct lru_gen_folio *lrugen, uint64_t seq,
			     unsigned int swappiness)
{
	uint64_t total = 0;

	for (int type = 0; type < ANON_AND_FILE; type++)
		for (int zone = 0; zone < MAX_NR_ZONES; zone++) {
			int64_t n = lrugen->nr_pages[lru_gen_from_seq(seq)][type][zone];

			if (lru_gen_evictable(mm, type, swappiness) &&
			    seq >= lrugen->min_seq[type] && n > 0)
				total += (uint64_t)n;
		}
	return total;
}

uint64_t lru_gen_oldest_seq(const struct mm *mm, const struct lruvec *lruvec,
			    unsigned int swappiness)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	uint64_t oldest = lrugen->max_seq;

	if (lru_gen_rules(mm)->types_coupled)
		return lrugen->min_seq[swappiness ? LRU_GEN_ANON : LRU_GEN_FILE];
	for (int type = 0; type < ANON_AND_FILE; type++)
		if (lru_gen_evictable(mm, type, swappiness) && lrugen->min_seq[type] < oldest)
			oldest = lrugen->min_seq[type];
	return oldest;
}

bool lru_gen_should_age(const struct mm *mm, const struct lruvec *lruvec, unsigned int swappiness)
{
	const struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	uint64_t oldest = lru_gen_oldest_seq(mm, lruvec, swappiness);
	uint64_t total;

	if (!lru_gen_rules(mm)->aging_by_sizes)
		return oldest + MIN_NR_GENS >= lrugen->max_seq;
	if (oldest + MIN_NR_GENS != lrugen->max_seq)
		return oldest + MIN_NR_GENS > lrugen->max_seq;
	/* Three generations: better too early than with a young one too large or an old one too small. */
	total = lru_gen_evictable_pages(mm, lruvec, swappiness);
	return pages_of_seq(mm, lrugen, lrugen->max_seq, swappiness) * MIN_NR_GENS > total ||
	       pages_of_seq(mm, lrugen, oldest, swappiness) * (MIN_NR_GENS + 2) < total;
}

/*
 * The oldest generation of a type is given up, its folios join the next one.
 * Kernel: mm/vmscan.c, inc_min_seq(), v6.18. Return: false: the lock is to be dropped first.
 */
static bool inc_min_seq(struct mm *mm, struct lruvec *lruvec, int type, unsigned int swappiness)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	unsigned int remaining = MAX_LRU_BATCH;

	/*
	 * A type that may not be evicted is not moved: its oldest list becomes that of the new youngest
	 * generation, coldest folios and all.
	 */
	if (lru_gen_evictable(mm, type, swappiness) &&
	    !lru_gen_merge_oldest(mm, lruvec, type, &remaining))
		return false;
	reset_ctrl_pos(mm, lruvec, type);
	lrugen->min_seq[type]++;
	return true;
}

void lru_gen_inc_max_seq(struct mm *mm, struct lruvec *lruvec, unsigned int swappiness)
{
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	bool file_first = lru_gen_rules(mm)->types_coupled;
	int prev, next;

restart:
	lruvec_lock(lruvec, LOCK_aging, 0);
	for (int i = 0; i < ANON_AND_FILE; i++) {
		int type = file_first ? !i : i;

		if (get_nr_gens(lrugen, type) == MAX_NR_GENS &&
		    !inc_min_seq(mm, lruvec, type, swappiness))
			goto restart;
	}
	/* max_seq - 1 will not be active any more, and what becomes max_seq + 1 will be. */
	prev = lru_gen_from_seq(lrugen->max_seq - 1);
	next = lru_gen_from_seq(lrugen->max_seq + 1);
	for (int type = 0; type < ANON_AND_FILE; type++)
		for (int zone = 0; zone < MAX_NR_ZONES; zone++) {
			int64_t pages = lrugen->nr_pages[prev][type][zone] -
					lrugen->nr_pages[next][type][zone];
			enum lru_list inactive = type ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;

			lruvec_update_size(lruvec, inactive, pages);
			lruvec_update_size(lruvec, inactive + 1u, -pages);
		}
	lrugen->max_seq++;
	lrugen->birth_ns[next] = mm->now_ns;
	if (lruvec->has_mapped && !mm->walks_from_ns)
		mm->walks_from_ns = mm->now_ns;
	lruvec_count(lruvec, COUNT_aging, 1);
}

static bool oldest_is_empty(const struct lru_gen_folio *lrugen, int type, uint64_t seq)
{
	for (int zone = 0; zone < MAX_NR_ZONES; zone++)
		if (!list_empty(&lrugen->folios[lru_gen_from_seq(seq)][type][zone]))
			return false;
	return true;
}

/* Both types are in play: neither min_seq may get too far from the other. */
static void couple_min_seq(const struct lru_gen_rules *rules, const struct lru_gen_folio *lrugen,
			   uint64_t min_seq[ANON_AND_FILE])
{
	uint64_t *anon = &min_seq[LRU_GEN_ANON], *file = &min_seq[LRU_GEN_FILE];

	if (rules->types_coupled) {
		/* File gives up its own no earlier than anon does, even if they are empty. */
		if (*file < *anon)
			*anon = *file;
		*file = lrugen->min_seq[LRU_GEN_FILE];
		if (*file < *anon)
			*file = *anon;
	} else {
		uint64_t seq = lrugen->max_seq - MIN_NR_GENS;

		if (*anon > seq && *file < seq)
			*anon = seq;
		else if (*file > seq && *anon < seq)
			*file = seq;
	}
}

bool lru_gen_try_to_inc_min_seq(struct mm *mm, struct lruvec *lruvec, unsigned int swappiness)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);
	struct lru_gen_folio *lrugen = lruvec_lru_gen(lruvec);
	uint64_t min_seq[ANON_AND_FILE] = { lrugen->min_seq[0], lrugen->min_seq[1] };
	bool moved = false;

	for (int type = 0; type < ANON_AND_FILE; type++) {
		if (!lru_gen_evictable(mm, type, swappiness))
			continue;
		while (min_seq[type] + MIN_NR_GENS <= lrugen->max_seq &&
		       oldest_is_empty(lrugen, type, min_seq[type])) {
			min_seq[type]++;
			moved = true;
		}
	}
	if (rules->min_seq_returns_early && !moved)
		return false;
	if (swappiness && swappiness <= MAX_SWAPPINESS)
		couple_min_seq(rules, lrugen, min_seq);
	moved = false;
	for (int type = 0; type < ANON_AND_FILE; type++) {
		if (!lru_gen_evictable(mm, type, swappiness) ||
		    min_seq[type] == lrugen->min_seq[type])
			continue;
		/* Once, however many generations are given up at a time. */
		reset_ctrl_pos(mm, lruvec, type);
		lrugen->min_seq[type] = min_seq[type];
		moved = true;
	}
	return moved;
}
