// SPDX-License-Identifier: GPL-2.0-only
/* lrutape info: what a person wants to know of a tape before using it; losses loudly. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schema/command.h"
#include "schema/fidelity.h"
#include "schema/json_out.h"
#include "schema/tape_reader.h"

static const char help[] =
	"usage: lrutape info [--json] TAPE\n\n"
	"Tell what a tape holds: where and when it was recorded, events by type, bytes\n"
	"per event, and what was lost.\n\n"
	"  --json            one JSON object\n"
	"  -h, --help        this text\n";

/* First line of a blob taken at the start; NULL if the tape has none. Owned by the caller. */
static char *fact(const struct tape_reader *reader, const char *name)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START, name);

	return blob ? strndup(blob->data, strcspn(blob->data, "\n")) : NULL;
}

/* The number behind "KEY " or "KEY: " at a line's start. */
static bool number_in(const char *text, const char *key, uint64_t *number)
{
	size_t size = strlen(key);

	while (text && *text) {
		if (!strncmp(text, key, size) && strchr(" :=", text[size]) && text[size]) {
			*number = strtoull(text + size + strspn(text + size, " :="), NULL, 10);
			return true;
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return false;
}

static uint64_t number_of_blob(const struct tape_reader *reader, uint32_t moment, const char *name,
			       const char *key)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, moment, name);
	uint64_t number = 0;

	return blob && number_in(blob->data, key, &number) ? number : 0;
}

/* The kernel's own count of what it overwrote on a CPU while the tape ran. */
static uint64_t overrun_of_cpu(const struct tape_reader *reader, uint32_t cpu)
{
	uint64_t start, end;
	char name[64];

	snprintf(name, sizeof(name), "lrutape/per_cpu/%u/stats", cpu);
	start = number_of_blob(reader, TAPE_MOMENT_START, name, "overrun");
	end = number_of_blob(reader, TAPE_MOMENT_END, name, "overrun");
	return end > start ? end - start : 0;
}

static uint32_t nr_possible_cpus(const struct tape_reader *reader)
{
	uint32_t nr = tape_reader_summary(reader)->nr_cpus, cpu;
	const struct tape_blob *blob;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++)
		if (sscanf(blob->name, "lrutape/per_cpu/%u/stats", &cpu) == 1 && cpu < 65536 &&
		    cpu >= nr)
			nr = cpu + 1;
	return nr;
}

static double per_event(uint64_t bytes, uint64_t nr_events)
{
	return nr_events ? (double)bytes / (double)nr_events : 0;
}

static int compare_types(const void *a, const void *b, void *reader)
{
	uint64_t nr_a = tape_reader_type_events(reader, *(const unsigned int *)a);
	uint64_t nr_b = tape_reader_type_events(reader, *(const unsigned int *)b);

	if (nr_a != nr_b)
		return nr_a > nr_b ? -1 : 1;
	return *(const unsigned int *)a < *(const unsigned int *)b ? -1 : 1;
}

static void print_line(const char *title, char *value)
{
	if (value && *value)
		printf("%-10s %s\n", title, value);
	free(value);
}

static void print_started(const struct tape_reader *reader)
{
	uint64_t realtime_ns = number_of_blob(reader, TAPE_MOMENT_START, "lrutape/clock",
					      "realtime_ns");
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm utc;
	char text[64];

	if (realtime_ns && gmtime_r(&seconds, &utc) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc))
		printf("%-10s %s\n", "started", text);
}

static void print_memcg(const struct tape_reader *reader)
{
	char *memcg = fact(reader, "lrutape/memcg"), path[256];
	uint64_t inode, limit;

	if (memcg && sscanf(memcg, "%" SCNu64 " %255s %" SCNu64, &inode, path, &limit) == 3)
		printf("%-10s %s, inode %" PRIu64 ", limit %" PRIu64 " bytes (%.1f MiB)\n", "memcg",
		       path, inode, limit, (double)limit / (1 << 20));
	else if (memcg)
		printf("%-10s %s\n", "memcg", memcg);
	free(memcg);
}

