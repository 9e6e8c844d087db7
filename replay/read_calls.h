/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads told by system calls, for kernels without mm_filemap_get_pages (before 6.10).
 *
 * pread64() says which pages, but only a descriptor: which file that is shows in what the call adds to the
 * page cache. So a task's reads by a descriptor are known from the first one that misses; those before it are
 * told then, late. The marks of a call come after its adds and its reclaim, so that the read stands where the
 * call returns.
 */
#ifndef REPLAY_READ_CALLS_H
#define REPLAY_READ_CALLS_H

#include <stdbool.h>

#include "schema/tape_reader.h"

struct read_calls;

/** read_calls_open() - no call is under way. Return: NULL without memory. */
struct read_calls *read_calls_open(void);

/** read_calls_close() - free it; NULL is fine. */
void read_calls_close(struct read_calls *calls);

/** read_calls_event() - take in the next event of the tape. Return: 0 or TAPE_ERR_MEMORY. */
int __attribute__((warn_unused_result))
read_calls_event(struct read_calls *calls, const struct tape_event *event);

/**
 * read_calls_next() - a read that is known now
 * @read: set to a mm_filemap_get_pages that tells it, valid until the next call
 * Return: there is one.
 */
bool read_calls_next(struct read_calls *calls, struct tape_event *read);

#endif
