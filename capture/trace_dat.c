// SPDX-License-Identifier: GPL-2.0-only
/*
 * Version 6 is one stream of parts up to the place of the records; version 7 has sections, found by
 * options that tell their places, each of which may be packed. The parts themselves are the same, so
 * both are read through a cursor, over the file or over an unpacked section.
 */
#include "capture/trace_dat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "schema/tape_format.h"

#define SECTION_BYTES_MAX (64u << 20) /* of one section, unpacked */
#define FORMATS_MAX 65536u /* a record's type has 16 bits */
#define FORMATS_BYTES_MAX (256u << 20)
#define OPTION_BYTES_MAX (4u << 20)
#define OPTION_SECTIONS_MAX 1024u
#define BUFFERS_MAX 256u
#define STATS_MAX 65536u
#define NAME_BYTES_MAX 256u
#define PAGE_BYTES_MIN 512u
#define PAGE_BYTES_MAX (1u << 22)
#define CHUNK_BYTES_MAX (64u << 20)

static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

/* Options, and sections of version 7 from SECTION_HEADERS on. */
enum {
	OPTION_DONE = 0,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT = 8,
	OPTION_TIME_SHIFT = 12,
	OPTION_TSC2NSEC = 14,
	SECTION_HEADERS = 16,
	SECTION_FTRACE_FORMATS = 17,
	SECTION_FORMATS = 18,
	SECTION_COMMS = 21,
	SECTION_BUFFER_TEXT = 22,
};

#define SECTION_PACKED 1u
#define NR_PARTS 32

struct cursor {
	struct trace_dat *dat;
	const uint8_t *memory; /* NULL: the file */
	uint64_t at, end; /* in the memory, or in the file */
	uint64_t file_at; /* of the memory's section, for messages */
};

static int __attribute__((format(printf, 2, 3)))
fail(struct trace_dat *dat, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(dat->why, sizeof(dat->why), format, args);
	va_end(args);
	return -1;
}

static int fail_memory(struct trace_dat *dat)
{
	dat->out_of_memory = true;
	return fail(dat, "no memory to read it");
}

static int fail_cut(struct trace_dat *dat, uint64_t at)
{
	return fail(dat, "cut short, or damaged, at byte %" PRIu64 ": get the file whole", at);
}

static int read_at(struct trace_dat *dat, uint64_t at, void *to, size_t size)
{
	uint8_t *p = to;

	if (at > dat->file_bytes || size > dat->file_bytes - at)
		return fail_cut(dat, at);
	while (size) {
		ssize_t got = pread(dat->fd, p, size, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			dat->read_errno = errno;
			return fail(dat, "cannot read, at byte %" PRIu64 ": %s", at,
				    strerror(errno));
		}
		if (!got)
			return fail_cut(dat, at);
		p += got;
		at += (uint64_t)got;
		size -= (size_t)got;
	}
	return 0;
}

/* ---- cursors: numbers are little endian, and so are we (checked at open) */

static uint64_t place_of(const struct cursor *cursor)
{
	return cursor->memory ? cursor->file_at : cursor->at;
}

static int take(struct cursor *cursor, void *to, size_t size)
{
	if (size > cursor->end - cursor->at)
		return fail_cut(cursor->dat, place_of(cursor));
	if (cursor->memory)
		memcpy(to, cursor->memory + cursor->at, size);
	else if (read_at(cursor->dat, cursor->at, to, size))
		return -1;
	cursor->at += size;
	return 0;
}

static int skip(struct cursor *cursor, uint64_t size)
{
	if (size > cursor->end - cursor->at)
		return fail_cut(cursor->dat, place_of(cursor));
	cursor->at += size;
	return 0;
}

static int take_u16(struct cursor *cursor, uint16_t *value)
{
	return take(cursor, value, sizeof(*value));
}

static int take_u32(struct cursor *cursor, uint32_t *value)
{
	return take(cursor, value, sizeof(*value));
}

static int take_u64(struct cursor *cursor, uint64_t *value)
{
	return take(cursor, value, sizeof(*value));
}

