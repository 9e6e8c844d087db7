/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files behind results.h share: a database in the making, and who calls whom.
 *
 *   results.c       from creation to commit: tables, views, indexes
 *   results_file.c  FILE and what stands there already, the temporary file, the rename
 *   results_rows.c  what each results_add_*() puts where, and what it refuses
 */
#ifndef REPLAY_RESULTS_STATE_H
#define REPLAY_RESULTS_STATE_H

#include <stdint.h>
#include <sys/types.h>

#include <sqlite3.h>

#include "replay/results.h"

struct results {
	char *name; /* FILE as the caller said it, for messages */
	char *target; /* FILE with links followed: what is replaced */
	char *temporary;
	char *program_version;
	sqlite3 *db;
	sqlite3_stmt **statement; /* by enum statement of results_rows.c */
	int64_t nr_tapes, nr_runs; /* ids count up from 1 */
	struct results_problem problem;
};

/* ---- results.c */

/** results_problem_set() - what went wrong, in words. Return: @code. */
int __attribute__((format(printf, 3, 4)))
results_problem_set(struct results_problem *problem, enum results_error code, const char *format,
		    ...);

/**
 * results_failed() - the one place where sqlite's codes become ours
 * The first failure sticks. Return: its enum results_error.
 */
int results_failed(struct results *results, int sqlite_code);

/* ---- results_file.c: each returns 0 or a negative enum results_error, unless told otherwise */

/**
 * results_find_target() - decide what is replaced, and whether it may be
 * @name: FILE as the caller said it
 * @target: set to the path behind links, the caller's to free
 * @mode: set to the permissions that the new file takes over, 0 if there is nothing to take over
 */
int results_find_target(const char *name, char **target, mode_t *mode,
			struct results_problem *problem);

/**
 * results_refuse_journal() - a journal beside FILE would be applied to the database that takes its place
 * Return: 0, or RESULTS_ERR_BUSY if there is one.
 */
int results_refuse_journal(const char *name, const char *target, struct results_problem *problem);

/** results_remove_stale() - what runs that were killed left beside @target. Failing here harms nobody. */
void results_remove_stale(const char *target);

/** results_create_temporary() - make results->temporary, ours alone, before sqlite opens it. */
int results_create_temporary(struct results *results, mode_t mode, struct results_problem *problem);

/** results_put_in_place() - sync the temporary file, rename it over the target. */
int results_put_in_place(struct results *results);

/* ---- results_rows.c */

/** results_open_rows() - prepare every statement that adds rows. Return: 0 or what failed. */
int results_open_rows(struct results *results);

/** results_close_rows() - free them. */
void results_close_rows(struct results *results);

/** results_add_words() - the rows that say what names mean. Return: 0 or what failed. */
int results_add_words(struct results *results);

#endif
