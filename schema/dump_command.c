// SPDX-License-Identifier: GPL-2.0-only
/*
 * lrutape dump: a tape's events, one a line, as text or JSON; or its blobs.
 *
 * Text: COMM-PID [CPU] SECONDS.NNNNNNNNN: EVENT: FIELD=VALUE ...
 * Fields come in the order of the kernel's format file. Integers are decimal, except pfn and names
 * that end in "flags", which are hexadecimal with 0x; bytes are hexadecimal digits; in text, what is
 * not printable ASCII, and the backslash, is \xNN.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/command.h"
#include "schema/json_out.h"
#include "schema/tape_reader.h"
#include "schema/task_names.h"

#define EVENT_NAMES_MAX 64

struct dump_options {
	const char *path;
	const char *event[EVENT_NAMES_MAX];
	unsigned int nr_events;
	uint64_t limit; /* 0: none */
	bool json;
	bool list_blobs;
	const char *blob;
	uint32_t moment;
	bool any_moment;
};

static const char help[] =
	"usage: lrutape dump [options] TAPE\n\n"
	"Print the events of a tape, one a line, in time order over all CPUs.\n\n"
	"  --event NAME      only events of this name (mm_lru_insertion or\n"
	"                    pagemap:mm_lru_insertion); may be given several times;\n"
	"                    lines that tell of lost events are always printed\n"
	"  --limit N         stop after N events\n"
	"  --json            one JSON object a line\n"
	"  --blobs           list the files and facts that were copied to the tape\n"
	"  --blob NAME       print one of them\n"
	"  --moment WHICH    with --blob: start, end or a number; default: the first\n"
	"  -h, --help        this text\n";

static void print_text(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c > 0x7e || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
}

static bool in_hex(const char *name)
{
	size_t size = strlen(name);

	return !strcmp(name, "pfn") || (size >= 5 && !strcmp(name + size - 5, "flags"));
}

static void print_bytes(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		printf("%02x", (unsigned char)bytes[i]);
}

static void print_text_field(const struct tape_event *event, const struct tape_field *field)
{
	size_t size;
	const char *text;

	switch (field->kind) {
	case TAPE_FIELD_INTEGER:
		if (in_hex(field->name))
			printf("0x%" PRIx64, event->value[field->slot]);
		else if (field->is_signed)
			printf("%" PRId64, (int64_t)event->value[field->slot]);
		else
			printf("%" PRIu64, event->value[field->slot]);
		break;
	case TAPE_FIELD_STRING:
		text = tape_event_string(event, field->slot, &size);
		print_text(text, size);
		break;
	default:
		text = tape_event_string(event, field->slot, &size);
		print_bytes(text, size);
	}
}

static void print_time(uint64_t ns)
{
	printf("%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void print_event_text(const struct tape_event *event, const struct tape_type *type,
			     const char *comm)
{
	if (event->kind == EVENT_LOST) {
		printf("<lost> [%03u] ", event->cpu);
		print_time(event->timestamp_ns);
		if (event->value[EVENT_LOST_COUNT] == EVENT_LOST_UNKNOWN)
			printf(": LOST: events=unknown since=");
		else
			printf(": LOST: events=%" PRIu64 " since=", event->value[EVENT_LOST_COUNT]);
		print_time(event->value[EVENT_LOST_SINCE_NS]);
		putchar('\n');
		return;
	}
	print_text(comm ? comm : "<...>", strlen(comm ? comm : "<...>"));
	printf("-%d [%03u] ", event->pid, event->cpu);
	print_time(event->timestamp_ns);
	fputs(": ", stdout);
	print_text(type->name, strlen(type->name));
	putchar(':');
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		if (type->field[i].kind == TAPE_FIELD_LEFT_OUT)
			continue;
		putchar(' ');
		print_text(type->field[i].name, strlen(type->field[i].name));
		putchar('=');
		print_text_field(event, &type->field[i]);
	}
	putchar('\n');
}

static void print_json_field(const struct tape_event *event, const struct tape_field *field)
{
	size_t size;
	const char *text;

	if (field->kind == TAPE_FIELD_INTEGER) {
		if (field->is_signed)
			printf("%" PRId64, (int64_t)event->value[field->slot]);
		else
			printf("%" PRIu64, event->value[field->slot]);
		return;
	}
	text = tape_event_string(event, field->slot, &size);
	if (field->kind == TAPE_FIELD_STRING) {
		json_string(stdout, text, size);
	} else {
		putchar('"');
		print_bytes(text, size);
		putchar('"');
	}
}

