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
	S(ADD_CAUSE, "INSERT INTO cause VALUES (?, ?, ?)")                                         \
	S(ADD_TAPE, "INSERT INTO tape VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")    \
	S(ADD_MEMCG, "INSERT INTO memcg VALUES (?, ?, ?, ?)")                                      \
	S(ADD_AGREEMENT, "INSERT INTO agreement VALUES (?, ?, ?, ?, ?, ?, ?, ?)")                  \
	S(ADD_DISAGREEMENT, "INSERT INTO disagreement VALUES (?, ?, ?, ?, ?)")                     \
	S(ADD_UNDECIDED, "INSERT INTO undecided VALUES (?, ?, ?, ?)")                              \
	S(ADD_MISMATCH, "INSERT INTO mismatch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")           \
	S(ADD_RUN, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)")            \
	S(END_RUN, "UPDATE run SET accesses = ?2, stimuli = ?3, inferred = ?4 WHERE run_id = ?1")  \
	S(ADD_SETTING, "INSERT INTO run_setting VALUES (?, ?, ?)")                                 \
	S(ADD_COUNTER, "INSERT INTO counter VALUES (?, ?, ?, ?)")                                  \
	S(ADD_COUNTER_AT, "INSERT INTO counter_at VALUES (?, ?, ?, ?, ?)")                         \
	S(ADD_LOCK_HOLD, "INSERT INTO lock_hold VALUES (?, ?, ?, ?, ?)")                           \
	S(ADD_DRAIN, "INSERT INTO drain VALUES (?, ?, ?, ?, ?)")                                   \
	S(ADD_INFERRED, "INSERT INTO inferred VALUES (?, ?, ?)")                                   \
	S(ADD_ACCURACY, "INSERT INTO accuracy VALUES (?, ?, ?, ?, ?, ?)")                          \
	S(ADD_ESTIMATE, "INSERT INTO estimate VALUES (?, ?, ?, ?, ?, ?)")                          \
	S(ADD_STRESS, "INSERT INTO stress VALUES (?, ?, ?, ?, ?)")                                 \
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

