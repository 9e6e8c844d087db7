/* SPDX-License-Identifier: GPL-2.0-only */
/* The one way in which JSON strings are written. */
#ifndef SCHEMA_JSON_OUT_H
#define SCHEMA_JSON_OUT_H

#include <stddef.h>
#include <stdio.h>

/**
 * json_string() - print bytes as a JSON string, quotes included
 * @to: stream
 * @text: any bytes; those that are no valid UTF-8 are printed as \u00XX
 * @size: bytes
 */
void json_string(FILE *to, const char *text, size_t size);

#endif
