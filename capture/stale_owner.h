/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace instances and cgroups are named lrutape-PID, so that a later recording can clear up. */
#ifndef CAPTURE_STALE_OWNER_H
#define CAPTURE_STALE_OWNER_H

#include <sys/types.h>

/**
 * stale_owner() - is this the name of something that a dead recorder left
 * @name: lrutape-PID or anything else
 * Return: the dead process's id (our own one counts: that process was before us), or 0.
 */
pid_t stale_owner(const char *name);

#endif
