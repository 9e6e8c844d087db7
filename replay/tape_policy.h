/* SPDX-License-Identifier: GPL-2.0-only */
/* Which policy a tape's kernel ran. */
#ifndef REPLAY_TAPE_POLICY_H
#define REPLAY_TAPE_POLICY_H

#include <stddef.h>

#include "schema/tape_reader.h"

#define TAPE_RELEASE_BYTES 64

struct tape_policy {
	const char *name; /* of the base policy */
	char release[TAPE_RELEASE_BYTES]; /* whose rules to use: the tape's own or a stand-in */
	char warning[256]; /* what the user should know of the choice, "" for nothing */
};

/** tape_policy() - the recorded policy by the tape's release and lru_gen setting. @policy: filled. */
void tape_policy(const struct tape_reader *reader, struct tape_policy *policy);

#endif
