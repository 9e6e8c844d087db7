// SPDX-License-Identifier: GPL-2.0-only
/* Torn, flipped, newer and strange tapes: never a crash, never other events without a word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <zlib.h>

#include "schema/tape_format.h"
#include "schema/tape_types.h"
#include "tests/unit/schema/tape_text.h"

static const struct tape_field insertion_fields[] = {
	{ .name = "pfn", .ctype = "unsigned long", .offset = 16, .size = 8 },
	{ .name = "lru", .ctype = "enum lru_list", .offset = 24, .size = 4 },
};

static const struct tape_field exec_fields[] = {
	{ .name = "filename",
	  .ctype = "__data_loc char[]",
	  .offset = 8,
	  .size = 4,
	  .kind = TAPE_FIELD_STRING },
	{ .name = "pid", .ctype = "pid_t", .offset = 12, .size = 4, .is_signed = true },
};

static const struct tape_type types[] = {
	{ .system = "pagemap",
	  .name = "mm_lru_insertion",
	  .format = "",
	  .filter = "",
	  .field = insertion_fields,
	  .nr_fields = 2 },
	{ .system = "sched",
	  .name = "sched_process_exec",
	  .format = "",
	  .filter = "",
	  .field = exec_fields,
	  .nr_fields = 2 },
};

static struct tape_writer *create(void)
{
	struct tape_problem problem;
	struct tape_writer *writer;
	uint16_t number;

	assert_int_equal(tape_writer_create(scratch_path(), NULL, &writer, &problem), 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(tape_writer_add_type(writer, &types[i], &number), 0);
	return writer;
}

static void put(struct tape_writer *writer, uint64_t i)
{
	const uint64_t insertion[] = { 0x1000 + i * i % 37, 2, TAPE_VALUE_ABSENT };
	uint64_t exec[] = { 40 + i, TAPE_VALUE_ABSENT, 4 | (i % 3) << 32 };
	const struct tape_event event = {
		.timestamp_ns = 1000 + 100 * i,
		.pid = (int32_t)(i % 2),
		.type = i % 5 == 4,
		.value = i % 5 == 4 ? exec : insertion,
		.strings = "/a/b/c/d",
	};

	assert_int_equal(tape_stream_event(tape_writer_stream(writer, i % 2), &event), 0);
	if (i == 13)
		assert_int_equal(tape_stream_lost(tape_writer_stream(writer, 0), 3), 0);
}

/*
 * Three rounds of frames of two CPUs, two blobs.
 * Return: the tape's bytes; owned by the caller.
 */
static char *make_tape(size_t *size)
{
	const struct tape_blob start = {
		.timestamp_ns = 1, .name = "/proc/a", .data = "b", .size = 1
	};
	const struct tape_blob end = { .timestamp_ns = 9,
				       .moment = TAPE_MOMENT_END,
				       .name = "/proc/a",
				       .data = "c",
				       .size = 1 };
	struct tape_writer *writer = create();
	struct tape_problem problem;

	assert_int_equal(tape_writer_add_blob(writer, &start), 0);
	for (uint64_t i = 0; i < 60; i++) {
		put(writer, i);
		if (i % 20 == 19) {
			assert_int_equal(tape_stream_flush(tape_writer_stream(writer, 0)), 0);
			assert_int_equal(tape_stream_flush(tape_writer_stream(writer, 1)), 0);
		}
	}
	assert_int_equal(tape_writer_add_blob(writer, &end), 0);
	assert_int_equal(tape_writer_finish(writer, &problem), 0);
	return read_file(scratch_path(), size);
}

static char *whole_text(const char *tape, size_t size)
{
	int status;
	bool whole;
	char *text;

	write_file(scratch_path(), tape, size);
	text = tape_text(scratch_path(), &status, &whole);
	assert_int_equal(status, 0);
	assert_true(whole);
	return text;
}

