/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine as far as reclaim sees it: one memmap, one memcg tree, per-CPU batches, one policy.
 * A run owns one; nothing here is global, so any number of runs live side by side.
 */
#ifndef REPLAY_MM_MM_H
#define REPLAY_MM_MM_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/batches.h"
#include "replay/mm/folio.h"
#include "replay/mm/lru_add.h"
#include "replay/mm/lruvec.h"
#include "replay/mm/memcg_lru.h"
#include "replay/mm/rules.h"
#include "replay/mm/zones.h"

struct page_cache;
struct reclaim_policy;

#define MM_NODE_LIMIT 64
#define MM_CPU_LIMIT 4096
#define MEMCG_INDEX_LIMIT 65535 /* a shadow entry holds 16 bits of it */
#define MEMCG_DEPTH_LIMIT 64
#define MAX_NR_ZONES 4 /* DMA, DMA32, Normal, Movable */

struct mm_config {
	const struct reclaim_policy *policy;
	struct mm_rules rules;
	unsigned int nr_nodes;
	unsigned int nr_cpus;
	bool cgroup_v1; /* the memory controller's hierarchy: swappiness per memcg, swap is global */
	uint8_t swappiness; /* /proc/sys/vm/swappiness */
	int64_t total_swap_pages; /* of all swap areas */
	int64_t nr_swap_pages; /* free ones */
	bool flushes_unseen; /* nobody will say when statistics are flushed */
	bool hold_drains; /* check: batches move only when the tape says so */
	/* First page frame of each zone, UINT64_MAX: there is none. All 0: one zone, the highest. */
	uint64_t zone_start_pfn[MAX_NR_ZONES];
	uint64_t min_ttl_ns; /* MGLRU: younger generations are worth a kill; 0: no */
	bool recursive_protection; /* cgroup2 mounted with memory_recursiveprot */
};

struct mm {
	struct mm_config config;
	const struct reclaim_policy *policy; /* config.policy */
	unsigned int nr_nodes;
	struct zones zones; /* of node 0; none if the tape does not say */
	uint64_t now_ns; /* trace clock */
	/* MGLRU: when first a lruvec with mapped folios was aged, so that page tables should have been walked; 0: never. */
	uint64_t walks_from_ns;
	struct memmap memmap;
	struct mem_cgroup *root;
	struct mem_cgroup **memcg; /* by index */
	unsigned int nr_memcgs;
	struct memcg_lru memcg_lru; /* MGLRU: of node 0 */
	struct lru_cpu *cpu; /* by number */
	struct page_cache *page_cache; /* whose shadows reclaim may drop; NULL: none. Not owned */
	struct drain_count drain[NR_LRU_BATCHES][NR_DRAIN_CAUSES];
	int64_t batch_pages; /* waiting in batches now */
	int64_t batch_pages_max;
	struct lru_add lru_add; /* what the step onto a list works with */
	struct lru_add_log *lru_add_log; /* of all adds, NULL: none is kept */
	bool out_of_memory; /* the replay's own memory: the run's rows are worth nothing */
};

/**
 * mm_init() - a machine with nothing but a root memcg
 * @mm: filled; ends with mm_exit()
 * @config: copied
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result)) mm_init(struct mm *mm, const struct mm_config *config);

/** mm_exit() - free everything. */
void mm_exit(struct mm *mm);

/**
 * mm_add_memcg() - a new memcg
 * @parent: NULL for the root's child
 * @id: inode of its directory
 * Return: owned by @mm; NULL without memory, or past MEMCG_INDEX_LIMIT or MEMCG_DEPTH_LIMIT.
 */
struct mem_cgroup *mm_add_memcg(struct mm *mm, struct mem_cgroup *parent, uint64_t id);

/** mm_memcg_removed() - its directory is gone; it lives on as long as it is charged. */
void mm_memcg_removed(struct mm *mm, struct mem_cgroup *memcg);

/**
 * mm_folio_born() - a page frame becomes a folio that is charged and on no list yet
 * @pfn: first page frame
 * @memcg: who pays
 * @order: log2 of base pages
 *
 * The frame must not be alive: see mm_folio_forget().
 * Return: the folio with FOLIO_alive only; NULL if pfn is out of range or memory is out.
 */
struct folio *mm_folio_born(struct mm *mm, uint64_t pfn, struct mem_cgroup *memcg, uint8_t order);

/** mm_folio_take_off() - a folio leaves its list, or reclaim's, and all batches; its flags and charge stay. */
void mm_folio_take_off(struct mm *mm, struct folio *folio);

