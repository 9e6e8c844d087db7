// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader sleeps until its buffer is as full as the instance's buffer_percent says, or a second
 * has passed, and then takes all whole pages at once. Less would wake it for every page, and cost the
 * recorded machine more than the events do. The last, partly filled page is read after tracing is
 * off: stopping alone drains nothing.
 */
#include "capture/ring_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <kbuffer.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <tracefs.h>
#include <unistd.h>

#define DRAIN_MS                                                                                   \
	1000 /* a guess: bounds what a power cut costs, and is rare enough to cost nothing */
#define REST_MS                                                                                    \
	20 /* a guess: pause after a wake-up that brought little, on kernels without buffer_percent */
#define LITTLE_PAGES 16

/*
 * Many busy threads on few CPUs would starve the readers: with 20 on 2 CPUs a fair share is 9 % of a
 * CPU, and a million events a second need about 15 %.
 */
#define READER_NICE (-10)

struct ring_reader {
	struct ring_readers *set;
	struct ring_reader_totals totals;
	pthread_t thread;
	bool running;
	pid_t tid;
	int fd; /* trace_pipe_raw, nonblocking */
	struct tracefs_cpu *pipe;
	struct kbuffer *kbuf;
	void *page;
	struct tape_stream *stream;
	uint64_t last_ns;
	bool tape_failed;
	int read_error; /* errno of a failed read, 0 for none */
};

struct ring_readers {
	struct tape_writer *writer;
	const uint16_t *type_of_id;
	int stop_fd, failed_fd;
	sem_t started; /* raised by each thread once its tid is set */
	unsigned int nr;
	struct ring_reader reader[];
};

static void raise_fd(int fd)
{
	uint64_t one = 1;
	ssize_t put = write(fd, &one, sizeof(one));

	(void)put; /* an eventfd refuses only a counter that is full, and then it is raised */
}

static void note_tape(struct ring_reader *reader, int error)
{
	if (!error || reader->tape_failed)
		return;
	reader->tape_failed = true;
	raise_fd(reader->set->failed_fd);
}

static void note_loss(struct ring_reader *reader, int missed)
{
	uint64_t count = missed > 0 ? (uint64_t)missed : EVENT_LOST_UNKNOWN;

	reader->totals.nr_losses++;
	if (missed > 0)
		reader->totals.nr_lost += count;
	else
		reader->totals.nr_losses_unknown++;
	if (!reader->tape_failed)
		note_tape(reader, tape_stream_lost(reader->stream, count));
}

static void take_page(struct ring_reader *reader)
{
	const uint16_t *type_of_id = reader->set->type_of_id;
	struct ring_reader_totals *totals = &reader->totals;
	unsigned long long timestamp_ns;
	const void *record;
	int missed;

	if (kbuffer_load_subbuffer(reader->kbuf, reader->page))
		return;
	totals->nr_pages++;
	missed = kbuffer_missed_events(reader->kbuf);
	if (missed)
		note_loss(reader, missed);
	for (record = kbuffer_read_event(reader->kbuf, &timestamp_ns); record;
	     record = kbuffer_next_event(reader->kbuf, &timestamp_ns)) {
		uint16_t type = type_of_id[*(const uint16_t *)record];
		int size = kbuffer_event_size(reader->kbuf);

		if (type == RING_READER_NO_TYPE) {
			totals->nr_unknown_type++;
			continue;
		}
		if (timestamp_ns < reader->last_ns) {
			timestamp_ns = reader->last_ns;
			totals->nr_backwards++;
		}
		reader->last_ns = timestamp_ns;
		totals->nr_events++;
		if (!reader->tape_failed)
			note_tape(reader, tape_stream_record(reader->stream, type, timestamp_ns,
							     record, (size_t)size));
	}
}

