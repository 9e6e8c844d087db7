// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order matters:
 *
 *	memory cgroup, the command's process (which waits), trace instance, events, tape, settings
 *	readers started, their threads excluded from the trace, counters taken
 *	tracing on, tasks listed, the command released: it enters its cgroup and runs
 *	... until it ends ...
 *	tracing off, counters taken, buffers drained, the rest of the snapshots, tape finished
 *	instance and cgroup removed
 *
 * Tasks are listed after tracing is on: a task that is on the list and also in an event does no harm,
 * one that is in neither would have no owner. The command's process is on the list, because this
 * process, whose fork event would show it, is excluded.
 */
#include "capture/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "capture/event_set.h"
#include "capture/format_file.h"
#include "capture/memcg.h"
#include "capture/recorded_command.h"
#include "capture/ring_reader.h"
#include "capture/snapshot.h"
#include "capture/text_file.h"
#include "capture/trace_instance.h"
#include "schema/tape_writer.h"

/* A reader that sleeps until a buffer is half full, the kernel's default, wakes too late. */
#define WAKE_PERCENT 10

/* The kernel adds pending changes to memory.stat every 2 s (mm/memcontrol.c, FLUSH_TIME, 5.14 to 6.18). */
#define FLUSH_WAIT_NS 2100000000u

#define MOMENT_COMMAND_ENDED 1u

struct recording {
	const struct recording_options *options;
	FILE *say;
	struct recording_result *result;
	struct capture_problem *problem;

	sigset_t mask_before;
	int signal_fd;
	const char *tracefs;
	struct event_catalogue catalogue;
	struct event_set events;
	struct memcg_hierarchy hierarchy;
	struct memcg_group group;
	char memcg_directory[PATH_MAX];
	struct recorded_command command;
	struct trace_instance *instance;
	struct tape_writer *writer;
	bool tape_made; /* this recording created or truncated the file */
	uint16_t *type_of_id;
	struct ring_readers *readers;
	struct snapshot_source snapshot;
	uint64_t begin_ns;
	bool tape_failed;
};

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int tape_went_wrong(struct recording *r)
{
	const struct tape_problem *problem = tape_writer_problem(r->writer);

	return capture_problem_set(r->problem, "%s",
				   problem->code ? problem->text : "out of memory");
}

/* ---- before the first event */

