// SPDX-License-Identifier: GPL-2.0-only
/* What goes into a tape comes out of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "schema/tape_format.h"
#include "tests/unit/schema/tape_text.h"

#define FIELD_OF(ctype_, name_, offset_, size_, signed_, kind_)                                    \
	{                                                                                          \
		.name = name_, .ctype = ctype_, .offset = offset_, .size = size_,                  \
		.is_signed = signed_, .kind = kind_                                                \
	}

static struct tape_writer *create(uint32_t frame_bytes)
{
	const struct tape_writer_options options = { .frame_bytes = frame_bytes };
	struct tape_problem problem;
	struct tape_writer *writer;

	assert_int_equal(tape_writer_create(scratch_path(), &options, &writer, &problem), 0);
	return writer;
}

static void finish(struct tape_writer *writer)
{
	struct tape_problem problem;

	if (tape_writer_finish(writer, &problem))
		fail_msg("%s", problem.text);
}

static struct tape_reader *reopen(void)
{
	struct tape_problem problem;
	struct tape_reader *reader;

	if (tape_reader_open(scratch_path(), &reader, &problem))
		fail_msg("%s", problem.text);
	return reader;
}

static const struct tape_event *next(struct tape_reader *reader)
{
	const struct tape_event *event;

	assert_int_equal(tape_reader_next(reader, &event), 1);
	return event;
}

static void assert_ends(struct tape_reader *reader)
{
	const struct tape_event *event;

	assert_int_equal(tape_reader_next(reader, &event), 0);
	tape_reader_close(reader);
	unlink(scratch_path());
}

static const struct tape_field activate_fields[] = {
	FIELD_OF("struct folio *", "folio", 8, 8, false, TAPE_FIELD_LEFT_OUT),
	FIELD_OF("unsigned long", "pfn", 16, 8, false, TAPE_FIELD_INTEGER),
};

static uint16_t add_activate(struct tape_writer *writer)
{
	const struct tape_type type = {
		.system = "pagemap",
		.name = "mm_lru_activate",
		.format = "name: x\n",
		.filter = "pfn > 1",
		.kernel_id = 300,
		.field = activate_fields,
		.nr_fields = 2,
	};
	uint16_t number;

	assert_int_equal(tape_writer_add_type(writer, &type, &number), 0);
	return number;
}

/* Return: as tape_stream_event(). */
static int put(struct tape_writer *writer, uint16_t type, uint32_t cpu, uint64_t time, uint64_t pfn)
{
	const struct tape_event event = {
		.timestamp_ns = time,
		.pid = 7,
		.type = type,
		.flags = 1,
		.preempt_count = 2,
		.value = &pfn,
		.strings = "",
	};

	return tape_stream_event(tape_writer_stream(writer, cpu), &event);
}

/* One field of each kind and width, at odd places, as a record of the kernel's ring buffer. */
static const struct tape_field all_fields[] = {
	FIELD_OF("unsigned char", "u8", 8, 1, false, TAPE_FIELD_INTEGER),
	FIELD_OF("signed char", "s8", 9, 1, true, TAPE_FIELD_INTEGER),
	FIELD_OF("u16", "u16", 10, 2, false, TAPE_FIELD_INTEGER),
	FIELD_OF("s16", "s16", 12, 2, true, TAPE_FIELD_INTEGER),
	FIELD_OF("u32", "u32", 16, 4, false, TAPE_FIELD_INTEGER),
	FIELD_OF("int", "s32", 20, 4, true, TAPE_FIELD_INTEGER),
	FIELD_OF("u64", "u64", 24, 8, false, TAPE_FIELD_INTEGER),
	FIELD_OF("long", "s64", 32, 8, true, TAPE_FIELD_INTEGER),
	FIELD_OF("void *", "pointer", 40, 8, false, TAPE_FIELD_LEFT_OUT),
	FIELD_OF("char[8]", "comm", 48, 8, false, TAPE_FIELD_STRING),
	FIELD_OF("u16[3]", "array", 56, 6, false, TAPE_FIELD_BYTES),
	FIELD_OF("__data_loc char[]", "name", 64, 4, false, TAPE_FIELD_STRING),
	FIELD_OF("__data_loc u8[]", "blob", 68, 4, false, TAPE_FIELD_BYTES),
	FIELD_OF("__rel_loc char[]", "relative", 72, 4, false, TAPE_FIELD_STRING),
};

#define NR_ALL_FIELDS (sizeof(all_fields) / sizeof(all_fields[0]))

