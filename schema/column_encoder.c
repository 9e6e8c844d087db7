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

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "schema/tape_format.h"

#define COMMON_FIELDS TAPE_COLUMN_FIELDS
#define COMMON_BYTES 8 /* of a record: type, flags, preempt count, pid */
#define VARINT_BYTES_MAX 10
#define PLACE_SLOTS (1u << 16) /* look-up of values in a history: direct-mapped, may forget */
#define STRING_SLOTS 1024u
#define NOT_FOUND UINT64_MAX
#define STORE_BELOW_BYTES 32 /* streams that compression would only make longer */

/* Cost of a residual for choosing predictors, in eighths of a bit. */
#define COST_EXPECTED 1
#define COST_REPEATED 3 /* the same residual as the one before: the entropy coder's bread */
#define COST_IMPOSSIBLE UINT64_MAX
#define CANDIDATES_MAX 6
#define TRIAL_INTERVAL 8 /* frames; the first two are trials too */
#define FIRST_FRAME_SHARE 8 /* it is that much smaller: what it teaches shall come early */

/* A column's past, for others to refer to. */
struct history {
	uint64_t *value;
	uint32_t nr, room;
	uint32_t *place_of; /* by hash of the value; stale entries are found out by comparing */
	bool active; /* this frame needs it */
};

struct column;

