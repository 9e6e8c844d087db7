// SPDX-License-Identifier: GPL-2.0-only
/*
 * A frame of what came: each column gets the encoding that suits its residuals, and each stream is
 * compressed by itself, so that zstd's entropy tables fit one kind of byte.
 */
#include "schema/column_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "schema/column_state.h"

#define STORE_BELOW_BYTES 32 /* streams that compression would only make longer */

/* One stream: compress, or store where that does not help. */
static int add_stream(struct column_encoder *encoder, const void *data, size_t size)
{
	struct tape_stream_entry entry = {
		.raw_bytes = (uint32_t)size,
		.stored_bytes = (uint32_t)size,
	};
	struct tape_bytes *stored = &encoder->stored;
	int error;

	if (size >= STORE_BELOW_BYTES) {
		size_t bound = ZSTD_compressBound(size), packed;

		/* Room first, then compress in place. */
		error = tape_bytes_reserve(stored, bound);
		if (error)
			return error;
		packed = ZSTD_compress2(encoder->zstd, stored->data + stored->size, bound, data,
					size);
		if (!ZSTD_isError(packed) && packed < size) {
			entry.stored_bytes = (uint32_t)packed;
			stored->size += packed;
			return tape_bytes_append(&encoder->streams, &entry, sizeof(entry));
		}
	}
	error = tape_bytes_append(stored, data, size);
	return error ? error : tape_bytes_append(&encoder->streams, &entry, sizeof(entry));
}

static inline uint64_t get_varint(const uint8_t **at)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = *(*at)++;
		value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte >= 0x80);
	return value;
}

/* All residuals as varints, zeros written out. */
static int add_varints(struct column_encoder *encoder, const struct column *column)
{
	const uint8_t *from = column->data, *end = column->data + column->size;
	struct tape_bytes *scratch = &encoder->scratch;
	uint8_t *to;
	int error;

	scratch->size = 0;
	error = tape_bytes_reserve(scratch, column->size + column->nr + 1);
	if (error)
		return error;
	to = scratch->data;
	while (from < end) {
		uint64_t run = get_varint(&from);

		memset(to, 0, run);
		to = put_varint(to + run, get_varint(&from));
	}
	memset(to, 0, column->run);
	to += column->run;
	return add_stream(encoder, scratch->data, (size_t)(to - scratch->data));
}

/* All residuals with `width` bytes each, one stream per byte. */
static int add_planes(struct column_encoder *encoder, const struct column *column,
		      unsigned int width)
{
	const uint8_t *from = column->data, *end = column->data + column->size;
	struct tape_bytes *scratch = &encoder->scratch;
	size_t plane_bytes = column->nr;
	uint8_t *to;
	int error;

	scratch->size = 0;
	error = tape_bytes_reserve(scratch, width * plane_bytes + 1);
	if (error)
		return error;
	to = scratch->data;
	memset(to, 0, width * plane_bytes);
	while (from < end) {
		uint64_t residual;

		to += get_varint(&from);
		residual = get_varint(&from);
		for (unsigned int i = 0; i < width; i++)
			to[i * plane_bytes] = (uint8_t)(residual >> (8 * i));
		to++;
	}
	for (unsigned int i = 0; i < width && !error; i++)
		error = add_stream(encoder, scratch->data + i * plane_bytes, plane_bytes);
	return error;
}

/* What a column's residuals look like, to choose the encoding by. */
struct residual_sizes {
	size_t varint_bytes; /* zeros included */
	uint64_t all; /* or of all residuals */
};

static struct residual_sizes measure(const struct column *column)
{
	struct residual_sizes sizes = { .varint_bytes = column->nr };
	const uint8_t *from = column->data, *end = column->data + column->size;

	while (from < end) {
		uint64_t residual;

		get_varint(&from);
		residual = get_varint(&from);
		sizes.all |= residual;
		sizes.varint_bytes += (bits_of(residual) + 6) / 7 - 1;
	}
	return sizes;
}

