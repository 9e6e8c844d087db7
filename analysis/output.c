// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/output.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schema/json_out.h"

enum side {
	SIDE_LEFT,
	SIDE_RIGHT,
	SIDE_OF_COLUMN, /* heads and NULLs: right where the column has a number */
};

struct cell {
	char *text;
	size_t width; /* characters */
	enum side side;
};

struct output {
	FILE *to;
	enum output_format format;
	char **column;
	int nr_columns;
	int next; /* column of the next cell */
	uint64_t nr_rows; /* begun */
	bool begun; /* the heads are through */
	bool no_memory;

	/* A table's, row after row, the heads first. */
	struct cell *cell;
	size_t nr_cells, room;
};

/* ---- Table */

static size_t utf8_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void hold(struct output *output, const char *text, size_t size, enum side side)
{
	struct cell *cell;

	if (output->nr_cells == output->room) {
		size_t room = output->room ? 2 * output->room : 256;
		struct cell *grown = reallocarray(output->cell, room, sizeof(*grown));

		if (!grown) {
			output->no_memory = true;
			return;
		}
		output->cell = grown;
		output->room = room;
	}
	cell = &output->cell[output->nr_cells];
	cell->text = malloc(size + 1);
	if (!cell->text) {
		output->no_memory = true;
		return;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)text[i];

		cell->text[i] = byte < 0x20 || byte == 0x7f ? '?' : text[i];
	}
	cell->text[size] = '\0';
	cell->width = utf8_width(cell->text);
	cell->side = side;
	output->nr_cells++;
}

static void print_row(FILE *to, const struct cell *cell, size_t nr_columns, const size_t *width,
		      const bool *numbers)
{
	/* No spaces at the ends of lines: they do not survive mail. */
	while (nr_columns && !cell[nr_columns - 1].width)
		nr_columns--;
	for (size_t i = 0; i < nr_columns; i++) {
		int padding = (int)(width[i] - cell[i].width);
		bool last = i + 1 == nr_columns;

		if (cell[i].side == SIDE_RIGHT || (cell[i].side == SIDE_OF_COLUMN && numbers[i]))
			fprintf(to, "%*s%s", padding, "", cell[i].text);
		else
			fprintf(to, "%s%*s", cell[i].text, last ? 0 : padding, "");
		if (!last)
			fputs("  ", to);
	}
	fputc('\n', to);
}

static void print_table(struct output *output)
{
	size_t nr_columns = (size_t)output->nr_columns;
	size_t *width = calloc(nr_columns + 1, sizeof(*width));
	bool *numbers = calloc(nr_columns + 1, sizeof(*numbers));

	if (!width || !numbers) {
		output->no_memory = true;
		goto out;
	}
	for (size_t i = 0; i < output->nr_cells; i++) {
		size_t column = i % nr_columns;

		if (width[column] < output->cell[i].width)
			width[column] = output->cell[i].width;
		numbers[column] |= output->cell[i].side == SIDE_RIGHT;
	}
	for (size_t i = 0; i + nr_columns <= output->nr_cells; i += nr_columns)
		print_row(output->to, &output->cell[i], nr_columns, width, numbers);
out:
	free(width);
	free(numbers);
}

/* ---- CSV and JSON */

static void print_csv(FILE *to, const char *text, size_t size)
{
	bool quoted = false;

	for (size_t i = 0; i < size && !quoted; i++)
		quoted = text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n';
	if (!quoted) {
		fwrite(text, 1, size, to);
		return;
	}
	fputc('"', to);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"')
			fputc('"', to);
		fputc(text[i], to);
	}
	fputc('"', to);
}

/* What stands before a cell: the row's beginning, the separator, the key. */
static void before_cell(struct output *output)
{
	if (output->next == 0)
		output->nr_rows++;
	if (output->format == OUTPUT_CSV && output->next > 0)
		fputc(',', output->to);
	if (output->format == OUTPUT_JSON) {
		const char *name = output->column[output->next];

		fputs(output->next > 0 ? ", " : output->nr_rows > 1 ? ",\n{" : "\n{", output->to);
		json_string(output->to, name, strlen(name));
		fputs(": ", output->to);
	}
}

