// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/kswapd.h"

#include "replay/mm/mm.h"

void kswapd_begin(struct reclaim_walk *walk, struct mm *mm, unsigned int highest)
{
	uint64_t limit = zones_pfn_limit(&mm->zones, highest);

	reclaim_walk_begin(walk, mm, NULL, zones_reclaim_goal(&mm->zones, highest), true);
	walk->sc.kswapd = true;
	walk->sc.reclaim_idx = (uint8_t)highest;
	walk->sc.pfn_limit = limit == UINT64_MAX ? 0 : limit;
}

void kswapd_boost(struct reclaim_walk *walk, uint64_t pages)
{
	struct scan_control *sc = &walk->sc;

	walk->mm->zones.boost_pages = pages;
	sc->boost_left = zones_balanced(&walk->mm->zones, sc->reclaim_idx) ? pages : 0;
	sc->boosted = sc->boost_left;
}

/* Pages came free in a round, and some zone may be balanced now. Return: there is nothing left to do. */
static bool boost_worked_off(struct scan_control *sc, uint64_t reclaimed, bool is_balanced)
{
	sc->boost_left -= reclaimed < sc->boost_left ? reclaimed : sc->boost_left;
	if (!is_balanced)
		sc->boost_left = 0;
	sc->boosted = sc->boost_left;
	return !sc->boost_left && is_balanced;
}

bool kswapd_next_round(struct reclaim_walk *walk)
{
	struct scan_control *sc = &walk->sc;
	uint64_t reclaimed = sc->nr_reclaimed - walk->round_reclaimed;
	uint64_t progress = reclaimed > sc->nr_scanned &&
					    !walk->mm->config.rules.kswapd_scans_only ?
				    reclaimed :
				    sc->nr_scanned;

	if ((progress < sc->nr_to_reclaim && !(sc->boosted && sc->priority == DEF_PRIORITY - 2)) ||
	    !reclaimed)
		sc->priority--;
	if (sc->priority < 1)
		return false;
	if (walk->mm->config.hold_drains)
		return true;
	return !boost_worked_off(sc, reclaimed, zones_balanced(&walk->mm->zones, sc->reclaim_idx));
}
