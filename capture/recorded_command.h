/* SPDX-License-Identifier: GPL-2.0-only */
/* The command that is recorded: made early, so that all is ready before its first instruction. */
#ifndef CAPTURE_RECORDED_COMMAND_H
#define CAPTURE_RECORDED_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "capture/capture_problem.h"
#include "capture/memcg.h"

struct recorded_command {
	pid_t pid; /* 0: none, or reaped */
	int go_fd, result_fd;
	int wait_status; /* of waitpid(2), once reaped */
	bool reaped;
};

/**
 * recorded_command_find() - is there such a program
 * @name: a path, or a name to look for in PATH
 * Return: 0, or -1 with the problem told.
 */
int __attribute__((warn_unused_result))
recorded_command_find(const char *name, struct capture_problem *problem);

/**
 * recorded_command_fork() - make the process, which waits
 * @argv: of the command, ends with NULL
 * @group: it enters this cgroup when released; no directory: none
 * @mask: signals that it starts with blocked
 * Fork before there are threads. Return: 0, or -1 with the problem told.
 */
int __attribute__((warn_unused_result))
recorded_command_fork(char *const *argv, const struct memcg_group *group, const sigset_t *mask,
		      struct recorded_command *command, struct capture_problem *problem);

/**
 * recorded_command_release() - let it enter its cgroup and run
 * Return: 0, also if it was killed before it could run; -1 with the problem told if it cannot be run.
 */
int __attribute__((warn_unused_result))
recorded_command_release(struct recorded_command *command, const char *name,
			 struct capture_problem *problem);

/** recorded_command_reap() - take note of its end. Return: whether it has ended. */
bool recorded_command_reap(struct recorded_command *command, bool wait);

/** recorded_command_signal() - pass a signal on; does nothing after its end. */
void recorded_command_signal(const struct recorded_command *command, int number);

/** recorded_command_exit_status() - as a shell tells it: 128 + the signal that killed it. */
int recorded_command_exit_status(const struct recorded_command *command);

/** recorded_command_drop() - end one that was never released; none is fine. */
void recorded_command_drop(struct recorded_command *command);

#endif