/* Lines of @part that are events must be the first ones of @all, CPU by CPU. */
static void assert_beginning(const char *part, const char *all)
{
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		char word[16];
		const char *in_all = all;

		snprintf(word, sizeof(word), " cpu %u ", cpu);
		for (const char *line = part; *line; line = strchr(line, '\n') + 1) {
			size_t length = (size_t)(strchr(line, '\n') - line);

			if (!memmem(line, length, word, strlen(word)))
				continue;
			while (*in_all &&
			       !memmem(in_all, strcspn(in_all, "\n"), word, strlen(word)))
				in_all = strchr(in_all, '\n') + 1;
			if (strncmp(in_all, line, length + 1) != 0)
				fail_msg("%.*s", (int)length, line);
			in_all = strchr(in_all, '\n') + 1;
		}
	}
}

static void a_torn_tape_is_used_up_to_the_tear(void **state)
{
	size_t size, longest = 0;
	char *tape = make_tape(&size), *all = whole_text(tape, size);

	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		int status;
		bool whole;
		char *text;

		write_file(scratch_path(), tape, cut);
		text = tape_text(scratch_path(), &status, &whole);
		if (cut < 1)
			assert_int_equal(status, TAPE_ERR_NOT_A_TAPE);
		else if (status)
			assert_int_equal(status, TAPE_ERR_EMPTY);
		assert_false(whole);
		assert_beginning(text, all);
		/* More of the file never says less. */
		assert_true(strlen(text) >= longest);
		longest = strlen(text);
		free(text);
	}
	assert_true(longest == strlen(all));
	free(all);
	free(tape);
	unlink(scratch_path());
}

static void a_flipped_bit_never_changes_an_event(void **state)
{
	size_t size;
	char *tape = make_tape(&size), *all = whole_text(tape, size);

	(void)state;
	for (size_t byte = 0; byte < size; byte++) {
		for (unsigned int bit = byte % 8; bit < 8; bit += 5) {
			int status;
			bool whole;
			char *text;

			tape[byte] ^= (char)(1 << bit);
			write_file(scratch_path(), tape, size);
			tape[byte] ^= (char)(1 << bit);
			text = tape_text(scratch_path(), &status, &whole);
			if (status == 0 && whole)
				fail_msg("byte %zu bit %u: not noticed", byte, bit);
			assert_beginning(text, all);
			free(text);
		}
	}
	free(all);
	free(tape);
	unlink(scratch_path());
}

static void zeros_where_the_disk_stopped_are_a_tear(void **state)
{
	size_t size;
	char *tape = make_tape(&size), *all = whole_text(tape, size), *text;
	int status;
	bool whole;

	(void)state;
	for (size_t from = size / 2; from < size - 8; from += 7) { /* the last bytes are zero */
		char *torn = calloc(1, size);

		memcpy(torn, tape, from);
		write_file(scratch_path(), torn, size);
		text = tape_text(scratch_path(), &status, &whole);
		assert_int_equal(status, 0);
		assert_false(whole);
		assert_beginning(text, all);
		free(text);
		free(torn);
	}
	free(all);
	free(tape);
	unlink(scratch_path());
}

static void an_abandoned_tape_has_no_index_and_is_not_torn(void **state)
{
	struct tape_writer *writer = create();
	const struct tape_summary *summary;
	struct tape_problem problem;
	struct tape_reader *reader;

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		put(writer, i);
	assert_int_equal(tape_stream_flush(tape_writer_stream(writer, 0)), 0);
	tape_writer_abandon(writer);
	assert_int_equal(tape_reader_open(scratch_path(), &reader, &problem), 0);
	summary = tape_reader_summary(reader);
	assert_false(summary->has_index);
	assert_false(summary->torn);
	assert_int_equal(summary->nr_events, 5);
	tape_reader_close(reader);
	unlink(scratch_path());
}

/* @what comes into the file header or a frame's, whose checksum is then made right. */
static void set_u32(char *tape, size_t at, uint32_t what)
{
	memcpy(tape + at, &what, 4);
}

