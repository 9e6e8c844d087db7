/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of a page of the kernel's ring buffer, as a recorder wrote it to a file. The page may come
 * from anywhere: each length is held against the page's end.
 *
 *   | time stamp, 8 | commit, 4 or 8: bytes used, flags of losses | records ...        | lost count |
 *
 * Each record begins with a word: 5 bits of type or length, 27 bits of time since the one before.
 * Kernel: include/linux/ring_buffer.h, kernel/trace/ring_buffer.c, v4.9 to v6.18. Little endian only.
 */
#ifndef CAPTURE_RING_PAGE_H
#define CAPTURE_RING_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From events/header_page: where a page's parts are. */
struct ring_page_layout {
	unsigned int commit_bytes; /* 4 or 8, the kernel's long */
	unsigned int data_offset;
};

struct ring_page {
	const uint8_t *at, *end;
	uint64_t page_ns, timestamp_ns;
	uint64_t
		lost; /* events lost before this page: 0 none, UINT64_MAX: some, nobody knows how many */
};

struct ring_record {
	const uint8_t *data;
	size_t size;
	uint64_t timestamp_ns; /* of the trace clock, whatever its unit */
};

/** ring_page_layout_read() - from the text of events/header_page. Return: false if it is none. */
bool ring_page_layout_read(const char *header_page, struct ring_page_layout *layout);

/**
 * ring_page_open() - begin with a page
 * @bytes: of @data
 * Return: false if the page contradicts itself.
 */
bool ring_page_open(struct ring_page *page, const struct ring_page_layout *layout,
		    const uint8_t *data, size_t bytes);

/**
 * ring_page_next() - the next record
 * @record: set, pointing into the page
 * Return: 1: there is one. 0: the page ended. -1: a record reaches beyond the page's end.
 */
int ring_page_next(struct ring_page *page, struct ring_record *record);

#endif
