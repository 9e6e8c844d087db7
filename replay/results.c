// SPDX-License-Identifier: GPL-2.0-only
/*
 * One transaction into FILE.tmp-PID, without a journal: the file is nobody's until it is whole, so
 * there is nothing to roll back to. rename(2) is the commit.
 */
#include "replay/results.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

static const char results_sql[] =
#include "schema/results.sql.inc"
	;

/* From here on results_sql makes indexes. */
#define INDEXES_BEGIN "-- ---- Indexes"

/* Every statement that adds rows, prepared once. */
#define STATEMENTS(S)                                                                              \
	S(SET_META, "INSERT OR REPLACE INTO meta VALUES (?, ?)")                                   \
	S(ADD_COUNTER_KIND, "INSERT INTO counter_kind VALUES (?, ?, ?, ?)")                        \
	S(ADD_LOCK_SITE, "INSERT INTO lock_site VALUES (?, ?, ?)")                                 \
	S(ADD_DRAIN_CAUSE, "INSERT INTO drain_cause VALUES (?, ?, ?)")                             \
	S(ADD_TAPE, "INSERT INTO tape VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")          \
	S(ADD_MEMCG, "INSERT INTO memcg VALUES (?, ?, ?, ?)")                                      \
	S(ADD_AGREEMENT, "INSERT INTO agreement VALUES (?, ?, ?, ?, ?, ?)")                        \
	S(ADD_RUN, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)")            \
	S(END_RUN, "UPDATE run SET accesses = ?, stimuli = ?, inferred = ? WHERE run_id = ?")      \
	S(ADD_SETTING, "INSERT INTO run_setting VALUES (?, ?, ?)")                                 \
	S(ADD_COUNTER, "INSERT INTO counter VALUES (?, ?, ?, ?)")                                  \
	S(ADD_COUNTER_AT, "INSERT INTO counter_at VALUES (?, ?, ?, ?, ?)")                         \
	S(ADD_LOCK_HOLD, "INSERT INTO lock_hold VALUES (?, ?, ?, ?, ?)")                           \
	S(ADD_DRAIN, "INSERT INTO drain VALUES (?, ?, ?, ?, ?)")                                   \
	S(ADD_INFERRED, "INSERT INTO inferred VALUES (?, ?, ?)")                                   \
	S(ADD_COST, "INSERT INTO cost VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")             \
	S(ADD_COST_REPEAT, "INSERT INTO cost_repeat VALUES (?, ?, ?, ?, ?, ?)")

enum statement {
#define AS_ENUM(name, sql) name,
	STATEMENTS(AS_ENUM) NR_STATEMENTS
};

static const char *const statement_sql[NR_STATEMENTS] = {
#define AS_SQL(name, sql) [name] = sql,
	STATEMENTS(AS_SQL)
};

struct results {
	char *name; /* FILE as the caller said it, for messages */
	char *target; /* FILE with links followed: what is replaced */
	char *temporary;
	char *program_version;
	sqlite3 *db;
	sqlite3_stmt *statement[NR_STATEMENTS];
	int64_t nr_tapes, nr_runs; /* ids count up from 1 */
	struct results_problem problem;
};

struct word {
	int number;
	const char *name;
	const char *unit;
	const char *meaning;
};

static const struct word counter_kinds[] = {
#define COUNTER(number, name, unit, meaning) { number, #name, unit, meaning },
#include "schema/counters.def"
};

static const struct word lock_sites[] = {
#define LOCK_SITE(number, name, meaning) { number, #name, NULL, meaning },
#include "schema/lock_sites.def"
};

