// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/folio.h"

#include <stdlib.h>

#include "replay/mm/huge_room.h"

static_assert(MEMMAP_CHUNK_PAGES * sizeof(struct folio) == HUGE_ROOM_BYTES, "a chunk is a room");

int memmap_init(struct memmap *memmap)
{
	memmap->nr_chunks_used = 0;
	memmap->next_dense = MEMMAP_DENSE_PFN;
	memmap->free_dense = 0;
	memmap->chunk = calloc(MEMMAP_PFN_LIMIT >> MEMMAP_CHUNK_SHIFT, sizeof(*memmap->chunk));
	return memmap->chunk ? 0 : -1;
}

int memmap_add_chunk(struct memmap *memmap, uint64_t pfn)
{
	struct folio *chunk = huge_room_map(pfn >= MEMMAP_DENSE_PFN);

	if (!chunk)
		return -1;
	memmap->chunk[pfn >> MEMMAP_CHUNK_SHIFT] = chunk;
	memmap->nr_chunks_used++;
	return 0;
}

void memmap_exit(struct memmap *memmap)
{
	if (!memmap->chunk)
		return;
	for (uint64_t i = 0; i < MEMMAP_PFN_LIMIT >> MEMMAP_CHUNK_SHIFT; i++)
		if (memmap->chunk[i])
			huge_room_unmap(memmap->chunk[i]);
	free(memmap->chunk);
	memmap->chunk = NULL;
}

uint64_t memmap_take_dense(struct memmap *memmap)
{
	uint64_t pfn = memmap->free_dense;

	if (!pfn)
		return memmap->next_dense < MEMMAP_PFN_LIMIT ? memmap->next_dense++ :
							       MEMMAP_PFN_LIMIT;
	memmap->free_dense = memmap_folio(memmap, pfn)->index;
	return pfn;
}
