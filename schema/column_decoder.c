// SPDX-License-Identifier: GPL-2.0-only
/*
 * Columns back into rows.
 *
 * A frame names for each column of each of its event types a predictor and an encoding. Decoding a
 * row means: take the row's type from the row-type column, then for each column of that type, in
 * the order of field numbers, value = prediction + next residual. Most columns of most frames never
 * change and need no work at all: loading a frame therefore makes, per type, a list of only
 * those columns that have something to do, and their values live where the event's reader looks
 * for them, so that a constant column costs nothing per row.
 *
 * Nothing here trusts the file. Streams are read without a check per byte, because a row can read
 * at most READ_AHEAD_BYTES past a stream's end per column and the buffer is that much longer; each
 * read then says whether it went too far, and the row is refused.
 */
#include "schema/column_decoder.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define READ_AHEAD_BYTES 64
#define NOT_FOUND UINT64_MAX
#define COMMON_FIELDS TAPE_COLUMN_FIELDS

struct history {
	uint64_t *value;
	uint32_t nr, room;
};

/* One column at work. */
struct column {
	uint8_t predictor, encoding, width;
	int8_t shift;
	bool is_unsigned, listed;
	uint64_t *value; /* current */
	const uint64_t *ref; /* SAME, LAST, ROW */
	struct history *source; /* FOLLOW, RECENT, BESIDE */
	struct history *own; /* set when other columns refer to this one's past */
	struct column *literal; /* FOLLOW, RECENT */
	const struct column *finder; /* BESIDE: the column of this row that found a place */
	uint64_t next_place, found; /* FOLLOW, RECENT */
	uint64_t run; /* RUNS: zeros before the next residual */
	const uint8_t *at, *end;
	uint32_t left; /* PLANES */
	uint32_t plane_bytes;
	uint64_t base;
	/* STRINGS */
	const uint8_t *length_at, *length_end, *text_at, *text_end;
	uint64_t *string;
	uint32_t nr_strings, strings_room;
};

/* One event type, kept from frame to frame. */
struct type_state {
	uint64_t *value; /* by slot */
	uint64_t own_common[COMMON_FIELDS];
	uint64_t *common[COMMON_FIELDS]; /* own, or the decoder's row */
	struct column *column; /* by field, then the literals by field */
	struct column **busy; /* those with work to do, NULL at the end */
	unsigned int nr_fields; /* COMMON_FIELDS included */
	uint64_t literal_value[COMMON_FIELDS + TAPE_FIELDS_MAX];
	uint64_t lost_value[2];
	uint32_t left; /* rows of this frame still to come */
	uint16_t number;
	uint16_t kind;
};

struct column_decoder {
	struct tape_type *const *types;
	unsigned int nr_types;
	struct type_state **state; /* by type number */
	struct type_state *lost;
	struct type_state *in_frame[TAPE_FRAME_TYPES_MAX]; /* by code */
	unsigned int nr_in_frame;
	uint64_t row[COMMON_FIELDS]; /* the last row's time, pid, flags, preempt count */
	struct column row_type;
	uint64_t row_type_value;
	uint32_t rows_left;
	uint64_t last_ns; /* as the frame's header says */
	uint8_t follower[TAPE_FRAME_TYPES_MAX]; /* by type, what came after it the last time */
	uint8_t last_type;
	struct history histories[TAPE_FRAME_HISTORIES_MAX];
	unsigned int nr_histories;
	uint8_t *raw;
	size_t raw_room;
	uint64_t last_seen_ns; /* of the last event of earlier frames or rows, for losses */
	ZSTD_DCtx *zstd;
};

struct column_decoder *column_decoder_new(struct tape_type *const *types, unsigned int nr_types)
{
	struct column_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	decoder->types = types;
	decoder->nr_types = nr_types;
	decoder->state = calloc(nr_types + 1u, sizeof(decoder->state[0]));
	decoder->zstd = ZSTD_createDCtx();
	if (!decoder->state || !decoder->zstd) {
		column_decoder_free(decoder);
		return NULL;
	}
	return decoder;
}

