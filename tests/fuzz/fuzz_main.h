/* SPDX-License-Identifier: GPL-2.0-only */
/* What each fuzz target has: without libFuzzer it runs the files given as arguments, one after the other. */
#ifndef TESTS_FUZZ_FUZZ_MAIN_H
#define TESTS_FUZZ_FUZZ_MAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifndef LRUTAPE_LIBFUZZER
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *from = fopen(argv[i], "rb");
		uint8_t *data = malloc(1 << 24);
		size_t size;

		if (!from || !data) {
			fprintf(stderr, "%s: cannot be read\n", argv[i]);
			return 1;
		}
		size = fread(data, 1, 1 << 24, from);
		fclose(from);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	return 0;
}
#endif

#endif
