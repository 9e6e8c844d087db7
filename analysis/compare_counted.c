// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/compare.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare_rows.h"

/* Each: name, unit, value of a, of b, folios of a, of b. ?1 is run a, ?2 run b. */
static const char *const section_sql[] = {
	[COMPARE_COUNTERS] =
		"SELECT name, unit, max(CASE run_id WHEN ?1 THEN value END),"
		" max(CASE run_id WHEN ?2 THEN value END), NULL, NULL"
		" FROM v_counter_total WHERE run_id IN (?1, ?2) GROUP BY number ORDER BY number",
	[COMPARE_LOCKS] =
		"SELECT site, 'holds', max(CASE run_id WHEN ?1 THEN holds END),"
		" max(CASE run_id WHEN ?2 THEN holds END), max(CASE run_id WHEN ?1 THEN folios END),"
		" max(CASE run_id WHEN ?2 THEN folios END)"
		" FROM v_lock_total WHERE run_id IN (?1, ?2) GROUP BY number ORDER BY number = 0, number",
	[COMPARE_DRAINS] =
		"SELECT batch || ', ' || cause, 'drains', max(CASE run_id WHEN ?1 THEN drains END),"
		" max(CASE run_id WHEN ?2 THEN drains END), max(CASE run_id WHEN ?1 THEN folios END),"
		" max(CASE run_id WHEN ?2 THEN folios END)"
		" FROM v_drain WHERE run_id IN (?1, ?2) GROUP BY batch_number, cause_number"
		" ORDER BY batch_number, cause_number",
};

static struct compare_value column_value(sqlite3_stmt *statement, int column)
{
	return (struct compare_value){
		.known = sqlite3_column_type(statement, column) != SQLITE_NULL,
		.value = sqlite3_column_int64(statement, column),
	};
}

/* A run that has any lock sites, or drains, had none of those that it does not name. */
static void fill_zeros(struct compare_lines *lines)
{
	const struct compare_value zero = { .known = true };
	bool a_counted = false, b_counted = false;

	for (size_t i = 0; i < lines->nr; i++) {
		a_counted |= lines->line[i].a.known;
		b_counted |= lines->line[i].b.known;
	}
	for (size_t i = 0; i < lines->nr; i++) {
		struct compare_line *line = &lines->line[i];

		if (a_counted && !line->a.known)
			line->a = line->a_folios = zero;
		if (b_counted && !line->b.known)
			line->b = line->b_folios = zero;
	}
}

int compare_load(sqlite3 *db, enum compare_section section, const struct compare_pair *pair,
		 struct compare_lines *lines)
{
	sqlite3_stmt *statement;
	int code;

	*lines = (struct compare_lines){ 0 };
	if (sqlite3_prepare_v2(db, section_sql[section], -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct compare_line *line;

		if (!compare_grow((void **)&lines->line, lines->nr, sizeof(*line)))
			break;
		line = &lines->line[lines->nr++];
		*line = (struct compare_line){
			.name = compare_text_column(statement, 0),
			.unit = compare_text_column(statement, 1),
			.a = column_value(statement, 2),
			.b = column_value(statement, 3),
			.a_folios = column_value(statement, 4),
			.b_folios = column_value(statement, 5),
		};
		if (!line->name || !line->unit)
			break;
	}
	sqlite3_finalize(statement);
	if (section != COMPARE_COUNTERS)
		fill_zeros(lines);
	return code == SQLITE_DONE ? 0 : -1;
}

static const struct compare_line *find_line(const struct compare_lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->nr; i++)
		if (!strcmp(lines->line[i].name, name))
			return &lines->line[i];
	return NULL;
}

int compare_load_ranges(sqlite3 *db, enum compare_section section, const struct compare *compare,
			const struct compare_pair *pair, struct compare_lines *lines)
{
	static const struct compare_value none = { .known = true };

	if (!compare_nr_perturbed(compare, pair))
		return 0;
	for (size_t p = 0; p < compare->nr_pairs; p++) {
		struct compare_lines again;

		if (!compare_same_input(compare->pair[p].a, pair->a))
			continue;
		if (compare_load(db, section, &compare->pair[p], &again)) {
			compare_lines_free(&again);
			return -1;
		}
		for (size_t i = 0; i < lines->nr; i++) {
			const struct compare_line *line = find_line(&again, lines->line[i].name);

			/* A lock site or drain that neither of these two runs had. */
			compare_range_add(&lines->line[i].range,
					  line ? compare_difference(line->a, line->b) : none);
		}
		compare_lines_free(&again);
	}
	return 0;
}

