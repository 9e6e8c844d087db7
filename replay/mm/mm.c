// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/mm.h"

#include <stdlib.h>
#include <string.h>

#include "replay/policy/policy.h"

#define RELEASE_PAGES_HOLD 32 /* SWAP_CLUSTER_MAX entries: mm/swap.c, release_pages(), v5.6 */

static void free_memcg(struct mm *mm, struct mem_cgroup *memcg)
{
	if (memcg->lruvec)
		for (unsigned int nid = 0; nid < mm->nr_nodes; nid++)
			free(memcg->lruvec[nid].private);
	free(memcg->lruvec);
	free(memcg);
}

static struct mem_cgroup *new_memcg(struct mm *mm, uint64_t id)
{
	size_t private_bytes = mm->policy->lruvec_private_bytes;
	struct mem_cgroup *memcg = calloc(1, sizeof(*memcg));

	if (!memcg)
		return NULL;
	memcg->lruvec = calloc(mm->nr_nodes, sizeof(*memcg->lruvec));
	if (!memcg->lruvec)
		goto err_free;
	for (unsigned int nid = 0; nid < mm->nr_nodes; nid++) {
		lruvec_init(&memcg->lruvec[nid], memcg, nid);
		if (private_bytes) {
			memcg->lruvec[nid].private = calloc(1, private_bytes);
			if (!memcg->lruvec[nid].private)
				goto err_free;
		}
		if (mm->policy->init && mm->policy->init(mm, &memcg->lruvec[nid]))
			goto err_free;
	}
	memcg->id = id;
	memcg->online = true;
	memcg->swappiness = mm->config.swappiness;
	memcg->max_pages = memcg->high_pages = MEMCG_UNLIMITED;
	memcg->swap_max_pages = memcg->memsw_max_pages = MEMCG_UNLIMITED;
	memcg->index = (uint16_t)mm->nr_memcgs;
	mm->memcg[mm->nr_memcgs++] = memcg;
	if (mm->policy->online_changed)
		mm->policy->online_changed(mm, memcg);
	return memcg;

err_free:
	free_memcg(mm, memcg);
	return NULL;
}

int mm_init(struct mm *mm, const struct mm_config *config)
{
	memset(mm, 0, sizeof(*mm));
	assert(config->nr_nodes && config->nr_nodes <= MM_NODE_LIMIT);
	assert(config->nr_cpus && config->nr_cpus <= MM_CPU_LIMIT);
	mm->config = *config;
	mm->policy = config->policy;
	mm->nr_nodes = config->nr_nodes;
	lru_add_init(&mm->lru_add, &config->rules);
	memcg_lru_init(&mm->memcg_lru, MEMCG_LRU_SEED);
	mm->memcg = calloc(MEMCG_INDEX_LIMIT, sizeof(struct mem_cgroup *));
	mm->cpu = calloc(config->nr_cpus, sizeof(struct lru_cpu));
	if (!mm->memcg || !mm->cpu || memmap_init(&mm->memmap))
		goto err_exit;
	mm->root = new_memcg(mm, 1);
	if (!mm->root)
		goto err_exit;
	return 0;

err_exit:
	mm_exit(mm);
	return -1;
}

void mm_exit(struct mm *mm)
{
	for (unsigned int i = 0; i < mm->nr_memcgs; i++)
		free_memcg(mm, mm->memcg[i]);
	free(mm->memcg);
	free(mm->cpu);
	lru_add_log_close(mm->lru_add_log);
	memmap_exit(&mm->memmap);
	memset(mm, 0, sizeof(*mm));
}

struct mem_cgroup *mm_add_memcg(struct mm *mm, struct mem_cgroup *parent, uint64_t id)
{
	struct mem_cgroup *memcg, **link;
	unsigned int depth = 0;

	if (!parent)
		parent = mm->root;
	for (struct mem_cgroup *up = parent; up; up = up->parent)
		depth++;
	if (mm->nr_memcgs == MEMCG_INDEX_LIMIT || depth > MEMCG_DEPTH_LIMIT)
		return NULL;
	memcg = new_memcg(mm, id);
	if (!memcg)
		return NULL;
	memcg->parent = parent;
	memcg->swappiness = parent->swappiness;
	for (link = &parent->first_child; *link; link = &(*link)->next_sibling)
		;
	*link = memcg;
	return memcg;
}

void mm_memcg_removed(struct mm *mm, struct mem_cgroup *memcg)
{
	memcg->online = false;
	if (mm->policy->online_changed)
		mm->policy->online_changed(mm, memcg);
}

void mm_charge(struct mem_cgroup *memcg, int64_t pages)
{
	for (; memcg; memcg = memcg->parent)
		memcg->usage_pages += pages;
}

