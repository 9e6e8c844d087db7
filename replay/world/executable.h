/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages of a file are mapped executable. No event says: it is learnt from what became of young folios
 * on active lists (INFER_executable_part), page by page. What is between is taken to be like the nearest page
 * that is known, since a program's parts are some large ones.
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

/** executable_learn() - these pages are mapped executable, or only otherwise. Without memory the world has none. */
void executable_learn(struct world *world, uint32_t file, uint64_t index, uint64_t nr, bool is);

/** executable_page() - what is known of a page of a file, or of the nearest one. */
enum executable executable_page(const struct world *world, uint32_t file, uint64_t index);

/** executable_forget() - a file is gone: its number may be another one's. */
void executable_forget(struct world *world, uint32_t file);

#endif
