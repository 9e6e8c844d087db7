// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows into columns.
 *
 * A value is never kept as such: as soon as an event comes, each of its values becomes a residual
 * against what its column's predictor expects, and goes to that column's bytes as a pair "so many
 * zeros before it, the residual". What is as expected therefore costs an addition. Closing a frame
 * gives each column the encoding that suits what came (none, runs, varints, planes) and compresses
 * stream by stream, so that zstd's entropy tables fit one kind of byte.
 */
#include "schema/column_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "schema/column_state.h"

int __attribute__((noinline)) column_grow(struct column *column)
{
	uint32_t room = column->room ? 2 * column->room : 256;
	uint8_t *grown = realloc(column->data, room);

	if (!grown)
		return TAPE_ERR_MEMORY;
	column->data = grown;
	column->room = room;
	return 0;
}

static void put_history(struct column_encoder *encoder, struct history *history, uint64_t value)
{
	if (history->nr == history->room) {
		uint32_t room = history->room ? 2 * history->room : 1024;
		uint64_t *grown = realloc(history->value, room * sizeof(*grown));

		if (!grown) {
			encoder->error = TAPE_ERR_MEMORY;
			return;
		}
		history->value = grown;
		history->room = room;
	}
	if (history->place_of)
		history->place_of[place_slot(value)] = history->nr;
	history->value[history->nr++] = value;
}

/* FOLLOW and RECENT. A place that costs more to name than the value itself is not named. */
static void put_referred(struct column_encoder *encoder, struct column *column, uint64_t value)
{
	const struct history *source = column->source;
	struct column *literal = column->literal;
	uint64_t expected = column->predictor == TAPE_PREDICT_FOLLOW ? column->next_place :
								       source->nr - 1ull;
	uint64_t place = expected, symbol = 0, residual;

	if (expected >= source->nr || source->value[expected] != value) {
		place = find_place(source, value);
		if (place != NOT_FOUND)
			symbol = 1 + (column->predictor == TAPE_PREDICT_FOLLOW ?
					      zigzag(place - expected) :
					      expected - place);
		residual = literal->is_unsigned ? value - literal->base :
						  zigzag(value - literal->value);
		if (place == NOT_FOUND || bits_of(symbol) > bits_of(residual) + 1) {
			put_residual(encoder, column, 1);
			put_residual(encoder, literal, residual);
			literal->value = value;
			column->found = NOT_FOUND;
			return;
		}
	}
	put_residual(encoder, column, symbol);
	column->next_place = place + 1;
	column->found = place;
}

static void put_value(struct column_encoder *encoder, struct column *column, uint64_t value)
{
	uint64_t prediction;

	if (__builtin_expect(column->on_trial, 0))
		column_try_candidates(column, value);
	switch (column->predictor) {
	case TAPE_PREDICT_PREVIOUS:
		prediction = column->value;
		break;
	case TAPE_PREDICT_SAME:
	case TAPE_PREDICT_LAST:
		prediction = shifted(*column->ref, column->shift);
		break;
	case TAPE_PREDICT_FOLLOW:
	case TAPE_PREDICT_RECENT:
		put_referred(encoder, column, value);
		goto predicted;
	case TAPE_PREDICT_BESIDE:
		prediction = column->finder->found < column->source->nr ?
				     column->source->value[column->finder->found] :
				     column->value;
		break;
	default:
		prediction = column->base;
		break;
	}
	put_residual(encoder, column,
		     column->is_unsigned ? value - prediction : zigzag(value - prediction));
predicted:
	column->value = value;
	if (column->own && column->own->active)
		put_history(encoder, column->own, value);
}

/* Most values of most columns are those of the row before. */
static inline void put_repeated(struct column_encoder *encoder, struct column *column,
				uint64_t value)
{
	if (column->is_plain && column->value == value)
		put_residual(encoder, column, 0);
	else
		put_value(encoder, column, value);
}

static inline uint32_t string_slot(const char *text, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return (hash ^ hash >> 15) & (STRING_SLOTS - 1);
}

static int add_string(struct texts *texts, const char *text, size_t size)
{
	uint8_t varint[VARINT_BYTES_MAX];
	int error;

	if (texts->nr_strings == texts->strings_room) {
		uint32_t room = texts->strings_room ? 2 * texts->strings_room : 64;
		struct string_place *grown = realloc(texts->string, room * sizeof(*grown));

		if (!grown)
			return TAPE_ERR_MEMORY;
		texts->string = grown;
		texts->strings_room = room;
	}
	texts->string[texts->nr_strings].start = (uint32_t)texts->text.size;
	texts->string[texts->nr_strings++].size = (uint32_t)size;
	error = tape_bytes_append(&texts->lengths, varint,
				  (size_t)(put_varint(varint, size) - varint));
	error = error ? error : tape_bytes_append(&texts->text, text, size);
	return error ? error : tape_bytes_append(&texts->text, "", 1);
}

