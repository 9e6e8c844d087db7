/* SPDX-License-Identifier: GPL-2.0-only */
/* Which name a thread has at a moment of a tape: from its task list and its task events. */
#ifndef SCHEMA_TASK_NAMES_H
#define SCHEMA_TASK_NAMES_H

#include "schema/tape_reader.h"

struct task_names;

/**
 * task_names_new() - names as the tape's start knows them
 * Return: NULL when memory runs out. Ends with task_names_free().
 */
struct task_names *task_names_new(const struct tape_reader *reader);

/** task_names_note() - learn from an event; show it all events, in tape order, each before use. */
void task_names_note(struct task_names *names, const struct tape_event *event);

/** task_names_get() - name of a thread now; NULL: the tape has not said it. */
const char *task_names_get(const struct task_names *names, int32_t tid);

void task_names_free(struct task_names *names);

#endif
