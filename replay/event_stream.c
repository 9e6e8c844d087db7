// SPDX-License-Identifier: GPL-2.0-only
#include "replay/event_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "replay/read_calls.h"

#define LOOK_AHEAD_EVENTS 65536
#define BATCH_PAGES 31 /* of one get_pages batch of single pages: PAGEVEC_SIZE */
#define READ_PAGES_LIMIT (1u << 19) /* of one request: MAX_RW_COUNT, 2 GiB, in 4 KiB pages */
#define VICTIM_RUNS 32 /* of tasks that remove pages at one time */
#define PENDING_ISOLATIONS 64 /* tasks that shrink at one time */
#define ISOLATION_EVENTS 4096 /* that one is looked ahead for */
#define PENDING_READS 256 /* tasks in the middle of a long read at one time */

struct kept_event {
	struct tape_event event;
	uint64_t read_end;
	bool read_end_known;
	bool went_on; /* its task has read another file since, or ended */
	uint64_t value[24]; /* more slots than any event of events.def has; others are cut */
};

/* What a task removes from the page cache with nothing of its own between. */
struct victim_run {
	const struct kept_event *first; /* NULL: a free place */
	int32_t pid;
	bool closed;
	unsigned int nr;
	uint32_t pfn[VICTIM_RUN_LIMIT];
};

struct event_stream {
	struct tape_reader *reader;
	struct victim_run *run; /* VICTIM_RUNS of them; NULL: nobody asked, or isolations tell */
	struct kept_event *kept; /* ring */
	unsigned int first, nr;
	struct kept_event *pending[PENDING_READS]; /* reads whose end is not known yet */
	unsigned int nr_pending;
	bool foresees;
	struct kept_event *isolation[PENDING_ISOLATIONS]; /* whose shrinking has not come yet */
	unsigned int nr_isolations;
	int end; /* what the reader returned when it returned no event, 1 before that */
	struct kept_event *served; /* handed out, still occupying the ring's first place */
	struct read_calls *calls; /* NULL: reads have an event of their own */
	struct tape_event read; /* by a call, handed out */
};

/* No event tells reads, but system calls do. */
static bool reads_are_calls(const struct tape_reader *reader)
{
	bool calls = false;

	for (unsigned int i = 0; tape_reader_type(reader, i); i++) {
		if (tape_reader_type(reader, i)->kind == EVENT_MM_FILEMAP_GET_PAGES)
			return false;
		calls |= tape_reader_type(reader, i)->kind == EVENT_SYS_EXIT_PREAD64;
	}
	return calls;
}

struct event_stream *event_stream_open(struct tape_reader *reader)
{
	struct event_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->reader = reader;
	stream->end = 1;
	stream->kept = malloc(LOOK_AHEAD_EVENTS * sizeof(*stream->kept));
	if (reads_are_calls(reader))
		stream->calls = read_calls_open();
	if (!stream->kept || (reads_are_calls(reader) && !stream->calls)) {
		event_stream_close(stream);
		return NULL;
	}
	return stream;
}

void event_stream_close(struct event_stream *stream)
{
	if (!stream)
		return;
	for (unsigned int i = 0; i < stream->nr; i++)
		free((char *)stream->kept[(stream->first + i) % LOOK_AHEAD_EVENTS].event.strings);
	free(stream->kept);
	free(stream->run);
	read_calls_close(stream->calls);
	free(stream);
}

void event_stream_foresee(struct event_stream *stream, enum foresight foresight)
{
	stream->foresees = foresight == FORESEE_ISOLATIONS;
	if (foresight == FORESEE_VICTIMS && !stream->run) /* without memory it does without */
		stream->run = calloc(VICTIM_RUNS, sizeof(*stream->run));
}

const uint32_t *event_stream_victims(const struct event_stream *stream, unsigned int *nr)
{
	*nr = 0;
	for (int i = 0; stream->run && stream->served && i < VICTIM_RUNS; i++)
		if (stream->run[i].first == stream->served) {
			*nr = stream->run[i].nr;
			return stream->run[i].pfn;
		}
	return NULL;
}

static bool is_long_read(const struct tape_event *event)
{
	return event->kind == EVENT_MM_FILEMAP_GET_PAGES &&
	       event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX] >
		       event->value[MM_FILEMAP_GET_PAGES_INDEX];
}

