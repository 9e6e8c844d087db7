/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that are recorded while they live, and are not our children. */
#ifndef CAPTURE_FOLLOWED_TASKS_H
#define CAPTURE_FOLLOWED_TASKS_H

#include <sys/types.h>

#include "capture/capture_problem.h"

struct followed_tasks {
	struct followed_task {
		pid_t pid;
		int fd; /* pidfd, -1: the kernel has none */
		int gone;
	} * task;
	unsigned int nr, nr_alive;
	int epoll_fd; /* readable when one ends; -1: ask followed_tasks_check() now and then */
};

/** followed_tasks_open() - begin to follow. Return: 0, or -1 with the problem told: one is not there. */
int __attribute__((warn_unused_result))
followed_tasks_open(struct followed_tasks *followed, const pid_t *pids, unsigned int nr,
		    struct capture_problem *problem);

/** followed_tasks_check() - take note of ends. Return: how many live. */
unsigned int followed_tasks_check(struct followed_tasks *followed);

/** followed_tasks_close() - follow no more; safe on zeroed memory. */
void followed_tasks_close(struct followed_tasks *followed);

#endif
