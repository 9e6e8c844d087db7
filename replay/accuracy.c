// SPDX-License-Identifier: GPL-2.0-only
#include "replay/accuracy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VM_EVENTS_LIMIT 256 /* items of count_memcg_events: lines of /proc/vmstat from pgpgin on */
#define NAME_BYTES 64

/* One memcg: what its files said, and what events did. */
struct kernel_counts {
	int64_t stat[NR_COUNTERS]; /* -1: memory.stat does not have it */
	int64_t counted[NR_COUNTERS];
	int64_t reclaimed; /* as reclaim calls told when they ended */
};

struct accuracy {
	struct kernel_counts *memcg; /* by the world's number */
	uint32_t nr;
	uint8_t counter_of_item[VM_EVENTS_LIMIT]; /* 0: none of ours */
	bool counted[NR_COUNTERS]; /* by the kernel for any memcg: not all items of vmstat are */
	bool failed;
};

static const char *const counter_name[NR_COUNTERS] = {
#define COUNTER(number, name, unit, meaning) [number] = #name,
#include "schema/counters.def"
};

const char *accuracy_source_name(enum accuracy_source source)
{
	static const char *const name[] = {
		[ACCURACY_MEMORY_STAT] = "memory.stat",
		[ACCURACY_VMSTAT] = "vmstat",
		[ACCURACY_COUNT_EVENTS] = "count_memcg_events",
		[ACCURACY_OTHER_EVENTS] = "events",
	};

	return name[source];
}

static enum counter counter_by_name(const char *name, size_t size)
{
	for (int c = 1; c < NR_COUNTERS; c++)
		if (counter_name[c] && strlen(counter_name[c]) == size &&
		    !memcmp(counter_name[c], name, size))
			return (enum counter)c;
	return (enum counter)0;
}

static bool grow(struct accuracy *accuracy, uint32_t nr)
{
	struct kernel_counts *bigger;

	if (nr <= accuracy->nr)
		return true;
	bigger = realloc(accuracy->memcg, nr * sizeof(*bigger));
	if (!bigger) {
		accuracy->failed = true;
		return false;
	}
	accuracy->memcg = bigger;
	for (; accuracy->nr < nr; accuracy->nr++) {
		bigger[accuracy->nr] = (struct kernel_counts){ 0 };
		memset(bigger[accuracy->nr].stat, -1, sizeof(bigger->stat));
	}
	return true;
}

/* Items are numbered as /proc/vmstat lists the events, which begin with pgpgin. */
static void read_items(struct accuracy *accuracy, const struct tape_reader *reader)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START,
							     "/proc/vmstat");
	const char *line = blob ? strstr(blob->data, "\npgpgin ") : NULL;

	for (unsigned int item = 0; line && item < VM_EVENTS_LIMIT; item++) {
		line++;
		accuracy->counter_of_item[item] = (uint8_t)counter_by_name(line,
									   strcspn(line, " \n"));
		line = strchr(line, '\n');
	}
}

