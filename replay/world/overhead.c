// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/overhead.h"

#include <stdlib.h>
#include <string.h>

#include "replay/mm/scan_control.h"
#include "replay/world/grow.h"
#include "replay/world/world.h"
#include "replay/world/zoneinfo.h"

#define COUNT_MASK ((UINT64_C(1) << 40) - 1) /* more pages than any machine has */
#define ORDER_LIMIT 13 /* of a folio; more is an absent field or a broken tape */

/* Return: false without memory. */
static bool add_point(struct overhead *overhead, uint64_t timestamp_ns, int64_t pages)
{
	uint32_t at = overhead->nr;

	if (!grow_by_one((void **)&overhead->point, overhead->nr, &overhead->room,
			 sizeof(*overhead->point)))
		return false;
	/* What a wakeup meant shows only later, when a snapshot may have been taken. */
	for (; at && overhead->point[at - 1].timestamp_ns > timestamp_ns; at--)
		overhead->point[at] = overhead->point[at - 1];
	overhead->point[at] = (struct overhead_point){ timestamp_ns, pages };
	overhead->nr++;
	return true;
}

static bool add_boost(struct overhead *overhead, uint64_t timestamp_ns, uint64_t pages)
{
	if (!grow_by_one((void **)&overhead->boost, overhead->nr_boosts, &overhead->room_boosts,
			 sizeof(*overhead->boost)))
		return false;
	overhead->boost[overhead->nr_boosts++] = (struct overhead_boost){ timestamp_ns, pages };
	return true;
}

static int64_t folio_pages(uint64_t order)
{
	return order > ORDER_LIMIT ? 1 : INT64_C(1) << order;
}

/* No zone that the waker could use is above its low mark. */
static int64_t free_at_wake(const struct zones *zones, uint64_t highest)
{
	int64_t pages = 0;

	for (unsigned int i = 0; i < zones->nr; i++)
		if (zones->zone[i].managed_pages)
			pages += (int64_t)(zones->zone[i].mark[WMARK_LOW] +
					   zones->zone[i].protection[highest < ZONES_LIMIT ?
									     highest :
									     ZONES_LIMIT - 1]);
	return pages;
}

/* The next blob of zones behind the start's, NULL: there is none. */
static const struct tape_blob *next_zoneinfo(const struct tape_reader *reader, size_t *i)
{
	const struct tape_blob *blob;

	while ((blob = tape_reader_blob(reader, (*i)++)))
		if (blob->moment != TAPE_MOMENT_START && !strcmp(blob->name, "/proc/zoneinfo"))
			return blob;
	return NULL;
}

/* Free pages and those on lists of files, together. @text: /proc/zoneinfo. Return: -1: it is none. */
static int64_t free_and_file(const char *text)
{
	struct zones zones;
	int64_t pages;

	zoneinfo_read(&zones, text);
	if (!zones.nr)
		return -1;
	pages = zones_free(&zones);
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += strspn(line, "\n ");
		if (!strncmp(line, "nr_zone_inactive_file ", 22) ||
		    !strncmp(line, "nr_zone_active_file ", 20))
			pages += (int64_t)(strtoull(strchr(line, ' '), NULL, 10) & COUNT_MASK);
	}
	return pages;
}

/* A snapshot tells what is on the lists itself: events may have stopped before it. */
static bool point_of_blob(struct world *world, const struct tape_reader *reader,
			  const struct tape_blob *blob)
{
	const struct tape_blob *start = tape_reader_find_blob(reader, TAPE_MOMENT_START,
							      "/proc/zoneinfo");
	int64_t before = start ? free_and_file(start->data) : -1, now = free_and_file(blob->data);

	return before < 0 || now < 0 ||
	       add_point(&world->overhead, blob->timestamp_ns, before - now);
}

/*
 * One call of kswapd, from its wakeup on, and how long all calls took.
 *
 * Watermarks are boosted where an allocation had to take another migrate type's pageblock. kswapd then frees so
 * many pages, whatever is free, and does not go below priority 10 for it:
 *
 *   low marks   12  11  10  9  8  7 ...      until a zone is above its high mark
 *   boosted     12  11  10  10  10 ...       until as many pages have come free
 */
