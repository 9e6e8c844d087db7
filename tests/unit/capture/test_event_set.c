// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/event_set.h"

/* A small kernel, part of it old: writeback has its name of before 5.16. */
static const char *const kernel[][2] = {
	{ "pagemap", "mm_lru_insertion" },   { "pagemap", "mm_lru_activate" },
	{ "kmem", "mm_page_alloc" },	     { "kmem", "mm_page_free" },
	{ "kmem", "mm_page_free_batched" },  { "writeback", "writeback_dirty_page" },
	{ "sched", "sched_switch" },	     { "memcg", "mod_memcg_lruvec_state" },
	{ "xfs", "xfs_file_buffered_read" }, { "block", "block_bio_queue" },
	{ "block", "block_rq_complete" },
};

static struct event_catalogue catalogue;
static struct event_set set;
static struct swap_areas swap; /* none, but for one test */
static struct capture_problem problem;

static int fill_catalogue(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++)
		if (event_catalogue_add(&catalogue, kernel[i][0], kernel[i][1]))
			return -1;
	return 0;
}

static int empty_catalogue(void **state)
{
	(void)state;
	event_catalogue_free(&catalogue);
	return 0;
}

static int empty_set(void **state)
{
	(void)state;
	event_set_free(&set);
	return 0;
}

static const struct event_choice *find(const char *event)
{
	for (unsigned int i = 0; i < set.nr; i++)
		if (!strcmp(set.choice[i].event, event))
			return &set.choice[i];
	return NULL;
}

static void defaults_filter_order_0_away(void **state)
{
	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap, NULL, &set, &problem));
	assert_non_null(find("mm_lru_insertion"));
	assert_string_equal(find("mm_page_alloc")->filter, "gfp_flags & 8 && order > 0");
	assert_string_equal(find("mod_memcg_lruvec_state")->filter, "item < 5 && val > 0");
	assert_null(find("mm_page_free_batched"));
	assert_null(find("sched_switch"));
}

static void swap_in_use_adds_ends_of_pages_and_swap_io(void **state)
{
	char area[] = "dev == 1 && sector >= 8 && sector < 16";
	const struct swap_areas none = { .in_use = false }, nowhere = { .in_use = true },
				there = { .in_use = true, .filter = area };

	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &none, NULL, &set, &problem));
	assert_string_equal(find("mm_page_free")->filter, "order > 0 || comm ~ \"kcompactd*\"");
	assert_string_equal(find("block_bio_queue")->filter, "rwbs ~ \"W*\"");
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &nowhere, NULL, &set, &problem));
	assert_string_equal(find("mm_page_free")->filter, "");
	assert_string_equal(find("block_bio_queue")->filter, "rwbs ~ \"W*\"");
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &there, NULL, &set, &problem));
	assert_string_equal(find("block_bio_queue")->filter,
			    "(rwbs ~ \"W*\") || (dev == 1 && sector >= 8 && sector < 16)");
	assert_string_equal(find("block_rq_complete")->filter, find("block_bio_queue")->filter);
}

static void sets_hold_the_ones_before_and_widen_filters(void **state)
{
	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "lru", &set, &problem));
	assert_string_equal(set.name, "lru");
	assert_null(find("count_memcg_events"));
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "pages", &set, &problem));
	assert_string_equal(find("mm_page_alloc")->filter, "");
	assert_string_equal(find("mod_memcg_lruvec_state")->filter, "item < 5 && val > 0");
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "memcg", &set, &problem));
	assert_string_equal(find("mm_page_alloc")->filter, "");
	assert_string_equal(find("mod_memcg_lruvec_state")->filter, "item < 5");
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "full", &set, &problem));
	assert_string_equal(set.name, "full");
	assert_string_equal(find("mod_memcg_lruvec_state")->filter, "");
	for (unsigned int i = 0; i < set.nr_missing; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(set.missing[i], set.missing[j]);
}

static void a_set_takes_signed_and_unsigned_items_in_any_order(void **state)
{
	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap,
					     "-pagemap:mm_lru_activate,+sched:sched_switch,pages",
					     &set, &problem));
	assert_null(find("mm_lru_activate"));
	assert_non_null(find("sched_switch"));
	assert_string_equal(find("mm_page_free")->filter, "");
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "lru,sched:sched_switch", &set,
					     &problem));
	assert_non_null(find("mm_lru_insertion"));
	assert_non_null(find("sched_switch"));
	event_set_free(&set);
	assert_int_equal(-1, event_set_choose(&catalogue, &swap, "lruu", &set, &problem));
	assert_non_null(strstr(problem.text, "neither a set (lru, pages, memcg, full)"));
}

