// SPDX-License-Identifier: GPL-2.0-only
#include "capture/stale_owner.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pid_t stale_owner(const char *name)
{
	char *end;
	long pid;

	if (strncmp(name, "lrutape-", 8) || name[8] < '1' || name[8] > '9')
		return 0;
	errno = 0;
	pid = strtol(name + 8, &end, 10);
	if (*end || errno || pid > INT_MAX)
		return 0;
	return pid == getpid() || (kill((pid_t)pid, 0) && errno == ESRCH) ? (pid_t)pid : 0;
}
