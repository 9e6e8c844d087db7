/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a tape: events in, columns and zstd frames out.
 *
 * The writer belongs to one thread at a time except for tape_stream_*(): each CPU's stream may be
 * fed by a thread of its own, and finished frames of all streams go to the file under the
 * writer's lock.
 */
#ifndef SCHEMA_TAPE_WRITER_H
#define SCHEMA_TAPE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/tape_problem.h"
#include "schema/tape_reader.h"

struct tape_writer;
struct tape_stream;

struct tape_writer_options {
	int compression_level; /* zstd, 0 means 3 */
	uint32_t frame_bytes; /* columns before compression, 0 means 1 MiB */
};

/**
 * tape_writer_create() - start a new tape
 * @path: created or truncated; empty until there is a frame to write
 * @options: NULL for defaults
 * @writer: set on success; ends with tape_writer_finish() or tape_writer_abandon()
 * @problem: filled on failure
 * Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
tape_writer_create(const char *path, const struct tape_writer_options *options,
		   struct tape_writer **writer, struct tape_problem *problem);

/**
 * tape_writer_add_type() - declare an event type, before any of its events
 * @type: name, format, filter, fields with name, ctype, offset, size, sign and kind; number, kind,
 *        slot, nr_slots and present are ignored and worked out from events.def. Copied.
 * @number: set to the type's number
 * Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
tape_writer_add_type(struct tape_writer *writer, const struct tape_type *type, uint16_t *number);

/** tape_writer_type() - a declared type with number, slots and kind filled in; owned by the writer. */
const struct tape_type *tape_writer_type(const struct tape_writer *writer, unsigned int number);

/**
 * tape_writer_add_blob() - store a snapshot's piece; any time between create and finish
 * @blob: copied
 * Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
tape_writer_add_blob(struct tape_writer *writer, const struct tape_blob *blob);

/**
 * tape_writer_stream() - the stream of one CPU, made at its first use
 * @cpu: number of the recorded CPU
 * Return: owned by the writer, or NULL when memory or CPU numbers run out.
 */
struct tape_stream *tape_writer_stream(struct tape_writer *writer, uint32_t cpu);

/**
 * tape_stream_record() - append an event as it lay in the kernel's ring buffer
 * @type: number of a declared type whose fields' offsets and sizes describe @record
 * @timestamp_ns: not before the stream's previous event
 * @record: with the common header
 * @size: bytes; offsets beyond it make TAPE_ERR_CORRUPT
 * Return: 0 or a negative enum tape_error (kept: later calls return it again).
 */
int __attribute__((warn_unused_result))
tape_stream_record(struct tape_stream *stream, uint16_t type, uint64_t timestamp_ns,
		   const void *record, size_t size);

/**
 * tape_stream_event() - append an event given as values, as importers do
 * @event: type, timestamp_ns, pid, flags, preempt_count, value[] by slot, strings; copied
 * Return: as tape_stream_record().
 */
int __attribute__((warn_unused_result))
tape_stream_event(struct tape_stream *stream, const struct tape_event *event);

/**
 * tape_stream_lost() - events were lost between the last and the next event of this stream
 * @count: how many, EVENT_LOST_UNKNOWN where the kernel does not say
 * Return: as tape_stream_record().
 */
int __attribute__((warn_unused_result))
tape_stream_lost(struct tape_stream *stream, uint64_t count);

/** tape_stream_flush() - write out what has come so far as a frame. Return: as tape_stream_record(). */
int __attribute__((warn_unused_result)) tape_stream_flush(struct tape_stream *stream);

/**
 * tape_writer_flush() - write out the types and blobs that came so far
 * From then on the file is a tape that opens, whatever becomes of its writer.
 * Return: 0 or a negative enum tape_error that is kept as tape_writer_problem().
 */
int __attribute__((warn_unused_result)) tape_writer_flush(struct tape_writer *writer);

/**
 * tape_writer_sync() - what was written so far survives a power cut
 * Waits for the disk; streams go on meanwhile. A file that cannot be synced (a pipe) is no error.
 * Return: 0, or a negative enum tape_error that is kept as tape_writer_problem().
 */
int __attribute__((warn_unused_result)) tape_writer_sync(struct tape_writer *writer);

/** tape_writer_bytes() - bytes in the file so far. */
uint64_t tape_writer_bytes(const struct tape_writer *writer);

/** tape_writer_problem() - the first thing that went wrong, in any stream; code TAPE_OK: nothing. */
const struct tape_problem *tape_writer_problem(const struct tape_writer *writer);

/**
 * tape_writer_finish() - flush all streams, write the index, fsync, close, free
 * @problem: filled on failure; what had reached the file before stays a readable tape
 * Return: 0 or a negative enum tape_error. @writer is gone either way.
 */
int __attribute__((warn_unused_result))
tape_writer_finish(struct tape_writer *writer, struct tape_problem *problem);

/** tape_writer_abandon() - close and free without an index; the file stays as far as it was written. */
void tape_writer_abandon(struct tape_writer *writer);

#endif