static const struct word drain_causes[] = {
#define DRAIN_CAUSE(number, name, meaning) { number, #name, NULL, meaning },
#include "schema/drain_causes.def"
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* ---- What went wrong */

static int __attribute__((format(printf, 3, 4)))
problem_set(struct results_problem *problem, enum results_error code, const char *format, ...)
{
	va_list args;

	problem->code = code;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return code;
}

/* The one place where sqlite's codes become ours. The first failure sticks. */
static int results_failed(struct results *results, int sqlite_code)
{
	struct results_problem *problem = &results->problem;
	/* sqlite forgets errno when COMMIT fails; callers clear ours before they call it. */
	int left_errno = errno;
	int system_errno = results->db ? sqlite3_system_errno(results->db) : 0;

	if (problem->code)
		return problem->code;
	if (!system_errno)
		system_errno = left_errno;
	switch (sqlite_code & 0xff) {
	case SQLITE_NOMEM:
		return problem_set(problem, RESULTS_ERR_MEMORY,
				   "%s: out of memory while writing: %s", results->name,
				   "use fewer runs or moments for one database");
	case SQLITE_FULL:
		return problem_set(
			problem, RESULTS_ERR_WRITE,
			"%s: no space left while writing %s: free some, or choose another "
			"folder",
			results->name, results->temporary);
	case SQLITE_CONSTRAINT:
		return problem_set(problem, RESULTS_ERR_VALUE, "%s: a row was given twice: %s",
				   results->name, sqlite3_errmsg(results->db));
	case SQLITE_IOERR:
		if (system_errno)
			return problem_set(problem, RESULTS_ERR_WRITE,
					   "%s: writing %s: %s: free some space, or choose another "
					   "folder",
					   results->name, results->temporary,
					   strerror(system_errno));
		/* fall through */
	default:
		return problem_set(problem, RESULTS_ERR_WRITE, "%s: writing %s: %s", results->name,
				   results->temporary,
				   results->db ? sqlite3_errmsg(results->db) :
						 sqlite3_errstr(sqlite_code));
	}
}

/* ---- FILE, and what stands there already */

/* Big-endian, as in SQLite's file header. */
static uint32_t header_u32(const unsigned char *header, size_t byte)
{
	return (uint32_t)header[byte] << 24 | (uint32_t)header[byte + 1] << 16 |
	       (uint32_t)header[byte + 2] << 8 | header[byte + 3];
}

/* True if @path is empty or holds a results database of any schema version. */
static bool may_be_replaced(const char *path)
{
	unsigned char header[72];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, header, sizeof(header), 0);
	close(fd);
	return n == 0 || (n == sizeof(header) && !memcmp(header, "SQLite format 3", 16) &&
			  header_u32(header, 68) == RESULTS_APPLICATION_ID);
}

/*
 * A journal beside FILE would be applied to the database that takes its place, and spoil it.
 * Return: 0, or RESULTS_ERR_BUSY.
 */
static int refuse_journal(const char *name, const char *target, struct results_problem *problem)
{
	static const char *const ending[] = { "-journal", "-wal" };
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < NR(ending); i++) {
		if (snprintf(path, sizeof(path), "%s%s", target, ending[i]) >= (int)sizeof(path))
			continue;
		if (stat(path, &st) == 0 && st.st_size > 0)
			return problem_set(
				problem, RESULTS_ERR_BUSY,
				"%s: another program is writing to it, %s is there: close "
				"that program, or choose another name",
				name, path);
	}
	return 0;
}

/*
 * Decide what is replaced, and whether it may be.
 * @mode: set to the permissions that the new file takes over, 0 if there is nothing to take over
 */
static int find_target(const char *name, char **target, mode_t *mode,
		       struct results_problem *problem)
{
	struct stat st;

