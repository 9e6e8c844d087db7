// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/world.h"

#include <stdlib.h>
#include <string.h>

#include "replay/world/readahead.h"
#include "replay/world/snapshot.h"

#define FIRST_HASH_SIZE 1024
#define FILE_ORDER_LIMIT 13 /* of a folio; more is an absent field or a broken tape */
#define INFERRED_MEMCG_ID 2 /* no inode: the tape names none */

const char *infer_rule_name(unsigned int rule)
{
	static const char *const name[NR_INFER_RULES] = {
#define INFER(number, name, meaning) [number] = #name,
#include "replay/world/infer.def"
	};

	return rule < NR_INFER_RULES ? name[rule] : NULL;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

static void *zeroed(struct world *world, size_t nr, size_t bytes)
{
	void *p = calloc(nr, bytes);

	if (!p)
		world->out_of_memory = true;
	return p;
}

static bool grow_tasks(struct world *world)
{
	uint64_t mask = world->task_mask * 2 + 1;
	struct world_task **bigger = zeroed(world, mask + 1, sizeof(struct world_task *));

	if (!bigger)
		return false;
	for (uint64_t i = 0; i <= world->task_mask; i++) {
		struct world_task *task = world->task[i];
		uint64_t j;

		if (!task)
			continue;
		for (j = mix((uint32_t)task->pid) & mask; bigger[j]; j = (j + 1) & mask)
			;
		bigger[j] = task;
	}
	free(world->task);
	world->task = bigger;
	world->task_mask = mask;
	return true;
}

struct world_task *world_task(struct world *world, int32_t pid)
{
	uint64_t i;

	if (world->last_task && world->last_task->pid == pid)
		return world->last_task;
	for (i = mix((uint32_t)pid) & world->task_mask; world->task[i];
	     i = (i + 1) & world->task_mask)
		if (world->task[i]->pid == pid)
			return world->last_task = world->task[i];
	if (world->nr_tasks * 2 > world->task_mask) {
		if (!grow_tasks(world))
			return NULL;
		return world_task(world, pid);
	}
	world->task[i] = zeroed(world, 1, sizeof(struct world_task));
	if (world->task[i]) {
		world->task[i]->pid = pid;
		world->task[i]->number = (uint32_t)world->nr_tasks++;
		world->task[i]->demand_first = world->task[i]->window_first = 1;
		if (world->all_in_command_memcg)
			world->task[i]->memcg = world->command_memcg;
	}
	return world->task[i];
}

static bool grow_files(struct world *world)
{
	uint32_t room = world->room_files * 2;
	struct world_file *bigger = realloc(world->file, room * sizeof(*bigger));
	uint32_t *hash;

	if (!bigger) {
		world->out_of_memory = true;
		return false;
	}
	world->file = bigger;
	hash = zeroed(world, (size_t)room * 2, sizeof(*hash));
	if (!hash)
		return false;
	free(world->file_hash);
	world->room_files = room;
	world->file_hash = hash;
	world->file_mask = (uint64_t)room * 2 - 1;
	for (uint32_t n = 1; n < world->nr_files; n++) {
		uint64_t i = mix(world->file[n].ino ^ world->file[n].dev << 40) & world->file_mask;

		while (hash[i])
			i = (i + 1) & world->file_mask;
		hash[i] = n;
	}
	return true;
}

/* Metadata sits in the block device's own inode, whose file system (bdev) is mounted nowhere. */
static bool is_block_device(const struct world *world, uint64_t dev)
{
	if (dev >> 20 || !world->has_mountinfo)
		return false;
	for (uint32_t i = 0; i < world->nr_mounted; i++)
		if (world->mounted[i] == dev)
			return false;
	return true;
}

uint32_t world_file(struct world *world, uint64_t dev, uint64_t ino)
{
	uint32_t n = world->last_file;
	uint64_t i;

	if (n && world->file[n].ino == ino && world->file[n].dev == dev)
		return n;
	for (i = mix(ino ^ dev << 40) & world->file_mask; (n = world->file_hash[i]);
	     i = (i + 1) & world->file_mask)
		if (world->file[n].ino == ino && world->file[n].dev == dev)
			return world->last_file = n;
	if (world->nr_files == world->room_files) {
		if (!grow_files(world))
			return 0;
		return world_file(world, dev, ino);
	}
	n = world->nr_files++;
	world->file_hash[i] = n;
	world->file[n] = (struct world_file){ .dev = dev, .ino = ino, .ra_pages = UINT32_MAX };
	world->file[n].block_device = is_block_device(world, dev);
	/* The inode of a block device has its dev_t for a number; other pseudo file systems count from 1. */
	if (world->file[n].block_device && ino >> 20)
		world->bdev_dev = dev;
	return n;
}

static bool grow_readers(struct world *world)
{
	uint64_t mask = world->reader_mask * 2 + 1;
	struct world_reader *bigger = zeroed(world, mask + 1, sizeof(*bigger));

	if (!bigger)
		return false;
	for (uint64_t i = 0; i <= world->reader_mask; i++) {
		uint64_t j;

		if (!world->reader[i].key)
			continue;
		for (j = mix(world->reader[i].key) & mask; bigger[j].key; j = (j + 1) & mask)
			;
		bigger[j] = world->reader[i];
	}
	free(world->reader);
	world->reader = bigger;
	world->reader_mask = mask;
	return true;
}

struct world_reader *world_reader(struct world *world, int32_t pid, uint32_t file)
{
	uint64_t key = ((uint64_t)(uint32_t)pid << 32 | file) + 1;
	uint64_t i = mix(key) & world->reader_mask;

	for (; world->reader[i].key; i = (i + 1) & world->reader_mask)
		if (world->reader[i].key == key)
			return &world->reader[i];
	if (world->nr_readers * 2 > world->reader_mask) {
		if (!grow_readers(world))
			return NULL;
		return world_reader(world, pid, file);
	}
	world->reader[i] = (struct world_reader){
		.key = key,
		.prev_page = UINT64_MAX,
		.number = (uint32_t)world->nr_readers++,
	};
	return &world->reader[i];
}

uint32_t world_memcg_by_id(const struct world *world, uint64_t id)
{
	/* Newest first: an inode number may come again after its directory was removed. */
	for (uint32_t n = world->nr_memcgs; n-- > 1;)
		if (world->memcg[n].id == id)
			return n;
	return WORLD_ROOT;
}

uint32_t world_memcg_by_path(const struct world *world, const char *path, size_t size)
{
	for (uint32_t n = world->nr_memcgs; n-- > 1;)
		if (!world->memcg[n].gone && strlen(world->memcg[n].path) == size &&
		    !memcmp(world->memcg[n].path, path, size))
			return n;
	return WORLD_ROOT;
}

uint32_t world_add_memcg(struct world *world, uint64_t id, const char *path)
{
	struct world_memcg *memcg;
	const char *slash = strrchr(path, '/');
	uint32_t n = world_memcg_by_id(world, id);

	if (n != WORLD_ROOT && !world->memcg[n].gone)
		return n;
	if (!strcmp(path, "/") || !*path) {
		world->memcg[WORLD_ROOT].id = id;
		return WORLD_ROOT;
	}
	if (world->nr_memcgs == world->room_memcgs) {
		uint32_t room = world->room_memcgs * 2;

		memcg = realloc(world->memcg, room * sizeof(*memcg));
		if (!memcg) {
			world->out_of_memory = true;
			return WORLD_ROOT;
		}
		world->memcg = memcg;
		world->room_memcgs = room;
	}
	memcg = &world->memcg[world->nr_memcgs];
	*memcg = (struct world_memcg){
		.id = id,
		.parent = slash && slash != path ?
				  world_memcg_by_path(world, path, (size_t)(slash - path)) :
				  WORLD_ROOT,
		.path = strdup(path),
		.limit_pages = INT64_MAX,
		.high_pages = INT64_MAX,
		.swappiness = -1,
		.swap_limit_pages = INT64_MAX,
		.memsw_limit_pages = INT64_MAX,
	};
	if (!memcg->path) {
		world->out_of_memory = true;
		return WORLD_ROOT;
	}
	return world->nr_memcgs++;
}

/* No snapshot says who is in which memcg: those who reclaimed for a limit must be in one. */
static int infer_group(struct world *world, struct tape_reader *reader)
{
	const struct tape_event *event;
	uint32_t group = WORLD_ROOT;
	int ret;

	while ((ret = tape_reader_next(reader, &event)) > 0) {
		struct world_task *task;

		if (event->kind != EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN)
			continue;
		if (group == WORLD_ROOT)
			group = world_add_memcg(world, INFERRED_MEMCG_ID,
						"/(tasks that reclaimed)");
		task = world_task(world, event->pid);
		if (!task)
			return -1;
		if (task->memcg != group)
			world_infer(world, INFER_task_in_reclaim_bracket);
		task->memcg = group;
	}
	if (ret < 0)
		return ret;
	world->command_memcg = group;
	return tape_reader_rewind(reader);
}

/* An access stream of another tool: all of it counts as one group's. */
static bool has_requests(const struct tape_reader *reader)
{
	for (unsigned int i = 0; tape_reader_type(reader, i); i++)
		if (tape_reader_type(reader, i)->kind == EVENT_PAGE_REQUEST)
			return true;
	return false;
}

int world_init(struct world *world, struct tape_reader *reader)
{
	int ret = world_init_tasks(world, reader);

	if (ret)
		return ret;
	ret = migrations_find(world, reader);
	if (!ret)
		ret = foreign_reclaim_find(world, reader);
	if (!ret)
		ret = overhead_find(world, reader);
	if (ret)
		world_exit(world);
	return ret;
}

int world_init_tasks(struct world *world, struct tape_reader *reader)
{
	const struct tape_summary *summary = tape_reader_summary(reader);
	int ret = -1;

	memset(world, 0, sizeof(*world));
	world->nr_cpus = summary->nr_cpus ? summary->nr_cpus : 1;
	world->swappiness = 60;
	world->page_cluster = 3;
	world->task_mask = world->reader_mask = FIRST_HASH_SIZE - 1;
	world->file_mask = FIRST_HASH_SIZE * 2 - 1;
	world->room_files = FIRST_HASH_SIZE;
	world->room_memcgs = 16;
	world->nr_files = 1;
	world->task = zeroed(world, FIRST_HASH_SIZE, sizeof(struct world_task *));
	world->reader = zeroed(world, FIRST_HASH_SIZE, sizeof(struct world_reader));
	world->file = zeroed(world, FIRST_HASH_SIZE, sizeof(struct world_file));
	world->file_hash = zeroed(world, FIRST_HASH_SIZE * 2, sizeof(uint32_t));
	world->memcg = zeroed(world, world->room_memcgs, sizeof(struct world_memcg));
	if (world->out_of_memory)
		goto err_exit;
	world->memcg[WORLD_ROOT] = (struct world_memcg){ .id = 1,
							 .path = strdup("/"),
							 .limit_pages = INT64_MAX,
							 .high_pages = INT64_MAX,
							 .swappiness = -1,
							 .swap_limit_pages = INT64_MAX,
							 .memsw_limit_pages = INT64_MAX };
	world->nr_memcgs = 1;
	if (!world->memcg[WORLD_ROOT].path)
		goto err_exit;
	if (writeback_init(world, reader))
		goto err_exit;
	world_read_snapshots(world, reader);
	if (world->faults_seen && world->allocs_seen && world->single_frees) {
		world->anon = anon_open();
		world->out_of_memory |= !world->anon;
	}
	if (has_requests(reader)) {
		world->command_memcg = world_add_memcg(world, INFERRED_MEMCG_ID, "/(requests)");
		world->all_in_command_memcg = true;
		for (uint64_t i = 0; i <= world->task_mask; i++)
			if (world->task[i])
				world->task[i]->memcg = world->command_memcg;
	} else if (world->memcg_inferred) {
		ret = infer_group(world, reader);
		if (ret < 0)
			goto err_exit;
	}
	world_apply_facts(world, reader);
	if (spaces_init(world) || world->out_of_memory) {
		ret = -1;
		goto err_exit;
	}
	return 0;

err_exit:
	world_exit(world);
	return ret;
}

void world_exit(struct world *world)
{
	if (world->task)
		for (uint64_t i = 0; i <= world->task_mask; i++)
			free(world->task[i]);
	for (uint32_t n = 0; n < world->nr_memcgs; n++)
		free(world->memcg[n].path);
	free(world->task);
	free(world->reader);
	for (uint32_t n = 0; world->file && n < world->nr_files; n++)
		free(world->file[n].exec);
	free(world->file);
	free(world->file_hash);
	free(world->memcg);
	free(world->mounted);
	writeback_exit(world);
	spaces_exit(world);
	free(world->lru_gen);
	limits_exit(&world->limits);
	foreign_reclaim_exit(&world->foreign);
	migrations_exit(&world->migrations);
	overhead_exit(&world->overhead);
	anon_close(world->anon);
	memset(world, 0, sizeof(*world));
}

/* A new program opens its files anew: no read of it continues an old one. */
static void forget_readers(struct world *world, int32_t pid)
{
	for (uint64_t i = 0; i <= world->reader_mask; i++)
		if (world->reader[i].key && (world->reader[i].key - 1) >> 32 == (uint32_t)pid)
			world->reader[i].prev_page = UINT64_MAX;
}

static void set_comm(struct world_task *task, const struct tape_event *event, unsigned int slot)
{
	size_t size;
	const char *comm = tape_event_string(event, slot, &size);

	if (!size)
		return;
	if (size >= WORLD_COMM_BYTES)
		size = WORLD_COMM_BYTES - 1;
	memcpy(task->comm, comm, size);
	task->comm[size] = '\0';
}

static void task_forked(struct world *world, const struct tape_event *event)
{
	struct world_task *child, *parent;
	uint32_t memcg;

	parent = world_task(world, (int32_t)event->value[SCHED_PROCESS_FORK_PARENT_PID]);
	if (!parent)
		return;
	memcg = parent->memcg;
	child = world_task(world, (int32_t)event->value[SCHED_PROCESS_FORK_CHILD_PID]);
	if (!child)
		return;
	/* Without snapshots the pre-pass over the tape has said more than a fork does. */
	if (!child->memcg_told && (!world->memcg_inferred || child->memcg == WORLD_ROOT))
		child->memcg = memcg;
	child->memcg_told = false;
	set_comm(child, event, SCHED_PROCESS_FORK_CHILD_COMM);
}

static void task_attached(struct world *world, const struct tape_event *event)
{
	struct world_task *task;

	if (event->value[CGROUP_ATTACH_TASK_DST_ROOT] != world->memory_hierarchy)
		return;
	task = world_task(world, (int32_t)event->value[CGROUP_ATTACH_TASK_PID]);
	if (task)
		task->memcg = world_add_memcg(world, event->value[CGROUP_ATTACH_TASK_DST_ID],
					      tape_event_string(event, CGROUP_ATTACH_TASK_DST_PATH,
								NULL));
}

/* The recorder's word stands before the fork event, which would have it inherit. */
static void task_cloned_into(struct world *world, const struct tape_event *event)
{
	struct world_task *task = world_task(world, (int32_t)event->value[TASK_MEMCG_PID]);

	if (!task || !event->value[TASK_MEMCG_MEMCG])
		return;
	task->memcg = world_add_memcg(world, event->value[TASK_MEMCG_MEMCG],
				      tape_event_string(event, TASK_MEMCG_PATH, NULL));
	task->memcg_told = true;
}

static void task_exited(struct world *world, const struct tape_event *event)
{
	struct world_task *task = world_task(world, (int32_t)event->value[SCHED_PROCESS_EXIT_PID]);

	if (task)
		task->memcg_told = false;
}

uint64_t world_faulted_page(const struct world *world, const struct world_task *task,
			    uint64_t first, uint64_t last)
{
	uint64_t address = world->anon ? anon_fault_index(world->anon, task) : UINT64_MAX;

	if (address == UINT64_MAX || last - first + 1 != FAULT_AROUND_PAGES)
		return UINT64_MAX;
	return first + (address & (FAULT_AROUND_PAGES - 1));
}

bool world_task_is_kdamond(const struct world_task *task)
{
	return !strncmp(task->comm, "kdamond", 7);
}

static void set_in_reclaim(struct world *world, const struct tape_event *event, bool in_reclaim)
{
	struct world_task *task = world_task(world, event->pid);

	if (!task)
		return;
	task->in_reclaim = in_reclaim;
	if (in_reclaim)
		task->foreign_call = foreign_reclaim_call(world, event->pid, event->timestamp_ns);
}

const struct foreign_call *world_foreign_call(struct world *world, int32_t pid)
{
	const struct world_task *task = world_task(world, pid);

	return task ? task->foreign_call : NULL;
}

void world_event_done(struct world *world, const struct tape_event *event, uint64_t read_end)
{
	struct world_reader *reader;

	if (event->kind == EVENT_INODE_EVICTED) {
		uint32_t file = world_file(world, event->value[INODE_EVICTED_DEV],
					   event->value[INODE_EVICTED_INO]);

		world->file[file].seen_pages = 0;
	}
	if (event->kind != EVENT_MM_FILEMAP_GET_PAGES)
		return;
	world_readahead_over(world, event->pid);
	reader = world_reader(world, event->pid,
			      world_file(world, event->value[MM_FILEMAP_GET_PAGES_S_DEV],
					 event->value[MM_FILEMAP_GET_PAGES_I_INO]));
	if (!reader)
		return;
	if (event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX] != reader->request_last) {
		uint64_t begin = world_read_begin(world, event);

		reader->request_last = event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX];
		reader->request_pages = reader->request_last - begin + 1;
	}
	reader->prev_page = read_end;
}

