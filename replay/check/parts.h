/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of check, and what each does for the others.
 *
 *   check.c    the loop: each event to its place
 *   folios.c   folios come and go, are mapped and dirtied
 *   lru.c      insertion, access, activation
 *   readahead.c  windows
 *   reclaim.c  reclaim calls and what they isolate
 *   place.c    where a reclaim call is, when it is not where it was expected
 *   victims.c  which isolated folios are evicted, and where the others go
 *   shadows.c  which shadows reclaim drops
 *   lru_gen*.c the same two of a kernel that runs MGLRU: lru_gen.h
 *   putback.c  where the others go, on a tape that tells
 *   survivors.c  and on one that does not
 *   page_tables.c  who has mapped what, and which of an active list's folios stay there
 *   ahead.c    when a frame is seen next to be inactive
 *   probe.c    what a probe on folio_referenced() told of isolated folios
 *   verdicts.c what the others' ways say of page tables
 *   swap.c     folios written to swap, rotated when that ends, and read from there
 *   split.c    large folios that were split
 *   advice.c   folios that their owner says something of: madvise, mlock
 *   tally.c    counting what is equal, and telling what is not
 */
#ifndef REPLAY_CHECK_PARTS_H
#define REPLAY_CHECK_PARTS_H

#include "replay/check/state.h"

/* ---- tally.c */

/** check_equal() - a decision of the memcg came out as predicted. */
void check_equal(struct check *check, const struct mem_cgroup *memcg, enum check_decision decision);

/** check_unequal() - it did not. @format: of both sides in words, "predicted|recorded". */
void __attribute__((format(printf, 4, 5)))
check_unequal(struct check *check, const struct mem_cgroup *memcg, enum check_decision decision,
	      const char *format, ...);

/** check_note_isolated() - what may explain decisions of this reclaim call, and later ones of the memcg. */
void check_note_isolated(struct check *check, struct reclaim_bracket *bracket,
			 const struct folio *folio);

/** check_foreign_eviction() - somebody whose reclaim is not predicted takes the folio. */
void check_foreign_eviction(struct check *check, const struct folio *folio);

/** check_isolation_counted() - an isolation's events are complete. @file: of file folios. */
void check_isolation_counted(struct check *check, const struct mem_cgroup *memcg, bool file,
			     bool flawed, uint64_t nr_taken);

/**
 * check_unsure() - an isolation was flawed lately, and the folios that it left in wrong places are
 * perhaps still there
 */
bool check_unsure(struct check *check, const struct mem_cgroup *memcg, bool file);

/** check_drifted() - the memcg's lists are not the kernel's any more: what they say is not counted. */
bool check_drifted(struct check *check, const struct mem_cgroup *memcg, bool file);

/* ---- folios.c */

/**
 * check_born() - the frame begins a new life; whatever the tape did not tell of the old one's end is over
 * Return: the folio, NULL if the order is impossible or memory ran out.
 */
struct folio *check_born(struct check *check, uint64_t pfn, struct mem_cgroup *memcg,
			 uint64_t order);

/** check_page_allocated() - the current event is mm_page_alloc. */
void check_page_allocated(struct check *check);

/** check_migrated() - the event may show that a folio goes to another frame: where it waits for a list. Return: it does. */
bool check_migrated(struct check *check);

/** check_page_freed() - mm_page_free. */
void check_page_freed(struct check *check);

/** check_fault_begun() - a page fault: what it allocates, it asked for. */
void check_fault_begun(struct check *check);

/** check_exec_begun() - a task has a new stack. */
void check_exec_begun(struct check *check);

/** check_folio_added() - mm_filemap_add_to_page_cache. */
void check_folio_added(struct check *check);

/** check_folio_dirtied() - writeback_dirty_folio. */
void check_folio_dirtied(struct check *check);

/** check_writeback() - folios that the current event has sent to the disk, or told to be there. */
void check_writeback(struct check *check);

/** check_pages_mapped() - page tables point to these pages of a file now; no event tells when not any more. */
void check_pages_mapped(struct check *check, uint64_t dev, uint64_t ino, uint64_t index,
			uint64_t last);

/* ---- lru.c */

/** check_inserted() - mm_lru_insertion. */
void check_inserted(struct check *check);

/** check_insertions_over() - the run of insertions on this CPU ended with the event before. */
void check_insertions_over(struct check *check, unsigned int cpu);

/** check_buffer_made() - a folio just added was made by a look-up of a block of metadata. */
void check_buffer_made(struct check *check, struct folio *folio);