/* Bytes as a string of their own; what stands behind a NUL in them is lost. */
static int take_text(struct cursor *cursor, uint64_t size, uint64_t limit, char **text)
{
	if (size > limit)
		return fail(cursor->dat,
			    "a part of %" PRIu64 " bytes, at byte %" PRIu64
			    ": more than such a part has",
			    size, place_of(cursor));
	if (size > cursor->end - cursor->at)
		return fail_cut(cursor->dat, place_of(cursor));
	*text = malloc(size + 1);
	if (!*text)
		return fail_memory(cursor->dat);
	(*text)[size] = '\0';
	if (take(cursor, *text, size)) {
		free(*text);
		*text = NULL;
		return -1;
	}
	return 0;
}

/* A string up to its NUL. */
static int take_name(struct cursor *cursor, char name[NAME_BYTES_MAX])
{
	for (size_t i = 0; i < NAME_BYTES_MAX; i++) {
		if (take(cursor, &name[i], 1))
			return -1;
		if (!name[i])
			return 0;
	}
	return fail(cursor->dat, "a name without end at byte %" PRIu64 ": the file is damaged",
		    place_of(cursor));
}

static int expect(struct cursor *cursor, const char *text, size_t size)
{
	char found[16];

	if (take(cursor, found, size))
		return -1;
	if (memcmp(found, text, size))
		return fail(cursor->dat, "no \"%s\" before byte %" PRIu64 ": the file is damaged",
			    text, place_of(cursor));
	return 0;
}

/* ---- parts of both versions */

static int read_headers(struct cursor *cursor)
{
	struct trace_dat *dat = cursor->dat;
	uint64_t size;

	if (expect(cursor, "header_page", 12) || take_u64(cursor, &size))
		return -1;
	free(dat->header_page);
	dat->header_page = NULL;
	if (take_text(cursor, size, 1 << 16, &dat->header_page))
		return -1;
	if (!ring_page_layout_read(dat->header_page, &dat->layout))
		return fail(dat, "its header_page is none of a ring buffer known here");
	if (expect(cursor, "header_event", 13) || take_u64(cursor, &size))
		return -1;
	return skip(cursor, size);
}

static int add_format(struct cursor *cursor, const char *system, uint64_t *all_bytes)
{
	struct trace_dat *dat = cursor->dat;
	struct trace_dat_format *format;
	uint64_t size;

	if (take_u64(cursor, &size))
		return -1;
	*all_bytes += size;
	if (dat->nr_formats == FORMATS_MAX || *all_bytes > FORMATS_BYTES_MAX)
		return fail(dat, "more event formats than a kernel has, at byte %" PRIu64,
			    place_of(cursor));
	if ((dat->nr_formats & (dat->nr_formats - 1)) == 0) {
		format = reallocarray(dat->format, dat->nr_formats ? 2 * dat->nr_formats : 1,
				      sizeof(*format));
		if (!format)
			return fail_memory(dat);
		dat->format = format;
	}
	format = &dat->format[dat->nr_formats];
	format->system = strdup(system);
	format->text = NULL;
	if (!format->system)
		return fail_memory(dat);
	dat->nr_formats++;
	return take_text(cursor, size, TAPE_FORMAT_TEXT_BYTES_MAX - 1, &format->text);
}

static int read_formats(struct cursor *cursor, const char *system, uint64_t *all_bytes)
{
	uint32_t nr;

	if (take_u32(cursor, &nr))
		return -1;
	while (nr--)
		if (add_format(cursor, system, all_bytes))
			return -1;
	return 0;
}

static int read_ftrace_formats(struct cursor *cursor)
{
	uint64_t all_bytes = 0;

	return read_formats(cursor, "ftrace", &all_bytes);
}

static int read_systems(struct cursor *cursor)
{
	char system[NAME_BYTES_MAX];
	uint64_t all_bytes = 0;
	uint32_t nr;

	if (take_u32(cursor, &nr))
		return -1;
	while (nr--)
		if (take_name(cursor, system) || read_formats(cursor, system, &all_bytes))
			return -1;
	return 0;
}

static int read_comms(struct cursor *cursor)
{
	struct trace_dat *dat = cursor->dat;
	uint64_t size;

	if (take_u64(cursor, &size))
		return -1;
	free(dat->comms);
	dat->comms = NULL;
	return take_text(cursor, size, SECTION_BYTES_MAX, &dat->comms);
}

/* ---- packed data */

