// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file side of writing: header, frames in the order in which they get finished, index, trailer.
 *
 * Types and blobs that came since the last frame go out before the next event frame, so that
 * whatever stands before a tear can be read with what stands before it.
 */
#include "schema/tape_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "schema/column_encoder.h"
#include "schema/tape_format.h"
#include "schema/tape_types.h"

#define BLOBS_PER_FRAME_BYTES (256u << 10)
#define STORE_BELOW_BYTES 512 /* frames that are small enough to be read with the eye */
#define FRAME_BYTES_DEFAULT (1u << 20)
#define FRAME_BYTES_MAX (8u << 20)

struct tape_stream {
	struct tape_writer *writer;
	struct column_encoder *encoder;
	struct tape_bytes frame;
	uint64_t last_ns;
	uint64_t lost; /* counted losses not yet placed */
	bool lost_unknown; /* the same, without a count */
	int error;
};

struct tape_writer {
	char *path;
	int fd;
	int compression_level;
	uint32_t frame_bytes;
	pthread_mutex_t lock; /* all below, and the file */
	struct tape_type *type[TAPE_TYPES_MAX];
	atomic_uint nr_types;
	unsigned int nr_types_written;
	struct tape_stream *stream[TAPE_CPUS_MAX];
	_Atomic uint64_t file_bytes;
	struct tape_bytes index;
	bool index_broken;
	struct tape_bytes blobs; /* not yet written */
	uint64_t blobs_first_ns, blobs_last_ns, all_blobs_bytes;
	uint32_t nr_blobs;
	struct tape_bytes frame; /* scratch */
	ZSTD_CCtx *zstd;
	struct tape_problem problem; /* the first one */
	bool broken; /* the file takes no more */
};

static int fail(struct tape_writer *writer, enum tape_error code, const char *what)
{
	if (writer->problem.code == TAPE_OK)
		tape_problem_set(&writer->problem, code, writer->path,
				 atomic_load(&writer->file_bytes), what);
	return code;
}

/* All of it, or nothing: a frame that did not fit is cut off again. */
static int write_all(struct tape_writer *writer, const void *data, size_t size)
{
	const uint8_t *at = data;
	size_t left = size;

	if (writer->broken)
		return TAPE_ERR_IO;
	while (left) {
		ssize_t written = write(writer->fd, at, left);
		int error = errno;

		if (written < 0 && error == EINTR)
			continue;
		if (written <= 0) {
			writer->broken = true;
			/* Should this fail, the reader finds a torn tail. */
			if (left < size && ftruncate(writer->fd, (off_t)writer->file_bytes) == 0)
				lseek(writer->fd, (off_t)writer->file_bytes, SEEK_SET);
			return fail(writer, TAPE_ERR_IO, strerror(written < 0 ? error : ENOSPC));
		}
		at += written;
		left -= (size_t)written;
	}
	atomic_fetch_add(&writer->file_bytes, size);
	return 0;
}

/*
 * Not when the file is made, but with the first frame: a file that is not empty then has what a reader
 * needs to open it.
 */
static int write_header(struct tape_writer *writer)
{
	struct tape_file_header header = {
		.version = TAPE_FORMAT_VERSION,
		.header_bytes = sizeof(header),
	};

	if (writer->file_bytes)
		return 0;
	memcpy(header.magic, TAPE_FILE_MAGIC, sizeof(header.magic));
	header.crc = (uint32_t)crc32(0, (const Bytef *)&header,
				     offsetof(struct tape_file_header, crc));
	return write_all(writer, &header, sizeof(header));
}

static int write_frame(struct tape_writer *writer, const struct tape_bytes *frame)
{
	const struct tape_frame_header *header = (const void *)frame->data;
	struct tape_index_entry entry;
	int error = write_header(writer);

	entry.byte = atomic_load(&writer->file_bytes);
	error = error ? error : write_all(writer, frame->data, frame->size);
	if (error)
		return error;
	/* The frame is on the tape: an index that is not whole is left out, and readers walk. */
	if (tape_bytes_append(&writer->index, &entry, sizeof(entry)) ||
	    tape_bytes_append(&writer->index, frame->data, header->header_bytes)) {
		writer->index_broken = true;
		fail(writer, TAPE_ERR_MEMORY, NULL);
	}
	return 0;
}

