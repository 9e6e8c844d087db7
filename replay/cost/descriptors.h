/* SPDX-License-Identifier: GPL-2.0-only */
/* Folio descriptors to measure with: zeroed, at pfn x 64 on huge pages, as in the kernel's memmap. */
#ifndef REPLAY_COST_DESCRIPTORS_H
#define REPLAY_COST_DESCRIPTORS_H

#include <stdint.h>

#include "replay/mm/folio.h"

struct cost_descriptors {
	struct folio **chunk; /* by pfn >> MEMMAP_CHUNK_SHIFT, as struct memmap has them */
};

/** cost_descriptors_init() - none yet. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result)) cost_descriptors_init(struct cost_descriptors *descriptors);

/** cost_descriptors_exit() - free all. */
void cost_descriptors_exit(struct cost_descriptors *descriptors);

/** cost_descriptor() - of a frame, made with its neighbours at first use. Return: NULL without memory. */
struct folio *cost_descriptor(struct cost_descriptors *descriptors, uint32_t pfn);

#endif
