// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel read in page tables: for each mapped folio that it isolated, young or old.
 *
 * Looking clears the young bits, so a verdict speaks of the time since the last look. Its words:
 *
 *   old     evicted, or written to swap: no access through page tables since the last look
 *   young   kept or activated: accessed since the last look, or since it came
 *   around  young, but fault-around has mapped it since: it may be young by that alone (x86)
 *   unknown a folio of an active list, whose bits are cleared and told to nobody; or one that was kept in
 *           an isolation of which not all that were kept were young
 *
 * Where the probe on folio_referenced() tells, the words are its, those of active lists as well; what they would
 * have been without it is held against them.
 */
#include "replay/check/parts.h"

#include <inttypes.h>
#include <stdlib.h>

#define LOOK_CHUNK_SHIFT MEMMAP_CHUNK_SHIFT
#define LOOK_CHUNKS (MEMMAP_PFN_LIMIT >> LOOK_CHUNK_SHIFT)

#define LOOK_AROUND 1 /* mapped by fault-around since */
#define LOOK_FIRST 2 /* nobody has looked yet: the time is that of its coming */
#define LOOK_UNSURE 4 /* it may have been another folio that was looked at */
#define LOOK_SHIFT 3

/* When a frame's folio was looked at last, and the bits above. */
static uint64_t *look_of(struct check *check, const struct folio *folio)
{
	uint64_t **chunk;

	if (!check->on_verdict)
		return NULL;
	if (!check->look) {
		check->look = calloc(LOOK_CHUNKS, sizeof(uint64_t *));
		check->failed |= !check->look;
	}
	if (!check->look)
		return NULL;
	chunk = &check->look[folio->pfn >> LOOK_CHUNK_SHIFT];
	if (!*chunk) {
		*chunk = calloc(1u << LOOK_CHUNK_SHIFT, sizeof(uint64_t));
		check->failed |= !*chunk;
	}
	return *chunk ? &(*chunk)[folio->pfn & ((1u << LOOK_CHUNK_SHIFT) - 1)] : NULL;
}

void check_looks_free(struct check *check)
{
	for (uint64_t i = 0; check->look && i < LOOK_CHUNKS; i++)
		free(check->look[i]);
	free(check->look);
}

void check_look_begins(struct check *check, const struct folio *folio)
{
	uint64_t *look = look_of(check, folio);

	if (look)
		*look = check->event->timestamp_ns << LOOK_SHIFT | LOOK_FIRST;
}

void check_look_moved(struct check *check, const struct folio *folio, uint64_t pfn)
{
	const struct folio to = { .pfn = (uint32_t)pfn };
	const uint64_t *from = look_of(check, folio);
	uint64_t look = from ? *from : 0, *there = from ? look_of(check, &to) : NULL;

	if (there)
		*there = look;
}

void check_mapped_around(struct check *check, const struct folio *folio)
{
	uint64_t *look = look_of(check, folio);

	if (look)
		*look |= LOOK_AROUND;
}

static bool has_page_tables(const struct folio *folio)
{
	return folio_test(folio, PG_swapbacked | FOLIO_mapped);
}

void check_looked_at(struct check *check, struct reclaim_bracket *bracket,
		     const struct folio *folio, enum check_outcome outcome)
{
	struct look_row *row;
	const struct told_look *told;
	uint64_t *look;

	if ((!check->on_verdict && !check->world->looks_told) || !has_page_tables(folio) ||
	    bracket->nr_looks == ISOLATION_ROOM)
		return;
	look = look_of(check, folio);
	told = check_told(bracket, folio);
	row = &bracket->look[bracket->nr_looks++];
	*row = (struct look_row){
		.since = look ? *look : 0,
		.told = told ? *told : (struct told_look){ 0 },
		.folio = folio,
		.file = folio_test(folio, PG_swapbacked) ? 0 : folio->file,
		.index = folio->index,
		.pages = folio_nr_pages(folio),
		.pfn = folio->pfn,
		.is_file = !folio_test(folio, PG_swapbacked),
		.dirty = folio_test(folio, PG_dirty),
		.outcome = outcome,
	};
}