static void free_state(struct type_state *state)
{
	if (!state)
		return;
	for (unsigned int i = 0; state->column && i < 2 * state->nr_fields; i++)
		free(state->column[i].string);
	free(state->column);
	free(state->busy);
	free(state->value);
	free(state);
}

void column_decoder_rewind(struct column_decoder *decoder)
{
	decoder->rows_left = 0;
	decoder->last_seen_ns = 0;
}

uint64_t column_decoder_bytes(const struct column_decoder *decoder)
{
	uint64_t bytes = decoder->raw_room;

	for (unsigned int i = 0; i < TAPE_FRAME_HISTORIES_MAX; i++)
		bytes += decoder->histories[i].room * sizeof(decoder->histories[i].value[0]);
	return bytes;
}

void column_decoder_free(struct column_decoder *decoder)
{
	if (!decoder)
		return;
	for (unsigned int i = 0; decoder->state && i < decoder->nr_types; i++)
		free_state(decoder->state[i]);
	free(decoder->state);
	free_state(decoder->lost);
	for (unsigned int i = 0; i < TAPE_FRAME_HISTORIES_MAX; i++)
		free(decoder->histories[i].value);
	free(decoder->raw);
	ZSTD_freeDCtx(decoder->zstd);
	free(decoder);
}

/* The value of a field's column, or NULL for a field that is not recorded. */
static uint64_t *field_value(struct type_state *state, const struct tape_type *type,
			     unsigned int field)
{
	if (field < COMMON_FIELDS)
		return &state->own_common[field];
	if (!type)
		return &state->lost_value[0];
	if (type->field[field - COMMON_FIELDS].kind == TAPE_FIELD_LEFT_OUT)
		return NULL;
	return &state->value[type->field[field - COMMON_FIELDS].slot];
}

static struct type_state *new_state(const struct tape_type *type)
{
	struct type_state *state = calloc(1, sizeof(*state));
	unsigned int nr_slots = type ? type->nr_slots : 2;

	if (!state)
		return NULL;
	state->nr_fields = COMMON_FIELDS + (type ? type->nr_fields : 1);
	state->column = calloc(2 * state->nr_fields, sizeof(state->column[0]));
	state->busy = calloc(state->nr_fields + 1, sizeof(state->busy[0]));
	state->value = malloc((nr_slots + 1) * sizeof(state->value[0]));
	if (!state->column || !state->busy || !state->value) {
		free_state(state);
		return NULL;
	}
	for (unsigned int i = 0; i <= nr_slots; i++)
		state->value[i] = TAPE_VALUE_ABSENT;
	state->number = type ? type->number : TAPE_TYPE_LOST;
	state->kind = type ? (uint16_t)type->kind : EVENT_LOST;
	return state;
}

/* All columns as they are when the directory does not list them: constant 0. */
static void reset_state(struct column_decoder *decoder, struct type_state *state)
{
	const struct tape_type *type = state->number == TAPE_TYPE_LOST ?
					       NULL :
					       decoder->types[state->number];

	for (unsigned int i = 0; i < 2 * state->nr_fields; i++) {
		struct column *column = &state->column[i];
		uint64_t *string = column->string;
		uint32_t strings_room = column->strings_room;

		memset(column, 0, sizeof(*column));
		column->string = string;
		column->strings_room = strings_room;
		column->value = i < state->nr_fields ? field_value(state, type, i) :
						       &state->literal_value[i - state->nr_fields];
		if (column->value)
			*column->value = 0;
	}
	for (unsigned int i = 0; i < COMMON_FIELDS; i++)
		state->common[i] = &state->own_common[i];
}

