// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/writeback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/world/world.h"

#define FIRST_HASH_SIZE 1024
#define SECTORS_PER_PAGE 8
#define PAGE_SHIFT 12
#define PAGES_PER_MASK 64
#define MINOR_BITS 20
#define SEARCH_LIMIT 65536 /* masks looked at for the next dirty page */
#define WRITE_PAGES_LIMIT 65536 /* of one write; more is a broken tape */
#define SUBMITTED_LIMIT                                                                            \
	(UINT64_C(1) << 21) /* so many are on their way nowhere: completions are missing */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 29;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

int writeback_init(struct world *world, const struct tape_reader *reader)
{
	struct writeback *wb = &world->writeback;
	bool dirtied = false, begun = false, queued = false, done = false;

	for (unsigned int i = 0; tape_reader_type(reader, i); i++) {
		enum event_kind kind = tape_reader_type(reader, i)->kind;

		dirtied |= kind == EVENT_WRITEBACK_DIRTY_FOLIO;
		begun |= kind == EVENT_EXT4_WRITEPAGES;
		queued |= kind == EVENT_BLOCK_BIO_QUEUE;
		done |= kind == EVENT_BLOCK_RQ_COMPLETE;
	}
	wb->seen = dirtied && begun && queued && done;
	wb->dirty_mask = wb->submitted_mask = FIRST_HASH_SIZE - 1;
	wb->dirty = calloc(FIRST_HASH_SIZE, sizeof(*wb->dirty));
	wb->submitted = calloc(FIRST_HASH_SIZE, sizeof(*wb->submitted));
	return wb->dirty && wb->submitted ? 0 : -1;
}

void writeback_exit(struct world *world)
{
	struct writeback *wb = &world->writeback;

	free(wb->written.page);
	free(wb->ended.page);
	free(wb->dirty);
	free(wb->submitted);
	memset(wb, 0, sizeof(*wb));
}

bool parse_bdi(const char *name, uint64_t *dev)
{
	unsigned int major, minor;

	if (sscanf(name, "%u:%u", &major, &minor) != 2)
		return false;
	*dev = (uint64_t)major << MINOR_BITS | minor;
	return true;
}

static bool add_page(struct world *world, struct written_pages *pages, uint32_t file,
		     uint64_t index)
{
	if (pages->nr == pages->room) {
		uint32_t room = pages->room ? pages->room * 2 : 256;
		struct written_page *bigger = realloc(pages->page, room * sizeof(*bigger));

		if (!bigger) {
			world->out_of_memory = true;
			return false;
		}
		pages->page = bigger;
		pages->room = room;
	}
	pages->page[pages->nr++] = (struct written_page){ .index = index, .file = file };
	return true;
}

/* ---- dirty pages */

static struct dirty_pages *find_dirty(const struct writeback *wb, uint32_t file, uint64_t base)
{
	uint64_t i = mix(base ^ (uint64_t)file << 32) & wb->dirty_mask;

	while (wb->dirty[i].file && (wb->dirty[i].file != file || wb->dirty[i].base != base))
		i = (i + 1) & wb->dirty_mask;
	return &wb->dirty[i];
}

/* Twice the room; what is clean by now is left behind. */
static bool grow_dirty(struct world *world)
{
	struct writeback *wb = &world->writeback, bigger = *wb;

	bigger.dirty_mask = wb->dirty_mask * 2 + 1;
	bigger.dirty = calloc(bigger.dirty_mask + 1, sizeof(*bigger.dirty));
	if (!bigger.dirty) {
		world->out_of_memory = true;
		return false;
	}
	bigger.nr_dirty = 0;
	for (uint64_t i = 0; i <= wb->dirty_mask; i++) {
		if (!wb->dirty[i].mask)
			continue;
		*find_dirty(&bigger, wb->dirty[i].file, wb->dirty[i].base) = wb->dirty[i];
		bigger.nr_dirty++;
	}
	free(wb->dirty);
	*wb = bigger;
	return true;
}

static void set_dirty(struct world *world, uint32_t file, uint64_t index)
{
	struct writeback *wb = &world->writeback;
	struct dirty_pages *pages = find_dirty(wb, file, index / PAGES_PER_MASK);

	if (!pages->file) {
		if ((wb->nr_dirty + 1) * 2 > wb->dirty_mask) {
			if (!grow_dirty(world))
				return;
			pages = find_dirty(wb, file, index / PAGES_PER_MASK);
		}
		pages->file = file;
		pages->base = index / PAGES_PER_MASK;
		wb->nr_dirty++;
	}
	pages->mask |= UINT64_C(1) << index % PAGES_PER_MASK;
}

static void set_clean(struct writeback *wb, uint32_t file, uint64_t index)
{
	struct dirty_pages *pages = find_dirty(wb, file, index / PAGES_PER_MASK);

	pages->mask &= ~(UINT64_C(1) << index % PAGES_PER_MASK);
}

