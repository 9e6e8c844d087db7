/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the pages of a file are mapped: executable, and written to as private copies. No event says. What is
 * told is told page by page, and what is between is taken to be like the nearest page that is known, since a
 * program's parts are some large ones:
 *
 *   a fault's window (world/faults.h)         up to its end executable, behind it not
 *   a fault that copies                       not executable, and copied by others as well
 *   what became of young folios on an active list     a guess, which does not outdo the first two
 */
#ifndef REPLAY_WORLD_EXECUTABLE_H
#define REPLAY_WORLD_EXECUTABLE_H

#include <stdbool.h>
#include <stdint.h>

struct world;

enum executable {
	EXECUTABLE_UNKNOWN, /* nothing of the file is known */
	EXECUTABLE_NOT,
	EXECUTABLE,
};

/** executable_learn() - these pages seem to be mapped executable, or only otherwise. Without memory the world has none. */
void executable_learn(struct world *world, uint32_t file, uint64_t index, uint64_t nr, bool is);

/** executable_told() - they surely are, or are not. */
void executable_told(struct world *world, uint32_t file, uint64_t index, uint64_t nr, bool is);

/** executable_page() - what is known of a page of a file, or of the nearest one. */
enum executable executable_page(const struct world *world, uint32_t file, uint64_t index);

/**
 * executable_end() - where the mapping of an executable page ends
 * Return: the first page behind @index that is not executable; UINT64_MAX: none is known.
 */
uint64_t executable_end(const struct world *world, uint32_t file, uint64_t index);

/** executable_copied() - a process has written to this page of a private mapping: it is not executable. */
void executable_copied(struct world *world, uint32_t file, uint64_t index);

/** executable_is_copied() - some process has. */
bool executable_is_copied(const struct world *world, uint32_t file, uint64_t index);

/** executable_forget() - a file is gone: its number may be another one's. */
void executable_forget(struct world *world, uint32_t file);

#endif
