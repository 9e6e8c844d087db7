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

#endif
