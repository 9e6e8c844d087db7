// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU by CPU, page by page, record by record. A record is the kernel's own: its format file, which
 * trace-cmd keeps too, says what it holds, and it goes to the tape just as `record` puts it there.
 */
#include "capture/import_trace_dat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/format_file.h"
#include "capture/trace_dat.h"
#include "schema/tape_format.h"

#define IDS 65536u /* common_type has 16 bits */

/* What a record begins with, in all formats. Kernel: include/linux/trace_events.h, struct trace_entry. */
#define COMMON_TYPE_AT 0
#define COMMON_BYTES 8

enum use {
	USE_UNTRIED, /* no record of it yet */
	USE_TYPE,
	USE_NOT, /* its format is of no use here */
};

struct event_format {
	const char *system;
	const char *text;
	char *name;
	uint8_t use; /* enum use */
	uint16_t type; /* of the tape */
	uint32_t least_bytes; /* of a record that holds all fields */
	uint64_t nr_events, nr_unread;
};

struct import {
	struct import_job *job;
	struct trace_dat dat;
	const struct trace_dat_buffer *buffer;
	struct event_format *format;
	uint32_t *format_of_id; /* plus 1; 0: none */
	uint64_t nr_no_format, nr_damaged_pages, nr_backwards;
	uint32_t first_no_format;
};

static int fail_dat(struct import *import)
{
	enum tape_error code = import->dat.out_of_memory ? TAPE_ERR_MEMORY :
			       import->dat.read_errno	 ? TAPE_ERR_IO :
							   TAPE_ERR_CORRUPT;

	return import_fail(import->job, code, "%s", import->dat.why);
}

static int fail_memory(struct import *import)
{
	return import_fail(import->job, TAPE_ERR_MEMORY, "no memory to import it");
}

/* ---- formats */

/* "name: NAME" and "ID: N" are the first two lines. */
static bool read_head(const char *text, char *name, size_t size, unsigned int *id)
{
	const char *id_at = strstr(text, "\nID: "), *end;

	if (strncmp(text, "name: ", 6) || !id_at || sscanf(id_at, "\nID: %u", id) != 1 ||
	    *id >= IDS)
		return false;
	text += 6;
	end = strchrnul(text, '\n');
	if (end == text || (size_t)(end - text) >= size)
		return false;
	memcpy(name, text, (size_t)(end - text));
	name[end - text] = '\0';
	return true;
}

static int index_formats(struct import *import)
{
	const struct trace_dat *dat = &import->dat;

	import->format = calloc(dat->nr_formats + 1u, sizeof(*import->format));
	import->format_of_id = calloc(IDS, sizeof(*import->format_of_id));
	if (!import->format || !import->format_of_id)
		return fail_memory(import);
	for (uint32_t i = 0; i < dat->nr_formats; i++) {
		struct event_format *format = &import->format[i];
		unsigned int id;
		char name[256];

		if (!read_head(dat->format[i].text, name, sizeof(name), &id))
			continue;
		format->system = dat->format[i].system;
		format->text = dat->format[i].text;
		format->name = strdup(name);
		if (!format->name)
			return fail_memory(import);
		import->format_of_id[id] = i + 1;
	}
	return 0;
}

/* A type of the tape, at the first record. A format that a tape cannot hold is no failure. */
static int declare(struct import *import, struct event_format *format)
{
	struct format_fields fields;
	struct tape_type type = { 0 };

	format->use = USE_NOT;
	if (format_file_parse(format->text, &fields)) {
		import_note(
			&import->job->report,
			"%s:%s has a format that is not readable: its events are not on the tape",
			format->system, format->name);
		return 0;
	}
	if (fields.nr_fields > TAPE_FIELDS_MAX) {
		import_note(&import->job->report,
			    "%s:%s has more than %u fields: its events are not on the tape",
			    format->system, format->name, TAPE_FIELDS_MAX);
		format_file_free(&fields);
		return 0;
	}
	format->least_bytes = COMMON_BYTES;
	for (unsigned int i = 0; i < fields.nr_fields; i++) {
		const struct tape_field *field = &fields.field[i];
		uint32_t end = (uint32_t)field->offset + field->size;

		if (field->kind != TAPE_FIELD_LEFT_OUT && end > format->least_bytes)
			format->least_bytes = end;
	}
	type.kernel_id = fields.kernel_id;
	type.system = format->system;
	type.name = format->name;
	type.format = format->text;
	type.filter = "";
	type.field = fields.field;
	type.nr_fields = fields.nr_fields;
	if (tape_writer_add_type(import->job->tape, &type, &format->type)) {
		format_file_free(&fields);
		return import_fail_tape(import->job);
	}
	format_file_free(&fields);
	format->use = USE_TYPE;
	return 0;
}

