// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/world/zoneinfo.h"

#define PAGE_BYTES 4096
#define KIB_PER_PAGE 4
#define FIGURE_LIMIT (INT64_C(1) << 50) /* bytes, KiB or pages */
#define STOCK_BYTES_LIMIT (INT64_MAX / 2) /* v1 shows "no limit" as a number near INT64_MAX */

static const char *const list_names[WORLD_LIST_STATS] = {
	"inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable",
};

/* A figure of a snapshot, cut where no machine is: sums of such figures cannot overflow. */
static int64_t figure(const char *text)
{
	long long n = strtoll(text, NULL, 10);

	if (n > FIGURE_LIMIT)
		return FIGURE_LIMIT;
	return n < -FIGURE_LIMIT ? -FIGURE_LIMIT : n;
}

/* The number behind "KEY " at the start of a line. Return: found. */
static bool find_number(const char *text, const char *key, int64_t *value)
{
	size_t n = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n) && (line[n] == ' ' || line[n] == '\t')) {
			*value = figure(line + n);
			return true;
		}
	}
	return false;
}

static const char *start_text(const struct tape_reader *reader, const char *name)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START, name);

	return blob ? blob->data : "";
}

static void read_machine(struct world *world, const struct tape_reader *reader)
{
	const char *text = start_text(reader, "lrutape/release");
	int64_t n;

	snprintf(world->release, sizeof(world->release), "%.*s", (int)strcspn(text, "\n"), text);
	text = start_text(reader, "/proc/sys/vm/swappiness");
	if (*text)
		world->swappiness = atoi(text);

	text = start_text(reader, "/proc/sys/vm/page-cluster");
	if (*text && figure(text) >= 0 && figure(text) < 16)
		world->page_cluster = (unsigned int)figure(text);

	/* /proc/cgroups: subsystem, hierarchy, cgroups, enabled. */
	if (find_number(start_text(reader, "/proc/cgroups"), "memory", &n)) {
		world->memory_hierarchy = (unsigned int)n;
		world->cgroup_v1 = n != 0;
	}

	/* /proc/swaps: file, type, size and used in KiB, priority. */
	text = start_text(reader, "/proc/swaps");
	while ((text = strchr(text, '\n')) && *++text) {
		char name[64], size[24], used[24];

		if (sscanf(text, "%63s %*s %23s %23s", name, size, used) == 3) {
			world->swap_is_synchronous |= !strncmp(name, "/dev/zram", 9);
			world->total_swap_pages += figure(size) / KIB_PER_PAGE;
			world->nr_swap_pages += (figure(size) - figure(used)) / KIB_PER_PAGE;
		}
	}
}

static bool line_has(const char *line, const char *words)
{
	const char *at = strstr(line, words);

	return at && (size_t)(at - line) < strcspn(line, "\n");
}

static void read_mounts(struct world *world, const struct tape_reader *reader)
{
	const char *text = start_text(reader, "/proc/self/mountinfo");
	uint32_t room = 0;

	/* mount id, parent id, major:minor, ... */
	for (; *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : "") {
		unsigned int major, minor;

		if (sscanf(text, "%*u %*u %u:%u", &major, &minor) != 2)
			continue;
		world->recursive_protection |= line_has(text, " - cgroup2 ") &&
					       line_has(text, "memory_recursiveprot");
		world->has_mountinfo = true;
		if (world->nr_mounted == room) {
			uint32_t bigger = room ? room * 2 : 32;
			uint32_t *mounted = realloc(world->mounted, bigger * sizeof(*mounted));

			if (!mounted) {
				world->out_of_memory = true;
				return;
			}
			world->mounted = mounted;
			room = bigger;
		}
		world->mounted[world->nr_mounted++] = major << 20 | minor;
	}
}

