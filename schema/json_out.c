// SPDX-License-Identifier: GPL-2.0-only
#include "schema/json_out.h"

#include <stdbool.h>

/* Length of the valid UTF-8 sequence at @s, 0 if there is none. */
static size_t utf8_length(const unsigned char *s, size_t size)
{
	size_t n = s[0] < 0x80		       ? 1 :
		   s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		   s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		   s[0] >= 0xf0 && s[0] < 0xf5 ? 4 :
						 0;

	if (n == 0 || n > size)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (s[0] == 0xe0 && s[1] < 0xa0)
		return 0; /* overlong */
	if (s[0] == 0xed && s[1] > 0x9f)
		return 0; /* surrogate */
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void json_string(FILE *to, const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', to);
	for (size_t i = 0; i < size;) {
		size_t n = utf8_length(s + i, size - i);

		if (n > 1) {
			fwrite(s + i, 1, n, to);
		} else if (n == 1 && (s[i] == '"' || s[i] == '\\')) {
			fprintf(to, "\\%c", s[i]);
		} else if (n == 1 && s[i] >= 0x20 && s[i] != 0x7f) {
			fputc(s[i], to);
		} else {
			fprintf(to, "\\u%04x", s[i]);
			n = 1;
		}
		i += n;
	}
	fputc('"', to);
}
