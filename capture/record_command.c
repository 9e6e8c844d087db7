// SPDX-License-Identifier: GPL-2.0-only
/* lrutape record: options, messages and exit status. recording.c does the work. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/event_set.h"
#include "capture/recording.h"
#include "capture/segment_files.h"
#include "schema/command.h"
#include "schema/tape_reader.h"

#define DEFAULT_BUFFER_BYTES (16u << 20)
/* The kernel takes less, and rounds it up to two pages: a typing error rather than a wish. */
#define MIN_BUFFER_BYTES (8u << 10)
/* Snapshots alone take some 100 kB of each segment. */
#define MIN_SEGMENT_BYTES (1u << 20)
/* Without --rotate a ring is so many segments: what goes at once is a small part of it. */
#define RING_SEGMENTS 8
#define MIN_SNAPSHOT_NS 100000000u
#define MAX_PIDS 256
#define MAX_WARM_FILES 1024

static void print_help(FILE *to)
{
	fputs("usage: lrutape record -o FILE [options] -- COMMAND [ARGUMENT...]\n"
	      "       lrutape record -o FILE [options] --cgroup PATH | --pid PID,... | --all\n"
	      "       lrutape record -o FILE [options] --duration SECONDS\n\n"
	      "Run COMMAND and record what it and the rest of the machine ask of page reclaim; or\n"
	      "record a memory cgroup, processes while they live, or the whole machine, until\n"
	      "Ctrl-C or for some time. Needs root.\n\n"
	      "  -o, --output FILE      the tape to write\n"
	      "What to record:\n"
	      "  --memory SIZE          run COMMAND in a memory cgroup of its own with this limit\n"
	      "  --swap SIZE            swap limit of that cgroup, beside --memory; 0: no swap\n"
	      "  --swappiness N         of that cgroup (v1 only)\n"
	      "  --cgroup PATH          an existing memory cgroup with those below it\n"
	      "  --pid PID,...          these processes\n"
	      "  --all                  the whole machine\n"
	      "  --duration SECONDS     end then; a COMMAND gets SIGTERM\n"
	      "  --events LIST          a set and changes to it: +SYSTEM:EVENT adds, -SYSTEM:EVENT\n"
	      "                         takes away; SYSTEM:EVENT without a set records just these;\n"
	      "                         * and ? match; an item may end in ` if FILTER'. Sets, each\n"
	      "                         with the ones before it (default: the first):\n",
	      to);
	event_set_print(to, "                           ");
	fputs("  --probe-referenced     what reclaim read in page tables, by kprobes on folio_referenced()\n"
	      "  --snapshot-every SECONDS   counters and memory.stat so often, not only at the ends\n"
	      "  --warm                 list the pages on LRU lists at the start\n"
	      "  --warm-file FILE       list the cached pages of FILE; may be given several times\n"
	      "How to keep it:\n"
	      "  --ring SIZE            a flight recorder: segments FILE.000 and on, each a tape; keep\n"
	      "                         the newest SIZE of them\n"
	      "  --rotate SIZE|TIME     begin a new segment so often: 64M, 30s, 10min, 1h\n"
	      "  --max-size SIZE        stop recording when so much is written\n"
	      "  --buffer-size SIZE     of the kernel's ring buffer for each CPU (default 16M)\n"
	      "  --clock NAME           mono (default) or boot, which counts suspended time\n"
	      "  -h, --help             this text\n\n"
	      "SIZE is bytes, or with K, M, G, T at its end. SIGUSR1 and `lrutape mark' put markers on\n"
	      "the tape. The exit status is COMMAND's, 1 if the recording failed, 2 for wrong options.\n",
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

enum {
	OPT_MEMORY = 256,
	OPT_SWAP,
	OPT_SWAPPINESS,
	OPT_CGROUP,
	OPT_PID,
	OPT_ALL,
	OPT_EVENTS,
	OPT_BUFFER_SIZE,
	OPT_CLOCK,
	OPT_DURATION,
	OPT_PROBE_REFERENCED,
	OPT_SNAPSHOT_EVERY,
	OPT_WARM,
	OPT_WARM_FILE,
	OPT_RING,
	OPT_ROTATE,
	OPT_MAX_SIZE,
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "swap", required_argument, NULL, OPT_SWAP },
	{ "swappiness", required_argument, NULL, OPT_SWAPPINESS },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "pid", required_argument, NULL, OPT_PID },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "events", required_argument, NULL, OPT_EVENTS },
	{ "buffer-size", required_argument, NULL, OPT_BUFFER_SIZE },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "probe-referenced", no_argument, NULL, OPT_PROBE_REFERENCED },
	{ "snapshot-every", required_argument, NULL, OPT_SNAPSHOT_EVERY },
	{ "warm", no_argument, NULL, OPT_WARM },
	{ "warm-file", required_argument, NULL, OPT_WARM_FILE },
	{ "ring", required_argument, NULL, OPT_RING },
	{ "rotate", required_argument, NULL, OPT_ROTATE },
	{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* The options, and the lists that they point into. */
struct wish {
	struct recording_options options;
	pid_t pid[MAX_PIDS];
	char *warm_file[MAX_WARM_FILES];
	bool all;
};

static int take_pids(const char *list, struct wish *wish)
{
	const char *at = list;

	do {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0 || pid > INT_MAX || (*end && *end != ','))
			return misused("--pid", list, "not process numbers with commas between");
		if (wish->options.nr_pids == MAX_PIDS)
			return misused("--pid", list, "too many: name their cgroup with --cgroup");
		wish->pid[wish->options.nr_pids++] = (pid_t)pid;
		at = *end ? end + 1 : end;
	} while (*at);
	wish->options.pid = wish->pid;
	return COMMAND_DONE;
}

