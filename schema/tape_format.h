/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tape's bytes on disk, format version 1. docs/format.md explains them; a change here is a
 * change of the format.
 *
 *   file header | frame | frame | ... | index frame | trailer
 *   frame: header, events by type, payload
 *
 * All numbers are little endian; the structs are laid out so that no compiler adds padding.
 */
#ifndef SCHEMA_TAPE_FORMAT_H
#define SCHEMA_TAPE_FORMAT_H

#include <assert.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tapes are little endian, and so must this machine be: nobody has written the swaps yet"
#endif

#define TAPE_FILE_MAGIC "lrutape\n" /* 8 bytes, without the NUL */
#define TAPE_FORMAT_VERSION 1u
#define TAPE_FRAME_MAGIC 0x4654524cu /* "LRTF" */
#define TAPE_TRAILER_MAGIC 0x4554524cu /* "LRTE" */

/* Limits: what a file says beyond them is refused before it is used. */
#define TAPE_CPUS_MAX 8192u
#define TAPE_TYPES_MAX 4096u
#define TAPE_FIELDS_MAX 60u /* of one type, as recorded */
#define TAPE_STRING_BYTES_MAX 4096u /* names, C types, paths, filters */
#define TAPE_FORMAT_TEXT_BYTES_MAX (1u << 20) /* a kernel's format file */
#define TAPE_BLOB_BYTES_MAX (64u << 20)
#define TAPE_BLOBS_MAX (1u << 20)
#define TAPE_BLOBS_BYTES_MAX (1ull << 30) /* of all blobs together */
#define TAPE_FRAMES_MAX (1u << 24)
#define TAPE_FRAME_TYPES_MAX 256u /* event types in one frame: a row's type is one byte */
#define TAPE_FRAME_ROWS_MAX (1u << 20)
#define TAPE_EVENT_FRAME_RAW_MAX (16u << 20) /* columns before compression */
#define TAPE_FRAME_RAW_MAX (72u << 20) /* of any frame: a greatest blob and its name fit */
#define TAPE_FRAME_STORED_MAX (80u << 20) /* payload on disk */
#define TAPE_FRAME_HISTORIES_MAX 32u /* columns that others refer to by position */
#define TAPE_DECODED_BYTES_MAX (4ull << 30) /* what a reader holds of all CPUs' frames at a time */
#define TAPE_EVENT_STRING_MAX 65535u /* one string or bytes field: a __data_loc cannot say more */

struct tape_file_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* of this struct; the first frame follows */
	uint32_t refuse_flags; /* a reader refuses bits that it does not know; none are defined */
	uint32_t ignore_flags; /* a reader ignores bits that it does not know; none are defined */
	uint32_t reserved; /* 0 */
	uint32_t crc; /* crc32 of the bytes before */
};

static_assert(sizeof(struct tape_file_header) == 32, "on disk");

enum tape_frame_kind {
	TAPE_FRAME_TYPES = 1,
	TAPE_FRAME_BLOBS = 2,
	TAPE_FRAME_EVENTS = 3,
	TAPE_FRAME_INDEX = 4,
};

#define TAPE_FRAME_SKIPPABLE 0x0001u /* a reader that does not know the kind steps over it */
#define TAPE_FRAME_REFUSE_MASK 0x00feu /* unknown bits here: refuse the frame */
/* Unknown bits of 0xff00 are ignored. */

struct tape_frame_header {
	uint32_t magic;
	uint32_t header_crc; /* crc32 of the whole header, counts included, with this field as 0 */
	uint32_t header_bytes; /* 72 + 8 * nr_counts; the payload follows */
	uint16_t kind;
	uint16_t flags;
	uint32_t payload_bytes; /* on disk */
	uint32_t payload_crc; /* crc32 of the payload as it lies on disk */
	/*
	 * Payload after decompression; equal to payload_bytes: it is not compressed, else it is one
	 * zstd frame. Events: the sum of the streams' raw_bytes, each compressed by itself.
	 */
	uint32_t raw_bytes;
	uint32_t cpu; /* events; 0 otherwise */
	uint64_t first_ns, last_ns; /* of the rows or blobs, 0 otherwise */
	uint64_t nr_lost; /* sum of the known counts of this frame's losses */
	uint32_t nr_losses_unknown; /* losses whose count the kernel did not say */
	uint32_t nr_events; /* rows that are events, losses not counted */
	uint32_t nr_counts; /* entries that follow */
	uint32_t reserved; /* 0, ignored */
};

static_assert(sizeof(struct tape_frame_header) == 72, "on disk");

/* Rows by type. The position in this list is the type's code in the frame's row-type column. */
struct tape_frame_count {
	uint16_t type; /* number of a type, or TAPE_TYPE_LOST */
	uint16_t reserved; /* 0, ignored */
	uint32_t nr_rows;
};

static_assert(sizeof(struct tape_frame_count) == 8, "on disk");

#define TAPE_TYPE_LOST 0xffffu /* rows that stand for lost events */

/* Payload of an event frame: this, columns, streams, then the streams' stored bytes in order. */
struct tape_columns_header {
	uint32_t nr_columns;
	uint32_t nr_streams;
};

