// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/report_page.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/chart.h"
#include "analysis/compare_report.h"
#include "analysis/html.h"
#include "schema/command.h"

#define MOMENTS_LIMIT 720 /* a chart is that wide: more are added up in groups */
#define SERIES_LIMIT 64

/* What went wrong sticks in here. */
struct writing {
	const struct report_page *page;
	FILE *to;
	bool failed; /* sqlite3_errmsg() says what, unless */
	bool out_of_memory;
};

/* A tape, and with memory_pages one of the sizes that it was replayed at. */
struct place {
	int64_t tape_id;
	int64_t memory_pages; /* -1: each memcg at its recorded limit */
};

/* ?1 is the tape, ?2 the memory size. NULL after a failure. */
static sqlite3_stmt *ask(struct writing *w, const char *sql, const struct place *place)
{
	sqlite3_stmt *statement;

	if (w->failed || w->out_of_memory)
		return NULL;
	if (sqlite3_prepare_v2(w->page->db, sql, -1, &statement, NULL) != SQLITE_OK) {
		w->failed = true;
		return NULL;
	}
	if (place && sqlite3_bind_parameter_count(statement) >= 1)
		sqlite3_bind_int64(statement, 1, place->tape_id);
	if (place && sqlite3_bind_parameter_count(statement) >= 2)
		sqlite3_bind_int64(statement, 2, place->memory_pages);
	return statement;
}

static bool next_row(struct writing *w, sqlite3_stmt *statement)
{
	int code = statement ? sqlite3_step(statement) : SQLITE_DONE;

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		w->failed = true;
	return code == SQLITE_ROW;
}

static const char *text_of(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text ? text : "-";
}

/* A database that an older program has made has fewer views. */
static bool there(struct writing *w, const char *view)
{
	sqlite3_stmt *statement = ask(w, "SELECT 1 FROM sqlite_master WHERE name = ?1", NULL);
	bool found;

	if (!statement)
		return false;
	sqlite3_bind_text(statement, 1, view, -1, SQLITE_STATIC);
	found = next_row(w, statement);
	sqlite3_finalize(statement);
	return found;
}

/* Every row of a query as a table, under @head; nothing at all where there is no row. */
static void table(struct writing *w, const char *head, const char *const *column, const char *sql,
		  const struct place *place)
{
	sqlite3_stmt *statement = ask(w, sql, place);
	bool any = false;

	while (next_row(w, statement)) {
		if (!any && *head)
			html_head(w->to, 4, head);
		if (!any)
			html_table_begin(w->to, column);
		any = true;
		html_row_begin(w->to, NULL);
		for (int i = 0; column[i]; i++)
			html_cell(w->to, text_of(statement, i), column[i][0] == '#');
		html_row_end(w->to);
	}
	if (any)
		html_table_end(w->to);
	sqlite3_finalize(statement);
}

/* ---- lines: rows of series name, x, y; series after series, x ascending */

struct lines {
	struct chart_series series[SERIES_LIMIT];
	char *name[SERIES_LIMIT];
	struct chart_point *point[SERIES_LIMIT];
	size_t nr;
};

static void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++) {
		free(lines->name[i]);
		free(lines->point[i]);
	}
}

static bool lines_add(struct lines *lines, const char *name, struct chart_point point)
{
	size_t last = lines->nr - 1;
	struct chart_series *series;

	if (!lines->nr || strcmp(lines->name[last], name)) {
		if (lines->nr == SERIES_LIMIT)
			return true; /* no chart draws that many */
		last = lines->nr++;
		lines->point[last] = NULL;
		lines->series[last].nr = 0;
		lines->name[last] = strdup(name);
		if (!lines->name[last])
			return false;
	}
	series = &lines->series[last];
	if (!(series->nr & (series->nr - 1))) { /* only powers of two, and 0, are full */
		void *grown = reallocarray(lines->point[last], series->nr ? 2 * series->nr : 1,
					   sizeof(point));

		if (!grown)
			return false;
		lines->point[last] = grown;
	}
	lines->point[last][series->nr++] = point;
	return true;
}