static void seal_frame(char *tape, size_t at)
{
	struct tape_frame_header header;

	memcpy(&header, tape + at, sizeof(header));
	set_u32(tape, at + offsetof(struct tape_frame_header, header_crc),
		tape_header_crc((uint8_t *)tape + at, header.header_bytes));
}

static enum tape_error open_error(const char *tape, size_t size, const char *word)
{
	struct tape_problem problem = { 0 };
	struct tape_reader *reader;

	write_file(scratch_path(), tape, size);
	if (!tape_reader_open(scratch_path(), &reader, &problem)) {
		tape_reader_close(reader);
		return TAPE_OK;
	}
	if (word && !strstr(problem.text, word))
		fail_msg("no \"%s\" in: %s", word, problem.text);
	return problem.code;
}

static void a_newer_version_is_refused_by_its_number(void **state)
{
	size_t size;
	char *tape = make_tape(&size);

	(void)state;
	set_u32(tape, offsetof(struct tape_file_header, version), 2);
	assert_int_equal(open_error(tape, size, "version 2"), TAPE_ERR_VERSION);
	set_u32(tape, offsetof(struct tape_file_header, version), 1);
	set_u32(tape, offsetof(struct tape_file_header, refuse_flags), 4);
	set_u32(tape, offsetof(struct tape_file_header, crc),
		(uint32_t)crc32(0, (Bytef *)tape, 28));
	assert_int_equal(open_error(tape, size, "flag"), TAPE_ERR_VERSION);
	set_u32(tape, offsetof(struct tape_file_header, refuse_flags), 0);
	set_u32(tape, offsetof(struct tape_file_header, ignore_flags), 4);
	set_u32(tape, offsetof(struct tape_file_header, crc),
		(uint32_t)crc32(0, (Bytef *)tape, 28));
	assert_int_equal(open_error(tape, size, NULL), TAPE_OK);
	free(tape);
	unlink(scratch_path());
}

static void an_unknown_frame_is_skipped_if_it_says_so(void **state)
{
	const struct tape_frame_header strange = {
		.magic = TAPE_FRAME_MAGIC,
		.header_bytes = sizeof(strange),
		.kind = 77,
		.flags = TAPE_FRAME_SKIPPABLE,
		.payload_bytes = 5,
		.raw_bytes = 5,
	};
	const size_t at = sizeof(struct tape_file_header), strange_bytes = sizeof(strange) + 5;
	size_t size;
	char *tape = make_tape(&size), *all = whole_text(tape, size), *text;
	char *with = malloc(size + strange_bytes);
	int status;
	bool whole;

	(void)state;
	memcpy(with, tape, at);
	memcpy(with + at, &strange, sizeof(strange));
	memcpy(with + at + sizeof(strange), "what?", 5);
	set_u32(with, at + offsetof(struct tape_frame_header, payload_crc),
		(uint32_t)crc32(0, (const Bytef *)"what?", 5));
	memcpy(with + at + strange_bytes, tape + at, size - at);
	seal_frame(with, at);
	write_file(scratch_path(), with, size + strange_bytes);
	text = tape_text(scratch_path(), &status, &whole);
	assert_int_equal(status, 0);
	assert_string_equal(text, all);
	free(text);

	with[at + offsetof(struct tape_frame_header, flags)] = 0;
	seal_frame(with, at);
	assert_int_equal(open_error(with, size + strange_bytes, "kind"), TAPE_ERR_VERSION);
	free(with);
	free(all);
	free(tape);
	unlink(scratch_path());
}

