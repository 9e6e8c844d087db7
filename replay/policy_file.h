/* SPDX-License-Identifier: GPL-2.0-only */
/* Policies and variants that the user brings as shared objects: --policy ./mine.so. */
#ifndef REPLAY_POLICY_FILE_H
#define REPLAY_POLICY_FILE_H

#include <stddef.h>

#include "replay/core.h"
#include "replay/policy/policy.h"

struct policy_file {
	const struct reclaim_policy *policy; /* NULL: a variant */
	const struct replay_core *core; /* of a variant, NULL: the program's own */
	const char *name; /* of the policy or variant */
	char hash[32]; /* of the file: tells two of one name apart */
};

/**
 * policy_file_rest() - does a --policy name a file?
 * Return: what follows the file's name, from '@' or '+' on; NULL: it names no file.
 */
const char *policy_file_rest(const char *text);

/**
 * policy_file_load() - load the file that @text begins with; it stays loaded
 * @text: PATH.so[@release][+patch[=value]]...
 * @file: filled on success
 * @why: on failure a sentence without newline
 *
 * Its code runs in this process. Refused are files that were built against other structs than the
 * program's, policies that lack a required op, and names that the program has already.
 * Return: 0 or -1.
 */
int __attribute__((warn_unused_result))
policy_file_load(const char *text, struct policy_file *file, char *why, size_t why_bytes);

/**
 * policy_file_parse() - policy_parse() that also understands files of policies
 * @file: set for those; zeroed else. A variant is no choice within this program's core: *choice is zeroed
 */
int __attribute__((warn_unused_result))
policy_file_parse(const char *text, const char *release, struct policy_choice *choice,
		  struct policy_file *file, char *why, size_t why_bytes);

#endif
