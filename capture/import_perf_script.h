/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Importer of what `perf script` prints of tracepoints with its default fields:
 *
 *            python3  8333 [001]  1832.674455: filemap:mm_filemap_add_to_page_cache: dev 254:0 ...
 *            COMM      TID [CPU]  TIMESTAMP: SYSTEM:EVENT: TEXT
 *
 * TEXT is what the kernel's format file makes of the record, as in the kernel's own trace.
 */
#ifndef CAPTURE_IMPORT_PERF_SCRIPT_H
#define CAPTURE_IMPORT_PERF_SCRIPT_H

#include <stddef.h>

#include "capture/import.h"
#include "capture/import_ftrace_line.h"

/** perf_script_line_read() - as ftrace_line_read(), for a line of perf script. */
enum ftrace_line_kind perf_script_line_read(const char *text, size_t size,
					    struct ftrace_line *line);

/** import_perf_script() - as import_ftrace_text(). */
int __attribute__((warn_unused_result)) import_perf_script(struct import_job *job);

#endif
