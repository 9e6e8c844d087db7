// SPDX-License-Identifier: GPL-2.0-only
/* lrutape compare: two runs side by side, as one would paste them into a mail. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "analysis/compare.h"
#include "analysis/database.h"
#include "analysis/output.h"
#include "schema/command.h"

#define PAGE_BYTES 4096 /* of results: docs/results.md */
#define LINE_COLUMNS 78 /* what a mail holds without wrapping */

struct report {
	const char *path; /* for messages */
	sqlite3 *db;
	bool all; /* also what is equal, also zeros */
};

static void print_help(FILE *to)
{
	fputs("usage: lrutape compare [options] FILE.db [A B]\n\n"
	      "Put two runs of a results database side by side. A and B are run numbers or policy\n"
	      "names; without them, a patched policy is compared with its unpatched base. Each tape,\n"
	      "memory size and seed that both ran on makes a block.\n\n"
	      "  --tape N         only this tape: its number, or its file's name\n"
	      "  --memory SIZE    only this memory size: bytes, or with K, M, G, T\n"
	      "  --all            also lines that are equal or zero\n"
	      "  --csv            every number, RFC 4180, the first line names the columns\n"
	      "  --json           every number, an array of objects\n"
	      "  --help           this text\n",
	      to);
}

static int failed(const struct report *report, const char *what)
{
	fprintf(stderr, "lrutape: %s: %s\n", report->path, what);
	return COMMAND_FAILED;
}

static int output_failed(void)
{
	fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
	return COMMAND_FAILED;
}

/* Text may be a stranger's: no byte that a terminal would obey. */
static int plain(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f ? '?' : byte;
}

static void print_plain(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc(plain(*text), to);
}

static void memory_text(int64_t memory_pages, char *text, size_t size)
{
	if (memory_pages < 0)
		snprintf(text, size, "at its recorded limits");
	else if (memory_pages % 256 == 0)
		snprintf(text, size, "at %" PRId64 " pages (%" PRId64 " MiB)", memory_pages,
			 memory_pages / 256);
	else
		snprintf(text, size, "at %" PRId64 " pages (%" PRId64 " KiB)", memory_pages,
			 memory_pages * (PAGE_BYTES / 1024));
}

/* What stands on stderr below a message: which runs there are. */
static void list_runs(const struct compare *compare)
{
	for (size_t i = 0; i < compare->nr_runs; i++) {
		const struct compare_run *run = &compare->run[i];
		char memory[64];

		memory_text(run->memory_pages, memory, sizeof(memory));
		fprintf(stderr, "  %4" PRId64 "  ", run->run_id);
		print_plain(stderr, run->policy);
		fputs(" on ", stderr);
		print_plain(stderr, run->tape);
		fprintf(stderr, " %s", memory);
		if (run->seed)
			fprintf(stderr, ", seed %" PRId64, run->seed);
		fputc('\n', stderr);
	}
}

/* ---- The report as text */

/* Column heads: what the two sides are called. */
static void side_names(const struct compare_pair *pair, char a[32], char b[32])
{
	if (!*pair->a->patch && *pair->b->patch && !strcmp(pair->a->base, pair->b->base)) {
		strcpy(a, "unpatched");
		strcpy(b, "patched");
	} else {
		snprintf(a, 32, "run %" PRId64, pair->a->run_id);
		snprintf(b, 32, "run %" PRId64, pair->b->run_id);
	}
}

static void print_side(const struct compare_run *run, const char *name, int width, bool with_place)
{
	printf("%-*s  ", width, name);
	if (strncmp(name, "run ", 4))
		printf("run %" PRId64 ", ", run->run_id);
	print_plain(stdout, run->policy);
	if (with_place) {
		char memory[64];

		memory_text(run->memory_pages, memory, sizeof(memory));
		fputs(", ", stdout);
		print_plain(stdout, run->tape);
		printf(" %s", memory);
		if (run->seed)
			printf(", seed %" PRId64, run->seed);
	}
	putchar('\n');
}