/* A tape may claim any range; no request of a real kernel is longer than this. */
static uint64_t request_end(const uint64_t *value)
{
	uint64_t first = value[MM_FILEMAP_GET_PAGES_INDEX];
	uint64_t last = value[MM_FILEMAP_GET_PAGES_LAST_INDEX];

	return last > first && last - first >= READ_PAGES_LIMIT ? first + READ_PAGES_LIMIT - 1 :
								  last;
}

/*
 * No later batch of the request came within sight. If the task went on to another file, there is none:
 * this one reached the end of the request. Else the request may go on beyond what is in sight, or
 * beyond the tape, and a batch of single pages is the best guess.
 */
static void guess(struct kept_event *kept)
{
	uint64_t last = request_end(kept->value);
	uint64_t batch = kept->value[MM_FILEMAP_GET_PAGES_INDEX] + BATCH_PAGES - 1;

	kept->read_end = batch < last && !kept->went_on ? batch : last;
	kept->read_end_known = true;
}

static void drop_pending(struct event_stream *stream, unsigned int i)
{
	stream->pending[i] = stream->pending[--stream->nr_pending];
}

/* A later read of the same task and file tells how far the pending one got. */
static void resolve(struct event_stream *stream, const struct tape_event *event)
{
	const uint64_t *v = event->value;

	for (unsigned int i = 0; i < stream->nr_pending; i++) {
		struct kept_event *kept = stream->pending[i];
		const uint64_t *k = kept->value;

		if (kept->event.pid != event->pid)
			continue;
		/* Of a stacked file system reads may be within each other: this alone does not end it. */
		if (k[MM_FILEMAP_GET_PAGES_I_INO] != v[MM_FILEMAP_GET_PAGES_I_INO] ||
		    k[MM_FILEMAP_GET_PAGES_S_DEV] != v[MM_FILEMAP_GET_PAGES_S_DEV]) {
			kept->went_on = true;
			continue;
		}
		kept->read_end = request_end(k);
		if (k[MM_FILEMAP_GET_PAGES_LAST_INDEX] == v[MM_FILEMAP_GET_PAGES_LAST_INDEX] &&
		    v[MM_FILEMAP_GET_PAGES_INDEX] > k[MM_FILEMAP_GET_PAGES_INDEX] &&
		    v[MM_FILEMAP_GET_PAGES_INDEX] <= kept->read_end)
			kept->read_end = v[MM_FILEMAP_GET_PAGES_INDEX] - 1;
		kept->read_end_known = true;
		drop_pending(stream, i);
		return; /* at most one read of a task and file is pending */
	}
}

static void task_ended(struct event_stream *stream, int32_t pid)
{
	for (unsigned int i = 0; i < stream->nr_pending; i++)
		if (stream->pending[i]->event.pid == pid)
			stream->pending[i]->went_on = true;
}

static void add_pending(struct event_stream *stream, struct kept_event *kept)
{
	kept->read_end_known = false;
	kept->went_on = false;
	if (stream->nr_pending == PENDING_READS) {
		guess(stream->pending[0]);
		drop_pending(stream, 0);
	}
	stream->pending[stream->nr_pending++] = kept;
}

static bool is_string(const struct tape_event *event, const struct tape_field *field,
		      unsigned int nr_slots)
{
	return (field->kind == TAPE_FIELD_STRING || field->kind == TAPE_FIELD_BYTES) &&
	       field->slot < nr_slots && event->value[field->slot] != TAPE_VALUE_ABSENT;
}

static bool asks_for_shrinking(const struct event_stream *stream, const struct tape_event *event)
{
	return stream->foresees && event->kind == EVENT_MM_VMSCAN_LRU_ISOLATE;
}

static bool is_removal(const struct event_stream *stream, const struct tape_event *event)
{
	return stream->run && event->kind == EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE;
}

static void close_run(struct victim_run *run)
{
	run->closed = true;
	((struct kept_event *)run->first)->read_end_known = true;
}

static struct victim_run *open_run(const struct event_stream *stream, int32_t pid)
{
	for (int i = 0; stream->run && i < VICTIM_RUNS; i++)
		if (stream->run[i].first && !stream->run[i].closed && stream->run[i].pid == pid)
			return &stream->run[i];
	return NULL;
}

