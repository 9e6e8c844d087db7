// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order matters:
 *
 *	memory cgroup, the command's process (which waits), probes, trace instance, events, tape, settings
 *	readers started, counters taken
 *	tracing on, tasks listed, the command released: it enters its cgroup and runs
 *	... until it ends ...
 *	tracing off, counters taken, buffers drained, the rest of the snapshots, tape finished
 *	instance, probes and cgroup removed
 *
 * Tasks are listed after tracing is on: a task that is on the list and also in an event does no harm,
 * one that is in neither would have no owner. The command's process is on the list, because it was
 * made before.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/recording_state.h"
#include "capture/swap_areas.h"
#include "capture/text_file.h"
#include "capture/warm_start.h"

/* A reader that sleeps until a buffer is half full, the kernel's default, wakes too late. */
#define WAKE_PERCENT 10
#define SWAPS_BYTES (64u << 10)

uint64_t recording_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int recording_tape_problem(struct recording *r)
{
	const struct tape_problem *problem = tape_writer_problem(r->snapshot.writer);

	return capture_problem_set(r->problem, "%s",
				   problem->code ? problem->text : "out of memory");
}

bool recording_is_segmented(const struct recording *r)
{
	return r->options->ring_bytes || r->options->rotate_bytes || r->options->rotate_ns;
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
	sigaddset(&watched, SIGUSR1);
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

static int choose_events(struct recording *r)
{
	char *text = text_file_read("/proc/swaps", SWAPS_BYTES, NULL);
	struct swap_areas swap;
	int error;

	if (swap_areas_find(text ? text : "", &swap)) {
		free(text);
		return capture_problem_set(r->problem, "out of memory");
	}
	free(text);
	error = event_set_choose(&r->catalogue, &swap, r->options->events, &r->events, r->problem);
	swap_areas_free(&swap);
	return error;
}

static int check_first(struct recording *r)
{
	if (r->options->command && recorded_command_find(r->options->command[0], r->problem))
		return -1;
	if (trace_instance_find_tracefs(&r->tracefs, r->problem) ||
	    event_catalogue_load(r->tracefs, &r->catalogue, r->problem) || choose_events(r))
		return -1;
	trace_instance_clean_stale(r->tracefs, r->say);
	referenced_probe_clean_stale(r->tracefs, r->say);
	memcg_find_hierarchy(&r->hierarchy);
	memcg_clean_stale(&r->hierarchy, r->say);
	if (r->events.nr_missing) {
		fprintf(r->say, "lrutape: this kernel lacks events, recorded without them:");
		for (unsigned int i = 0; i < r->events.nr_missing; i++)
			fprintf(r->say, " %s", r->events.missing[i]);
		fputc('\n', r->say);
	}
	if (recording_is_segmented(r)) {
		if (segment_files_scan(&r->segments, r->options->tape, r->problem))
			return -1;
		r->segment_number = r->first_segment = r->segments.next;
	}
	return 0;
}

static int record_directory(struct recording *r, const char *directory)
{
	for (unsigned int i = 0; i < r->nr_directories; i++)
		if (!strcmp(r->directory[i], directory))
			return 0;
	if (r->nr_directories == RECORDING_GROUPS)
		return 0;
	r->directory[r->nr_directories] = strdup(directory);
	if (!r->directory[r->nr_directories])
		return capture_problem_set(r->problem, "out of memory");
	r->nr_directories++;
	return 0;
}

/* The memory cgroup of a process is recorded as if it had been named. */
static int record_group_of(struct recording *r, pid_t pid)
{
	struct capture_problem ignored;
	struct memcg_group group;
	char path[PATH_MAX];

	if (!memcg_of_task(&r->hierarchy, pid, path) ||
	    memcg_group_find(&r->hierarchy, path, &group, &ignored))
		return 0;
	if (r->options->nr_pids)
		r->group = group;
	return record_directory(r, group.directory);
}

static int find_groups(struct recording *r)
{
	const struct recording_options *options = r->options;
	const struct memcg_settings settings = {
		.limit_bytes = options->memory_bytes,
		.swap_bytes = options->swap_bytes,
		.swappiness = options->swappiness,
	};

	if (options->cgroup)
		return memcg_group_find(&r->hierarchy, options->cgroup, &r->group, r->problem) ||
				       record_directory(r, r->group.directory) ?
			     -1 :
			     0;
	if (followed_tasks_open(&r->followed, options->pid, options->nr_pids, r->problem))
		return -1;
	for (unsigned int i = 0; i < options->nr_pids; i++)
		if (record_group_of(r, options->pid[i]))
			return -1;
	/* The group's limit is that of the recording only if there is no other. */
	if (r->nr_directories != 1 || !strcmp(r->group.directory, r->hierarchy.mount))
		memset(&r->group, 0, sizeof(r->group));
	if (options->nr_pids)
		return 0;
	if (settings.limit_bytes == UINT64_MAX && settings.swap_bytes == UINT64_MAX &&
	    settings.swappiness < 0) {
		if (options->command)
			return record_group_of(r, getpid()); /* the command shares ours */
		return r->hierarchy.version ? record_directory(r, r->hierarchy.mount) : 0;
	}
	if (memcg_group_create(&r->hierarchy, &settings, &r->group, r->problem))
		return -1;
	return record_directory(r, r->group.directory);
}

static int make_command(struct recording *r)
{
	const struct memcg_group none = { .directory = "" };

	if (find_groups(r))
		return -1;
	if (!r->options->command)
		return 0;
	return recorded_command_fork(r->options->command, r->group.is_ours ? &r->group : &none,
				     &r->mask_before, &r->command, r->problem);
}

static int make_instance(struct recording *r)
{
	const struct trace_instance_settings settings = {
		.buffer_bytes = r->options->buffer_bytes,
		.clock = r->options->clock,
		.wake_percent = WAKE_PERCENT,
	};
	char file[256];

	if (r->options->probe_referenced &&
	    referenced_probe_make(r->tracefs, &r->probe, r->problem))
		return -1;
	if (trace_instance_create(&settings, &r->instance, r->problem))
		return -1;
	if (r->probe.group[0] && referenced_probe_calibrate(&r->probe, r->instance, r->problem))
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
	if (!r->probe.group[0])
		return 0;
	snprintf(file, sizeof(file), "events/%s/enable", r->probe.group);
	return trace_instance_write(r->instance, file, "1", r->problem);
}

static int make_tape(struct recording *r)
{
	r->type_of_id = malloc(RING_READER_TYPES * sizeof(*r->type_of_id));
	if (!r->type_of_id)
		return capture_problem_set(r->problem, "out of memory");
	for (unsigned int i = 0; i < RING_READER_TYPES; i++)
		r->type_of_id[i] = RING_READER_NO_TYPE;
	r->setup.instance = r->instance;
	r->setup.type_of_id = r->type_of_id;
	r->setup.hierarchy = &r->hierarchy;
	return recording_open_tape(r);
}

static int start_tracing(struct recording *r)
{
	const struct recording_options *options = r->options;

	if (ring_readers_start(&r->setup, &r->readers, r->problem))
		return -1;
	r->overrun_before = calloc(ring_readers_nr(r->readers), sizeof(*r->overrun_before));
	if (!r->overrun_before)
		return capture_problem_set(r->problem, "out of memory");
	if (recording_begin_tape(r) ||
	    trace_instance_write(r->instance, "tracing_on", "1", r->problem))
		return -1;
	r->begin_ns = r->segment_begin_ns = recording_now_ns();
	if (snapshot_tasks(&r->snapshot, TAPE_MOMENT_START))
		return recording_tape_problem(r);
	if (options->warm && warm_start_pages(&r->snapshot, r->problem))
		return -1;
	if (options->nr_warm_files &&
	    warm_start_files(&r->snapshot, options->warm_file, options->nr_warm_files, r->problem))
		return -1;
	if (!options->command)
		return 0;
	return recorded_command_release(&r->command, options->command[0], r->problem);
}

/* ---- after the last event */

/* Return: 0, or -1 with the problem told; a tape is left either way. */
static int end_recording(struct recording *r)
{
	int failed = r->tape_failed ? -1 : 0;

	if (!r->result->duration_ns)
		r->result->duration_ns = recording_now_ns() - r->begin_ns;
	trace_instance_stop(r->instance);
	if (r->group.is_ours)
		r->result->oom_kills = memcg_group_oom_kills(&r->group);
	if (ring_readers_stop(r->readers, r->problem))
		failed = -1;
	if (recording_end_tape(r))
		failed = -1;
	r->result->is_segmented = recording_is_segmented(r);
	r->result->last_segment = r->segment_number;
	r->result->first_segment = r->segment_number;
	for (unsigned int i = r->segments.nr; i-- > 0;)
		if (r->segments.file[i].number >= r->first_segment)
			r->result->first_segment = r->segments.file[i].number;
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
	r->writer = NULL;
	error = trace_instance_destroy(r->instance);
	if (error)
		fprintf(r->say,
			"lrutape: trace instance lrutape-%d: cannot be removed: %s: the next recording "
			"tries again\n",
			getpid(), strerror(-error));
	error = referenced_probe_remove(r->tracefs, &r->probe);
	if (error)
		fprintf(r->say,
			"lrutape: probes lrutape_%d: cannot be removed: %s: the next recording tries again\n",
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
	followed_tasks_close(&r->followed);
	segment_files_free(&r->segments);
	for (unsigned int i = 0; i < r->nr_directories; i++)
		free(r->directory[i]);
	free(r->overrun_before);
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

	if (r->tape_made && !lstat(r->path, &status) && S_ISREG(status.st_mode))
		unlink(r->path);
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
	    !make_tape(r) && !start_tracing(r)) {
		recording_wait(r);
		failed = 0;
		end_recording(r);
		result->command_status = r->options->command && !r->command.reaped ?
						 128 + SIGINT :
						 recorded_command_exit_status(&r->command);
	}
	undo(r);
	if (failed)
		remove_tape(r);
	free(r->path);
	free(r);
	return failed;
}
