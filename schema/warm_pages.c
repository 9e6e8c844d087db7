// SPDX-License-Identifier: GPL-2.0-only
#include "schema/warm_pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* On disk, little endian; then nr_memcgs u64, then nr_runs times four varints. */
struct warm_pages_head {
	uint32_t version;
	uint32_t nr_memcgs;
	uint64_t first_pfn, end_pfn;
	uint64_t nr_runs;
};

static_assert(sizeof(struct warm_pages_head) == 32, "on disk");

#define ORDER_BITS 5
#define RUN_BYTES_MAX 40 /* four varints */

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static int take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; shift < 64 && *at < end; shift += 7) {
		uint8_t byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 0;
	}
	return -1;
}

/* Few and clustered: the last one found is nearly always the next one. */
static int memcg_index(struct warm_pages_writer *writer, uint64_t memcg, uint32_t *index)
{
	uint64_t *more;

	for (uint32_t i = writer->nr_memcgs; i-- > 0;)
		if (writer->memcg[i] == memcg) {
			*index = i;
			return 0;
		}
	if (writer->nr_memcgs == WARM_PAGES_MEMCGS_MAX)
		return -1;
	if ((writer->nr_memcgs & (writer->nr_memcgs - 1)) == 0) {
		more = reallocarray(writer->memcg, writer->nr_memcgs ? 2 * writer->nr_memcgs : 1,
				    sizeof(*more));
		if (!more)
			return -1;
		writer->memcg = more;
	}
	*index = writer->nr_memcgs;
	writer->memcg[writer->nr_memcgs++] = memcg;
	return 0;
}

static int put_run(struct warm_pages_writer *writer)
{
	const struct warm_run *run = &writer->run;
	uint32_t memcg;
	uint8_t *at;

	if (!run->nr_folios)
		return 0;
	if (memcg_index(writer, run->memcg, &memcg))
		return -1;
	if (writer->runs_room - writer->runs_bytes < RUN_BYTES_MAX) {
		size_t room = writer->runs_room ? 2 * writer->runs_room : 4096;
		uint8_t *more = realloc(writer->runs, room);

		if (!more)
			return -1;
		writer->runs = more;
		writer->runs_room = room;
	}
	at = writer->runs + writer->runs_bytes;
	at = put_varint(at, run->pfn - writer->next_pfn);
	at = put_varint(at, run->nr_folios);
	at = put_varint(at, (uint64_t)run->flags << ORDER_BITS | run->order);
	at = put_varint(at, memcg);
	writer->runs_bytes = (size_t)(at - writer->runs);
	writer->next_pfn = run->pfn + (run->nr_folios << run->order);
	writer->nr_runs++;
	writer->run.nr_folios = 0;
	return 0;
}

int warm_pages_add(struct warm_pages_writer *writer, uint64_t pfn, unsigned int order,
		   uint32_t flags, uint64_t memcg)
{
	struct warm_run *run = &writer->run;

	assert(order <= WARM_PAGES_ORDER_MAX);
	if (!writer->nr_folios++)
		writer->next_pfn = writer->first_pfn;
	if (run->nr_folios && run->order == order && run->flags == flags && run->memcg == memcg &&
	    pfn == run->pfn + (run->nr_folios << order)) {
		run->nr_folios++;
		return 0;
	}
	if (put_run(writer))
		return -1;
	*run = (struct warm_run){ pfn, 1, order, flags, memcg };
	return 0;
}

uint8_t *warm_pages_finish(struct warm_pages_writer *writer, uint64_t end_pfn, size_t *size)
{
	uint8_t *bytes = NULL, *at;
	struct warm_pages_head head;

	if (put_run(writer))
		goto out_free;
	head = (struct warm_pages_head){ WARM_PAGES_VERSION, writer->nr_memcgs, writer->first_pfn,
					 end_pfn, writer->nr_runs };
	*size = sizeof(head) + writer->nr_memcgs * sizeof(uint64_t) + writer->runs_bytes;
	bytes = malloc(*size);
	if (!bytes)
		goto out_free;
	at = mempcpy(bytes, &head, sizeof(head));
	if (writer->nr_memcgs)
		at = mempcpy(at, writer->memcg, writer->nr_memcgs * sizeof(uint64_t));
	if (writer->runs_bytes)
		memcpy(at, writer->runs, writer->runs_bytes);
out_free:
	free(writer->memcg);
	free(writer->runs);
	memset(writer, 0, sizeof(*writer));
	return bytes;
}

int warm_pages_open(struct warm_pages_reader *reader, const void *data, size_t size)
{
	struct warm_pages_head head;

	if (size < sizeof(head))
		return -1;
	memcpy(&head, data, sizeof(head));
	if (head.version != WARM_PAGES_VERSION || head.nr_memcgs > WARM_PAGES_MEMCGS_MAX ||
	    head.nr_memcgs > (size - sizeof(head)) / sizeof(uint64_t) ||
	    head.first_pfn > head.end_pfn)
		return -1;
	reader->first_pfn = head.first_pfn;
	reader->end_pfn = head.end_pfn;
	reader->nr_runs = reader->left = head.nr_runs;
	reader->nr_memcgs = head.nr_memcgs;
	reader->memcg = (const uint8_t *)data + sizeof(head);
	reader->at = reader->memcg + head.nr_memcgs * sizeof(uint64_t);
	reader->end = (const uint8_t *)data + size;
	reader->next_pfn = head.first_pfn;
	return 0;
}

int warm_pages_next(struct warm_pages_reader *reader, struct warm_run *run)
{
	uint64_t gap, kind, memcg, room;

	if (reader->left == 0)
		return reader->at == reader->end ? 0 : -1;
	if (take_varint(&reader->at, reader->end, &gap) ||
	    take_varint(&reader->at, reader->end, &run->nr_folios) ||
	    take_varint(&reader->at, reader->end, &kind) ||
	    take_varint(&reader->at, reader->end, &memcg))
		return -1;
	room = reader->end_pfn - reader->next_pfn;
	run->order = kind & ((1u << ORDER_BITS) - 1);
	if (gap > room || memcg >= reader->nr_memcgs || kind >> ORDER_BITS > UINT32_MAX ||
	    run->nr_folios == 0 || run->nr_folios > (room - gap) >> run->order)
		return -1;
	run->pfn = reader->next_pfn + gap;
	run->flags = (uint32_t)(kind >> ORDER_BITS);
	memcpy(&run->memcg, reader->memcg + memcg * sizeof(uint64_t), sizeof(run->memcg));
	reader->next_pfn = run->pfn + (run->nr_folios << run->order);
	reader->left--;
	return 1;
}
