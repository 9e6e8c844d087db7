// SPDX-License-Identifier: GPL-2.0-only
#include "capture/unfinished_tape.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For the signal handler. */
static char path[4096];
static const char *name_to_be;

static void remove_and_end(int signal_number)
{
	unlink(path);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

const char *unfinished_tape_begin(const char *output)
{
	struct sigaction action = { .sa_handler = remove_and_end };

	name_to_be = output;
	if ((size_t)snprintf(path, sizeof(path), "%s.unfinished-%ld", output, (long)getpid()) >=
	    sizeof(path)) {
		fprintf(stderr, "lrutape: -o %s: the name is too long: use a shorter one\n",
			output);
		return NULL;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	return path;
}

int unfinished_tape_finish(void)
{
	if (!rename(path, name_to_be))
		return 0;
	fprintf(stderr, "lrutape: %s: cannot put the tape there: %s: choose another name\n",
		name_to_be, strerror(errno));
	unlink(path);
	return -1;
}

void unfinished_tape_remove(void)
{
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