static void lines_load(struct writing *w, const char *sql, const struct place *place,
		       struct lines *lines)
{
	sqlite3_stmt *statement = ask(w, sql, place);

	lines->nr = 0;
	while (next_row(w, statement)) {
		const struct chart_point point = {
			.x = sqlite3_column_double(statement, 1),
			.y = sqlite3_column_double(statement, 2),
		};

		if (!lines_add(lines, text_of(statement, 0), point)) {
			w->out_of_memory = true;
			break;
		}
	}
	sqlite3_finalize(statement);
	for (size_t i = 0; i < lines->nr; i++) {
		lines->series[i].name = lines->name[i];
		lines->series[i].point = lines->point[i];
	}
}

/* Increases of so many moments as a chart can show: neighbours are added up. */
static void lines_thin(struct lines *lines)
{
	for (size_t s = 0; s < lines->nr; s++) {
		size_t nr = lines->series[s].nr, group = (nr + MOMENTS_LIMIT - 1) / MOMENTS_LIMIT;
		struct chart_point *point = lines->point[s];
		size_t left = 0;

		for (size_t i = 0; group > 1 && i < nr; i += group) {
			struct chart_point sum = point[i];

			for (size_t j = i + 1; j < i + group && j < nr; j++) {
				sum.y += point[j].y;
				sum.x = point[j].x;
			}
			point[left++] = sum;
		}
		if (group > 1)
			lines->series[s].nr = left;
	}
}

static void note_left_out(struct writing *w, size_t nr)
{
	char text[96];

	if (nr <= CHART_SERIES_LIMIT)
		return;
	snprintf(text, sizeof(text), "The first %d of %zu policies are drawn.", CHART_SERIES_LIMIT,
		 nr);
	html_paragraph(w->to, text);
}

/* ---- what was compared */

static void difference_row(struct writing *w, const struct compare_line *line, bool perturbed)
{
	char a[32] = "-", b[32] = "-", difference[32] = "-", percent[32], spread[64] = "";
	struct compare_value d = compare_difference(line->a, line->b);
	bool seen = compare_range_seen(&line->range);

	if (line->a.known)
		snprintf(a, sizeof(a), "%" PRId64, line->a.value);
	if (line->b.known)
		snprintf(b, sizeof(b), "%" PRId64, line->b.value);
	if (d.known)
		snprintf(difference, sizeof(difference), d.value ? "%+" PRId64 : "%" PRId64,
			 d.value);
	compare_percent_text(line->a, line->b, percent, sizeof(percent));
	if (line->range.nr)
		snprintf(spread, sizeof(spread), "%+" PRId64 "..%+" PRId64, line->range.low,
			 line->range.high);
	if (!seen)
		snprintf(difference, sizeof(difference), "none seen");
	html_row_begin(w->to, seen ? NULL : "none");
	html_cell(w->to, line->name, false);
	html_cell(w->to, a, true);
	html_cell(w->to, b, true);
	html_cell(w->to, difference, true);
	html_cell(w->to, seen ? percent : "", true);
	if (perturbed)
		html_cell(w->to, spread, true);
	html_row_end(w->to);
}

static size_t nr_different(const struct compare_lines *lines)
{
	size_t nr = 0;

	for (size_t i = 0; i < lines->nr; i++)
		nr += compare_line_differs(&lines->line[i]);
	return nr;
}

static void differences(struct writing *w, const char *what, const struct compare_lines *lines,
			const struct compare_pair *pair, bool perturbed)
{
	char a[160], b[160];
	const char *column[] = { what, a, b, "#difference", "#percent", "#spread", NULL };

	if (!perturbed)
		column[5] = NULL;
	if (!nr_different(lines))
		return;
	snprintf(a, sizeof(a), "#%s", pair->a->policy);
	snprintf(b, sizeof(b), "#%s", pair->b->policy);
	html_table_begin(w->to, column);
	for (size_t i = 0; i < lines->nr; i++)
		if (compare_line_differs(&lines->line[i]))
			difference_row(w, &lines->line[i], perturbed);
	html_table_end(w->to);
}

