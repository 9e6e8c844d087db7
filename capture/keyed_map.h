/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and names replaced under a secret key: SipHash-2-4 (Aumasson and Bernstein, 2012), and
 * one-to-one maps of numbers made from it.
 */
#ifndef CAPTURE_KEYED_MAP_H
#define CAPTURE_KEYED_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_key {
	uint64_t half[2];
};

/**
 * keyed_hash() - SipHash-2-4
 * @purpose: keeps hashes of one value for two uses apart; hashed as 8 bytes in front of the data
 * Return: 64 bits that nobody without the key can tell from random ones.
 */
uint64_t keyed_hash(const struct hash_key *key, uint64_t purpose, const void *data, size_t size);

/** keyed_hash_number() - keyed_hash() of a number. */
uint64_t keyed_hash_number(const struct hash_key *key, uint64_t purpose, uint64_t number);

/** hash_key_random() - a key from the kernel's generator. Return: 0, or -1 with errno. */
int __attribute__((warn_unused_result)) hash_key_random(struct hash_key *key);

#define HASH_KEY_BYTES_MIN 16 /* shorter key files are refused: they can be guessed */

/** hash_key_derive() - a key from a file's bytes, at least HASH_KEY_BYTES_MIN of them. */
void hash_key_derive(struct hash_key *key, const void *data, size_t size);

struct keyed_pair;

/*
 * A one-to-one map, made as numbers are met. A number becomes its hash within first..last; where
 * another number has that already, the next free one: so under one key a number becomes the same
 * on any tape, but for these few.
 */
struct keyed_map {
	struct hash_key key;
	uint64_t purpose;
	uint64_t first, last; /* of the new numbers */
	uint64_t wide_last; /* instead of last, once half of first..last is in use */
	struct keyed_pair *by_old, *by_new; /* open addressing */
	uint64_t nr, mask;
};

/** keyed_map_init() - an empty map; @wide_last: the same as @last where no more are needed. */
void keyed_map_init(struct keyed_map *map, const struct hash_key *key, uint64_t purpose,
		    uint64_t first, uint64_t last, uint64_t wide_last);

/** keyed_map_get() - what a number becomes. Return: 0, or -1 without memory or new numbers. */
int __attribute__((warn_unused_result))
keyed_map_get(struct keyed_map *map, uint64_t number, uint64_t *replaced);

/** keyed_map_free() - free the map's memory. */
void keyed_map_free(struct keyed_map *map);

#endif
