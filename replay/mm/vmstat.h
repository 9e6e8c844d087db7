/* SPDX-License-Identifier: GPL-2.0-only */
/* What is counted, by number: the result counters, the lock sites and the drain causes. */
#ifndef REPLAY_MM_VMSTAT_H
#define REPLAY_MM_VMSTAT_H

#include <stdint.h>

enum counter {
#define COUNTER(number, name, unit, meaning) COUNT_##name = number,
#include "schema/counters.def"
	NR_COUNTERS
};

enum lock_site {
#define LOCK_SITE(number, name, meaning) LOCK_##name = number,
#include "schema/lock_sites.def"
	NR_LOCK_SITES
};

enum drain_cause {
#define DRAIN_CAUSE(number, name, meaning) DRAIN_##name = number,
#include "schema/drain_causes.def"
	NR_DRAIN_CAUSES
};

/* One acquisition of a lruvec lock is a hold; folios is what was handled inside. */
struct lock_count {
	uint64_t holds;
	uint64_t folios;
};

/* The statistics that the kernel reads through lruvec_page_state(). */
enum lruvec_stat_item {
	NR_INACTIVE_ANON, /* these five in the order of enum lru_list */
	NR_ACTIVE_ANON,
	NR_INACTIVE_FILE,
	NR_ACTIVE_FILE,
	NR_UNEVICTABLE,
	WORKINGSET_ACTIVATE_ANON,
	WORKINGSET_ACTIVATE_FILE,
	NR_LRUVEC_STATS
};

#endif
