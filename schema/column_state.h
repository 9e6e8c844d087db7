/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the three files of the encoder share and nobody else may see: column_encoder.c takes rows,
 * column_choice.c settles predictors, column_pack.c makes a frame of what came.
 */
#ifndef SCHEMA_COLUMN_STATE_H
#define SCHEMA_COLUMN_STATE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "schema/tape_format.h"
#include "schema/tape_reader.h"
#include "schema/tape_types.h"

#define COMMON_FIELDS TAPE_COLUMN_FIELDS
#define COMMON_BYTES 8 /* of a record: type, flags, preempt count, pid */
#define VARINT_BYTES_MAX 10
#define PLACE_SLOTS (1u << 16) /* look-up of values in a history: direct-mapped, may forget */
#define STRING_SLOTS 1024u
#define NOT_FOUND UINT64_MAX

/* A column's past, for others to refer to. */
struct history {
	uint64_t *value;
	uint32_t nr, room;
	/* By hash of the value; stale entries are found out by comparing. NULL: nobody searches. */
	uint32_t *place_of;
	bool active; /* this frame needs it */
};

struct column;

/* One way in which a column could be predicted, and in trial frames what it would have cost. */
struct candidate {
	uint8_t predictor;
	int8_t shift;
	uint16_t ref_type, ref_field, beside; /* numbers of type and field */
	struct column *ref; /* the column that ref_type and ref_field, or beside, name */
	struct candidate *finder; /* BESIDE: of the finding column that refers to the same type */
	struct column *finder_column;
	uint64_t next_place, found;
	uint64_t last_residual, last_literal;
	uint64_t cost, literal_cost[2]; /* of literals against 0 and against the last one */
};

struct string_place {
	uint32_t start, size; /* in the column's text */
};

/* Texts of a column in this frame. */
struct texts {
	struct tape_bytes symbols, lengths, text;
	struct string_place *string;
	uint32_t nr_strings, strings_room;
	uint32_t string_of[STRING_SLOTS]; /* by hash */
};

struct column {
	/* One cache line for what a plain column needs. */
	uint8_t predictor;
	int8_t shift;
	bool is_unsigned : 1;
	bool is_plain : 1; /* in this frame its residuals are all there is to it: no trial, no history */
	bool on_trial; /* in this frame, for its candidates */
	uint32_t nr, nr_nonzero;
	uint32_t run; /* zeros since the last residual that is not 0 */
	uint64_t value;
	uint8_t *data; /* residuals: pairs of varints, zeros before and one that is not 0 */
	uint32_t size, room;
	union {
		const uint64_t *ref; /* SAME, LAST */
		struct history *source; /* FOLLOW, RECENT, BESIDE */
	};
	struct history *own;
	uint64_t base;
	/* and one for the others */
	uint64_t next_place, found;
	struct column *literal, *finder;
	bool last_of; /* another column predicts from this one's current value */
	bool literal_is_unsigned; /* literals are best coded against 0 */
	uint16_t ref_type, ref_field, beside; /* numbers of type and field */
	uint16_t nr_candidates, chosen;
	/* NULL: its previous value is all that this column may be predicted from */
	struct candidate *candidate; /* the first one is the previous value */
	struct texts *texts; /* set for text columns */
};

static_assert(sizeof(struct column) == 128, "two cache lines");

struct type_state {
	const struct tape_type *type; /* NULL: losses */
	struct column *column; /* by field, COMMON_FIELDS first, then the literals by field */
	unsigned int nr_fields;
	int code; /* in this frame, -1: not in it */
	uint32_t record_bytes; /* a record is at least so long */
	uint32_t nr_rows;
	bool has_text;
};

struct column_encoder {
	struct tape_type *const *types;
	const atomic_uint *nr_types;
	unsigned int nr_types_planned; /* candidates are those among so many types */
	uint64_t nr_frames;
	bool trial; /* this frame is one */
	struct type_state *state[TAPE_TYPES_MAX + 1]; /* by type number; last: losses */
	uint32_t cpu;
	uint32_t frame_bytes, frame_limit; /* wanted; of this frame */
	uint32_t rows_per_check;
	ZSTD_CCtx *zstd;
	/* this frame */
	struct type_state *in_frame[TAPE_FRAME_TYPES_MAX];
	unsigned int nr_in_frame;
	uint8_t *row_type;
	struct column row_types; /* made of them when the frame is closed */
	uint32_t nr_rows, rows_room, next_check;
	uint64_t row_pid; /* of the last row */
	uint64_t first_ns, last_ns;
	uint64_t nr_lost;
	uint32_t nr_losses_unknown, nr_losses;
	uint64_t text_bytes;
	bool full;
	struct tape_bytes directory, streams, stored, scratch;
	int error; /* memory ran out somewhere inside a row */
};

#define LOST_STATE TAPE_TYPES_MAX

/* In column_encoder.c. Return: the type's state, NULL: no memory. @type NULL: losses. */
struct type_state *column_state_of(struct column_encoder *encoder, const struct tape_type *type);
int column_grow(struct column *column);

/* In column_choice.c. */
int column_start_predictors(struct column_encoder *encoder);
int column_join_frame(struct column_encoder *encoder, struct type_state *state);
void column_try_candidates(struct column *column, uint64_t value);

static inline uint64_t zigzag(uint64_t value)
{
	return (value << 1) ^ -(value >> 63);
}

static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline void put_residual(struct column_encoder *encoder, struct column *column,
				uint64_t residual)
{
	uint8_t *at;

	column->nr++;
	if (!residual) {
		column->run++;
		return;
	}
	if (column->room - column->size < 2 * VARINT_BYTES_MAX && column_grow(column)) {
		encoder->error = TAPE_ERR_MEMORY;
		return;
	}
	at = put_varint(column->data + column->size, column->run);
	at = put_varint(at, residual);
	column->size = (uint32_t)(at - column->data);
	column->run = 0;
	column->nr_nonzero++;
}

static inline uint32_t place_slot(uint64_t value)
{
	/* Neighbours get neighbouring slots: page frames come in sequences, and the cache likes it. */
	return (uint32_t)(value ^ value >> 16) & (PLACE_SLOTS - 1);
}

static inline uint64_t find_place(const struct history *history, uint64_t value)
{
	uint32_t place = history->place_of[place_slot(value)];

	return place < history->nr && history->value[place] == value ? place : NOT_FOUND;
}

static inline unsigned int bits_of(uint64_t value)
{
	return 64u - (unsigned int)__builtin_clzll(value | 1);
}

static inline uint64_t shifted(uint64_t value, int shift)
{
	return shift >= 0 ? value << shift : value >> -shift;
}

#endif
