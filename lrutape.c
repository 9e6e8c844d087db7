// SPDX-License-Identifier: GPL-2.0-only
/* The door: which subcommand there is, and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/command.h"

/* Weak, because a build without libtracefs leaves out the front file of record. */
#define COMMAND(name, summary)                                                                     \
	extern __typeof__(command_##name) command_##name __attribute__((weak));
#include "schema/commands.def"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
#define COMMAND(name, summary) { #name, command_##name, summary },
#include "schema/commands.def"
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *to)
{
	fputs("usage: lrutape COMMAND [options]\n\n"
	      "Record what a workload asks of Linux page reclaim, replay it under other policies,\n"
	      "and compare. `lrutape COMMAND --help` tells the options of a command.\n\n",
	      to);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return COMMAND_MISUSED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return COMMAND_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("lrutape " LRUTAPE_VERSION);
		return COMMAND_DONE;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (!commands[i].run) {
			fprintf(stderr,
				"lrutape: %s: not in this program: it was built without libtracefs; "
				"install libtracefs-dev and build again\n",
				argv[1]);
			return COMMAND_FAILED;
		}
		return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "lrutape: %s: no such command; `lrutape help` lists them\n", argv[1]);
	return COMMAND_MISUSED;
}