/* One way in which a column could be predicted, and in trial frames what it would have cost. */
struct candidate {
	uint8_t predictor;
	int8_t shift;
	uint16_t ref_type, ref_field, beside; /* numbers of type and field */
	struct column *ref; /* the column that ref_type and ref_field, or beside, name */
	struct candidate *finder; /* BESIDE: that of the finding column which refers to the same type */
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
	bool is_unsigned;
	bool on_trial; /* in this frame, for its candidates */
	uint32_t nr, nr_nonzero;
	uint32_t run; /* zeros since the last residual that is not 0 */
	uint64_t value;
	uint8_t *data; /* residuals: pairs of varints, zeros before and one that is not 0 */
	uint32_t size, room;
	union {
		const uint64_t *ref; /* SAME, LAST, ROW */
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
	uint64_t row[COMMON_FIELDS];
	uint64_t first_ns, last_ns;
	uint64_t nr_lost;
	uint32_t nr_losses_unknown, nr_losses;
	uint64_t text_bytes;
	bool full;
	struct tape_bytes directory, streams, stored, scratch;
	int error; /* memory ran out somewhere inside a row */
};

#define LOST_STATE TAPE_TYPES_MAX
#define FULL_TYPES (TAPE_FRAME_TYPES_MAX - 32) /* types that referred-to types may still join */

static inline uint64_t zigzag(uint64_t value)
{
	return (value << 1) ^ (uint64_t)((int64_t)value >> 63);
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

static int __attribute__((noinline)) grow_column(struct column *column)
{
	uint32_t room = column->room ? 2 * column->room : 256;
	uint8_t *grown = realloc(column->data, room);

	if (!grown)
		return TAPE_ERR_MEMORY;
	column->data = grown;
	column->room = room;
	return 0;
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
	if (column->room - column->size < 2 * VARINT_BYTES_MAX && grow_column(column)) {
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
	history->place_of[place_slot(value)] = history->nr;
	history->value[history->nr++] = value;
}

static inline unsigned int bits_of(uint64_t value)
{
	return 64u - (unsigned int)__builtin_clzll(value | 1);
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

static inline uint64_t shifted(uint64_t value, int shift)
{
	return shift >= 0 ? value << shift : value >> -shift;
}

static uint64_t residual_cost(uint64_t residual)
{
	return residual ? 8ull * (bits_of(residual) + 1) : COST_EXPECTED;
}

/* What naming @value's place in a history would cost, literals included. */
static void try_places(struct candidate *candidate, uint64_t value)
{
	const struct history *source = candidate->ref->own;
	uint64_t expected = candidate->predictor == TAPE_PREDICT_FOLLOW ? candidate->next_place :
									  source->nr - 1ull;
	uint64_t place = expected, symbol = 0, residual = zigzag(value - candidate->last_literal);

	if (expected >= source->nr || source->value[expected] != value) {
		place = find_place(source, value);
		symbol = 1 + (candidate->predictor == TAPE_PREDICT_FOLLOW ?
				      zigzag(place - expected) :
				      expected - place);
		if (place == NOT_FOUND || bits_of(symbol) > bits_of(residual) + 1) {
			candidate->cost += 8;
			candidate->literal_cost[0] += residual_cost(value);
			candidate->literal_cost[1] += residual_cost(residual);
			candidate->last_literal = value;
			candidate->found = NOT_FOUND;
			return;
		}
	}
	candidate->cost += symbol == candidate->last_residual && symbol ? COST_REPEATED :
									  residual_cost(symbol);
	candidate->last_residual = symbol;
	candidate->next_place = place + 1;
	candidate->found = place;
}

static void __attribute__((noinline)) try_candidates(struct column *column, uint64_t value)
{
	for (unsigned int i = 0; i < column->nr_candidates; i++) {
		struct candidate *candidate = &column->candidate[i];
		uint64_t prediction = column->value, residual;
		const struct history *source;

		switch (candidate->predictor) {
		case TAPE_PREDICT_SAME:
		case TAPE_PREDICT_LAST:
			prediction = shifted(candidate->ref->value, candidate->shift);
			break;
		case TAPE_PREDICT_FOLLOW:
		case TAPE_PREDICT_RECENT:
			try_places(candidate, value);
			continue;
		case TAPE_PREDICT_BESIDE:
			source = candidate->ref->own;
			if (candidate->finder->found < source->nr)
				prediction = source->value[candidate->finder->found];
			break;
		}
		residual = zigzag(value - prediction);
		candidate->cost += residual == candidate->last_residual && residual ?
					   COST_REPEATED :
					   residual_cost(residual);
		candidate->last_residual = residual;
	}
}

static inline void put_value(struct column_encoder *encoder, struct column *column, uint64_t value)
{
	uint64_t prediction;

	if (__builtin_expect(column->on_trial, 0))
		try_candidates(column, value);
	switch (column->predictor) {
	case TAPE_PREDICT_PREVIOUS:
		prediction = column->value;
		break;
	case TAPE_PREDICT_ROW:
		prediction = *column->ref;
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
	if (!encoder->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel,
						compression_level))) {
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

static struct type_state *new_state(struct column_encoder *encoder, const struct tape_type *type)
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
	for (unsigned int i = TAPE_COLUMN_TIME; i <= TAPE_COLUMN_PID; i++)
		state->column[i].ref = &encoder->row[i];
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
		column->texts = calloc(1, sizeof(*column->texts));
		if (!column->texts) {
			free_state(state);
			return NULL;
		}
	}
	return state;
}

static struct type_state *state_of(struct column_encoder *encoder, const struct tape_type *type)
{
	struct type_state **state = &encoder->state[type ? type->number : LOST_STATE];

	if (!*state)
		*state = new_state(encoder, type);
	return *state;
}

/*
 * Choosing predictors. Candidates come from column_plan.def. In trial frames each of them is
 * followed through every row, whatever is in force, and the cheapest one is taken for the frames
 * after; so a tape adapts to what is recorded on it. What a frame uses is settled when it starts,
 * because a history must hold its column's rows from the frame's first one.
 */

struct plan {
	uint8_t kind, slot, predictor;
	int8_t shift;
	uint8_t ref_kind, ref_slot, finder_slot;
};

static const struct plan plans[] = {
#define SAME(EVENT, SLOT, REF_SLOT) \
	{ EVENT_##EVENT, EVENT##_##SLOT, TAPE_PREDICT_SAME, 0, EVENT_##EVENT, EVENT##_##REF_SLOT, 0 },
#define LAST(EVENT, SLOT, REF, REF_SLOT, shift) \
	{ EVENT_##EVENT, EVENT##_##SLOT, TAPE_PREDICT_LAST, shift, EVENT_##REF, REF##_##REF_SLOT, 0 },
#define FOLLOW(EVENT, SLOT, REF, REF_SLOT) \
	{ EVENT_##EVENT, EVENT##_##SLOT, TAPE_PREDICT_FOLLOW, 0, EVENT_##REF, REF##_##REF_SLOT, 0 },
#define RECENT(EVENT, SLOT, REF, REF_SLOT) \
	{ EVENT_##EVENT, EVENT##_##SLOT, TAPE_PREDICT_RECENT, 0, EVENT_##REF, REF##_##REF_SLOT, 0 },
#define BESIDE(EVENT, SLOT, FINDER, REF, REF_SLOT) \
	{ EVENT_##EVENT, EVENT##_##SLOT, TAPE_PREDICT_BESIDE, 0, EVENT_##REF, REF##_##REF_SLOT, \
	  EVENT##_##FINDER },
#include "schema/column_plan.def"
};

/* The column number of an integer slot, or -1. */
static int field_of_slot(const struct tape_type *type, unsigned int slot)
{
	for (unsigned int i = 0; i < type->nr_fields; i++)
		if (type->field[i].kind == TAPE_FIELD_INTEGER && type->field[i].slot == slot)
			return (int)(COMMON_FIELDS + i);
	return -1;
}

static const struct tape_type *type_of_kind(const struct column_encoder *encoder, unsigned int kind)
{
	for (unsigned int i = 0; i < encoder->nr_types_planned; i++)
		if (encoder->types[i]->kind == kind)
			return encoder->types[i];
	return NULL;
}

static bool needs_history(unsigned int predictor)
{
	return predictor >= TAPE_PREDICT_FOLLOW && predictor <= TAPE_PREDICT_BESIDE;
}

static int give_history(struct column *column)
{
	struct history *history = column->own;

	if (history)
		return 0;
	history = calloc(1, sizeof(*history));
	if (!history)
		return TAPE_ERR_MEMORY;
	history->place_of = calloc(PLACE_SLOTS, sizeof(history->place_of[0]));
	if (!history->place_of) {
		free(history);
		return TAPE_ERR_MEMORY;
	}
	column->own = history;
	return 0;
}

/* BESIDE: the finding column's candidate that refers to @type's rows. */
static struct candidate *find_finder(struct column *finder, unsigned int type)
{
	for (unsigned int i = 1; i < finder->nr_candidates; i++)
		if (finder->candidate[i].ref_type == type &&
		    (finder->candidate[i].predictor == TAPE_PREDICT_FOLLOW ||
		     finder->candidate[i].predictor == TAPE_PREDICT_RECENT))
			return &finder->candidate[i];
	return NULL;
}

static bool is_chosen(const struct candidate *beside)
{
	return beside->finder ==
	       &beside->finder_column->candidate[beside->finder_column->chosen];
}

/* One line of the plan for one column of a type, if all that it names is on this tape. */
static int add_candidate(struct column_encoder *encoder, struct type_state *state,
			 const struct plan *plan)
{
	int field = field_of_slot(state->type, plan->slot), ref_field;
	const struct tape_type *ref_type = type_of_kind(encoder, plan->ref_kind);
	struct candidate candidate = {
		.predictor = plan->predictor,
		.shift = plan->shift,
	};
	struct type_state *ref_state;
	struct column *column;

	ref_field = ref_type ? field_of_slot(ref_type, plan->ref_slot) : -1;
	if (field < 0 || ref_field < 0 ||
	    (plan->predictor == TAPE_PREDICT_SAME && ref_field >= field))
		return 0;
	column = &state->column[field];
	ref_state = state_of(encoder, ref_type);
	if (!ref_state)
		return TAPE_ERR_MEMORY;
	candidate.ref = &ref_state->column[ref_field];
	candidate.ref_type = ref_type->number;
	candidate.ref_field = (uint16_t)ref_field;
	if (plan->predictor == TAPE_PREDICT_BESIDE) {
		int finder = field_of_slot(state->type, plan->finder_slot);

		if (finder < 0 || finder >= field)
			return 0;
		candidate.finder_column = &state->column[finder];
		candidate.finder = find_finder(candidate.finder_column, ref_type->number);
		if (!candidate.finder)
			return 0;
		candidate.beside = (uint16_t)ref_field;
		candidate.ref_field = (uint16_t)finder;
	}
	if (needs_history(plan->predictor) && give_history(candidate.ref))
		return TAPE_ERR_MEMORY;
	if (!column->candidate) {
		column->candidate = calloc(CANDIDATES_MAX, sizeof(column->candidate[0]));
		if (!column->candidate)
			return TAPE_ERR_MEMORY;
		column->candidate[0].predictor = TAPE_PREDICT_PREVIOUS;
	}
	if (column->nr_candidates == 0) {
		column->nr_candidates = 1;
		column->chosen = plan->predictor != TAPE_PREDICT_BESIDE || is_chosen(&candidate);
	}
	if (column->nr_candidates < CANDIDATES_MAX)
		column->candidate[column->nr_candidates++] = candidate;
	return 0;
}

/* Plan lines stand in any order; finders have lower slots, so slots go up. */
static int plan_type(struct column_encoder *encoder, struct type_state *state)
{
	int error = 0;

	for (unsigned int slot = 0; slot < state->type->nr_slots; slot++)
		for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]) && !error; i++)
			if (plans[i].kind == state->type->kind && plans[i].slot == slot)
				error = add_candidate(encoder, state, &plans[i]);
	return error;
}

/* After a trial: the cheapest one that fits what the fields before it have chosen. */
static void choose(struct column *column)
{
	uint64_t least = COST_IMPOSSIBLE;

	/* No row, no news. */
	if (!column->nr_candidates || !column->candidate[0].cost)
		return;
	for (unsigned int i = 0; i < column->nr_candidates; i++) {
		const struct candidate *candidate = &column->candidate[i];
		uint64_t cost = candidate->cost;

		if (candidate->predictor == TAPE_PREDICT_BESIDE && !is_chosen(candidate))
			continue;
		cost += candidate->literal_cost[0] < candidate->literal_cost[1] ?
				candidate->literal_cost[0] :
				candidate->literal_cost[1];
		if (cost < least) {
			least = cost;
			column->chosen = i;
			column->literal_is_unsigned =
				candidate->literal_cost[0] < candidate->literal_cost[1];
		}
	}
}

static void reset_candidates(struct column *column)
{
	for (unsigned int i = 0; i < column->nr_candidates; i++) {
		struct candidate *candidate = &column->candidate[i];

		candidate->next_place = 0;
		candidate->found = NOT_FOUND;
		candidate->last_residual = candidate->last_literal = 0;
		candidate->cost = candidate->literal_cost[0] = candidate->literal_cost[1] = 0;
	}
}

/* Histories that this frame will need, from its first row on. */
static void activate_histories(struct column_encoder *encoder)
{
	struct type_state *state;

	for (unsigned int i = 0; i < encoder->nr_types_planned; i++) {
		state = encoder->state[i];
		for (unsigned int j = 0; state && j < state->nr_fields; j++) {
			if (!state->column[j].own)
				continue;
			state->column[j].own->active = false;
			state->column[j].own->nr = 0;
		}
	}
	for (unsigned int i = 0; i < encoder->nr_types_planned; i++) {
		state = encoder->state[i];
		for (unsigned int j = 0; state && j < state->nr_fields; j++) {
			struct column *column = &state->column[j];

			for (unsigned int k = 1; k < column->nr_candidates; k++)
				if (needs_history(column->candidate[k].predictor) &&
				    (encoder->trial || k == column->chosen))
					column->candidate[k].ref->own->active = true;
		}
	}
}

/* Put the chosen candidate in force. */
static void apply_choice(struct column_encoder *encoder, struct type_state *state,
			 struct column *column)
{
	const struct candidate *candidate = &column->candidate[column->chosen];
	struct column *literal = column + state->nr_fields;

	column->predictor = candidate->predictor;
	column->shift = candidate->shift;
	column->ref_type = candidate->ref_type;
	column->ref_field = candidate->ref_field;
	column->beside = candidate->beside;
	switch (candidate->predictor) {
	case TAPE_PREDICT_LAST:
		candidate->ref->last_of = true;
		/* fallthrough */
	case TAPE_PREDICT_SAME:
		column->ref = &candidate->ref->value;
		break;
	case TAPE_PREDICT_FOLLOW:
	case TAPE_PREDICT_RECENT:
		column->source = candidate->ref->own;
		column->literal = literal;
		literal->is_unsigned = column->literal_is_unsigned;
		literal->predictor = literal->is_unsigned ? TAPE_PREDICT_BASE :
							    TAPE_PREDICT_PREVIOUS;
		if (literal->is_unsigned)
			literal->value = 0; /* becomes the base */
		break;
	case TAPE_PREDICT_BESIDE:
		column->source = candidate->ref->own;
		column->finder = candidate->finder_column;
		break;
	}
	column->on_trial = encoder->trial && column->nr_candidates > 1;
}

static void reset_column(struct column *column)
{
	column->base = column->value;
	column->next_place = 0;
	column->found = NOT_FOUND;
	column->size = 0;
	column->run = 0;
	column->nr = column->nr_nonzero = 0;
	if (column->texts) {
		column->texts->symbols.size = column->texts->lengths.size = 0;
		column->texts->text.size = 0;
		column->texts->nr_strings = 0;
	}
}

static int join_frame(struct column_encoder *encoder, struct type_state *state);

/* What a joining type refers to must be in the frame too, if only to have no rows. */
static int join_referred(struct column_encoder *encoder, const struct type_state *state)
{
	for (unsigned int i = 0; i < state->nr_fields; i++) {
		const struct column *column = &state->column[i];
		struct type_state *other;
		int error;

		if (column->predictor != TAPE_PREDICT_LAST && !needs_history(column->predictor))
			continue;
		other = encoder->state[column->ref_type];
		error = other->code < 0 ? join_frame(encoder, other) : 0;
		if (error)
			return error;
	}
	return 0;
}

/* The type's first row in this frame, or the first reference to it. */
static int join_frame(struct column_encoder *encoder, struct type_state *state)
{
	if (encoder->nr_in_frame == TAPE_FRAME_TYPES_MAX)
		return TAPE_ERR_MEMORY;
	state->code = (int)encoder->nr_in_frame;
	state->nr_rows = 0;
	encoder->in_frame[encoder->nr_in_frame++] = state;
	if (encoder->nr_in_frame >= FULL_TYPES)
		encoder->full = true;
	for (unsigned int i = 0; i < state->nr_fields; i++)
		if (state->column[i].nr_candidates)
			apply_choice(encoder, state, &state->column[i]);
	for (unsigned int i = 0; i < 2 * state->nr_fields; i++)
		reset_column(&state->column[i]);
	return join_referred(encoder, state);
}

/* What each column may be predicted from, now that these types are known. */
static int plan_types(struct column_encoder *encoder, unsigned int nr_types)
{
	encoder->nr_types_planned = nr_types;
	for (unsigned int i = 0; i < nr_types; i++) {
		struct type_state *state = encoder->state[i];

		for (unsigned int j = 0; state && j < state->nr_fields; j++)
			state->column[j].nr_candidates = 0;
	}
	for (unsigned int i = 0; i < nr_types; i++) {
		struct type_state *state;
		int error;

		if (encoder->types[i]->kind == EVENT_OTHER)
			continue;
		state = state_of(encoder, encoder->types[i]);
		error = state ? plan_type(encoder, state) : TAPE_ERR_MEMORY;
		if (error)
			return error;
	}
	return 0;
}

/* Everything about predictors that must be settled before a frame's first row. */
static int start_predictors(struct column_encoder *encoder)
{
	unsigned int nr_types = atomic_load(encoder->nr_types);
	bool was_trial = encoder->trial;
	int error = 0;

	encoder->trial = encoder->nr_frames < 2 || encoder->nr_frames % TRIAL_INTERVAL == 0;
	encoder->frame_limit = encoder->nr_frames ? encoder->frame_bytes :
						    encoder->frame_bytes / FIRST_FRAME_SHARE;
	encoder->nr_frames++;
	if (nr_types != encoder->nr_types_planned)
		error = plan_types(encoder, nr_types);
	for (unsigned int i = 0; i < nr_types; i++) {
		struct type_state *state = encoder->state[i];

		for (unsigned int j = 0; state && j < state->nr_fields; j++) {
			if (was_trial)
				choose(&state->column[j]);
			reset_candidates(&state->column[j]);
		}
	}
	activate_histories(encoder);
	return error;
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

	*error = TAPE_ERR_MEMORY;
	if (!state)
		return NULL;
	if (__builtin_expect(encoder->nr_rows == 0, 0)) {
		if (timestamp_ns < encoder->last_ns)
			goto err_backwards;
		encoder->first_ns = encoder->last_ns = encoder->row[TAPE_COLUMN_TIME] = timestamp_ns;
		encoder->row[TAPE_COLUMN_PID] = 0;
		if (start_predictors(encoder))
			return NULL;
	}
	if (timestamp_ns < encoder->last_ns)
		goto err_backwards;
	if (state->code < 0 && join_frame(encoder, state))
		return NULL;
	if (encoder->nr_rows == encoder->rows_room && grow_rows(encoder))
		return NULL;
	encoder->row_type[encoder->nr_rows++] = (uint8_t)state->code;
	state->nr_rows++;
	column = state->column;
	put_value(encoder, &column[TAPE_COLUMN_TIME], timestamp_ns);
	put_value(encoder, &column[TAPE_COLUMN_PID], pid);
	put_value(encoder, &column[TAPE_COLUMN_FLAGS], flags);
	put_value(encoder, &column[TAPE_COLUMN_PREEMPT], preempt_count);
	encoder->row[TAPE_COLUMN_TIME] = encoder->last_ns = timestamp_ns;
	encoder->row[TAPE_COLUMN_PID] = pid;
	return column;

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

int column_encoder_record(struct column_encoder *encoder, const struct tape_type *type,
			  uint64_t timestamp_ns, const uint8_t *record, size_t size,
			  const char **why)
{
	struct type_state *state = state_of(encoder, type);
	const struct tape_field *field = type->field;
	struct column *column;
	int32_t pid;
	int error;

	if (state && size < state->record_bytes) {
		*why = "record shorter than its format says";
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
			put_value(encoder, column,
				  load_integer(record + field->offset, field->size,
					       field->is_signed));
		} else if (field->kind != TAPE_FIELD_LEFT_OUT) {
			size_t text_bytes;
			const char *text = find_text(field, record, size, &text_bytes);

			if (!text) {
				*why = "text field that lies outside its record";
				/* The row must be whole: an empty text stands in. */
				put_string(encoder, column, "", 0);
				continue;
			}
			put_string(encoder, column, text, text_bytes);
		}
	}
	error = end_row(encoder);
	return error ? error : *why ? TAPE_ERR_CORRUPT : 0;
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
	column = start_row(encoder, state_of(encoder, type), event->timestamp_ns,
			   (uint64_t)(int64_t)event->pid, event->flags, event->preempt_count, &error,
			   why);
	if (!column)
		return error;
	column += COMMON_FIELDS;
	for (unsigned int i = 0; i < type->nr_fields; i++, field++, column++) {
		if (field->kind == TAPE_FIELD_INTEGER) {
			put_value(encoder, column, event->value[field->slot]);
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

	column = start_row(encoder, state_of(encoder, NULL), timestamp_ns,
			   encoder->row[TAPE_COLUMN_PID], 0, 0, &error, why);
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
