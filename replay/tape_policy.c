// SPDX-License-Identifier: GPL-2.0-only
#include "replay/tape_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/mm/rules.h"

void tape_policy(const struct tape_reader *reader, struct tape_policy *policy)
{
	const struct tape_blob *release = tape_reader_find_blob(reader, TAPE_MOMENT_START,
								"lrutape/release");
	const struct tape_blob *lru_gen = tape_reader_find_blob(reader, TAPE_MOMENT_START,
								"/sys/kernel/mm/lru_gen/enabled");
	const struct mm_rules *list;
	unsigned int nr;

	memset(policy, 0, sizeof(*policy));
	policy->name = "classic";
	if (lru_gen && strtoul(lru_gen->data, NULL, 0) & 1)
		policy->name = "lru_gen";
	list = mm_rules_list(&nr);
	if (!release) {
		snprintf(policy->release, sizeof(policy->release), "%s", list[nr - 1].release);
		snprintf(policy->warning, sizeof(policy->warning),
			 "the tape does not name its kernel; the rules of %s are used",
			 policy->release);
		return;
	}
	snprintf(policy->release, sizeof(policy->release), "%.*s",
		 (int)strcspn(release->data, "\n"), release->data);
	if (mm_rules_for_release(policy->release))
		return;
	snprintf(policy->warning, sizeof(policy->warning),
		 "release %s is not modelled; the rules of %s are used", policy->release,
		 list[nr - 1].release);
	snprintf(policy->release, sizeof(policy->release), "%s", list[nr - 1].release);
}
