/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which folios were on LRU lists when a recording began, and whose: the blobs lrutape/warm_pages/N, made
 * from /proc/kpageflags and /proc/kpagecgroup. Membership, not order: the kernel shows no more.
 * docs/format.md, section 14, has the bytes.
 */
#ifndef SCHEMA_WARM_PAGES_H
#define SCHEMA_WARM_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Bits of warm_run.flags. Numbers are on disk. */
enum warm_page_flag {
	WARM_PAGE_ACTIVE = 1 << 0, /* PG_active; under MGLRU clear on every list */
	WARM_PAGE_ANON = 1 << 1,
	WARM_PAGE_SWAPBACKED = 1 << 2, /* without ANON: shmem */
	WARM_PAGE_REFERENCED = 1 << 3,
	WARM_PAGE_UNEVICTABLE = 1 << 4,
	WARM_PAGE_MAPPED = 1 << 5,
	WARM_PAGE_DIRTY = 1 << 6,
	WARM_PAGE_WRITEBACK = 1 << 7,
	WARM_PAGE_SWAPCACHE = 1 << 8,
};

#define WARM_PAGES_VERSION 1u
#define WARM_PAGES_ORDER_MAX 31u
#define WARM_PAGES_MEMCGS_MAX (1u << 20)

/* Folios of one kind that lie side by side. */
struct warm_run {
	uint64_t pfn; /* of the first one */
	uint64_t nr_folios; /* each of 1 << order pages */
	unsigned int order;
	uint32_t flags; /* WARM_PAGE_* */
	uint64_t memcg; /* inode of its directory, 0: none, or the kernel does not tell */
};

/* Builds one blob. Zero it, set first_pfn, add folios by rising pfn, finish. */
struct warm_pages_writer {
	uint64_t first_pfn; /* where the blob begins to speak */
	uint64_t next_pfn; /* behind the last run written */
	struct warm_run run; /* not yet written; nr_folios 0: none */
	uint64_t *memcg;
	uint32_t nr_memcgs;
	uint8_t *runs;
	size_t runs_bytes, runs_room;
	uint64_t nr_runs, nr_folios;
};

/** warm_pages_add() - one folio. Return: 0, or -1 without memory or beyond the memcgs' limit. */
int __attribute__((warn_unused_result))
warm_pages_add(struct warm_pages_writer *writer, uint64_t pfn, unsigned int order, uint32_t flags,
	       uint64_t memcg);

/**
 * warm_pages_finish() - the blob's bytes
 * @end_pfn: what the blob does not list between first_pfn and this was on no list
 * @size: set to their number
 * Return: to be freed; NULL without memory. @writer is empty again either way.
 */
uint8_t *warm_pages_finish(struct warm_pages_writer *writer, uint64_t end_pfn, size_t *size);

/* Reads one blob. */
struct warm_pages_reader {
	uint64_t first_pfn, end_pfn;
	uint64_t nr_runs, nr_memcgs;
	const uint8_t *memcg, *at, *end;
	uint64_t next_pfn, left;
};

/** warm_pages_open() - look at a blob's head. Return: 0, or -1: it is none, or a newer version's. */
int __attribute__((warn_unused_result))
warm_pages_open(struct warm_pages_reader *reader, const void *data, size_t size);

/** warm_pages_next() - Return: 1: *run is set. 0: the end. -1: damaged. */
int __attribute__((warn_unused_result))
warm_pages_next(struct warm_pages_reader *reader, struct warm_run *run);

#endif
