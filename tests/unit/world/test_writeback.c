// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

#define DEV (UINT64_C(254) << 20)
#define INO 77
#define FLUSHER 5
#define WRITER 9
#define NR_ALL 64

static struct made_tape tape;
static struct world world;
/* What the events told, in order. */
static struct written_page written[NR_ALL], ended[NR_ALL];
static uint32_t nr_written, nr_ended;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	nr_written = nr_ended = 0;
	/* The file has 100 pages. */
	made_event(&tape, 0, WRITER, MM_FILEMAP_GET_PAGES, INO, DEV, 99, 99);
	return 0;
}

static int end(void **state)
{
	(void)state;
	world_exit(&world);
	made_tape_end(&tape);
	return 0;
}

static void dirtied(uint64_t page)
{
	made_event_text(&tape, 0, WRITER, WRITEBACK_DIRTY_FOLIO, "254:0", INO, page, 0);
}

static void walk_begins(int32_t pid, uint64_t from)
{
	made_event(&tape, 0, pid, EXT4_WRITEPAGES, DEV, INO, 0, from, 1);
}

static void walk_ends(int32_t pid)
{
	made_event(&tape, 0, pid, EXT4_WRITEPAGES_RESULT, DEV, INO);
}

static void queued(int32_t pid, uint64_t sector, uint64_t pages, const char *rwbs)
{
	made_event_text(&tape, 0, pid, BLOCK_BIO_QUEUE, rwbs, DEV, sector, pages * 8, 0);
}

static void completed(uint64_t sector, uint64_t pages)
{
	made_event_text(&tape, 1, 0, BLOCK_RQ_COMPLETE, "W", DEV, sector, pages * 8, 0);
}

static void keep(struct written_page *to, uint32_t *nr, const struct written_pages *pages)
{
	for (uint32_t i = 0; i < pages->nr; i++) {
		assert_true(*nr < NR_ALL);
		to[(*nr)++] = pages->page[i];
	}
}

static void play(void)
{
	const struct tape_event *event;
	int ret;

	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	while ((ret = tape_reader_next(tape.reader, &event)) > 0) {
		world_event(&world, event);
		keep(written, &nr_written, &world.writeback.written);
		keep(ended, &nr_ended, &world.writeback.ended);
		world_event_done(&world, event, 0);
	}
	assert_int_equal(ret, 0);
}

static void assert_pages(const struct written_page *pages, uint32_t nr, const uint64_t *index,
			 uint32_t nr_expected)
{
	assert_int_equal(nr, nr_expected);
	for (uint32_t i = 0; i < nr; i++) {
		assert_int_equal(pages[i].index, index[i]);
		assert_int_equal(world.file[pages[i].file].ino, INO);
	}
}

#define assert_written(...)                                                                        \
	assert_pages(written, nr_written, (const uint64_t[]){ __VA_ARGS__ },                       \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define assert_ended(...)                                                                          \
	assert_pages(ended, nr_ended, (const uint64_t[]){ __VA_ARGS__ },                           \
		     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* dirty: 3, 10, 11 and 40; the walk goes on from 10 and around. */
static void writes_are_the_next_dirty_pages(void **state)
{
	(void)state;
	dirtied(40);
	dirtied(10);
	dirtied(3);
	dirtied(11);
	walk_begins(FLUSHER, 10);
	queued(FLUSHER, 1080, 2, "W");
	queued(FLUSHER, 8000, 1, "W");
	queued(FLUSHER, 5000, 1, "WS");
	walk_ends(FLUSHER);
	completed(8000, 1);
	completed(1080, 2);
	play();
	assert_written(10, 11, 40, 3);
	assert_ended(40, 10, 11);
}

/* Sectors and pages go together: what seemed the next was not dirty any more. */
static void sector_tells_the_page_within_an_extent(void **state)
{
	(void)state;
	dirtied(10);
	dirtied(20);
	dirtied(30);
	walk_begins(FLUSHER, 0);
	queued(FLUSHER, 1000 + 10 * 8, 1, "W");
	queued(FLUSHER, 1000 + 30 * 8, 1, "W");
	completed(0, 1);
	play();
	assert_written(10, 30);
	assert_int_equal(nr_ended, 0);
}

static void other_io_is_left_alone(void **state)
{
	(void)state;
	dirtied(10);
	queued(FLUSHER, 80, 1, "W"); /* outside of a walk: the journal, a file system's own */
	walk_begins(FLUSHER, 0);
	queued(WRITER, 80, 1, "W");
	queued(FLUSHER, 80, 1, "R");
	walk_ends(FLUSHER);
	queued(FLUSHER, 80, 1, "W");
	completed(80, 1);
	play();
	assert_int_equal(nr_written + nr_ended, 0);
}

/* A request is as many writes as were merged into it, or a part of one. */
static void requests_end_what_lies_in_their_sectors(void **state)
{
	(void)state;
	for (uint64_t page = 4; page < 8; page++)
		dirtied(page);
	walk_begins(FLUSHER, 0);
	queued(FLUSHER, 800, 1, "W");
	queued(FLUSHER, 808, 3, "W");
	completed(800, 2);
	completed(816, 1);
	completed(800, 2);
	play();
	assert_written(4, 5, 6, 7);
	assert_ended(4, 5, 6);
}

static void truncated_pages_are_not_written(void **state)
{
	(void)state;
	dirtied(4);
	dirtied(5);
	made_event(&tape, 0, WRITER, MM_FILEMAP_DELETE_FROM_PAGE_CACHE, 1, INO, 4, DEV, 0);
	walk_begins(FLUSHER, 0);
	queued(FLUSHER, 800, 1, "W");
	completed(800, 1);
	play();
	assert_written(5);
}

/* Without completions nobody knows the end, and then nothing is said to begin. */
static void tape_without_completions_tells_nothing(void **state)
{
	(void)state;
	dirtied(4);
	walk_begins(FLUSHER, 0);
	queued(FLUSHER, 800, 1, "W");
	play();
	assert_false(world.writeback.seen);
	assert_int_equal(nr_written, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_are_the_next_dirty_pages),
		TEST(sector_tells_the_page_within_an_extent),
		TEST(other_io_is_left_alone),
		TEST(requests_end_what_lies_in_their_sectors),
		TEST(truncated_pages_are_not_written),
		TEST(tape_without_completions_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
