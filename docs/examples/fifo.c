// SPDX-License-Identifier: GPL-2.0-only
/*
 * First in, first out: one list per type, no second look, refaults counted and nothing more.
 * Worked example of docs/policies.md, which says how to put it into the program.
 */
#include <string.h>

#include "replay/policy/policy.h"

struct fifo_shrink {
	uint64_t nr_left; /* pages to look at in this lruvec at this priority */
	uint64_t nr_reclaimed;
	bool told; /* the call knows of nr_reclaimed */
};

static struct fifo_shrink *shrink_state(struct reclaim_walk *walk)
{
	return (struct fifo_shrink *)walk->shrink_state;
}

static void fifo_folio_added(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_add_folio(lruvec, folio); /* PG_active is never set: an inactive list */
}

static void fifo_folio_activated(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm, (void)lruvec, (void)folio; /* nothing of ours queues an activation */
}

static void fifo_folio_removed(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_del_folio(lruvec, folio);
	folio_clear(folio, PG_lru);
}

static void fifo_folio_accessed(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	(void)mm, (void)cpu, (void)folio;
}

static void fifo_refault(struct mm *mm, struct folio *folio, struct shadow shadow)
{
	(void)mm, (void)shadow;
	folio_set(folio, FOLIO_refaulted);
	lruvec_count(folio->lruvec, COUNT_workingset_refault_file, folio_nr_pages(folio));
}

static struct shadow fifo_evict(struct mm *mm, struct folio *folio, struct mem_cgroup *target)
{
	(void)folio;
	return (struct shadow){ .memcg_index = (target ? target : mm->root)->index };
}

static void fifo_prepare_scan(struct reclaim_walk *walk)
{
	(void)walk;
}

static void fifo_shrink_begin(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	int64_t size = lruvec_lru_size(lruvec, LRU_INACTIVE_FILE);

	*shrink_state(walk) = (struct fifo_shrink){
		.nr_left = size > 0 ? (uint64_t)size >> walk->sc.priority : 0,
	};
}

static bool fifo_shrink_next(struct reclaim_walk *walk, struct lruvec *lruvec,
			     struct scan_request *request)
{
	struct fifo_shrink *shrink = shrink_state(walk);
	uint64_t nr = shrink->nr_left < SWAP_CLUSTER_MAX ? shrink->nr_left : SWAP_CLUSTER_MAX;

	if (!nr || shrink->nr_reclaimed >= walk->sc.nr_to_reclaim) {
		if (!shrink->told)
			walk->sc.nr_reclaimed += shrink->nr_reclaimed;
		shrink->told = true;
		return false;
	}
	shrink->nr_left -= nr;
	*request = (struct scan_request){ lruvec, LRU_INACTIVE_FILE, nr };
	return true;
}

static void fifo_shrink_done(struct reclaim_walk *walk, const struct scan_request *request,
			     const struct scan_result *result)
{
	(void)request;
	shrink_state(walk)->nr_reclaimed += result->nr_reclaimed;
}

static void fifo_isolate(struct mm *mm, const struct scan_request *request, struct list_head *taken,
			 struct scan_result *result)
{
	struct list_head *list = &request->lruvec->lists[request->lru];

	(void)mm;
	while (result->nr_scanned < request->nr_to_scan && !list_empty(list)) {
		struct folio *folio = list_entry(list->prev, struct folio, lru);

		result->nr_scanned += folio_nr_pages(folio);
		folio_clear(folio, PG_lru);
		folio_set(folio, FOLIO_isolated);
		list_move_tail(&folio->lru, taken);
	}
	result->nr_taken = result->nr_scanned;
	lruvec_update_size(request->lruvec, request->lru, -(int64_t)result->nr_taken);
}

static bool fifo_examine_active(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm, (void)lruvec;
	folio_clear(folio, PG_active); /* asked by check only, after the kernel's own scans */
	return false;
}

static void fifo_putback(struct mm *mm, const struct scan_request *request, struct list_head *list)
{
	(void)mm;
	while (!list_empty(list)) {
		struct folio *folio = list_entry(list->next, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated | PG_active);
		folio_set(folio, PG_lru);
		lruvec_add_folio(request->lruvec, folio);
	}
}

static void fifo_reclaim_end(struct mm *mm, struct mem_cgroup *top)
{
	(void)mm, (void)top;
}

const struct reclaim_policy policy_fifo = {
	.name = "fifo",
	.summary = "the folio that came first goes first",
	.source = "worked example of docs/policies.md",
	.folio_added = fifo_folio_added,
	.folio_activated = fifo_folio_activated,
	.folio_removed = fifo_folio_removed,
	.folio_accessed = fifo_folio_accessed,
	.refault = fifo_refault,
	.evict = fifo_evict,
	.prepare_scan = fifo_prepare_scan,
	.shrink_begin = fifo_shrink_begin,
	.shrink_next = fifo_shrink_next,
	.shrink_done = fifo_shrink_done,
	.isolate = fifo_isolate,
	.examine_active = fifo_examine_active,
	.putback = fifo_putback,
	.reclaim_end = fifo_reclaim_end,
};
