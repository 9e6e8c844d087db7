/* SPDX-License-Identifier: GPL-2.0-only */
/* Opening a results database to read it. */
#ifndef ANALYSIS_DATABASE_H
#define ANALYSIS_DATABASE_H

#include <sqlite3.h>

struct database_problem {
	char text[512]; /* "FILE: what: remedy", without newline */
};

/**
 * database_open() - open a results database, read only
 * @path: FILE, may come from a stranger
 * @db: set on success only; sqlite3_close() it
 * @problem: filled on failure
 *
 * Return: 0, or -1: no such file, not a results database, a newer schema version.
 */
int __attribute__((warn_unused_result))
database_open(const char *path, sqlite3 **db, struct database_problem *problem);

#endif
