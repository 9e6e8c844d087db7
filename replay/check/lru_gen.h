/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of check's MGLRU side share.
 *
 *   lru_gen.c           reclaim calls: isolations, victims, ends
 *   lru_gen_metadata.c  what no event tells of a file system's metadata, drawn from what a scan did
 *   lru_gen_node.c      where reclaim from everybody is
 *   lru_gen_silent.c    kernels without isolate events
 *   lru_gen_command.c   commands to lru_gen in debugfs
 *   lru_gen_snapshot.c  lru_gen_full as it was read
 */
#ifndef REPLAY_CHECK_LRU_GEN_H
#define REPLAY_CHECK_LRU_GEN_H

#include "replay/check/parts.h"
#include "replay/mm/lru_gen.h"

/* ---- lru_gen.c */

/** lru_gen_bracket() - the reclaim call that the event's task is in; NULL: none. */
struct reclaim_bracket *lru_gen_bracket(struct check *check);

/** lru_gen_is_silent() - the kernel has no isolate events. */
bool lru_gen_is_silent(const struct check *check);

/**
 * lru_gen_next_scan() - the walk goes on to its next scan
 * @foreseen: of event_stream_next(), 0 where no isolation is at hand
 * Return: false: it ends.
 */
bool lru_gen_next_scan(struct check *check, struct reclaim_bracket *bracket, uint64_t foreseen);

/** lru_gen_scan() - the scan that bracket->applied says, by the core. */
void lru_gen_scan(struct check *check, struct reclaim_bracket *bracket);

/** lru_gen_scan_done() - its survivors go back, nobody knows which of them active. */
void lru_gen_scan_done(struct check *check, struct reclaim_bracket *bracket);

/** lru_gen_next_victim() - the first isolated folio that was neither evicted nor passed over; NULL: none. */
struct folio *lru_gen_next_victim(const struct check *check, const struct reclaim_bracket *bracket);

/** lru_gen_is_taken() - the bracket's scan has isolated the folio. */
bool lru_gen_is_taken(const struct reclaim_bracket *bracket, const struct folio *folio);

/** lru_gen_finish_walk() - what the walk still asks for before its end. Return: that is another scan. */
bool lru_gen_finish_walk(struct check *check, struct reclaim_bracket *bracket);

/* ---- lru_gen_metadata.c */

/** lru_gen_settle_metadata() - a scan comes: metadata among what it looks at gets the accesses it must have had. */
void lru_gen_settle_metadata(struct check *check, const struct scan_request *request,
			     uint64_t nr_scanned, uint64_t nr_taken);

/**
 * lru_gen_settle_victim() - a folio is evicted that was not isolated
 * If it is metadata, and other metadata was isolated in its place, the accesses were those of the other.
 */
void lru_gen_settle_victim(struct check *check, struct reclaim_bracket *bracket,
			   struct folio *folio);

/* ---- lru_gen_silent.c */

/** lru_gen_scan_up_to() - a victim shows that the scan that took it is past. */
void lru_gen_scan_up_to(struct check *check, struct reclaim_bracket *bracket,
			const struct folio *folio);

/** lru_gen_unscan() - isolated folios behind the last that was evicted were not: they go back to the old end. */
void lru_gen_unscan(struct check *check, struct list_head *taken);

/** lru_gen_finish_silently() - the tape shows the call's end. Return: the walk is not at its own. */
bool lru_gen_finish_silently(struct check *check, struct reclaim_bracket *bracket);

/** lru_gen_silent_ended() - a call has ended: if nobody else reclaims there, what nobody claimed was not isolated. */
void lru_gen_silent_ended(struct check *check, const struct reclaim_bracket *bracket);

#endif