/* Which runs, on what. Says what makes them hard to compare. */
static void print_block_head(const struct compare_pair *pair)
{
	bool same_tape = pair->a->tape_id == pair->b->tape_id;
	bool same_memory = pair->a->memory_pages == pair->b->memory_pages;
	bool same_place = same_tape && same_memory && pair->a->seed == pair->b->seed;
	char a[32], b[32], memory[64];
	int width;

	side_names(pair, a, b);
	width = (int)(strlen(a) > strlen(b) ? strlen(a) : strlen(b));
	if (same_place) {
		memory_text(pair->a->memory_pages, memory, sizeof(memory));
		print_plain(stdout, pair->a->tape);
		printf(" %s", memory);
		if (pair->a->seed)
			printf(", seed %" PRId64, pair->a->seed);
		putchar('\n');
	}
	print_side(pair->a, a, width, !same_place);
	print_side(pair->b, b, width, !same_place);
	if (!same_tape || !same_memory) {
		const char *what = !same_tape && !same_memory ? "tapes and memory sizes" :
				   !same_tape		      ? "tapes" :
								"memory sizes";

		printf("beware: the %s differ, and so do the numbers because of them\n", what);
	}
	putchar('\n');
}

static void value_text(struct compare_value value, bool with_sign, char *text, size_t size)
{
	if (!value.known)
		snprintf(text, size, "-");
	else
		snprintf(text, size, with_sign && value.value ? "%+" PRId64 : "%" PRId64,
			 value.value);
}

#define NR_TABLE_COLUMNS 6

/* A row of the report's table: a name and five figures, "" for none. */
static void add_row(struct output *output, const char *name, const char *a, const char *b,
		    const char *difference, const char *percent, const char *ratio)
{
	output_text(output, name, strlen(name));
	output_figure(output, a);
	output_figure(output, b);
	output_figure(output, difference);
	output_figure(output, percent);
	output_figure(output, ratio);
}

/* A section's head, with an empty line above where something stands there. */
static void add_head(struct output *output, bool *first, const char *name,
		     const struct compare_pair *pair, bool with_difference, bool with_ratio)
{
	char a[32], b[32];

	side_names(pair, a, b);
	if (!*first)
		add_row(output, "", "", "", "", "", "");
	*first = false;
	add_row(output, name, a, b, with_difference ? "difference" : "",
		with_difference ? "percent" : "", with_ratio ? "ratio" : "");
}

static void add_line(struct output *output, const char *name, struct compare_value a,
		     struct compare_value b, bool with_ratio)
{
	char a_text[32], b_text[32], difference[32], percent[32], ratio[32] = "";

	value_text(a, false, a_text, sizeof(a_text));
	value_text(b, false, b_text, sizeof(b_text));
	value_text(compare_difference(a, b), true, difference, sizeof(difference));
	compare_percent_text(a, b, percent, sizeof(percent));
	if (with_ratio)
		compare_ratio_text(a, b, ratio, sizeof(ratio));
	add_row(output, name, a_text, b_text, difference, percent, ratio);
}

