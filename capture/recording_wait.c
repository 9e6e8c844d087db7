// SPDX-License-Identifier: GPL-2.0-only
/* What happens while the events flow: signals, ends, and what is due from time to time. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/recording_state.h"

#define SYNC_NS                                                                                    \
	10000000000u /* the manual promises it: so often what was written reaches the disk */
#define ASK_PIDS_NS 200000000u /* a guess: on kernels that cannot tell that a process has ended */
#define NEVER UINT64_MAX

enum due {
	DUE_END,
	DUE_SNAPSHOT,
	DUE_SYNC,
	DUE_ROTATE,
	DUE_ASK_PIDS,
	NR_DUE,
};

struct waiting {
	struct recording *r;
	uint64_t due_ns[NR_DUE];
	unsigned int nr_interrupts;
	bool is_over;
};

enum { WAIT_SIGNAL, WAIT_FAILED, WAIT_LIMIT, WAIT_PIDS, NR_WAIT };

static void put_marker(struct recording *r, const struct signalfd_siginfo *info)
{
	struct capture_problem problem;
	char text[80];

	snprintf(text, sizeof(text), "SIGUSR1 from process %u", info->ssi_pid);
	if (trace_instance_write(r->instance, "trace_marker", text, &problem))
		fprintf(r->say, "lrutape: no marker: %s\n", problem.text);
}