/** check_buffer_found() - and found when its task looked again: the CPU goes on to something else. */
void check_buffer_found(struct check *check, unsigned int cpu);

/** check_buffer_touched() - block_touch_buffer: a metadata folio is accessed. */
void check_buffer_touched(struct check *check);

/** check_pages_read() - mm_filemap_get_pages. @read_end: of event_stream_next(). */
void check_pages_read(struct check *check, uint64_t read_end);

/** check_activated() - mm_lru_activate. */
void check_activated(struct check *check);

/** check_drained_by_reclaim() - reclaim drained this CPU: what the tape has not activated was not. */
void check_drained_by_reclaim(struct check *check);

/* ---- readahead.c */

/** check_readahead() - page_cache_sync_ra, or page_cache_async_ra: a window is asked for. */
void check_readahead(struct check *check, bool async);

/** check_window() - page_cache_ra_order: the window. */
void check_window(struct check *check);

/** check_plain_window() - page_cache_ra_unbounded: pages as asked, or what a window left over. */
void check_plain_window(struct check *check);

/** check_window_over() - the task does something else: a window that has no event yet gets none. */
void check_window_over(struct check *check);

/* ---- reclaim.c */

/** check_reclaim_begun() - a task enters reclaim. @memcg_reclaim: for a memcg's limit. */
void check_reclaim_begun(struct check *check, bool memcg_reclaim);

/**
 * check_reclaim_goes_on() - the current event's task, if in reclaim, has decided what it isolates next
 * Sizes are looked at after the last folios were put back and before the task's next event, while other
 * tasks go on.
 */
void check_reclaim_goes_on(struct check *check);

/** check_overhead_bounded() - anon came on a list: its memcg is not above its limit, whatever has been freed unseen. */
void check_overhead_bounded(struct check *check);

/** check_flushes() - statistics are about to be flushed: a kswapd that has ended has remembered the old ones. */
void check_flushes(struct check *check);

/** check_isolated() - mm_vmscan_lru_isolate. @foreseen: of event_stream_next(); 0: nothing was looked for */
void check_isolated(struct check *check, uint64_t foreseen);

/** check_isolation_done() - the batch is back on its lists. */
void check_isolation_done(struct check *check, struct reclaim_bracket *bracket);

/** check_would_evict() - the core would free this folio if it isolated it now. */
bool check_would_evict(const struct check *check, const struct folio *folio);

/** check_apply_isolation() - take what the tape says was taken; its count wins over the list's own idea. */
void check_apply_isolation(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_taken);

/** check_reclaim_ended() - a task leaves reclaim. @nr_reclaimed: as recorded, pages. */
void check_reclaim_ended(struct check *check, uint64_t nr_reclaimed);

/** check_all_folios_known() - no folio of the subtree is older than the tape. */
bool check_all_folios_known(struct mem_cgroup *top);

/**
 * check_must_evict() - the core would free this folio whatever the page tables say
 * Those whose references no event shows are not predicted: mapped files and all anonymous memory.
 */
bool check_must_evict(const struct check *check, const struct folio *folio);

/* ---- shadows.c */

/** check_slab_shrunk() - mm_shrink_slab_start. */
void check_slab_shrunk(struct check *check);

/* ---- lru_gen.c */

/** check_lru_gen_survived() - of each event: does it say that what survived is not tried once more? */
void check_lru_gen_survived(struct check *check);

/** check_lru_gen_isolated() - mm_vmscan_lru_isolate. @foreseen: of event_stream_next() */
void check_lru_gen_isolated(struct check *check, uint64_t foreseen);

/** check_lru_gen_victim() - a folio is about to be evicted in a predicted call. */
void check_lru_gen_victim(struct check *check, struct reclaim_bracket *bracket,
			  struct folio *folio);

/** check_lru_gen_shrunk() - mm_vmscan_lru_shrink_inactive. */
void check_lru_gen_shrunk(struct check *check);

/** check_lru_gen_ended() - a task leaves reclaim. @nr_reclaimed: as recorded, pages. */
void check_lru_gen_ended(struct check *check, uint64_t nr_reclaimed);

/** check_lru_gen_activated() - mm_lru_activate. */
void check_lru_gen_activated(struct check *check);

/* ---- lru_gen_node.c */

/**
 * check_lru_gen_place() - the current event, an isolation, says where a reclaim from everybody is
 * Return: the walk is there and asks for bracket->request; false: by the rules nothing is isolated there.
 */
