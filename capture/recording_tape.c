// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tape of a recording: types and settings before the events, counters around them. A recording in
 * segments does all of it for each one, so that every file is a whole tape:
 *
 *	next one: file, types, settings, counters and tasks of its start
 *	readers turn from the old one to it
 *	old one: counters of its end, finished; the oldest files go if there are too many
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "capture/format_file.h"
#include "capture/recording_state.h"

/* The kernel adds pending changes to memory.stat every 2 s (mm/memcontrol.c, FLUSH_TIME, 5.14 to 6.18). */
#define FLUSH_WAIT_NS 2100000000u

/* ---- types */

static int add_type(struct recording *r, struct tape_type *type, const char *format,
		    const struct format_fields *fields, uint16_t *number)
{
	type->kernel_id = fields->kernel_id;
	type->format = format;
	type->field = fields->field;
	type->nr_fields = fields->nr_fields;
	if (tape_writer_add_type(r->writer, type, number))
		return recording_tape_problem(r);
	if (fields->kernel_id)
		r->type_of_id[fields->kernel_id] = *number;
	return 0;
}

/* The readers look into these records: a task put into another cgroup than its parent's. */
static void note_newtask(struct recording *r, const struct format_fields *fields, uint16_t number)
{
	bool has_pid = false, has_flags = false;

	for (unsigned int i = 0; i < fields->nr_fields; i++) {
		const struct tape_field *field = &fields->field[i];

		if (!strcmp(field->name, "pid") && field->size == 4) {
			r->setup.newtask_pid_offset = field->offset;
			has_pid = true;
		} else if (!strcmp(field->name, "clone_flags") && field->size == 8) {
			r->setup.newtask_flags_offset = field->offset;
			has_flags = true;
		}
	}
	if (has_pid && has_flags && r->hierarchy.version)
		r->setup.newtask_type = number;
}

/*
 * What a task does for others, as against what it does by itself: whoever runs on a CPU drains its LRU
 * batches, reclaims and frees other tasks' folios, and flushes their statistics. The recorder's own
 * part in that must stay on the tape, or folios would enter lists unseen. And a device's interrupt stands
 * under the name of whatever it interrupted.
 */
static bool is_done_for_others(const struct event_choice *choice)
{
	static const char *const systems[] = { "pagemap", "vmscan", "memcg", "migrate", "oom" };
	static const char *const events[] = { "mm_filemap_delete_from_page_cache", "mm_page_free",
					      "mm_page_free_batched", "mm_page_pcpu_drain",
					      /* In the interrupt that the disk chose to come at. */
					      "block_rq_complete" };

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (!strcmp(choice->system, systems[i]))
			return true;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(choice->event, events[i]))
			return true;
	return false;
}

static int declare_type(struct recording *r, const struct event_choice *choice)
{
	struct format_fields fields;
	struct tape_type type = {
		.system = choice->system,
		.name = choice->event,
		.filter = choice->filter,
	};
	char file[256], *format;
	uint16_t number;
	int error;

	snprintf(file, sizeof(file), "events/%s/%s/format", choice->system, choice->event);
	format = trace_instance_read(r->instance, file, NULL);
	if (!format)
		return capture_problem_set(r->problem, "%s: cannot read: %s", file,
					   strerror(errno));
	if (format_file_parse(format, &fields)) {
		free(format);
		return capture_problem_set(
			r->problem,
			"%s:%s: its format file is not understood: record without "
			"it, --events -%s:%s",
			choice->system, choice->event, choice->system, choice->event);
	}
	error = add_type(r, &type, format, &fields, &number);
	if (!error)
		r->setup.is_own_work[number] = !is_done_for_others(choice);
	if (!error && !strcmp(choice->system, "task") && !strcmp(choice->event, "task_newtask"))
		note_newtask(r, &fields, number);
	format_file_free(&fields);
	free(format);
	return error;
}

/*
 * What is written to trace_marker. The event is always on and cannot be switched; its text has no
 * declared size, and its address is one of the kernel's.
 */
