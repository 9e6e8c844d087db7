// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/check/report.h"
#include "replay/event_stream.h"
#include "replay/policy_file.h"
#include "replay/results.h"
#include "replay/tape_policy.h"
#include "replay/tape_rows.h"
#include "replay/world/world.h"
#include "schema/command.h"
#include "schema/tape_reader.h"

#define EXPLAIN_LIMIT 100000

static const char usage[] =
	"usage: lrutape check [options] TAPE\n"
	"\n"
	"Replay the policy that the tape's kernel ran, predict each decision that the tape shows,\n"
	"and count the equal ones. After each comparison the recorded decision is what happens.\n"
	"\n"
	"  -o FILE.db    write what was found to a results database as well; an existing one is replaced\n"
	"  --all         print the table of every memcg, not only of the recorded ones\n"
	"  --explain N   print the N first mismatches with the state around them\n"
	"  --json        print one JSON object instead of the table\n"
	"  --policy P    predict by another policy than the recorded one\n"
	"  --verdicts FILE.csv   write what the kernel found of each mapped folio that it isolated\n"
	"  --help        print this\n";

struct check_options {
	const char *tape, *policy, *output, *verdicts;
	unsigned int nr_explain;
	bool json, all;
};

static int parse_options(int argc, char **argv, struct check_options *options)
{
	static const struct option list[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "all", no_argument, NULL, 'a' },
		{ "explain", required_argument, NULL, 'e' },
		{ "json", no_argument, NULL, 'j' },
		{ "policy", required_argument, NULL, 'p' },
		{ "verdicts", required_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	char *end;
	long n;
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "o:h", list, NULL)) != -1) {
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
		case 'o':
			options->output = optarg;
			break;
		case 'a':
			options->all = true;
			break;
		case 'j':
			options->json = true;
			break;
		case 'v':
			options->verdicts = optarg;
			break;
		case 'p':
			options->policy = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return -1;
		default:
			return command_unknown_option("check");
		}
	}
	return command_one_tape(argc, argv, &options->tape);
}

/* The policy that predicts, and which one the tape's kernel ran. Return: 0 or a status, with a message. */
static int choose(const struct check_options *options, const struct tape_reader *reader,
		  struct tape_policy *recorded, struct policy_choice *choice)
{
	struct policy_file file;
	char why[512];

	tape_policy(reader, recorded);
	if (recorded->warning[0])
		fprintf(stderr, "lrutape: %s: note: %s\n", options->tape, recorded->warning);
	if (policy_file_parse(options->policy ? options->policy : recorded->name, recorded->release,
			      choice, &file, why, sizeof(why))) {
		fprintf(stderr, "lrutape: check: %s\n", why);
		return COMMAND_MISUSED;
	}
	if (file.core) {
		fprintf(stderr,
			"lrutape: check: %s is a variant of the whole core, which only `lrutape replay` runs\n",
			file.name);
		return COMMAND_MISUSED;
	}
	if (choice->base->next_use) {
		fprintf(stderr,
			"lrutape: check: %s knows the future, which no kernel does: `lrutape replay` runs it\n",
			choice->base->name);
		return COMMAND_MISUSED;
	}
	return 0;
}

static int read_tape(struct event_stream *stream, struct world *world, struct check *check)
{
	const struct tape_event *event;
	const uint32_t *victims;
	unsigned int nr_victims;
	uint64_t read_end;
	int ret;

	event_stream_foresee(stream, check_foresees(check));
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(world, event);
		victims = event_stream_victims(stream, &nr_victims);
		check_foresee(check, event, victims, nr_victims);
		check_event(check, event, read_end);
		world_event_done(world, event, read_end);
	}
	return check_failed(check) ? TAPE_ERR_MEMORY : ret;
}

/* Everything that was found, to options->output. Return: 0 or -1, with a message. */
static int write_results(const struct check_report *report, struct results *results)
{
	struct results_problem problem;
	int64_t tape_id;

	tape_rows_begin(results, report->tape, report->reader, report->world,
			report->recorded_policy, report->choice, &tape_id);
	tape_rows_end(results, tape_id, report->world, report->check);
	if (!results_commit(results, &problem))
		return 0;
	fprintf(stderr, "lrutape: %s\n", problem.text);
	return -1;
}

