// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/compare_trust.h"

#include <stdio.h>
#include <string.h>

static const char has_trust_sql[] = "SELECT 1 FROM sqlite_master WHERE name = 'v_estimate'";

static const char estimate_sql[] =
	"SELECT asked, unknown, unseen_faults, ifnull(first_unknown_seconds, -1)"
	" FROM v_estimate WHERE run_id = ?";

/*
 * The kernel's words for refaults, evictions and activations, of all memcgs that the tape is about. The machine's own
 * count has them all in it.
 */
static const char accuracy_sql[] =
	"WITH held AS (SELECT a.*, source = 'vmstat' AS of_all FROM v_accuracy a WHERE tape_id = ?1"
	"  AND (source = 'vmstat' OR NOT EXISTS (SELECT 1 FROM v_accuracy m"
	"   WHERE m.run_id = a.run_id AND m.name = a.name AND m.source = 'vmstat'))),"
	" seeded AS (SELECT c.run_id, c.name, sum(c.value) AS value FROM held a"
	"  JOIN v_run r ON r.tape_id = a.tape_id AND r.policy = a.policy AND r.seed > 0"
	"   AND r.memory_pages IS a.memory_pages"
	"  JOIN v_counter c ON c.run_id = r.run_id AND c.name = a.name"
	"   AND (a.of_all OR c.memcg_id = a.memcg_id) GROUP BY c.run_id, c.name)"
	" SELECT name, sum(kernel), sum(replay),"
	" (SELECT count(*) FROM seeded s WHERE s.name = a.name),"
	" (SELECT min(value) FROM seeded s WHERE s.name = a.name),"
	" (SELECT max(value) FROM seeded s WHERE s.name = a.name) FROM held a"
	" WHERE name IN ('workingset_refault_anon', 'workingset_refault_file',"
	" 'pgsteal_direct', 'pgactivate', 'pswpin', 'pgmajfault')"
	" GROUP BY number ORDER BY number";

static int load_estimate(sqlite3 *db, const struct compare_run *run,
			 struct compare_estimate *estimate)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db, estimate_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, run->run_id);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW) {
		*estimate = (struct compare_estimate){
			.known = true,
			.asked = sqlite3_column_int64(statement, 0),
			.unknown = sqlite3_column_int64(statement, 1),
			.unseen_faults = sqlite3_column_int64(statement, 2),
			.first_unknown_seconds = sqlite3_column_double(statement, 3),
		};
		code = sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

static int load_accuracy(sqlite3 *db, const struct compare_run *run, struct compare_trust *trust)
{
	sqlite3_stmt *statement;
	int code;

	if (sqlite3_prepare_v2(db, accuracy_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, run->tape_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW &&
	       trust->nr_accuracy < COMPARE_ACCURACY_LINES) {
		struct compare_accuracy *line = &trust->accuracy[trust->nr_accuracy++];

		snprintf(line->name, sizeof(line->name), "%s",
			 (const char *)sqlite3_column_text(statement, 0));
		line->kernel = sqlite3_column_int64(statement, 1);
		line->replay = sqlite3_column_int64(statement, 2);
		line->nr_seeds = sqlite3_column_int64(statement, 3);
		line->low = sqlite3_column_int64(statement, 4);
		line->high = sqlite3_column_int64(statement, 5);
	}
	sqlite3_finalize(statement);
	return code == SQLITE_DONE || code == SQLITE_ROW ? 0 : -1;
}

int compare_load_trust(sqlite3 *db, const struct compare_pair *pair, struct compare_trust *trust)
{
	sqlite3_stmt *statement;
	int code;

	memset(trust, 0, sizeof(*trust));
	if (sqlite3_prepare_v2(db, has_trust_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	code = sqlite3_step(statement);
	sqlite3_finalize(statement);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? 0 : -1;
	return load_estimate(db, pair->a, &trust->a) || load_estimate(db, pair->b, &trust->b) ||
			       load_accuracy(db, pair->a, trust) ?
		     -1 :
		     0;
}

static double unknown_percent(const struct compare_estimate *estimate)
{
	return estimate->asked ? 100.0 * (double)estimate->unknown / (double)estimate->asked : 0;
}

double compare_undecidable_percent(const struct compare_trust *trust)
{
	double a = unknown_percent(&trust->a), b = unknown_percent(&trust->b);

	return (a > b ? a : b) / COMPARE_UNDECIDABLE_DIVISOR;
}
