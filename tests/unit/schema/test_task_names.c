// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schema/task_names.h"
#include "tests/unit/schema/tape_text.h"

static struct tape_reader *tape_with_tasks(const char *tasks)
{
	const struct tape_blob blob = { .name = "lrutape/tasks",
					.data = tasks,
					.size = strlen(tasks) };
	struct tape_problem problem;
	struct tape_writer *writer;
	struct tape_reader *reader;

	assert_int_equal(tape_writer_create(scratch_path(), NULL, &writer, &problem), 0);
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	assert_int_equal(tape_writer_finish(writer, &problem), 0);
	assert_int_equal(tape_reader_open(scratch_path(), &reader, &problem), 0);
	unlink(scratch_path());
	return reader;
}

static void a_name_is_the_rest_of_its_line(void **state)
{
	struct tape_reader *reader = tape_with_tasks("1 1 0 init\n"
						     "20 1 7 two words\n"
						     "30 1 0 \n"
						     "40 1 0\n"
						     "nonsense\n"
						     "\n"
						     "50 1 0 a name of more than fifteen bytes\n"
						     "60 1 0 last");
	struct task_names *names = task_names_new(reader);

	(void)state;
	assert_string_equal(task_names_get(names, 0), "<idle>");
	assert_string_equal(task_names_get(names, 1), "init");
	assert_string_equal(task_names_get(names, 20), "two words");
	assert_null(task_names_get(names, 30));
	assert_null(task_names_get(names, 40));
	assert_string_equal(task_names_get(names, 50), "a name of more ");
	assert_string_equal(task_names_get(names, 60), "last");
	task_names_free(names);
	tape_reader_close(reader);
}

static void an_exec_renames_and_a_fork_names_the_child(void **state)
{
	struct tape_reader *reader = tape_with_tasks("1 1 0 init\n");
	struct task_names *names = task_names_new(reader);
	uint64_t fork[] = { 1, 99, 6 };
	uint64_t exec[] = { 99, 99, (uint64_t)7 << 32 | 8 };
	struct tape_event event = {
		.kind = EVENT_SCHED_PROCESS_FORK,
		.value = fork,
		.strings = "parent\0/bin/cat",
	};

	(void)state;
	task_names_note(names, &event);
	assert_string_equal(task_names_get(names, 99), "parent");
	event.kind = EVENT_SCHED_PROCESS_EXEC;
	event.value = exec;
	task_names_note(names, &event);
	assert_string_equal(task_names_get(names, 99), "cat");
	assert_string_equal(task_names_get(names, 1), "init");
	task_names_free(names);
	tape_reader_close(reader);
}

static void thousands_of_threads_keep_their_names(void **state)
{
	struct tape_reader *reader = tape_with_tasks("");
	struct task_names *names = task_names_new(reader);
	char name[16];

	(void)state;
	for (uint64_t tid = 1; tid <= 20000; tid++) {
		uint64_t fork[] = { 1, tid, 0 };
		const struct tape_event event = {
			.kind = EVENT_SCHED_PROCESS_FORK,
			.value = fork,
			.strings = name,
		};

		fork[2] = (uint64_t)snprintf(name, sizeof(name), "t%" PRIu64, tid);
		task_names_note(names, &event);
	}
	for (int tid = 1; tid <= 20000; tid++) {
		snprintf(name, sizeof(name), "t%d", tid);
		assert_string_equal(task_names_get(names, tid), name);
	}
	assert_null(task_names_get(names, 20001));
	task_names_free(names);
	tape_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_the_rest_of_its_line),
		cmocka_unit_test(an_exec_renames_and_a_fork_names_the_child),
		cmocka_unit_test(thousands_of_threads_keep_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
