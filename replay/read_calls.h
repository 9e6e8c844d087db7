/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads told by system calls, for kernels without mm_filemap_get_pages (before 6.10).
 *
 * pread64() says which pages, but only a descriptor: which file that is shows in what the call adds to the
 * page cache. So a task's reads by a descriptor are known from the first one that misses. The marks of a
 * call come after its adds and its reclaim, so that the read stands where the call returns.
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

/**
 * read_calls_event() - take in the next event of the tape
 * @read: if the event ends a read of a known file, set to a mm_filemap_get_pages that says so; valid until
 * the next call
 * Return: 1: *read is set. 0: the event is nothing of the kind. Negative: TAPE_ERR_MEMORY.
 */
int __attribute__((warn_unused_result))
read_calls_event(struct read_calls *calls, const struct tape_event *event, struct tape_event *read);

#endif