/* ---- records */

/* In ns, as `trace-cmd report` shows it. */
static uint64_t time_of(const struct trace_dat *dat, uint64_t time)
{
	if (dat->tsc_mult)
		time = (uint64_t)((unsigned __int128)time * dat->tsc_mult >> dat->tsc_shift);
	return time + (uint64_t)dat->offset_ns;
}

struct place {
	struct tape_stream *stream;
	uint64_t last_ns;
};

static int take_record(struct import *import, struct place *place, const struct ring_record *record)
{
	struct import_report *report = &import->job->report;
	uint64_t ns = time_of(&import->dat, record->timestamp_ns);
	struct event_format *format;
	unsigned int id;

	report->nr_lines++;
	if (record->size < COMMON_BYTES) {
		import->nr_no_format++;
		report->nr_unread++;
		return 0;
	}
	id = record->data[COMMON_TYPE_AT] | (unsigned int)record->data[COMMON_TYPE_AT + 1] << 8;
	if (!import->format_of_id[id]) {
		if (!import->nr_no_format++)
			import->first_no_format = id;
		report->nr_unread++;
		return 0;
	}
	format = &import->format[import->format_of_id[id] - 1];
	if (format->use == USE_UNTRIED && declare(import, format))
		return import->job->problem.code;
	if (format->use == USE_NOT || record->size < format->least_bytes) {
		format->nr_unread++;
		report->nr_unread++;
		return 0;
	}
	if (ns < place->last_ns) {
		ns = place->last_ns;
		import->nr_backwards++;
	}
	place->last_ns = ns;
	if (tape_stream_record(place->stream, format->type, ns, record->data, record->size))
		return import_fail_tape(import->job);
	format->nr_events++;
	if (!report->nr_events++ || ns < report->first_ns)
		report->first_ns = ns;
	if (ns > report->last_ns)
		report->last_ns = ns;
	return 0;
}

static int take_loss(struct import *import, struct place *place, uint64_t lost)
{
	struct import_report *report = &import->job->report;

	if (!lost)
		return 0;
	report->nr_losses++;
	if (lost != UINT64_MAX)
		report->nr_lost += lost;
	return tape_stream_lost(place->stream, lost == UINT64_MAX ? EVENT_LOST_UNKNOWN : lost) ?
		       import_fail_tape(import->job) :
		       0;
}

/* A page that contradicts itself loses what it held from there on: nobody knows how many. */
static int take_page(struct import *import, struct place *place, const uint8_t *data, size_t bytes)
{
	struct ring_record record;
	struct ring_page page;
	int got;

	if (!ring_page_open(&page, &import->dat.layout, data, bytes)) {
		import->nr_damaged_pages++;
		return take_loss(import, place, UINT64_MAX);
	}
	if (take_loss(import, place, page.lost))
		return import->job->problem.code;
	while ((got = ring_page_next(&page, &record)) > 0)
		if (take_record(import, place, &record))
			return import->job->problem.code;
	if (got == 0)
		return 0;
	import->nr_damaged_pages++;
	return take_loss(import, place, UINT64_MAX);
}

static int take_cpu(struct import *import, const struct trace_dat_cpu *cpu)
{
	struct place place = { .stream = tape_writer_stream(import->job->tape, cpu->number) };
	struct trace_dat_pages pages;
	const uint8_t *page;
	size_t bytes;
	int got, error;

	if (!cpu->size)
		return 0;
	if (!place.stream)
		return fail_memory(import);
	error = trace_dat_pages_open(&pages, &import->dat, import->buffer, cpu) ? fail_dat(import) :
										  0;
	while (!error && (got = trace_dat_pages_next(&pages, &page, &bytes)))
		error = got < 0 ? fail_dat(import) : take_page(import, &place, page, bytes);
	trace_dat_pages_close(&pages);
	return error;
}

/* ---- which buffer */

