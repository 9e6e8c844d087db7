/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose page tables point to a file folio: from faults and fault-around until the address space ends. What is
 * unmapped while it lives, no event tells.
 */
#ifndef REPLAY_PAGE_TABLES_H
#define REPLAY_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/machine.h"

#define MAPPERS                                                                                    \
	6 /* address spaces that a folio is known to be mapped in; more push the oldest out */

/* A folio that some address space has mapped. */
struct mapped_folio {
	uint32_t space[MAPPERS]; /* numbers of the world's */
	uint8_t nr;
	bool young; /* mapped since reclaim looked at it last, which makes it young (x86) */
	bool foreseen; /* check's: that it went from an active list, its own eviction will tell */
	uint32_t nr_looks;
	uint32_t next_free;
};

struct page_tables;

/** page_tables_open() - nothing is mapped. Return: ends with page_tables_close(); NULL without memory. */
struct page_tables *page_tables_open(struct machine *machine);

/** page_tables_close() - free it. NULL is fine. */
void page_tables_close(struct page_tables *tables);

/** page_tables_of() - what is known of a folio; NULL: it was never mapped. Valid until the next page_tables_map(). */
struct mapped_folio *page_tables_of(const struct page_tables *tables, const struct folio *folio);

/**
 * page_tables_map() - a task has a folio in its page tables from now on
 * Return: it had not before. Without memory the machine has failed.
 */
bool page_tables_map(struct page_tables *tables, struct world_task *task,
		     const struct folio *folio);

/** page_tables_forget() - nobody has: the folio is gone, or its frame begins a new life. */
void page_tables_forget(struct page_tables *tables, const struct folio *folio);

/** page_tables_migrated() - a folio goes to another frame, and page tables along. @pfn: below MEMMAP_PFN_LIMIT. */
void page_tables_migrated(struct page_tables *tables, const struct folio *folio, uint64_t pfn);

/** page_tables_looked() - reclaim has looked at a folio: it is young no more. */
void page_tables_looked(struct page_tables *tables, const struct folio *folio);

/**
 * page_tables_space_gone() - the current event may have ended an address space
 * @unmapped: NULL, or called for each folio that it had mapped and that is still there
 *   @young: it was mapped since it was looked at last
 *   @last: nobody has it mapped any more
 */
void page_tables_space_gone(struct page_tables *tables,
			    void (*unmapped)(void *ctx, struct folio *folio, bool young, bool last),
			    void *ctx);

#endif