/** mm_folio_forget() - a folio is gone, wherever it was; nothing is counted but its charge. */
void mm_folio_forget(struct mm *mm, struct folio *folio);

/**
 * mm_folios_put() - the last reference of some folios goes, as one folio batch of the kernel
 * @folio: alive ones, off the page cache; not kept
 * @nr: at most the rules' folio_batch_size, with release_pages a whole bundle of mmu_gather's
 *
 * A folio that waits in a batch dies at that batch's drain.
 * Kernel: mm/swap.c, folios_put_refs(), v6.18; release_pages(), v5.6.
 */
void mm_folios_put(struct mm *mm, struct folio **folio, unsigned int nr);

/**
 * mm_folio_move() - give a folio another descriptor, as if it lay in another frame
 * @folio: alive
 * @pfn: of a frame that is not alive; its descriptor takes the folio's place on lists and in batches
 * Return: the folio under its new address; NULL without memory, then nothing has changed.
 */
struct folio *mm_folio_move(struct mm *mm, struct folio *folio, uint64_t pfn);

/**
 * mm_folio_split() - a large folio becomes single pages
 * @folio: on a list, or off with FOLIO_isolated; in no batch
 * The others take their places beside it: behind it, the last page first, as who goes from the tail finds them.
 * They have its flags; file and index are the caller's.
 * Kernel: mm/huge_memory.c, split_huge_page_to_list_to_order(), v6.18.
 * Differs: to single pages only, as for swap.
 * Return: false without memory, or if one of its frames is somebody else's: nothing has changed.
 */
bool mm_folio_split(struct mm *mm, struct folio *folio);

/** mm_same_lru_lock() - two lruvecs, of which the first may be NULL, are guarded by one lock. */
static inline bool mm_same_lru_lock(const struct mm *mm, const struct lruvec *a,
				    const struct lruvec *b)
{
	return a == b || (a && mm->config.rules.node_lru_lock && a->nid == b->nid);
}

/** mm_stats_use() - the lruvec's statistics are about to be read: flushed first, if the rules say so. */
static inline void mm_stats_use(struct mm *mm, struct lruvec *lruvec)
{
	if (__builtin_expect(mm->config.rules.exact_stats, 0))
		mem_cgroup_flush_stats(mm, lruvec->memcg);
}

/** mm_folio_zone() - the zone that its frame lies in: the one that begins last at or below it. */
static inline uint8_t mm_folio_zone(const struct mm *mm, const struct folio *folio)
{
	uint8_t zone = 0;

	for (uint8_t z = 1; z < MAX_NR_ZONES; z++)
		if (folio->pfn >= mm->config.zone_start_pfn[z] &&
		    mm->config.zone_start_pfn[z] >= mm->config.zone_start_pfn[zone])
			zone = z;
	return zone;
}

/** mm_charge() - add pages (or take them, if negative) to a memcg and its ancestors. */
void mm_charge(struct mem_cgroup *memcg, int64_t pages);

/** mm_charge_swap() - slots of swap are taken (or given back, if negative) for a memcg and its ancestors. */
void mm_charge_swap(struct mm *mm, struct mem_cgroup *memcg, int64_t pages);

/** mm_charge_swapped() - pages of a memcg are in swap and not in memory any more; negative: they come back, or go. */
void mm_charge_swapped(struct mem_cgroup *memcg, int64_t pages);

/**
 * mm_over_limit() - where a charge does not fit
 * @lacking: set to the pages that it lacks there
 * @memsw: set: memory and swap together are at their limit, so that swapping out would not help
 * Kernel: mm/memcontrol.c, try_charge_memcg(), v6.18.
 * Return: the lowest memcg, from this one up, that has no room; NULL: all have.
 */
struct mem_cgroup *mm_over_limit(struct mem_cgroup *memcg, int64_t pages, int64_t *lacking,
				 bool *memsw);

/**
 * mm_swap_full() - swap is so full that what is in memory again gives its slot back
 * Kernel: mm/memcontrol.c, mem_cgroup_swap_full(), v6.18.
 * Differs: memory.swap.high is left out.
 */
bool mm_swap_full(const struct mm *mm, const struct mem_cgroup *memcg);

/** mm_swap_left() - swap pages a memcg may still use. Kernel: mm/memcontrol.c, mem_cgroup_get_nr_swap_pages(). */
int64_t mm_swap_left(const struct mm *mm, const struct mem_cgroup *memcg);

#endif