static bool has_records(const struct trace_dat_buffer *buffer)
{
	for (uint32_t i = 0; i < buffer->nr_cpus; i++)
		if (buffer->cpu[i].size)
			return true;
	return false;
}

/* Names of the buffers that hold records, for messages. */
static void list_instances(const struct trace_dat *dat, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < dat->nr_buffers && used < size; i++)
		if (dat->buffer[i].name[0] && has_records(&dat->buffer[i]))
			used += (size_t)snprintf(text + used, size - used, "%s%.64s",
						 used ? ", " : "", dat->buffer[i].name);
}

static int choose_buffer(struct import *import)
{
	const struct trace_dat *dat = &import->dat;
	const char *wanted = import->job->options.instance;
	char others[128];

	list_instances(dat, others, sizeof(others));
	if (dat->has_text)
		return import_fail(
			import->job, TAPE_ERR_CORRUPT,
			"a latency trace, kept as text: print it with `trace-cmd report` and "
			"import that with --from ftrace-text");
	for (uint32_t i = 0; i < dat->nr_buffers && !import->buffer; i++)
		if (!strcmp(dat->buffer[i].name, wanted ? wanted : ""))
			import->buffer = &dat->buffer[i];
	if (!import->buffer && wanted)
		return import_fail(import->job, TAPE_ERR_CORRUPT, "no instance %.60s: %s%s", wanted,
				   others[0] ? "there are: " : "there are none", others);
	if (!import->buffer || !has_records(import->buffer))
		return import_fail(import->job, TAPE_ERR_CORRUPT, "no records in %s%.60s%s%s",
				   wanted ? "instance " : "the main buffer", wanted ? wanted : "",
				   others[0] ? ": choose another with --instance: " :
					       ": nothing was recorded",
				   others);
	if (!wanted && others[0])
		import_note(&import->job->report,
			    "instances are NOT on the tape: import each with --instance: %s",
			    others);
	return 0;
}

/* ---- what else the file tells */

static int add_blob(struct import *import, uint32_t moment, const char *name, const char *data,
		    size_t size)
{
	const struct import_report *report = &import->job->report;
	const struct tape_blob blob = {
		.timestamp_ns = moment == TAPE_MOMENT_END ? report->last_ns : report->first_ns,
		.moment = moment,
		.name = name,
		.data = data,
		.size = size,
	};

	return tape_writer_add_blob(import->job->tape, &blob) ? import_fail_tape(import->job) : 0;
}

/* Lines "PID NAME" become lines of lrutape/tasks, without what trace-cmd does not know. */
static int add_tasks(struct import *import)
{
	const char *line = import->dat.comms ? import->dat.comms : "";
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	int error;

	if (!to)
		return fail_memory(import);
	for (const char *end; *line; line = *end ? end + 1 : end) {
		unsigned int pid;
		int used = 0;

		end = strchrnul(line, '\n');
		if (sscanf(line, "%10u%n", &pid, &used) == 1 && pid && pid <= INT32_MAX &&
		    line + used < end && line[used] == ' ')
			fprintf(to, "%u 0 0 %.*s\n", pid, (int)(end - line - used - 1),
				line + used + 1);
	}
	if (fclose(to)) {
		free(text);
		return fail_memory(import);
	}
	error = add_blob(import, TAPE_MOMENT_START, "lrutape/tasks", text, size);
	free(text);
	return error;
}

/*
 * The kernel's own count of what it overwrote. Those of an instance follow a line "Buffer: NAME", in
 * a piece of its own; those of the main buffer come first.
 */
static int add_stats(struct import *import)
{
	const char *buffer = "";
	char name[64];

	for (uint32_t i = 0; i < import->dat.nr_stats; i++) {
		const char *text = import->dat.stats[i], *heading = strstr(text, "Buffer: ");
		const char *cpu_at = strstr(text, "CPU: ");
		unsigned int cpu;
		size_t size;

		if (heading)
			buffer = heading + strlen("Buffer: ");
		size = strcspn(buffer, "\n");
		if (!cpu_at || sscanf(cpu_at, "CPU: %u\n", &cpu) != 1 || cpu >= TAPE_CPUS_MAX ||
		    strlen(import->buffer->name) != size ||
		    memcmp(import->buffer->name, buffer, size))
			continue;
		cpu_at = strchr(cpu_at, '\n');
		if (!cpu_at)
			continue;
		snprintf(name, sizeof(name), "lrutape/per_cpu/%u/stats", cpu);
		if (add_blob(import, TAPE_MOMENT_END, name, cpu_at + 1, strlen(cpu_at + 1)))
			return import->job->problem.code;
	}
	return 0;
}