uint64_t world_read_begin(struct world *world, const struct tape_event *event)
{
	uint64_t first = event->value[MM_FILEMAP_GET_PAGES_INDEX];
	uint64_t last = event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX];
	const struct world_reader *reader = world_reader(
		world, event->pid,
		world_file(world, event->value[MM_FILEMAP_GET_PAGES_S_DEV],
			   event->value[MM_FILEMAP_GET_PAGES_I_INO]));

	if (!reader || reader->request_pages <= 1 || last == reader->request_last ||
	    last != reader->request_last + reader->request_pages ||
	    first <= reader->request_last + 1)
		return first;
	return reader->request_last + 1;
}

/* No event tells a file's size: it has at least what was read first, or brought in. */
static void page_seen(struct world *world, uint64_t dev, uint64_t ino, uint64_t index,
		      uint64_t order)
{
	uint32_t number = world_file(world, dev, ino); /* may move the table */
	struct world_file *file = &world->file[number];
	uint64_t nr = order > FILE_ORDER_LIMIT ? 1 : UINT64_C(1) << order;

	if (index + nr > file->seen_pages)
		file->seen_pages = index + nr;
	if (order <= FILE_ORDER_LIMIT && order > file->max_order)
		file->max_order = (uint8_t)order;
}

static void set_exec_begun(struct world *world, int32_t pid)
{
	struct world_task *task = world_task(world, pid);

	if (task)
		task->exec_begun = true;
}

