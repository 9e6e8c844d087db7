/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of proc, sysfs, tracefs and cgroups: whole in, whole out, with the kernel's errno. */
#ifndef CAPTURE_TEXT_FILE_H
#define CAPTURE_TEXT_FILE_H

#include <stddef.h>

/**
 * text_file_read() - a whole file into memory
 * @path: file name
 * @limit_bytes: what lies beyond is not read
 * @size: set to the bytes read; may be NULL
 * Return: the bytes with a NUL behind them, to be freed; NULL with errno set.
 */
char *text_file_read(const char *path, size_t limit_bytes, size_t *size);

/**
 * text_file_write() - write a text in one call, as control files want it
 * @path: existing file, truncated where the file system knows that
 * Return: 0 or a negative errno.
 */
int text_file_write(const char *path, const char *text);

/** text_file_append() - the same without truncating, which in some control files undoes what others wrote. */
int text_file_append(const char *path, const char *text);

#endif
