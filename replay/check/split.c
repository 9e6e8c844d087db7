// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large anon folios that were split, which no event tells. A folio is split when reclaim finds no room in swap that
 * is as large, or finds a part of it unmapped; then its pages are written, kept and freed one by one.
 *
 *   taken, the oldest first    A  [B B B B]  C
 *   split                      A  B  B3 B2 B1  C      the last page next to the first: each was put before it
 */
#include "replay/check/parts.h"

/* The folio that a frame belongs to, NULL: none is known. */
static struct folio *folio_of(struct check *check, uint64_t pfn)
{
	for (unsigned int order = 0; order <= FOLIO_ORDER_LIMIT; order++) {
		uint64_t head = pfn >> order << order;
		struct folio *folio = check_known_folio(check, head);

		if (folio)
			return pfn - head < folio_nr_pages(folio) ? folio : NULL;
	}
	return NULL;
}

static void split(struct check *check, struct folio *folio)
{
	struct machine *machine = &check->machine;
	uint64_t nr = folio_nr_pages(folio), index = folio->index, pfn = folio->pfn;
	uint32_t file = folio->file;

	if (!mm_folio_split(&machine->mm, folio))
		return;
	world_infer(check->world, INFER_split);
	for (uint64_t i = 0; i < nr; i++) {
		struct folio *page = memmap_folio(&machine->mm.memmap, pfn + i);

		folio_set(page, FOLIO_split);
		if (file)
			machine_swap_out(machine, page, file, index + i);
	}
}

struct folio *check_split_at(struct check *check, uint64_t pfn)
{
	struct folio *folio = folio_of(check, pfn);

	if (!folio)
		return NULL;
	if (folio->order && folio_test(folio, PG_swapbacked) &&
	    !check->machine.mm.policy->generations)
		split(check, folio);
	return check_known_folio(check, pfn);
}

void check_split_tail(struct check *check, const struct scan_request *request, uint64_t nr_taken)
{
	const struct list_head *list = &request->lruvec->lists[request->lru];

	for (const struct list_head *pos = list->prev; pos != list && nr_taken; pos = pos->prev) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (folio_nr_pages(folio) > nr_taken) {
			if (folio_test(folio, PG_swapbacked))
				split(check, folio);
			return;
		}
		nr_taken -= folio_nr_pages(folio);
	}
}
