/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory on huge pages, for what is walked in no order: descriptors and page-cache slots. The
 * kernel's memmap lies on huge pages too, so that a walk of ours misses the TLB where its does.
 */
#ifndef REPLAY_MM_HUGE_ROOM_H
#define REPLAY_MM_HUGE_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUGE_ROOM_BYTES (UINT64_C(2) << 20)

/**
 * huge_room_map() - HUGE_ROOM_BYTES of zeroes, aligned to as many
 * @dense: most of it will be used: one huge page, if the system has any; else page by page
 * Return: ends with huge_room_unmap(); NULL without memory.
 */
void *huge_room_map(bool dense);

/** huge_room_unmap() - give it back. */
void huge_room_unmap(void *room);

#endif
