/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run's machine: the reclaim core, its page cache, and the world's memcgs in it.
 * check and replay drive it by the same stimuli.
 */
#ifndef REPLAY_MACHINE_H
#define REPLAY_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/mm/mm.h"
#include "replay/mm/page_cache.h"
#include "replay/policy/policy.h"
#include "replay/world/world.h"

/* Values of the events' fields. Kernel: include/linux/gfp_types.h, include/trace/events/pagemap.h, v6.18. */
#define GFP_ZERO 0x100 /* the same in 5.6 to 6.18 */
#define GFP_MOVABLE 0x8
#define PFN_NONE UINT64_MAX /* mm_page_alloc that failed */
#define INSERTION_MAPPED 1 /* PAGEMAP_* of mm_lru_insertion */
#define INSERTION_ANON 2
#define INSERTION_SWAPCACHE 8
#define INSERTION_SWAPBACKED 0x10

/* Largest folio: PMD order with 64 KiB pages is 13; more is a broken tape. */
#define FOLIO_ORDER_LIMIT 13

/* Folios that a task has added and not yet submitted for reading: locked. */
struct pending_read {
	uint32_t nr, room;
	struct folio **folio;
};

struct machine {
	struct mm mm;
	struct page_cache cache;
	struct world *world; /* shared with other runs; not owned */
	struct mem_cgroup **memcg; /* by the world's number, NULL until it is met */
	uint32_t room_memcgs;
	struct pending_read *pending; /* by the world's task number */
	uint64_t room_pending;
	struct mem_cgroup *limit_given; /* its limit is the user's, not the tape's; NULL: none */
	uint32_t nr_limits_taken; /* of the world's changes of limits */
	uint64_t next_flush_ns; /* where the tape shows none; 0: the first event is still to come */
	bool failed; /* the replay's own memory ran out */
};

/**
 * machine_init() - a machine as the tape's snapshots describe it
 * @choice: policy and rules
 * @hold_drains: check: batches and lists move when the tape says so
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result))
machine_init(struct machine *machine, struct world *world, const struct policy_choice *choice,
	     bool hold_drains);

/** machine_exit() - free everything. */
void machine_exit(struct machine *machine);

/* The page cache of one file, for readahead. */
struct machine_pages {
	struct page_cache *cache;
	uint32_t file;
};

/** machine_grow() - for machine_has_room(): more of an array, zeroed. Return: false: the machine has failed. */
bool machine_grow(struct machine *machine, void **array, uint64_t *room, uint64_t number,
		  size_t bytes);

/**
 * machine_has_room() - an array by the world's numbers reaches up to one of them
 * @array: malloc's; moved if it has to grow. @room: its elements. @bytes: of an element
 * Return: false without memory: the machine has failed.
 */
static inline bool machine_has_room(struct machine *machine, void **array, uint64_t *room,
				    uint64_t number, size_t bytes)
{
	return number < *room || machine_grow(machine, array, room, number, bytes);
}

/** machine_page_cached() - readahead_cache.cached of a struct machine_pages. */
bool machine_page_cached(void *ctx, uint64_t index);

/** machine_memcg() - the core's memcg for a number of the world's, made if new; never NULL. */
struct mem_cgroup *machine_memcg(struct machine *machine, uint32_t number);

/** machine_number() - the world's number of a core memcg. */
uint32_t machine_number(const struct machine *machine, const struct mem_cgroup *memcg);

/** machine_limit() - the memcg at or above @memcg whose limit binds; NULL: none has one. */
struct mem_cgroup *machine_limit(struct mem_cgroup *memcg);

/**
 * machine_add_file_folio() - a folio enters the page cache, charged already
 * @folio: from mm_folio_born()
 * @file: number
 * @index: first base page
 * @cpu: whose lru_add batch it waits in
 * @for_write: the allocation is for a buffered write
 *
 * A shadow entry in its place makes it a refault, unless it comes to be written to. Kernel: mm/filemap.c, filemap_add_folio(), v6.18.
 */
void machine_add_file_folio(struct machine *machine, struct folio *folio, uint32_t file,
			    uint64_t index, unsigned int cpu, bool for_write);

/**
 * machine_made_for_buffer() - a folio just added was made by a look-up of a block: that made it referenced,
 * and found it when it looked again
 * Kernel: mm/filemap.c, __filemap_get_folio() with FGP_ACCESSED; fs/buffer.c, __find_get_block_slow(), v6.18.
 */
void machine_made_for_buffer(struct machine *machine, struct folio *folio, unsigned int cpu);

/**
 * machine_lock_new() - a task has added a folio; if its readahead did, it stays locked until the whole
 * window is submitted
 * Kernel: mm/readahead.c, page_cache_ra_order(), page_cache_ra_unbounded(), v6.18.
 * Differs: the time that the device takes is not known; the folio counts as read when submitted.
 */
void machine_lock_new(struct machine *machine, const struct world_task *task, struct folio *folio);

