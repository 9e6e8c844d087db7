// SPDX-License-Identifier: GPL-2.0-only
#include "replay/page_tables.h"

#include <stdlib.h>
#include <string.h>

#include "replay/world/by_pfn.h"

#define FIRST_ROOM 64

/* What an address space has mapped. */
struct mapping {
	uint32_t pfn; /* its folio may be another one by now */
	uint32_t nr_looks; /* at it, when it was mapped */
};

struct mapping_space {
	struct mapping *mapping;
	uint32_t nr, room;
};

struct page_tables {
	struct machine *machine;
	struct by_pfn entry; /* number of its mapped_folio, 0: none */
	struct mapped_folio *folio;
	uint64_t room_folios;
	uint32_t nr_folios, free_folio;
	struct mapping_space *space; /* by the world's number */
	uint64_t room_spaces;
};

struct page_tables *page_tables_open(struct machine *machine)
{
	struct page_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return NULL;
	tables->machine = machine;
	tables->nr_folios = 1;
	if (!by_pfn_init(&tables->entry))
		return tables;
	free(tables);
	return NULL;
}

void page_tables_close(struct page_tables *tables)
{
	if (!tables)
		return;
	for (uint64_t i = 0; i < tables->room_spaces; i++)
		free(tables->space[i].mapping);
	by_pfn_exit(&tables->entry);
	free(tables->folio);
	free(tables->space);
	free(tables);
}

struct mapped_folio *page_tables_of(const struct page_tables *tables, const struct folio *folio)
{
	uint32_t *entry = tables ? by_pfn_find(&tables->entry, folio->pfn) : NULL;

	return entry && *entry ? &tables->folio[*entry] : NULL;
}

static struct mapped_folio *new_mapped(struct page_tables *tables, uint32_t pfn)
{
	uint32_t *entry = by_pfn_make(&tables->entry, pfn), number = tables->free_folio;

	if (!entry) {
		tables->machine->failed = true;
		return NULL;
	}
	if (number)
		tables->free_folio = tables->folio[number].next_free;
	else if (!machine_has_room(tables->machine, (void **)&tables->folio, &tables->room_folios,
				   tables->nr_folios, sizeof(*tables->folio)))
		return NULL;
	else
		number = tables->nr_folios++;
	tables->folio[number] = (struct mapped_folio){ 0 };
	*entry = number;
	return &tables->folio[number];
}

void page_tables_forget(struct page_tables *tables, const struct folio *folio)
{
	uint32_t *entry = tables ? by_pfn_find(&tables->entry, folio->pfn) : NULL;

	if (!entry || !*entry)
		return;
	tables->folio[*entry].next_free = tables->free_folio;
	tables->free_folio = *entry;
	*entry = 0;
}

static bool is_mapped_in(const struct mapped_folio *mapped, uint32_t space)
{
	for (unsigned int i = 0; i < mapped->nr; i++)
		if (mapped->space[i] == space)
			return true;
	return false;
}

static bool note_mapping(struct page_tables *tables, uint32_t number, const struct folio *folio,
			 uint32_t nr_looks)
{
	struct mapping_space *space = &tables->space[number];

	if (space->nr == space->room) {
		uint32_t room = space->room ? 2 * space->room : FIRST_ROOM;
		struct mapping *bigger = realloc(space->mapping, room * sizeof(*bigger));

		if (!bigger) {
			tables->machine->failed = true;
			return false;
		}
		space->mapping = bigger;
		space->room = room;
	}
	space->mapping[space->nr++] = (struct mapping){ .pfn = folio->pfn, .nr_looks = nr_looks };
	return true;
}

bool page_tables_map(struct page_tables *tables, struct world_task *task, const struct folio *folio)
{
	struct mapped_folio *mapped;
	uint32_t space = task && tables ? spaces_of(tables->machine->world, task) : 0;

	if (!space || !machine_has_room(tables->machine, (void **)&tables->space,
					&tables->room_spaces, space, sizeof(*tables->space)))
		return false;
	mapped = page_tables_of(tables, folio);
	if (!mapped)
		mapped = new_mapped(tables, folio->pfn);
	if (!mapped || is_mapped_in(mapped, space) ||
	    !note_mapping(tables, space, folio, mapped->nr_looks))
		return false;
	if (mapped->nr == MAPPERS)
		memmove(mapped->space, mapped->space + 1, --mapped->nr * sizeof(mapped->space[0]));
	mapped->space[mapped->nr++] = space;
	mapped->young = true;
	return true;
}

void page_tables_looked(struct page_tables *tables, const struct folio *folio)
{
	struct mapped_folio *mapped = page_tables_of(tables, folio);

	if (!mapped)
		return;
	mapped->young = false;
	mapped->nr_looks++;
}

void page_tables_migrated(struct page_tables *tables, const struct folio *folio, uint64_t pfn)
{
	uint32_t *entry = tables ? by_pfn_find(&tables->entry, folio->pfn) : NULL, *there;
	const struct folio to = { .pfn = (uint32_t)pfn };
	const struct mapped_folio *mapped;

	if (!entry || !*entry)
		return;
	page_tables_forget(tables, &to);
	there = by_pfn_make(&tables->entry, pfn);
	if (!there) {
		tables->machine->failed = true;
		return;
	}
	*there = *entry;
	*entry = 0;
	mapped = &tables->folio[*there];
	for (unsigned int i = 0; i < mapped->nr; i++)
		note_mapping(tables, mapped->space[i], &to, mapped->nr_looks - !mapped->young);
}

/* Return: the space had it mapped. */
static bool unmap(struct mapped_folio *mapped, uint32_t space)
{
	for (unsigned int i = 0; i < mapped->nr; i++)
		if (mapped->space[i] == space) {
			mapped->nr--;
			memmove(mapped->space + i, mapped->space + i + 1,
				(mapped->nr - i) * sizeof(mapped->space[0]));
			return true;
		}
	return false;
}

void page_tables_space_gone(struct page_tables *tables,
			    void (*unmapped)(void *ctx, struct folio *folio, bool young, bool last),
			    void *ctx)
{
	uint32_t number = tables ? tables->machine->world->spaces.gone : 0;
	struct mapping_space space;

	if (!number || number >= tables->room_spaces)
		return;
	space = tables->space[number];
	tables->space[number] = (struct mapping_space){ 0 };
	for (uint32_t n = 0; n < space.nr; n++) {
		const struct mapping *mapping = &space.mapping[n];
		struct folio *folio = memmap_folio(&tables->machine->mm.memmap, mapping->pfn);
		struct mapped_folio *mapped = folio ? page_tables_of(tables, folio) : NULL;

		if (mapped && unmap(mapped, number) && unmapped)
			unmapped(ctx, folio, mapping->nr_looks == mapped->nr_looks, !mapped->nr);
	}
	free(space.mapping);
}
