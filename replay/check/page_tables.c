// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose page tables point to a file folio, and which of an active list's folios stay there.
 *
 * shrink_active_list() keeps executable file folios that were accessed through page tables, and no other. It
 * puts back first those that it keeps, then the others, each in the order in which they were taken:
 *
 *   taken      a  b  c  d  e
 *   tape       active, active, inactive, inactive, inactive      two of the five, but which?
 *
 * That follows from sizes, and from what is known of each one:
 *
 *   no address space that has mapped it is left                    it goes
 *   mapped, but in a part of its file that is not executable       it goes
 *   mapped since it was looked at last, which makes it young       it stays
 *   mapped before that                                             perhaps
 *
 * Which part of a file is executable is learnt: where all that were taken stayed, all of them are.
 */
#include "replay/check/parts.h"

#include <stdlib.h>
#include <string.h>

static struct mapped_folio *mapped_of(const struct check *check, const struct folio *folio)
{
	return page_tables_of(check->tables, folio);
}

void check_mapped(struct check *check, const struct folio *folio)
{
	page_tables_map(check->tables, world_task(check->world, check->event->pid), folio);
}

void check_looked_again(struct check *check, const struct folio *folio)
{
	struct mapped_folio *mapped = mapped_of(check, folio);

	if (mapped)
		mapped->foreseen = false;
}

bool check_is_foreseen(const struct check *check, const struct folio *folio)
{
	const struct mapped_folio *mapped = mapped_of(check, folio);

	return mapped && mapped->foreseen;
}

/* ---- who stays */

/* How much speaks for a folio to stay on the active list: guesses, of which the order counts most. */
enum {
	GOES_NOT_FILE = -100,
	GOES_SEEN_INACTIVE =
		-40, /* this and the next on top of the others: an event will tell that it went, */
	STAYS_OR_WOULD_BE_SEEN = 10, /* or would have */
	GOES_UNMAPPED = -20,
	GOES_ELSEWHERE = -4, /* mapped, outside of what is known to be executable */
	GOES_ELSEWHERE_YOUNG = -2,
	STAYS_MAPPED = 1, /* nothing of the file is known to be executable yet */
	STAYS_YOUNG = 3,
	STAYS_EXEC = 4,
	STAYS_EXEC_YOUNG = 20,
	GOES_TOLD = -1000, /* by the probe on folio_referenced() */
	STAYS_TOLD = 1000,
};

static int stays(struct check *check, const struct reclaim_bracket *bracket,
		 const struct folio *folio)
{
	const struct mapped_folio *mapped = mapped_of(check, folio);
	const struct told_look *told = check_told(bracket, folio);
	enum executable executable;

	if (told && (told->vm_flags != TAPE_VALUE_ABSENT || !told->referenced))
		return check_told_stays(check, folio, told) ? STAYS_TOLD : GOES_TOLD;
	if (!folio->file)
		return GOES_NOT_FILE;
	if (!mapped || !mapped->nr)
		return GOES_UNMAPPED;
	executable = executable_page(check->world, folio->file, folio->index);
	if (executable == EXECUTABLE_UNKNOWN)
		return mapped->young ? STAYS_YOUNG : STAYS_MAPPED;
	if (executable == EXECUTABLE_NOT)
		return mapped->young ? GOES_ELSEWHERE_YOUNG : GOES_ELSEWHERE;
	return mapped->young ? STAYS_EXEC_YOUNG : STAYS_EXEC;
}

/*
 * What later events say. Those that went lie on the inactive list in this order, and are isolated from there in
 * this order. So between two that were evicted lay no more than stayed of the isolations that evicted them:
 *
 *   active isolation       a b c d e f g
 *   evicted by the 1st     a   c             none stayed: b was not there
 *   evicted by the 2nd               f       one stayed: d or e
 */
static void spread(struct check *check, unsigned int nr, const bool *seen, int *score,
		   uint32_t first, uint32_t last)
{
	uint32_t stayed = check_stayed_between(check, first, last);
	int unseen = 0;

	for (unsigned int i = 0; i < nr; i++)
		unseen += !seen[i];
	for (unsigned int i = 0; i < nr; i++)
		if (!seen[i] && stayed < (uint32_t)unseen)
			score[i] += STAYS_OR_WOULD_BE_SEEN * (unseen - (int)stayed) / unseen;
}

