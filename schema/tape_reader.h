/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a tape: frames in, one event at a time out, in time order, in bounded memory.
 *
 * One reader, one thread. Any number of readers may have the same file open.
 */
#ifndef SCHEMA_TAPE_READER_H
#define SCHEMA_TAPE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/events.h"
#include "schema/tape_problem.h"

struct tape_reader;

/* What a column holds. */
enum tape_field_kind {
	TAPE_FIELD_INTEGER = 0, /* signed ones are sign-extended to 64 bits */
	TAPE_FIELD_STRING = 1, /* char array or __data_loc char[]: bytes up to the first NUL */
	TAPE_FIELD_BYTES = 2, /* anything else: the bytes as they lay in the record */
	TAPE_FIELD_LEFT_OUT = 3, /* kernel pointers and padding: known by name, not recorded */
};

struct tape_field {
	const char *name;
	const char *ctype; /* as in the format file, e.g. "unsigned long" */
	uint16_t offset, size; /* in the kernel's record, bytes */
	bool is_signed;
	enum tape_field_kind kind;
	uint16_t slot; /* index into tape_event.value[]; of no meaning for TAPE_FIELD_LEFT_OUT */
};

/* One event type of this tape: a tracepoint with the layout that its kernel had. */
struct tape_type {
	uint16_t number; /* tape_event.type, counted from 0 */
	uint16_t kernel_id; /* common_type on the recorded kernel, 0 for imports */
	enum event_kind kind;
	const char *system, *name;
	const char *format; /* the kernel's format file, "" for imports that have none */
	const char *filter; /* kernel-side filter in force, "" for none */
	const struct tape_field *field; /* in the format's order, without the common ones */
	unsigned int nr_fields;
	unsigned int nr_slots; /* value[] has that many entries */
	uint64_t present; /* bit s: this tape has a field for slot s of events.def */
};

struct tape_event {
	uint64_t timestamp_ns; /* trace clock, CLOCK_MONOTONIC unless the tape says otherwise */
	uint32_t cpu;
	int32_t pid; /* thread that ran on the CPU; 0 idle */
	uint16_t kind; /* enum event_kind */
	uint16_t type; /* of tape_reader_type(); of no meaning for EVENT_LOST */
	uint8_t flags; /* common_flags */
	uint8_t preempt_count;
	const uint64_t *value; /* by slot: events.def's first, then the fields it does not name */
	const char *strings; /* see tape_event_string() */
};

/* Slots absent on this tape read as this, so that "missing" never looks like a small number. */
#define TAPE_VALUE_ABSENT UINT64_MAX

/* A file or fact copied into the tape: a snapshot's piece. */
struct tape_blob {
	uint64_t timestamp_ns; /* when it was taken, trace clock */
	uint32_t moment; /* 0 start, TAPE_MOMENT_END end, others count up between them */
	const char *name; /* absolute path of the file, or lrutape/NAME for what no file holds */
	const char *data; /* NUL follows the last byte */
	size_t size; /* without that NUL */
};

#define TAPE_MOMENT_START 0u
#define TAPE_MOMENT_END UINT32_MAX

/* Totals of a tape, known after open without decoding a single event. */
struct tape_summary {
	uint32_t format_version;
	uint64_t file_bytes;
	uint64_t frame_bytes; /* of event frames on disk, headers included */
	uint64_t nr_events;
	uint64_t nr_frames;
	uint64_t first_ns, last_ns; /* of the events; both 0 on an empty tape */
	uint64_t nr_lost; /* located losses with a count */
	uint64_t nr_losses_unknown; /* located losses without one */
	uint64_t
		nr_overrun; /* the kernel's own total from per_cpu stats, 0 where not on the tape */
	uint32_t nr_cpus; /* one more than the greatest CPU number with events */
	uint32_t nr_types;
	bool has_index; /* false: rebuilt by reading all headers */
	bool torn; /* the file ends inside a frame; everything before torn_at is usable */
	uint64_t torn_at; /* byte */
};

/**
 * tape_reader_open() - open a tape and read what it says of itself
 * @path: file name; kept by reference in no place
 * @reader: set to the reader, owned by the caller, on success only
 * @problem: filled on failure: code, byte, a sentence with file, place and remedy
 *
 * Reads the header, types, blobs and index, or all frame headers where the index is missing.
 * A torn tail is no failure: see tape_summary.torn.
 * Return: 0, or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
tape_reader_open(const char *path, struct tape_reader **reader, struct tape_problem *problem);

/**
 * tape_reader_next() - the next event of all CPUs in time order
 * @reader: open reader
 * @event: set to the event; it and all it points to stay valid until the next call only
 *
 * Events of one CPU come in recorded order; of equal times the lower CPU comes first.
 * Return: 1: *event is set. 0: the tape ended (or its usable part, see tape_summary.torn).
 * Negative enum tape_error: tape_reader_problem() has the sentence.
 */
int __attribute__((warn_unused_result))
tape_reader_next(struct tape_reader *reader, const struct tape_event **event);

/** tape_reader_rewind() - start again at the first event. Return: 0 or a negative enum tape_error. */
int __attribute__((warn_unused_result)) tape_reader_rewind(struct tape_reader *reader);

/** tape_reader_problem() - what the last negative return meant; valid while the reader lives. */
const struct tape_problem *tape_reader_problem(const struct tape_reader *reader);

/** tape_reader_summary() - totals; valid while the reader lives. */
const struct tape_summary *tape_reader_summary(const struct tape_reader *reader);

/** tape_reader_type() - event type by its number, NULL past the last one. */
const struct tape_type *tape_reader_type(const struct tape_reader *reader, unsigned int number);

/** tape_reader_type_events() - events of that type on the whole tape, 0 past the last one. */
uint64_t tape_reader_type_events(const struct tape_reader *reader, unsigned int number);

/** tape_reader_kind_events() - events of that kind on the whole tape, of all types that are of it. */
uint64_t tape_reader_kind_events(const struct tape_reader *reader, enum event_kind kind);

/**
 * tape_reader_check() - read every frame and hold it against its checksums and the index
 *
 * Says nothing of what the columns hold: for that, read the events.
 * Return: 0 or a negative enum tape_error; tape_reader_problem() has the sentence.
 */
int __attribute__((warn_unused_result)) tape_reader_check(struct tape_reader *reader);

/** tape_reader_blob() - the i-th blob in tape order, counted from 0; NULL past the last one. */
const struct tape_blob *tape_reader_blob(const struct tape_reader *reader, size_t i);

/**
 * tape_reader_find_blob() - a blob by name
 * @moment: TAPE_MOMENT_START, TAPE_MOMENT_END or a number between
 * Return: the blob, owned by the reader, or NULL.
 */
const struct tape_blob *tape_reader_find_blob(const struct tape_reader *reader, uint32_t moment,
					      const char *name);

/**
 * tape_event_string() - a string or bytes field
 * @slot: of a field of kind TAPE_FIELD_STRING or TAPE_FIELD_BYTES
 * @size: set to its bytes, without the NUL that follows; may be NULL
 * Return: valid as long as the event.
 */
static inline const char *tape_event_string(const struct tape_event *event, unsigned int slot,
					    size_t *size)
{
	uint64_t where = event->value[slot];

	if (where == TAPE_VALUE_ABSENT) {
		if (size)
			*size = 0;
		return "";
	}
	if (size)
		*size = (size_t)(where & UINT32_MAX);
	return event->strings + (where >> 32);
}

/** tape_reader_close() - free everything; NULL is fine. */
void tape_reader_close(struct tape_reader *reader);

#endif