static int load_types(struct column_decoder *decoder, const struct tape_frame_header *header,
		      const struct tape_frame_count *count, const char **why)
{
	uint64_t nr_rows = 0, nr_events = 0;

	decoder->nr_in_frame = header->nr_counts;
	for (unsigned int i = 0; i < header->nr_counts; i++) {
		struct type_state **state = &decoder->lost;
		const struct tape_type *type = NULL;

		if (count[i].type != TAPE_TYPE_LOST) {
			if (count[i].type >= decoder->nr_types || !decoder->types[count[i].type]) {
				*why = "events of a type that no frame describes";
				return TAPE_ERR_CORRUPT;
			}
			type = decoder->types[count[i].type];
			state = &decoder->state[count[i].type];
			nr_events += count[i].nr_rows;
		}
		nr_rows += count[i].nr_rows;
		for (unsigned int j = 0; j < i; j++) {
			if (count[j].type == count[i].type) {
				*why = "event type counted twice";
				return TAPE_ERR_CORRUPT;
			}
		}
		if (!*state)
			*state = new_state(type);
		if (!*state)
			return TAPE_ERR_MEMORY;
		reset_state(decoder, *state);
		(*state)->left = count[i].nr_rows;
		decoder->in_frame[i] = *state;
	}
	if (nr_rows > TAPE_FRAME_ROWS_MAX || nr_events != header->nr_events) {
		*why = "event counts that break a limit or contradict their sum";
		return TAPE_ERR_CORRUPT;
	}
	decoder->rows_left = (uint32_t)nr_rows;
	return 0;
}

/* Decompress all streams, one behind the other, into decoder->raw. */
static int load_streams(struct column_decoder *decoder, const struct tape_frame_header *header,
			const struct tape_stream_entry *entry, uint32_t nr_streams,
			const uint8_t *at, const uint8_t *end, const char **why)
{
	size_t raw_bytes = 0;
	uint8_t *to;

	for (uint32_t i = 0; i < nr_streams; i++)
		raw_bytes += entry[i].raw_bytes;
	if (raw_bytes != header->raw_bytes || raw_bytes > TAPE_EVENT_FRAME_RAW_MAX) {
		*why = "stream sizes that contradict their sum";
		return TAPE_ERR_CORRUPT;
	}
	if (decoder->raw_room < raw_bytes + READ_AHEAD_BYTES) {
		free(decoder->raw);
		decoder->raw_room = raw_bytes + READ_AHEAD_BYTES;
		decoder->raw = malloc(decoder->raw_room);
		if (!decoder->raw) {
			decoder->raw_room = 0;
			return TAPE_ERR_MEMORY;
		}
	}
	to = decoder->raw;
	for (uint32_t i = 0; i < nr_streams; i++) {
		if (entry[i].stored_bytes > (size_t)(end - at)) {
			*why = "stream that goes beyond its frame";
			return TAPE_ERR_CORRUPT;
		}
		if (entry[i].stored_bytes == entry[i].raw_bytes) {
			memcpy(to, at, entry[i].raw_bytes);
		} else {
			size_t size = ZSTD_decompressDCtx(decoder->zstd, to, entry[i].raw_bytes, at,
							  entry[i].stored_bytes);

			if (ZSTD_isError(size) || size != entry[i].raw_bytes) {
				*why = "stream that does not decompress";
				return TAPE_ERR_CORRUPT;
			}
		}
		at += entry[i].stored_bytes;
		to += entry[i].raw_bytes;
	}
	if (at != end) {
		*why = "bytes after its last stream";
		return TAPE_ERR_CORRUPT;
	}
	memset(to, 0, READ_AHEAD_BYTES);
	return 0;
}

static inline uint64_t read_varint(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint64_t value = *p++;

	if (value >= 0x80) {
		unsigned int shift = 7;

		value &= 0x7f;
		for (;;) {
			uint64_t byte = *p++;

			value |= (byte & 0x7f) << shift;
			shift += 7;
			if (byte < 0x80 || shift >= 70)
				break;
		}
	}
	*at = p;
	return value;
}

static inline uint64_t unzigzag(uint64_t value)
{
	return (value >> 1) ^ -(value & 1);
}

/* How many streams an encoding has. */
static unsigned int nr_streams_of(const struct tape_column *entry)
{
	switch (entry->encoding) {
	case TAPE_ENCODING_VARINT:
	case TAPE_ENCODING_RUNS:
		return 1;
	case TAPE_ENCODING_PLANES:
		return entry->width;
	case TAPE_ENCODING_STRINGS:
		return 3;
	}
	return 0;
}