/* Unpacks @size bytes into exactly @raw_size. */
static int unpack(struct trace_dat *dat, uint64_t at, const uint8_t *from, size_t size, uint8_t *to,
		  size_t raw_size)
{
	uLongf got = raw_size;
	size_t ret;

	switch (dat->packing) {
	case TRACE_DAT_ZSTD:
		ret = ZSTD_decompress(to, raw_size, from, size);
		if (!ZSTD_isError(ret) && ret == raw_size)
			return 0;
		break;
	case TRACE_DAT_ZLIB:
		if (uncompress(to, &got, from, size) == Z_OK && got == raw_size)
			return 0;
		break;
	default:
		return fail(
			dat,
			"packed with %s, which is not known here: convert it with `trace-cmd convert "
			"--compression none`",
			dat->packing_name[0] ? dat->packing_name : "nothing");
	}
	return fail(dat, "damaged packed data at byte %" PRIu64 ": get the file again", at);
}

struct section {
	uint16_t id, flags;
	uint64_t at, size; /* of what follows its header */
};

static int read_section_header(struct trace_dat *dat, uint64_t at, struct section *section)
{
	struct cursor cursor = { .dat = dat, .at = at, .end = dat->file_bytes };
	uint32_t description;

	if (at > dat->file_bytes)
		return fail_cut(dat, at);
	if (take_u16(&cursor, &section->id) || take_u16(&cursor, &section->flags) ||
	    take_u32(&cursor, &description) || take_u64(&cursor, &section->size))
		return -1;
	section->at = cursor.at;
	if (section->size > dat->file_bytes - section->at)
		return fail_cut(dat, at);
	return 0;
}

/* The section unpacked: @memory is the caller's, NULL where it stands in the file as it is. */
static int open_section(struct trace_dat *dat, const struct section *section, struct cursor *cursor,
			uint8_t **memory)
{
	uint32_t packed_size, raw_size;
	uint8_t *packed;
	int error;

	*memory = NULL;
	*cursor = (struct cursor){ .dat = dat,
				   .at = section->at,
				   .end = section->at + section->size };
	if (!(section->flags & SECTION_PACKED))
		return 0;
	if (take_u32(cursor, &packed_size) || take_u32(cursor, &raw_size))
		return -1;
	if (packed_size > cursor->end - cursor->at || raw_size > SECTION_BYTES_MAX)
		return fail_cut(dat, section->at);
	packed = malloc(packed_size + (size_t)1);
	*memory = malloc(raw_size + (size_t)1);
	if (!packed || !*memory) {
		error = fail_memory(dat);
	} else {
		error = take(cursor, packed, packed_size);
		error = error ? error :
				unpack(dat, section->at, packed, packed_size, *memory, raw_size);
	}
	free(packed);
	if (error) {
		free(*memory);
		*memory = NULL;
		return error;
	}
	*cursor = (struct cursor){
		.dat = dat, .memory = *memory, .end = raw_size, .file_at = section->at
	};
	return 0;
}

/* ---- buffers and options */

static bool good_page_bytes(uint32_t bytes)
{
	return bytes >= PAGE_BYTES_MIN && bytes <= PAGE_BYTES_MAX;
}

static struct trace_dat_buffer *add_buffer(struct trace_dat *dat, const char *name, bool first)
{
	struct trace_dat_buffer *more;
	uint32_t at = first ? 0 : dat->nr_buffers;

	if (dat->nr_buffers == BUFFERS_MAX) {
		fail(dat, "more than %u instances", BUFFERS_MAX);
		return NULL;
	}
	more = reallocarray(dat->buffer, dat->nr_buffers + 1, sizeof(*more));
	if (!more) {
		fail_memory(dat);
		return NULL;
	}
	dat->buffer = more;
	memmove(&more[at + 1], &more[at], (dat->nr_buffers - at) * sizeof(*more));
	more[at] = (struct trace_dat_buffer){ .name = strdup(name), .page_bytes = dat->page_bytes };
	dat->nr_buffers++;
	if (!more[at].name) {
		fail_memory(dat);
		return NULL;
	}
	return &more[at];
}

static int add_cpu(struct trace_dat *dat, struct trace_dat_buffer *buffer, uint32_t number,
		   uint64_t offset, uint64_t size)
{
	if (number >= TAPE_CPUS_MAX)
		return fail(dat, "CPU %u: more than a machine has", number);
	if (size && (offset > dat->file_bytes || size > dat->file_bytes - offset))
		return fail(dat,
			    "CPU %u: its records end behind the file's end: the file is cut short",
			    number);
	buffer->cpu[buffer->nr_cpus++] =
		(struct trace_dat_cpu){ .number = number, .offset = offset, .size = size };
	return 0;
}

