// SPDX-License-Identifier: GPL-2.0-only
#include "replay/file_hash.h"

#include <inttypes.h>
#include <stdio.h>

int file_hash(const char *path, char *text, size_t text_bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	unsigned char buffer[65536];
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file)
		return -1;
	while ((n = fread(buffer, 1, sizeof(buffer), file)))
		for (size_t i = 0; i < n; i++)
			hash = (hash ^ buffer[i]) * UINT64_C(0x100000001b3);
	n = ferror(file);
	fclose(file);
	snprintf(text, text_bytes, "fnv1a64:%016" PRIx64, hash);
	return n ? -1 : 0;
}