/* Spreads in per cent, so that they share an axis. Maxima are of another kind and would squeeze it. */
static void spread_chart(struct writing *w, const struct compare_lines *lines)
{
	struct chart_range *range = calloc(lines->nr + 1, sizeof(*range));
	size_t nr = 0;

	if (!range) {
		w->out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < lines->nr; i++) {
		const struct compare_line *line = &lines->line[i];
		struct compare_value d = compare_difference(line->a, line->b);
		size_t size = strlen(line->name);

		if (!line->range.nr || !d.known || line->a.value <= 0 ||
		    !compare_line_differs(line) ||
		    (size > 4 && !strcmp(line->name + size - 4, "_max")))
			continue;
		range[nr++] = (struct chart_range){
			.name = line->name,
			.value = 100.0 * (double)d.value / (double)line->a.value,
			.low = 100.0 * (double)line->range.low / (double)line->a.value,
			.high = 100.0 * (double)line->range.high / (double)line->a.value,
		};
	}
	chart_ranges(w->to, "Counters: difference and its spread", "%", range, nr);
	free(range);
}

static void belief_paragraph(struct writing *w, const struct compare_belief *belief)
{
	char share[32], least[32], text[512];

	if (!belief->decided) {
		html_paragraph(w->to, "No recorded decision was checked on this tape.");
		return;
	}
	compare_share_text(belief->equal, belief->decided, share, sizeof(share));
	compare_share_text(belief->least_equal, belief->least_decided, least, sizeof(least));
	snprintf(text, sizeof(text),
		 "How far to believe it: %s of %" PRId64
		 " recorded decisions were predicted (least: %s, %s); %" PRId64 " of %" PRId64
		 " events lost; %" PRId64 " of %" PRId64 " stimuli inferred.",
		 share, belief->decided, belief->least_decision ? belief->least_decision : "-",
		 least, belief->nr_lost, belief->nr_events + belief->nr_lost, belief->inferred,
		 belief->stimuli < 0 ? 0 : belief->stimuli);
	html_paragraph(w->to, text);
}

static int compared_pair(struct writing *w, const struct compare_pair *pair)
{
	const struct compare_report report = { .path = w->page->path, .db = w->page->db };
	struct compare_block block;
	char text[512], memory[64];
	int status = compare_block_load(&report, w->page->compare, pair, &block);

	if (status == COMMAND_DONE) {
		compare_memory_text(pair->a->memory_pages, memory, sizeof(memory));
		snprintf(text, sizeof(text), "%s %s: %s against %s", pair->a->tape, memory,
			 pair->b->policy, pair->a->policy);
		html_head(w->to, 3, text);
		if (block.nr_perturbed) {
			snprintf(
				text, sizeof(text),
				"Spread: of the difference over this pair and %zu more under other seeds (what "
				"chance decides, drawn anew: --perturb and --draws of lrutape-replay(1)). One "
				"that has 0 in it is not seen: the difference is no greater than the noise.",
				block.nr_perturbed);
			html_paragraph(w->to, text);
			spread_chart(w, &block.counters);
		}
		differences(w, "counter", &block.counters, pair, block.nr_perturbed);
		differences(w, "lruvec lock holds", &block.locks, pair, block.nr_perturbed);
		differences(w, "drains of a batch", &block.drains, pair, block.nr_perturbed);
		if (!nr_different(&block.counters) && !nr_different(&block.locks) &&
		    !nr_different(&block.drains))
			html_paragraph(
				w->to,
				"No difference seen: counters, lock sites and drains are equal.");
		belief_paragraph(w, &block.belief);
	}
	compare_block_free(&block);
	return status;
}

