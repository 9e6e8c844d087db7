// SPDX-License-Identifier: GPL-2.0-only
#include "replay/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const counter_name[NR_COUNTERS] = {
#define COUNTER(number, name, unit, meaning) [number] = #name,
#include "schema/counters.def"
};

static const char *const lock_site_name[NR_LOCK_SITES] = {
#define LOCK_SITE(number, name, meaning) [number] = #name,
#include "schema/lock_sites.def"
};

static const char *const drain_cause_name[NR_DRAIN_CAUSES] = {
#define DRAIN_CAUSE(number, name, meaning) [number] = #name,
#include "schema/drain_causes.def"
};

/* Counters that are worth following over time. */
static const bool followed[NR_COUNTERS] = {
	[COUNT_accesses] = true,
	[COUNT_hits] = true,
	[COUNT_misses] = true,
	[COUNT_workingset_refault_file] = true,
	[COUNT_workingset_activate_file] = true,
	[COUNT_pgscan_file] = true,
	[COUNT_pgsteal_file] = true,
	[COUNT_pgactivate] = true,
	[COUNT_pgdeactivate] = true,
};

/* ---- opening */

/* "classic@6.18+x" by a variant is "classic@6.18+mine+x": a patch of its base. Return: 0, -1 too long. */
static int name_variant(struct core_about *about, const char *variant)
{
	char name[CORE_NAME_BYTES];
	int base_size = (int)strcspn(about->name, "+");

	if (snprintf(name, sizeof(name), "%.*s+%s%s", base_size, about->name, variant,
		     about->name + base_size) >= (int)sizeof(name))
		return -1;
	memcpy(about->name, name, sizeof(name));
	return 0;
}

int run_open(struct run *run, struct world *world, const char *policy, const char *recorded,
	     const char *release, uint64_t log_adds, char *why, size_t why_bytes)
{
	const char *rest = policy_file_rest(policy);
	struct core_request request = {
		.policy = policy,
		.release = release,
		.memory_pages = run->memory_pages,
		.seed = run->perturbed ? run->seed : 0,
		.log_adds = log_adds,
	};
	char text[CORE_NAME_BYTES];
	int ret;

	run->core = core_own();
	if (rest && policy_file_load(policy, &run->file, why, why_bytes))
		return CORE_ERR_NAME;
	if (run->file.policy) {
		request.own = run->file.policy;
		request.policy = rest;
	} else if (run->file.core) {
		run->core = run->file.core;
		if (snprintf(text, sizeof(text), "%s%s", recorded, rest) >= (int)sizeof(text)) {
			snprintf(why, why_bytes, "the policy's name is too long");
			return CORE_ERR_NAME;
		}
		request.policy = text;
	}
	ret = run->core->open(world, &request, &run->replay, &run->about, why, why_bytes);
	if (!ret && run->file.core && name_variant(&run->about, run->file.name)) {
		snprintf(why, why_bytes, "the variant's name is too long");
		return CORE_ERR_NAME;
	}
	return ret;
}

void run_close(struct run *run)
{
	if (run->core && run->replay)
		run->core->close(run->replay);
	run->replay = NULL;
}

/* ---- rows */

void run_add(struct run *run, struct results *results, int64_t tape_id, const struct world *world)
{
	int64_t limit = world_recorded_memory(world);
	struct results_run row = {
		.tape_id = tape_id,
		.policy = run->about.name,
		.release = run->about.release,
		.seed = run->seed,
		.accesses = RESULTS_NONE,
		.memory_pages = (uint64_t)run->memory_pages,
	};

	if (run->memory_pages == REPLAY_MEMORY_RECORDED)
		row.memory_pages = limit == INT64_MAX ? RESULTS_NONE : (uint64_t)limit;
	results_add_run(results, &row, &run->run_id);
}

/* Where a sink's counts go. */
struct row_place {
	struct results *results;
	int64_t run_id;
	uint64_t timestamp_ns; /* of a moment */
	enum access_fill fill; /* of an extreme */
	const struct world *world; /* of accuracy */
	const struct accuracy *accuracy;
	uint64_t total[NR_COUNTERS]; /* of all memcgs, of accuracy */
};

static void add_counter(void *ctx, uint64_t memcg_id, enum counter counter, uint64_t value)
{
	const struct row_place *to = ctx;

	results_add_counter(to->results, to->run_id, memcg_id, counter_name[counter], value);
}

static void add_lock(void *ctx, uint64_t memcg_id, enum lock_site site, uint64_t holds,
		     uint64_t folios)
{
	const struct row_place *to = ctx;

	results_add_lock_hold(to->results, to->run_id, memcg_id, lock_site_name[site], holds,
			      folios);
}

static void add_drain(void *ctx, const char *batch, enum drain_cause cause, uint64_t drains,
		      uint64_t folios)
{
	const struct row_place *to = ctx;

	results_add_drain(to->results, to->run_id, batch, drain_cause_name[cause], drains, folios);
}

static void add_followed(void *ctx, uint64_t memcg_id, enum counter counter, uint64_t value)
{
	const struct row_place *to = ctx;

	if (followed[counter])
		results_add_counter_at(to->results, to->run_id, memcg_id, to->timestamp_ns,
				       counter_name[counter], value);
}

