// SPDX-License-Identifier: GPL-2.0-only
#include "capture/followed_tasks.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_pidfd_open
#define __NR_pidfd_open 434 /* the same on all architectures, since 5.3 */
#endif

static int follow(struct followed_tasks *followed, pid_t pid, struct capture_problem *problem)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct followed_task *task = &followed->task[followed->nr];

	if (kill(pid, 0) && errno != EPERM)
		return capture_problem_set(
			problem, "--pid %d: no such process: `ps -e` lists those that run", pid);
	task->pid = pid;
	task->fd = (int)syscall(__NR_pidfd_open, pid, 0);
	if (task->fd < 0 && errno == EINVAL)
		return capture_problem_set(problem,
					   "--pid %d: a thread, not a process: name the process "
					   "(Tgid in /proc/%d/status)",
					   pid, pid);
	followed->nr++;
	followed->nr_alive++;
	if (followed->epoll_fd >= 0 &&
	    (task->fd < 0 || epoll_ctl(followed->epoll_fd, EPOLL_CTL_ADD, task->fd, &event))) {
		close(followed->epoll_fd);
		followed->epoll_fd = -1;
	}
	return 0;
}

int followed_tasks_open(struct followed_tasks *followed, const pid_t *pids, unsigned int nr,
			struct capture_problem *problem)
{
	memset(followed, 0, sizeof(*followed));
	followed->epoll_fd = -1;
	if (!nr)
		return 0;
	followed->task = calloc(nr, sizeof(*followed->task));
	if (!followed->task)
		return capture_problem_set(problem, "out of memory");
	followed->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned int i = 0; i < nr; i++)
		if (follow(followed, pids[i], problem)) {
			followed_tasks_close(followed);
			return -1;
		}
	return 0;
}

unsigned int followed_tasks_check(struct followed_tasks *followed)
{
	for (unsigned int i = 0; i < followed->nr; i++) {
		struct followed_task *task = &followed->task[i];
		struct pollfd wait = { .fd = task->fd, .events = POLLIN };

		if (task->gone)
			continue;
		task->gone = task->fd >= 0 ? poll(&wait, 1, 0) > 0 :
					     kill(task->pid, 0) && errno == ESRCH;
		if (!task->gone)
			continue;
		followed->nr_alive--;
		if (task->fd >= 0)
			close(task->fd); /* and so out of the epoll set */
		task->fd = -1;
	}
	return followed->nr_alive;
}

void followed_tasks_close(struct followed_tasks *followed)
{
	for (unsigned int i = 0; i < followed->nr; i++)
		if (followed->task[i].fd >= 0)
			close(followed->task[i].fd);
	if (followed->task && followed->epoll_fd >= 0)
		close(followed->epoll_fd);
	free(followed->task);
	memset(followed, 0, sizeof(*followed));
	followed->epoll_fd = -1;
}
