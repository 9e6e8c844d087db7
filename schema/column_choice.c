// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing predictors. Candidates come from column_plan.def. In trial frames each of them is
 * followed through every row, whatever is in force, and the cheapest one is taken for the frames
 * after; so a tape adapts to what is recorded on it. What a frame uses is settled when it starts,
 * because a history must hold its column's rows from the frame's first one.
 */
#include "schema/column_state.h"

#include <stdlib.h>
#include <string.h>

/* Cost of a residual, in eighths of a bit. */
#define COST_EXPECTED 1
#define COST_REPEATED 3 /* the same residual as the one before: the entropy coder's bread */
#define COST_IMPOSSIBLE UINT64_MAX
#define CANDIDATES_MAX 6
#define TRIAL_INTERVAL 8 /* frames; the first two are trials too */
#define FIRST_FRAME_SHARE 8 /* it is that much smaller: what it teaches shall come early */
#define FULL_TYPES (TAPE_FRAME_TYPES_MAX - 32) /* types that referred-to types may still join */

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

void __attribute__((noinline)) column_try_candidates(struct column *column, uint64_t value)
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

struct plan {
	uint8_t kind, slot, predictor;
	int8_t shift;
	uint8_t ref_kind, ref_slot, finder_slot;
};

static const struct plan plans[] = {
#define SAME(EVENT, SLOT, REF_SLOT)                                                                \
	{                                                                                          \
		EVENT_##EVENT,                                                                     \
		EVENT##_##SLOT,                                                                    \
		TAPE_PREDICT_SAME,                                                                 \
		0,                                                                                 \
		EVENT_##EVENT,                                                                     \
		EVENT##_##REF_SLOT,                                                                \
		0                                                                                  \
	},
#define LAST(EVENT, SLOT, REF, REF_SLOT, shift)                                                    \
	{                                                                                          \
		EVENT_##EVENT,                                                                     \
		EVENT##_##SLOT,                                                                    \
		TAPE_PREDICT_LAST,                                                                 \
		shift,                                                                             \
		EVENT_##REF,                                                                       \
		REF##_##REF_SLOT,                                                                  \
		0                                                                                  \
	},
#define FOLLOW(EVENT, SLOT, REF, REF_SLOT)                                                         \
	{ EVENT_##EVENT, EVENT##_##SLOT, TAPE_PREDICT_FOLLOW, 0, EVENT_##REF, REF##_##REF_SLOT, 0 },
#define RECENT(EVENT, SLOT, REF, REF_SLOT)                                                         \
	{ EVENT_##EVENT, EVENT##_##SLOT, TAPE_PREDICT_RECENT, 0, EVENT_##REF, REF##_##REF_SLOT, 0 },
#define BESIDE(EVENT, SLOT, FINDER, REF, REF_SLOT)                                                 \
	{ EVENT_##EVENT, EVENT##_##SLOT,   TAPE_PREDICT_BESIDE, 0,                                 \
	  EVENT_##REF,	 REF##_##REF_SLOT, EVENT##_##FINDER },
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

static int give_history(struct column *column, unsigned int predictor)
{
	struct history *history = column->own;

	if (!history)
		history = column->own = calloc(1, sizeof(*history));
	if (!history)
		return TAPE_ERR_MEMORY;
	if (predictor != TAPE_PREDICT_BESIDE && !history->place_of)
		history->place_of = calloc(PLACE_SLOTS, sizeof(history->place_of[0]));
	return predictor == TAPE_PREDICT_BESIDE || history->place_of ? 0 : TAPE_ERR_MEMORY;
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
	return beside->finder == &beside->finder_column->candidate[beside->finder_column->chosen];
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
	ref_state = column_state_of(encoder, ref_type);
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
	if (needs_history(plan->predictor) && give_history(candidate.ref, plan->predictor))
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
			column->literal_is_unsigned = candidate->literal_cost[0] <
						      candidate->literal_cost[1];
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
		error = other->code < 0 ? column_join_frame(encoder, other) : 0;
		if (error)
			return error;
	}
	return 0;
}

/* The type's first row in this frame, or the first reference to it. */
int column_join_frame(struct column_encoder *encoder, struct type_state *state)
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
	for (unsigned int i = 0; i < 2 * state->nr_fields; i++) {
		struct column *column = &state->column[i];

		reset_column(column);
		column->is_plain = column->predictor == TAPE_PREDICT_PREVIOUS &&
				   !column->on_trial && !(column->own && column->own->active);
	}
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
		state = column_state_of(encoder, encoder->types[i]);
		error = state ? plan_type(encoder, state) : TAPE_ERR_MEMORY;
		if (error)
			return error;
	}
	return 0;
}

/* Everything about predictors that must be settled before a frame's first row. */
int column_start_predictors(struct column_encoder *encoder)
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