static void add_settings(const struct run *run, struct results *results)
{
	char text[32], name[CORE_NAME_BYTES + 8];

	for (unsigned int i = 0; i < run->about.nr_settings; i++) {
		snprintf(text, sizeof(text), "%" PRId64, run->about.setting[i].value);
		results_add_setting(results, run->run_id, run->about.setting[i].name, text);
	}
	if (run->file.name) {
		snprintf(name, sizeof(name), "%s.so", run->file.name);
		results_add_setting(results, run->run_id, name, run->file.hash);
	}
}

void run_add_counts(const struct run *run, struct results *results, const struct world *world)
{
	struct row_place to = { .results = results, .run_id = run->run_id };
	const struct replay_sink sink = {
		.ctx = &to,
		.counter = add_counter,
		.lock = add_lock,
		.drain = add_drain,
	};
	uint64_t stimuli, inferred;

	add_settings(run, results);
	run->core->counts(run->replay, &sink);
	for (unsigned int rule = 1; rule < NR_INFER_RULES; rule++) {
		uint64_t nr = run->core->inferred(run->replay, (enum infer_rule)rule);

		if (rule == INFER_task_in_reclaim_bracket)
			nr = world->inferred[rule];
		if (nr)
			results_add_inferred(results, run->run_id, infer_rule_name(rule), nr);
	}
	stimuli = run->core->stimuli(run->replay, &inferred);
	results_end_run(results, run->run_id, run->core->accesses(run->replay), stimuli, inferred);
}

static void add_stressed(void *ctx, uint64_t memcg_id, enum counter counter, uint64_t value)
{
	const struct row_place *to = ctx;

	results_add_stress(to->results, to->run_id, to->fill == FILL_NEVER ? "never" : "always",
			   memcg_id, counter_name[counter], value);
}

void run_add_stress(const struct run *run, struct results *results)
{
	struct row_place to = { .results = results, .run_id = run->run_id, .fill = run->fill };
	const struct replay_sink sink = { .ctx = &to, .counter = add_stressed };

	run->core->counts(run->replay, &sink);
}

static bool somebody_takes_of(const struct world *world, uint32_t memcg)
{
	for (uint32_t i = 0; i < world->foreign.nr_rows; i++)
		if (world->foreign.row[i].memcg == memcg)
			return true;
	return false;
}

/* Where the kernel reclaimed for a limit, or since it was asked to, a run does. */
static bool is_reclaimed(const struct world *world, uint32_t n)
{
	for (; n != WORLD_ROOT; n = world->memcg[n].parent)
		if (world->memcg[n].limit_pages != INT64_MAX ||
		    world->memcg[n].high_pages != INT64_MAX || somebody_takes_of(world, n))
			return true;
	return world_machine_pages(world) != INT64_MAX;
}

static void add_accuracy(void *ctx, uint64_t memcg_id, enum counter counter, uint64_t value)
{
	struct row_place *to = ctx;
	uint32_t number = world_memcg_by_id(to->world, memcg_id);
	enum accuracy_source source;
	int64_t kernel;

	/* The machine's counters are of all groups together. */
	to->total[counter] += value;
	if (!is_reclaimed(to->world, number) ||
	    (number == WORLD_ROOT && world_only_machine_reclaims(to->world)))
		return;
	kernel = accuracy_value(to->accuracy, to->world, number, counter, &source);
	if (kernel > 0 || (kernel == 0 && value))
		results_add_accuracy(to->results, to->run_id, memcg_id, counter_name[counter],
				     (uint64_t)kernel, value, accuracy_source_name(source));
}

static void add_machine_accuracy(const struct row_place *to)
{
	for (int c = 1; c < NR_COUNTERS; c++) {
		enum accuracy_source source;
		int64_t kernel = accuracy_value(to->accuracy, to->world, WORLD_ROOT,
						(enum counter)c, &source);

		if (kernel > 0 || (kernel == 0 && to->total[c]))
			results_add_accuracy(to->results, to->run_id,
					     to->world->memcg[WORLD_ROOT].id, counter_name[c],
					     (uint64_t)kernel, to->total[c],
					     accuracy_source_name(source));
	}
}

static void add_walks(const struct run *run, struct results *results)
{
	uint64_t from_ns = run->core->walks_from(run->replay);
	char text[32];

	if (!from_ns)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, from_ns);
	results_add_setting(results, run->run_id, "walks_from_ns", text);
}

void run_add_trust(const struct run *run, struct results *results, const struct world *world,
		   const struct accuracy *accuracy)
{
	struct row_place to = {
		.results = results, .run_id = run->run_id, .world = world, .accuracy = accuracy
	};
	const struct replay_sink sink = { .ctx = &to, .counter = add_accuracy };
	struct results_estimate estimate = {
		.stream = run->seed,
		.first_unknown_ns = RESULTS_NONE,
		.unseen_faults = run->core->inferred(run->replay, INFER_access_drawn),
	};
	uint64_t first_ns;

	add_walks(run, results);
	estimate.unknown = run->core->unknown(run->replay, &estimate.asked, &first_ns);
	if (estimate.unknown)
		estimate.first_unknown_ns = first_ns;
	if (estimate.asked)
		results_add_estimate(results, run->run_id, &estimate);
	if (!run->is_recorded)
		return;
	run->core->counts(run->replay, &sink);
	if (world_only_machine_reclaims(world))
		add_machine_accuracy(&to);
}

void run_add_moment(const struct run *run, struct results *results, uint64_t timestamp_ns)
{
	struct row_place to = {
		.results = results,
		.run_id = run->run_id,
		.timestamp_ns = timestamp_ns,
	};
	const struct replay_sink sink = { .ctx = &to, .counter = add_followed };

	run->core->counts(run->replay, &sink);
}
