// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/readahead.h"

#define PAGE_BYTES 4096
#define MAX_READAHEAD_ORDER 9 /* PMD order, the largest that readahead allocates */

static bool is_pages(uint64_t value)
{
	return value != TAPE_VALUE_ABSENT && value < UINT32_MAX;
}

/*
 * At a file's begin, next to the last read or above the limit, a miss starts a window whatever is in
 * memory. Kernel: mm/readahead.c, page_cache_sync_ra(), v6.18.
 */
static bool starts_window(const uint64_t *v)
{
	int64_t prev_pos = (int64_t)v[PAGE_CACHE_SYNC_RA_PREV_POS];
	uint64_t index = v[PAGE_CACHE_SYNC_RA_INDEX];

	return is_pages(v[PAGE_CACHE_SYNC_RA_RA_PAGES]) && v[PAGE_CACHE_SYNC_RA_RA_PAGES] &&
	       (!index || v[PAGE_CACHE_SYNC_RA_REQ_COUNT] > v[PAGE_CACHE_SYNC_RA_RA_PAGES] ||
		(prev_pos >= 0 && index - ((uint64_t)prev_pos >> 12) <= 1));
}

static void file_limit(struct world *world, uint32_t file, uint64_t ra_pages)
{
	if (is_pages(ra_pages))
		world->file[file].ra_pages = (uint32_t)ra_pages;
}

static void sync_begun(struct world *world, struct world_task *task, const uint64_t *v)
{
	uint64_t nr = v[PAGE_CACHE_SYNC_RA_REQ_COUNT];
	uint32_t file = world_file(world, v[PAGE_CACHE_SYNC_RA_S_DEV], v[PAGE_CACHE_SYNC_RA_I_INO]);

	file_limit(world, file, v[PAGE_CACHE_SYNC_RA_RA_PAGES]);
	task->demand_file = file;
	task->demand_first = v[PAGE_CACHE_SYNC_RA_INDEX];
	task->demand_last = task->demand_first + (nr && nr != TAPE_VALUE_ABSENT ? nr : 1) - 1;
	task->window_due = starts_window(v);
}

/* Nobody has asked for any of its pages yet. */
static void async_begun(struct world *world, struct world_task *task, const uint64_t *v)
{
	task->demand_file = world_file(world, v[PAGE_CACHE_ASYNC_RA_S_DEV],
				       v[PAGE_CACHE_ASYNC_RA_I_INO]);
	file_limit(world, task->demand_file, v[PAGE_CACHE_ASYNC_RA_RA_PAGES]);
	task->demand_first = 1;
	task->demand_last = 0;
}

static void window_begun(struct world *world, struct world_task *task, uint64_t dev, uint64_t ino,
			 uint64_t first, uint64_t nr)
{
	task->window_file = world_file(world, dev, ino);
	task->window_first = first;
	/* The last large folio may reach beyond the window, by less than its own size. */
	task->window_last = first + nr + (UINT64_C(1) << MAX_READAHEAD_ORDER) - 1;
}

/* The task is past the window that was due: there is none, so that its file is read at random. */
static void window_missing(struct world *world, struct world_task *task)
{
	struct world_reader *reader;

	if (!task->window_due)
		return;
	task->window_due = false;
	reader = world_reader(world, task->pid, task->demand_file);
	if (!reader || reader->fadv_random)
		return;
	reader->fadv_random = true;
	world_infer(world, INFER_fadv_random);
}

static void window_came(struct world *world, struct world_task *task, uint32_t file)
{
	struct world_reader *reader = world_reader(world, task->pid, file);
	bool by_marker = task->demand_first > task->demand_last;

	task->window_due = false;
	/*
	 * Behind a marker they come all the same, and where there is no readahead there are markers too:
	 * reclaim's flag on dirty folios is the same bit.
	 */
	if (reader && !by_marker)
		reader->fadv_random = false;
}

void world_readahead_event(struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	struct world_task *task = world_task(world, event->pid);

	if (!task)
		return;
	switch (event->kind) {
	case EVENT_PAGE_CACHE_SYNC_RA:
		window_missing(world, task);
		sync_begun(world, task, v);
		/* Its window event follows, unless it is one page: those the recorder leaves out. */
		window_begun(world, task, v[PAGE_CACHE_SYNC_RA_S_DEV], v[PAGE_CACHE_SYNC_RA_I_INO],
			     v[PAGE_CACHE_SYNC_RA_INDEX], 1);
		break;
	case EVENT_PAGE_CACHE_ASYNC_RA:
		window_missing(world, task);
		async_begun(world, task, v);
		break;
	case EVENT_PAGE_CACHE_RA_ORDER:
		window_begun(world, task, v[PAGE_CACHE_RA_ORDER_S_DEV],
			     v[PAGE_CACHE_RA_ORDER_I_INO], v[PAGE_CACHE_RA_ORDER_INDEX],
			     v[PAGE_CACHE_RA_ORDER_SIZE]);
		if (v[PAGE_CACHE_RA_ORDER_RA_PAGES]) /* a window has a limit */
			file_limit(world, task->window_file, v[PAGE_CACHE_RA_ORDER_RA_PAGES]);
		window_came(world, task, task->window_file);
		break;
	case EVENT_PAGE_CACHE_RA_UNBOUNDED:
		window_begun(world, task, v[PAGE_CACHE_RA_UNBOUNDED_S_DEV],
			     v[PAGE_CACHE_RA_UNBOUNDED_I_INO], v[PAGE_CACHE_RA_UNBOUNDED_INDEX],
			     v[PAGE_CACHE_RA_UNBOUNDED_NR_TO_READ]);
		break;
	case EVENT_MM_FILEMAP_FAULT:
		/* Of a page that is absent, it adds that one even where readahead keeps away. */
		window_missing(world, task);
		window_begun(world, task, v[MM_FILEMAP_FAULT_S_DEV], v[MM_FILEMAP_FAULT_I_INO],
			     v[MM_FILEMAP_FAULT_INDEX], 1);
		break;
	default:
		window_missing(world, task);
		break;
	}
}

void world_readahead_over(struct world *world, int32_t pid)
{
	struct world_task *task = world_task(world, pid);

	if (task) {
		task->window_first = 1;
		task->window_last = 0;
	}
}

bool world_in_readahead(const struct world_task *task, uint32_t file, uint64_t index)
{
	return task->window_file == file && task->window_first <= index &&
	       index <= task->window_last;
}

bool world_is_buffer(const struct world *world, const struct world_task *task, uint32_t file,
		     uint64_t index)
{
	return world->file[file].block_device && !world_in_readahead(task, file, index);
}

uint32_t world_touched_file(struct world *world, const struct tape_event *event)
{
	return world->bdev_dev ?
		       world_file(world, world->bdev_dev, event->value[BLOCK_TOUCH_BUFFER_DEV]) :
		       0;
}

uint64_t world_touched_page(const struct tape_event *event)
{
	return event->value[BLOCK_TOUCH_BUFFER_BLOCK] * event->value[BLOCK_TOUCH_BUFFER_SIZE] /
	       PAGE_BYTES;
}

bool world_added_for_write(const struct world *world, const struct world_task *task, uint32_t file,
			   uint64_t index)
{
	return world->readahead_seen && !world->file[file].block_device &&
	       !world_in_readahead(task, file, index);
}
