/* SPDX-License-Identifier: GPL-2.0-only */
/* What `lrutape check` says of a checked tape: for people, and for programs. */
#ifndef REPLAY_CHECK_REPORT_H
#define REPLAY_CHECK_REPORT_H

#include <stdbool.h>

#include "replay/check/check.h"
#include "replay/policy/policy.h"
#include "replay/world/world.h"
#include "schema/tape_reader.h"

struct check_report {
	const char *tape; /* as the user named it */
	const char *recorded_policy; /* what the tape's kernel ran */
	const struct policy_choice *choice; /* what predicted */
	const struct world *world;
	const struct check *check;
	const struct tape_reader *reader;
	unsigned int nr_mismatches; /* to tell one by one, of those that the check kept */
};

/**
 * check_report_text() - the table, what was not decided, and the mismatches that the check kept
 * @all: of every memcg, not only of the recorded command's
 */
void check_report_text(const struct check_report *report, bool all);

/** check_report_json() - one object, described in lrutape-check(1); a decision or mismatch a line. */
void check_report_json(const struct check_report *report);

#endif
