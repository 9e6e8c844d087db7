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
#include "replay/check/state.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_SHIFT MEMMAP_CHUNK_SHIFT
#define NR_CHUNKS (MEMMAP_PFN_LIMIT >> CHUNK_SHIFT)

#define MAPPERS                                                                                    \
	6 /* address spaces that one folio is known to be mapped in; more push the oldest out */

/* A folio that some address space has mapped. */
struct mapped_folio {
	uint32_t space[MAPPERS];
	uint8_t nr;
	bool young; /* mapped since it was looked at */
	bool foreseen; /* that it went from an active list, its own eviction will tell */
	uint32_t next_free;
};

/* What an address space has mapped. */
struct mapping_space {
	uint32_t nr, room;
	uint32_t *pfn; /* of folios; they may be others by now */
};

/* The one part of a file that is known to be executable, pages; first > last: none is. */
struct exec_part {
	uint64_t first, last;
	bool known;
};

struct page_tables {
	uint32_t **entry; /* by pfn: number of its mapped_folio, 0: none */
	struct mapped_folio *folio;
	uint64_t room_folios;
	uint32_t nr_folios, free_folio;
	struct mapping_space *space; /* by the world's number */
	uint64_t room_spaces;
	struct exec_part *exec; /* by file */
	uint64_t room_files;
	const struct lruvec *
		foreseen; /* whose folio was evicted by the isolation of this number: see foresee() */
	uint32_t last_isolation;
};

static uint32_t *entry_of(const struct page_tables *tables, uint32_t pfn)
{
	uint32_t *chunk = tables->entry[pfn >> CHUNK_SHIFT];

	return chunk ? &chunk[pfn & ((1u << CHUNK_SHIFT) - 1)] : NULL;
}

static struct mapped_folio *mapped_of(const struct check *check, const struct folio *folio)
{
	uint32_t *entry = check->tables ? entry_of(check->tables, folio->pfn) : NULL;

	return entry && *entry ? &check->tables->folio[*entry] : NULL;
}

bool check_page_tables_init(struct check *check)
{
	struct page_tables *tables = calloc(1, sizeof(*tables));

	check->tables = tables;
	if (!tables)
		return false;
	tables->nr_folios = 1;
	tables->entry = calloc(NR_CHUNKS, sizeof(*tables->entry));
	return tables->entry;
}

void check_page_tables_free(struct check *check)
{
	struct page_tables *tables = check->tables;

	if (!tables)
		return;
	for (uint64_t i = 0; tables->entry && i < NR_CHUNKS; i++)
		free(tables->entry[i]);
	for (uint64_t i = 0; i < tables->room_spaces; i++)
		free(tables->space[i].pfn);
	free(tables->entry);
	free(tables->folio);
	free(tables->space);
	free(tables->exec);
	free(tables);
}

static bool has_room(struct check *check, void **array, uint64_t *room, uint64_t number,
		     size_t size)
{
	return machine_has_room(&check->machine, array, room, number, size);
}

/* ---- who has mapped what */

static struct mapped_folio *new_mapped(struct check *check, uint32_t pfn)
{
	struct page_tables *tables = check->tables;
	uint32_t **chunk = &tables->entry[pfn >> CHUNK_SHIFT], number = tables->free_folio;

	if (!*chunk)
		*chunk = calloc(1u << CHUNK_SHIFT, sizeof(**chunk));
	if (!*chunk) {
		check->failed = true;
		return NULL;
	}
	if (number)
		tables->free_folio = tables->folio[number].next_free;
	else if (!has_room(check, (void **)&tables->folio, &tables->room_folios, tables->nr_folios,
			   sizeof(*tables->folio)))
		return NULL;
	else
		number = tables->nr_folios++;
	tables->folio[number] = (struct mapped_folio){ 0 };
	*entry_of(tables, pfn) = number;
	return &tables->folio[number];
}

