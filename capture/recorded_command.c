// SPDX-License-Identifier: GPL-2.0-only
#include "capture/recorded_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child could not do, through a pipe that a successful exec closes. */
struct child_failure {
	enum { FAILED_JOIN, FAILED_EXEC } step;
	int error;
};

static bool is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

static bool is_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char whole[PATH_MAX];

	for (const char *at = path ? path : "/bin:/usr/bin";; at++) {
		int length = (int)strcspn(at, ":");

		if (snprintf(whole, sizeof(whole), "%.*s%s%s", length, at, length ? "/" : "",
			     name) < (int)sizeof(whole) &&
		    is_program(whole))
			return true;
		at += length;
		if (!*at)
			return false;
	}
}

static int cannot_run(const char *name, int error, struct capture_problem *problem)
{
	return capture_problem_set(problem, "%s: cannot run this command: %s: %s", name,
				   strerror(error),
				   error == ENOENT ? "check its name, or give its path" :
				   error == EACCES ? "is it a program that this user may run?" :
						     "try it without lrutape");
}

int recorded_command_find(const char *name, struct capture_problem *problem)
{
	if (strchr(name, '/') ? !access(name, F_OK) : is_in_path(name))
		return 0; /* what else may be wrong with it, exec will tell */
	return cannot_run(name, ENOENT, problem);
}

static void __attribute__((noreturn)) child_main(char *const *argv, const struct memcg_group *group,
						 const sigset_t *mask, int go_fd, int result_fd)
{
	struct child_failure failure = { .step = FAILED_JOIN };
	ssize_t done;
	char go;

	do {
		done = read(go_fd, &go, 1);
	} while (done < 0 && errno == EINTR);
	if (done != 1)
		_exit(0);
	if (group->directory[0])
		failure.error = -memcg_group_join(group);
	if (!failure.error) {
		signal(SIGPIPE, SIG_DFL);
		signal(SIGXFSZ, SIG_DFL);
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(argv[0], argv);
		failure.step = FAILED_EXEC;
		failure.error = errno;
	}
	done = write(result_fd, &failure, sizeof(failure));
	(void)done; /* nobody is left to tell */
	_exit(127);
}

int recorded_command_fork(char *const *argv, const struct memcg_group *group, const sigset_t *mask,
			  struct recorded_command *command, struct capture_problem *problem)
{
	int go[2], result[2];

	if (pipe2(go, O_CLOEXEC))
		return capture_problem_set(problem, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(result, O_CLOEXEC)) {
		capture_problem_set(problem, "cannot make a pipe: %s", strerror(errno));
		goto err_close_go;
	}
	command->pid = fork();
	if (command->pid < 0) {
		capture_problem_set(problem, "cannot make a process: %s", strerror(errno));
		command->pid = 0;
		goto err_close_result;
	}
	if (command->pid == 0) {
		close(go[1]);
		close(result[0]);
		child_main(argv, group, mask, go[0], result[1]);
	}
	close(go[0]);
	close(result[1]);
	command->go_fd = go[1];
	command->result_fd = result[0];
	return 0;

err_close_result:
	close(result[0]);
	close(result[1]);
err_close_go:
	close(go[0]);
	close(go[1]);
	return -1;
}

int recorded_command_release(struct recorded_command *command, const char *name,
			     struct capture_problem *problem)
{
	struct child_failure failure;
	ssize_t got;

	if (write(command->go_fd, "g", 1) != 1)
		return capture_problem_set(problem, "%s: its process is gone", name);
	do {
		got = read(command->result_fd, &failure, sizeof(failure));
	} while (got < 0 && errno == EINTR);
	close(command->go_fd);
	close(command->result_fd);
	command->go_fd = command->result_fd = -1;
	if (got != sizeof(failure))
		return 0;
	recorded_command_reap(command, true);
	if (failure.step == FAILED_JOIN)
		return capture_problem_set(problem,
					   "%s: cannot enter its memory cgroup: %s: raise --memory",
					   name, strerror(failure.error));
	return cannot_run(name, failure.error, problem);
}

bool recorded_command_reap(struct recorded_command *command, bool wait)
{
	pid_t got;

	if (command->reaped || !command->pid)
		return true;
	do {
		got = waitpid(command->pid, &command->wait_status, wait ? 0 : WNOHANG);
	} while (got < 0 && errno == EINTR);
	command->reaped = got == command->pid;
	return command->reaped;
}

void recorded_command_signal(const struct recorded_command *command, int number)
{
	if (command->pid > 0 && !command->reaped)
		kill(command->pid, number);
}

int recorded_command_exit_status(const struct recorded_command *command)
{
	if (!command->reaped)
		return 0;
	return WIFSIGNALED(command->wait_status) ? 128 + WTERMSIG(command->wait_status) :
						   WEXITSTATUS(command->wait_status);
}

void recorded_command_drop(struct recorded_command *command)
{
	if (!command->pid || command->reaped || command->go_fd < 0)
		return;
	close(command->go_fd);
	close(command->result_fd);
	recorded_command_reap(command, true);
}