static uint16_t add_all(struct tape_writer *writer)
{
	const struct tape_type type = {
		.system = "made_up",
		.name = "all",
		.format = "",
		.filter = "",
		.field = all_fields,
		.nr_fields = NR_ALL_FIELDS,
	};
	uint16_t number;

	assert_int_equal(tape_writer_add_type(writer, &type, &number), 0);
	return number;
}

static void every_kind_of_field_comes_back(void **state)
{
	struct tape_writer *writer = create(0);
	uint16_t number = add_all(writer);
	uint8_t record[128] = { 0, 0, 0x10, 3, 0xff, 0xff, 0xff, 0xff };
	const int32_t pid = -2;
	const struct tape_event *event;
	struct tape_reader *reader;
	uint32_t where;
	size_t size;

	(void)state;
	memcpy(record + 4, &pid, 4);
	memset(record + 8, 0xfe, 40); /* all integers */
	memcpy(record + 48, "eight!!!", 8); /* no NUL in the array */
	memcpy(record + 56, "\1\0\2\0\3\0", 6);
	where = 100 | 5 << 16;
	memcpy(record + 64, &where, 4);
	where = 105 | 3 << 16;
	memcpy(record + 68, &where, 4);
	where = (110 - 76) | 4 << 16;
	memcpy(record + 72, &where, 4);
	memcpy(record + 100, "four\0\0\1\2", 8);
	memcpy(record + 110, "rel", 4);
	assert_int_equal(tape_stream_record(tape_writer_stream(writer, 3), number, 5, record,
					    sizeof(record)),
			 0);
	finish(writer);

	reader = reopen();
	event = next(reader);
	assert_int_equal(event->timestamp_ns, 5);
	assert_int_equal(event->cpu, 3);
	assert_int_equal(event->pid, -2);
	assert_int_equal(event->kind, EVENT_OTHER);
	assert_int_equal(event->flags, 0x10);
	assert_int_equal(event->preempt_count, 3);
	assert_int_equal(event->value[0], 0xfe);
	assert_int_equal((int64_t)event->value[1], -2);
	assert_int_equal(event->value[2], 0xfefe);
	assert_int_equal((int64_t)event->value[3], (int16_t)0xfefe);
	assert_int_equal(event->value[4], 0xfefefefe);
	assert_int_equal((int64_t)event->value[5], (int32_t)0xfefefefe);
	assert_true(event->value[6] == 0xfefefefefefefefeull);
	assert_true(event->value[7] == 0xfefefefefefefefeull);
	assert_int_equal(tape_reader_type(reader, 0)->nr_slots, NR_ALL_FIELDS - 1);
	assert_string_equal(tape_event_string(event, 8, &size), "eight!!!");
	assert_int_equal(size, 8);
	assert_memory_equal(tape_event_string(event, 9, &size), "\1\0\2\0\3\0", 7);
	assert_int_equal(size, 6);
	assert_string_equal(tape_event_string(event, 10, &size), "four");
	assert_int_equal(size, 4);
	assert_memory_equal(tape_event_string(event, 11, &size), "\0\1\2", 4);
	assert_int_equal(size, 3);
	assert_string_equal(tape_event_string(event, 12, &size), "rel");
	assert_int_equal(size, 3);
	assert_ends(reader);
}

static void a_type_comes_back_with_its_slots(void **state)
{
	static const struct tape_field fields[] = {
		FIELD_OF("unsigned long", "flags", 32, 8, false, TAPE_FIELD_INTEGER),
		FIELD_OF("int", "brand_new", 28, 4, true, TAPE_FIELD_INTEGER),
		FIELD_OF("unsigned long", "pfn", 16, 8, false, TAPE_FIELD_INTEGER),
	};
	const struct tape_type given = {
		.system = "pagemap",
		.name = "mm_lru_insertion",
		.format = "name: x\nID: 5\n",
		.filter = "lru == 2",
		.kernel_id = 5,
		.field = fields,
		.nr_fields = 3,
	};
	struct tape_writer *writer = create(0);
	const uint64_t value[] = { 11, TAPE_VALUE_ABSENT, 33, (uint64_t)-4 };
	struct tape_event event = { .timestamp_ns = 1, .value = value, .strings = "" };
	const struct tape_type *type;
	struct tape_reader *reader;
	uint16_t number;

	(void)state;
	assert_int_equal(tape_writer_add_type(writer, &given, &number), 0);
	assert_int_equal(tape_writer_type(writer, number)->field[1].slot, 3);
	assert_null(tape_writer_type(writer, number + 1u));
	event.type = number;
	assert_int_equal(tape_stream_event(tape_writer_stream(writer, 0), &event), 0);
	finish(writer);

	reader = reopen();
	type = tape_reader_type(reader, 0);
	assert_null(tape_reader_type(reader, 1));
	assert_int_equal(type->kind, EVENT_MM_LRU_INSERTION);
	assert_int_equal(type->kernel_id, 5);
	assert_string_equal(type->format, given.format);
	assert_string_equal(type->filter, given.filter);
	assert_int_equal(type->nr_slots, 4);
	assert_true(type->present == (1 << MM_LRU_INSERTION_PFN | 1 << MM_LRU_INSERTION_FLAGS));
	assert_string_equal(type->field[1].ctype, "int");
	assert_int_equal(tape_reader_type_events(reader, 0), 1);
	assert_int_equal(tape_reader_kind_events(reader, EVENT_MM_LRU_INSERTION), 1);
	assert_int_equal(tape_reader_kind_events(reader, EVENT_MM_LRU_ACTIVATE), 0);
	assert_int_equal(next(reader)->value[MM_LRU_INSERTION_PFN], 11);
	assert_int_equal(tape_reader_rewind(reader), 0);
	assert_true(next(reader)->value[MM_LRU_INSERTION_LRU] == TAPE_VALUE_ABSENT);
	assert_int_equal(tape_reader_rewind(reader), 0);
	assert_int_equal((int64_t)next(reader)->value[3], -4);
	assert_ends(reader);
}