static void attach_streams(struct column *column, const struct tape_stream_entry *stream,
			   const uint8_t *at, const char **why)
{
	column->at = at;
	column->end = at + (column->encoding ? stream[0].raw_bytes : 0);
	switch (column->encoding) {
	case TAPE_ENCODING_PLANES:
		column->plane_bytes = stream[0].raw_bytes;
		column->left = stream[0].raw_bytes;
		for (unsigned int i = 1; i < column->width; i++)
			if (stream[i].raw_bytes != stream[0].raw_bytes)
				*why = "planes of different length";
		break;
	case TAPE_ENCODING_RUNS:
		column->run = column->at == column->end ? UINT64_MAX : read_varint(&column->at);
		break;
	case TAPE_ENCODING_STRINGS:
		column->length_at = column->end;
		column->length_end = column->length_at + stream[1].raw_bytes;
		column->text_at = column->length_end;
		column->text_end = column->text_at + stream[2].raw_bytes;
		break;
	}
}

static struct column *find_column(struct column_decoder *decoder, unsigned int code,
				  unsigned int field)
{
	struct type_state *state;

	if (code >= decoder->nr_in_frame)
		return NULL;
	state = decoder->in_frame[code];
	if (field < COMMON_FIELDS || field >= state->nr_fields || !state->column[field].value)
		return NULL;
	return &state->column[field];
}

static struct history *history_of(struct column_decoder *decoder, unsigned int code,
				  unsigned int field)
{
	struct column *column = find_column(decoder, code, field);
	struct history *history;
	uint32_t rows;

	if (!column || column->encoding == TAPE_ENCODING_STRINGS)
		return NULL;
	if (column->own)
		return column->own;
	if (decoder->nr_histories == TAPE_FRAME_HISTORIES_MAX)
		return NULL;
	history = &decoder->histories[decoder->nr_histories++];
	rows = decoder->in_frame[code]->left;
	history->nr = 0;
	if (history->room < rows) {
		free(history->value);
		history->value = malloc(rows * sizeof(history->value[0]));
		history->room = history->value ? rows : 0;
		if (!history->value)
			return NULL;
	}
	column->own = history;
	return history;
}

/* The column that a directory entry speaks of. */
static struct column *entry_column(struct column_decoder *decoder, const struct tape_column *entry)
{
	unsigned int field = entry->field & ~TAPE_COLUMN_LITERAL;
	struct type_state *state;
	struct column *column;

	if (entry->type == TAPE_COLUMN_ROW_TYPE)
		return entry->field ? NULL : &decoder->row_type;
	if (entry->type >= decoder->nr_in_frame)
		return NULL;
	state = decoder->in_frame[entry->type];
	if (field >= state->nr_fields || !state->column[field].value)
		return NULL;
	column = &state->column[field];
	if (entry->field & TAPE_COLUMN_LITERAL)
		column += state->nr_fields;
	return column;
}

static bool is_text(const struct column_decoder *decoder, const struct tape_column *entry)
{
	unsigned int field = entry->field & ~TAPE_COLUMN_LITERAL;
	unsigned int number;

	if (entry->type == TAPE_COLUMN_ROW_TYPE || field < COMMON_FIELDS)
		return false;
	number = decoder->in_frame[entry->type]->number;
	return number != TAPE_TYPE_LOST &&
	       decoder->types[number]->field[field - COMMON_FIELDS].kind != TAPE_FIELD_INTEGER;
}

/* Take one directory entry in: everything but what refers to other columns. */
static const char *take_entry(struct column_decoder *decoder, const struct tape_column *entry)
{
	struct column *column = entry_column(decoder, entry);
	bool text;

	if (!column || column->listed)
		return "column that does not exist or is listed twice";
	text = is_text(decoder, entry);
	if (entry->encoding > TAPE_ENCODING_STRINGS || entry->predictor > TAPE_PREDICT_STRING ||
	    (entry->flags & ~TAPE_COLUMN_UNSIGNED))
		return "column encoding, predictor or flag of a newer lrutape";
	if ((entry->encoding == TAPE_ENCODING_STRINGS) != text ||
	    (entry->predictor == TAPE_PREDICT_STRING) != text ||
	    (text && (entry->field & TAPE_COLUMN_LITERAL)))
		return "text column that is not coded as one";
	if (entry->encoding == TAPE_ENCODING_PLANES && (entry->width < 1 || entry->width > 8))
		return "column width that is not 1 to 8";
	if (entry->shift < -63 || entry->shift > 63)
		return "column shift that is not -63 to 63";
	if ((entry->type == TAPE_COLUMN_ROW_TYPE) != (column == &decoder->row_type))
		return "row types in the wrong column";
	column->listed = true;
	column->predictor = entry->predictor;
	column->encoding = entry->encoding;
	column->width = entry->width;
	column->is_unsigned = entry->flags & TAPE_COLUMN_UNSIGNED;
	column->shift = entry->shift;
	column->base = entry->base;
	column->nr_strings = 0;
	*column->value = text ? TAPE_VALUE_ABSENT : entry->base;
	return NULL;
}