static bool is_dirty(const struct writeback *wb, uint32_t file, uint64_t index)
{
	return find_dirty(wb, file, index / PAGES_PER_MASK)->mask >> index % PAGES_PER_MASK & 1;
}

/* The first dirty page of a file from @from on and below @end. Return: @end if there is none. */
static uint64_t next_dirty(const struct writeback *wb, uint32_t file, uint64_t from, uint64_t end)
{
	uint64_t base = from / PAGES_PER_MASK;

	for (uint64_t n = 0; n < SEARCH_LIMIT && base * PAGES_PER_MASK < end; n++, base++) {
		uint64_t mask = find_dirty(wb, file, base)->mask;

		if (base == from / PAGES_PER_MASK)
			mask &= ~UINT64_C(0) << from % PAGES_PER_MASK;
		if (mask)
			return base * PAGES_PER_MASK + (uint64_t)__builtin_ctzll(mask);
	}
	return end;
}

/* ---- pages on their way */

static struct submitted_page *find_submitted(const struct writeback *wb, uint32_t major,
					     uint64_t sector)
{
	uint64_t i = mix(sector ^ (uint64_t)major << 48) & wb->submitted_mask;

	while (wb->submitted[i].file &&
	       (wb->submitted[i].sector != sector || wb->submitted[i].major != major))
		i = (i + 1) & wb->submitted_mask;
	return &wb->submitted[i];
}

static bool grow_submitted(struct world *world)
{
	struct writeback *wb = &world->writeback, bigger = *wb;

	bigger.submitted_mask = wb->submitted_mask * 2 + 1;
	bigger.submitted = calloc(bigger.submitted_mask + 1, sizeof(*bigger.submitted));
	if (!bigger.submitted) {
		world->out_of_memory = true;
		return false;
	}
	for (uint64_t i = 0; i <= wb->submitted_mask; i++) {
		const struct submitted_page *page = &wb->submitted[i];

		if (page->file)
			*find_submitted(&bigger, page->major, page->sector) = *page;
	}
	free(wb->submitted);
	*wb = bigger;
	return true;
}

static void submit(struct world *world, uint32_t major, uint64_t sector, uint32_t file,
		   uint64_t index)
{
	struct writeback *wb = &world->writeback;
	struct submitted_page *page = find_submitted(wb, major, sector);

	if (!page->file) {
		if (wb->nr_submitted == SUBMITTED_LIMIT) {
			memset(wb->submitted, 0, (wb->submitted_mask + 1) * sizeof(*page));
			wb->nr_submitted = 0;
		} else if ((wb->nr_submitted + 1) * 2 > wb->submitted_mask &&
			   !grow_submitted(world)) {
			return;
		}
		page = find_submitted(wb, major, sector);
		wb->nr_submitted++;
	}
	*page = (struct submitted_page){
		.sector = sector, .index = index, .major = major, .file = file
	};
}

/* Entries behind the hole move up, so that every search still ends at an empty place. */
static void remove_submitted(struct writeback *wb, struct submitted_page *page)
{
	uint64_t hole = (uint64_t)(page - wb->submitted);

	for (uint64_t i = (hole + 1) & wb->submitted_mask; wb->submitted[i].file;
	     i = (i + 1) & wb->submitted_mask) {
		const struct submitted_page *other = &wb->submitted[i];
		uint64_t home = mix(other->sector ^ (uint64_t)other->major << 48) &
				wb->submitted_mask;

		if (((i - home) & wb->submitted_mask) < ((i - hole) & wb->submitted_mask))
			continue;
		wb->submitted[hole] = wb->submitted[i];
		hole = i;
	}
	wb->submitted[hole].file = 0;
	wb->nr_submitted--;
}

/* ---- events */

static bool is_write(const struct tape_event *event, unsigned int slot)
{
	return tape_event_string(event, slot, NULL)[0] == 'W';
}

/* A task begins to write a file's dirty pages: from where the last round ended, or a range. */
static void writing_begun(struct world *world, const struct tape_event *event)
{
	struct world_task *task = world_task(world, event->pid);
	const uint64_t *v = event->value;

	if (!task)
		return;
	task->writing.file = world_file(world, v[EXT4_WRITEPAGES_DEV], v[EXT4_WRITEPAGES_INO]);
	task->writing.any_written = false;
	task->writing.next = v[EXT4_WRITEPAGES_RANGE_CYCLIC] ?
				     v[EXT4_WRITEPAGES_WRITEBACK_INDEX] :
				     v[EXT4_WRITEPAGES_RANGE_START] >> PAGE_SHIFT;
}

static void writing_over(struct world *world, const struct tape_event *event)
{
	struct world_task *task = world_task(world, event->pid);

	if (task)
		task->writing.file = 0;
}