static int add_clock(struct import *import)
{
	char text[300];
	int size = snprintf(text, sizeof(text), "trace_clock %.255s\n", import->dat.clock);

	return import->dat.clock[0] ?
		       add_blob(import, TAPE_MOMENT_START, "lrutape/clock", text, (size_t)size) :
		       0;
}

/* "SYSTEM NODE RELEASE MACHINE"; the node's name is nobody's business. */
static void read_release(struct import *import)
{
	char release[65];

	if (import->dat.uname && sscanf(import->dat.uname, "%*s %*s %64s", release) == 1)
		memcpy(import->job->report.release, release, sizeof(release));
}

static void note_clock(struct import *import)
{
	const char *clock = import->dat.clock;

	if (!clock[0] || !strcmp(clock, "mono") || !strcmp(clock, "boot") ||
	    !strcmp(clock, "global") || !strcmp(clock, "mono_raw") || !strcmp(clock, "tai"))
		return;
	if (import->dat.tsc_mult)
		return;
	import_note(
		&import->job->report,
		"recorded with the clock \"%.32s\": events of different CPUs may stand in a wrong "
		"order: record with -C mono",
		clock);
}

static int write_report(struct import *import)
{
	struct import_report *report = &import->job->report;

	for (uint32_t i = 0; i < import->dat.nr_formats; i++) {
		const struct event_format *format = &import->format[i];

		if (format->nr_events &&
		    !import_add_tally(report, format->name, format->nr_events, false))
			return fail_memory(import);
		if (format->nr_unread && format->use == USE_TYPE)
			import_note(report,
				    "%s:%s: %" PRIu64 " records are shorter than their format",
				    format->system, format->name, format->nr_unread);
	}
	if (import->nr_no_format)
		import_note(report,
			    "%" PRIu64
			    " records are of events that the file does not describe, the first "
			    "of number %" PRIu32,
			    import->nr_no_format, import->first_no_format);
	if (import->nr_damaged_pages)
		import_note(report,
			    "%" PRIu64
			    " pages are damaged: what they held from there on is counted as "
			    "lost",
			    import->nr_damaged_pages);
	if (import->nr_backwards)
		import_note(report,
			    "on a CPU time went back %" PRIu64
			    " times: these events have the time of "
			    "those before",
			    import->nr_backwards);
	if (import->dat.has_time_shift)
		import_note(report,
			    "a guest's trace: its times are its own, and not moved to the host's");
	note_clock(import);
	report->nr_cpus = import->dat.nr_cpus;
	return 0;
}

static int import_records(struct import *import)
{
	int error = choose_buffer(import);

	error = error ? error : index_formats(import);
	for (uint32_t i = 0; !error && i < import->buffer->nr_cpus; i++)
		error = take_cpu(import, &import->buffer->cpu[i]);
	return error;
}

int import_trace_dat(struct import_job *job)
{
	struct import import = { .job = job };
	struct tape_problem first;
	uint64_t file_bytes;
	int fd, error, rest = 0;

	if (import_source_spool(job->input, &fd, &file_bytes))
		return import_fail_input(job);
	error = trace_dat_open(&import.dat, fd, file_bytes) ? fail_dat(&import) :
							      import_records(&import);
	/* What was read may be kept, so its report and tasks are made after a failure, too. */
	first = job->problem;
	if (import.format_of_id && tape_writer_problem(job->tape)->code == TAPE_OK) {
		read_release(&import);
		rest = write_report(&import);
		if (!rest && job->report.nr_events) {
			rest = add_tasks(&import);
			rest = rest ? rest : add_clock(&import);
			rest = rest ? rest : add_stats(&import);
		}
	}
	if (error)
		job->problem = first;
	else
		error = rest;
	if (!error && !job->report.nr_events)
		error = import_fail(job, TAPE_ERR_CORRUPT,
				    "none of its %" PRIu64 " records became an event",
				    job->report.nr_lines);
	for (uint32_t i = 0; import.format && i < import.dat.nr_formats; i++)
		free(import.format[i].name);
	free(import.format);
	free(import.format_of_id);
	trace_dat_close(&import.dat);
	return error;
}