	*mode = 0;
	if (name[0] == '\0')
		return problem_set(problem, RESULTS_ERR_OPEN,
				   "-o: the results database needs a file name");
	if (stat(name, &st) < 0) {
		if (errno != ENOENT)
			return problem_set(problem, RESULTS_ERR_OPEN, "%s: %s", name,
					   strerror(errno));
		if (lstat(name, &st) == 0)
			return problem_set(
				problem, RESULTS_ERR_OPEN,
				"%s: is a symbolic link to nothing: remove it, or choose "
				"another name",
				name);
		*target = strdup(name);
		if (!*target)
			return problem_set(problem, RESULTS_ERR_MEMORY, "%s: out of memory", name);
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return problem_set(problem, RESULTS_ERR_NOT_RESULTS,
				   "%s: is %s: choose the name of a file", name,
				   S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
	if (access(name, R_OK | W_OK) < 0)
		return problem_set(
			problem, RESULTS_ERR_OPEN,
			"%s: there is one that may not be replaced: %s: choose another name", name,
			strerror(errno));
	if (!may_be_replaced(name))
		return problem_set(
			problem, RESULTS_ERR_NOT_RESULTS,
			"%s: is there and is not a results database: choose another name, "
			"or remove it first",
			name);
	*target = realpath(name, NULL);
	if (!*target)
		return problem_set(problem, RESULTS_ERR_OPEN, "%s: %s", name, strerror(errno));
	*mode = st.st_mode & 0777;
	return 0;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* True if a process that lives here, or one elsewhere that holds SQLite's lock, writes to @path. */
static bool temporary_in_use(const char *path, long pid)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd;
	bool in_use;

	if (pid <= 0 || pid > INT_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return true;
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return true;
	in_use = fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
	close(fd);
	return in_use;
}

/* Remove what runs that were killed left beside @target. Best effort: failing here harms nobody. */
static void remove_stale(const char *target)
{
	const char *slash = strrchr(target, '/');
	const char *base = slash ? slash + 1 : target;
	size_t base_size = strlen(base);
	char *folder = folder_of(target);
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];
		const char *pid_text = entry->d_name + base_size + 5;
		char *end;
		long pid;

		if (strncmp(entry->d_name, base, base_size) ||
		    strncmp(entry->d_name + base_size, ".tmp-", 5))
			continue;
		if (*pid_text < '1' || *pid_text > '9')
			continue;
		errno = 0;
		pid = strtol(pid_text, &end, 10);
		if (errno || *end ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
			    (int)sizeof(path))
			continue;
		if (!temporary_in_use(path, pid))
			unlink(path);
	}
	if (dir)
		closedir(dir);
	free(folder);
}

/* Make the temporary file ours alone, before sqlite opens it. */
static int create_temporary(struct results *results, mode_t mode, struct results_problem *problem)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
	int fd;

	if (asprintf(&results->temporary, "%s.tmp-%ld", results->target, (long)getpid()) < 0) {
		results->temporary = NULL;
		return problem_set(problem, RESULTS_ERR_MEMORY, "%s: out of memory", results->name);
	}
	fd = open(results->temporary, flags, 0666);
	if (fd < 0 && errno == EEXIST) {
		/* Named after our own number, so a process that is no more left it. */
		unlink(results->temporary);
		fd = open(results->temporary, flags, 0666);
	}
	if (fd < 0) {
		int code = problem_set(problem, RESULTS_ERR_OPEN,
				       "%s: cannot make a file there: %s: choose another folder",
				       results->name, strerror(errno));

		free(results->temporary);
		results->temporary = NULL;
		return code;
	}
	/* A file system without permissions is no reason to fail. */
	if (mode)
		(void)!fchmod(fd, mode);
	close(fd);
	return 0;
}

/* ---- Rows */

/* Positional parameter of a statement. */
static void bind_text(sqlite3_stmt *statement, int position, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, position, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(statement, position);
}

/* @value is known to fit: see fits(). */
static void bind_u64(sqlite3_stmt *statement, int position, uint64_t value)
{
	sqlite3_bind_int64(statement, position, (int64_t)value);
}

static void bind_u64_or_null(sqlite3_stmt *statement, int position, uint64_t value)
{
	if (value == RESULTS_NONE)
		sqlite3_bind_null(statement, position);
	else
		bind_u64(statement, position, value);
}

/* Run a statement whose parameters are bound, and make it ready for the next row. */
static int add_row(struct results *results, enum statement which)
{
	sqlite3_stmt *statement = results->statement[which];
	int code, error;

	errno = 0;
	code = sqlite3_step(statement);
	error = code == SQLITE_DONE ? 0 : results_failed(results, code);

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return error;
}

