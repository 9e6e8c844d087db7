// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/results.h"

static int __attribute__((format(printf, 2, 3)))
problem_set(struct database_problem *problem, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return -1;
}

/* Big-endian, as in SQLite's file header. */
static unsigned long header_u32(const unsigned char *header, size_t byte)
{
	return (unsigned long)header[byte] << 24 | (unsigned long)header[byte + 1] << 16 |
	       (unsigned long)header[byte + 2] << 8 | header[byte + 3];
}

/* What the file's first bytes say, before sqlite sees them: its own words for this are vague. */
static int check_header(const char *path, struct database_problem *problem)
{
	unsigned char header[72];
	FILE *file = fopen(path, "rbe");
	unsigned long version;
	size_t n;
	int error;

	if (!file)
		return problem_set(problem, "%s: %s%s", path, strerror(errno),
				   errno == ENOENT ? ": make one with `lrutape replay`" : "");
	errno = 0;
	n = fread(header, 1, sizeof(header), file);
	error = ferror(file) ? errno : 0;
	fclose(file);
	if (error)
		return problem_set(problem, "%s: %s", path, strerror(error));
	if (n >= 8 && !memcmp(header, "lrutape\n", 8))
		return problem_set(problem,
				   "%s: is a tape: make a results database of it with "
				   "`lrutape replay`",
				   path);
	if (n < sizeof(header) || memcmp(header, "SQLite format 3", 16) ||
	    header_u32(header, 68) != RESULTS_APPLICATION_ID)
		return problem_set(problem,
				   "%s: is not a results database: make one with "
				   "`lrutape replay`",
				   path);
	version = header_u32(header, 60);
	if (version > RESULTS_SCHEMA_VERSION)
		return problem_set(problem,
				   "%s: has results schema version %lu, this program knows "
				   "up to %d: use a newer lrutape, or sqlite3",
				   path, version, RESULTS_SCHEMA_VERSION);
	if (version < 1)
		return problem_set(problem,
				   "%s: has no results schema version: make it anew with "
				   "`lrutape replay`",
				   path);
	return 0;
}

int database_open(const char *path, sqlite3 **db, struct database_problem *problem)
{
	sqlite3 *opened = NULL;
	char *sqlite_name;
	int code;

	if (check_header(path, problem))
		return -1;
	/* A leading "./" keeps sqlite from reading meaning into names such as ":memory:". */
	if (asprintf(&sqlite_name, "%s%s", path[0] == '/' ? "" : "./", path) < 0)
		return problem_set(problem, "%s: out of memory", path);
	code = sqlite3_open_v2(sqlite_name, &opened, SQLITE_OPEN_READONLY, NULL);
	free(sqlite_name);
	if (code == SQLITE_OK) {
		/* The schema may be a stranger's: it gets no function that could do harm. */
		sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite3_busy_timeout(opened, 2000);
		code = sqlite3_exec(opened, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
	}
	if (code != SQLITE_OK) {
		problem_set(problem, "%s: cannot be read: %s", path,
			    opened ? sqlite3_errmsg(opened) : sqlite3_errstr(code));
		sqlite3_close(opened);
		return -1;
	}
	*db = opened;
	return 0;
}
