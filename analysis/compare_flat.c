// SPDX-License-Identifier: GPL-2.0-only
/* Two runs side by side as CSV or JSON: a row for each number. */
#include "analysis/compare_report.h"

#include <inttypes.h>
#include <string.h>

#include "schema/command.h"

static const char *const flat_column[] = {
	"tape",	      "memory_pages", "seed",	    "a_run",	   "a_policy", "b_run",
	"b_policy",   "section",      "name",	    "unit",	   "a",	       "b",
	"difference", "percent",      "spread_low", "spread_high", "pairs",
};

#define NR_FLAT_COLUMNS (int)(sizeof(flat_column) / sizeof(flat_column[0]))

static void flat_value(struct output *output, struct compare_value value)
{
	if (value.known)
		output_integer(output, value.value);
	else
		output_null(output);
}

static void flat_text(struct output *output, const char *text)
{
	output_text(output, text, strlen(text));
}

/* The spread of a difference, and over how many pairs. */
static void flat_range(struct output *output, const struct compare_range *range)
{
	if (range && range->nr) {
		output_integer(output, range->low);
		output_integer(output, range->high);
		output_integer(output, (int64_t)range->nr);
		return;
	}
	for (int i = 0; i < 3; i++)
		output_null(output);
}

/* The columns that all rows begin with, up to the unit. */
static void flat_head(struct output *output, const struct compare_pair *pair, const char *section,
		      const char *name, const char *unit)
{
	/* The place is that of a; where b's is another, the text report and stderr say so. */
	flat_text(output, pair->a->tape);
	if (pair->a->memory_pages < 0)
		output_null(output);
	else
		output_integer(output, pair->a->memory_pages);
	output_integer(output, pair->a->seed);
	output_integer(output, pair->a->run_id);
	flat_text(output, pair->a->policy);
	output_integer(output, pair->b->run_id);
	flat_text(output, pair->b->policy);
	flat_text(output, section);
	flat_text(output, name);
	flat_text(output, unit);
}

/* @range: NULL: there is none. */
static void flat_row(struct output *output, const struct compare_pair *pair, const char *section,
		     const char *name, const char *unit, struct compare_value a,
		     struct compare_value b, const struct compare_range *range)
{
	struct compare_value difference = compare_difference(a, b);

	flat_head(output, pair, section, name, unit);
	flat_value(output, a);
	flat_value(output, b);
	flat_value(output, difference);
	if (difference.known && a.value)
		output_real(output, 100.0 * (double)difference.value / (double)a.value);
	else
		output_null(output);
	flat_range(output, range);
}

static void flat_lines(struct output *output, const struct compare_pair *pair, const char *section,
		       const char *folio_section, const struct compare_lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++) {
		const struct compare_line *line = &lines->line[i];

		flat_row(output, pair, section, line->name, line->unit, line->a, line->b,
			 &line->range);
		if (folio_section)
			flat_row(output, pair, folio_section, line->name, "folios", line->a_folios,
				 line->b_folios, NULL);
	}
}

static void flat_cost_row(struct output *output, const struct compare_pair *pair, const char *name,
			  const char *unit, bool a_known, double a, bool b_known, double b,
			  bool compared, double percent)
{
	flat_head(output, pair, "cost", name, unit);
	if (a_known)
		output_real(output, a);
	else
		output_null(output);
	if (b_known)
		output_real(output, b);
	else
		output_null(output);
	if (a_known && b_known && compared)
		output_real(output, b - a);
	else
		output_null(output);
	if (compared)
		output_real(output, percent);
	else
		output_null(output);
	flat_range(output, NULL);
}

/* Each line with its median difference, then with the ends of its spread. */
static void flat_cost(struct output *output, const struct compare_pair *pair,
		      const struct compare_cost *cost)
{
	for (int i = 0; i < (compare_cost_is_loop(cost) ? 1 : NR_COMPARE_COST_LINES); i++) {
		const struct compare_spread *spread = &cost->spread[i];
		const char *unit = i == COMPARE_SATURATED_HOLDS ? "1/s" : "ns";
		char name[96], end[128];

		if (compare_cost_is_loop(cost))
			snprintf(name, sizeof(name), "%s %s", cost->step, compare_cost_name(i));
		else
			snprintf(name, sizeof(name), "%s", compare_cost_name(i));
		flat_cost_row(output, pair, name, unit, cost->a_known, cost->a[i], cost->b_known,
			      cost->b[i], cost->repeats > 0, spread->percent);
		if (!cost->repeats)
			continue;
		snprintf(end, sizeof(end), "%s spread low", name);
		flat_cost_row(output, pair, end, unit, false, 0, false, 0, true, spread->low);
		snprintf(end, sizeof(end), "%s spread high", name);
		flat_cost_row(output, pair, end, unit, false, 0, false, 0, true, spread->high);
	}
}

static int flat_belief(const struct compare_report *report, struct output *output,
		       const struct compare_pair *pair)
{
	struct compare_pair only_a = { pair->a, pair->a }, only_b = { pair->b, pair->b };
	struct compare_belief a, b = { 0 };
	int error = compare_load_belief(report->db, &only_a, &a) ||
		    compare_load_belief(report->db, &only_b, &b);

#define BELIEF_ROW(name, unit, member)                                                             \
	flat_row(output, pair, "belief", name, unit, (struct compare_value){ true, a.member },     \
		 (struct compare_value){ true, b.member }, NULL)
	if (!error) {
		BELIEF_ROW("decided", "decisions", decided);
		BELIEF_ROW("equal", "decisions", equal);
		BELIEF_ROW("least_decided", a.least_decision ? a.least_decision : "-",
			   least_decided);
		BELIEF_ROW("least_equal", a.least_decision ? a.least_decision : "-", least_equal);
		BELIEF_ROW("lost", "events", nr_lost);
		BELIEF_ROW("losses_unknown", "times", nr_losses_unknown);
		BELIEF_ROW("inferred", "stimuli", inferred);
	}
#undef BELIEF_ROW
	compare_belief_free(&a);
	compare_belief_free(&b);
	return error ? compare_report_failed(report, sqlite3_errmsg(report->db)) : COMMAND_DONE;
}

int compare_print_flat(const struct compare_report *report, const struct compare *compare,
		       enum output_format format)
{
	struct output *output = output_begin(stdout, format, flat_column, NR_FLAT_COLUMNS);
	int status = COMMAND_DONE;

	if (!output)
		return compare_report_failed(report, "out of memory");
	for (size_t i = 0; i < compare->nr_pairs && status == COMMAND_DONE; i++) {
		const struct compare_pair *pair = &compare->pair[i];
		struct compare_block block;

		if (compare_is_perturbed(compare, pair))
			continue;
		if (pair->a->tape_id != pair->b->tape_id ||
		    pair->a->memory_pages != pair->b->memory_pages)
			fprintf(stderr,
				"lrutape: %s: the runs differ in tape or memory size: the numbers "
				"are not those of the policies alone\n",
				report->path);
		status = compare_block_load(report, compare, pair, &block);
		if (status == COMMAND_DONE) {
			flat_lines(output, pair, "counter", NULL, &block.counters);
			flat_lines(output, pair, "lock_holds", "lock_folios", &block.locks);
			flat_lines(output, pair, "drains", "drained_folios", &block.drains);
			for (size_t n = 0; n < block.costs.nr; n++)
				flat_cost(output, pair, &block.costs.cost[n]);
			status = flat_belief(report, output, pair);
		}
		compare_block_free(&block);
	}
	if (output_end(output) && status == COMMAND_DONE)
		status = compare_output_failed();
	return status;
}