static void __attribute__((noinline))
put_string(struct column_encoder *encoder, struct column *column, const char *text, size_t size)
{
	struct texts *texts = column->texts;
	uint32_t slot = string_slot(text, size), which = texts->string_of[slot];
	uint8_t varint[VARINT_BYTES_MAX];
	uint64_t symbol = 0;
	int error = 0;

	if (which < texts->nr_strings && texts->string[which].size == size &&
	    !memcmp(texts->text.data + texts->string[which].start, text, size)) {
		symbol = which + 1ull;
	} else {
		texts->string_of[slot] = texts->nr_strings;
		error = add_string(texts, text, size);
		encoder->text_bytes += size + 4;
	}
	error = error ? error :
			tape_bytes_append(&texts->symbols, varint,
					  (size_t)(put_varint(varint, symbol) - varint));
	encoder->text_bytes++;
	column->nr++;
	if (error)
		encoder->error = error;
}

static void free_state(struct type_state *state)
{
	if (!state)
		return;
	for (unsigned int i = 0; state->column && i < 2 * state->nr_fields; i++) {
		struct column *column = &state->column[i];

		free(column->data);
		if (column->texts) {
			tape_bytes_free(&column->texts->symbols);
			tape_bytes_free(&column->texts->lengths);
			tape_bytes_free(&column->texts->text);
			free(column->texts->string);
			free(column->texts);
		}
		free(column->candidate);
		if (column->own) {
			free(column->own->value);
			free(column->own->place_of);
			free(column->own);
		}
	}
	free(state->column);
	free(state);
}

struct column_encoder *column_encoder_new(struct tape_type *const *types,
					  const atomic_uint *nr_types, uint32_t cpu,
					  int compression_level, uint32_t frame_bytes)
{
	struct column_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->types = types;
	encoder->nr_types = nr_types;
	encoder->trial = true;
	encoder->cpu = cpu;
	encoder->frame_bytes = frame_bytes;
	encoder->rows_per_check = frame_bytes / 256 + 1;
	if (encoder->rows_per_check > 1024)
		encoder->rows_per_check = 1024;
	encoder->next_check = encoder->rows_per_check;
	encoder->zstd = ZSTD_createCCtx();
	if (!encoder->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(
				      encoder->zstd, ZSTD_c_compressionLevel, compression_level))) {
		column_encoder_free(encoder);
		return NULL;
	}
	return encoder;
}

void column_encoder_free(struct column_encoder *encoder)
{
	if (!encoder)
		return;
	for (unsigned int i = 0; i <= TAPE_TYPES_MAX; i++)
		free_state(encoder->state[i]);
	free(encoder->row_type);
	free(encoder->row_types.data);
	tape_bytes_free(&encoder->directory);
	tape_bytes_free(&encoder->streams);
	tape_bytes_free(&encoder->stored);
	tape_bytes_free(&encoder->scratch);
	ZSTD_freeCCtx(encoder->zstd);
	free(encoder);
}

static struct type_state *new_state(const struct tape_type *type)
{
	struct type_state *state = calloc(1, sizeof(*state));
	size_t columns_bytes;

	if (!state)
		return NULL;
	state->type = type;
	state->code = -1;
	state->record_bytes = COMMON_BYTES;
	state->nr_fields = COMMON_FIELDS + (type ? type->nr_fields : 1);
	columns_bytes = 2 * state->nr_fields * sizeof(state->column[0]);
	state->column = aligned_alloc(64, columns_bytes);
	if (!state->column) {
		free(state);
		return NULL;
	}
	memset(state->column, 0, columns_bytes);
	for (unsigned int i = 0; i < 2 * state->nr_fields; i++)
		state->column[i].predictor = TAPE_PREDICT_PREVIOUS;
	state->column[TAPE_COLUMN_TIME].predictor = TAPE_PREDICT_ROW;
	state->column[TAPE_COLUMN_TIME].is_unsigned = true;
	state->column[TAPE_COLUMN_PID].predictor = TAPE_PREDICT_ROW;
	for (unsigned int i = 0; type && i < type->nr_fields; i++) {
		struct column *column = &state->column[COMMON_FIELDS + i];
		uint32_t field_end = (uint32_t)type->field[i].offset + type->field[i].size;

		if (type->field[i].kind == TAPE_FIELD_LEFT_OUT)
			continue;
		if (field_end > state->record_bytes)
			state->record_bytes = field_end;
		if (type->field[i].kind == TAPE_FIELD_INTEGER)
			continue;
		column->predictor = TAPE_PREDICT_STRING;
		state->has_text = true;
		column->texts = calloc(1, sizeof(*column->texts));
		if (!column->texts) {
			free_state(state);
			return NULL;
		}
	}
	return state;
}

