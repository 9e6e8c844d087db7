// SPDX-License-Identifier: GPL-2.0-only
/* The door; behind it every command of schema/commands.def has a front file, NAME_command.c, in its stage. */
#include "schema/door.h"

int main(int argc, char **argv)
{
	static const struct door door = {
		.name = "lrutape",
		.about =
			"Record what a workload asks of Linux page reclaim, replay it under other policies,\n"
			"and compare. `lrutape COMMAND --help` tells the options of a command.\n",
		.shows_absent = true,
	};

	return door_open(&door, argc, argv);
}
