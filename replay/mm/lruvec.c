// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/lruvec.h"

#include <string.h>

#include "replay/mm/mm.h"

void lruvec_init(struct lruvec *lruvec, struct mem_cgroup *memcg, unsigned int nid)
{
	memset(lruvec, 0, sizeof(*lruvec));
	for (int lru = 0; lru < NR_LRU_LISTS; lru++)
		list_init(&lruvec->lists[lru]);
	lruvec->memcg = memcg;
	lruvec->nid = nid;
}

struct mem_cgroup *mem_cgroup_next(struct mem_cgroup *top, struct mem_cgroup *prev)
{
	if (!prev)
		return top;
	if (prev->first_child)
		return prev->first_child;
	while (prev != top) {
		if (prev->next_sibling)
			return prev->next_sibling;
		prev = prev->parent;
	}
	return NULL;
}

int64_t lruvec_own_pages(const struct lruvec *lruvec)
{
	int64_t pages = lruvec->nid ? 0 : lruvec->memcg->overhead_pages;

	for (int lru = 0; lru < NR_LRU_LISTS; lru++)
		pages += lruvec->stat[lru];
	return pages;
}

static void flush_subtree(struct mm *mm, struct mem_cgroup *memcg)
{
	/* Depth is bounded by MEMCG_DEPTH_LIMIT, which mm_add_memcg() enforces. */
	for (struct mem_cgroup *child = memcg->first_child; child; child = child->next_sibling)
		flush_subtree(mm, child);
	for (unsigned int nid = 0; nid < mm->nr_nodes; nid++) {
		struct lruvec *lruvec = mem_cgroup_lruvec(memcg, nid);

		lruvec->nr_updates = 0;
		memcpy(lruvec->flushed, lruvec->stat, sizeof(lruvec->flushed));
		lruvec->flushed_own_pages = lruvec_own_pages(lruvec);
		for (struct mem_cgroup *child = memcg->first_child; child;
		     child = child->next_sibling)
			for (int i = 0; i < NR_LRUVEC_STATS; i++)
				lruvec->flushed[i] += mem_cgroup_lruvec(child, nid)->flushed[i];
	}
}

void mem_cgroup_flush_stats(struct mm *mm, struct mem_cgroup *memcg)
{
	flush_subtree(mm, memcg);
}

/*
 * The kernel adds up what changes, and 65 updates of a CPU count as one step, of which there must be more
 * than CPUs. A page that comes is three updates (its charge, its file's page, its list), one that is
 * reclaimed five, an activation three for two moves: about three for each move on or off a list.
 */
#define UPDATES_A_STEP 65
#define UPDATES_A_MOVE 3

void mem_cgroup_flush_pending(struct mm *mm)
{
	uint64_t updates = 0;

	for (struct mem_cgroup *memcg = mm->root; memcg; memcg = mem_cgroup_next(mm->root, memcg))
		for (unsigned int nid = 0; nid < mm->nr_nodes; nid++)
			updates += mem_cgroup_lruvec(memcg, nid)->nr_updates;
	if (updates * UPDATES_A_MOVE / UPDATES_A_STEP > mm->config.nr_cpus)
		mem_cgroup_flush_stats(mm, mm->root);
}

bool lruvec_check(const struct lruvec *lruvec)
{
	for (int lru = 0; lru < NR_LRU_LISTS; lru++) {
		int64_t pages = 0;

		for (struct list_head *pos = lruvec->lists[lru].next; pos != &lruvec->lists[lru];
		     pos = pos->next) {
			struct folio *folio = list_entry(pos, struct folio, lru);

			if (!folio_test(folio, PG_lru) || folio->lruvec != lruvec ||
			    (int)folio_lru_list(folio) != lru)
				return false;
			pages += (int64_t)folio_nr_pages(folio);
		}
		if (pages != lruvec->lru_size[lru])
			return false;
	}
	return true;
}
