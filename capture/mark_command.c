// SPDX-License-Identifier: GPL-2.0-only
/* lrutape mark: write a text into all recordings that run, as an event of its moment. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/text_file.h"
#include "capture/tracefs_mount.h"
#include "schema/command.h"

#define MARK_BYTES_MAX                                                                             \
	1000 /* the kernel cuts markers off at 1 KiB (kernel/trace/trace.c, 5.4 to 6.6) */

static const char help[] =
	"usage: lrutape mark TEXT...\n\n"
	"Write a marker into every recording that runs on this machine. It stands on the tape\n"
	"as the event ftrace:print of this moment. Needs root.\n\n"
	"  -h, --help        this text\n";

/* The recorder whose instance that is, if it lives. */
static pid_t live_recorder(const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, "lrutape-", 8))
		return 0;
	pid = strtol(name + 8, &end, 10);
	if (*end || pid <= 0 || pid > INT_MAX || (kill((pid_t)pid, 0) && errno == ESRCH))
		return 0;
	return (pid_t)pid;
}

/* Return: recordings marked, -1 with the reason told. */
static int mark_all(const char *tracefs, const char *text)
{
	char path[PATH_MAX + 64];
	struct dirent *entry;
	int nr = 0, error;
	DIR *list;

	snprintf(path, sizeof(path), "%s/instances", tracefs);
	list = opendir(path);
	if (!list) {
		fprintf(stderr, "lrutape: %s: cannot list: %s: marking needs root\n", path,
			strerror(errno));
		return -1;
	}
	while ((entry = readdir(list))) {
		if (!live_recorder(entry->d_name))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/instances/%s/trace_marker", tracefs,
				     entry->d_name) >= sizeof(path))
			continue;
		error = text_file_write(path, text);
		/* A recording may end at this very moment. */
		if (error && error != -ENOENT && error != -ENODEV)
			fprintf(stderr, "lrutape: %s: cannot write: %s: marking needs root\n", path,
				strerror(-error));
		else if (!error)
			nr++;
	}
	closedir(list);
	return nr;
}

static char *join(char **words)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (char **word = words; *word; word++)
		fprintf(to, "%s%s", word == words ? "" : " ", *word);
	return fclose(to) ? NULL : text;
}

static int mark(char **words)
{
	char directory[PATH_MAX], *text = join(words);
	int nr;

	if (!text || strlen(text) > MARK_BYTES_MAX) {
		fprintf(stderr, "lrutape: mark: %s\n",
			text ? "the text is longer than 1000 bytes: shorten it" : "out of memory");
		free(text);
		return text ? COMMAND_MISUSED : COMMAND_FAILED;
	}
	if (!tracefs_mount_find(directory)) {
		fputs("lrutape: /proc/self/mounts: no tracefs is mounted: nothing is being recorded here\n",
		      stderr);
		free(text);
		return COMMAND_FAILED;
	}
	nr = mark_all(directory, text);
	free(text);
	if (nr == 0)
		fprintf(stderr,
			"lrutape: %s/instances: no recording runs: start one with `lrutape record`\n",
			directory);
	return nr > 0 ? COMMAND_DONE : COMMAND_FAILED;
}

int command_mark(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return COMMAND_DONE;
		}
		fputs("lrutape: mark: no such option; `lrutape mark --help` tells more\n", stderr);
		return COMMAND_MISUSED;
	}
	if (optind == argc) {
		fputs("lrutape: mark: no text: give what the marker shall say\n", stderr);
		return COMMAND_MISUSED;
	}
	return mark(argv + optind);
}