/* A removal goes on with its task's run, or begins one. */
static void add_removal(struct event_stream *stream, struct kept_event *kept)
{
	struct victim_run *run = open_run(stream, kept->event.pid);

	for (int i = 0; !run && i < VICTIM_RUNS; i++)
		if (!stream->run[i].first) {
			run = &stream->run[i];
			run->first = kept;
			run->pid = kept->event.pid;
			run->closed = false;
			run->nr = 0;
			kept->read_end_known = false;
		}
	if (!run)
		return;
	run->pfn[run->nr++] = (uint32_t)kept->value[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN];
	if (run->nr == VICTIM_RUN_LIMIT)
		close_run(run);
}

/* The task does something else. */
static void end_run(const struct event_stream *stream, const struct tape_event *event)
{
	struct victim_run *run = open_run(stream, event->pid);

	if (run && event->kind != EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE)
		close_run(run);
}

static void isolation_known(struct event_stream *stream, unsigned int i)
{
	stream->isolation[i]->read_end_known = true;
	stream->isolation[i] = stream->isolation[--stream->nr_isolations];
}

static void add_isolation(struct event_stream *stream, struct kept_event *kept)
{
	if (stream->nr_isolations == PENDING_ISOLATIONS)
		isolation_known(stream, 0);
	kept->read_end_known = false;
	stream->isolation[stream->nr_isolations++] = kept;
}

/*
 * A task's isolation is followed by its victims and a shrink event. One that took nothing has neither: what
 * comes next is most likely the same list's.
 */
static bool settles(struct kept_event *kept, const struct tape_event *event)
{
	switch (event->kind) {
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		if (!kept->read_end)
			kept->read_end = (event->value[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN] + 1) &
					 (UINT64_MAX >> 8);
		return false;
	case EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE:
		kept->read_end |= (event->value[MM_VMSCAN_LRU_SHRINK_INACTIVE_PRIORITY] + 1) << 56;
		return true;
	case EVENT_MM_VMSCAN_LRU_SHRINK_ACTIVE:
		kept->read_end |= (event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_PRIORITY] + 1) << 56;
		return true;
	case EVENT_MM_VMSCAN_LRU_ISOLATE:
		return kept->value[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN];
	case EVENT_MM_VMSCAN_DIRECT_RECLAIM_END:
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_END:
	case EVENT_MM_VMSCAN_KSWAPD_SLEEP:
	case EVENT_MM_VMSCAN_KSWAPD_WAKE:
		return true;
	default:
		return false;
	}
}

static void resolve_isolations(struct event_stream *stream, const struct tape_event *event)
{
	for (unsigned int i = stream->nr_isolations; i-- > 0;)
		if (stream->isolation[i]->event.pid == event->pid &&
		    settles(stream->isolation[i], event))
			isolation_known(stream, i);
}

/* The event's strings alone: they lie among those of a whole frame. Return: 0, or -1 without memory. */
static int keep_strings(struct kept_event *kept, const struct tape_event *event,
			const struct tape_type *type, unsigned int nr_slots)
{
	size_t bytes = 0, at = 0, size;
	char *strings;

	for (unsigned int i = 0; i < type->nr_fields; i++)
		if (is_string(event, &type->field[i], nr_slots)) {
			tape_event_string(event, type->field[i].slot, &size);
			bytes += size + 1;
		}
	if (!bytes)
		return 0;
	strings = malloc(bytes);
	if (!strings)
		return -1;
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		unsigned int slot = type->field[i].slot;
		const char *string;

		if (!is_string(event, &type->field[i], nr_slots))
			continue;
		string = tape_event_string(event, slot, &size);
		memcpy(strings + at, string, size + 1); /* the NUL behind it, too */
		kept->value[slot] = (uint64_t)at << 32 | size;
		at += size + 1;
	}
	kept->event.strings = strings;
	return 0;
}

static int keep(struct event_stream *stream, const struct tape_event *event)
{
	struct kept_event *kept = &stream->kept[(stream->first + stream->nr) % LOOK_AHEAD_EVENTS];
	const struct tape_type *type = event->kind == EVENT_LOST ?
					       NULL :
					       tape_reader_type(stream->reader, event->type);
	unsigned int room = sizeof(kept->value) / sizeof(kept->value[0]);
	unsigned int nr = type ? type->nr_slots : 2;

	if (nr > room)
		nr = room;
	kept->event = *event;
	kept->event.value = kept->value;
	kept->event.strings = NULL;
	kept->read_end = 0;
	kept->read_end_known = true;
	memcpy(kept->value, event->value, nr * sizeof(kept->value[0]));
	if (type && keep_strings(kept, event, type, nr))
		return TAPE_ERR_MEMORY;
	if (event->kind == EVENT_MM_FILEMAP_GET_PAGES) {
		kept->read_end = event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX];
		if (is_long_read(event))
			add_pending(stream, kept);
	} else if (asks_for_shrinking(stream, event)) {
		add_isolation(stream, kept);
	} else if (is_removal(stream, event)) {
		add_removal(stream, kept);
	}
	stream->nr++;
	return 0;
}

