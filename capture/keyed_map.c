// SPDX-License-Identifier: GPL-2.0-only
#include "capture/keyed_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_SLOTS 256

struct keyed_pair {
	uint64_t number; /* what is looked up */
	uint64_t other;
	bool used;
};

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

uint64_t keyed_hash(const struct hash_key *key, uint64_t purpose, const void *data, size_t size)
{
	/* The purpose is hashed in front of the data, as 8 bytes; the last word tells the length. */
	uint64_t v[4] = {
		key->half[0] ^ UINT64_C(0x736f6d6570736575),
		key->half[1] ^ UINT64_C(0x646f72616e646f6d),
		key->half[0] ^ UINT64_C(0x6c7967656e657261),
		key->half[1] ^ UINT64_C(0x7465646279746573),
	};
	const uint8_t *p = data, *end = p + size;
	uint64_t tail = (uint64_t)(size + 8) << 56;

	sip_word(v, purpose);
	for (; end - p >= 8; p += 8) {
		uint64_t word = 0;

		for (int i = 7; i >= 0; i--)
			word = word << 8 | p[i];
		sip_word(v, word);
	}
	for (int i = 0; p < end; p++, i += 8)
		tail |= (uint64_t)*p << i;
	sip_word(v, tail);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t keyed_hash_number(const struct hash_key *key, uint64_t purpose, uint64_t number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	return keyed_hash(key, purpose, bytes, sizeof(bytes));
}

int hash_key_random(struct hash_key *key)
{
	ssize_t got;

	do
		got = getrandom(key->half, sizeof(key->half), 0);
	while (got < 0 && errno == EINTR);
	return got == sizeof(key->half) ? 0 : -1;
}

void hash_key_derive(struct hash_key *key, const void *data, size_t size)
{
	const struct hash_key none = { { 0, 0 } };

	/* The first bytes are a key of their own, so that the whole file's strength comes in. */
	struct hash_key first = none;

	memcpy(first.half, data, size < sizeof(first.half) ? size : sizeof(first.half));
	for (uint32_t i = 0; i < 2; i++)
		key->half[i] = keyed_hash(&first, i, data, size);
}

void keyed_map_init(struct keyed_map *map, const struct hash_key *key, uint64_t purpose,
		    uint64_t first, uint64_t last, uint64_t wide_last)
{
	*map = (struct keyed_map){
		.key = *key,
		.purpose = purpose,
		.first = first,
		.last = last,
		.wide_last = wide_last,
	};
}

/* The hash is keyed: whoever made the tape cannot choose numbers that meet in one place. */
static struct keyed_pair *find(const struct keyed_map *map, struct keyed_pair *table,
			       uint64_t number)
{
	uint64_t i = keyed_hash_number(&map->key, map->purpose, number) & map->mask;

	while (table[i].used && table[i].number != number)
		i = (i + 1) & map->mask;
	return &table[i];
}

static void copy_table(const struct keyed_map *to, struct keyed_pair *table,
		       const struct keyed_map *from, const struct keyed_pair *old)
{
	for (uint64_t i = 0; old && i <= from->mask; i++)
		if (old[i].used)
			*find(to, table, old[i].number) = old[i];
}

static int grow(struct keyed_map *map)
{
	struct keyed_map bigger = *map, old;

	bigger.mask = map->by_old ? 2 * map->mask + 1 : FIRST_SLOTS - 1;
	bigger.by_old = calloc(bigger.mask + 1, sizeof(*bigger.by_old));
	bigger.by_new = calloc(bigger.mask + 1, sizeof(*bigger.by_new));
	if (!bigger.by_old || !bigger.by_new) {
		free(bigger.by_old);
		free(bigger.by_new);
		return -1;
	}
	copy_table(&bigger, bigger.by_old, map, map->by_old);
	copy_table(&bigger, bigger.by_new, map, map->by_new);
	old = *map;
	*map = bigger;
	keyed_map_free(&old);
	return 0;
}

/* A number of first..last that nothing became yet. The caller made sure that there is one. */
static struct keyed_pair *find_free(struct keyed_map *map, uint64_t number, uint64_t *replaced)
{
	uint64_t span, at;
	struct keyed_pair *pair;

	span = map->last - map->first + 1;
	at = keyed_hash_number(&map->key, map->purpose, number);
	if (span)
		at %= span;
	while ((pair = find(map, map->by_new, map->first + at))->used)
		at = at + 1 == span ? 0 : at + 1;
	*replaced = map->first + at;
	return pair;
}

int keyed_map_get(struct keyed_map *map, uint64_t number, uint64_t *replaced)
{
	struct keyed_pair *pair;

	if (!map->by_old || 2 * map->nr > map->mask)
		if (grow(map))
			return -1;
	pair = find(map, map->by_old, number);
	if (!pair->used) {
		struct keyed_pair *back;

		if (map->nr > (map->last - map->first) / 2)
			map->last = map->wide_last;
		if (map->nr > map->last - map->first)
			return -1;
		back = find_free(map, number, replaced);
		*back = (struct keyed_pair){ *replaced, number, true };
		*pair = (struct keyed_pair){ number, *replaced, true };
		map->nr++;
	}
	*replaced = pair->other;
	return 0;
}

void keyed_map_free(struct keyed_map *map)
{
	free(map->by_old);
	free(map->by_new);
	map->by_old = map->by_new = NULL;
}
