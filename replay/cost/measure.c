// SPDX-License-Identifier: GPL-2.0-only
#include "replay/cost/measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/cost/cost.h"
#include "replay/mm/mm.h"
#include "replay/policy/policy.h"

/* Those of the runs that are measured together. */
struct measured {
	struct cost_run *cost;
	const struct run **run;
	unsigned int nr;
	unsigned int repeats;
	double *value; /* room for one a repeat */
	char host[COST_HOST_BYTES];
};

static void set_quartiles(double *to, struct cost_quartiles quartiles)
{
	to[0] = quartiles.median;
	to[1] = quartiles.low;
	to[2] = quartiles.high;
}

/* Medians of a measured run, and each of its repeats. @cost: all but these are filled. */
static void add_cost(struct results *results, const struct measured *measured, unsigned int i,
		     struct results_cost *cost)
{
	const struct cost_sample *sample = measured->cost[i].sample;
	int64_t run_id = measured->run[i]->run_id;

	cost->host = measured->host;
	cost->repeats = measured->repeats;
	for (unsigned int r = 0; r < measured->repeats; r++)
		measured->value[r] = (double)sample[r].ns / (double)sample[r].folios;
	set_quartiles(cost->ns_per_folio, cost_quartiles(measured->value, measured->repeats));
	for (unsigned int r = 0; r < measured->repeats; r++)
		measured->value[r] = (double)sample[r].ns / (double)sample[r].holds;
	set_quartiles(cost->ns_per_hold, cost_quartiles(measured->value, measured->repeats));
	results_add_cost(results, run_id, cost);
	for (unsigned int r = 0; r < measured->repeats; r++)
		results_add_cost_repeat(results, run_id, cost->step, r + 1, sample[r].ns,
					sample[r].folios, sample[r].holds);
}

/* What is there to measure; NULL: nothing was kept, or a variant has it. */
static const struct lru_add_log *adds_of(const struct run *run)
{
	return run->core == core_own() ? replay_mm(run->replay)->lru_add_log : NULL;
}

/* Choose those runs that @can be measured. */
static void choose(struct measured *measured, const struct run *run, int nr_runs,
		   bool (*can)(const struct mm *mm))
{
	measured->nr = 0;
	for (int i = 0; i < nr_runs; i++) {
		if (!adds_of(&run[i]) || !can(replay_mm(run[i].replay)))
			continue;
		measured->cost[measured->nr].mm = replay_mm(run[i].replay);
		measured->run[measured->nr++] = &run[i];
	}
}

static int measure_lru_add(struct results *results, struct measured *measured)
{
	if (!measured->nr)
		return 0;
	if (cost_measure(measured->cost, measured->nr, measured->repeats))
		return -1;
	for (unsigned int i = 0; i < measured->nr; i++) {
		const struct mm *mm = measured->cost[i].mm;
		struct results_cost cost = {
			.step = "lru_add",
			.shape = lru_add_shape_name(&mm->config.rules),
			.folios = mm->lru_add_log->nr,
			.holds = mm->lru_add_log->nr_holds,
		};

		add_cost(results, measured, i, &cost);
	}
	return 0;
}

/* One loop of the runs of one policy over lists of one length. */
static int measure_loop(struct results *results, struct measured *measured, struct cost_list *list,
			unsigned int loop, uint64_t length)
{
	const struct reclaim_policy *policy = measured->cost[0].mm->policy;
	char step[64];

	if (cost_measure_loop(measured->cost, measured->nr, list, loop, length, measured->repeats))
		return -1;
	snprintf(step, sizeof(step), "%s %" PRIu64, policy->loop[loop].name, length);
	for (unsigned int i = 0; i < measured->nr; i++) {
		struct results_cost cost = {
			.step = step,
			.shape = policy->loop_shape(&measured->cost[i].mm->config.rules),
			.folios = length,
			.holds = 1,
		};

		add_cost(results, measured, i, &cost);
	}
	return 0;
}

/* Runs of another policy than the first one's are measured by a call of their own. */
static void keep_policy(struct measured *measured, const struct reclaim_policy *policy)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < measured->nr; i++) {
		if (measured->cost[i].mm->policy != policy)
			continue;
		measured->cost[nr].mm = measured->cost[i].mm;
		measured->run[nr++] = measured->run[i];
	}
	measured->nr = nr;
}

static int measure_loops(struct results *results, struct measured *measured,
			 const struct replay_options *options)
{
	const struct reclaim_policy *policy = measured->cost[0].mm->policy;
	struct cost_list *list;
	uint64_t longest = 0;
	int ret = 0;

	for (unsigned int i = 0; i < options->nr_lists; i++)
		if (options->list[i] > longest)
			longest = options->list[i];
	/* One order for all: that of the first run. */
	list = cost_list_open(measured->cost[0].mm, longest);
	if (!list)
		return -1;
	for (unsigned int i = 0; i < options->nr_lists; i++) {
		if (options->list[i] > cost_list_folios(list)) {
			fprintf(stderr,
				"lrutape: replay: note: no cost of lists of %" PRIu64
				" folios: the tape's frames make up for %" PRIu64 "\n",
				options->list[i], cost_list_folios(list));
			continue;
		}
		for (unsigned int loop = 0; loop < policy->nr_loops && !ret; loop++)
			ret = measure_loop(results, measured, list, loop, options->list[i]);
	}
	cost_list_close(list);
	return ret;
}

/* Notes on what is not measured. Return: false: a log is not whole, memory has run out. */
static bool tell(const struct run *run, int nr_runs)
{
	for (int i = 0; i < nr_runs; i++) {
		const struct lru_add_log *log = adds_of(&run[i]);
		const struct mm *mm = replay_mm(run[i].replay);

		if (!log)
			continue;
		if (log->failed)
			return false;
		if (!cost_can_measure(mm) && !cost_has_loops(mm))
			fprintf(stderr, "lrutape: replay: note: %s: no cost of it: %s\n",
				run[i].about.name,
				log->nr ? "its lists are not the kernel's" : "nothing was added");
		else if (log->nr_left_out)
			fprintf(stderr,
				"lrutape: replay: note: %s: the cost is that of the first %" PRIu64
				" of %" PRIu64 " adds\n",
				run[i].about.name, log->nr, log->nr + log->nr_left_out);
	}
	return true;
}

int measure_costs(struct results *results, const struct run *run, int nr_runs,
		  const struct replay_options *options)
{
	unsigned int repeats = options->cost_repeats;
	struct cost_sample *sample = calloc(((size_t)nr_runs + 1) * repeats, sizeof(*sample));
	struct measured measured = {
		.cost = calloc((size_t)nr_runs + 1, sizeof(*measured.cost)),
		.run = calloc((size_t)nr_runs + 1, sizeof(*measured.run)),
		.value = calloc(repeats, sizeof(*measured.value)),
		.repeats = repeats,
	};
	int ret = -1;

	if (!sample || !measured.cost || !measured.run || !measured.value || !tell(run, nr_runs))
		goto out;
	for (int i = 0; i < nr_runs; i++)
		measured.cost[i].sample = &sample[(size_t)i * repeats];
	cost_host(measured.host, sizeof(measured.host));
	choose(&measured, run, nr_runs, cost_can_measure);
	ret = measure_lru_add(results, &measured);
	for (unsigned int i = 0; !ret && policy_base(i); i++) {
		choose(&measured, run, nr_runs, cost_has_loops);
		keep_policy(&measured, policy_base(i));
		if (measured.nr)
			ret = measure_loops(results, &measured, options);
	}
out:
	free(sample);
	free(measured.cost);
	free(measured.run);
	free(measured.value);
	return ret;
}
