// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands to lru_gen in debugfs. They have no event; a mark "lru_gen COMMAND" tells.
 */
#include "replay/check/lru_gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_lru_gen_eviction_over(struct check *check)
{
	struct world_task *task = check->debugfs_task;
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	check->debugfs_task = NULL;
	if (!bracket || !bracket->by_debugfs)
		return;
	lru_gen_finish_walk(check, bracket);
	check_bracket_free(bracket);
	task->bracket = NULL;
}

static void begin_eviction(struct check *check, struct mem_cgroup *memcg, uint64_t seq,
			   unsigned int swappiness, uint64_t nr)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket;

	if (!task || task->bracket ||
	    seq + MIN_NR_GENS > lruvec_lru_gen(mem_cgroup_lruvec(memcg, 0))->max_seq)
		return;
	bracket = calloc(1, sizeof(*bracket));
	if (!bracket) {
		check->failed = true;
		return;
	}
	list_init(&bracket->taken);
	bracket->target = bracket->top = memcg;
	bracket->predicted = bracket->by_debugfs = true;
	bracket->total_unknown = true;
	reclaim_walk_begin_eviction(&bracket->walk, &check->machine.mm, memcg, seq, swappiness, nr);
	task->bracket = bracket;
	check->debugfs_task = task;
}

/* "memcg NUMBER PATH" in a text of lru_gen_full. Return: there is such a line; @path is set. */
static bool find_path(const char *text, unsigned int number, char path[WORLD_PATH_BYTES])
{
	unsigned int found;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "memcg %u %4095s", &found, path) == 2 && found == number)
			return true;
	}
	return false;
}

/* Which memcg has that number lru_gen_full says; without one, the command is of the recorded memcg. */
static struct mem_cgroup *memcg_of_number(struct check *check, unsigned int number)
{
	const struct world *world = check->world;
	char path[WORLD_PATH_BYTES];
	bool known = world->lru_gen_start && find_path(world->lru_gen_start, number, path);

	for (uint32_t i = 0; i < world->nr_lru_gen && !known; i++)
		known = find_path(world->lru_gen[i].text, number, path);
	for (uint32_t n = 1; known && n < world->nr_memcgs; n++)
		if (!world->memcg[n].gone && !strcmp(world->memcg[n].path, path))
			return machine_memcg(&check->machine, n);
	return machine_memcg(&check->machine, world->command_memcg);
}

void check_lru_gen_mark(struct check *check, const char *text)
{
	unsigned long long seq, nr = UINT64_MAX;
	unsigned int memcg_id, nid, swappiness = 0;
	struct mem_cgroup *memcg;
	char command;

	if (sscanf(text, "lru_gen %c %u %u %llu %u %llu", &command, &memcg_id, &nid, &seq,
		   &swappiness, &nr) < 4)
		return;
	memcg = memcg_of_number(check, memcg_id);
	if (command == '+')
		lru_gen_inc_max_seq(&check->machine.mm, mem_cgroup_lruvec(memcg, 0), swappiness);
	else if (command == '-')
		begin_eviction(check, memcg, seq, swappiness, nr);
}

/* The task of a debugfs eviction does something else: that is over. */
void check_lru_gen_before(struct check *check)
{
	if (!check->debugfs_task || check->debugfs_task->pid != check->event->pid)
		return;
	switch (check->event->kind) {
	case EVENT_MM_VMSCAN_LRU_ISOLATE:
	case EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE:
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
	case EVENT_MM_LRU_ACTIVATE:
		return;
	default:
		check_lru_gen_eviction_over(check);
	}
}