/* What an entry refers to, after all entries were taken in. */
static const char *link_entry(struct column_decoder *decoder, const struct tape_column *entry)
{
	struct column *column = entry_column(decoder, entry);
	unsigned int field = entry->field;
	struct type_state *state;
	struct column *other;

	if (entry->type == TAPE_COLUMN_ROW_TYPE)
		return entry->predictor == TAPE_PREDICT_BASE ||
				       entry->predictor == TAPE_PREDICT_CONTEXT ?
			       NULL :
			       "row types under a predictor that is not for them";
	state = decoder->in_frame[entry->type];
	switch (entry->predictor) {
	case TAPE_PREDICT_BASE:
	case TAPE_PREDICT_PREVIOUS:
	case TAPE_PREDICT_STRING:
		return NULL;
	case TAPE_PREDICT_ROW:
		if (field >= COMMON_FIELDS)
			return "predictor of common fields on another field";
		column->value = &decoder->row[field];
		column->ref = &decoder->row[field];
		state->common[field] = &decoder->row[field];
		return NULL;
	case TAPE_PREDICT_SAME:
		other = find_column(decoder, entry->type, entry->ref_field);
		if (field < COMMON_FIELDS || (field & TAPE_COLUMN_LITERAL) || !other ||
		    entry->ref_field >= field)
			return "reference to a later column";
		column->ref = other->value;
		return NULL;
	case TAPE_PREDICT_LAST:
		other = find_column(decoder, entry->ref_type, entry->ref_field);
		if (field < COMMON_FIELDS || (field & TAPE_COLUMN_LITERAL) || !other ||
		    other->encoding == TAPE_ENCODING_STRINGS)
			return "reference to a column that does not exist";
		column->ref = other->value;
		return NULL;
	case TAPE_PREDICT_FOLLOW:
	case TAPE_PREDICT_RECENT:
		if (field < COMMON_FIELDS || (field & TAPE_COLUMN_LITERAL))
			return "reference to a history from a column that may not have one";
		column->source = history_of(decoder, entry->ref_type, entry->ref_field);
		if (!column->source)
			return "reference to a history that does not exist";
		column->literal = column + state->nr_fields;
		if (column->literal->predictor != TAPE_PREDICT_BASE &&
		    column->literal->predictor != TAPE_PREDICT_PREVIOUS)
			return "literals under a predictor that is not for them";
		return NULL;
	case TAPE_PREDICT_BESIDE:
		other = find_column(decoder, entry->type, entry->ref_field);
		if (field < COMMON_FIELDS || (field & TAPE_COLUMN_LITERAL) || !other ||
		    entry->ref_field >= field ||
		    (other->predictor != TAPE_PREDICT_FOLLOW &&
		     other->predictor != TAPE_PREDICT_RECENT))
			return "reference beside a column that finds nothing";
		column->finder = other;
		column->source = history_of(decoder, entry->ref_type, entry->beside);
		if (!column->source)
			return "reference to a history that does not exist";
		return NULL;
	}
	return "predictor that is not for this column";
}

/* BESIDE reads its history at a place found in another one of the same type: same length then. */
static const char *check_beside(const struct tape_column *entry, const struct tape_column *all,
				uint32_t nr_columns)
{
	if (entry->predictor != TAPE_PREDICT_BESIDE)
		return NULL;
	for (uint32_t i = 0; i < nr_columns; i++)
		if (all[i].type == entry->type && all[i].field == entry->ref_field)
			return all[i].ref_type == entry->ref_type ?
				       NULL :
				       "reference beside a column of another type";
	return "reference beside a column that finds nothing";
}

