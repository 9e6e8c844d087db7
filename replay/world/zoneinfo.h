/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/zoneinfo, for world.c only. */
#ifndef REPLAY_WORLD_ZONEINFO_H
#define REPLAY_WORLD_ZONEINFO_H

#include "replay/mm/zones.h"

/**
 * zoneinfo_read() - the zones of node 0
 * @text: of the file; anything else leaves no zone
 */
void zoneinfo_read(struct zones *zones, const char *text);

#endif