/* @sign: 1 at the tape's end, -1 at its start. */
static void read_stat(struct kernel_counts *counts, const char *text, int sign)
{
	while (*text) {
		size_t size = strcspn(text, " \n");
		enum counter counter = counter_by_name(text, size);

		if (counter && text[size] == ' ') {
			if (counts->stat[counter] < 0)
				counts->stat[counter] = 0;
			counts->stat[counter] += sign * strtoll(text + size, NULL, 10);
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static bool has_children(const struct world *world, uint32_t number)
{
	for (uint32_t n = 1; n < world->nr_memcgs; n++)
		if (world->memcg[n].parent == number)
			return true;
	return false;
}

/* A snapshot's counters: those of memcgs, and the machine's own where it is one group. */
static void read_snapshot(struct accuracy *accuracy, const struct tape_reader *reader,
			  const struct world *world, uint32_t moment, int sign)
{
	const struct tape_blob *blob;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++) {
		char file[WORLD_PATH_BYTES + sizeof("/memory.stat")];

		if (blob->moment != moment)
			continue;
		if (world_only_machine_reclaims(world) && !strcmp(blob->name, "/proc/vmstat"))
			read_stat(&accuracy->memcg[WORLD_ROOT], blob->data, sign);
		if (!ends_with(blob->name, "/memory.stat"))
			continue;
		for (uint32_t n = 1; n < world->nr_memcgs; n++) {
			/* v2 counts a memcg and those below it together. */
			if (!world->cgroup_v1 && has_children(world, n))
				continue;
			snprintf(file, sizeof(file), "%s/memory.stat", world->memcg[n].path);
			if (ends_with(blob->name, file))
				read_stat(&accuracy->memcg[n], blob->data, sign);
		}
	}
}

static void read_stats(struct accuracy *accuracy, const struct tape_reader *reader,
		       const struct world *world)
{
	/* The end's first: below 0 stands for a counter that is not there. */
	read_snapshot(accuracy, reader, world, TAPE_MOMENT_END, 1);
	read_snapshot(accuracy, reader, world, TAPE_MOMENT_START, -1);
	/* A difference that is below 0: one of the two is missing. */
	for (uint32_t n = 0; n < accuracy->nr; n++)
		for (int c = 0; c < NR_COUNTERS; c++)
			if (accuracy->memcg[n].stat[c] < 0)
				accuracy->memcg[n].stat[c] = -1;
}

struct accuracy *accuracy_open(const struct tape_reader *reader, const struct world *world)
{
	struct accuracy *accuracy = calloc(1, sizeof(*accuracy));

	if (!accuracy || !grow(accuracy, world->nr_memcgs)) {
		free(accuracy);
		return NULL;
	}
	read_items(accuracy, reader);
	read_stats(accuracy, reader, world);
	return accuracy;
}

void accuracy_close(struct accuracy *accuracy)
{
	if (!accuracy)
		return;
	free(accuracy->memcg);
	free(accuracy);
}

bool accuracy_failed(const struct accuracy *accuracy)
{
	return accuracy->failed;
}

/* Who reclaims does it for the memcg of its own that has a limit, unless somebody asked for another's memory. */
static uint32_t reclaimed_memcg(const struct world *world, const struct world_task *task)
{
	uint32_t n = task->memcg;

	if (task->foreign_call)
		return world->foreign.row[task->foreign_call->row].memcg;
	while (n != WORLD_ROOT && world->memcg[n].limit_pages == INT64_MAX)
		n = world->memcg[n].parent;
	return n;
}

void accuracy_event(struct accuracy *accuracy, struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	struct world_task *task;
	enum counter counter;

	switch (event->kind) {
	case EVENT_COUNT_MEMCG_EVENTS:
		if (v[COUNT_MEMCG_EVENTS_ITEM] >= VM_EVENTS_LIMIT ||
		    !grow(accuracy, world->nr_memcgs))
			return;
		counter = (enum counter)accuracy->counter_of_item[v[COUNT_MEMCG_EVENTS_ITEM]];
		accuracy->counted[counter] = true;
		accuracy->memcg[world_memcg_by_id(world, v[COUNT_MEMCG_EVENTS_ID])]
			.counted[counter] += (int64_t)v[COUNT_MEMCG_EVENTS_VAL];
		return;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_END:
		task = world_task(world, event->pid);
		if (task && grow(accuracy, world->nr_memcgs))
			accuracy->memcg[reclaimed_memcg(world, task)].reclaimed +=
				(int64_t)v[MM_VMSCAN_MEMCG_RECLAIM_END_NR_RECLAIMED];
		return;
	default:
		return;
	}
}

int64_t accuracy_value(const struct accuracy *accuracy, const struct world *world, uint32_t memcg,
		       enum counter counter, enum accuracy_source *source)
{
	const struct kernel_counts *counts;

	if (memcg >= accuracy->nr)
		return -1;
	counts = &accuracy->memcg[memcg];
	*source = memcg == WORLD_ROOT ? ACCURACY_VMSTAT : ACCURACY_MEMORY_STAT;
	if (counts->stat[counter] >= 0)
		return counts->stat[counter];
	*source = ACCURACY_COUNT_EVENTS;
	if (accuracy->counted[counter] && !has_children(world, memcg))
		return counts->counted[counter];
	*source = ACCURACY_OTHER_EVENTS;
	if (counter == COUNT_pgsteal_direct && counts->reclaimed && !has_children(world, memcg))
		return counts->reclaimed;
	return -1;
}
