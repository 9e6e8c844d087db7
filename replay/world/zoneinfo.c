// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/zoneinfo.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_LIMIT (UINT64_C(1) << 40) /* more than any machine; sums of so many cannot overflow */

static uint64_t pages(const char *text)
{
	unsigned long long n = strtoull(text, NULL, 10);

	return n < PAGES_LIMIT ? n : PAGES_LIMIT;
}

static void read_protection(struct zone *zone, const char *text)
{
	for (unsigned int i = 0; i < ZONES_LIMIT && *text && *text != '\n' && *text != ')'; i++) {
		zone->protection[i] = pages(text + 1); /* behind '(' or ',' */
		text += 1 + strcspn(text + 1, ",)\n");
	}
}

/* One line of a zone; lines of other kinds, per-CPU lists and counters among them, are passed over. */
static void read_line(struct zone *zone, const char *line)
{
	static const struct {
		const char *key;
		size_t offset;
	} figures[] = {
		{ "min", offsetof(struct zone, mark[WMARK_MIN]) },
		{ "low", offsetof(struct zone, mark[WMARK_LOW]) },
		{ "high", offsetof(struct zone, mark[WMARK_HIGH]) },
		{ "spanned", offsetof(struct zone, spanned_pages) },
		{ "managed", offsetof(struct zone, managed_pages) },
		{ "start_pfn:", offsetof(struct zone, start_pfn) },
	};
	size_t n;

	line += strspn(line, " ");
	n = strcspn(line, " \n");
	if (!strncmp(line, "pages free", 10))
		zone->free_pages = (int64_t)pages(line + 10);
	else if (!strncmp(line, "protection: (", 13))
		read_protection(zone, line + 12);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (strlen(figures[i].key) == n && !strncmp(line, figures[i].key, n))
			*(uint64_t *)((char *)zone + figures[i].offset) = pages(line + n);
}

void zoneinfo_read(struct zones *zones, const char *text)
{
	struct zone *zone = NULL;

	memset(zones, 0, sizeof(*zones));
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		unsigned int node;

		if (sscanf(line, "Node %u, zone", &node) == 1) {
			zone = !node && zones->nr < ZONES_LIMIT ? &zones->zone[zones->nr++] : NULL;
			continue;
		}
		if (zone)
			read_line(zone, line);
	}
	/* Of another machine's kind, or cut short: better none than half. */
	if (!zones_reclaim_goal(zones, ZONES_LIMIT - 1))
		zones->nr = 0;
}