static bool fits(struct results *results, const char *what, uint64_t value)
{
	if (value <= INT64_MAX)
		return true;
	problem_set(&results->problem, RESULTS_ERR_VALUE,
		    "%s: %s is %" PRIu64 ", more than a results database holds (2^63 - 1)",
		    results->name, what, value);
	return false;
}

static bool fits_or_none(struct results *results, const char *what, uint64_t value)
{
	return value == RESULTS_NONE || fits(results, what, value);
}

static bool is_text(struct results *results, const char *what, const char *text)
{
	if (text && *text)
		return true;
	problem_set(&results->problem, RESULTS_ERR_VALUE, "%s: %s: must not be empty",
		    results->name, what);
	return false;
}

static bool is_word(struct results *results, const char *list, const struct word *word,
		    size_t nr_words, const char *name)
{
	for (size_t i = 0; name && i < nr_words; i++)
		if (!strcmp(word[i].name, name))
			return true;
	problem_set(&results->problem, RESULTS_ERR_VALUE, "%s: %s: no such name in schema/%s",
		    results->name, name ? name : "(none)", list);
	return false;
}

static bool is_tape(struct results *results, int64_t tape_id)
{
	if (tape_id >= 1 && tape_id <= results->nr_tapes)
		return true;
	problem_set(&results->problem, RESULTS_ERR_VALUE, "%s: tape %" PRId64 ": was not added",
		    results->name, tape_id);
	return false;
}

static bool is_run(struct results *results, int64_t run_id)
{
	if (run_id >= 1 && run_id <= results->nr_runs)
		return true;
	problem_set(&results->problem, RESULTS_ERR_VALUE, "%s: run %" PRId64 ": was not added",
		    results->name, run_id);
	return false;
}

int results_set_meta(struct results *results, const char *key, const char *value)
{
	sqlite3_stmt *statement = results->statement[SET_META];

	if (results->problem.code)
		return results->problem.code;
	if (!is_text(results, "a meta key", key))
		return results->problem.code;
	bind_text(statement, 1, key);
	bind_text(statement, 2, value ? value : "");
	return add_row(results, SET_META);
}

int results_add_tape(struct results *results, const struct results_tape *tape, int64_t *tape_id)
{
	sqlite3_stmt *statement = results->statement[ADD_TAPE];

	*tape_id = 0;
	if (results->problem.code)
		return results->problem.code;
	if (!is_text(results, "a tape's path", tape->path) ||
	    !fits_or_none(results, "first_ns", tape->first_ns) ||
	    !fits_or_none(results, "last_ns", tape->last_ns) ||
	    !fits(results, "nr_events", tape->nr_events) ||
	    !fits(results, "nr_lost", tape->nr_lost) ||
	    !fits(results, "nr_losses_unknown", tape->nr_losses_unknown) ||
	    !fits(results, "nr_overrun", tape->nr_overrun))
		return results->problem.code;
	bind_u64(statement, 1, (uint64_t)results->nr_tapes + 1);
	bind_text(statement, 2, tape->path);
	bind_text(statement, 3, tape->content_hash);
	bind_u64_or_null(statement, 4, tape->format_version ? tape->format_version : RESULTS_NONE);
	bind_text(statement, 5, tape->kernel_release);
	bind_text(statement, 6, tape->command);
	bind_text(statement, 7, tape->source);
	bind_text(statement, 8, tape->recorded_policy);
	bind_u64_or_null(statement, 9, tape->first_ns);
	bind_u64_or_null(statement, 10, tape->last_ns);
	bind_u64(statement, 11, tape->nr_events);
	bind_u64(statement, 12, tape->nr_lost);
	bind_u64(statement, 13, tape->nr_losses_unknown);
	bind_u64(statement, 14, tape->nr_overrun);
	if (add_row(results, ADD_TAPE))
		return results->problem.code;
	*tape_id = ++results->nr_tapes;
	return 0;
}

