// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/parts.h"

#include <inttypes.h>

/*
 * The tape has no addresses, and so no shrinker's name. That of shadow nodes is the one whose objects
 * take no seek to make anew: it adds half of what it has to scan, at any priority. Others add a
 * share by priority, which can be a half only at the last few.
 */
static bool is_shadow_shrinker(const uint64_t *v)
{
	return v[MM_SHRINK_SLAB_START_CACHE_ITEMS] > 1 &&
	       v[MM_SHRINK_SLAB_START_DELTA] == v[MM_SHRINK_SLAB_START_CACHE_ITEMS] / 2 &&
	       v[MM_SHRINK_SLAB_START_PRIORITY] > 3;
}

/*
 * The recorded number is what happens: the difference is in the memcg's size at the last flush, of
 * which the part that is on no list is known only roughly.
 */
static void follow_size(struct mem_cgroup *memcg, uint64_t predicted, uint64_t recorded)
{
	memcg->lruvec[0].flushed_own_pages += ((int64_t)predicted - (int64_t)recorded) *
					      (1 << (PAGE_CACHE_NODE_SHIFT - 3));
}

void check_slab_shrunk(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	struct shadow_call *last = &check->machine.cache.shadow_nodes.last;

	/* In a tree each memcg has a call of its own, and the event does not say whose it is. */
	if (!bracket || !bracket->predicted || !bracket->target || bracket->target->first_child ||
	    !is_shadow_shrinker(v))
		return;
	if (last->freeable == v[MM_SHRINK_SLAB_START_CACHE_ITEMS] &&
	    last->deferred == v[MM_SHRINK_SLAB_START_NR_OBJECTS_TO_SHRINK] &&
	    (uint64_t)last->priority == v[MM_SHRINK_SLAB_START_PRIORITY])
		check_equal(check, bracket->target, CHECK_shadow_nodes);
	else
		check_unequal(check, bracket->target, CHECK_shadow_nodes,
			      "%" PRIu64 " nodes, %" PRIu64 " put off|%" PRIu64 " nodes, %" PRIu64
			      " put off",
			      last->freeable, last->deferred, v[MM_SHRINK_SLAB_START_CACHE_ITEMS],
			      v[MM_SHRINK_SLAB_START_NR_OBJECTS_TO_SHRINK]);
	follow_size(bracket->target, last->freeable, v[MM_SHRINK_SLAB_START_CACHE_ITEMS]);
	last->freeable = 0;
}
