// SPDX-License-Identifier: GPL-2.0-only
/* `lrutape import`: a tape from another recorder's file. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/import.h"
#include "capture/import_ftrace_text.h"
#include "capture/import_oracle_general.h"
#include "capture/import_pages.h"
#include "capture/import_perf_script.h"
#include "capture/import_trace_dat.h"
#include "capture/unfinished_tape.h"
#include "schema/command.h"

#define FACTS_LIMIT 16u
#define PAGE_BYTES_MIN 1024u
#define PAGE_BYTES_MAX (1u << 20)

/* A new source is a file with such a function, and a line here. */
static const struct import_kind {
	const char *name;
	const char *summary;
	int (*import)(struct import_job *job);
	bool has_instances;
	const char *fidelity; /* what a tape of it knows, in a word, and in a sentence */
} kinds[] = {
	{ "trace.dat", "trace-cmd's file, version 6 or 7, packed or not", import_trace_dat, true,
	  "records: values, times and losses as the kernel recorded them; no snapshots" },
	{ "ftrace-text", "text of tracefs trace or trace_pipe, or of trace-cmd report",
	  import_ftrace_text, false,
	  "text: values as the kernel printed them, times of microseconds; no snapshots" },
	{ "perf-script", "text of perf script, with its default fields", import_perf_script, false,
	  "text: values as perf printed them, times of microseconds, few losses told; no snapshots" },
	{ "oracleGeneral", "libCacheSim's binary request trace: 24-byte records",
	  import_oracle_general, false,
	  "requests: what was asked for and when, in seconds; no kernel stood behind it" },
	{ "pages", "a page number a line, decimal or 0x", import_pages, false,
	  "requests: what was asked for, in which order; no times, no kernel" },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What a trace's text does not say and a replay wants to know: lines KEY=VALUE of lrutape/facts. */
static const struct fact_kind {
	const char *key;
	const char *value; /* for the help text */
	uint64_t limit; /* greatest value */
	bool is_size; /* bytes, with K, M, G or T */
	const char *meaning;
} fact_kinds[] = {
	{ "memory_limit", "SIZE", UINT64_MAX, true,
	  "memory limit of the traced group, bytes, or with K, M, G" },
	{ "swappiness", "N", 200, false, "of the traced group" },
	{ "anon_pages", "N", UINT64_MAX, false,
	  "base pages of anon memory that the group had and the trace did not see" },
	{ "total_swap_pages", "N", UINT64_MAX, false, "base pages of all swap areas" },
	{ "cold_start", "0|1", 1, false, "1: no page of the traced files was cached at the start" },
	{ "nr_cpus", "N", 8192, false, "CPUs of the traced machine" },
	{ "file_dev", "MAJOR:MINOR", 0, false, "device of the traced files" },
};

#define NR_FACT_KINDS (sizeof(fact_kinds) / sizeof(fact_kinds[0]))

struct request {
	const struct import_kind *kind;
	const char *input, *output;
	const char *release;
	const char *fact[NR_FACT_KINDS]; /* values as checked, by kind; NULL: not given */
	char fact_text[NR_FACT_KINDS][32];
	struct import_options options;
	bool keep;
};

static void print_help(FILE *to)
{
	fputs("usage: lrutape import --from SOURCE [options] -o FILE.lrt FILE\n\n"
	      "Make a tape from another recorder's file, plain, .gz or .zst. FILE - is standard input.\n\n"
	      "  -f, --from SOURCE       what FILE is:\n",
	      to);
	for (size_t i = 0; i < NR_KINDS; i++)
		fprintf(to, "        %-16s  %s\n", kinds[i].name, kinds[i].summary);
	fputs("  -o, --output FILE.lrt   the tape; it appears when it is whole\n"
	      "      --instance NAME     of a trace.dat, the buffer of this instance\n"
	      "      --release RELEASE   kernel of the traced machine, as uname -r prints it\n"
	      "      --page-size BYTES   base page of the traced machine, default 4096\n"
	      "      --assume KEY=VALUE  a fact that FILE does not hold; may be repeated:\n",
	      to);
	for (size_t i = 0; i < NR_FACT_KINDS; i++) {
		char left[40];

		snprintf(left, sizeof(left), "%s=%s", fact_kinds[i].key, fact_kinds[i].value);
		fprintf(to, "        %-20s  %s\n", left, fact_kinds[i].meaning);
	}
	fputs("      --keep              keep what came before an error, exit status 1 all the same\n"
	      "  -h, --help              print this\n",
	      to);
}

/* ---- Options. */

static const struct import_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < NR_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static bool parse_number(const char *text, bool is_size, uint64_t limit, uint64_t *value)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		return false;
	if (is_size && *end) {
		unit = strchr(units, *end & ~0x20);
		if (!unit || end[1])
			return false;
		for (; unit >= units; unit--) {
			if (*value > UINT64_MAX / 1024)
				return false;
			*value *= 1024;
		}
	} else if (*end) {
		return false;
	}
	return *value <= limit;
}

