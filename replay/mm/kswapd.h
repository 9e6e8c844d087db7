/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kswapd: rounds over all memcgs until a zone that the waker could use is above its high mark.
 *
 *   wake -> round at priority 12 -> balanced? -> round at 12, or 11 -> balanced? -> ...  -> sleep
 *
 * A round that looked at fewer pages than the zones' high marks, or freed none, raises the priority.
 */
#ifndef REPLAY_MM_KSWAPD_H
#define REPLAY_MM_KSWAPD_H

#include "replay/mm/scan_control.h"

/**
 * kswapd_begin() - kswapd was woken: a walk that reclaim_walk_next() goes through
 * @highest: highest zone that its waker could have used
 * Kernel: mm/vmscan.c, balance_pgdat(), v6.18.
 * Differs: watermarks are boosted only where the tape shows it, no soft limits.
 */
void kswapd_begin(struct reclaim_walk *walk, struct mm *mm, unsigned int highest);

/**
 * kswapd_boost() - the highest zone's watermarks are boosted by so many pages: to be freed whatever is free
 * Where no zone is above its high mark, boost included, the boost sets the mark only.
 * Kernel: mm/vmscan.c, balance_pgdat(), v6.18.
 */
void kswapd_boost(struct reclaim_walk *walk, uint64_t pages);

/**
 * kswapd_next_round() - a round is over: sets the next one's priority
 * With mm_config.hold_drains free pages are not known, and only the priority ends the walk.
 * Return: there is another.
 */
bool kswapd_next_round(struct reclaim_walk *walk);

/** kswapd_may_sleep() - the walk stands between two rounds, where kswapd looks at the watermarks. */
static inline bool kswapd_may_sleep(const struct reclaim_walk *walk, bool has_request)
{
	return walk->sc.kswapd && (!has_request || walk->nr_asked == 1);
}

#endif
