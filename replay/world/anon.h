/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which anonymous page is which: on a tape with user faults, allocations and frees.
 *
 *   page_fault_user   names a page by its task's mm and address
 *   mm_page_alloc     the frame that a fault got
 *   block_bio_queue   the sector that a page is written to, and read from again: its name while it is out
 *   mm_page_free      the end: of the page if its owner frees it, of its frame if reclaim does
 *   sys_enter_madvise, mlock, munlock   what the owner says of a range of addresses
 *
 * Each event gives some steps: what the workload did to a page, or what the recorded kernel decided.
 * A page's place is a file of its own for each mm, and the page number of its address: in a run it lies
 * in the page cache under that, its shadow too.
 */
#ifndef REPLAY_WORLD_ANON_H
#define REPLAY_WORLD_ANON_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/tape_reader.h"

struct world;
struct world_task;
struct anon_world;

#define ANON_DEV UINT64_MAX /* of the files that stand for address spaces */
#define ANON_NO_FRAME UINT32_MAX

enum anon_what {
	/* What the workload did. */
	ANON_NEW, /* first touch: a folio is allocated */
	ANON_TOUCHED, /* a fault on a page that is there, or was swapped out */
	ANON_FREED, /* by its owner, in memory or in swap */
	ANON_COLD, /* MADV_COLD */
	ANON_LAZYFREE, /* MADV_FREE: of pages in memory; those in swap are ANON_FREED at once */
	ANON_PAGEOUT, /* MADV_PAGEOUT */
	ANON_LOCKED, /* mlock, in memory or not */
	ANON_UNLOCKED,
	/* What the recorded kernel did: verdicts, not for a free-running replay. */
	ANON_READ_AHEAD, /* swapped in beside another page */
	ANON_UNMAPPED, /* found not young, unmapped and written to swap */
	ANON_EVICTED, /* its frame was freed by reclaim */
};

struct anon_step {
	enum anon_what what;
	uint32_t file; /* number */
	uint64_t index; /* page of the address */
	uint64_t pfn; /* recorded frame, of ANON_NEW and advice; ANON_NO_FRAME: swapped out */
	uint32_t memcg; /* number, of the task that allocated: of ANON_NEW */
	uint8_t order;
	bool write; /* ANON_TOUCHED: a store */
	bool locked; /* ANON_NEW: by the mlock that its task is in */
};

/*
 * How long swap's device takes, as far as the tape shows. Writes go one after the other: each page takes
 * page_ns, and none is done sooner than least_ns after it was submitted.
 */
struct swap_times {
	uint64_t submit_ns; /* from one page that reclaim writes to the next */
	uint64_t page_ns, least_ns;
};

/** anon_swap_times() - mean times of what was written so far. Return: enough was to tell. */
bool anon_swap_times(const struct anon_world *anon, struct swap_times *times);

/** anon_open() - follow the anon pages of a tape. Return: NULL without memory. */
struct anon_world *anon_open(void);

/** anon_close() - free it; NULL is fine. */
void anon_close(struct anon_world *anon);

/** anon_new_mm() - a number for an address space, from 1 on. */
uint32_t anon_new_mm(struct anon_world *anon);

/**
 * anon_event() - take in an event, before world_event() does
 * Sets the steps that anon_steps() tells until the next event.
 */
void anon_event(struct anon_world *anon, struct world *world, const struct tape_event *event);

/** anon_steps() - what the current event did to anon pages. @nr: set to how many. */
const struct anon_step *anon_steps(const struct anon_world *anon, uint32_t *nr);

/** anon_fault_index() - page of the address that a task faulted on last. Return: UINT64_MAX: in no fault. */
uint64_t anon_fault_index(const struct anon_world *anon, const struct world_task *task);

/** anon_in_frame() - the anon page that the recorded kernel has in a frame. Return: false: none. */
bool anon_in_frame(struct anon_world *anon, uint64_t pfn, uint32_t *file, uint64_t *index);

/** anon_failed() - memory ran out. */
bool anon_failed(const struct anon_world *anon);

#endif
