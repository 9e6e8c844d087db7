// SPDX-License-Identifier: GPL-2.0-only
#include "replay/replay_options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/cost/cost.h"
#include "replay/policy_file.h"
#include "schema/command.h"

#define PAGE_BYTES 4096
#define NS_PER_MS 1000000
#define PERTURB_LIMIT 255
#define SEED_LIMIT (INT64_MAX - PERTURB_LIMIT)

static const char usage[] =
	"usage: lrutape replay [options] -o FILE.db TAPE...\n"
	"       lrutape replay --list-policies\n"
	"\n"
	"Run each policy at each memory size over each tape, and write what came of it to a results\n"
	"database. The recorded policy is checked in the same pass: see the agreement table.\n"
	"\n"
	"  -o FILE.db         results database; an existing one is replaced when all runs are done\n"
	"  --policy P         base[@release][+patch[=value]]...; may be given again (preset: as recorded).\n"
	"                     A base may be a file of your own, ./mine.so: see docs/policies.md\n"
	"  --memory M,M,...   limits in place of the recorded one: bytes with K, M or G, or percent of it\n"
	"  --interval MS      milliseconds of trace time between two rows of counters (preset: 1000)\n"
	"  --perturb N        run each N more times, with what a second recording would not have alike drawn\n"
	"                     from seeds: flush phase, CPU interleaving, reclaim start. compare then tells\n"
	"                     a difference from noise\n"
	"  --draws N          run each N more times, with other accesses drawn where the tape cannot show\n"
	"                     whether a mapped page was accessed; --perturb draws these anew as well\n"
	"  --stress           each run also with no access in such time, and with accesses all the time\n"
	"  --seed S           of the first of these (preset: 1); the next ones count on\n"
	"  --cost[=REPEATS]   measure, on this machine, what lru_add() and the policy's loops over lists cost\n"
	"                     by each policy's code; see lrutape compare (preset: 31 repeats in turns; takes\n"
	"                     a second or two a policy, MGLRU's loops half a minute)\n"
	"  --lists N,N,...    folios of the lists that loops are measured over (preset: 8192,65536,1048576)\n"
	"  --list-policies    print policies and patches\n"
	"  --help             print this\n";

static void list_policies(void)
{
	for (unsigned int i = 0; policy_base(i); i++) {
		const struct reclaim_policy *base = policy_base(i);

		printf("%s\n  %s\n  source: %s\n", base->name, base->summary, base->source);
		for (unsigned int j = 0; policy_patch(j); j++) {
			const struct policy_patch *patch = policy_patch(j);

			if (strcmp(patch->base, base->name))
				continue;
			printf("  +%s\n    %s\n    source: %s\n", patch->name, patch->summary,
			       patch->source);
			if (patch->release)
				printf("    of %s@%s only\n", base->name, patch->release);
			if (patch->param)
				printf("    setting %s: %s (%s), %" PRId64 " to %" PRId64
				       ", preset %" PRId64 "\n",
				       patch->param->name, patch->param->help, patch->param->unit,
				       patch->param->least, patch->param->greatest,
				       patch->param->preset);
		}
	}
}

/* One size: 64M, 16384K, 1G, 25%. Return: understood. */
static bool parse_memory(const char *text, size_t size, struct memory_size *memory)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-' || !n)
		return false;
	if (*end == '%' && n <= 100000) {
		memory->percent = (unsigned int)n;
		return end + 1 == text + size;
	}
	switch (*end) {
	case 'G':
	case 'g':
		n = n > UINT64_MAX >> 30 ? UINT64_MAX : n << 30;
		end++;
		break;
	case 'M':
	case 'm':
		n = n > UINT64_MAX >> 20 ? UINT64_MAX : n << 20;
		end++;
		break;
	case 'K':
	case 'k':
		n = n > UINT64_MAX >> 10 ? UINT64_MAX : n << 10;
		end++;
		break;
	default:
		break;
	}
	memory->pages = (int64_t)(n / PAGE_BYTES);
	return end == text + size && n >= PAGE_BYTES && n < (UINT64_C(1) << 52);
}

