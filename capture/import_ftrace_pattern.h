/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an event's text to the values of its fields, by patterns such as
 *
 *   "dev={s_dev:dev} ino={i_ino:hex} ofs={index:offset}-{last_index:last_byte}"
 *
 * Patterns of the events that lrutape knows are written down in import_ftrace_patterns.def; for
 * others one is made of the first line seen, of its name=value pairs.
 */
#ifndef CAPTURE_IMPORT_FTRACE_PATTERN_H
#define CAPTURE_IMPORT_FTRACE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/tape_reader.h"

#define FTRACE_COLUMNS_LIMIT 48u
#define FTRACE_STEPS_LIMIT (2 * FTRACE_COLUMNS_LIMIT + 1)
#define FTRACE_STRINGS_BYTES 20480u /* a line at IMPORT_LINE_LIMIT and a NUL for each column */

/* What the text leaves to be known from elsewhere, and what could not be taken from it. */
struct ftrace_text_settings {
	unsigned int page_shift; /* offsets are printed in bytes, columns hold base pages */
	unsigned int release; /* major << 16 | minor, 0: unknown */
};

struct ftrace_text_doubts {
	uint64_t nr_gfp_names; /* names of gfp flags whose bit is not known */
	char gfp_name[32]; /* the first of them */
};

struct ftrace_values {
	uint64_t value[FTRACE_COLUMNS_LIMIT]; /* by column; strings as in tape_event.value[] */
	char strings[FTRACE_STRINGS_BYTES];
	size_t strings_size;
};

struct ftrace_conversion;

struct ftrace_step {
	const char *literal; /* NULL: a conversion */
	size_t literal_size;
	const struct ftrace_conversion *conversion;
	unsigned int column;
};

struct ftrace_pattern {
	const char *system; /* static or owned by whoever made the pattern */
	const char *name;
	bool made; /* of a line seen, not of import_ftrace_patterns.def */
	char *text; /* cut up: literals and field names point into it */
	struct ftrace_step step[FTRACE_STEPS_LIMIT];
	unsigned int nr_steps;
	struct tape_field column[FTRACE_COLUMNS_LIMIT];
	unsigned int nr_columns;
};

/**
 * ftrace_pattern_compile() - make a pattern usable
 * @text: as above; copied
 * @pattern: filled; ftrace_pattern_free() frees what it holds
 * Return: false when memory runs out or @text has an unknown conversion or too many columns.
 */
bool ftrace_pattern_compile(const char *text, struct ftrace_pattern *pattern);

/**
 * ftrace_pattern_make() - the pattern of an event without one, out of a line of it
 * @text: the line's text behind "EVENT: "
 * @size: bytes
 * @kind: what events.def calls the event, EVENT_OTHER for others: a column keeps the name of a
 *        field of events.def only if it holds a number where that field does
 * @leave_pointers_out: take what looks like a kernel pointer for one
 * @pattern: as ftrace_pattern_compile()
 *
 * "a=1 b=x y, c=0x2" has the columns a (number), b (text "x y") and c (number); what stands before
 * the first pair is the column "text"; so is the whole line if there is no pair.
 * Return: as ftrace_pattern_compile().
 */
bool ftrace_pattern_make(const char *text, size_t size, enum event_kind kind,
			 bool leave_pointers_out, struct ftrace_pattern *pattern);

/**
 * ftrace_pattern_match() - read a text by a pattern
 * @pattern: compiled
 * @settings: page size and release
 * @text: NUL must follow the last byte
 * @size: bytes
 * @values: filled on success only as far as the pattern has columns
 * @doubts: counted up
 * Return: true if the whole text fits.
 */
bool ftrace_pattern_match(const struct ftrace_pattern *pattern,
			  const struct ftrace_text_settings *settings, const char *text,
			  size_t size, struct ftrace_values *values,
			  struct ftrace_text_doubts *doubts);

/** ftrace_pattern_free() - free what compile or make allocated. */
void ftrace_pattern_free(struct ftrace_pattern *pattern);

/* A line of import_ftrace_patterns.def. */
struct ftrace_pattern_source {
	const char *system, *name, *text;
};

/** ftrace_pattern_source() - the i-th line of the table, counted from 0; NULL past the last one. */
const struct ftrace_pattern_source *ftrace_pattern_source(size_t i);

#endif