static void read_cgroups(struct world *world, const struct tape_reader *reader)
{
	const char *text = start_text(reader, "lrutape/cgroups");
	char path[WORLD_PATH_BYTES];

	/* Parents before children, so that each finds its own: by length of the path. */
	for (unsigned int depth = 0; depth < 32; depth++) {
		const char *line = text;

		for (; *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : "") {
			unsigned long long id;
			unsigned int slashes = 0;

			if (sscanf(line, "%llu %4095[^\n]", &id, path) != 2)
				continue;
			for (const char *s = path; *s; s++)
				slashes += *s == '/' && s[1];
			if (slashes == depth)
				world_add_memcg(world, id, path);
		}
	}
}

static void read_tasks(struct world *world, const struct tape_reader *reader)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START,
							     "lrutape/tasks");
	const char *text = blob ? blob->data : NULL, *end = blob ? text + blob->size : NULL;
	bool any_memcg = false;

	/* By its size: a name may hold a NUL, which ends the name and not the list. */
	for (; text && text < end; text = memchr(text, '\n', (size_t)(end - text))) {
		char comm[WORLD_COMM_BYTES] = "";
		struct world_task *task;
		unsigned long long id;
		int tid, tgid;

		text += *text == '\n';
		if (sscanf(text, "%d %d %llu %15[^\n]", &tid, &tgid, &id, comm) < 3)
			continue;
		task = world_task(world, tid);
		if (!task)
			return;
		task->tgid = tgid;
		task->memcg = world_memcg_by_id(world, id);
		any_memcg |= id != 0;
		memcpy(task->comm, comm, sizeof(comm));
	}
	world->memcg_inferred = !any_memcg;
}

/* The memcg whose path is the longest end of a directory's path; WORLD_ROOT if none is. */
uint32_t world_memcg_of_directory(const struct world *world, const char *name, size_t size)
{
	uint32_t best = WORLD_ROOT;
	size_t best_size = 0;

	for (uint32_t n = 1; n < world->nr_memcgs; n++) {
		size_t path_size = strlen(world->memcg[n].path);

		if (!world->memcg[n].gone && path_size <= size && path_size > best_size &&
		    !memcmp(name + size - path_size, world->memcg[n].path, path_size)) {
			best = n;
			best_size = path_size;
		}
	}
	return best;
}

/* v1's plain names count the memcg alone, v2's the subtree: see subtract_children(). */
static void read_memcg_stat(struct world_memcg *memcg, const char *text)
{
	int64_t bytes;

	for (int i = 0; i < WORLD_LIST_STATS; i++)
		if (find_number(text, list_names[i], &bytes))
			memcg->unseen[i] = bytes / PAGE_BYTES;
}

/* v2's memory.stat and the root's vmstat count whole subtrees: keep what is each level's own. */
static void subtract_children(struct world *world, bool all_levels)
{
	for (uint32_t n = 1; n < world->nr_memcgs; n++) {
		uint32_t up = world->memcg[n].parent;

		if (!all_levels) /* v1: only the root's figures are sums */
			up = WORLD_ROOT;
		for (int i = 0; i < WORLD_LIST_STATS; i++) {
			world->memcg[up].unseen[i] -= world->memcg[n].unseen[i];
			if (world->memcg[up].unseen[i] < 0)
				world->memcg[up].unseen[i] = 0;
		}
	}
}

/*
 * Pages that a memcg was charged for and that a replay does not put on a list, at the tape's end:
 * slab, page tables, and anon pages where the tape does not show their frees.
 */
static void read_overhead(const struct world *world, struct world_memcg *memcg,
			  const struct tape_reader *reader, const char *directory, size_t size)
{
	char name[WORLD_PATH_BYTES];
	const struct tape_blob *usage, *stat;
	int64_t pages, bytes;

	snprintf(name, sizeof(name), "%.*s/memory.usage_in_bytes", (int)size, directory);
	usage = tape_reader_find_blob(reader, TAPE_MOMENT_END, name);
	if (!usage) {
		snprintf(name, sizeof(name), "%.*s/memory.current", (int)size, directory);
		usage = tape_reader_find_blob(reader, TAPE_MOMENT_END, name);
	}
	snprintf(name, sizeof(name), "%.*s/memory.stat", (int)size, directory);
	stat = tape_reader_find_blob(reader, TAPE_MOMENT_END, name);
	if (!usage || !stat)
		return;
	pages = figure(usage->data) / PAGE_BYTES;
	for (int i = world->single_frees ? 0 : 2; i < WORLD_LIST_STATS; i++)
		if (find_number(stat->data, list_names[i], &bytes))
			pages -= bytes / PAGE_BYTES;
	memcg->overhead_pages = pages > 0 ? pages : 0;
}