/* Residuals to streams in the encoding that suits them; sets the entry's encoding and width. */
static int add_residuals(struct column_encoder *encoder, struct column *column,
			 struct tape_column *entry)
{
	struct residual_sizes sizes;
	const uint8_t *from = column->data;

	if (!column->nr_nonzero) {
		entry->encoding = TAPE_ENCODING_NONE;
		return 0;
	}
	/* Only the first one differs: then the base was wrong, and the column is constant. */
	if (column->nr_nonzero == 1 && column->predictor == TAPE_PREDICT_PREVIOUS &&
	    !column->last_of && get_varint(&from) == 0) {
		entry->base = column->value;
		entry->encoding = TAPE_ENCODING_NONE;
		return 0;
	}
	if (column->nr_nonzero < column->nr / 2) {
		entry->encoding = TAPE_ENCODING_RUNS;
		return add_stream(encoder, column->data, column->size);
	}
	sizes = measure(column);
	if (4 * sizes.varint_bytes > 5 * (size_t)column->nr) {
		unsigned int width = (bits_of(sizes.all) + 7) / 8;

		if (width * (size_t)column->nr <= 2 * sizes.varint_bytes + 64) {
			entry->encoding = TAPE_ENCODING_PLANES;
			entry->width = (uint8_t)width;
			return add_planes(encoder, column, width);
		}
	}
	entry->encoding = TAPE_ENCODING_VARINT;
	return add_varints(encoder, column);
}

static int add_text(struct column_encoder *encoder, const struct texts *texts,
		    struct tape_column *entry)
{
	int error;

	entry->encoding = TAPE_ENCODING_STRINGS;
	error = add_stream(encoder, texts->symbols.data, texts->symbols.size);
	error = error ? error : add_stream(encoder, texts->lengths.data, texts->lengths.size);
	return error ? error : add_stream(encoder, texts->text.data, texts->text.size);
}

static uint16_t code_of(const struct column_encoder *encoder, unsigned int number)
{
	return (uint16_t)encoder->state[number]->code;
}

static int add_column(struct column_encoder *encoder, struct type_state *state, unsigned int i,
		      uint32_t *nr_columns)
{
	struct column *column = &state->column[i];
	struct tape_column entry = {
		.type = (uint16_t)state->code,
		.field = (uint16_t)(i < state->nr_fields ?
					    i :
					    (i - state->nr_fields) | TAPE_COLUMN_LITERAL),
		.predictor = column->predictor,
		.shift = column->shift,
		.flags = column->is_unsigned ? TAPE_COLUMN_UNSIGNED : 0,
		.base = column->base,
	};
	bool refers = column->predictor >= TAPE_PREDICT_LAST &&
		      column->predictor <= TAPE_PREDICT_BESIDE;
	int error;

	if (!column->nr && !column->last_of && !column->own)
		return 0;
	if (refers)
		entry.ref_type = code_of(encoder, column->ref_type);
	if (refers || column->predictor == TAPE_PREDICT_SAME)
		entry.ref_field = column->ref_field;
	entry.beside = column->beside;
	error = column->texts ? add_text(encoder, column->texts, &entry) :
				add_residuals(encoder, column, &entry);
	if (error)
		return error;
	/* What is not listed is 0 in every row. */
	if (entry.encoding == TAPE_ENCODING_NONE && entry.base == 0 &&
	    (entry.predictor == TAPE_PREDICT_PREVIOUS || entry.predictor == TAPE_PREDICT_BASE))
		return 0;
	(*nr_columns)++;
	return tape_bytes_append(&encoder->directory, &entry, sizeof(entry));
}