static bool parse_device(const char *text, char *out, size_t size)
{
	unsigned int major, minor;
	int used = 0;

	if (sscanf(text, "%u:%u%n", &major, &minor, &used) != 2 || text[used] || major >= 1 << 12 ||
	    minor >= 1 << 20)
		return false;
	snprintf(out, size, "%u:%u", major, minor);
	return true;
}

static int parse_fact(struct request *request, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t size = equals ? (size_t)(equals - text) : strlen(text);

	for (size_t i = 0; i < NR_FACT_KINDS; i++) {
		const struct fact_kind *kind = &fact_kinds[i];
		char *out = request->fact_text[i];
		uint64_t value;

		if (strlen(kind->key) != size || memcmp(kind->key, text, size))
			continue;
		if (!equals || !equals[1])
			goto err_value;
		if (request->fact[i]) {
			fprintf(stderr, "lrutape: --assume %s: given twice: give it once\n",
				kind->key);
			return COMMAND_MISUSED;
		}
		if (!strcmp(kind->key, "file_dev")) {
			if (!parse_device(equals + 1, out, sizeof(request->fact_text[i])))
				goto err_value;
		} else {
			if (!parse_number(equals + 1, kind->is_size, kind->limit, &value))
				goto err_value;
			snprintf(out, sizeof(request->fact_text[i]), "%" PRIu64, value);
		}
		request->fact[i] = out;
		return 0;

err_value:
		fprintf(stderr, "lrutape: --assume %s: no such value: use %s=%s\n", text, kind->key,
			kind->value);
		return COMMAND_MISUSED;
	}
	fprintf(stderr, "lrutape: --assume %s: no such key: use one of", text);
	for (size_t i = 0; i < NR_FACT_KINDS; i++)
		fprintf(stderr, "%s %s", i ? "," : "", fact_kinds[i].key);
	fputc('\n', stderr);
	return COMMAND_MISUSED;
}

static bool parse_release(const char *text, unsigned int *release)
{
	unsigned int major, minor;

	if (sscanf(text, "%u.%u", &major, &minor) != 2 || major > 255 || minor > 65535 ||
	    strchr(text, '\n'))
		return false;
	*release = major << 16 | minor;
	return true;
}

