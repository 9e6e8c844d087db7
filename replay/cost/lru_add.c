// SPDX-License-Identifier: GPL-2.0-only
#include "replay/cost/cost.h"

#include <stdlib.h>

#include "replay/cost/descriptors.h"
#include "replay/cost/turns.h"
#include "replay/mm/mm.h"
#include "replay/policy/policy.h"

#define BLOCK_FOLIOS 1024 /* 64 KiB of descriptors: more than a first-level cache holds */
#define BLOCK_TRIES 8

struct bench {
	struct cost_descriptors descriptors;
	struct lruvec *lruvec; /* by memcg index */
	uint32_t *lruvec_block; /* the last block that it was in */
	struct mem_cgroup memcg; /* all of them */
	unsigned int nr_lruvecs;
	struct folio *folio[BLOCK_FOLIOS];
	unsigned int hold[BLOCK_FOLIOS + 1]; /* where in the block each begins, and its end */
	uint32_t nr_blocks; /* so far; stamps descriptors, so that none is in a block twice */
};

static void bench_exit(struct bench *bench)
{
	cost_descriptors_exit(&bench->descriptors);
	free(bench->lruvec);
	free(bench->lruvec_block);
	free(bench);
}

static int add_chunks(struct bench *bench, const struct lru_add_log *log)
{
	for (uint64_t i = 0; i < log->nr; i++)
		if (!cost_descriptor(&bench->descriptors, log->record[i].pfn))
			return -1;
	return 0;
}

static struct bench *bench_open(const struct cost_run *run, unsigned int nr_runs)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (!bench)
		return NULL;
	for (unsigned int i = 0; i < nr_runs; i++)
		if (run[i].mm->nr_memcgs > bench->nr_lruvecs)
			bench->nr_lruvecs = run[i].mm->nr_memcgs;
	bench->lruvec = calloc(bench->nr_lruvecs, sizeof(struct lruvec));
	bench->lruvec_block = calloc(bench->nr_lruvecs, sizeof(uint32_t));
	if (cost_descriptors_init(&bench->descriptors) || !bench->lruvec || !bench->lruvec_block)
		goto err_exit;
	for (unsigned int i = 0; i < nr_runs; i++)
		if (add_chunks(bench, run[i].mm->lru_add_log))
			goto err_exit;
	return bench;

err_exit:
	bench_exit(bench);
	return NULL;
}

/*
 * Descriptors as allocation and page cache leave them, not on a list and in the cache; lists empty.
 * Return: records that make the block, from @first on; whole holds, no folio twice.
 */
static unsigned int prepare_block(struct bench *bench, const struct lru_add_log *log,
				  uint64_t first, unsigned int *nr_holds)
{
	unsigned int nr = 0, end = 0; /* folios, and those of whole holds */
	uint32_t stamp = ++bench->nr_blocks;

	*nr_holds = 0;
	for (uint64_t i = first; i < log->nr && nr < BLOCK_FOLIOS; i++) {
		const struct lru_add_record *record = &log->record[i];
		struct folio *folio = cost_descriptor(&bench->descriptors, record->pfn);

		if (record->takes_lock || i == first) {
			bench->hold[(*nr_holds)++] = nr;
			end = nr;
		}
		if (folio->index == stamp)
			goto cut;
		if (bench->lruvec_block[record->memcg] != stamp)
			lruvec_init(&bench->lruvec[record->memcg], &bench->memcg, 0);
		bench->lruvec_block[record->memcg] = stamp;
		list_init(&folio->lru);
		folio->lruvec = &bench->lruvec[record->memcg];
		folio->index = stamp;
		folio->file = record->file;
		folio->pfn = record->pfn;
		folio->flags = record->flags;
		folio->order = record->order;
		bench->folio[nr++] = folio;
	}
	if (first + nr == log->nr || log->record[first + nr].takes_lock) {
		bench->hold[*nr_holds] = nr;
		return nr;
	}
cut:
	/* The last hold is not whole: it begins the next block, unless this one is nothing else. */
	if (!end) {
		bench->hold[*nr_holds] = nr;
		return nr;
	}
	bench->hold[--*nr_holds] = end;
	return end;
}

struct log_turn {
	struct bench *bench;
	const struct mm *mm;
};

/* One round over a run's log. */
static void round_over(void *ctx, struct cost_sample *sample)
{
	struct log_turn *turn = ctx;
	struct bench *bench = turn->bench;
	const struct mm *mm = turn->mm;
	const struct lru_add_log *log = mm->lru_add_log;
	struct lru_add lru_add = mm->lru_add;
	unsigned int nr, nr_holds;

	for (uint64_t at = 0; at < log->nr; at += nr) {
		uint64_t ns = 0;

		for (int try = 0; try < BLOCK_TRIES; try++) {
			int64_t preempted;

			nr = prepare_block(bench, log, at, &nr_holds);
			preempted = cost_preempted();
			ns = cost_now_ns();
			for (unsigned int i = 0; i < nr_holds; i++)
				lru_add.run(&lru_add, &bench->folio[bench->hold[i]],
					    bench->hold[i + 1] - bench->hold[i]);
			ns = cost_now_ns() - ns;
			if (cost_preempted() == preempted)
				break;
		}
		sample->ns += ns;
		sample->folios += nr;
		sample->holds += nr_holds;
	}
}

bool cost_can_measure(const struct mm *mm)
{
	return mm->policy->kernel_lru_add && mm->lru_add_log && mm->lru_add_log->nr;
}

int cost_measure(struct cost_run *run, unsigned int nr_runs, unsigned int repeats)
{
	struct bench *bench = bench_open(run, nr_runs);
	struct cost_turn *turn = calloc(nr_runs + 1, sizeof(*turn));
	struct log_turn *log_turn = calloc(nr_runs + 1, sizeof(*log_turn));
	bool enough = bench && turn && log_turn;

	for (unsigned int i = 0; enough && i < nr_runs; i++) {
		log_turn[i] = (struct log_turn){ bench, run[i].mm };
		turn[i] = (struct cost_turn){ round_over, &log_turn[i], run[i].sample };
	}
	if (enough)
		cost_take_turns(turn, nr_runs, repeats);
	free(turn);
	free(log_turn);
	if (bench)
		bench_exit(bench);
	return enough ? 0 : -1;
}