/* "64M" or "10min". */
static int take_rotate(const char *value, struct recording_options *options)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "s", 1 }, { "min", 60 }, { "h", 3600 } };
	char *end;
	double number = strtod(value, &end);

	for (size_t i = 0; end > value && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name) && number * units[i].seconds >= 1 &&
		    number * units[i].seconds < 1e8) {
			options->rotate_ns = (uint64_t)(number * units[i].seconds * 1e9);
			return COMMAND_DONE;
		}
	if (parse_size(value, &options->rotate_bytes) && options->rotate_bytes >= MIN_SEGMENT_BYTES)
		return COMMAND_DONE;
	return misused(
		"--rotate", value,
		"neither a size of 1M or more, as in 64M, nor a time of 1s or more, as in 30s, "
		"10min, 1h");
}

static int take_size(const char *option, const char *value, uint64_t least, uint64_t *bytes)
{
	char remedy[80];

	if (parse_size(value, bytes) && *bytes >= least)
		return COMMAND_DONE;
	snprintf(remedy, sizeof(remedy), "not a size of %" PRIu64 "%s or more",
		 least >> (least < 1u << 20 ? 10 : 20), least < 1u << 20 ? "K" : "M");
	return misused(option, value, remedy);
}

/* Return: COMMAND_DONE, or COMMAND_MISUSED with the reason told. */
static int take_option(int option, const char *value, struct wish *wish)
{
	struct recording_options *options = &wish->options;
	char *end;

	switch (option) {
	case 'o':
		options->tape = value;
		return COMMAND_DONE;
	case OPT_MEMORY:
		if (!parse_size(value, &options->memory_bytes))
			return misused("--memory", value, "not a size: bytes, or as in 64M or 2G");
		return COMMAND_DONE;
	case OPT_SWAP:
		if (!strcmp(value, "0"))
			options->swap_bytes = 0;
		else if (!parse_size(value, &options->swap_bytes))
			return misused("--swap", value, "not a size: 0, bytes, or as in 64M or 2G");
		return COMMAND_DONE;
	case OPT_SWAPPINESS:
		options->swappiness = (int)strtol(value, &end, 10);
		if (end == value || *end || options->swappiness < 0 || options->swappiness > 200)
			return misused("--swappiness", value, "not a number from 0 to 200");
		return COMMAND_DONE;
	case OPT_CGROUP:
		options->cgroup = value;
		return COMMAND_DONE;
	case OPT_PID:
		return take_pids(value, wish);
	case OPT_ALL:
		wish->all = true;
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
	case OPT_PROBE_REFERENCED:
		options->probe_referenced = true;
		return COMMAND_DONE;
	case OPT_SNAPSHOT_EVERY:
		if (!parse_seconds(value, &options->snapshot_every_ns) ||
		    options->snapshot_every_ns < MIN_SNAPSHOT_NS)
			return misused("--snapshot-every", value,
				       "not a number of seconds from 0.1 on, as in 10");
		return COMMAND_DONE;
	case OPT_WARM:
		options->warm = true;
		return COMMAND_DONE;
	case OPT_WARM_FILE:
		if (options->nr_warm_files == MAX_WARM_FILES)
			return misused("--warm-file", value, "too many: 1024 at most");
		wish->warm_file[options->nr_warm_files++] = (char *)value;
		options->warm_file = wish->warm_file;
		return COMMAND_DONE;
	case OPT_RING:
		return take_size("--ring", value, 8 * MIN_SEGMENT_BYTES, &options->ring_bytes);
	case OPT_ROTATE:
		return take_rotate(value, options);
	case OPT_MAX_SIZE:
		return take_size("--max-size", value, MIN_SEGMENT_BYTES, &options->max_bytes);
	case ':':
		return misused("record", value,
			       "needs a value; `lrutape record --help` lists the options");
	default:
		return misused("record", value,
			       "no such option; `lrutape record --help` lists them");
	}
}

