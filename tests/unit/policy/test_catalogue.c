// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "replay/policy/policy.h"

static struct policy_choice choice;
static char why[256];

static int parse(const char *text)
{
	memset(why, 0, sizeof(why));
	return policy_parse(text, "6.18.44-cloud", &choice, why, sizeof(why));
}

#define assert_refused(text, sentence)                                                             \
	do {                                                                                       \
		assert_int_equal(parse(text), -1);                                                 \
		assert_string_equal(why, sentence);                                                \
	} while (0)

static void base_alone_takes_the_release_of_the_tape(void **state)
{
	(void)state;
	assert_int_equal(parse("classic"), 0);
	assert_string_equal(choice.name, "classic");
	assert_string_equal(choice.base->name, "classic");
	assert_string_equal(choice.rules.release, "6.18");
	assert_int_equal(choice.rules.folio_batch_size, 31);
	assert_int_equal(choice.rules.lru_cached_order_limit, 1);
	assert_int_equal(choice.nr_patches, 0);
}

static void named_release_wins_over_that_of_the_tape(void **state)
{
	(void)state;
	assert_int_equal(policy_parse("classic@6.18", "4.9.80", &choice, why, sizeof(why)), 0);
	assert_string_equal(choice.rules.release, "6.18");
}

static void patch_changes_the_rules_by_its_preset_or_the_value_given(void **state)
{
	(void)state;
	assert_int_equal(parse("classic+large_folio_lru_cache"), 0);
	assert_int_equal(choice.nr_patches, 1);
	assert_int_equal(choice.value[0], 3);
	assert_int_equal(choice.rules.lru_cached_order_limit, 3);
	assert_int_equal(parse("classic@6.18+large_folio_lru_cache=5"), 0);
	assert_string_equal(choice.name, "classic@6.18+large_folio_lru_cache=5");
	assert_int_equal(choice.value[0], 5);
	assert_int_equal(choice.rules.lru_cached_order_limit, 5);
	/* The stock rules stay as they are. */
	assert_int_equal(mm_rules_for_release("6.18")->lru_cached_order_limit, 1);
}

static void later_patch_of_the_same_name_wins(void **state)
{
	(void)state;
	assert_int_equal(parse("classic+large_folio_lru_cache=5+large_folio_lru_cache=2"), 0);
	assert_int_equal(choice.nr_patches, 2);
	assert_int_equal(choice.rules.lru_cached_order_limit, 2);
}

/* The nearest first; who follows depends on the catalogue. */
static void unknown_base_is_told_the_nearest_names(void **state)
{
	static const char sentence[] = "no policy is called 'clasic'; nearest: classic";

	(void)state;
	assert_int_equal(parse("clasic"), -1);
	assert_memory_equal(why, sentence, strlen(sentence));
	assert_int_equal(parse("xyz"), -1);
	assert_non_null(strstr(why, "no policy is called 'xyz'; nearest: "));
}

static void unknown_patch_is_told_the_nearest_names(void **state)
{
	(void)state;
	assert_refused("classic+large_folio_cache", "no patch of classic is called "
						    "'large_folio_cache'; nearest: "
						    "large_folio_lru_cache, folio_batch_15, "
						    "inline_evictable");
}

static void patch_of_one_release_is_refused_to_others(void **state)
{
	(void)state;
	assert_refused("classic+inline_evictable",
		       "patch inline_evictable is for the code of 5.6, not of 6.18; write "
		       "classic@5.6+inline_evictable");
	assert_refused("classic@5.7+mb_after_atomic",
		       "patch mb_after_atomic is for the code of 5.6, not of 5.7; write "
		       "classic@5.6+mb_after_atomic");
	assert_int_equal(policy_parse("classic+inline_evictable", "5.6.4-1-default", &choice, why,
				      sizeof(why)),
			 0);
}

static void patches_add_up(void **state)
{
	(void)state;
	assert_int_equal(parse("classic@5.6+inline_evictable+mb_after_atomic"), 0);
	assert_int_equal(choice.nr_patches, 2);
	assert_true(choice.rules.evictable_inline);
	assert_int_equal(choice.rules.lru_add_barrier, LRU_ADD_MB_AFTER_ATOMIC);
	assert_int_equal(parse("classic+zap_drains+folio_batch_15+exact_stats"), 0);
	assert_true(choice.rules.zap_drains && choice.rules.exact_stats);
	assert_int_equal(choice.rules.folio_batch_size, 15);
}

static void unmodelled_release_is_told_one_that_is(void **state)
{
	(void)state;
	assert_refused("classic@4.9",
		       "release '4.9' is not modelled; write one that is, e.g. classic@6.18");
	assert_refused("classic@6.180",
		       "release '6.180' is not modelled; write one that is, e.g. classic@6.18");
	assert_refused("classic@", "a release must follow '@', e.g. classic@6.18");
	assert_int_equal(policy_parse("classic", "5.8.4", &choice, why, sizeof(why)), -1);
	assert_string_equal(
		why, "release '5.8.4' is not modelled; write one that is, e.g. classic@6.18");
}