static int declare_marker(struct recording *r)
{
	struct tape_type type = { .system = "ftrace", .name = "print", .filter = "" };
	char *format = trace_instance_read(r->instance, "events/ftrace/print/format", NULL);
	struct format_fields fields;
	uint16_t number;
	int error = 0;

	r->setup.marker_type = RING_READER_NO_TYPE;
	if (!format || format_file_parse(format, &fields)) {
		free(format);
		return 0;
	}
	for (unsigned int i = 0; i < fields.nr_fields; i++) {
		struct tape_field *field = &fields.field[i];

		if (strcmp(field->name, "buf")) {
			field->kind = TAPE_FIELD_LEFT_OUT;
			continue;
		}
		field->kind = TAPE_FIELD_STRING;
		r->setup.marker_text_offset = field->offset;
		error = add_type(r, &type, format, &fields, &number);
		if (!error)
			r->setup.marker_type = number;
	}
	format_file_free(&fields);
	free(format);
	return error;
}

/* An event of our own: no kernel has a format for it. */
static int declare_task_memcg(struct recording *r)
{
	static const struct tape_field field[] = {
		{ "pid", "pid_t", 8, 4, true, TAPE_FIELD_INTEGER, 0 },
		{ "memcg", "u64", 12, 8, false, TAPE_FIELD_INTEGER, 0 },
		{ "path", "char[]", 20, 0, false, TAPE_FIELD_STRING, 0 },
	};
	const struct tape_type type = {
		.system = "lrutape",
		.name = "task_memcg",
		.format = "",
		.filter = "",
		.field = field,
		.nr_fields = sizeof(field) / sizeof(field[0]),
	};

	if (tape_writer_add_type(r->writer, &type, &r->setup.task_memcg_type))
		return recording_tape_problem(r);
	return 0;
}

/* An event of our probes: under one name on every tape, and its folio as a frame. */
static int declare_probe(struct recording *r, const char *name)
{
	struct tape_type type = { .system = "lrutape", .name = name, .filter = "" };
	uint16_t number, folio_offset = 0;
	struct format_fields fields;
	char file[256], *format;
	int error = 0;

	snprintf(file, sizeof(file), "events/%s/%s/format", r->probe.group, name);
	format = trace_instance_read(r->instance, file, NULL);
	if (!format || format_file_parse(format, &fields)) {
		free(format);
		return capture_problem_set(r->problem,
					   "%s: is not understood: record without "
					   "--probe-referenced",
					   file);
	}
	free(format);
	for (unsigned int i = 0; i < fields.nr_fields; i++) {
		struct tape_field *field = &fields.field[i];

		/* Where it was called from, and where it returns to: addresses. */
		if (!strncmp(field->name, "__probe", 7))
			field->kind = TAPE_FIELD_LEFT_OUT;
		if (strcmp(field->name, "folio"))
			continue;
		field->name = "pfn";
		folio_offset = field->offset;
	}
	error = add_type(r, &type, "", &fields, &number);
	if (!error && folio_offset) {
		r->setup.folio_type = number;
		r->setup.folio_offset = folio_offset;
	}
	format_file_free(&fields);
	return error;
}

static int declare_probes(struct recording *r)
{
	r->setup.probe = &r->probe;
	r->setup.folio_type = RING_READER_NO_TYPE;
	if (!r->probe.group[0])
		return 0;
	if (declare_probe(r, "folio_referenced"))
		return -1;
	return r->probe.has_look ? declare_probe(r, "folio_look") : 0;
}

static int declare_types(struct recording *r)
{
	r->setup.newtask_type = RING_READER_NO_TYPE;
	for (unsigned int i = 0; i < r->events.nr; i++)
		if (declare_type(r, &r->events.choice[i]))
			return -1;
	return declare_marker(r) || declare_task_memcg(r) || declare_probes(r) ? -1 : 0;
}

/* ---- settings: what is known of the machine and of the wish, none of which the run will move */

