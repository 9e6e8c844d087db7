// SPDX-License-Identifier: GPL-2.0-only
#include "capture/ring_page.h"

#include <stdlib.h>
#include <string.h>

#define COMMIT_BYTES_MASK ((1u << 27) - 1)
#define MISSED_EVENTS (1u << 31) /* RB_MISSED_EVENTS */
#define MISSED_STORED (1u << 30) /* their number stands behind the last record */
#define TIME_MSB UINT64_C(0xf800000000000000) /* an absolute time has the 59 bits below */

enum {
	LENGTH_BITS = 5,
	DELTA_BITS = 27,
	TYPE_PADDING = 29,
	TYPE_TIME_EXTEND = 30,
	TYPE_TIME_STAMP = 31,
};

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t number_at(const uint8_t *p, unsigned int bytes)
{
	return bytes == 8 ? word_at(p) | (uint64_t)word_at(p + 4) << 32 : word_at(p);
}

/* The number behind @key in the line that has @field. */
static long number_in_line(const char *text, const char *field, const char *key)
{
	const char *line = strstr(text, field), *end, *found;

	if (!line)
		return -1;
	end = strchrnul(line, '\n');
	found = memmem(line, (size_t)(end - line), key, strlen(key));
	return found ? strtol(found + strlen(key), NULL, 10) : -1;
}

bool ring_page_layout_read(const char *header_page, struct ring_page_layout *layout)
{
	long commit_offset = number_in_line(header_page, " commit;", "offset:");
	long commit_bytes = number_in_line(header_page, " commit;", "size:");
	long data_offset = number_in_line(header_page, " data;", "offset:");

	if (commit_offset != 8 || (commit_bytes != 4 && commit_bytes != 8) ||
	    data_offset < 8 + commit_bytes || data_offset > 256)
		return false;
	layout->commit_bytes = (unsigned int)commit_bytes;
	layout->data_offset = (unsigned int)data_offset;
	return true;
}

bool ring_page_open(struct ring_page *page, const struct ring_page_layout *layout,
		    const uint8_t *data, size_t bytes)
{
	uint32_t commit, used;

	if (bytes < layout->data_offset)
		return false;
	commit = word_at(data + 8);
	used = commit & COMMIT_BYTES_MASK;
	if (used > bytes - layout->data_offset)
		return false;
	page->page_ns = page->timestamp_ns = number_at(data, 8);
	page->at = data + layout->data_offset;
	page->end = page->at + used;
	page->lost = 0;
	if (commit & MISSED_EVENTS) {
		page->lost = UINT64_MAX;
		if ((commit & MISSED_STORED) &&
		    bytes - layout->data_offset - used >= layout->commit_bytes)
			page->lost = number_at(page->end, layout->commit_bytes);
	}
	return true;
}

int ring_page_next(struct ring_page *page, struct ring_record *record)
{
	for (;;) {
		size_t left = (size_t)(page->end - page->at);
		uint32_t word, type, delta, more = 0;
		size_t size;

		if (!left)
			return 0;
		if (left < 4)
			return -1;
		word = word_at(page->at);
		type = word & ((1u << LENGTH_BITS) - 1);
		delta = word >> LENGTH_BITS;
		if (type == TYPE_PADDING && !delta)
			return 0; /* nothing but padding up to the end */
		if (type == 0 || type >= TYPE_PADDING) {
			if (left < 8)
				return -1;
			more = word_at(page->at + 4);
		}
		switch (type) {
		case TYPE_PADDING: /* a record that was discarded */
			if (more < 4 || more > left - 4)
				return -1;
			page->timestamp_ns += delta;
			page->at += 4 + (size_t)more;
			continue;
		case TYPE_TIME_EXTEND:
			page->timestamp_ns += delta + ((uint64_t)more << DELTA_BITS);
			page->at += 8;
			continue;
		case TYPE_TIME_STAMP:
			page->timestamp_ns = (page->timestamp_ns & TIME_MSB) |
					     ((delta + ((uint64_t)more << DELTA_BITS)) & ~TIME_MSB);
			page->at += 8;
			continue;
		case 0: /* too long for the bits: the word behind tells, itself included */
			if (more < 4 || more > left - 4)
				return -1;
			record->data = page->at + 8;
			record->size = more - 4;
			size = (4 + (size_t)more + 3) & ~(size_t)3;
			if (size > left)
				size = left;
			break;
		default:
			record->data = page->at + 4;
			record->size = 4 * (size_t)type;
			size = 4 + record->size;
			if (size > left)
				return -1;
		}
		page->timestamp_ns += delta;
		page->at += size;
		record->timestamp_ns = page->timestamp_ns;
		return 1;
	}
}
