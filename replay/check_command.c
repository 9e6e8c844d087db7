// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/check/check.h"
#include "replay/event_stream.h"
#include "replay/tape_policy.h"
#include "replay/world/world.h"
#include "schema/command.h"
#include "schema/json_out.h"
#include "schema/tape_reader.h"

#define EXPLAIN_LIMIT 100000

static const char usage[] =
	"usage: lrutape check [options] TAPE\n"
	"\n"
	"Replay the policy that the tape's kernel ran, predict each decision that the tape shows,\n"
	"and count the equal ones. After each comparison the recorded decision is what happens.\n"
	"\n"
	"  --all         print the table of every memcg, not only of the recorded command's\n"
	"  --explain N   print the N first mismatches with the state around them\n"
	"  --json        print an array of {memcg, decision, decided, equal, first_mismatch_ns}\n"
	"  --policy P    predict by another policy than the recorded one\n"
	"  --help        print this\n";

struct check_options {
	const char *tape, *policy;
	unsigned int nr_explain;
	bool json, all;
};

static int parse_options(int argc, char **argv, struct check_options *options)
{
	static const struct option list[] = {
		{ "all", no_argument, NULL, 'a' },  { "explain", required_argument, NULL, 'e' },
		{ "json", no_argument, NULL, 'j' }, { "policy", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	char *end;
	long n;
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "h", list, NULL)) != -1) {
		switch (c) {
		case 'e':
			n = strtol(optarg, &end, 10);
			if (*end || end == optarg || n < 0 || n > EXPLAIN_LIMIT) {
				fprintf(stderr,
					"lrutape: check: --explain %s: a number up to %d is needed\n",
					optarg, EXPLAIN_LIMIT);
				return COMMAND_MISUSED;
			}
			options->nr_explain = (unsigned int)n;
			break;
		case 'a':
			options->all = true;
			break;
		case 'j':
			options->json = true;
			break;
		case 'p':
			options->policy = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return -1;
		default:
			fputs("lrutape: check: `lrutape check --help` tells the options\n", stderr);
			return COMMAND_MISUSED;
		}
	}
	if (optind + 1 != argc) {
		fputs("lrutape: check: exactly one tape is needed: lrutape check TAPE\n", stderr);
		return COMMAND_MISUSED;
	}
	options->tape = argv[optind];
	return 0;
}

static void print_json(const struct world *world, const struct check *check)
{
	const char *separator = "\n";

	fputs("[", stdout);
	for (uint32_t n = 0; n < world->nr_memcgs; n++) {
		for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
			const struct check_tally *tally = check_tally(check, n,
								      (enum check_decision)d);

			if (!tally)
				continue;
			printf("%s  {\"memcg\": ", separator);
			json_string(stdout, world->memcg[n].path, strlen(world->memcg[n].path));
			printf(", \"decision\": \"%s\", \"decided\": %" PRIu64
			       ", \"equal\": %" PRIu64 ", \"first_mismatch_ns\": ",
			       check_name((enum check_decision)d), tally->decided, tally->equal);
			if (tally->first_mismatch_ns == UINT64_MAX)
				fputs("null}", stdout);
			else
				printf("%" PRIu64 "}", tally->first_mismatch_ns);
			separator = ",\n";
		}
	}
	fputs("\n]\n", stdout);
}

static void print_seconds(uint64_t ns)
{
	printf("%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns / 1000 % 1000000);
}

/* Percent, rounded down, so that only a perfect row reads 100. */
static void print_share(const struct check_tally *tally)
{
	uint64_t basis = tally->equal * 10000 / tally->decided; /* 1/100 percent */

	if (tally->equal > UINT64_MAX / 1000000)
		basis = tally->equal / (tally->decided / 10000);
	printf("%4" PRIu64 ".%02" PRIu64 " %%", basis / 100, basis % 100);
}

static void print_memcg(const struct world *world, const struct check *check, uint32_t n)
{
	bool titled = false;

	for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
		const struct check_tally *tally = check_tally(check, n, (enum check_decision)d);

		if (!tally)
			continue;
		if (!titled)
			printf("memcg %s\n  %-16s %10s %10s %9s  first mismatch\n",
			       world->memcg[n].path, "decision", "decided", "equal", "share");
		titled = true;
		printf("  %-16s %10" PRIu64 " %10" PRIu64 " ", check_name((enum check_decision)d),
		       tally->decided, tally->equal);
		print_share(tally);
		if (tally->first_mismatch_ns != UINT64_MAX) {
			fputs("  at ", stdout);
			print_seconds(tally->first_mismatch_ns);
			printf(": predicted %s, recorded %s", tally->predicted, tally->recorded);
		}
		fputs("\n", stdout);
	}
	if (titled)
		fputs("\n", stdout);
}

/* One line for what other groups of the machine did meanwhile. */
static void print_others(const struct world *world, const struct check *check)
{
	struct check_tally sum = { 0 };
	unsigned int nr = 0;

	for (uint32_t n = 0; n < world->nr_memcgs; n++) {
		uint64_t before = sum.decided;

		for (int d = 0; d < NR_CHECK_DECISIONS && n != world->command_memcg; d++) {
			const struct check_tally *tally = check_tally(check, n,
								      (enum check_decision)d);

			sum.decided += tally ? tally->decided : 0;
			sum.equal += tally ? tally->equal : 0;
		}
		nr += sum.decided > before;
	}
	if (!nr)
		return;
	printf("other memcgs: %u, %" PRIu64 " decided, %" PRIu64 " equal,", nr, sum.decided,
	       sum.equal);
	print_share(&sum);
	fputs(" (--all shows them)\n\n", stdout);
}

