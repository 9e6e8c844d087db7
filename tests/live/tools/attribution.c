// SPDX-License-Identifier: GPL-2.0-only
/*
 * attribution TAPE [PATH]: how many file folios replay/world gives to the memcg that the kernel charged.
 *
 * Ours: the memcg of the task that added the folio to the page cache, as snapshot, forks and moves tell
 * it. The kernel's: the memcg:mod_memcg_lruvec_state that stands immediately before an
 * mm_lru_insertion on the same CPU. With PATH only folios count that one of the two gives to a memcg
 * at or below it. For comparison: the memcg of the task that drained the batch.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/world/world.h"

#define CPUS_MAX 1024
#define PFN_LIMIT (1ull << 32)
#define FLAG_FILE 4
#define FLAG_SWAPBACKED 0x10
#define INTERRUPTED (0x08 | 0x10 | 0x40)

static struct world world;
static uint32_t *owner; /* by pfn: 1 + memcg of the adder, 0: no addition seen */
static uint64_t owner_room;

static uint32_t *owner_of(uint64_t pfn)
{
	if (pfn >= PFN_LIMIT) {
		fprintf(stderr, "attribution: pfn %" PRIx64 " is too large\n", pfn);
		exit(1);
	}
	if (pfn >= owner_room) {
		uint64_t room = pfn + (1 << 20);

		owner = realloc(owner, room * sizeof(*owner));
		if (!owner)
			abort();
		memset(owner + owner_room, 0, (room - owner_room) * sizeof(*owner));
		owner_room = room;
	}
	return &owner[pfn];
}

static bool is_below(uint32_t memcg, const char *path)
{
	size_t length = strlen(path);
	const char *own = world.memcg[memcg].path;

	return !strncmp(own, path, length) && (own[length] == '\0' || own[length] == '/');
}

int main(int argc, char **argv)
{
	static struct {
		bool is_told;
		uint64_t id;
	} before[CPUS_MAX];
	uint64_t nr_insertions = 0, nr_known = 0, nr_told = 0, nr_equal = 0, nr_drainer = 0;
	const struct tape_event *event;
	struct tape_problem problem;
	struct tape_reader *reader;
	const char *path = argc == 3 ? argv[2] : NULL;
	int got;

	if (argc < 2 || argc > 3) {
		fputs("usage: attribution TAPE [PATH]\n", stderr);
		return 2;
	}
	if (tape_reader_open(argv[1], &reader, &problem)) {
		fprintf(stderr, "attribution: %s\n", problem.text);
		return 1;
	}
	if (world_init(&world, reader)) {
		fprintf(stderr, "attribution: %s: cannot make its world\n", argv[1]);
		return 1;
	}
	while ((got = tape_reader_next(reader, &event)) > 0) {
		uint32_t cpu = event->cpu % CPUS_MAX;

		world_event(&world, event);
		if (event->kind == EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE &&
		    !(event->flags & INTERRUPTED)) {
			*owner_of(event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN]) =
				1 + world_task(&world, event->pid)->memcg;
		} else if (event->kind == EVENT_MM_LRU_INSERTION &&
			   event->value[MM_LRU_INSERTION_FLAGS] & FLAG_FILE &&
			   !(event->value[MM_LRU_INSERTION_FLAGS] & FLAG_SWAPBACKED)) {
			uint32_t *ours = owner_of(event->value[MM_LRU_INSERTION_PFN]);
			uint32_t drainer = world_task(&world, event->pid)->memcg;
			uint32_t theirs = before[cpu].is_told ?
						  world_memcg_by_id(&world, before[cpu].id) :
						  WORLD_ROOT;

			nr_insertions++;
			if (*ours && before[cpu].is_told &&
			    (!path || is_below(*ours - 1, path) || is_below(theirs, path))) {
				nr_told++;
				nr_equal += world.memcg[*ours - 1].id == before[cpu].id;
				nr_drainer += world.memcg[drainer].id == before[cpu].id;
			}
			nr_known += *ours != 0;
			*ours = 0;
		}
		before[cpu].is_told = event->kind == EVENT_MOD_MEMCG_LRUVEC_STATE;
		if (before[cpu].is_told)
			before[cpu].id = event->value[MOD_MEMCG_LRUVEC_STATE_ID];
	}
	if (got < 0) {
		fprintf(stderr, "attribution: %s\n", tape_reader_problem(reader)->text);
		return 1;
	}
	printf("insertions %" PRIu64 " added %" PRIu64 " told %" PRIu64 " equal %" PRIu64
	       " by_drainer %" PRIu64 "\n",
	       nr_insertions, nr_known, nr_told, nr_equal, nr_drainer);
	world_exit(&world);
	tape_reader_close(reader);
	free(owner);
	return 0;
}