static int watch_signals(struct recording *r)
{
	sigset_t watched;

	sigemptyset(&watched);
	sigaddset(&watched, SIGINT);
	sigaddset(&watched, SIGTERM);
	sigaddset(&watched, SIGHUP);
	sigaddset(&watched, SIGQUIT);
	sigaddset(&watched, SIGCHLD);
	sigprocmask(SIG_BLOCK, &watched, &r->mask_before);
	/* A closed stderr, or a limit on file sizes, must not end us before all is undone. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	r->signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signal_fd < 0)
		return capture_problem_set(r->problem, "cannot make a signalfd: %s",
					   strerror(errno));
	return 0;
}

static int check_first(struct recording *r)
{
	if (r->options->command && recorded_command_find(r->options->command[0], r->problem))
		return -1;
	if (trace_instance_find_tracefs(&r->tracefs, r->problem) ||
	    event_catalogue_load(r->tracefs, &r->catalogue, r->problem) ||
	    event_set_choose(&r->catalogue, r->options->events, &r->events, r->problem))
		return -1;
	trace_instance_clean_stale(r->tracefs, r->say);
	memcg_find_hierarchy(&r->hierarchy);
	memcg_clean_stale(&r->hierarchy, r->say);
	if (r->events.nr_missing) {
		fprintf(r->say, "lrutape: this kernel lacks events, recorded without them:");
		for (unsigned int i = 0; i < r->events.nr_missing; i++)
			fprintf(r->say, " %s", r->events.missing[i]);
		fputc('\n', r->say);
	}
	return 0;
}

/* Without a cgroup of its own the command shares ours. */
static void find_own_memcg(struct recording *r)
{
	char *text = text_file_read("/proc/self/cgroup", SNAPSHOT_FILE_BYTES, NULL);
	char path[PATH_MAX];

	if (text && r->hierarchy.version && memcg_path_of_task(&r->hierarchy, text, path)) {
		size_t length = strlen(r->hierarchy.mount);

		if (length + strlen(path) < sizeof(r->memcg_directory)) {
			memcpy(r->memcg_directory, r->hierarchy.mount, length);
			strcpy(r->memcg_directory + length, strcmp(path, "/") ? path : "");
		}
	}
	free(text);
}

static int make_command(struct recording *r)
{
	const struct memcg_settings settings = {
		.limit_bytes = r->options->memory_bytes,
		.swappiness = r->options->swappiness,
	};

	find_own_memcg(r);
	if (settings.limit_bytes != UINT64_MAX || settings.swappiness >= 0) {
		if (memcg_group_create(&r->hierarchy, &settings, &r->group, r->problem))
			return -1;
		memcpy(r->memcg_directory, r->group.directory, sizeof(r->memcg_directory));
	}
	if (!r->options->command)
		return 0;
	return recorded_command_fork(r->options->command, &r->group, &r->mask_before, &r->command,
				     r->problem);
}

static int make_instance(struct recording *r)
{
	const struct trace_instance_settings settings = {
		.buffer_bytes = r->options->buffer_bytes,
		.clock = r->options->clock,
		.wake_percent = WAKE_PERCENT,
	};
	char file[256];

	if (trace_instance_create(&settings, &r->instance, r->problem))
		return -1;
	for (unsigned int i = 0; i < r->events.nr; i++) {
		const struct event_choice *choice = &r->events.choice[i];

		snprintf(file, sizeof(file), "events/%s/%s/filter", choice->system, choice->event);
		if (choice->filter[0] &&
		    trace_instance_write(r->instance, file, choice->filter, r->problem))
			return -1;
		snprintf(file, sizeof(file), "events/%s/%s/enable", choice->system, choice->event);
		if (trace_instance_write(r->instance, file, "1", r->problem))
			return -1;
	}
	return 0;
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
	type.kernel_id = fields.kernel_id;
	type.format = format;
	type.field = fields.field;
	type.nr_fields = fields.nr_fields;
	error = tape_writer_add_type(r->writer, &type, &number);
	if (!error)
		r->type_of_id[fields.kernel_id] = number;
	format_file_free(&fields);
	free(format);
	return error ? tape_went_wrong(r) : 0;
}

static int make_tape(struct recording *r)
{
	struct tape_problem problem;

	r->type_of_id = malloc(RING_READER_TYPES * sizeof(*r->type_of_id));
	if (!r->type_of_id)
		return capture_problem_set(r->problem, "out of memory");
	for (unsigned int i = 0; i < RING_READER_TYPES; i++)
		r->type_of_id[i] = RING_READER_NO_TYPE;
	if (tape_writer_create(r->options->tape, NULL, &r->writer, &problem))
		return capture_problem_set(r->problem, "%s", problem.text);
	r->tape_made = true;
	for (unsigned int i = 0; i < r->events.nr; i++)
		if (declare_type(r, &r->events.choice[i]))
			return -1;
	r->snapshot = (struct snapshot_source){
		.writer = r->writer,
		.hierarchy = &r->hierarchy,
		.memcg_directory = r->memcg_directory,
		.instance = r->instance,
		.clock = strcmp(r->options->clock, "boot") ? CLOCK_MONOTONIC : CLOCK_BOOTTIME,
	};
	return 0;
}

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

/* What is known of the machine and of the wish, none of which the run will move. */
static int tell_settings(struct recording *r)
{
	const struct snapshot_source *to = &r->snapshot;
	struct utsname name;
	int error = 0;

	uname(&name);
	error = snapshot_text(to, TAPE_MOMENT_START, "lrutape/release", "%s", name.release);
	error = error ?:
			snapshot_text(to, TAPE_MOMENT_START, "lrutape/uname", "%s %s %s %s",
				      name.sysname, name.release, name.version, name.machine);
	error = error ?:
			snapshot_text(to, TAPE_MOMENT_START, "lrutape/page_bytes", "%ld",
				      sysconf(_SC_PAGESIZE));
	error = error ?:
			snapshot_text(to, TAPE_MOMENT_START, "lrutape/command", "%s",
				      r->options->command_line);
	error = error ?:
			snapshot_text(to, TAPE_MOMENT_START, "lrutape/recorder_pid", "%d",
				      getpid());
	error = error ?:
			snapshot_text(to, TAPE_MOMENT_START, "lrutape/hierarchy", "%d %d %s",
				      r->hierarchy.version, r->hierarchy.number,
				      r->hierarchy.mount);
	error = error ?: tell_missing(r);
	if (r->command.pid)
		error = error ?:
				snapshot_text(to, TAPE_MOMENT_START, "lrutape/command_pid", "%d",
					      r->command.pid);
	if (r->group.directory[0])
		error = error ?:
				snapshot_text(to, TAPE_MOMENT_START, "lrutape/memcg",
					      r->group.limit_bytes == UINT64_MAX ?
						      "%" PRIu64 " %s max" :
						      "%" PRIu64 " %s %" PRIu64,
					      r->group.inode,
					      r->group.directory + strlen(r->hierarchy.mount),
					      r->group.limit_bytes);
	error = error ?: snapshot_settings(to, TAPE_MOMENT_START);
	return error ? tape_went_wrong(r) : 0;
}

/*
 * What a task does for others, as against what it does by itself: whoever runs on a CPU drains its LRU
 * batches, reclaims and frees other tasks' folios, and flushes their statistics. The recorder's own
 * part in that must stay on the tape, or folios would enter lists unseen.
 */
static bool is_done_for_others(const struct event_choice *choice)
{
	static const char *const systems[] = { "pagemap", "vmscan", "memcg", "migrate", "oom" };
	static const char *const events[] = { "mm_filemap_delete_from_page_cache", "mm_page_free",
					      "mm_page_free_batched", "mm_page_pcpu_drain" };

	for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (!strcmp(choice->system, systems[i]))
			return true;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(choice->event, events[i]))
			return true;
	return false;
}

