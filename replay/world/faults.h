/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What faults on file pages tell of their mappings.
 *
 * A read finds its page by fault-around, which maps it and has an event of its own; mm_filemap_fault comes only
 * where that finds nothing. So a fault whose page is in memory, was read long ago and was in no window of
 * fault-around is a write:
 *
 *   private mapping   the page is copied. Its folio is not mapped and not young, only read once
 *   shared mapping    the folio is mapped, and dirtied, which has an event unless it was dirty before
 *
 * Who had to wait for the device begins anew: a read is then served by fault-around.
 *
 * What a fault reads in on an executable mapping (since 6.17) begins at its page, has no marker and ends where
 * the mapping does, at the latest.
 */
#ifndef REPLAY_WORLD_FAULTS_H
#define REPLAY_WORLD_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct tape_event;
struct world;
struct world_task;

/* A task's last fault on a file page. */
struct file_fault {
	bool goes_on; /* nothing after it says that it is over */
	bool copies; /* it writes to a private mapping: the folio gets no page table entry */
	bool has_window; /* readahead has been asked for one */
	bool again; /* the page has been read meanwhile */
	bool passed_over; /* fault-around has just come across the page: it was being read, or the marker's */
	uint32_t file;
	uint64_t page;
	uint32_t around_file; /* last window of fault-around, 0: none right before */
	uint64_t around_first, around_last;
};

/** faults_event() - take in what an event says about them. */
void faults_event(struct world *world, const struct tape_event *event);

/**
 * faults_found() - the current event's fault is of a page that was in memory
 * Tells whether it copies. The world must know the event.
 */
void faults_found(struct world *world, struct world_task *task);

#endif