static void list_busy_columns(struct type_state *state)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < state->nr_fields; i++) {
		struct column *column = &state->column[i];

		if (!column->value)
			continue;
		if (column->encoding == TAPE_ENCODING_NONE && !column->own &&
		    (column->predictor == TAPE_PREDICT_BASE ||
		     column->predictor == TAPE_PREDICT_PREVIOUS ||
		     column->predictor == TAPE_PREDICT_ROW))
			continue;
		state->busy[nr++] = column;
	}
	state->busy[nr] = NULL;
}

int column_decoder_load(struct column_decoder *decoder, const struct tape_frame_header *header,
			const struct tape_frame_count *count, const uint8_t *payload,
			const char **why)
{
	const uint8_t *end = payload + header->payload_bytes;
	struct tape_columns_header columns;
	struct tape_column *entry = NULL;
	struct tape_stream_entry *stream = NULL;
	uint64_t used = sizeof(columns), streams_wanted = 0;
	const uint8_t *raw;
	int error;

	*why = NULL;
	decoder->rows_left = 0;
	decoder->last_ns = header->last_ns;
	decoder->nr_histories = 0;
	error = load_types(decoder, header, count, why);
	if (error)
		return error;
	error = TAPE_ERR_CORRUPT;
	*why = "column directory that goes beyond its frame";
	if (header->payload_bytes < sizeof(columns))
		goto err_no_rows;
	memcpy(&columns, payload, sizeof(columns));
	used += (uint64_t)columns.nr_columns * sizeof(*entry) +
		(uint64_t)columns.nr_streams * sizeof(*stream);
	if (used > header->payload_bytes)
		goto err_no_rows;
	/* Copied, because the payload may lie anywhere. */
	entry = malloc(columns.nr_columns * sizeof(*entry) + 1);
	stream = malloc(columns.nr_streams * sizeof(*stream) + 1);
	if (!entry || !stream) {
		error = TAPE_ERR_MEMORY;
		goto err_no_rows;
	}
	memcpy(entry, payload + sizeof(columns), columns.nr_columns * sizeof(*entry));
	memcpy(stream, payload + used - columns.nr_streams * sizeof(*stream),
	       columns.nr_streams * sizeof(*stream));
	error = load_streams(decoder, header, stream, columns.nr_streams, payload + used, end, why);
	if (error)
		goto err_no_rows;
	error = TAPE_ERR_CORRUPT;
	*why = NULL;
	memset(&decoder->row_type, 0, sizeof(decoder->row_type));
	decoder->row_type.value = &decoder->row_type_value;
	decoder->row_type.is_unsigned = true;
	memset(decoder->follower, 0, sizeof(decoder->follower));
	decoder->last_type = 0;
	decoder->row[TAPE_COLUMN_TIME] = header->first_ns;
	decoder->row[TAPE_COLUMN_PID] = 0;
	decoder->row[TAPE_COLUMN_FLAGS] = 0;
	decoder->row[TAPE_COLUMN_PREEMPT] = 0;
	raw = decoder->raw;
	for (uint32_t i = 0; i < columns.nr_columns; i++) {
		unsigned int nr_streams = nr_streams_of(&entry[i]);
		struct column *column;

		*why = take_entry(decoder, &entry[i]);
		if (*why) {
			if (strstr(*why, "newer"))
				error = TAPE_ERR_ENCODING;
			goto err_no_rows;
		}
		column = entry_column(decoder, &entry[i]);
		*why = "column without its streams";
		if (nr_streams > columns.nr_streams - streams_wanted)
			goto err_no_rows;
		*why = NULL;
		attach_streams(column, &stream[streams_wanted], raw, why);
		if (*why)
			goto err_no_rows;
		for (unsigned int j = 0; j < nr_streams; j++)
			raw += stream[streams_wanted + j].raw_bytes;
		streams_wanted += nr_streams;
	}
	for (uint32_t i = 0; i < columns.nr_columns && !*why; i++) {
		*why = link_entry(decoder, &entry[i]);
		if (!*why)
			*why = check_beside(&entry[i], entry, columns.nr_columns);
	}
	if (*why)
		goto err_no_rows;
	for (unsigned int i = 0; i < decoder->nr_in_frame; i++)
		list_busy_columns(decoder->in_frame[i]);
	free(entry);
	free(stream);
	return 0;

err_no_rows:
	decoder->rows_left = 0;
	free(entry);
	free(stream);
	if (error == TAPE_ERR_MEMORY)
		*why = "no memory";
	return error;
}

