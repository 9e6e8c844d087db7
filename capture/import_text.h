/* SPDX-License-Identifier: GPL-2.0-only */
/* Pieces of which the lines of both text formats, the kernel's and perf's, are made. */
#ifndef CAPTURE_IMPORT_TEXT_H
#define CAPTURE_IMPORT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

static inline bool import_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline const char *import_skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/** import_read_number() - decimal digits. Return: behind them; NULL: there are none, or it is above @limit. */
const char *import_read_number(const char *p, uint64_t limit, uint64_t *value);

/**
 * import_read_time() - "1832.674455:", seconds with one to nine decimals
 * @tick_ns: set to what the last of them counts
 * Return: behind the colon; NULL where it is something else.
 */
const char *import_read_time(const char *p, uint64_t *timestamp_ns, uint32_t *tick_ns);

#endif
