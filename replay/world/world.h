/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The world around the core: what tape events say about tasks, memcgs, files and the machine.
 *
 * One world serves all runs over a tape. It holds what does not depend on a policy: who is in
 * which memcg, which number a file has, where each reader's last read ended.
 */
#ifndef REPLAY_WORLD_WORLD_H
#define REPLAY_WORLD_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/mm/zones.h"
#include "replay/world/anon.h"
#include "replay/world/executable.h"
#include "replay/world/faults.h"
#include "replay/world/spaces.h"
#include "replay/world/foreign_reclaim.h"
#include "replay/world/limits.h"
#include "replay/world/migrations.h"
#include "replay/world/overhead.h"
#include "replay/world/writeback.h"
#include "schema/tape_reader.h"

#define WORLD_COMM_BYTES 16
#define WORLD_PATH_BYTES 4096
#define FAULT_AROUND_PAGES 16 /* fault_around_bytes, 64 KiB unless debugfs says otherwise */
#define MAPPED_PAGES_LIMIT 512 /* of one fault-around window */
#define WORLD_ROOT 0 /* number of the root memcg */
#define WORLD_LIST_STATS 5 /* inactive_anon, active_anon, inactive_file, active_file, unevictable */

/* Stimuli that no event names, inferred from others by one rule each: see infer.def. */
enum infer_rule {
#define INFER(number, name, meaning) INFER_##name = number,
#include "replay/world/infer.def"
	NR_INFER_RULES
};

/** infer_rule_name() - a rule's name in results, NULL for numbers not in use. */
const char *infer_rule_name(unsigned int rule);

struct world_memcg {
	uint64_t id; /* inode of its directory */
	uint32_t parent; /* number */
	char *path; /* in its hierarchy: "/" for the root */
	int64_t limit_pages; /* INT64_MAX: none */
	int64_t high_pages; /* memory.high; INT64_MAX: none */
	uint64_t min_pages, low_pages; /* memory.min, memory.low */
	int swappiness; /* -1: the machine's */
	int64_t swap_limit_pages; /* v2: memory.swap.max. INT64_MAX: none */
	int64_t memsw_limit_pages; /* v1: of memory and swap. INT64_MAX: none */
	int64_t swapped_pages; /* of its subtree in swap when the tape began */
	int64_t unseen[WORLD_LIST_STATS]; /* pages on its own lists when the tape began */
	/*
	 * Charged, but on no list of a replay: slab, page tables, anon pages whose frees are not on the
	 * tape. From the end's snapshot until a reclaim shows it, see INFER_overhead_at_reclaim.
	 */
	int64_t overhead_pages;
	int64_t anon_pages; /* of them, those that came in address spaces that are still there */
	uint32_t anon_space; /* the one that they came in last */
	bool gone; /* its directory was removed */
};

/* Pages that exec() fills with arguments and environment before it sets up the stack; more are not looked for. */
#define UNFAULTED_ROOM 8

struct world_task {
	int32_t pid; /* thread id */
	int32_t tgid; /* of the start's snapshot, 0: came later */
	uint32_t number; /* counts up from 0 in the order they were met */
	uint32_t memcg; /* number */
	char comm[WORLD_COMM_BYTES];
	void *bracket; /* check's: the reclaim call that the task is in */
	/* Single pages of zeroes that it allocated last and no fault asked for: an exec's arguments, maybe. */
	uint64_t unfaulted_pfn[UNFAULTED_ROOM];
	unsigned int nr_unfaulted;
	bool in_write_fault; /* its last fault was to write, and has allocated nothing so far */
	uint64_t fresh_pfn; /* 1 + pfn of the large folio it allocated last; 0: none */
	bool memcg_told; /* its memcg is known before its fork event: CLONE_INTO_CGROUP */
	bool in_reclaim; /* between a reclaim begin and its end, or an awake kswapd */
	bool exec_begun; /* its new stack's first page, which no fault brought in, is still to be put on a list */
	const struct foreign_call *
		foreign_call; /* its last reclaim call, if somebody had asked for that; else NULL */
	struct file_fault fault;
	uint32_t space; /* number of its address space, 0: nothing is known of it */
	bool exited;
	struct writing writing;
	/* What the last synchronous readahead was asked for: the rest of its adds nobody asked for. */
	uint32_t demand_file;
	uint64_t demand_first, demand_last; /* pages; nothing if first > last */
	/* The window that its readahead is filling now: what it adds elsewhere, it adds to write to. */
	uint32_t window_file;
	uint64_t window_first, window_last; /* pages; nothing if first > last */
	bool window_due; /* unless its file is FADV_RANDOM, a window's event comes next */
};

