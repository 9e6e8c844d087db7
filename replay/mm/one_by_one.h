/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ops that policies share which free one folio at a time.
 *
 * Such a policy says where a folio goes when it is added, what an access changes, and who goes
 * next; the rest stands here. A folio that cannot go (dirty, locked) comes back through
 * folio_added(), still with FOLIO_isolated, and the next one is asked for.
 *
 *   const struct reclaim_policy policy_NAME = {
 *           .name = ..., .summary = ..., .source = ...,
 *           ONE_BY_ONE_OPS,
 *           .folio_added = ...,          onto the list that lruvec_add_folio() finds, at least
 *           .folio_removed = ...,        one_by_one_folio_removed, if that is all
 *           .folio_accessed = ...,
 *           .victim = ...,               of lists[LRU_INACTIVE_FILE]; it stays where it is
 *           .check = ...,                one_by_one_check, if that is all
 *   };
 *
 * File folios stay on lists[LRU_INACTIVE_FILE], others on their own lists, where nobody looks.
 * Each memcg is served by itself: of several below one limit, the first that has a folio gives it.
 */
#ifndef REPLAY_MM_ONE_BY_ONE_H
#define REPLAY_MM_ONE_BY_ONE_H

#include "replay/policy/policy.h"

#define ONE_BY_ONE_OPS                                                                             \
	.exact = true, .folio_activated = one_by_one_folio_activated,                              \
	.refault = one_by_one_refault, .evict = one_by_one_evict,                                  \
	.prepare_scan = one_by_one_prepare_scan, .shrink_begin = one_by_one_shrink_begin,          \
	.shrink_next = one_by_one_shrink_next, .shrink_done = one_by_one_shrink_done,              \
	.isolate = one_by_one_isolate, .examine_active = one_by_one_examine_active,                \
	.folio_rotated = one_by_one_folio_rotated,                                                 \
	.references_checked = one_by_one_references_checked, .putback = one_by_one_putback,        \
	.reclaim_end = one_by_one_reclaim_end

/* See struct reclaim_policy. */
void one_by_one_folio_activated(struct mm *mm, struct lruvec *lruvec, struct folio *folio);
void one_by_one_folio_rotated(struct mm *mm, struct lruvec *lruvec, struct folio *folio);
bool one_by_one_references_checked(struct mm *mm, struct folio *folio, bool young);
void one_by_one_folio_removed(struct mm *mm, struct lruvec *lruvec, struct folio *folio);
void one_by_one_refault(struct mm *mm, struct folio *folio, struct shadow shadow);
struct shadow one_by_one_evict(struct mm *mm, struct folio *folio, struct mem_cgroup *target);
void one_by_one_prepare_scan(struct reclaim_walk *walk);
void one_by_one_shrink_begin(struct reclaim_walk *walk, struct lruvec *lruvec);
bool one_by_one_shrink_next(struct reclaim_walk *walk, struct lruvec *lruvec,
			    struct scan_request *request);
void one_by_one_shrink_done(struct reclaim_walk *walk, const struct scan_request *request,
			    const struct scan_result *result);
void one_by_one_isolate(struct mm *mm, const struct scan_request *request, struct list_head *taken,
			struct scan_result *result);
bool one_by_one_examine_active(struct mm *mm, struct lruvec *lruvec, struct folio *folio);
void one_by_one_putback(struct mm *mm, const struct scan_request *request, struct list_head *list);
void one_by_one_reclaim_end(struct mm *mm, struct mem_cgroup *top);
bool one_by_one_check(const struct mm *mm, const struct lruvec *lruvec);

#endif
