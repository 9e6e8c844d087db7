/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.min and memory.low: how much of a memcg's usage reclaim from above has to leave alone.
 *
 * What a memcg asks for binds only as far as its parent is protected itself: children that ask for
 * more than the parent has share it by what they claim. With the mount option memory_recursiveprot
 * a parent's unclaimed rest goes to its children by their unprotected usage.
 */
#ifndef REPLAY_MM_PROTECTION_H
#define REPLAY_MM_PROTECTION_H

#include <stdbool.h>
#include <stdint.h>

struct mem_cgroup;
struct mm;

/* What a memcg's protection says of a reclaim walk that comes to it. */
enum protection {
	PROTECTION_NONE,
	PROTECTION_LOW, /* all of its usage is protected by memory.low */
	PROTECTION_MIN, /* and by memory.min */
};

/**
 * protection_effective() - what of one memcg's memory.min or memory.low takes effect
 * @usage, @parent_usage: pages
 * @setting: of the memcg, pages
 * @parent_effective: the parent's own effective protection, pages
 * @siblings_protected: sum of min(usage, setting) over the parent's children, this one included
 * @recursive: memory_recursiveprot
 * Return: pages.
 * Kernel: mm/page_counter.c, effective_protection(), v6.18; mm/memcontrol.c, v6.1.
 */
uint64_t protection_effective(uint64_t usage, uint64_t parent_usage, uint64_t setting,
			      uint64_t parent_effective, uint64_t siblings_protected,
			      bool recursive);

/**
 * protection_calculate() - bring a memcg's effective protection up to date
 * @top: target of the reclaim, or root; its own protection counts as none
 * The parent's must be: a walk from the top does it in order.
 * Kernel: mm/memcontrol.c, mem_cgroup_calculate_protection(), v6.18.
 */
void protection_calculate(const struct mm *mm, const struct mem_cgroup *top,
			  struct mem_cgroup *memcg);

/**
 * protection_of() - whether a walk passes the memcg over
 * Kernel: include/linux/memcontrol.h, mem_cgroup_below_min(), mem_cgroup_below_low(), v6.18.
 */
enum protection protection_of(const struct mem_cgroup *top, const struct mem_cgroup *memcg);

/**
 * protection_scale() - how much of a list is scanned where part of the memcg is protected
 * @size: pages of the list
 * @protected: effective min or low, whichever counts
 * Return: pages, at least SWAP_CLUSTER_MAX.
 * Kernel: mm/vmscan.c, get_scan_count(), v6.18.
 */
uint64_t protection_scale(const struct mem_cgroup *memcg, uint64_t size, uint64_t protected);

#endif