static bool ends_with(const char *name, const char *end, size_t *size)
{
	size_t n = strlen(name), m = strlen(end);

	*size = n - m;
	return n > m && !strcmp(name + n - m, end);
}

/* A figure in bytes; "max", or what v1 shows for it, is none. Return: one is there. */
static bool read_setting(const char *text, uint64_t *pages)
{
	long long bytes = strtoll(text, NULL, 10);

	if (bytes <= 0 || bytes >= STOCK_BYTES_LIMIT)
		return false;
	*pages = (uint64_t)bytes / PAGE_BYTES;
	return true;
}

int64_t world_limit_of_text(const char *text)
{
	uint64_t pages;

	return read_setting(text, &pages) ? (int64_t)pages : INT64_MAX;
}

int64_t world_swap_limit_of_text(const char *text)
{
	return text[0] >= '0' && text[0] <= '9' ? figure(text) / PAGE_BYTES : INT64_MAX;
}

/* "max" protects all of it. */
static void read_protected(const char *text, uint64_t *pages)
{
	if (!strncmp(text, "max", 3))
		*pages = (uint64_t)FIGURE_LIMIT;
	else if (!read_setting(text, pages))
		*pages = 0;
}

/* memory.high, memory.min, memory.low of v2. */
static void read_protection(struct world *world, const struct tape_blob *blob)
{
	struct world_memcg *memcg;
	uint64_t pages;
	size_t size;

	if (ends_with(blob->name, "/memory.high", &size)) {
		memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
		if (memcg != world->memcg && read_setting(blob->data, &pages))
			memcg->high_pages = (int64_t)pages;
	} else if (ends_with(blob->name, "/memory.min", &size)) {
		memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
		read_protected(blob->data, &memcg->min_pages);
	} else if (ends_with(blob->name, "/memory.low", &size)) {
		memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
		read_protected(blob->data, &memcg->low_pages);
	}
}

static void read_memcg_files(struct world *world, const struct tape_reader *reader)
{
	const struct tape_blob *blob;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++) {
		struct world_memcg *memcg;
		size_t size;

		if (blob->moment != TAPE_MOMENT_START || blob->name[0] != '/')
			continue;
		read_protection(world, blob);
		if (ends_with(blob->name, "/memory.stat", &size)) {
			memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
			if (memcg != world->memcg) {
				read_memcg_stat(memcg, blob->data);
				read_overhead(world, memcg, reader, blob->name, size);
			}
		} else if (ends_with(blob->name, "/memory.limit_in_bytes", &size) ||
			   ends_with(blob->name, "/memory.max", &size)) {
			memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
			if (memcg != world->memcg)
				memcg->limit_pages = world_limit_of_text(blob->data);
		} else if (ends_with(blob->name, "/memory.swap.max", &size)) {
			memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
			if (memcg != world->memcg)
				memcg->swap_limit_pages = world_swap_limit_of_text(blob->data);
		} else if (ends_with(blob->name, "/memory.memsw.limit_in_bytes", &size)) {
			memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
			if (memcg != world->memcg)
				memcg->memsw_limit_pages = world_limit_of_text(blob->data);
		} else if (ends_with(blob->name, "/memory.swap.current", &size) ||
			   ends_with(blob->name, "/memory.memsw.usage_in_bytes", &size)) {
			memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
			if (memcg != world->memcg)
				memcg->swapped_pages += figure(blob->data) / PAGE_BYTES;
		} else if (ends_with(blob->name, "/memory.usage_in_bytes", &size)) {
			memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
			if (memcg != world->memcg)
				memcg->swapped_pages -= figure(blob->data) / PAGE_BYTES;
		} else if (ends_with(blob->name, "/memory.swappiness", &size)) {
			memcg = &world->memcg[world_memcg_of_directory(world, blob->name, size)];
			memcg->swappiness = atoi(blob->data);
		}
	}
}

