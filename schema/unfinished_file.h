/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that gets its name when it is whole: a signal that ends the program removes it before. One at a time. */
#ifndef SCHEMA_UNFINISHED_FILE_H
#define SCHEMA_UNFINISHED_FILE_H

/**
 * unfinished_file_begin() - from now on SIGINT, SIGTERM and SIGHUP remove @path; one that is ignored stays so
 * A longer path than a signal handler has room for, 4095 bytes, is left alone.
 */
void unfinished_file_begin(const char *path);

/** unfinished_file_end() - it is renamed, or removed: signals find nothing to remove any more. */
void unfinished_file_end(void);

#endif
