// SPDX-License-Identifier: GPL-2.0-only
/*
 * How far each read got: mm_filemap_get_pages has the batch's first page and the last page of the
 * whole rest of the request.
 *
 *   a cold read of 1 MiB     0-255   31-255   62-255  ..  248-255
 *   what the batches cover   0-30    31-61    62-92   ..  248-255
 */
#include "replay/event_stream.h"

#include <malloc.h>

#include "tests/unit/made_tape.h"

static struct made_tape tape;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_tape_end(&tape);
	return 0;
}

/* All reads of the tape with what they covered: "10:0-30 10:31-61", by pid. */
static void draw_reads(char *text, size_t room)
{
	struct event_stream *stream = event_stream_open(made_tape_read(&tape));
	const struct tape_event *event;
	uint64_t read_end;
	size_t at = 0;
	int ret;

	assert_non_null(stream);
	*text = '\0';
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		if (event->kind != EVENT_MM_FILEMAP_GET_PAGES) {
			assert_int_equal(read_end, 0);
			continue;
		}
		assert_true(at + 64 < room);
		at += (size_t)sprintf(text + at, "%s%d:%llu-%llu", at ? " " : "", event->pid,
				      (unsigned long long)event->value[MM_FILEMAP_GET_PAGES_INDEX],
				      (unsigned long long)read_end);
	}
	assert_int_equal(ret, 0);
	event_stream_close(stream);
}

#define assert_reads(drawing)                                                                      \
	do {                                                                                       \
		char text[4096];                                                                   \
		draw_reads(text, sizeof(text));                                                    \
		assert_string_equal(text, drawing);                                                \
	} while (0)

static void batch_ends_where_the_next_one_of_the_request_begins(void **state)
{
	(void)state;
	for (uint64_t page = 0; page < 256; page += 31)
		made_read(&tape, 0, 10, page, 255);
	assert_reads("10:0-30 10:31-61 10:62-92 10:93-123 10:124-154 10:155-185 10:186-216 "
		     "10:217-247 10:248-255");
}

static void single_page_needs_no_look_ahead(void **state)
{
	(void)state;
	made_read(&tape, 0, 10, 5, 5);
	made_read(&tape, 0, 10, 6, 6);
	assert_reads("10:5-5 10:6-6");
}

static void read_of_another_request_tells_that_the_last_one_was_done(void **state)
{
	(void)state;
	made_read(&tape, 0, 10, 0, 63); /* one batch of large folios */
	made_read(&tape, 0, 10, 64, 127);
	made_read(&tape, 0, 10, 0, 63);
	made_read(&tape, 0, 10, 0, 63); /* again from its start: not the rest of the one before */
	made_read(&tape, 0, 10, 1000, 1000);
	assert_reads("10:0-63 10:64-127 10:0-63 10:0-63 10:1000-1000");
}

static void reads_of_other_tasks_and_files_in_between_end_no_request_that_goes_on(void **state)
{
	(void)state;
	made_read(&tape, 0, 10, 0, 61);
	made_read(&tape, 1, 11, 20, 61);
	made_event(&tape, 0, 10, MM_FILEMAP_GET_PAGES, MADE_INO + 1, MADE_DEV, 25, 61);
	made_event(&tape, 0, 10, MM_FILEMAP_GET_PAGES, MADE_INO, MADE_DEV + 1, 26, 61);
	made_add(&tape, 0, 10, 31);
	made_read(&tape, 0, 10, 31, 61);
	made_read(&tape, 0, 10, 62, 62);
	made_read(&tape, 1, 11, 21, 61);
	assert_reads("10:0-30 11:20-20 10:25-61 10:26-61 10:31-61 10:62-62 11:21-51");
}

/* Nothing follows: the tape may end in the middle of the request, or the request was done. */
static void last_read_of_a_task_counts_as_a_batch_of_single_pages(void **state)
{
	(void)state;
	made_read(&tape, 0, 10, 0, 255);
	made_read(&tape, 0, 11, 0, 20);
	assert_reads("10:0-30 11:0-20");
}

static void last_read_of_a_file_reached_its_end_if_the_task_went_on(void **state)
{
	(void)state;
	made_read(&tape, 0, 10, 0, 255);
	made_event(&tape, 0, 10, MM_FILEMAP_GET_PAGES, MADE_INO + 1, MADE_DEV, 3, 3);
	made_read(&tape, 0, 11, 100, 255);
	made_event(&tape, 0, 11, SCHED_PROCESS_EXIT, 11);
	made_read(&tape, 0, 12, 200, 255);
	assert_reads("10:0-255 10:3-3 11:100-255 12:200-230");
}

