// SPDX-License-Identifier: GPL-2.0-only
/*
 * clone_into DIRECTORY SECONDS: make a process directly in a cgroup (v2), as systemd does, and wait for
 * it. Prints its pid. Exits with 77 where the kernel cannot do that.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __NR_clone3
#define __NR_clone3 435 /* the same on all architectures */
#endif
#define INTO_CGROUP 0x200000000ull

/* struct clone_args of include/uapi/linux/sched.h, version 2 (5.7). */
struct arguments {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
		set_tid_size, cgroup;
};

int main(int argc, char **argv)
{
	struct arguments arguments = { .flags = INTO_CGROUP, .exit_signal = SIGCHLD };
	int fd, status;
	pid_t pid;

	if (argc != 3) {
		fputs("usage: clone_into DIRECTORY SECONDS\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "clone_into: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	arguments.cgroup = (uint64_t)fd;
	pid = (pid_t)syscall(__NR_clone3, &arguments, sizeof(arguments));
	if (pid < 0) {
		fprintf(stderr, "clone_into: clone3: %s\n", strerror(errno));
		return errno == ENOSYS || errno == EINVAL || errno == E2BIG || errno == EOPNOTSUPP ?
			       77 :
			       1;
	}
	if (pid == 0) {
		sleep((unsigned int)atoi(argv[2]));
		_exit(0);
	}
	printf("%d\n", (int)pid);
	fflush(stdout);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return 0;
}
