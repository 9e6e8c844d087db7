/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One reclaim call, as a walk that stops at each isolation.
 *
 * The kernel's reclaim is a nest of loops: priorities, memcgs, lists, batches of 32. Here the
 * nest is turned inside out: reclaim_walk_next() runs the loops up to the next batch to isolate
 * and hands out that request; reclaim_walk_done() takes in what came of it. So the same code
 * serves two masters:
 *
 *   replay   asks, isolates, shrinks, answers, until the walk ends by itself
 *   check    asks when the tape shows an isolation, compares, and answers what the tape shows
 *
 * A walk of kswapd's begins with kswapd_begin(), replay/mm/kswapd.h.
 *
 * Kernel: mm/vmscan.c, do_try_to_free_pages() down to shrink_lruvec(), v6.18.
 * Differs: compaction's early end, writeback throttling and slab are left out; of slab's shrinkers only
 * that of shadow nodes runs.
 */
#ifndef REPLAY_MM_SCAN_CONTROL_H
#define REPLAY_MM_SCAN_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/lruvec.h"
#include "replay/mm/memcg_lru.h"

#define DEF_PRIORITY 12
#define SWAP_CLUSTER_MAX 32
#define SWAPPINESS_OF_MEMCG (-1)

struct scan_control {
	uint64_t nr_to_reclaim; /* pages */
	struct mem_cgroup *target_mem_cgroup; /* whose limit was hit; NULL: global */
	uint8_t reclaim_idx; /* highest zone that will do */
	int priority; /* 12 down to 0: scan size >> priority */
	bool may_swap;
	bool kswapd;
	bool boosted; /* kswapd works off a boost of the watermarks: not below priority 10 */
	uint64_t
		boost_left; /* pages of the boost that are still to be freed; in check it is not known */
	int swappiness; /* that memory.reclaim was told; SWAPPINESS_OF_MEMCG */
	bool by_owner; /* MADV_PAGEOUT: no scan, no page counts as stolen */
	bool run_eviction; /* MGLRU: asked for through debugfs, not by an allocation */
	uint64_t run_eviction_seq; /* generations up to this one */
	unsigned int run_eviction_swappiness;
	bool force_deactivate; /* second attempt: deactivate whatever the ratio says */
	bool skipped_deactivate; /* some active list was passed over */
	bool may_deactivate[ANON_AND_FILE];
	bool cache_trim_mode; /* plenty of inactive file pages: leave anon alone */
	bool file_is_tiny;
	bool memcg_full_walk; /* visit all memcgs of the subtree, whatever is reclaimed */
	bool memcg_low_reclaim; /* last attempt: memory.low protects nobody */
	bool memcg_low_skipped; /* it protected somebody */
	uint64_t pfn_limit; /* its folios lie below; 0: all are of use */
	uint64_t anon_cost, file_cost; /* of the target, read at each priority */
	uint64_t nr_scanned, nr_reclaimed; /* pages so far */
};

/* Take nr_to_scan pages off the tail of a list. */
struct scan_request {
	struct lruvec *lruvec;
	enum lru_list lru;
	uint64_t nr_to_scan; /* pages */
	/* MGLRU: one scan of an evict. The lists are those of the type that lru tells. */
	int tier_idx; /* highest tier to evict */
	unsigned int swappiness;
	uint8_t reclaim_idx;
	bool other_type_next; /* if nothing comes of it */
	uint64_t pfn_limit; /* folios from here on are of no use; 0: all are */
};

struct scan_result {
	uint64_t nr_written; /* pages submitted to swap */
	uint64_t nr_scanned; /* pages looked at */
	uint64_t nr_taken; /* pages isolated */
	uint64_t nr_reclaimed; /* pages freed; 0 for active lists */
	uint64_t nr_pgscan, nr_pgrefill; /* pages, as vmstat counts what was looked at */
	/* MGLRU: the same hold of the lock goes on with the other type; else pages that the evict counts for. */
	bool goes_on;
	uint64_t nr_evict;
};

/* Room for a policy's loop variables between two isolations of one lruvec. */
#define SHRINK_STATE_BYTES 192

enum walk_state {
	WALK_NODE, /* next: a new priority */
	WALK_MEMCG, /* next: a new lruvec */
	WALK_LRUVEC, /* in the middle of one */
	WALK_ENDED,
};

