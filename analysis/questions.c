// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/questions.h"

#include <string.h>

static const char sql_runs[] =
#include "analysis/questions/runs.sql.inc"
	;
static const char sql_settings[] =
#include "analysis/questions/settings.sql.inc"
	;
static const char sql_counters[] =
#include "analysis/questions/counters.sql.inc"
	;
static const char sql_locks[] =
#include "analysis/questions/locks.sql.inc"
	;
static const char sql_drains[] =
#include "analysis/questions/drains.sql.inc"
	;
static const char sql_costs[] =
#include "analysis/questions/costs.sql.inc"
	;
static const char sql_agreement[] =
#include "analysis/questions/agreement.sql.inc"
	;
static const char sql_noise[] =
#include "analysis/questions/noise.sql.inc"
	;
static const char sql_disagreement[] =
#include "analysis/questions/disagreement.sql.inc"
	;
static const char sql_mismatches[] =
#include "analysis/questions/mismatches.sql.inc"
	;
static const char sql_misses_by_memory[] =
#include "analysis/questions/misses_by_memory.sql.inc"
	;
static const char sql_refaults_over_time[] =
#include "analysis/questions/refaults_over_time.sql.inc"
	;

static const struct question list[] = {
	{ "runs", sql_runs },
	{ "settings", sql_settings },
	{ "counters", sql_counters },
	{ "locks", sql_locks },
	{ "drains", sql_drains },
	{ "costs", sql_costs },
	{ "agreement", sql_agreement },
	{ "noise", sql_noise },
	{ "disagreement", sql_disagreement },
	{ "mismatches", sql_mismatches },
	{ "misses_by_memory", sql_misses_by_memory },
	{ "refaults_over_time", sql_refaults_over_time },
};

const struct question *questions(size_t *nr)
{
	*nr = sizeof(list) / sizeof(list[0]);
	return list;
}

const struct question *question_find(const char *name)
{
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

const char *question_summary(const struct question *question, size_t *size)
{
	const char *line = strchr(question->sql, '\n');

	*size = 0;
	if (!line || strncmp(line, "\n-- ", 4))
		return "";
	line += 4;
	*size = strcspn(line, "\n");
	return line;
}