/* @raw, compressed where that helps, into writer->frame behind a header of that kind. */
static int pack_frame(struct tape_writer *writer, enum tape_frame_kind kind,
		      const struct tape_bytes *raw, uint64_t first_ns, uint64_t last_ns)
{
	const struct tape_frame_header header = {
		.magic = TAPE_FRAME_MAGIC,
		.header_bytes = sizeof(header),
		.kind = (uint16_t)kind,
		.flags = kind == TAPE_FRAME_INDEX ? TAPE_FRAME_SKIPPABLE : 0,
		.raw_bytes = (uint32_t)raw->size,
		.first_ns = first_ns,
		.last_ns = last_ns,
	};
	struct tape_bytes *frame = &writer->frame;
	size_t packed;

	frame->size = 0;
	if (tape_bytes_reserve(frame, sizeof(header) + ZSTD_compressBound(raw->size)))
		return fail(writer, TAPE_ERR_MEMORY, NULL);
	tape_bytes_append(frame, &header, sizeof(header));
	packed = raw->size < STORE_BELOW_BYTES ?
			 raw->size :
			 ZSTD_compressCCtx(writer->zstd, frame->data + frame->size,
					   frame->room - frame->size, raw->data, raw->size,
					   writer->compression_level);
	if (ZSTD_isError(packed) || packed >= raw->size)
		tape_bytes_append(frame, raw->data, raw->size);
	else
		frame->size += packed;
	tape_frame_seal(frame);
	return 0;
}

static int write_types(struct tape_writer *writer)
{
	unsigned int nr_types = atomic_load(&writer->nr_types);
	struct tape_bytes raw = { 0 };
	int error = 0;

	while (writer->nr_types_written < nr_types && !error) {
		unsigned int next = writer->nr_types_written;

		raw.size = 0;
		/* A frame holds what comes to one limit's worth; formats are small, so one does. */
		do {
			if (tape_type_pack(&raw, writer->type[next++]))
				error = fail(writer, TAPE_ERR_MEMORY, NULL);
		} while (next < nr_types && !error && raw.size < TAPE_FRAME_RAW_MAX / 4);
		error = error ? error : pack_frame(writer, TAPE_FRAME_TYPES, &raw, 0, 0);
		error = error ? error : write_frame(writer, &writer->frame);
		if (!error)
			writer->nr_types_written = next;
	}
	tape_bytes_free(&raw);
	return error;
}

static int write_blobs(struct tape_writer *writer)
{
	int error;

	if (!writer->blobs.size)
		return 0;
	error = pack_frame(writer, TAPE_FRAME_BLOBS, &writer->blobs, writer->blobs_first_ns,
			   writer->blobs_last_ns);
	error = error ? error : write_frame(writer, &writer->frame);
	writer->blobs.size = 0;
	return error;
}

static void free_writer(struct tape_writer *writer)
{
	for (unsigned int i = 0; i < TAPE_CPUS_MAX; i++) {
		struct tape_stream *stream = writer->stream[i];

		if (!stream)
			continue;
		column_encoder_free(stream->encoder);
		tape_bytes_free(&stream->frame);
		free(stream);
	}
	for (unsigned int i = 0; i < writer->nr_types; i++)
		tape_type_free(writer->type[i]);
	tape_bytes_free(&writer->index);
	tape_bytes_free(&writer->blobs);
	tape_bytes_free(&writer->frame);
	ZSTD_freeCCtx(writer->zstd);
	pthread_mutex_destroy(&writer->lock);
	if (writer->fd >= 0)
		close(writer->fd);
	free(writer->path);
	free(writer);
}

