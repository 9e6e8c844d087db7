// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/one_by_one.h"

/* Pages that may still be looked at in this lruvec: once round, then nothing there can go. */
static uint64_t *nr_left(struct reclaim_walk *walk)
{
	return (uint64_t *)walk->shrink_state;
}

void one_by_one_folio_activated(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm, (void)lruvec, (void)folio; /* none of these policies queues an activation */
}

void one_by_one_folio_rotated(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_del_folio(lruvec, folio);
	folio_clear(folio, PG_active);
	lruvec_add_folio_tail(lruvec, folio);
}

bool one_by_one_references_checked(struct mm *mm, struct folio *folio, bool young)
{
	bool referenced = folio_test_clear(folio, PG_referenced);

	(void)mm;
	if (young)
		folio_set(folio, PG_referenced);
	return referenced;
}

void one_by_one_folio_removed(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm;
	lruvec_del_folio(lruvec, folio);
	folio_clear(folio, PG_lru);
}

void one_by_one_refault(struct mm *mm, struct folio *folio, struct shadow shadow)
{
	(void)mm, (void)shadow;
	folio_set(folio, FOLIO_refaulted);
	lruvec_count(folio->lruvec,
		     folio_is_file_lru(folio) ? COUNT_workingset_refault_file :
						COUNT_workingset_refault_anon,
		     folio_nr_pages(folio));
}

struct shadow one_by_one_evict(struct mm *mm, struct folio *folio, struct mem_cgroup *target)
{
	return (struct shadow){
		.memcg_index = (target ? target : mm->root)->index,
		.nid = (uint16_t)folio->lruvec->nid,
	};
}

void one_by_one_prepare_scan(struct reclaim_walk *walk)
{
	if (!walk->mm->config.rules.balance_by_rotation)
		lruvec_lock(mem_cgroup_lruvec(walk->top, 0), LOCK_prepare_scan, 0);
}

/* A second look at a lower priority would find what the first one found. */
void one_by_one_shrink_begin(struct reclaim_walk *walk, struct lruvec *lruvec)
{
	int64_t size = lruvec_lru_size(lruvec, LRU_INACTIVE_FILE);
	bool first = walk->sc.priority == DEF_PRIORITY && !walk->sc.memcg_full_walk;

	*nr_left(walk) = first && size > 0 ? (uint64_t)size : 0;
}

bool one_by_one_shrink_next(struct reclaim_walk *walk, struct lruvec *lruvec,
			    struct scan_request *request)
{
	if (!*nr_left(walk) || walk->sc.nr_reclaimed >= walk->sc.nr_to_reclaim)
		return false;
	*request = (struct scan_request){ .lruvec = lruvec,
					  .lru = LRU_INACTIVE_FILE,
					  .nr_to_scan = 1 };
	return true;
}

void one_by_one_shrink_done(struct reclaim_walk *walk, const struct scan_request *request,
			    const struct scan_result *result)
{
	(void)request;
	walk->sc.nr_reclaimed += result->nr_reclaimed;
	if (!result->nr_taken || result->nr_scanned > *nr_left(walk))
		*nr_left(walk) = 0;
	else
		*nr_left(walk) -= result->nr_scanned;
}

void one_by_one_isolate(struct mm *mm, const struct scan_request *request, struct list_head *taken,
			struct scan_result *result)
{
	struct lruvec *lruvec = request->lruvec;

	while (result->nr_scanned < request->nr_to_scan) {
		/* Other lists are asked for by check only, after the kernel's own scans. */
		struct folio *folio = request->lru == LRU_INACTIVE_FILE ?
					      mm->policy->victim(mm, lruvec) :
					      lruvec_oldest(lruvec, request->lru);

		if (!folio)
			break;
		mm->policy->folio_removed(mm, lruvec, folio);
		folio_set(folio, FOLIO_isolated);
		list_add_tail(&folio->lru, taken);
		result->nr_scanned += folio_nr_pages(folio);
	}
	result->nr_taken = result->nr_scanned;
	if (request->lru & 1)
		result->nr_pgrefill = result->nr_scanned;
	else
		result->nr_pgscan = result->nr_scanned;
}

bool one_by_one_examine_active(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	(void)mm, (void)lruvec;
	folio_clear(folio, PG_active);
	return false;
}

void one_by_one_putback(struct mm *mm, const struct scan_request *request, struct list_head *list)
{
	while (!list_empty(list)) {
		struct folio *folio = list_entry(list->next, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, PG_active); /* set by the core where it could not go */
		mm->policy->folio_added(mm, request->lruvec, folio);
		folio_clear(folio, FOLIO_isolated);
		folio_set(folio, PG_lru);
	}
}

void one_by_one_reclaim_end(struct mm *mm, struct mem_cgroup *top)
{
	(void)mm, (void)top;
}

bool one_by_one_check(const struct mm *mm, const struct lruvec *lruvec)
{
	(void)mm;
	return lruvec_check(lruvec);
}
