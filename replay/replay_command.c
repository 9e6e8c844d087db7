// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/accuracy.h"
#include "replay/check/check.h"
#include "replay/cost/cost.h"
#include "replay/cost/measure.h"
#include "replay/event_stream.h"
#include "replay/replay_options.h"
#include "replay/results.h"
#include "replay/run.h"
#include "replay/tape_policy.h"
#include "replay/tape_rows.h"
#include "schema/command.h"

#define POINT_LIMIT 10000 /* of one run over time */
#define PAGE_BYTES 4096

/* What a run adds costs the same however it was perturbed. */
static bool is_measured(const struct replay_options *options, const struct run *run)
{
	return options->cost_repeats && !run->seed;
}

static bool any_percent(const struct replay_options *options)
{
	for (unsigned int m = 0; m < options->nr_memories; m++)
		if (options->memory[m].percent)
			return true;
	return false;
}

static int64_t memory_pages(const struct memory_size *memory, const struct world *world)
{
	int64_t limit = world_recorded_memory(world), pages = memory->pages;

	if (memory->percent)
		pages = limit / 100 * memory->percent + limit % 100 * memory->percent / 100;
	return pages && pages != limit ? pages : REPLAY_MEMORY_RECORDED;
}

/* Return: @policy is @recorded, or a patch of it. */
static bool is_base_of(const char *recorded, const char *policy)
{
	size_t size = strlen(recorded);

	return !strncmp(policy, recorded, size) && (!policy[size] || policy[size] == '+');
}

/* All of policy, memory size and seed. Return: number of runs, negative enum command_status. */
static int open_runs(const struct replay_options *options, const char *tape, struct world *world,
		     const struct tape_policy *recorded, struct results *results, int64_t tape_id,
		     struct run *run)
{
	static const struct memory_size as_recorded = { 0 };
	unsigned int nr_policies = options->nr_policies ? options->nr_policies : 1;
	unsigned int nr_memories = options->nr_memories ? options->nr_memories : 1;
	unsigned int nr_seeds = options->nr_perturbed + options->nr_draws;
	int nr = 0, status;
	char why[512];

	if (options->nr_memories && world->limited_memcg == WORLD_ROOT &&
	    world_machine_pages(world) == INT64_MAX) {
		fprintf(stderr,
			"lrutape: %s: no memcg of this tape has a memory limit that --memory could change%s: "
			"record with --memory, or leave it out\n",
			tape,
			limits_any(&world->limits) ?
				", for its limits were set after it began and hold as they are" :
				"");
		return -COMMAND_FAILED;
	}
	if (any_percent(options) && world_recorded_memory(world) == INT64_MAX) {
		fprintf(stderr,
			"lrutape: %s: this tape has no recorded limit to take a share of: give --memory in "
			"bytes, e.g. 64M\n",
			tape);
		return -COMMAND_FAILED;
	}
	for (unsigned int m = 0; m < nr_memories; m++)
		for (unsigned int p = 0; p < nr_policies; p++)
			for (unsigned int n = 0; n <= nr_seeds + (options->stress ? 2 : 0); n++) {
				const char *name = options->nr_policies ? options->policy[p] :
									  recorded->name;

				run[nr].memory_pages = memory_pages(
					options->nr_memories ? &options->memory[m] : &as_recorded,
					world);
				run[nr].seed = n && n <= nr_seeds ? options->first_seed + n - 1 : 0;
				run[nr].perturbed = options->nr_perturbed;
				if (n > nr_seeds)
					run[nr].fill = n == nr_seeds + 1 ? FILL_NEVER : FILL_ALWAYS;
				status = run_open(
					&run[nr], world, name, recorded->name, recorded->release,
					is_measured(options, &run[nr]) ? COST_LOG_LIMIT : 0, why,
					sizeof(why));
				if (status == CORE_ERR_NAME)
					fprintf(stderr, "lrutape: replay: --policy %s: %s\n", name,
						why);
				else if (status)
					fputs("lrutape: replay: out of memory\n", stderr);
				if (status)
					return status == CORE_ERR_NAME ? -COMMAND_MISUSED :
									 -COMMAND_FAILED;
				run[nr].own_looks = run[nr].memory_pages ==
							    REPLAY_MEMORY_RECORDED &&
						    is_base_of(recorded->name, run[nr].about.name);
				run[nr].is_recorded = !n && run[nr].own_looks &&
						      !strcmp(run[nr].about.name, recorded->name);
				if (n <= nr_seeds)
					run_add(&run[nr], results, tape_id, world);
				else
					run[nr].run_id = run[nr - (int)n].run_id;
				nr++;
			}
	return nr;
}

