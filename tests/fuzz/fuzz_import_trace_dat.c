// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as trace-cmd's file: the main buffer, and an instance called "tasks". What the import counts must be what the tape's
 * reader finds, and a tape that was finished must be readable to its end.
 */
#include "capture/import_trace_dat.h"
#include "tests/fuzz/fuzz_import.h"
#include "tests/fuzz/fuzz_main.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A record whose text lies outside of it is refused by the writer. */
	import_and_read_back(import_trace_dat, data, size, NULL, true);
	import_and_read_back(import_trace_dat, data, size, "tasks", true);
	return 0;
}