struct world_file {
	uint64_t dev; /* major << 20 | minor */
	uint64_t ino;
	uint64_t seen_pages; /* up to the last page that any event has shown to be in the file */
	uint32_t ra_pages; /* limit of a readahead window, as last seen; UINT32_MAX: not yet */
	uint8_t max_order; /* greatest of its folios seen: 0 where its mapping has no large ones */
	bool has_older; /* pages of it that the tape never saw come were read */
	uint8_t *exec; /* by page: see executable.c */
	uint32_t exec_pages; /* its room */
	bool exec_known; /* some page of it is executable */
	bool written_mapped; /* through a shared mapping */
	uint64_t window_ns; /* when a readahead window of it began last, */
	uint64_t window_mark; /* and which page's folio got its marker */
	/* Where its last write began, which tells the pages of later ones; sector 0: not written yet. */
	uint64_t written_sector, written_page;
	bool block_device; /* a file system's metadata, cached under the device's own inode */
	bool mapped; /* some of its folios were, on a tape that does not tell which are: see mappings_seen */
};

/* Where the last read of a task from a file ended; stands in for the struct file. */
struct world_reader {
	uint64_t key; /* pid << 32 | file, plus 1 */
	uint64_t prev_page; /* last page read, UINT64_MAX before the first */
	uint32_t number; /* counts up from 0 in the order they were met */
	bool fadv_random; /* see INFER_fadv_random */
	uint64_t request_last, request_pages; /* its last request's last page and length */
};

/* lru_gen_full as it was at some time. */
struct world_lru_gen {
	uint64_t begin_ns, timestamp_ns; /* of the reading: its begin, its end */
	const char *text; /* the tape reader's */
};

struct world {
	struct world_memcg *memcg;
	uint32_t nr_memcgs, room_memcgs;
	struct world_task **task; /* hash by pid */
	uint64_t task_mask, nr_tasks;
	struct world_task *last_task; /* found last: each run asks for the same one */
	struct world_file *file; /* by number, 0 is no file */
	uint32_t last_file;
	uint32_t nr_files, room_files;
	uint32_t *file_hash;
	uint64_t file_mask;
	struct world_reader *reader; /* hash */
	uint64_t reader_mask, nr_readers;
	uint64_t
		bdev_dev; /* of the file system that holds the block devices' inodes; 0: none was seen */
	uint32_t *mounted; /* devices of mounted file systems */
	uint32_t nr_mounted;

