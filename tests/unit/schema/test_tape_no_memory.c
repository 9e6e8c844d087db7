// SPDX-License-Identifier: GPL-2.0-only
/*
 * The n-th allocation fails, for every n: writing and reading then end with an error, or do
 * without, but never crash, leak or leave a file that cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/schema/tape_text.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/* The allocator behind our malloc(): a sanitizer's own where there is one. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t nr, size_t size);
void *REAL(realloc)(void *old, size_t size);
void *malloc(size_t size);
void *calloc(size_t nr, size_t size);
void *realloc(void *old, size_t size);

static bool counting;
static unsigned long nr_allocations, failing;

static bool fails_now(void)
{
	return counting && ++nr_allocations == failing;
}

void *malloc(size_t size)
{
	return fails_now() ? NULL : REAL(malloc)(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails_now() ? NULL : REAL(calloc)(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails_now() ? NULL : REAL(realloc)(old, size);
}

/* Return: true as long as there is an n-th allocation. */
static bool end_of_failing(void)
{
	counting = false;
	return nr_allocations >= failing;
}

static void fail_at(unsigned long n)
{
	nr_allocations = 0;
	failing = n;
	counting = true;
}

static const struct tape_field fork_fields[] = {
	{ .name = "child_comm",
	  .ctype = "char[16]",
	  .offset = 8,
	  .size = 16,
	  .kind = TAPE_FIELD_STRING },
	{ .name = "child_pid", .ctype = "pid_t", .offset = 24, .size = 4, .is_signed = true },
};

static const struct tape_field page_fields[] = {
	{ .name = "pfn", .ctype = "unsigned long", .offset = 8, .size = 8 },
	{ .name = "index", .ctype = "unsigned long", .offset = 16, .size = 8 },
};

static const struct tape_type types[] = {
	{ .system = "sched",
	  .name = "sched_process_fork",
	  .format = "",
	  .filter = "",
	  .field = fork_fields,
	  .nr_fields = 2 },
	{ .system = "filemap",
	  .name = "mm_filemap_add_to_page_cache",
	  .format = "",
	  .filter = "",
	  .field = page_fields,
	  .nr_fields = 2 },
	{ .system = "filemap",
	  .name = "mm_filemap_delete_from_page_cache",
	  .format = "",
	  .filter = "",
	  .field = page_fields,
	  .nr_fields = 2 },
};

#define NR_EVENTS 600u

static int put_event(struct tape_writer *writer, unsigned int i)
{
	struct tape_stream *stream = tape_writer_stream(writer, i / 40 % 2);
	uint8_t record[32] = { 0 };
	uint64_t pfn = 0x1000 + i / 3, index = pfn * 7919 % 1000;
	uint16_t type = (uint16_t)(i % 3);

	if (!stream)
		return TAPE_ERR_MEMORY;
	if (type == 0) {
		memcpy(record + 8, i % 2 ? "one" : "two", 4);
		memcpy(record + 24, &i, 4);
	} else {
		memcpy(record + 8, &pfn, 8);
		memcpy(record + 16, &index, 8);
	}
	return tape_stream_record(stream, type, 10 * i, record, sizeof(record));
}

/* Return: 0 or what went wrong first. */
static int write_tape(void)
{
	const struct tape_writer_options options = { .frame_bytes = 500 };
	struct tape_blob blob = { .name = "/proc/a", .data = "a file", .size = 6 };
	struct tape_problem problem;
	struct tape_writer *writer;
	int error, finish_error;
	uint16_t number;

	error = tape_writer_create(scratch_path(), &options, &writer, &problem);
	if (error)
		return error;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && !error; i++)
		error = tape_writer_add_type(writer, &types[i], &number);
	error = error ? error : tape_writer_add_blob(writer, &blob);
	for (unsigned int i = 0; i < NR_EVENTS && !error; i++)
		error = put_event(writer, i);
	finish_error = tape_writer_finish(writer, &problem);
	return error ? error : finish_error;
}

static void writing_without_memory_leaves_a_readable_tape(void **state)
{
	unsigned long n = 0;
	int error, status;
	bool more, whole;

	(void)state;
	do {
		char *text;

		unlink(scratch_path());
		fail_at(++n);
		error = write_tape();
		more = end_of_failing();
		text = tape_text(scratch_path(), &status, &whole);
		if (!error && (status || !whole))
			fail_msg("allocation %lu: no error, but the tape is not whole", n);
		if (error && status && status != TAPE_ERR_EMPTY && status != TAPE_ERR_OPEN)
			fail_msg("allocation %lu: error %d, then %d", n, error, status);
		free(text);
	} while (more);
	assert_true(n > 50);
	assert_int_equal(error, 0);
	unlink(scratch_path());
}

/* Return: 0 or what went wrong. */
static int read_tape(unsigned int *nr_events)
{
	const struct tape_event *event;
	struct tape_problem problem;
	struct tape_reader *reader;
	int status = tape_reader_open(scratch_path(), &reader, &problem);

	*nr_events = 0;
	if (status)
		return status;
	while ((status = tape_reader_next(reader, &event)) > 0)
		(*nr_events)++;
	tape_reader_close(reader);
	return status;
}

static void reading_without_memory_is_an_error_not_an_end(void **state)
{
	unsigned int nr_events;
	unsigned long n = 0;
	int status;
	bool more;

	(void)state;
	assert_int_equal(write_tape(), 0);
	do {
		fail_at(++n);
		status = read_tape(&nr_events);
		more = end_of_failing();
		if (status == 0 && nr_events != NR_EVENTS)
			fail_msg("allocation %lu: the tape ended after %u events", n, nr_events);
	} while (more);
	assert_true(n > 30);
	assert_int_equal(status, 0);
	unlink(scratch_path());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_without_memory_leaves_a_readable_tape),
		cmocka_unit_test(reading_without_memory_is_an_error_not_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
