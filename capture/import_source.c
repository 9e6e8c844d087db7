// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three layers: raw bytes from the file, a decompressor chosen by the first bytes, lines cut out
 * of one buffer. The buffer holds [start, end); what is left is moved to its front before it is
 * filled again.
 */
#include "capture/import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define RAW_BYTES (128u << 10)
#define BUFFER_BYTES (256u << 10)
/* zstd's own default: a frame that wants more was made with --ultra --long. */
#define ZSTD_WINDOW_LOG_MAX 27

enum packing {
	PACKING_UNKNOWN, /* no byte seen yet */
	PACKING_NONE,
	PACKING_GZIP,
	PACKING_ZSTD,
};

struct import_source {
	char *path;
	int fd; /* -1: memory */
	const unsigned char *memory;
	size_t memory_left;

	enum packing packing;
	unsigned char *raw;
	size_t raw_start, raw_end;
	uint64_t raw_offset; /* of raw[raw_start] in the file */
	bool raw_ended;
	z_stream gzip;
	bool gzip_ready;
	bool in_member; /* between a gzip header or zstd frame header and its end */
	bool packed_output_pending; /* the decompressor holds output that did not fit */
	ZSTD_DCtx *zstd;

	char *buffer;
	size_t start, end;
	bool ended;
	bool skipping; /* the rest of a line beyond IMPORT_LINE_LIMIT */
	uint64_t line_number;
	struct tape_problem problem;
};

static int __attribute__((format(printf, 3, 4)))
fail(struct import_source *source, enum tape_error code, const char *format, ...)
{
	va_list args;
	size_t used;

	source->problem.code = code;
	source->problem.byte = source->raw_offset;
	used = (size_t)snprintf(source->problem.text, sizeof(source->problem.text),
				"%.120s: ", source->path);
	va_start(args, format);
	vsnprintf(source->problem.text + used, sizeof(source->problem.text) - used, format, args);
	va_end(args);
	return code;
}

/* Makes raw[] non-empty, or sets raw_ended. */
static int fill_raw(struct import_source *source)
{
	ssize_t got;

	if (source->raw_start < source->raw_end || source->raw_ended)
		return 0;
	source->raw_start = source->raw_end = 0;
	if (source->fd < 0) {
		size_t part = source->memory_left < RAW_BYTES ? source->memory_left : RAW_BYTES;

		if (part)
			memcpy(source->raw, source->memory, part);
		source->memory += part;
		source->memory_left -= part;
		got = (ssize_t)part;
	} else {
		do
			got = read(source->fd, source->raw, RAW_BYTES);
		while (got < 0 && errno == EINTR);
	}
	if (got < 0)
		return fail(source, TAPE_ERR_IO, "cannot read, at byte %llu: %s",
			    (unsigned long long)source->raw_offset, strerror(errno));
	if (!got)
		source->raw_ended = true;
	source->raw_end = (size_t)got;
	return 0;
}

static void raw_used(struct import_source *source, size_t bytes)
{
	source->raw_start += bytes;
	source->raw_offset += bytes;
}