static bool parse_memories(const char *text, struct replay_options *options)
{
	for (;;) {
		size_t n = strcspn(text, ",");
		struct memory_size *memory = &options->memory[options->nr_memories];

		if (options->nr_memories == MEMORY_LIMIT) {
			fprintf(stderr, "lrutape: replay: more than %d memory sizes\n",
				MEMORY_LIMIT);
			return false;
		}
		*memory = (struct memory_size){ 0 };
		if (!parse_memory(text, n, memory)) {
			fprintf(stderr,
				"lrutape: replay: --memory %.*s: write a size such as 64M, or a share of the "
				"recorded limit such as 50%%\n",
				(int)n, text);
			return false;
		}
		options->nr_memories++;
		if (!text[n])
			return true;
		text += n + 1;
	}
}

static bool parse_number(const char *option, const char *text, uint64_t least, uint64_t greatest,
			 uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number >= least &&
	    *number <= greatest)
		return true;
	fprintf(stderr, "lrutape: replay: --%s %s: a number from %" PRIu64 " to %" PRIu64 "\n",
		option, text, least, greatest);
	return false;
}

/* Over each tape. */
static uint64_t nr_runs(const struct replay_options *options)
{
	uint64_t nr_policies = options->nr_policies ? options->nr_policies : 1;
	uint64_t nr_memories = options->nr_memories ? options->nr_memories : 1;

	return nr_policies * nr_memories *
	       (1 + (uint64_t)options->nr_perturbed + options->nr_draws +
		(options->stress ? 2 : 0));
}

/* @text: NULL for none given. */
static bool parse_repeats(const char *text, unsigned int *repeats)
{
	unsigned long n = COST_REPEATS_PRESET;
	char *end;

	if (text) {
		n = strtoul(text, &end, 10);
		if (*text < '0' || *text > '9' || *end || n < COST_REPEATS_LEAST ||
		    n > COST_REPEATS_LIMIT) {
			fprintf(stderr, "lrutape: replay: --cost=%s: repeats, %d to %d\n", text,
				COST_REPEATS_LEAST, COST_REPEATS_LIMIT);
			return false;
		}
	}
	*repeats = (unsigned int)n;
	return true;
}

/* Lengths, separated by commas. */
static bool parse_lists(const char *text, struct replay_options *options)
{
	options->nr_lists = 0;
	for (;;) {
		char *end;
		uint64_t n = strtoull(text, &end, 10);

		if (*text < '0' || *text > '9' || (*end && *end != ',') || n < COST_LIST_LEAST ||
		    n > COST_LIST_LIMIT || options->nr_lists == COST_LISTS_LIMIT) {
			fprintf(stderr,
				"lrutape: replay: --lists ...%s: up to %d lengths in folios, %d to %" PRIu64
				"\n",
				text, COST_LISTS_LIMIT, COST_LIST_LEAST, COST_LIST_LIMIT);
			return false;
		}
		options->list[options->nr_lists++] = n;
		if (!*end)
			return true;
		text = end + 1;
	}
}

