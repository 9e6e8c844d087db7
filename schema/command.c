// SPDX-License-Identifier: GPL-2.0-only
#include "schema/command.h"

#include <getopt.h>
#include <stdio.h>

int command_unknown_option(const char *name)
{
	fprintf(stderr, "lrutape: %s: `lrutape %s --help` tells the options\n", name, name);
	return COMMAND_MISUSED;
}

int command_one_tape(int argc, char **argv, const char **tape)
{
	if (optind + 1 != argc) {
		fprintf(stderr, "lrutape: %s: exactly one tape is needed: lrutape %s TAPE\n",
			argv[0], argv[0]);
		return COMMAND_MISUSED;
	}
	*tape = argv[optind];
	return 0;
}
