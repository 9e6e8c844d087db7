/* SPDX-License-Identifier: GPL-2.0-only */
/* One CPU's events into an event frame's columns: the tape writer's inner half. */
#ifndef SCHEMA_COLUMN_ENCODER_H
#define SCHEMA_COLUMN_ENCODER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/tape_reader.h"
#include "schema/tape_types.h"

struct column_encoder;

/**
 * column_encoder_new() - an empty frame
 * @types: by number; may grow while the encoder lives, entries never move
 * @nr_types: how many there are by now
 * @cpu: goes into the frames' headers
 * @compression_level: zstd's
 * @frame_bytes: of columns, after which a frame is full
 * Return: NULL when memory runs out.
 */
struct column_encoder *column_encoder_new(struct tape_type *const *types,
					  const atomic_uint *nr_types, uint32_t cpu,
					  int compression_level, uint32_t frame_bytes);

/* These return 0, TAPE_ERR_CORRUPT with *why set, or TAPE_ERR_MEMORY. */
int column_encoder_record(struct column_encoder *encoder, const struct tape_type *type,
			  uint64_t timestamp_ns, const uint8_t *record, size_t size,
			  const char **why);
int column_encoder_event(struct column_encoder *encoder, const struct tape_type *type,
			 const struct tape_event *event, const char **why);
int column_encoder_lost(struct column_encoder *encoder, uint64_t timestamp_ns, uint64_t count,
			const char **why);

/** column_encoder_full() - is it time to close the frame? Ask after every event. */
bool column_encoder_full(const struct column_encoder *encoder);

/** column_encoder_empty() - has nothing come since the last close? */
bool column_encoder_empty(const struct column_encoder *encoder);

/**
 * column_encoder_close() - the frame as it goes to disk: header, counts, payload
 * @frame: emptied first
 *
 * The encoder starts a new frame, whatever is returned.
 * Return: 0 or TAPE_ERR_MEMORY.
 */
int column_encoder_close(struct column_encoder *encoder, struct tape_bytes *frame);

void column_encoder_free(struct column_encoder *encoder);

#endif