/* The next residual as it lies in the stream. Sets *bad when the stream has no more. */
static inline uint64_t next_residual(struct column *column, bool *bad)
{
	uint64_t value;

	switch (column->encoding) {
	case TAPE_ENCODING_VARINT:
		value = read_varint(&column->at);
		*bad |= column->at > column->end;
		return value;
	case TAPE_ENCODING_RUNS:
		if (column->run) {
			column->run--;
			return 0;
		}
		value = read_varint(&column->at);
		if (column->at < column->end)
			column->run = read_varint(&column->at);
		else
			column->run = UINT64_MAX;
		*bad |= column->at > column->end;
		return value;
	case TAPE_ENCODING_PLANES:
		if (!column->left) {
			*bad = true;
			return 0;
		}
		column->left--;
		value = 0;
		for (unsigned int i = 0; i < column->width; i++)
			value |= (uint64_t)column->at[i * (size_t)column->plane_bytes] << (8 * i);
		column->at++;
		return value;
	}
	return 0;
}

static inline uint64_t next_delta(struct column *column, bool *bad)
{
	uint64_t value = next_residual(column, bad);

	return column->is_unsigned ? value : unzigzag(value);
}

/* FOLLOW and RECENT: a place in the source's history, or a literal. */
static inline uint64_t next_referred(struct column *column, bool *bad)
{
	const struct history *source = column->source;
	uint64_t symbol = next_residual(column, bad), place;

	if (symbol == 1) {
		struct column *literal = column->literal;
		uint64_t prediction = literal->predictor == TAPE_PREDICT_PREVIOUS ?
					    *literal->value :
					    literal->base;

		*literal->value = prediction + next_delta(literal, bad);
		column->found = NOT_FOUND;
		return *literal->value;
	}
	if (column->predictor == TAPE_PREDICT_FOLLOW)
		place = column->next_place + (symbol ? unzigzag(symbol - 1) : 0);
	else
		place = source->nr - 1ull - (symbol ? symbol - 1 : 0);
	if (place >= source->nr) {
		*bad = true;
		column->found = NOT_FOUND;
		return 0;
	}
	column->next_place = place + 1;
	column->found = place;
	return source->value[place];
}

/* Never inlined: text is rare, and the row loop is better off without it. */
static uint64_t __attribute__((noinline))
next_string(const struct column_decoder *decoder, struct column *column, bool *bad)
{
	uint64_t symbol, length, value;

	if (column->at >= column->end) {
		*bad = true;
		return TAPE_VALUE_ABSENT;
	}
	symbol = read_varint(&column->at);
	if (symbol) {
		if (symbol > column->nr_strings) {
			*bad = true;
			return TAPE_VALUE_ABSENT;
		}
		return column->string[symbol - 1];
	}
	length = column->length_at < column->length_end ? read_varint(&column->length_at) :
							  UINT64_MAX;
	if (column->length_at > column->length_end || length > TAPE_EVENT_STRING_MAX ||
	    length + 1 > (uint64_t)(column->text_end - column->text_at) ||
	    column->text_at[length] != 0) {
		*bad = true;
		return TAPE_VALUE_ABSENT;
	}
	value = (uint64_t)(column->text_at - decoder->raw) << 32 | length;
	column->text_at += length + 1;
	if (column->nr_strings == column->strings_room) {
		uint32_t room = column->strings_room ? 2 * column->strings_room : 16;
		uint64_t *grown = realloc(column->string, room * sizeof(*grown));

		if (!grown) {
			*bad = true;
			return TAPE_VALUE_ABSENT;
		}
		column->string = grown;
		column->strings_room = room;
	}
	column->string[column->nr_strings++] = value;
	return value;
}