static int make_cpus(struct trace_dat *dat, struct trace_dat_buffer *buffer, uint32_t nr)
{
	if (nr > TAPE_CPUS_MAX)
		return fail(dat, "%u CPUs: more than a machine has", nr);
	buffer->cpu = calloc(nr + 1u, sizeof(*buffer->cpu));
	return buffer->cpu ? 0 : fail_memory(dat);
}

/* Version 7: all about a buffer stands in its option. */
static int read_buffer_option(struct cursor *cursor)
{
	struct trace_dat *dat = cursor->dat;
	char name[NAME_BYTES_MAX], clock[NAME_BYTES_MAX];
	struct trace_dat_buffer *buffer;
	uint32_t page_bytes, nr, number;
	struct section section;
	uint64_t at, offset, size;

	if (take_u64(cursor, &at) || take_name(cursor, name) || take_name(cursor, clock))
		return -1;
	buffer = add_buffer(dat, name, !name[0]);
	if (!buffer)
		return -1;
	if (cursor->end - cursor->at < 8)
		return 0; /* a recording that came to nothing */
	if (take_u32(cursor, &page_bytes) || take_u32(cursor, &nr) || make_cpus(dat, buffer, nr))
		return -1;
	if (!good_page_bytes(page_bytes))
		return fail(dat, "pages of %u bytes: no size of a ring buffer's page", page_bytes);
	buffer->page_bytes = page_bytes;
	if (!dat->clock[0]) {
		free(dat->clock);
		dat->clock = strdup(clock);
		if (!dat->clock)
			return fail_memory(dat);
	}
	if (nr) {
		if (read_section_header(dat, at, &section))
			return -1;
		buffer->packed = section.flags & SECTION_PACKED;
	}
	for (uint32_t i = 0; i < nr; i++)
		if (take_u32(cursor, &number) || take_u64(cursor, &offset) ||
		    take_u64(cursor, &size) || add_cpu(dat, buffer, number, offset, size))
			return -1;
	return 0;
}

/* Version 6: place and name; what stands there is read when the number of CPUs is known. */
static int read_old_buffer_option(struct cursor *cursor)
{
	char name[NAME_BYTES_MAX];
	struct trace_dat_buffer *buffer;
	uint64_t at;

	if (take_u64(cursor, &at) || take_name(cursor, name))
		return -1;
	buffer = add_buffer(cursor->dat, name, false);
	if (!buffer)
		return -1;
	buffer->offset = at;
	return 0;
}

/* "local [mono] boot": the one in force. */
static int read_clock(struct trace_dat *dat, const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
	char *clock = close ? strndup(open + 1, (size_t)(close - open - 1)) : strdup("");

	if (!clock)
		return fail_memory(dat);
	free(dat->clock);
	dat->clock = clock;
	return 0;
}

static int add_stats(struct trace_dat *dat, char *text)
{
	char **more;

	if (dat->nr_stats == STATS_MAX) {
		free(text);
		return 0;
	}
	more = reallocarray(dat->stats, dat->nr_stats + 1, sizeof(*more));
	if (!more) {
		free(text);
		return fail_memory(dat);
	}
	dat->stats = more;
	more[dat->nr_stats++] = text;
	return 0;
}

static int read_text_option(struct cursor *cursor, unsigned int id)
{
	struct trace_dat *dat = cursor->dat;
	char *text;
	int error = 0;

	if (take_text(cursor, cursor->end - cursor->at, OPTION_BYTES_MAX, &text))
		return -1;
	switch (id) {
	case OPTION_CPUSTAT:
		return add_stats(dat, text);
	case OPTION_TRACECLOCK:
		error = read_clock(dat, text);
		break;
	case OPTION_OFFSET:
		dat->offset_ns = strtoll(text, NULL, 0);
		break;
	default: /* OPTION_UNAME */
		free(dat->uname);
		dat->uname = text;
		return 0;
	}
	free(text);
	return error;
}

static int read_tsc(struct cursor *cursor)
{
	struct trace_dat *dat = cursor->dat;

	if (take_u32(cursor, &dat->tsc_mult) || take_u32(cursor, &dat->tsc_shift))
		return -1;
	if (dat->tsc_shift > 63)
		return fail(dat, "a clock whose cycles are shifted by %u bits: the file is damaged",
			    dat->tsc_shift);
	return 0;
}

