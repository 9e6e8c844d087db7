// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a tape is replayed and checked.
 *
 *   bench_replay [--repeats N] [--pages N] [--policy P] [TAPE...]
 *
 * Without a tape it makes an access stream: 5 million requests of single pages with a skewed
 * popularity (the smaller of three even draws), and a limit of --pages (preset 100,000) on it.
 * Replay is the recorded policy (or P) free-running, check is the same teacher-forced; both include reading
 * the tape. Times are CPU times of the one thread; medians over the repeats, with least and greatest.
 * Memory is what the process grew by in the replay, by the pages that are resident in the end.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "replay/check/check.h"
#include "replay/engine/engine.h"
#include "replay/event_stream.h"
#include "replay/mm/mm.h"
#include "replay/tape_policy.h"
#include "schema/tape_writer.h"

#define REPEATS_MAX 101
#define REQUESTS 5000000
#define FOOTPRINT 250000

static unsigned int repeats = 5;
static int64_t pages = 100000;
static const char *policy; /* NULL: as recorded */

static void die(const char *what)
{
	fprintf(stderr, "bench_replay: %s\n", what);
	exit(1);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void report(const char *what, double *value, const char *unit)
{
	qsort(value, repeats, sizeof(value[0]), compare_doubles);
	printf("  %-28s %9.2f %s (%.2f to %.2f in %u runs)\n", what, value[repeats / 2], unit,
	       value[0], value[repeats - 1], repeats);
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

static uint64_t skewed(uint64_t *state)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t page = draw(state) % FOOTPRINT;

		least = page < least ? page : least;
	}
	return least * UINT64_C(2654435761) % FOOTPRINT; /* neighbours in popularity lie apart */
}

static void make_tape(const char *path)
{
	static const struct tape_field fields[] = {
		{ .name = "id", .ctype = "unsigned long", .offset = 8, .size = 8 },
		{ .name = "size", .ctype = "unsigned long", .offset = 16, .size = 8 },
	};
	const struct tape_type type = {
		.system = "lrutape",
		.name = "page_request",
		.format = "",
		.filter = "",
		.field = fields,
		.nr_fields = 2,
	};
	struct tape_problem problem;
	struct tape_writer *writer;
	struct tape_stream *stream;
	uint64_t state = 88172645463325252, value[2] = { 0, 1 };
	uint16_t number;

	if (tape_writer_create(path, NULL, &writer, &problem))
		die(problem.text);
	stream = tape_writer_stream(writer, 0);
	if (!stream || tape_writer_add_type(writer, &type, &number))
		die(tape_writer_problem(writer)->text);
	for (uint64_t i = 0; i < REQUESTS; i++) {
		const struct tape_event event = {
			.timestamp_ns = i * 1000, .pid = 1, .type = number, .value = value
		};

		value[0] = skewed(&state);
		if (tape_stream_event(stream, &event))
			die(tape_writer_problem(writer)->text);
	}
	if (tape_writer_finish(writer, &problem))
		die(problem.text);
}

struct figures {
	double seconds;
	uint64_t accesses, events, misses;
	double page_bytes; /* of memory, a resident page */
};

