// SPDX-License-Identifier: GPL-2.0-only
#include "replay/future.h"

#include <stdlib.h>
#include <string.h>

#include "replay/event_stream.h"
#include "replay/machine.h"

#define REQUEST_PAGES_LIMIT 1024 /* see page_requested() of engine.c */
#define FIRST_ROOM 4096
#define TO_END (UINT32_C(1) << 31) /* of a link: the touch it leads to is an end */

/* A page and where its chain stands. While the tape is read that is the last touch so far. */
struct chain {
	uint64_t page;
	uint32_t file; /* number in future.world, 0: the place is empty */
	uint32_t touch; /* with TO_END, or FOLIO_NEVER_USED: the chain has ended */
};

struct future {
	struct world world; /* of the first pass; kept for the numbers of its files */
	uint32_t *next; /* by touch: the next touch of its page, with TO_END, or FOLIO_NEVER_USED */
	uint64_t nr_touches, room_touches;
	struct chain *chain; /* hash, open addressing */
	uint64_t chain_mask, nr_chains;
};

struct future_range future_range(const struct world *world, const struct tape_event *event,
				 uint64_t read_end)
{
	const uint64_t *v = event->value;
	uint64_t n;

	switch (event->kind) {
	case EVENT_BLOCK_TOUCH_BUFFER:
		return (struct future_range){
			.dev = world->bdev_dev,
			.ino = v[BLOCK_TOUCH_BUFFER_DEV],
			.first = world_touched_page(event),
			.nr = world->bdev_dev ? 1 : 0,
		};
	case EVENT_PAGE_REQUEST:
		n = v[PAGE_REQUEST_SIZE];
		if (n == TAPE_VALUE_ABSENT || !n || n > REQUEST_PAGES_LIMIT)
			n = 1;
		return (struct future_range){ .first = v[PAGE_REQUEST_ID], .nr = n };
	case EVENT_MM_FILEMAP_GET_PAGES:
		n = v[MM_FILEMAP_GET_PAGES_INDEX];
		return (struct future_range){
			.dev = v[MM_FILEMAP_GET_PAGES_S_DEV],
			.ino = v[MM_FILEMAP_GET_PAGES_I_INO],
			.first = n,
			.nr = read_end >= n ? read_end - n + 1 : 0,
		};
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		n = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER];
		n = n == TAPE_VALUE_ABSENT ? 0 : n;
		return (struct future_range){
			.dev = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV],
			.ino = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO],
			.first = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX],
			.nr = n <= FOLIO_ORDER_LIMIT ? UINT64_C(1) << n : 0,
		};
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		n = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER];
		n = n > FOLIO_ORDER_LIMIT ? 0 : n;
		return (struct future_range){
			.dev = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
			.ino = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO],
			.first = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX],
			.nr = UINT64_C(1) << n,
		};
	default:
		return (struct future_range){ 0 };
	}
}

/* What the touches of an event mean; the world has seen the event. */
static enum future_touch touch_kind(struct world *world, const struct tape_event *event,
				    const struct future_range *range)
{
	struct world_task *task = world_task(world, event->pid);

	switch (event->kind) {
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		return task && future_add_is_demanded(task,
						      world_file(world, range->dev, range->ino),
						      range->first, range->nr) ?
			       FUTURE_USE :
			       FUTURE_NONE;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		return task && !task->in_reclaim && !world_task_is_kdamond(task) ? FUTURE_END :
										   FUTURE_NONE;
	default:
		return FUTURE_USE;
	}
}

static struct chain *find_chain(const struct future *future, uint32_t file, uint64_t page)
{
	uint64_t i = page * UINT64_C(0x9e3779b97f4a7c15) ^ file * UINT64_C(0xbf58476d1ce4e5b9);

	i ^= i >> 32;
	for (i &= future->chain_mask; future->chain[i].file; i = (i + 1) & future->chain_mask)
		if (future->chain[i].page == page && future->chain[i].file == file)
			break;
	return &future->chain[i];
}

static int grow_chains(struct future *future)
{
	struct future bigger = *future;

	bigger.chain_mask = future->chain ? future->chain_mask * 2 + 1 : FIRST_ROOM - 1;
	bigger.chain = calloc(bigger.chain_mask + 1, sizeof(*bigger.chain));
	if (!bigger.chain)
		return TAPE_ERR_MEMORY;
	for (uint64_t i = 0; future->chain && i <= future->chain_mask; i++) {
		const struct chain *chain = &future->chain[i];

		if (chain->file)
			*find_chain(&bigger, chain->file, chain->page) = *chain;
	}
	free(future->chain);
	*future = bigger;
	return 0;
}

/*
 * The chain is a ring while it grows: the last touch leads to the first, so that the first is found
 * again without a place of its own.
 */
