// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readahead windows: predicted when a miss or a marker asks for one, held against the event of the window
 * that the kernel made of it. The state before comes with the request's event, all but its start.
 */
#include "replay/check/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct window_expected *expected_of(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);

	if (!task ||
	    !machine_has_room(&check->machine, (void **)&check->expected, &check->room_expected,
			      task->number, sizeof(*check->expected)))
		return NULL;
	return &check->expected[task->number];
}

/* Of the task and file of a request or window; all four events have the file in the same places. */
static struct reader_window *reader_of(struct check *check, uint32_t file,
				       const struct world_reader **reader)
{
	*reader = world_reader(check->world, check->event->pid, file);
	if (!*reader ||
	    !machine_has_room(&check->machine, (void **)&check->reader, &check->room_readers,
			      (*reader)->number, sizeof(*check->reader)))
		return NULL;
	return &check->reader[(*reader)->number];
}

/*
 * A window was expected and the pages asked for came, no more: the first time it is a sign of FADV_RANDOM,
 * for which no event stands, and from then on it is expected.
 */
static bool first_sign_of_random(struct check *check, const struct window_expected *expected)
{
	struct world_reader *reader = world_reader(check->world, check->event->pid, expected->file);
	struct reader_window *last = reader ? &check->reader[reader->number] : NULL;

	if (!last || expected->window.plain || expected->random || last->told_random)
		return false;
	last->told_random = true;
	if (!reader->fadv_random)
		world_infer(check->world, INFER_fadv_random);
	reader->fadv_random = true;
	check->undecided.readahead++;
	return true;
}

static void unequal(struct check *check, const struct readahead_window *window,
		    const char *recorded)
{
	check_unequal(check, check_task_memcg(check, check->event->pid), CHECK_readahead_window,
		      "%" PRIu64 "+%" PRIu64 "%s|%s", window->start, window->size,
		      window->plain ? " as asked" : "", recorded);
}

void check_window_over(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct window_expected *expected;

	if (!task || task->number >= check->room_expected)
		return;
	expected = &check->expected[task->number];
	if (!expected->due)
		return;
	expected->due = false;
	/* One page has no event of its own, nor has what is left of more where the file ends. */
	if (expected->window.plain &&
	    (expected->window.size == 1 ||
	     expected->window.start + 1 >= check->world->file[expected->file].seen_pages))
		check_equal(check, check_task_memcg(check, task->pid), CHECK_readahead_window);
	else if (expected->req_count != 1 || !first_sign_of_random(check, expected))
		unequal(check, &expected->window, "one page, or none");
}

void check_readahead(struct check *check, bool async)
{
	const uint64_t *v = check->event->value;
	uint32_t file = world_file(check->world, v[PAGE_CACHE_SYNC_RA_S_DEV],
				   v[PAGE_CACHE_SYNC_RA_I_INO]);
	uint64_t index = v[PAGE_CACHE_SYNC_RA_INDEX], req_count = v[PAGE_CACHE_SYNC_RA_REQ_COUNT];
	struct machine_pages pages = { &check->machine.cache, file };
	struct readahead_cache cache = { machine_page_cached, &pages };
	struct window_expected *expected = expected_of(check);
	const struct world_reader *reader;
	struct reader_window *last = reader_of(check, file, &reader);
	struct file_ra_state ra;
	struct folio *folio;

	if (!expected || !last)
		return;
	/* What is in memory decides, and of such a file it is not known. */
	if (v[PAGE_CACHE_SYNC_RA_ORDER] > FOLIO_ORDER_LIMIT || !req_count ||
	    v[PAGE_CACHE_SYNC_RA_RA_PAGES] > UINT32_MAX ||
	    v[PAGE_CACHE_SYNC_RA_SIZE] > UINT32_MAX ||
	    v[PAGE_CACHE_SYNC_RA_ASYNC_SIZE] > v[PAGE_CACHE_SYNC_RA_SIZE] ||
	    check->world->file[file].has_older) {
		expected->due = false;
		check->undecided.readahead++;
		return;
	}
	ra = (struct file_ra_state){
		.start = last->start,
		.size = v[PAGE_CACHE_SYNC_RA_SIZE],
		.async_size = v[PAGE_CACHE_SYNC_RA_ASYNC_SIZE],
		.ra_pages = v[PAGE_CACHE_SYNC_RA_RA_PAGES],
		.prev_page = (int64_t)v[PAGE_CACHE_SYNC_RA_PREV_POS] < 0 ?
				     READAHEAD_NO_PAGE :
				     v[PAGE_CACHE_SYNC_RA_PREV_POS] >> 12,
		.order = (uint8_t)v[PAGE_CACHE_SYNC_RA_ORDER],
		.max_order = FOLIO_ORDER_LIMIT,
		.fadv_random = reader->fadv_random,
	};
	*expected = (struct window_expected){
		.file = file,
		.random = ra.fadv_random,
		.req_count = req_count,
	};
	if (!async) {
		readahead_sync(&ra, &cache, index, req_count, &expected->window);
		expected->due = true;
		return;
	}
	folio = page_cache_folio(&check->machine.cache, file, index);
	/* The state's place is known from its last window only; a folio's size from its add. */
	if (!last->known || ra.size != last->size || !folio) {
		check->undecided.readahead++;
		return;
	}
	expected->due = readahead_async(&ra, &cache, index, folio_nr_pages(folio), req_count,
					&expected->window);
}

