// SPDX-License-Identifier: GPL-2.0-only
#include "schema/unfinished_file.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

/* For the signal handler; empty: nothing is unfinished. */
static char unfinished[4096];

static void remove_and_end(int signal_number)
{
	if (unfinished[0])
		unlink(unfinished);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

void unfinished_file_begin(const char *path)
{
	struct sigaction action = { .sa_handler = remove_and_end }, old;
	size_t size = strlen(path) + 1;

	unfinished_file_end();
	if (size > sizeof(unfinished))
		return;
	memcpy(unfinished + 1, path + 1, size - 1);
	unfinished[0] = path[0];
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &action, NULL);
	}
}

void unfinished_file_end(void)
{
	unfinished[0] = '\0';
}
