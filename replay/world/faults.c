// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/faults.h"

#include "replay/world/world.h"

/*
 * For so long the pages of a readahead window may still be on their way from the device: a guess, because no
 * event tells when it is done.
 */
#define READ_NS (20 * UINT64_C(1000000))

static void begun(struct world *world, struct file_fault *fault, const uint64_t *v)
{
	uint32_t file = world_file(world, v[MM_FILEMAP_FAULT_S_DEV], v[MM_FILEMAP_FAULT_I_INO]);
	uint64_t page = v[MM_FILEMAP_FAULT_INDEX];

	fault->again = fault->goes_on && fault->file == file && fault->page == page;
	fault->goes_on = true;
	fault->has_window = false;
	fault->file = file;
	fault->page = page;
	fault->passed_over = fault->around_file == file && fault->around_first <= page &&
			     page <= fault->around_last;
	fault->copies = !fault->passed_over && !world->file[fault->file].written_mapped &&
			executable_is_copied(world, fault->file, fault->page);
}

void faults_found(struct world *world, struct world_task *task)
{
	struct file_fault *fault = &task->fault;
	struct world_file *file = &world->file[fault->file];

	if (fault->copies || fault->passed_over || file->written_mapped ||
	    file->window_mark == fault->page ||
	    (!fault->again && file->window_ns && world->now_ns - file->window_ns < READ_NS))
		return;
	fault->copies = true;
	world_infer(world, INFER_fault_copies);
	executable_copied(world, fault->file, fault->page);
}

static void around(struct world *world, struct file_fault *fault, const uint64_t *v)
{
	fault->goes_on = false;
	fault->around_file = world_file(world, v[MM_FILEMAP_MAP_PAGES_S_DEV],
					v[MM_FILEMAP_MAP_PAGES_I_INO]);
	fault->around_first = v[MM_FILEMAP_MAP_PAGES_INDEX];
	fault->around_last = v[MM_FILEMAP_MAP_PAGES_LAST_INDEX];
}

/*
 * Kernel: mm/filemap.c, do_sync_mmap_readahead(), v6.18.
 * Differs: exec_folio_order() is 0, as on all machines but arm64.
 */
static void window_of_fault(struct world *world, const struct file_fault *fault, const uint64_t *v)
{
	uint64_t start = v[PAGE_CACHE_RA_ORDER_INDEX], size = v[PAGE_CACHE_RA_ORDER_SIZE];
	uint64_t limit = v[PAGE_CACHE_RA_ORDER_RA_PAGES];
	uint64_t async = v[PAGE_CACHE_RA_ORDER_ASYNC_SIZE];

	if (v[PAGE_CACHE_RA_ORDER_ORDER] || !size || size > limit)
		return;
	if (!async && start == fault->page) {
		world->exec_windows_seen = true;
		world_infer(world, INFER_executable_window);
		executable_told(world, fault->file, start, size, true);
		if (size < limit)
			executable_told(world, fault->file, start + size, 1, false);
	} else if (world->exec_windows_seen && async == limit / 4 && size == limit) {
		executable_told(world, fault->file, fault->page, 1, false);
	}
}

static void window(struct world *world, struct world_task *task, const uint64_t *v)
{
	struct world_file *file;
	uint32_t number = world_file(world, v[PAGE_CACHE_RA_ORDER_S_DEV],
				     v[PAGE_CACHE_RA_ORDER_I_INO]);

	if (v[PAGE_CACHE_RA_ORDER_RA_PAGES] == TAPE_VALUE_ABSENT ||
	    v[PAGE_CACHE_RA_ORDER_RA_PAGES] > UINT32_MAX ||
	    v[PAGE_CACHE_RA_ORDER_INDEX] > UINT64_MAX / 2)
		return;
	file = &world->file[number];
	file->window_ns = world->now_ns;
	file->window_mark = v[PAGE_CACHE_RA_ORDER_INDEX] + v[PAGE_CACHE_RA_ORDER_SIZE] -
			    v[PAGE_CACHE_RA_ORDER_ASYNC_SIZE];
	if (task->fault.goes_on && !task->fault.has_window && task->fault.file == number)
		window_of_fault(world, &task->fault, v);
	task->fault.has_window = true;
}

static void dirtied(struct world *world, struct file_fault *fault, const uint64_t *v)
{
	struct world_file *file = &world->file[fault->file];

	if (fault->goes_on && file->ino == v[WRITEBACK_DIRTY_FOLIO_INO] &&
	    fault->page == v[WRITEBACK_DIRTY_FOLIO_INDEX]) {
		file->written_mapped = true;
		fault->copies = false;
	}
	fault->goes_on = false;
}

void faults_event(struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	struct world_task *task;

	switch (event->kind) {
	case EVENT_MM_FILEMAP_FAULT:
	case EVENT_MM_FILEMAP_MAP_PAGES:
	case EVENT_MM_FILEMAP_GET_PAGES:
	case EVENT_PAGE_CACHE_SYNC_RA:
	case EVENT_PAGE_CACHE_ASYNC_RA:
	case EVENT_PAGE_CACHE_RA_ORDER:
	case EVENT_WRITEBACK_DIRTY_FOLIO:
		break;
	default:
		return;
	}
	task = world_task(world, event->pid);
	if (!task)
		return;
	switch (event->kind) {
	case EVENT_MM_FILEMAP_FAULT:
		begun(world, &task->fault, v);
		break;
	case EVENT_MM_FILEMAP_MAP_PAGES:
		around(world, &task->fault, v);
		return;
	case EVENT_MM_FILEMAP_GET_PAGES:
		task->fault.goes_on = false;
		break;
	case EVENT_PAGE_CACHE_RA_ORDER:
		window(world, task, v);
		break;
	case EVENT_WRITEBACK_DIRTY_FOLIO:
		dirtied(world, &task->fault, v);
		break;
	default:
		task->fault.has_window = true;
		break;
	}
	task->fault.around_file = 0;
}
