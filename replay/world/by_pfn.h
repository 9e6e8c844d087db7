/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A number for each page frame, 0 until it is set: chunks come with the first of their frames that is made.
 */
#ifndef REPLAY_WORLD_BY_PFN_H
#define REPLAY_WORLD_BY_PFN_H

#include <stdint.h>
#include <stdlib.h>

#include "replay/mm/folio.h"

#define BY_PFN_CHUNKS (MEMMAP_PFN_LIMIT >> MEMMAP_CHUNK_SHIFT)

struct by_pfn {
	uint32_t **chunk; /* by pfn >> MEMMAP_CHUNK_SHIFT; NULL: none of it was made */
};

/** by_pfn_init() - all are 0. Return: 0, or -1 without memory. */
static inline int by_pfn_init(struct by_pfn *numbers)
{
	numbers->chunk = calloc(BY_PFN_CHUNKS, sizeof(*numbers->chunk));
	return numbers->chunk ? 0 : -1;
}

/** by_pfn_exit() - free them. What by_pfn_init() has not made, zeroes, is all right. */
static inline void by_pfn_exit(struct by_pfn *numbers)
{
	for (uint64_t i = 0; numbers->chunk && i < BY_PFN_CHUNKS; i++)
		free(numbers->chunk[i]);
	free(numbers->chunk);
	numbers->chunk = NULL;
}

/** by_pfn_find() - a frame's number. @pfn: below MEMMAP_PFN_LIMIT. Return: NULL if it was never made. */
static inline uint32_t *by_pfn_find(const struct by_pfn *numbers, uint64_t pfn)
{
	uint32_t *chunk = numbers->chunk[pfn >> MEMMAP_CHUNK_SHIFT];

	return chunk ? &chunk[pfn & (MEMMAP_CHUNK_PAGES - 1)] : NULL;
}

/** by_pfn_make() - a frame's number, to be set. @pfn: below MEMMAP_PFN_LIMIT. Return: NULL without memory. */
static inline uint32_t *by_pfn_make(struct by_pfn *numbers, uint64_t pfn)
{
	uint32_t **chunk = &numbers->chunk[pfn >> MEMMAP_CHUNK_SHIFT];

	if (!*chunk)
		*chunk = calloc(MEMMAP_CHUNK_PAGES, sizeof(**chunk));
	return by_pfn_find(numbers, pfn);
}

#endif
