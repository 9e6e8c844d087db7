// SPDX-License-Identifier: GPL-2.0-only
/* The events of a tape: one decoded frame for each CPU, merged by time. */
#include "schema/tape_reader_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tape_reader_open(const char *path, struct tape_reader **reader, struct tape_problem *problem)
{
	struct tape_reader *made = calloc(1, sizeof(*made));
	struct stat stat;
	int error;

	if (!made)
		return tape_problem_set(problem, TAPE_ERR_MEMORY, path, 0, NULL);
	made->fd = -1;
	made->path = strdup(path);
	made->zstd = ZSTD_createDCtx();
	if (!made->path || !made->zstd) {
		error = tape_problem_set(problem, TAPE_ERR_MEMORY, path, 0, NULL);
		goto err_close_reader;
	}
	made->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (made->fd < 0 || fstat(made->fd, &stat)) {
		error = tape_problem_set(problem, TAPE_ERR_OPEN, path, 0, strerror(errno));
		goto err_close_reader;
	}
	if (!S_ISREG(stat.st_mode)) {
		error = tape_problem_set(problem, TAPE_ERR_OPEN, path, 0,
					 S_ISDIR(stat.st_mode) ? "a directory, not a tape" :
								 "not a regular file");
		goto err_close_reader;
	}
	made->summary.file_bytes = (uint64_t)stat.st_size;
	error = tape_frames_find(made);
	if (error) {
		if (problem)
			*problem = made->problem;
		goto err_close_reader;
	}
	*reader = made;
	return 0;

err_close_reader:
	tape_reader_close(made);
	return error;
}

/* Put a frame of events into its CPU's decoder. */
static int load_frame(struct tape_reader *reader, struct cursor *cursor, uint32_t frame)
{
	const struct tape_frame_header *header = (const void *)reader->header;
	const struct frame_place *place = &reader->frame[frame];
	const char *why;
	int good = tape_frames_read_header(reader, place->byte), error;

	if (good < 0)
		return good;
	if (!good || header->header_crc != place->header_crc)
		return tape_frames_fail(reader, TAPE_ERR_CHECKSUM, place->byte,
					"frame header that is not the one in the index");
	error = tape_frames_read_payload(reader, place->byte);
	if (error)
		return error;
	if (!cursor->decoder)
		cursor->decoder = column_decoder_new(reader->type, reader->summary.nr_types);
	if (!cursor->decoder)
		return tape_frames_fail(reader, TAPE_ERR_MEMORY, place->byte, NULL);
	error = column_decoder_load(cursor->decoder, header,
				    (const void *)(reader->header + sizeof(*header)),
				    reader->payload.data, &why);
	if (error)
		return tape_frames_fail(reader, error, place->byte, why);
	reader->decoded_bytes -= cursor->decoded_bytes;
	cursor->decoded_bytes = column_decoder_bytes(cursor->decoder);
	reader->decoded_bytes += cursor->decoded_bytes;
	if (reader->decoded_bytes > TAPE_DECODED_BYTES_MAX)
		return tape_frames_fail(
			reader, TAPE_ERR_MEMORY, place->byte,
			"frames of all CPUs together are greater than a reader may hold");
	cursor->frame = frame;
	return 0;
}

/* Decode a CPU's next event. Return: 1, 0 no more, negative: failed. */
static int advance(struct tape_reader *reader, struct cursor *cursor)
{
	for (;;) {
		uint32_t next;
		int got = 0;

		if (cursor->frame != NO_FRAME)
			got = column_decoder_next(cursor->decoder, &cursor->event);
		if (__builtin_expect(got > 0, 1))
			return 1;
		if (got < 0)
			return tape_frames_fail(reader, got, reader->frame[cursor->frame].byte,
						"frame whose columns contradict each other");
		next = cursor->frame == NO_FRAME ? cursor->first_frame :
						   reader->frame[cursor->frame].next;
		if (next == NO_FRAME)
			return 0;
		got = load_frame(reader, cursor, next);
		if (got)
			return got;
	}
}

static inline bool comes_before(const struct cursor *a, const struct cursor *b)
{
	return a->event.timestamp_ns < b->event.timestamp_ns ||
	       (a->event.timestamp_ns == b->event.timestamp_ns && a->event.cpu < b->event.cpu);
}

