// SPDX-License-Identifier: GPL-2.0-only
#include "capture/anonymize_warm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/tape_format.h"
#include "schema/warm_pages.h"

#define BLOCK_PAGES (UINT64_C(1) << PFN_BLOCK_BITS)
#define BLOCKS_MAX (1u << 19) /* 16 TiB of 4 KiB pages: a few bytes must not cost minutes */
#define BLOB_BYTES (TAPE_BLOB_BYTES_MAX / 2) /* then the next one begins, at a range's border */

/* Page frames that the blobs speak of, within one block. */
struct range {
	uint64_t first, end;
};

struct gathered {
	struct range *range;
	uint64_t nr_ranges, range_room;
	struct warm_run *run;
	uint64_t nr_runs, run_room;
};

bool anonymize_warm_is(const struct tape_blob *blob)
{
	static const char prefix[] = "lrutape/warm_pages/";

	return !strncmp(blob->name, prefix, sizeof(prefix) - 1);
}

static uint64_t block_end(uint64_t pfn)
{
	return (pfn | (BLOCK_PAGES - 1)) + 1;
}

/* How many of a run's folios lie in the block of its first one; 0: that one does not. */
static uint64_t folios_in_block(const struct warm_run *run)
{
	uint64_t nr = (block_end(run->pfn) - run->pfn) >> run->order;

	return nr < run->nr_folios ? nr : run->nr_folios;
}

/* Return: false if it is damaged, or has a folio across blocks, which no LRU list has. */
static bool is_usable(const struct tape_blob *blob)
{
	struct warm_pages_reader reader;
	struct warm_run run;
	int got;

	if (warm_pages_open(&reader, blob->data, blob->size) ||
	    reader.end_pfn >> PFN_BLOCK_BITS >= BLOCKS_MAX)
		return false;
	while ((got = warm_pages_next(&reader, &run)) > 0)
		while (run.nr_folios) {
			uint64_t nr = folios_in_block(&run);

			if (!nr)
				return false;
			run.nr_folios -= nr;
			run.pfn += nr << run.order;
		}
	return got == 0;
}

static int use_blocks(const struct tape_blob *blob, struct pfn_map *pfns)
{
	struct warm_pages_reader reader;

	if (warm_pages_open(&reader, blob->data, blob->size))
		return 0;
	for (uint64_t pfn = reader.first_pfn; pfn < reader.end_pfn; pfn = block_end(pfn))
		if (pfn_map_use(pfns, pfn))
			return -1;
	return 0;
}

int anonymize_warm_learn(const struct tape_reader *reader, struct pfn_map *pfns, bool *usable)
{
	const struct tape_blob *blob;

	*usable = true;
	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++)
		if (anonymize_warm_is(blob))
			*usable &= is_usable(blob);
	for (size_t i = 0; *usable && (blob = tape_reader_blob(reader, i)); i++)
		if (anonymize_warm_is(blob) && use_blocks(blob, pfns))
			return -1;
	return 0;
}

/* ---- gathering */

static int add_range(struct gathered *to, uint64_t first, uint64_t end)
{
	if (to->nr_ranges == to->range_room) {
		uint64_t room = to->range_room ? 2 * to->range_room : 1024;
		struct range *more = reallocarray(to->range, room, sizeof(*more));

		if (!more)
			return -1;
		to->range = more;
		to->range_room = room;
	}
	to->range[to->nr_ranges++] = (struct range){ first, end };
	return 0;
}

static int add_run(struct gathered *to, const struct warm_run *run)
{
	if (to->nr_runs == to->run_room) {
		uint64_t room = to->run_room ? 2 * to->run_room : 4096;
		struct warm_run *more = reallocarray(to->run, room, sizeof(*more));

		if (!more)
			return -1;
		to->run = more;
		to->run_room = room;
	}
	to->run[to->nr_runs++] = *run;
	return 0;
}

static int gather_blob(struct gathered *to, const struct tape_blob *blob, struct pfn_map *pfns,
		       struct anonymize_names *names)
{
	struct warm_pages_reader reader;
	struct warm_run run;

