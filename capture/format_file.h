/* SPDX-License-Identifier: GPL-2.0-only */
/* An event's `format` file as the tape's field table. */
#ifndef CAPTURE_FORMAT_FILE_H
#define CAPTURE_FORMAT_FILE_H

#include <stdint.h>

#include "schema/tape_reader.h"

#define FORMAT_FILE_MAX_FIELDS 1024

struct format_fields {
	uint16_t kernel_id;
	struct tape_field *field; /* without the common ones, in the file's order */
	unsigned int nr_fields;
	char *strings; /* what the names and ctypes point into */
};

/**
 * format_file_parse() - read a format file's text
 * @text: of events/SYSTEM/EVENT/format
 * @fields: filled on success, freed with format_file_free()
 *
 * Integers of 1, 2, 4 and 8 bytes, char arrays and __data_loc char[] get their kind; other arrays
 * and structs are TAPE_FIELD_BYTES. Kernel addresses are TAPE_FIELD_LEFT_OUT: they would defeat
 * KASLR in a file that is sent away. `slot` is left 0: the tape's writer numbers the slots.
 * Return: 0, or -1 if the text is no format file, or memory or FORMAT_FILE_MAX_FIELDS run out.
 */
int __attribute__((warn_unused_result))
format_file_parse(const char *text, struct format_fields *fields);

/** format_file_free() - free what format_file_parse() filled in. */
void format_file_free(struct format_fields *fields);

/**
 * format_file_sub_buffer_bytes() - the ring buffer's page size
 * @header_page: text of events/header_page
 * Return: bytes of a page with its header, 0 if the text does not tell.
 */
unsigned int format_file_sub_buffer_bytes(const char *header_page);

#endif