/**
 * machine_take_new() - the folios that machine_lock_new() has gathered for a task; they stay locked
 * @folio: set to them, valid until the task's next machine_lock_new()
 * Return: how many; 0 the next time.
 */
uint32_t machine_take_new(struct machine *machine, const struct world_task *task,
			  struct folio ***folio);

/** machine_reads_submitted() - the task does something else: its window has been submitted. */
void machine_reads_submitted(struct machine *machine, const struct world_task *task);

/** event_ends_readahead() - the task of this event is past submitting what it added before. */
static inline bool event_ends_readahead(const struct tape_event *event)
{
	switch (event->kind) {
	case EVENT_MM_FILEMAP_GET_PAGES:
	case EVENT_MM_FILEMAP_MAP_PAGES:
	case EVENT_MM_FILEMAP_FAULT:
	case EVENT_PAGE_CACHE_SYNC_RA:
	case EVENT_PAGE_CACHE_ASYNC_RA:
	case EVENT_PAGE_CACHE_RA_ORDER:
	case EVENT_SCHED_PROCESS_EXIT:
		return true;
	default:
		return false;
	}
}

/**
 * machine_writeback() - folios that the current event has sent to the disk, or told to be there
 * @rotate: called for each that is there, clean, and was met by reclaim meanwhile
 * Kernel: mm/page-writeback.c, folio_start_writeback(), v6.18; mm/filemap.c, folio_end_writeback(), v6.18.
 * Differs: a large folio is written when any page of it is, and ends when any page of it does.
 */
void machine_writeback(struct machine *machine, void (*rotate)(void *ctx, struct folio *folio),
		       void *ctx);

/**
 * machine_marker_met() - page_cache_async_ra: a read met the readahead marker, and it is cleared
 * It is the same bit as "to be rotated": a read of a dirty folio that reclaim has met takes it for a marker.
 * Kernel: mm/readahead.c, page_cache_async_ra(), v6.18.
 */
void machine_marker_met(struct machine *machine, const struct tape_event *event);

/** machine_dirtied() - the folio at the place that writeback_dirty_folio names is dirty. Return: it, or NULL. */
struct folio *machine_dirtied(struct machine *machine, const struct tape_event *event);

/**
 * machine_migrate() - a folio goes to another frame, with its place in the page cache
 * @folio: alive, in no lru_add batch; off its list and out of all batches when this returns
 * @pfn: the new frame; whoever was there is gone
 * Kernel: mm/migrate.c, folio_migrate_flags(), v6.18.
 * Return: it under its new address; NULL without memory: the core is out of it.
 */
struct folio *machine_migrate(struct machine *machine, struct folio *folio, uint64_t pfn);

/** machine_forget() - a folio is gone without trace: off its list, out of the page cache. */
void machine_forget(struct machine *machine, struct folio *folio);

/** machine_leave_page_cache() - its place is empty; the folio itself stays where it is. */
void machine_leave_page_cache(struct machine *machine, struct folio *folio);

/** machine_evicted() - reclaim took a file folio: its slots hold @shadow from now on. */
void machine_evicted(struct machine *machine, struct folio *folio, uint64_t shadow);

/**
 * machine_inode_evicted() - a file's inode is gone: no folio of it is left, and no shadow
 * Kernel: fs/inode.c, evict(), v6.18.
 */
void machine_inode_evicted(struct machine *machine, const struct tape_event *event);

/**
 * machine_swap_out() - a folio has a swap slot from now on, and loses the one it had
 * @file: number that stands for the swap device
 * @index: page of the device
 * The slot lies in the page cache like a file's; when the folio is evicted its shadow stays there.
 */
void machine_swap_out(struct machine *machine, struct folio *folio, uint32_t file, uint64_t index);

/**
 * machine_anon_is_given() - the user told how many anon pages a memcg has
 * On such a tape frees of single pages are missing, so that the number is kept and the anon folios
 * themselves are not followed.
 */
bool machine_anon_is_given(struct machine *machine, const struct mem_cgroup *memcg);

/** machine_memcg_removed() - a memcg's directory is gone: it is offline, its shadows count no more. */
void machine_memcg_removed(struct machine *machine, const struct tape_event *event);

/**
 * machine_flushes() - does this event flush statistics?
 * @event: memcg_flush_stats or cgroup_rstat_locked
 * @memcg: set to the world's number of the memcg at the top
 */
bool machine_flushes(const struct machine *machine, const struct tape_event *event,
		     uint32_t *memcg);

/**
 * machine_time_passes() - where the tape does not show flushes, the time for one may have come
 * Kernel: mm/memcontrol.c, flush_memcg_stats_dwork(), v6.18.
 * Differs: only without recorded flushes; the first comes 2 s after the first event, not at the kernel's phase.
 */
void machine_time_passes(struct machine *machine, uint64_t now_ns);

/** machine_flush() - an rstat flush as memcg_flush_stats shows it, or before 6.13 cgroup_rstat_locked. */
void machine_flush(struct machine *machine, const struct tape_event *event);

#endif