/* A task reclaims for a limit of its memcg, or of one above. */
static void look_for_limit(struct world *world, int32_t pid)
{
	const struct world_task *task = world_task(world, pid);
	uint32_t n = task && !world->memcg_inferred ? task->memcg : WORLD_ROOT;

	for (uint32_t up = n; up != WORLD_ROOT; up = world->memcg[up].parent)
		if (world->memcg[up].limit_pages != INT64_MAX ||
		    world->memcg[up].high_pages != INT64_MAX)
			return;
	if (n != WORLD_ROOT && !world->unlimited_memcg)
		world->unlimited_memcg = n;
}

static void memcg_made(struct world *world, const struct tape_event *event)
{
	uint32_t n = world_add_memcg(world, event->value[CGROUP_MKDIR_ID],
				     tape_event_string(event, CGROUP_MKDIR_PATH, NULL));

	if (n != WORLD_ROOT)
		limits_of_new(world, n, event->timestamp_ns);
}

void world_event(struct world *world, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	uint32_t n;

	world->now_ns = event->timestamp_ns;
	limits_pass(world, event->timestamp_ns);
	writeback_event(world, event);
	spaces_event(world, event);
	faults_event(world, event);
	if (world->anon) {
		anon_event(world->anon, world, event);
		world->out_of_memory |= anon_failed(world->anon);
	}
	switch (event->kind) {
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN:
		look_for_limit(world, event->pid);
		set_in_reclaim(world, event, true);
		break;
	case EVENT_MM_VMSCAN_DIRECT_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_NODE_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_KSWAPD_WAKE:
		set_in_reclaim(world, event, true);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_END:
	case EVENT_MM_VMSCAN_DIRECT_RECLAIM_END:
	case EVENT_MM_VMSCAN_NODE_RECLAIM_END:
	case EVENT_MM_VMSCAN_KSWAPD_SLEEP:
		set_in_reclaim(world, event, false);
		break;
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		page_seen(world, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV],
			  v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO],
			  v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX],
			  v[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER]);
		break;
	case EVENT_MM_FILEMAP_GET_PAGES:
		world_readahead_event(world, event);
		if (!world->reads_seen)
			world_infer(world, INFER_read_by_call);
		page_seen(world, v[MM_FILEMAP_GET_PAGES_S_DEV], v[MM_FILEMAP_GET_PAGES_I_INO],
			  v[MM_FILEMAP_GET_PAGES_INDEX], 0);
		break;
	case EVENT_PAGE_CACHE_SYNC_RA:
	case EVENT_PAGE_CACHE_ASYNC_RA:
	case EVENT_PAGE_CACHE_RA_ORDER:
	case EVENT_PAGE_CACHE_RA_UNBOUNDED:
	case EVENT_MM_FILEMAP_FAULT:
		world_readahead_event(world, event);
		break;
	case EVENT_SCHED_PROCESS_FORK:
		task_forked(world, event);
		break;
	case EVENT_TASK_MEMCG:
		task_cloned_into(world, event);
		break;
	case EVENT_SCHED_PROCESS_EXIT:
		task_exited(world, event);
		break;
	case EVENT_SCHED_PROCESS_EXEC:
		set_exec_begun(world, event->pid);
		forget_readers(world, event->pid);
		break;
	case EVENT_CGROUP_ATTACH_TASK:
		task_attached(world, event);
		break;
	case EVENT_CGROUP_MKDIR:
		if (event->value[CGROUP_MKDIR_ROOT] == world->memory_hierarchy)
			memcg_made(world, event);
		break;
	case EVENT_CGROUP_RMDIR:
		if (event->value[CGROUP_RMDIR_ROOT] != world->memory_hierarchy)
			break;
		n = world_memcg_by_id(world, event->value[CGROUP_RMDIR_ID]);
		if (n != WORLD_ROOT)
			world->memcg[n].gone = true;
		break;
	default:
		break;
	}
}

