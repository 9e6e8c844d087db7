/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lruvec and memcg: the lists of one memcg on one node, and the tree of memcgs.
 *
 * A list size exists twice, and the difference decides outcomes:
 *
 *   lruvec_lru_size()    exact, this lruvec only          scan counts
 *   lruvec_page_state()  whole subtree, at the last flush  deactivation, refault test, cost decay
 *
 * The second stands still between two rstat flushes (2 s apart in an idle system), while
 * thousands of folios move. mem_cgroup_flush_stats() is such a flush.
 */
#ifndef REPLAY_MM_LRUVEC_H
#define REPLAY_MM_LRUVEC_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/folio.h"
#include "replay/mm/vmstat.h"

/* Kernel: include/linux/mmzone.h, enum lru_list, v6.18. */
enum lru_list {
	LRU_INACTIVE_ANON,
	LRU_ACTIVE_ANON,
	LRU_INACTIVE_FILE,
	LRU_ACTIVE_FILE,
	LRU_UNEVICTABLE,
	NR_LRU_LISTS
};

#define ANON_AND_FILE 2 /* index 0 anon, 1 file */

struct mem_cgroup;
struct mm;

struct lruvec {
	struct list_head lists[NR_LRU_LISTS];
	int64_t lru_size[NR_LRU_LISTS]; /* pages of the folios on the lists */
	int64_t unseen[NR_LRU_LISTS]; /* pages there before the tape began: counted, not listed */
	struct mem_cgroup *memcg;
	unsigned int nid;

	/* classic: balance and refault detection */
	uint64_t anon_cost, file_cost;
	uint64_t recent_scanned[ANON_AND_FILE],
		recent_rotated[ANON_AND_FILE]; /* before there were costs */
	uint64_t nonresident_age; /* pages evicted and activated so far, kept per level */
	int64_t refaults[ANON_AND_FILE]; /* WORKINGSET_ACTIVATE_* at the end of the last reclaim */

	int64_t stat[NR_LRUVEC_STATS]; /* live, this lruvec only */
	uint64_t nr_updates; /* pages that went on or off a list since the last flush */
	int64_t flushed[NR_LRUVEC_STATS]; /* subtree, at the last flush */
	int64_t flushed_own_pages; /* lruvec_own_pages() at the last flush */

	struct lock_count lock[NR_LOCK_SITES];
	uint64_t counter[NR_COUNTERS];
	bool has_mapped; /* in a run: page tables have pointed to folios of it */
	void *private; /* the policy's, reclaim_policy.lruvec_private_bytes long */
};

#define MEMCG_UNLIMITED INT64_MAX

struct mem_cgroup {
	struct mem_cgroup *parent; /* NULL: root */
	struct mem_cgroup *first_child, *next_sibling;
	uint64_t id; /* inode of the cgroup's directory, as the tracepoints name it */
	uint16_t index; /* in mm.memcg[], what a shadow entry holds; never reused */
	bool online;
	uint8_t swappiness; /* 0..200; of the memcg itself on cgroup v1, else the machine's */
	int64_t usage_pages; /* subtree: folios, stocks and overhead */
	int64_t overhead_pages; /* own: charged pages that are on no list (slab, page tables) */
	int64_t max_pages; /* limit or MEMCG_UNLIMITED */
	int64_t high_pages; /* memory.high or MEMCG_UNLIMITED */
	uint64_t min_pages, low_pages; /* memory.min, memory.low */
	uint64_t emin_pages, elow_pages; /* as much of them as takes effect: protection.h */
	struct mem_cgroup
		*reclaim_position; /* last memcg below this one that a partial walk visited */
	uint64_t reclaim_generation; /* rounds that partial walks have made through the subtree */
	int64_t swap_pages,
		swap_max_pages; /* subtree's slots in swap, v2's limit or MEMCG_UNLIMITED */
	int64_t swapped_pages; /* subtree's pages that are in swap and not in memory */
	int64_t memsw_max_pages; /* v1's limit of usage_pages and these together, or MEMCG_UNLIMITED */
	struct lruvec *lruvec; /* array, one per node */
};

/** lruvec_init() - empty lists of a memcg on a node. */
void lruvec_init(struct lruvec *lruvec, struct mem_cgroup *memcg, unsigned int nid);

/**
 * folio_lru_list() - the list that a folio's flags say
 * Kernel: include/linux/mm_inline.h, folio_lru_list(), v6.18.
 */
static inline enum lru_list folio_lru_list(const struct folio *folio)
{
	if (folio_test(folio, PG_unevictable))
		return LRU_UNEVICTABLE;
	return (enum lru_list)((folio_is_file_lru(folio) ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON) +
			       (folio_test(folio, PG_active) ? 1 : 0));
}

