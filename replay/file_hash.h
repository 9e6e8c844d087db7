/* SPDX-License-Identifier: GPL-2.0-only */
/* A file's bytes in a word, for results: which tape, which policy it was. */
#ifndef REPLAY_FILE_HASH_H
#define REPLAY_FILE_HASH_H

#include <stddef.h>

/**
 * file_hash() - FNV-1a over a file's bytes: tells two of one name apart
 * @text: set to "fnv1a64:" and 16 digits
 * Return: 0, or -1 if it could not be read.
 */
int __attribute__((warn_unused_result)) file_hash(const char *path, char *text, size_t text_bytes);

#endif