static int comparison(struct writing *w)
{
	html_head(w->to, 2, "Comparison");
	if (!w->page->compare)
		html_paragraph(w->to, w->page->no_compare);
	for (size_t i = 0; w->page->compare && i < w->page->compare->nr_pairs; i++) {
		const struct compare_pair *pair = &w->page->compare->pair[i];
		int status;

		if (compare_is_perturbed(w->page->compare, pair))
			continue;
		status = compared_pair(w, pair);
		if (status != COMMAND_DONE)
			return status;
	}
	return COMMAND_DONE;
}

/* ---- a tape, and what was run over it */

static void agreement(struct writing *w, const struct place *place)
{
	static const char *const decisions[] = { "decision", "#decided", "#equal", "#percent",
						 NULL };
	static const char *const causes[] = { "decision", "#not equal", "what stands before it",
					      "which means", NULL };
	static const char *const undecided[] = { "not decided", "#times", "cause", NULL };
	static const char *const mismatches[] = { "#second",   "memcg",	   "decision", "cause",
						  "predicted", "recorded", NULL };

	/* Rounded down, so that 100 says all of them. */
	table(w, "Agreement with the recorded kernel", decisions,
	      "SELECT decision, decided, equal, printf('%d.%03d', equal * 100 / decided,"
	      " equal * 100000 / decided % 1000) FROM v_agreement_total"
	      " WHERE tape_id = ?1 AND decided > 0 ORDER BY decision",
	      place);
	if (!there(w, "v_disagreement"))
		return;
	table(w, "Where not, and why", causes,
	      "SELECT decision, sum(count), cause, meaning FROM v_disagreement WHERE tape_id = ?1"
	      " AND (memcg_id IN (SELECT memcg_id FROM v_subject WHERE tape_id = ?1) OR memcg_id"
	      "  IS NOT NULL AND ?1 NOT IN (SELECT tape_id FROM v_subject))"
	      " GROUP BY decision, number ORDER BY decision, number",
	      place);
	table(w, "The first mismatches, of any memcg", mismatches,
	      "SELECT printf('%.6f', seconds), memcg, decision, cause, predicted, recorded"
	      " FROM v_mismatch WHERE tape_id = ?1 ORDER BY number LIMIT 10",
	      place);
	table(w, "Seen and not decided", undecided,
	      "SELECT what, count, meaning FROM v_undecided WHERE tape_id = ?1 AND count > 0"
	      " ORDER BY count DESC",
	      place);
}

/* What a free-running replay of the recorded policy counts, beside what the recorded kernel counted. */
static void accuracy(struct writing *w, const struct place *place)
{
	static const char *const column[] = { "counter", "memcg",      "#kernel",
					      "#replay", "#off by, %", NULL };

	if (there(w, "v_accuracy"))
		table(w,
		      "The recorded policy, replayed freely, and the recorded kernel's own counters",
		      column,
		      "SELECT name, memcg, kernel, replay,"
		      " CASE WHEN kernel > 0 THEN printf('%+.2f', difference_percent) END"
		      " FROM v_accuracy WHERE tape_id = ?1 AND (kernel > 0 OR replay > 0)"
		      " ORDER BY run_id, memcg, number",
		      place);
}

/* Runs that asked what no event tells. */
static void estimates(struct writing *w, const struct place *place)
{
	static const char *const column[] = { "#run",	     "policy",	       "#asked",
					      "#unknown, %", "#first, second", NULL };

	if (there(w, "v_estimate"))
		table(w, "Estimates: verdicts about mapped pages that the tape does not decide",
		      column,
		      "SELECT run_id, policy, asked, printf('%.3f', unknown_percent),"
		      " printf('%.6f', first_unknown_seconds) FROM v_estimate WHERE tape_id = ?1"
		      " AND ifnull(memory_pages, -1) = ?2 AND seed = 0 AND unknown > 0 ORDER BY run_id",
		      place);
}