/* Four bytes decide; a pipe may hand them over one by one. */
static int find_packing(struct import_source *source)
{
	const unsigned char *b = source->raw;
	int err = fill_raw(source);

	if (err)
		return err;
	while (!source->raw_ended && source->fd >= 0 && source->raw_end < 4) {
		ssize_t got = read(source->fd, source->raw + source->raw_end,
				   RAW_BYTES - source->raw_end);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(source, TAPE_ERR_IO, "cannot read: %s", strerror(errno));
		if (!got)
			break;
		source->raw_end += (size_t)got;
	}
	source->packing = PACKING_NONE;
	if (source->raw_end >= 2 && b[0] == 0x1f && b[1] == 0x8b)
		source->packing = PACKING_GZIP;
	else if (source->raw_end >= 4 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd &&
		 b[0] == 0x28)
		source->packing = PACKING_ZSTD;
	else if (source->raw_end >= 4 && (b[0] & 0xf0) == 0x50 && b[1] == 0x2a && b[2] == 0x4d &&
		 b[3] == 0x18)
		source->packing = PACKING_ZSTD; /* a skippable frame comes first */

	if (source->packing == PACKING_GZIP) {
		if (inflateInit2(&source->gzip, 15 + 16) != Z_OK)
			return fail(source, TAPE_ERR_MEMORY, "no memory to decompress it");
		source->gzip_ready = true;
		source->in_member = true;
	} else if (source->packing == PACKING_ZSTD) {
		source->zstd = ZSTD_createDCtx();
		if (!source->zstd)
			return fail(source, TAPE_ERR_MEMORY, "no memory to decompress it");
		ZSTD_DCtx_setParameter(source->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	}
	return 0;
}

static int fail_cut_short(struct import_source *source)
{
	return fail(
		source, TAPE_ERR_CORRUPT,
		"the compressed file is cut short, at byte %llu, in line %llu: get it whole, or keep what "
		"came before with --keep",
		(unsigned long long)source->raw_offset,
		(unsigned long long)source->line_number + 1);
}

static int fail_damaged(struct import_source *source, const char *why)
{
	return fail(
		source, TAPE_ERR_CORRUPT,
		"the compressed data is damaged (%s), near byte %llu: get the file again, or keep what "
		"came before with --keep",
		why, (unsigned long long)source->raw_offset);
}

/* Each unpack_*() writes up to @room bytes; *got 0 means the file ended. */
static int unpack_gzip(struct import_source *source, char *to, size_t room, size_t *got)
{
	z_stream *z = &source->gzip;

	*got = 0;
	while (!*got) {
		int err = fill_raw(source), ret;
		size_t before;

		if (err)
			return err;
		if (source->raw_ended && !source->in_member)
			return 0;
		if (source->raw_ended && !source->packed_output_pending)
			return fail_cut_short(source);
		if (!source->in_member) {
			/* Members may follow each other; other bytes behind the last are padding, as for gzip(1). */
			if (source->raw[source->raw_start] != 0x1f) {
				raw_used(source, source->raw_end - source->raw_start);
				continue;
			}
			if (inflateReset(z) != Z_OK)
				return fail(source, TAPE_ERR_MEMORY, "no memory to decompress it");
			source->in_member = true;
		}
		before = source->raw_end - source->raw_start;
		z->next_in = source->raw + source->raw_start;
		z->avail_in = (uInt)before;
		z->next_out = (Bytef *)to;
		z->avail_out = (uInt)room;
		ret = inflate(z, Z_NO_FLUSH);
		raw_used(source, before - z->avail_in);
		*got = room - z->avail_out;
		source->packed_output_pending = !z->avail_out;
		if (ret == Z_STREAM_END)
			source->in_member = false;
		else if (ret == Z_BUF_ERROR && source->raw_ended && !*got)
			return fail_cut_short(source);
		else if (ret != Z_OK && ret != Z_BUF_ERROR)
			return fail_damaged(source, z->msg ? z->msg : "zlib");
	}
	return 0;
}

static int unpack_zstd(struct import_source *source, char *to, size_t room, size_t *got)
{
	*got = 0;
	while (!*got) {
		int err = fill_raw(source);
		ZSTD_inBuffer in;
		ZSTD_outBuffer out = { to, room, 0 };
		size_t ret;

		if (err)
			return err;
		if (source->raw_ended && !source->packed_output_pending) {
			if (source->in_member)
				return fail_cut_short(source);
			return 0;
		}
		in = (ZSTD_inBuffer){ source->raw, source->raw_end, source->raw_start };
		ret = ZSTD_decompressStream(source->zstd, &out, &in);
		if (ZSTD_isError(ret))
			return fail_damaged(source, ZSTD_getErrorName(ret));
		raw_used(source, in.pos - source->raw_start);
		*got = out.pos;
		source->in_member = ret != 0;
		source->packed_output_pending = ret && out.pos == room;
	}
	return 0;
}

/* Appends to buffer[]; sets ended. The caller has made room. */
static int fill(struct import_source *source)
{
	char *to = source->buffer + source->end;
	size_t room = BUFFER_BYTES - source->end, got = 0;
	int err = 0;

	if (source->packing == PACKING_UNKNOWN)
		err = find_packing(source);
	if (err)
		return err;
	switch (source->packing) {
	case PACKING_GZIP:
		err = unpack_gzip(source, to, room, &got);
		break;
	case PACKING_ZSTD:
		err = unpack_zstd(source, to, room, &got);
		break;
	default:
		err = fill_raw(source);
		if (err)
			return err;
		got = source->raw_end - source->raw_start;
		if (got > room)
			got = room;
		memcpy(to, source->raw + source->raw_start, got);
		raw_used(source, got);
	}
	if (err)
		return err;
	source->end += got;
	source->ended = !got;
	return 0;
}

static int import_source_new(const char *path, struct import_source **made,
			     struct tape_problem *problem)
{
	struct import_source *source = calloc(1, sizeof(*source));

	if (!source)
		goto err_memory;
	source->fd = -1;
	source->path = strdup(path);
	source->raw = malloc(RAW_BYTES);
	source->buffer = malloc(BUFFER_BYTES + 1); /* room for the NUL behind the last line */
	if (!source->path || !source->raw || !source->buffer)
		goto err_memory;
	*made = source;
	return 0;

err_memory:
	import_source_close(source);
	problem->code = TAPE_ERR_MEMORY;
	problem->byte = 0;
	snprintf(problem->text, sizeof(problem->text), "%.120s: no memory to read it", path);
	return TAPE_ERR_MEMORY;
}

int import_source_open(const char *path, struct import_source **made, struct tape_problem *problem)
{
	bool standard_input = !strcmp(path, "-");
	struct import_source *source;
	struct stat st;
	int err = import_source_new(standard_input ? "standard input" : path, &source, problem);

	if (err)
		return err;
	source->fd = standard_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0) {
		err = fail(source, TAPE_ERR_OPEN, "cannot open: %s", strerror(errno));
		goto err_close;
	}
	if (!fstat(source->fd, &st) && S_ISDIR(st.st_mode)) {
		err = fail(source, TAPE_ERR_OPEN, "is a directory: name the file in it");
		goto err_close;
	}
	*made = source;
	return 0;

err_close:
	*problem = source->problem;
	import_source_close(source);
	return err;
}

