// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "replay/cost/cost.h"
#include "replay/cost/descriptors.h"
#include "replay/cost/turns.h"
#include "replay/mm/mm.h"
#include "replay/policy/policy.h"

#define SHIFT_FRAMES 512 /* 32 KiB of descriptors */
#define SHIFTS                                                                                     \
	(4 * MEMMAP_CHUNK_PAGES / SHIFT_FRAMES) /* within one chunk, then in its neighbours */
#define LOOP_TRIES 4

struct cost_list {
	struct cost_descriptors descriptors;
	struct folio **folio; /* oldest first */
	uint64_t nr;
};

/* The log once more, all its frames moved within their chunks. Return: 0, or -1 without memory. */
static int append(struct cost_list *list, const struct lru_add_log *log, uint32_t moved,
		  uint64_t limit)
{
	for (uint64_t i = 0; i < log->nr && list->nr < limit; i++) {
		uint32_t pfn = log->record[i].pfn ^ moved;
		struct folio *folio = cost_descriptor(&list->descriptors, pfn);

		if (!folio)
			return -1;
		if (folio->pfn || folio->lru.next) /* on the list already: it came twice */
			continue;
		list_init(&folio->lru);
		folio->pfn = pfn;
		list->folio[list->nr++] = folio;
	}
	return 0;
}

struct cost_list *cost_list_open(const struct mm *mm, uint64_t limit)
{
	struct cost_list *list = calloc(1, sizeof(*list));
	bool enough = list && !cost_descriptors_init(&list->descriptors);

	if (enough)
		list->folio = calloc(limit + 1, sizeof(struct folio *));
	enough = enough && list->folio;
	for (uint32_t shift = 0; enough && shift < SHIFTS && list->nr < limit; shift++)
		enough = !append(list, mm->lru_add_log, shift * SHIFT_FRAMES, limit);
	if (enough)
		return list;
	cost_list_close(list);
	return NULL;
}

uint64_t cost_list_folios(const struct cost_list *list)
{
	return list->nr;
}

void cost_list_close(struct cost_list *list)
{
	if (!list)
		return;
	cost_descriptors_exit(&list->descriptors);
	free(list->folio);
	free(list);
}

bool cost_has_loops(const struct mm *mm)
{
	return mm->policy->nr_loops && mm->lru_add_log && mm->lru_add_log->nr;
}

/* One run's loop: a lruvec of its own, which the run's rules and no state of it act on. */
struct loop_turn {
	struct mm mm; /* copied: its rules are read */
	struct mem_cgroup memcg;
	struct lruvec lruvec;
	const struct cost_list *list;
	const struct list_loop *loop;
	uint64_t length;
};

static void loop_over(void *ctx, struct cost_sample *sample)
{
	struct loop_turn *turn = ctx;
	uint64_t ns = 0, folios = 0;

	/* Over a list in which the task lost the CPU it goes again, if that does not happen each time. */
	for (int try = 0; try < LOOP_TRIES; try++) {
		int64_t preempted;

		turn->loop->fill(&turn->mm, &turn->lruvec, turn->list->folio, turn->length);
		preempted = cost_preempted();
		ns = cost_now_ns();
		folios = turn->loop->run(&turn->mm, &turn->lruvec);
		ns = cost_now_ns() - ns;
		if (cost_preempted() == preempted)
			break;
	}
	sample->folios += folios;
	sample->ns += ns;
	sample->holds++;
}

static int turn_init(struct loop_turn *turn, const struct mm *mm, const struct cost_list *list,
		     unsigned int loop, uint64_t length)
{
	turn->mm = *mm;
	turn->list = list;
	turn->loop = &mm->policy->loop[loop];
	turn->length = length;
	lruvec_init(&turn->lruvec, &turn->memcg, 0);
	turn->lruvec.private = calloc(1, mm->policy->lruvec_private_bytes);
	return turn->lruvec.private ? 0 : -1;
}

int cost_measure_loop(struct cost_run *run, unsigned int nr_runs, struct cost_list *list,
		      unsigned int loop, uint64_t length, unsigned int repeats)
{
	struct loop_turn *mine = calloc(nr_runs + 1, sizeof(*mine));
	struct cost_turn *turn = calloc(nr_runs + 1, sizeof(*turn));
	bool enough = mine && turn;

	for (unsigned int i = 0; enough && i < nr_runs; i++) {
		enough = !turn_init(&mine[i], run[i].mm, list, loop, length);
		turn[i] = (struct cost_turn){ loop_over, &mine[i], run[i].sample };
	}
	if (enough)
		cost_take_turns(turn, nr_runs, repeats);
	for (unsigned int i = 0; mine && i < nr_runs; i++)
		free(mine[i].lruvec.private);
	free(mine);
	free(turn);
	return enough ? 0 : -1;
}