struct kswapd_call {
	int32_t pid; /* of node 0's; 0: it has not woken yet */
	uint64_t highest; /* zone that its waker could have used */
	uint64_t wake_ns, last_ns; /* equal: nothing was isolated */
	int64_t overhead; /* if it was woken below the low marks */
	int64_t overhead_at_end; /* if a zone was above its high mark then */
	uint64_t reclaimed;
	uint64_t priority; /* the lowest */
	uint64_t reclaimed_last; /* at that priority */
	uint64_t requested; /* by the last isolation */
	unsigned int
		rounds_at_10; /* rests of size >> priority are below a full batch, and end a round's list */
	uint64_t busy_ns, pages; /* of all calls before, and of all */
};

/* From the highest zone's low mark to its high one. */
static uint64_t gap_of_highest(const struct zones *zones)
{
	const struct zone *zone = &zones->zone[zones_highest(zones)];

	return zone->mark[WMARK_HIGH] - zone->mark[WMARK_LOW];
}

#define BOOST_PRIORITY (DEF_PRIORITY - 2)
#define PAGEBLOCK_PAGES 512
#define BOOST_FACTOR 15000 /* watermark_boost_factor, of 10,000 */

/*
 * Each fallback adds a pageblock, up to one and a half times the high mark; kswapd goes a round's rest beyond.
 * Kernel: mm/page_alloc.c, boost_watermark(), v6.18.
 */
static uint64_t boost_of(const struct zones *zones, uint64_t reclaimed)
{
	uint64_t most = pages_part(zones->zone[zones_highest(zones)].mark[WMARK_HIGH], BOOST_FACTOR,
				   10000);

	most = most > PAGEBLOCK_PAGES ? most : PAGEBLOCK_PAGES;
	return reclaimed >= most ? most : reclaimed / PAGEBLOCK_PAGES * PAGEBLOCK_PAGES;
}

/* What came free brought the highest zone from its low mark to its high one: no smaller zone did. */
static bool ends_above_high(const struct world *world, const struct kswapd_call *call)
{
	return call->reclaimed >= gap_of_highest(&world->zones);
}

/* Return: false without memory. */
static bool call_over(struct world *world, struct kswapd_call *call)
{
	struct overhead *overhead = &world->overhead;
	uint64_t boost = boost_of(&world->zones, call->reclaimed);

	if (!call->pid)
		return true;
	call->busy_ns += call->last_ns - call->wake_ns;
	if (call->rounds_at_10 > 1 && call->priority == BOOST_PRIORITY && boost)
		return add_boost(overhead, call->wake_ns, boost);
	if (!call->reclaimed)
		return true; /* a zone was above its high mark */
	world_infer(world, INFER_overhead_at_kswapd);
	return add_point(overhead, call->wake_ns, call->overhead) &&
	       (!ends_above_high(world, call) ||
		add_point(overhead, call->last_ns, call->overhead_at_end));
}

static void begin_call(struct kswapd_call *call, const struct tape_event *event, int64_t overhead)
{
	*call = (struct kswapd_call){
		.pid = event->pid,
		.highest = event->value[MM_VMSCAN_KSWAPD_WAKE_ZID],
		.wake_ns = event->timestamp_ns,
		.last_ns = event->timestamp_ns,
		.overhead = overhead,
		.priority = DEF_PRIORITY,
		.busy_ns = call->busy_ns,
		.pages = call->pages,
	};
}

/*
 * @overhead: if no zone is above its low mark. At the call's end the highest zone is above its high mark; by how
 * much, the last round's half stands for.
 */