/* Return: whether the recording is to end now. */
static bool take_signal(struct waiting *waiting)
{
	struct recording *r = waiting->r;
	struct signalfd_siginfo info;

	if (read(r->signal_fd, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo == SIGCHLD)
		return r->options->command && recorded_command_reap(&r->command, false);
	if (info.ssi_signo == SIGUSR1) {
		put_marker(r, &info);
		return false;
	}
	if (!r->options->command)
		return true;
	if (waiting->nr_interrupts++) {
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

/* No event from here on; the command, if there is one, runs to its end. */
static void stop_recording(struct waiting *waiting)
{
	struct recording *r = waiting->r;

	trace_instance_stop(r->instance);
	r->result->duration_ns = recording_now_ns() - r->begin_ns;
	ring_readers_limit(r->readers, 0);
	for (int i = 0; i < NR_DUE; i++)
		if (i != DUE_END)
			waiting->due_ns[i] = NEVER;
	if (!r->options->command)
		waiting->is_over = true;
}

static void tape_has_failed(struct waiting *waiting)
{
	struct recording *r = waiting->r;

	r->tape_failed = true;
	stop_recording(waiting);
	fprintf(r->say, "lrutape: %s: cannot be written any more: recording stopped%s\n", r->path,
		r->options->command ? ", the command runs on" : "");
}

static void tape_is_full(struct waiting *waiting)
{
	struct recording *r = waiting->r;

	r->result->is_full = true;
	stop_recording(waiting);
	fprintf(r->say, "lrutape: %s: --max-size is reached: recording stopped%s\n", r->path,
		r->options->command ? ", the command runs on" : "");
}

/* Bytes of the present tape at which something is to be done. */
static uint64_t next_limit(const struct recording *r)
{
	uint64_t limit = r->options->rotate_bytes, left;

	if (!r->options->max_bytes)
		return limit;
	left = r->options->max_bytes > r->result->tape_bytes ?
		       r->options->max_bytes - r->result->tape_bytes :
		       1;
	return limit && limit < left ? limit : left;
}

static void turn(struct waiting *waiting, uint64_t now_ns)
{
	struct recording *r = waiting->r;

	if (recording_turn_tape(r)) {
		tape_has_failed(waiting);
		return;
	}
	ring_readers_limit(r->readers, next_limit(r));
	if (r->options->rotate_ns)
		waiting->due_ns[DUE_ROTATE] = now_ns + r->options->rotate_ns;
}

static void limit_reached(struct waiting *waiting)
{
	struct recording *r = waiting->r;
	uint64_t ignored;

	if (read(ring_readers_limit_fd(r->readers), &ignored, sizeof(ignored)) < 0)
		return;
	if (r->result->is_full || r->tape_failed || tape_writer_bytes(r->writer) < next_limit(r))
		return; /* raised for the segment before this one */
	if (r->options->max_bytes &&
	    r->result->tape_bytes + tape_writer_bytes(r->writer) >= r->options->max_bytes)
		tape_is_full(waiting);
	else
		turn(waiting, recording_now_ns());
}

static void processes_ended(struct waiting *waiting)
{
	if (!followed_tasks_check(&waiting->r->followed) && !waiting->r->options->command)
		waiting->is_over = true;
}

static void time_is_over(struct waiting *waiting)
{
	struct recording *r = waiting->r;

	waiting->due_ns[DUE_END] = NEVER;
	if (!r->options->command) {
		waiting->is_over = true;
		return;
	}
	r->result->is_timed_out = true;
	recorded_command_signal(&r->command, SIGTERM);
}

static void do_what_is_due(struct waiting *waiting, uint64_t now_ns)
{
	struct recording *r = waiting->r;
	uint64_t *due_ns = waiting->due_ns;

	if (now_ns >= due_ns[DUE_SNAPSHOT]) {
		/* A late one is not made up for. */
		due_ns[DUE_SNAPSHOT] = now_ns + r->options->snapshot_every_ns;
		if (recording_snapshot(r))
			tape_has_failed(waiting);
	}
	if (now_ns >= due_ns[DUE_SYNC]) {
		due_ns[DUE_SYNC] = now_ns + SYNC_NS;
		if (tape_writer_sync(r->writer)) {
			recording_tape_problem(r);
			tape_has_failed(waiting);
		}
	}
	if (now_ns >= due_ns[DUE_ROTATE])
		turn(waiting, now_ns);
	if (now_ns >= due_ns[DUE_ASK_PIDS]) {
		due_ns[DUE_ASK_PIDS] = now_ns + ASK_PIDS_NS;
		processes_ended(waiting);
	}
	if (now_ns >= due_ns[DUE_END])
		time_is_over(waiting);
}

static int wait_ms(const struct waiting *waiting)
{
	uint64_t first_ns = NEVER, now_ns = recording_now_ns();

	for (int i = 0; i < NR_DUE; i++)
		if (waiting->due_ns[i] < first_ns)
			first_ns = waiting->due_ns[i];
	if (first_ns == NEVER)
		return -1;
	if (now_ns >= first_ns)
		return 0;
	first_ns = (first_ns - now_ns) / 1000000 + 1;
	return first_ns > INT_MAX ? INT_MAX : (int)first_ns;
}

static void begin_waiting(struct waiting *waiting, struct recording *r)
{
	const struct recording_options *options = r->options;

	*waiting = (struct waiting){ .r = r };
	for (int i = 0; i < NR_DUE; i++)
		waiting->due_ns[i] = NEVER;
	waiting->due_ns[DUE_SYNC] = r->begin_ns + SYNC_NS;
	if (options->duration_ns)
		waiting->due_ns[DUE_END] = r->begin_ns + options->duration_ns;
	if (options->snapshot_every_ns)
		waiting->due_ns[DUE_SNAPSHOT] = r->begin_ns + options->snapshot_every_ns;
	if (options->rotate_ns)
		waiting->due_ns[DUE_ROTATE] = r->begin_ns + options->rotate_ns;
	if (r->followed.nr && r->followed.epoll_fd < 0)
		waiting->due_ns[DUE_ASK_PIDS] = r->begin_ns + ASK_PIDS_NS;
	ring_readers_limit(r->readers, next_limit(r));
}

void recording_wait(struct recording *r)
{
	struct pollfd wait[NR_WAIT] = {
		[WAIT_SIGNAL] = { .fd = r->signal_fd, .events = POLLIN },
		[WAIT_FAILED] = { .fd = ring_readers_failed_fd(r->readers), .events = POLLIN },
		[WAIT_LIMIT] = { .fd = ring_readers_limit_fd(r->readers), .events = POLLIN },
		[WAIT_PIDS] = { .fd = r->followed.nr ? r->followed.epoll_fd : -1,
				.events = POLLIN },
	};
	struct waiting waiting;

	begin_waiting(&waiting, r);
	while (!waiting.is_over) {
		int nr = poll(wait, NR_WAIT, wait_ms(&waiting));

		if (nr < 0 && errno != EINTR)
			return;
		if (nr > 0 && (wait[WAIT_SIGNAL].revents & POLLIN) && take_signal(&waiting))
			return;
		if (nr > 0 && (wait[WAIT_FAILED].revents & POLLIN)) {
			tape_has_failed(&waiting);
			wait[WAIT_FAILED].fd = -1;
		}
		if (nr > 0 && (wait[WAIT_LIMIT].revents & POLLIN))
			limit_reached(&waiting);
		if (nr > 0 && (wait[WAIT_PIDS].revents & POLLIN))
			processes_ended(&waiting);
		if (!waiting.is_over)
			do_what_is_due(&waiting, recording_now_ns());
	}
}