/** lruvec_update_size() - a list of the lruvec grew by pages, which may be negative. */
static inline void lruvec_update_size(struct lruvec *lruvec, enum lru_list lru, int64_t pages)
{
	lruvec->lru_size[lru] += pages;
	lruvec->stat[lru] += pages;
	lruvec->nr_updates += (uint64_t)(pages < 0 ? -pages : pages);
}

/** lruvec_add_folio() - put a folio at the head (young end) of the list that its flags say. */
static inline void lruvec_add_folio(struct lruvec *lruvec, struct folio *folio)
{
	enum lru_list lru = folio_lru_list(folio);

	lruvec_update_size(lruvec, lru, (int64_t)folio_nr_pages(folio));
	list_add(&folio->lru, &lruvec->lists[lru]);
}

/** lruvec_add_folio_tail() - the same at the tail, where reclaim looks first. */
static inline void lruvec_add_folio_tail(struct lruvec *lruvec, struct folio *folio)
{
	enum lru_list lru = folio_lru_list(folio);

	lruvec_update_size(lruvec, lru, (int64_t)folio_nr_pages(folio));
	list_add_tail(&folio->lru, &lruvec->lists[lru]);
}

/** lruvec_del_folio() - take a folio off the list that its flags say. */
static inline void lruvec_del_folio(struct lruvec *lruvec, struct folio *folio)
{
	lruvec_update_size(lruvec, folio_lru_list(folio), -(int64_t)folio_nr_pages(folio));
	list_del(&folio->lru);
}

/**
 * lruvec_lru_size() - pages on one list now
 * Kernel: mm/vmscan.c, lruvec_lru_size(), v6.18.
 * Differs: all zones count; a reclaim_idx below the highest zone is not modelled.
 */
static inline int64_t lruvec_lru_size(const struct lruvec *lruvec, enum lru_list lru)
{
	return lruvec->lru_size[lru] + lruvec->unseen[lru];
}

/**
 * lruvec_page_state() - a statistic of the lruvec's subtree as of the last flush
 * Kernel: include/linux/memcontrol.h, lruvec_page_state(), v6.18.
 */
static inline int64_t lruvec_page_state(const struct lruvec *lruvec, enum lruvec_stat_item item)
{
	int64_t x = lruvec->flushed[item];

	return x < 0 ? 0 : x;
}

/** lruvec_own_pages() - pages on the lruvec's lists, and on node 0 what else its memcg is charged for. */
int64_t lruvec_own_pages(const struct lruvec *lruvec);

static inline struct lruvec *mem_cgroup_lruvec(struct mem_cgroup *memcg, unsigned int nid)
{
	return &memcg->lruvec[nid];
}

/** lruvec_parent() - the parent memcg's lruvec on the same node, NULL at the root. */
static inline struct lruvec *lruvec_parent(const struct lruvec *lruvec)
{
	struct mem_cgroup *parent = lruvec->memcg->parent;

	return parent ? mem_cgroup_lruvec(parent, lruvec->nid) : NULL;
}

/** lruvec_lock() - count one acquisition of the lruvec's lock in which @folios were handled. */
static inline void lruvec_lock(struct lruvec *lruvec, enum lock_site site, uint64_t folios)
{
	lruvec->lock[site].holds++;
	lruvec->lock[site].folios += folios;
}

/** lruvec_count() - add to one of the lruvec's result counters. */
static inline void lruvec_count(struct lruvec *lruvec, enum counter counter, uint64_t n)
{
	lruvec->counter[counter] += n;
}

/**
 * mem_cgroup_flush_stats() - bring the flushed statistics of a subtree up to date
 * @mm: the machine
 * @memcg: top of the subtree
 *
 * Kernel: mm/memcontrol.c, __mem_cgroup_flush_stats(), v6.18.
 * Differs: ancestors of @memcg do not see the flushed part before they are flushed themselves.
 */
void mem_cgroup_flush_stats(struct mm *mm, struct mem_cgroup *memcg);

/**
 * mem_cgroup_flush_pending() - flush all statistics, if enough is pending
 * Kernel: mm/memcontrol.c, mem_cgroup_flush_stats(), v6.1.
 * Differs: updates are pages that went on or off a list, three of the kernel's each; CPUs are not told apart.
 */
void mem_cgroup_flush_pending(struct mm *mm);

/** mem_cgroup_next() - pre-order walk of the subtree of @top; start with @prev NULL. NULL: done. */
struct mem_cgroup *mem_cgroup_next(struct mem_cgroup *top, struct mem_cgroup *prev);

/** lruvec_oldest() - the folio at the tail of a list, NULL if there is none. */
static inline struct folio *lruvec_oldest(const struct lruvec *lruvec, enum lru_list lru)
{
	const struct list_head *list = &lruvec->lists[lru];

	return list_empty(list) ? NULL : list_entry(list->prev, struct folio, lru);
}

/** lruvec_check() - each folio is on the list that its flags say, and the sizes are true. */
bool lruvec_check(const struct lruvec *lruvec);

#endif
