// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-reference traces whose misses are known: see tests/golden/oracle.csv.
 *
 *   page_trace zipf PAGES REQUESTS SEED    popularity of rank i is 1/i, ranks shuffled over the pages
 *   page_trace loop PAGES REQUESTS         1, 2, ... PAGES, and again
 *
 * Written to stdout as oracleGeneral: 24 packed little-endian bytes a request: u32 seconds, u64 page,
 * u32 bytes, i64 index of the next request for the same page, -1 for none. Integers only, so that
 * the same arguments give the same bytes on every machine.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_MAX (UINT32_C(1) << 28)
#define REQUESTS_MAX (UINT64_C(1) << 32)
#define WEEK_S 604800 /* the trace's length */
#define WEIGHT_SHIFT 44 /* of rank 1 */

struct request {
	uint32_t page; /* from 1 */
	uint64_t next; /* index, 0: none */
};

static void die(const char *what)
{
	fprintf(stderr, "page_trace: %s\n", what);
	exit(1);
}

static void *allocate(uint64_t nr, size_t size)
{
	void *room = calloc(nr, size);

	if (!room)
		die("out of memory");
	return room;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to limit - 1 */
static uint64_t draw_below(uint64_t *state, uint64_t limit)
{
	return (uint64_t)((unsigned __int128)draw(state) * limit >> 64);
}

static void make_zipf(struct request *request, uint64_t nr, uint32_t pages, uint64_t state)
{
	uint64_t *sum = allocate(pages, sizeof(*sum)), total = 0; /* of the weights up to a rank */
	uint32_t *page = allocate(pages, sizeof(*page)); /* by rank */

	for (uint32_t rank = 0; rank < pages; rank++) {
		total += (UINT64_C(1) << WEIGHT_SHIFT) / (rank + 1);
		sum[rank] = total;
		page[rank] = rank + 1;
	}
	for (uint32_t rank = pages - 1; rank; rank--) {
		uint32_t other = (uint32_t)draw_below(&state, rank + 1), kept = page[rank];

		page[rank] = page[other];
		page[other] = kept;
	}
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t at = draw_below(&state, total);
		uint32_t low = 0, high = pages - 1;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (sum[middle] > at)
				high = middle;
			else
				low = middle + 1;
		}
		request[i].page = page[low];
	}
	free(sum);
	free(page);
}

static void make_loop(struct request *request, uint64_t nr, uint32_t pages)
{
	for (uint64_t i = 0; i < nr; i++)
		request[i].page = (uint32_t)(i % pages) + 1;
}

static void put(unsigned char *bytes, uint64_t value, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		bytes[i] = (unsigned char)(value >> 8 * i);
}

static void write_requests(struct request *request, uint64_t nr, uint32_t pages)
{
	uint64_t *seen = allocate(pages + UINT64_C(1),
				  sizeof(*seen)); /* by page: index of the request after */

	for (uint64_t i = nr; i-- > 0;) {
		request[i].next = seen[request[i].page];
		seen[request[i].page] = i;
	}
	free(seen);
	for (uint64_t i = 0; i < nr; i++) {
		unsigned char bytes[24];

		put(bytes, i * WEEK_S / nr, 4);
		put(bytes + 4, request[i].page, 8);
		put(bytes + 12, 4096, 4);
		put(bytes + 16, request[i].next ? request[i].next : UINT64_MAX, 8);
		if (fwrite(bytes, sizeof(bytes), 1, stdout) != 1)
			die("cannot write");
	}
	if (fflush(stdout))
		die("cannot write");
}

static uint64_t number(const char *text, uint64_t limit)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*end || !n || n > limit)
		die("a number is out of range");
	return n;
}

int main(int argc, char **argv)
{
	bool zipf = argc == 5 && !strcmp(argv[1], "zipf"),
	     loop = argc == 4 && !strcmp(argv[1], "loop");
	struct request *request;
	uint64_t nr;
	uint32_t pages;

	if (!zipf && !loop) {
		fputs("usage: page_trace zipf PAGES REQUESTS SEED | page_trace loop PAGES REQUESTS\n",
		      stderr);
		return 2;
	}
	pages = (uint32_t)number(argv[2], PAGES_MAX);
	nr = number(argv[3], REQUESTS_MAX);
	request = allocate(nr, sizeof(*request));
	if (zipf)
		make_zipf(request, nr, pages, number(argv[4], UINT64_MAX));
	else
		make_loop(request, nr, pages);
	write_requests(request, nr, pages);
	free(request);
	return 0;
}
