// SPDX-License-Identifier: GPL-2.0-only
/* lrutape record: options, messages and exit status. recording.c does the work. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/recording.h"
#include "schema/command.h"
#include "schema/tape_reader.h"

#define DEFAULT_BUFFER_BYTES (16u << 20)
/* The kernel takes less, and rounds it up to two pages: a typing error rather than a wish. */
#define MIN_BUFFER_BYTES (8u << 10)

static void print_help(FILE *to)
{
	fputs("usage: lrutape record -o FILE [options] -- COMMAND [ARGUMENT...]\n"
	      "       lrutape record -o FILE [options] --duration SECONDS\n\n"
	      "Run COMMAND and record what it and the rest of the machine ask of page reclaim, or\n"
	      "record the whole machine for some time. Needs root.\n\n"
	      "  -o, --output FILE      the tape to write\n"
	      "  --memory SIZE          run COMMAND in a memory cgroup of its own with this limit\n"
	      "  --swappiness N         of that cgroup (v1 only)\n"
	      "  --events LIST          SYSTEM:EVENT,... records these instead of the default ones;\n"
	      "                         +SYSTEM:EVENT adds, -SYSTEM:EVENT takes away; * and ? match;\n"
	      "                         an item may end in ` if FILTER'\n"
	      "  --buffer-size SIZE     of the kernel's ring buffer for each CPU (default 16M)\n"
	      "  --clock NAME           mono (default) or boot, which counts suspended time\n"
	      "  --duration SECONDS     end then; a COMMAND gets SIGTERM\n"
	      "  -h, --help             this text\n\n"
	      "SIZE is bytes, or with K, M, G, T at its end. The exit status is COMMAND's, 1 if the\n"
	      "recording failed, 2 for wrong options.\n",
	      to);
}

static int misused(const char *what, const char *value, const char *remedy)
{
	fprintf(stderr, "lrutape: %s: %s: %s\n", what, value, remedy);
	return COMMAND_MISUSED;
}

/* "64M": powers of 1024. Return: whether it is one, above zero. */
static bool parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	unsigned int shift = 0;
	const char *unit;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-' || *bytes == 0)
		return false;
	if (*end) {
		unit = strchr(units, *end == 'k' ? 'K' : *end);
		if (!unit)
			return false;
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
		if (*end == 'i')
			end++;
		if (*end == 'B')
			end++;
	}
	if (*end || *bytes > (uint64_t)INT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

static bool parse_seconds(const char *text, uint64_t *ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds > 0) || seconds > 1e8)
		return false;
	*ns = (uint64_t)(seconds * 1e9);
	return *ns > 0;
}

/* The command as one would type it. Return: to be freed. */
static char *join_command(char *const *argv)
{
	size_t size;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (int i = 0; argv && argv[i]; i++) {
		const char *word = argv[i];

		if (i)
			fputc(' ', to);
		if (*word && !word[strcspn(word, " \t\n'\"\\$`&|;<>()*?[]#~!{}")]) {
			fputs(word, to);
			continue;
		}
		fputc('\'', to);
		for (; *word; word++)
			fputs(*word == '\'' ? "'\\''" : (char[]){ *word, '\0' }, to);
		fputc('\'', to);
	}
	return fclose(to) ? NULL : text;
}

enum { OPT_MEMORY = 256, OPT_SWAPPINESS, OPT_EVENTS, OPT_BUFFER_SIZE, OPT_CLOCK, OPT_DURATION };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "swappiness", required_argument, NULL, OPT_SWAPPINESS },
	{ "events", required_argument, NULL, OPT_EVENTS },
	{ "buffer-size", required_argument, NULL, OPT_BUFFER_SIZE },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Return: COMMAND_DONE, or COMMAND_MISUSED with the reason told. */
static int take_option(int option, const char *value, struct recording_options *options)
{
	char *end;

	switch (option) {
	case 'o':
		options->tape = value;
		return COMMAND_DONE;
	case OPT_MEMORY:
		if (!parse_size(value, &options->memory_bytes))
			return misused("--memory", value, "not a size: bytes, or as in 64M or 2G");
		return COMMAND_DONE;
	case OPT_SWAPPINESS:
		options->swappiness = (int)strtol(value, &end, 10);
		if (end == value || *end || options->swappiness < 0 || options->swappiness > 200)
			return misused("--swappiness", value, "not a number from 0 to 200");
		return COMMAND_DONE;
	case OPT_EVENTS:
		options->events = value;
		return COMMAND_DONE;
	case OPT_BUFFER_SIZE:
		if (!parse_size(value, &options->buffer_bytes) ||
		    options->buffer_bytes < MIN_BUFFER_BYTES)
			return misused("--buffer-size", value,
				       "not a size of 8K or more, as in 16M");
		return COMMAND_DONE;
	case OPT_CLOCK:
		options->clock = value;
		if (strcmp(value, "mono") && strcmp(value, "boot"))
			return misused(
				"--clock", value,
				"use mono or boot: snapshots need a clock that programs can read too");
		return COMMAND_DONE;
	case OPT_DURATION:
		if (!parse_seconds(value, &options->duration_ns))
			return misused("--duration", value,
				       "not a number of seconds above 0, as in 10 or 0.5");
		return COMMAND_DONE;
	case ':':
		return misused("record", value,
			       "needs a value; `lrutape record --help` lists the options");
	default:
		return misused("record", value,
			       "no such option; `lrutape record --help` lists them");
	}
}