static void look_ahead_is_bounded(void **state)
{
	char text[256];

	(void)state;
	made_read(&tape, 0, 10, 0, 99);
	for (int i = 0; i < 70000; i++)
		made_activation(&tape, 0, 11, 1);
	made_read(&tape, 0, 10, 50, 99); /* too far ahead to be seen */
	made_read(&tape, 0, 10, 100, 100);
	draw_reads(text, sizeof(text));
	assert_string_equal(text, "10:0-30 10:50-99 10:100-100");
}

static void more_long_reads_than_are_followed_are_guessed(void **state)
{
	struct event_stream *stream;
	const struct tape_event *event;
	uint64_t read_end;
	int nr = 0, ret;

	(void)state;
	for (int pid = 1; pid <= 300; pid++)
		made_read(&tape, 0, pid, 0, 99);
	for (int pid = 1; pid <= 300; pid++)
		made_read(&tape, 0, pid, 40, 99);
	stream = event_stream_open(made_tape_read(&tape));
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		uint64_t first = event->value[MM_FILEMAP_GET_PAGES_INDEX];

		assert_true(read_end == first + 30 || (!first && read_end == 39) ||
			    (first == 40 && read_end == 99));
		nr++;
	}
	assert_int_equal(ret, 0);
	assert_int_equal(nr, 600);
	event_stream_close(stream);
}

/* A request is of 2 GiB at most (MAX_RW_COUNT); a tape may claim what it likes. */
static void read_longer_than_any_request_is_cut(void **state)
{
	(void)state;
	made_read(&tape, 0, 10, 5, UINT64_MAX - 1);
	made_read(&tape, 0, 10, 7, 7);
	assert_reads("10:5-524292 10:7-7");
}

static void events_keep_order_values_and_strings_through_the_look_ahead(void **state)
{
	struct event_stream *stream;
	const struct tape_event *event;
	uint64_t read_end, last_ns = 0;
	char name[32];

	(void)state;
	made_read(&tape, 0, 10, 0, 99);
	for (uint64_t i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "/group%llu", (unsigned long long)i);
		made_event_text(&tape, i % 2, 11, CGROUP_MKDIR, name, 4, 1, i, 0);
	}
	made_read(&tape, 0, 10, 31, 99);
	stream = event_stream_open(made_tape_read(&tape));
	assert_int_equal(event_stream_next(stream, &event, &read_end), 1);
	assert_int_equal(read_end, 30);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(event_stream_next(stream, &event, &read_end), 1);
		assert_true(event->timestamp_ns > last_ns);
		last_ns = event->timestamp_ns;
		snprintf(name, sizeof(name), "/group%llu", (unsigned long long)i);
		assert_int_equal(event->value[CGROUP_MKDIR_ID], i);
		assert_string_equal(tape_event_string(event, CGROUP_MKDIR_PATH, NULL), name);
	}
	assert_int_equal(event_stream_next(stream, &event, &read_end), 1);
	assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_INDEX], 31);
	assert_int_equal(event_stream_next(stream, &event, &read_end), 0);
	assert_int_equal(event_stream_next(stream, &event, &read_end), 0);
	event_stream_close(stream);
}

/* An inactive isolation, an active one, and another task's in between. */
static void what_comes_of_an_isolation_is_foreseen(void **state)
{
	static const struct {
		int32_t pid;
		uint64_t victim;
		int priority;
	} told[] = { { 10, MADE_PFN + 5, 7 }, { 11, MADE_PFN + 9, 3 }, { 10, UINT64_MAX, 6 } };
	struct event_stream *stream;
	const struct tape_event *event;
	uint64_t foreseen;
	unsigned int nr = 0;

	(void)state;
	made_event(&tape, 0, 10, MM_VMSCAN_LRU_ISOLATE, 4, 0, 2, 2, 0, 2, 2);
	made_event(&tape, 1, 11, MM_VMSCAN_LRU_ISOLATE, 4, 0, 1, 1, 0, 1, 2);
	made_delete(&tape, 1, 11, 9);
	made_delete(&tape, 0, 10, 5);
	made_delete(&tape, 0, 10, 6);
	made_event(&tape, 1, 11, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3);
	made_event(&tape, 0, 10, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 7);
	made_event(&tape, 0, 10, MM_VMSCAN_LRU_ISOLATE, 4, 0, 4, 4, 0, 4, 3);
	made_event(&tape, 0, 10, MM_VMSCAN_LRU_SHRINK_ACTIVE, 0, 4, 0, 4, 0, 6);
	stream = event_stream_open(made_tape_read(&tape));
	assert_non_null(stream);
	event_stream_foresee(stream, FORESEE_ISOLATIONS);
	while (event_stream_next(stream, &event, &foreseen) > 0) {
		if (event->kind != EVENT_MM_VMSCAN_LRU_ISOLATE)
			continue;
		assert_true(nr < 3);
		assert_int_equal(event->pid, told[nr].pid);
		assert_int_equal(isolation_priority(foreseen), told[nr].priority);
		if (told[nr].victim != UINT64_MAX)
			assert_int_equal(isolation_victim(foreseen), told[nr].victim);
		nr++;
	}
	assert_int_equal(nr, 3);
	event_stream_close(stream);
}