static void unknown_flags_of_a_frame_are_refused_or_ignored(void **state)
{
	const size_t at = sizeof(struct tape_file_header);
	size_t size;
	char *tape = make_tape(&size);

	(void)state;
	/* The index disagrees now; the frames are walked. */
	tape[at + offsetof(struct tape_frame_header, flags)] = 0x40;
	seal_frame(tape, at);
	size -= sizeof(struct tape_trailer);
	assert_int_equal(open_error(tape, size, "flag"), TAPE_ERR_VERSION);
	tape[at + offsetof(struct tape_frame_header, flags)] = 0;
	tape[at + offsetof(struct tape_frame_header, flags) + 1] = 0x40;
	seal_frame(tape, at);
	assert_int_equal(open_error(tape, size, NULL), TAPE_OK);
	free(tape);
	unlink(scratch_path());
}

static void damage_before_the_tail_is_not_taken_for_a_tear(void **state)
{
	size_t size;
	char *tape = make_tape(&size);
	struct tape_frame_header header;
	struct tape_problem problem;
	struct tape_reader *reader;
	size_t second = sizeof(struct tape_file_header);

	(void)state;
	memcpy(&header, tape + second, sizeof(header));
	second += header.header_bytes + header.payload_bytes;
	tape[second + 40] ^= 1; /* in the second frame's header */
	write_file(scratch_path(), tape, size - 1); /* no trailer, so no index */
	assert_int_equal(tape_reader_open(scratch_path(), &reader, &problem), TAPE_ERR_CHECKSUM);
	assert_int_equal(problem.byte, second);
	free(tape);
	unlink(scratch_path());
}

static void what_is_no_tape_is_refused(void **state)
{
	static const char script[] =
		"#!/bin/sh\necho a file of another kind, longer than a header\n";
	struct tape_problem problem;
	struct tape_reader *reader;

	(void)state;
	assert_int_equal(open_error("", 0, "empty"), TAPE_ERR_NOT_A_TAPE);
	assert_int_equal(open_error(script, sizeof(script), "not a tape"), TAPE_ERR_NOT_A_TAPE);
	assert_int_equal(open_error("lrutape", 7, NULL), TAPE_ERR_EMPTY);
	assert_int_equal(tape_reader_open("/nonexistent.lrt", &reader, &problem), TAPE_ERR_OPEN);
	assert_non_null(strstr(problem.text, "No such file"));
	assert_int_equal(tape_reader_open("/", &reader, &problem), TAPE_ERR_OPEN);
	assert_int_equal(tape_reader_open("/dev/null", &reader, &problem), TAPE_ERR_OPEN);
	unlink(scratch_path());
}

static void an_error_is_told_until_the_next_rewind(void **state)
{
	size_t size;
	char *tape = make_tape(&size);
	const struct tape_event *event;
	struct tape_problem problem;
	struct tape_reader *reader;
	int got;

	(void)state;
	tape[size / 2] ^= 1;
	write_file(scratch_path(), tape, size);
	assert_int_equal(tape_reader_open(scratch_path(), &reader, &problem), 0);
	for (unsigned int round = 0; round < 2; round++) {
		while ((got = tape_reader_next(reader, &event)) > 0)
			;
		assert_int_equal(got, TAPE_ERR_CHECKSUM);
		assert_int_equal(tape_reader_next(reader, &event), TAPE_ERR_CHECKSUM);
		assert_int_equal(tape_reader_rewind(reader), 0);
	}
	tape_reader_close(reader);
	free(tape);
	unlink(scratch_path());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_torn_tape_is_used_up_to_the_tear),
		cmocka_unit_test(a_flipped_bit_never_changes_an_event),
		cmocka_unit_test(zeros_where_the_disk_stopped_are_a_tear),
		cmocka_unit_test(an_abandoned_tape_has_no_index_and_is_not_torn),
		cmocka_unit_test(a_newer_version_is_refused_by_its_number),
		cmocka_unit_test(an_unknown_frame_is_skipped_if_it_says_so),
		cmocka_unit_test(unknown_flags_of_a_frame_are_refused_or_ignored),
		cmocka_unit_test(an_error_is_told_until_the_next_rewind),
		cmocka_unit_test(damage_before_the_tail_is_not_taken_for_a_tear),
		cmocka_unit_test(what_is_no_tape_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
