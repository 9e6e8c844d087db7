// SPDX-License-Identifier: GPL-2.0-only
/*
 * The n-th allocation fails, for many n: check and replay say that memory ran out, and replay leaves
 * no database. This program's malloc() and friends stand in front of the real ones.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "schema/command.h"

#include "tests/unit/made_tape.h"

/* One in so many is rehearsed once the first ones, all different, are through. */
#define FIRST_ONES 150
#define STEP_SHARE 16

struct rehearsal {
	long countdown; /* allocations until one fails, negative: none will */
	bool failed; /* one did */
};

static struct rehearsal *rehearsal; /* shared with the child that runs the command */

#ifdef __has_feature /* clang's way to ask */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t nr, size_t size);
void *REAL(realloc)(void *old, size_t size);
void *malloc(size_t size);
void *calloc(size_t nr, size_t size);
void *realloc(void *old, size_t size);

static bool fails(void)
{
	if (!rehearsal || rehearsal->countdown < 0 || rehearsal->countdown--)
		return false;
	rehearsal->failed = true;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : REAL(malloc)(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : REAL(calloc)(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : REAL(realloc)(old, size);
}

/* Chunks of the memmap come from here. */
void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
	if (fails())
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

static struct made_tape tape;
static char folder[512], database[600], said[600], printed[600];

/* Reads, readahead, writes, truncation, anon folios and a reclaim: each table is used. */
static void tell(void)
{
	made_machine(&tape, 100);
	made_blob(&tape, TAPE_MOMENT_START, "/proc/self/mountinfo",
		  "22 1 254:0 / / rw - ext4 x rw\n");
	for (uint64_t page = 0; page < 200; page++) {
		made_event(&tape, page % 2, GROUP_TASK, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV,
			   page, 32, 1, 0);
		made_event(&tape, page % 2, GROUP_TASK, PAGE_CACHE_RA_UNBOUNDED, MADE_INO, MADE_DEV,
			   page, 1, 0);
		made_add(&tape, page % 2, GROUP_TASK, page);
		made_read(&tape, page % 2, GROUP_TASK, page, page);
	}
	made_read(&tape, 0, GROUP_TASK + 1, 0, 99);
	made_read(&tape, 0, GROUP_TASK + 1, 31, 99);
	made_event_text(&tape, 0, OTHER_TASK, CGROUP_MKDIR, "/new", 0, 1, 200, 0);
	made_event_text(&tape, 0, OTHER_TASK, CGROUP_ATTACH_TASK, "/new", 0, 200, 1, OTHER_TASK, 0,
			0);
	made_read(&tape, 0, OTHER_TASK, 500, 500);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_ALLOC, 0x100000, 2, 8, 1);
	made_event(&tape, 0, GROUP_TASK, MM_LRU_INSERTION, 0x100000, 0, 0x12);
	made_event(&tape, 0, GROUP_TASK, MM_PAGE_FREE, 0x100000, 2);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_delete(&tape, 0, GROUP_TASK, 3);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_END, 1);
	made_delete(&tape, 0, OTHER_TASK, 4);
	made_tape_read(&tape);
	tape_reader_close(tape.reader);
	tape.reader = NULL;
}

static int begin(void **state)
{
	const char *directory = getenv("TEST_TMP") ? getenv("TEST_TMP") : getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/rehearsal-XXXXXX", directory ? directory : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	snprintf(database, sizeof(database), "%s/r.db", folder);
	made_tape_begin(&tape, NULL);
	snprintf(said, sizeof(said), "%s.said", tape.path);
	snprintf(printed, sizeof(printed), "%s.printed", tape.path);
	tell();
	rehearsal = mmap(NULL, sizeof(*rehearsal), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	rehearsal->countdown = -1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	munmap(rehearsal, sizeof(*rehearsal));
	rehearsal = NULL;
	unlink(database);
	unlink(said);
	unlink(printed);
	made_tape_end(&tape);
	return rmdir(folder);
}

static int files_in_folder(void)
{
	DIR *dir = opendir(folder);
	int nr = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

/* The command with its n-th allocation failing. Return: exit status. */
static int run(int (*command)(int, char **), int argc, char **argv, long n)
{
	int status;
	pid_t pid;

	rehearsal->failed = false;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!freopen(said, "w", stderr) || !freopen(printed, "w", stdout))
			_exit(98);
		setvbuf(stderr, NULL, _IONBF, 0);
		rehearsal->countdown = n;
		status = command(argc, argv);
		rehearsal->countdown = -1;
		exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status))
		fail_msg("allocation %ld: killed by signal %d", n, WTERMSIG(status));
	return WEXITSTATUS(status);
}

static void read_text(const char *path, char *text, size_t room)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, room - 1, file)] = '\0';
	fclose(file);
}

static void assert_said_why(long n, int status)
{
	char text[4096];

	read_text(said, text, sizeof(text));
	if (status != COMMAND_DONE && status != COMMAND_FAILED)
		fail_msg("allocation %ld: status %d: %s", n, status, text);
	/* The reader takes some of its own failures for damage of the file: its tests' business. */
	if (status && (!strstr(text, "lrutape: ") ||
		       !(strstr(text, "memory") || strstr(text, "this file cannot be used"))))
		fail_msg("allocation %ld: said: %s", n, text);
}

static long next_one(long n)
{
	return n < FIRST_ONES ? n + 1 : n + 1 + n / STEP_SHARE;
}

static void replay_that_runs_out_of_memory_says_so_and_leaves_no_database(void **state)
{
	char *argv[] = { (char *)"replay",  (char *)"-o",	database,      (char *)"--policy",
			 (char *)"classic", (char *)"--policy", (char *)"opt", (char *)"--memory",
			 (char *)"50%,1M",  tape.path,		NULL };
	long n;

	(void)state;
	for (n = 0;; n = next_one(n)) {
		int status = run(command_replay, 10, argv, n);

		assert_said_why(n, status);
		assert_int_equal(files_in_folder(), status == COMMAND_DONE);
		unlink(database);
		if (!rehearsal->failed) {
			assert_int_equal(status, COMMAND_DONE);
			break;
		}
	}
	assert_true(n > FIRST_ONES);
}

static void check_that_runs_out_of_memory_says_so(void **state)
{
	char *argv[] = { (char *)"check", (char *)"--explain", (char *)"5", tape.path, NULL };
	char expected[8192], text[8192];

	(void)state;
	assert_int_equal(run(command_check, 4, argv, -1), COMMAND_DONE);
	read_text(printed, expected, sizeof(expected));
	for (long n = 0;; n = next_one(n)) {
		int status = run(command_check, 4, argv, n);

		assert_said_why(n, status);
		/* The reader does without its index, for one: then all is as it should be. */
		if (status == COMMAND_DONE) {
			read_text(printed, text, sizeof(text));
			assert_string_equal(text, expected);
		}
		if (!rehearsal->failed) {
			assert_int_equal(status, COMMAND_DONE);
			break;
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(replay_that_runs_out_of_memory_says_so_and_leaves_no_database),
		TEST(check_that_runs_out_of_memory_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