bool check_lru_gen_place(struct check *check, struct reclaim_bracket *bracket, uint64_t foreseen);

/** check_lru_gen_by_the_rules() - for lru_gen_preview(): what a folio's flags say. */
enum scan_fate check_lru_gen_by_the_rules(void *ctx, struct folio *folio, bool would_take);

/** check_lru_gen_would_go_on() - the tape shows the end of such a call. Return: the walk is not at its own. */
bool check_lru_gen_would_go_on(struct check *check, struct reclaim_bracket *bracket);

/* ---- lru_gen_silent.c */

/** check_lru_gen_drained() - a reclaim call has begun, or a folio of a batch was inserted. */
void check_lru_gen_drained(struct check *check);

/* ---- lru_gen_command.c */

/** check_lru_gen_before() - of each event, before it is looked at. */
void check_lru_gen_before(struct check *check);

/** check_lru_gen_mark() - a mark: perhaps a command to lru_gen in debugfs, which has no event. */
void check_lru_gen_mark(struct check *check, const char *text);

/** check_lru_gen_eviction_over() - a command that evicts, if there is one, has ended. */
void check_lru_gen_eviction_over(struct check *check);

/* ---- lru_gen_snapshot.c */

/** check_lru_gen_start() - groups that were there and empty go on from the generations that they had. */
void check_lru_gen_start(struct check *check);

/** check_lru_gen_snapshots() - lru_gen_full as it was before the current event. */
void check_lru_gen_snapshots(struct check *check);

/* ---- place.c */

/**
 * check_place_by_request() - let the walk go on to what the tape shows to be isolated
 * Return: the walk asks for pages of this list now, its number may be another one.
 */
bool check_place_by_request(struct reclaim_bracket *bracket, enum lru_list lru, uint64_t nr);

/**
 * check_foresees_owners() - whose lists are isolated from must be told by what comes of it
 * Calls may walk several memcgs, and no event of growing lists names them.
 */
bool check_foresees_owners(const struct check *check);

/**
 * check_place_foreseen() - what comes of the isolation at hand says at which priority the walk is, and whose list it was
 * @follows: the walk was found to ask for such an isolation
 * Return: it does, after that; with the lists of the owner, as far as that is known.
 */
bool check_place_foreseen(struct check *check, struct reclaim_bracket *bracket, bool follows,
			  uint64_t foreseen);

/** check_place_by_victim() - an isolation's first victim says whose list it was. */
void check_place_by_victim(struct check *check, struct reclaim_bracket *bracket,
			   const struct folio *victim);

/**
 * check_place_again() - what is isolated has been looked at, and its event tells the priority
 * @priority: as recorded, or TAPE_VALUE_ABSENT
 * Where the walk is at another priority, or another memcg, it begins anew there. Targets are computed from the
 * sizes as they are now.
 */
void check_place_again(struct check *check, struct reclaim_bracket *bracket, uint64_t priority);

/* ---- victims.c */

/** check_folio_deleted() - mm_filemap_delete_from_page_cache: a victim, or truncation. */
void check_folio_deleted(struct check *check);

/** check_inactive_shrunk() - mm_vmscan_lru_shrink_inactive. */
void check_inactive_shrunk(struct check *check);

/** check_active_shrunk() - mm_vmscan_lru_shrink_active. */
void check_active_shrunk(struct check *check);

/** check_next_victim() - the first isolated folio that reclaim should free now, NULL: none is left. */
struct folio *check_next_victim(const struct check *check, const struct reclaim_bracket *bracket);

/** check_evict() - reclaim for @target (NULL: global) has freed a folio: its shadow stays in its slot. */
void check_evict(struct check *check, struct folio *folio, struct mem_cgroup *target);

/** check_anon_victim() - the current mm_page_free: reclaim frees an anonymous folio that it isolated. */
void check_anon_victim(struct check *check, struct reclaim_bracket *bracket, struct folio *folio);

/* ---- putback.c */

/** check_list_grown() - mod_memcg_lruvec_state. */
void check_list_grown(struct check *check);

/** check_growth_over() - called before each event: what it is not part of is over. */
void check_growth_over(struct check *check, unsigned int cpu);

/**
 * check_growth_of() - the growth that the current event, an insertion or activation, tells the folio of
 * Return: valid until the next event; NULL if the tape has none for it.
 */
const struct list_growth *check_growth_of(struct check *check, uint64_t lru);

/**
 * check_shown() - an event shows that reclaim looks at this isolated folio
 * @up_to: one of the bracket's: how far such events have come
 * Return: it was taken, and comes after the last one.
 */