/* The heap's entry @i may be too late for its place. */
static inline void sift_down(struct tape_reader *reader, unsigned int i)
{
	struct cursor **heap = reader->heap, *moved = heap[i];

	for (;;) {
		unsigned int child = 2 * i + 1;

		if (child >= reader->nr_heap)
			break;
		if (child + 1 < reader->nr_heap && comes_before(heap[child + 1], heap[child]))
			child++;
		if (!comes_before(heap[child], moved))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moved;
}

static int start(struct tape_reader *reader)
{
	reader->nr_heap = 0;
	for (uint32_t cpu = 0; cpu < reader->summary.nr_cpus; cpu++) {
		struct cursor *cursor = reader->cursor[cpu];
		int got;

		if (!cursor)
			continue;
		cursor->frame = NO_FRAME;
		cursor->event.timestamp_ns = 0;
		if (cursor->decoder)
			column_decoder_rewind(cursor->decoder);
		got = advance(reader, cursor);
		if (got < 0)
			return got;
		if (got)
			reader->heap[reader->nr_heap++] = cursor;
	}
	for (unsigned int i = reader->nr_heap / 2; i-- > 0;)
		sift_down(reader, i);
	return 0;
}

int tape_reader_next(struct tape_reader *reader, const struct tape_event **event)
{
	int got;

	if (__builtin_expect(!reader->started, 0)) {
		reader->started = true;
		reader->error = start(reader);
		if (reader->error)
			reader->nr_heap = 0;
	} else if (reader->nr_heap) {
		got = advance(reader, reader->heap[0]);
		if (__builtin_expect(got <= 0, 0)) {
			if (got < 0) {
				reader->nr_heap = 0;
				reader->error = got;
				return got;
			}
			reader->heap[0] = reader->heap[--reader->nr_heap];
		}
		if (reader->nr_heap)
			sift_down(reader, 0);
	}
	if (!reader->nr_heap)
		return reader->error;
	*event = &reader->heap[0]->event;
	return 1;
}

int tape_reader_rewind(struct tape_reader *reader)
{
	reader->started = false;
	reader->error = 0;
	reader->nr_heap = 0;
	reader->problem.code = TAPE_OK;
	return 0;
}

int tape_reader_check(struct tape_reader *reader)
{
	const struct tape_frame_header *header = (const void *)reader->header;

	for (uint32_t i = 0; i < reader->nr_frames; i++) {
		const struct frame_place *place = &reader->frame[i];
		int good = tape_frames_read_header(reader, place->byte), error;

		if (good < 0)
			return good;
		if (!good)
			return tape_frames_fail(reader, TAPE_ERR_CHECKSUM, place->byte,
						"frame header with a bad checksum");
		if (header->header_crc != place->header_crc)
			return tape_frames_fail(reader, TAPE_ERR_CORRUPT, place->byte,
						"frame header that is not the one in the index");
		error = tape_frames_read_payload(reader, place->byte);
		if (error)
			return error;
	}
	return 0;
}

const struct tape_problem *tape_reader_problem(const struct tape_reader *reader)
{
	return &reader->problem;
}

const struct tape_summary *tape_reader_summary(const struct tape_reader *reader)
{
	return &reader->summary;
}

const struct tape_type *tape_reader_type(const struct tape_reader *reader, unsigned int number)
{
	return number < reader->summary.nr_types ? reader->type[number] : NULL;
}

uint64_t tape_reader_type_events(const struct tape_reader *reader, unsigned int number)
{
	return number < reader->summary.nr_types ? reader->type_events[number] : 0;
}

uint64_t tape_reader_kind_events(const struct tape_reader *reader, enum event_kind kind)
{
	uint64_t nr = 0;

	for (unsigned int i = 0; i < reader->summary.nr_types; i++)
		if (reader->type[i]->kind == kind)
			nr += reader->type_events[i];
	return nr;
}

const struct tape_blob *tape_reader_blob(const struct tape_reader *reader, size_t i)
{
	return i < reader->nr_blobs ? &reader->blob[i] : NULL;
}

const struct tape_blob *tape_reader_find_blob(const struct tape_reader *reader, uint32_t moment,
					      const char *name)
{
	for (size_t i = 0; i < reader->nr_blobs; i++)
		if (reader->blob[i].moment == moment && !strcmp(reader->blob[i].name, name))
			return &reader->blob[i];
	return NULL;
}

void tape_reader_close(struct tape_reader *reader)
{
	if (!reader)
		return;
	for (unsigned int i = 0; i < TAPE_CPUS_MAX; i++) {
		if (!reader->cursor[i])
			continue;
		column_decoder_free(reader->cursor[i]->decoder);
		free(reader->cursor[i]);
	}
	for (unsigned int i = 0; i < reader->summary.nr_types; i++)
		tape_type_free(reader->type[i]);
	for (size_t i = 0; i < reader->nr_blobs; i++) {
		free((char *)reader->blob[i].name);
		free((char *)reader->blob[i].data);
	}
	free(reader->blob);
	free(reader->frame);
	tape_bytes_free(&reader->payload);
	tape_bytes_free(&reader->raw);
	ZSTD_freeDCtx(reader->zstd);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->path);
	free(reader);
}