static void print_event_json(const struct tape_event *event, const struct tape_type *type,
			     const char *comm)
{
	const char *separator = "";

	printf("{\"time_ns\":%" PRIu64 ",\"cpu\":%u", event->timestamp_ns, event->cpu);
	if (event->kind == EVENT_LOST) {
		printf(",\"event\":\"LOST\",\"fields\":{\"count\":");
		if (event->value[EVENT_LOST_COUNT] == EVENT_LOST_UNKNOWN)
			printf("null");
		else
			printf("%" PRIu64, event->value[EVENT_LOST_COUNT]);
		printf(",\"since_ns\":%" PRIu64 "}}\n", event->value[EVENT_LOST_SINCE_NS]);
		return;
	}
	printf(",\"pid\":%d,\"comm\":", event->pid);
	if (comm)
		json_string(stdout, comm, strlen(comm));
	else
		printf("null");
	printf(",\"flags\":%u,\"preempt_count\":%u,\"system\":", event->flags,
	       event->preempt_count);
	json_string(stdout, type->system, strlen(type->system));
	printf(",\"event\":");
	json_string(stdout, type->name, strlen(type->name));
	printf(",\"fields\":{");
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		if (type->field[i].kind == TAPE_FIELD_LEFT_OUT)
			continue;
		printf("%s", separator);
		json_string(stdout, type->field[i].name, strlen(type->field[i].name));
		putchar(':');
		print_json_field(event, &type->field[i]);
		separator = ",";
	}
	printf("}}\n");
}

static bool names_type(const char *name, const struct tape_type *type)
{
	size_t system_bytes = strlen(type->system);

	if (!strcmp(name, type->name))
		return true;
	return !strncmp(name, type->system, system_bytes) && name[system_bytes] == ':' &&
	       !strcmp(name + system_bytes + 1, type->name);
}

/* Which types to print, by number. Return: NULL with the message printed when a name is not there. */
static bool *choose_types(const struct dump_options *options, const struct tape_reader *reader)
{
	unsigned int nr_types = tape_reader_summary(reader)->nr_types;
	bool *wanted = calloc(nr_types + 1u, sizeof(*wanted));

	if (!wanted) {
		fprintf(stderr, "lrutape: %s: not enough memory\n", options->path);
		return NULL;
	}
	for (unsigned int i = 0; i < nr_types && !options->nr_events; i++)
		wanted[i] = true;
	for (unsigned int i = 0; i < options->nr_events; i++) {
		bool found = false;

		for (unsigned int j = 0; j < nr_types; j++) {
			if (!names_type(options->event[i], tape_reader_type(reader, j)))
				continue;
			wanted[j] = true;
			found = true;
		}
		if (!found) {
			fprintf(stderr,
				"lrutape: %s: %s: no such event on this tape: `lrutape info %s` "
				"lists those it has\n",
				options->path, options->event[i], options->path);
			free(wanted);
			return NULL;
		}
	}
	return wanted;
}

static int dump_events(const struct dump_options *options, struct tape_reader *reader)
{
	struct task_names *names = task_names_new(reader);
	bool *wanted = choose_types(options, reader);
	const struct tape_event *event;
	uint64_t nr_printed = 0;
	int got = 0;

	if (!names || !wanted) {
		free(wanted);
		task_names_free(names);
		return COMMAND_FAILED;
	}
	while ((!options->limit || nr_printed < options->limit) &&
	       (got = tape_reader_next(reader, &event)) > 0) {
		const struct tape_type *type = NULL;
		const char *comm = NULL;

		if (event->kind != EVENT_LOST) {
			task_names_note(names, event);
			if (!wanted[event->type])
				continue;
			type = tape_reader_type(reader, event->type);
			comm = task_names_get(names, event->pid);
			nr_printed++;
		}
		if (options->json)
			print_event_json(event, type, comm);
		else
			print_event_text(event, type, comm);
		if (ferror(stdout))
			break;
	}
	free(wanted);
	task_names_free(names);
	if (got < 0) {
		fflush(stdout);
		fprintf(stderr, "lrutape: %s\n", tape_reader_problem(reader)->text);
		return COMMAND_FAILED;
	}
	return COMMAND_DONE;
}

static void print_moment(uint32_t moment)
{
	if (moment == TAPE_MOMENT_START)
		printf("%-6s", "start");
	else if (moment == TAPE_MOMENT_END)
		printf("%-6s", "end");
	else
		printf("%-6u", moment);
}

