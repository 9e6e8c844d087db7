// SPDX-License-Identifier: GPL-2.0-only
#include "replay/cost/descriptors.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES (MEMMAP_CHUNK_PAGES * sizeof(struct folio))
#define NR_CHUNKS (MEMMAP_PFN_LIMIT >> MEMMAP_CHUNK_SHIFT)

/* A chunk of descriptors on a huge page, if the machine has one to give. */
static struct folio *new_chunk(void)
{
	char *map = mmap(NULL, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	char *chunk;

	if (map == MAP_FAILED)
		return NULL;
	chunk = (char *)(((uintptr_t)map + CHUNK_BYTES - 1) & ~(uintptr_t)(CHUNK_BYTES - 1));
	if (chunk > map)
		munmap(map, (size_t)(chunk - map));
	munmap(chunk + CHUNK_BYTES, (size_t)(map + CHUNK_BYTES - chunk));
	madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE);
	memset(chunk, 0, CHUNK_BYTES);
	return (struct folio *)chunk;
}

int cost_descriptors_init(struct cost_descriptors *descriptors)
{
	descriptors->chunk = calloc(NR_CHUNKS, sizeof(struct folio *));
	return descriptors->chunk ? 0 : -1;
}

void cost_descriptors_exit(struct cost_descriptors *descriptors)
{
	for (uint64_t i = 0; descriptors->chunk && i < NR_CHUNKS; i++)
		if (descriptors->chunk[i])
			munmap(descriptors->chunk[i], CHUNK_BYTES);
	free(descriptors->chunk);
	descriptors->chunk = NULL;
}

struct folio *cost_descriptor(struct cost_descriptors *descriptors, uint32_t pfn)
{
	struct folio **chunk = &descriptors->chunk[pfn >> MEMMAP_CHUNK_SHIFT];

	if (!*chunk)
		*chunk = new_chunk();
	return *chunk ? &(*chunk)[pfn & (MEMMAP_CHUNK_PAGES - 1)] : NULL;
}