/* The row types, against what followed a row of the same type the last time. */
static int add_row_types(struct column_encoder *encoder, uint32_t *nr_columns)
{
	struct tape_column entry = {
		.type = TAPE_COLUMN_ROW_TYPE,
		.predictor = TAPE_PREDICT_CONTEXT,
		.flags = TAPE_COLUMN_UNSIGNED,
	};
	uint8_t follower[TAPE_FRAME_TYPES_MAX] = { 0 }, last = 0;
	struct column *column = &encoder->row_types;
	int error;

	column->size = column->run = column->nr = column->nr_nonzero = 0;
	for (uint32_t i = 0; i < encoder->nr_rows; i++) {
		uint8_t code = encoder->row_type[i];

		put_residual(encoder, column, follower[last] == code ? 0 : code + 1u);
		follower[last] = code;
		last = code;
	}
	error = encoder->error ? encoder->error : add_residuals(encoder, column, &entry);
	(*nr_columns)++;
	return error ? error : tape_bytes_append(&encoder->directory, &entry, sizeof(entry));
}

static void start_frame(struct column_encoder *encoder)
{
	for (unsigned int i = 0; i < encoder->nr_in_frame; i++)
		encoder->in_frame[i]->code = -1;
	encoder->nr_in_frame = 0;
	encoder->nr_rows = 0;
	encoder->next_check = encoder->rows_per_check;
	encoder->nr_lost = 0;
	encoder->nr_losses = encoder->nr_losses_unknown = 0;
	encoder->text_bytes = 0;
	encoder->full = false;
}

int column_encoder_close(struct column_encoder *encoder, struct tape_bytes *frame)
{
	struct tape_frame_header header = {
		.magic = TAPE_FRAME_MAGIC,
		.kind = TAPE_FRAME_EVENTS,
		.cpu = encoder->cpu,
		.first_ns = encoder->first_ns,
		.last_ns = encoder->last_ns,
		.nr_lost = encoder->nr_lost,
		.nr_losses_unknown = encoder->nr_losses_unknown,
		.nr_events = encoder->nr_rows - encoder->nr_losses,
	};
	struct tape_columns_header columns = { 0 };
	const struct tape_stream_entry *stream;
	int error;

	frame->size = encoder->directory.size = encoder->streams.size = encoder->stored.size = 0;
	error = encoder->error;
	error = error ? error : add_row_types(encoder, &columns.nr_columns);
	for (unsigned int i = 0; i < encoder->nr_in_frame && !error; i++) {
		struct type_state *state = encoder->in_frame[i];

		for (unsigned int j = 0; j < 2 * state->nr_fields && !error; j++)
			error = add_column(encoder, state, j, &columns.nr_columns);
	}
	columns.nr_streams = (uint32_t)(encoder->streams.size / sizeof(*stream));
	stream = (const void *)encoder->streams.data;
	for (uint32_t i = 0; i < columns.nr_streams; i++)
		header.raw_bytes += stream[i].raw_bytes;
	header.nr_counts = encoder->nr_in_frame;
	header.header_bytes = (uint32_t)(sizeof(header) +
					 encoder->nr_in_frame * sizeof(struct tape_frame_count));
	error = error ? error : tape_bytes_append(frame, &header, sizeof(header));
	for (unsigned int i = 0; i < encoder->nr_in_frame && !error; i++) {
		const struct type_state *state = encoder->in_frame[i];
		const struct tape_frame_count count = {
			.type = state->type ? state->type->number : TAPE_TYPE_LOST,
			.nr_rows = state->nr_rows,
		};

		error = tape_bytes_append(frame, &count, sizeof(count));
	}
	error = error ? error : tape_bytes_append(frame, &columns, sizeof(columns));
	error = error ? error :
			tape_bytes_append(frame, encoder->directory.data, encoder->directory.size);
	error = error ? error :
			tape_bytes_append(frame, encoder->streams.data, encoder->streams.size);
	error = error ? error :
			tape_bytes_append(frame, encoder->stored.data, encoder->stored.size);
	start_frame(encoder);
	if (error)
		return error;
	tape_frame_seal(frame);
	return 0;
}