static int list_blobs(const struct dump_options *options, const struct tape_reader *reader)
{
	const struct tape_blob *blob;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++) {
		if (options->json) {
			printf("{\"moment\":%u,\"time_ns\":%" PRIu64 ",\"bytes\":%zu,\"name\":",
			       blob->moment, blob->timestamp_ns, blob->size);
			json_string(stdout, blob->name, strlen(blob->name));
			puts("}");
			continue;
		}
		print_moment(blob->moment);
		putchar(' ');
		print_time(blob->timestamp_ns);
		printf(" %8zu ", blob->size);
		print_text(blob->name, strlen(blob->name));
		putchar('\n');
	}
	return COMMAND_DONE;
}

static int print_blob(const struct dump_options *options, const struct tape_reader *reader)
{
	const struct tape_blob *blob;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++) {
		if (strcmp(blob->name, options->blob) != 0 ||
		    (!options->any_moment && blob->moment != options->moment))
			continue;
		fwrite(blob->data, 1, blob->size, stdout);
		return COMMAND_DONE;
	}
	fprintf(stderr,
		"lrutape: %s: %s: no such blob%s: `lrutape dump --blobs %s` lists those it has\n",
		options->path, options->blob, options->any_moment ? "" : " of that moment",
		options->path);
	return COMMAND_FAILED;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number <= max;
}

static bool parse_moment(const char *text, struct dump_options *options)
{
	uint64_t number;

	options->any_moment = false;
	if (!strcmp(text, "start"))
		number = TAPE_MOMENT_START;
	else if (!strcmp(text, "end"))
		number = TAPE_MOMENT_END;
	else if (!parse_number(text, UINT32_MAX, &number))
		return false;
	options->moment = (uint32_t)number;
	return true;
}

/* Return: -1 to go on, else the exit status. */
static int parse_options(int argc, char **argv, struct dump_options *options)
{
	static const struct option long_options[] = {
		{ "event", required_argument, NULL, 'e' },
		{ "limit", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ "blobs", no_argument, NULL, 'B' },
		{ "blob", required_argument, NULL, 'b' },
		{ "moment", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (option) {
		case 'e':
			if (options->nr_events == EVENT_NAMES_MAX) {
				fprintf(stderr, "lrutape: dump: at most %d times --event\n",
					EVENT_NAMES_MAX);
				return COMMAND_MISUSED;
			}
			options->event[options->nr_events++] = optarg;
			break;
		case 'n':
			if (!parse_number(optarg, UINT64_MAX, &options->limit) || !options->limit) {
				fprintf(stderr, "lrutape: dump: --limit %s: not a number above 0\n",
					optarg);
				return COMMAND_MISUSED;
			}
			break;
		case 'j':
			options->json = true;
			break;
		case 'B':
			options->list_blobs = true;
			break;
		case 'b':
			options->blob = optarg;
			break;
		case 'm':
			if (!parse_moment(optarg, options)) {
				fprintf(stderr,
					"lrutape: dump: --moment %s: not start, end or a number\n",
					optarg);
				return COMMAND_MISUSED;
			}
			break;
		case 'h':
			fputs(help, stdout);
			return COMMAND_DONE;
		default:
			return command_unknown_option("dump");
		}
	}
	return command_one_tape(argc, argv, &options->path) ? COMMAND_MISUSED : -1;
}

int command_dump(int argc, char **argv)
{
	struct dump_options options = { .any_moment = true };
	const struct tape_summary *summary;
	struct tape_problem problem;
	struct tape_reader *reader;
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	if (tape_reader_open(options.path, &reader, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return COMMAND_FAILED;
	}
	summary = tape_reader_summary(reader);
	if (summary->torn)
		fprintf(stderr,
			"lrutape: %s: warning: torn at byte %" PRIu64 " of %" PRIu64
			": only what stands before is used\n",
			options.path, summary->torn_at, summary->file_bytes);
	else if (!summary->has_index)
		fprintf(stderr,
			"lrutape: %s: warning: without its index: the recording did not end well\n",
			options.path);
	if (options.list_blobs)
		status = list_blobs(&options, reader);
	else if (options.blob)
		status = print_blob(&options, reader);
	else
		status = dump_events(&options, reader);
	tape_reader_close(reader);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "lrutape: standard output: %s\n", strerror(errno));
		return COMMAND_FAILED;
	}
	return status;
}