	char release[64]; /* uname -r, "" if the tape does not say */
	unsigned int nr_cpus;
	unsigned int memory_hierarchy; /* /proc/cgroups; 0: cgroup v2 */
	bool cgroup_v1;
	bool recursive_protection; /* cgroup2 is mounted with memory_recursiveprot */
	struct zones zones; /* of node 0, none if the tape does not say */
	uint64_t min_free_kbytes, watermark_scale_factor;
	struct overhead overhead; /* of the machine: see INFER_overhead_at_kswapd */
	uint64_t
		kswapd_page_ns; /* that the recorded kswapd took for a page it isolated, on average */
	int swappiness;
	int64_t total_swap_pages, nr_swap_pages;
	uint64_t lru_gen_min_ttl_ms;
	unsigned int lru_gen_enabled; /* bits: 1 MGLRU, 2 page-table walks */
	const char *
		lru_gen_start; /* lru_gen_full at the start, NULL: not on the tape; the tape reader's */
	struct world_lru_gen *lru_gen; /* by time, those of the start and the end left out */
	uint32_t nr_lru_gen;
	unsigned int page_cluster; /* log2 of the pages that are swapped in together at most */
	bool swap_is_synchronous; /* zram: written and read at once, no readahead */
	uint32_t command_memcg; /* made for the recorded command, WORLD_ROOT if none */
	uint32_t limited_memcg; /* whose limit a replay changes: WORLD_ROOT if none has a limit */
	bool all_in_command_memcg; /* an imported access stream has no groups */
	bool memcg_inferred; /* no snapshot: tasks that reclaimed are taken as one group */
	bool has_mountinfo;
	bool readahead_seen; /* readahead's events are on the tape */
	bool flushes_seen; /* flushes of memcg statistics are */
	bool adds_seen; /* adds to the page cache are */
	bool reads_seen; /* reads by descriptor are: mm_filemap_get_pages */
	bool read_calls_seen; /* pread64() is */
	struct world_limits limits; /* that were written while the recording ran */
	uint32_t
		unlimited_memcg; /* reclaimed for a limit that no reading shows; WORLD_ROOT: none did */
	bool touches_seen; /* look-ups of metadata that the CPU's cache of buffers answers are on the tape */
	bool growth_seen; /* each list that grows is: where isolated folios went can be told (6.13) */
	bool exec_windows_seen; /* faults on executable mappings have windows of their own: 6.17 on */
	bool looks_told; /* what reclaim read in page tables is: `record --probe-referenced` */
	bool mappings_seen; /* faults of mapped files are on the tape */
	bool swap_io_only; /* block I/O on the tape is swap's and nobody else's */
	bool single_frees; /* mm_page_free of single pages is on the tape: anon can be followed */
	bool faults_seen,
		allocs_seen; /* user faults are on the tape; all movable allocations are */
	struct anon_world *anon; /* anon pages by name, NULL: the tape does not tell them apart */
	bool anon_pages_given; /* the user told the group's anon pages (lrutape/facts) */
	uint64_t now_ns;
	uint64_t inferred[NR_INFER_RULES];
	uint64_t nr_stimuli; /* all stimuli, inferred ones included */
	struct writeback writeback;
	struct spaces spaces;
	struct foreign_reclaims foreign;
	struct world_migrations migrations;
	bool out_of_memory;
};

/**
 * world_init() - read the tape's snapshots
 * @reader: at its first event; read through once and rewound if the tape has no task snapshot, or memcgs reclaim
 * Return: 0, -1 without memory, or a negative enum tape_error of the reader.
 */
int __attribute__((warn_unused_result)) world_init(struct world *world, struct tape_reader *reader);

/**
 * world_init_tasks() - the same without the passes that look for foreign reclaim and for the machine's overhead
 * For such passes themselves: see replay/world/foreign_reclaim.h.
 */
int __attribute__((warn_unused_result))
world_init_tasks(struct world *world, struct tape_reader *reader);

/** world_exit() - free everything. */
void world_exit(struct world *world);

/** world_event() - take in what an event says about tasks, memcgs and the time. */
void world_event(struct world *world, const struct tape_event *event);

/**
 * world_event_done() - all runs have seen the event: readers' positions move on
 * @read_end: last page that a mm_filemap_get_pages covered
 */
void world_event_done(struct world *world, const struct tape_event *event, uint64_t read_end);

/**
 * world_read_begin() - the first page that a mm_filemap_get_pages covers
 * A batch that stops before a folio whose I/O is still running has no event: the next one begins behind it.
 * Where a reader goes on by requests of one length, the request's begin tells.
 */
