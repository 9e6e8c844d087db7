// SPDX-License-Identifier: GPL-2.0-only
/* lrutape sql: a named question, a table or view, or any SELECT, against a results database. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "analysis/database.h"
#include "analysis/output.h"
#include "analysis/questions.h"
#include "schema/command.h"

static void print_help(FILE *to)
{
	fputs("usage: lrutape sql [--csv | --json] FILE.db [QUERY | NAME]\n\n"
	      "Ask a results database a question: one SQL statement that only reads, the name of a\n"
	      "question below, or the name of a table or view. Without either, list what there is.\n\n"
	      "  --csv    RFC 4180, the first line names the columns\n"
	      "  --json   an array with an object for each row\n"
	      "  --help   this text\n\n"
	      "questions:\n",
	      to);
	for (size_t i = 0, nr; i < (questions(&nr), nr); i++) {
		const struct question *question = &questions(&nr)[i];
		size_t size;
		const char *summary = question_summary(question, &size);

		fprintf(to, "  %-20s %.*s\n", question->name, (int)size, summary);
	}
}

/* What `lrutape sql FILE.db` shows beside the questions: one row each of tables and views. */
static const char list_sql[] =
	"SELECT type AS kind, name, (SELECT group_concat(name, ', ') FROM pragma_table_info(m.name))"
	"  AS text FROM sqlite_master AS m WHERE type IN ('table', 'view')"
	"  AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC, name";

static int failed(const char *path, const char *what)
{
	fprintf(stderr, "lrutape: %s: %s\n", path, what);
	return COMMAND_FAILED;
}

static int end_output(struct output *output)
{
	if (output_end(output) == 0)
		return COMMAND_DONE;
	fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
	return COMMAND_FAILED;
}

/* One cell in the type that the database has it in. Blobs go out as SQL writes them: x'00ff'. */
static void output_column(struct output *output, sqlite3_stmt *statement, int column)
{
	const unsigned char *blob;
	int size;
	char *hex;

	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		output_integer(output, sqlite3_column_int64(statement, column));
		return;
	case SQLITE_FLOAT:
		output_real(output, sqlite3_column_double(statement, column));
		return;
	case SQLITE_TEXT:
		blob = sqlite3_column_text(statement, column);
		output_text(output, (const char *)blob,
			    (size_t)sqlite3_column_bytes(statement, column));
		return;
	case SQLITE_BLOB:
		blob = sqlite3_column_blob(statement, column);
		size = sqlite3_column_bytes(statement, column);
		hex = malloc(2 * (size_t)size + 4);
		if (hex) {
			memcpy(hex, "x'", 2);
			for (int i = 0; i < size; i++)
				sprintf(hex + 2 + 2 * i, "%02x", blob[i]);
			strcpy(hex + 2 + 2 * (size_t)size, "'");
			output_text(output, hex, strlen(hex));
			free(hex);
			return;
		}
		/* fall through */
	default:
		output_null(output);
	}
}

/* Print all rows of a statement. */
static int run_statement(const char *path, sqlite3 *db, sqlite3_stmt *statement,
			 enum output_format format)
{
	int nr_columns = sqlite3_column_count(statement);
	const char **column = calloc((size_t)nr_columns + 1, sizeof(*column));
	struct output *output = NULL;
	int code, status;

	for (int i = 0; column && i < nr_columns; i++)
		column[i] = sqlite3_column_name(statement, i);
	if (column)
		output = output_begin(stdout, format, column, nr_columns);
	free(column);
	if (!output)
		return failed(path, "out of memory");
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		for (int i = 0; i < nr_columns; i++)
			output_column(output, statement, i);
	status = end_output(output);
	if (code != SQLITE_DONE)
		return failed(path, sqlite3_errmsg(db));
	return status;
}

/* True if nothing but spaces, comments and semicolons is left of a query. */
static bool nothing_follows(sqlite3 *db, const char *tail)
{
	while (*tail) {
		sqlite3_stmt *statement = NULL;
		const char *next;
		int code = sqlite3_prepare_v2(db, tail, -1, &statement, &next);

		sqlite3_finalize(statement);
		if (code != SQLITE_OK || statement || next == tail)
			return false;
		tail = next;
	}
	return true;
}

static int sql_failed(const char *path, sqlite3 *db, const char *sql)
{
	fprintf(stderr, "lrutape: %s: %s", path, sqlite3_errmsg(db));
#if SQLITE_VERSION_NUMBER >= 3038000
	int place = sqlite3_error_offset(db);

	if (place >= 0 && (size_t)place <= strlen(sql)) {
		const char *from = sql + place;

		fprintf(stderr, ", at \"%.*s\" (byte %d of the query)", (int)strcspn(from, "\n"),
			from, place + 1);
	}
#else
	(void)sql;
#endif
	fputs(": `lrutape sql FILE.db` lists tables and columns\n", stderr);
	return COMMAND_FAILED;
}