static inline uint64_t next_row_type(struct column_decoder *decoder, bool *bad)
{
	uint64_t residual = next_residual(&decoder->row_type, bad);
	uint8_t *follower = &decoder->follower[decoder->last_type];
	uint64_t code;

	if (decoder->row_type.predictor != TAPE_PREDICT_CONTEXT)
		return decoder->row_type.base + residual;
	code = residual ? residual - 1 : *follower;
	*follower = (uint8_t)code;
	decoder->last_type = (uint8_t)code;
	return code;
}

static inline void decode_column(struct column_decoder *decoder, struct column *column, bool *bad)
{
	uint64_t value;

	switch (column->predictor) {
	case TAPE_PREDICT_PREVIOUS:
		value = *column->value + next_delta(column, bad);
		break;
	case TAPE_PREDICT_ROW:
		value = *column->ref + next_delta(column, bad);
		break;
	case TAPE_PREDICT_SAME:
	case TAPE_PREDICT_LAST:
		value = column->shift >= 0 ? *column->ref << column->shift :
					     *column->ref >> -column->shift;
		value += next_delta(column, bad);
		break;
	case TAPE_PREDICT_FOLLOW:
	case TAPE_PREDICT_RECENT:
		value = next_referred(column, bad);
		break;
	case TAPE_PREDICT_BESIDE:
		/* Equally long histories, so a place found in one is a place in the other. */
		value = column->finder->found < column->source->nr ?
				column->source->value[column->finder->found] :
				*column->value;
		value += next_delta(column, bad);
		break;
	case TAPE_PREDICT_STRING:
		value = next_string(decoder, column, bad);
		break;
	default:
		value = column->base + next_delta(column, bad);
		break;
	}
	*column->value = value;
	if (column->own) {
		struct history *own = column->own;

		if (own->nr < own->room)
			own->value[own->nr++] = value;
	}
}

int column_decoder_next(struct column_decoder *decoder, struct tape_event *event)
{
	struct type_state *state;
	uint64_t code, time_ns;
	bool bad = false;

	if (!decoder->rows_left)
		return 0;
	decoder->rows_left--;
	code = next_row_type(decoder, &bad);
	if (bad || code >= decoder->nr_in_frame)
		goto err_no_rows;
	state = decoder->in_frame[code];
	if (!state->left)
		goto err_no_rows;
	state->left--;
	for (struct column **column = state->busy; *column; column++)
		decode_column(decoder, *column, &bad);
	time_ns = *state->common[TAPE_COLUMN_TIME];
	if (bad || time_ns < event->timestamp_ns || time_ns > decoder->last_ns)
		goto err_no_rows;
	event->timestamp_ns = decoder->row[TAPE_COLUMN_TIME] = time_ns;
	decoder->row[TAPE_COLUMN_PID] = *state->common[TAPE_COLUMN_PID];
	decoder->row[TAPE_COLUMN_FLAGS] = *state->common[TAPE_COLUMN_FLAGS];
	decoder->row[TAPE_COLUMN_PREEMPT] = *state->common[TAPE_COLUMN_PREEMPT];
	event->pid = (int32_t)decoder->row[TAPE_COLUMN_PID];
	event->flags = (uint8_t)decoder->row[TAPE_COLUMN_FLAGS];
	event->preempt_count = (uint8_t)decoder->row[TAPE_COLUMN_PREEMPT];
	event->type = state->number;
	event->kind = state->kind;
	event->value = state->value;
	event->strings = (const char *)decoder->raw;
	if (__builtin_expect(state->kind == EVENT_LOST, 0)) {
		state->value[EVENT_LOST_COUNT] = state->lost_value[0];
		state->value[EVENT_LOST_SINCE_NS] = decoder->last_seen_ns;
	} else {
		decoder->last_seen_ns = event->timestamp_ns;
	}
	return 1;

err_no_rows:
	decoder->rows_left = 0;
	return TAPE_ERR_CORRUPT;
}
