// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/compare_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "schema/command.h"

int compare_report_failed(const struct compare_report *report, const char *what)
{
	fprintf(stderr, "lrutape: %s: %s\n", report->path, what);
	return COMMAND_FAILED;
}

int compare_output_failed(void)
{
	fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
	return COMMAND_FAILED;
}

int compare_plain(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f ? '?' : byte;
}

void compare_print_plain(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc(compare_plain(*text), to);
}

void compare_memory_text(int64_t memory_pages, char *text, size_t size)
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

/* Lines of one section, with the ranges of their differences. */
static int load_section(const struct compare_report *report, enum compare_section section,
			const struct compare *compare, const struct compare_pair *pair,
			struct compare_lines *lines)
{
	return compare_load(report->db, section, pair, lines) ||
	       compare_load_ranges(report->db, section, compare, pair, lines);
}

int compare_block_load(const struct compare_report *report, const struct compare *compare,
		       const struct compare_pair *pair, struct compare_block *block)
{
	memset(block, 0, sizeof(*block));
	block->nr_perturbed = compare_nr_perturbed(compare, pair);
	if (load_section(report, COMPARE_COUNTERS, compare, pair, &block->counters) ||
	    load_section(report, COMPARE_LOCKS, compare, pair, &block->locks) ||
	    load_section(report, COMPARE_DRAINS, compare, pair, &block->drains) ||
	    compare_load_costs(report->db, pair, &block->costs) ||
	    compare_load_belief(report->db, pair, &block->belief) ||
	    compare_load_trust(report->db, pair, &block->trust))
		return compare_report_failed(report, sqlite3_errmsg(report->db));
	return COMMAND_DONE;
}

void compare_block_free(struct compare_block *block)
{
	compare_lines_free(&block->counters);
	compare_lines_free(&block->locks);
	compare_lines_free(&block->drains);
	compare_costs_free(&block->costs);
	compare_belief_free(&block->belief);
}

bool compare_cost_is_loop(const struct compare_cost *cost)
{
	return strchr(cost->step, ' ');
}
