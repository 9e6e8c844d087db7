// SPDX-License-Identifier: GPL-2.0-only
/* Two runs side by side, as one would paste them into a mail. */
#include "analysis/compare_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schema/command.h"

#define LINE_COLUMNS 78 /* what a mail holds without wrapping */

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
	compare_print_plain(stdout, run->policy);
	if (with_place) {
		char memory[64];

		compare_memory_text(run->memory_pages, memory, sizeof(memory));
		fputs(", ", stdout);
		compare_print_plain(stdout, run->tape);
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
		compare_memory_text(pair->a->memory_pages, memory, sizeof(memory));
		compare_print_plain(stdout, pair->a->tape);
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

/* The report's table. Its own head stays empty: each section brings its own. */
struct table {
	struct output *output;
	bool perturbed; /* counts have a column for the spread of their difference, behind the ratio */
	bool begun;
};

#define NR_TABLE_COLUMNS 6
#define SPREAD_BYTES 48

/* A row: a name and five figures, "" for none. Measured figures have a spread and no ratio. */
static void add_row(struct table *table, const char *name, const char *a, const char *b,
		    const char *difference, const char *percent, const char *ratio,
		    const char *spread)
{
	output_text(table->output, name, strlen(name));
	output_figure(table->output, a);
	output_figure(table->output, b);
	output_figure(table->output, difference);
	output_figure(table->output, percent);
	output_figure(table->output, table->perturbed || !*spread ? ratio : spread);
	if (table->perturbed)
		output_figure(table->output, spread);
}

/* Between two sections. */
static void add_gap(struct table *table)
{
	if (table->begun)
		add_row(table, "", "", "", "", "", "", "");
	table->begun = true;
}

static void add_head(struct table *table, const char *name, const struct compare_pair *pair,
		     bool with_difference, bool with_ratio)
{
	char a[32], b[32];

	side_names(pair, a, b);
	add_gap(table);
	add_row(table, name, a, b, with_difference ? "difference" : "",
		with_difference ? "percent" : "", with_ratio ? "ratio" : "",
		with_difference && table->perturbed ? "spread" : "");
}

static void range_text(const struct compare_range *range, char *text, size_t size)
{
	if (range->nr)
		snprintf(text, size, range->low || range->high ? "%+" PRId64 "..%+" PRId64 : "0",
			 range->low, range->high);
	else
		*text = '\0';
}

static void add_line(struct table *table, const struct compare_line *line, bool with_ratio)
{
	char a[32], b[32], difference[32], percent[32], ratio[32] = "", spread[SPREAD_BYTES];

	value_text(line->a, false, a, sizeof(a));
	value_text(line->b, false, b, sizeof(b));
	value_text(compare_difference(line->a, line->b), true, difference, sizeof(difference));
	compare_percent_text(line->a, line->b, percent, sizeof(percent));
	if (with_ratio)
		compare_ratio_text(line->a, line->b, ratio, sizeof(ratio));
	range_text(&line->range, spread, sizeof(spread));
	if (!compare_range_seen(&line->range) && (line->range.low || line->range.high)) {
		strcpy(difference, "none seen");
		*percent = '\0';
		*ratio = '\0';
	}
	add_row(table, line->name, a, b, difference, percent, ratio, spread);
}

static void per_text(struct compare_value folios, struct compare_value times, char *text,
		     size_t size)
{
	if (!folios.known || !times.known || times.value == 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.2f", (double)folios.value / (double)times.value);
}

static void add_line_per(struct table *table, const struct compare_line *line)
{
	char a[32], b[32];

	per_text(line->a_folios, line->a, a, sizeof(a));
	per_text(line->b_folios, line->b, b, sizeof(b));
	add_row(table, line->name, a, b, "", "", "", "");
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

static void add_counters(struct table *table, const struct compare_report *report,
			 const struct compare_pair *pair, const struct compare_lines *counters)
{
	if (report->all ? counters->nr == 0 : nr_different(counters) == 0)
		return;
	add_head(table, "counter", pair, true, false);
	for (size_t i = 0; i < counters->nr; i++)
		if (report->all || compare_line_differs(&counters->line[i]))
			add_line(table, &counters->line[i], false);
}

/* Lock sites and drains are few: those that are equal stand among the others, as they add up. */
static void add_locks(struct table *table, const struct compare_report *report,
		      const struct compare_pair *pair, const struct compare_lines *locks)
{
	if (nr_shown(locks, report->all) == 0)
		return;
	add_head(table, "lruvec lock holds", pair, true, true);
	for (size_t i = 0; i < locks->nr; i++)
		if (report->all || !compare_line_is_zero(&locks->line[i]))
			add_line(table, &locks->line[i], true);
	add_head(table, "folios per hold", pair, false, false);
	for (size_t i = 0; i < locks->nr; i++)
		if (report->all || !compare_line_is_zero(&locks->line[i]))
			add_line_per(table, &locks->line[i]);
}

static void add_drains(struct table *table, const struct compare_report *report,
		       const struct compare_pair *pair, const struct compare_lines *drains)
{
	if (nr_shown(drains, report->all) == 0)
		return;
	add_head(table, "drains of a batch", pair, true, false);
	for (size_t i = 0; i < drains->nr; i++)
		if (report->all || !compare_line_is_zero(&drains->line[i]))
			add_line(table, &drains->line[i], false);
}

static void real_text(double value, bool with_sign, bool whole, char *text, size_t size)
{
	if (whole)
		snprintf(text, size, with_sign ? "%+.0f" : "%.0f", value);
	else
		snprintf(text, size, with_sign ? "%+.2f" : "%.2f", value);
}

/* Measured: the spread stands beside each difference, and one below its spread is none. */
static void add_cost(struct table *table, const struct compare_pair *pair,
		     const struct compare_cost *cost)
{
	static const char *const name[] = {
		[COMPARE_NS_PER_FOLIO] = "ns per folio",
		[COMPARE_NS_PER_HOLD] = "ns per hold",
		[COMPARE_SATURATED_HOLDS] = "holds/s, lock saturated",
	};
	char a[32], b[32], head[64];

	side_names(pair, a, b);
	add_gap(table);
	snprintf(head, sizeof(head), "%s, measured", cost->step);
	add_row(table, head, a, b, "difference", "percent", "", "spread");
	for (int i = 0; i < (compare_cost_is_loop(cost) ? 1 : NR_COMPARE_COST_LINES); i++) {
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
		add_row(table, name[i], a, b, difference, percent, "", range);
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
			putchar(text[i] == KEEP ? ' ' : compare_plain(text[i]));
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
	if (belief->walks_from_ns != INT64_MAX)
		fprintf(to,
			"; from %.6f s on MGLRU is a bound: it aged mapped folios, for which the kernel walks page tables",
			(double)belief->walks_from_ns / 1e9);
}

static void write_unknown(FILE *to, const char *run, const struct compare_estimate *estimate)
{
	char share[32];

	if (!estimate->known) {
		fprintf(to, " %s asked nothing of mapped pages.", run);
		return;
	}
	compare_share_text(estimate->unknown, estimate->asked, share, sizeof(share));
	fprintf(to,
		" %s: %" PRId64 " of %" PRId64
		" verdicts on mapped pages (%s) are not decided by the "
		"tape",
		run, estimate->unknown, estimate->asked, share);
	if (estimate->first_unknown_seconds >= 0)
		fprintf(to, ", the first %.3f s after it began", estimate->first_unknown_seconds);
	fprintf(to, "; %" PRId64 " faults on pages that only this run took away.",
		estimate->unseen_faults);
}

/* Differences that are small against what is not known. */
static void write_undecidable(FILE *to, const struct compare_block *block)
{
	double least = compare_undecidable_percent(&block->trust);
	const char *before = " Not decidable from this tape, for they differ by less: ";

	fprintf(to, " A difference below %.1f %% is small against that.", least);
	for (size_t i = 0; i < block->counters.nr; i++) {
		const struct compare_line *line = &block->counters.line[i];
		double percent;

		if (!line->a.known || !line->b.known || !line->a.value ||
		    !compare_line_differs(line))
			continue;
		percent = 100.0 * (double)(line->b.value - line->a.value) / (double)line->a.value;
		if (percent >= least || percent <= -least)
			continue;
		fprintf(to, "%s%s", before, line->name);
		before = ", ";
	}
	if (*before == ',')
		fputc('.', to);
}

/* Loads and stores to mapped pages are in no event: part of what is compared is drawn. */
static void write_estimate(FILE *to, const struct compare_block *block)
{
	const struct compare_trust *trust = &block->trust;

	if (trust->a.unknown + trust->a.unseen_faults + trust->b.unknown + trust->b.unseen_faults ==
	    0)
		return;
	fputs("Estimate: accesses to mapped pages are in no event; where the tape does not show them "
	      "they are drawn so that they agree with all it shows.",
	      to);
	write_unknown(to, "A", &trust->a);
	write_unknown(to, "B", &trust->b);
	write_undecidable(to, block);
}

/* The recorded policy's replay against the kernel's own counters. */
static void write_accuracy(FILE *to, const struct compare_trust *trust)
{
	const char *before =
		"Free-running accuracy, the recorded policy's replay to the kernel's own counters: ";

	for (size_t i = 0; i < trust->nr_accuracy; i++) {
		const struct compare_accuracy *line = &trust->accuracy[i];
		char percent[32];

		if (!line->kernel && !line->replay)
			continue;
		compare_percent_text((struct compare_value){ true, line->kernel },
				     (struct compare_value){ true, line->replay }, percent,
				     sizeof(percent));
		fprintf(to, "%s%s%c%" PRId64 " of %" PRId64 " (%s)", before, line->name, KEEP,
			line->replay, line->kernel, percent);
		if (line->nr_seeds)
			fprintf(to, " [%" PRId64 "..%" PRId64 " under %" PRId64 " other seed%s]",
				line->low, line->high, line->nr_seeds,
				line->nr_seeds == 1 ? "" : "s");
		before = ", ";
	}
}

/* What the measured figures are. */
static void write_cost(FILE *to, const struct compare_cost *cost)
{
	fprintf(to, "Measured on %s: ", cost->host);
	if (compare_cost_is_loop(cost))
		fputs("the policy's loops over lists in the order of the tape's own adds", to);
	else
		fputs("lru_add() over the tape's own adds", to);
	if (cost->a_known && cost->b_known && !compare_cost_is_loop(cost)) {
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
	if (compare_cost_is_loop(cost))
		fputs(" The work for a folio is less here than in the kernel, and what a prefetch saves "
		      "hangs on that work: percentages are not the kernel's.",
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
	return i > 0 && compare_cost_is_loop(&costs->cost[i]) &&
	       compare_cost_is_loop(&costs->cost[i - 1]);
}

/* Who says "none seen", and of what. */
static void write_perturbed(FILE *to, size_t nr)
{
	fprintf(to,
		"Spread: of the difference, over this pair and %zu more under %s (what chance "
		"decides, drawn anew: --perturb and --draws of lrutape-replay(1)). A difference whose "
		"spread has 0 in it is not seen: it is no greater than the noise.",
		nr, nr == 1 ? "another seed" : "other seeds");
}

/* One paragraph of what stands below the table. */
struct paragraph {
	FILE *to;
	char *text;
	size_t size;
};

static bool paragraph_begin(struct paragraph *paragraph)
{
	paragraph->text = NULL;
	paragraph->to = open_memstream(&paragraph->text, &paragraph->size);
	return paragraph->to;
}

/* Print it, unless it is empty. Return: false without memory. */
static bool paragraph_end(struct paragraph *paragraph)
{
	bool failed = fclose(paragraph->to);

	if (!failed && *paragraph->text)
		print_paragraph(paragraph->text);
	free(paragraph->text);
	return !failed;
}

/* What stands below the table. Return: false without memory. */
static bool print_foot(const struct compare_block *block, bool all)
{
	struct paragraph p;

	if (!all) {
		if (!paragraph_begin(&p))
			return false;
		write_equal(p.to, &block->counters);
		if (!paragraph_end(&p))
			return false;
	}
	if (block->nr_perturbed) {
		if (!paragraph_begin(&p))
			return false;
		write_perturbed(p.to, block->nr_perturbed);
		if (!paragraph_end(&p))
			return false;
	}
	for (size_t i = 0; i < block->costs.nr; i++) {
		if (is_told(&block->costs, i))
			continue;
		if (!paragraph_begin(&p))
			return false;
		write_cost(p.to, &block->costs.cost[i]);
		if (!paragraph_end(&p))
			return false;
	}
	if (!paragraph_begin(&p))
		return false;
	write_estimate(p.to, block);
	if (!paragraph_end(&p) || !paragraph_begin(&p))
		return false;
	write_accuracy(p.to, &block->trust);
	if (!paragraph_end(&p) || !paragraph_begin(&p))
		return false;
	write_belief(p.to, &block->belief);
	return paragraph_end(&p);
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

static int print_block(const struct compare_report *report, const struct compare_pair *pair,
		       const struct compare_block *block)
{
	bool counters_differ = nr_different(&block->counters) > 0;
	bool others_differ = nr_different(&block->locks) + nr_different(&block->drains) > 0;
	bool measured = block->costs.nr > 0;
	struct table table = { .perturbed = block->nr_perturbed > 0 };

	print_block_head(pair);
	if (!counters_differ && !others_differ)
		print_no_difference(&block->counters, &block->locks, &block->drains);
	else if (!counters_differ && block->counters.nr)
		print_no_difference(&block->counters, NULL, NULL);

	if (counters_differ || others_differ || measured || report->all) {
		if (!counters_differ && block->counters.nr)
			putchar('\n');
		table.output = output_begin(stdout, OUTPUT_TABLE, NULL,
					    NR_TABLE_COLUMNS + table.perturbed);
		if (!table.output)
			return compare_report_failed(report, "out of memory");
		add_counters(&table, report, pair, &block->counters);
		if (counters_differ || others_differ || report->all) {
			add_locks(&table, report, pair, &block->locks);
			add_drains(&table, report, pair, &block->drains);
		}
		for (size_t i = 0; i < block->costs.nr; i++)
			add_cost(&table, pair, &block->costs.cost[i]);
		if (output_end(table.output))
			return compare_output_failed();
		putchar('\n');
	}
	if (!print_foot(block, report->all))
		return compare_report_failed(report, "out of memory");
	return COMMAND_DONE;
}

int compare_print_text(const struct compare_report *report, const struct compare *compare)
{
	for (size_t i = 0; i < compare->nr_pairs; i++) {
		struct compare_block block;
		int status;

		if (compare_is_perturbed(compare, &compare->pair[i]))
			continue;
		if (i > 0)
			putchar('\n');
		status = compare_block_load(report, compare, &compare->pair[i], &block);
		if (status == COMMAND_DONE)
			status = print_block(report, &compare->pair[i], &block);
		compare_block_free(&block);
		if (status != COMMAND_DONE)
			return status;
	}
	if (compare->nr_other_patches)
		printf("\n%zu more runs have other patches: name two policies to compare them "
		       "(`lrutape sql FILE.db runs`)\n",
		       compare->nr_other_patches);
	errno = 0;
	if (fflush(stdout) == EOF)
		return compare_output_failed();
	return COMMAND_DONE;
}
