/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tape's events with two things worked out ahead. One is how far each read got.
 *
 * mm_filemap_get_pages names the batch's first page and the last page of the whole request. What
 * the batch covered shows only in the next such event of the same task and file: same last page,
 * larger first page. So a read of several pages makes the stream look ahead.
 *
 * The other is asked for: whose list an isolation was from shows in the first folio that its task evicts
 * after it, and at which priority in the event that closes it.
 *
 * On a tape without that event reads are taken from system calls: replay/read_calls.h.
 */
#ifndef REPLAY_EVENT_STREAM_H
#define REPLAY_EVENT_STREAM_H

#include <stdint.h>

#include "schema/tape_reader.h"

struct event_stream;

/** event_stream_open() - over a reader that stands at its first event. Return: NULL without memory. */
struct event_stream *event_stream_open(struct tape_reader *reader);

/**
 * event_stream_next() - the next event
 * @event: valid until the next call
 * @read_end: for mm_filemap_get_pages the last page that this batch covered; for mm_vmscan_lru_isolate, if
 * event_stream_foresee() was called, what isolation_victim() and isolation_priority() take
 * Return: as tape_reader_next(), or TAPE_ERR_MEMORY.
 */
int __attribute__((warn_unused_result))
event_stream_next(struct event_stream *stream, const struct tape_event **event, uint64_t *read_end);

enum foresight {
	FORESEE_NOTHING,
	FORESEE_ISOLATIONS, /* what comes of each */
	FORESEE_VICTIMS, /* all that a task removes from the page cache with nothing of its own between */
};

/** event_stream_foresee() - look ahead for this, too. Before the first event. */
void event_stream_foresee(struct event_stream *stream, enum foresight foresight);

#define VICTIM_RUN_LIMIT 1024

/**
 * event_stream_victims() - what the task removes from here on
 * Of the event that event_stream_next() gave last, if that begins such a run.
 * @nr: folios, 0: it begins none
 * Return: their pfns, valid until the next call of event_stream_next(); NULL: none.
 */
const uint32_t *event_stream_victims(const struct event_stream *stream, unsigned int *nr);

/** isolation_victim() - pfn of the first folio evicted of it, or of a later one if it took nothing; UINT64_MAX: none was. */
static inline uint64_t isolation_victim(uint64_t foreseen)
{
	return (foreseen & (UINT64_MAX >> 8)) - 1;
}

/** isolation_priority() - as its shrinking showed; -1: nothing did. */
static inline int isolation_priority(uint64_t foreseen)
{
	return (int)(foreseen >> 56) - 1;
}

/** event_stream_close() - free it; the reader stays open. NULL is fine. */
void event_stream_close(struct event_stream *stream);

#endif
