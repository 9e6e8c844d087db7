/* SPDX-License-Identifier: GPL-2.0-only */
/* Importer of trace-cmd's trace.dat. */
#ifndef CAPTURE_IMPORT_TRACE_DAT_H
#define CAPTURE_IMPORT_TRACE_DAT_H

#include "capture/import.h"

/**
 * import_trace_dat() - read a trace.dat to its end
 * @job: import.h; input is not read otherwise before
 *
 * Records go to the tape as the kernel wrote them, by the format files that trace-cmd kept.
 * Return: 0 or a negative enum tape_error, with job->problem set.
 */
int __attribute__((warn_unused_result)) import_trace_dat(struct import_job *job);

#endif