static int tell_missing(struct recording *r)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int error;

	if (!to)
		return TAPE_ERR_MEMORY;
	for (unsigned int i = 0; i < r->events.nr_missing; i++)
		fprintf(to, "%s\n", r->events.missing[i]);
	if (fclose(to))
		return TAPE_ERR_MEMORY;
	error = snapshot_bytes(&r->snapshot, TAPE_MOMENT_START, "lrutape/missing_events", text,
			       size);
	free(text);
	return error;
}

/* "command", "cgroup PATH", "pid N N", or "all". */
static int tell_what(struct recording *r)
{
	const struct recording_options *options = r->options;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int error;

	if (!to)
		return TAPE_ERR_MEMORY;
	if (options->cgroup)
		fprintf(to, "cgroup %s", r->group.directory + strlen(r->hierarchy.mount));
	else if (options->nr_pids)
		fputs("pid", to);
	else
		fputs(options->command ? "command" : "all", to);
	for (unsigned int i = 0; !options->cgroup && i < options->nr_pids; i++)
		fprintf(to, " %d", options->pid[i]);
	if (fclose(to))
		return TAPE_ERR_MEMORY;
	error = snapshot_bytes(&r->snapshot, TAPE_MOMENT_START, "lrutape/what", text, size);
	free(text);
	return error;
}

static int tell_group(struct recording *r)
{
	const char *path = r->group.directory + strlen(r->hierarchy.mount);

	if (!r->group.directory[0] || !*path)
		return 0;
	if (r->group.limit_bytes == UINT64_MAX)
		return snapshot_text(&r->snapshot, TAPE_MOMENT_START, "lrutape/memcg",
				     "%" PRIu64 " %s max", r->group.inode, path);
	return snapshot_text(&r->snapshot, TAPE_MOMENT_START, "lrutape/memcg",
			     "%" PRIu64 " %s %" PRIu64, r->group.inode, path, r->group.limit_bytes);
}

static int tell_settings(struct recording *r)
{
	const struct snapshot_source *to = &r->snapshot;
	const uint32_t start = TAPE_MOMENT_START;
	struct utsname name;
	int error;

	uname(&name);
	error = snapshot_text(to, start, "lrutape/release", "%s", name.release);
	error = error ?:
			snapshot_text(to, start, "lrutape/uname", "%s %s %s %s", name.sysname,
				      name.release, name.version, name.machine);
	error = error ?:
			snapshot_text(to, start, "lrutape/page_bytes", "%ld",
				      sysconf(_SC_PAGESIZE));
	error = error ?: tell_what(r);
	error = error ?:
			snapshot_text(to, start, "lrutape/command", "%s", r->options->command_line);
	error = error ?: snapshot_text(to, start, "lrutape/event_set", "%s", r->events.name);
	error = error ?: snapshot_text(to, start, "lrutape/recorder_pid", "%d", getpid());
	error = error ?:
			snapshot_text(to, start, "lrutape/hierarchy", "%d %d %s",
				      r->hierarchy.version, r->hierarchy.number,
				      r->hierarchy.mount);
	error = error ?: tell_missing(r);
	error = error ?: tell_group(r);
	if (r->command.pid)
		error = error ?:
				snapshot_text(to, start, "lrutape/command_pid", "%d",
					      r->command.pid);
	if (recording_is_segmented(r))
		error = error ?:
				snapshot_text(to, start, "lrutape/segment", "%u",
					      r->segment_number);
	error = error ?: snapshot_settings(to, start);
	return error ? recording_tape_problem(r) : 0;
}

int recording_open_tape(struct recording *r)
{
	struct tape_problem problem;

	r->path = recording_is_segmented(r) ?
			  segment_files_path(r->options->tape, r->segment_number) :
			  strdup(r->options->tape);
	if (!r->path)
		return capture_problem_set(r->problem, "out of memory");
	if (tape_writer_create(r->path, NULL, &r->writer, &problem))
		return capture_problem_set(r->problem, "%s", problem.text);
	r->tape_made = true;
	r->setup.writer = r->writer;
	r->snapshot = (struct snapshot_source){
		.writer = r->writer,
		.hierarchy = &r->hierarchy,
		.directory = r->directory,
		.nr_directories = r->nr_directories,
		.instance = r->instance,
		.clock = strcmp(r->options->clock, "boot") ? CLOCK_MONOTONIC : CLOCK_BOOTTIME,
	};
	r->moment = 0;
	r->snapshots_full = false;
	/* A recorder that is killed from here on leaves a tape that opens. */
	if (declare_types(r) || tell_settings(r))
		return -1;
	return tape_writer_flush(r->writer) ? recording_tape_problem(r) : 0;
}