struct verdict_file {
	FILE *to;
	const struct world *world;
};

static void write_verdict(void *ctx, const struct check_verdict *verdict)
{
	const struct verdict_file *file = ctx;
	const struct world_file *of = &file->world->file[verdict->file];

	fprintf(file->to, "%s,%s,%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIx32 ",%s",
		check_word_name(verdict->word), check_outcome_name(verdict->outcome),
		verdict->is_file ? "file" : "anon", verdict->first ? "first" : "again",
		verdict->unsure ? "unsure" : "sure", verdict->since_ns, verdict->begin_ns,
		verdict->end_ns, verdict->pfn, file->world->memcg[verdict->memcg].path);
	if (verdict->is_file)
		fprintf(file->to, ",%" PRIu64 ":%" PRIu64 ",%" PRIu64 ",%" PRIu64, of->dev >> 20,
			of->dev & 0xfffff, of->ino, verdict->index);
	else
		fputs(",,,", file->to);
	if (verdict->told)
		fprintf(file->to, ",%" PRId32 "\n", verdict->referenced);
	else
		fputs(",\n", file->to);
}

/* Return: whether it is open. */
static bool open_verdicts(const char *path, const struct world *world, struct check *check,
			  struct verdict_file *file)
{
	file->world = world;
	file->to = fopen(path, "w");
	if (!file->to) {
		fprintf(stderr, "lrutape: %s: %s\n", path, strerror(errno));
		return false;
	}
	fputs("word,outcome,kind,look,trust,since_ns,begin_ns,end_ns,pfn,memcg,dev,inode,page,referenced\n",
	      file->to);
	check_tell_verdicts(check, write_verdict, file);
	return true;
}

static int run(const struct check_options *options, struct tape_reader *reader, struct world *world)
{
	struct check_report report = {
		.tape = options->tape,
		.world = world,
		.reader = reader,
		.nr_mismatches = options->nr_explain,
	};
	unsigned int nr_kept = options->nr_explain;
	struct tape_policy recorded;
	struct policy_choice choice;
	struct event_stream *stream = NULL;
	struct check *check = NULL;
	struct results *results = NULL;
	struct results_problem problem;
	struct verdict_file verdicts = { 0 };
	int ret, status = choose(options, reader, &recorded, &choice);

	if (status)
		return status;
	status = COMMAND_FAILED;
	if (options->output &&
	    results_create(options->output, LRUTAPE_VERSION, &results, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return COMMAND_FAILED;
	}
	if (results && nr_kept < MISMATCHES_KEPT)
		nr_kept = MISMATCHES_KEPT;
	check = check_open(world, &choice, nr_kept);
	if (check && options->verdicts &&
	    !open_verdicts(options->verdicts, world, check, &verdicts))
		goto out;
	ret = check ? check_look_ahead(check, reader) : TAPE_ERR_MEMORY;
	stream = ret ? NULL : event_stream_open(reader);
	if (!ret)
		ret = stream ? read_tape(stream, world, check) : TAPE_ERR_MEMORY;
	if (ret < 0) {
		fprintf(stderr, "lrutape: %s\n",
			ret == TAPE_ERR_MEMORY ? "check: out of memory" :
						 tape_reader_problem(reader)->text);
		goto out;
	}
	report.recorded_policy = recorded.name;
	report.choice = &choice;
	report.check = check;
	if (results) {
		ret = write_results(&report, results);
		results = NULL;
		if (ret)
			goto out;
	}
	if (options->json)
		check_report_json(&report);
	else
		check_report_text(&report, options->all);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
		goto out;
	}
	if (verdicts.to) {
		ret = ferror(verdicts.to);
		ret |= fclose(verdicts.to);
		verdicts.to = NULL;
		if (ret) {
			fprintf(stderr, "lrutape: %s: cannot write it all\n", options->verdicts);
			goto out;
		}
	}
	status = COMMAND_DONE;
out:
	if (verdicts.to)
		fclose(verdicts.to);
	results_abandon(results);
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
