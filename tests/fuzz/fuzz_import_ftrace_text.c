// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a trace's text, packed or not. What the import counts must be what the tape's
 * reader finds, and a tape that was finished must be readable to its end.
 */
#include "capture/import_ftrace_text.h"
#include "tests/fuzz/fuzz_import.h"
#include "tests/fuzz/fuzz_main.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_and_read_back(import_ftrace_text, data, size, NULL, false);
	return 0;
}
