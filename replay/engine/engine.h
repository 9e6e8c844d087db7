/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A free-running replay: one policy at one memory size over a tape's stimuli.
 *
 * What the kernel decided is never fed in. Its adds are taken where the miss behind them happens
 * here too; a page that it had in memory and this run has not is read in alone.
 */
#ifndef REPLAY_ENGINE_ENGINE_H
#define REPLAY_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/facts.h"
#include "replay/future.h"
#include "replay/policy/policy.h"
#include "replay/world/world.h"

struct replay;

#define REPLAY_MEMORY_RECORDED 0 /* each memcg at its recorded limit */

/**
 * replay_open() - begin a run
 * @world: given each event before the run is; shared by all runs
 * @choice: policy; copied
 * @memory_pages: limit of the world's limited_memcg, or REPLAY_MEMORY_RECORDED
 * Return: ends with replay_close(); NULL without memory.
 */
struct replay *replay_open(struct world *world, const struct policy_choice *choice,
			   int64_t memory_pages);

/**
 * replay_log_adds() - keep what is added to LRU lists from now on, in mm.lru_add_log
 * @limit: folios; what comes after is left out
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result)) replay_log_adds(struct replay *replay, uint64_t limit);

/**
 * replay_foretell() - let the run's policy know the future, before the first event
 * @future: of the same tape; not owned, one for all runs. Without it a policy that asks for the
 * future (reclaim_policy.next_use) is never told anything.
 */
void replay_foretell(struct replay *replay, struct future *future);

/**
 * replay_perturb() - before the first event: shift what a second recording would not have alike
 * @seed: draws flush phase, CPU interleaving and the start of reclaim; 0: nothing is shifted
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result)) replay_perturb(struct replay *replay, uint64_t seed);

/**
 * replay_imagine() - let mapped pages be accessed as facts and a stream drawn from them say
 * @facts: of the same tape; not owned, one for all runs
 * @fill, @seed: what unknown time is filled with
 * @own: the facts are of this very policy at this size: each look at a page finds what the recorded
 * kernel's next one did, whenever that was
 * To be called before the first event. Without it a mapped page counts as accessed by its faults only.
 */
void replay_imagine(struct replay *replay, const struct access_facts *facts, enum access_fill fill,
		    uint64_t seed, bool own);

/**
 * replay_unknown() - verdicts on mapped pages that the tape does not decide
 * @asked: set to all that were asked for
 * @first_ns: set to the time of the first unknown one, if there was one
 * Return: how many.
 */
uint64_t replay_unknown(const struct replay *replay, uint64_t *asked, uint64_t *first_ns);

/**
 * replay_walks_from() - when MGLRU first aged a group with mapped folios; 0: it did not
 * The kernel walks page tables then, unless that is switched off, and promotes what it finds young. A run has no
 * walks: from there on it is a bound.
 */
uint64_t replay_walks_from(const struct replay *replay);

/** replay_event() - the next event. @read_end: of event_stream_next(). */
void replay_event(struct replay *replay, const struct tape_event *event, uint64_t read_end);

/** replay_finish() - the tape ended: zaps complete, batches drain. */
void replay_finish(struct replay *replay);

/** replay_failed() - the replay's own memory ran out; its figures are worth nothing. */
bool replay_failed(const struct replay *replay);

/** replay_mm() - the machine, for reading counters; owned by the replay. */
const struct mm *replay_mm(const struct replay *replay);

/** replay_memcg() - the run's memcg for a number of the world's, NULL: it never met it. */
const struct mem_cgroup *replay_memcg(const struct replay *replay, uint32_t number);

/** replay_accesses() - folios touched so far. */
uint64_t replay_accesses(const struct replay *replay);

/**
 * replay_stimuli() - what the run was given: folios read, added, freed, truncated
 * @inferred: set to how many of these some rule drew from other events
 */
uint64_t replay_stimuli(const struct replay *replay, uint64_t *inferred);

/** replay_inferred() - how often a rule was used in this run. */
uint64_t replay_inferred(const struct replay *replay, enum infer_rule rule);

/* Takes what a run has counted. A memcg that has counted nothing is left out. */
struct replay_sink {
	void *ctx;
	void (*counter)(void *ctx, uint64_t memcg_id, enum counter counter, uint64_t value);
	/* Optional. Sites without holds and folios are left out. */
	void (*lock)(void *ctx, uint64_t memcg_id, enum lock_site site, uint64_t holds,
		     uint64_t folios);
	/* Optional. @batch: its name. */
	void (*drain)(void *ctx, const char *batch, enum drain_cause cause, uint64_t drains,
		      uint64_t folios);
};

/** replay_counts() - all of it as it stands now. */
void replay_counts(const struct replay *replay, const struct replay_sink *sink);

/** replay_close() - free it; NULL is fine. */
void replay_close(struct replay *replay);

#endif
