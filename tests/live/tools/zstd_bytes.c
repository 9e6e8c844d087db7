// SPDX-License-Identifier: GPL-2.0-only
/* zstd_bytes FILE...: bytes of files, and after zstd -3 in frames of 1 MiB, as a tape's are. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#define FRAME_BYTES (1u << 20)

int main(int argc, char **argv)
{
	size_t room = ZSTD_compressBound(FRAME_BYTES), got;
	char *from = malloc(FRAME_BYTES), *to = malloc(room);
	uint64_t raw = 0, packed = 0;

	if (!from || !to)
		return 1;
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "re");

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		while ((got = fread(from, 1, FRAME_BYTES, file)) > 0) {
			size_t size = ZSTD_compress(to, room, from, got, 3);

			if (ZSTD_isError(size))
				return 1;
			raw += got;
			packed += size;
		}
		fclose(file);
	}
	printf("raw %" PRIu64 " zstd %" PRIu64 "\n", raw, packed);
	free(from);
	free(to);
	return 0;
}
