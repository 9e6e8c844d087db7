/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file that another program wrote, as lines or as bytes, whether it was compressed or not.
 *
 * What the file is, is told by its first bytes and never by its name: a mailed trace is often
 * called trace.txt whatever it holds. Memory is bounded by IMPORT_LINE_LIMIT and the
 * decompressor's window.
 */
#ifndef CAPTURE_IMPORT_SOURCE_H
#define CAPTURE_IMPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/tape_problem.h"

/* The kernel builds a line of trace text in at most 8 KiB (TRACE_SEQ_BUFFER_SIZE, v6.8). */
#define IMPORT_LINE_LIMIT 16384u

struct import_source;

struct import_line {
	const char *text; /* without its newline; NUL follows; valid until the next call */
	size_t size;
	uint64_t number; /* counted from 1 */
	bool cut; /* longer than IMPORT_LINE_LIMIT: text is its beginning */
	bool ended; /* a newline stood behind it: false on a last line that may be incomplete */
};

/**
 * import_source_open() - open a file by name
 * @path: file name, "-" for standard input
 * @source: set on success
 * @problem: filled on failure: code, byte, sentence
 * Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
import_source_open(const char *path, struct import_source **source, struct tape_problem *problem);

/**
 * import_source_open_memory() - the same over bytes in memory, for tests and fuzzing
 * @bytes: kept by reference
 */
int __attribute__((warn_unused_result))
import_source_open_memory(const void *bytes, size_t size, struct import_source **source,
			  struct tape_problem *problem);

/**
 * import_source_line() - the next line
 * Return: 1: *line is set. 0: the file ended. Negative enum tape_error: import_source_problem()
 * has the sentence; TAPE_ERR_CORRUPT where compressed data is damaged or cut short.
 */
int __attribute__((warn_unused_result))
import_source_line(struct import_source *source, struct import_line *line);

/**
 * import_source_read() - the next bytes, for binary files; not to be mixed with lines
 * @size: bytes wanted
 * @got: set to the bytes read, fewer than @size at the file's end only
 * Return: 0 or a negative enum tape_error as import_source_line().
 */
int __attribute__((warn_unused_result))
import_source_read(struct import_source *source, void *buffer, size_t size, size_t *got);

/**
 * import_source_spool() - the whole file, unpacked, for reading in any order; instead of the above
 * @fd: set to a descriptor for pread(), owned by the caller: the file itself if it is a plain one,
 *      else a temporary copy that vanishes when it is closed
 * @size: set to its bytes
 * Return: 0 or a negative enum tape_error as import_source_line().
 */
int __attribute__((warn_unused_result))
import_source_spool(struct import_source *source, int *fd, uint64_t *size);

/** import_source_problem() - what the last negative return meant. */
const struct tape_problem *import_source_problem(const struct import_source *source);

/** import_source_path() - for messages. */
const char *import_source_path(const struct import_source *source);

/** import_source_close() - free everything; NULL is fine. */
void import_source_close(struct import_source *source);

#endif