/* v1 tells usage with swap and without; read a moment apart. */
static void swapped_at_start(struct world *world)
{
	for (uint32_t n = 0; n < world->nr_memcgs; n++)
		if (world->memcg[n].swapped_pages < 0 ||
		    (world->cgroup_v1 && !world->total_swap_pages))
			world->memcg[n].swapped_pages = 0;
}

static void read_lru_gen(struct world *world, const struct tape_reader *reader)
{
	const struct tape_blob *blob, *last = NULL;
	uint32_t room = 0;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); last = blob, i++) {
		/* A piece has the time when it had been read; its reading began when the one before had. */
		uint64_t begin_ns = last && last->moment == blob->moment ? last->timestamp_ns :
									   blob->timestamp_ns;

		if (strcmp(blob->name, "/sys/kernel/debug/lru_gen_full"))
			continue;
		if (blob->moment == TAPE_MOMENT_START)
			world->lru_gen_start = blob->data;
		if (blob->moment == TAPE_MOMENT_START || blob->moment == TAPE_MOMENT_END)
			continue;
		if (world->nr_lru_gen == room) {
			uint32_t bigger = room ? room * 2 : 32;
			struct world_lru_gen *more = realloc(world->lru_gen,
							     bigger * sizeof(*more));

			if (!more) {
				world->out_of_memory = true;
				return;
			}
			world->lru_gen = more;
			room = bigger;
		}
		/* The recorder takes them one after the other: they come in their order. */
		world->lru_gen[world->nr_lru_gen++] =
			(struct world_lru_gen){ begin_ns, blob->timestamp_ns, blob->data };
	}
}

static void read_command_memcg(struct world *world, const struct tape_reader *reader)
{
	char path[WORLD_PATH_BYTES];
	unsigned long long id;
	long long limit = 0;

	if (sscanf(start_text(reader, "lrutape/memcg"), "%llu %4095s %lld", &id, path, &limit) < 2)
		return;
	world->command_memcg = world_add_memcg(world, id, path);
	if (world->command_memcg != WORLD_ROOT && limit > 0 && limit < STOCK_BYTES_LIMIT)
		world->memcg[world->command_memcg].limit_pages = limit / PAGE_BYTES;
}

