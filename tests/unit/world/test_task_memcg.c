// SPDX-License-Identifier: GPL-2.0-only
/* Who is in which memcg: the snapshot, then forks, attaches and what the recorder looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/world/world.h"
#include "schema/tape_writer.h"

static struct tape_writer *writer;
static struct tape_stream *stream;
static uint16_t fork_type, exit_type, told_type;
static uint64_t now_ns;
static char path[4096];

static const struct tape_field fork_fields[] = {
	{ "parent_pid", "pid_t", 8, 4, true, TAPE_FIELD_INTEGER, 0 },
	{ "child_pid", "pid_t", 12, 4, true, TAPE_FIELD_INTEGER, 0 },
};
static const struct tape_field exit_fields[] = {
	{ "pid", "pid_t", 8, 4, true, TAPE_FIELD_INTEGER, 0 },
};
static const struct tape_field told_fields[] = {
	{ "pid", "pid_t", 8, 4, true, TAPE_FIELD_INTEGER, 0 },
	{ "memcg", "u64", 12, 8, false, TAPE_FIELD_INTEGER, 0 },
	{ "path", "char[]", 20, 0, false, TAPE_FIELD_STRING, 0 },
};

static uint16_t declare(const char *system, const char *name, const struct tape_field *field,
			unsigned int nr_fields)
{
	const struct tape_type type = {
		.system = system,
		.name = name,
		.format = "",
		.filter = "",
		.field = field,
		.nr_fields = nr_fields,
	};
	uint16_t number;

	assert_int_equal(0, tape_writer_add_type(writer, &type, &number));
	return number;
}

static void add_blob(const char *name, const char *text)
{
	const struct tape_blob blob = { .name = name, .data = text, .size = strlen(text) };

	assert_int_equal(0, tape_writer_add_blob(writer, &blob));
}

static void add_event(uint16_t type, const uint64_t *value, const char *strings)
{
	const struct tape_event event = {
		.timestamp_ns = ++now_ns,
		.type = type,
		.value = value,
		.strings = strings,
	};

	assert_int_equal(0, tape_stream_event(stream, &event));
}

static void add_fork(uint64_t parent, uint64_t child)
{
	add_event(fork_type, (const uint64_t[]){ parent, child, TAPE_VALUE_ABSENT }, "");
}

static void add_told(uint64_t pid, uint64_t id, const char *group)
{
	add_event(told_type, (const uint64_t[]){ pid, id, strlen(group) }, group);
}

static int begin_tape(void **state)
{
	const char *directory = getenv("TEST_TMP") ? getenv("TEST_TMP") : "/tmp";
	struct tape_problem problem;

	(void)state;
	snprintf(path, sizeof(path), "%s/test_task_memcg_%d.lrt", directory, (int)getpid());
	assert_int_equal(0, tape_writer_create(path, NULL, &writer, &problem));
	stream = tape_writer_stream(writer, 0);
	fork_type = declare("sched", "sched_process_fork", fork_fields, 2);
	exit_type = declare("sched", "sched_process_exit", exit_fields, 1);
	told_type = declare("lrutape", "task_memcg", told_fields, 3);
	add_blob("lrutape/cgroups", "1 /\n100 /a\n200 /b\n");
	add_blob("lrutape/tasks", "10 10 100 parent\n");
	now_ns = 0;
	return 0;
}

/* Memcg id of a task once all events have passed. */
static uint64_t memcg_at_end(int32_t pid)
{
	const struct tape_event *event;
	struct tape_reader *reader;
	struct tape_problem problem;
	struct world world;
	uint64_t id;

	if (writer)
		assert_int_equal(0, tape_writer_finish(writer, &problem));
	writer = NULL;
	assert_int_equal(0, tape_reader_open(path, &reader, &problem));
	assert_int_equal(0, world_init(&world, reader));
	while (tape_reader_next(reader, &event) > 0)
		world_event(&world, event);
	id = world.memcg[world_task(&world, pid)->memcg].id;
	world_exit(&world);
	tape_reader_close(reader);
	return id;
}

static int remove_tape(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static void a_child_is_where_its_parent_is(void **state)
{
	(void)state;
	add_fork(10, 11);
	assert_int_equal(100, memcg_at_end(11));
}

static void a_child_cloned_into_a_group_does_not_inherit(void **state)
{
	(void)state;
	add_told(11, 200, "/b");
	add_fork(10, 11);
	add_fork(11, 12);
	assert_int_equal(200, memcg_at_end(11));
	assert_int_equal(200, memcg_at_end(12));
}

static void a_group_of_no_snapshot_is_made(void **state)
{
	(void)state;
	add_told(11, 300, "/b/c");
	add_fork(10, 11);
	assert_int_equal(300, memcg_at_end(11));
}

static void a_child_that_was_gone_inherits(void **state)
{
	(void)state;
	add_told(11, 0, "");
	add_fork(10, 11);
	assert_int_equal(100, memcg_at_end(11));
}

static void a_pid_used_again_is_another_task(void **state)
{
	(void)state;
	add_told(11, 200, "/b");
	add_event(exit_type, (const uint64_t[]){ 11, TAPE_VALUE_ABSENT }, "");
	add_fork(10, 11);
	assert_int_equal(100, memcg_at_end(11));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_tape, remove_tape)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_is_where_its_parent_is),
		TEST(a_child_cloned_into_a_group_does_not_inherit),
		TEST(a_group_of_no_snapshot_is_made),
		TEST(a_child_that_was_gone_inherits),
		TEST(a_pid_used_again_is_another_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
