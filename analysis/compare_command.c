// SPDX-License-Identifier: GPL-2.0-only
/* lrutape compare: two runs side by side, as one would paste them into a mail. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "analysis/compare_report.h"
#include "analysis/database.h"
#include "schema/command.h"

static void print_help(FILE *to)
{
	fputs("usage: lrutape compare [options] FILE.db [A B]\n\n"
	      "Put two runs of a results database side by side. A and B are run numbers or policy\n"
	      "names; without them, a patched policy is compared with its unpatched base. Each tape\n"
	      "and memory size that both ran on makes a block; perturbed runs give its differences\n"
	      "their spread.\n\n"
	      "  --tape N         only this tape: its number, or its file's name\n"
	      "  --memory SIZE    only this memory size: bytes, or with K, M, G, T\n"
	      "  --all            also lines that are equal or zero\n"
	      "  --csv            every number, RFC 4180, the first line names the columns\n"
	      "  --json           every number, an array of objects\n"
	      "  --help           this text\n",
	      to);
}

/* What stands on stderr below a message: which runs there are. */
static void list_runs(const struct compare *compare)
{
	for (size_t i = 0; i < compare->nr_runs; i++) {
		const struct compare_run *run = &compare->run[i];
		char memory[64];

		compare_memory_text(run->memory_pages, memory, sizeof(memory));
		fprintf(stderr, "  %4" PRId64 "  ", run->run_id);
		compare_print_plain(stderr, run->policy);
		fputs(" on ", stderr);
		compare_print_plain(stderr, run->tape);
		fprintf(stderr, " %s", memory);
		if (run->seed)
			fprintf(stderr, ", seed %" PRId64, run->seed);
		fputc('\n', stderr);
	}
}

/* A memory size in pages. Return: -1 where it is none. */
static int64_t parse_memory(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	unsigned long long bytes;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (errno)
		return -1;
	if (*end && (unit = strchr(units, *end & ~0x20))) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (*end || bytes > (UINT64_MAX >> 1) >> shift || (bytes << shift) % PAGE_BYTES)
		return -1;
	return (int64_t)((bytes << shift) / PAGE_BYTES);
}

struct options {
	struct compare_request request;
	enum output_format format;
	bool all;
	const char *path;
};

/* Return: -1: go on; else the status to end with. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "tape", required_argument, NULL, 't' },
		{ "memory", required_argument, NULL, 'm' },
		{ "all", no_argument, NULL, 'a' },
		{ "csv", no_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool csv = false, json = false;
	int option;

	*o = (struct options){ .request.memory_pages = -1, .format = OUTPUT_TABLE };
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 't':
			o->request.tape = optarg;
			break;
		case 'm':
			o->request.memory_pages = parse_memory(optarg);
			if (o->request.memory_pages < 0) {
				fprintf(stderr,
					"lrutape: compare: --memory %s: not a whole number of pages of "
					"4 KiB: give bytes, or a number with K, M, G, T\n",
					optarg);
				return COMMAND_MISUSED;
			}
			break;
		case 'a':
			o->all = true;
			break;
		case 'c':
			csv = true;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			print_help(stdout);
			return COMMAND_DONE;
		default:
			return command_unknown_option("compare");
		}
	}
	if (csv && json) {
		fputs("lrutape: compare: --csv and --json exclude each other\n", stderr);
		return COMMAND_MISUSED;
	}
	if (csv || json)
		o->format = csv ? OUTPUT_CSV : OUTPUT_JSON;
	if (!compare_operands("compare", "lrutape compare [options] FILE.db [A B]", argc - optind,
			      argv + optind, &o->path, &o->request))
		return COMMAND_MISUSED;
	return -1;
}

int command_compare(int argc, char **argv)
{
	struct database_problem database_problem;
	struct compare_problem problem;
	struct options options;
	struct compare_report report;
	struct compare compare;
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	report = (struct compare_report){ .path = options.path, .all = options.all };
	if (database_open(options.path, &report.db, &database_problem)) {
		fprintf(stderr, "lrutape: %s\n", database_problem.text);
		return COMMAND_FAILED;
	}
	if (compare_select(report.db, &options.request, &compare, &problem)) {
		status = compare_report_failed(&report, problem.text);
		if (problem.list_runs)
			list_runs(&compare);
	} else if (options.format == OUTPUT_TABLE) {
		status = compare_print_text(&report, &compare);
	} else {
		status = compare_print_flat(&report, &compare, options.format);
	}
	compare_free(&compare);
	sqlite3_close(report.db);
	return status;
}