void world_read_snapshots(struct world *world, const struct tape_reader *reader)
{
	const char *vmstat = start_text(reader, "/proc/vmstat");

	for (unsigned int i = 0; tape_reader_type(reader, i); i++) {
		const struct tape_type *type = tape_reader_type(reader, i);

		if (type->kind == EVENT_MM_PAGE_FREE)
			world->single_frees = !type->filter[0];
		if (type->kind == EVENT_MM_PAGE_ALLOC)
			world->allocs_seen = !type->filter[0] ||
					     !strcmp(type->filter, "gfp_flags & 8");
		if (type->kind == EVENT_PAGE_FAULT_USER)
			world->faults_seen |= !type->filter[0] &&
					      !strcmp(type->name, "page_fault_user");
		if (type->kind == EVENT_MOD_MEMCG_LRUVEC_STATE)
			world->growth_seen = !type->filter[0] || strstr(type->filter, "item < 5");
		if (type->kind == EVENT_BLOCK_TOUCH_BUFFER)
			world->touches_seen = !type->filter[0];
		if (type->kind == EVENT_BLOCK_BIO_QUEUE)
			world->swap_io_only = type->filter[0];
		if (type->kind == EVENT_FOLIO_REFERENCED)
			world->looks_told = true;
		if (type->kind == EVENT_MM_FILEMAP_FAULT)
			world->mappings_seen = true;
		if (type->kind == EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE)
			world->adds_seen = true;
		if (type->kind == EVENT_MEMCG_FLUSH_STATS ||
		    type->kind == EVENT_CGROUP_RSTAT_LOCKED)
			world->flushes_seen = true;
		if (type->kind == EVENT_MM_FILEMAP_GET_PAGES)
			world->reads_seen = true;
		if (type->kind == EVENT_SYS_EXIT_PREAD64)
			world->read_calls_seen = true;
		if (type->kind == EVENT_PAGE_CACHE_RA_UNBOUNDED)
			world->readahead_seen = true;
	}
	read_machine(world, reader);
	zoneinfo_read(&world->zones, start_text(reader, "/proc/zoneinfo"));
	world->min_free_kbytes = strtoull(start_text(reader, "/proc/sys/vm/min_free_kbytes"), NULL,
					  10);
	world->watermark_scale_factor = strtoull(
		start_text(reader, "/proc/sys/vm/watermark_scale_factor"), NULL, 10);
	if (world->min_free_kbytes > (uint64_t)FIGURE_LIMIT)
		world->min_free_kbytes = 0;
	if (world->watermark_scale_factor > 10000)
		world->watermark_scale_factor = 10000;
	read_mounts(world, reader);
	read_cgroups(world, reader);
	read_command_memcg(world, reader);
	read_tasks(world, reader);
	read_memcg_files(world, reader);
	swapped_at_start(world);
	world->lru_gen_enabled = (unsigned int)strtoul(
		start_text(reader, "/sys/kernel/mm/lru_gen/enabled"), NULL, 0);
	world->lru_gen_min_ttl_ms = strtoull(
		start_text(reader, "/sys/kernel/mm/lru_gen/min_ttl_ms"), NULL, 10);
	read_lru_gen(world, reader);
	world->out_of_memory |= limits_read(&world->limits, reader) != 0;
	for (int i = 0; i < WORLD_LIST_STATS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "nr_%s", list_names[i]);
		find_number(vmstat, name, &world->memcg[WORLD_ROOT].unseen[i]);
	}
	subtract_children(world, !world->cgroup_v1);
}

/* "KEY=NUMBER" in lrutape/facts. Return: it is there. */
static bool find_fact(const char *facts, const char *key, int64_t *value)
{
	size_t n = strlen(key);

	for (const char *line = facts; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n) && line[n] == '=') {
			*value = figure(line + n + 1);
			return true;
		}
	}
	return false;
}

void world_apply_facts(struct world *world, const struct tape_reader *reader)
{
	const char *facts = start_text(reader, "lrutape/facts");
	struct world_memcg *group = &world->memcg[world->command_memcg];
	bool anon, swappiness, swap;
	int64_t n;

	if (find_fact(facts, "memory_limit", &n) && world->command_memcg != WORLD_ROOT)
		group->limit_pages = n / PAGE_BYTES;
	anon = find_fact(facts, "anon_pages", &n);
	if (anon)
		group->unseen[0] = n;
	world->anon_pages_given = anon;
	swappiness = find_fact(facts, "swappiness", &n);
	if (swappiness)
		group->swappiness = (int)n;
	swap = find_fact(facts, "total_swap_pages", &n);
	if (swap)
		world->total_swap_pages = world->nr_swap_pages = n;
	/* Anon pages count in a file refault only where swap is on: who names them means that. */
	if (anon && !swap)
		world->total_swap_pages = world->nr_swap_pages = 1;
	if (anon && !swappiness)
		group->swappiness = 0;

	world->limited_memcg = WORLD_ROOT;
	if (group->limit_pages != INT64_MAX || world->all_in_command_memcg)
		world->limited_memcg = world->command_memcg;
	for (uint32_t i = 1; i < world->nr_memcgs && world->limited_memcg == WORLD_ROOT; i++)
		if (world->memcg[i].limit_pages != INT64_MAX)
			world->limited_memcg = i;
}