/* The one pass over the tape: all runs and the check see each event. */
static int pass(struct tape_reader *reader, struct world *world, struct check *check,
		struct accuracy *accuracy, struct run *run, int nr_runs,
		const struct replay_options *options, struct results *results)
{
	struct event_stream *stream = event_stream_open(reader);
	const struct tape_summary *summary = tape_reader_summary(reader);
	uint64_t interval_ns = options->interval_ns, next_point_ns, read_end;
	const struct tape_event *event;
	const uint32_t *victims;
	unsigned int nr_victims;
	int ret;

	if (!stream)
		return TAPE_ERR_MEMORY;
	if ((summary->last_ns - summary->first_ns) / interval_ns > POINT_LIMIT)
		interval_ns = (summary->last_ns - summary->first_ns) / POINT_LIMIT + 1;
	next_point_ns = summary->first_ns + interval_ns;
	event_stream_foresee(stream, check_foresees(check));
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		for (; event->timestamp_ns >= next_point_ns; next_point_ns += interval_ns)
			for (int i = 0; i < nr_runs; i++)
				if (!run[i].seed && run[i].fill == FILL_DRAWN) /* one is enough */
					run_add_moment(&run[i], results, next_point_ns);
		world_event(world, event);
		victims = event_stream_victims(stream, &nr_victims);
		check_foresee(check, event, victims, nr_victims);
		check_event(check, event, read_end);
		accuracy_event(accuracy, world, event);
		for (int i = 0; i < nr_runs; i++)
			run[i].core->event(run[i].replay, event, read_end);
		world_event_done(world, event, read_end);
	}
	event_stream_close(stream);
	for (int i = 0; i < nr_runs; i++)
		run[i].core->finish(run[i].replay);
	return ret;
}

/* Runs whose policy knows the future are told it. Return: 0, or the status, with a message. */
static int foretell(const char *path, struct tape_reader *reader, struct run *run, int nr_runs,
		    struct future **future)
{
	bool asked = false;
	int ret;

	for (int i = 0; i < nr_runs; i++)
		asked |= run[i].about.asks_future;
	ret = asked ? future_read(reader, future) : 0;
	if (ret == FUTURE_TOO_LONG)
		fprintf(stderr,
			"lrutape: %s: more than %u accesses, too many to look into the future: leave out the "
			"policies that do, e.g. opt\n",
			path, FUTURE_TOUCH_LIMIT);
	else if (ret)
		fprintf(stderr, "lrutape: %s\n",
			ret == TAPE_ERR_MEMORY ? "replay: out of memory" :
						 tape_reader_problem(reader)->text);
	if (ret)
		return COMMAND_FAILED;
	for (int i = 0; i < nr_runs; i++)
		run[i].core->foretell(run[i].replay, *future);
	return 0;
}

/*
 * Where the tape names mapped pages or tells of looks at them, and any could be reclaimed, runs are told what it shows of accesses
 * to them. Return: 0, or the status, with a message.
 */
static int imagine(const char *path, struct tape_reader *reader, const struct world *world,
		   const struct policy_choice *recorded, struct run *run, int nr_runs,
		   struct access_facts **facts)
{
	int ret;