static void cpus_are_merged_by_time_and_then_by_number(void **state)
{
	/*
	 *  CPU 0   10      20      30
	 *  CPU 2   10  15          30  40
	 *  CPU 9    5  15
	 */
	static const struct {
		uint32_t cpu;
		uint64_t time;
	} in[] = {
		{ 2, 10 }, { 2, 15 }, { 2, 30 }, { 9, 5 }, { 9, 15 }, { 2, 40 }, { 0, 10 }, { 0, 20 }, { 0, 30 },
	}, out[] = {
		{ 9, 5 }, { 0, 10 }, { 2, 10 }, { 2, 15 }, { 9, 15 }, { 0, 20 }, { 0, 30 }, { 2, 30 }, { 2, 40 },
	};
	struct tape_writer *writer = create(0);
	uint16_t number = add_activate(writer);
	struct tape_reader *reader;

	(void)state;
	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		assert_int_equal(put(writer, number, in[i].cpu, in[i].time, i), 0);
	finish(writer);
	reader = reopen();
	assert_int_equal(tape_reader_summary(reader)->nr_cpus, 10);
	assert_int_equal(tape_reader_summary(reader)->first_ns, 5);
	assert_int_equal(tape_reader_summary(reader)->last_ns, 40);
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++) {
		const struct tape_event *event = next(reader);

		assert_int_equal(event->cpu, out[i].cpu);
		assert_int_equal(event->timestamp_ns, out[i].time);
	}
	assert_ends(reader);
}

static void assert_lost(const struct tape_event *event, uint64_t time, uint64_t count,
			uint64_t since)
{
	assert_int_equal(event->kind, EVENT_LOST);
	assert_int_equal(event->timestamp_ns, time);
	assert_true(event->value[EVENT_LOST_COUNT] == count);
	assert_int_equal(event->value[EVENT_LOST_SINCE_NS], since);
}

static void losses_stand_before_the_event_after_them(void **state)
{
	struct tape_writer *writer = create(0);
	uint16_t number = add_activate(writer);
	struct tape_stream *stream = tape_writer_stream(writer, 0);
	struct tape_reader *reader;

	(void)state;
	assert_int_equal(tape_stream_lost(stream, 5), 0);
	assert_int_equal(put(writer, number, 0, 100, 1), 0);
	assert_int_equal(tape_stream_lost(stream, 2), 0);
	assert_int_equal(tape_stream_lost(stream, EVENT_LOST_UNKNOWN), 0);
	assert_int_equal(tape_stream_flush(stream), 0);
	assert_int_equal(tape_stream_lost(stream, 3), 0);
	assert_int_equal(put(writer, number, 0, 200, 2), 0);
	assert_int_equal(tape_stream_lost(stream, 9), 0);
	finish(writer);

	reader = reopen();
	assert_int_equal(tape_reader_summary(reader)->nr_lost, 5 + 2 + 3 + 9);
	assert_int_equal(tape_reader_summary(reader)->nr_losses_unknown, 1);
	assert_int_equal(tape_reader_summary(reader)->nr_events, 2);
	assert_lost(next(reader), 100, 5, 0);
	assert_int_equal(next(reader)->timestamp_ns, 100);
	assert_lost(next(reader), 200, 5, 100); /* 2 and 3, with no event between them */
	assert_lost(next(reader), 200, EVENT_LOST_UNKNOWN, 100);
	assert_int_equal(next(reader)->timestamp_ns, 200);
	assert_lost(next(reader), 200, 9, 200);
	assert_ends(reader);
}

