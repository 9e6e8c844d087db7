// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/protection.h"

#include "replay/mm/mm.h"

#define SWAP_CLUSTER 32 /* SWAP_CLUSTER_MAX */

static uint64_t usage_of(const struct mem_cgroup *memcg)
{
	return memcg->usage_pages > 0 ? (uint64_t)memcg->usage_pages : 0;
}

uint64_t protection_effective(uint64_t usage, uint64_t parent_usage, uint64_t setting,
			      uint64_t parent_effective, uint64_t siblings_protected,
			      bool recursive)
{
	uint64_t protected = usage < setting ? usage : setting;

	if (siblings_protected > parent_effective)
		return pages_part(protected, parent_effective, siblings_protected);
	if (recursive && parent_effective > siblings_protected &&
	    parent_usage > siblings_protected && usage > protected)
		return protected + pages_part(parent_effective - siblings_protected,
					      usage - protected, parent_usage - siblings_protected);
	return protected;
}

void protection_calculate(const struct mm *mm, const struct mem_cgroup *top,
			  struct mem_cgroup *memcg)
{
	const struct mem_cgroup *parent = memcg->parent;
	uint64_t usage = usage_of(memcg), min = 0, low = 0;

	if (memcg == top || !parent || !usage)
		return;
	if (parent == top) {
		memcg->emin_pages = memcg->min_pages;
		memcg->elow_pages = memcg->low_pages;
		return;
	}
	for (const struct mem_cgroup *child = parent->first_child; child;
	     child = child->next_sibling) {
		uint64_t used = usage_of(child);

		min += used < child->min_pages ? used : child->min_pages;
		low += used < child->low_pages ? used : child->low_pages;
	}
	memcg->emin_pages = protection_effective(usage, usage_of(parent), memcg->min_pages,
						 parent->emin_pages, min,
						 mm->config.recursive_protection);
	memcg->elow_pages = protection_effective(usage, usage_of(parent), memcg->low_pages,
						 parent->elow_pages, low,
						 mm->config.recursive_protection);
}

enum protection protection_of(const struct mem_cgroup *top, const struct mem_cgroup *memcg)
{
	if (memcg == top || !memcg->parent)
		return PROTECTION_NONE;
	if (memcg->emin_pages >= usage_of(memcg))
		return PROTECTION_MIN;
	if (memcg->elow_pages >= usage_of(memcg))
		return PROTECTION_LOW;
	return PROTECTION_NONE;
}

uint64_t protection_scale(const struct mem_cgroup *memcg, uint64_t size, uint64_t protected)
{
	uint64_t usage = usage_of(memcg), scan;

	/* Usage may have gone below what is protected since the walk looked. */
	usage = usage > protected ? usage : protected;
	scan = size - pages_part(size, protected, usage + 1);
	return scan > SWAP_CLUSTER ? scan : SWAP_CLUSTER;
}