static void call_event(struct kswapd_call *call, const struct zones *zones,
		       const struct tape_event *event, int64_t overhead)
{
	const uint64_t *v = event->value;

	if (!call->pid || event->pid != call->pid)
		return;
	switch (event->kind) {
	case EVENT_MM_VMSCAN_LRU_ISOLATE:
		call->requested = v[MM_VMSCAN_LRU_ISOLATE_NR_REQUESTED];
		call->pages += v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN] & COUNT_MASK;
		break;
	case EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE:
		call->last_ns = event->timestamp_ns;
		if (v[MM_VMSCAN_LRU_SHRINK_INACTIVE_PRIORITY] < call->priority) {
			call->priority = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_PRIORITY];
			call->reclaimed_last = 0;
		}
		call->reclaimed += v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_RECLAIMED] & COUNT_MASK;
		call->reclaimed_last += v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_RECLAIMED] & COUNT_MASK;
		call->overhead_at_end = overhead - (int64_t)gap_of_highest(zones) -
					(int64_t)call->reclaimed_last / 2;
		if (v[MM_VMSCAN_LRU_SHRINK_INACTIVE_PRIORITY] == BOOST_PRIORITY)
			call->rounds_at_10 += call->requested < SWAP_CLUSTER_MAX;
		break;
	case EVENT_MM_VMSCAN_LRU_SHRINK_ACTIVE:
		call->last_ns = event->timestamp_ns;
		break;
	default:
		break;
	}
}

static bool wakes_kswapd_of_node_0(const struct tape_event *event)
{
	return event->kind == EVENT_MM_VMSCAN_KSWAPD_WAKE &&
	       !event->value[MM_VMSCAN_KSWAPD_WAKE_NID];
}

int overhead_find(struct world *world, struct tape_reader *reader)
{
	const struct tape_blob *blob;
	const struct tape_event *event;
	bool enough = true;
	struct kswapd_call call = { 0 };
	int64_t taken = 0;
	size_t i = 0;
	int ret;

	if (world_machine_pages(world) == INT64_MAX ||
	    !tape_reader_kind_events(reader, EVENT_MM_VMSCAN_KSWAPD_WAKE))
		return 0;
	blob = next_zoneinfo(reader, &i);
	while (enough && (ret = tape_reader_next(reader, &event)) > 0) {
		if (!world->overhead.nr)
			enough = add_point(&world->overhead, event->timestamp_ns, 0);
		while (enough && blob && blob->timestamp_ns < event->timestamp_ns) {
			enough = point_of_blob(world, reader, blob);
			blob = next_zoneinfo(reader, &i);
		}
		call_event(&call, &world->zones, event,
			   zones_free(&world->zones) - taken -
				   free_at_wake(&world->zones, call.highest));
		if (event->kind == EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE) {
			taken += folio_pages(event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER]);
		} else if (event->kind == EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE) {
			taken -= folio_pages(event->value[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER]);
		} else if (enough && wakes_kswapd_of_node_0(event)) {
			enough = call_over(world, &call);
			begin_call(&call, event,
				   zones_free(&world->zones) - taken -
					   free_at_wake(&world->zones,
							event->value[MM_VMSCAN_KSWAPD_WAKE_ZID]));
		}
	}
	enough = enough && call_over(world, &call);
	for (; enough && blob; blob = next_zoneinfo(reader, &i))
		enough = point_of_blob(world, reader, blob);
	if (call.pages)
		world->kswapd_page_ns = call.busy_ns / call.pages;
	if (!enough)
		return -1;
	return ret ? ret : tape_reader_rewind(reader);
}

int64_t overhead_at(const struct overhead *overhead, uint64_t timestamp_ns, uint32_t *at)
{
	const struct overhead_point *a, *b;
	uint64_t gap;

	if (!overhead->nr)
		return 0;
	while (*at + 1 < overhead->nr && overhead->point[*at + 1].timestamp_ns <= timestamp_ns)
		++*at;
	a = &overhead->point[*at];
	if (*at + 1 == overhead->nr || timestamp_ns <= a->timestamp_ns)
		return a->pages;
	b = a + 1;
	gap = b->timestamp_ns - a->timestamp_ns;
	return a->pages + (int64_t)((__int128)(b->pages - a->pages) *
				    (int64_t)(timestamp_ns - a->timestamp_ns) / (int64_t)gap);
}

uint64_t overhead_boost(const struct overhead *overhead, uint64_t wake_ns)
{
	for (uint32_t i = 0; i < overhead->nr_boosts; i++)
		if (overhead->boost[i].wake_ns == wake_ns)
			return overhead->boost[i].pages;
	return 0;
}

void overhead_exit(struct overhead *overhead)
{
	free(overhead->point);
	free(overhead->boost);
	memset(overhead, 0, sizeof(*overhead));
}