static int compare_pids(const void *a, const void *b)
{
	return (*(const pid_t *)a > *(const pid_t *)b) - (*(const pid_t *)a < *(const pid_t *)b);
}

/*
 * A filter that no thread of ours passes, "" without memory. The kernel evaluates it at every event, so
 * runs of thread ids are one range: mostly one for all readers, on a machine of any size.
 */
static void own_threads_filter(const struct recording *r, FILE *to)
{
	unsigned int nr = ring_readers_nr(r->readers) + 1;
	pid_t *pids = calloc(nr, sizeof(*pids));

	if (!pids)
		return;
	pids[0] = getpid();
	for (unsigned int i = 1; i < nr; i++)
		pids[i] = ring_reader_tid(r->readers, i - 1);
	qsort(pids, nr, sizeof(*pids), compare_pids);
	for (unsigned int first = 0, last; first < nr; first = last + 1) {
		for (last = first; last + 1 < nr && pids[last + 1] == pids[last] + 1; last++)
			;
		fputs(first ? " && " : "", to);
		if (first == last)
			fprintf(to, "common_pid != %d", pids[first]);
		else
			fprintf(to, "(common_pid < %d || common_pid > %d)", pids[first],
				pids[last]);
	}
	free(pids);
}

/* The recorder is not what is recorded. */
static int exclude_recorder(struct recording *r)
{
	char *own = NULL, *filter, file[256];
	size_t size;
	FILE *to = open_memstream(&own, &size);
	int failed = 0;

	if (!to)
		return capture_problem_set(r->problem, "out of memory");
	own_threads_filter(r, to);
	if (fclose(to) || !own[0]) {
		free(own);
		return capture_problem_set(r->problem, "out of memory");
	}
	for (unsigned int i = 0; i < r->events.nr && !failed; i++) {
		const struct event_choice *choice = &r->events.choice[i];
		const char *wanted = choice->filter;

		if (is_done_for_others(choice))
			continue;
		if (asprintf(&filter, wanted[0] ? "(%s) && %s" : "%s%s", wanted, own) < 0) {
			failed = capture_problem_set(r->problem, "out of memory");
			break;
		}
		snprintf(file, sizeof(file), "events/%s/%s/filter", choice->system, choice->event);
		failed = trace_instance_write(r->instance, file, filter, r->problem);
		free(filter);
	}
	free(own);
	return failed;
}

static int start_tracing(struct recording *r)
{
	if (ring_readers_start(r->instance, r->type_of_id, r->writer, &r->readers, r->problem) ||
	    exclude_recorder(r))
		return -1;
	if (snapshot_group(&r->snapshot, TAPE_MOMENT_START) ||
	    snapshot_counters(&r->snapshot, TAPE_MOMENT_START))
		return tape_went_wrong(r);
	if (trace_instance_write(r->instance, "tracing_on", "1", r->problem))
		return -1;
	r->begin_ns = now_ns();
	if (snapshot_tasks(&r->snapshot, TAPE_MOMENT_START))
		return tape_went_wrong(r);
	if (!r->options->command)
		return 0;
	return recorded_command_release(&r->command, r->options->command[0], r->problem);
}

