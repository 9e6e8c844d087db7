/* SPDX-License-Identifier: GPL-2.0-only */
/* What world.c takes from a tape's blobs; for world.c only. */
#ifndef REPLAY_WORLD_SNAPSHOT_H
#define REPLAY_WORLD_SNAPSHOT_H

#include "replay/world/world.h"

/** world_read_snapshots() - machine, memcgs, tasks and mounts from the start's blobs. */
void world_read_snapshots(struct world *world, const struct tape_reader *reader);

/** world_apply_facts() - what the user assumed (lrutape/facts), after memcgs are known. */
void world_apply_facts(struct world *world, const struct tape_reader *reader);

/** world_add_memcg() - a memcg by id and path, made if it is new. Return: its number. */
uint32_t world_add_memcg(struct world *world, uint64_t id, const char *path);

/** world_memcg_of_directory() - the memcg whose files lie in a directory. Return: its number, WORLD_ROOT: none. */
uint32_t world_memcg_of_directory(const struct world *world, const char *name, size_t size);

/** world_limit_of_text() - pages of a limit's file, INT64_MAX: none. */
int64_t world_limit_of_text(const char *text);

/** world_swap_limit_of_text() - the same of memory.swap.max, which may be 0. */
int64_t world_swap_limit_of_text(const char *text);

#endif
