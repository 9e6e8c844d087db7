// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine/state.h"

static bool has_counts(const struct lruvec *lruvec)
{
	for (int c = 1; c < NR_COUNTERS; c++)
		if (lruvec->counter[c] && c != COUNT_resident_max)
			return true;
	for (int s = 1; s < NR_LOCK_SITES; s++)
		if (lruvec->lock[s].holds || lruvec->lock[s].folios)
			return true;
	return false;
}

static void memcg_counts(const struct mem_cgroup *memcg, const struct replay_sink *sink)
{
	const struct lruvec *lruvec = &memcg->lruvec[0];

	if (!has_counts(lruvec))
		return;
	for (int c = 1; c < NR_COUNTERS; c++)
		sink->counter(sink->ctx, memcg->id, (enum counter)c, lruvec->counter[c]);
	for (int s = 1; sink->lock && s < NR_LOCK_SITES; s++)
		if (lruvec->lock[s].holds || lruvec->lock[s].folios)
			sink->lock(sink->ctx, memcg->id, (enum lock_site)s, lruvec->lock[s].holds,
				   lruvec->lock[s].folios);
}

void replay_counts(const struct replay *replay, const struct replay_sink *sink)
{
	const struct mm *mm = &replay->machine.mm;

	for (unsigned int n = 0; n < mm->nr_memcgs; n++)
		memcg_counts(mm->memcg[n], sink);
	for (int which = 0; sink->drain && which < NR_LRU_BATCHES; which++)
		for (int cause = 1; cause < NR_DRAIN_CAUSES; cause++)
			if (mm->drain[which][cause].drains)
				sink->drain(sink->ctx, lru_batch_name((enum lru_batch)which),
					    (enum drain_cause)cause, mm->drain[which][cause].drains,
					    mm->drain[which][cause].folios);
}