static int run_sql(const char *path, sqlite3 *db, const char *sql, enum output_format format)
{
	sqlite3_stmt *statement = NULL;
	const char *tail;
	int status;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, &tail) != SQLITE_OK)
		return sql_failed(path, db, sql);
	if (!statement) {
		fprintf(stderr,
			"lrutape: %s: the query is empty: `lrutape sql FILE.db` lists questions\n",
			path);
		return COMMAND_MISUSED;
	}
	if (!nothing_follows(db, tail)) {
		fprintf(stderr,
			"lrutape: %s: the query has more than one statement: ask one at a time\n",
			path);
		status = COMMAND_MISUSED;
	} else if (!sqlite3_stmt_readonly(statement) || sqlite3_column_count(statement) == 0) {
		fprintf(stderr,
			"lrutape: %s: only statements that read are run here: "
			"use sqlite3 to change a database\n",
			path);
		status = COMMAND_MISUSED;
	} else {
		status = run_statement(path, db, statement, format);
	}
	sqlite3_finalize(statement);
	return status;
}

/* Words, comma between them, in lines of at most 100 columns, after a heading of 22. */
static void print_wrapped(const char *heading, const char *text)
{
	int column = printf("  %-20s", heading);

	while (*text) {
		int size = (int)strcspn(text, " ");

		if (column + 1 + size > 100)
			column = printf("\n%22s", "") - 1;
		column += printf(" %.*s", size, text);
		text += size;
		text += strspn(text, " ");
	}
	putchar('\n');
}

/* `lrutape sql FILE.db`: what can be asked. */
static int list_everything(const char *path, sqlite3 *db, enum output_format format)
{
	static const char *const column[] = { "kind", "name", "text" };
	struct output *output = NULL;
	sqlite3_stmt *statement;
	size_t nr;
	const struct question *question = questions(&nr);
	char kind_before[8] = "";
	int code;

	if (sqlite3_prepare_v2(db, list_sql, -1, &statement, NULL) != SQLITE_OK)
		return failed(path, sqlite3_errmsg(db));
	if (format != OUTPUT_TABLE && !(output = output_begin(stdout, format, column, 3))) {
		sqlite3_finalize(statement);
		return failed(path, "out of memory");
	}
	if (!output)
		puts("questions (lrutape sql FILE.db NAME):");
	for (size_t i = 0; i < nr; i++) {
		size_t size;
		const char *summary = question_summary(&question[i], &size);

		if (output) {
			output_text(output, "question", 8);
			output_text(output, question[i].name, strlen(question[i].name));
			output_text(output, summary, size);
		} else {
			printf("  %-20s %.*s\n", question[i].name, (int)size, summary);
		}
	}
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *kind = (const char *)sqlite3_column_text(statement, 0);

		if (output) {
			for (int i = 0; i < 3; i++)
				output_column(output, statement, i);
			continue;
		}
		if (strcmp(kind, kind_before)) {
			printf("\n%ss:\n", kind);
			snprintf(kind_before, sizeof(kind_before), "%s", kind);
		}
		print_wrapped((const char *)sqlite3_column_text(statement, 1),
			      (const char *)sqlite3_column_text(statement, 2));
	}
	sqlite3_finalize(statement);
	if (output)
		return end_output(output);
	if (code != SQLITE_DONE)
		return failed(path, sqlite3_errmsg(db));
	if (fflush(stdout) == EOF) {
		fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
		return COMMAND_FAILED;
	}
	return COMMAND_DONE;
}

static bool is_one_word(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && *text != '_')
			return false;
	return true;
}

/* A word names a question, or else a table or view. */
static int run_name(const char *path, sqlite3 *db, const char *name, enum output_format format)
{
	const struct question *question = question_find(name);
	sqlite3_stmt *statement;
	bool found;
	char *sql;
	int status;

	if (question)
		return run_sql(path, db, question->sql, format);
	if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE name = ?", -1, &statement,
			       NULL) != SQLITE_OK)
		return failed(path, sqlite3_errmsg(db));
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	found = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	if (!found) {
		fprintf(stderr,
			"lrutape: %s: no question, table or view is called %s: "
			"`lrutape sql FILE.db` lists them\n",
			path, name);
		return COMMAND_MISUSED;
	}
	sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
	if (!sql)
		return failed(path, "out of memory");
	status = run_sql(path, db, sql, format);
	sqlite3_free(sql);
	return status;
}

int command_sql(int argc, char **argv)
{
	static const struct option options[] = {
		{ "csv", no_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	enum output_format format = OUTPUT_TABLE;
	bool csv = false, json = false;
	struct database_problem problem;
	sqlite3 *db;
	int option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			csv = true;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			print_help(stdout);
			return COMMAND_DONE;
		default:
			return command_unknown_option("sql");
		}
	}
	if (csv && json) {
		fputs("lrutape: sql: --csv and --json exclude each other\n", stderr);
		return COMMAND_MISUSED;
	}
	if (argc - optind < 1 || argc - optind > 2) {
		fprintf(stderr,
			"lrutape: sql: %s: usage: lrutape sql [--csv | --json] FILE.db [QUERY | NAME]\n",
			argc - optind < 1 ? "no results database named" :
					    "more than one query: quote it for the shell");
		return COMMAND_MISUSED;
	}
	if (csv || json)
		format = csv ? OUTPUT_CSV : OUTPUT_JSON;

	if (database_open(argv[optind], &db, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return COMMAND_FAILED;
	}
	if (argc - optind == 1)
		status = list_everything(argv[optind], db, format);
	else if (*argv[optind + 1] && is_one_word(argv[optind + 1]))
		status = run_name(argv[optind], db, argv[optind + 1], format);
	else
		status = run_sql(argv[optind], db, argv[optind + 1], format);
	sqlite3_close(db);
	return status;
}
