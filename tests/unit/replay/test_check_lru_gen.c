// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/check.h"
#include "replay/event_stream.h"

#include "tests/unit/made_tape.h"

/* Generations 4 to 7 of an empty group; tier 1 of the oldest has counters, tier 2 an average. */
static const char snapshot[] =
	"memcg     7 /g\n"
	" node     0\n"
	"          4        100          0x          0x\n"
	"            0          0x          0x          0x          0x          0x          0x\n"
	"            1          0x          0x          0x          0x          0x          0x\n"
	"            2          0x          0x          0x          0x          0x          0x\n"
	"            3          0x          0x          0x          0x          0x          0x\n"
	"                       0x          0x          0x          0x\n"
	"          5         90          0           0\n"
	"            0          0r          0e          0p          0r          0e          0p\n"
	"            1          0r          0e          0p          3r          9e          2p\n"
	"            2          0r          0e          0p          0r          0e          0p\n"
	"            3          0r          0e          0p          0r          0e          0p\n"
	"                       0x          0x          0x          0x\n"
	"          6         80          0           0\n"
	"            0          0x          0x          0x          0x          0x          0x\n"
	"            1          0x          0x          0x          0x          0x          0x\n"
	"            2          0x          0x          0x          0x          0x          0x\n"
	"            3          0x          0x          0x          0x          0x          0x\n"
	"                       0x          0x          0x          0x\n"
	"          7         70          0           0\n"
	"            0          0R          0T          0x          0R          0T          0x\n"
	"            1          0R          0T          0x          0R          0T          0x\n"
	"            2          0R          0T          0x         40R        100T          0x\n"
	"            3          0R          0T          0x          0R          0T          0x\n"
	"                       0T          0Y          0F          0A\n";

struct outcome {
	uint64_t sizes, sizes_equal, tiers, tiers_equal;
};

static void begin(struct made_tape *tape)
{
	made_tape_begin(tape, NULL);
	made_machine(tape, 1000);
	made_blob(tape, TAPE_MOMENT_START, "/sys/kernel/mm/lru_gen/enabled", "0x0007\n");
}

static void snapshot_at(struct made_tape *tape, uint64_t ns, const char *text)
{
	struct tape_blob blob = { .timestamp_ns = ns,
				  .moment = 1,
				  .name = "/sys/kernel/debug/lru_gen_full",
				  .data = text,
				  .size = strlen(text) };

	assert_int_equal(tape_writer_add_blob(tape->writer, &blob), 0);
}

static struct outcome check_tape(struct made_tape *tape)
{
	struct tape_reader *reader = made_tape_read(tape);
	struct event_stream *stream = event_stream_open(reader);
	const struct check_tally *tally;
	const struct tape_event *event;
	struct outcome outcome = { 0 };
	struct policy_choice choice;
	struct check *check;
	struct world world;
	uint64_t read_end;
	char why[256];
	uint32_t group;

	assert_int_equal(world_init(&world, reader), 0);
	assert_int_equal(policy_parse("lru_gen@6.12", "6.12", &choice, why, sizeof(why)), 0);
	check = check_open(&world, &choice, 1);
	assert_non_null(check);
	while (event_stream_next(stream, &event, &read_end) > 0) {
		world_event(&world, event);
		check_event(check, event, read_end);
		world_event_done(&world, event, read_end);
	}
	assert_false(check_failed(check));
	group = world_memcg_by_id(&world, GROUP_ID);
	tally = check_tally(check, group, CHECK_generation_size);
	if (tally) {
		outcome.sizes = tally->decided;
		outcome.sizes_equal = tally->equal;
	}
	tally = check_tally(check, group, CHECK_tier_counters);
	if (tally) {
		outcome.tiers = tally->decided;
		outcome.tiers_equal = tally->equal;
	}
	check_close(check);
	event_stream_close(stream);
	world_exit(&world);
	made_tape_end(tape);
	return outcome;
}

static void empty_group_goes_on_from_the_generations_that_it_had(void **state)
{
	struct made_tape tape;
	struct outcome outcome;

	(void)state;
	begin(&tape);
	made_blob(&tape, TAPE_MOMENT_START, "/sys/kernel/debug/lru_gen_full", snapshot);
	snapshot_at(&tape, 1, snapshot);
	made_read(&tape, 0, OTHER_TASK, 1, 1);
	outcome = check_tape(&tape);
	assert_int_equal(outcome.sizes, 4);
	assert_int_equal(outcome.sizes_equal, 4);
	assert_int_equal(outcome.tiers, 16);
	assert_int_equal(outcome.tiers_equal, 16);
}

