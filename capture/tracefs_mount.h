/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tracefs is, asked of the mount table: a recorder mounts nothing. */
#ifndef CAPTURE_TRACEFS_MOUNT_H
#define CAPTURE_TRACEFS_MOUNT_H

#include <stdbool.h>

/** tracefs_mount_find() - @directory: room of PATH_MAX, set to its path. Return: whether it is mounted. */
bool tracefs_mount_find(char *directory);

#endif