bool check_shown(struct reclaim_bracket *bracket, const struct folio *folio, unsigned int *up_to);

/** check_shown_last_first() - the same of one that is freed in the reverse of their order */
bool check_shown_last_first(struct reclaim_bracket *bracket, const struct folio *folio);

/** check_stranger() - reclaim has a folio that we have not isolated: it takes the youngest one's place. */
void check_stranger(struct check *check, struct reclaim_bracket *bracket, struct folio *folio);

/** check_not_taken() - a folio that was isolated here was not in the kernel: back to its place. */
void check_not_taken(struct check *check, struct reclaim_bracket *bracket, struct folio *folio);

/** check_isolation_settled() - shrinking is over: did the events speak of the folios that were taken? */
void check_isolation_settled(struct check *check, struct reclaim_bracket *bracket);

/** check_isolation_judged() - count an isolation as equal, or as flawed. */
void check_isolation_judged(struct check *check, struct reclaim_bracket *bracket);

/* ---- survivors.c */

/**
 * check_survivors_placed() - shrinking an inactive list is over: who stayed goes back, kept or active
 * Kernel: mm/vmscan.c, folio_check_references(), v6.12.
 */
void check_survivors_placed(struct check *check, struct reclaim_bracket *bracket);

/** check_deactivated_placed() - shrinking an active list is over: its folios go on. */
void check_deactivated_placed(struct check *check, struct reclaim_bracket *bracket);

/* ---- page_tables.c */

/** check_mapped() - the current event's task has the folio in its page tables from now on. */
void check_mapped(struct check *check, const struct folio *folio);

/** check_looked_again() - whatever the folio's eviction will say, it is not of its last active list. */
void check_looked_again(struct check *check, const struct folio *folio);

/** check_is_foreseen() - that the folio went from an active list was taken from the eviction at hand. */
bool check_is_foreseen(const struct check *check, const struct folio *folio);

/**
 * check_who_stays() - which folios of those taken from an active list stay there
 * @bracket: with the lists that have grown, by one folio each, as they were put back
 * @stay: filled, true for those that stay
 * Return: false if sizes and order contradict each other.
 */
bool check_who_stays(struct check *check, const struct reclaim_bracket *bracket,
		     struct folio *const folio[], unsigned int nr_folios, bool *stay);

/* ---- ahead.c */

/** check_ahead_event() - of each event, before it is looked at. */
void check_ahead_event(struct check *check);

/**
 * check_seen_inactive() - a folio will be evicted or activated soon
 * @turnover_pages: before so many pages of active lists have been looked at
 * @isolation: set to the number of the isolation that evicts it, 0: none does
 */
bool check_seen_inactive(struct check *check, const struct folio *folio, uint64_t turnover_pages,
			 uint32_t *isolation);

/** check_stayed_between() - pages that some isolations, first to last, took and did not free; UINT32_MAX: not known. */
uint32_t check_stayed_between(const struct check *check, uint32_t first, uint32_t last);

/** check_ahead_free() - free what is known. */
void check_ahead_free(struct check *check);

/* ---- probe.c */

/** check_look_begun() - lrutape:folio_look. */
void check_look_begun(struct check *check);

/** check_look_told() - lrutape:folio_referenced: of a folio that the task has isolated, or it is none. */
void check_look_told(struct check *check);

/** check_looks_lost() - events were lost, perhaps one half of a look. */
void check_looks_lost(struct check *check);

/** check_told() - what was told of a folio of the isolation; NULL: nothing. Valid until the next event. */
const struct told_look *check_told(const struct reclaim_bracket *bracket,
				   const struct folio *folio);

/** check_told_stranger() - only a look has told that the folio is one of the isolation. */
bool check_told_stranger(const struct reclaim_bracket *bracket, const struct folio *folio);

/** check_told_young() - it was accessed through page tables. */
bool check_told_young(const struct told_look *told);

/**
 * check_told_executable() - mapped as programs are, where it was young
 * On a kernel before 6.9 that is not told, and learnt as in replay/world/executable.h.
 */
bool check_told_executable(const struct check *check, const struct folio *folio,
			   const struct told_look *told);

/**
 * check_told_stays() - the folio stays on the active list that it was taken from
 * Kernel: mm/vmscan.c, shrink_active_list(), v6.12.
 */
bool check_told_stays(const struct check *check, const struct folio *folio,
		      const struct told_look *told);

/**
 * check_told_activates() - the folio of an inactive list becomes active for its references
 * Kernel: mm/vmscan.c, folio_check_references(), v6.12.
 */