struct reclaim_walk {
	struct mm *mm;
	struct scan_control sc;
	enum walk_state state;
	struct mem_cgroup *top; /* the target, or root */
	struct mem_cgroup *memcg; /* being shrunk */
	uint64_t generation; /* of top's subtree, when a partial walk began */
	unsigned int nr_asked; /* requests at this priority, or in this round of kswapd */
	uint64_t round_reclaimed; /* kswapd: sc.nr_reclaimed when the round began */
	struct memcg_lru_walk memcg_lru; /* MGLRU: this round's way through the memcg LRU */
	bool memcg_aged; /* MGLRU: the one being shrunk was */
	bool memcgs_need_aging; /* MGLRU of 6.1: kswapd ages before its next round */
	bool looks_ahead; /* a copy, to see where the walk would come to: it drops no shadows */
	struct scan_request request; /* handed out and not yet answered */
	unsigned int cpu; /* on which it runs */
	bool any_step; /* reclaim_step() has begun it */
	bool anon_aged; /* kswapd: this round has begun with a batch of each memcg's active anon folios */
	_Alignas(8) unsigned char shrink_state[SHRINK_STATE_BYTES];
	/*
	 * Check, MGLRU: 1 + the priority at which the next isolation takes place, 0: not known. Where a priority
	 * before it gave nothing, the memcg was aged.
	 */
	uint8_t priority_ahead;
	bool aging_overruled; /* the core's sizes had said otherwise */
	/* Check, MGLRU: what the sizes said when the drain was over, the last that is known of that moment. */
	enum { AGING_UNSEEN, AGING_NO, AGING_YES } aging_after_drain;
	/* Check: folios that reclaim's drain of this CPU moved have told when it was; rotations went along. */
	bool drain_told;
};

/**
 * reclaim_walk_begin() - start reclaim for a memcg over its limit, or for the node
 * @target: memcg over its limit, NULL for global reclaim
 * @nr_to_reclaim: pages; raised to SWAP_CLUSTER_MAX, unless the policy is exact
 * Kernel: mm/vmscan.c, try_to_free_mem_cgroup_pages(), try_to_free_pages(), v6.18.
 */
void reclaim_walk_begin(struct reclaim_walk *walk, struct mm *mm, struct mem_cgroup *target,
			uint64_t nr_to_reclaim, bool may_swap);

/**
 * reclaim_walk_begin_eviction() - start what "- memcg node seq swappiness nr" in debugfs lru_gen asks for
 * One memcg, no priorities, no aging. Kernel: mm/vmscan.c, run_eviction(), v6.18.
 */
void reclaim_walk_begin_eviction(struct reclaim_walk *walk, struct mm *mm, struct mem_cgroup *memcg,
				 uint64_t seq, unsigned int swappiness, uint64_t nr_to_reclaim);

/**
 * reclaim_walk_next() - run up to the next isolation
 * @request: set if there is one
 * Return: true: isolate what *request says, then call reclaim_walk_done(). false: the walk ended.
 */
bool reclaim_walk_next(struct reclaim_walk *walk, struct scan_request *request);

/** reclaim_walk_done() - what came of the request that reclaim_walk_next() handed out. */
void reclaim_walk_done(struct reclaim_walk *walk, const struct scan_result *result);

/**
 * reclaim_walk_pages() - pages of a list that the walk has use for
 * The kernel keeps sizes by zone; here a walk that cannot use all zones, which is rare, counts.
 */
uint64_t reclaim_walk_pages(const struct reclaim_walk *walk, const struct lruvec *lruvec,
			    enum lru_list lru);

/**
 * reclaim_walk_unprotected() - what memory.min and memory.low leave of so many pages
 * Kernel: mm/vmscan.c, get_scan_count(), v6.18.
 */
uint64_t reclaim_walk_unprotected(struct reclaim_walk *walk, const struct mem_cgroup *memcg,
				  uint64_t pages);

/** reclaim_walk_swappiness() - 0..201 for the memcg being shrunk. Kernel: mm/vmscan.c, sc_swappiness(), v6.18. */
static inline unsigned int reclaim_walk_swappiness(const struct reclaim_walk *walk)
{
	return walk->sc.swappiness == SWAPPINESS_OF_MEMCG ? walk->memcg->swappiness :
							    (unsigned int)walk->sc.swappiness;
}

/**
 * reclaim_walk_next_round() - for check: the round at hand is over, wherever it stands, and the next begins
 * Of a walk that has only begun: its first one does. Return: false: there is no other.
 */
