/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a recording that goes on in a new one now and then: TAPE.000, TAPE.001 and so on, each a
 * complete tape. Those that an earlier recording left count too, as the oldest.
 */
#ifndef CAPTURE_SEGMENT_FILES_H
#define CAPTURE_SEGMENT_FILES_H

#include <stdint.h>

#include "capture/capture_problem.h"

struct segment_files {
	const char *tape; /* name without the number; not owned */
	struct segment_file {
		unsigned int number;
		uint64_t bytes;
	} * file; /* finished ones, oldest first */
	unsigned int nr, room;
	uint64_t bytes; /* of all of them */
	unsigned int next; /* number of the next one */
};

/** segment_files_scan() - find what is there. Return: 0, or -1 with the problem told. */
int __attribute__((warn_unused_result))
segment_files_scan(struct segment_files *files, const char *tape, struct capture_problem *problem);

/** segment_files_path() - name of a segment. Return: to be freed, NULL without memory. */
char *segment_files_path(const char *tape, unsigned int number);

/** segment_files_add() - one is finished. Return: 0, or -1 without memory: it is then never removed. */
int segment_files_add(struct segment_files *files, unsigned int number, uint64_t bytes);

/** segment_files_trim() - remove the oldest until no more than @keep_bytes are left. */
void segment_files_trim(struct segment_files *files, uint64_t keep_bytes);

void segment_files_free(struct segment_files *files);

#endif
