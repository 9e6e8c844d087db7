// SPDX-License-Identifier: GPL-2.0-only
#include "capture/capture_problem.h"

#include <stdarg.h>
#include <stdio.h>

int capture_problem_set(struct capture_problem *problem, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return -1;
}