struct type_state *column_state_of(struct column_encoder *encoder, const struct tape_type *type)
{
	struct type_state **state = &encoder->state[type ? type->number : LOST_STATE];

	if (!*state)
		*state = new_state(type);
	return *state;
}

static int grow_rows(struct column_encoder *encoder)
{
	uint32_t room = encoder->rows_room ? 2 * encoder->rows_room : 4096;
	uint8_t *grown = realloc(encoder->row_type, room);

	if (!grown)
		return TAPE_ERR_MEMORY;
	encoder->row_type = grown;
	encoder->rows_room = room;
	return 0;
}

static void check_full(struct column_encoder *encoder)
{
	uint64_t bytes = encoder->nr_rows / 4 + encoder->text_bytes;

	for (unsigned int i = 0; i < encoder->nr_in_frame; i++)
		for (unsigned int j = 0; j < 2 * encoder->in_frame[i]->nr_fields; j++)
			bytes += encoder->in_frame[i]->column[j].size;
	encoder->next_check = encoder->nr_rows + encoder->rows_per_check;
	if (bytes >= encoder->frame_limit ||
	    encoder->nr_rows + encoder->rows_per_check > TAPE_FRAME_ROWS_MAX)
		encoder->full = true;
}

/* What all rows have. Return: the type's columns, or NULL with *error set. */
static inline struct column *start_row(struct column_encoder *encoder, struct type_state *state,
				       uint64_t timestamp_ns, uint64_t pid, uint64_t flags,
				       uint64_t preempt_count, int *error, const char **why)
{
	struct column *column;

	if (!state)
		goto err_no_memory;
	if (__builtin_expect(encoder->nr_rows == 0, 0)) {
		if (timestamp_ns < encoder->last_ns)
			goto err_backwards;
		encoder->first_ns = encoder->last_ns = timestamp_ns;
		encoder->row_pid = 0;
		if (column_start_predictors(encoder))
			goto err_no_memory;
	}
	if (timestamp_ns < encoder->last_ns)
		goto err_backwards;
	if (state->code < 0 && column_join_frame(encoder, state))
		goto err_no_memory;
	if (encoder->nr_rows == encoder->rows_room && grow_rows(encoder))
		goto err_no_memory;
	encoder->row_type[encoder->nr_rows++] = (uint8_t)state->code;
	state->nr_rows++;
	column = state->column;
	put_residual(encoder, &column[TAPE_COLUMN_TIME], timestamp_ns - encoder->last_ns);
	put_residual(encoder, &column[TAPE_COLUMN_PID], zigzag(pid - encoder->row_pid));
	put_repeated(encoder, &column[TAPE_COLUMN_FLAGS], flags);
	put_repeated(encoder, &column[TAPE_COLUMN_PREEMPT], preempt_count);
	encoder->last_ns = timestamp_ns;
	encoder->row_pid = pid;
	return column;

err_no_memory:
	/* Types may have joined half-way: this frame is lost. */
	*error = encoder->error = TAPE_ERR_MEMORY;
	return NULL;

err_backwards:
	*why = "event older than the one before it on its CPU";
	*error = TAPE_ERR_CORRUPT;
	return NULL;
}

static inline int end_row(struct column_encoder *encoder)
{
	if (encoder->nr_rows >= encoder->next_check || encoder->text_bytes >= encoder->frame_limit)
		check_full(encoder);
	return encoder->error;
}

static inline uint64_t load_integer(const uint8_t *at, unsigned int size, bool is_signed)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (size) {
	case 8:
		memcpy(&u64, at, 8);
		return u64;
	case 4:
		memcpy(&u32, at, 4);
		return is_signed ? (uint64_t)(int64_t)(int32_t)u32 : u32;
	case 2:
		memcpy(&u16, at, 2);
		return is_signed ? (uint64_t)(int64_t)(int16_t)u16 : u16;
	}
	return is_signed ? (uint64_t)(int64_t)(int8_t)*at : *at;
}

