// SPDX-License-Identifier: GPL-2.0-only
/* lrutape verify: read every byte of a tape, believe nothing, say what is wrong. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/command.h"
#include "schema/tape_reader.h"

static const char help[] =
	"usage: lrutape verify TAPE...\n\n"
	"Read tapes whole: all checksums, the index against the frames, every event\n"
	"decoded, counted and held against the time order. Prints a line per tape;\n"
	"status 1 if one of them is damaged, torn or without its index.\n\n"
	"  -h, --help        this text\n";

static bool complain(const char *path, const char *what)
{
	fprintf(stderr, "lrutape: %s: %s\n", path, what);
	return false;
}

/* Decode it all and hold the sums against what the headers say. */
static bool events_agree(struct tape_reader *reader, const char *path)
{
	const struct tape_summary *summary = tape_reader_summary(reader);
	uint64_t *nr_events = calloc(summary->nr_types + 1u, sizeof(*nr_events));
	uint64_t nr_lost = 0, nr_unknown = 0, last_ns = 0;
	const struct tape_event *event;
	bool in_order = true, good = true;
	int got;

	if (!nr_events)
		return complain(path, "not enough memory");
	while ((got = tape_reader_next(reader, &event)) > 0) {
		in_order &= event->timestamp_ns >= last_ns;
		last_ns = event->timestamp_ns;
		if (event->kind != EVENT_LOST)
			nr_events[event->type]++;
		else if (event->value[EVENT_LOST_COUNT] == EVENT_LOST_UNKNOWN)
			nr_unknown++;
		else
			nr_lost += event->value[EVENT_LOST_COUNT];
	}
	if (got < 0)
		good = complain(tape_reader_problem(reader)->text, "events before it are usable");
	else if (!in_order)
		good = complain(path, "events out of time order");
	else if (nr_lost != summary->nr_lost || nr_unknown != summary->nr_losses_unknown)
		good = complain(path, "lost events are not as many as the frame headers say");
	for (unsigned int i = 0; i < summary->nr_types && good; i++)
		if (nr_events[i] != tape_reader_type_events(reader, i))
			good = complain(path, "events are not as many as the frame headers say");
	free(nr_events);
	return good;
}

static bool verify(const char *path)
{
	const struct tape_summary *summary;
	struct tape_problem problem;
	struct tape_reader *reader;
	size_t nr_blobs = 0;
	bool good;

	if (tape_reader_open(path, &reader, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return false;
	}
	summary = tape_reader_summary(reader);
	if (tape_reader_check(reader)) {
		fprintf(stderr, "lrutape: %s\n", tape_reader_problem(reader)->text);
		good = false;
	} else {
		good = events_agree(reader, path);
	}
	if (summary->torn) {
		fprintf(stderr,
			"lrutape: %s: torn at byte %" PRIu64 " of %" PRIu64 ": only the %" PRIu64
			" events before are usable\n",
			path, summary->torn_at, summary->file_bytes, summary->nr_events);
		good = false;
	} else if (!summary->has_index) {
		fprintf(stderr,
			"lrutape: %s: without its index: the recording did not end well; its %" PRIu64
			" events are usable\n",
			path, summary->nr_events);
		good = false;
	}
	while (tape_reader_blob(reader, nr_blobs))
		nr_blobs++;
	if (good)
		printf("%s: ok: %" PRIu64 " events of %u types in %" PRIu64
		       " frames, %zu blobs, %" PRIu64 " events lost in known places, %" PRIu64
		       " losses without a count\n",
		       path, summary->nr_events, summary->nr_types, summary->nr_frames, nr_blobs,
		       summary->nr_lost, summary->nr_losses_unknown);
	tape_reader_close(reader);
	return good;
}

int command_verify(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool good = true;
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return COMMAND_DONE;
		}
		return command_unknown_option("verify");
	}
	if (optind == argc) {
		fputs(help, stderr);
		return COMMAND_MISUSED;
	}
	for (int i = optind; i < argc; i++)
		good &= verify(argv[i]);
	return good ? COMMAND_DONE : COMMAND_FAILED;
}