static void foresee(struct check *check, struct folio *const folio[], unsigned int nr, int *score)
{
	uint32_t isolation[ISOLATION_ROOM];
	bool seen[ISOLATION_ROOM];
	unsigned int begin = 0;

	if (!check->ahead)
		return;
	if (check->foreseen != folio[0]->lruvec)
		check->last_isolation = 0;
	check->foreseen = folio[0]->lruvec;
	for (unsigned int n = 0; n < nr; n++) {
		int64_t active = lruvec_lru_size(folio[n]->lruvec, LRU_ACTIVE_FILE);
		struct mapped_folio *mapped = mapped_of(check, folio[n]);

		seen[n] = check_seen_inactive(check, folio[n],
					      active > 0 ? (uint64_t)active + 1 : 1, &isolation[n]);
		if (!seen[n])
			continue;
		if (mapped)
			mapped->foreseen = score[n] > GOES_UNMAPPED;
		score[n] += GOES_SEEN_INACTIVE;
	}
	for (unsigned int n = 0; n < nr; n++) {
		if (!seen[n] || !isolation[n])
			continue;
		spread(check, n - begin, seen + begin, score + begin, check->last_isolation,
		       isolation[n]);
		check->last_isolation = isolation[n];
		begin = n + 1;
	}
	spread(check, nr - begin, seen + begin, score + begin, check->last_isolation,
	       check->last_isolation);
}

/*
 * The best choice of those that stay: of the first n folios so many that the first i growths of the active
 * list, and the first n - i of the inactive, are theirs. No score: it cannot be.
 */
#define NO_SCORE INT32_MIN

static bool choose(struct check *check, struct folio *const folio[], const int *score,
		   const struct list_growth *growth, unsigned int nr_active, unsigned int nr,
		   bool *stay)
{
	unsigned int width = nr_active + 1;
	int32_t *best = malloc((nr + 1) * width * sizeof(*best));
	unsigned int i;
	bool possible;

	if (!best) {
		check->failed = true;
		return false;
	}
	for (unsigned int n = 0; n <= nr; n++) {
		uint64_t pages = n ? folio_nr_pages(folio[n - 1]) : 0;
		for (i = 0; i <= nr_active; i++) {
			int32_t *here = &best[n * width + i];

			*here = n || i ? NO_SCORE : 0;
			if (n && i < n && n - i <= nr - nr_active &&
			    growth[nr_active + n - i - 1].pages == pages)
				*here = here[-(int)width];
			if (n && i && growth[i - 1].pages == pages &&
			    here[-(int)width - 1] != NO_SCORE &&
			    here[-(int)width - 1] + score[n - 1] > *here)
				*here = here[-(int)width - 1] + score[n - 1];
		}
	}
	possible = best[nr * width + nr_active] != NO_SCORE;
	i = nr_active;
	for (unsigned int n = nr; possible && n; n--) {
		int32_t here = best[n * width + i];
		uint64_t pages = folio_nr_pages(folio[n - 1]);

		stay[n - 1] = i && growth[i - 1].pages == pages &&
			      best[(n - 1) * width + i - 1] != NO_SCORE &&
			      here == best[(n - 1) * width + i - 1] + score[n - 1];
		i -= stay[n - 1];
	}
	free(best);
	return possible;
}

bool check_who_stays(struct check *check, const struct reclaim_bracket *bracket,
		     struct folio *const folio[], unsigned int nr_folios, bool *stay)
{
	const struct list_growth *growth = bracket->growth;
	unsigned int nr_active = 0, nr = bracket->nr_growth;
	int score[ISOLATION_ROOM];
	bool possible = true;

	while (nr_active < nr && growth[nr_active].lru & 1)
		nr_active++;
	for (unsigned int i = nr_active; i < nr; i++)
		possible &= !(growth[i].lru & 1);
	if (nr != nr_folios)
		possible = false;
	memset(stay, 0, nr_folios * sizeof(*stay));
	for (unsigned int i = 0; i < nr_folios; i++)
		check_looked_again(check, folio[i]);
	for (unsigned int i = 0; possible && i < nr; i++)
		score[i] = stays(check, bracket, folio[i]);
	if (possible && nr_active && nr_active < nr && !bracket->nr_told)
		foresee(check, folio, nr, score);
	if (possible)
		possible = choose(check, folio, score, growth, nr_active, nr, stay);
	for (unsigned int i = 0; i < nr_folios; i++) {
		struct mapped_folio *mapped = mapped_of(check, folio[i]);

		if (mapped)
			mapped->foreseen &= !stay[i];
		/* What was young and went is not; what stayed, if there was no choice, is. */
		if (possible && ((mapped && mapped->young && !stay[i]) || nr_active == nr))
			executable_learn(check->world, folio[i]->file, folio[i]->index,
					 folio_nr_pages(folio[i]), stay[i]);
		page_tables_looked(check->tables, folio[i]);
	}
	return possible;
}