/* Bytes of this process that are in memory now. */
static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long size, resident = 0;

	if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static struct figures run_once(const char *path, bool checking)
{
	struct figures figures = { 0 };
	struct tape_problem problem;
	struct tape_reader *reader;
	struct tape_policy recorded;
	struct policy_choice choice;
	struct event_stream *stream;
	const struct tape_event *event;
	struct future *future = NULL;
	struct replay *replay = NULL;
	struct check *check = NULL;
	struct world world;
	uint64_t read_end;
	char why[256];
	double begin, before;
	int ret;

	if (tape_reader_open(path, &reader, &problem))
		die(problem.text);
	begin = cpu_seconds();
	if (world_init(&world, reader))
		die("the tape's snapshots cannot be read");
	tape_policy(reader, &recorded);
	if (policy_parse(policy ? policy : recorded.name, recorded.release, &choice, why,
			 sizeof(why)))
		die(why);
	if (choice.base->next_use && future_read(reader, &future))
		die("the future cannot be read");
	before = resident_bytes();
	stream = event_stream_open(reader);
	if (checking)
		check = check_open(&world, &choice, 0);
	else
		replay = replay_open(&world, &choice,
				     world.all_in_command_memcg ? pages : REPLAY_MEMORY_RECORDED);
	if (!stream || (!check && !replay))
		die("out of memory");
	if (replay)
		replay_foretell(replay, future);
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(&world, event);
		if (check)
			check_event(check, event, read_end);
		else
			replay_event(replay, event, read_end);
		world_event_done(&world, event, read_end);
		figures.events++;
	}
	if (ret < 0)
		die(tape_reader_problem(reader)->text);
	if (replay) {
		replay_finish(replay);
		figures.accesses = replay_accesses(replay);
		for (unsigned int n = 0; n < replay_mm(replay)->nr_memcgs; n++)
			figures.misses +=
				replay_mm(replay)->memcg[n]->lruvec[0].counter[COUNT_misses];
		figures.page_bytes = (resident_bytes() - before) /
				     (double)(replay_mm(replay)->root->usage_pages + 1);
	}
	figures.seconds = cpu_seconds() - begin;
	replay_close(replay);
	future_close(future);
	if (check)
		check_close(check);
	event_stream_close(stream);
	world_exit(&world);
	tape_reader_close(reader);
	return figures;
}

static void bench(const char *path, const char *name)
{
	double value[REPEATS_MAX], memory[REPEATS_MAX];
	struct figures figures;
	char what[64];

	figures = run_once(path, false); /* warm */
	printf(" %s: %" PRIu64 " events, %" PRIu64 " accesses, %" PRIu64 " pages missed\n", name,
	       figures.events, figures.accesses, figures.misses);
	for (unsigned int i = 0; i < repeats; i++) {
		figures = run_once(path, false);
		memory[i] = figures.page_bytes;
		value[i] = (double)(figures.accesses ? figures.accesses : figures.events) /
			   figures.seconds / 1e6;
	}
	snprintf(what, sizeof(what), "replay, %s", policy ? policy : "classic");
	report(what, value, figures.accesses ? "million accesses/s" : "million events/s");
	for (unsigned int i = 0; i < repeats; i++)
		value[i] = memory[i];
	report("memory, bytes a page", value, "resident at the end");
	if (policy)
		return;
	for (unsigned int i = 0; i < repeats; i++) {
		figures = run_once(path, true);
		value[i] = (double)figures.events / figures.seconds / 1e6;
	}
	report("check", value, "million events/s");
}

int main(int argc, char **argv)
{
	static const struct option list[] = {
		{ "repeats", required_argument, NULL, 'r' },
		{ "pages", required_argument, NULL, 'p' },
		{ "policy", required_argument, NULL, 'y' },
		{ 0 },
	};
	char path[] = "/tmp/bench-replay-XXXXXX";
	int c, fd;

	while ((c = getopt_long(argc, argv, "", list, NULL)) != -1) {
		switch (c) {
		case 'r':
			repeats = (unsigned int)atoi(optarg);
			break;
		case 'p':
			pages = atoll(optarg);
			break;
		case 'y':
			policy = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!repeats || repeats > REPEATS_MAX || pages < 64)
		die("--repeats: 1 to 101; --pages: 64 or more");
	for (int i = optind; i < argc; i++)
		bench(argv[i], argv[i]);
	if (optind < argc)
		return 0;
	fd = mkstemp(path);
	if (fd < 0)
		die("no temporary file");
	close(fd);
	make_tape(path);
	bench(path, "skewed requests, one page each");
	unlink(path);
	return 0;
}