/* What does not go together. */
static int check_wish(struct wish *wish)
{
	struct recording_options *options = &wish->options;
	bool has_group = options->memory_bytes != UINT64_MAX || options->swappiness >= 0 ||
			 options->swap_bytes != UINT64_MAX;

	if (!options->tape)
		return misused("record", "no tape to write", "name it with -o FILE");
	if ((options->cgroup != NULL) + (options->nr_pids > 0) + wish->all > 1)
		return misused("record", "--cgroup, --pid and --all", "use one of them");
	if (!options->command && !options->duration_ns && !options->cgroup && !options->nr_pids &&
	    !wish->all)
		return misused("record", "nothing to record",
			       "give a command after --, --cgroup, --pid or --all, or --duration "
			       "SECONDS for the whole machine");
	if (has_group && (!options->command || options->cgroup || options->nr_pids))
		return misused("record", "--memory, --swap and --swappiness are for a command",
			       "give it after --, without --cgroup and --pid");
	if (options->swap_bytes != UINT64_MAX && options->memory_bytes == UINT64_MAX)
		return misused("record", "--swap is beside a limit of memory",
			       "give that with --memory");
	if (options->ring_bytes && options->max_bytes)
		return misused("record", "--ring goes on, --max-size stops", "use one of them");
	if (options->ring_bytes && !options->rotate_bytes)
		options->rotate_bytes = options->ring_bytes / RING_SEGMENTS;
	if (options->ring_bytes && options->rotate_bytes > options->ring_bytes / 4)
		return misused("record", "--ring is less than four segments of --rotate",
			       "make one larger or the other smaller");
	return COMMAND_DONE;
}

/* Return: COMMAND_DONE: go on. Others: end with that; *is_help: with success. */
static int take_options(int argc, char **argv, struct wish *wish, bool *is_help)
{
	int option, status;

	optind = 1;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:o:h", long_options, NULL)) != -1) {
		const char *value = option == ':' || option == '?' ? argv[optind - 1] : optarg;

		*is_help = option == 'h';
		status = *is_help ? COMMAND_DONE : take_option(option, value, wish);
		if (*is_help || status)
			return status;
	}
	if (optind < argc)
		wish->options.command = argv + optind;
	return check_wish(wish);
}

/* "1.5 MB" of a tape of so many bytes. */
static void print_bytes(FILE *to, uint64_t bytes)
{
	if (bytes < 1000000)
		fprintf(to, "%.1f kB", (double)bytes / 1e3);
	else
		fprintf(to, "%.1f MB", (double)bytes / 1e6);
}

/* What the files of a recording hold, all segments together. */
struct left {
	uint64_t nr_events, nr_lost, file_bytes, frame_bytes;
	unsigned int nr_files;
};