/* Takes all whole pages there are. Return: their number. */
static unsigned int drain_pages(struct ring_reader *reader)
{
	unsigned int nr = 0;
	int got;

	while ((got = tracefs_cpu_buffered_read(reader->pipe, reader->page, true)) > 0) {
		take_page(reader);
		nr++;
	}
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		reader->read_error = errno;
	return nr;
}

/* After tracing is off: the whole pages, then the one that was being filled. */
static void drain_rest(struct ring_reader *reader)
{
	int got;

	drain_pages(reader);
	while ((got = tracefs_cpu_flush(reader->pipe, reader->page)) > 0)
		take_page(reader);
	if (got < 0 && errno != EAGAIN)
		reader->read_error = errno;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *reader_main(void *arg)
{
	struct ring_reader *reader = arg;
	struct pollfd wait[2] = {
		{ .fd = reader->set->stop_fd, .events = POLLIN },
		{ .fd = reader->fd, .events = POLLIN },
	};

	reader->tid = (pid_t)syscall(SYS_gettid);
	/* Of this thread only, and no loss if it is refused. */
	setpriority(PRIO_PROCESS, (id_t)reader->tid, READER_NICE);
	sem_post(&reader->set->started);

	while (!(wait[0].revents & POLLIN)) {
		if (poll(wait, 2, DRAIN_MS) < 0 && errno != EINTR)
			break;
		if (wait[0].revents & POLLIN)
			break;
		if (reader->read_error) {
			/* The buffer cannot be read: the fd would stay readable, so wait for the end. */
			wait[1].fd = -1;
			continue;
		}
		if (drain_pages(reader) < LITTLE_PAGES && poll(wait, 1, REST_MS) < 0 &&
		    errno != EINTR)
			break;
		if (reader->read_error)
			raise_fd(reader->set->failed_fd);
	}
	drain_rest(reader);
	if (!reader->tape_failed)
		note_tape(reader, tape_stream_flush(reader->stream));
	reader->totals.cpu_ns = thread_cpu_ns();
	return NULL;
}

/* CPU numbers of per_cpu/cpuN, in rising order. Return: how many, 0 if they cannot be listed. */
static unsigned int list_cpus(const struct trace_instance *instance, unsigned int **cpus)
{
	char path[PATH_MAX];
	unsigned int nr = 0, *list = NULL, *more, cpu;
	struct dirent **entries;
	int nr_entries;

	snprintf(path, sizeof(path), "%s/per_cpu", trace_instance_directory(instance));
	nr_entries = scandir(path, &entries, NULL, versionsort);
	for (int i = 0; i < nr_entries; i++) {
		if (sscanf(entries[i]->d_name, "cpu%u", &cpu) == 1) {
			more = reallocarray(list, nr + 1, sizeof(*list));
			if (more) {
				list = more;
				list[nr++] = cpu;
			}
		}
		free(entries[i]);
	}
	if (nr_entries >= 0)
		free(entries);
	*cpus = list;
	return nr;
}

static int open_reader(struct ring_readers *set, struct trace_instance *instance, unsigned int cpu,
		       struct capture_problem *problem)
{
	struct ring_reader *reader = &set->reader[set->nr];
	int page_bytes = (int)trace_instance_sub_buffer_bytes(instance);
	char path[PATH_MAX];

	reader->set = set;
	reader->totals.cpu = cpu;
	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw",
		 trace_instance_directory(instance), cpu);
	reader->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (reader->fd < 0)
		return capture_problem_set(problem,
					   "%s: cannot open: %s: is another program reading it?",
					   path, strerror(errno));
	set->nr++;
	/* Not tracefs_cpu_open(): it takes the page size from the top-level header_page. */
	reader->pipe = tracefs_cpu_alloc_fd(reader->fd, page_bytes, true);
	reader->kbuf = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	reader->page = malloc((size_t)page_bytes);
	reader->stream = tape_writer_stream(set->writer, cpu);
	if (!reader->pipe || !reader->kbuf || !reader->page || !reader->stream)
		return capture_problem_set(problem, "out of memory for the reader of CPU %u", cpu);
	return 0;
}