bool reclaim_walk_next_round(struct reclaim_walk *walk);

/** reclaim_walk_enter() - for check: the walk comes to this memcg now. */
void reclaim_walk_enter(struct reclaim_walk *walk, struct mem_cgroup *memcg);

/** reclaim_walk_leave() - for check: the memcg that it is in is not scanned any more. */
static inline void reclaim_walk_leave(struct reclaim_walk *walk)
{
	if (walk->state == WALK_LRUVEC)
		walk->state = WALK_MEMCG;
}

/** reclaim_walk_has_own_order() - the policy says which memcg comes next, and not the tree. */
bool reclaim_walk_has_own_order(const struct reclaim_walk *walk);

/** reclaim_walk_end() - the call is over, wherever the walk stands: snapshot what it must. */
void reclaim_walk_end(struct reclaim_walk *walk);

/*
 * What reclaim asks of the machine around it. All but @evicted may be NULL: then no page table points
 * to a folio, and there is no swap.
 */
struct reclaim_hooks {
	void *ctx;
	/* A folio is reclaimed: called before it is freed, with its shadow entry. */
	void (*evicted)(void *ctx, struct folio *folio, uint64_t shadow);
	/* Was a mapped folio accessed through page tables since this was last asked? It is young no more. */
	bool (*referenced)(void *ctx, struct folio *folio);
	/* Is a mapped file folio of a part that is mapped executable? NULL: none is. */
	bool (*executable)(void *ctx, const struct folio *folio);
	/* Find room in swap for an anon folio. Return: there is. */
	bool (*add_to_swap)(void *ctx, struct folio *folio);
	/* No page table points to an anon folio any more. Return: it differs from what is in swap. */
	bool (*unmap)(void *ctx, struct folio *folio);
	/* Write an anon folio to swap. Return: done; else folio_end_writeback() follows some time. */
	bool (*write_out)(void *ctx, struct folio *folio);
	/* Wait for such a write: folio_end_writeback() was called for it when this returns. */
	void (*wait_for_write)(void *ctx, struct folio *folio);
	/*
	 * What was isolated is back on its lists: writes that are done by now may end. What is written of one
	 * isolation is held back, plugged, until there is more of it than one isolation gives.
	 */
	void (*put_back)(void *ctx);
};

/**
 * reclaim_step() - the next isolation of a walk that has begun, and what comes of it
 * @cpu, @hooks: as for reclaim_finish()
 * @nr_taken: set to the pages isolated
 * Return: false: the walk had ended, and now its call is over, too.
 */
bool reclaim_step(struct reclaim_walk *walk, unsigned int cpu, const struct reclaim_hooks *hooks,
		  uint64_t *nr_taken);

/**
 * reclaim_finish() - a walk that has begun, to its end
 * @cpu: whose batches it drains
 * @hooks: not kept
 * Return: pages reclaimed.
 */
uint64_t reclaim_finish(struct reclaim_walk *walk, unsigned int cpu,
			const struct reclaim_hooks *hooks);

/**
 * reclaim_folio() - its owner wants it out, whether it was accessed or not
 * @folio: on a list; gone or back in an lru_add batch afterwards
 * @cpu: whose batch
 * @hooks: not kept
 * Kernel: mm/vmscan.c, reclaim_folio_list(), v6.18.
 * Differs: one at a time, where the kernel isolates all of a page table first.
 * Return: pages reclaimed.
 */
uint64_t reclaim_folio(struct mm *mm, unsigned int cpu, struct folio *folio,
		       const struct reclaim_hooks *hooks);

/**
 * reclaim_run() - a whole reclaim call of the replay's own
 * @may_swap: anon lists are scanned, if there is swap
 * @cpu: whose batches it drains
 * @hooks: not kept
 * Return: pages reclaimed.
 */
uint64_t reclaim_run(struct mm *mm, struct mem_cgroup *target, uint64_t nr_to_reclaim,
		     bool may_swap, unsigned int cpu, const struct reclaim_hooks *hooks);

/**
 * reclaim_proactive_batch() - pages that the next call of memory.reclaim asks for
 * @left: of what was written to the file
 * Kernel: mm/vmscan.c, user_proactive_reclaim(), v6.18; mm/memcontrol.c, memory_reclaim(), v6.12, v6.1.
 */
uint64_t reclaim_proactive_batch(const struct mm *mm, uint64_t left);

#endif
