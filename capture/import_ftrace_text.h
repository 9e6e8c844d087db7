/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of tracefs `trace` and `trace_pipe`, as people paste and mail it. */
#ifndef CAPTURE_IMPORT_FTRACE_TEXT_H
#define CAPTURE_IMPORT_FTRACE_TEXT_H

#include "capture/import.h"
#include "capture/import_ftrace_line.h"

/**
 * import_ftrace_text() - read all of job->input into job->tape
 *
 * Text with six decimals orders events of several CPUs within a microsecond by their lines only.
 * The tape keeps that order: at each change of CPU inside one microsecond the time moves on by a
 * nanosecond. Events of one CPU with equal times keep equal times.
 *
 * Tasks seen, but for those that were made while the trace ran, become blob lrutape/tasks, a line
 * "tid tgid memcg_inode comm" each, 0 where unknown.
 *
 * Return: 0, or a negative enum tape_error with job->problem set; what came before is on the tape.
 */
int __attribute__((warn_unused_result)) import_ftrace_text(struct import_job *job);

/* As ftrace_line_read(). */
typedef enum ftrace_line_kind ftrace_line_reader(const char *text, size_t size,
						 struct ftrace_line *line);

/**
 * import_trace_text() - the same for text whose lines have other heads
 * @read_line: takes a line apart
 * @example, @remedy: for the message where no line is one
 */
int __attribute__((warn_unused_result))
import_trace_text(struct import_job *job, ftrace_line_reader *read_line, const char *example,
		  const char *remedy);

#endif