/* A run ends where its task does something else; other tasks' events in between are no end. */
static void what_a_task_goes_on_to_remove_is_foreseen(void **state)
{
	char text[256] = "";
	struct event_stream *stream;
	const struct tape_event *event;
	const uint32_t *pfn;
	uint64_t foreseen;
	unsigned int nr;
	size_t at = 0;

	(void)state;
	made_delete(&tape, 0, 10, 1);
	made_delete(&tape, 1, 11, 7);
	made_delete(&tape, 0, 10, 2);
	made_read(&tape, 1, 11, 40, 40);
	made_delete(&tape, 0, 10, 3);
	made_delete(&tape, 1, 11, 8);
	made_read(&tape, 0, 10, 41, 41);
	made_delete(&tape, 0, 10, 4);
	stream = event_stream_open(made_tape_read(&tape));
	assert_non_null(stream);
	event_stream_foresee(stream, FORESEE_VICTIMS);
	while (event_stream_next(stream, &event, &foreseen) > 0) {
		pfn = event_stream_victims(stream, &nr);
		for (unsigned int i = 0; i < nr; i++)
			at += (size_t)sprintf(text + at, "%s%u", i ? "," : " ",
					      pfn[i] - (unsigned int)MADE_PFN);
	}
	assert_string_equal(text, " 1,2,3 7 8 4");
	event_stream_close(stream);
}

static void losses_come_through(void **state)
{
	struct event_stream *stream;
	const struct tape_event *event;
	uint64_t read_end;

	(void)state;
	made_read(&tape, 0, 10, 0, 99);
	made_lost(&tape, 0, 12);
	made_read(&tape, 0, 10, 31, 99);
	stream = event_stream_open(made_tape_read(&tape));
	assert_int_equal(event_stream_next(stream, &event, &read_end), 1);
	assert_int_equal(event_stream_next(stream, &event, &read_end), 1);
	assert_int_equal(event->kind, EVENT_LOST);
	assert_int_equal(event->value[EVENT_LOST_COUNT], 12);
	event_stream_close(stream); /* with events still kept */
}

static void tape_without_events_ends_at_once(void **state)
{
	struct event_stream *stream;
	const struct tape_event *event;
	uint64_t read_end;

	(void)state;
	made_blob(&tape, TAPE_MOMENT_START, "lrutape/release", "6.18.44\n");
	stream = event_stream_open(made_tape_read(&tape));
	assert_int_equal(event_stream_next(stream, &event, &read_end), 0);
	event_stream_close(stream);
	event_stream_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/*
 * Of each event that is kept its own strings, not all before them in the frame: those would be 36 MB here.
 * mallinfo2() tells what malloc() has given out; where a sanitizer stands in its place, it tells 0.
 */
static void kept_strings_are_their_own(void **state)
{
	struct event_stream *stream;
	const struct tape_event *event;
	char path[101];
	uint64_t read_end;
	size_t before;

	(void)state;
	memset(path, '/', 100);
	path[100] = '\0';
	made_read(&tape, 0, 10, 0, 255); /* its end is looked for in all that follows */
	for (uint64_t i = 0; i < 3000; i++)
		made_event_text(&tape, 0, 11, CGROUP_MKDIR, path, 4, 1, i, 0);
	stream = event_stream_open(made_tape_read(&tape));
	assert_non_null(stream);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	assert_int_equal(event_stream_next(stream, &event, &read_end), 1);
	assert_in_range(mallinfo2().uordblks + mallinfo2().hblkhd - before, 0, 8 << 20);
	event_stream_close(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(batch_ends_where_the_next_one_of_the_request_begins),
		TEST(single_page_needs_no_look_ahead),
		TEST(read_of_another_request_tells_that_the_last_one_was_done),
		TEST(reads_of_other_tasks_and_files_in_between_end_no_request_that_goes_on),
		TEST(last_read_of_a_file_reached_its_end_if_the_task_went_on),
		TEST(last_read_of_a_task_counts_as_a_batch_of_single_pages),
		TEST(look_ahead_is_bounded),
		TEST(more_long_reads_than_are_followed_are_guessed),
		TEST(read_longer_than_any_request_is_cut),
		TEST(kept_strings_are_their_own),
		TEST(events_keep_order_values_and_strings_through_the_look_ahead),
		TEST(what_comes_of_an_isolation_is_foreseen),
		TEST(what_a_task_goes_on_to_remove_is_foreseen),
		TEST(losses_come_through),
		TEST(tape_without_events_ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