/* The bytes of a text field in a record, __data_loc followed. NULL: outside the record. */
static const char *find_text(const struct tape_field *field, const uint8_t *record, size_t size,
			     size_t *text_bytes)
{
	size_t start = field->offset, bytes = field->size;
	bool dynamic = !strncmp(field->ctype, "__data_loc", 10);
	bool relative = !strncmp(field->ctype, "__rel_loc", 9);

	if (dynamic || relative) {
		uint32_t where;

		if (field->size != 4)
			return NULL;
		memcpy(&where, record + field->offset, 4);
		start = where & 0xffff;
		bytes = where >> 16;
		if (relative)
			start += field->offset + 4u;
		if (start > size || bytes > size - start)
			return NULL;
	}
	if (field->kind == TAPE_FIELD_STRING)
		bytes = strnlen((const char *)record + start, bytes);
	*text_bytes = bytes;
	return (const char *)record + start;
}

/* Asked before anything of a row is taken in. */
static bool texts_fit(const struct tape_type *type, const uint8_t *record, size_t size)
{
	size_t text_bytes;

	for (unsigned int i = 0; i < type->nr_fields; i++)
		if ((type->field[i].kind == TAPE_FIELD_STRING ||
		     type->field[i].kind == TAPE_FIELD_BYTES) &&
		    !find_text(&type->field[i], record, size, &text_bytes))
			return false;
	return true;
}

int column_encoder_record(struct column_encoder *encoder, const struct tape_type *type,
			  uint64_t timestamp_ns, const uint8_t *record, size_t size,
			  const char **why)
{
	struct type_state *state = column_state_of(encoder, type);
	const struct tape_field *field = type->field;
	struct column *column;
	int32_t pid;
	int error;

	if (state && size < state->record_bytes) {
		*why = "record shorter than its format says";
		return TAPE_ERR_CORRUPT;
	}
	if (state && state->has_text && !texts_fit(type, record, size)) {
		*why = "text field that lies outside its record";
		return TAPE_ERR_CORRUPT;
	}
	memcpy(&pid, record + 4, 4);
	column = start_row(encoder, state, timestamp_ns, (uint64_t)(int64_t)pid, record[2],
			   record[3], &error, why);
	if (!column)
		return error;
	column += COMMON_FIELDS;
	for (unsigned int i = 0; i < type->nr_fields; i++, field++, column++) {
		if (field->kind == TAPE_FIELD_INTEGER) {
			put_repeated(encoder, column,
				     load_integer(record + field->offset, field->size,
						  field->is_signed));
		} else if (field->kind != TAPE_FIELD_LEFT_OUT) {
			size_t text_bytes;
			const char *text = find_text(field, record, size, &text_bytes);

			put_string(encoder, column, text, text_bytes);
		}
	}
	return end_row(encoder);
}

int column_encoder_event(struct column_encoder *encoder, const struct tape_type *type,
			 const struct tape_event *event, const char **why)
{
	const struct tape_field *field = type->field;
	struct column *column;
	int error;

	for (unsigned int i = 0; i < type->nr_fields; i++) {
		if (field[i].kind != TAPE_FIELD_STRING && field[i].kind != TAPE_FIELD_BYTES)
			continue;
		if (event->value[field[i].slot] != TAPE_VALUE_ABSENT &&
		    (event->value[field[i].slot] & UINT32_MAX) > TAPE_EVENT_STRING_MAX) {
			*why = "text field that is too long";
			return TAPE_ERR_CORRUPT;
		}
	}
	column = start_row(encoder, column_state_of(encoder, type), event->timestamp_ns,
			   (uint64_t)(int64_t)event->pid, event->flags, event->preempt_count,
			   &error, why);
	if (!column)
		return error;
	column += COMMON_FIELDS;
	for (unsigned int i = 0; i < type->nr_fields; i++, field++, column++) {
		if (field->kind == TAPE_FIELD_INTEGER) {
			put_repeated(encoder, column, event->value[field->slot]);
		} else if (field->kind != TAPE_FIELD_LEFT_OUT) {
			size_t size;
			const char *text = tape_event_string(event, field->slot, &size);

			put_string(encoder, column, text, size);
		}
	}
	return end_row(encoder);
}

int column_encoder_lost(struct column_encoder *encoder, uint64_t timestamp_ns, uint64_t count,
			const char **why)
{
	struct column *column;
	int error;

	column = start_row(encoder, column_state_of(encoder, NULL), timestamp_ns, encoder->row_pid,
			   0, 0, &error, why);
	if (!column)
		return error;
	put_value(encoder, &column[TAPE_COLUMN_LOST], count);
	encoder->nr_losses++;
	if (count == EVENT_LOST_UNKNOWN)
		encoder->nr_losses_unknown++;
	else
		encoder->nr_lost += count;
	return end_row(encoder);
}

bool column_encoder_full(const struct column_encoder *encoder)
{
	return encoder->full;
}

bool column_encoder_empty(const struct column_encoder *encoder)
{
	return encoder->nr_rows == 0;
}
