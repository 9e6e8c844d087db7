// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a second recording of the same workload would not have alike, drawn from a seed:
 *
 *   flush phase      The kernel flushes statistics when it gets to it. Each recorded flush comes later
 *                    here, by one share, the run's own, of the time since the flush before.
 *   CPU interleaving Tasks run on other CPUs: at random moments all CPUs change their places. And each
 *                    CPU's batches are drained once near the beginning, because they were not empty.
 *   reclaim start    CPUs hold charges in stock when a limit is met: as many pages less are to be had.
 *
 * With seed 0 nothing of this happens, and the run is the one that the tape shows.
 */
#include "replay/engine/state.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_PERIOD_NS (UINT64_C(2) * 1000000000) /* FLUSH_TIME, mm/memcontrol.c, v6.18 */
#define MOVE_NS (UINT64_C(100) * 1000000) /* longest time between two moves of the CPUs: a guess */

/* Sebastiano Vigna's splitmix64: 64 bits of state, no seed is bad. */
static uint64_t draw(struct perturbation *noise)
{
	uint64_t z = noise->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t draw_below(struct perturbation *noise, uint64_t limit)
{
	return limit ? draw(noise) % limit : 0;
}

int replay_perturb(struct replay *replay, uint64_t seed)
{
	struct perturbation *noise = &replay->noise;
	struct mm *mm = &replay->machine.mm;
	unsigned int nr_cpus = mm->config.nr_cpus;
	int64_t stock;

	if (!seed)
		return 0;
	noise->state = seed;
	noise->flush_share = draw_below(noise, PERTURB_SHARES);
	noise->drain_in = calloc(nr_cpus, sizeof(*noise->drain_in));
	if (!noise->drain_in)
		return -1;
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		noise->drain_in[cpu] = 1 + (uint32_t)draw_below(noise,
								mm->config.rules.folio_batch_size);
	stock = (int64_t)draw_below(noise, (uint64_t)mm->config.rules.memcg_stock_pages * nr_cpus);
	if (replay->limited && replay->limited->max_pages != MEMCG_UNLIMITED &&
	    replay->limited->max_pages > stock)
		replay->limited->max_pages -= stock;
	memcg_lru_seed(&mm->memcg_lru, seed ^ MEMCG_LRU_SEED);
	noise->seed = seed;
	return 0;
}

void replay_perturb_end(struct replay *replay)
{
	free(replay->noise.drain_in);
	free(replay->noise.flush);
}

static void flush_now(struct replay *replay, uint32_t memcg)
{
	mem_cgroup_flush_stats(&replay->machine.mm, machine_memcg(&replay->machine, memcg));
}

/* The flushes whose time has come, in the order in which they were recorded. */
static void flush_due(struct replay *replay)
{
	struct perturbation *noise = &replay->noise;
	uint64_t now = replay->event->timestamp_ns, earliest = UINT64_MAX;
	uint32_t left = 0;

	for (uint32_t i = 0; i < noise->nr_flushes; i++) {
		if (noise->flush[i].due_ns <= now) {
			flush_now(replay, noise->flush[i].memcg);
			continue;
		}
		if (noise->flush[i].due_ns < earliest)
			earliest = noise->flush[i].due_ns;
		noise->flush[left++] = noise->flush[i];
	}
	noise->nr_flushes = left;
	noise->next_flush_ns = earliest;
}

static void move_cpus(struct replay *replay)
{
	struct perturbation *noise = &replay->noise;

	noise->cpu_shift = (unsigned int)draw_below(noise, replay->machine.mm.config.nr_cpus);
	noise->next_move_ns = replay->event->timestamp_ns + 1 + draw_below(noise, MOVE_NS);
}

void replay_perturb_event(struct replay *replay)
{
	struct perturbation *noise = &replay->noise;
	unsigned int cpu;

	if (!noise->seed)
		return;
	if (noise->nr_flushes && noise->next_flush_ns <= replay->event->timestamp_ns)
		flush_due(replay);
	if (noise->next_move_ns <= replay->event->timestamp_ns)
		move_cpus(replay);
	cpu = replay_cpu(replay);
	if (noise->drain_in[cpu] &&
	    replay->machine.mm.cpu[cpu].batch[BATCH_LRU_ADD].nr >= noise->drain_in[cpu]) {
		noise->drain_in[cpu] = 0;
		lru_add_drain(&replay->machine.mm, cpu, DRAIN_recorded);
	}
}

void replay_flush(struct replay *replay)
{
	struct perturbation *noise = &replay->noise;
	uint64_t now = replay->event->timestamp_ns, gap;
	uint32_t memcg;

	if (!machine_flushes(&replay->machine, replay->event, &memcg))
		return;
	if (!noise->seed) {
		flush_now(replay, memcg);
		return;
	}
	gap = noise->last_flush_ns ? now - noise->last_flush_ns : 0;
	if (gap > FLUSH_PERIOD_NS)
		gap = FLUSH_PERIOD_NS;
	noise->last_flush_ns = now;
	if (noise->nr_flushes == noise->room_flushes) {
		uint32_t room = noise->room_flushes * 2 + 16;
		void *bigger = realloc(noise->flush, room * sizeof(*noise->flush));

		if (!bigger) {
			replay->failed = true;
			return;
		}
		noise->flush = bigger;
		noise->room_flushes = room;
	}
	noise->flush[noise->nr_flushes++] = (struct late_flush){
		.due_ns = now + gap * noise->flush_share / PERTURB_SHARES,
		.memcg = memcg,
	};
	flush_due(replay);
}