int import_source_open_memory(const void *bytes, size_t size, struct import_source **made,
			      struct tape_problem *problem)
{
	int err = import_source_new("memory", made, problem);

	if (err)
		return err;
	(*made)->memory = bytes;
	(*made)->memory_left = size;
	return 0;
}

static void make_room(struct import_source *source)
{
	if (!source->start)
		return;
	memmove(source->buffer, source->buffer + source->start, source->end - source->start);
	source->end -= source->start;
	source->start = 0;
}

int import_source_line(struct import_source *source, struct import_line *line)
{
	size_t searched = 0;

	for (;;) {
		char *from = source->buffer + source->start;
		size_t have = source->end - source->start;
		char *newline = memchr(from + searched, '\n', have - searched);
		size_t size = newline ? (size_t)(newline - from) : have;
		int err;

		if (source->skipping && newline) {
			source->start += size + 1;
			source->skipping = false;
			searched = 0;
			continue;
		}
		if (source->skipping) {
			source->start = source->end = 0;
		} else if (newline || size > IMPORT_LINE_LIMIT || (source->ended && size)) {
			bool cut = size > IMPORT_LINE_LIMIT;

			source->skipping = cut && !newline;
			source->start += size + (newline ? 1 : 0);
			line->ended = newline != NULL;
			line->cut = cut;
			if (cut)
				size = IMPORT_LINE_LIMIT;
			else if (size && from[size - 1] == '\r')
				size--;
			from[size] = '\0';
			line->text = from;
			line->size = size;
			line->number = ++source->line_number;
			return 1;
		}
		if (source->ended)
			return 0;
		searched = source->skipping ? 0 : have;
		make_room(source);
		err = fill(source);
		if (err)
			return err;
	}
}

int import_source_read(struct import_source *source, void *to, size_t size, size_t *got)
{
	*got = 0;
	while (*got < size) {
		size_t have = source->end - source->start;
		size_t part = have < size - *got ? have : size - *got;
		int err;

		if (part) {
			memcpy((char *)to + *got, source->buffer + source->start, part);
			source->start += part;
			*got += part;
			continue;
		}
		if (source->ended)
			break;
		make_room(source);
		err = fill(source);
		if (err)
			return err;
	}
	return 0;
}

static int write_spool(struct import_source *source, int fd)
{
	const char *from = source->buffer + source->start, *end = source->buffer + source->end;

	while (from < end) {
		ssize_t put = write(fd, from, (size_t)(end - from));

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return fail(
				source, TAPE_ERR_IO,
				"cannot write an unpacked copy: %s: set TMPDIR to where there is "
				"room",
				strerror(errno));
		from += put;
	}
	source->start = source->end = 0;
	return 0;
}

static int open_spool(struct import_source *source)
{
	const char *directory = getenv("TMPDIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/lrutape-import-XXXXXX",
		 directory && *directory ? directory : P_tmpdir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return fail(source, TAPE_ERR_IO, "cannot make a copy in %s: %s: set TMPDIR",
			    directory && *directory ? directory : P_tmpdir, strerror(errno));
	unlink(path);
	return fd;
}

int import_source_spool(struct import_source *source, int *fd, uint64_t *size)
{
	struct stat st;
	int err;

	/* A first fill, so that it is known whether the file is packed. */
	err = fill(source);
	if (err)
		return err;
	if (source->fd >= 0 && source->packing == PACKING_NONE && !fstat(source->fd, &st) &&
	    S_ISREG(st.st_mode)) {
		*fd = fcntl(source->fd, F_DUPFD_CLOEXEC, 0);
		*size = (uint64_t)st.st_size;
		if (*fd < 0)
			return fail(source, TAPE_ERR_IO, "cannot read: %s", strerror(errno));
		return 0;
	}
	*fd = open_spool(source);
	if (*fd < 0)
		return *fd;
	*size = 0;
	do {
		*size += source->end - source->start;
		err = write_spool(source, *fd);
		err = err ? err : fill(source);
	} while (!err && !source->ended);
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}

const struct tape_problem *import_source_problem(const struct import_source *source)
{
	return &source->problem;
}

const char *import_source_path(const struct import_source *source)
{
	return source->path;
}

void import_source_close(struct import_source *source)
{
	if (!source)
		return;
	if (source->gzip_ready)
		inflateEnd(&source->gzip);
	ZSTD_freeDCtx(source->zstd);
	if (source->fd >= 0)
		close(source->fd);
	free(source->buffer);
	free(source->raw);
	free(source->path);
	free(source);
}
