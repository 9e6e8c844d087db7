// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/memcg.h"
#include "capture/stale_owner.h"

static const struct memcg_hierarchy v1 = { .version = 1 }, v2 = { .version = 2 };

static void v1_path_is_that_of_the_memory_controller(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_true(memcg_path_of_task(&v1, "5:cpu,memory:/a/b:c\n4:pids:/x\n0::/\n", path));
	assert_string_equal(path, "/a/b:c");
	assert_true(memcg_path_of_task(&v1, "4:pids:/x\n3:memory:/\n", path));
	assert_string_equal(path, "/");
	assert_false(memcg_path_of_task(&v1, "4:pids:/x\n3:xmemory:/\n0::/y\n", path));
}

static void v2_path_is_that_of_hierarchy_0(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_true(memcg_path_of_task(&v2, "10:memory:/old\n0::/user.slice/x\n", path));
	assert_string_equal(path, "/user.slice/x");
	assert_false(memcg_path_of_task(&v2, "10:memory:/old\n", path));
}

static void texts_that_are_no_cgroup_file_name_nothing(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_false(memcg_path_of_task(&v1, "", path));
	assert_false(memcg_path_of_task(&v1, "memory", path));
	assert_false(memcg_path_of_task(&v1, "\n\n:\n", path));
	assert_false(memcg_path_of_task(&v1, "1:memory:relative\n", path));
}

static void only_names_of_dead_recorders_are_stale(void **state)
{
	static const char *const others[] = {
		"lrutape",    "lrutape-",   "lrutape-0",
		"lrutape-x",  "lrutape-1x", "lrutape--1",
		"xlrutape-1", "lrutape-1",  "lrutape-99999999999999999999"
	};
	char name[64];
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	snprintf(name, sizeof(name), "lrutape-%d", pid);
	assert_int_equal(stale_owner(name), 0); /* a zombie still has its number */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(stale_owner(name), pid);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(stale_owner(others[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v1_path_is_that_of_the_memory_controller),
		cmocka_unit_test(v2_path_is_that_of_hierarchy_0),
		cmocka_unit_test(texts_that_are_no_cgroup_file_name_nothing),
		cmocka_unit_test(only_names_of_dead_recorders_are_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
