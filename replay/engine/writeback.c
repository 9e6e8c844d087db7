// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dirty folios and their writeback in a run. When a page is dirtied, sent to the disk and there is as
 * recorded; that reclaim cannot free it meanwhile, makes it active and has it rotated is the run's own.
 */
#include "replay/engine/state.h"

/* Where the tape does not tell writeback, or the policy has no rule for it, no folio is dirty. */
static bool follows_writeback(const struct replay *replay)
{
	const struct reclaim_policy *policy = replay->machine.mm.policy;

	return replay->world->writeback.seen && !policy->exact && !policy->generations;
}

void replay_folio_dirtied(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	uint64_t dev;
	uint32_t file;

	if (!follows_writeback(replay) || machine_dirtied(&replay->machine, replay->event) ||
	    !parse_bdi(tape_event_string(replay->event, WRITEBACK_DIRTY_FOLIO_NAME, NULL), &dev))
		return;
	/* A write to a page that the recorded kernel had: it comes alone, and shadows are ignored. */
	file = world_file(replay->world, dev, v[WRITEBACK_DIRTY_FOLIO_INO]);
	if (!page_cache_slot(&replay->machine.cache, file, v[WRITEBACK_DIRTY_FOLIO_INDEX]) &&
	    !page_cache_dropped(&replay->machine.cache, file, v[WRITEBACK_DIRTY_FOLIO_INDEX]))
		return; /* from before the tape */
	if (!replay_bring_in(replay, file, v[WRITEBACK_DIRTY_FOLIO_INDEX], 0, 0, true))
		return;
	replay_stimulus(replay, INFER_written_missing);
	machine_dirtied(&replay->machine, replay->event);
}

static void rotate(void *ctx, struct folio *folio)
{
	struct replay *replay = ctx;

	if (folio_test(folio, PG_lru) && !folio_test(folio, PG_locked | PG_unevictable))
		lru_batch_queue(&replay->machine.mm, replay_cpu(replay), BATCH_LRU_MOVE_TAIL,
				folio);
}

void replay_writeback(struct replay *replay)
{
	struct mm *mm = &replay->machine.mm;

	if (!follows_writeback(replay))
		return;
	/*
	 * The walk over dirty folios has come to its first release of some.
	 * Kernel: mm/swap.c, folio_batch_release(), v6.18.
	 */
	if (replay->world->writeback.written.nr && replay->world->writeback.first_of_walk)
		lru_add_drain(mm, replay_cpu(replay), DRAIN_release);
	machine_writeback(&replay->machine, rotate, replay);
}

void replay_written_unseen(struct replay *replay, uint32_t file, uint64_t index)
{
	struct folio *folio = page_cache_folio(&replay->machine.cache, file, index);

	if (!folio || !folio_test(folio, PG_dirty | PG_writeback))
		return;
	folio_clear(folio, PG_dirty | PG_writeback | PG_reclaim);
	replay_stimulus(replay, INFER_writeback_ended);
}
