/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which pages are being written back, and when that ends. No event says either; what does say it:
 *
 *   writeback_dirty_folio   the page, when it becomes dirty
 *   ext4_writepages         the file whose dirty pages a task now goes through, from which page on
 *   block_bio_queue         the same task submits a write: so many sectors, for the dirty pages that
 *                           come next in the file                                -> written
 *   block_rq_complete       these sectors are on the disk                        -> ended
 *
 * Within a file, sectors and pages run alike except where an extent ends. So the page that a write's
 * sector names, counted from the file's last write, is taken if it is dirty, and otherwise the next
 * one that is.
 */
#ifndef REPLAY_WORLD_WRITEBACK_H
#define REPLAY_WORLD_WRITEBACK_H

#include <stdbool.h>
#include <stdint.h>

struct tape_event;
struct tape_reader;
struct world;

struct written_page {
	uint64_t index;
	uint32_t file;
};

struct written_pages {
	struct written_page *page;
	uint32_t nr, room;
};

/* Dirty pages of 64 of a file. */
struct dirty_pages {
	uint64_t base; /* index / 64 */
	uint64_t mask; /* 0: an empty place, or one whose pages are all clean by now */
	uint32_t file; /* 0: an empty place */
};

/* A page on its way to the disk; the place is free if file is 0. */
struct submitted_page {
	uint64_t sector; /* its first */
	uint64_t index;
	uint32_t major; /* of the device */
	uint32_t file;
};

struct writeback {
	bool seen; /* all four events are on the tape */
	struct written_pages written, ended; /* by the current event */
	bool first_of_walk; /* the current event's are the first that its task writes of the file */
	struct dirty_pages *dirty; /* hash */
	uint64_t dirty_mask, nr_dirty;
	struct submitted_page *submitted; /* hash */
	uint64_t submitted_mask, nr_submitted;
};

/* Of a task: the file whose dirty pages it writes now. */
struct writing {
	uint32_t file; /* 0: none */
	uint64_t next; /* page to go on from */
	bool any_written;
};

/** writeback_init() - @world: zeroed but for what snapshots say. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result))
writeback_init(struct world *world, const struct tape_reader *reader);

/** writeback_exit() - free it. */
void writeback_exit(struct world *world);

/** writeback_event() - take in an event: world->writeback.written and .ended are what it tells. */
void writeback_event(struct world *world, const struct tape_event *event);

/** parse_bdi() - "MAJOR:MINOR", the name of a block device's bdi, as s_dev. Return: it is one. */
bool parse_bdi(const char *name, uint64_t *dev);

#endif