static void misses_by_memory(struct writing *w, const struct place *place)
{
	struct lines lines;

	lines_load(
		w,
		"SELECT policy, memory_mib, missed_percent FROM v_miss WHERE tape_id = ?1 AND seed = 0"
		" AND memory_mib IS NOT NULL ORDER BY policy, memory_mib",
		place, &lines);
	chart_lines(w->to, "Misses by memory size", "memory, MiB", "% of accesses missed",
		    lines.series, lines.nr);
	note_left_out(w, lines.nr);
	lines_free(&lines);
}

static void counter_over_time(struct writing *w, const struct place *place, const char *name)
{
	char *sql = sqlite3_mprintf(
		"SELECT policy, seconds, increase FROM v_counter_at JOIN v_run USING (run_id)"
		" WHERE tape_id = ?1 AND ifnull(memory_pages, -1) = ?2 AND name = %Q AND seed = 0"
		" ORDER BY run_id, timestamp_ns",
		name);
	struct lines lines;
	char title[96];

	if (!sql) {
		w->out_of_memory = true;
		return;
	}
	lines_load(w, sql, place, &lines);
	sqlite3_free(sql);
	lines_thin(&lines);
	snprintf(title, sizeof(title), "%s over time", name);
	chart_lines(w->to, title, "seconds of the tape", "between two moments", lines.series,
		    lines.nr);
	lines_free(&lines);
}

static void over_time(struct writing *w, const struct place *place)
{
	sqlite3_stmt *statement = ask(
		w,
		"SELECT name FROM v_counter_at JOIN v_run USING (run_id) WHERE tape_id = ?1"
		" AND ifnull(memory_pages, -1) = ?2 AND name NOT IN ('accesses', 'hits')"
		" GROUP BY number HAVING max(value) > 0 ORDER BY number",
		place);

	while (next_row(w, statement))
		counter_over_time(w, place, text_of(statement, 0));
	sqlite3_finalize(statement);
}

/* Bars of one value per lock site and policy. The query's rows: site, policy, value. */
static void lock_holds(struct writing *w, const struct place *place)
{
	static const char sql[] =
		"SELECT s.site, r.policy, ifnull((SELECT holds FROM v_lock_total AS l"
		"  WHERE l.run_id = r.run_id AND l.site = s.site), 0)"
		" FROM (SELECT DISTINCT number, site FROM v_lock_total JOIN v_run USING (run_id)"
		"  WHERE tape_id = ?1 AND holds > 0) AS s, v_run AS r"
		" WHERE r.tape_id = ?1 AND ifnull(r.memory_pages, -1) = ?2 AND r.seed = 0"
		" ORDER BY s.number, r.run_id";
	char *site[64], *policy[SERIES_LIMIT];
	double value[64 * SERIES_LIMIT];
	size_t nr_sites = 0, nr_policies = 0, nr = 0;
	sqlite3_stmt *statement = ask(w, sql, place);

	while (next_row(w, statement) && nr < sizeof(value) / sizeof(value[0])) {
		const char *name = text_of(statement, 0);

		if (!nr_sites || strcmp(site[nr_sites - 1], name)) {
			if (nr_sites == 64)
				break;
			site[nr_sites] = strdup(name);
			if (!site[nr_sites++]) {
				w->out_of_memory = true;
				nr_sites--;
				break;
			}
		}
		if (nr_sites == 1) {
			if (nr_policies == SERIES_LIMIT)
				continue;
			policy[nr_policies] = strdup(text_of(statement, 1));
			if (!policy[nr_policies++]) {
				w->out_of_memory = true;
				nr_policies--;
				break;
			}
		}
		value[nr++] = sqlite3_column_double(statement, 2);
	}
	sqlite3_finalize(statement);
	if (!w->out_of_memory && nr == nr_sites * nr_policies)
		chart_bars(w->to, "Holds of the lruvec lock", (const char *const *)site, nr_sites,
			   (const char *const *)policy, nr_policies, value);
	for (size_t i = 0; i < nr_sites; i++)
		free(site[i]);
	for (size_t i = 0; i < nr_policies; i++)
		free(policy[i]);
}