static void a_cpu_that_lost_everything_says_so(void **state)
{
	struct tape_writer *writer = create(0);
	uint16_t number = add_activate(writer);
	struct tape_reader *reader;

	(void)state;
	assert_int_equal(put(writer, number, 0, 100, 1), 0);
	assert_int_equal(tape_stream_lost(tape_writer_stream(writer, 1), 77), 0);
	finish(writer);
	reader = reopen();
	assert_int_equal(next(reader)->kind, EVENT_MM_LRU_ACTIVATE);
	assert_lost(next(reader), 100, 77, 0);
	assert_int_equal(tape_reader_summary(reader)->nr_lost, 77);
	assert_ends(reader);
}

static void blobs_come_back_by_moment_and_name(void **state)
{
	struct tape_writer *writer = create(0);
	char *big = calloc(1, 700000);
	struct tape_blob blob = { .timestamp_ns = 4, .name = "/proc/a", .data = "x\0y", .size = 3 };
	struct tape_reader *reader;

	(void)state;
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	blob = (struct tape_blob){
		.name = "/proc/a", .moment = TAPE_MOMENT_END, .data = big, .size = 700000
	};
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	blob = (struct tape_blob){ .name = "lrutape/per_cpu/1/stats",
				   .moment = TAPE_MOMENT_START,
				   .data = "entries: 4\noverrun: 20\n",
				   .size = 23 };
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	blob.moment = TAPE_MOMENT_END;
	blob.data = "entries: 4\noverrun: 63\n";
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	blob = (struct tape_blob){ .name = "", .data = "", .size = 0 };
	assert_int_equal(tape_writer_add_blob(writer, &blob), TAPE_ERR_CORRUPT);
	finish(writer);

	reader = reopen();
	assert_int_equal(tape_reader_find_blob(reader, TAPE_MOMENT_START, "/proc/a")->size, 3);
	assert_memory_equal(tape_reader_blob(reader, 0)->data, "x\0y\0", 4);
	assert_int_equal(tape_reader_find_blob(reader, TAPE_MOMENT_END, "/proc/a")->size, 700000);
	assert_null(tape_reader_find_blob(reader, 1, "/proc/a"));
	assert_null(tape_reader_blob(reader, 4));
	assert_int_equal(tape_reader_summary(reader)->nr_overrun, 43);
	free(big);
	assert_ends(reader);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

/* The events whose columns refer to each other, with values that make all references work. */
static const struct tape_field add_fields[] = {
	FIELD_OF("unsigned long", "pfn", 8, 8, false, TAPE_FIELD_INTEGER),
	FIELD_OF("unsigned long", "i_ino", 16, 8, false, TAPE_FIELD_INTEGER),
	FIELD_OF("unsigned long", "index", 24, 8, false, TAPE_FIELD_INTEGER),
	FIELD_OF("dev_t", "s_dev", 32, 4, false, TAPE_FIELD_INTEGER),
	FIELD_OF("unsigned char", "order", 36, 1, false, TAPE_FIELD_INTEGER),
};

static const struct tape_field get_pages_fields[] = {
	FIELD_OF("unsigned long", "i_ino", 8, 8, false, TAPE_FIELD_INTEGER),
	FIELD_OF("dev_t", "s_dev", 16, 4, false, TAPE_FIELD_INTEGER),
	FIELD_OF("unsigned long", "index", 24, 8, false, TAPE_FIELD_INTEGER),
	FIELD_OF("unsigned long", "last_index", 32, 8, false, TAPE_FIELD_INTEGER),
};

static const struct tape_field fork_fields[] = {
	FIELD_OF("__data_loc char[]", "parent_comm", 8, 4, false, TAPE_FIELD_STRING),
	FIELD_OF("pid_t", "parent_pid", 12, 4, true, TAPE_FIELD_INTEGER),
	FIELD_OF("__data_loc char[]", "child_comm", 16, 4, false, TAPE_FIELD_STRING),
	FIELD_OF("pid_t", "child_pid", 20, 4, true, TAPE_FIELD_INTEGER),
};

static const struct tape_type mixed_types[] = {
	{ .system = "filemap",
	  .name = "mm_filemap_add_to_page_cache",
	  .format = "",
	  .filter = "",
	  .field = add_fields,
	  .nr_fields = 5 },
	{ .system = "filemap",
	  .name = "mm_filemap_delete_from_page_cache",
	  .format = "",
	  .filter = "",
	  .field = add_fields,
	  .nr_fields = 5 },
	{ .system = "filemap",
	  .name = "mm_filemap_get_pages",
	  .format = "",
	  .filter = "",
	  .field = get_pages_fields,
	  .nr_fields = 4 },
	{ .system = "pagemap",
	  .name = "mm_lru_activate",
	  .format = "",
	  .filter = "",
	  .field = activate_fields,
	  .nr_fields = 2 },
	{ .system = "sched",
	  .name = "sched_process_fork",
	  .format = "",
	  .filter = "",
	  .field = fork_fields,
	  .nr_fields = 4 },
	{ .system = "made_up",
	  .name = "all",
	  .format = "",
	  .filter = "",
	  .field = all_fields,
	  .nr_fields = NR_ALL_FIELDS },
};

static void put_record(struct tape_writer *writer, uint32_t cpu, uint16_t type, uint64_t *now,
		       const uint8_t *record, size_t size)
{
	*now += random_below(4) ? random_below(300) : random_below(1u << (random_below(30) + 1));
	assert_int_equal(
		tape_stream_record(tape_writer_stream(writer, cpu), type, *now, record, size), 0);
}

static uint64_t added[64];

static void put_mixed_event(struct tape_writer *writer, uint64_t *now, unsigned int i)
{
	uint32_t cpu = (uint32_t)random_below(3), s_dev = 0xfe00000;
	uint64_t page[3] = { 0x100000 + i / 4 % 512, 4711 + random_below(20) / 19,
			     random_below(1 << 17) };
	uint8_t record[200] = { 0, 0, (uint8_t)(random_below(50) ? 0 : 16),
				(uint8_t)random_below(3) };
	const int32_t pid = (int32_t)(100 + random_below(40) / 38);
	uint64_t index;
	uint32_t where;

	memcpy(record + 4, &pid, 4);
	switch (random_below(40)) {
	case 0:
		where = 24 | (uint32_t)(random_below(5) + 1) << 16;
		memcpy(record + 8, &where, 4);
		memcpy(record + 16, &where, 4);
		memcpy(record + 24, "abcde", 6);
		record[24] = (uint8_t)('a' + random_below(26));
		put_record(writer, cpu, 4, &now[cpu], record, 40);
		return;
	case 1:
		for (unsigned int j = 8; j < 200; j++)
			record[j] = (uint8_t)random_below(3);
		where = 100 | 9 << 16;
		memcpy(record + 64, &where, 4);
		memcpy(record + 68, &where, 4);
		memcpy(record + 72, &where, 4);
		put_record(writer, cpu, 5, &now[cpu], record, sizeof(record));
		return;
	case 2:
		assert_int_equal(tape_stream_lost(tape_writer_stream(writer, cpu),
						  random_below(3) ? random_below(1000) :
								    EVENT_LOST_UNKNOWN),
				 0);
		return;
	case 3:
		memcpy(record + 16, page, 8);
		put_record(writer, cpu, 3, &now[cpu], record, 24);
		return;
	case 4 ... 12: /* a hit, of a page that was added lately or long ago */
		if (random_below(2))
			page[2] = added[random_below(sizeof(added) / sizeof(added[0]))];
		memcpy(record + 8, &page[1], 8);
		memcpy(record + 16, &s_dev, 4);
		memcpy(record + 24, &page[2], 8);
		memcpy(record + 32, &page[2], 8);
		put_record(writer, cpu, 2, &now[cpu], record, 40);
		return;
	}
	/* A miss: added, read; and the page of 200 adds ago goes. */
	memcpy(record + 8, page, 24);
	memcpy(record + 32, &s_dev, 4);
	put_record(writer, cpu, 0, &now[cpu], record, 40);
	index = page[2];
	added[i % (sizeof(added) / sizeof(added[0]))] = index;
	page[0] = 0x100000 + (i / 4 + 312) % 512;
	page[2] = page[0] * 7919 % (1 << 17);
	memcpy(record + 8, page, 24);
	put_record(writer, cpu, 1, &now[cpu], record, 40);
	memcpy(record + 8, &page[1], 8);
	memcpy(record + 16, &s_dev, 4);
	memcpy(record + 24, &index, 8);
	memcpy(record + 32, &index, 8);
	put_record(writer, cpu, 2, &now[cpu], record, 40);
}

static char *write_mixed(uint64_t seed, uint32_t frame_bytes, unsigned int nr)
{
	struct tape_writer *writer = create(frame_bytes);
	uint64_t now[3] = { 1000, 2000, 3000 };
	uint16_t number;
	int status;
	bool whole;
	char *text;

	random_state = seed;
	memset(added, 0, sizeof(added));
	for (size_t i = 0; i < sizeof(mixed_types) / sizeof(mixed_types[0]); i++)
		assert_int_equal(tape_writer_add_type(writer, &mixed_types[i], &number), 0);
	for (unsigned int i = 0; i < nr; i++)
		put_mixed_event(writer, now, i);
	finish(writer);
	text = tape_text(scratch_path(), &status, &whole);
	assert_int_equal(status, 0);
	assert_true(whole);
	return text;
}

static void the_same_events_in_other_frames_read_the_same(void **state)
{
	static const uint32_t frame_bytes[] = { 1, 100, 3000, 20000, 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		char *expected = write_mixed(seed, 1u << 20, 4000), *text;

		for (size_t i = 0; i < sizeof(frame_bytes) / sizeof(frame_bytes[0]); i++) {
			text = write_mixed(seed, frame_bytes[i], 4000);
			if (strcmp(text, expected) != 0)
				fail_msg("seed %" PRIu64 ", frames of %u bytes", seed,
					 frame_bytes[i]);
			free(text);
		}
		free(expected);
	}
	unlink(scratch_path());
}

/* The same events by tape_stream_event(), taken from a tape that tape_stream_record() made. */
static void values_and_records_make_the_same_tape(void **state)
{
	char *expected = write_mixed(9, 0, 4000), *text, *path = strdup(scratch_path());
	struct tape_reader *reader = reopen();
	const struct tape_event *event;
	struct tape_problem problem;
	struct tape_writer *writer;
	uint16_t number;
	int got, status;
	bool whole;

	(void)state;
	path[strlen(path) - 1] = 'u';
	assert_int_equal(tape_writer_create(path, NULL, &writer, &problem), 0);
	for (unsigned int i = 0; tape_reader_type(reader, i); i++)
		assert_int_equal(tape_writer_add_type(writer, tape_reader_type(reader, i), &number),
				 0);
	while ((got = tape_reader_next(reader, &event)) > 0) {
		struct tape_stream *stream = tape_writer_stream(writer, event->cpu);

		if (event->kind == EVENT_LOST)
			assert_int_equal(tape_stream_lost(stream, event->value[EVENT_LOST_COUNT]),
					 0);
		else
			assert_int_equal(tape_stream_event(stream, event), 0);
	}
	assert_int_equal(got, 0);
	tape_reader_close(reader);
	finish(writer);
	text = tape_text(path, &status, &whole);
	assert_string_equal(text, expected);
	free(text);
	free(expected);
	unlink(path);
	free(path);
	unlink(scratch_path());
}

/* Not only the plain ones: or the tests above would prove little. */
static void all_predictors_and_encodings_get_used(void **state)
{
	bool predictor[16] = { false }, encoding[8] = { false };
	char *text = write_mixed(3, 20000, 40000), *file;
	size_t size;

	(void)state;
	free(text);
	file = read_file(scratch_path(), &size);
	for (size_t at = sizeof(struct tape_file_header);
	     at + sizeof(struct tape_frame_header) < size;) {
		struct tape_frame_header header;
		struct tape_columns_header columns;
		struct tape_column column;

		memcpy(&header, file + at, sizeof(header));
		if (header.kind == TAPE_FRAME_EVENTS) {
			memcpy(&columns, file + at + header.header_bytes, sizeof(columns));
			for (uint32_t i = 0; i < columns.nr_columns; i++) {
				memcpy(&column,
				       file + at + header.header_bytes + sizeof(columns) +
					       i * sizeof(column),
				       sizeof(column));
				predictor[column.predictor] = true;
				encoding[column.encoding] = true;
			}
		}
		at += (size_t)header.header_bytes + header.payload_bytes;
	}
	free(file);
	for (unsigned int i = TAPE_PREDICT_BASE; i <= TAPE_PREDICT_STRING; i++)
		if (!predictor[i])
			fail_msg("predictor %u is never used", i);
	for (unsigned int i = TAPE_ENCODING_NONE; i <= TAPE_ENCODING_STRINGS; i++)
		if (!encoding[i])
			fail_msg("encoding %u is never used", i);
	unlink(scratch_path());
}

static void an_empty_recording_is_a_tape(void **state)
{
	struct tape_writer *writer = create(0);
	struct tape_reader *reader;

	(void)state;
	finish(writer);
	reader = reopen();
	assert_int_equal(tape_reader_summary(reader)->nr_events, 0);
	assert_int_equal(tape_reader_summary(reader)->nr_cpus, 0);
	assert_true(tape_reader_summary(reader)->has_index);
	assert_int_equal(tape_reader_check(reader), 0);
	assert_ends(reader);
}

static void an_event_of_the_past_is_refused_and_the_rest_is_kept(void **state)
{
	struct tape_writer *writer = create(0);
	uint16_t number = add_activate(writer);
	struct tape_problem problem;
	struct tape_reader *reader;

	(void)state;
	assert_int_equal(put(writer, number, 0, 100, 1), 0);
	assert_int_equal(put(writer, number, 0, 99, 2), TAPE_ERR_CORRUPT);
	assert_int_equal(put(writer, number, 0, 101, 3), TAPE_ERR_CORRUPT);
	assert_int_equal(put(writer, number, 1, 50, 4), 0);
	assert_int_equal(tape_writer_problem(writer)->code, TAPE_ERR_CORRUPT);
	assert_int_equal(tape_writer_finish(writer, &problem), TAPE_ERR_CORRUPT);
	assert_non_null(strstr(problem.text, "older"));
	reader = reopen();
	assert_int_equal(next(reader)->timestamp_ns, 50);
	assert_int_equal(next(reader)->timestamp_ns, 100);
	assert_ends(reader);
}

static void records_that_contradict_their_type_are_refused(void **state)
{
	const uint8_t record[80] = { 0 };
	struct tape_writer *writer = create(0);
	uint16_t activate = add_activate(writer);
	uint16_t all = add_all(writer);
	uint8_t outside[80] = { 0 };

	(void)state;
	assert_int_equal(tape_stream_record(tape_writer_stream(writer, 0), activate, 1, record, 24),
			 0);
	assert_int_equal(tape_stream_record(tape_writer_stream(writer, 0), activate, 1, record, 23),
			 TAPE_ERR_CORRUPT);
	assert_int_equal(tape_stream_record(tape_writer_stream(writer, 1), 2, 1, record, 80),
			 TAPE_ERR_CORRUPT);
	outside[66] = 81; /* a text longer than the record */
	assert_int_equal(tape_stream_record(tape_writer_stream(writer, 2), all, 1, outside, 80),
			 TAPE_ERR_CORRUPT);
	tape_writer_abandon(writer);
	unlink(scratch_path());
}

static void types_beyond_the_limits_are_refused(void **state)
{
	struct tape_field field = FIELD_OF("u24", "odd", 8, 3, false, TAPE_FIELD_INTEGER);
	struct tape_type type = { .system = "a",
				  .name = "b",
				  .format = "",
				  .filter = "",
				  .field = &field,
				  .nr_fields = 1 };
	struct tape_writer *writer = create(0);
	uint16_t number;

	(void)state;
	assert_int_equal(tape_writer_add_type(writer, &type, &number), TAPE_ERR_CORRUPT);
	field.size = 4;
	type.nr_fields = TAPE_FIELDS_MAX + 1;
	assert_int_equal(tape_writer_add_type(writer, &type, &number), TAPE_ERR_CORRUPT);
	type.nr_fields = 1;
	type.name = "";
	assert_int_equal(tape_writer_add_type(writer, &type, &number), TAPE_ERR_CORRUPT);
	type.name = "b";
	for (unsigned int i = 0; i < TAPE_TYPES_MAX; i++)
		assert_int_equal(tape_writer_add_type(writer, &type, &number), 0);
	assert_int_equal(tape_writer_add_type(writer, &type, &number), TAPE_ERR_CORRUPT);
	assert_null(tape_writer_stream(writer, TAPE_CPUS_MAX));
	tape_writer_abandon(writer);
	unlink(scratch_path());
}

static void more_types_than_a_frame_holds_make_more_frames(void **state)
{
	struct tape_field field = FIELD_OF("int", "x", 8, 4, true, TAPE_FIELD_INTEGER);
	struct tape_type type = { .system = "a",
				  .name = "b",
				  .format = "",
				  .filter = "",
				  .field = &field,
				  .nr_fields = 1 };
	struct tape_writer *writer = create(0);
	struct tape_reader *reader;
	uint16_t number = 0;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		assert_int_equal(tape_writer_add_type(writer, &type, &number), 0);
		assert_int_equal(put(writer, number, 0, i, i), 0);
	}
	finish(writer);
	reader = reopen();
	for (unsigned int i = 0; i < 1000; i++) {
		const struct tape_event *event = next(reader);

		assert_int_equal(event->type, i);
		assert_int_equal(event->value[0], i);
	}
	assert_ends(reader);
}

