/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a recording could not be made, as one sentence for its user. */
#ifndef CAPTURE_CAPTURE_PROBLEM_H
#define CAPTURE_CAPTURE_PROBLEM_H

struct capture_problem {
	char text[768]; /* "what, where: remedy", without program name and newline */
};

/**
 * capture_problem_set() - write the sentence
 * @problem: overwritten
 * @format: as for printf(3)
 * Return: always -1, so that a caller can set and return in one line.
 */
int __attribute__((format(printf, 2, 3)))
capture_problem_set(struct capture_problem *problem, const char *format, ...);

#endif