static_assert(sizeof(struct tape_columns_header) == 8, "on disk");

/* A column: prediction + residual, row by row of its type. */
struct tape_column {
	uint16_t type; /* code of the type, or TAPE_COLUMN_ROW_TYPE */
	uint16_t field; /* enum tape_column_field, with TAPE_COLUMN_LITERAL for literals */
	uint8_t predictor; /* enum tape_predictor */
	uint8_t encoding; /* enum tape_encoding */
	uint8_t width; /* bytes of a residual, TAPE_ENCODING_PLANES only */
	uint8_t flags; /* TAPE_COLUMN_*; unknown bits are refused */
	uint16_t ref_type; /* code of the type referred to */
	uint16_t ref_field;
	uint16_t beside; /* TAPE_PREDICT_BESIDE: field of ref_type whose value is wanted */
	int8_t shift; /* SAME, LAST: the value referred to << shift, or >> -shift */
	uint8_t reserved; /* 0, ignored */
	uint64_t base; /* the column's value before its first row */
};

static_assert(sizeof(struct tape_column) == 24, "on disk");

#define TAPE_COLUMN_ROW_TYPE 0xffffu

enum tape_column_field {
	TAPE_COLUMN_TIME = 0,
	TAPE_COLUMN_PID = 1,
	TAPE_COLUMN_FLAGS = 2,
	TAPE_COLUMN_PREEMPT = 3,
	TAPE_COLUMN_FIELDS = 4, /* + the field's place in its type, counted from 0 */
	TAPE_COLUMN_LOST = TAPE_COLUMN_FIELDS, /* of TAPE_TYPE_LOST: how many */
};

#define TAPE_COLUMN_LITERAL                                                                        \
	0x8000u /* in field: values that the column of that field could not refer to */
#define TAPE_COLUMN_UNSIGNED 0x01u /* residuals are not zigzag coded */

enum tape_predictor {
	TAPE_PREDICT_BASE = 0, /* base, always */
	TAPE_PREDICT_PREVIOUS = 1, /* this column's last value */
	TAPE_PREDICT_ROW = 2, /* common fields: the last row's value, of whatever type */
	TAPE_PREDICT_SAME = 3, /* ref_field's value in the same row */
	TAPE_PREDICT_LAST = 4, /* last value of another column */
	TAPE_PREDICT_FOLLOW =
		5, /* a place in another column's history, counted from the one after the last */
	TAPE_PREDICT_RECENT =
		6, /* a place in another column's history, counted back from its end */
	TAPE_PREDICT_BESIDE =
		7, /* another column's value at the place that ref_field of this row found */
	TAPE_PREDICT_CONTEXT = 8, /* row types only: what followed the same type the last time */
	TAPE_PREDICT_STRING = 9, /* strings and bytes */
};

enum tape_encoding {
	TAPE_ENCODING_NONE = 0, /* no stream: all residuals are 0 */
	TAPE_ENCODING_VARINT = 1, /* one stream */
	TAPE_ENCODING_PLANES = 2, /* `width` streams: first all lowest bytes, and so on */
	TAPE_ENCODING_RUNS =
		3, /* one stream: how many zeros, then a residual that is not 0, and so on */
	TAPE_ENCODING_STRINGS = 4, /* three streams: symbols, lengths, bytes */
};

struct tape_stream_entry {
	uint32_t raw_bytes;
	uint32_t stored_bytes; /* equal to raw_bytes: not compressed; else one zstd frame */
};

static_assert(sizeof(struct tape_stream_entry) == 8, "on disk");

/* Payload of a types frame, after decompression: these, each followed by its strings and fields. */
struct tape_type_entry {
	uint16_t number;
	uint16_t kernel_id;
	uint16_t nr_fields;
	uint16_t reserved; /* 0, ignored */
	/* strings system, name, format, filter: u32 length, bytes; then nr_fields fields */
};

static_assert(sizeof(struct tape_type_entry) == 8, "on disk");

struct tape_field_entry {
	uint16_t offset, size;
	uint8_t is_signed;
	uint8_t kind; /* enum tape_field_kind */
	uint16_t reserved; /* 0, ignored */
	/* strings name, ctype: u32 length, bytes */
};

static_assert(sizeof(struct tape_field_entry) == 8, "on disk");

/* Payload of a blobs frame, after decompression: these, each followed by name and data. */
struct tape_blob_entry {
	uint64_t timestamp_ns;
	uint32_t moment;
	uint32_t name_bytes;
	uint64_t data_bytes;
};

static_assert(sizeof(struct tape_blob_entry) == 24, "on disk");

/* Payload of the index, after decompression: these, each followed by a copy of the frame's header. */
struct tape_index_entry {
	uint64_t byte; /* of the frame in the file */
};

struct tape_trailer {
	uint32_t magic;
	uint32_t crc; /* crc32 of the bytes that follow */
	uint64_t index_byte; /* of the index frame in the file */
	uint64_t file_bytes; /* of the whole file */
};

static_assert(sizeof(struct tape_trailer) == 24, "on disk");

#endif