int results_add_memcg(struct results *results, int64_t tape_id, uint64_t memcg_id, const char *path,
		      uint64_t limit_bytes)
{
	sqlite3_stmt *statement = results->statement[ADD_MEMCG];

	if (results->problem.code)
		return results->problem.code;
	if (!is_tape(results, tape_id) || !fits(results, "memcg_id", memcg_id) ||
	    !fits_or_none(results, "limit_bytes", limit_bytes))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, tape_id);
	bind_u64(statement, 2, memcg_id);
	bind_text(statement, 3, path);
	bind_u64_or_null(statement, 4, limit_bytes);
	return add_row(results, ADD_MEMCG);
}

int results_add_agreement(struct results *results, int64_t tape_id, uint64_t memcg_id,
			  const char *decision, uint64_t decided, uint64_t equal,
			  uint64_t first_mismatch_ns)
{
	sqlite3_stmt *statement = results->statement[ADD_AGREEMENT];

	if (results->problem.code)
		return results->problem.code;
	if (!is_tape(results, tape_id) || !fits(results, "memcg_id", memcg_id) ||
	    !is_text(results, "a decision", decision) || !fits(results, "decided", decided) ||
	    !fits_or_none(results, "first_mismatch_ns", first_mismatch_ns))
		return results->problem.code;
	if (equal > decided)
		return problem_set(&results->problem, RESULTS_ERR_VALUE,
				   "%s: %s: %" PRIu64 " equal of %" PRIu64 " decided",
				   results->name, decision, equal, decided);
	sqlite3_bind_int64(statement, 1, tape_id);
	bind_u64(statement, 2, memcg_id);
	bind_text(statement, 3, decision);
	bind_u64(statement, 4, decided);
	bind_u64(statement, 5, equal);
	bind_u64_or_null(statement, 6, first_mismatch_ns);
	return add_row(results, ADD_AGREEMENT);
}

int results_add_run(struct results *results, const struct results_run *run, int64_t *run_id)
{
	sqlite3_stmt *statement = results->statement[ADD_RUN];
	size_t base_size, named_size;
	const char *patch;

	*run_id = 0;
	if (results->problem.code)
		return results->problem.code;
	if (!is_tape(results, run->tape_id) || !is_text(results, "a run's policy", run->policy) ||
	    !fits_or_none(results, "memory_pages", run->memory_pages) ||
	    !fits(results, "seed", run->seed) || !fits_or_none(results, "accesses", run->accesses))
		return results->problem.code;

	/* base[@release][+patch[=value]]... */
	base_size = strcspn(run->policy, "@+");
	named_size = strcspn(run->policy, "+");
	patch = run->policy[named_size] ? run->policy + named_size + 1 : "";

	bind_u64(statement, 1, (uint64_t)results->nr_runs + 1);
	sqlite3_bind_int64(statement, 2, run->tape_id);
	bind_text(statement, 3, run->policy);
	if (run->base)
		bind_text(statement, 4, run->base);
	else
		sqlite3_bind_text(statement, 4, run->policy, (int)base_size, SQLITE_STATIC);
	bind_text(statement, 5, patch);
	if (run->release || base_size == named_size)
		bind_text(statement, 6, run->release);
	else
		sqlite3_bind_text(statement, 6, run->policy + base_size + 1,
				  (int)(named_size - base_size - 1), SQLITE_STATIC);
	bind_u64_or_null(statement, 7, run->memory_pages);
	bind_u64(statement, 8, run->seed);
	bind_text(statement, 9,
		  run->program_version ? run->program_version : results->program_version);
	bind_u64_or_null(statement, 10, run->accesses);
	if (add_row(results, ADD_RUN))
		return results->problem.code;
	*run_id = ++results->nr_runs;
	return 0;
}