void mm_charge_swap(struct mm *mm, struct mem_cgroup *memcg, int64_t pages)
{
	mm->config.nr_swap_pages -= pages;
	for (; memcg; memcg = memcg->parent)
		memcg->swap_pages += pages;
}

void mm_charge_swapped(struct mem_cgroup *memcg, int64_t pages)
{
	for (; memcg; memcg = memcg->parent)
		memcg->swapped_pages += pages;
}

struct mem_cgroup *mm_over_limit(struct mem_cgroup *memcg, int64_t pages, int64_t *lacking,
				 bool *memsw)
{
	for (struct mem_cgroup *up = memcg; up; up = up->parent) {
		*lacking = up->usage_pages + up->swapped_pages + pages - up->memsw_max_pages;
		*memsw = up->memsw_max_pages != MEMCG_UNLIMITED && *lacking > 0;
		if (*memsw)
			return up;
	}
	for (; memcg; memcg = memcg->parent) {
		*lacking = memcg->usage_pages + pages - memcg->max_pages;
		if (memcg->max_pages != MEMCG_UNLIMITED && *lacking > 0)
			return memcg;
	}
	return NULL;
}

bool mm_swap_full(const struct mm *mm, const struct mem_cgroup *memcg)
{
	if (mm->config.nr_swap_pages * 2 < mm->config.total_swap_pages)
		return true;
	for (; memcg && !mm->config.cgroup_v1; memcg = memcg->parent)
		if (memcg->swap_max_pages != MEMCG_UNLIMITED &&
		    memcg->swap_pages * 2 >= memcg->swap_max_pages)
			return true;
	return false;
}

int64_t mm_swap_left(const struct mm *mm, const struct mem_cgroup *memcg)
{
	int64_t left = mm->config.nr_swap_pages;

	for (; memcg && !mm->config.cgroup_v1; memcg = memcg->parent)
		if (memcg->swap_max_pages != MEMCG_UNLIMITED &&
		    memcg->swap_max_pages - memcg->swap_pages < left)
			left = memcg->swap_max_pages - memcg->swap_pages;
	return left;
}

/*
 * The zone that a new folio's pages come from. Check knows the frames; in a run frames are names only, and
 * the zone is the one that the allocator would choose.
 */
static unsigned int zone_of_new(const struct mm *mm, uint64_t pfn, uint64_t nr_pages)
{
	unsigned int highest = zones_highest(&mm->zones);
	int zone;

	if (mm->config.hold_drains)
		return zones_of_pfn(&mm->zones, pfn);
	zone = zones_choose(&mm->zones, WMARK_LOW, mm->zones.nr - 1, nr_pages);
	if (zone < 0)
		zone = zones_choose(&mm->zones, WMARK_MIN, mm->zones.nr - 1, nr_pages);
	return zone < 0 ? highest : (unsigned int)zone;
}

static void zone_take(struct mm *mm, struct folio *folio)
{
	unsigned int zone = zone_of_new(mm, folio->pfn, folio_nr_pages(folio));

	folio_set(folio, zone << FOLIO_ZONE_SHIFT);
	mm->zones.zone[zone].free_pages -= (int64_t)folio_nr_pages(folio);
}

static void zone_give(struct mm *mm, const struct folio *folio)
{
	mm->zones.zone[(folio->flags & FOLIO_zone) >> FOLIO_ZONE_SHIFT].free_pages +=
		(int64_t)folio_nr_pages(folio);
}

struct folio *mm_folio_born(struct mm *mm, uint64_t pfn, struct mem_cgroup *memcg, uint8_t order)
{
	struct folio *folio = memmap_folio(&mm->memmap, pfn);

	if (!folio) {
		if (pfn < MEMMAP_PFN_LIMIT)
			mm->out_of_memory = true;
		return NULL;
	}
	assert(!folio_test(folio, FOLIO_alive));
	folio->flags = FOLIO_alive;
	folio->order = order;
	folio->file = 0;
	folio->index = 0;
	folio->private[0] = folio->private[1] = 0;
	folio->lruvec = mem_cgroup_lruvec(memcg, 0);
	if (mm->zones.nr)
		zone_take(mm, folio);
	mm_charge(memcg, (int64_t)folio_nr_pages(folio));
	if ((uint64_t)memcg->usage_pages > folio->lruvec->counter[COUNT_resident_max] &&
	    memcg->usage_pages > 0)
		folio->lruvec->counter[COUNT_resident_max] = (uint64_t)memcg->usage_pages;
	return folio;
}

