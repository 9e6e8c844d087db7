/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole reclaim core, as the program runs it: its own, or one that `make variant` built from patched
 * sources into a shared object. Nothing of mm/ or policy/ crosses this line, so that a patch may change
 * any struct there; what does cross is world/ and the event.
 */
#ifndef REPLAY_CORE_H
#define REPLAY_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/engine/engine.h"
#include "replay/future.h"
#include "replay/world/world.h"

#define CORE_NAME_BYTES 128
#define CORE_SETTINGS_LIMIT 8

/* What a run is to be. */
struct core_request {
	const char *policy; /* base[@release][+patch[=value]]... */
	const struct reclaim_policy
		*own; /* a base in no list: policy is what follows its name; NULL */
	const char *release; /* of the tape, where policy names none */
	int64_t memory_pages; /* as replay_open() has it */
	uint64_t seed; /* as replay_perturb() has it */
	uint64_t log_adds; /* as replay_log_adds() has it; 0: not */
};

/* What it then is. */
struct core_about {
	char name[CORE_NAME_BYTES]; /* of the policy, as it stands in results */
	char release[32]; /* whose rules it follows */
	bool asks_future;
	unsigned int nr_settings;
	struct {
		char name[CORE_NAME_BYTES];
		int64_t value;
	} setting[CORE_SETTINGS_LIMIT];
};

enum core_error {
	CORE_OK = 0,
	CORE_ERR_NAME = -1, /* the policy was not understood: a sentence is there */
	CORE_ERR_MEMORY = -2,
};

/* Functions as in engine.h, but for open. */
struct replay_core {
	/* @why: on CORE_ERR_NAME a sentence without newline. Return: 0 or a negative enum core_error. */
	int (*open)(struct world *world, const struct core_request *request, struct replay **replay,
		    struct core_about *about, char *why, size_t why_bytes);
	void (*foretell)(struct replay *replay, struct future *future);
	void (*imagine)(struct replay *replay, const struct access_facts *facts,
			enum access_fill fill, uint64_t seed, bool own);
	void (*event)(struct replay *replay, const struct tape_event *event, uint64_t read_end);
	void (*finish)(struct replay *replay);
	bool (*failed)(const struct replay *replay);
	void (*counts)(const struct replay *replay, const struct replay_sink *sink);
	uint64_t (*accesses)(const struct replay *replay);
	uint64_t (*stimuli)(const struct replay *replay, uint64_t *inferred);
	uint64_t (*inferred)(const struct replay *replay, enum infer_rule rule);
	uint64_t (*unknown)(const struct replay *replay, uint64_t *asked, uint64_t *first_ns);
	uint64_t (*walks_from)(const struct replay *replay);
	void (*close)(struct replay *replay);
};

/** core_own() - the program's. Its replays may be given to all functions of engine.h. */
const struct replay_core *core_own(void);

#endif