int results_end_run(struct results *results, int64_t run_id, uint64_t accesses, uint64_t stimuli,
		    uint64_t inferred)
{
	sqlite3_stmt *statement = results->statement[END_RUN];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !fits(results, "accesses", accesses) ||
	    !fits(results, "stimuli", stimuli) || !fits(results, "inferred", inferred))
		return results->problem.code;
	bind_u64(statement, 1, accesses);
	bind_u64(statement, 2, stimuli);
	bind_u64(statement, 3, inferred);
	sqlite3_bind_int64(statement, 4, run_id);
	return add_row(results, END_RUN);
}

int results_add_setting(struct results *results, int64_t run_id, const char *name,
			const char *value)
{
	sqlite3_stmt *statement = results->statement[ADD_SETTING];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !is_text(results, "a setting's name", name))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_text(statement, 2, name);
	bind_text(statement, 3, value ? value : "");
	return add_row(results, ADD_SETTING);
}

int results_add_counter(struct results *results, int64_t run_id, uint64_t memcg_id,
			const char *name, uint64_t value)
{
	sqlite3_stmt *statement = results->statement[ADD_COUNTER];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !fits(results, "memcg_id", memcg_id) ||
	    !is_word(results, "counters.def", counter_kinds, NR(counter_kinds), name) ||
	    !fits(results, name, value))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_u64(statement, 2, memcg_id);
	bind_text(statement, 3, name);
	bind_u64(statement, 4, value);
	return add_row(results, ADD_COUNTER);
}

int results_add_counter_at(struct results *results, int64_t run_id, uint64_t memcg_id,
			   uint64_t timestamp_ns, const char *name, uint64_t value)
{
	sqlite3_stmt *statement = results->statement[ADD_COUNTER_AT];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !fits(results, "memcg_id", memcg_id) ||
	    !fits(results, "timestamp_ns", timestamp_ns) ||
	    !is_word(results, "counters.def", counter_kinds, NR(counter_kinds), name) ||
	    !fits(results, name, value))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_u64(statement, 2, memcg_id);
	bind_u64(statement, 3, timestamp_ns);
	bind_text(statement, 4, name);
	bind_u64(statement, 5, value);
	return add_row(results, ADD_COUNTER_AT);
}

int results_add_lock_hold(struct results *results, int64_t run_id, uint64_t memcg_id,
			  const char *site, uint64_t holds, uint64_t folios)
{
	sqlite3_stmt *statement = results->statement[ADD_LOCK_HOLD];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !fits(results, "memcg_id", memcg_id) ||
	    !is_word(results, "lock_sites.def", lock_sites, NR(lock_sites), site) ||
	    !fits(results, "holds", holds) || !fits(results, "folios", folios))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_u64(statement, 2, memcg_id);
	bind_text(statement, 3, site);
	bind_u64(statement, 4, holds);
	bind_u64(statement, 5, folios);
	return add_row(results, ADD_LOCK_HOLD);
}

int results_add_drain(struct results *results, int64_t run_id, const char *batch, const char *cause,
		      uint64_t drains, uint64_t folios)
{
	sqlite3_stmt *statement = results->statement[ADD_DRAIN];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) ||
	    !is_word(results, "lock_sites.def", lock_sites, NR(lock_sites), batch) ||
	    !is_word(results, "drain_causes.def", drain_causes, NR(drain_causes), cause) ||
	    !fits(results, "drains", drains) || !fits(results, "folios", folios))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_text(statement, 2, batch);
	bind_text(statement, 3, cause);
	bind_u64(statement, 4, drains);
	bind_u64(statement, 5, folios);
	return add_row(results, ADD_DRAIN);
}

int results_add_inferred(struct results *results, int64_t run_id, const char *rule, uint64_t count)
{
	sqlite3_stmt *statement = results->statement[ADD_INFERRED];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !is_text(results, "an inference rule", rule) ||
	    !fits(results, "count", count))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_text(statement, 2, rule);
	bind_u64(statement, 3, count);
	return add_row(results, ADD_INFERRED);
}