int tape_writer_create(const char *path, const struct tape_writer_options *options,
		       struct tape_writer **writer, struct tape_problem *problem)
{
	struct tape_writer *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return tape_problem_set(problem, TAPE_ERR_MEMORY, path, 0, NULL);
	pthread_mutex_init(&made->lock, NULL);
	made->fd = -1;
	made->path = strdup(path);
	made->zstd = ZSTD_createCCtx();
	made->compression_level = options && options->compression_level ?
					  options->compression_level :
					  3;
	made->frame_bytes = options && options->frame_bytes ? options->frame_bytes :
							      FRAME_BYTES_DEFAULT;
	if (made->frame_bytes > FRAME_BYTES_MAX)
		made->frame_bytes = FRAME_BYTES_MAX;
	if (!made->path || !made->zstd) {
		error = tape_problem_set(problem, TAPE_ERR_MEMORY, path, 0, NULL);
		goto err_free_writer;
	}
	made->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (made->fd < 0) {
		error = tape_problem_set(problem, TAPE_ERR_OPEN, path, 0, strerror(errno));
		goto err_free_writer;
	}
	*writer = made;
	return 0;

err_free_writer:
	free_writer(made);
	return error;
}

int tape_writer_add_type(struct tape_writer *writer, const struct tape_type *type, uint16_t *number)
{
	unsigned int nr_types;
	const char *why = NULL;
	struct tape_type *copy;
	int error = 0;

	pthread_mutex_lock(&writer->lock);
	nr_types = atomic_load(&writer->nr_types);
	if (nr_types == TAPE_TYPES_MAX) {
		error = fail(writer, TAPE_ERR_CORRUPT, "more event types than a tape can have");
		goto out_unlock;
	}
	copy = tape_type_copy(type, (uint16_t)nr_types, &why);
	if (!copy) {
		error = fail(writer, why ? TAPE_ERR_CORRUPT : TAPE_ERR_MEMORY, why);
		goto out_unlock;
	}
	writer->type[nr_types] = copy;
	*number = (uint16_t)nr_types;
	atomic_store(&writer->nr_types, nr_types + 1);
out_unlock:
	pthread_mutex_unlock(&writer->lock);
	return error;
}

const struct tape_type *tape_writer_type(const struct tape_writer *writer, unsigned int number)
{
	return number < atomic_load(&writer->nr_types) ? writer->type[number] : NULL;
}

static int pack_blob(struct tape_writer *writer, const struct tape_blob *blob, size_t name_bytes)
{
	const struct tape_blob_entry entry = {
		.timestamp_ns = blob->timestamp_ns,
		.moment = blob->moment,
		.name_bytes = (uint32_t)name_bytes,
		.data_bytes = blob->size,
	};

	if (!writer->blobs.size)
		writer->blobs_first_ns = writer->blobs_last_ns = blob->timestamp_ns;
	if (blob->timestamp_ns < writer->blobs_first_ns)
		writer->blobs_first_ns = blob->timestamp_ns;
	if (blob->timestamp_ns > writer->blobs_last_ns)
		writer->blobs_last_ns = blob->timestamp_ns;
	if (tape_bytes_append(&writer->blobs, &entry, sizeof(entry)) ||
	    tape_bytes_append(&writer->blobs, blob->name, name_bytes) ||
	    tape_bytes_append(&writer->blobs, blob->data, blob->size))
		return fail(writer, TAPE_ERR_MEMORY, NULL);
	return 0;
}

int tape_writer_add_blob(struct tape_writer *writer, const struct tape_blob *blob)
{
	size_t name_bytes = strlen(blob->name);
	int error = 0;

	pthread_mutex_lock(&writer->lock);
	if (name_bytes == 0 || name_bytes > TAPE_STRING_BYTES_MAX ||
	    blob->size > TAPE_BLOB_BYTES_MAX || writer->nr_blobs == TAPE_BLOBS_MAX ||
	    blob->size > TAPE_BLOBS_BYTES_MAX - writer->all_blobs_bytes) {
		/* The tape is as good as before: the caller may go on without this blob. */
		error = TAPE_ERR_CORRUPT;
		goto out_unlock;
	}
	if (writer->blobs.size + blob->size > BLOBS_PER_FRAME_BYTES)
		error = write_blobs(writer);
	error = error ? error : pack_blob(writer, blob, name_bytes);
	if (!error) {
		writer->nr_blobs++;
		writer->all_blobs_bytes += blob->size;
	}
out_unlock:
	pthread_mutex_unlock(&writer->lock);
	return error;
}