static void after_cell(struct output *output)
{
	if (++output->next < output->nr_columns)
		return;
	output->next = 0;
	if (output->format == OUTPUT_CSV)
		fputs("\r\n", output->to);
	if (output->format == OUTPUT_JSON)
		fputc('}', output->to);
}

/* A number is written alike in CSV and JSON. */
static void number(struct output *output, const char *text)
{
	before_cell(output);
	if (output->format == OUTPUT_TABLE)
		hold(output, text, strlen(text), SIDE_RIGHT);
	else
		fputs(text, output->to);
	after_cell(output);
}

/* ---- Cells */

void output_null(struct output *output)
{
	before_cell(output);
	if (output->format == OUTPUT_TABLE)
		hold(output, "-", 1, SIDE_OF_COLUMN);
	if (output->format == OUTPUT_JSON)
		fputs("null", output->to);
	after_cell(output);
}

void output_integer(struct output *output, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	number(output, text);
}

void output_real(struct output *output, double value)
{
	char text[400];

	if (!isfinite(value)) { /* JSON has no word for it */
		output_null(output);
		return;
	}
	if (output->format == OUTPUT_TABLE) {
		snprintf(text, sizeof(text), fabs(value) >= 1e6 ? "%.0f" : "%.6g", value);
	} else {
		snprintf(text, sizeof(text), "%.15g", value);
		if (strtod(text, NULL) != value)
			snprintf(text, sizeof(text), "%.17g", value);
	}
	number(output, text);
}

void output_text(struct output *output, const char *text, size_t size)
{
	before_cell(output);
	switch (output->format) {
	case OUTPUT_TABLE:
		hold(output, text, size, output->begun ? SIDE_LEFT : SIDE_OF_COLUMN);
		break;
	case OUTPUT_CSV:
		print_csv(output->to, text, size);
		break;
	case OUTPUT_JSON:
		json_string(output->to, text, size);
		break;
	}
	after_cell(output);
}

void output_figure(struct output *output, const char *text)
{
	if (output->format != OUTPUT_TABLE) {
		output_text(output, text, strlen(text));
		return;
	}
	before_cell(output);
	hold(output, text, strlen(text), SIDE_RIGHT);
	after_cell(output);
}

/* ---- Begin and end */

static void output_free(struct output *output)
{
	for (int i = 0; output->column && i < output->nr_columns; i++)
		free(output->column[i]);
	free(output->column);
	for (size_t i = 0; i < output->nr_cells; i++)
		free(output->cell[i].text);
	free(output->cell);
	free(output);
}

struct output *output_begin(FILE *to, enum output_format format, const char *const *column,
			    int nr_columns)
{
	struct output *output = calloc(1, sizeof(*output));

	if (!output)
		return NULL;
	output->to = to;
	output->format = format;
	output->nr_columns = nr_columns;
	output->begun = !column;
	output->column = calloc((size_t)nr_columns + 1, sizeof(*output->column));
	for (int i = 0; column && output->column && i < nr_columns; i++) {
		output->column[i] = strdup(column[i]);
		if (!output->column[i])
			goto err_free;
	}
	if (!output->column)
		goto err_free;
	if (format == OUTPUT_JSON) {
		fputc('[', to);
		return output;
	}
	for (int i = 0; column && i < nr_columns; i++)
		output_text(output, column[i], strlen(column[i]));
	output->begun = true;
	return output;

err_free:
	output_free(output);
	return NULL;
}

int output_end(struct output *output)
{
	FILE *to = output->to;
	bool no_memory;

	if (output->format == OUTPUT_JSON)
		fputs(output->nr_rows ? "\n]\n" : "]\n", to);
	if (output->format == OUTPUT_TABLE && !output->no_memory)
		print_table(output);
	no_memory = output->no_memory;
	output_free(output);
	if (no_memory) {
		errno = ENOMEM;
		return -1;
	}
	errno = 0;
	if (fflush(to) == EOF || ferror(to)) {
		if (!errno)
			errno = EIO;
		return -1;
	}
	return 0;
}
