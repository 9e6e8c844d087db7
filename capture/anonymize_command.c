// SPDX-License-Identifier: GPL-2.0-only
/* `lrutape anonymize`: a copy of a tape that may be sent away. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/anonymize.h"
#include "capture/unfinished_tape.h"
#include "schema/command.h"

#define KEY_FILE_BYTES_MAX 65536

static const char help[] =
	"usage: lrutape anonymize [options] -o OUT.lrt IN.lrt\n\n"
	"Copy a tape with other names of tasks, files and cgroups, and with inodes, device\n"
	"numbers, thread ids and page frames exchanged one to one under a secret key, so\n"
	"that a replay of the copy decides the same. What stays is told in the manual.\n\n"
	"  -o, --output OUT.lrt  the copy; it appears when it is whole\n"
	"      --key FILE        16 bytes or more that make up the key: the same names become\n"
	"                        the same ones on all tapes; a key of random bits by default,\n"
	"                        which nobody keeps\n"
	"      --shift-time      move all times, so that the first event has 1000 s\n"
	"  -h, --help            this text\n";

struct request {
	const char *input, *output, *key_file;
	struct anonymize_options options;
};

static int read_key(struct request *request)
{
	unsigned char bytes[KEY_FILE_BYTES_MAX];
	size_t size;
	FILE *file;
	int error;

	if (!request->key_file) {
		if (!hash_key_random(&request->options.key))
			return COMMAND_DONE;
		fprintf(stderr, "lrutape: no random key to be had: %s: name one with --key\n",
			strerror(errno));
		return COMMAND_FAILED;
	}
	file = fopen(request->key_file, "rbe");
	if (!file)
		goto err_read;
	size = fread(bytes, 1, sizeof(bytes), file);
	error = ferror(file);
	fclose(file);
	if (error)
		goto err_read;
	if (size < HASH_KEY_BYTES_MIN) {
		fprintf(stderr,
			"lrutape: --key %s: %zu bytes can be guessed: give %d or more, as of "
			"/dev/urandom\n",
			request->key_file, size, HASH_KEY_BYTES_MIN);
		return COMMAND_FAILED;
	}
	hash_key_derive(&request->options.key, bytes, size);
	return COMMAND_DONE;

err_read:
	fprintf(stderr,
		"lrutape: --key %s: cannot be read: %s: make one with "
		"`head -c 32 /dev/urandom`\n",
		request->key_file, strerror(errno));
	return COMMAND_FAILED;
}

static int check_output(const struct request *request)
{
	struct stat in, out;

	if (stat(request->output, &out))
		return COMMAND_DONE;
	if (!S_ISREG(out.st_mode)) {
		fprintf(stderr, "lrutape: -o %s: is no plain file: name one\n", request->output);
		return COMMAND_FAILED;
	}
	if (!stat(request->input, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		fprintf(stderr, "lrutape: -o %s: would replace the input: use another name\n",
			request->output);
		return COMMAND_MISUSED;
	}
	return COMMAND_DONE;
}

static void print_report(const struct request *request, const struct anonymize_report *report)
{
	printf("%s: %" PRIu64 " events, %" PRIu64 " losses\n", request->output, report->nr_events,
	       report->nr_losses);
	printf("exchanged: %" PRIu64 " thread ids, %" PRIu64 " inodes, %" PRIu64
	       " cgroups, %" PRIu64 " minor device numbers, %" PRIu64 " blocks of page frames\n",
	       report->nr_pids, report->nr_inodes, report->nr_cgroups, report->nr_minors,
	       report->nr_pfn_blocks);
	printf("snapshots: %" PRIu64 " files kept, %" PRIu64 " left out\n", report->nr_files,
	       report->nr_files_left_out);
	for (uint64_t i = 0; i < report->nr_left_out; i++)
		printf("  left out: %s\n", report->left_out[i]);
	if (report->nr_filters_left_out)
		printf("filters left out: %" PRIu64 "\n", report->nr_filters_left_out);
	if (report->torn)
		fprintf(stderr,
			"lrutape: %s: torn at byte %" PRIu64 ": what stands before is copied\n",
			request->input, report->torn_at);
}

static int run(const struct request *request, struct anonymize_report *report)
{
	const char *unfinished = unfinished_tape_begin(request->output);
	struct tape_problem problem = { 0 };

	if (!unfinished)
		return COMMAND_FAILED;
	if (anonymize_tape(request->input, unfinished, &request->options, report, &problem)) {
		unfinished_tape_print_problem(&problem);
		unfinished_tape_remove();
		return COMMAND_FAILED;
	}
	if (unfinished_tape_finish())
		return COMMAND_FAILED;
	print_report(request, report);
	return COMMAND_DONE;
}

/* Return: 0, COMMAND_MISUSED, or -1 when --help was printed. */
static int parse_options(int argc, char **argv, struct request *request)
{
	enum { OPT_KEY = 256, OPT_SHIFT_TIME };
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "key", required_argument, NULL, OPT_KEY },
		{ "shift-time", no_argument, NULL, OPT_SHIFT_TIME },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o':
			request->output = optarg;
			break;
		case OPT_KEY:
			request->key_file = optarg;
			break;
		case OPT_SHIFT_TIME:
			request->options.shift_time = true;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			return command_unknown_option("anonymize");
		}
	}
	if (!request->output || optind + 1 != argc) {
		fprintf(stderr, "lrutape: anonymize: %s\n",
			!request->output ? "where to? Say -o OUT.lrt" :
			optind == argc	 ? "what from? Name one tape" :
					   "too many tapes: name one");
		return COMMAND_MISUSED;
	}
	request->input = argv[optind];
	return 0;
}

int command_anonymize(int argc, char **argv)
{
	struct request request = { 0 };
	struct anonymize_report report = { 0 };
	int status = parse_options(argc, argv, &request);

	if (status)
		return status < 0 ? COMMAND_DONE : status;
	status = check_output(&request);
	if (!status)
		status = read_key(&request);
	if (!status)
		status = run(&request, &report);
	anonymize_report_free(&report);
	return status;
}