struct tape_stream *tape_writer_stream(struct tape_writer *writer, uint32_t cpu)
{
	struct tape_stream *stream;

	if (cpu >= TAPE_CPUS_MAX)
		return NULL;
	pthread_mutex_lock(&writer->lock);
	stream = writer->stream[cpu];
	if (stream)
		goto out_unlock;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		goto out_unlock;
	stream->writer = writer;
	stream->encoder = column_encoder_new(writer->type, &writer->nr_types, cpu,
					     writer->compression_level, writer->frame_bytes);
	if (!stream->encoder) {
		free(stream);
		stream = NULL;
	}
	writer->stream[cpu] = stream;
out_unlock:
	pthread_mutex_unlock(&writer->lock);
	return stream;
}

/* Compression needs no lock: it is the stream's own thread that does it. */
static int write_stream(struct tape_stream *stream)
{
	struct tape_writer *writer = stream->writer;
	int error;

	if (column_encoder_empty(stream->encoder))
		return 0;
	error = column_encoder_close(stream->encoder, &stream->frame);
	pthread_mutex_lock(&writer->lock);
	if (error)
		fail(writer, error, NULL);
	error = error ? error : write_types(writer);
	error = error ? error : write_blobs(writer);
	error = error ? error : write_frame(writer, &stream->frame);
	pthread_mutex_unlock(&writer->lock);
	return error;
}

static int __attribute__((noinline))
stream_fail(struct tape_stream *stream, int error, const char *why)
{
	pthread_mutex_lock(&stream->writer->lock);
	fail(stream->writer, error, why);
	pthread_mutex_unlock(&stream->writer->lock);
	stream->error = error;
	return error;
}

/* Losses get the time of the event that follows them. */
static int __attribute__((noinline)) place_losses(struct tape_stream *stream, uint64_t timestamp_ns)
{
	const char *why = NULL;
	int error = 0;

	if (stream->lost)
		error = column_encoder_lost(stream->encoder, timestamp_ns, stream->lost, &why);
	if (stream->lost_unknown && !error)
		error = column_encoder_lost(stream->encoder, timestamp_ns, EVENT_LOST_UNKNOWN,
					    &why);
	stream->lost = 0;
	stream->lost_unknown = false;
	return error ? stream_fail(stream, error, why) : 0;
}

static inline int after_event(struct tape_stream *stream, uint64_t timestamp_ns, int error,
			      const char *why)
{
	if (__builtin_expect(error, 0))
		return stream_fail(stream, error, why);
	stream->last_ns = timestamp_ns;
	if (__builtin_expect(column_encoder_full(stream->encoder), 0))
		stream->error = write_stream(stream);
	return stream->error;
}

int tape_stream_record(struct tape_stream *stream, uint16_t type, uint64_t timestamp_ns,
		       const void *record, size_t size)
{
	const char *why = NULL;
	int error;

	if (__builtin_expect(stream->error, 0))
		return stream->error;
	if (type >= atomic_load_explicit(&stream->writer->nr_types, memory_order_acquire))
		return stream_fail(stream, TAPE_ERR_CORRUPT, "event of an undeclared type");
	if (__builtin_expect(stream->lost || stream->lost_unknown, 0) &&
	    place_losses(stream, timestamp_ns))
		return stream->error;
	error = column_encoder_record(stream->encoder, stream->writer->type[type], timestamp_ns,
				      record, size, &why);
	return after_event(stream, timestamp_ns, error, why);
}

int tape_stream_event(struct tape_stream *stream, const struct tape_event *event)
{
	const char *why = NULL;
	int error;

	if (stream->error)
		return stream->error;
	if (event->type >= atomic_load(&stream->writer->nr_types))
		return stream_fail(stream, TAPE_ERR_CORRUPT, "event of an undeclared type");
	if ((stream->lost || stream->lost_unknown) && place_losses(stream, event->timestamp_ns))
		return stream->error;
	error = column_encoder_event(stream->encoder, stream->writer->type[event->type], event,
				     &why);
	return after_event(stream, event->timestamp_ns, error, why);
}

