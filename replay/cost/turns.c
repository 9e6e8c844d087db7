// SPDX-License-Identifier: GPL-2.0-only
#include "replay/cost/turns.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "replay/cost/cost.h"

uint64_t cost_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int64_t cost_preempted(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

void cost_take_turns(const struct cost_turn *turn, unsigned int nr_turns, unsigned int repeats)
{
	cpu_set_t before, one;
	int cpu = sched_getcpu();
	bool pinned;

	CPU_ZERO(&one);
	if (cpu >= 0)
		CPU_SET(cpu, &one);
	pinned = cpu >= 0 && !sched_getaffinity(0, sizeof(before), &before) &&
		 !sched_setaffinity(0, sizeof(one), &one);
	/* The first repeat warms up: code, page tables, the CPU's clock. */
	for (unsigned int r = 0; r <= repeats; r++)
		for (unsigned int i = 0; i < nr_turns; i++) {
			const struct cost_turn *now = &turn[r & 1 ? i : nr_turns - 1 - i];
			struct cost_sample sample = { 0 };

			do
				now->round(now->ctx, &sample);
			while (sample.folios < COST_SAMPLE_FOLIOS);
			if (r)
				now->sample[r - 1] = sample;
		}
	if (pinned)
		sched_setaffinity(0, sizeof(before), &before);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The value at a share of the way through sorted ones, between two where none stands there. */
static double at_quarter(const double *value, unsigned int nr, unsigned int quarter)
{
	unsigned int place = (nr - 1) * quarter; /* in quarters */
	double next = value[place / 4 + 1 < nr ? place / 4 + 1 : nr - 1];

	return value[place / 4] + (next - value[place / 4]) * (place % 4) / 4;
}

struct cost_quartiles cost_quartiles(double *value, unsigned int nr)
{
	qsort(value, nr, sizeof(*value), by_value);
	return (struct cost_quartiles){
		.low = at_quarter(value, nr, 1),
		.median = at_quarter(value, nr, 2),
		.high = at_quarter(value, nr, 3),
	};
}

/* One word of a cache's file in sysfs. Return: there is one. */
static bool cache_word(int index, const char *name, char *word, int bytes)
{
	char path[96];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(word, bytes, file);
	fclose(file);
	if (read)
		word[strcspn(word, "\n")] = '\0';
	return read;
}

/* ", caches 48K 1024K 32768K": what data passes through; empty where sysfs does not tell. */
static void cache_sizes(char *text, size_t bytes)
{
	char type[32], size[32];
	size_t n = 0;

	*text = '\0';
	for (int i = 0; cache_word(i, "type", type, sizeof(type)); i++) {
		if (!strcmp(type, "Instruction") || !cache_word(i, "size", size, sizeof(size)))
			continue;
		n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? " " : ", caches ", size);
		if (n >= bytes)
			return;
	}
}

void cost_host(char *text, unsigned int text_bytes)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256], model[128] = "unknown CPU", caches[96];
	struct utsname name;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "model name : %127[^\n]", model) == 1)
			break;
	if (file)
		fclose(file);
	cache_sizes(caches, sizeof(caches));
	if (uname(&name))
		snprintf(text, text_bytes, "%s%s", model, caches);
	else
		snprintf(text, text_bytes, "%s%s, %s %.*s, %s", model, caches, name.sysname,
			 (int)strcspn(name.release, "-"), name.release, name.machine);
}
