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

static void a_nul_ends_a_name_and_not_the_list(void **state)
{
	static const char tasks[] = "10 1 0 cut\0here\n20 1 0 next\n";
	const struct tape_blob blob = { .name = "lrutape/tasks",
					.data = tasks,
					.size = sizeof(tasks) - 1 };
	struct tape_problem problem;
	struct tape_writer *writer;
	struct tape_reader *reader;
	struct task_names *names;

	(void)state;
	assert_int_equal(tape_writer_create(scratch_path(), NULL, &writer, &problem), 0);
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	assert_int_equal(tape_writer_finish(writer, &problem), 0);
	assert_int_equal(tape_reader_open(scratch_path(), &reader, &problem), 0);
	unlink(scratch_path());
	names = task_names_new(reader);
	assert_string_equal(task_names_get(names, 10), "cut");
	assert_string_equal(task_names_get(names, 20), "next");
	task_names_free(names);
	tape_reader_close(reader);
}

/* A type of task_newtask whose comm is of this kind, and one event of it. */
static struct task_names *names_of_one_event(enum tape_field_kind comm_kind, uint64_t pid,
					     struct tape_reader **reader)
{
	const struct tape_field field[] = {
		{ .name = "pid",
		  .ctype = "pid_t",
		  .offset = 8,
		  .size = 4,
		  .kind = TAPE_FIELD_INTEGER },
		{ .name = "comm", .ctype = "x", .offset = 16, .size = 8, .kind = comm_kind },
	};
	const struct tape_type type = { .system = "task",
					.name = "task_newtask",
					.format = "",
					.filter = "",
					.field = field,
					.nr_fields = 2 };
	uint64_t value[8] = { 0 };
	struct tape_event event = {
		.cpu = 0, .pid = 1, .timestamp_ns = 5, .value = value, .strings = "given"
	};
	const struct tape_type *made;
	const struct tape_event *read;
	struct tape_problem problem;
	struct tape_writer *writer;
	struct task_names *names;

	assert_int_equal(tape_writer_create(scratch_path(), NULL, &writer, &problem), 0);
	assert_int_equal(tape_writer_add_type(writer, &type, &event.type), 0);
	made = tape_writer_type(writer, event.type);
	event.kind = (uint16_t)made->kind;
	value[made->field[0].slot] = pid;
	value[made->field[1].slot] = comm_kind == TAPE_FIELD_INTEGER ? UINT64_C(1) << 62 : 5;
	assert_int_equal(tape_stream_event(tape_writer_stream(writer, 0), &event), 0);
	assert_int_equal(tape_writer_finish(writer, &problem), 0);
	assert_int_equal(tape_reader_open(scratch_path(), reader, &problem), 0);
	unlink(scratch_path());
	names = task_names_new(*reader);
	assert_int_equal(tape_reader_next(*reader, &read), 1);
	task_names_note(names, read);
	return names;
}

/* Its value is no place in memory, whatever it is. */
static void an_integer_is_no_name(void **state)
{
	struct tape_reader *reader;
	struct task_names *names = names_of_one_event(TAPE_FIELD_INTEGER, 7, &reader);

	(void)state;
	assert_null(task_names_get(names, 7));
	task_names_free(names);
	tape_reader_close(reader);
}

static void a_pid_of_all_ones_is_a_pid(void **state)
{
	struct tape_reader *reader;
	struct task_names *names = names_of_one_event(TAPE_FIELD_STRING, UINT64_MAX, &reader);

	(void)state;
	assert_string_equal(task_names_get(names, -1), "given");
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
		cmocka_unit_test(a_nul_ends_a_name_and_not_the_list),
		cmocka_unit_test(an_integer_is_no_name),
		cmocka_unit_test(a_pid_of_all_ones_is_a_pid),
		cmocka_unit_test(thousands_of_threads_keep_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
