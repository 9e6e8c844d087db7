// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader sleeps until its buffer is as full as the instance's buffer_percent says, or a second
 * has passed, and then takes all whole pages at once. Less would wake it for every page, and cost the
 * recorded machine more than the events do. After a second without a wake-up it takes the partly
 * filled page too, and every FLUSH_NS it ends its frame, so that a quiet machine's tape is not behind
 * by more than that. The last page is read after tracing is off: stopping alone drains nothing.
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
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <tracefs.h>
#include <unistd.h>

#define PROBE_RECORD_BYTES 128 /* more than a record of a probe has */
#define DRAIN_MS                                                                                   \
	1000 /* a guess: bounds what a power cut costs, and is rare enough to cost nothing */
#define REST_MS                                                                                    \
	20 /* a guess: pause after a wake-up that brought little, on kernels without buffer_percent */
#define LITTLE_PAGES 16
#define FLUSH_NS 10000000000u /* the manual promises it: a frame is not older when it is written */

#define CLONE_INTO_CGROUP_FLAG 0x200000000u /* include/uapi/linux/sched.h, since 5.7 */

/*
 * Many busy threads on few CPUs would starve the readers: with 20 on 2 CPUs a fair share is 9 % of a
 * CPU, and a million events a second need about 15 %.
 */
#define READER_NICE (-10)

struct ring_reader {
	struct ring_readers *set;
	struct ring_reader_totals totals; /* of the present tape */
	struct ring_reader_totals ended; /* of the one before, or of all after the stop */
	pthread_t thread;
	bool running;
	pid_t tid;
	int fd; /* trace_pipe_raw, nonblocking */
	int wake_fd; /* raised for a turn and for the stop */
	struct tracefs_cpu *pipe;
	struct kbuffer *kbuf;
	void *page;
	unsigned int page_bytes;
	struct tape_writer *writer;
	struct tape_stream *stream;
	uint64_t last_ns; /* of its events */
	uint64_t flushed_ns; /* clock time of its last frame's end */
	uint64_t cpu_before_ns; /* CPU time spent on tapes before this one */
	char *stats; /* of the last turn */
	bool tape_failed;
	int read_error; /* errno of a failed read, 0 for none */
};