#define UNSEEN_SHARE_LIMIT                                                                         \
	50 /* of the machine's pages, one in so many may be a file page of before */

int64_t world_machine_pages(const struct world *world)
{
	int64_t managed = 0, unseen = 0;

	for (unsigned int i = 0; i < world->zones.nr; i++)
		managed += (int64_t)world->zones.zone[i].managed_pages;
	for (uint32_t n = 0; n < world->nr_memcgs; n++)
		unseen += world->memcg[n].unseen[2] + world->memcg[n].unseen[3]; /* file lists */
	if (!zones_sum(&world->zones, WMARK_HIGH) || unseen > managed / UNSEEN_SHARE_LIMIT)
		return INT64_MAX;
	return managed;
}

bool world_only_machine_reclaims(const struct world *world)
{
	if (world->foreign.nr_rows)
		return false;
	for (uint32_t n = 0; n < world->nr_memcgs; n++)
		if (world->memcg[n].limit_pages != INT64_MAX ||
		    world->memcg[n].high_pages != INT64_MAX)
			return false;
	return world_machine_pages(world) != INT64_MAX;
}

int64_t world_recorded_memory(const struct world *world)
{
	return world->limited_memcg == WORLD_ROOT ? world_machine_pages(world) :
						    world->memcg[world->limited_memcg].limit_pages;
}
