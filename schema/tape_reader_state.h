/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files behind tape_reader.h share.
 *
 *   tape_frames.c  where the frames are: by the index, or walked; types and blobs are taken in on the way
 *   tape_reader.c  their events: one decoded frame for each CPU, merged by time
 */
#ifndef SCHEMA_TAPE_READER_STATE_H
#define SCHEMA_TAPE_READER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zstd.h>

#include "schema/column_decoder.h"
#include "schema/tape_format.h"
#include "schema/tape_reader.h"
#include "schema/tape_types.h"

#define NO_FRAME UINT32_MAX
#define HEADER_BYTES_MAX                                                                           \
	(sizeof(struct tape_frame_header) + TAPE_FRAME_TYPES_MAX * sizeof(struct tape_frame_count))

/* What is kept of each frame. */
struct frame_place {
	uint64_t byte;
	uint32_t header_bytes, payload_bytes;
	uint32_t header_crc;
	uint32_t next; /* frame of the same CPU */
};

/* One CPU's place in the tape. */
struct cursor {
	struct column_decoder *decoder;
	struct tape_event event; /* the CPU's next one */
	uint32_t first_frame, last_frame; /* of this CPU */
	uint32_t frame; /* in the decoder, or NO_FRAME */
	uint64_t last_ns; /* at open: of the CPU's last frame so far */
	uint64_t decoded_bytes;
};

struct tape_reader {
	char *path;
	int fd;
	struct tape_summary summary;
	struct tape_problem problem;
	struct tape_type *type[TAPE_TYPES_MAX];
	uint64_t type_events[TAPE_TYPES_MAX];
	struct tape_blob *blob;
	size_t nr_blobs, blobs_room;
	uint64_t all_blobs_bytes;
	struct frame_place *frame;
	uint32_t nr_frames, frames_room;
	struct cursor *cursor[TAPE_CPUS_MAX]; /* by CPU */
	struct cursor *heap[TAPE_CPUS_MAX]; /* by time of the next event, earliest first */
	unsigned int nr_heap;
	bool started;
	int error; /* what tape_reader_next() ended with, until the next rewind */
	uint64_t decoded_bytes; /* of all cursors */
	ZSTD_DCtx *zstd;
	_Alignas(8) uint8_t header[HEADER_BYTES_MAX];
	struct tape_bytes payload, raw;
};

/* ---- tape_frames.c */

/** tape_frames_fail() - set the reader's problem. Return: @code. */
int tape_frames_fail(struct tape_reader *reader, enum tape_error code, uint64_t byte,
		     const char *what);

/** tape_frames_find() - the file's header and all of its frames, types and blobs. Return: 0 or an enum tape_error. */
int tape_frames_find(struct tape_reader *reader);

/**
 * tape_frames_read_header() - of the frame at @byte, into reader->header
 * Return: 1: a good one. 0: no header, a bad checksum, or beyond the end. Negative: reading failed, enum tape_error.
 */
int tape_frames_read_header(struct tape_reader *reader, uint64_t byte);

/** tape_frames_read_payload() - of the frame in reader->header, checked, into reader->payload. Return: 0 or negative. */
int tape_frames_read_payload(struct tape_reader *reader, uint64_t byte);

#endif