void check_unmapped(struct check *check, const struct folio *folio)
{
	uint32_t *entry = check->tables ? entry_of(check->tables, folio->pfn) : NULL;

	if (!entry || !*entry)
		return;
	check->tables->folio[*entry].next_free = check->tables->free_folio;
	check->tables->free_folio = *entry;
	*entry = 0;
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

static bool is_mapped_in(const struct mapped_folio *mapped, uint32_t space)
{
	for (unsigned int i = 0; i < mapped->nr; i++)
		if (mapped->space[i] == space)
			return true;
	return false;
}

static void note_mapping(struct check *check, uint32_t number, const struct folio *folio)
{
	struct mapping_space *space = &check->tables->space[number];

	if (space->nr == space->room) {
		uint32_t room = space->room ? 2 * space->room : 64;
		uint32_t *bigger = realloc(space->pfn, room * sizeof(*bigger));

		if (!bigger) {
			check->failed = true;
			return;
		}
		space->pfn = bigger;
		space->room = room;
	}
	space->pfn[space->nr++] = folio->pfn;
}

void check_mapped(struct check *check, const struct folio *folio)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct page_tables *tables = check->tables;
	struct mapped_folio *mapped;
	uint32_t space = task && tables ? spaces_of(check->world, task) : 0;

	if (!space || !has_room(check, (void **)&tables->space, &tables->room_spaces, space,
				sizeof(*tables->space)))
		return;
	mapped = mapped_of(check, folio);
	if (!mapped)
		mapped = new_mapped(check, folio->pfn);
	if (!mapped || is_mapped_in(mapped, space))
		return;
	note_mapping(check, space, folio);
	if (mapped->nr == MAPPERS)
		memmove(mapped->space, mapped->space + 1, --mapped->nr * sizeof(mapped->space[0]));
	mapped->space[mapped->nr++] = space;
	mapped->young = true;
}

void check_space_gone(struct check *check)
{
	struct page_tables *tables = check->tables;
	uint32_t number = check->world->spaces.gone;
	struct mapping_space *space;

	if (!tables || !number || number >= tables->room_spaces)
		return;
	space = &tables->space[number];
	for (uint32_t n = 0; n < space->nr; n++) {
		uint32_t *entry = entry_of(tables, space->pfn[n]);
		struct mapped_folio *mapped = entry && *entry ? &tables->folio[*entry] : NULL;

		for (unsigned int i = 0; mapped && i < mapped->nr; i++)
			if (mapped->space[i] == number)
				mapped->space[i--] = mapped->space[--mapped->nr];
	}
	free(space->pfn);
	*space = (struct mapping_space){ 0 };
}

/* ---- who stays */

static struct exec_part *exec_of(struct check *check, uint32_t file)
{
	struct page_tables *tables = check->tables;

	return has_room(check, (void **)&tables->exec, &tables->room_files, file,
			sizeof(*tables->exec)) ?
		     &tables->exec[file] :
		     NULL;
}

static void learn_executable(struct check *check, const struct folio *folio)
{
	struct exec_part *part = exec_of(check, folio->file);
	uint64_t last = folio->index + folio_nr_pages(folio) - 1;

	if (!part)
		return;
	if (!part->known || folio->index < part->first)
		part->first = folio->index;
	if (!part->known || last > part->last)
		part->last = last;
	part->known = true;
}

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
};

static int stays(struct check *check, const struct folio *folio)
{
	const struct mapped_folio *mapped = mapped_of(check, folio);
	const struct exec_part *part = folio->file ? exec_of(check, folio->file) : NULL;

	if (!folio->file || !part)
		return GOES_NOT_FILE;
	if (!mapped || !mapped->nr)
		return GOES_UNMAPPED;
	if (!part->known)
		return mapped->young ? STAYS_YOUNG : STAYS_MAPPED;
	if (folio->index + folio_nr_pages(folio) <= part->first || folio->index > part->last)
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
	struct page_tables *tables = check->tables;
	uint32_t isolation[ISOLATION_ROOM];
	bool seen[ISOLATION_ROOM];
	unsigned int begin = 0;

	if (!check->ahead)
		return;
	if (tables->foreseen != folio[0]->lruvec)
		tables->last_isolation = 0;
	tables->foreseen = folio[0]->lruvec;
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
		spread(check, n - begin, seen + begin, score + begin, tables->last_isolation,
		       isolation[n]);
		tables->last_isolation = isolation[n];
		begin = n + 1;
	}
	spread(check, nr - begin, seen + begin, score + begin, tables->last_isolation,
	       tables->last_isolation);
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

bool check_who_stays(struct check *check, struct folio *const folio[], unsigned int nr_folios,
		     const struct list_growth *growth, unsigned int nr, bool *stay)
{
	unsigned int nr_active = 0;
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
		score[i] = stays(check, folio[i]);
	if (possible && nr_active && nr_active < nr)
		foresee(check, folio, nr, score);
	if (possible)
		possible = choose(check, folio, score, growth, nr_active, nr, stay);
	for (unsigned int i = 0; i < nr_folios; i++) {
		struct mapped_folio *mapped = mapped_of(check, folio[i]);

		if (mapped)
			mapped->foreseen &= !stay[i];
		if (possible && nr_active == nr && folio[i]->file)
			learn_executable(check, folio[i]);
		if (mapped)
			mapped->young = false;
	}
	return possible;
}