static int link_touch(struct future *future, uint32_t file, uint64_t page, uint32_t touch,
		      uint32_t flag)
{
	struct chain *chain;

	if ((!future->chain || future->nr_chains * 4 >= future->chain_mask * 3) &&
	    grow_chains(future))
		return TAPE_ERR_MEMORY;
	chain = find_chain(future, file, page);
	if (chain->file) {
		future->next[touch] = future->next[chain->touch];
		future->next[chain->touch] = touch | flag;
	} else {
		*chain = (struct chain){ .page = page, .file = file };
		future->nr_chains++;
		future->next[touch] = touch | flag;
	}
	chain->touch = touch;
	return 0;
}

static void open_rings(struct future *future)
{
	for (uint64_t i = 0; future->chain && i <= future->chain_mask; i++) {
		struct chain *chain = &future->chain[i];
		uint32_t last = chain->touch;

		if (!chain->file)
			continue;
		chain->touch = future->next[last];
		future->next[last] = FOLIO_NEVER_USED;
	}
}

static int add_event(struct future *future, const struct tape_event *event, uint64_t read_end)
{
	struct future_range range = future_range(&future->world, event, read_end);
	enum future_touch kind;
	uint32_t file;

	if (!range.nr)
		return 0;
	if (range.nr > FUTURE_TOUCH_LIMIT - future->nr_touches)
		return FUTURE_TOO_LONG;
	if (future->nr_touches + range.nr > future->room_touches) {
		uint64_t room = (future->nr_touches + range.nr) * 2;
		uint32_t *bigger = realloc(future->next, room * sizeof(*bigger));

		if (!bigger)
			return TAPE_ERR_MEMORY;
		future->next = bigger;
		future->room_touches = room;
	}
	kind = touch_kind(&future->world, event, &range);
	file = world_file(&future->world, range.dev, range.ino);
	if (future->world.out_of_memory || !file)
		return TAPE_ERR_MEMORY;
	for (uint64_t i = 0; i < range.nr; i++) {
		uint32_t touch = (uint32_t)future->nr_touches++;

		future->next[touch] = FOLIO_NEVER_USED;
		if (kind != FUTURE_NONE && link_touch(future, file, range.first + i, touch,
						      kind == FUTURE_END ? TO_END : 0))
			return TAPE_ERR_MEMORY;
	}
	return 0;
}

static int add_all(struct future *future, struct tape_reader *reader)
{
	struct event_stream *stream = event_stream_open(reader);
	const struct tape_event *event;
	uint64_t read_end;
	int ret;

	if (!stream)
		return TAPE_ERR_MEMORY;
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(&future->world, event);
		ret = add_event(future, event, read_end);
		if (ret)
			break;
		world_event_done(&future->world, event, read_end);
	}
	event_stream_close(stream);
	return ret;
}

int future_read(struct tape_reader *reader, struct future **result)
{
	struct future *future = calloc(1, sizeof(*future));
	uint32_t *exact;
	int ret;

	if (!future)
		return TAPE_ERR_MEMORY;
	ret = world_init(&future->world, reader);
	if (ret) {
		free(future);
		return ret == -1 ? TAPE_ERR_MEMORY : ret;
	}
	ret = add_all(future, reader);
	if (!ret)
		ret = tape_reader_rewind(reader);
	if (ret) {
		future_close(future);
		return ret;
	}
	open_rings(future);
	exact = realloc(future->next, future->nr_touches * sizeof(*exact));
	if (exact)
		future->next = exact;
	*result = future;
	return 0;
}

uint32_t future_after(const struct future *future, uint32_t touch)
{
	uint32_t next = future->next[touch];

	return next & TO_END ? FOLIO_NEVER_USED : next;
}

/* From where a chain stands to its first touch that is not before @touch. */
static uint32_t advance(const struct future *future, uint32_t at, uint32_t touch)
{
	while (at != FOLIO_NEVER_USED && (at & ~TO_END) < touch)
		at = future->next[at & ~TO_END];
	return at;
}

uint32_t future_next_use(struct future *future, uint64_t dev, uint64_t ino, uint64_t page,
			 uint32_t from, uint32_t settled)
{
	struct chain *chain;
	uint32_t at;

	if (!future->chain)
		return FOLIO_NEVER_USED;
	chain = find_chain(future, world_file(&future->world, dev, ino), page);
	if (!chain->file)
		return FOLIO_NEVER_USED;
	chain->touch = advance(future, chain->touch, settled);
	at = advance(future, chain->touch, from);
	return at & TO_END ? FOLIO_NEVER_USED : at;
}

bool future_failed(const struct future *future)
{
	return future->world.out_of_memory;
}

uint64_t future_bytes(const struct future *future)
{
	return sizeof(*future) + future->nr_touches * sizeof(*future->next) +
	       (future->chain ? (future->chain_mask + 1) * sizeof(*future->chain) : 0);
}

void future_close(struct future *future)
{
	if (!future)
		return;
	world_exit(&future->world);
	free(future->next);
	free(future->chain);
	free(future);
}