	if (warm_pages_open(&reader, blob->data, blob->size))
		return -1;
	for (uint64_t pfn = reader.first_pfn, end; pfn < reader.end_pfn; pfn = end) {
		uint64_t first = pfn_map_get(pfns, pfn);

		end = block_end(pfn) < reader.end_pfn ? block_end(pfn) : reader.end_pfn;
		if (add_range(to, first, first + (end - pfn)))
			return -1;
	}
	while (warm_pages_next(&reader, &run) > 0) {
		uint64_t left = run.nr_folios, pfn = run.pfn;

		run.memcg = anonymize_cgroup(names, run.memcg);
		while (left) {
			run.pfn = pfn;
			run.nr_folios = left;
			run.nr_folios = folios_in_block(&run);
			left -= run.nr_folios;
			pfn += run.nr_folios << run.order;
			run.pfn = pfn_map_get(pfns, run.pfn);
			if (add_run(to, &run))
				return -1;
		}
	}
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *one = a, *other = b;

	return one->first < other->first ? -1 : one->first > other->first;
}

static int compare_runs(const void *a, const void *b)
{
	const struct warm_run *one = a, *other = b;

	return one->pfn < other->pfn ? -1 : one->pfn > other->pfn;
}

/* ---- writing */

struct output {
	struct tape_writer *tape;
	struct warm_pages_writer pages;
	uint64_t timestamp_ns;
	unsigned int nr_blobs;
};

static int end_blob(struct output *output, uint64_t end_pfn)
{
	char name[64];
	size_t size;
	uint8_t *bytes = warm_pages_finish(&output->pages, end_pfn, &size);
	struct tape_blob blob = { .timestamp_ns = output->timestamp_ns,
				  .moment = TAPE_MOMENT_START,
				  .name = name,
				  .data = (const char *)bytes,
				  .size = size };
	int error;

	if (!bytes)
		return -1;
	snprintf(name, sizeof(name), "lrutape/warm_pages/%u", output->nr_blobs++);
	error = tape_writer_add_blob(output->tape, &blob);
	free(bytes);
	return error;
}

/* Ranges that touch are one blob; two that overlap are two that speak of the same pages: the second is left. */
static int write_all(struct gathered *from, struct output *output)
{
	uint64_t next_run = 0, end_pfn = 0, told_pfn = 0;
	bool begun = false;
	int error = 0;

	for (uint64_t i = 0; i < from->nr_ranges && !error; i++) {
		const struct range *range = &from->range[i];

		if (begun && range->first < end_pfn)
			continue;
		if (begun && (range->first > end_pfn || output->pages.runs_bytes > BLOB_BYTES)) {
			error = end_blob(output, end_pfn);
			begun = false;
		}
		if (!begun)
			output->pages.first_pfn = range->first;
		begun = true;
		end_pfn = range->end;
		while (next_run < from->nr_runs && from->run[next_run].pfn < range->first)
			next_run++;
		for (; !error && next_run < from->nr_runs && from->run[next_run].pfn < end_pfn;
		     next_run++) {
			const struct warm_run *run = &from->run[next_run];

			if (run->pfn < told_pfn)
				continue;
			told_pfn = run->pfn + (run->nr_folios << run->order);
			for (uint64_t n = 0; n < run->nr_folios && !error; n++)
				error = warm_pages_add(&output->pages, run->pfn + (n << run->order),
						       run->order, run->flags, run->memcg);
		}
	}
	if (!error && begun)
		error = end_blob(output, end_pfn);
	free(output->pages.memcg);
	free(output->pages.runs);
	return error;
}

int anonymize_warm_copy(const struct tape_reader *reader, struct pfn_map *pfns,
			struct anonymize_names *names, struct tape_writer *writer,
			uint64_t timestamp_ns, unsigned int *nr_blobs)
{
	struct output output = { .tape = writer, .timestamp_ns = timestamp_ns };
	struct gathered gathered = { 0 };
	const struct tape_blob *blob;
	int error = 0;

	for (size_t i = 0; !error && (blob = tape_reader_blob(reader, i)); i++)
		if (anonymize_warm_is(blob))
			error = gather_blob(&gathered, blob, pfns, names);
	if (!error && names->out_of_memory)
		error = -1;
	if (!error && gathered.nr_ranges) {
		qsort(gathered.range, gathered.nr_ranges, sizeof(*gathered.range), compare_ranges);
		if (gathered.nr_runs)
			qsort(gathered.run, gathered.nr_runs, sizeof(*gathered.run), compare_runs);
		error = write_all(&gathered, &output);
	}
	free(gathered.range);
	free(gathered.run);
	*nr_blobs = output.nr_blobs;
	return error;
}
