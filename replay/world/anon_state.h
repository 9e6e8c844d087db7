/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files behind anon.h share: their state, and who calls whom.
 *
 *   anon.c         pages, frames, faults, address spaces
 *   anon_advice.c  what an owner says of its pages: madvise, mlock, mlockall
 *   anon_swap.c    swap's I/O: where pages are written to and read from, and how long it takes
 */
#ifndef REPLAY_WORLD_ANON_STATE_H
#define REPLAY_WORLD_ANON_STATE_H

#include "replay/world/anon.h"
#include "replay/world/by_pfn.h"
#include "replay/world/key_map.h"

#define ANON_NONE UINT32_MAX

/* Of pfn_entry: allocated, and not known yet what for. */
#define ENTRY_FRESH (UINT32_C(1) << 31)

/* An anon page, of one base page. */
struct anon_page {
	uint64_t index;
	uint32_t file;
	uint32_t mm;
	uint32_t pfn; /* where the recorded kernel has it, ANON_NONE: swapped out */
	uint32_t next; /* of the same mm, ANON_NONE: the last */
	uint8_t order; /* of its folio */
	bool gone;
	bool in_flight; /* submitted to swap's device */
	bool lazyfree; /* reclaim may drop it, unless it is written to before */
};

/* A frame allocated and not yet seen to be anything. */
struct fresh {
	uint64_t pfn;
	uint64_t fault_index; /* page of the fault it was allocated in */
	uint32_t fault_mm; /* 0: in none */
	uint32_t memcg;
	uint32_t task; /* number */
	uint8_t order;
	bool used;
	bool populated; /* by the mlock that its task is in; no fault tells of it */
	bool locked;
};

/* What is remembered of a task. */
struct anon_task {
	uint32_t mm; /* 0: a kernel thread, or never seen */
	uint32_t fresh; /* place in fresh[], ANON_NONE */
	uint32_t touched; /* page of its last fault, ANON_NONE */
	uint64_t fault_index;
	uint32_t fault_mm; /* 0: not in a fault */
	uint64_t write_sector; /* of the block_bio_queue before a mm_vmscan_write_folio, 0: none */
	uint32_t write_dev;
	uint64_t written_ns; /* when it last wrote a folio to swap */
	/* What the mlock that it is in has still to bring in; nothing if first >= end. */
	uint64_t populate_first, populate_end;
	bool locks_all; /* it is in an mlockall, which brings in all that it has not */
	bool pages_out; /* it is in MADV_PAGEOUT */
};

struct mm_space {
	uint32_t file; /* 0: no page yet */
	uint32_t first; /* page, ANON_NONE */
	uint32_t nr_users;
	bool lock_future; /* mlockall: what comes is locked */
};

/* Writes to swap from when the device had none to when it has none again. */
struct write_burst {
	uint64_t first_ns, nr_outstanding, nr_done;
};

/* What anon_swap.c keeps. */
struct anon_swap {
	struct key_map by_sector; /* page */
	struct write_burst burst;
	uint64_t submit_ns, nr_submits; /* between two writes of one task, all together */
	uint64_t long_ns, nr_long; /* of bursts of many pages: time, pages */
	uint64_t short_ns, nr_short; /* of those of few: time, bursts */
};

struct anon_world {
	struct anon_page *page;
	uint32_t nr_pages, room_pages;
	struct mm_space *space; /* by mm; 0: of pages whose address is not known */
	uint32_t nr_spaces, room_spaces;
	struct key_map by_address;
	struct by_pfn pfn; /* 1 + page, or ENTRY_FRESH | place in fresh[], 0: nothing */
	struct fresh *fresh;
	uint32_t nr_fresh, room_fresh;
	struct anon_task *task; /* by the world's number */
	uint32_t room_tasks;
	struct anon_step *step;
	uint32_t nr_steps, room_steps;
	uint64_t nr_nameless;
	struct anon_swap swap;
	bool failed;
};

/* ---- anon.c */

/** anon_add_step() - the current event did this to a page. Return: the step, to be filled up; NULL without memory. */
struct anon_step *anon_add_step(struct anon_world *anon, enum anon_what what, uint32_t number);

/** anon_page_in_frame() - a page's number. Return: ANON_NONE: no anon page is known there. */
uint32_t anon_page_in_frame(struct anon_world *anon, uint64_t pfn);

/** anon_page_came_in() - swapped in: the page is in this frame again. */
void anon_page_came_in(struct anon_world *anon, uint32_t number, uint64_t pfn);

/** anon_forget_fresh() - what the frame was allocated for is known. @at: its place in fresh[] */
void anon_forget_fresh(struct anon_world *anon, uint32_t at);

/** anon_page_at() - the page of an address. @mm: 0: none. Return: ANON_NONE: not known, or gone. */
uint32_t anon_page_at(const struct anon_world *anon, uint32_t mm, uint64_t index);

/** anon_page_gone() - its owner has freed it, in memory or in swap. */
void anon_page_gone(struct anon_world *anon, uint32_t number);

/* ---- anon_advice.c */

/** anon_advised() - madvise, mlock, munlock, mlockall or munlockall; what its task was allocated is settled. */
void anon_advised(struct anon_world *anon, const struct tape_event *event, struct anon_task *task);

/* ---- anon_swap.c */

/** anon_bio_queued() - block_bio_queue. */
void anon_bio_queued(struct anon_world *anon, const struct tape_event *event,
		     struct anon_task *task);

/** anon_write_completed() - block_rq_complete. */
void anon_write_completed(struct anon_world *anon, const struct tape_event *event);

/** anon_written_out() - mm_vmscan_write_folio. */
void anon_written_out(struct anon_world *anon, const struct tape_event *event,
		      struct anon_task *task);

#endif