/* ---- counters */

static int take_processes(struct recording *r, const struct snapshot_source *to, uint32_t moment)
{
	int error = 0;

	for (unsigned int i = 0; i < r->followed.nr && !error; i++)
		if (!r->followed.task[i].gone)
			error = snapshot_process(to, moment, r->followed.task[i].pid);
	return error;
}

int recording_begin_tape(struct recording *r)
{
	const struct snapshot_source *to = &r->snapshot;
	int error = snapshot_groups(to, TAPE_MOMENT_START);

	if (!r->begin_ns) /* a later segment gets those of the turn */
		error = error ?: snapshot_losses(to, TAPE_MOMENT_START);
	error = error ?: snapshot_counters(to, TAPE_MOMENT_START);
	error = error ?: take_processes(r, to, TAPE_MOMENT_START);
	r->segment_begin_ns = recording_now_ns();
	return error ? recording_tape_problem(r) : 0;
}

/* A tape that takes no more blobs is no reason to stop. */
int recording_snapshot(struct recording *r)
{
	const struct snapshot_source *to = &r->snapshot;
	uint32_t moment = ++r->moment;
	int error;

	if (r->snapshots_full)
		return 0;
	error = snapshot_groups(to, moment);
	error = error ?: snapshot_counters(to, moment);
	error = error ?: snapshot_losses(to, moment);
	error = error ?: take_processes(r, to, moment);
	if (error == TAPE_ERR_CORRUPT && !tape_writer_problem(r->writer)->code) {
		fprintf(r->say, "lrutape: %s: takes no more snapshots: the events go on\n",
			r->path);
		r->snapshots_full = true;
		return 0;
	}
	return error ? recording_tape_problem(r) : 0;
}

static uint64_t process_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u;
}

static void print_cpu(FILE *to, const struct ring_reader_totals *totals)
{
	uint64_t nr_places = totals->nr_losses < RING_READER_PLACES ? totals->nr_losses :
								      RING_READER_PLACES;

	fprintf(to,
		"cpu %u events %" PRIu64 " added %" PRIu64 " pages %" PRIu64 " overrun %" PRIu64
		" losses %" PRIu64 " lost %" PRIu64 " losses_unknown %" PRIu64
		" unknown_type %" PRIu64 " own %" PRIu64 " backwards %" PRIu64 " markers %" PRIu64
		" cloned_into %" PRIu64 " cloned_gone %" PRIu64 " reader_cpu_ns %" PRIu64 "\n",
		totals->cpu, totals->nr_events, totals->nr_added, totals->nr_pages, totals->overrun,
		totals->nr_losses, totals->nr_lost, totals->nr_losses_unknown,
		totals->nr_unknown_type, totals->nr_own, totals->nr_backwards, totals->nr_markers,
		totals->nr_cloned_into, totals->nr_cloned_gone, totals->cpu_ns);
	for (uint64_t i = 0; i < nr_places; i++) {
		const struct ring_reader_place *place = &totals->place[i];

		fprintf(to, "loss %u since_ns %" PRIu64 " until_ns %" PRIu64 " lost ", totals->cpu,
			place->since_ns, place->until_ns);
		if (place->count == EVENT_LOST_UNKNOWN)
			fputs("unknown\n", to);
		else
			fprintf(to, "%" PRIu64 "\n", place->count);
	}
}