/* @parts: where sections stand, by id. The cursor holds the option's data and nothing else. */
static int read_option(struct cursor *cursor, unsigned int id, uint64_t parts[NR_PARTS])
{
	struct trace_dat *dat = cursor->dat;

	switch (id) {
	case OPTION_CPUSTAT:
	case OPTION_TRACECLOCK:
	case OPTION_UNAME:
	case OPTION_OFFSET:
		return read_text_option(cursor, id);
	case OPTION_BUFFER:
		return dat->version == 7 ? read_buffer_option(cursor) :
					   read_old_buffer_option(cursor);
	case OPTION_CPUCOUNT:
		return take_u32(cursor, &dat->nr_cpus);
	case OPTION_TIME_SHIFT:
		dat->has_time_shift = true;
		return 0;
	case OPTION_TSC2NSEC:
		return read_tsc(cursor);
	case SECTION_HEADERS:
	case SECTION_FTRACE_FORMATS:
	case SECTION_FORMATS:
	case SECTION_COMMS:
		return dat->version == 7 ? take_u64(cursor, &parts[id]) : 0;
	case SECTION_BUFFER_TEXT:
		dat->has_text = true;
		return 0;
	default:
		return 0;
	}
}

/* Options up to the one that ends them; *next is what version 7 says in it. */
static int read_options(struct cursor *cursor, uint64_t parts[NR_PARTS], uint64_t *next)
{
	uint64_t end = cursor->end;
	uint16_t id;
	uint32_t size;
	int error;

	*next = 0;
	for (;;) {
		if (take_u16(cursor, &id))
			return -1;
		if (id == OPTION_DONE && cursor->dat->version == 6)
			return 0;
		if (take_u32(cursor, &size))
			return -1;
		if (size > end - cursor->at)
			return fail_cut(cursor->dat, place_of(cursor));
		if (id == OPTION_DONE)
			return size >= 8 ? take_u64(cursor, next) : 0;
		cursor->end = cursor->at + size;
		error = read_option(cursor, id, parts);
		cursor->at = cursor->end;
		cursor->end = end;
		if (error)
			return error;
	}
}

/* ---- version 6 */

/* "options  ", "latency  " or "flyrecord", and where each CPU's records are. */
static int read_old_cpus(struct cursor *cursor, uint32_t which, uint64_t parts[NR_PARTS])
{
	struct trace_dat *dat = cursor->dat;
	uint32_t nr = dat->nr_cpus;
	uint64_t next, offset, size;
	char what[10];

	if (take(cursor, what, sizeof(what)))
		return -1;
	if (!memcmp(what, "options  ", 10)) {
		if (read_options(cursor, parts, &next) || take(cursor, what, sizeof(what)))
			return -1;
	}
	dat->nr_cpus =
		nr; /* an option tells the machine's CPUs, the word before those with records */
	if (!memcmp(what, "latency  ", 10)) {
		dat->has_text = true;
		return 0;
	}
	if (memcmp(what, "flyrecord", 10))
		return fail(dat, "no \"flyrecord\" before byte %" PRIu64 ": the file is damaged",
			    cursor->at);
	if (make_cpus(dat, &dat->buffer[which], nr))
		return -1;
	for (uint32_t cpu = 0; cpu < nr; cpu++)
		if (take_u64(cursor, &offset) || take_u64(cursor, &size) ||
		    add_cpu(dat, &dat->buffer[which], cpu, offset, size))
			return -1;
	return 0;
}

static int open_v6(struct cursor *cursor)
{
	struct trace_dat *dat = cursor->dat;
	uint64_t parts[NR_PARTS] = { 0 };
	uint32_t size;

	if (read_headers(cursor) || read_ftrace_formats(cursor) || read_systems(cursor))
		return -1;
	if (take_u32(cursor, &size) || skip(cursor, size)) /* kallsyms */
		return -1;
	if (take_u32(cursor, &size) || skip(cursor, size)) /* printk formats */
		return -1;
	if (read_comms(cursor) || take_u32(cursor, &dat->nr_cpus) || !add_buffer(dat, "", true) ||
	    read_old_cpus(cursor, 0, parts))
		return -1;
	for (uint32_t i = 1; i < dat->nr_buffers; i++) {
		struct cursor at = { .dat = dat,
				     .at = dat->buffer[i].offset,
				     .end = dat->file_bytes };

		if (at.at > at.end)
			return fail_cut(dat, at.at);
		if (dat->buffer[i].cpu)
			continue;
		if (read_old_cpus(&at, i, parts))
			return -1;
	}
	return 0;
}