static const struct word causes[] = {
#define CAUSE(number, name, meaning) { number, #name, NULL, meaning },
#include "schema/causes.def"
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

/*
 * A row in the making: each row_*() holds one value to what is allowed and binds it to the next
 * parameter of the statement. Once something failed, the others do nothing.
 */
struct row {
	struct results *results;
	enum statement which;
	int position;
};

static struct row row_begin(struct results *results, enum statement which)
{
	return (struct row){ .results = results, .which = which };
}

/* The next parameter, or NULL after a failure. */
static sqlite3_stmt *row_next(struct row *row)
{
	row->position++;
	return row->results->problem.code ? NULL : row->results->statement[row->which];
}

static void __attribute__((format(printf, 2, 3)))
row_refused(struct row *row, const char *format, ...)
{
	struct results_problem *problem = &row->results->problem;
	char why[256];
	va_list args;

	if (problem->code)
		return;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	problem_set(problem, RESULTS_ERR_VALUE, "%s: %s", row->results->name, why);
}

static void row_text_part(struct row *row, const char *text, size_t size)
{
	sqlite3_stmt *statement = row_next(row);

	if (statement)
		sqlite3_bind_text(statement, row->position, text, (int)size, SQLITE_STATIC);
}

/* Optional: NULL stays NULL. */
static void row_text(struct row *row, const char *text)
{
	sqlite3_stmt *statement = row_next(row);

	if (statement && text)
		sqlite3_bind_text(statement, row->position, text, -1, SQLITE_STATIC);
}

static void row_required(struct row *row, const char *what, const char *text)
{
	if (!text || !*text)
		row_refused(row, "%s: must not be empty", what);
	row_text(row, text);
}

/* A name of the list that schema/@list has. */
static void row_word(struct row *row, const char *list, const struct word *word, size_t nr_words,
		     const char *name)
{
	bool found = false;

	for (size_t i = 0; name && i < nr_words && !found; i++)
		found = !strcmp(word[i].name, name);
	if (!found)
		row_refused(row, "%s: no such name in schema/%s", name ? name : "(none)", list);
	row_text(row, name);
}

static void row_u64(struct row *row, const char *what, uint64_t value)
{
	sqlite3_stmt *statement;

	if (value > INT64_MAX)
		row_refused(row, "%s is %" PRIu64 ", more than a results database holds (2^63 - 1)",
			    what, value);
	statement = row_next(row);
	if (statement)
		sqlite3_bind_int64(statement, row->position, (int64_t)value);
}

static void row_u64_or_null(struct row *row, const char *what, uint64_t value)
{
	if (value == RESULTS_NONE)
		row->position++;
	else
		row_u64(row, what, value);
}

static void row_i64(struct row *row, int64_t value)
{
	sqlite3_stmt *statement = row_next(row);

	if (statement)
		sqlite3_bind_int64(statement, row->position, value);
}

static void row_double(struct row *row, double value)
{
	sqlite3_stmt *statement = row_next(row);

	if (statement)
		sqlite3_bind_double(statement, row->position, value);
}

static void row_tape(struct row *row, int64_t tape_id)
{
	if (tape_id < 1 || tape_id > row->results->nr_tapes)
		row_refused(row, "tape %" PRId64 ": was not added", tape_id);
	row_u64(row, "tape_id", (uint64_t)tape_id);
}

static void row_run(struct row *row, int64_t run_id)
{
	if (run_id < 1 || run_id > row->results->nr_runs)
		row_refused(row, "run %" PRId64 ": was not added", run_id);
	row_u64(row, "run_id", (uint64_t)run_id);
}

/* Add the row, unless something failed before. Return: 0, or what failed first. */
static int row_end(struct row *row)
{
	struct results *results = row->results;
	sqlite3_stmt *statement = results->statement[row->which];

	if (!results->problem.code) {
		int code;

		errno = 0;
		code = sqlite3_step(statement);
		if (code != SQLITE_DONE)
			results_failed(results, code);
	}
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return results->problem.code;
}

int results_set_meta(struct results *results, const char *key, const char *value)
{
	struct row row = row_begin(results, SET_META);

	row_required(&row, "a meta key", key);
	row_text(&row, value ? value : "");
	return row_end(&row);
}

int results_add_tape(struct results *results, const struct results_tape *tape, int64_t *tape_id)
{
	struct row row = row_begin(results, ADD_TAPE);

	*tape_id = 0;
	row_u64(&row, "tape_id", (uint64_t)results->nr_tapes + 1);
	row_required(&row, "a tape's path", tape->path);
	row_text(&row, tape->content_hash);
	row_u64_or_null(&row, "format_version",
			tape->format_version ? tape->format_version : RESULTS_NONE);
	row_text(&row, tape->kernel_release);
	row_text(&row, tape->command);
	row_text(&row, tape->source);
	row_text(&row, tape->recorded_policy);
	row_u64_or_null(&row, "first_ns", tape->first_ns);
	row_u64_or_null(&row, "last_ns", tape->last_ns);
	row_u64(&row, "nr_events", tape->nr_events);
	row_u64(&row, "nr_lost", tape->nr_lost);
	row_u64(&row, "nr_losses_unknown", tape->nr_losses_unknown);
	row_u64(&row, "nr_overrun", tape->nr_overrun);
	row_text(&row, tape->checked_policy);
	row_text(&row, tape->checked_rules);
	if (!row_end(&row))
		*tape_id = ++results->nr_tapes;
	return results->problem.code;
}

int results_add_memcg(struct results *results, int64_t tape_id, uint64_t memcg_id, const char *path,
		      uint64_t limit_bytes)
{
	struct row row = row_begin(results, ADD_MEMCG);

	row_tape(&row, tape_id);
	row_u64(&row, "memcg_id", memcg_id);
	row_text(&row, path);
	row_u64_or_null(&row, "limit_bytes", limit_bytes);
	return row_end(&row);
}

int results_add_agreement(struct results *results, const struct results_agreement *agreement)
{
	struct row row = row_begin(results, ADD_AGREEMENT);

	if (agreement->equal > agreement->decided)
		row_refused(&row, "%s: %" PRIu64 " equal of %" PRIu64 " decided",
			    agreement->decision, agreement->equal, agreement->decided);
	row_tape(&row, agreement->tape_id);
	row_u64(&row, "memcg_id", agreement->memcg_id);
	row_required(&row, "a decision", agreement->decision);
	row_u64(&row, "decided", agreement->decided);
	row_u64(&row, "equal", agreement->equal);
	row_u64_or_null(&row, "first_mismatch_ns", agreement->first_mismatch_ns);
	row_text(&row, agreement->first_predicted);
	row_text(&row, agreement->first_recorded);
	return row_end(&row);
}

int results_add_disagreement(struct results *results, int64_t tape_id, uint64_t memcg_id,
			     const char *decision, const char *cause, uint64_t count)
{
	struct row row = row_begin(results, ADD_DISAGREEMENT);

	row_tape(&row, tape_id);
	row_u64(&row, "memcg_id", memcg_id);
	row_required(&row, "a decision", decision);
	row_word(&row, "causes.def", causes, NR(causes), cause);
	row_u64(&row, "count", count);
	return row_end(&row);
}

int results_add_undecided(struct results *results, int64_t tape_id, const char *what,
			  const char *cause, uint64_t count)
{
	struct row row = row_begin(results, ADD_UNDECIDED);

	row_tape(&row, tape_id);
	row_required(&row, "what was not decided", what);
	row_word(&row, "causes.def", causes, NR(causes), cause);
	row_u64(&row, "count", count);
	return row_end(&row);
}

int results_add_mismatch(struct results *results, const struct results_mismatch *mismatch)
{
	struct row row = row_begin(results, ADD_MISMATCH);

	row_tape(&row, mismatch->tape_id);
	row_u64(&row, "number", mismatch->number);
	row_u64(&row, "timestamp_ns", mismatch->timestamp_ns);
	row_u64(&row, "memcg_id", mismatch->memcg_id);
	row_u64(&row, "cpu", mismatch->cpu);
	row_i64(&row, mismatch->pid);
	row_required(&row, "a decision", mismatch->decision);
	row_word(&row, "causes.def", causes, NR(causes), mismatch->cause);
	row_required(&row, "a side of a mismatch", mismatch->predicted);
	row_required(&row, "a side of a mismatch", mismatch->recorded);
	row_text(&row, mismatch->state);
	return row_end(&row);
}

int results_add_run(struct results *results, const struct results_run *run, int64_t *run_id)
{
	struct row row = row_begin(results, ADD_RUN);
	const char *policy = run->policy ? run->policy : "";
	/* base[@release][+patch[=value]]... */
	size_t base_size = strcspn(policy, "@+"), named_size = strcspn(policy, "+");

	*run_id = 0;
	row_u64(&row, "run_id", (uint64_t)results->nr_runs + 1);
	row_tape(&row, run->tape_id);
	row_required(&row, "a run's policy", run->policy);
	if (run->base)
		row_text(&row, run->base);
	else
		row_text_part(&row, policy, base_size);
	row_text(&row, policy[named_size] ? policy + named_size + 1 : "");
	if (run->release || base_size == named_size)
		row_text(&row, run->release);
	else
		row_text_part(&row, policy + base_size + 1, named_size - base_size - 1);
	row_u64_or_null(&row, "memory_pages", run->memory_pages);
	row_u64(&row, "seed", run->seed);
	row_text(&row, run->program_version ? run->program_version : results->program_version);
	row_u64_or_null(&row, "accesses", run->accesses);
	if (!row_end(&row))
		*run_id = ++results->nr_runs;
	return results->problem.code;
}

int results_end_run(struct results *results, int64_t run_id, uint64_t accesses, uint64_t stimuli,
		    uint64_t inferred)
{
	struct row row = row_begin(results, END_RUN);

	row_run(&row, run_id);
	row_u64(&row, "accesses", accesses);
	row_u64(&row, "stimuli", stimuli);
	row_u64(&row, "inferred", inferred);
	return row_end(&row);
}

int results_add_setting(struct results *results, int64_t run_id, const char *name,
			const char *value)
{
	struct row row = row_begin(results, ADD_SETTING);

	row_run(&row, run_id);
	row_required(&row, "a setting's name", name);
	row_text(&row, value ? value : "");
	return row_end(&row);
}

int results_add_counter(struct results *results, int64_t run_id, uint64_t memcg_id,
			const char *name, uint64_t value)
{
	struct row row = row_begin(results, ADD_COUNTER);

	row_run(&row, run_id);
	row_u64(&row, "memcg_id", memcg_id);
	row_word(&row, "counters.def", counter_kinds, NR(counter_kinds), name);
	row_u64(&row, name, value);
	return row_end(&row);
}

int results_add_counter_at(struct results *results, int64_t run_id, uint64_t memcg_id,
			   uint64_t timestamp_ns, const char *name, uint64_t value)
{
	struct row row = row_begin(results, ADD_COUNTER_AT);

	row_run(&row, run_id);
	row_u64(&row, "memcg_id", memcg_id);
	row_u64(&row, "timestamp_ns", timestamp_ns);
	row_word(&row, "counters.def", counter_kinds, NR(counter_kinds), name);
	row_u64(&row, name, value);
	return row_end(&row);
}

int results_add_lock_hold(struct results *results, int64_t run_id, uint64_t memcg_id,
			  const char *site, uint64_t holds, uint64_t folios)
{
	struct row row = row_begin(results, ADD_LOCK_HOLD);

	row_run(&row, run_id);
	row_u64(&row, "memcg_id", memcg_id);
	row_word(&row, "lock_sites.def", lock_sites, NR(lock_sites), site);
	row_u64(&row, "holds", holds);
	row_u64(&row, "folios", folios);
	return row_end(&row);
}

int results_add_drain(struct results *results, int64_t run_id, const char *batch, const char *cause,
		      uint64_t drains, uint64_t folios)
{
	struct row row = row_begin(results, ADD_DRAIN);

	row_run(&row, run_id);
	row_word(&row, "lock_sites.def", lock_sites, NR(lock_sites), batch);
	row_word(&row, "drain_causes.def", drain_causes, NR(drain_causes), cause);
	row_u64(&row, "drains", drains);
	row_u64(&row, "folios", folios);
	return row_end(&row);
}

int results_add_inferred(struct results *results, int64_t run_id, const char *rule, uint64_t count)
{
	struct row row = row_begin(results, ADD_INFERRED);

	row_run(&row, run_id);
	row_required(&row, "an inference rule", rule);
	row_u64(&row, "count", count);
	return row_end(&row);
}

int results_add_accuracy(struct results *results, int64_t run_id, uint64_t memcg_id,
			 const char *name, uint64_t kernel, uint64_t replay, const char *source)
{
	struct row row = row_begin(results, ADD_ACCURACY);

	row_run(&row, run_id);
	row_u64(&row, "memcg_id", memcg_id);
	row_word(&row, "counters.def", counter_kinds, NR(counter_kinds), name);
	row_u64(&row, name, kernel);
	row_u64(&row, name, replay);
	row_required(&row, "where a kernel's count is from", source);
	return row_end(&row);
}

int results_add_estimate(struct results *results, int64_t run_id,
			 const struct results_estimate *estimate)
{
	struct row row = row_begin(results, ADD_ESTIMATE);

	row_run(&row, run_id);
	row_u64(&row, "stream", estimate->stream);
	row_u64(&row, "asked", estimate->asked);
	row_u64(&row, "unknown", estimate->unknown);
	row_u64_or_null(&row, "first_unknown_ns", estimate->first_unknown_ns);
	row_u64(&row, "unseen_faults", estimate->unseen_faults);
	return row_end(&row);
}

int results_add_stress(struct results *results, int64_t run_id, const char *fill, uint64_t memcg_id,
		       const char *name, uint64_t value)
{
	struct row row = row_begin(results, ADD_STRESS);

	row_run(&row, run_id);
	row_required(&row, "what unknown time is filled with", fill);
	row_u64(&row, "memcg_id", memcg_id);
	row_word(&row, "counters.def", counter_kinds, NR(counter_kinds), name);
	row_u64(&row, name, value);
	return row_end(&row);
}

int results_add_cost(struct results *results, int64_t run_id, const struct results_cost *cost)
{
	struct row row = row_begin(results, ADD_COST);

	row_run(&row, run_id);
	row_required(&row, "a cost's step", cost->step);
	row_required(&row, "a cost's shape", cost->shape);
	row_required(&row, "a cost's host", cost->host);
	row_u64(&row, "repeats", cost->repeats);
	row_u64(&row, "folios", cost->folios);
	row_u64(&row, "holds", cost->holds);
	for (int i = 0; i < 3; i++)
		row_double(&row, cost->ns_per_folio[i]);
	for (int i = 0; i < 3; i++)
		row_double(&row, cost->ns_per_hold[i]);
	return row_end(&row);
}

int results_add_cost_repeat(struct results *results, int64_t run_id, const char *step,
			    unsigned int repeat, uint64_t ns, uint64_t folios, uint64_t holds)
{
	struct row row = row_begin(results, ADD_COST_REPEAT);

	row_run(&row, run_id);
	row_required(&row, "a cost's step", step);
	row_u64(&row, "repeat", repeat);
	row_u64(&row, "ns", ns);
	row_u64(&row, "folios", folios);
	row_u64(&row, "holds", holds);
	return row_end(&row);
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
	for (size_t i = 0; i < nr_words; i++) {
		struct row row = row_begin(results, which);

		row_u64(&row, "number", (uint64_t)word[i].number);
		row_text(&row, word[i].name);
		if (word[i].unit)
			row_text(&row, word[i].unit);
		row_text(&row, word[i].meaning);
		if (row_end(&row))
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
	    add_words(results, ADD_DRAIN_CAUSE, drain_causes, NR(drain_causes)) ||
	    add_words(results, ADD_CAUSE, causes, NR(causes)))
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
