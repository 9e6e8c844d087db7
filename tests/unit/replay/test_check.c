// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tape of one story, written by hand from the kernel's rules, and the same with one verdict
 * altered: check must find all decisions equal, and then exactly that one unequal.
 */
#include "tests/unit/replay/check_story.h"

static void correct_tape_is_equal_in_all_its_decisions(void **state)
{
	(void)state;
	tell_and_check(AS_THE_KERNEL_DOES);
	for (int d = 0; d < NR_CHECK_DECISIONS; d++)
		assert_int_equal(unequal((enum check_decision)d), 0);
	assert_int_equal(decided(CHECK_insertion_list), 62 + 4);
	assert_int_equal(decided(CHECK_refault_verdict), 3);
	assert_int_equal(decided(CHECK_activation), 31);
	assert_int_equal(decided(CHECK_isolate_request), 5 + 2);
	assert_int_equal(decided(CHECK_victim), 31 + 2);
	assert_int_equal(decided(CHECK_reclaim_stop), 2);
	assert_int_equal(decided(CHECK_reclaimed_total), 2);
	assert_null(check_mismatch(check, 0));
	assert_int_equal(check_undecided(check)->unseen_folio, 0);
	assert_int_equal(check_undecided(check)->survivors, 0);
	assert_int_equal(check_undecided(check)->foreign, 0);
	assert_null(check_tally(check, WORLD_ROOT, CHECK_victim));
	assert_null(check_tally(check, 4711, CHECK_victim));
}

static void wrong_list_of_a_new_folio_is_found(void **state)
{
	(void)state;
	tell_and_check(PAGE_62_INSERTED_ACTIVE);
	assert_only_mismatch(CHECK_insertion_list, altered_ns, "pfn 103e to inactive_file",
			     "to active_file");
}

static void assert_refault_mismatch(const char *predicted, const char *recorded)
{
	const struct check_tally *tally = check_tally(check, world.command_memcg,
						      CHECK_refault_verdict);

	assert_int_equal(unequal(CHECK_refault_verdict), 1);
	assert_int_equal(unequal(CHECK_insertion_list), 1); /* the list follows the verdict */
	assert_int_equal(tally->first_mismatch_ns, altered_ns);
	assert_string_equal(tally->predicted, predicted);
	assert_string_equal(tally->recorded, recorded);
}

static void refault_activated_from_too_far_is_found(void **state)
{
	(void)state;
	tell_and_check(REFAULT_TOO_FAR_ACTIVATED);
	assert_refault_mismatch("pfn 1000 inactive", "active");
}

static void refault_at_the_boundary_not_activated_is_found(void **state)
{
	(void)state;
	tell_and_check(REFAULT_AT_THE_BOUNDARY_NOT_ACTIVATED);
	assert_refault_mismatch("pfn 1001 active", "inactive");
}

/* Told when the next one of the batch comes. */
static void missing_activation_is_found(void **state)
{
	(void)state;
	tell_and_check(PAGE_40_NOT_ACTIVATED);
	assert_only_mismatch(CHECK_activation, altered_ns, "pfn 1028 activated", "not activated");
	assert_int_equal(decided(CHECK_activation), 31);
}

static void activation_without_a_second_read_is_found(void **state)
{
	(void)state;
	tell_and_check(PAGE_5_ACTIVATED_AFTER_ONE_READ);
	assert_only_mismatch(CHECK_activation, altered_ns, "not activated", "pfn 1005 activated");
	assert_int_equal(world.inferred[INFER_read_at_insertion], 1);
}

static void wrong_size_of_an_isolation_is_found(void **state)
{
	(void)state;
	tell_and_check(FIRST_ISOLATION_ASKS_FOR_2);
	assert_only_mismatch(CHECK_isolate_request, altered_ns, "inactive_file, 1 pages",
			     "inactive_file, 2 pages");
	assert_int_equal(decided(CHECK_victim), 31);
}

/* One that survived is one mismatch, whatever comes behind it, and one page less in the end. */
static void passed_over_victim_counts_once(void **state)
{
	const struct check_tally *tally;

	(void)state;
	tell_and_check(PAGE_25_SURVIVES);
	assert_int_equal(unequal(CHECK_victim), 1);
	assert_int_equal(decided(CHECK_victim), 30);
	tally = check_tally(check, world.command_memcg, CHECK_victim);
	assert_int_equal(tally->first_mismatch_ns, altered_ns);
	assert_string_equal(tally->predicted, "pfn 1019");
	assert_string_equal(tally->recorded, "pfn 101a");
	assert_int_equal(unequal(CHECK_isolate_request), 0);
}

static void reclaim_that_stops_early_is_found(void **state)
{
	(void)state;
	tell_and_check(RECLAIM_STOPS_EARLY);
	assert_only_mismatch(CHECK_reclaim_stop, altered_ns, "goes on with inactive_file, 11 pages",
			     "stops");
}

static void reclaim_that_goes_on_is_found(void **state)
{
	(void)state;
	tell_and_check(RECLAIM_GOES_ON);
	assert_only_mismatch(CHECK_isolate_request, altered_ns, "the call ends",
			     "inactive_file, 5 pages");
}

static void wrong_total_is_found(void **state)
{
	(void)state;
	tell_and_check(TOTAL_ONE_LESS);
	assert_only_mismatch(CHECK_reclaimed_total, altered_ns, "31 pages", "30 pages");
}

static void mismatches_are_kept_with_their_state_up_to_the_number_asked_for(void **state)
{
	const struct check_mismatch *mismatch;

	(void)state;
	tell(REFAULT_TOO_FAR_ACTIVATED);
	run_check(1);
	mismatch = check_mismatch(check, 0);
	assert_non_null(mismatch);
	assert_int_equal(mismatch->decision, CHECK_insertion_list);
	assert_int_equal(mismatch->timestamp_ns, altered_ns);
	assert_int_equal(mismatch->memcg, world.command_memcg);
	assert_int_equal(mismatch->pid, GROUP_TASK);
	assert_int_equal(mismatch->cpu, 0);
	assert_string_equal(mismatch->predicted, "pfn 1000 to inactive_file");
	assert_string_equal(mismatch->recorded, "to active_file");
	assert_non_null(strstr(mismatch->state, "active_file 32 31")); /* now, at the last flush */
	assert_null(check_mismatch(check, 1));
}

static void times_of_mismatches_are_kept_where_none_is_explained(void **state)
{
	(void)state;
	tell(TOTAL_ONE_LESS);
	run_check(0);
	assert_only_mismatch(CHECK_reclaimed_total, altered_ns, "31 pages", "30 pages");
	assert_null(check_mismatch(check, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(correct_tape_is_equal_in_all_its_decisions),
		TEST(wrong_list_of_a_new_folio_is_found),
		TEST(refault_activated_from_too_far_is_found),
		TEST(refault_at_the_boundary_not_activated_is_found),
		TEST(missing_activation_is_found),
		TEST(activation_without_a_second_read_is_found),
		TEST(wrong_size_of_an_isolation_is_found),
		TEST(passed_over_victim_counts_once),
		TEST(reclaim_that_stops_early_is_found),
		TEST(reclaim_that_goes_on_is_found),
		TEST(wrong_total_is_found),
		TEST(mismatches_are_kept_with_their_state_up_to_the_number_asked_for),
		TEST(times_of_mismatches_are_kept_where_none_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