/* What it cost to record one tape, and what was lost. Adds it to the recording's result. */
static int tell_recorder(struct recording *r, const struct snapshot_source *to_tape,
			 uint64_t duration_ns, bool is_turn)
{
	uint64_t nr_events = 0, reader_cpu_ns = 0, tape_bytes = tape_writer_bytes(to_tape->writer);
	struct recording_result *result = r->result;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int error;

	if (!to)
		return TAPE_ERR_MEMORY;
	result->nr_cpus = ring_readers_nr(r->readers);
	for (unsigned int i = 0; i < result->nr_cpus; i++) {
		struct ring_reader_totals *totals = ring_reader_totals(r->readers, i);
		const char *stats = is_turn ? ring_reader_stats(r->readers, i) : NULL;
		uint64_t overrun = stats ? trace_instance_overrun_in(stats) :
					   trace_instance_overrun(r->instance, totals->cpu);

		totals->overrun = overrun - r->overrun_before[i];
		r->overrun_before[i] = overrun;
		nr_events += totals->nr_events;
		reader_cpu_ns += totals->cpu_ns;
		result->nr_lost += totals->overrun > totals->nr_lost ? totals->overrun :
								       totals->nr_lost;
		print_cpu(to, totals);
	}
	result->nr_events += nr_events;
	result->reader_cpu_ns += reader_cpu_ns;
	result->tape_bytes += tape_bytes;
	result->process_cpu_ns = process_cpu_ns();
	fprintf(to,
		"events %" PRIu64 "\nduration_ns %" PRIu64 "\nreader_cpu_ns %" PRIu64
		"\nprocess_cpu_ns %" PRIu64 "\ntape_bytes %" PRIu64 "\n",
		nr_events, duration_ns, reader_cpu_ns, result->process_cpu_ns, tape_bytes);
	if (duration_ns)
		fprintf(to, "events_per_second %.0f\nbytes_per_second %.0f\n",
			(double)nr_events * 1e9 / (double)duration_ns,
			(double)tape_bytes * 1e9 / (double)duration_ns);
	if (fclose(to))
		return TAPE_ERR_MEMORY;
	error = snapshot_bytes(to_tape, TAPE_MOMENT_END, "lrutape/recorder", text, size);
	free(text);
	return error;
}

static void tell_losses(const struct recording *r, const char *path)
{
	bool any = false;

	for (unsigned int i = 0; i < r->result->nr_cpus; i++) {
		const struct ring_reader_totals *totals = ring_reader_totals(r->readers, i);
		uint64_t nr = totals->overrun > totals->nr_lost ? totals->overrun : totals->nr_lost;

		if (totals->nr_unknown_type)
			fprintf(r->say,
				"lrutape: %s: CPU %u: %" PRIu64
				" records of events that were not asked "
				"for: left out\n",
				path, totals->cpu, totals->nr_unknown_type);
		if (!nr && !totals->nr_losses)
			continue;
		any = true;
		fprintf(r->say,
			"lrutape: %s: EVENTS LOST on CPU %u: %" PRIu64 " in %" PRIu64
			" places, %.1f %% of "
			"its events\n",
			path, totals->cpu, nr, totals->nr_losses,
			100.0 * (double)nr / (double)(nr + totals->nr_events));
	}
	if (any)
		fprintf(r->say,
			"lrutape: %s: what follows a loss is uncertain: record again with --buffer-size "
			"above %" PRIu64 "K, or with fewer --events\n",
			path, r->options->buffer_bytes / 1024);
}

/* ---- from one segment to the next */

/* Each reader has looked at its own counts: what is the end of the old tape is the start of the new. */
static int tell_turned_losses(struct recording *r, const struct snapshot_source *old)
{
	char name[64];
	int error = 0;

	for (unsigned int i = 0; i < ring_readers_nr(r->readers) && !error; i++) {
		const char *stats = ring_reader_stats(r->readers, i);

		snprintf(name, sizeof(name), "lrutape/per_cpu/%u/stats",
			 ring_reader_totals(r->readers, i)->cpu);
		if (stats)
			error = snapshot_bytes(old, TAPE_MOMENT_END, name, stats, strlen(stats));
		if (stats && !error)
			error = snapshot_bytes(&r->snapshot, TAPE_MOMENT_START, name, stats,
					       strlen(stats));
	}
	return error;
}