void check_stayed(struct check *check, struct reclaim_bracket *bracket, struct folio *folio,
		  bool active)
{
	bool was_active = bracket->applied.lru & 1;

	if (folio_test_clear(folio, FOLIO_old) && !active)
		return;
	check_looked_at(check, bracket, folio,
			active	   ? OUTCOME_activated :
			was_active ? OUTCOME_deactivated :
				     OUTCOME_kept);
}

static enum check_word word_of(const struct reclaim_bracket *bracket, const struct look_row *row,
			       bool all_kept_young)
{
	if (bracket->applied.lru & 1)
		return WORD_unknown;
	switch (row->outcome) {
	case OUTCOME_evicted:
	case OUTCOME_written:
		return WORD_old;
	case OUTCOME_kept:
		if (!all_kept_young)
			return WORD_unknown;
		break;
	case OUTCOME_activated:
		if (row->dirty || bracket->unmap_failed)
			return WORD_unknown;
		break;
	case OUTCOME_deactivated:
		return WORD_unknown;
	}
	return row->since & LOOK_AROUND ? WORD_around : WORD_young;
}

/* What the probe says. One that was not asked about keeps its bits, unless its going says that it was. */
static enum check_word told_word(const struct look_row *row, enum check_word inferred)
{
	if (!row->told.known)
		return inferred == WORD_old ? WORD_old : WORD_unknown;
	if (row->told.referenced < 0)
		return WORD_unknown;
	if (!row->told.referenced)
		return WORD_old;
	return row->since & LOOK_AROUND ? WORD_around : WORD_young;
}

static void compare_word(struct check *check, const struct reclaim_bracket *bracket,
			 const struct look_row *row, enum check_word inferred)
{
	bool young = row->told.referenced > 0;

	if (!row->told.known || row->told.referenced < 0 || inferred == WORD_unknown)
		return;
	if (young == (inferred != WORD_old))
		check_equal(check, bracket->top, CHECK_page_tables);
	else
		check_unequal(check, bracket->top, CHECK_page_tables,
			      "pfn %" PRIx32 " %s, %s|%" PRId32 " entries young", row->pfn,
			      check_outcome_name(row->outcome), check_word_name(inferred),
			      row->told.referenced);
}

void check_looks_over(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_ref_keep,
		      uint64_t nr_unmap_fail)
{
	bool file = bracket->applied.lru >= LRU_INACTIVE_FILE;
	bool unsure = check_drifted(check, bracket->top, file) ||
		      check_unsure(check, bracket->top, file);
	uint64_t now = check->event->timestamp_ns, kept = 0;

	if (!check->on_verdict && !check->world->looks_told)
		return;
	bracket->unmap_failed = nr_unmap_fail && nr_unmap_fail != TAPE_VALUE_ABSENT;
	for (unsigned int i = 0; i < bracket->nr_looks; i++)
		if (bracket->look[i].outcome == OUTCOME_kept)
			kept += bracket->look[i].pages;
	for (unsigned int i = 0; i < bracket->nr_looks; i++) {
		const struct look_row *row = &bracket->look[i];
		enum check_word word = word_of(bracket, row, kept == nr_ref_keep);
		struct check_verdict verdict = {
			.since_ns = row->since >> LOOK_SHIFT,
			.first = row->since & LOOK_FIRST,
			.begin_ns = bracket->isolated_ns,
			.end_ns = now,
			.memcg = machine_number(&check->machine, bracket->applied.lruvec->memcg),
			.file = row->file,
			.index = row->index,
			.pages = row->pages,
			.pfn = row->pfn,
			.is_file = row->is_file,
			.outcome = row->outcome,
			.word = check->world->looks_told ? told_word(row, word) : word,
			.unsure = (unsure && !row->told.known) || row->since & LOOK_UNSURE,
			.of_active = bracket->applied.lru & 1,
			.told = row->told.known,
			.referenced = row->told.referenced,
		};
		uint64_t *look = look_of(check, row->folio);

		compare_word(check, bracket, row, word);
		/* Nobody asked, so that nothing was cleared. */
		if (look && check->world->looks_told && !row->told.known &&
		    row->outcome != OUTCOME_evicted)
			continue;
		if (look)
			*look = row->outcome == OUTCOME_evicted ?
					0 :
					now << LOOK_SHIFT |
						(unsure && !row->told.known ? LOOK_UNSURE : 0);
		if (check->on_verdict)
			check->on_verdict(check->verdict_ctx, &verdict);
	}
	bracket->nr_looks = 0;
}