static void print_losses(const struct tape_reader *reader)
{
	const struct tape_summary *summary = tape_reader_summary(reader);
	uint32_t nr_cpus = nr_possible_cpus(reader);

	if (!summary->nr_lost && !summary->nr_losses_unknown && !summary->nr_overrun) {
		printf("%-10s nothing\n", "lost");
		return;
	}
	printf("%-10s %" PRIu64 " EVENTS LOST in known places", "LOST", summary->nr_lost);
	if (summary->nr_losses_unknown)
		printf(", and in %" PRIu64 " places the kernel did not count them",
		       summary->nr_losses_unknown);
	putchar('\n');
	if (summary->nr_overrun)
		printf("%-10s %" PRIu64 " EVENTS OVERWRITTEN by the kernel's own count\n", "LOST",
		       summary->nr_overrun);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		if (overrun_of_cpu(reader, cpu))
			printf("%-10s   CPU %u: %" PRIu64 "\n", "", cpu,
			       overrun_of_cpu(reader, cpu));
}

#define LOSS_LINES 5 /* of each tape; all of them are in lrutape/recorder and in the dump */

/* Between which events they were lost, as the recorder listed them. */
static void print_loss_places(const struct tape_reader *reader)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_END,
							     "lrutape/recorder");
	unsigned int nr = 0, cpu;

	for (const char *line = blob ? blob->data : ""; *line; line += *line == '\n') {
		uint64_t since, until;
		char count[24];

		if (sscanf(line, "loss %u since_ns %" SCNu64 " until_ns %" SCNu64 " lost %23s",
			   &cpu, &since, &until, count) == 4 &&
		    nr++ < LOSS_LINES)
			printf("%-10s   CPU %u: %s, between %" PRIu64 ".%09" PRIu64 " and %" PRIu64
			       ".%09" PRIu64 "\n",
			       "", cpu, count, since / 1000000000, since % 1000000000,
			       until / 1000000000, until % 1000000000);
		line = strchrnul(line, '\n');
	}
	if (nr > LOSS_LINES)
		printf("%-10s   and more places: `lrutape dump` shows all of them\n", "");
}

/* What the recording cost: a share of one CPU, time an event, rates. */
static void print_recorder(const struct tape_reader *reader)
{
	const struct tape_summary *summary = tape_reader_summary(reader);
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_END,
							     "lrutape/recorder");
	uint64_t reader_ns = 0, process_ns = 0, duration_ns = 0, events = 0, bytes = 0;

	if (!blob || !number_in(blob->data, "reader_cpu_ns", &reader_ns))
		return;
	printf("%-10s %.0f ns of CPU an event", "recorder",
	       per_event(reader_ns, summary->nr_events));
	if (number_in(blob->data, "duration_ns", &duration_ns) && duration_ns)
		printf(", %.1f %% of a CPU", 100 * (double)reader_ns / (double)duration_ns);
	if (number_in(blob->data, "events_per_second", &events) &&
	    number_in(blob->data, "bytes_per_second", &bytes))
		printf("; %" PRIu64 " events/s, %.3f MB/s", events, (double)bytes / 1e6);
	if (number_in(blob->data, "process_cpu_ns", &process_ns))
		printf("; %.2f s of CPU since its start, set-up and snapshots included",
		       (double)process_ns / 1e9);
	putchar('\n');
}

static void print_fidelity(const struct tape_reader *reader)
{
	struct fidelity fidelity;

	fidelity_of_tape(reader, &fidelity);
	printf("%-10s %c: %s\n", "fidelity", fidelity.grade, fidelity.grade_meaning);
	for (enum fidelity_aspect aspect = 0; aspect < FIDELITY_ASPECTS; aspect++)
		printf("%-10s   %-18s %s: %s\n", "", fidelity_aspect_title(aspect),
		       fidelity_level_name(aspect, fidelity.level[aspect]),
		       fidelity_level_meaning(aspect, fidelity.level[aspect]));
}