static void release_is_a_whole_number_not_a_prefix(void **state)
{
	(void)state;
	assert_non_null(mm_rules_for_release("6.18"));
	assert_non_null(mm_rules_for_release("6.18.44"));
	assert_non_null(mm_rules_for_release("6.18-rc3+"));
	assert_string_equal(mm_rules_for_release("6.1.0-57-cloud-amd64")->release, "6.1");
	assert_string_equal(mm_rules_for_release("6.12.117+deb12")->release, "6.12");
	assert_null(mm_rules_for_release("6.180"));
	assert_null(mm_rules_for_release(""));
}

static void setting_out_of_its_limits_is_refused(void **state)
{
	static const char *const bad[] = { "0", "11", "-1", "", "x", "3x", "99999999999999999999" };
	char text[96], sentence[160];

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "classic+large_folio_lru_cache=%s", bad[i]);
		snprintf(sentence, sizeof(sentence),
			 "large_folio_lru_cache=%s: order_limit must be a number from 1 to 10",
			 bad[i]);
		assert_refused(text, sentence);
	}
	assert_int_equal(parse("classic+large_folio_lru_cache=1"), 0);
	assert_int_equal(parse("classic+large_folio_lru_cache=10"), 0);
}

static void text_that_is_no_policy_is_told_how_one_is_written(void **state)
{
	char text[4 * POLICY_NAME_BYTES] = "classic";

	(void)state;
	assert_refused("", "a policy is written base[@release][+patch[=value]]..., e.g. classic");
	assert_refused("@6.18",
		       "a policy is written base[@release][+patch[=value]]..., e.g. classic");
	assert_refused("classic+", "a patch's name must follow '+'");
	assert_refused("classic=3",
		       "'=3' was not understood; write base[@release][+patch[=value]]...");
	assert_refused("classic@6.18@6.18",
		       "'@6.18' was not understood; write base[@release][+patch[=value]]...");
	memset(text, 'c', sizeof(text) - 1);
	assert_int_equal(parse(text), -1);
	assert_string_equal(why, "a policy's name has fewer than 128 characters");
	text[100] = '\0';
	assert_int_equal(parse(text), -1);
}

static void more_patches_than_fit_are_refused(void **state)
{
	char text[512] = "classic";

	(void)state;
	for (int i = 0; i < POLICY_PATCH_LIMIT + 1; i++)
		strcat(text, "+large_folio_lru_cache");
	assert_int_equal(parse(text), -1); /* by its length or by their number */
	assert_true(strlen(why) > 0);
}

static void sentence_is_cut_where_the_room_ends(void **state)
{
	char little[16];

	(void)state;
	memset(little, 'x', sizeof(little));
	assert_int_equal(policy_parse("clasic", "6.18", &choice, little, 8), -1);
	assert_string_equal(little, "no poli");
	assert_int_equal(little[8], 'x');
}

static void every_listed_policy_is_whole(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; policy_base(i); i++) {
		const struct reclaim_policy *p = policy_base(i);

		assert_true(p->name && p->summary && p->source);
		assert_true(p->folio_added && p->folio_activated && p->folio_removed &&
			    p->folio_accessed && p->refault && p->evict && p->prepare_scan &&
			    p->shrink_begin && p->shrink_next && p->shrink_done && p->isolate &&
			    p->putback && p->reclaim_end);
		assert_true(p->folio_private_bytes <= sizeof(((struct folio *)0)->private));
		assert_int_equal(parse(p->name), 0);
	}
	assert_true(i > 0);
	for (i = 0; policy_patch(i); i++) {
		const struct policy_patch *p = policy_patch(i);
		char text[POLICY_NAME_BYTES];

		assert_true(p->name && p->base && p->summary && p->source && p->apply);
		snprintf(text, sizeof(text), "%s%s%s+%s", p->base, p->release ? "@" : "",
			 p->release ? p->release : "", p->name);
		assert_int_equal(parse(text), 0);
	}
	assert_true(i > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base_alone_takes_the_release_of_the_tape),
		cmocka_unit_test(named_release_wins_over_that_of_the_tape),
		cmocka_unit_test(patch_changes_the_rules_by_its_preset_or_the_value_given),
		cmocka_unit_test(later_patch_of_the_same_name_wins),
		cmocka_unit_test(unknown_base_is_told_the_nearest_names),
		cmocka_unit_test(unknown_patch_is_told_the_nearest_names),
		cmocka_unit_test(patch_of_one_release_is_refused_to_others),
		cmocka_unit_test(patches_add_up),
		cmocka_unit_test(unmodelled_release_is_told_one_that_is),
		cmocka_unit_test(release_is_a_whole_number_not_a_prefix),
		cmocka_unit_test(setting_out_of_its_limits_is_refused),
		cmocka_unit_test(text_that_is_no_policy_is_told_how_one_is_written),
		cmocka_unit_test(more_patches_than_fit_are_refused),
		cmocka_unit_test(sentence_is_cut_where_the_room_ends),
		cmocka_unit_test(every_listed_policy_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