static void per_text(struct compare_value folios, struct compare_value times, char *text,
		     size_t size)
{
	if (!folios.known || !times.known || times.value == 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.2f", (double)folios.value / (double)times.value);
}

static void add_line_per(struct output *output, const struct compare_line *line)
{
	char a[32], b[32];

	per_text(line->a_folios, line->a, a, sizeof(a));
	per_text(line->b_folios, line->b, b, sizeof(b));
	add_row(output, line->name, a, b, "", "", "");
}

static size_t nr_different(const struct compare_lines *lines)
{
	size_t nr = 0;

	for (size_t i = 0; i < lines->nr; i++)
		nr += compare_line_differs(&lines->line[i]);
	return nr;
}

static size_t nr_shown(const struct compare_lines *lines, bool all)
{
	size_t nr = 0;

	for (size_t i = 0; i < lines->nr; i++)
		nr += all || !compare_line_is_zero(&lines->line[i]);
	return nr;
}

static void add_counters(struct output *output, bool *first, const struct report *report,
			 const struct compare_pair *pair, const struct compare_lines *counters)
{
	if (report->all ? counters->nr == 0 : nr_different(counters) == 0)
		return;
	add_head(output, first, "counter", pair, true, false);
	for (size_t i = 0; i < counters->nr; i++)
		if (report->all || compare_line_differs(&counters->line[i]))
			add_line(output, counters->line[i].name, counters->line[i].a,
				 counters->line[i].b, false);
}

/* Lock sites and drains are few: those that are equal stand among the others, as they add up. */
static void add_locks(struct output *output, bool *first, const struct report *report,
		      const struct compare_pair *pair, const struct compare_lines *locks)
{
	if (nr_shown(locks, report->all) == 0)
		return;
	add_head(output, first, "lruvec lock holds", pair, true, true);
	for (size_t i = 0; i < locks->nr; i++)
		if (report->all || !compare_line_is_zero(&locks->line[i]))
			add_line(output, locks->line[i].name, locks->line[i].a, locks->line[i].b,
				 true);
	add_head(output, first, "folios per hold", pair, false, false);
	for (size_t i = 0; i < locks->nr; i++)
		if (report->all || !compare_line_is_zero(&locks->line[i]))
			add_line_per(output, &locks->line[i]);
}

static void add_drains(struct output *output, bool *first, const struct report *report,
		       const struct compare_pair *pair, const struct compare_lines *drains)
{
	if (nr_shown(drains, report->all) == 0)
		return;
	add_head(output, first, "drains of a batch", pair, true, false);
	for (size_t i = 0; i < drains->nr; i++)
		if (report->all || !compare_line_is_zero(&drains->line[i]))
			add_line(output, drains->line[i].name, drains->line[i].a, drains->line[i].b,
				 false);
}

static void real_text(double value, bool with_sign, bool whole, char *text, size_t size)
{
	if (whole)
		snprintf(text, size, with_sign ? "%+.0f" : "%.0f", value);
	else
		snprintf(text, size, with_sign ? "%+.2f" : "%.2f", value);
}

/* A loop over a list, done under one hold however long: what a folio costs is all there is to say. */
static bool is_loop(const struct compare_cost *cost)
{
	return strchr(cost->step, ' ');
}

/* Measured: the spread stands beside each difference, and one below its spread is none. */
static void add_cost(struct output *output, bool *first, const struct compare_pair *pair,
		     const struct compare_cost *cost)
{
	static const char *const name[] = {
		[COMPARE_NS_PER_FOLIO] = "ns per folio",
		[COMPARE_NS_PER_HOLD] = "ns per hold",
		[COMPARE_SATURATED_HOLDS] = "holds/s, lock saturated",
	};
	char a[32], b[32], head[64];

	side_names(pair, a, b);
	if (!*first)
		add_row(output, "", "", "", "", "", "");
	*first = false;
	snprintf(head, sizeof(head), "%s, measured", cost->step);
	add_row(output, head, a, b, "difference", "percent", "spread");
	for (int i = 0; i < (is_loop(cost) ? 1 : NR_COMPARE_COST_LINES); i++) {
		const struct compare_spread *spread = &cost->spread[i];
		bool whole = i == COMPARE_SATURATED_HOLDS;
		char difference[32] = "-", percent[32] = "-", range[64] = "-";

		strcpy(a, "-");
		strcpy(b, "-");
		if (cost->a_known)
			real_text(cost->a[i], false, whole, a, sizeof(a));
		if (cost->b_known)
			real_text(cost->b[i], false, whole, b, sizeof(b));
		if (cost->repeats) {
			real_text(cost->b[i] - cost->a[i], true, whole, difference,
				  sizeof(difference));
			snprintf(percent, sizeof(percent), "%+.1f %%", spread->percent);
			snprintf(range, sizeof(range), "%+.1f..%+.1f %%", spread->low,
				 spread->high);
			if (!spread->seen) {
				strcpy(difference, "none seen");
				percent[0] = '\0';
			}
		}
		add_row(output, name[i], a, b, difference, percent, range);
	}
}

#define KEEP '\x1f' /* in a paragraph: a space that is not broken at */

/* One paragraph, in lines that a mail holds, the second and later ones set in. */
static void print_paragraph(const char *text)
{
	int column = 0;

	while (*text) {
		int size = (int)strcspn(text, " ");

		if (column > 0 && column + 1 + size > LINE_COLUMNS) {
			fputs("\n  ", stdout);
			column = 2;
		} else if (column > 0) {
			putchar(' ');
			column++;
		}
		for (int i = 0; i < size; i++)
			putchar(text[i] == KEEP ? ' ' : plain(text[i]));
		column += size;
		text += size;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* Counters that are equal; those that are 0 on both sides say nothing and are left out. */
static void write_equal(FILE *to, const struct compare_lines *counters)
{
	const char *before = "equal: ";

	for (size_t i = 0; i < counters->nr; i++) {
		const struct compare_line *line = &counters->line[i];

		if (compare_line_differs(line) || compare_line_is_zero(line))
			continue;
		fprintf(to, "%s%s%c%" PRId64, before, line->name, KEEP, line->a.value);
		before = ", ";
	}
}

static void write_belief(FILE *to, const struct compare_belief *belief)
{
	char share[32];

	fputs("How far to believe it: ", to);
	if (belief->decided == 0) {
		fputs("no recorded decision was checked", to);
	} else {
		compare_share_text(belief->equal, belief->decided, share, sizeof(share));
		fprintf(to, "%s of %" PRId64 " recorded decisions predicted (", share,
			belief->decided);
		if (belief->recorded_policy)
			fprintf(to, "%s; ", belief->recorded_policy);
		compare_share_text(belief->least_equal, belief->least_decided, share,
				   sizeof(share));
		fprintf(to, "least: %s %s)", belief->least_decision ? belief->least_decision : "-",
			share);
	}
	if (belief->nr_lost == 0 && belief->nr_losses_unknown == 0)
		fputs("; no events lost", to);
	else
		fprintf(to, "; %" PRId64 " of %" PRId64 " events lost", belief->nr_lost,
			belief->nr_events + belief->nr_lost);
	if (belief->nr_losses_unknown)
		fprintf(to, ", losses of unknown size: %" PRId64, belief->nr_losses_unknown);
	if (belief->inferred == 0) {
		fputs("; nothing inferred", to);
	} else if (belief->stimuli <= 0) {
		fprintf(to, "; %" PRId64 " stimuli inferred", belief->inferred);
	} else {
		compare_share_text(belief->inferred, belief->stimuli, share, sizeof(share));
		fprintf(to, "; %s of stimuli inferred", share);
	}
}

/* What the measured figures are. */
static void write_cost(FILE *to, const struct compare_cost *cost)
{
	fprintf(to, "Measured on %s: ", cost->host);
	if (is_loop(cost))
		fputs("the policy's loops over lists in the order of the tape's own adds", to);
	else
		fputs("lru_add() over the tape's own adds", to);
	if (cost->a_known && cost->b_known && !is_loop(cost)) {
		fprintf(to, ", %.1f", cost->a_folios_per_hold);
		if (cost->b_folios_per_hold != cost->a_folios_per_hold)
			fprintf(to, " and %.1f", cost->b_folios_per_hold);
		fputs(" folios a hold", to);
	}
	if (!cost->a_known || !cost->b_known) {
		fputs("; the other run was not measured: give `lrutape replay --cost` both policies",
		      to);
		return;
	}
	if (!cost->same_host) {
		fputs("; not measured in turns, so that nothing can be compared", to);
		return;
	}
	fprintf(to,
		"; medians of %" PRId64 " repeats, in turns; spread: the middle half of the "
		"repeats' differences.",
		cost->repeats);
	if (is_loop(cost))
		fputs(" The work for a folio here is less than the kernel's, and what a prefetch saves "
		      "hangs on it: the sign carries over, the percentage does not.",
		      to);
	else if (!cost->spread[COMPARE_NS_PER_FOLIO].seen &&
		 !cost->spread[COMPARE_NS_PER_HOLD].seen)
		fputs(" Below the spread: no difference seen.", to);
	if (strcmp(cost->a_shape, cost->b_shape))
		fprintf(to, " Code: %s; %s.", cost->a_shape, cost->b_shape);
	else
		fprintf(to, " Code of both: %s.", cost->a_shape);
}

/* Return: of the costs that nothing is left to say of but what was said of the one before. */
static bool is_told(const struct compare_costs *costs, size_t i)
{
	return i > 0 && is_loop(&costs->cost[i]) && is_loop(&costs->cost[i - 1]);
}

/* What stands below the table. Return: false without memory. */
static bool print_foot(const struct compare_lines *counters, const struct compare_costs *costs,
		       const struct compare_belief *belief)
{
	char *text = NULL;
	size_t size;
	FILE *to;

	if (counters) {
		to = open_memstream(&text, &size);
		if (!to)
			return false;
		write_equal(to, counters);
		if (fclose(to))
			return false;
		if (*text)
			print_paragraph(text);
		free(text);
		text = NULL;
	}
	for (size_t i = 0; i < costs->nr; i++) {
		if (is_told(costs, i))
			continue;
		to = open_memstream(&text, &size);
		if (!to)
			return false;
		write_cost(to, &costs->cost[i]);
		if (fclose(to))
			return false;
		print_paragraph(text);
		free(text);
		text = NULL;
	}
	to = open_memstream(&text, &size);
	if (!to)
		return false;
	write_belief(to, belief);
	if (fclose(to))
		return false;
	print_paragraph(text);
	free(text);
	return true;
}

/* Said in place of a table of equal numbers. */
static void print_no_difference(const struct compare_lines *counters,
				const struct compare_lines *locks,
				const struct compare_lines *drains)
{
	printf("no difference seen: %zu counters", counters->nr);
	if (locks && locks->nr)
		printf(", %zu lock sites", locks->nr - 1); /* the last line is their sum */
	if (drains && drains->nr)
		printf(", %zu kinds of drain", drains->nr);
	puts(" are equal");
}

/* What of a pair is printed. */
struct block {
	struct compare_lines counters, locks, drains;
	struct compare_costs costs;
	struct compare_belief belief;
};

static int block_load(const struct report *report, const struct compare_pair *pair,
		      struct block *block)
{
	memset(block, 0, sizeof(*block));
	if (compare_load(report->db, COMPARE_COUNTERS, pair, &block->counters) ||
	    compare_load(report->db, COMPARE_LOCKS, pair, &block->locks) ||
	    compare_load(report->db, COMPARE_DRAINS, pair, &block->drains) ||
	    compare_load_costs(report->db, pair, &block->costs) ||
	    compare_load_belief(report->db, pair, &block->belief))
		return failed(report, sqlite3_errmsg(report->db));
	return COMMAND_DONE;
}

static void block_free(struct block *block)
{
	compare_lines_free(&block->counters);
	compare_lines_free(&block->locks);
	compare_lines_free(&block->drains);
	compare_costs_free(&block->costs);
	compare_belief_free(&block->belief);
}

static int print_block(const struct report *report, const struct compare_pair *pair,
		       const struct block *block)
{
	bool counters_differ = nr_different(&block->counters) > 0;
	bool others_differ = nr_different(&block->locks) + nr_different(&block->drains) > 0;
	bool measured = block->costs.nr > 0;
	struct output *output;
	bool first = true;

	print_block_head(pair);
	if (!counters_differ && !others_differ)
		print_no_difference(&block->counters, &block->locks, &block->drains);
	else if (!counters_differ && block->counters.nr)
		print_no_difference(&block->counters, NULL, NULL);

	if (counters_differ || others_differ || measured || report->all) {
		if (!counters_differ && block->counters.nr)
			putchar('\n');
		/* The table's own head stays empty: each section brings its own. */
		output = output_begin(stdout, OUTPUT_TABLE, NULL, NR_TABLE_COLUMNS);
		if (!output)
			return failed(report, "out of memory");
		add_counters(output, &first, report, pair, &block->counters);
		if (counters_differ || others_differ || report->all) {
			add_locks(output, &first, report, pair, &block->locks);
			add_drains(output, &first, report, pair, &block->drains);
		}
		for (size_t i = 0; i < block->costs.nr; i++)
			add_cost(output, &first, pair, &block->costs.cost[i]);
		if (output_end(output))
			return output_failed();
		putchar('\n');
	}
	if (!print_foot(report->all ? NULL : &block->counters, &block->costs, &block->belief))
		return failed(report, "out of memory");
	return COMMAND_DONE;
}

static int print_report(const struct report *report, const struct compare *compare)
{
	for (size_t i = 0; i < compare->nr_pairs; i++) {
		struct block block;
		int status;

		if (i > 0)
			putchar('\n');
		status = block_load(report, &compare->pair[i], &block);
		if (status == COMMAND_DONE)
			status = print_block(report, &compare->pair[i], &block);
		block_free(&block);
		if (status != COMMAND_DONE)
			return status;
	}
	if (compare->nr_other_patches)
		printf("\n%zu more runs have other patches: name two policies to compare them "
		       "(`lrutape sql FILE.db runs`)\n",
		       compare->nr_other_patches);
	errno = 0;
	if (fflush(stdout) == EOF)
		return output_failed();
	return COMMAND_DONE;
}

/* ---- The report as CSV or JSON: a row for each number */

static const char *const flat_column[] = {
	"tape",	   "memory_pages", "seed", "a_run", "a_policy", "b_run",      "b_policy",
	"section", "name",	   "unit", "a",	    "b",	"difference", "percent",
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

static void flat_row(struct output *output, const struct compare_pair *pair, const char *section,
		     const char *name, const char *unit, struct compare_value a,
		     struct compare_value b)
{
	struct compare_value difference = compare_difference(a, b);

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
	flat_value(output, a);
	flat_value(output, b);
	flat_value(output, difference);
	if (difference.known && a.value)
		output_real(output, 100.0 * (double)difference.value / (double)a.value);
	else
		output_null(output);
}

static void flat_lines(struct output *output, const struct compare_pair *pair, const char *section,
		       const char *folio_section, const struct compare_lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++) {
		const struct compare_line *line = &lines->line[i];

		flat_row(output, pair, section, line->name, line->unit, line->a, line->b);
		if (folio_section)
			flat_row(output, pair, folio_section, line->name, "folios", line->a_folios,
				 line->b_folios);
	}
}

/* Columns that both kinds of row share, up to the unit. */
static void flat_cost_row(struct output *output, const struct compare_pair *pair, const char *name,
			  const char *unit, bool a_known, double a, bool b_known, double b,
			  bool compared, double percent)
{
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
	flat_text(output, "cost");
	flat_text(output, name);
	flat_text(output, unit);
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
}

/* Each line with its median difference, then with the ends of its spread. */
static void flat_cost(struct output *output, const struct compare_pair *pair,
		      const struct compare_cost *cost)
{
	for (int i = 0; i < (is_loop(cost) ? 1 : NR_COMPARE_COST_LINES); i++) {
		const struct compare_spread *spread = &cost->spread[i];
		const char *unit = i == COMPARE_SATURATED_HOLDS ? "1/s" : "ns";
		char name[96], end[128];

		if (is_loop(cost))
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

static int flat_belief(const struct report *report, struct output *output,
		       const struct compare_pair *pair)
{
	struct compare_pair only_a = { pair->a, pair->a }, only_b = { pair->b, pair->b };
	struct compare_belief a, b = { 0 };
	int error = compare_load_belief(report->db, &only_a, &a) ||
		    compare_load_belief(report->db, &only_b, &b);

#define BELIEF_ROW(name, unit, member)                                                             \
	flat_row(output, pair, "belief", name, unit, (struct compare_value){ true, a.member },     \
		 (struct compare_value){ true, b.member })
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
	return error ? failed(report, sqlite3_errmsg(report->db)) : COMMAND_DONE;
}

static int print_flat(const struct report *report, const struct compare *compare,
		      enum output_format format)
{
	struct output *output = output_begin(stdout, format, flat_column, NR_FLAT_COLUMNS);
	int status = COMMAND_DONE;

	if (!output)
		return failed(report, "out of memory");
	for (size_t i = 0; i < compare->nr_pairs && status == COMMAND_DONE; i++) {
		const struct compare_pair *pair = &compare->pair[i];
		struct block block;

		if (pair->a->tape_id != pair->b->tape_id ||
		    pair->a->memory_pages != pair->b->memory_pages)
			fprintf(stderr,
				"lrutape: %s: the runs differ in tape or memory size: the numbers "
				"are not those of the policies alone\n",
				report->path);
		status = block_load(report, pair, &block);
		if (status == COMMAND_DONE) {
			flat_lines(output, pair, "counter", NULL, &block.counters);
			flat_lines(output, pair, "lock_holds", "lock_folios", &block.locks);
			flat_lines(output, pair, "drains", "drained_folios", &block.drains);
			for (size_t n = 0; n < block.costs.nr; n++)
				flat_cost(output, pair, &block.costs.cost[n]);
			status = flat_belief(report, output, pair);
		}
		block_free(&block);
	}
	if (output_end(output) && status == COMMAND_DONE)
		status = output_failed();
	return status;
}

/* ---- Options */

/* A memory size in pages. Return: -1 where it is none. */
static int64_t parse_memory(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	unsigned long long bytes;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (errno)
		return -1;
	if (*end && (unit = strchr(units, *end & ~0x20))) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (*end || bytes > (UINT64_MAX >> 1) >> shift || (bytes << shift) % PAGE_BYTES)
		return -1;
	return (int64_t)((bytes << shift) / PAGE_BYTES);
}

struct options {
	struct compare_request request;
	enum output_format format;
	bool all;
	const char *path;
};

/* Return: -1: go on; else the status to end with. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "tape", required_argument, NULL, 't' },
		{ "memory", required_argument, NULL, 'm' },
		{ "all", no_argument, NULL, 'a' },
		{ "csv", no_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool csv = false, json = false;
	int option, nr_names;

	*o = (struct options){ .request.memory_pages = -1, .format = OUTPUT_TABLE };
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 't':
			o->request.tape = optarg;
			break;
		case 'm':
			o->request.memory_pages = parse_memory(optarg);
			if (o->request.memory_pages < 0) {
				fprintf(stderr,
					"lrutape: compare: --memory %s: not a whole number of pages of "
					"4 KiB: give bytes, or a number with K, M, G, T\n",
					optarg);
				return COMMAND_MISUSED;
			}
			break;
		case 'a':
			o->all = true;
			break;
		case 'c':
			csv = true;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			print_help(stdout);
			return COMMAND_DONE;
		default:
			fputs("lrutape: compare: `lrutape compare --help` tells the options\n",
			      stderr);
			return COMMAND_MISUSED;
		}
	}
	if (csv && json) {
		fputs("lrutape: compare: --csv and --json exclude each other\n", stderr);
		return COMMAND_MISUSED;
	}
	if (csv || json)
		o->format = csv ? OUTPUT_CSV : OUTPUT_JSON;
	nr_names = argc - optind - 1;
	if (nr_names != 0 && nr_names != 2) {
		fprintf(stderr,
			"lrutape: compare: %s: usage: lrutape compare [options] FILE.db [A B]\n",
			nr_names < 0 ? "no results database named" :
				       "name two runs or policies, or none");
		return COMMAND_MISUSED;
	}
	o->path = argv[optind];
	if (nr_names == 2) {
		o->request.a = argv[optind + 1];
		o->request.b = argv[optind + 2];
	}
	return -1;
}

int command_compare(int argc, char **argv)
{
	struct database_problem database_problem;
	struct compare_problem problem;
	struct options options;
	struct report report;
	struct compare compare;
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	report = (struct report){ .path = options.path, .all = options.all };
	if (database_open(options.path, &report.db, &database_problem)) {
		fprintf(stderr, "lrutape: %s\n", database_problem.text);
		return COMMAND_FAILED;
	}
	if (compare_select(report.db, &options.request, &compare, &problem)) {
		status = failed(&report, problem.text);
		if (problem.list_runs)
			list_runs(&compare);
	} else if (options.format == OUTPUT_TABLE) {
		status = print_report(&report, &compare);
	} else {
		status = print_flat(&report, &compare, options.format);
	}
	compare_free(&compare);
	sqlite3_close(report.db);
	return status;
}
