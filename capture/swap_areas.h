/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the swap in use lies on its disks, so that its block I/O can be told from all other. */
#ifndef CAPTURE_SWAP_AREAS_H
#define CAPTURE_SWAP_AREAS_H

#include <stdbool.h>

struct swap_areas {
	bool in_use; /* some swap is on */
	/*
	 * For block_bio_queue and block_rq_complete: sectors of swap only. NULL where there is none, or
	 * none whose place can be told: over a network, or in too many pieces.
	 */
	char *filter;
};

/**
 * swap_areas_find() - look at what is swapped to
 * @proc_swaps: text of /proc/swaps
 * @areas: set; freed with swap_areas_free()
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result))
swap_areas_find(const char *proc_swaps, struct swap_areas *areas);

void swap_areas_free(struct swap_areas *areas);

#endif
