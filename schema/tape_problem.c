// SPDX-License-Identifier: GPL-2.0-only
#include "schema/tape_problem.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static const struct {
	const char *what;
	const char *remedy;
	bool has_place;
} sentences[] = {
	[-TAPE_OK] = { "nothing is wrong", "", false },
	[-TAPE_ERR_OPEN] = { "cannot be opened", "", false },
	[-TAPE_ERR_NOT_A_TAPE] = { "not a tape",
				   "`lrutape record` makes tapes, `lrutape import` makes them of "
				   "other recorders' files",
				   false },
	[-TAPE_ERR_VERSION] = { "written by a newer lrutape",
				"use the one that wrote it, or a newer one", true },
	[-TAPE_ERR_CHECKSUM] = { "bad checksum",
				 "the file is damaged there; copy it again if you can", true },
	[-TAPE_ERR_CORRUPT] = { "breaks a rule of the format", "this file cannot be used", true },
	[-TAPE_ERR_IO] = { "reading or writing failed", "", true },
	[-TAPE_ERR_MEMORY] = { "not enough memory", "", false },
	[-TAPE_ERR_ENCODING] = { "column coding of a newer lrutape",
				 "use the one that wrote it, or a newer one", true },
	[-TAPE_ERR_EMPTY] = { "torn before its first usable frame", "nothing can be read from it",
			      true },
};

int tape_problem_set(struct tape_problem *problem, enum tape_error code, const char *path,
		     uint64_t byte, const char *what)
{
	char place[40] = "";
	int used;

	if (!problem)
		return code;
	problem->code = code;
	problem->byte = byte;
	if (sentences[-code].has_place)
		snprintf(place, sizeof(place), " at byte %" PRIu64, byte);
	used = snprintf(problem->text, sizeof(problem->text), "%.120s: %s%s", path,
			what ? what : sentences[-code].what, place);
	if (sentences[-code].remedy[0] && used > 0 && (size_t)used < sizeof(problem->text))
		snprintf(problem->text + used, sizeof(problem->text) - (size_t)used, ": %s",
			 sentences[-code].remedy);
	return code;
}