static void print_count(uint64_t nr, const char *what)
{
	if (nr)
		printf("  %10" PRIu64 "  %s\n", nr, what);
}

static void print_undecided(const struct check *check, const struct tape_summary *summary)
{
	const struct check_undecided *undecided = check_undecided(check);
	uint64_t lost = summary->nr_overrun > summary->nr_lost ? summary->nr_overrun :
								 summary->nr_lost;

	puts("seen and not decided, on the whole machine:");
	print_count(undecided->unseen_folio,
		    "insertions and activations of folios older than the tape");
	print_count(undecided->metadata, "of block device folios, whose accesses are in no event");
	print_count(undecided->writeback, "victims whose writeback ended unseen");
	print_count(undecided->survivors,
		    "isolated folios that survived, locked or held by somebody");
	print_count(undecided->warm_group,
		    "reclaim calls for groups that were not empty at the start");
	print_count(undecided->global_reclaim, "calls of kswapd and direct reclaim");
	print_count(check_foreign(check),
		    "folios evicted by others (DAMON, other groups' reclaim)");
	printf("events lost: %" PRIu64 "%s\n", lost,
	       summary->nr_losses_unknown ? ", and losses of unknown size" : "");
}

static void print_table(const struct check_options *options, const struct world *world,
			const struct check *check, const struct tape_reader *reader)
{
	const struct tape_summary *summary = tape_reader_summary(reader);

	if (options->all || world->command_memcg == WORLD_ROOT) {
		for (uint32_t n = 0; n < world->nr_memcgs; n++)
			print_memcg(world, check, n);
	} else {
		print_memcg(world, check, world->command_memcg);
		print_others(world, check);
	}
	print_undecided(check, summary);
}

static void print_explained(const struct world *world, const struct check *check)
{
	const struct check_mismatch *mismatch;

	for (unsigned int i = 0; (mismatch = check_mismatch(check, i)); i++) {
		fputs("\n", stdout);
		print_seconds(mismatch->timestamp_ns);
		printf(" [%u] task %d, memcg %s: %s\n  predicted %s\n  recorded  %s\n  %s\n",
		       mismatch->cpu, mismatch->pid, world->memcg[mismatch->memcg].path,
		       check_name(mismatch->decision), mismatch->predicted, mismatch->recorded,
		       mismatch->state);
	}
}

static int run(const struct check_options *options, struct tape_reader *reader, struct world *world)
{
	char why[256];
	struct tape_policy recorded;
	struct policy_choice choice;
	const struct tape_event *event;
	struct event_stream *stream;
	struct check *check;
	uint64_t read_end;
	int ret, status = COMMAND_FAILED;

	if (tape_policy(reader, &recorded, why, sizeof(why))) {
		fprintf(stderr, "lrutape: %s: %s\n", options->tape, why);
		return COMMAND_FAILED;
	}
	if (recorded.warning[0])
		fprintf(stderr, "lrutape: %s: note: %s\n", options->tape, recorded.warning);
	if (policy_parse(options->policy ? options->policy : recorded.name, recorded.release,
			 &choice, why, sizeof(why))) {
		fprintf(stderr, "lrutape: check: %s\n", why);
		return COMMAND_MISUSED;
	}
	if (choice.base->next_use) {
		fprintf(stderr,
			"lrutape: check: %s knows the future, which no kernel does: `lrutape replay` runs it\n",
			choice.base->name);
		return COMMAND_MISUSED;
	}
	stream = event_stream_open(reader);
	check = check_open(world, &choice, options->nr_explain);
	if (!stream || !check) {
		fputs("lrutape: check: out of memory\n", stderr);
		goto out;
	}
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(world, event);
		check_event(check, event, read_end);
		world_event_done(world, event, read_end);
	}
	if (ret < 0) {
		fprintf(stderr, "lrutape: %s\n",
			ret == TAPE_ERR_MEMORY ? "check: out of memory" :
						 tape_reader_problem(reader)->text);
		goto out;
	}
	if (check_failed(check)) {
		fputs("lrutape: check: out of memory\n", stderr);
		goto out;
	}
	if (options->json) {
		print_json(world, check);
	} else {
		print_table(options, world, check, reader);
		print_explained(world, check);
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
		goto out;
	}
	status = COMMAND_DONE;
out:
	if (check)
		check_close(check);
	event_stream_close(stream);
	return status;
}

int command_check(int argc, char **argv)
{
	struct check_options options = { 0 };
	struct tape_problem problem;
	struct tape_reader *reader;
	struct world world;
	int status = parse_options(argc, argv, &options);

	if (status)
		return status < 0 ? COMMAND_DONE : status;
	if (tape_reader_open(options.tape, &reader, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return COMMAND_FAILED;
	}
	if (tape_reader_summary(reader)->torn)
		fprintf(stderr,
			"lrutape: %s: torn at byte %" PRIu64 ": what stands before is used\n",
			options.tape, tape_reader_summary(reader)->torn_at);
	if (world_init(&world, reader)) {
		if (tape_reader_problem(reader)->code)
			fprintf(stderr, "lrutape: %s\n", tape_reader_problem(reader)->text);
		else
			fputs("lrutape: check: out of memory\n", stderr);
		tape_reader_close(reader);
		return COMMAND_FAILED;
	}
	status = run(&options, reader, &world);
	world_exit(&world);
	tape_reader_close(reader);
	return status;
}