void mm_folio_take_off(struct mm *mm, struct folio *folio)
{
	for (int which = 0; folio->nr_batches && which < NR_LRU_BATCHES; which++)
		for (unsigned int cpu = 0; folio->nr_batches && cpu < mm->config.nr_cpus; cpu++)
			while (lru_batch_remove(mm, cpu, (enum lru_batch)which, folio) >= 0)
				;
	if (folio_test(folio, PG_lru))
		mm->policy->folio_removed(mm, folio->lruvec, folio);
	else if (folio_test(folio, FOLIO_isolated))
		list_del(&folio->lru); /* off reclaim's own list */
}

void mm_folio_forget(struct mm *mm, struct folio *folio)
{
	if (!folio_test(folio, FOLIO_alive))
		return;
	mm_folio_take_off(mm, folio);
	mm_charge(folio->lruvec->memcg, -(int64_t)folio_nr_pages(folio));
	if (mm->zones.nr)
		zone_give(mm, folio);
	folio->flags = 0;
	memmap_give_dense(&mm->memmap, folio);
}

struct folio *mm_folio_move(struct mm *mm, struct folio *folio, uint64_t pfn)
{
	struct folio *to = memmap_folio(&mm->memmap, pfn);
	unsigned int left = folio->nr_batches;

	if (!to) {
		mm->out_of_memory = true;
		return NULL;
	}
	assert(!folio_test(to, FOLIO_alive));
	*to = *folio;
	to->pfn = (uint32_t)pfn;
	list_init(&to->lru);
	if (!list_empty(&folio->lru)) {
		list_add(&to->lru, &folio->lru);
		list_del(&folio->lru);
	}
	for (int which = 0; left && which < NR_LRU_BATCHES; which++)
		for (unsigned int cpu = 0; left && cpu < mm->config.nr_cpus; cpu++) {
			struct folio_batch *batch = &mm->cpu[cpu].batch[which];

			for (unsigned int i = 0; i < batch->nr; i++) {
				left -= batch->folio[i] == folio;
				if (batch->folio[i] == folio)
					batch->folio[i] = to;
			}
		}
	folio->flags = 0;
	folio->nr_batches = 0;
	memmap_give_dense(&mm->memmap, folio);
	return to;
}

void mm_folios_put(struct mm *mm, struct folio **folio, unsigned int nr)
{
	const bool old = mm->config.rules.release_pages;
	struct lruvec *locked = NULL;
	unsigned int in_hold = 0; /* entries since the lock was taken */

	for (unsigned int i = 0; i < nr; i++) {
		if (old && locked && ++in_hold == RELEASE_PAGES_HOLD)
			locked = NULL;
		if (folio[i]->nr_batches) {
			folio_set(folio[i], FOLIO_dead);
			continue;
		}
		if (old && folio[i]->order)
			locked = NULL;
		if (folio_test(folio[i], PG_lru)) {
			if (!mm_same_lru_lock(mm, locked, folio[i]->lruvec)) {
				lruvec_lock(folio[i]->lruvec, LOCK_folios_put, 0);
				in_hold = 0;
			}
			locked = folio[i]->lruvec;
			locked->lock[LOCK_folios_put].folios++;
		}
		if (old && folio[i]->order)
			locked = NULL; /* a large folio's destructor locks for it alone */
		mm_folio_forget(mm, folio[i]);
	}
}

bool mm_folio_split(struct mm *mm, struct folio *folio)
{
	uint64_t nr = folio_nr_pages(folio);
	struct list_head *place = &folio->lru;
	bool on_list = folio_test(folio, PG_lru);

	if (!folio->order || folio->nr_batches || !folio_test(folio, PG_lru | FOLIO_isolated))
		return false;
	for (uint64_t i = 1; i < nr; i++) {
		const struct folio *tail = memmap_folio(&mm->memmap, folio->pfn + i);

		if (!tail || folio_test(tail, FOLIO_alive))
			return false;
	}
	/* Charges and zones: as if it had been a single page, and the others came now. */
	mm_charge(folio->lruvec->memcg, 1 - (int64_t)nr);
	if (mm->zones.nr) {
		zone_give(mm, folio);
		folio->order = 0;
		mm->zones.zone[(folio->flags & FOLIO_zone) >> FOLIO_ZONE_SHIFT].free_pages--;
	}
	folio->order = 0;
	for (uint64_t i = nr - 1; i > 0; i--) {
		struct folio *tail = mm_folio_born(mm, folio->pfn + i, folio->lruvec->memcg, 0);

		tail->flags |= folio->flags & ~(uint32_t)FOLIO_zone;
		/* Older ones lie on the side of a list's prev, of those taken from it on that of next. */
		if (on_list)
			list_add_tail(&tail->lru, place);
		else
			list_add(&tail->lru, place);
		place = &tail->lru;
	}
	return true;
}