/* Return: COMMAND_DONE: go on. Others: end with that; *is_help: with success. */
static int take_options(int argc, char **argv, struct recording_options *options, bool *is_help)
{
	int option, status;

	optind = 1;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:o:h", long_options, NULL)) != -1) {
		const char *value = option == ':' || option == '?' ? argv[optind - 1] : optarg;

		*is_help = option == 'h';
		status = *is_help ? COMMAND_DONE : take_option(option, value, options);
		if (*is_help || status)
			return status;
	}
	if (!options->tape)
		return misused("record", "no tape to write", "name it with -o FILE");
	if (optind < argc)
		options->command = argv + optind;
	if (!options->command && !options->duration_ns)
		return misused("record", "no command",
			       "give it after --, or --duration SECONDS for the "
			       "whole machine");
	if (!options->command && (options->memory_bytes != UINT64_MAX || options->swappiness >= 0))
		return misused("record", "--memory and --swappiness are for a command",
			       "give it after --");
	return COMMAND_DONE;
}

/* "1.5 MB" of a tape of so many bytes. */
static void print_bytes(FILE *to, uint64_t bytes)
{
	if (bytes < 1000000)
		fprintf(to, "%.1f kB", (double)bytes / 1e3);
	else
		fprintf(to, "%.1f MB", (double)bytes / 1e6);
}

/* Says what the tape really holds: by opening it, as its first reader. Return: whether it is readable. */
static bool tell_tape(const struct recording_options *options,
		      const struct recording_result *result)
{
	const struct tape_summary *summary;
	struct tape_reader *reader;
	struct tape_problem problem;

	if (tape_reader_open(options->tape, &reader, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return false;
	}
	summary = tape_reader_summary(reader);
	fprintf(stderr, "lrutape: %s: %" PRIu64 " events of %u CPUs in %.2f s, ", options->tape,
		summary->nr_events, result->nr_cpus, (double)result->duration_ns / 1e9);
	print_bytes(stderr, summary->file_bytes);
	if (summary->nr_events)
		fprintf(stderr, ", %.2f bytes an event",
			(double)summary->frame_bytes / (double)summary->nr_events);
	fputc('\n', stderr);
	if (!summary->nr_lost && !summary->nr_losses_unknown && !summary->nr_overrun)
		fprintf(stderr, "lrutape: %s: no events lost\n", options->tape);
	tape_reader_close(reader);
	return true;
}

static int tell_result(const struct recording_options *options,
		       const struct recording_result *result, const struct capture_problem *problem)
{
	int status = result->is_timed_out && result->command_status == 128 + 15 ?
			     0 :
			     result->command_status;

	if (result->nr_events)
		fprintf(stderr,
			"lrutape: %s: recorder: %.0f ns of CPU time an event, %.2f s in all, for %.0f events/s\n",
			options->tape, (double)result->reader_cpu_ns / (double)result->nr_events,
			(double)result->reader_cpu_ns / 1e9,
			(double)result->nr_events * 1e9 / (double)result->duration_ns);
	if (!tell_tape(options, result))
		status = status ? status : COMMAND_FAILED;
	if (result->has_failed) {
		fprintf(stderr, "lrutape: %s\n", problem->text);
		status = status ? status : COMMAND_FAILED;
	}
	if (result->oom_kills) {
		fprintf(stderr,
			"lrutape: the memory limit of %" PRIu64 "K killed %" PRIu64
			" task%s of the command: "
			"raise --memory\n",
			options->memory_bytes / 1024, result->oom_kills,
			result->oom_kills == 1 ? "" : "s");
		status = status ? status : COMMAND_FAILED;
	}
	return status;
}

int command_record(int argc, char **argv)
{
	struct recording_options options = {
		.memory_bytes = UINT64_MAX,
		.swappiness = -1,
		.buffer_bytes = DEFAULT_BUFFER_BYTES,
		.clock = "mono",
	};
	struct recording_result result;
	struct capture_problem problem;
	bool is_help = false;
	char *command_line;
	int status;

	status = take_options(argc, argv, &options, &is_help);
	if (is_help)
		print_help(stdout);
	if (is_help || status)
		return status;
	command_line = join_command(options.command);
	options.command_line = command_line ? command_line : "";
	if (recording_run(&options, stderr, &result, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		status = COMMAND_FAILED;
	} else {
		status = tell_result(&options, &result, &problem);
	}
	free(command_line);
	return status;
}
