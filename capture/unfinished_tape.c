// SPDX-License-Identifier: GPL-2.0-only
#include "capture/unfinished_tape.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "schema/unfinished_file.h"

static char path[4096];
static const char *name_to_be;

const char *unfinished_tape_begin(const char *output)
{
	name_to_be = output;
	if ((size_t)snprintf(path, sizeof(path), "%s.unfinished-%ld", output, (long)getpid()) >=
	    sizeof(path)) {
		fprintf(stderr, "lrutape: -o %s: the name is too long: use a shorter one\n",
			output);
		return NULL;
	}
	unfinished_file_begin(path);
	return path;
}

int unfinished_tape_finish(void)
{
	int error = rename(path, name_to_be);

	unfinished_file_end();
	if (!error)
		return 0;
	fprintf(stderr, "lrutape: %s: cannot put the tape there: %s: choose another name\n",
		name_to_be, strerror(errno));
	unlink(path);
	return -1;
}

void unfinished_tape_remove(void)
{
	unfinished_file_end();
	unlink(path);
}

void unfinished_tape_print_problem(const struct tape_problem *problem)
{
	const char *name = strstr(problem->text, path);

	if (name)
		fprintf(stderr, "lrutape: %.*s%s%s\n", (int)(name - problem->text), problem->text,
			name_to_be, name + strlen(path));
	else
		fprintf(stderr, "lrutape: %s\n", problem->text);
}