static void a_kernel_without_get_pages_gets_its_file_systems_reads(void **state)
{
	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap, NULL, &set, &problem));
	assert_non_null(find("xfs_file_buffered_read"));
	assert_int_equal(0, event_catalogue_add(&catalogue, "filemap", "mm_filemap_get_pages"));
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &swap, NULL, &set, &problem));
	assert_null(find("xfs_file_buffered_read"));
	assert_non_null(find("mm_filemap_get_pages"));
}

static void an_older_name_is_found_and_no_name_is_missed(void **state)
{
	bool missed = false;

	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap, NULL, &set, &problem));
	assert_non_null(find("writeback_dirty_page"));
	for (unsigned int i = 0; i < set.nr_missing; i++) {
		assert_string_not_equal(set.missing[i], "writeback:writeback_dirty_folio");
		missed |= !strcmp(set.missing[i], "filemap:mm_filemap_get_pages");
	}
	assert_true(missed);
}

static void names_without_sign_are_all_there_is(void **state)
{
	(void)state;
	assert_int_equal(0,
			 event_set_choose(&catalogue, &swap, "sched:sched_switch,kmem:mm_page_free",
					  &set, &problem));
	assert_int_equal(set.nr, 2);
	assert_int_equal(set.nr_missing, 0);
	assert_string_equal(find("mm_page_free")->filter, "");
}

static void plus_adds_and_minus_takes_away(void **state)
{
	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap,
					     "+sched:sched_switch,-pagemap:mm_lru_activate", &set,
					     &problem));
	assert_non_null(find("sched_switch"));
	assert_non_null(find("mm_lru_insertion"));
	assert_null(find("mm_lru_activate"));
}

static void a_star_takes_a_system_each_event_once(void **state)
{
	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "kmem:mm_page_free,kmem:*", &set,
					     &problem));
	assert_int_equal(set.nr, 3);
}

static void a_filter_replaces_the_default_one(void **state)
{
	(void)state;
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "+kmem:mm_page_alloc if order > 3",
					     &set, &problem));
	assert_string_equal(find("mm_page_alloc")->filter, "order > 3");
	event_set_free(&set);
	assert_int_equal(0, event_set_choose(&catalogue, &swap, "+kmem:mm_page_alloc", &set,
					     &problem));
	assert_string_equal(find("mm_page_alloc")->filter, "");
}

static void an_unknown_name_gets_near_ones(void **state)
{
	(void)state;
	assert_int_equal(-1, event_set_choose(&catalogue, &swap, "pagemap:mm_lru_insertoin", &set,
					      &problem));
	assert_non_null(
		strstr(problem.text, "pagemap:mm_lru_insertoin: this kernel has no such event"));
	assert_non_null(strstr(problem.text, "near: pagemap:mm_lru_insertion"));
	assert_int_equal(-1, event_set_choose(&catalogue, &swap, "+vmscan:mm_page_free", &set,
					      &problem));
	assert_non_null(strstr(problem.text, "near: kmem:mm_page_free"));
	assert_int_equal(-1, event_set_choose(&catalogue, &swap, "zzz:qqqqqqqqqq", &set, &problem));
	assert_null(strstr(problem.text, "near"));
}

static void what_is_no_event_name_is_refused(void **state)
{
	static const char *const bad[] = { "kmem", "kmem:", ":mm_page_free", "++kmem:mm_page_free",
					   "+",	   "-*:*" };
	char long_name[512];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(-1, event_set_choose(&catalogue, &swap, bad[i], &set, &problem));
	memset(long_name, 'x', sizeof(long_name));
	memcpy(long_name, "kmem:", 5);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(-1, event_set_choose(&catalogue, &swap, long_name, &set, &problem));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(defaults_filter_order_0_away, empty_set),
		cmocka_unit_test_teardown(swap_in_use_adds_ends_of_pages_and_swap_io, empty_set),
		cmocka_unit_test_teardown(an_older_name_is_found_and_no_name_is_missed, empty_set),
		cmocka_unit_test_teardown(names_without_sign_are_all_there_is, empty_set),
		cmocka_unit_test_teardown(plus_adds_and_minus_takes_away, empty_set),
		cmocka_unit_test_teardown(a_star_takes_a_system_each_event_once, empty_set),
		cmocka_unit_test_teardown(a_filter_replaces_the_default_one, empty_set),
		cmocka_unit_test_teardown(an_unknown_name_gets_near_ones, empty_set),
		cmocka_unit_test_teardown(what_is_no_event_name_is_refused, empty_set),
		cmocka_unit_test_teardown(sets_hold_the_ones_before_and_widen_filters, empty_set),
		cmocka_unit_test_teardown(a_set_takes_signed_and_unsigned_items_in_any_order,
					  empty_set),
		cmocka_unit_test_teardown(a_kernel_without_get_pages_gets_its_file_systems_reads,
					  empty_set),
	};

	return cmocka_run_group_tests(tests, fill_catalogue, empty_catalogue);
}
