/* SPDX-License-Identifier: GPL-2.0-only */
/* The page that `lrutape report` makes of a results database: what it says, section by section. */
#ifndef ANALYSIS_REPORT_PAGE_H
#define ANALYSIS_REPORT_PAGE_H

#include <stdio.h>

#include <sqlite3.h>

#include "analysis/compare.h"

struct report_page {
	sqlite3 *db;
	FILE *to;
	const char *path; /* of the database, for messages */
	const char *title;
	const struct compare *compare; /* NULL: there is nothing to compare */
	const char *no_compare; /* why, then */
};

/** report_page() - print all of it. Return: a status, with a message. */
int report_page(const struct report_page *page);

#endif