static void runs(struct writing *w, const struct place *place)
{
	static const char *const column[] = { "#run",	     "policy",	     "rules",
					      "#accesses",   "#missed, %",   "#pages brought in",
					      "#lock holds", "#inferred, %", NULL };

	table(w, "", column,
	      "SELECT m.run_id, m.policy, r.release, m.accesses,"
	      " CASE WHEN m.accesses > 0 THEN printf('%.3f', missed_percent) END,"
	      " misses + ifnull(readahead, 0), (SELECT holds FROM v_lock_total AS l"
	      "  WHERE l.run_id = m.run_id AND number = 0), printf('%.3f', inferred_percent)"
	      " FROM v_miss AS m JOIN v_run AS r USING (run_id) JOIN v_belief AS b ON b.run_id = m.run_id"
	      " WHERE m.tape_id = ?1 AND ifnull(m.memory_pages, -1) = ?2 AND m.seed = 0 ORDER BY m.run_id",
	      place);
}

static void sizes(struct writing *w, struct place *place)
{
	sqlite3_stmt *statement = ask(
		w,
		"SELECT DISTINCT ifnull(memory_pages, -1) FROM v_run WHERE tape_id = ?1 ORDER BY 1",
		place);

	while (next_row(w, statement)) {
		char memory[64], head[80];

		place->memory_pages = sqlite3_column_int64(statement, 0);
		compare_memory_text(place->memory_pages, memory, sizeof(memory));
		snprintf(head, sizeof(head), "Runs %s", memory);
		html_head(w->to, 3, head);
		runs(w, place);
		estimates(w, place);
		lock_holds(w, place);
		over_time(w, place);
	}
	sqlite3_finalize(statement);
}

static void tapes(struct writing *w)
{
	static const char *const facts[] = { "kernel",	     "recorded policy",
					     "checked by",   "command",
					     "#seconds",     "#events",
					     "#events lost", NULL };
	sqlite3_stmt *statement = ask(w, "SELECT tape_id, tape FROM v_tape ORDER BY tape_id", NULL);

	while (next_row(w, statement)) {
		struct place place = { .tape_id = sqlite3_column_int64(statement, 0) };
		char head[300];

		snprintf(head, sizeof(head), "Tape %s", text_of(statement, 1));
		html_head(w->to, 2, head);
		table(w, "", facts,
		      "SELECT kernel_release, recorded_policy, checked_policy || ', rules of '"
		      " || checked_rules, command, printf('%.3f', seconds), nr_events,"
		      " CASE WHEN nr_losses_unknown > 0 THEN 'at least ' ELSE '' END"
		      " || max(nr_lost, nr_overrun) FROM v_tape WHERE tape_id = ?1",
		      &place);
		agreement(w, &place);
		accuracy(w, &place);
		misses_by_memory(w, &place);
		sizes(w, &place);
	}
	sqlite3_finalize(statement);
}

int report_page(const struct report_page *page)
{
	struct writing w = { .page = page, .to = page->to };
	int status;

	html_begin(w.to, page->title);
	html_paragraph(
		w.to,
		"Made by lrutape " LRUTAPE_VERSION
		" from a results database. Counts are exact and repeatable; a page is 4 KiB, "
		"a folio one or more of them. What each name means stands in docs/results.md.");
	status = comparison(&w);
	if (status != COMMAND_DONE)
		return status;
	tapes(&w);
	html_end(w.to);
	if (!w.failed && !w.out_of_memory)
		return COMMAND_DONE;
	fprintf(stderr, "lrutape: %s: %s\n", page->path,
		w.out_of_memory ? "out of memory" : sqlite3_errmsg(page->db));
	return COMMAND_FAILED;
}