/* Room for the next segment, and for what comes on top of it while it is being ended. */
static void trim_ring(struct recording *r, uint64_t present_bytes)
{
	uint64_t next_bytes = r->options->rotate_bytes;

	if (!r->options->ring_bytes)
		return;
	if (r->largest_segment > next_bytes)
		next_bytes = r->largest_segment;
	next_bytes += r->options->rotate_bytes / 2 + present_bytes;
	segment_files_trim(&r->segments, r->options->ring_bytes > next_bytes ?
						 r->options->ring_bytes - next_bytes :
						 0);
}

int recording_turn_tape(struct recording *r)
{
	const uint64_t begin_ns = r->segment_begin_ns;
	struct snapshot_source old = r->snapshot;
	char *old_path = r->path;
	unsigned int old_number = r->segment_number++;
	struct tape_problem problem;
	uint64_t now_ns, bytes;
	int error;

	trim_ring(r, tape_writer_bytes(old.writer));
	r->path = NULL;
	r->writer = NULL;
	if (recording_open_tape(r) || recording_begin_tape(r)) {
		/* The old one is still whole: end with that. */
		if (r->writer)
			tape_writer_abandon(r->writer);
		if (r->path)
			unlink(r->path);
		free(r->path);
		r->path = old_path;
		r->snapshot = old;
		r->writer = r->setup.writer = old.writer;
		r->segment_number = old_number;
		r->segment_begin_ns = begin_ns;
		return -1;
	}
	error = snapshot_tasks(&r->snapshot, TAPE_MOMENT_START);
	ring_readers_turn(r->readers, r->writer);
	now_ns = recording_now_ns();
	error = error ?: tell_turned_losses(r, &old);
	error = error ?: snapshot_counters(&old, TAPE_MOMENT_END);
	error = error ?: snapshot_groups(&old, TAPE_MOMENT_END);
	error = error ?: tell_recorder(r, &old, now_ns - begin_ns, true);
	r->segment_begin_ns = now_ns;
	if (error)
		recording_tape_problem(r);
	tell_losses(r, old_path);
	bytes = tape_writer_bytes(old.writer);
	if (tape_writer_finish(old.writer, &problem))
		error = capture_problem_set(r->problem, "%s", problem.text);
	segment_files_add(&r->segments, old_number, bytes);
	if (bytes > r->largest_segment)
		r->largest_segment = bytes;
	trim_ring(r, 0);
	free(old_path);
	return error ? -1 : 0;
}

/* ---- after the last event */

static void wait_for_flush(uint64_t ended_ns)
{
	uint64_t passed = recording_now_ns() - ended_ns;
	struct timespec rest;

	if (passed >= FLUSH_WAIT_NS)
		return;
	rest.tv_sec = (time_t)((FLUSH_WAIT_NS - passed) / 1000000000u);
	rest.tv_nsec = (long)((FLUSH_WAIT_NS - passed) % 1000000000u);
	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
}

static int take_end(struct recording *r, uint64_t ended_ns)
{
	const struct snapshot_source *from = &r->snapshot;
	int error = snapshot_groups(from, ++r->moment);

	error = error ?: snapshot_losses(from, TAPE_MOMENT_END);
	error = error ?: snapshot_counters(from, TAPE_MOMENT_END);
	error = error ?: snapshot_tasks(from, TAPE_MOMENT_END);
	error = error ?: take_processes(r, from, TAPE_MOMENT_END);
	error = error ?: tell_recorder(r, from, ended_ns - r->segment_begin_ns, false);
	if (r->group.directory[0])
		wait_for_flush(ended_ns);
	return error ?: snapshot_groups(from, TAPE_MOMENT_END);
}

int recording_end_tape(struct recording *r)
{
	uint64_t ended_ns = r->begin_ns + r->result->duration_ns;
	struct tape_problem problem;
	int failed = 0;

	if (take_end(r, ended_ns))
		failed = -1;
	if (tape_writer_problem(r->writer)->code)
		recording_tape_problem(r);
	if (tape_writer_finish(r->writer, &problem)) {
		if (!failed)
			capture_problem_set(r->problem, "%s", problem.text);
		failed = -1;
	}
	r->writer = NULL;
	tell_losses(r, r->path);
	return failed;
}
