/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How faithful a tape is: what a replay can know from it. Worked out from what the tape says of itself
 * (types, filters, snapshots, losses), so that an old tape, an import and a recording are all judged
 * by the same rules.
 */
#ifndef SCHEMA_FIDELITY_H
#define SCHEMA_FIDELITY_H

#include "schema/tape_reader.h"

enum fidelity_aspect {
#define ASPECT(NAME, name, title) FIDELITY_##NAME,
#include "schema/fidelity.def"
	FIDELITY_ASPECTS,
};

/* FIDELITY_READS_ALL and so on: places in fidelity.def, the best first, counted from 0 in each aspect. */
#define FIDELITY_LEVELS_MAX 8

struct fidelity {
	char grade; /* 'A' to 'D', 'S' for an access stream */
	const char *grade_meaning; /* one sentence */
	unsigned int level[FIDELITY_ASPECTS];
};

/** fidelity_of_tape() - judge a tape; reads no event. */
void fidelity_of_tape(const struct tape_reader *reader, struct fidelity *fidelity);

/** fidelity_aspect_name() - as in JSON. */
const char *fidelity_aspect_name(enum fidelity_aspect aspect);

/** fidelity_aspect_title() - for people. */
const char *fidelity_aspect_title(enum fidelity_aspect aspect);

/** fidelity_level_name() - as in JSON. */
const char *fidelity_level_name(enum fidelity_aspect aspect, unsigned int level);

/** fidelity_level_meaning() - what it means for a replay. */
const char *fidelity_level_meaning(enum fidelity_aspect aspect, unsigned int level);

/** fidelity_is() - whether an aspect has the level of that name; asserts that there is such a name. */
bool fidelity_is(const struct fidelity *fidelity, enum fidelity_aspect aspect, const char *level);

#endif
