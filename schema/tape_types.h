/* SPDX-License-Identifier: GPL-2.0-only */
/* Event types in memory and on disk: shared by the tape's writer and reader, nobody else's business. */
#ifndef SCHEMA_TAPE_TYPES_H
#define SCHEMA_TAPE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "schema/tape_reader.h"

/* Bytes that grow. */
struct tape_bytes {
	uint8_t *data;
	size_t size, room;
};

/** tape_bytes_append() - copy @size bytes to the end. Return: 0 or TAPE_ERR_MEMORY. */
int tape_bytes_append(struct tape_bytes *bytes, const void *data, size_t size);

/** tape_bytes_reserve() - room for @size more bytes at data + size. Return: 0 or TAPE_ERR_MEMORY. */
int tape_bytes_reserve(struct tape_bytes *bytes, size_t size);

/** tape_frame_seal() - fill payload size and both checksums into a whole frame's header. */
void tape_frame_seal(struct tape_bytes *frame);

/** tape_header_crc() - checksum of a frame header with its counts, as header_crc should say. */
uint32_t tape_header_crc(const uint8_t *header, size_t header_bytes);

void tape_bytes_free(struct tape_bytes *bytes);

/**
 * tape_type_copy() - check a type, copy it, and give its fields their slots
 * @number: of the copy
 * @why: set to a phrase when the type breaks a limit
 *
 * A type that events.def names gets its slots first; other fields follow in their own order.
 * Return: owned by the caller, ends with tape_type_free(); NULL with *why set, or with *why NULL
 * when memory ran out.
 */
struct tape_type *tape_type_copy(const struct tape_type *type, uint16_t number, const char **why);

void tape_type_free(struct tape_type *type);

/** tape_type_pack() - append a type's bytes on disk. Return: 0 or TAPE_ERR_MEMORY. */
int tape_type_pack(struct tape_bytes *to, const struct tape_type *type);

/**
 * tape_type_unpack() - the opposite, from bytes that may be hostile
 * @at: start of an entry, set to the one that follows
 * @why: as tape_type_copy()
 * Return: as tape_type_copy().
 */
struct tape_type *tape_type_unpack(const uint8_t **at, const uint8_t *end, const char **why);

#endif
