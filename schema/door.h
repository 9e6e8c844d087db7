/* SPDX-License-Identifier: GPL-2.0-only */
/* The door of a program: which subcommand there is, help, version. */
#ifndef SCHEMA_DOOR_H
#define SCHEMA_DOOR_H

#include <stdbool.h>

struct door {
	const char *name; /* of the program */
	const char *about; /* help, below the line of usage: whole lines */
	bool shows_absent; /* in help: also commands that this program was built without */
	const char *absent; /* what is said of those, NULL: which library is missing */
};

/**
 * door_open() - run the subcommand that argv[1] names
 *
 * Every command of commands.def that is linked into the program is there.
 * Return: its status, or enum command_status.
 */
int door_open(const struct door *door, int argc, char **argv);

#endif
