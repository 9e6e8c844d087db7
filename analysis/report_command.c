// SPDX-License-Identifier: GPL-2.0-only
/* lrutape report: a results database as one page to look at or to send. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "analysis/database.h"
#include "analysis/report_page.h"
#include "schema/command.h"
#include "schema/unfinished_file.h"

static const char usage[] =
	"usage: lrutape report [-o FILE.html] FILE.db [A B]\n\n"
	"Make a page of a results database: what a patch changed and whether that is noise, lock\n"
	"holds, misses by memory size, counters over time, and how far to believe it. It is one file\n"
	"of HTML with its charts in it; nothing is loaded from elsewhere. A and B are the runs or\n"
	"policies to compare, as in lrutape compare.\n\n"
	"  -o FILE.html   where it goes, standard output unless given; an existing file is replaced\n"
	"  --title TEXT   of the page\n"
	"  --help         this text\n";

struct options {
	const char *output, *title, *path;
	struct compare_request request;
};

/* Return: -1: go on; else the status to end with. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option list[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "title", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	*o = (struct options){ .request.memory_pages = -1 };
	while ((option = getopt_long(argc, argv, "o:h", list, NULL)) != -1) {
		switch (option) {
		case 'o':
			o->output = optarg;
			break;
		case 't':
			o->title = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return COMMAND_DONE;
		default:
			return command_unknown_option("report");
		}
	}
	if (!compare_operands("report", "lrutape report [-o FILE.html] FILE.db [A B]",
			      argc - optind, argv + optind, &o->path, &o->request))
		return COMMAND_MISUSED;
	return -1;
}

/* What there is to compare; a database of one policy has nothing, unless two were named. */
static int find_pairs(const struct options *o, struct report_page *page, struct compare *compare,
		      struct compare_problem *problem)
{
	if (!compare_select(page->db, &o->request, compare, problem)) {
		page->compare = compare;
		return COMMAND_DONE;
	}
	if (!o->request.a) {
		page->no_compare =
			"Nothing to compare: no policy ran both with and without a patch.";
		return COMMAND_DONE;
	}
	if (problem->list_runs)
		fprintf(stderr, "lrutape: %s: %s what `lrutape sql %s runs` lists\n", o->path,
			problem->text, o->path);
	else
		fprintf(stderr, "lrutape: %s: %s\n", o->path, problem->text);
	return COMMAND_FAILED;
}

/* mkstemp() makes files that only the owner reads; a page is for others, as the umask lets it. */
static int chmod_as_made(const char *path)
{
	mode_t mask = umask(0);

	umask(mask);
	return chmod(path, 0666 & ~mask);
}

/* Beside @name, to be renamed over it when it is whole. Return: NULL: errno says why. */
static FILE *open_beside(const char *name, char **temporary)
{
	FILE *file;
	int fd;

	if (asprintf(temporary, "%s.tmp-XXXXXX", name) < 0) {
		*temporary = NULL;
		return NULL;
	}
	fd = mkstemp(*temporary);
	if (fd >= 0)
		unfinished_file_begin(*temporary);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		if (fd >= 0)
			close(fd);
		free(*temporary);
		*temporary = NULL;
	}
	return file;
}

static int write_page(const struct options *o, struct report_page *page)
{
	const char *name = o->output ? o->output : "standard output";
	char *temporary = NULL;
	int status;

	page->to = o->output ? open_beside(o->output, &temporary) : stdout;
	if (!page->to) {
		fprintf(stderr, "lrutape: %s: %s\n", name, strerror(errno));
		return COMMAND_FAILED;
	}
	status = report_page(page);
	errno = 0;
	if (status == COMMAND_DONE && (fflush(page->to) || ferror(page->to))) {
		fprintf(stderr, "lrutape: %s: %s\n", name, strerror(errno));
		status = COMMAND_FAILED;
	}
	if (!o->output)
		return status;
	if (fclose(page->to) && status == COMMAND_DONE) {
		fprintf(stderr, "lrutape: %s: %s\n", name, strerror(errno));
		status = COMMAND_FAILED;
	}
	if (status == COMMAND_DONE && (chmod_as_made(temporary) || rename(temporary, o->output))) {
		fprintf(stderr, "lrutape: %s: %s\n", name, strerror(errno));
		status = COMMAND_FAILED;
	}
	unfinished_file_end();
	if (status != COMMAND_DONE)
		unlink(temporary);
	free(temporary);
	return status;
}

int command_report(int argc, char **argv)
{
	struct database_problem database_problem;
	struct compare_problem problem;
	struct report_page page = { 0 };
	struct compare compare = { 0 };
	struct options options;
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	if (database_open(options.path, &page.db, &database_problem)) {
		fprintf(stderr, "lrutape: %s\n", database_problem.text);
		return COMMAND_FAILED;
	}
	page.path = options.path;
	page.title = options.title ? options.title : "lrutape: replays compared";
	status = find_pairs(&options, &page, &compare, &problem);
	if (status == COMMAND_DONE)
		status = write_page(&options, &page);
	compare_free(&compare);
	sqlite3_close(page.db);
	return status;
}