bool check_told_activates(const struct check *check, const struct folio *folio,
			  const struct told_look *told);

/** check_told_leaves() - PG_referenced of such a folio, after the look. */
void check_told_leaves(struct folio *folio, const struct told_look *told);

/* ---- verdicts.c */

/** check_look_begins() - a new folio: nobody has looked at it. */
void check_look_begins(struct check *check, const struct folio *folio);

/** check_look_moved() - the folio goes to another frame. @pfn: below MEMMAP_PFN_LIMIT. */
void check_look_moved(struct check *check, const struct folio *folio, uint64_t pfn);

/** check_mapped_around() - fault-around may have mapped the folio, and made it young. */
void check_mapped_around(struct check *check, const struct folio *folio);

/** check_looked_at() - reclaim has done with an isolated folio, but for the end of its isolation. */
void check_looked_at(struct check *check, struct reclaim_bracket *bracket,
		     const struct folio *folio, enum check_outcome outcome);

/**
 * check_stayed() - an isolated folio was not evicted
 * @active: it goes to the active list
 */
void check_stayed(struct check *check, struct reclaim_bracket *bracket, struct folio *folio,
		  bool active);

/** check_looks_over() - the isolation is over: tell its verdicts. @nr_ref_keep: of the shrink event, pages. */
void check_looks_over(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_ref_keep,
		      uint64_t nr_unmap_fail);

/** check_looks_free() - free what was kept for them. */
void check_looks_free(struct check *check);

/* ---- swap.c */

/** check_swap_io() - block_bio_queue. */
void check_swap_io(struct check *check);

/** check_swap_io_ended() - block_rq_complete. */
void check_swap_io_ended(struct check *check);

/** check_folio_written() - mm_vmscan_write_folio. */
void check_folio_written(struct check *check);

/** check_swapped_in() - a folio of the swap cache comes on a list: which page it is, and how it refaulted. */
void check_swapped_in(struct check *check, struct folio *folio);

/** check_page_faulted() - page_fault_user. */
void check_page_faulted(struct check *check);

/** check_slot_freed() - a folio that is in memory gives up its slot in swap, if it has one. */
void check_slot_freed(struct check *check, struct folio *folio);

/** check_swapped_page_freed() - a page of the current task's that was in swap only is gone. */
void check_swapped_page_freed(struct check *check);

/** check_drain_begun() - a list grows on this CPU: if it drains, these are the folios that it misses. */
void check_drain_begun(struct check *check, unsigned int cpu);

/** check_unrotate() - a folio is not where its rotation would have put it: it goes to its place before that. */
void check_unrotate(struct check *check, struct folio *folio);

/** check_rotate_later() - a folio's write has ended on this CPU, and reclaim has met it meanwhile. */
void check_rotate_later(struct check *check, struct folio *folio);

/** check_rotated() - lists grew by folios that no event names: those whose writes have ended were moved. */
void check_rotated(struct check *check, unsigned int cpu, const struct growth_burst *burst);

/* ---- split.c */

/**
 * check_split_at() - an event names a single page
 * @pfn: its frame
 * If it lies in a large anon folio, that has been split.
 * Return: the folio of that page, NULL: none is known.
 */
struct folio *check_split_at(struct check *check, uint64_t pfn);

/** check_split_tail() - reclaim takes less from a list than the folio at its tail has: it was split. */
void check_split_tail(struct check *check, const struct scan_request *request, uint64_t nr_taken);

/* ---- advice.c */

/** check_advised() - what the current event says of anon pages that the tape names. */
void check_advised(struct check *check);

/** check_advice_drained() - a list grew by a folio that no event names. Return: by one that was advised. */
bool check_advice_drained(struct check *check, unsigned int cpu, const struct list_growth *growth);

/** check_advice_over() - reclaim has drained this CPU: no batch holds anything. */
void check_advice_over(struct check *check, unsigned int cpu);

/** check_isolated_alone() - somebody who is in no reclaim call has taken the folio off its list. */
void check_isolated_alone(struct check *check, struct folio *folio);

/** check_gone() - a folio goes outside of reclaim calls; called before it does. */
void check_gone(struct check *check, const struct folio *folio);

/** check_pages_reclaimed() - mm_vmscan_reclaim_pages: the last that its task let go were reclaimed. */
void check_pages_reclaimed(struct check *check);

/** check_advice_free() - free what is kept for it. */
void check_advice_free(struct check *check);

#endif
