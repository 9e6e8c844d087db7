// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "replay/results.h"

static char folder[64];
static char path[128];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/lrutape-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/r.db", folder);
	return 0;
}

static int remove_folder(void **state)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	(void)state;
	chmod(folder, 0700);
	while (dir && (entry = readdir(dir))) {
		char name[512];

		snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
		if (unlink(name) && errno == EISDIR && entry->d_name[0] != '.')
			rmdir(name);
	}
	closedir(dir);
	return rmdir(folder);
}

static int nr_files(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

static void write_file(const char *name, const void *data, size_t size)
{
	FILE *file = fopen(name, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* The first column of a query's only row. */
static int64_t ask(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	int64_t answer;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	answer = sqlite3_column_int64(statement, 0);
	assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return answer;
}

static struct results *create(void)
{
	struct results_problem problem;
	struct results *results = NULL;

	if (results_create(path, "0.1.0", &results, &problem))
		fail_msg("%s", problem.text);
	return results;
}

static int64_t add_tape(struct results *results)
{
	struct results_tape tape = {
		.path = "a/b.lrt", .first_ns = RESULTS_NONE, .last_ns = RESULTS_NONE, .nr_events = 5
	};
	int64_t tape_id;

	assert_int_equal(results_add_tape(results, &tape, &tape_id), 0);
	return tape_id;
}

static int64_t add_run(struct results *results, int64_t tape_id, const char *policy)
{
	struct results_run run = { .tape_id = tape_id,
				   .policy = policy,
				   .memory_pages = RESULTS_NONE,
				   .accesses = RESULTS_NONE };
	int64_t run_id;

	assert_int_equal(results_add_run(results, &run, &run_id), 0);
	return run_id;
}

/* A database of marker in meta, so that it can be told whether it was replaced. */
static void commit_marked(const char *marker)
{
	struct results *results = create();

	assert_int_equal(results_set_meta(results, "marker", marker), 0);
	assert_int_equal(results_commit(results, NULL), 0);
}

static void what_is_added_is_there(void **state)
{
	struct results *results = create();
	struct results_problem problem;
	int64_t tape_id = add_tape(results),
		run_id = add_run(results, tape_id, "classic@6.12+a=1+b");

	(void)state;
	assert_int_equal(tape_id, 1);
	assert_int_equal(run_id, 1);
	results_add_memcg(results, tape_id, 77, "/x", RESULTS_NONE);
	results_add_agreement(results, &(struct results_agreement){ .tape_id = tape_id,
								    .memcg_id = 77,
								    .decision = "victim",
								    .decided = 10,
								    .equal = 9,
								    .first_mismatch_ns = 1234,
								    .first_predicted = "pfn 1",
								    .first_recorded = "pfn 2" });
	results_add_agreement(results,
			      &(struct results_agreement){ .tape_id = tape_id,
							   .memcg_id = 78,
							   .decision = "victim",
							   .decided = 30,
							   .equal = 30,
							   .first_mismatch_ns = RESULTS_NONE });
	results_add_inferred_by_check(results, tape_id, "exec_stack", 3);
	results_add_setting(results, run_id, "a", "1");
	results_add_counter(results, run_id, 77, "misses", INT64_MAX);
	results_add_counter(results, run_id, 77, "resident_max", 5);
	results_add_counter(results, run_id, 78, "resident_max", 7);
	results_add_counter(results, run_id, 77, "pgactivate", 5);
	results_add_counter(results, run_id, 78, "pgactivate", 7);
	results_add_counter_at(results, run_id, 77, 100, "misses", 3);
	results_add_counter_at(results, run_id, 77, 200, "misses", 10);
	results_add_lock_hold(results, run_id, 77, "lru_add", 2, 31);
	results_add_lock_hold(results, run_id, 77, "isolate", 2, 31);
	results_add_drain(results, run_id, "lru_add", "full", 2, 62);
	results_add_inferred(results, run_id, "rule", 4);
	results_add_accuracy(results, run_id, 77, "pgactivate", 4, 5, "memory.stat");
	results_add_estimate(results, run_id,
			     &(struct results_estimate){ .stream = 3,
							 .asked = 200,
							 .unknown = 50,
							 .first_unknown_ns = RESULTS_NONE });
	results_add_stress(results, run_id, "never", 77, "pgactivate", 2);
	results_add_stress(results, run_id, "never", 78, "pgactivate", 2);
	results_add_stress(results, run_id, "always", 77, "pgactivate", 90);
	results_end_run(results, run_id, 40, 40, 4);
	if (results_commit(results, &problem))
		fail_msg("%s", problem.text);

	assert_int_equal(ask("PRAGMA user_version"), RESULTS_SCHEMA_VERSION);
	assert_int_equal(ask("PRAGMA application_id"), RESULTS_APPLICATION_ID);
	assert_int_equal(
		ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
	assert_int_equal(ask("SELECT count(*) FROM pragma_foreign_key_check"), 0);
	assert_int_equal(ask("SELECT value = 1 FROM meta WHERE key = 'schema_version'"), 1);
	assert_int_equal(ask("SELECT base = 'classic' AND release = '6.12' AND patch = 'a=1+b'"
			     " AND accesses = 40 AND memory_pages IS NULL FROM run"),
			 1);
	assert_int_equal(ask("SELECT tape = 'b.lrt' FROM v_run"), 1);
	assert_int_equal(ask("SELECT limit_bytes IS NULL FROM memcg"), 1);
	assert_int_equal(ask("SELECT value FROM counter WHERE name = 'misses'"), INT64_MAX);
	/* Totals add up, maxima do not. */
	assert_int_equal(ask("SELECT value FROM v_counter_total WHERE name = 'pgactivate'"), 12);
	assert_int_equal(ask("SELECT value FROM v_counter_total WHERE name = 'resident_max'"), 7);
	assert_int_equal(ask("SELECT count(*) FROM v_counter WHERE name = 'pgactivate'"), 3);
	assert_int_equal(
		ask("SELECT value FROM v_counter WHERE memcg = '/x' AND name = 'pgactivate'"), 5);
	assert_int_equal(ask("SELECT increase FROM v_counter_at WHERE timestamp_ns = 200"), 7);
	assert_int_equal(ask("SELECT holds FROM v_lock_total WHERE site = 'all'"), 4);
	assert_int_equal(ask("SELECT folios_per_hold = 15.5 FROM v_lock_total WHERE site = 'all'"),
			 1);
	assert_int_equal(ask("SELECT folios_per_drain = 31 FROM v_drain"), 1);
	assert_int_equal(ask("SELECT equal_percent = 97.5 FROM v_agreement WHERE memcg_id IS NULL"),
			 1);
	assert_int_equal(
		ask("SELECT inferred_percent = 10 AND least_decision = 'victim' FROM v_belief"), 1);
	assert_int_equal(ask("SELECT difference = 1 AND difference_percent = 25 FROM v_accuracy"),
			 1);
	assert_int_equal(ask("SELECT unknown_percent = 25 AND first_unknown_seconds IS NULL"
			     " FROM v_estimate"),
			 1);
	assert_int_equal(ask("SELECT never = 4 AND drawn = 12 AND always = 90 FROM v_stress"), 1);
	assert_int_equal(
		ask("SELECT count(*) FROM sqlite_master WHERE name LIKE '%\\_once' ESCAPE '\\'"),
		18);
	assert_int_equal(ask("SELECT count FROM inferred_by_check WHERE rule = 'exec_stack'"), 3);
}

static void every_name_of_the_lists_is_accepted(void **state)
{
	struct results *results = create();
	int64_t run_id = add_run(results, add_tape(results), "x");

	(void)state;
#define COUNTER(number, name, unit, meaning)                                                       \
	assert_int_equal(results_add_counter(results, run_id, 1, #name, number), 0);
#include "schema/counters.def"
#define LOCK_SITE(number, name, meaning)                                                           \
	assert_int_equal(results_add_lock_hold(results, run_id, 1, #name, number, 0), 0);
#include "schema/lock_sites.def"
#define DRAIN_CAUSE(number, name, meaning)                                                         \
	assert_int_equal(results_add_drain(results, run_id, "lru_add", #name, number, 0), 0);
#include "schema/drain_causes.def"
	assert_int_equal(results_commit(results, NULL), 0);
	assert_int_equal(ask("SELECT count(*) FROM counter JOIN counter_kind USING (name)"
			     " WHERE value <> number"),
			 0);
	assert_int_equal(
		ask("SELECT (SELECT count(*) FROM counter) = (SELECT count(*) FROM counter_kind)"),
		1);
}

static void a_pair_differs_in_the_patch_only(void **state)
{
	struct results *results = create();
	int64_t tape_id = add_tape(results), other = add_tape(results);

	(void)state;
	add_run(results, tape_id, "classic@6.18");
	add_run(results, tape_id, "classic@6.18+p");
	add_run(results, tape_id, "classic@6.12+p");
	add_run(results, other, "classic@6.18+p");
	add_run(results, tape_id, "opt");
	assert_int_equal(results_commit(results, NULL), 0);
	assert_int_equal(ask("SELECT count(*) FROM v_pair"), 1);
	assert_int_equal(ask("SELECT patched_run_id FROM v_pair WHERE unpatched_run_id = 1"), 2);
}

static void abandoned_leaves_nothing(void **state)
{
	struct results *results = create();

	(void)state;
	add_run(results, add_tape(results), "x");
	assert_int_equal(nr_files(), 1);
	results_abandon(results);
	assert_int_equal(nr_files(), 0);
	results_abandon(NULL);
}

static void abandoned_leaves_the_old_database(void **state)
{
	struct results *results;

	(void)state;
	commit_marked("old");
	results = create();
	results_set_meta(results, "marker", "new");
	results_abandon(results);
	assert_int_equal(nr_files(), 1);
	assert_int_equal(ask("SELECT value = 'old' FROM meta WHERE key = 'marker'"), 1);
}

static void committed_replaces_the_old_database(void **state)
{
	(void)state;
	commit_marked("old");
	assert_int_equal(chmod(path, 0640), 0);
	commit_marked("new");
	assert_int_equal(nr_files(), 1);
	assert_int_equal(ask("SELECT value = 'new' FROM meta WHERE key = 'marker'"), 1);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_link_is_followed(void **state)
{
	char link_path[128];
	struct stat st;
	struct results *results;

	(void)state;
	commit_marked("old");
	snprintf(link_path, sizeof(link_path), "%s/link.db", folder);
	assert_int_equal(symlink("r.db", link_path), 0);
	struct results_problem problem;
	assert_int_equal(results_create(link_path, "0.1.0", &results, &problem), 0);
	results_set_meta(results, "marker", "new");
	assert_int_equal(results_commit(results, NULL), 0);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(ask("SELECT value = 'new' FROM meta WHERE key = 'marker'"), 1);
}

static void refused(enum results_error code, const char *words)
{
	struct results_problem problem;
	struct results *results = NULL;

	assert_int_equal(results_create(path, "0.1.0", &results, &problem), code);
	assert_null(results);
	assert_int_equal(problem.code, code);
	if (!strstr(problem.text, words) || !strstr(problem.text, path))
		fail_msg("%s", problem.text);
}

static void other_files_are_not_replaced(void **state)
{
	static const char text[] =
		"dear diary, today I wrote down something that nobody else has a copy of";
	char back[sizeof(text)];
	sqlite3 *db;
	FILE *file;

	(void)state;
	write_file(path, text, sizeof(text));
	refused(RESULTS_ERR_NOT_RESULTS, "is not a results database");
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(back, 1, sizeof(back), file), sizeof(text));
	fclose(file);
	assert_memory_equal(back, text, sizeof(text));

	/* Somebody else's SQLite database is not ours either. */
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE mine (x); PRAGMA user_version = 1", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	refused(RESULTS_ERR_NOT_RESULTS, "is not a results database");
	assert_int_equal(ask("SELECT count(*) FROM mine"), 0);

	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	refused(RESULTS_ERR_NOT_RESULTS, "is a folder");
	rmdir(path);
	assert_int_equal(nr_files(), 0);
}

static void an_empty_file_is_replaced(void **state)
{
	(void)state;
	write_file(path, "", 0);
	commit_marked("new");
	assert_int_equal(ask("SELECT count(*) FROM meta WHERE key = 'marker'"), 1);
}

static void a_journal_beside_it_is_refused(void **state)
{
	char journal[160];

	(void)state;
	commit_marked("old");
	snprintf(journal, sizeof(journal), "%s-wal", path);
	write_file(journal, "something", 9);
	refused(RESULTS_ERR_BUSY, "another program");
}

static void places_that_cannot_be_written_are_named(void **state)
{
	(void)state;
	strcpy(path, "/nonexistent/r.db");
	refused(RESULTS_ERR_OPEN, "No such file or directory");
	strcpy(path, "/proc/r.db"); /* also root cannot make a file here */
	refused(RESULTS_ERR_OPEN, "cannot make a file there");
	strcpy(path, "/dev/full");
	refused(RESULTS_ERR_NOT_RESULTS, "no regular file");
	snprintf(path, sizeof(path), "%s/r.db", folder);
	assert_int_equal(symlink("nowhere", path), 0);
	refused(RESULTS_ERR_OPEN, "link to nothing");
}

/* Each: adds a row that is refused. */
static void add_unknown_counter(struct results *r)
{
	results_add_counter(r, 1, 1, "no_such_counter", 1);
}

static void add_unknown_site(struct results *r)
{
	results_add_lock_hold(r, 1, 1, "attic", 1, 1);
}

static void add_unknown_cause(struct results *r)
{
	results_add_drain(r, 1, "lru_add", "whim", 1, 1);
}

static void add_to_unknown_run(struct results *r)
{
	results_add_counter(r, 2, 1, "misses", 1);
}

static void add_to_unknown_tape(struct results *r)
{
	results_add_memcg(r, 9, 1, "/x", 1);
}

static void add_too_large(struct results *r)
{
	results_add_counter(r, 1, 1, "misses", (uint64_t)INT64_MAX + 1);
}

static void add_absent(struct results *r)
{
	results_add_counter(r, 1, UINT64_MAX, "misses", 1);
}

static void add_more_equal_than_decided(struct results *r)
{
	results_add_agreement(r, &(struct results_agreement){ .tape_id = 1,
							      .memcg_id = 1,
							      .decision = "victim",
							      .decided = 1,
							      .equal = 2,
							      .first_mismatch_ns = RESULTS_NONE });
}

static void add_twice(struct results *r)
{
	results_add_counter(r, 1, 1, "misses", 1);
	results_add_counter(r, 1, 1, "misses", 1);
}

static void wrong_rows_are_refused_and_stick(void **state)
{
	static const struct {
		void (*add)(struct results *results);
		const char *words;
	} wrong[] = {
		{ add_unknown_counter, "no_such_counter: no such name in schema/counters.def" },
		{ add_unknown_site, "attic: no such name in schema/lock_sites.def" },
		{ add_unknown_cause, "whim: no such name in schema/drain_causes.def" },
		{ add_to_unknown_run, "run 2: was not added" },
		{ add_to_unknown_tape, "tape 9: was not added" },
		{ add_too_large, "misses is 9223372036854775808" },
		{ add_absent, "memcg_id is 18446744073709551615" },
		{ add_more_equal_than_decided, "2 equal of 1 decided" },
		{ add_twice, "counter.run_id, counter.memcg_id, counter.name" },
	};

	(void)state;
	commit_marked("old");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct results *results = create();
		struct results_problem problem;

		add_run(results, add_tape(results), "x");
		wrong[i].add(results);
		if (wrong[i].add != add_twice) {
			assert_int_equal(results_problem(results)->code, RESULTS_ERR_VALUE);
			assert_int_equal(results_add_counter(results, 1, 1, "hits", 1),
					 RESULTS_ERR_VALUE);
		}
		assert_int_equal(results_commit(results, &problem), RESULTS_ERR_VALUE);
		if (!strstr(problem.text, wrong[i].words) || strstr(problem.text, "hits"))
			fail_msg("%s", problem.text);
		assert_int_equal(nr_files(), 1);
		assert_int_equal(ask("SELECT value = 'old' FROM meta WHERE key = 'marker'"), 1);
	}
}

/*
 * A file that may not grow past so many bytes, for every limit from none to enough: whatever is hit,
 * creation, a row or the commit, the old database stays and nothing lies beside it.
 */
static void a_full_disk_leaves_the_old_database(void **state)
{
	struct rlimit before, limit;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	int nr_failed = 0, nr_done = 0;

	(void)state;
	commit_marked("old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (rlim_t bytes = 0; bytes < 4 << 20; bytes = bytes * 3 / 2 + 4096) {
		struct results_problem problem = { 0 };
		struct results *results;
		int64_t id;
		int error;

		limit = (struct rlimit){ .rlim_cur = bytes, .rlim_max = before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		error = results_create(path, "0.1.0", &results, &problem);
		if (!error) {
			id = add_run(results, add_tape(results), "x");
			for (uint64_t i = 0; i < 20000; i++)
				results_add_counter_at(results, id, 1, i, "misses", i);
			error = results_commit(results, &problem);
		}
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(nr_files(), 1);
		if (error) {
			nr_failed++;
			assert_int_equal(error, RESULTS_ERR_WRITE);
			assert_int_equal(problem.code, RESULTS_ERR_WRITE);
			if (!strstr(problem.text, "File too large"))
				fail_msg("%s", problem.text);
			assert_int_equal(ask("SELECT value = 'old' FROM meta WHERE key = 'marker'"),
					 1);
		} else {
			nr_done++;
			assert_int_equal(ask("SELECT count(*) FROM counter_at"), 20000);
			commit_marked("old");
		}
	}
	signal(SIGXFSZ, handler);
	assert_true(nr_failed > 3 && nr_done > 1);
}

static void what_a_killed_run_left_is_removed(void **state)
{
	char left[160], other[160];
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		struct results_problem problem;
		struct results *results;

		if (results_create(path, "0.1.0", &results, &problem))
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	snprintf(left, sizeof(left), "%s.tmp-%ld", path, (long)pid);
	assert_int_equal(access(left, F_OK), 0);
	/* Not ours: lives, or is no number. */
	snprintf(other, sizeof(other), "%s.tmp-1", path);
	write_file(other, "x", 1);
	commit_marked("new");
	assert_int_equal(access(left, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(what_is_added_is_there),
		TEST(every_name_of_the_lists_is_accepted),
		TEST(a_pair_differs_in_the_patch_only),
		TEST(abandoned_leaves_nothing),
		TEST(abandoned_leaves_the_old_database),
		TEST(committed_replaces_the_old_database),
		TEST(a_link_is_followed),
		TEST(other_files_are_not_replaced),
		TEST(an_empty_file_is_replaced),
		TEST(a_journal_beside_it_is_refused),
		TEST(places_that_cannot_be_written_are_named),
		TEST(wrong_rows_are_refused_and_stick),
		TEST(a_full_disk_leaves_the_old_database),
		TEST(what_a_killed_run_left_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
