/* SPDX-License-Identifier: GPL-2.0-only */
/* What every subcommand's front file shares: exit status and the program's version. */
#ifndef SCHEMA_COMMAND_H
#define SCHEMA_COMMAND_H

#ifndef LRUTAPE_VERSION
#define LRUTAPE_VERSION "0.1.0"
#endif

enum command_status {
	COMMAND_DONE = 0,
	COMMAND_FAILED = 1,
	COMMAND_MISUSED = 2, /* wrong options: the message names the right ones */
};

/*
 * One per COMMAND line of commands.def. argv[0] is the subcommand's name. Prints errors to stderr
 * as "lrutape: FILE: what, where: remedy".
 * Return: enum command_status; record returns its command's status when that is not 0.
 */
#define COMMAND(name, summary, library) int command_##name(int argc, char **argv);
#include "schema/commands.def"

/** command_unknown_option() - getopt_long() has named an option that is not there. Return: COMMAND_MISUSED. */
int command_unknown_option(const char *name);

/**
 * command_one_tape() - behind the options stands one tape and nothing else
 * @tape: set to it
 * Return: 0, or COMMAND_MISUSED, with a message.
 */
int command_one_tape(int argc, char **argv, const char **tape);

#endif