int results_add_cost(struct results *results, int64_t run_id, const struct results_cost *cost)
{
	sqlite3_stmt *statement = results->statement[ADD_COST];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !is_text(results, "a cost's step", cost->step) ||
	    !is_text(results, "a cost's shape", cost->shape) ||
	    !is_text(results, "a cost's host", cost->host) ||
	    !fits(results, "folios", cost->folios) || !fits(results, "holds", cost->holds))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_text(statement, 2, cost->step);
	bind_text(statement, 3, cost->shape);
	bind_text(statement, 4, cost->host);
	bind_u64(statement, 5, cost->repeats);
	bind_u64(statement, 6, cost->folios);
	bind_u64(statement, 7, cost->holds);
	for (int i = 0; i < 3; i++) {
		sqlite3_bind_double(statement, 8 + i, cost->ns_per_folio[i]);
		sqlite3_bind_double(statement, 11 + i, cost->ns_per_hold[i]);
	}
	return add_row(results, ADD_COST);
}

int results_add_cost_repeat(struct results *results, int64_t run_id, const char *step,
			    unsigned int repeat, uint64_t ns, uint64_t folios, uint64_t holds)
{
	sqlite3_stmt *statement = results->statement[ADD_COST_REPEAT];

	if (results->problem.code)
		return results->problem.code;
	if (!is_run(results, run_id) || !is_text(results, "a cost's step", step) ||
	    !fits(results, "ns", ns) || !fits(results, "folios", folios) ||
	    !fits(results, "holds", holds))
		return results->problem.code;
	sqlite3_bind_int64(statement, 1, run_id);
	bind_text(statement, 2, step);
	bind_u64(statement, 3, repeat);
	bind_u64(statement, 4, ns);
	bind_u64(statement, 5, folios);
	bind_u64(statement, 6, holds);
	return add_row(results, ADD_COST_REPEAT);
}

/* ---- From creation to commit */