struct ring_readers {
	struct ring_reader_setup setup;
	int failed_fd, limit_fd;
	sem_t started; /* raised by each thread once its tid is set */
	sem_t turned; /* raised by each thread once it writes to the next tape */
	atomic_bool stop;
	_Atomic(struct tape_writer *) next; /* the tape to turn to */
	_Atomic uint64_t limit_bytes;
	pid_t own_least, own_most; /* the recorder's thread ids lie between, perhaps with others' */
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

static void note_loss(struct ring_reader *reader, int missed, uint64_t until_ns)
{
	struct ring_reader_totals *totals = &reader->totals;
	uint64_t count = missed > 0 ? (uint64_t)missed : EVENT_LOST_UNKNOWN;

	if (totals->nr_losses < RING_READER_PLACES)
		totals->place[totals->nr_losses] = (struct ring_reader_place){ reader->last_ns,
									       until_ns, count };
	totals->nr_losses++;
	if (missed > 0)
		totals->nr_lost += count;
	else
		totals->nr_losses_unknown++;
	if (!reader->tape_failed)
		note_tape(reader, tape_stream_lost(reader->stream, count));
}

/* Its text is of no declared size, so it is given as a value. The kernel ends it with a newline. */
static void take_marker(struct ring_reader *reader, uint64_t timestamp_ns, const uint8_t *record,
			size_t size)
{
	size_t from = reader->set->setup.marker_text_offset;
	const char *text = (const char *)record + from;
	size_t length = size > from ? strnlen(text, size - from) : 0;
	char copy[4096];
	uint64_t value[1];
	const struct tape_event event = {
		.type = reader->set->setup.marker_type,
		.timestamp_ns = timestamp_ns,
		.pid = *(const int32_t *)(const void *)(record + 4),
		.flags = record[2],
		.preempt_count = record[3],
		.value = value,
		.strings = copy,
	};

	length = length < sizeof(copy) ? length : sizeof(copy) - 1;
	while (length && text[length - 1] == '\n')
		length--;
	memcpy(copy, text, length);
	copy[length] = '\0';
	value[0] = length;
	reader->totals.nr_markers++;
	note_tape(reader, tape_stream_event(reader->stream, &event));
}

/*
 * clone3() made a task in another cgroup than its parent's, and no attach event tells of it: only
 * /proc can. A task that has gone, or moved on, since its record was written is not caught.
 */
static void take_cloned_into(struct ring_reader *reader, uint64_t timestamp_ns,
			     const uint8_t *record)
{
	const struct ring_reader_setup *setup = &reader->set->setup;
	int32_t pid;
	char path[PATH_MAX] = "";
	uint64_t value[3];
	const struct tape_event event = {
		.type = setup->task_memcg_type,
		.timestamp_ns = timestamp_ns,
		.pid = *(const int32_t *)(const void *)(record + 4),
		.flags = record[2],
		.preempt_count = record[3],
		.value = value,
		.strings = path,
	};

	memcpy(&pid, record + setup->newtask_pid_offset, sizeof(pid));
	value[TASK_MEMCG_PID] = (uint64_t)(int64_t)pid;
	value[TASK_MEMCG_MEMCG] = memcg_of_task(setup->hierarchy, pid, path);
	value[TASK_MEMCG_PATH] = strlen(path);
	reader->totals.nr_cloned_into++;
	reader->totals.nr_cloned_gone += !value[TASK_MEMCG_MEMCG];
	reader->totals.nr_events++;
	reader->totals.nr_added++;
	note_tape(reader, tape_stream_event(reader->stream, &event));
}

static bool is_cloned_into(const struct ring_reader_setup *setup, const uint8_t *record, int size)
{
	uint64_t flags;

	if (size < setup->newtask_flags_offset + 8 || size < setup->newtask_pid_offset + 4)
		return false;
	memcpy(&flags, record + setup->newtask_flags_offset, sizeof(flags));
	return flags & CLONE_INTO_CGROUP_FLAG;
}

static bool __attribute__((noinline)) is_own_thread(const struct ring_readers *set, pid_t pid)
{
	for (unsigned int i = 0; i < set->nr; i++)
		if (set->reader[i].tid == pid)
			return true;
	return pid == getpid();
}

static inline bool is_own_work(const struct ring_reader *reader, uint16_t type, const void *record)
{
	const struct ring_readers *set = reader->set;
	pid_t pid = ((const int32_t *)record)[1]; /* common_pid */

	return __builtin_expect(pid >= set->own_least && pid <= set->own_most, 0) &&
	       set->setup.is_own_work[type] && is_own_thread(set, pid);
}

/* Its folio's address is the kernel's own business: it does not leave this machine. */
static void take_folio(struct ring_reader *reader, uint64_t timestamp_ns, const void *record,
		       size_t size)
{
	const struct ring_reader_setup *setup = &reader->set->setup;
	uint8_t copy[PROBE_RECORD_BYTES];
	uint64_t value;

	if (size > sizeof(copy) || size < setup->folio_offset + sizeof(value)) {
		note_tape(reader, TAPE_ERR_CORRUPT);
		return;
	}
	memcpy(copy, record, size);
	memcpy(&value, copy + setup->folio_offset, sizeof(value));
	value = referenced_probe_pfn(setup->probe, value);
	memcpy(copy + setup->folio_offset, &value, sizeof(value));
	note_tape(reader,
		  tape_stream_record(reader->stream, setup->folio_type, timestamp_ns, copy, size));
}

static void take_record(struct ring_reader *reader, uint16_t type, uint64_t timestamp_ns,
			const void *record, int size)
{
	const struct ring_reader_setup *setup = &reader->set->setup;

	if (__builtin_expect(type == setup->marker_type, 0)) {
		take_marker(reader, timestamp_ns, record, (size_t)size);
		return;
	}
	if (__builtin_expect(type == setup->folio_type, 0)) {
		take_folio(reader, timestamp_ns, record, (size_t)size);
		return;
	}
	note_tape(reader,
		  tape_stream_record(reader->stream, type, timestamp_ns, record, (size_t)size));
	if (__builtin_expect(type == setup->newtask_type, 0) && !reader->tape_failed &&
	    is_cloned_into(setup, record, size))
		take_cloned_into(reader, timestamp_ns, record);
}

static void take_page(struct ring_reader *reader)
{
	const uint16_t *type_of_id = reader->set->setup.type_of_id;
	struct ring_reader_totals *totals = &reader->totals;
	unsigned long long timestamp_ns;
	const void *record;
	int missed;

	if (kbuffer_load_subbuffer(reader->kbuf, reader->page))
		return;
	totals->nr_pages++;
	missed = kbuffer_missed_events(reader->kbuf);
	record = kbuffer_read_event(reader->kbuf, &timestamp_ns);
	if (missed)
		note_loss(reader, missed, record ? timestamp_ns : 0);
	for (; record; record = kbuffer_next_event(reader->kbuf, &timestamp_ns)) {
		uint16_t type = type_of_id[*(const uint16_t *)record];

		if (type == RING_READER_NO_TYPE) {
			totals->nr_unknown_type++;
			continue;
		}
		if (is_own_work(reader, type, record)) {
			totals->nr_own++;
			continue;
		}
		if (timestamp_ns < reader->last_ns) {
			timestamp_ns = reader->last_ns;
			totals->nr_backwards++;
		}
		reader->last_ns = timestamp_ns;
		totals->nr_events++;
		if (!reader->tape_failed)
			take_record(reader, type, timestamp_ns, record,
				    kbuffer_event_size(reader->kbuf));
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

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The page that is being filled, as far as it is: read(2) does not wait for the rest of it. */
static void drain_partial(struct ring_reader *reader)
{
	ssize_t got = read(reader->fd, reader->page, reader->page_bytes);

	if (got > 0)
		take_page(reader);
	else if (got < 0 && errno != EAGAIN && errno != EINTR)
		reader->read_error = errno;
}

static void flush(struct ring_reader *reader)
{
	if (!reader->tape_failed)
		note_tape(reader, tape_stream_flush(reader->stream));
	reader->flushed_ns = now_ns();
}

static void end_totals(struct ring_reader *reader)
{
	uint64_t cpu_ns = thread_cpu_ns();

	reader->totals.cpu_ns = cpu_ns - reader->cpu_before_ns;
	reader->cpu_before_ns = cpu_ns;
	reader->ended = reader->totals;
	memset(&reader->totals, 0, sizeof(reader->totals));
	reader->totals.cpu = reader->ended.cpu;
}

static void turn(struct ring_reader *reader, struct tape_writer *next)
{
	struct tape_stream *stream = tape_writer_stream(next, reader->totals.cpu);
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", reader->totals.cpu);
	free(reader->stats);
	reader->stats = trace_instance_read(reader->set->setup.instance, file, NULL);
	drain_pages(reader);
	flush(reader);
	end_totals(reader);
	reader->writer = next;
	if (stream) {
		reader->stream = stream;
		reader->tape_failed = false;
	} else {
		note_tape(reader, TAPE_ERR_MEMORY);
	}
	sem_post(&reader->set->turned);
}

/* Wakes up when there is enough to read, is to stop or to turn, or a second has passed. */
static void read_once(struct ring_reader *reader, struct pollfd *wait, bool timed_out)
{
	struct ring_readers *set = reader->set;
	uint64_t limit = atomic_load(&set->limit_bytes);
	unsigned int nr = drain_pages(reader);

	if (timed_out && !reader->read_error)
		drain_partial(reader);
	if (now_ns() - reader->flushed_ns > FLUSH_NS)
		flush(reader);
	if (limit && !reader->tape_failed && tape_writer_bytes(reader->writer) >= limit)
		raise_fd(set->limit_fd);
	if (nr < LITTLE_PAGES && !timed_out)
		poll(wait, 1, REST_MS);
	if (reader->read_error) {
		/* The buffer cannot be read: the fd would stay readable, so wait for the end. */
		wait[1].fd = -1;
		raise_fd(set->failed_fd);
	}
}

static void *reader_main(void *arg)
{
	struct ring_reader *reader = arg;
	struct ring_readers *set = reader->set;
	struct pollfd wait[2] = {
		{ .fd = reader->wake_fd, .events = POLLIN },
		{ .fd = reader->fd, .events = POLLIN },
	};

	reader->tid = (pid_t)syscall(SYS_gettid);
	/* Of this thread only, and no loss if it is refused. */
	setpriority(PRIO_PROCESS, (id_t)reader->tid, READER_NICE);
	reader->flushed_ns = now_ns();
	sem_post(&set->started);

	while (!atomic_load(&set->stop)) {
		struct tape_writer *next;
		uint64_t ignored;
		int nr = poll(wait, 2, DRAIN_MS);

		if (nr < 0 && errno != EINTR)
			poll(NULL, 0, REST_MS);
		if (read(reader->wake_fd, &ignored, sizeof(ignored)) > 0 && atomic_load(&set->stop))
			break;
		next = atomic_load(&set->next);
		if (next && next != reader->writer)
			turn(reader, next);
		if (wait[1].fd >= 0)
			read_once(reader, wait, nr == 0);
	}
	drain_rest(reader);
	flush(reader);
	end_totals(reader);
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

static int open_reader(struct ring_readers *set, unsigned int cpu, struct capture_problem *problem)
{
	struct trace_instance *instance = set->setup.instance;
	struct ring_reader *reader = &set->reader[set->nr];
	int page_bytes = (int)trace_instance_sub_buffer_bytes(instance);
	char path[PATH_MAX];

	reader->set = set;
	reader->totals.cpu = cpu;
	reader->page_bytes = (unsigned int)page_bytes;
	reader->writer = set->setup.writer;
	reader->wake_fd = -1;
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
	reader->stream = tape_writer_stream(reader->writer, cpu);
	reader->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->wake_fd < 0)
		return capture_problem_set(problem, "cannot make an eventfd: %s: raise ulimit -n",
					   strerror(errno));
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
	set->own_least = set->own_most = getpid();
	for (unsigned int i = 0; i < set->nr; i++) {
		pid_t tid = set->reader[i].tid;

		set->own_least = tid < set->own_least ? tid : set->own_least;
		set->own_most = tid > set->own_most ? tid : set->own_most;
	}
	return 0;
}

int ring_readers_start(const struct ring_reader_setup *setup, struct ring_readers **readers,
		       struct capture_problem *problem)
{
	unsigned int *cpus, nr = list_cpus(setup->instance, &cpus);
	struct ring_readers *set;

	if (nr == 0)
		return capture_problem_set(problem, "%s/per_cpu: no CPU's buffer is listed there",
					   trace_instance_directory(setup->instance));
	set = calloc(1, sizeof(*set) + nr * sizeof(set->reader[0]));
	if (!set) {
		free(cpus);
		return capture_problem_set(problem, "out of memory");
	}
	set->setup = *setup;
	sem_init(&set->started, 0, 0);
	sem_init(&set->turned, 0, 0);
	set->failed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	set->limit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (set->failed_fd < 0 || set->limit_fd < 0) {
		capture_problem_set(problem, "cannot make an eventfd: %s: raise ulimit -n",
				    strerror(errno));
		goto err_free;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (open_reader(set, cpus[i], problem))
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
	return &readers->reader[i].ended;
}

const char *ring_reader_stats(const struct ring_readers *readers, unsigned int i)
{
	return readers->reader[i].stats;
}

int ring_readers_failed_fd(const struct ring_readers *readers)
{
	return readers->failed_fd;
}

void ring_readers_limit(struct ring_readers *readers, uint64_t bytes)
{
	atomic_store(&readers->limit_bytes, bytes);
}

int ring_readers_limit_fd(const struct ring_readers *readers)
{
	return readers->limit_fd;
}

static void wake_all(struct ring_readers *readers)
{
	for (unsigned int i = 0; i < readers->nr; i++)
		raise_fd(readers->reader[i].wake_fd);
}

void ring_readers_turn(struct ring_readers *readers, struct tape_writer *writer)
{
	atomic_store(&readers->next, writer);
	wake_all(readers);
	for (unsigned int i = 0; i < readers->nr; i++)
		while (sem_wait(&readers->turned) && errno == EINTR)
			;
	atomic_store(&readers->next, NULL);
}

int ring_readers_stop(struct ring_readers *readers, struct capture_problem *problem)
{
	int failed = 0;

	atomic_store(&readers->stop, true);
	wake_all(readers);
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
					    reader->ended.cpu, strerror(reader->read_error));
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
		if (reader->wake_fd >= 0)
			close(reader->wake_fd);
		kbuffer_free(reader->kbuf);
		free(reader->page);
		free(reader->stats);
	}
	if (readers->failed_fd >= 0)
		close(readers->failed_fd);
	if (readers->limit_fd >= 0)
		close(readers->limit_fd);
	sem_destroy(&readers->started);
	sem_destroy(&readers->turned);
	free(readers);
}
