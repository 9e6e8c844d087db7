// SPDX-License-Identifier: GPL-2.0-only
#include "capture/tracefs_mount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/text_file.h"

#define MOUNTS_BYTES (16u << 20)

bool tracefs_mount_find(char *directory)
{
	char *text = text_file_read("/proc/self/mounts", MOUNTS_BYTES, NULL), *rest = text, *line;
	char type[64];
	bool found = false;

	while (!found && (line = strsep(&rest, "\n")))
		found = sscanf(line, "%*s %4095s %63s", directory, type) == 2 &&
			!strcmp(type, "tracefs");
	free(text);
	return found;
}