static void snapshot_of_other_generations_is_seen(void **state)
{
	struct made_tape tape;
	struct outcome outcome;

	(void)state;
	begin(&tape);
	snapshot_at(&tape, 1, snapshot);
	made_read(&tape, 0, OTHER_TASK, 1, 1);
	outcome = check_tape(&tape);
	assert_int_equal(outcome.sizes, 4);
	assert_true(outcome.sizes_equal < 4);
	assert_true(outcome.tiers_equal < outcome.tiers);
}

static void torn_snapshot_at_the_start_is_left_alone(void **state)
{
	struct made_tape tape;

	(void)state;
	begin(&tape);
	made_blob(&tape, TAPE_MOMENT_START, "/sys/kernel/debug/lru_gen_full",
		  "memcg 7 /g\n node 0\n 99999 1 0 0\n 3 1 0x 0x\n");
	made_read(&tape, 0, OTHER_TASK, 1, 1);
	for (uint64_t page = 0; page < 100; page++) {
		made_add(&tape, 0, GROUP_TASK, page);
		made_insertion(&tape, 0, GROUP_TASK, page, 2);
	}
	assert_int_equal(check_tape(&tape).sizes, 0);
}

static void file_folios_count_in_the_generation_they_were_put_in(void **state)
{
	static const char with_folios[] =
		"memcg 7 /g\n node 0\n 0 9 0 0\n 1 9 0 2\n 2 9 0 0\n 3 9 0 0\n";
	struct made_tape tape;
	struct outcome outcome;

	(void)state;
	begin(&tape);
	for (uint64_t page = 0; page < 3; page++)
		made_add(&tape, 0, GROUP_TASK, page);
	for (uint64_t page = 0; page < 2; page++) /* the third one waits */
		made_insertion(&tape, 0, GROUP_TASK, page, 2);
	snapshot_at(&tape, tape.now_ns + 1, with_folios);
	made_read(&tape, 0, OTHER_TASK, 1, 1);
	outcome = check_tape(&tape);
	assert_int_equal(outcome.sizes, 4);
	assert_int_equal(outcome.sizes_equal, 4);
}

/* HIGHUSER_MOVABLE, of zeroes */
#define GFP_ANON 0x140dca
#define FAULT_BY_KERNEL_TO_WRITE 2

static void alloc(struct made_tape *tape, uint64_t pfn)
{
	made_event(tape, 0, GROUP_TASK, MM_PAGE_ALLOC, pfn, 0, GFP_ANON, 1);
}

/* An exec's arguments, and below them on its stack what it writes when the stack is set up. */
static void page_of_arguments_is_not_a_fault_s_page_below_it_is(void **state)
{
	static const char both[] = "memcg 7 /g\n node 0\n 0 9 0 0\n 1 9 0 0\n 2 9 2 0\n 3 9 1 0\n";
	struct made_tape tape;
	struct outcome outcome;

	(void)state;
	begin(&tape);
	made_type(&tape, EVENT_PAGE_FAULT_USER, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_ALLOC, "", NULL);
	made_type(&tape, EVENT_MM_PAGE_FREE, "", NULL);
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, 0x2000, 4);
	alloc(&tape, 50);
	alloc(&tape, 51);
	made_event(&tape, 0, GROUP_TASK, PAGE_FAULT_USER, 0x7fff0000, FAULT_BY_KERNEL_TO_WRITE);
	alloc(&tape, 52);
	made_event_text(&tape, 0, GROUP_TASK, SCHED_PROCESS_EXEC, "/bin/x", GROUP_TASK, GROUP_TASK);
	for (uint64_t pfn = 50; pfn <= 52; pfn++)
		made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, pfn, 0, 0x33);
	snapshot_at(&tape, tape.now_ns + 1, both);
	made_read(&tape, 0, OTHER_TASK, 1, 1);
	outcome = check_tape(&tape);
	assert_int_equal(outcome.sizes, 8);
	assert_int_equal(outcome.sizes_equal, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_group_goes_on_from_the_generations_that_it_had),
		cmocka_unit_test(snapshot_of_other_generations_is_seen),
		cmocka_unit_test(torn_snapshot_at_the_start_is_left_alone),
		cmocka_unit_test(file_folios_count_in_the_generation_they_were_put_in),
		cmocka_unit_test(page_of_arguments_is_not_a_fault_s_page_below_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