void check_window(struct check *check)
{
	const uint64_t *v = check->event->value;
	uint32_t file = world_file(check->world, v[PAGE_CACHE_RA_ORDER_S_DEV],
				   v[PAGE_CACHE_RA_ORDER_I_INO]);
	struct window_expected *expected = expected_of(check);
	const struct world_reader *reader;
	struct reader_window *last = reader_of(check, file, &reader);
	const struct readahead_window *window;
	char recorded[CHECK_SIDE_BYTES];

	if (!expected || !last)
		return;
	last->start = v[PAGE_CACHE_RA_ORDER_INDEX];
	last->size = v[PAGE_CACHE_RA_ORDER_SIZE];
	last->known = true;
	if (!expected->due) {
		check->undecided
			.readahead++; /* a fault's, around a page or behind it: no event asks */
		return;
	}
	expected->due = false;
	window = &expected->window;
	if (!window->plain && window->start == v[PAGE_CACHE_RA_ORDER_INDEX] &&
	    window->size == v[PAGE_CACHE_RA_ORDER_SIZE] &&
	    window->order == v[PAGE_CACHE_RA_ORDER_ORDER] &&
	    window->mark == window->start + window->size - v[PAGE_CACHE_RA_ORDER_ASYNC_SIZE]) {
		check_equal(check, check_task_memcg(check, check->event->pid),
			    CHECK_readahead_window);
		return;
	}
	snprintf(recorded, sizeof(recorded),
		 "%" PRIu64 "+%" PRIu64 ", order %" PRIu64 ", async %" PRIu64,
		 v[PAGE_CACHE_RA_ORDER_INDEX], v[PAGE_CACHE_RA_ORDER_SIZE],
		 v[PAGE_CACHE_RA_ORDER_ORDER], v[PAGE_CACHE_RA_ORDER_ASYNC_SIZE]);
	unequal(check, window, recorded);
}

void check_plain_window(struct check *check)
{
	const uint64_t *v = check->event->value;
	uint32_t file = world_file(check->world, v[PAGE_CACHE_RA_UNBOUNDED_S_DEV],
				   v[PAGE_CACHE_RA_UNBOUNDED_I_INO]);
	uint64_t index = v[PAGE_CACHE_RA_UNBOUNDED_INDEX];
	uint64_t end = index + v[PAGE_CACHE_RA_UNBOUNDED_NR_TO_READ];
	struct window_expected *expected = expected_of(check);
	const struct readahead_window *window;
	char recorded[CHECK_SIDE_BYTES];

	if (!expected || !expected->due)
		return; /* what a window's large folios left over */
	expected->due = false;
	window = &expected->window;
	if (index == window->start && end - index == expected->req_count &&
	    first_sign_of_random(check, expected))
		return;
	/* Cut where the file ends, which no event tells but that nothing was ever read behind it. */
	if (window->plain && window->start == index &&
	    (window->start + window->size == end ||
	     (window->start + window->size > end && end >= check->world->file[file].seen_pages))) {
		check_equal(check, check_task_memcg(check, check->event->pid),
			    CHECK_readahead_window);
		return;
	}
	snprintf(recorded, sizeof(recorded), "%" PRIu64 "+%" PRIu64 " as asked", index,
		 v[PAGE_CACHE_RA_UNBOUNDED_NR_TO_READ]);
	unequal(check, window, recorded);
}