/* The first event will not be known any better. */
static void give_up(struct event_stream *stream, struct kept_event *first)
{
	for (unsigned int i = stream->nr_pending; i-- > 0;)
		if (stream->pending[i] == first)
			drop_pending(stream, i);
	for (unsigned int i = stream->nr_isolations; i-- > 0;)
		if (stream->isolation[i] == first)
			isolation_known(stream, i);
	for (int i = 0; stream->run && i < VICTIM_RUNS; i++)
		if (stream->run[i].first == first && !stream->run[i].closed)
			close_run(&stream->run[i]);
	if (is_long_read(&first->event))
		guess(first);
	first->read_end_known = true;
}

static int look_ahead(struct event_stream *stream)
{
	struct kept_event *first = &stream->kept[stream->first];
	const struct tape_event *event;

	while (!first->read_end_known) {
		unsigned int limit = is_long_read(&first->event) ? LOOK_AHEAD_EVENTS :
								   ISOLATION_EVENTS;

		if (stream->nr < limit && stream->end > 0)
			stream->end = tape_reader_next(stream->reader, &event);
		if (stream->end <= 0 || stream->nr >= limit) {
			give_up(stream, first);
			break;
		}
		resolve_isolations(stream, event);
		end_run(stream, event);
		if (event->kind == EVENT_MM_FILEMAP_GET_PAGES)
			resolve(stream, event);
		else if (event->kind == EVENT_SCHED_PROCESS_EXIT)
			task_ended(stream, event->pid);
		if (keep(stream, event))
			return TAPE_ERR_MEMORY;
	}
	return 0;
}

static int next_event(struct event_stream *stream, const struct tape_event **event,
		      uint64_t *read_end)
{
	struct kept_event *first;

	if (stream->served) {
		for (int i = 0; stream->run && i < VICTIM_RUNS; i++)
			if (stream->run[i].first == stream->served)
				stream->run[i].first = NULL;
		free((char *)stream->served->event.strings);
		stream->served = NULL;
		stream->first = (stream->first + 1) % LOOK_AHEAD_EVENTS;
		stream->nr--;
	}
	if (!stream->nr) {
		if (stream->end <= 0)
			return stream->end;
		stream->end = tape_reader_next(stream->reader, event);
		if (stream->end <= 0)
			return stream->end;
		if (!is_long_read(*event) && !asks_for_shrinking(stream, *event) &&
		    !is_removal(stream, *event)) {
			*read_end = (*event)->kind == EVENT_MM_FILEMAP_GET_PAGES ?
					    (*event)->value[MM_FILEMAP_GET_PAGES_LAST_INDEX] :
					    0;
			return 1;
		}
		stream->first = 0;
		if (keep(stream, *event))
			return TAPE_ERR_MEMORY;
	}
	first = &stream->kept[stream->first];
	if (look_ahead(stream))
		return TAPE_ERR_MEMORY;
	stream->served = first;
	*event = &first->event;
	*read_end = first->read_end;
	return 1;
}

static void tell_read(struct event_stream *stream, const struct tape_event **event,
		      uint64_t *read_end)
{
	*event = &stream->read;
	*read_end = stream->read.value[MM_FILEMAP_GET_PAGES_LAST_INDEX];
}

int event_stream_next(struct event_stream *stream, const struct tape_event **event,
		      uint64_t *read_end)
{
	int ret;

	if (!stream->calls)
		return next_event(stream, event, read_end);
	if (read_calls_next(stream->calls, &stream->read)) {
		tell_read(stream, event, read_end);
		return 1;
	}
	ret = next_event(stream, event, read_end);
	if (ret <= 0)
		return ret;
	if (read_calls_event(stream->calls, *event))
		return TAPE_ERR_MEMORY;
	/* The call's end becomes the read, or the first of those that it made known. */
	if (read_calls_next(stream->calls, &stream->read))
		tell_read(stream, event, read_end);
	return ret;
}
