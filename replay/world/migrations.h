/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folios that migration puts into other frames: compaction, above all.
 *
 *   task, migrating   mm_page_free A   mm_page_free B   mm_migrate_pages succeeded=2
 *   lru_add batch     A' queued         B' queued
 *   its CPU           ...................................... mm_lru_insertion A' .. mm_lru_insertion B'
 *
 * No event names both frames. The old one is freed by the task that migrates, one after the other, and
 * mm_migrate_pages tells how many it were; the new one waits in that CPU's lru_add batch, so that the next
 * folios that come on a list there, and that nobody was seen to add or to allocate, are these, in that order. Their
 * memcg, size and kind have to be the old ones'. A pass over the tape finds the pairs before the runs begin.
 *
 * Without frees of single pages on the tape nothing is found, but for those of kcompactd, which are always there.
 */
#ifndef REPLAY_WORLD_MIGRATIONS_H
#define REPLAY_WORLD_MIGRATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct tape_event;
struct tape_reader;
struct world;

struct migration {
	uint64_t since_ns; /* the folio was isolated later than this */
	uint64_t timestamp_ns; /* of the event that shows it first: */
	uint32_t pfn; /* mm_page_free of the old frame, or mm_lru_insertion of the new one */
	uint32_t from, to; /* frames */
};

struct world_migrations {
	struct migration *row; /* by time and frame */
	uint32_t nr, room;
};

/**
 * migrations_find() - the pass over the tape
 * @reader: at its first event, where it is put again
 * Kernel: mm/migrate.c, migrate_pages_batch(), v6.18.
 * Differs: one that shows neither an old frame nor a new one, because events lack, is none.
 * Return: 0, -1 without memory, or a negative enum tape_error of the reader.
 */
int __attribute__((warn_unused_result))
migrations_find(struct world *world, struct tape_reader *reader);

/** migrations_exit() - free it. */
void migrations_exit(struct world_migrations *migrations);

/**
 * migrations_of() - the migration that an event shows first
 * @event: mm_page_free or mm_lru_insertion. The second comes first where the new frame has filled a batch.
 * Return: NULL: none.
 */
const struct migration *migrations_of(const struct world *world, const struct tape_event *event);

/**
 * migrations_hold() - a folio is off its list, on its way to another frame
 * Kernel: mm/compaction.c, isolate_migratepages_block(), v6.18.
 * Differs: from the task's last migration on; that the isolation is later shows in no event.
 */
bool migrations_hold(const struct world *world, uint32_t pfn);

#endif