/* The page that a write begins with. Return: UINT64_MAX if the file has no dirty one left. */
static uint64_t page_of_write(const struct world *world, const struct writing *writing,
			      uint64_t sector)
{
	const struct writeback *wb = &world->writeback;
	const struct world_file *file = &world->file[writing->file];
	uint64_t index;

	if (file->written_sector && (sector - file->written_sector) % SECTORS_PER_PAGE == 0) {
		index = file->written_page +
			(uint64_t)((int64_t)(sector - file->written_sector) / SECTORS_PER_PAGE);
		if (index < file->seen_pages && is_dirty(wb, writing->file, index))
			return index;
	}
	index = next_dirty(wb, writing->file, writing->next, file->seen_pages);
	if (index == file->seen_pages)
		index = next_dirty(wb, writing->file, 0, file->seen_pages);
	return index == file->seen_pages ? UINT64_MAX : index;
}

static void write_queued(struct world *world, const struct tape_event *event)
{
	struct world_task *task = world_task(world, event->pid);
	const uint64_t *v = event->value;
	uint64_t sector = v[BLOCK_BIO_QUEUE_SECTOR], index;
	uint64_t nr = v[BLOCK_BIO_QUEUE_NR_SECTOR] / SECTORS_PER_PAGE;
	struct world_file *file;

	if (!task || !task->writing.file || !is_write(event, BLOCK_BIO_QUEUE_RWBS))
		return;
	file = &world->file[task->writing.file];
	if (file->dev != v[BLOCK_BIO_QUEUE_DEV] || nr > WRITE_PAGES_LIMIT)
		return;
	index = page_of_write(world, &task->writing, sector);
	if (index == UINT64_MAX)
		return;
	world->writeback.first_of_walk = !task->writing.any_written;
	task->writing.any_written = true;
	file->written_sector = sector;
	file->written_page = index;
	for (uint64_t i = 0; i < nr; i++) {
		set_clean(&world->writeback, task->writing.file, index + i);
		submit(world, (uint32_t)(file->dev >> MINOR_BITS), sector + i * SECTORS_PER_PAGE,
		       task->writing.file, index + i);
		add_page(world, &world->writeback.written, task->writing.file, index + i);
		world_infer(world, INFER_written_in_order);
	}
	task->writing.next = index + nr;
}

static void request_done(struct world *world, const struct tape_event *event)
{
	struct writeback *wb = &world->writeback;
	const uint64_t *v = event->value;
	uint64_t sector = v[BLOCK_RQ_COMPLETE_SECTOR];
	uint64_t nr = v[BLOCK_RQ_COMPLETE_NR_SECTOR] / SECTORS_PER_PAGE;

	if (!is_write(event, BLOCK_RQ_COMPLETE_RWBS) || nr > WRITE_PAGES_LIMIT)
		return;
	for (uint64_t i = 0; i < nr; i++) {
		struct submitted_page *page = find_submitted(
			wb, (uint32_t)(v[BLOCK_RQ_COMPLETE_DEV] >> MINOR_BITS),
			sector + i * SECTORS_PER_PAGE);

		if (!page->file)
			continue;
		if (!add_page(world, &wb->ended, page->file, page->index))
			return;
		remove_submitted(wb, page);
	}
}

/* What is truncated gives its blocks back: where the file's last write went tells nothing of the next one. */
static void blocks_freed(struct world *world, uint64_t dev, uint64_t ino)
{
	uint32_t file = world_file(world, dev, ino); /* which may move the array */

	world->file[file].written_sector = 0;
}

static void page_deleted(struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	const struct world_task *task = world_task(world, event->pid);
	uint32_t file = world_file(world, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO]);
	uint64_t order = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER];

	if (task && !task->in_reclaim)
		blocks_freed(world, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
			     v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO]);
	for (uint64_t i = 0; i == 0 || (order < 14 && i >> order == 0); i++)
		set_clean(&world->writeback, file, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX] + i);
}

void writeback_event(struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	uint64_t dev;

	world->writeback.written.nr = world->writeback.ended.nr = 0;
	if (!world->writeback.seen)
		return;
	switch (event->kind) {
	case EVENT_WRITEBACK_DIRTY_FOLIO:
		if (parse_bdi(tape_event_string(event, WRITEBACK_DIRTY_FOLIO_NAME, NULL), &dev))
			set_dirty(world, world_file(world, dev, v[WRITEBACK_DIRTY_FOLIO_INO]),
				  v[WRITEBACK_DIRTY_FOLIO_INDEX]);
		break;
	case EVENT_EXT4_WRITEPAGES:
		writing_begun(world, event);
		break;
	case EVENT_INODE_EVICTED:
		blocks_freed(world, v[INODE_EVICTED_DEV], v[INODE_EVICTED_INO]);
		break;
	case EVENT_EXT4_WRITEPAGES_RESULT:
		writing_over(world, event);
		break;
	case EVENT_BLOCK_BIO_QUEUE:
		write_queued(world, event);
		break;
	case EVENT_BLOCK_RQ_COMPLETE:
		request_done(world, event);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		page_deleted(world, event);
		break;
	default:
		break;
	}
}
