// SPDX-License-Identifier: GPL-2.0-only
/*
 * The door of lrutape-record: what records a tape and what reads one, in one static program that a bare
 * host or an initramfs runs. It is linked from schema/ and capture/ alone, so of commands.def it has
 * what stands there; replay and all that needs sqlite stay at home.
 */
#include <stdio.h>
#include <string.h>

#include "schema/command.h"

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

/*
 * libtraceevent can load plugins; we never ask it to, and a static program could not. The linker's
 * --wrap puts this in the place of dlopen(): no file becomes code of the recorder.
 */
void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

static void print_help(FILE *to)
{
	fputs("usage: lrutape-record COMMAND [options]\n\n"
	      "The part of lrutape that goes to the recorded machine: one static program.\n"
	      "`lrutape-record COMMAND --help` tells the options of a command.\n\n",
	      to);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i].run)
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
		puts("lrutape-record " LRUTAPE_VERSION);
		return COMMAND_DONE;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (commands[i].run)
			return commands[i].run(argc - 1, argv + 1);
		fprintf(stderr,
			"lrutape: %s: not in lrutape-record, which records and reads tapes: copy the tape "
			"to where lrutape is\n",
			argv[1]);
		return COMMAND_FAILED;
	}
	fprintf(stderr, "lrutape: %s: no such command; `lrutape-record help` lists them\n",
		argv[1]);
	return COMMAND_MISUSED;
}