static int print_text(const char *path, struct tape_reader *reader)
{
	const struct tape_summary *summary = tape_reader_summary(reader);
	double seconds = (double)(summary->last_ns - summary->first_ns) / 1e9;
	unsigned int *order = calloc(summary->nr_types + 1u, sizeof(*order));
	size_t nr_blobs = 0;

	if (!order) {
		fprintf(stderr, "lrutape: %s: not enough memory\n", path);
		return COMMAND_FAILED;
	}
	while (tape_reader_blob(reader, nr_blobs))
		nr_blobs++;
	printf("%-10s %s, ", "tape", path);
	if (summary->file_bytes < 1 << 20)
		printf("%" PRIu64 " bytes", summary->file_bytes);
	else
		printf("%.2f MiB", (double)summary->file_bytes / (1 << 20));
	printf(", format version %u, %s\n", summary->format_version,
	       summary->torn	  ? "TORN" :
	       summary->has_index ? "complete" :
				    "WITHOUT ITS INDEX");
	print_line("kernel", fact(reader, "lrutape/release"));
	print_line("machine", fact(reader, "lrutape/uname"));
	print_line("recorded", fact(reader, "lrutape/what"));
	print_line("command", fact(reader, "lrutape/command"));
	print_line("segment", fact(reader, "lrutape/segment"));
	print_line("imported", fact(reader, "lrutape/source"));
	print_memcg(reader);
	print_started(reader);
	printf("%-10s %.6f s, from %" PRIu64 ".%09" PRIu64 " of the trace clock\n", "duration",
	       seconds, summary->first_ns / 1000000000, summary->first_ns % 1000000000);
	printf("%-10s %u\n", "CPUs", summary->nr_cpus);
	printf("%-10s %" PRIu64 " in %" PRIu64 " frames", "events", summary->nr_events,
	       summary->nr_frames);
	if (seconds > 0)
		printf(", %.0f a second", (double)summary->nr_events / seconds);
	printf(", %.2f bytes an event", per_event(summary->frame_bytes, summary->nr_events));
	printf(" (%.2f with all else)\n", per_event(summary->file_bytes, summary->nr_events));
	print_recorder(reader);
	printf("%-10s %zu files and facts: `lrutape dump --blobs` lists them\n", "snapshots",
	       nr_blobs);
	print_losses(reader);
	print_loss_places(reader);
	print_fidelity(reader);
	for (unsigned int i = 0; i < summary->nr_types; i++)
		order[i] = i;
	qsort_r(order, summary->nr_types, sizeof(*order), compare_types, reader);
	printf("\n%12s %6s  %s\n", "events", "share", "type");
	for (unsigned int i = 0; i < summary->nr_types; i++) {
		const struct tape_type *type = tape_reader_type(reader, order[i]);
		uint64_t nr = tape_reader_type_events(reader, order[i]);

		if (!nr) { /* in the order of their numbers, the rest have none either */
			printf("%12s         and %u more types that had no event\n", "",
			       summary->nr_types - i);
			break;
		}
		printf("%12" PRIu64 " %5.1f%%  %s:%s", nr, 100 * per_event(nr, summary->nr_events),
		       type->system, type->name);
		printf(type->filter[0] ? "  [%s]\n" : "\n", type->filter);
	}
	free(order);
	return COMMAND_DONE;
}

static void print_json_fact(const struct tape_reader *reader, const char *key, const char *name)
{
	char *value = fact(reader, name);

	printf(",\"%s\":", key);
	if (value)
		json_string(stdout, value, strlen(value));
	else
		printf("null");
	free(value);
}

static void print_json_fidelity(const struct tape_reader *reader)
{
	struct fidelity fidelity;

	fidelity_of_tape(reader, &fidelity);
	printf(",\"fidelity\":{\"grade\":\"%c\"", fidelity.grade);
	for (enum fidelity_aspect aspect = 0; aspect < FIDELITY_ASPECTS; aspect++)
		printf(",\"%s\":\"%s\"", fidelity_aspect_name(aspect),
		       fidelity_level_name(aspect, fidelity.level[aspect]));
	putchar('}');
}

