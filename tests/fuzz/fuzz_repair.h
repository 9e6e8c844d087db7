/* SPDX-License-Identifier: GPL-2.0-only */
/* For fuzz targets that read a tape: without this hardly any input would get past the first checksum. */
#ifndef TESTS_FUZZ_FUZZ_REPAIR_H
#define TESTS_FUZZ_FUZZ_REPAIR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "schema/tape_format.h"
#include "schema/tape_types.h"

static inline void fuzz_put_crc(uint8_t *at, const uint8_t *data, size_t size)
{
	uint32_t crc = (uint32_t)crc32(0, data, (uInt)size);

	memcpy(at, &crc, sizeof(crc));
}

/** fuzz_repair_checksums() - put right all checksums of a tape, as far as its frames can be followed. */
static inline void fuzz_repair_checksums(uint8_t *data, size_t size)
{
	const size_t trailer_bytes = sizeof(struct tape_trailer);
	struct tape_frame_header header;
	uint32_t crc;

	if (size < sizeof(struct tape_file_header))
		return;
	fuzz_put_crc(data + offsetof(struct tape_file_header, crc), data,
		     offsetof(struct tape_file_header, crc));
	for (size_t at = sizeof(struct tape_file_header); at + sizeof(header) <= size;
	     at += (size_t)header.header_bytes + header.payload_bytes) {
		memcpy(&header, data + at, sizeof(header));
		if (header.magic != TAPE_FRAME_MAGIC || header.header_bytes < sizeof(header) ||
		    header.header_bytes > size - at ||
		    header.payload_bytes > size - at - header.header_bytes)
			break;
		fuzz_put_crc(data + at + offsetof(struct tape_frame_header, payload_crc),
			     data + at + header.header_bytes, header.payload_bytes);
		crc = tape_header_crc(data + at, header.header_bytes);
		memcpy(data + at + offsetof(struct tape_frame_header, header_crc), &crc,
		       sizeof(crc));
	}
	fuzz_put_crc(data + size - trailer_bytes + offsetof(struct tape_trailer, crc),
		     data + size - trailer_bytes + offsetof(struct tape_trailer, index_byte),
		     trailer_bytes - offsetof(struct tape_trailer, index_byte));
}

#endif
