/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows as an aligned table, CSV or JSON. */
#ifndef ANALYSIS_OUTPUT_H
#define ANALYSIS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum output_format {
	OUTPUT_TABLE, /* columns of equal width, numbers to the right; held back until the end */
	OUTPUT_CSV, /* RFC 4180: lines end in CR LF, the first one names the columns */
	OUTPUT_JSON, /* one array of objects, one object a line */
};

struct output;

/**
 * output_begin() - begin to print rows
 * @to: stream
 * @column: names; copied. NULL: a table without heads
 *
 * Return: to be given to output_end(), or NULL without memory.
 */
struct output *output_begin(FILE *to, enum output_format format, const char *const *column,
			    int nr_columns);

/*
 * The next cell, from left to right, row after row. A NULL is "-" in a table, nothing in CSV.
 * Bytes that a terminal would obey are printed as "?" in a table.
 */
void output_null(struct output *output);
void output_integer(struct output *output, int64_t value);
void output_real(struct output *output, double value);
void output_text(struct output *output, const char *text, size_t size);
void output_figure(struct output *output, const char *text); /* text, to the right in a table */

/**
 * output_end() - print what is held back
 * @output: no longer valid afterwards
 *
 * Return: 0, or -1: no memory, or @to could not be written (errno says which).
 */
int __attribute__((warn_unused_result)) output_end(struct output *output);

#endif
