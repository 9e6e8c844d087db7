// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/readahead.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Pages in memory, one letter each: '#' is there. */
static bool drawn_cached(void *ctx, uint64_t index)
{
	const char *pages = ctx;

	return index < strlen(pages) && pages[index] == '#';
}

static bool all_cached(void *ctx, uint64_t index)
{
	return index < *(const uint64_t *)ctx;
}

static struct file_ra_state fresh(uint64_t ra_pages)
{
	return (struct file_ra_state){ .ra_pages = ra_pages, .prev_page = READAHEAD_NO_PAGE };
}

/* Page by page from the file's begin to @end: the windows as start/size/order, one after the other. */
static void read_through(struct file_ra_state *ra, uint64_t end, char *text, size_t bytes)
{
	uint64_t there = 0, mark = READAHEAD_NO_PAGE, mark_pages = 1;
	struct readahead_cache cache = { all_cached, &there };

	*text = '\0';
	for (uint64_t page = 0; page < end; page++) {
		struct readahead_window window;

		if (page >= there)
			readahead_sync(ra, &cache, page, 1, &window);
		else if (page != mark)
			continue;
		else
			assert_true(readahead_async(ra, &cache, page, mark_pages, 1, &window));
		assert_int_equal(window.start, there);
		snprintf(text + strlen(text), bytes - strlen(text), "%s%d/%d/%d", *text ? " " : "",
			 (int)window.start, (int)window.size, window.order);
		mark = READAHEAD_NO_PAGE;
		for (uint64_t at = window.start; at < window.start + window.size;) {
			uint64_t last = window.start + window.size - 1;
			uint64_t pages = UINT64_C(1) << readahead_folio_order(&window, at, last);

			if (window.mark / pages * pages == at) {
				mark = at;
				mark_pages = pages;
			}
			at += pages;
		}
		there = window.start + window.size;
		ra->prev_page = page;
	}
}

/* Measured on 6.18.44, ext4 with large folios, read_ahead_kb 8192: mm_filemap events of a cold file. */
static void windows_grow_as_they_did_on_a_kernel(void **state)
{
	struct file_ra_state ra = fresh(2048);
	char text[512];

	(void)state;
	ra.max_order = 9;
	read_through(&ra, 6000, text, sizeof(text));
	assert_string_equal(text, "0/4/0 4/16/2 20/60/4 80/240/6 320/448/8 768/256/10 1024/512/10 "
				  "1536/512/11 2048/1024/11 3072/1024/11 4096/2048/11 "
				  "6144/2048/11");
}

/* The preset of 128 KiB: windows shrink where they are cut to the alignment of their folios. */
static void small_windows_are_aligned(void **state)
{
	struct file_ra_state ra = fresh(32);
	char text[512];

	(void)state;
	ra.max_order = 9;
	read_through(&ra, 96, text, sizeof(text));
	assert_string_equal(text,
			    "0/4/0 4/8/2 12/4/4 16/8/4 24/8/5 32/16/5 48/16/6 64/32/6 96/32/7");
}

static void random_miss_reads_what_was_asked_for(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_cache cache = { drawn_cached, ".........." };
	struct readahead_window window;

	(void)state;
	readahead_sync(&ra, &cache, 1000, 3, &window);
	assert_true(window.plain);
	assert_int_equal(window.start, 1000);
	assert_int_equal(window.size, 3);
	assert_true(window.mark == READAHEAD_NO_PAGE);
	assert_int_equal(ra.size, 0);
}

/* More pages in memory before the hole than asked for: a stream, whose state is not known any more. */
static void pages_before_a_miss_are_a_stream(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_cache cache = { drawn_cached, "..####..." };
	struct readahead_window window;

	(void)state;
	readahead_sync(&ra, &cache, 6, 4, &window);
	assert_true(window.plain); /* as many are not more */
	readahead_sync(&ra, &cache, 6, 3, &window);
	assert_false(window.plain);
	assert_int_equal(window.size, 4 + 3);
	assert_int_equal(window.mark, 6 + 7 - 1);
	/* From the file's begin on they count twice. */
	cache.ctx = "######...";
	readahead_sync(&ra, &cache, 6, 3, &window);
	assert_int_equal(window.size, 12 + 3);
	assert_int_equal(ra.async_size, 1);
}

static void next_page_after_the_last_read_is_a_stream(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_cache cache = { drawn_cached, "" };
	struct readahead_window window;

	(void)state;
	ra.prev_page = 499;
	readahead_sync(&ra, &cache, 500, 1, &window);
	assert_int_equal(window.size, 4);
	assert_int_equal(window.mark, 501);
	/* The same page again: a read that was not aligned. */
	ra.prev_page = 700;
	readahead_sync(&ra, &cache, 700, 9, &window);
	assert_int_equal(window.size, 32); /* 16 is above 32 / 4 */
	assert_int_equal(ra.async_size, 23);
	/* A page before it is none. */
	ra.prev_page = 701;
	readahead_sync(&ra, &cache, 700, 1, &window);
	assert_true(window.plain);
}

