/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files behind compare.h do with rows of a query. */
#ifndef ANALYSIS_COMPARE_ROWS_H
#define ANALYSIS_COMPARE_ROWS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "analysis/compare.h"

/** compare_text_column() - a column as text of our own, "" for NULL. Return: NULL without memory. */
static inline char *compare_text_column(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return strdup(text ? text : "");
}

/** compare_grow() - room for one more of what @array holds, doubled as needed. Return: false without memory. */
static inline bool compare_grow(void **array, size_t nr, size_t member_size)
{
	void *grown;

	if (nr & (nr - 1)) /* only powers of two, and 0, are full */
		return true;
	grown = reallocarray(*array, nr ? 2 * nr : 1, member_size);
	if (!grown)
		return false;
	*array = grown;
	return true;
}

/** compare_same_input() - two runs over one tape at one memory size. */
static inline bool compare_same_input(const struct compare_run *a, const struct compare_run *b)
{
	return a->tape_id == b->tape_id && a->memory_pages == b->memory_pages;
}

#endif