static int start_threads(struct ring_readers *set, struct capture_problem *problem)
{
	for (unsigned int i = 0; i < set->nr; i++) {
		int error = pthread_create(&set->reader[i].thread, NULL, reader_main,
					   &set->reader[i]);

		if (error)
			return capture_problem_set(
				problem, "cannot start a reader thread: %s: raise ulimit -u",
				strerror(error));
		set->reader[i].running = true;
	}
	for (unsigned int i = 0; i < set->nr; i++)
		while (sem_wait(&set->started) && errno == EINTR)
			;
	return 0;
}

int ring_readers_start(struct trace_instance *instance, const uint16_t *type_of_id,
		       struct tape_writer *writer, struct ring_readers **readers,
		       struct capture_problem *problem)
{
	unsigned int *cpus, nr = list_cpus(instance, &cpus);
	struct ring_readers *set;

	if (nr == 0)
		return capture_problem_set(problem, "%s/per_cpu: no CPU's buffer is listed there",
					   trace_instance_directory(instance));
	set = calloc(1, sizeof(*set) + nr * sizeof(set->reader[0]));
	if (!set) {
		free(cpus);
		return capture_problem_set(problem, "out of memory");
	}
	set->writer = writer;
	set->type_of_id = type_of_id;
	sem_init(&set->started, 0, 0);
	set->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	set->failed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (set->stop_fd < 0 || set->failed_fd < 0) {
		capture_problem_set(problem, "cannot make an eventfd: %s: raise ulimit -n",
				    strerror(errno));
		goto err_free;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (open_reader(set, instance, cpus[i], problem))
			goto err_free;
	if (start_threads(set, problem))
		goto err_free;
	free(cpus);
	*readers = set;
	return 0;

err_free:
	free(cpus);
	ring_readers_free(set);
	return -1;
}

unsigned int ring_readers_nr(const struct ring_readers *readers)
{
	return readers->nr;
}

pid_t ring_reader_tid(const struct ring_readers *readers, unsigned int i)
{
	return readers->reader[i].tid;
}

struct ring_reader_totals *ring_reader_totals(struct ring_readers *readers, unsigned int i)
{
	return &readers->reader[i].totals;
}

int ring_readers_failed_fd(const struct ring_readers *readers)
{
	return readers->failed_fd;
}

int ring_readers_stop(struct ring_readers *readers, struct capture_problem *problem)
{
	int failed = 0;

	raise_fd(readers->stop_fd);
	for (unsigned int i = 0; i < readers->nr; i++) {
		struct ring_reader *reader = &readers->reader[i];

		if (!reader->running)
			continue;
		pthread_join(reader->thread, NULL);
		reader->running = false;
		close(reader->fd);
		reader->fd = -1;
		if (reader->read_error)
			capture_problem_set(problem,
					    "per_cpu/cpu%u/trace_pipe_raw: cannot read: %s",
					    reader->totals.cpu, strerror(reader->read_error));
		if (reader->read_error || reader->tape_failed)
			failed = -1;
	}
	return failed;
}

void ring_readers_free(struct ring_readers *readers)
{
	struct capture_problem ignored;

	if (!readers)
		return;
	ring_readers_stop(readers, &ignored);
	for (unsigned int i = 0; i < readers->nr; i++) {
		struct ring_reader *reader = &readers->reader[i];

		if (reader->pipe)
			tracefs_cpu_free_fd(reader->pipe);
		if (reader->fd >= 0)
			close(reader->fd);
		kbuffer_free(reader->kbuf);
		free(reader->page);
	}
	if (readers->stop_fd >= 0)
		close(readers->stop_fd);
	if (readers->failed_fd >= 0)
		close(readers->failed_fd);
	sem_destroy(&readers->started);
	free(readers);
}