/* Return: 0, COMMAND_MISUSED, or -1 when --help was printed. */
static int parse_options(int argc, char **argv, struct request *request)
{
	enum { OPT_RELEASE = 256, OPT_PAGE_SIZE, OPT_ASSUME, OPT_KEEP, OPT_INSTANCE };
	static const struct option options[] = {
		{ "from", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "release", required_argument, NULL, OPT_RELEASE },
		{ "page-size", required_argument, NULL, OPT_PAGE_SIZE },
		{ "assume", required_argument, NULL, OPT_ASSUME },
		{ "keep", no_argument, NULL, OPT_KEEP },
		{ "instance", required_argument, NULL, OPT_INSTANCE },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t value;
	int c;

	request->options.page_bytes = 4096;
	while ((c = getopt_long(argc, argv, "f:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			request->kind = find_kind(optarg);
			if (!request->kind) {
				fprintf(stderr, "lrutape: --from %s: no such source: use one of",
					optarg);
				for (size_t i = 0; i < NR_KINDS; i++)
					fprintf(stderr, "%s %s", i ? "," : "", kinds[i].name);
				fputc('\n', stderr);
				return COMMAND_MISUSED;
			}
			break;
		case 'o':
			request->output = optarg;
			break;
		case OPT_RELEASE:
			request->release = optarg;
			if (!parse_release(optarg, &request->options.release)) {
				fprintf(stderr,
					"lrutape: --release %s: no kernel release: give what uname -r prints, "
					"such as 6.18.44\n",
					optarg);
				return COMMAND_MISUSED;
			}
			break;
		case OPT_PAGE_SIZE:
			if (!parse_number(optarg, true, PAGE_BYTES_MAX, &value) ||
			    value < PAGE_BYTES_MIN || (value & (value - 1))) {
				fprintf(stderr,
					"lrutape: --page-size %s: no page size: give a power of two from 1K to "
					"1M\n",
					optarg);
				return COMMAND_MISUSED;
			}
			request->options.page_bytes = (uint32_t)value;
			break;
		case OPT_ASSUME:
			if (parse_fact(request, optarg))
				return COMMAND_MISUSED;
			break;
		case OPT_KEEP:
			request->keep = true;
			break;
		case OPT_INSTANCE:
			request->options.instance = optarg;
			break;
		case 'h':
			print_help(stdout);
			return -1;
		default:
			return command_unknown_option("import");
		}
	}
	if (!request->kind || !request->output || optind + 1 != argc) {
		fprintf(stderr, "lrutape: import: %s\n",
			!request->kind ?
				"what is it? Say --from SOURCE; `lrutape import --help` lists them" :
			!request->output ? "where to? Say -o FILE.lrt" :
			optind == argc	 ? "what from? Name one file, or - for standard input" :
					   "too many files: name one, or - for standard input");
		return COMMAND_MISUSED;
	}
	if (request->options.instance && !request->kind->has_instances) {
		fprintf(stderr, "lrutape: --instance %s: %s has no instances: leave it out\n",
			request->options.instance, request->kind->name);
		return COMMAND_MISUSED;
	}
	request->input = argv[optind];
	return 0;
}

/* ---- The tape. */

static int add_text_blob(struct import_job *job, const char *name, const char *text)
{
	struct tape_blob blob = {
		.timestamp_ns = job->report.first_ns,
		.moment = TAPE_MOMENT_START,
		.name = name,
		.data = text,
		.size = strlen(text),
	};

	return tape_writer_add_blob(job->tape, &blob) ? import_fail_tape(job) : 0;
}

static int add_blobs(struct import_job *job, const struct request *request)
{
	/* Without its folders: a tape is sent away, and they are nobody's business. */
	const char *slash = strrchr(request->input, '/');
	char source[4096 + 256], release[256], facts[FACTS_LIMIT * 64];
	size_t used = 0;
	int err;

	snprintf(source, sizeof(source), "%s %s\nfidelity %s\n", request->kind->name,
		 slash ? slash + 1 : request->input, request->kind->fidelity);
	err = add_text_blob(job, "lrutape/source", source);
	if (!err && (request->release || job->report.release[0])) {
		snprintf(release, sizeof(release), "%s\n",
			 request->release ? request->release : job->report.release);
		err = add_text_blob(job, "lrutape/release", release);
	}
	used += (size_t)snprintf(facts, sizeof(facts), "page_size=%" PRIu32 "\n",
				 request->options.page_bytes);
	for (size_t i = 0; i < NR_FACT_KINDS; i++) {
		char found[16];
		const char *value = request->fact[i];

		if (!value && !strcmp(fact_kinds[i].key, "nr_cpus") && job->report.nr_cpus) {
			snprintf(found, sizeof(found), "%" PRIu32, job->report.nr_cpus);
			value = found;
		}
		if (value)
			used += (size_t)snprintf(facts + used, sizeof(facts) - used, "%s=%s\n",
						 fact_kinds[i].key, value);
	}
	return err ? err : add_text_blob(job, "lrutape/facts", facts);
}

static int compare_tallies(const void *a, const void *b)
{
	const struct import_tally *one = a, *other = b;

	if (one->nr_events != other->nr_events)
		return one->nr_events < other->nr_events ? 1 : -1;
	return strcmp(one->name, other->name);
}

static void print_notes(const struct request *request, const struct import_report *report)
{
	for (unsigned int i = 0; i < report->nr_notes && i < IMPORT_NOTES_LIMIT; i++)
		fprintf(stderr, "lrutape: %s: %s\n", request->input,
			report->note[i] ? report->note[i] : "a note was lost: no memory");
	if (report->nr_notes > IMPORT_NOTES_LIMIT)
		fprintf(stderr, "lrutape: %s: %u notes more are not shown\n", request->input,
			report->nr_notes - IMPORT_NOTES_LIMIT);
	if (report->nr_unread)
		fprintf(stderr,
			"lrutape: %s: %" PRIu64 " of %" PRIu64
			" lines are NOT on the tape, see above\n",
			request->input, report->nr_unread, report->nr_lines);
}

static void print_summary(const struct request *request, struct import_report *report)
{
	uint64_t ns = report->last_ns - report->first_ns;
	struct stat st = { 0 };

	stat(request->output, &st);
	printf("%s: %" PRIu64 " events of %u kinds in %" PRIu64 ".%03" PRIu64
	       " s, %jd bytes (%.1f an event)\n",
	       request->output, report->nr_events, report->nr_tallies, ns / 1000000000,
	       ns / 1000000 % 1000, (intmax_t)st.st_size,
	       report->nr_events ? (double)st.st_size / (double)report->nr_events : 0.0);
	if (report->nr_losses)
		printf("LOST in the source: %" PRIu64 " events or more, in %" PRIu64 " places\n",
		       report->nr_lost, report->nr_losses);
	qsort(report->tally, report->nr_tallies, sizeof(*report->tally), compare_tallies);
	for (unsigned int i = 0; i < report->nr_tallies; i++)
		printf("  %12" PRIu64 "  %s%s\n", report->tally[i].nr_events, report->tally[i].name,
		       report->tally[i].by_name ? " (by name=value)" : "");
}

static int run(const struct request *request, struct import_job *job)
{
	const char *unfinished = unfinished_tape_begin(request->output);
	struct tape_problem problem = { 0 };
	int err, finish_err;
	bool keep;

	if (!unfinished)
		return COMMAND_FAILED;
	if (tape_writer_create(unfinished, NULL, &job->tape, &problem)) {
		unfinished_tape_print_problem(&problem);
		return COMMAND_FAILED;
	}
	err = request->kind->import(job);
	if (err)
		problem = job->problem;
	print_notes(request, &job->report);
	/* A tape that failed itself is not kept: only what the input did wrong is forgiven. */
	keep = request->keep && job->report.nr_events &&
	       tape_writer_problem(job->tape)->code == TAPE_OK;
	if (!err || keep) {
		int blob_err = add_blobs(job, request);

		if (blob_err && !err) {
			err = blob_err;
			problem = job->problem;
		}
		keep &= !blob_err;
	}
	if (err && !keep) {
		unfinished_tape_print_problem(&problem);
		tape_writer_abandon(job->tape);
		unfinished_tape_remove();
		return COMMAND_FAILED;
	}
	if (err)
		unfinished_tape_print_problem(&problem);
	finish_err = tape_writer_finish(job->tape, &problem);
	if (finish_err) {
		unfinished_tape_print_problem(&problem);
		unfinished_tape_remove();
		return COMMAND_FAILED;
	}
	if (unfinished_tape_finish())
		return COMMAND_FAILED;
	print_summary(request, &job->report);
	if (err)
		fprintf(stderr, "lrutape: %s: kept, although it is only the beginning\n",
			request->output);
	return err ? COMMAND_FAILED : COMMAND_DONE;
}

int command_import(int argc, char **argv)
{
	struct request request = { 0 };
	struct import_job job = { 0 };
	struct tape_problem problem = { 0 };
	struct stat in, out;
	int ret = parse_options(argc, argv, &request);

	if (ret)
		return ret < 0 ? COMMAND_DONE : ret;
	if (!stat(request.output, &out)) {
		if (!S_ISREG(out.st_mode)) {
			fprintf(stderr, "lrutape: -o %s: is no plain file: name one\n",
				request.output);
			return COMMAND_FAILED;
		}
		if (!stat(request.input, &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino) {
			fprintf(stderr,
				"lrutape: -o %s: would replace the input: use another name\n",
				request.output);
			return COMMAND_MISUSED;
		}
	}
	if (import_source_open(request.input, &job.input, &problem)) {
		fprintf(stderr, "lrutape: %s\n", problem.text);
		return COMMAND_FAILED;
	}
	job.options = request.options;
	ret = run(&request, &job);
	import_source_close(job.input);
	import_report_free(&job.report);
	return ret;
}
