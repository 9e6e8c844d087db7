// SPDX-License-Identifier: GPL-2.0-only
/*
 * The door of lrutape-record: what records a tape and what reads one, in one static program that a bare
 * host or an initramfs runs. It is linked from schema/ and capture/ alone, so of commands.def it has
 * what stands there; replay and all that needs sqlite stay at home.
 */
#include <stddef.h>

#include "schema/door.h"

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

int main(int argc, char **argv)
{
	static const struct door door = {
		.name = "lrutape-record",
		.about =
			"The part of lrutape that goes to the recorded machine: one static program.\n"
			"`lrutape-record COMMAND --help` tells the options of a command.\n",
		.absent =
			"not in lrutape-record, which records and reads tapes: copy the tape to where "
			"lrutape is",
	};

	return door_open(&door, argc, argv);
}
