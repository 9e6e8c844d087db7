// SPDX-License-Identifier: GPL-2.0-only
#include "replay/core.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void describe(const struct policy_choice *choice, struct core_about *about)
{
	memset(about, 0, sizeof(*about));
	snprintf(about->name, sizeof(about->name), "%s", choice->name);
	snprintf(about->release, sizeof(about->release), "%s", choice->rules.release);
	about->asks_future = choice->base->next_use;
	for (unsigned int i = 0; i < choice->nr_patches; i++) {
		const struct policy_patch *patch = choice->patch[i];

		if (!patch->param || about->nr_settings == CORE_SETTINGS_LIMIT)
			continue;
		snprintf(about->setting[about->nr_settings].name, CORE_NAME_BYTES, "%s.%s",
			 patch->name, patch->param->name);
		about->setting[about->nr_settings++].value = choice->value[i];
	}
}

static int core_open(struct world *world, const struct core_request *request,
		     struct replay **replay, struct core_about *about, char *why, size_t why_bytes)
{
	struct policy_choice choice;

	if (request->own ? policy_parse_rest(request->own, request->policy, request->release,
					     &choice, why, why_bytes) :
			   policy_parse(request->policy, request->release, &choice, why, why_bytes))
		return CORE_ERR_NAME;
	*replay = replay_open(world, &choice, request->memory_pages);
	if (!*replay)
		return CORE_ERR_MEMORY;
	if (replay_perturb(*replay, request->seed) ||
	    (request->log_adds && replay_log_adds(*replay, request->log_adds))) {
		replay_close(*replay);
		*replay = NULL;
		return CORE_ERR_MEMORY;
	}
	describe(&choice, about);
	return CORE_OK;
}

static const struct replay_core own = {
	.open = core_open,
	.foretell = replay_foretell,
	.imagine = replay_imagine,
	.event = replay_event,
	.finish = replay_finish,
	.failed = replay_failed,
	.counts = replay_counts,
	.accesses = replay_accesses,
	.stimuli = replay_stimuli,
	.inferred = replay_inferred,
	.unknown = replay_unknown,
	.walks_from = replay_walks_from,
	.close = replay_close,
};

const struct replay_core *core_own(void)
{
	return &own;
}

#ifdef LRUTAPE_VARIANT
/* Built by scripts/variant: the name is the variant's. */
#include "replay/policy/object.h"

__attribute__((visibility("default"))) const struct policy_object lrutape_policy = {
	.abi = POLICY_OBJECT_ABI,
	.object_bytes = sizeof(struct policy_object),
	.variant = LRUTAPE_VARIANT,
	.core = &own,
	.core_bytes = sizeof(struct replay_core),
	.world_bytes = sizeof(struct world),
};
#endif