/* ---- version 7 */

static int read_part(struct trace_dat *dat, uint64_t at, unsigned int id,
		     int (*read)(struct cursor *cursor))
{
	struct section section;
	struct cursor cursor;
	uint8_t *memory;
	int error;

	if (!at)
		return 0;
	if (read_section_header(dat, at, &section))
		return -1;
	if (section.id != id)
		return fail(dat, "section %u at byte %" PRIu64 ", not %u: the file is damaged",
			    section.id, at, id);
	if (open_section(dat, &section, &cursor, &memory))
		return -1;
	error = read(&cursor);
	free(memory);
	return error;
}

static int open_v7(struct cursor *start)
{
	struct trace_dat *dat = start->dat;
	uint64_t parts[NR_PARTS] = { 0 }, next;
	struct section section;
	struct cursor cursor;
	uint8_t *memory;
	int error;

	if (take_u64(start, &next))
		return -1;
	for (unsigned int i = 0; next; i++) {
		if (i == OPTION_SECTIONS_MAX)
			return fail(dat, "options without end: the file is damaged");
		if (read_section_header(dat, next, &section))
			return -1;
		if (section.id != OPTION_DONE)
			return fail(dat,
				    "section %u at byte %" PRIu64
				    ", not options: the file is damaged",
				    section.id, next);
		if (open_section(dat, &section, &cursor, &memory))
			return -1;
		error = read_options(&cursor, parts, &next);
		free(memory);
		if (error)
			return error;
	}
	if (!parts[SECTION_HEADERS])
		return fail(dat,
			    "it does not say how its records lie: the recording did not end well");
	return read_part(dat, parts[SECTION_HEADERS], SECTION_HEADERS, read_headers) ||
			       read_part(dat, parts[SECTION_FTRACE_FORMATS], SECTION_FTRACE_FORMATS,
					 read_ftrace_formats) ||
			       read_part(dat, parts[SECTION_FORMATS], SECTION_FORMATS,
					 read_systems) ||
			       read_part(dat, parts[SECTION_COMMS], SECTION_COMMS, read_comms) ?
		     -1 :
		     0;
}

/* ---- open and close */

