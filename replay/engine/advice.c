// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an owner says of its anon pages, done to those that this run has in memory. That each page of a range is
 * named takes sys_enter_madvise, mlock and munlock on the tape, beside what world/anon.h needs.
 */
#include "replay/engine/state.h"

/*
 * Young bits go, and what was seen of it before.
 * Kernel: mm/madvise.c, madvise_cold_or_pageout_pte_range(), v6.18.
 * Differs: each page is taken for one that nobody else maps; a large folio is taken whole, never split.
 */
static void cool(struct folio *folio)
{
	folio_clear(folio, PG_referenced | FOLIO_young);
	if (folio_test(folio, PG_active))
		folio_set(folio, PG_workingset);
}

void replay_advised(struct replay *replay, const struct anon_step *step, bool first)
{
	struct mm *mm = &replay->machine.mm;
	unsigned int cpu = replay_cpu(replay);
	struct reclaim_hooks hooks = replay_hooks(replay);
	struct folio *folio;

	replay_stimulus(replay, NR_INFER_RULES);
	if (first)
		lru_add_drain(mm, cpu, DRAIN_advise);
	if (step->what == ANON_LOCKED)
		replay_touch_anon(replay, step->file,
				  step->index); /* brought in if it is in swap */
	folio = page_cache_folio(&replay->machine.cache, step->file, step->index);
	if (!folio || folio->index != step->index)
		return; /* in swap, or one of a large folio's pages */
	/* Unmapped by reclaim, and still there: the kernel finds a swap entry, and leaves it alone. */
	if (!folio_test(folio, FOLIO_mapped) && step->what != ANON_UNLOCKED) {
		if (step->what != ANON_LAZYFREE)
			return;
		replay_anon_slot_freed(replay, folio);
		machine_leave_page_cache(&replay->machine, folio);
		replay_zap_folio(replay, folio);
		return;
	}
	switch (step->what) {
	case ANON_COLD:
		cool(folio);
		folio_deactivate(mm, cpu, folio);
		break;
	case ANON_LAZYFREE:
		if (!folio_test(folio, PG_writeback))
			replay_anon_slot_freed(replay, folio);
		folio_clear(folio, FOLIO_young);
		folio_mark_lazyfree(mm, cpu, folio);
		break;
	case ANON_PAGEOUT:
		cool(folio);
		reclaim_folio(mm, cpu, folio, &hooks);
		break;
	case ANON_LOCKED:
		mlock_folio(mm, cpu, folio);
		break;
	case ANON_UNLOCKED:
		munlock_folio(mm, cpu, folio);
		break;
	default:
		break;
	}
}
