// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/compare.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare_rows.h"

const char *compare_cost_name(enum compare_cost_line line)
{
	static const char *const name[] = {
		[COMPARE_NS_PER_FOLIO] = "ns_per_folio",
		[COMPARE_NS_PER_HOLD] = "ns_per_hold",
		[COMPARE_SATURATED_HOLDS] = "saturated_holds_per_second",
	};

	return name[line];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The value a share of the way through sorted ones, between two where none stands there. */
static double at_quarter(const double *value, size_t nr, size_t quarter)
{
	size_t place = (nr - 1) * quarter; /* in quarters */
	double next = value[place / 4 + 1 < nr ? place / 4 + 1 : nr - 1];

	return value[place / 4] + (next - value[place / 4]) * (double)(place % 4) / 4;
}

struct compare_spread compare_spread(double *percent, size_t nr)
{
	struct compare_spread spread;

	qsort(percent, nr, sizeof(*percent), by_value);
	spread.low = at_quarter(percent, nr, 1);
	spread.percent = at_quarter(percent, nr, 2);
	spread.high = at_quarter(percent, nr, 3);
	spread.seen = spread.low > 0 || spread.high < 0;
	return spread;
}

static const char has_cost_sql[] = "SELECT 1 FROM sqlite_master WHERE name = 'v_cost'";

static const char steps_sql[] =
	"SELECT step FROM v_cost WHERE run_id IN (?1, ?2) GROUP BY step ORDER BY min(run_id), folios,"
	" step";

static const char cost_sql[] =
	"SELECT shape, host, ns_per_folio, ns_per_hold, saturated_holds_per_second, folios_per_hold"
	" FROM v_cost WHERE run_id = ? AND step = ?";

static const char repeats_sql[] =
	"SELECT a.ns_per_folio, b.ns_per_folio, a.ns_per_hold, b.ns_per_hold"
	" FROM v_cost_repeat AS a JOIN v_cost_repeat AS b ON b.step = a.step AND b.repeat = a.repeat"
	" WHERE a.run_id = ?1 AND b.run_id = ?2 AND a.step = ?3 ORDER BY a.repeat";

/* Return: 1: *value and so on are filled; 0: not measured; -1: failed. */
static int load_run_cost(sqlite3 *db, int64_t run_id, const char *step, char **shape, char **host,
			 double *value, double *folios_per_hold)
{
	sqlite3_stmt *statement;
	int code, ret = 0;

	if (sqlite3_prepare_v2(db, cost_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, run_id);
	sqlite3_bind_text(statement, 2, step, -1, SQLITE_STATIC);
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW) {
		*shape = compare_text_column(statement, 0);
		*host = compare_text_column(statement, 1);
		for (int i = 0; i < NR_COMPARE_COST_LINES; i++)
			value[i] = sqlite3_column_double(statement, 2 + i);
		*folios_per_hold = sqlite3_column_double(statement, 5);
		ret = *shape && *host ? 1 : -1;
	} else if (code != SQLITE_DONE) {
		ret = -1;
	}
	sqlite3_finalize(statement);
	return ret;
}

/* Differences of the same repeats of both, which were measured one after the other. */
static int load_spreads(sqlite3 *db, const struct compare_pair *pair, struct compare_cost *cost)
{
	double *percent[NR_COMPARE_COST_LINES] = { NULL };
	sqlite3_stmt *statement;
	size_t nr = 0, room = 0;
	int code = SQLITE_ERROR;

	if (sqlite3_prepare_v2(db, repeats_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	sqlite3_bind_text(statement, 3, cost->step, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		double folio[2], hold[2];

		if (nr == room) {
			room = room ? 2 * room : 64;
			for (int i = 0; i < NR_COMPARE_COST_LINES; i++) {
				double *grown = reallocarray(percent[i], room, sizeof(*grown));

				if (!grown) {
					code = SQLITE_NOMEM;
					goto out;
				}
				percent[i] = grown;
			}
		}
		for (int side = 0; side < 2; side++) {
			folio[side] = sqlite3_column_double(statement, side);
			hold[side] = sqlite3_column_double(statement, 2 + side);
		}
		percent[COMPARE_NS_PER_FOLIO][nr] = 100 * (folio[1] / folio[0] - 1);
		percent[COMPARE_NS_PER_HOLD][nr] = 100 * (hold[1] / hold[0] - 1);
		percent[COMPARE_SATURATED_HOLDS][nr] = 100 * (hold[0] / hold[1] - 1);
		nr++;
	}
	cost->repeats = (int64_t)nr;
	for (int i = 0; nr && i < NR_COMPARE_COST_LINES; i++)
		cost->spread[i] = compare_spread(percent[i], nr);
out:
	sqlite3_finalize(statement);
	for (int i = 0; i < NR_COMPARE_COST_LINES; i++)
		free(percent[i]);
	return code == SQLITE_DONE ? 0 : -1;
}

/* One step of both runs; cost->step is set. */
static int load_cost(sqlite3 *db, const struct compare_pair *pair, struct compare_cost *cost)
{
	char *b_host = NULL;
	int a, b, ret;

	a = load_run_cost(db, pair->a->run_id, cost->step, &cost->a_shape, &cost->host, cost->a,
			  &cost->a_folios_per_hold);
	b = a < 0 ? -1 :
		    load_run_cost(db, pair->b->run_id, cost->step, &cost->b_shape, &b_host, cost->b,
				  &cost->b_folios_per_hold);
	if (a < 0 || b < 0) {
		free(b_host);
		return -1;
	}
	cost->a_known = a > 0;
	cost->b_known = b > 0;
	/* Runs over another tape had no turns with these. */
	cost->same_host = a > 0 && b > 0 && !strcmp(cost->host, b_host) &&
			  pair->a->tape_id == pair->b->tape_id;
	ret = cost->same_host ? load_spreads(db, pair, cost) : 0;
	if (!cost->host)
		cost->host = b_host;
	else
		free(b_host);
	return ret;
}

/* Return: SQLITE_DONE if all went well. */
static int load_steps(sqlite3 *db, sqlite3_stmt *statement, const struct compare_pair *pair,
		      struct compare_costs *costs)
{
	int code;

	sqlite3_bind_int64(statement, 1, pair->a->run_id);
	sqlite3_bind_int64(statement, 2, pair->b->run_id);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		struct compare_cost *grown = reallocarray(costs->cost, costs->nr + 1,
							  sizeof(*grown));

		if (!grown)
			return SQLITE_NOMEM;
		costs->cost = grown;
		grown += costs->nr++;
		*grown = (struct compare_cost){ .step = compare_text_column(statement, 0) };
		if (!grown->step || load_cost(db, pair, grown))
			return SQLITE_ERROR;
	}
	return code;
}

int compare_load_costs(sqlite3 *db, const struct compare_pair *pair, struct compare_costs *costs)
{
	sqlite3_stmt *statement;
	int code;

	*costs = (struct compare_costs){ 0 };
	if (sqlite3_prepare_v2(db, has_cost_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	code = sqlite3_step(statement);
	sqlite3_finalize(statement);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? 0 : -1;
	if (sqlite3_prepare_v2(db, steps_sql, -1, &statement, NULL) != SQLITE_OK)
		return -1;
	code = load_steps(db, statement, pair, costs);
	sqlite3_finalize(statement);
	return code == SQLITE_DONE ? 0 : -1;
}

void compare_costs_free(struct compare_costs *costs)
{
	for (size_t i = 0; i < costs->nr; i++) {
		free(costs->cost[i].step);
		free(costs->cost[i].a_shape);
		free(costs->cost[i].b_shape);
		free(costs->cost[i].host);
	}
	free(costs->cost);
	*costs = (struct compare_costs){ 0 };
}
