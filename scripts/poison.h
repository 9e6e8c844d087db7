/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before every file of replay/mm/ and replay/policy/: same tape, settings and seed must
 * give the same rows on any machine, so what would break that does not compile there.
 * The system headers come first, since they may say these words and we may not.
 * time() and clock() are common words; scripts/check-pure looks for them in the objects.
 */
#ifndef SCRIPTS_POISON_H
#define SCRIPTS_POISON_H

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include <sys/types.h>

#pragma GCC poison rand srand rand_r random srandom drand48 lrand48 mrand48 getrandom
#pragma GCC poison gettimeofday clock_gettime getenv secure_getenv getpid gettid
#pragma GCC poison float double

#endif