static bool look_at(const char *path, struct left *left)
{
	const struct tape_summary *summary;
	struct tape_reader *reader;
	struct tape_problem problem;

	if (tape_reader_open(path, &reader, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return false;
	}
	summary = tape_reader_summary(reader);
	left->nr_events += summary->nr_events;
	left->nr_lost += summary->nr_lost + summary->nr_losses_unknown + summary->nr_overrun;
	left->file_bytes += summary->file_bytes;
	left->frame_bytes += summary->frame_bytes;
	left->nr_files++;
	tape_reader_close(reader);
	return true;
}

static bool look_at_segments(const struct recording_options *options,
			     const struct recording_result *result, struct left *left)
{
	bool is_good = true;

	for (unsigned int i = result->first_segment; i <= result->last_segment; i++) {
		char *path = segment_files_path(options->tape, i);

		is_good &= path && look_at(path, left);
		free(path);
	}
	return is_good;
}

/* Says what the tape really holds: by opening it, as its first reader. Return: whether it is readable. */
static bool tell_tape(const struct recording_options *options,
		      const struct recording_result *result)
{
	struct left left = { 0 };
	bool is_good = result->is_segmented ? look_at_segments(options, result, &left) :
					      look_at(options->tape, &left);

	if (!left.nr_files)
		return false;
	fprintf(stderr, "lrutape: %s: ", options->tape);
	if (result->is_segmented)
		fprintf(stderr, "%u segments, .%03u to .%03u: ", left.nr_files,
			result->first_segment, result->last_segment);
	fprintf(stderr, "%" PRIu64 " events of %u CPUs in %.2f s, ", left.nr_events,
		result->nr_cpus, (double)result->duration_ns / 1e9);
	print_bytes(stderr, left.file_bytes);
	if (left.nr_events)
		fprintf(stderr, ", %.2f bytes an event",
			(double)left.frame_bytes / (double)left.nr_events);
	fputc('\n', stderr);
	if (!left.nr_lost && !result->nr_lost)
		fprintf(stderr, "lrutape: %s: no events lost\n", options->tape);
	return is_good;
}

/* What it cost, as one weighs it: a share of one CPU, time an event, bytes. */
static void tell_cost(const struct recording_options *options,
		      const struct recording_result *result)
{
	double seconds = (double)result->duration_ns / 1e9;

	if (!result->nr_events || seconds <= 0)
		return;
	fprintf(stderr,
		"lrutape: %s: recorder: %.0f ns of CPU time an event, %.2f s in all (%.1f %% of a CPU), for "
		"%.0f events/s and ",
		options->tape, (double)result->reader_cpu_ns / (double)result->nr_events,
		(double)result->process_cpu_ns / 1e9,
		(double)result->process_cpu_ns / 1e7 / seconds,
		(double)result->nr_events / seconds);
	print_bytes(stderr, (uint64_t)((double)result->tape_bytes / seconds));
	fputs("/s\n", stderr);
}

static int tell_result(const struct recording_options *options,
		       const struct recording_result *result, const struct capture_problem *problem)
{
	int status = result->is_timed_out && result->command_status == 128 + 15 ?
			     0 :
			     result->command_status;

	tell_cost(options, result);
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
	static struct wish wish = {
		.options = {
			.memory_bytes = UINT64_MAX,
			.swap_bytes = UINT64_MAX,
			.swappiness = -1,
			.buffer_bytes = DEFAULT_BUFFER_BYTES,
			.clock = "mono",
		},
	};
	struct recording_options *options = &wish.options;
	struct recording_result result;
	struct capture_problem problem;
	bool is_help = false;
	char *command_line;
	int status;

	status = take_options(argc, argv, &wish, &is_help);
	if (is_help)
		print_help(stdout);
	if (is_help || status)
		return status;
	command_line = join_command(options->command);
	options->command_line = command_line ? command_line : "";
	if (recording_run(options, stderr, &result, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		status = COMMAND_FAILED;
	} else {
		status = tell_result(options, &result, &problem);
	}
	free(command_line);
	return status;
}