	if ((!world->anon && !world->looks_told) || world->limited_memcg == WORLD_ROOT)
		return 0;
	ret = facts_read(reader, recorded, facts);
	if (ret) {
		fprintf(stderr, "lrutape: %s: %s\n", path,
			ret == TAPE_ERR_MEMORY ? "out of memory" :
						 tape_reader_problem(reader)->text);
		return COMMAND_FAILED;
	}
	for (int i = 0; i < nr_runs; i++)
		run[i].core->imagine(run[i].replay, *facts, run[i].fill, run[i].seed,
				     run[i].own_looks);
	return 0;
}

/* No memcg reclaims on this tape, whatever for. */
static bool nothing_is_reclaimed(const struct world *world)
{
	for (uint32_t n = 1; n < world->nr_memcgs; n++)
		if (world->memcg[n].high_pages != INT64_MAX)
			return false;
	return world_recorded_memory(world) == INT64_MAX && !world->foreign.nr_rows &&
	       !limits_any(&world->limits);
}

/* Something was swapped out, and which pages come back is on no event that the tape has. */
static bool swap_is_not_followed(const struct world *world, const struct tape_reader *reader)
{
	return !world->anon && tape_reader_kind_events(reader, EVENT_MM_VMSCAN_WRITE_FOLIO);
}

/* What is told of a tape once the results are in their place. */
struct done {
	int nr_runs;
	uint64_t nr_events;
};

static int replay_tape(const struct replay_options *options, const char *path,
		       struct tape_reader *reader, struct world *world, struct results *results,
		       struct done *done)
{
	struct tape_policy recorded;
	struct policy_choice recorded_choice;
	struct check *check = NULL;
	struct future *future = NULL;
	struct access_facts *facts = NULL;
	struct accuracy *accuracy = NULL;
	struct run *run;
	int64_t tape_id;
	char why[256];
	int nr_runs, ret, status = COMMAND_FAILED;

	tape_policy(reader, &recorded);
	if (policy_parse(recorded.name, recorded.release, &recorded_choice, why, sizeof(why))) {
		fprintf(stderr, "lrutape: %s: %s\n", path, why);
		return COMMAND_FAILED;
	}
	if (recorded.warning[0])
		fprintf(stderr, "lrutape: %s: note: %s\n", path, recorded.warning);
	if (swap_is_not_followed(world, reader))
		fprintf(stderr,
			"lrutape: %s: note: swap is in use, and the tape lacks what names anonymous pages (faults with "
			"addresses, all allocations and frees): runs keep out of swap, and refault far too little\n",
			path);
	run = calloc(RUN_LIMIT, sizeof(*run));
	check = check_open(world, &recorded_choice, MISMATCHES_KEPT);
	accuracy = accuracy_open(reader, world);
	if (!run || !check || !accuracy) {
		fputs("lrutape: replay: out of memory\n", stderr);
		goto out;
	}
	tape_rows_begin(results, path, reader, world, recorded_choice.name, &recorded_choice,
			&tape_id);
	nr_runs = open_runs(options, path, world, &recorded, results, tape_id, run);
	if (nr_runs < 0) {
		status = -nr_runs;
		goto out;
	}
	if (foretell(path, reader, run, nr_runs, &future))
		goto out;
	if (imagine(path, reader, world, &recorded_choice, run, nr_runs, &facts))
		goto out;
	if (nothing_is_reclaimed(world))
		fprintf(stderr,
			"lrutape: %s: note: no memcg has a limit on this tape, so that nothing is reclaimed in "
			"a replay\n",
			path);
	ret = check_look_ahead(check, reader);
	if (!ret)
		ret = pass(reader, world, check, accuracy, run, nr_runs, options, results);
	if (ret < 0) {
		fprintf(stderr, "lrutape: %s\n",
			ret == TAPE_ERR_MEMORY ? "replay: out of memory" :
						 tape_reader_problem(reader)->text);
		goto out;
	}
	if (world->unlimited_memcg != WORLD_ROOT)
		fprintf(stderr,
			"lrutape: %s: note: %s reclaimed for a limit that was set after the tape began and that no "
			"reading shows: a replay does not limit it (record with --snapshot-every)\n",
			path, world->memcg[world->unlimited_memcg].path);
	tape_rows_end(results, tape_id, world, check);
	for (int i = 0; i < nr_runs; i++) {
		if (run[i].fill != FILL_DRAWN) {
			run_add_stress(&run[i], results);
			continue;
		}
		run_add_counts(&run[i], results, world);
		run_add_trust(&run[i], results, world, accuracy);
	}
	if (options->cost_repeats && measure_costs(results, run, nr_runs, options)) {
		fputs("lrutape: replay: out of memory\n", stderr);
		goto out;
	}
	*done = (struct done){ .nr_runs = nr_runs,
			       .nr_events = tape_reader_summary(reader)->nr_events };
	status = COMMAND_DONE;
	for (int i = 0; i < nr_runs; i++)
		if (run[i].core->failed(run[i].replay))
			status = COMMAND_FAILED;
	if (status || check_failed(check) || accuracy_failed(accuracy)) {
		fputs("lrutape: replay: out of memory\n", stderr);
		status = COMMAND_FAILED;
	}
out:
	for (int i = 0; run && i < RUN_LIMIT; i++)
		run_close(&run[i]);
	future_close(future);
	facts_close(facts);
	accuracy_close(accuracy);
	free(run);
	if (check)
		check_close(check);
	return status;
}

