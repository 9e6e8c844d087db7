// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "schema/events.h"

static void an_event_is_found_by_its_name(void **state)
{
	const struct event_info *info = event_info_by_name("pagemap", "mm_lru_insertion");

	(void)state;
	assert_non_null(info);
	assert_int_equal(info->kind, EVENT_MM_LRU_INSERTION);
	assert_string_equal(info->field[MM_LRU_INSERTION_PFN].name, "pfn");
	assert_string_equal(info->field[MM_LRU_INSERTION_FLAGS].name, "flags");
	assert_int_equal(info->nr_fields, MM_LRU_INSERTION_FLAGS + 1);
}

static void an_older_name_finds_the_same_event(void **state)
{
	const struct event_info *info = event_info_by_name("vmscan", "mm_vmscan_writepage");

	(void)state;
	assert_ptr_equal(info, event_info_by_name("vmscan", "mm_vmscan_write_folio"));
	assert_string_equal(info->name, "mm_vmscan_write_folio");
}

static void what_is_not_in_the_list_is_not_found(void **state)
{
	(void)state;
	assert_null(event_info_by_name("pagemap", "mm_page_alloc"));
	assert_null(event_info_by_name("", ""));
	assert_null(event_info_by_kind(EVENT_OTHER));
	assert_null(event_info_by_kind(EVENT_LOST));
	assert_null(event_info_by_kind((enum event_kind)EVENT_KIND_LIMIT));
}

static void every_event_is_found_by_kind_and_has_slots_without_holes(void **state)
{
	static const enum event_kind kinds[] = {
#define EVENT(number, NAME, system, tracepoint) EVENT_##NAME,
#include "schema/events.def"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct event_info *info = event_info_by_kind(kinds[i]);

		assert_non_null(info);
		assert_int_equal(info->kind, kinds[i]);
		assert_ptr_equal(info, event_info_by_name(info->system, info->name));
		for (unsigned int slot = 0; slot < info->nr_fields; slot++) {
			assert_non_null(info->field[slot].name);
			for (unsigned int other = 0; other < slot; other++)
				assert_string_not_equal(info->field[slot].name,
							info->field[other].name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_found_by_its_name),
		cmocka_unit_test(an_older_name_finds_the_same_event),
		cmocka_unit_test(what_is_not_in_the_list_is_not_found),
		cmocka_unit_test(every_event_is_found_by_kind_and_has_slots_without_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