static void a_full_disk_is_told_at_once(void **state)
{
	const struct tape_blob blob = { .name = "lrutape/release", .data = "6.18", .size = 4 };
	struct tape_problem problem;
	struct tape_writer *writer;

	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	assert_int_equal(tape_writer_create("/dev/full", NULL, &writer, &problem), 0);
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	assert_int_equal(tape_writer_flush(writer), TAPE_ERR_IO);
	assert_int_equal(tape_writer_finish(writer, &problem), TAPE_ERR_IO);
	assert_non_null(strstr(problem.text, "/dev/full"));
	assert_non_null(strstr(problem.text, "space"));
	assert_int_equal(tape_writer_create("/nonexistent/a.lrt", NULL, &writer, &problem),
			 TAPE_ERR_OPEN);
}

static void a_flushed_tape_opens_before_it_has_events(void **state)
{
	const struct tape_blob blob = { .name = "lrutape/release", .data = "6.18", .size = 4 };
	struct tape_problem problem;
	struct tape_writer *writer;
	struct tape_reader *reader;

	(void)state;
	assert_int_equal(tape_writer_create(scratch_path(), NULL, &writer, &problem), 0);
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	assert_int_equal(tape_writer_flush(writer), 0);
	assert_int_equal(tape_reader_open(scratch_path(), &reader, &problem), 0);
	assert_non_null(tape_reader_find_blob(reader, TAPE_MOMENT_START, "lrutape/release"));
	assert_int_equal(tape_writer_sync(writer), 0);
	tape_reader_close(reader);
	tape_writer_abandon(writer);
}

