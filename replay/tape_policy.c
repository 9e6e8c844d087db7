// SPDX-License-Identifier: GPL-2.0-only
#include "replay/tape_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/mm/rules.h"

int tape_policy(const struct tape_reader *reader, struct tape_policy *policy, char *why,
		size_t why_bytes)
{
	const struct tape_blob *release = tape_reader_find_blob(reader, TAPE_MOMENT_START,
								"lrutape/release");
	const struct tape_blob *lru_gen = tape_reader_find_blob(reader, TAPE_MOMENT_START,
								"/sys/kernel/mm/lru_gen/enabled");
	const struct mm_rules *list;
	unsigned int nr;

	memset(policy, 0, sizeof(*policy));
	policy->name = "classic";
	if (lru_gen && strtoul(lru_gen->data, NULL, 0) & 1) {
		snprintf(
			why, why_bytes,
			"the recorded kernel ran MGLRU (lru_gen/enabled %.10s), which is not modelled "
			"yet; record with `echo n > /sys/kernel/mm/lru_gen/enabled`",
			lru_gen->data);
		return -1;
	}
	list = mm_rules_list(&nr);
	if (!release) {
		snprintf(policy->release, sizeof(policy->release), "%s", list[nr - 1].release);
		snprintf(policy->warning, sizeof(policy->warning),
			 "the tape does not name its kernel; the rules of %s are used",
			 policy->release);
		return 0;
	}
	snprintf(policy->release, sizeof(policy->release), "%.*s",
		 (int)strcspn(release->data, "\n"), release->data);
	if (mm_rules_for_release(policy->release))
		return 0;
	snprintf(policy->warning, sizeof(policy->warning),
		 "release %s is not modelled; the rules of %s are used", policy->release,
		 list[nr - 1].release);
	snprintf(policy->release, sizeof(policy->release), "%s", list[nr - 1].release);
	return 0;
}
