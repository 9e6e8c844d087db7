/* SPDX-License-Identifier: GPL-2.0-only */
/* What `lrutape compare` prints of the pairs that compare.h has found. */
#ifndef ANALYSIS_COMPARE_REPORT_H
#define ANALYSIS_COMPARE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <sqlite3.h>

#include "analysis/compare.h"
#include "analysis/compare_trust.h"
#include "analysis/output.h"

#define PAGE_BYTES 4096 /* of results: docs/results.md */

struct compare_report {
	const char *path; /* for messages */
	sqlite3 *db;
	bool all; /* also what is equal, also zeros */
};

/* What of a pair is printed. */
struct compare_block {
	struct compare_lines counters, locks, drains;
	struct compare_costs costs;
	struct compare_belief belief;
	struct compare_trust trust;
	size_t nr_perturbed; /* pairs beside this one, from which the lines have their ranges */
};

/** compare_report_failed() - say so on stderr. Return: COMMAND_FAILED. */
int compare_report_failed(const struct compare_report *report, const char *what);

/** compare_output_failed() - the same of standard output. */
int compare_output_failed(void);

/** compare_print_plain() - text that may be a stranger's: no byte that a terminal would obey. */
void compare_print_plain(FILE *to, const char *text);

/** compare_plain() - one byte of it. */
int compare_plain(char byte);

/** compare_memory_text() - "at 16384 pages (64 MiB)"; -1: at the recorded limits. */
void compare_memory_text(int64_t memory_pages, char *text, size_t size);

/** compare_block_load() - what is to be said of a pair; compare_block_free() it. Return: a status. */
int compare_block_load(const struct compare_report *report, const struct compare *compare,
		       const struct compare_pair *pair, struct compare_block *block);

void compare_block_free(struct compare_block *block);

/** compare_cost_is_loop() - a loop over a list, under one hold however long: what a folio costs is all there is to say. */
bool compare_cost_is_loop(const struct compare_cost *cost);

/** compare_print_text() - as one would paste it into a mail. Return: a status. */
int compare_print_text(const struct compare_report *report, const struct compare *compare);

/** compare_print_flat() - a row for each number. @format: not a table. Return: a status. */
int compare_print_flat(const struct compare_report *report, const struct compare *compare,
		       enum output_format format);

#endif