/* A file size limit is the disk that gets full at any byte. */
static void what_was_written_before_the_disk_was_full_is_a_tape(void **state)
{
	struct rlimit before, limit;
	char *whole_text = write_mixed(5, 3000, 3000);
	size_t file_bytes;

	(void)state;
	free(read_file(scratch_path(), &file_bytes));
	assert_true(file_bytes > 40000);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (rlim_t bytes = 2000; bytes < file_bytes; bytes += 3701) {
		uint64_t now[3] = { 1000, 2000, 3000 };
		struct tape_problem problem;
		struct tape_writer *writer;
		uint16_t number;
		int status = 0;
		bool whole;
		char *text;

		limit = before;
		limit.rlim_cur = bytes;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		writer = create(3000);
		random_state = 5;
		for (size_t i = 0; i < sizeof(mixed_types) / sizeof(mixed_types[0]); i++)
			assert_int_equal(tape_writer_add_type(writer, &mixed_types[i], &number), 0);
		for (unsigned int i = 0; i < 3000 && !status; i++) {
			const uint64_t value[] = { i };
			const struct tape_event event = {
				.timestamp_ns = now[0]++, .type = 3, .value = value, .strings = ""
			};

			status = tape_stream_event(tape_writer_stream(writer, 0), &event);
			if (!status && i % 50 == 0)
				status = tape_stream_flush(tape_writer_stream(writer, 0));
		}
		status = tape_writer_finish(writer, &problem);
		setrlimit(RLIMIT_FSIZE, &before);
		if (status) {
			assert_int_equal(status, TAPE_ERR_IO);
			assert_non_null(strstr(problem.text, "too large"));
		}
		text = tape_text(scratch_path(), &status, &whole);
		assert_int_equal(status, 0);
		free(text);
	}
	free(whole_text);
	unlink(scratch_path());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_field_comes_back),
		cmocka_unit_test(a_type_comes_back_with_its_slots),
		cmocka_unit_test(cpus_are_merged_by_time_and_then_by_number),
		cmocka_unit_test(losses_stand_before_the_event_after_them),
		cmocka_unit_test(a_cpu_that_lost_everything_says_so),
		cmocka_unit_test(blobs_come_back_by_moment_and_name),
		cmocka_unit_test(the_same_events_in_other_frames_read_the_same),
		cmocka_unit_test(values_and_records_make_the_same_tape),
		cmocka_unit_test(all_predictors_and_encodings_get_used),
		cmocka_unit_test(an_empty_recording_is_a_tape),
		cmocka_unit_test(an_event_of_the_past_is_refused_and_the_rest_is_kept),
		cmocka_unit_test(records_that_contradict_their_type_are_refused),
		cmocka_unit_test(types_beyond_the_limits_are_refused),
		cmocka_unit_test(more_types_than_a_frame_holds_make_more_frames),
		cmocka_unit_test(a_full_disk_is_told_at_once),
		cmocka_unit_test(a_flushed_tape_opens_before_it_has_events),
		cmocka_unit_test(what_was_written_before_the_disk_was_full_is_a_tape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
