/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tape that a command makes of another file gets its name when it is whole. Until then it stands beside
 * it as NAME.unfinished-PID, and a signal that ends the command removes it. One at a time.
 */
#ifndef CAPTURE_UNFINISHED_TAPE_H
#define CAPTURE_UNFINISHED_TAPE_H

#include "schema/tape_problem.h"

/**
 * unfinished_tape_begin() - from now on a signal removes it, see schema/unfinished_file.h
 * @output: the name to be; it must live as long as the unfinished one
 * Return: the path to write to, not to be freed; NULL: @output is too long, which has been said.
 */
const char *unfinished_tape_begin(const char *output) __attribute__((warn_unused_result));

/**
 * unfinished_tape_finish() - give the tape its name
 * Return: 0. -1: there it cannot stand, which has been said, and the unfinished one is removed.
 */
int unfinished_tape_finish(void) __attribute__((warn_unused_result));

/** unfinished_tape_remove() - nothing is left of it. */
void unfinished_tape_remove(void);

/** unfinished_tape_print_problem() - on stderr, by the name that the user gave. */
void unfinished_tape_print_problem(const struct tape_problem *problem);

#endif