int replay_options_parse(int argc, char **argv, struct replay_options *options)
{
	static const struct option list[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "policy", required_argument, NULL, 'p' },
		{ "memory", required_argument, NULL, 'm' },
		{ "interval", required_argument, NULL, 'i' },
		{ "perturb", required_argument, NULL, 'n' },
		{ "draws", required_argument, NULL, 'd' },
		{ "stress", no_argument, NULL, 'x' },
		{ "seed", required_argument, NULL, 's' },
		{ "cost", optional_argument, NULL, 'c' },
		{ "lists", required_argument, NULL, 'L' },
		{ "list-policies", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	uint64_t n;
	char *end;
	int c;

	optind = 1;
	options->first_seed = 1;
	options->nr_lists = 3;
	options->list[0] = 8 << 10; /* descriptors of these fit a second-level cache, */
	options->list[1] = 64 << 10; /* a third-level one, */
	options->list[2] = 1 << 20; /* and none */
	options->interval_ns = UINT64_C(1000) * NS_PER_MS;
	while ((c = getopt_long(argc, argv, "o:h", list, NULL)) != -1) {
		switch (c) {
		case 'o':
			options->output = optarg;
			break;
		case 'p':
			if (options->nr_policies == POLICY_LIMIT) {
				fprintf(stderr, "lrutape: replay: more than %d policies\n",
					POLICY_LIMIT);
				return COMMAND_MISUSED;
			}
			options->policy[options->nr_policies++] = optarg;
			break;
		case 'm':
			if (!parse_memories(optarg, options))
				return COMMAND_MISUSED;
			break;
		case 'i':
			options->interval_ns = strtoull(optarg, &end, 10) * NS_PER_MS;
			if (*end || end == optarg || !options->interval_ns ||
			    options->interval_ns / NS_PER_MS > 86400000) {
				fprintf(stderr,
					"lrutape: replay: --interval %s: milliseconds, 1 or more\n",
					optarg);
				return COMMAND_MISUSED;
			}
			break;
		case 'n':
			if (!parse_number("perturb", optarg, 1, PERTURB_LIMIT, &n))
				return COMMAND_MISUSED;
			options->nr_perturbed = (unsigned int)n;
			break;
		case 'd':
			if (!parse_number("draws", optarg, 1, PERTURB_LIMIT, &n))
				return COMMAND_MISUSED;
			options->nr_draws = (unsigned int)n;
			break;
		case 'x':
			options->stress = true;
			break;
		case 's':
			if (!parse_number("seed", optarg, 1, SEED_LIMIT, &options->first_seed))
				return COMMAND_MISUSED;
			break;
		case 'c':
			if (!parse_repeats(optarg, &options->cost_repeats))
				return COMMAND_MISUSED;
			break;
		case 'L':
			if (!parse_lists(optarg, options))
				return COMMAND_MISUSED;
			break;
		case 'l':
			list_policies();
			return -1;
		case 'h':
			fputs(usage, stdout);
			return -1;
		default:
			return command_unknown_option("replay");
		}
	}
	options->tape = argv + optind;
	options->nr_tapes = argc - optind;
	if (!options->nr_tapes) {
		fputs("lrutape: replay: at least one tape is needed: lrutape replay -o FILE.db TAPE\n",
		      stderr);
		return COMMAND_MISUSED;
	}
	if (!options->output) {
		fputs("lrutape: replay: -o FILE.db is needed: where the results go\n", stderr);
		return COMMAND_MISUSED;
	}
	if (options->nr_draws && options->nr_perturbed) {
		fputs("lrutape: replay: --draws beside --perturb: a perturbed run draws accesses anew as well, "
		      "leave one of them out\n",
		      stderr);
		return COMMAND_MISUSED;
	}
	if (nr_runs(options) > RUN_LIMIT) {
		fprintf(stderr,
			"lrutape: replay: policies times memory sizes times perturbations are %" PRIu64
			" runs, more than %d: make a database of each half\n",
			nr_runs(options), RUN_LIMIT);
		return COMMAND_MISUSED;
	}
	/* A wrong name is told before a long tape is read. */
	for (unsigned int i = 0; i < options->nr_policies; i++) {
		struct policy_choice choice;
		struct policy_file file;
		const struct mm_rules *rules;
		char why[512];
		unsigned int nr;

		rules = mm_rules_list(&nr);
		if (policy_file_parse(options->policy[i], rules[nr - 1].release, &choice, &file,
				      why, sizeof(why))) {
			fprintf(stderr, "lrutape: replay: --policy %s: %s\n", options->policy[i],
				why);
			return COMMAND_MISUSED;
		}
	}
	return 0;
}
