/* SPDX-License-Identifier: GPL-2.0-only */
/* One event frame's columns back into rows: the tape reader's inner half. */
#ifndef SCHEMA_COLUMN_DECODER_H
#define SCHEMA_COLUMN_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "schema/tape_format.h"
#include "schema/tape_reader.h"

struct column_decoder;

/**
 * column_decoder_new() - room for one decoded frame at a time
 * @types: by number, NULL where there is none; stays the caller's and outlives the decoder
 * @nr_types: entries of @types
 * Return: NULL when memory runs out.
 */
struct column_decoder *column_decoder_new(struct tape_type *const *types, unsigned int nr_types);

/**
 * column_decoder_load() - take a frame's columns apart, ready for its first row
 * @header: checked against the limits of tape_format.h; nr_counts entries stand in @count
 * @payload: header->payload_bytes bytes as on disk, checksum known to be right; not kept
 * @why: set to a phrase on failure
 * Return: 0 or a negative enum tape_error.
 */
int column_decoder_load(struct column_decoder *decoder, const struct tape_frame_header *header,
			const struct tape_frame_count *count, const uint8_t *payload,
			const char **why);

/**
 * column_decoder_next() - the next row
 * @event: the row before, or time 0, and then this one: filled except for cpu; what it points to is
 *         valid until the next call
 * Return: 1, 0 after the last row, TAPE_ERR_CORRUPT when the columns contradict each
 * other or time goes backwards.
 */
int column_decoder_next(struct column_decoder *decoder, struct tape_event *event);

/** column_decoder_rewind() - forget the loaded frame and the time of the last event before a loss. */
void column_decoder_rewind(struct column_decoder *decoder);

/** column_decoder_bytes() - memory that the loaded frame takes. */
uint64_t column_decoder_bytes(const struct column_decoder *decoder);

void column_decoder_free(struct column_decoder *decoder);

#endif
