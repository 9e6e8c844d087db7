// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a frame is seen next to be inactive: evicted, or activated. A folio that is so seen before the active
 * list can have been turned over once was on the inactive list all the time, so that it did not stay where an
 * active list was looked at last.
 *
 *   active isolation: a b c d     one of them stayed      a evicted   c activated   d evicted
 *   ------------------------------------------------------------------------------------------> b it was
 *
 * A pass over the tape links each sight of a frame with the next; the check counts along. It begins with the
 * first active isolation of which some stayed and some did not: most tapes have none, and cost the pass alone.
 */
#include "replay/check/parts.h"

#include <stdlib.h>
#include <string.h>

#include "replay/event_stream.h"
#include "replay/world/by_pfn.h"

#define SIGHT_LIMIT (UINT32_C(1) << 24) /* 128 MiB of them; of later ones nothing is known */
#define NONE UINT32_MAX
#define SCANNED_MASK 0x7fffffffu
#define ISOLATORS                                                                                  \
	64 /* tasks that isolate at the same time; of more, evictions are taken for truncation */

struct sight {
	uint32_t next; /* of the same frame, NONE: the last */
	uint32_t scanned : 31; /* pages of active file lists taken until then, of all groups */
	bool inactive : 1; /* else only the end of a file's page */
	uint32_t isolation; /* that took it, 0: none did */
};

/* What is counted along by the pass and by the check alike. */
struct sighting {
	struct {
		int32_t pid; /* between an inactive isolation and its end; 0: a free place */
		uint32_t isolation;
	} task[ISOLATORS];
	uint32_t nr_isolations;
	uint32_t scanned;
	uint64_t nr_events;
	uint32_t nr_sights;
};

struct ahead {
	uint64_t first_event; /* number of the first one that counts */
	uint32_t nr; /* sights */
	struct sight *sight;
	uint32_t *stayed; /* by isolation: folios that stayed in all of them up to it */
	uint64_t room_stayed;
	struct by_pfn cursor; /* number of its next sight, plus 1 */
	struct sighting now;
};

/* Return: its isolation, 0: it is in none. */
static uint32_t isolation_of(const struct sighting *at, int32_t pid)
{
	for (int i = 0; i < ISOLATORS; i++)
		if (at->task[i].pid == pid)
			return at->task[i].isolation;
	return 0;
}

static void isolation_begins(struct sighting *at, int32_t pid)
{
	for (int i = 0; i < ISOLATORS; i++)
		if (!at->task[i].pid || at->task[i].pid == pid) {
			at->task[i].pid = pid;
			at->task[i].isolation = ++at->nr_isolations;
			return;
		}
}

static void isolation_ends(struct sighting *at, int32_t pid)
{
	for (int i = 0; i < ISOLATORS; i++)
		if (at->task[i].pid == pid)
			at->task[i].pid = 0;
}

/* Return: the event is a sight. */
static bool sees(struct sighting *at, const struct tape_event *event, uint64_t *pfn,
		 struct sight *sight)
{
	const uint64_t *v = event->value;
	bool file;

	switch (event->kind) {
	case EVENT_MM_VMSCAN_LRU_ISOLATE:
		file = v[MM_VMSCAN_LRU_ISOLATE_LRU] >= LRU_INACTIVE_FILE;
		if (file && v[MM_VMSCAN_LRU_ISOLATE_LRU] & 1)
			at->scanned += (uint32_t)v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN];
		else if (file && v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN])
			isolation_begins(at, event->pid);
		return false;
	case EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE:
		isolation_ends(at, event->pid);
		return false;
	case EVENT_MM_LRU_ACTIVATE:
		*pfn = v[MM_LRU_ACTIVATE_PFN];
		*sight = (struct sight){ .inactive = true };
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		*pfn = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN];
		*sight = (struct sight){ .isolation = isolation_of(at, event->pid) };
		sight->inactive = sight->isolation;
		break;
	default:
		return false;
	}
	sight->scanned = at->scanned & SCANNED_MASK;
	return *pfn < MEMMAP_PFN_LIMIT;
}

static bool some_stayed(const struct tape_event *event)
{
	uint64_t active;

	if (event->kind != EVENT_MM_VMSCAN_LRU_SHRINK_ACTIVE)
		return false; /* others have fewer fields */
	active = event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_NR_ACTIVE];
	return active && active != TAPE_VALUE_ABSENT &&
	       event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_NR_DEACTIVATED];
}

/* While the pass goes on a frame's cursor is its last sight, which leads to its first. Return: false without memory. */
static bool add_sight(struct ahead *ahead, uint32_t *room, uint64_t pfn, struct sight sight)
{
	uint32_t *cursor = by_pfn_make(&ahead->cursor, pfn), number = ahead->nr;

	if (number == *room) {
		uint32_t more = *room ? 2 * *room : 4096;
		struct sight *bigger = realloc(ahead->sight, more * sizeof(*bigger));

		if (!bigger)
			return false;
		ahead->sight = bigger;
		*room = more;
	}
	if (!cursor)
		return false;
	ahead->nr++;
	ahead->sight[number] = sight;
	ahead->sight[number].next = number;
	if (*cursor) {
		ahead->sight[number].next = ahead->sight[*cursor - 1].next;
		ahead->sight[*cursor - 1].next = number;
	}
	*cursor = number + 1;
	return true;
}

