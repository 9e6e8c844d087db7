/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests: a tape made event by event, in a scratch file, and the reader over it.
 *
 *   struct made_tape tape;
 *   made_tape_begin(&tape, NULL);
 *   made_event(&tape, cpu, pid, MM_LRU_ACTIVATE, pfn);    values by slot, as events.def has them
 *   reader = made_tape_read(&tape);                       ends the writing
 *   made_tape_end(&tape);                                 closes the reader, removes the file
 */
#ifndef TESTS_UNIT_MADE_TAPE_H
#define TESTS_UNIT_MADE_TAPE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "schema/tape_reader.h"
#include "schema/tape_writer.h"

#define MADE_SLOTS 24
#define MADE_TEXT_BYTES 256

struct made_tape {
	char path[512];
	struct tape_writer *writer;
	struct tape_reader *reader;
	int type[EVENT_KIND_LIMIT]; /* -1: not declared */
	uint64_t now_ns; /* of the last event; the next is step_ns later */
	uint64_t step_ns;
};

static inline void made_tape_begin(struct made_tape *tape,
				   const struct tape_writer_options *options)
{
	const char *directory = getenv("TEST_TMP") ? getenv("TEST_TMP") : getenv("TMPDIR");
	struct tape_problem problem;
	int file;

	memset(tape, 0, sizeof(*tape));
	memset(tape->type, -1, sizeof(tape->type));
	tape->step_ns = 1000;
	snprintf(tape->path, sizeof(tape->path), "%s/made-XXXXXX", directory ? directory : "/tmp");
	file = mkstemp(tape->path);
	assert_true(file >= 0);
	close(file);
	if (tape_writer_create(tape->path, options, &tape->writer, &problem))
		fail_msg("%s", problem.text);
}

static inline bool made_is_text(const char *field)
{
	static const char *const text[] = { "comm",	"child_comm", "path", "rwbs",
					    "dst_path", "filename",   "name", "buf" };

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		if (!strcmp(field, text[i]))
			return true;
	return false;
}

/* @without: a field that this kernel's layout does not have, NULL: all are there. */
static inline void made_type(struct made_tape *tape, enum event_kind kind, const char *filter,
			     const char *without)
{
	const struct event_info *info = event_info_by_kind(kind);
	struct tape_field field[MADE_SLOTS];
	struct tape_type type = { .filter = filter, .format = "", .field = field };
	uint16_t number;

	assert_non_null(info);
	type.system = info->system;
	type.name = info->name;
	for (unsigned int i = 0; i < info->nr_fields; i++) {
		bool text = made_is_text(info->field[i].name);

		if (without && !strcmp(info->field[i].name, without))
			continue;
		field[type.nr_fields] = (struct tape_field){
			.name = info->field[i].name,
			.ctype = text ? "__data_loc char[]" : "u64",
			.offset = (uint16_t)(8 + 8 * type.nr_fields),
			.size = text ? 4 : 8,
			.kind = text ? TAPE_FIELD_STRING : TAPE_FIELD_INTEGER,
		};
		type.nr_fields++;
	}
	assert_int_equal(tape_writer_add_type(tape->writer, &type, &number), 0);
	tape->type[kind] = number;
}

/* All string fields get @text. */
static inline void made_event_values(struct made_tape *tape, uint32_t cpu, int32_t pid,
				     enum event_kind kind, const uint64_t *value, size_t nr,
				     const char *text)
{
	struct tape_stream *stream = tape_writer_stream(tape->writer, cpu);
	uint64_t slots[MADE_SLOTS] = { 0 };
	struct tape_event event = {
		.cpu = cpu, .pid = pid, .kind = (uint16_t)kind, .value = slots, .strings = text
	};
	const struct tape_type *type;

	assert_non_null(stream);
	if (tape->type[kind] < 0)
		made_type(tape, kind, "", NULL);
	type = tape_writer_type(tape->writer, (unsigned int)tape->type[kind]);
	assert_true(nr <= type->nr_slots);
	memcpy(slots, value, nr * sizeof(*slots));
	for (unsigned int i = 0; i < type->nr_fields; i++)
		if (type->field[i].kind == TAPE_FIELD_STRING)
			slots[type->field[i].slot] = strlen(text);
	tape->now_ns += tape->step_ns;
	event.timestamp_ns = tape->now_ns;
	event.type = type->number;
	assert_int_equal(tape_stream_event(stream, &event), 0);
}