static int print_json(const char *path, struct tape_reader *reader)
{
	const struct tape_summary *summary = tape_reader_summary(reader);
	uint32_t nr_cpus = nr_possible_cpus(reader);
	const char *separator = "";

	printf("{\"tape\":");
	json_string(stdout, path, strlen(path));
	printf(",\"format_version\":%u,\"file_bytes\":%" PRIu64 ",\"frame_bytes\":%" PRIu64,
	       summary->format_version, summary->file_bytes, summary->frame_bytes);
	printf(",\"has_index\":%s,\"torn\":%s,\"torn_at\":", summary->has_index ? "true" : "false",
	       summary->torn ? "true" : "false");
	if (summary->torn)
		printf("%" PRIu64, summary->torn_at);
	else
		printf("null");
	print_json_fact(reader, "release", "lrutape/release");
	print_json_fact(reader, "uname", "lrutape/uname");
	print_json_fact(reader, "command", "lrutape/command");
	print_json_fact(reader, "source", "lrutape/source");
	print_json_fact(reader, "memcg", "lrutape/memcg");
	printf(",\"realtime_ns\":%" PRIu64,
	       number_of_blob(reader, TAPE_MOMENT_START, "lrutape/clock", "realtime_ns"));
	printf(",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64 ",\"nr_cpus\":%u",
	       summary->first_ns, summary->last_ns, summary->nr_cpus);
	printf(",\"nr_frames\":%" PRIu64 ",\"nr_events\":%" PRIu64 ",\"bytes_per_event\":%.4f",
	       summary->nr_frames, summary->nr_events,
	       per_event(summary->frame_bytes, summary->nr_events));
	printf(",\"recorder_cpu_ns\":%" PRIu64,
	       number_of_blob(reader, TAPE_MOMENT_END, "lrutape/recorder", "reader_cpu_ns"));
	printf(",\"nr_lost\":%" PRIu64 ",\"nr_losses_unknown\":%" PRIu64 ",\"nr_overrun\":%" PRIu64,
	       summary->nr_lost, summary->nr_losses_unknown, summary->nr_overrun);
	print_json_fidelity(reader);
	printf(",\"overrun_by_cpu\":[");
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		printf("%s%" PRIu64, cpu ? "," : "", overrun_of_cpu(reader, cpu));
	printf("],\"types\":[");
	for (unsigned int i = 0; i < summary->nr_types; i++) {
		const struct tape_type *type = tape_reader_type(reader, i);

		printf("%s{\"system\":", separator);
		json_string(stdout, type->system, strlen(type->system));
		printf(",\"event\":");
		json_string(stdout, type->name, strlen(type->name));
		printf(",\"filter\":");
		json_string(stdout, type->filter, strlen(type->filter));
		printf(",\"nr_events\":%" PRIu64 "}", tape_reader_type_events(reader, i));
		separator = ",";
	}
	printf("]}\n");
	return COMMAND_DONE;
}

int command_info(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const struct tape_summary *summary;
	struct tape_problem problem;
	struct tape_reader *reader;
	bool json = false;
	const char *path;
	int option, status;

	optind = 0;
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(help, stdout);
			return COMMAND_DONE;
		default:
			return command_unknown_option("info");
		}
	}
	if (command_one_tape(argc, argv, &path))
		return COMMAND_MISUSED;
	if (tape_reader_open(path, &reader, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return COMMAND_FAILED;
	}
	summary = tape_reader_summary(reader);
	if (summary->torn)
		fprintf(stderr,
			"lrutape: %s: warning: torn at byte %" PRIu64 " of %" PRIu64
			": only what stands before is told of\n",
			path, summary->torn_at, summary->file_bytes);
	else if (!summary->has_index)
		fprintf(stderr,
			"lrutape: %s: warning: without its index: the recording did not end well\n",
			path);
	status = json ? print_json(path, reader) : print_text(path, reader);
	tape_reader_close(reader);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
		return COMMAND_FAILED;
	}
	return status;
}
