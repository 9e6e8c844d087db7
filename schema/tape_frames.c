// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the frames of a tape.
 *
 * The index is believed only as far as it describes a file without gaps whose headers have the
 * right checksums; otherwise the frames are walked from the start, which needs no index. Either
 * way a frame's header on disk must be the one that was seen at open when its turn comes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "schema/tape_reader_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

int tape_frames_fail(struct tape_reader *reader, enum tape_error code, uint64_t byte,
		     const char *what)
{
	return tape_problem_set(&reader->problem, code, reader->path, byte, what);
}

/* @size bytes at @byte; the caller knows that the file is long enough. */
static int read_at(struct tape_reader *reader, void *to, size_t size, uint64_t byte)
{
	uint8_t *at = to;

	while (size) {
		ssize_t got = pread(reader->fd, at, size, (off_t)byte);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tape_frames_fail(reader, TAPE_ERR_IO, byte, strerror(errno));
		if (got == 0)
			return tape_frames_fail(reader, TAPE_ERR_IO, byte,
						"the file became shorter meanwhile");
		at += got;
		byte += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

static bool known_kind(unsigned int kind)
{
	return kind >= TAPE_FRAME_TYPES && kind <= TAPE_FRAME_INDEX;
}

/* Holds the header against its limits, once its checksum is known to be right. NULL: fine. */
static const char *check_header(const struct tape_frame_header *header)
{
	if (header->payload_bytes > TAPE_FRAME_STORED_MAX || header->raw_bytes > TAPE_FRAME_RAW_MAX)
		return "frame greater than a tape's frames may be";
	if (!known_kind(header->kind))
		return NULL;
	if (header->header_bytes !=
	    sizeof(*header) + header->nr_counts * sizeof(struct tape_frame_count))
		return "frame header of the wrong size";
	if (header->kind != TAPE_FRAME_EVENTS)
		return header->nr_counts ? "event counts in a frame without events" : NULL;
	if (header->raw_bytes > TAPE_EVENT_FRAME_RAW_MAX)
		return "event frame greater than it may be";
	if (header->cpu >= TAPE_CPUS_MAX)
		return "CPU number beyond the limit";
	if (header->first_ns > header->last_ns)
		return "frame that ends before it starts";
	return NULL;
}

int tape_frames_read_header(struct tape_reader *reader, uint64_t byte)
{
	struct tape_frame_header *header = (struct tape_frame_header *)reader->header;
	uint64_t left = reader->summary.file_bytes - byte;
	int error;

	if (left < sizeof(*header))
		return 0;
	error = read_at(reader, header, sizeof(*header), byte);
	if (error)
		return error;
	if (header->magic != TAPE_FRAME_MAGIC || header->header_bytes < sizeof(*header) ||
	    header->header_bytes > HEADER_BYTES_MAX || header->header_bytes > left)
		return 0;
	error = read_at(reader, reader->header + sizeof(*header),
			header->header_bytes - sizeof(*header), byte + sizeof(*header));
	if (error)
		return error;
	return tape_header_crc(reader->header, header->header_bytes) == header->header_crc;
}

int tape_frames_read_payload(struct tape_reader *reader, uint64_t byte)
{
	const struct tape_frame_header *header = (const void *)reader->header;
	int error;

	reader->payload.size = 0;
	if (tape_bytes_reserve(&reader->payload, header->payload_bytes + 1u))
		return tape_frames_fail(reader, TAPE_ERR_MEMORY, byte, NULL);
	error = read_at(reader, reader->payload.data, header->payload_bytes,
			byte + header->header_bytes);
	if (error)
		return error;
	if (crc32(0, reader->payload.data, header->payload_bytes) != header->payload_crc)
		return tape_frames_fail(reader, TAPE_ERR_CHECKSUM, byte,
					"frame with a bad checksum");
	return 0;
}

/*
 * Payload of a frame that holds no events, decompressed if it is, into reader->raw. The header in
 * reader->header may be the index's copy: it must be the one that stands there.
 */
static int unpack_payload(struct tape_reader *reader, uint64_t byte)
{
	const struct tape_frame_header *header = (const void *)reader->header;
	uint32_t header_crc = header->header_crc;
	int error = tape_frames_read_header(reader, byte);
	size_t size;

	if (error < 0)
		return error;
	if (!error || header->header_crc != header_crc)
		return tape_frames_fail(reader, TAPE_ERR_CHECKSUM, byte,
					"frame header with a bad checksum");
	error = tape_frames_read_payload(reader, byte);
	if (error)
		return error;
	reader->raw.size = 0;
	if (tape_bytes_reserve(&reader->raw, header->raw_bytes + 1u))
		return tape_frames_fail(reader, TAPE_ERR_MEMORY, byte, NULL);
	if (header->payload_bytes == header->raw_bytes) {
		memcpy(reader->raw.data, reader->payload.data, header->raw_bytes);
		reader->raw.size = header->raw_bytes;
		return 0;
	}
	size = ZSTD_decompressDCtx(reader->zstd, reader->raw.data, header->raw_bytes,
				   reader->payload.data, header->payload_bytes);
	if (ZSTD_isError(size) || size != header->raw_bytes)
		return tape_frames_fail(reader, TAPE_ERR_CORRUPT, byte,
					"frame that does not decompress");
	reader->raw.size = size;
	return 0;
}

static int load_types(struct tape_reader *reader, uint64_t byte)
{
	int error = unpack_payload(reader, byte);
	const uint8_t *at = reader->raw.data, *end;

	if (error)
		return error;
	end = at + reader->raw.size;
	while (at < end) {
		const char *why;
		struct tape_type *type = tape_type_unpack(&at, end, &why);

		if (!type)
			return tape_frames_fail(reader, why ? TAPE_ERR_CORRUPT : TAPE_ERR_MEMORY,
						byte, why);
		/* Numbers count up: then a number below nr_types always has its type. */
		if (type->number != reader->summary.nr_types) {
			tape_type_free(type);
			return tape_frames_fail(reader, TAPE_ERR_CORRUPT, byte,
						"event type out of order");
		}
		reader->type[reader->summary.nr_types++] = type;
	}
	return 0;
}

static char *copy_text(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);

	if (copy) {
		memcpy(copy, data, size);
		copy[size] = '\0';
	}
	return copy;
}

static int add_blob(struct tape_reader *reader, const struct tape_blob_entry *entry,
		    const uint8_t *at)
{
	struct tape_blob *blob;

	if (reader->nr_blobs == reader->blobs_room) {
		size_t room = reader->blobs_room ? 2 * reader->blobs_room : 64;
		struct tape_blob *grown = realloc(reader->blob, room * sizeof(*grown));

		if (!grown)
			return TAPE_ERR_MEMORY;
		reader->blob = grown;
		reader->blobs_room = room;
	}
	blob = &reader->blob[reader->nr_blobs];
	blob->timestamp_ns = entry->timestamp_ns;
	blob->moment = entry->moment;
	blob->size = entry->data_bytes;
	blob->name = copy_text(at, entry->name_bytes);
	blob->data = copy_text(at + entry->name_bytes, entry->data_bytes);
	if (!blob->name || !blob->data) {
		free((char *)blob->name);
		free((char *)blob->data);
		return TAPE_ERR_MEMORY;
	}
	reader->nr_blobs++;
	return 0;
}

static int load_blobs(struct tape_reader *reader, uint64_t byte)
{
	int error = unpack_payload(reader, byte);
	const uint8_t *at = reader->raw.data, *end;

	if (error)
		return error;
	end = at + reader->raw.size;
	while (at < end) {
		struct tape_blob_entry entry;

		if ((size_t)(end - at) < sizeof(entry))
			return tape_frames_fail(reader, TAPE_ERR_CORRUPT, byte,
						"blob that ends too early");
		memcpy(&entry, at, sizeof(entry));
		at += sizeof(entry);
		if (entry.name_bytes == 0 || entry.name_bytes > TAPE_STRING_BYTES_MAX ||
		    entry.data_bytes > TAPE_BLOB_BYTES_MAX ||
		    entry.name_bytes + entry.data_bytes > (size_t)(end - at))
			return tape_frames_fail(
				reader, TAPE_ERR_CORRUPT, byte,
				"blob that breaks a limit or goes beyond its frame");
		reader->all_blobs_bytes += entry.data_bytes;
		if (reader->all_blobs_bytes > TAPE_BLOBS_BYTES_MAX ||
		    reader->nr_blobs >= TAPE_BLOBS_MAX || memchr(at, 0, entry.name_bytes))
			return tape_frames_fail(
				reader, TAPE_ERR_CORRUPT, byte,
				"more blobs than a tape may have, or one with a broken name");
		if (add_blob(reader, &entry, at))
			return tape_frames_fail(reader, TAPE_ERR_MEMORY, byte, NULL);
		at += entry.name_bytes + entry.data_bytes;
	}
	return 0;
}

static struct cursor *cursor_of(struct tape_reader *reader, uint32_t cpu)
{
	struct cursor *cursor = reader->cursor[cpu];

	if (cursor)
		return cursor;
	cursor = calloc(1, sizeof(*cursor));
	if (!cursor)
		return NULL;
	cursor->event.cpu = cpu;
	cursor->first_frame = cursor->last_frame = cursor->frame = NO_FRAME;
	reader->cursor[cpu] = cursor;
	if (cpu >= reader->summary.nr_cpus)
		reader->summary.nr_cpus = cpu + 1;
	return cursor;
}

/* An event frame joins its CPU's chain, and the totals. */
static int note_events(struct tape_reader *reader, uint64_t byte, uint32_t frame)
{
	const struct tape_frame_header *header = (const void *)reader->header;
	struct tape_summary *summary = &reader->summary;
	struct tape_frame_count count;
	struct cursor *cursor = cursor_of(reader, header->cpu);

	if (!cursor)
		return tape_frames_fail(reader, TAPE_ERR_MEMORY, byte, NULL);
	if (cursor->first_frame == NO_FRAME)
		cursor->first_frame = frame;
	else if (header->first_ns < cursor->last_ns)
		return tape_frames_fail(reader, TAPE_ERR_CORRUPT, byte,
					"frame older than the one before it on its CPU");
	else
		reader->frame[cursor->last_frame].next = frame;
	cursor->last_frame = frame;
	cursor->last_ns = header->last_ns;
	for (uint32_t i = 0; i < header->nr_counts; i++) {
		memcpy(&count, reader->header + sizeof(*header) + i * sizeof(count), sizeof(count));
		if (count.type < TAPE_TYPES_MAX)
			reader->type_events[count.type] += count.nr_rows;
	}
	if (header->nr_events) {
		if (!summary->nr_events || header->first_ns < summary->first_ns)
			summary->first_ns = header->first_ns;
		if (!summary->nr_events || header->last_ns > summary->last_ns)
			summary->last_ns = header->last_ns;
	}
	summary->nr_events += header->nr_events;
	summary->nr_lost += header->nr_lost;
	summary->nr_losses_unknown += header->nr_losses_unknown;
	summary->frame_bytes += (uint64_t)header->header_bytes + header->payload_bytes;
	return 0;
}

/* A frame whose header stands, checked, in reader->header. */
static int note_frame(struct tape_reader *reader, uint64_t byte)
{
	const struct tape_frame_header *header = (const void *)reader->header;
	const char *why = check_header(header);
	uint32_t frame = reader->nr_frames;
	struct frame_place *place;

	if (why)
		return tape_frames_fail(reader, TAPE_ERR_CORRUPT, byte, why);
	if (frame == TAPE_FRAMES_MAX)
		return tape_frames_fail(reader, TAPE_ERR_CORRUPT, byte,
					"more frames than a tape may have");
	if (!known_kind(header->kind) && !(header->flags & TAPE_FRAME_SKIPPABLE))
		return tape_frames_fail(reader, TAPE_ERR_VERSION, byte,
					"frame of a kind that only a newer lrutape knows");
	if (known_kind(header->kind) && (header->flags & TAPE_FRAME_REFUSE_MASK))
		return tape_frames_fail(reader, TAPE_ERR_VERSION, byte,
					"frame with a flag that only a newer lrutape knows");
	if (frame == reader->frames_room) {
		uint32_t room = frame ? 2 * frame : 64;
		struct frame_place *grown = realloc(reader->frame, room * sizeof(*grown));

		if (!grown)
			return tape_frames_fail(reader, TAPE_ERR_MEMORY, byte, NULL);
		reader->frame = grown;
		reader->frames_room = room;
	}
	place = &reader->frame[reader->nr_frames++];
	place->byte = byte;
	place->header_bytes = header->header_bytes;
	place->payload_bytes = header->payload_bytes;
	place->header_crc = header->header_crc;
	place->next = NO_FRAME;
	switch (header->kind) {
	case TAPE_FRAME_TYPES:
		return load_types(reader, byte);
	case TAPE_FRAME_BLOBS:
		return load_blobs(reader, byte);
	case TAPE_FRAME_EVENTS:
		return note_events(reader, byte, frame);
	}
	return 0;
}

/* Is there a good frame header anywhere behind a bad one? Then it is damage, not a tear. */
static int frame_follows(struct tape_reader *reader, uint64_t byte)
{
	const uint32_t magic = TAPE_FRAME_MAGIC;
	uint8_t window[4096];

	while (byte + sizeof(struct tape_frame_header) <= reader->summary.file_bytes) {
		uint64_t left = reader->summary.file_bytes - byte;
		size_t size = left < sizeof(window) ? (size_t)left : sizeof(window);
		const uint8_t *found;
		int error = read_at(reader, window, size, byte);

		if (error)
			return error;
		found = memmem(window, size, &magic, sizeof(magic));
		if (!found) {
			byte += size - (sizeof(magic) - 1);
			if (size < sizeof(window))
				return 0;
			continue;
		}
		byte += (uint64_t)(found - window);
		error = tape_frames_read_header(reader, byte);
		if (error)
			return error;
		byte++;
	}
	return 0;
}

static int set_torn(struct tape_reader *reader, uint64_t byte)
{
	reader->summary.torn = true;
	reader->summary.torn_at = byte;
	return 0;
}

static bool read_trailer(struct tape_reader *reader, struct tape_trailer *trailer)
{
	uint64_t file_bytes = reader->summary.file_bytes;

	if (file_bytes < sizeof(struct tape_file_header) + sizeof(*trailer) ||
	    read_at(reader, trailer, sizeof(*trailer), file_bytes - sizeof(*trailer)))
		return false;
	return trailer->magic == TAPE_TRAILER_MAGIC &&
	       trailer->crc ==
		       crc32(0, (const Bytef *)&trailer->index_byte,
			     sizeof(*trailer) - offsetof(struct tape_trailer, index_byte)) &&
	       trailer->file_bytes == file_bytes && trailer->index_byte < file_bytes;
}

/*
 * Is the frame at @byte, whose header is good, all there? The last one before a tear may hold what
 * never reached the disk. Return: 1, 0 torn, negative: reading failed.
 */
static int frame_is_whole(struct tape_reader *reader, uint64_t byte, bool has_trailer)
{
	const struct tape_frame_header *header = (const void *)reader->header;
	uint64_t left = reader->summary.file_bytes - byte - header->header_bytes;
	uint64_t next = byte + header->header_bytes + header->payload_bytes;
	int good, error;

	if (header->payload_bytes > left)
		return 0;
	if (has_trailer && next == reader->summary.file_bytes - sizeof(struct tape_trailer))
		return 1;
	good = tape_frames_read_header(reader, next);
	if (good < 0)
		return good;
	error = tape_frames_read_header(reader, byte);
	if (error < 0)
		return error;
	if (good || check_header(header))
		return 1;
	error = tape_frames_read_payload(reader, byte);
	if (error != TAPE_ERR_CHECKSUM)
		return error ? error : 1;
	reader->problem.code = TAPE_OK;
	return 0;
}

/* From frame to frame, without the index. Stops at a tear; damage before the tail is an error. */
static int walk_frames(struct tape_reader *reader)
{
	const struct tape_frame_header *header = (const void *)reader->header;
	uint64_t byte = sizeof(struct tape_file_header), file_bytes = reader->summary.file_bytes;
	struct tape_trailer trailer;
	bool has_trailer = read_trailer(reader, &trailer);

	while (byte < file_bytes) {
		uint64_t next;
		int good, error;

		if (has_trailer && byte == file_bytes - sizeof(trailer))
			return 0;
		good = tape_frames_read_header(reader, byte);
		if (good < 0)
			return good;
		if (!good) {
			good = frame_follows(reader, byte + 1);
			if (good > 0)
				return tape_frames_fail(reader, TAPE_ERR_CHECKSUM, byte,
							"frame header with a bad checksum");
			return good < 0 ? good : set_torn(reader, byte);
		}
		good = frame_is_whole(reader, byte, has_trailer);
		if (good <= 0)
			return good < 0 ? good : set_torn(reader, byte);
		next = byte + header->header_bytes + header->payload_bytes;
		error = note_frame(reader, byte);
		if (error)
			return error;
		byte = next;
	}
	return 0;
}

/* The frames as the index tells. Return: 1 done, 0 the index is of no use, negative: failed. */
static int follow_index(struct tape_reader *reader)
{
	struct tape_frame_header *header = (struct tape_frame_header *)reader->header;
	uint64_t byte = sizeof(struct tape_file_header);
	struct tape_index_entry entry;
	struct tape_trailer trailer;
	struct tape_bytes index;
	const uint8_t *at, *end;
	int good, error = 0;

	if (!read_trailer(reader, &trailer))
		return 0;
	good = tape_frames_read_header(reader, trailer.index_byte);
	if (good <= 0)
		return good;
	if (header->kind != TAPE_FRAME_INDEX || check_header(header) ||
	    trailer.index_byte + header->header_bytes + header->payload_bytes + sizeof(trailer) !=
		    trailer.file_bytes ||
	    unpack_payload(reader, trailer.index_byte)) {
		reader->problem.code = TAPE_OK;
		return 0;
	}
	/* Types and blobs that it leads to want the scratch buffer for themselves. */
	index = reader->raw;
	reader->raw = (struct tape_bytes){ 0 };
	at = index.data;
	end = at + index.size;
	/* First all of it, so that a broken index leaves nothing behind. */
	for (good = 1; at < end && good;) {
		good = (size_t)(end - at) >= sizeof(entry) + sizeof(*header);
		if (!good)
			break;
		memcpy(&entry, at, sizeof(entry));
		memcpy(header, at + sizeof(entry), sizeof(*header));
		at += sizeof(entry);
		good = entry.byte == byte && header->magic == TAPE_FRAME_MAGIC &&
		       header->header_bytes >= sizeof(*header) &&
		       header->header_bytes <= HEADER_BYTES_MAX &&
		       header->header_bytes <= (size_t)(end - at) &&
		       tape_header_crc(at, header->header_bytes) == header->header_crc;
		if (good) {
			at += header->header_bytes;
			byte += (uint64_t)header->header_bytes + header->payload_bytes;
		}
	}
	good = good && byte == trailer.index_byte;
	for (at = index.data; at < end && good && !error;) {
		memcpy(&entry, at, sizeof(entry));
		at += sizeof(entry);
		memcpy(header, at, sizeof(*header));
		memcpy(reader->header, at, header->header_bytes);
		at += header->header_bytes;
		error = note_frame(reader, entry.byte);
	}
	tape_bytes_free(&index);
	return error ? error : good;
}

static int read_file_header(struct tape_reader *reader)
{
	struct tape_file_header header = { 0 };
	size_t size = reader->summary.file_bytes < sizeof(header) ?
			      (size_t)reader->summary.file_bytes :
			      sizeof(header);
	int error = read_at(reader, &header, size, 0);

	if (error)
		return error;
	if (size == 0)
		return tape_frames_fail(reader, TAPE_ERR_NOT_A_TAPE, 0,
					"an empty file, not a tape");
	if (memcmp(header.magic, TAPE_FILE_MAGIC,
		   size < sizeof(header.magic) ? size : sizeof(header.magic)) != 0)
		return tape_frames_fail(reader, TAPE_ERR_NOT_A_TAPE, 0, NULL);
	if (size < sizeof(header))
		return tape_frames_fail(reader, TAPE_ERR_EMPTY, size, NULL);
	if (header.version > TAPE_FORMAT_VERSION) {
		char what[96];

		snprintf(what, sizeof(what), "tape format version %u, this lrutape knows %u",
			 header.version, TAPE_FORMAT_VERSION);
		return tape_frames_fail(reader, TAPE_ERR_VERSION,
					offsetof(struct tape_file_header, version), what);
	}
	if (header.crc != crc32(0, (const Bytef *)&header, offsetof(struct tape_file_header, crc)))
		return tape_frames_fail(reader, TAPE_ERR_CHECKSUM, 0,
					"file header with a bad checksum");
	if (header.version == 0 || header.header_bytes != sizeof(header))
		return tape_frames_fail(reader, TAPE_ERR_CORRUPT, 0, NULL);
	if (header.refuse_flags)
		return tape_frames_fail(reader, TAPE_ERR_VERSION,
					offsetof(struct tape_file_header, refuse_flags),
					"tape with a flag that only a newer lrutape knows");
	reader->summary.format_version = header.version;
	return 0;
}

static uint64_t overrun_of(const struct tape_blob *blob)
{
	const char *line = blob->data;

	while (line && strncmp(line, "overrun:", 8) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line ? strtoull(line + 8, NULL, 10) : 0;
}

/* per_cpu stats at the end, less what had been lost before the start. */
static void sum_overrun(struct tape_reader *reader)
{
	uint64_t start = 0, end = 0;

	for (size_t i = 0; i < reader->nr_blobs; i++) {
		const struct tape_blob *blob = &reader->blob[i];
		size_t size = strlen(blob->name);

		if (strncmp(blob->name, "lrutape/per_cpu/", 16) != 0 || size < 6 ||
		    strcmp(blob->name + size - 6, "/stats") != 0)
			continue;
		if (blob->moment == TAPE_MOMENT_START)
			start += overrun_of(blob);
		else if (blob->moment == TAPE_MOMENT_END)
			end += overrun_of(blob);
	}
	reader->summary.nr_overrun = end > start ? end - start : 0;
}

int tape_frames_find(struct tape_reader *reader)
{
	int error = read_file_header(reader);

	if (error)
		return error;
	error = follow_index(reader);
	if (error < 0)
		return error;
	reader->summary.has_index = error == 1;
	if (!reader->summary.has_index) {
		error = walk_frames(reader);
		if (error)
			return error;
		if (reader->nr_frames == 0)
			return tape_frames_fail(reader, TAPE_ERR_EMPTY,
						sizeof(struct tape_file_header), NULL);
	}
	reader->summary.nr_frames = reader->nr_frames;
	sum_overrun(reader);
	return 0;
}
