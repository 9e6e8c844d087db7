// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/folio.h"

#include <stdlib.h>
#include <sys/mman.h>

#define MEMMAP_CHUNK_BYTES (MEMMAP_CHUNK_PAGES * sizeof(struct folio))

int memmap_init(struct memmap *memmap)
{
	memmap->nr_chunks_used = 0;
	memmap->chunk = calloc(MEMMAP_PFN_LIMIT >> MEMMAP_CHUNK_SHIFT, sizeof(*memmap->chunk));
	return memmap->chunk ? 0 : -1;
}

int memmap_add_chunk(struct memmap *memmap, uint64_t pfn)
{
	struct folio *chunk = mmap(NULL, MEMMAP_CHUNK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk == MAP_FAILED)
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
			munmap(memmap->chunk[i], MEMMAP_CHUNK_BYTES);
	free(memmap->chunk);
	memmap->chunk = NULL;
}
