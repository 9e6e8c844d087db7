/* SPDX-License-Identifier: GPL-2.0-only */
/* What can go wrong with a tape, in one table. */
#ifndef SCHEMA_TAPE_PROBLEM_H
#define SCHEMA_TAPE_PROBLEM_H

#include <stdint.h>

enum tape_error {
	TAPE_OK = 0,
	TAPE_ERR_OPEN = -1, /* the system said no: errno text in the sentence */
	TAPE_ERR_NOT_A_TAPE = -2,
	TAPE_ERR_VERSION = -3, /* newer format version */
	TAPE_ERR_CHECKSUM = -4,
	TAPE_ERR_CORRUPT = -5, /* passes its checksum but breaks a rule of the format, or a limit */
	TAPE_ERR_IO = -6, /* read or write failed: errno text in the sentence */
	TAPE_ERR_MEMORY = -7,
	TAPE_ERR_ENCODING = -8, /* a column encoding this version does not know */
	TAPE_ERR_EMPTY = -9, /* torn before its first usable frame */
};

struct tape_problem {
	enum tape_error code;
	uint64_t byte; /* place in the file */
	char text[256]; /* "FILE: what at byte N: remedy", without newline */
};

/**
 * tape_problem_set() - say what went wrong
 * @problem: filled; NULL is fine
 * @path: of the tape
 * @byte: place in the file
 * @what: the particular, NULL for the code's own sentence
 *
 * Return: @code.
 */
int tape_problem_set(struct tape_problem *problem, enum tape_error code, const char *path,
		     uint64_t byte, const char *what);

#endif
