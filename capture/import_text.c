// SPDX-License-Identifier: GPL-2.0-only
#include "capture/import_text.h"

#include <stddef.h>

const char *import_read_number(const char *p, uint64_t limit, uint64_t *value)
{
	uint64_t v = 0;

	if (!import_is_digit(*p))
		return NULL;
	for (; import_is_digit(*p); p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (digit > limit || v > (limit - digit) / 10)
			return NULL;
		v = v * 10 + digit;
	}
	*value = v;
	return p;
}

const char *import_read_time(const char *p, uint64_t *timestamp_ns, uint32_t *tick_ns)
{
	uint64_t seconds, fraction = 0;
	uint32_t tick = 1000000000;

	p = import_read_number(p, UINT64_MAX / 1000000000 - 1, &seconds);
	if (!p || *p++ != '.' || !import_is_digit(*p))
		return NULL;
	for (; import_is_digit(*p); p++) {
		if (tick == 1)
			return NULL;
		tick /= 10;
		fraction = fraction * 10 + (uint64_t)(*p - '0');
	}
	if (*p != ':')
		return NULL;
	*timestamp_ns = seconds * 1000000000 + fraction * tick;
	*tick_ns = tick;
	return p + 1;
}