#define made_event(tape, cpu, pid, KIND, ...)                                                      \
	made_event_values(tape, cpu, pid, EVENT_##KIND, (const uint64_t[]){ __VA_ARGS__ },         \
			  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), "")

#define made_event_text(tape, cpu, pid, KIND, text, ...)                                           \
	made_event_values(tape, cpu, pid, EVENT_##KIND, (const uint64_t[]){ __VA_ARGS__ },         \
			  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), text)

static inline void made_lost(struct made_tape *tape, uint32_t cpu, uint64_t count)
{
	struct tape_stream *stream = tape_writer_stream(tape->writer, cpu);

	assert_non_null(stream);
	assert_int_equal(tape_stream_lost(stream, count), 0);
}

static inline void made_blob(struct made_tape *tape, uint32_t moment, const char *name,
			     const char *text)
{
	struct tape_blob blob = {
		.moment = moment, .name = name, .data = text, .size = strlen(text)
	};

	assert_int_equal(tape_writer_add_blob(tape->writer, &blob), 0);
}

static inline struct tape_reader *made_tape_read(struct made_tape *tape)
{
	struct tape_problem problem;

	if (tape_writer_finish(tape->writer, &problem))
		fail_msg("%s", problem.text);
	tape->writer = NULL;
	if (tape_reader_open(tape->path, &tape->reader, &problem))
		fail_msg("%s", problem.text);
	return tape->reader;
}

static inline void made_tape_end(struct made_tape *tape)
{
	if (tape->writer)
		tape_writer_abandon(tape->writer);
	tape_reader_close(tape->reader);
	unlink(tape->path);
}

/* ---- a machine: the root, a group /g with tasks 10 and 11 in it, 20 outside, 30 is DAMON's */

#define GROUP_ID 100
#define GROUP_TASK 10
#define OTHER_TASK 20
#define KDAMOND_TASK 30
#define MADE_DEV 0xfe00000 /* 254:0 */
#define MADE_INO 7
#define MADE_PFN 0x1000

static inline void made_machine(struct made_tape *tape, uint64_t limit_pages)
{
	char text[128];

	made_blob(tape, TAPE_MOMENT_START, "lrutape/release", "6.18.44\n");
	made_blob(tape, TAPE_MOMENT_START, "lrutape/cgroups", "1 /\n100 /g\n");
	made_blob(tape, TAPE_MOMENT_START, "lrutape/tasks",
		  "10 10 100 reader\n11 10 100 reader\n20 20 1 bash\n30 30 1 kdamond.0\n");
	snprintf(text, sizeof(text), "100 /g %llu\n", (unsigned long long)limit_pages * 4096);
	made_blob(tape, TAPE_MOMENT_START, "lrutape/memcg", text);
}

/* A page of file MADE_INO enters the page cache in frame MADE_PFN + page. */
static inline void made_add(struct made_tape *tape, uint32_t cpu, int32_t pid, uint64_t page)
{
	made_event(tape, cpu, pid, MM_FILEMAP_ADD_TO_PAGE_CACHE, MADE_PFN + page, MADE_INO, page,
		   MADE_DEV, 0);
}

static inline void made_delete(struct made_tape *tape, uint32_t cpu, int32_t pid, uint64_t page)
{
	made_event(tape, cpu, pid, MM_FILEMAP_DELETE_FROM_PAGE_CACHE, MADE_PFN + page, MADE_INO,
		   page, MADE_DEV, 0);
}

static inline void made_read(struct made_tape *tape, uint32_t cpu, int32_t pid, uint64_t first,
			     uint64_t last)
{
	made_event(tape, cpu, pid, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV, first, last);
}

static inline void made_insertion(struct made_tape *tape, uint32_t cpu, int32_t pid, uint64_t page,
				  uint64_t lru)
{
	made_event(tape, cpu, pid, MM_LRU_INSERTION, MADE_PFN + page, lru, 4);
}

static inline void made_activation(struct made_tape *tape, uint32_t cpu, int32_t pid, uint64_t page)
{
	made_event(tape, cpu, pid, MM_LRU_ACTIVATE, MADE_PFN + page);
}

static inline void made_flush(struct made_tape *tape, uint64_t id)
{
	made_event(tape, 0, OTHER_TASK, MEMCG_FLUSH_STATS, id, 1000, 1, 1);
}

#endif