/* ---- while the command runs */

/* Return: whether the recording is to end now. */
static bool take_signal(struct recording *r, unsigned int *nr_interrupts)
{
	struct signalfd_siginfo info;

	if (read(r->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo == SIGCHLD)
		return r->options->command && recorded_command_reap(&r->command, false);
	if (!r->options->command)
		return true;
	if ((*nr_interrupts)++) {
		fprintf(r->say,
			"lrutape: second %s: the recording ends, process %d is left running\n",
			strsignal((int)info.ssi_signo), r->command.pid);
		return true;
	}
	/* What a terminal sent, it has sent to the command as well. */
	if (info.ssi_code <= 0)
		recorded_command_signal(&r->command, (int)info.ssi_signo);
	return false;
}

static int wait_ms(const struct recording *r)
{
	uint64_t end_ns = r->begin_ns + r->options->duration_ns, now = now_ns();

	if (!r->options->duration_ns || r->result->is_timed_out)
		return -1;
	if (now >= end_ns)
		return 0;
	return (int)((end_ns - now) / 1000000 >= INT_MAX ? INT_MAX : (end_ns - now) / 1000000 + 1);
}

static void tape_has_failed(struct recording *r)
{
	r->tape_failed = true;
	trace_instance_stop(r->instance);
	r->result->duration_ns = now_ns() - r->begin_ns;
	fprintf(r->say, "lrutape: %s: cannot be written any more: recording stopped%s\n",
		r->options->tape, r->options->command ? ", the command runs on" : "");
}

static void wait_for_end(struct recording *r)
{
	struct pollfd wait[2] = {
		{ .fd = r->signal_fd, .events = POLLIN },
		{ .fd = ring_readers_failed_fd(r->readers), .events = POLLIN },
	};
	unsigned int nr_interrupts = 0;

	for (;;) {
		int nr = poll(wait, 2, wait_ms(r));

		if (nr < 0 && errno != EINTR)
			return;
		if (nr > 0 && (wait[0].revents & POLLIN) && take_signal(r, &nr_interrupts))
			return;
		if (nr > 0 && (wait[1].revents & POLLIN)) {
			tape_has_failed(r);
			wait[1].fd = -1;
			if (!r->options->command)
				return;
		}
		if (nr == 0 && !r->options->command)
			return;
		if (nr == 0 && wait_ms(r) == 0) {
			r->result->is_timed_out = true;
			recorded_command_signal(&r->command, SIGTERM);
		}
	}
}

/* ---- after the last event */

static int tell_recorder(struct recording *r)
{
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

		totals->overrun = trace_instance_overrun(r->instance, totals->cpu);
		result->nr_events += totals->nr_events;
		result->reader_cpu_ns += totals->cpu_ns;
		fprintf(to,
			"cpu %u events %" PRIu64 " pages %" PRIu64 " overrun %" PRIu64
			" losses %" PRIu64 " lost %" PRIu64 " losses_unknown %" PRIu64
			" unknown_type %" PRIu64 " backwards %" PRIu64 " reader_cpu_ns %" PRIu64
			"\n",
			totals->cpu, totals->nr_events, totals->nr_pages, totals->overrun,
			totals->nr_losses, totals->nr_lost, totals->nr_losses_unknown,
			totals->nr_unknown_type, totals->nr_backwards, totals->cpu_ns);
	}
	fprintf(to, "events %" PRIu64 "\nduration_ns %" PRIu64 "\nreader_cpu_ns %" PRIu64 "\n",
		result->nr_events, result->duration_ns, result->reader_cpu_ns);
	if (fclose(to))
		return TAPE_ERR_MEMORY;
	error = snapshot_bytes(&r->snapshot, TAPE_MOMENT_END, "lrutape/recorder", text, size);
	free(text);
	return error;
}

static void tell_losses(const struct recording *r)
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
				r->options->tape, totals->cpu, totals->nr_unknown_type);
		if (!nr && !totals->nr_losses)
			continue;
		any = true;
		fprintf(r->say,
			"lrutape: %s: EVENTS LOST on CPU %u: %" PRIu64 " in %" PRIu64
			" places, %.1f %% of "
			"its events\n",
			r->options->tape, totals->cpu, nr, totals->nr_losses,
			100.0 * (double)nr / (double)(nr + totals->nr_events));
	}
	if (any)
		fprintf(r->say,
			"lrutape: %s: what follows a loss is uncertain: record again with --buffer-size "
			"above %" PRIu64 "K, or with fewer --events\n",
			r->options->tape, r->options->buffer_bytes / 1024);
}