void compare_lines_free(struct compare_lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++) {
		free(lines->line[i].name);
		free(lines->line[i].unit);
	}
	free(lines->line);
	*lines = (struct compare_lines){ 0 };
}

static bool values_differ(struct compare_value a, struct compare_value b)
{
	return a.known != b.known || (a.known && a.value != b.value);
}

bool compare_line_differs(const struct compare_line *line)
{
	return values_differ(line->a, line->b) || values_differ(line->a_folios, line->b_folios) ||
	       line->range.low || line->range.high;
}

bool compare_line_is_zero(const struct compare_line *line)
{
	return !(line->a.known && line->a.value) && !(line->b.known && line->b.value) &&
	       !(line->a_folios.known && line->a_folios.value) &&
	       !(line->b_folios.known && line->b_folios.value);
}

/* @part of @whole is less than @least_part of @least_whole; a whole of 0 is no share at all. */
static bool lower_share(int64_t part, int64_t whole, int64_t least_part, int64_t least_whole)
{
	return whole > 0 &&
	       (least_whole <= 0 || (__int128)part * least_whole < (__int128)least_part * whole);
}

static const char agreement_sql[] = "SELECT decision, decided, equal FROM v_agreement_total"
				    " WHERE tape_id = ? ORDER BY decision";

static const char belief_sql[] =
	"SELECT recorded_policy, nr_events, max(nr_lost, nr_overrun), nr_losses_unknown,"
	" ifnull(inferred, 0), ifnull(stimuli, -1) FROM v_belief WHERE run_id = ?";

/* Agreement over the kinds of decision of one tape, added to what is there. */
static int load_agreement(sqlite3 *db, int64_t tape_id, struct compare_belief *belief)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db, agreement_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, tape_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		int64_t decided = sqlite3_column_int64(statement, 1);
		int64_t equal = sqlite3_column_int64(statement, 2);

		belief->decided += decided;
		belief->equal += equal;
		if (!lower_share(equal, decided, belief->least_equal, belief->least_decided))
			continue;
		free(belief->least_decision);
		belief->least_decision = compare_text_column(statement, 0);
		belief->least_decided = decided;
		belief->least_equal = equal;
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

/* Losses of one run's tape and what was inferred in the run. */
static int load_run_belief(sqlite3 *db, const struct compare_run *run, bool other_tape,
			   struct compare_belief *belief)
{
	sqlite3_stmt *statement;
	int64_t inferred, stimuli;
	bool found;

	if (sqlite3_prepare_v2(db, belief_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, run->run_id);
	found = sqlite3_step(statement) == SQLITE_ROW;
	if (found) {
		if (other_tape) {
			belief->nr_events += sqlite3_column_int64(statement, 1);
			belief->nr_lost += sqlite3_column_int64(statement, 2);
			belief->nr_losses_unknown += sqlite3_column_int64(statement, 3);
		}
		if (!belief->recorded_policy && sqlite3_column_type(statement, 0) != SQLITE_NULL)
			belief->recorded_policy = compare_text_column(statement, 0);
		inferred = sqlite3_column_int64(statement, 4);
		stimuli = sqlite3_column_int64(statement, 5);
		if (belief->stimuli <= 0 ||
		    lower_share(belief->inferred, belief->stimuli, inferred, stimuli)) {
			belief->inferred = inferred;
			belief->stimuli = stimuli;
		}
	}
	sqlite3_finalize(statement);
	return found ? 0 : -1;
}

/* The earlier one of both runs. */
static int load_walks(sqlite3 *db, const struct compare_pair *pair, struct compare_belief *belief)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db,
			       "SELECT CAST(value AS INTEGER) FROM run_setting"
			       " WHERE name = 'walks_from_ns' AND run_id IN (?, ?)",
			       -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		if (sqlite3_column_int64(statement, 0) < belief->walks_from_ns)
			belief->walks_from_ns = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

int compare_load_belief(sqlite3 *db, const struct compare_pair *pair, struct compare_belief *belief)
{
	bool other_tape = pair->a->tape_id != pair->b->tape_id;

	*belief = (struct compare_belief){ .stimuli = -1, .walks_from_ns = INT64_MAX };
	if (load_walks(db, pair, belief) || load_run_belief(db, pair->a, true, belief) ||
	    load_run_belief(db, pair->b, other_tape, belief) ||
	    load_agreement(db, pair->a->tape_id, belief))
		return -1;
	return other_tape ? load_agreement(db, pair->b->tape_id, belief) : 0;
}

void compare_belief_free(struct compare_belief *belief)
{
	free(belief->recorded_policy);
	free(belief->least_decision);
	*belief = (struct compare_belief){ 0 };
}
