// SPDX-License-Identifier: GPL-2.0-only
#include "capture/anonymize_pfn.h"

#include <stdlib.h>
#include <string.h>

#define HASH_PFN_BLOCK 8 /* a purpose of keyed_hash(): see anonymize_names.c for the others */
#define BLOCK_PAGES (UINT64_C(1) << PFN_BLOCK_BITS)
#define FIRST_SLOTS 1024
#define ZONES_MAX 512

struct pfn_block {
	uint64_t number; /* pfn >> PFN_BLOCK_BITS */
	uint64_t replaced;
	uint64_t hash;
	uint32_t zones; /* blocks of equal ones may change places */
};

static uint64_t *find_seen(const struct pfn_map *map, uint64_t number)
{
	uint64_t i = (number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & map->mask;

	while (map->seen[i] && map->seen[i] != number + 1)
		i = (i + 1) & map->mask;
	return &map->seen[i];
}

static int grow(struct pfn_map *map)
{
	uint64_t mask = map->seen ? 2 * map->mask + 1 : FIRST_SLOTS - 1;
	uint64_t *seen = calloc(mask + 1, sizeof(*seen));
	struct pfn_block *block = reallocarray(map->block, (mask + 1) / 2 + 1, sizeof(*block));

	if (block)
		map->block = block;
	if (!seen || !block) {
		free(seen);
		return -1;
	}
	free(map->seen);
	map->seen = seen;
	map->mask = mask;
	map->room = (mask + 1) / 2;
	for (uint64_t i = 0; i < map->nr; i++)
		*find_seen(map, map->block[i].number) = map->block[i].number + 1;
	return 0;
}

int pfn_map_use(struct pfn_map *map, uint64_t pfn)
{
	uint64_t number = pfn >> PFN_BLOCK_BITS, *seen;

	if (pfn == UINT64_MAX || map->last_seen == number + 1)
		return 0;
	if (map->nr == map->room && grow(map))
		return -1;
	map->last_seen = number + 1;
	seen = find_seen(map, number);
	if (!*seen) {
		*seen = number + 1;
		map->block[map->nr++] = (struct pfn_block){ .number = number };
	}
	return 0;
}

struct zone {
	uint64_t first, nr; /* pages */
};

/* "Node 0, zone Normal", then lines with "spanned N" and at the end "start_pfn: N". */
static unsigned int read_zones(const char *text, struct zone zones[ZONES_MAX])
{
	unsigned int nr = 0;
	uint64_t spanned = 0;

	for (; text && *text && nr < ZONES_MAX; text = strchr(text, '\n')) {
		const char *word = text + strspn(text, " \n");

		text = word;
		if (!strncmp(word, "Node ", 5))
			spanned = 0;
		else if (!strncmp(word, "spanned ", 8))
			spanned = strtoull(word + 8, NULL, 10);
		else if (!strncmp(word, "start_pfn:", 10))
			zones[nr++] = (struct zone){ strtoull(word + 10, NULL, 10), spanned };
	}
	return nr;
}

static uint32_t zone_of(const struct zone *zones, unsigned int nr, uint64_t pfn)
{
	for (uint32_t i = 0; i < nr; i++)
		if (pfn - zones[i].first < zones[i].nr)
			return i + 1;
	return 0;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct pfn_block *one = a, *other = b;

	return compare(one->number, other->number);
}

static int compare_zones(const void *a, const void *b)
{
	const struct pfn_block *one = a, *other = b;
	int order = compare(one->zones, other->zones);

	return order ? order : compare(one->number, other->number);
}

static int compare_hashes(const void *a, const void *b)
{
	const struct pfn_block *one = a, *other = b;
	int order = compare(one->hash, other->hash);

	return order ? order : compare(one->number, other->number);
}

/* Blocks of one class, by number: the one with the i-th hash goes to the i-th place. */
static void shuffle_class(struct pfn_block *block, uint64_t nr, uint64_t *place)
{
	for (uint64_t i = 0; i < nr; i++)
		place[i] = block[i].number;
	qsort(block, nr, sizeof(*block), compare_hashes);
	for (uint64_t i = 0; i < nr; i++)
		block[i].replaced = place[i];
}

void pfn_map_shuffle(struct pfn_map *map, const struct hash_key *key, const char *zoneinfo)
{
	struct zone zones[ZONES_MAX];
	unsigned int nr_zones = read_zones(zoneinfo, zones);
	struct pfn_block *block = map->block;

	for (uint64_t i = 0; i < map->nr; i++) {
		uint64_t pfn = block[i].number << PFN_BLOCK_BITS;

		block[i].zones = zone_of(zones, nr_zones, pfn) * (ZONES_MAX + 1) +
				 zone_of(zones, nr_zones, pfn + BLOCK_PAGES - 1);
		block[i].hash = keyed_hash_number(key, HASH_PFN_BLOCK, block[i].number);
	}
	if (!map->nr)
		return;
	qsort(block, map->nr, sizeof(*block), compare_zones);
	/* The table of seen blocks has done its work, and has room for more than one number each. */
	for (uint64_t i = 0, end; i < map->nr; i = end) {
		for (end = i + 1; end < map->nr && block[end].zones == block[i].zones; end++)
			;
		shuffle_class(&block[i], end - i, map->seen);
	}
	qsort(block, map->nr, sizeof(*block), compare_numbers);
	map->last = block;
}

uint64_t pfn_map_get(struct pfn_map *map, uint64_t pfn)
{
	const struct pfn_block wanted = { .number = pfn >> PFN_BLOCK_BITS };

	if (pfn == UINT64_MAX || !map->nr)
		return pfn;
	if (map->last->number != wanted.number) {
		const struct pfn_block *found = bsearch(&wanted, map->block, map->nr,
							sizeof(*map->block), compare_numbers);

		if (!found) /* not met when the tape was read before: it has changed since */
			return pfn;
		map->last = found;
	}
	return map->last->replaced << PFN_BLOCK_BITS | (pfn & (BLOCK_PAGES - 1));
}

void pfn_map_free(struct pfn_map *map)
{
	free(map->block);
	free(map->seen);
	memset(map, 0, sizeof(*map));
}