static void open_rings(struct ahead *ahead)
{
	for (uint64_t i = 0; i < BY_PFN_CHUNKS; i++) {
		uint32_t *cursor = ahead->cursor.chunk[i];

		for (uint32_t n = 0; cursor && n < MEMMAP_CHUNK_PAGES; n++) {
			uint32_t last = cursor[n];

			if (!last)
				continue;
			cursor[n] = ahead->sight[last - 1].next + 1;
			ahead->sight[last - 1].next = NONE;
		}
	}
}

/* How many of an isolation's pages stayed: all that no event takes away. Return: false without memory. */
static bool count_stayed(struct ahead *ahead, const struct tape_event *event, uint64_t pages)
{
	uint32_t isolation = isolation_of(&ahead->now, event->pid);

	if (isolation >= ahead->room_stayed) {
		uint64_t room = 2 * (uint64_t)isolation + 1024;
		uint32_t *bigger = realloc(ahead->stayed, room * sizeof(*bigger));

		if (!bigger)
			return false;
		memset(bigger + ahead->room_stayed, 0,
		       (room - ahead->room_stayed) * sizeof(*bigger));
		ahead->stayed = bigger;
		ahead->room_stayed = room;
	}
	if (!isolation)
		;
	else if (event->kind == EVENT_MM_VMSCAN_LRU_ISOLATE)
		ahead->stayed[isolation] = (uint32_t)pages;
	else
		ahead->stayed[isolation] -= pages < ahead->stayed[isolation] ?
						    (uint32_t)pages :
						    ahead->stayed[isolation];
	return true;
}

static bool note_stayed(struct ahead *ahead, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	uint64_t order;

	switch (event->kind) {
	case EVENT_MM_VMSCAN_LRU_ISOLATE:
		return v[MM_VMSCAN_LRU_ISOLATE_LRU] != LRU_INACTIVE_FILE ||
		       count_stayed(ahead, event, v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN]);
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		order = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER];
		return count_stayed(ahead, event,
				    UINT64_C(1) << (order > FOLIO_ORDER_LIMIT ? 0 : order));
	default:
		return true;
	}
}

static int pass_over(struct ahead *ahead, struct event_stream *stream)
{
	const struct tape_event *event;
	uint64_t read_end, pfn;
	uint32_t room = 0;
	struct sight sight;
	bool begun = false;
	int ret;

	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		ahead->now.nr_events++;
		if (!begun && some_stayed(event)) {
			begun = true;
			ahead->first_event = ahead->now.nr_events;
		}
		if (sees(&ahead->now, event, &pfn, &sight) && begun && ahead->nr < SIGHT_LIMIT &&
		    !add_sight(ahead, &room, pfn, sight))
			return TAPE_ERR_MEMORY;
		if (begun && !note_stayed(ahead, event))
			return TAPE_ERR_MEMORY;
	}
	for (uint64_t i = 1; i < ahead->room_stayed; i++)
		ahead->stayed[i] += ahead->stayed[i - 1];
	return ret;
}

void check_ahead_free(struct check *check)
{
	struct ahead *ahead = check->ahead;

	if (!ahead)
		return;
	by_pfn_exit(&ahead->cursor);
	free(ahead->sight);
	free(ahead->stayed);
	free(ahead);
	check->ahead = NULL;
}

int check_look_ahead(struct check *check, struct tape_reader *reader)
{
	struct event_stream *stream;
	int ret = TAPE_ERR_MEMORY;

	if (!check->tables)
		return 0;
	check->ahead = calloc(1, sizeof(*check->ahead));
	stream = event_stream_open(reader);
	if (check->ahead && stream && !by_pfn_init(&check->ahead->cursor))
		ret = pass_over(check->ahead, stream);
	event_stream_close(stream);
	if (!ret)
		ret = tape_reader_rewind(reader);
	if (ret)
		return ret;
	if (!check->ahead->nr) {
		check_ahead_free(check);
		return 0;
	}
	open_rings(check->ahead);
	check->ahead->now = (struct sighting){ 0 };
	return 0;
}

void check_ahead_event(struct check *check)
{
	struct ahead *ahead = check->ahead;
	struct sight sight;
	uint64_t pfn;
	uint32_t *cursor;

	if (!ahead)
		return;
	ahead->now.nr_events++;
	if (!sees(&ahead->now, check->event, &pfn, &sight) ||
	    ahead->now.nr_events < ahead->first_event || ahead->now.nr_sights == ahead->nr)
		return;
	cursor = by_pfn_find(&ahead->cursor, pfn);
	*cursor = ahead->sight[ahead->now.nr_sights++].next + 1;
}

bool check_seen_inactive(struct check *check, const struct folio *folio, uint64_t turnover_pages,
			 uint32_t *isolation)
{
	uint32_t *cursor = check->ahead ? by_pfn_find(&check->ahead->cursor, folio->pfn) : NULL;
	const struct sight *sight = cursor && *cursor ? &check->ahead->sight[*cursor - 1] : NULL;

	*isolation = sight ? sight->isolation : 0;
	return sight && sight->inactive &&
	       ((sight->scanned - check->ahead->now.scanned) & SCANNED_MASK) < turnover_pages;
}

uint32_t check_stayed_between(const struct check *check, uint32_t first, uint32_t last)
{
	const struct ahead *ahead = check->ahead;

	return first && first <= last && last < ahead->room_stayed ?
		       ahead->stayed[last] - ahead->stayed[first - 1] :
		       UINT32_MAX;
}