uint64_t world_read_begin(struct world *world, const struct tape_event *event);

/**
 * world_is_buffer() - a page just added to a block device's cache was made by a look-up of a block
 * Told by what it is not: part of a window that the task's readahead is filling.
 * Kernel: fs/buffer.c, __getblk_slow(), grow_dev_folio(), v6.18.
 */
bool world_is_buffer(const struct world *world, const struct world_task *task, uint32_t file,
		     uint64_t index);

/**
 * world_touched_file() - which file a block_touch_buffer is of
 * Kernel: fs/buffer.c, touch_buffer(), v6.18.
 * Return: its number; 0: no page of any block device was seen.
 */
uint32_t world_touched_file(struct world *world, const struct tape_event *event);

/** world_touched_page() - and which base page of it. */
uint64_t world_touched_page(const struct tape_event *event);

/** world_in_readahead() - a page lies in the window that the task's readahead is filling. */
bool world_in_readahead(const struct world_task *task, uint32_t file, uint64_t index);

/**
 * world_added_for_write() - a folio just added is one that its task is going to write to
 * Such an add has __GFP_WRITE, which ignores shadows. Told by what it is not: part of a window that
 * the task's readahead is filling.
 */
bool world_added_for_write(const struct world *world, const struct world_task *task, uint32_t file,
			   uint64_t index);

/**
 * world_faulted_page() - which page of a fault-around window was asked for
 * Windows are aligned in the address space: the fault's address tells the place within a whole one.
 * Return: page of the file; UINT64_MAX: the tape has no addresses, or the window was cut.
 */
uint64_t world_faulted_page(const struct world *world, const struct world_task *task,
			    uint64_t first, uint64_t last);

/** world_task_is_kdamond() - DAMON's thread, whose deletions are evictions. */
bool world_task_is_kdamond(const struct world_task *task);

/** world_task() - a task by thread id, made in the root memcg if it is new; NULL without memory. */
struct world_task *world_task(struct world *world, int32_t pid);

/** world_file() - number of a file, made if it is new; 0 without memory. */
uint32_t world_file(struct world *world, uint64_t dev, uint64_t ino);

/** world_reader() - where a task's last read of a file ended; NULL without memory. */
struct world_reader *world_reader(struct world *world, int32_t pid, uint32_t file);

/** world_memcg_by_id() - number of a memcg, or WORLD_ROOT. @id: inode of its directory. */
uint32_t world_memcg_by_id(const struct world *world, uint64_t id);

/** world_memcg_by_path() - number of a memcg whose directory is there, or WORLD_ROOT. @size: of the path, bytes. */
uint32_t world_memcg_by_path(const struct world *world, const char *path, size_t size);

/** world_foreign_call() - the task's last reclaim call, or the one it is in, if it was asked for by somebody; else NULL. */
const struct foreign_call *world_foreign_call(struct world *world, int32_t pid);

/** world_reads_known() - the tape has the reads; where it has not, a second one shows only by what it does. */
static inline bool world_reads_known(const struct world *world)
{
	return world->reads_seen || world->read_calls_seen;
}

/**
 * world_machine_pages() - the machine's memory, as far as a run can fill it
 * Return: pages; INT64_MAX if the tape does not tell, or too many file pages were there before it.
 */
int64_t world_machine_pages(const struct world *world);

/** world_only_machine_reclaims() - no group has a limit, and nobody asked for memory of one: all reclaim of a run is the machine's, as /proc/vmstat counts it. */
bool world_only_machine_reclaims(const struct world *world);

/** world_recorded_memory() - what `--memory` changes: the limited memcg's limit, or the machine's. INT64_MAX: neither. */
int64_t world_recorded_memory(const struct world *world);

/** world_infer() - count a stimulus that came by a rule. */
static inline void world_infer(struct world *world, enum infer_rule rule)
{
	world->inferred[rule]++;
}

#endif
