// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file system's metadata. Only a part of its look-ups is on a tape (docs/fidelity.md), so that what is known of
 * a folio's accesses is the least. A scan's figures may say that it had more; which of several it was, its
 * victims may.
 */
#include "replay/check/lru_gen.h"

#define SATURATED 5 /* accesses: no more are counted */
#define METADATA_TRIED 6 /* folios of one scan */

struct metadata_guess {
	struct check *check;
	struct folio
		*folio[METADATA_TRIED]; /* which a scan takes, by the accesses that are known */
	unsigned int nr;
	unsigned int flipped; /* bit i: it moves folio[i] on */
};

static enum scan_fate guess_fate(void *ctx, struct folio *folio, bool would_take)
{
	struct metadata_guess *guess = ctx;
	unsigned int i = 0;

	if (!would_take || !check_is_metadata(guess->check, folio))
		return would_take ? SCAN_TAKES : SCAN_MOVES_ON;
	while (i < guess->nr && guess->folio[i] != folio)
		i++;
	if (i == METADATA_TRIED)
		return SCAN_TAKES;
	if (i == guess->nr)
		guess->folio[guess->nr++] = folio;
	return guess->flipped >> i & 1 ? SCAN_MOVES_ON : SCAN_TAKES;
}

static bool comes_out(struct mm *mm, const struct scan_request *request,
		      struct metadata_guess *guess, uint64_t nr_scanned, uint64_t nr_taken)
{
	struct scan_result result = { 0 };

	lru_gen_preview(mm, request, guess_fate, guess, &result);
	return result.nr_scanned == nr_scanned && result.nr_taken == nr_taken;
}

/* The one that is known to have been looked up more often is the likelier one. */
static void sort_by_refs(const struct mm *mm, struct metadata_guess *guess)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);

	for (unsigned int i = 1; i < guess->nr; i++)
		for (unsigned int j = i; j > 0; j--) {
			struct folio *folio = guess->folio[j], *before = guess->folio[j - 1];

			if (folio_lru_refs(rules, folio) <= folio_lru_refs(rules, before))
				break;
			guess->folio[j] = before;
			guess->folio[j - 1] = folio;
		}
}

static unsigned int tier_of(const struct mm *mm, const struct folio *folio)
{
	const struct lru_gen_rules *rules = lru_gen_rules(mm);

	return lru_tier_from_refs(rules, folio_lru_refs(rules, folio),
				  folio_test(folio, PG_workingset));
}

static bool is_protected(const struct mm *mm, const struct folio *folio, int tier_idx)
{
	return (int)tier_of(mm, folio) > tier_idx || lru_gen_saturated(lru_gen_rules(mm), folio);
}

void lru_gen_settle_metadata(struct check *check, const struct scan_request *request,
			     uint64_t nr_scanned, uint64_t nr_taken)
{
	struct mm *mm = &check->machine.mm;
	struct metadata_guess guess = { .check = check };

	check->nr_guessed = 0;
	if (comes_out(mm, request, &guess, nr_scanned, nr_taken))
		return;
	sort_by_refs(mm, &guess);
	do {
		if (++guess.flipped >= 1u << guess.nr)
			return;
	} while (!comes_out(mm, request, &guess, nr_scanned, nr_taken));
	for (unsigned int i = 0; i < guess.nr; i++) {
		struct folio *folio = guess.folio[i];
		struct guessed_folio *guessed = &check->guessed[check->nr_guessed];

		if (!(guess.flipped >> i & 1) || check->nr_guessed == GUESSED_ROOM)
			continue;
		world_infer(check->world, INFER_metadata_tier);
		*guessed = (struct guessed_folio){
			.folio = folio,
			.flags = folio->flags & (PG_referenced | PG_workingset),
			.refs = folio_lru_gen_flags(folio)->refs,
		};
		check->nr_guessed++;
		/* Without the event that tells most look-ups, one that was looked up again was often. */
		if (!check->world->touches_seen)
			lru_gen_set_accesses(mm, folio, SATURATED);
		while (!is_protected(mm, folio, request->tier_idx))
			lru_gen_inc_refs(mm, folio);
		guessed->tier = tier_of(mm, folio);
	}
}

static struct folio *other_metadata(const struct check *check,
				    const struct reclaim_bracket *bracket)
{
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (check_is_metadata(check, folio) && !folio_test(folio, FOLIO_survivor))
			return folio;
	}
	return NULL;
}

/* It has what is known to be its accesses; with those that were thought to be its the other one goes on. */
static void exchange(struct check *check, struct folio *folio, struct folio *other)
{
	struct mm *mm = &check->machine.mm;
	struct lru_gen_folio *lrugen = lruvec_lru_gen(folio->lruvec);
	int type = folio_is_file_lru(folio);

	lru_gen_set_accesses(mm, folio, 0);
	for (unsigned int i = 0; i < check->nr_guessed; i++) {
		const struct guessed_folio *guessed = &check->guessed[i];

		if (guessed->folio != folio)
			continue;
		/* A scan that takes a folio clears its reference, or counts from anew where it had none. */
		folio_set(folio, guessed->flags & PG_workingset);
		folio_lru_gen_flags(folio)->refs = guessed->refs;
		if (lrugen->protected[type][guessed->tier] > 0)
			lrugen->protected[type][guessed->tier] -= folio_nr_pages(folio);
		lrugen->protected[type][guessed->tier] += folio_nr_pages(other);
	}
}

void lru_gen_settle_victim(struct check *check, struct reclaim_bracket *bracket,
			   struct folio *folio)
{
	struct mm *mm = &check->machine.mm;
	struct lruvec *lruvec = folio->lruvec;
	struct folio *other;

	if (!folio_test(folio, PG_lru) || !check_is_metadata(check, folio))
		return;
	other = other_metadata(check, bracket);
	if (!other)
		return;
	world_infer(check->world, INFER_metadata_tier);
	mm->policy->folio_removed(mm, lruvec, folio);
	folio_clear(folio, PG_active);
	exchange(check, folio, other);
	folio_set(folio, FOLIO_isolated);
	list_add(&folio->lru, &other->lru);
	list_del(&other->lru);
	folio_clear(other, FOLIO_isolated);
	folio_set(other, PG_lru);
	lru_gen_add_bumped(mm, lruvec, other);
}