static void request_above_the_limit_may_be_what_the_device_takes(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_cache cache = { drawn_cached, "" };
	struct readahead_window window;

	(void)state;
	readahead_sync(&ra, &cache, 1000, 100, &window);
	assert_int_equal(window.size, 32);
	ra = fresh(32);
	ra.io_pages = 320;
	readahead_sync(&ra, &cache, 1000, 100, &window);
	assert_int_equal(window.size, 100); /* the limit is the request, and 128 is above it */
}

static void advised_random_reads_what_was_asked_for(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_cache cache = { drawn_cached, "" };
	struct readahead_window window;

	(void)state;
	ra.fadv_random = true;
	readahead_sync(&ra, &cache, 0, 2, &window);
	assert_true(window.plain);
	assert_int_equal(window.size, 2);
	readahead_sync(&ra, &cache, 0, 200, &window);
	assert_int_equal(window.size, 32);
}

static void without_readahead_one_page_is_read(void **state)
{
	struct file_ra_state ra = fresh(0);
	struct readahead_cache cache = { drawn_cached, "" };
	struct readahead_window window;

	(void)state;
	readahead_sync(&ra, &cache, 7, 20, &window);
	assert_int_equal(window.size, 1);
	assert_false(readahead_async(&ra, &cache, 7, 1, 1, &window));
}

/* A marker that is not of this reader's window: the window begins at the next hole. */
static void foreign_marker_starts_at_the_next_hole(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_cache cache = { drawn_cached, "..######......" };
	struct readahead_window window;

	(void)state;
	assert_true(readahead_async(&ra, &cache, 3, 1, 1, &window));
	assert_int_equal(window.start, 8);
	/* 5 to the hole and 1 asked for: above 32 / 16, so twice; to 20, cut to a multiple of 4. */
	assert_int_equal(window.size, 12);
	assert_int_equal(window.mark, 8);
	assert_int_equal(window.order, 2);
	cache.ctx = "########################################";
	assert_false(readahead_async(&ra, &cache, 3, 1, 1, &window));
}

static void fault_reads_around(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_window window;

	(void)state;
	readahead_around(&ra, 100, &window);
	assert_int_equal(window.start, 84);
	assert_int_equal(window.size, 32);
	assert_int_equal(window.mark, 84 + 24);
	readahead_around(&ra, 5, &window);
	assert_int_equal(window.start, 0);
}

static void fault_on_an_executable_mapping_reads_to_its_end(void **state)
{
	struct file_ra_state ra = fresh(32);
	struct readahead_window window;

	(void)state;
	readahead_executable(&ra, 100, 7, &window);
	assert_int_equal(window.start, 100);
	assert_int_equal(window.size, 7);
	assert_int_equal(window.mark, READAHEAD_NO_PAGE);
	readahead_executable(&ra, 100, 1000, &window);
	assert_int_equal(window.size, 32);
}

static void folios_fit_their_place_and_the_file(void **state)
{
	struct readahead_window window = { .start = 20, .size = 60, .folio_order = 4 };

	(void)state;
	assert_int_equal(readahead_folio_order(&window, 20, 79), 2); /* 20 is a multiple of 4 */
	assert_int_equal(readahead_folio_order(&window, 24, 79), 3);
	assert_int_equal(readahead_folio_order(&window, 32, 79), 4);
	assert_int_equal(readahead_folio_order(&window, 64, 70), 2); /* the file ends */
	window.folio_order = 0;
	assert_int_equal(readahead_folio_order(&window, 32, 79), 0);
}

/* The small-page series: no folio is larger than a page, yet the order asked for still aligns ends. */
static void small_pages_only(void **state)
{
	struct file_ra_state ra = fresh(32);
	char text[512];

	(void)state;
	read_through(&ra, 60, text, sizeof(text));
	assert_string_equal(text, "0/4/0 4/8/2 12/16/2 28/32/2 60/32/2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_grow_as_they_did_on_a_kernel),
		cmocka_unit_test(small_windows_are_aligned),
		cmocka_unit_test(random_miss_reads_what_was_asked_for),
		cmocka_unit_test(pages_before_a_miss_are_a_stream),
		cmocka_unit_test(next_page_after_the_last_read_is_a_stream),
		cmocka_unit_test(request_above_the_limit_may_be_what_the_device_takes),
		cmocka_unit_test(advised_random_reads_what_was_asked_for),
		cmocka_unit_test(without_readahead_one_page_is_read),
		cmocka_unit_test(foreign_marker_starts_at_the_next_hole),
		cmocka_unit_test(fault_reads_around),
		cmocka_unit_test(fault_on_an_executable_mapping_reads_to_its_end),
		cmocka_unit_test(small_pages_only),
		cmocka_unit_test(folios_fit_their_place_and_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