static int replay_file(const struct replay_options *options, const char *path,
		       struct results *results, struct done *done)
{
	struct tape_problem problem;
	struct tape_reader *reader;
	struct world world;
	int status;

	if (tape_reader_open(path, &reader, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return COMMAND_FAILED;
	}
	if (tape_reader_summary(reader)->torn)
		fprintf(stderr,
			"lrutape: %s: torn at byte %" PRIu64 ": what stands before is used\n", path,
			tape_reader_summary(reader)->torn_at);
	if (world_init(&world, reader)) {
		fprintf(stderr, "lrutape: %s\n",
			tape_reader_problem(reader)->code ? tape_reader_problem(reader)->text :
							    "replay: out of memory");
		tape_reader_close(reader);
		return COMMAND_FAILED;
	}
	status = replay_tape(options, path, reader, &world, results, done);
	world_exit(&world);
	tape_reader_close(reader);
	return status;
}

int command_replay(int argc, char **argv)
{
	struct replay_options options = { 0 };
	struct results_problem problem;
	struct results *results;
	struct done *done;
	int status = replay_options_parse(argc, argv, &options);

	if (status)
		return status < 0 ? COMMAND_DONE : status;
	done = calloc((size_t)options.nr_tapes, sizeof(*done));
	if (!done) {
		fputs("lrutape: replay: out of memory\n", stderr);
		return COMMAND_FAILED;
	}
	status = COMMAND_FAILED;
	if (results_create(options.output, LRUTAPE_VERSION, &results, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		goto out;
	}
	for (int i = 0; i < options.nr_tapes; i++) {
		status = replay_file(&options, options.tape[i], results, &done[i]);
		if (status) {
			results_abandon(results);
			goto out;
		}
	}
	status = COMMAND_FAILED;
	if (results_commit(results, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		goto out;
	}
	status = COMMAND_DONE;
	for (int i = 0; i < options.nr_tapes; i++)
		fprintf(stderr, "lrutape: %s: %d run%s over %" PRIu64 " events of %s\n",
			options.output, done[i].nr_runs, done[i].nr_runs == 1 ? "" : "s",
			done[i].nr_events, options.tape[i]);
out:
	free(done);
	return status;
}
