/* SPDX-License-Identifier: GPL-2.0-only */
/* A page that stands alone: no script, nothing from elsewhere. All text goes through html_text(). */
#ifndef ANALYSIS_HTML_H
#define ANALYSIS_HTML_H

#include <stdbool.h>
#include <stdio.h>

/** html_text() - text of whatever origin, so that it stays text; bytes of control read "?". */
void html_text(FILE *to, const char *text);

/** html_begin() - head of the page, with its style. @title: text. */
void html_begin(FILE *to, const char *title);

/** html_end() - the page's end. */
void html_end(FILE *to);

/** html_head() - a heading. @level: 2 to 4. */
void html_head(FILE *to, int level, const char *text);

/** html_paragraph() - a paragraph of plain text. */
void html_paragraph(FILE *to, const char *text);

/** html_table_begin() - a table and its heads. @column: ends with NULL; a name that begins with '#' is one of numbers. */
void html_table_begin(FILE *to, const char *const *column);

void html_table_end(FILE *to);

/** html_row_begin() - a row of cells. @class: of the style, NULL: none. */
void html_row_begin(FILE *to, const char *class);

void html_row_end(FILE *to);

/** html_cell() - the next cell. @number: to the right. */
void html_cell(FILE *to, const char *text, bool number);

#endif
