/* SPDX-License-Identifier: GPL-2.0-only */
/* What readahead's events say: who asked for which page, which window is being filled, which file is read at random. */
#ifndef REPLAY_WORLD_READAHEAD_H
#define REPLAY_WORLD_READAHEAD_H

#include "replay/world/world.h"

/** world_readahead_event() - an event of readahead, a fault or a read. */
void world_readahead_event(struct world *world, const struct tape_event *event);

/** world_readahead_over() - the task has read: its window is filled. */
void world_readahead_over(struct world *world, int32_t pid);

#endif
