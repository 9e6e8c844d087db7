// SPDX-License-Identifier: GPL-2.0-only
#include "schema/door.h"

#include <stdio.h>
#include <string.h>

#include "schema/command.h"

/* Weak: a program has the front files that it is linked from. */
#define COMMAND(name, summary, library)                                                            \
	extern __typeof__(command_##name) command_##name __attribute__((weak));
#include "schema/commands.def"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	const char *library; /* without which it is not built, "" for none */
} commands[] = {
#define COMMAND(name, summary, library) { #name, command_##name, summary, library },
#include "schema/commands.def"
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(const struct door *door, FILE *to)
{
	fprintf(to, "usage: %s COMMAND [options]\n\n%s\n", door->name, door->about);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i].run || door->shows_absent)
			fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
}

static int run(const struct door *door, const struct command *command, int argc, char **argv)
{
	if (command->run)
		return command->run(argc, argv);
	if (door->absent)
		fprintf(stderr, "lrutape: %s: %s\n", command->name, door->absent);
	else if (*command->library)
		fprintf(stderr,
			"lrutape: %s: not in this program: it was built without %s; install %s-dev and build "
			"again\n",
			command->name, command->library, command->library);
	else
		fprintf(stderr, "lrutape: %s: not in this program: it was built without it\n",
			command->name);
	return COMMAND_FAILED;
}

int door_open(const struct door *door, int argc, char **argv)
{
	if (argc < 2) {
		print_help(door, stderr);
		return COMMAND_MISUSED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(door, stdout);
		return COMMAND_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("%s " LRUTAPE_VERSION "\n", door->name);
		return COMMAND_DONE;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(door, &commands[i], argc - 1, argv + 1);
	fprintf(stderr, "lrutape: %s: no such command; `%s help` lists them\n", argv[1],
		door->name);
	return COMMAND_MISUSED;
}