int tape_stream_lost(struct tape_stream *stream, uint64_t count)
{
	if (stream->error)
		return stream->error;
	if (count == EVENT_LOST_UNKNOWN)
		stream->lost_unknown = true;
	else if (count > EVENT_LOST_UNKNOWN - 1 - stream->lost)
		stream->lost = EVENT_LOST_UNKNOWN - 1;
	else
		stream->lost += count;
	return 0;
}

int tape_stream_flush(struct tape_stream *stream)
{
	if (!stream->error)
		stream->error = write_stream(stream);
	return stream->error;
}

int tape_writer_flush(struct tape_writer *writer)
{
	int error;

	pthread_mutex_lock(&writer->lock);
	error = write_types(writer);
	error = error ? error : write_blobs(writer);
	pthread_mutex_unlock(&writer->lock);
	return error;
}

int tape_writer_sync(struct tape_writer *writer)
{
	int error = 0;

	/* Outside the lock: no stream waits for the disk. */
	if (fdatasync(writer->fd) && errno != EINVAL && errno != EROFS && errno != EINTR) {
		error = errno;
		pthread_mutex_lock(&writer->lock);
		error = fail(writer, TAPE_ERR_IO, strerror(error));
		pthread_mutex_unlock(&writer->lock);
	}
	return error;
}

uint64_t tape_writer_bytes(const struct tape_writer *writer)
{
	return atomic_load(&writer->file_bytes);
}

const struct tape_problem *tape_writer_problem(const struct tape_writer *writer)
{
	return &writer->problem;
}

static int write_index(struct tape_writer *writer)
{
	struct tape_trailer trailer = {
		.magic = TAPE_TRAILER_MAGIC,
		.index_byte = atomic_load(&writer->file_bytes),
	};
	int error;

	if (writer->index_broken || writer->index.size > TAPE_FRAME_RAW_MAX)
		return 0; /* readers then walk the frames */
	error = pack_frame(writer, TAPE_FRAME_INDEX, &writer->index, 0, 0);
	if (error)
		return error;
	trailer.file_bytes = trailer.index_byte + writer->frame.size + sizeof(trailer);
	trailer.crc = (uint32_t)crc32(0, (const Bytef *)&trailer.index_byte,
				      sizeof(trailer) - offsetof(struct tape_trailer, index_byte));
	/* In one piece, so that a full disk leaves no index without its trailer. */
	if (tape_bytes_append(&writer->frame, &trailer, sizeof(trailer)))
		return fail(writer, TAPE_ERR_MEMORY, NULL);
	return write_all(writer, writer->frame.data, writer->frame.size);
}

int tape_writer_finish(struct tape_writer *writer, struct tape_problem *problem)
{
	uint64_t last_ns = 0;
	int error;

	for (unsigned int i = 0; i < TAPE_CPUS_MAX; i++)
		if (writer->stream[i] && writer->stream[i]->last_ns > last_ns)
			last_ns = writer->stream[i]->last_ns;
	for (unsigned int i = 0; i < TAPE_CPUS_MAX; i++) {
		struct tape_stream *stream = writer->stream[i];

		if (!stream)
			continue;
		/*
		 * What a stream took before it refused an event is good. No event follows that could
		 * date its losses: the last one has to do.
		 */
		if (stream->lost || stream->lost_unknown)
			place_losses(stream, stream->last_ns ? stream->last_ns : last_ns);
		write_stream(stream);
	}
	error = write_header(writer);
	error = error ? error : write_types(writer);
	error = error ? error : write_blobs(writer);
	error = error ? error : write_index(writer);
	if (!error && fsync(writer->fd) && errno != EINVAL && errno != EROFS)
		fail(writer, TAPE_ERR_IO, strerror(errno));
	if (close(writer->fd))
		fail(writer, TAPE_ERR_IO, strerror(errno));
	writer->fd = -1;
	error = writer->problem.code;
	if (error && problem)
		*problem = writer->problem;
	free_writer(writer);
	return error;
}

void tape_writer_abandon(struct tape_writer *writer)
{
	if (writer)
		free_writer(writer);
}