static int execute(struct results *results, const char *sql)
{
	int code;

	errno = 0;
	code = sqlite3_exec(results->db, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : results_failed(results, code);
}

/* The tables and views, without the indexes. */
static int make_tables(struct results *results)
{
	const char *indexes = strstr(results_sql, INDEXES_BEGIN);
	char *tables;
	int error;

	assert(indexes); /* results.sql lost its mark */
	tables = strndup(results_sql, (size_t)(indexes - results_sql));
	if (!tables)
		return results_failed(results, SQLITE_NOMEM);
	error = execute(results, tables);
	free(tables);
	return error;
}

static int add_words(struct results *results, enum statement which, const struct word *word,
		     size_t nr_words)
{
	sqlite3_stmt *statement = results->statement[which];

	for (size_t i = 0; i < nr_words; i++) {
		int position = 1;

		sqlite3_bind_int(statement, position++, word[i].number);
		bind_text(statement, position++, word[i].name);
		if (word[i].unit)
			bind_text(statement, position++, word[i].unit);
		bind_text(statement, position, word[i].meaning);
		if (add_row(results, which))
			return results->problem.code;
	}
	return 0;
}

static int begin(struct results *results)
{
	char *sqlite_name;
	int code;

	/* A leading "./" keeps sqlite from reading meaning into names such as ":memory:". */
	if (asprintf(&sqlite_name, "%s%s", results->temporary[0] == '/' ? "" : "./",
		     results->temporary) < 0)
		return results_failed(results, SQLITE_NOMEM);
	code = sqlite3_open_v2(sqlite_name, &results->db,
			       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	free(sqlite_name);
	if (code != SQLITE_OK)
		return results_failed(results, code);
	/* encoding and page size are part of "same input, same file": not left to the build of sqlite */
	if (execute(results, "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8';"
			     "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
			     "BEGIN EXCLUSIVE;") ||
	    make_tables(results))
		return results->problem.code;
	for (int i = 0; i < NR_STATEMENTS; i++) {
		code = sqlite3_prepare_v3(results->db, statement_sql[i], -1,
					  SQLITE_PREPARE_PERSISTENT, &results->statement[i], NULL);
		if (code != SQLITE_OK)
			return results_failed(results, code);
	}
	if (add_words(results, ADD_COUNTER_KIND, counter_kinds, NR(counter_kinds)) ||
	    add_words(results, ADD_LOCK_SITE, lock_sites, NR(lock_sites)) ||
	    add_words(results, ADD_DRAIN_CAUSE, drain_causes, NR(drain_causes)))
		return results->problem.code;
	results_set_meta(results, "schema_version", "1");
	results_set_meta(results, "program", "lrutape");
	results_set_meta(results, "program_version", results->program_version);
	return results->problem.code;
}

_Static_assert(RESULTS_SCHEMA_VERSION == 1, "begin() and results.sql say the version too");

/* Close the file; it stays where it is. */
static int close_database(struct results *results)
{
	int code;

	for (int i = 0; i < NR_STATEMENTS; i++) {
		sqlite3_finalize(results->statement[i]);
		results->statement[i] = NULL;
	}
	code = sqlite3_close(results->db);
	results->db = NULL;
	return code == SQLITE_OK ? 0 : results_failed(results, code);
}

static void results_free(struct results *results)
{
	free(results->name);
	free(results->target);
	free(results->temporary);
	free(results->program_version);
	free(results);
}

int results_create(const char *path, const char *program_version, struct results **results,
		   struct results_problem *problem)
{
	struct results *r = calloc(1, sizeof(*r));
	mode_t mode;

	problem->code = RESULTS_OK;
	problem->text[0] = '\0';
	if (!r || !(r->name = strdup(path)) || !(r->program_version = strdup(program_version))) {
		problem_set(problem, RESULTS_ERR_MEMORY, "%s: out of memory", path);
		goto err_free;
	}
	if (find_target(r->name, &r->target, &mode, problem) ||
	    refuse_journal(r->name, r->target, problem))
		goto err_free;
	remove_stale(r->target);
	if (create_temporary(r, mode, problem))
		goto err_free;
	if (begin(r)) {
		*problem = r->problem;
		results_abandon(r);
		return problem->code;
	}
	*results = r;
	return 0;

err_free:
	if (r)
		results_free(r);
	return problem->code;
}

static int sync_path(struct results *results, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	/* EINVAL: the file system has nothing to sync, which is its own business. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		error = problem_set(&results->problem, RESULTS_ERR_WRITE, "%s: %s to disk: %s",
				    results->name, path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return error;
}

static int finish(struct results *results)
{
	char *folder;

	if (results->problem.code)
		return results->problem.code;
	if (execute(results, strstr(results_sql, INDEXES_BEGIN)) || execute(results, "COMMIT") ||
	    close_database(results) || sync_path(results, results->temporary))
		return results->problem.code;
	if (refuse_journal(results->name, results->target, &results->problem))
		return results->problem.code;
	if (rename(results->temporary, results->target) < 0)
		return problem_set(&results->problem, RESULTS_ERR_WRITE,
				   "%s: cannot be put in place: %s", results->name,
				   strerror(errno));
	free(results->temporary);
	results->temporary = NULL;

	/* The database is there; whether its name would outlive a crash now is all this can change. */
	folder = folder_of(results->target);
	if (folder)
		(void)!sync_path(results, folder);
	free(folder);
	return 0;
}

const struct results_problem *results_problem(const struct results *results)
{
	return &results->problem;
}

int results_commit(struct results *results, struct results_problem *problem)
{
	int error = finish(results);

	if (problem) {
		problem->code = RESULTS_OK;
		problem->text[0] = '\0';
		if (error)
			*problem = results->problem;
	}
	results_abandon(results);
	return error;
}

void results_abandon(struct results *results)
{
	if (!results)
		return;
	if (results->db)
		(void)!close_database(results);
	if (results->temporary)
		unlink(results->temporary);
	results_free(results);
}
