// SPDX-License-Identifier: GPL-2.0-only
/* Pages of a ring buffer, built word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/ring_page.h"

static const struct ring_page_layout layout = { .commit_bytes = 8, .data_offset = 16 };

struct built {
	uint32_t word[64];
	unsigned int nr;
};

static void begin(struct built *page, uint64_t ns)
{
	memset(page, 0, sizeof(*page));
	page->word[0] = (uint32_t)ns;
	page->word[1] = (uint32_t)(ns >> 32);
	page->nr = 4;
}

static void put(struct built *page, uint32_t word)
{
	page->word[page->nr++] = word;
}

/* A record whose data are that many words, all of @fill. */
static void put_record(struct built *page, uint32_t delta, unsigned int nr_words, uint32_t fill)
{
	put(page, delta << 5 | nr_words);
	while (nr_words--)
		put(page, fill);
}

/* The commit counts what was put; @flags are those of losses. */
static size_t end(struct built *page, uint32_t flags)
{
	page->word[2] = (page->nr - 4) * 4 | flags;
	return page->nr * 4;
}

static void open_page(struct ring_page *page, const struct built *built, size_t size)
{
	assert_true(ring_page_open(page, &layout, (const uint8_t *)built->word, size));
}

static void assert_record(struct ring_page *page, uint64_t ns, size_t size, uint32_t fill)
{
	struct ring_record record;

	assert_int_equal(ring_page_next(page, &record), 1);
	assert_int_equal(record.timestamp_ns, ns);
	assert_int_equal(record.size, size);
	if (size)
		assert_memory_equal(record.data, &fill, 4);
}

static void assert_end(struct ring_page *page, int expected)
{
	struct ring_record record;

	assert_int_equal(ring_page_next(page, &record), expected);
}

static void header_page_tells_the_layout(void **state)
{
	static const char text[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:0;\n";
	struct ring_page_layout found;

	(void)state;
	assert_true(ring_page_layout_read(text, &found));
	assert_int_equal(found.commit_bytes, 4);
	assert_int_equal(found.data_offset, 12);
	assert_false(ring_page_layout_read("", &found));
	assert_false(ring_page_layout_read("field: local_t commit; offset:8; size:4;\n", &found));
}

static void times_add_up(void **state)
{
	struct built built;
	struct ring_page page;
	size_t size;

	(void)state;
	begin(&built, UINT64_C(1) << 40);
	put_record(&built, 5, 3, 0xaaaaaaaa);
	put_record(&built, 0, 28, 0xbbbbbbbb);
	put(&built, 1 << 5 | 30); /* time extend: 1 + (2 << 27) */
	put(&built, 2);
	put_record(&built, 7, 1, 0xcccccccc);
	size = end(&built, 0);
	open_page(&page, &built, size);
	assert_int_equal(page.lost, 0);
	assert_record(&page, (UINT64_C(1) << 40) + 5, 12, 0xaaaaaaaa);
	assert_record(&page, (UINT64_C(1) << 40) + 5, 112, 0xbbbbbbbb);
	assert_record(&page, (UINT64_C(1) << 40) + 5 + 1 + (2 << 27) + 7, 4, 0xcccccccc);
	assert_end(&page, 0);
}

static void absolute_times_take_the_high_bits_of_the_page(void **state)
{
	struct built built;
	struct ring_page page;

	(void)state;
	begin(&built, UINT64_C(0x0800000000000000) + 1);
	put(&built, 9 << 5 | 31);
	put(&built, 3);
	put_record(&built, 1, 1, 1);
	open_page(&page, &built, end(&built, 0));
	assert_record(&page, UINT64_C(0x0800000000000000) + 9 + (3 << 27) + 1, 4, 1);
}

static void long_records_tell_their_length_in_a_word(void **state)
{
	struct built built;
	struct ring_page page;

	(void)state;
	begin(&built, 100);
	put(&built, 4 << 5 | 0);
	put(&built, 4 + 8); /* itself and two words */
	put(&built, 0x11111111);
	put(&built, 0x22222222);
	put_record(&built, 2, 1, 0x33333333);
	open_page(&page, &built, end(&built, 0));
	assert_record(&page, 104, 8, 0x11111111);
	assert_record(&page, 106, 4, 0x33333333);
	assert_end(&page, 0);
}

static void discarded_records_are_passed_over(void **state)
{
	struct built built;
	struct ring_page page;

	(void)state;
	begin(&built, 100);
	put(&built, 3 << 5 | 29);
	put(&built, 8); /* this word and the next */
	put(&built, 0xdeadbeef);
	put_record(&built, 2, 1, 5);
	put(&built, 29); /* no time: nothing behind it */
	put(&built, 0);
	open_page(&page, &built, end(&built, 0));
	assert_record(&page, 105, 4, 5);
	assert_end(&page, 0);
}

static void losses_are_told_with_and_without_a_number(void **state)
{
	struct built built;
	struct ring_page page;
	size_t size;

	(void)state;
	begin(&built, 100);
	put_record(&built, 2, 1, 5);
	size = end(&built, 1u << 31);
	open_page(&page, &built, size);
	assert_int_equal(page.lost, UINT64_MAX);
	end(&built, 3u << 30);
	put(&built, 77);
	put(&built, 0);
	open_page(&page, &built, built.nr * 4);
	assert_int_equal(page.lost, 77);
	assert_record(&page, 102, 4, 5);
	assert_end(&page, 0);
	/* No room for the number that it promises. */
	open_page(&page, &built, size);
	assert_int_equal(page.lost, UINT64_MAX);
}

static void what_reaches_beyond_the_page_is_damage(void **state)
{
	static const uint32_t heads[][2] = {
		{ 28, 0 },	     { 0, 64 },		 { 0, 3 },
		{ 1 << 5 | 29, 64 }, { 1 << 5 | 29, 0 }, { 0, UINT32_MAX },
	};
	struct built built;
	struct ring_page page;

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		begin(&built, 100);
		put_record(&built, 2, 1, 5);
		put(&built, heads[i][0]);
		put(&built, heads[i][1]);
		open_page(&page, &built, end(&built, 0));
		assert_record(&page, 102, 4, 5);
		assert_end(&page, -1);
	}
	begin(&built, 100);
	put(&built, 30); /* a time extend's second word is missing */
	open_page(&page, &built, end(&built, 0));
	assert_end(&page, -1);
	/* A commit beyond the page; a page without all of its header. */
	begin(&built, 100);
	put_record(&built, 2, 1, 5);
	end(&built, 0);
	assert_false(ring_page_open(&page, &layout, (const uint8_t *)built.word, 20));
	assert_false(ring_page_open(&page, &layout, (const uint8_t *)built.word, 15));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_page_tells_the_layout),
		cmocka_unit_test(times_add_up),
		cmocka_unit_test(absolute_times_take_the_high_bits_of_the_page),
		cmocka_unit_test(long_records_tell_their_length_in_a_word),
		cmocka_unit_test(discarded_records_are_passed_over),
		cmocka_unit_test(losses_are_told_with_and_without_a_number),
		cmocka_unit_test(what_reaches_beyond_the_page_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