static int read_start(struct cursor *cursor)
{
	struct trace_dat *dat = cursor->dat;
	uint8_t found[sizeof(magic)], big_endian, long_bytes;
	char version[NAME_BYTES_MAX], packing_version[NAME_BYTES_MAX], packing[NAME_BYTES_MAX];

	if (dat->file_bytes < sizeof(magic) || take(cursor, found, sizeof(found)) ||
	    memcmp(found, magic, sizeof(magic)))
		return fail(dat, "no file of trace-cmd: `trace-cmd record` makes them");
	if (take_name(cursor, version))
		return -1;
	if (strcmp(version, "6") && strcmp(version, "7"))
		return fail(
			dat,
			"version %.20s: convert it with `trace-cmd convert --file-version 7`, or "
			"record it with trace-cmd 2.9 or later",
			version);
	dat->version = (unsigned int)(version[0] - '0');
	if (take(cursor, &big_endian, 1) || take(cursor, &long_bytes, 1))
		return -1;
	if (big_endian || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return fail(dat,
			    "of a big endian machine, or on one: print it with `trace-cmd report`, "
			    "and import that with --from ftrace-text");
	if (take_u32(cursor, &dat->page_bytes))
		return -1;
	if (!good_page_bytes(dat->page_bytes))
		return fail(dat, "pages of %u bytes: no size of a ring buffer's page",
			    dat->page_bytes);
	if (dat->version == 6)
		return 0;
	if (take_name(cursor, packing) || take_name(cursor, packing_version))
		return -1;
	snprintf(dat->packing_name, sizeof(dat->packing_name), "%.31s", packing);
	dat->packing = !strcmp(packing, "none") ? TRACE_DAT_NONE :
		       !strcmp(packing, "zstd") ? TRACE_DAT_ZSTD :
		       !strcmp(packing, "zlib") ? TRACE_DAT_ZLIB :
						  TRACE_DAT_OTHER;
	return 0;
}

int trace_dat_open(struct trace_dat *dat, int fd, uint64_t file_bytes)
{
	struct cursor cursor = { .dat = dat, .end = file_bytes };

	*dat = (struct trace_dat){ .fd = fd, .file_bytes = file_bytes, .clock = strdup("") };
	if (!dat->clock)
		return fail_memory(dat);
	if (read_start(&cursor))
		return -1;
	return dat->version == 6 ? open_v6(&cursor) : open_v7(&cursor);
}

void trace_dat_close(struct trace_dat *dat)
{
	for (uint32_t i = 0; i < dat->nr_formats; i++) {
		free(dat->format[i].system);
		free(dat->format[i].text);
	}
	for (uint32_t i = 0; i < dat->nr_buffers; i++) {
		free(dat->buffer[i].name);
		free(dat->buffer[i].cpu);
	}
	for (uint32_t i = 0; i < dat->nr_stats; i++)
		free(dat->stats[i]);
	free(dat->format);
	free(dat->buffer);
	free(dat->stats);
	free(dat->header_page);
	free(dat->comms);
	free(dat->uname);
	free(dat->clock);
	close(dat->fd);
}

/* ---- pages */

int trace_dat_pages_open(struct trace_dat_pages *pages, struct trace_dat *dat,
			 const struct trace_dat_buffer *buffer, const struct trace_dat_cpu *cpu)
{
	struct cursor cursor = { .dat = dat, .at = cpu->offset, .end = cpu->offset + cpu->size };

	*pages = (struct trace_dat_pages){
		.dat = dat,
		.page_bytes = buffer->page_bytes,
		.packed = buffer->packed,
		.at = cursor.at,
		.end = cursor.end,
	};
	if (!cpu->size)
		return 0;
	if (!pages->packed) {
		pages->data = malloc(pages->page_bytes);
		return pages->data ? 0 : fail_memory(dat);
	}
	if (take_u32(&cursor, &pages->nr_chunks))
		return -1;
	/* The size is less than the chunks with their headers: their number says where they end. */
	pages->at = cursor.at;
	pages->end = dat->file_bytes;
	return 0;
}

static int next_chunk(struct trace_dat_pages *pages)
{
	struct trace_dat *dat = pages->dat;
	struct cursor cursor = { .dat = dat, .at = pages->at, .end = pages->end };
	uint32_t packed_size, raw_size;

	pages->nr_chunks--;
	if (take_u32(&cursor, &packed_size) || take_u32(&cursor, &raw_size))
		return -1;
	if (packed_size > cursor.end - cursor.at || raw_size > CHUNK_BYTES_MAX)
		return fail_cut(dat, pages->at);
	free(pages->raw);
	free(pages->data);
	pages->raw = malloc(packed_size + (size_t)1);
	pages->data = malloc(raw_size + (size_t)1);
	if (!pages->raw || !pages->data)
		return fail_memory(dat);
	if (take(&cursor, pages->raw, packed_size) ||
	    unpack(dat, pages->at, pages->raw, packed_size, pages->data, raw_size))
		return -1;
	pages->at = cursor.at;
	pages->data_at = 0;
	pages->data_end = raw_size;
	return 0;
}

int trace_dat_pages_next(struct trace_dat_pages *pages, const uint8_t **page, size_t *bytes)
{
	if (!pages->packed) {
		uint64_t left = pages->end - pages->at;

		if (!left)
			return 0;
		*bytes = left < pages->page_bytes ? (size_t)left : pages->page_bytes;
		if (read_at(pages->dat, pages->at, pages->data, *bytes))
			return -1;
		pages->at += *bytes;
		*page = pages->data;
		return 1;
	}
	while (pages->data_at == pages->data_end) {
		if (!pages->nr_chunks)
			return 0;
		if (next_chunk(pages))
			return -1;
	}
	/* A chunk holds whole pages. */
	*bytes = pages->data_end - pages->data_at;
	if (*bytes > pages->page_bytes)
		*bytes = pages->page_bytes;
	*page = pages->data + pages->data_at;
	pages->data_at += *bytes;
	return 1;
}

void trace_dat_pages_close(struct trace_dat_pages *pages)
{
	free(pages->raw);
	free(pages->data);
	pages->raw = pages->data = NULL;
}
