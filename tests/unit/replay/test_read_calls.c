// SPDX-License-Identifier: GPL-2.0-only
#include "replay/read_calls.h"

#include "replay/event_stream.h"
#include "tests/unit/made_tape.h"

#define NO_READ UINT64_MAX

/* A pread64() of one page by a descriptor, that brings the page in or finds it. */
static void call(struct made_tape *tape, int32_t pid, uint64_t fd, uint64_t page, bool misses)
{
	made_event(tape, 0, pid, SYS_ENTER_PREAD64, fd, 4096, page * 4096);
	if (misses)
		made_add(tape, 0, pid, page);
	made_event(tape, 0, pid, SYS_EXIT_PREAD64, 4096);
}

/* The next read that the stream tells, its first page; NO_READ: none. */
static uint64_t next_read(struct event_stream *stream, uint64_t *last)
{
	const struct tape_event *event;

	while (event_stream_next(stream, &event, last) > 0)
		if (event->kind == EVENT_MM_FILEMAP_GET_PAGES) {
			assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_I_INO], MADE_INO);
			assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_S_DEV], MADE_DEV);
			return event->value[MM_FILEMAP_GET_PAGES_INDEX];
		}
	return NO_READ;
}

static void reads_before_the_first_miss_are_told_with_it(void **state)
{
	struct made_tape tape;
	struct event_stream *stream;
	uint64_t last;

	(void)state;
	made_tape_begin(&tape, NULL);
	call(&tape, 10, 3, 5, false); /* of what file? */
	call(&tape, 10, 3, 7, true);
	call(&tape, 10, 3, 5, false);
	call(&tape, 10, 4, 7, false); /* another descriptor */
	call(&tape, 11, 3, 7, false); /* another task */
	stream = event_stream_open(made_tape_read(&tape));
	assert_int_equal(next_read(stream, &last), 5);
	assert_int_equal(next_read(stream, &last), 7);
	assert_int_equal(next_read(stream, &last), 5);
	assert_int_equal(next_read(stream, &last), NO_READ);
	event_stream_close(stream);
	made_tape_end(&tape);
}

static void read_covers_the_bytes_that_came(void **state)
{
	struct made_tape tape;
	struct event_stream *stream;
	uint64_t last;

	(void)state;
	made_tape_begin(&tape, NULL);
	made_event(&tape, 0, 10, SYS_ENTER_PREAD64, 3, 65536, 4096 + 100);
	made_add(&tape, 0, 10, 2);
	made_event(&tape, 0, 10, SYS_EXIT_PREAD64, 8192);
	made_event(&tape, 0, 10, SYS_ENTER_PREAD64, 3, 4096, 0);
	made_event(&tape, 0, 10, SYS_EXIT_PREAD64, (uint64_t)-4);
	stream = event_stream_open(made_tape_read(&tape));
	assert_int_equal(next_read(stream, &last), 1);
	assert_int_equal(last, 3);
	assert_int_equal(next_read(stream, &last), NO_READ);
	event_stream_close(stream);
	made_tape_end(&tape);
}

static void metadata_read_on_the_way_is_not_the_file(void **state)
{
	struct made_tape tape;
	struct event_stream *stream;
	uint64_t last;

	(void)state;
	made_tape_begin(&tape, NULL);
	made_event(&tape, 0, 10, SYS_ENTER_PREAD64, 3, 4096, 7 * 4096);
	made_event(&tape, 0, 10, MM_FILEMAP_ADD_TO_PAGE_CACHE, 0x99, 1234, 4133, 3, 0);
	made_add(&tape, 0, 10, 7);
	made_event(&tape, 0, 10, SYS_EXIT_PREAD64, 4096);
	stream = event_stream_open(made_tape_read(&tape));
	assert_int_equal(next_read(stream, &last), 7);
	event_stream_close(stream);
	made_tape_end(&tape);
}

static void calls_of_a_thousand_tasks_are_told_apart(void **state)
{
	struct made_tape tape;
	struct event_stream *stream;
	uint64_t last;

	(void)state;
	made_tape_begin(&tape, NULL);
	for (int32_t pid = 1; pid <= 1000; pid++)
		call(&tape, pid, 3, (uint64_t)pid, true);
	stream = event_stream_open(made_tape_read(&tape));
	for (uint64_t pid = 1; pid <= 1000; pid++)
		assert_int_equal(next_read(stream, &last), pid);
	event_stream_close(stream);
	made_tape_end(&tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_before_the_first_miss_are_told_with_it),
		cmocka_unit_test(read_covers_the_bytes_that_came),
		cmocka_unit_test(metadata_read_on_the_way_is_not_the_file),
		cmocka_unit_test(calls_of_a_thousand_tasks_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
