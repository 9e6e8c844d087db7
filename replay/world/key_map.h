/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A number for each 64-bit key but 0: open addressing, nothing is ever taken out.
 */
#ifndef REPLAY_WORLD_KEY_MAP_H
#define REPLAY_WORLD_KEY_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define KEY_MAP_FIRST 4096 /* places; a power of two, as all sizes are */

struct key_map {
	uint64_t *key; /* 0: empty */
	uint32_t *value;
	uint64_t mask, nr;
};

/** key_map_exit() - free it. Zeroes, an empty one, are all right. */
static inline void key_map_exit(struct key_map *map)
{
	free(map->key);
	free(map->value);
	*map = (struct key_map){ 0 };
}

/* Where a key is, or would be put. */
static inline uint64_t key_map_place(const struct key_map *map, uint64_t key)
{
	uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15);

	for (i = (i ^ i >> 29) & map->mask; map->key[i] && map->key[i] != key;
	     i = (i + 1) & map->mask)
		;
	return i;
}

/** key_map_find() - the number under a key. Return: NULL: none. Valid until the next key_map_put(). */
static inline uint32_t *key_map_find(const struct key_map *map, uint64_t key)
{
	uint64_t i = map->key ? key_map_place(map, key) : 0;

	return map->key && map->key[i] ? &map->value[i] : NULL;
}

/** key_map_grow() - twice the places. Return: false without memory, the map is as it was. */
static inline bool key_map_grow(struct key_map *map)
{
	uint64_t room = map->key ? (map->mask + 1) * 2 : KEY_MAP_FIRST;
	struct key_map bigger = { .mask = room - 1, .nr = map->nr };

	bigger.key = calloc(room, sizeof(*bigger.key));
	bigger.value = calloc(room, sizeof(*bigger.value));
	if (!bigger.key || !bigger.value) {
		key_map_exit(&bigger);
		return false;
	}
	for (uint64_t i = 0; map->key && i <= map->mask; i++) {
		uint64_t to;

		if (!map->key[i])
			continue;
		to = key_map_place(&bigger, map->key[i]);
		bigger.key[to] = map->key[i];
		bigger.value[to] = map->value[i];
	}
	key_map_exit(map);
	*map = bigger;
	return true;
}

/** key_map_put() - set the number under a key. Return: false without memory, nothing is set. */
static inline bool key_map_put(struct key_map *map, uint64_t key, uint32_t value)
{
	uint64_t i;

	if ((!map->key || map->nr * 2 > map->mask) && !key_map_grow(map))
		return false;
	i = key_map_place(map, key);
	map->nr += !map->key[i];
	map->key[i] = key;
	map->value[i] = value;
	return true;
}

#endif
