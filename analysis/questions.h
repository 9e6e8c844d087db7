/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The questions that have a name: analysis/questions/NAME.sql, compiled in. Each file is one SELECT
 * over the views, below a line that says what it answers.
 */
#ifndef ANALYSIS_QUESTIONS_H
#define ANALYSIS_QUESTIONS_H

#include <stddef.h>

struct question {
	const char *name;
	const char *sql;
};

/** questions() - all of them, in the order in which to list them; @nr is set to their number. */
const struct question *questions(size_t *nr);

/** question_find() - by name. Return: NULL if there is none. */
const struct question *question_find(const char *name);

/** question_summary() - its first comment line after the licence; @size is set to its bytes. */
const char *question_summary(const struct question *question, size_t *size);

#endif