static void wait_for_flush(uint64_t ended_ns)
{
	uint64_t passed = now_ns() - ended_ns;
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
	int error = snapshot_group(from, MOMENT_COMMAND_ENDED);

	error = error ?: snapshot_counters(from, TAPE_MOMENT_END);
	error = error ?: snapshot_tasks(from, TAPE_MOMENT_END);
	error = error ?: tell_recorder(r);
	if (r->group.directory[0])
		wait_for_flush(ended_ns);
	return error ?: snapshot_group(from, TAPE_MOMENT_END);
}

/* Return: 0, or -1 with the problem told; a tape is left either way. */
static int end_recording(struct recording *r)
{
	uint64_t ended_ns = now_ns();
	struct tape_problem problem;
	int failed = r->tape_failed ? -1 : 0;

	if (!r->tape_failed)
		r->result->duration_ns = ended_ns - r->begin_ns;
	trace_instance_stop(r->instance);
	r->result->oom_kills = memcg_group_oom_kills(&r->group);
	if (ring_readers_stop(r->readers, r->problem))
		failed = -1;
	if (take_end(r, ended_ns))
		failed = -1;
	if (tape_writer_problem(r->writer)->code)
		tape_went_wrong(r);
	if (tape_writer_finish(r->writer, &problem)) {
		if (!failed)
			capture_problem_set(r->problem, "%s", problem.text);
		failed = -1;
	}
	r->writer = NULL;
	tell_losses(r);
	r->result->has_failed = failed;
	r->result->has_tape = true;
	return failed;
}

/* ---- undoing, from any point */

static void undo(struct recording *r)
{
	struct signalfd_siginfo info;
	char directory[PATH_MAX];
	unsigned int nr;
	int error;

	recorded_command_drop(&r->command);
	trace_instance_stop(r->instance);
	ring_readers_free(r->readers);
	if (r->writer)
		tape_writer_abandon(r->writer);
	error = trace_instance_destroy(r->instance);
	if (error)
		fprintf(r->say,
			"lrutape: trace instance lrutape-%d: cannot be removed: %s: the next recording "
			"tries again\n",
			getpid(), strerror(-error));
	memcpy(directory, r->group.directory, sizeof(directory));
	nr = memcg_group_remove(&r->group);
	if (nr)
		fprintf(r->say,
			"lrutape: %s: still in it: %u process%s of the command; removed by the next recording "
			"after their end\n",
			directory, nr, nr == 1 ? "" : "es");
	event_set_free(&r->events);
	event_catalogue_free(&r->catalogue);
	free(r->type_of_id);
	/* Signals that came while all was being undone have had their way: we end. */
	if (r->signal_fd >= 0) {
		while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info))
			;
		close(r->signal_fd);
	}
	sigprocmask(SIG_SETMASK, &r->mask_before, NULL);
}

/* A tape without its events is no use; a device or pipe is not ours to remove. */
static void remove_tape(const struct recording *r)
{
	struct stat status;

	if (r->tape_made && !lstat(r->options->tape, &status) && S_ISREG(status.st_mode))
		unlink(r->options->tape);
}

int recording_run(const struct recording_options *options, FILE *say,
		  struct recording_result *result, struct capture_problem *problem)
{
	struct recording *r = calloc(1, sizeof(*r));
	int failed = -1;

	memset(result, 0, sizeof(*result));
	problem->text[0] = '\0';
	if (!r)
		return capture_problem_set(problem, "out of memory");
	r->options = options;
	r->say = say;
	r->result = result;
	r->problem = problem;
	r->signal_fd = -1;
	if (!watch_signals(r) && !check_first(r) && !make_command(r) && !make_instance(r) &&
	    !make_tape(r) && !tell_settings(r) && !start_tracing(r)) {
		wait_for_end(r);
		failed = 0;
		end_recording(r);
		result->command_status = r->options->command && !r->command.reaped ?
						 128 + SIGINT :
						 recorded_command_exit_status(&r->command);
	}
	undo(r);
	if (failed)
		remove_tape(r);
	free(r);
	return failed;
}
