// SPDX-License-Identifier: GPL-2.0-only
/*
 * One transaction into FILE.tmp-PID, without a journal: the file is nobody's until it is whole, so
 * there is nothing to roll back to. rename(2) is the commit.
 */
#include "replay/results_state.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/unfinished_file.h"

static const char results_sql[] =
#include "schema/results.sql.inc"
	;

/* From here on results_sql makes indexes. */
#define INDEXES_BEGIN "-- ---- Indexes"

int __attribute__((format(printf, 3, 4)))
results_problem_set(struct results_problem *problem, enum results_error code, const char *format,
		    ...)
{
	va_list args;

	problem->code = code;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return code;
}

int results_failed(struct results *results, int sqlite_code)
{
	struct results_problem *problem = &results->problem;
	/* sqlite forgets errno when COMMIT fails; callers clear ours before they call it. */
	int left_errno = errno;
	int system_errno = results->db ? sqlite3_system_errno(results->db) : 0;

	if (problem->code)
		return problem->code;
	if (!system_errno)
		system_errno = left_errno;
	switch (sqlite_code & 0xff) {
	case SQLITE_NOMEM:
		return results_problem_set(problem, RESULTS_ERR_MEMORY,
					   "%s: out of memory while writing: %s", results->name,
					   "use fewer runs or moments for one database");
	case SQLITE_FULL:
		return results_problem_set(
			problem, RESULTS_ERR_WRITE,
			"%s: no space left while writing %s: free some, or choose another "
			"folder",
			results->name, results->temporary);
	case SQLITE_CONSTRAINT:
		return results_problem_set(problem, RESULTS_ERR_VALUE,
					   "%s: a row was given twice: %s", results->name,
					   sqlite3_errmsg(results->db));
	case SQLITE_IOERR:
		if (system_errno)
			return results_problem_set(
				problem, RESULTS_ERR_WRITE,
				"%s: writing %s: %s: free some space, or choose another "
				"folder",
				results->name, results->temporary, strerror(system_errno));
		/* fall through */
	default:
		return results_problem_set(problem, RESULTS_ERR_WRITE, "%s: writing %s: %s",
					   results->name, results->temporary,
					   results->db ? sqlite3_errmsg(results->db) :
							 sqlite3_errstr(sqlite_code));
	}
}

static int execute(struct results *results, const char *sql)
{
	int code;

	errno = 0;
	code = sqlite3_exec(results->db, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : results_failed(results, code);
}

/* The tables and views, without the indexes. */
static int make_tables(struct results *results)
{
	const char *indexes = strstr(results_sql, INDEXES_BEGIN);
	char *tables;
	int error;

	assert(indexes); /* results.sql lost its mark */
	tables = strndup(results_sql, (size_t)(indexes - results_sql));
	if (!tables)
		return results_failed(results, SQLITE_NOMEM);
	error = execute(results, tables);
	free(tables);
	return error;
}

static int begin(struct results *results)
{
	char *sqlite_name;
	int code;

	/* A leading "./" keeps sqlite from reading meaning into names such as ":memory:". */
	if (asprintf(&sqlite_name, "%s%s", results->temporary[0] == '/' ? "" : "./",
		     results->temporary) < 0)
		return results_failed(results, SQLITE_NOMEM);
	code = sqlite3_open_v2(sqlite_name, &results->db,
			       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	free(sqlite_name);
	if (code != SQLITE_OK)
		return results_failed(results, code);
	/* encoding and page size are part of "same input, same file": not left to the build of sqlite */
	if (execute(results, "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8';"
			     "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
			     "BEGIN EXCLUSIVE;") ||
	    make_tables(results))
		return results->problem.code;
	if (results_open_rows(results) || results_add_words(results))
		return results->problem.code;
	results_set_meta(results, "schema_version", "1");
	results_set_meta(results, "program", "lrutape");
	results_set_meta(results, "program_version", results->program_version);
	return results->problem.code;
}

_Static_assert(RESULTS_SCHEMA_VERSION == 1, "begin() and results.sql say the version too");

/* Close the file; it stays where it is. */
static int close_database(struct results *results)
{
	int code;

	results_close_rows(results);
	code = sqlite3_close(results->db);
	results->db = NULL;
	return code == SQLITE_OK ? 0 : results_failed(results, code);
}

static void results_free(struct results *results)
{
	free(results->name);
	free(results->target);
	free(results->temporary);
	free(results->program_version);
	free(results);
}

int results_create(const char *path, const char *program_version, struct results **results,
		   struct results_problem *problem)
{
	struct results *r = calloc(1, sizeof(*r));
	mode_t mode;

	problem->code = RESULTS_OK;
	problem->text[0] = '\0';
	if (!r || !(r->name = strdup(path)) || !(r->program_version = strdup(program_version))) {
		results_problem_set(problem, RESULTS_ERR_MEMORY, "%s: out of memory", path);
		goto err_free;
	}
	if (results_find_target(r->name, &r->target, &mode, problem) ||
	    results_refuse_journal(r->name, r->target, problem))
		goto err_free;
	results_remove_stale(r->target);
	if (results_create_temporary(r, mode, problem))
		goto err_free;
	if (begin(r)) {
		*problem = r->problem;
		results_abandon(r);
		return problem->code;
	}
	*results = r;
	return 0;

err_free:
	if (r)
		results_free(r);
	return problem->code;
}

static int finish(struct results *results)
{
	if (results->problem.code)
		return results->problem.code;
	if (execute(results, strstr(results_sql, INDEXES_BEGIN)) || execute(results, "COMMIT") ||
	    close_database(results))
		return results->problem.code;
	return results_put_in_place(results);
}

const struct results_problem *results_problem(const struct results *results)
{
	return &results->problem;
}

int results_commit(struct results *results, struct results_problem *problem)
{
	int error = finish(results);

	if (problem) {
		problem->code = RESULTS_OK;
		problem->text[0] = '\0';
		if (error)
			*problem = results->problem;
	}
	results_abandon(results);
	return error;
}

void results_abandon(struct results *results)
{
	if (!results)
		return;
	if (results->db)
		(void)!close_database(results);
	if (results->temporary) {
		unlink(results->temporary);
		unfinished_file_end();
	}
	results_free(results);
}
