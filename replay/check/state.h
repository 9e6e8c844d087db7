/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of check/ share: its state, and who calls whom.
 *
 *   check.c    the loop: each event to its place
 *   folios.c   folios come and go, are mapped and dirtied
 *   lru.c      insertion, access, activation
 *   readahead.c  windows
 *   reclaim.c  reclaim calls and what they isolate
 *   place.c    where a reclaim call is, when it is not where it was expected
 *   victims.c  which isolated folios are evicted, and where the others go
 *   shadows.c  which shadows reclaim drops
 *   lru_gen*.c the same two of a kernel that runs MGLRU: lru_gen.h
 *   putback.c  where the others go, on a tape that tells
 *   survivors.c  and on one that does not
 *   page_tables.c  who has mapped what, and which of an active list's folios stay there
 *   ahead.c    when a frame is seen next to be inactive
 *   verdicts.c what the others' ways say of page tables
 *   swap.c     folios written to swap, rotated when that ends, and read from there
 *   split.c    large folios that were split
 *   advice.c   folios that their owner says something of: madvise, mlock
 *   tally.c    counting what is equal, and telling what is not
 */
#ifndef REPLAY_CHECK_STATE_H
#define REPLAY_CHECK_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "replay/check/check.h"
#include "replay/machine.h"
#include "replay/page_tables.h"
#include "replay/mm/lru_gen.h"
#include "replay/mm/readahead.h"

/* common_flags. Kernel: include/linux/trace_events.h, v6.18. */
#define TRACE_FLAG_HARDIRQ 0x08
#define TRACE_FLAG_SOFTIRQ 0x10
#define TRACE_FLAG_NMI 0x40
#define TRACE_FLAG_INTERRUPT (TRACE_FLAG_HARDIRQ | TRACE_FLAG_SOFTIRQ | TRACE_FLAG_NMI)

/* Written to swap in the isolation that it is out for: it was found old. */
#define FOLIO_old (1u << 27)
/* Isolated for MADV_PAGEOUT: it comes back by way of an lru_add batch. */
#define FOLIO_alone (1u << 15)
/* It was a page of a large folio. */
#define FOLIO_split (1u << 14)
/* Isolated when the CPU in whose lru_move_tail batch it waits began to drain: not moved then. */
#define FOLIO_out (1u << 28)
/* Isolated at some time since its write to swap ended: it may have missed its rotation. */
#define FOLIO_moved (1u << 29)
/* Isolated by reclaim, and a younger one was evicted before it: it survived. */
#define FOLIO_survivor (1u << 30)
/*
 * Should have been evicted, and no event says why it was not, or whether it was isolated at all:
 * perhaps a folio that the tape has never shown stood in its place. The next isolation will tell.
 */
#define FOLIO_doubtful (1u << 31)

#define ISOLATION_ROOM 128 /* folios of one isolation whose order is looked at */

/* mod_memcg_lruvec_state: a list grew. The event behind it, or its task's isolation, tells by which folio. */
struct list_growth {
	bool pending;
	uint8_t flags; /* of the event */
	enum lru_list lru;
	int32_t pid;
	uint64_t memcg; /* inode of its directory */
	uint64_t pages;
};

/* One reclaim call of a task, from its begin event to its end event. */
struct reclaim_bracket {
	struct mem_cgroup *target; /* NULL: global */
	struct mem_cgroup *top; /* the target, or root: whose decisions these are */
	const struct foreign_reclaim *asked; /* by somebody outside of the memcg; NULL: nobody */
	uint64_t asked_before; /* pages that came free in earlier calls of the same write */
	bool predicted; /* next to all folios that it could take are known */
	bool some_unseen; /* but not all of them */
	struct reclaim_walk walk;
	bool to_be_asked; /* the walk stands behind an isolation: its task's next event makes it go on */
	bool has_request; /* the walk's next isolation, asked for ahead of time */
	struct scan_request request;
	bool isolated; /* folios are out, the shrink event has not come */
	struct scan_request applied; /* as the tape shows it */
	struct list_head taken;
	struct scan_result result;
	struct folio *order[ISOLATION_ROOM]; /* the folios taken, in scan order, gone ones too */
	unsigned int nr_order; /* how many, */
	unsigned int nr_freed, nr_written; /* and up to which they were shown */
	unsigned int
		nr_dropped; /* after MADV_FREE: their frees come behind removals from the page cache */
	unsigned int nr_left; /* before this one, where they are shown last first */
	struct look_row {
		const struct folio *folio;
		uint64_t since; /* as verdicts.c keeps it */
		uint64_t index, pages;
		uint32_t file, pfn;
		bool is_file, dirty;
		enum check_outcome outcome;
	} look[ISOLATION_ROOM]; /* what has become of them, if verdicts are to be told */
	unsigned int nr_looks;
	uint64_t isolated_ns;
	bool unmap_failed;
	struct list_growth growth
		[ISOLATION_ROOM]; /* of those taken from an active list, until it is known whose they are */
	unsigned int nr_growth;
	uint64_t growth_pages;
	bool any_back; /* some of them are on lists again */
	const char *flaw; /* how the events contradict what was taken; NULL: they do not */
	uint64_t nr_taken; /* pages of the last isolation, as recorded */
	bool any_victim; /* one of it was evicted, */
	bool misplaced; /* and it lay on another memcg's list than the walk was at */
	uint64_t strangers; /* pages of victims that were not among the isolated */
	bool confused; /* one of them was clean: two CPUs' events stand in the wrong order */
	uint64_t predicted_reclaimed; /* pages */
	bool scan_begun; /* MGLRU without events: the call's first scan has been taken to happen */
	/* MGLRU, reclaim from everybody: indexes of memcgs that its round has come to. */
#define VISITED_ROOM 256
	uint16_t visited[VISITED_ROOM];
	unsigned int nr_visited;
	/* MGLRU: what is isolated is being tried; has survived; is tried once more. */
	enum { PASS_FIRST, PASS_IS_OVER, PASS_SECOND } pass;
	uint64_t nr_survived_active; /* of PASS_IS_OVER: pages of them that were set active */
	bool priority_missed; /* the last isolation's was another one than the walk's */
	/* MGLRU without events: folios that the task goes on to evict, as far as the stream has seen. */
	uint32_t *ahead;
	unsigned int nr_ahead, at_ahead;
	bool by_debugfs; /* no reclaim call, but a command to lru_gen */
	bool total_unknown; /* folios were evicted whose writeback ended unseen */
	bool has_mapped, has_dirty; /* such folios were among the isolated */
};

/** check_bracket_free() - NULL is fine. */
static inline void check_bracket_free(struct reclaim_bracket *bracket)
{
	if (bracket)
		free(bracket->ahead);
	free(bracket);
}

/*
 * Folios whose activation was predicted when a batch filled up, oldest first. One read can fill it
 * several times before the tape gets to the activations.
 */
struct expected_drain {
	uint64_t event; /* number of the one whose accesses filled it */
	unsigned int nr;
	struct folio *folio[4 * FOLIO_BATCH_ROOM];
};

/* Insertions in a row on one CPU: a batch that filled up, or one that was drained before that. */
struct insertion_run {
	unsigned int nr;
	bool ends_large; /* the last one may not wait, so that it drained the batch itself */
	struct folio
		*made; /* the last event: it came for a block of metadata; NULL: something else */
};

/* MGLRU without events: a scan that was some task's, and not that of the task whose victim showed it. */
#define PARKED_SCANS 8

struct parked_scan {
	const struct mem_cgroup *target; /* NULL: a free place */
	struct scan_request applied;
	struct scan_result result;
	struct list_head taken;
};

/* So many flawed isolations of so many in a row, a guess, are a drift and not an accident. */
#define DRIFT_FLAWS 8
#define DRIFT_WINDOW 64

/* What is counted of a memcg. */
struct check_group {
	struct check_tally decision[NR_CHECK_DECISIONS];
	bool foreign; /* others took folios of it, or of a memcg below */
	bool written; /* reclaim has met dirty ones, which come back when no event tells */
	/* By kind, 0 anon, 1 file. */
	struct check_drift drift[ANON_AND_FILE];
	uint64_t nr_isolations[ANON_AND_FILE];
	struct {
		uint64_t number, time_ns; /* of the last isolations that were flawed */
		enum check_cause cause;
	} flaw[ANON_AND_FILE][DRIFT_FLAWS];
	unsigned int nr_flaws[ANON_AND_FILE];
	uint64_t unsure_pages
		[ANON_AND_FILE]; /* to be isolated until no place is left that a flaw spoiled */
};

/* What a task's readahead is to bring in, until the event of the window comes. */
struct window_expected {
	bool due;
	bool random; /* predicted for a file that is read at random */
	uint32_t file;
	uint64_t req_count; /* pages asked for */
	struct readahead_window window;
};

/* The last window of a reader. */
struct reader_window {
	uint64_t start, size; /* pages */
	bool known;
	bool told_random; /* that its file is read at random was learnt from what came */
};

/* Lists that grew in a row on one CPU, by folios that no event names. */
#define BURST_ROOM 4096

struct growth_burst {
	unsigned int nr;
	struct list_growth growth[BURST_ROOM];
};

/* Folios whose write to swap has ended on one CPU, and that wait in its lru_move_tail batch. */
#define ROTATION_ROOM 4096

struct rotation_queue {
	unsigned int nr;
	struct folio *folio[ROTATION_ROOM];
};

/* The last rotations, so that one that was none can be undone: the younger neighbour of the old place. */
#define ROTATED_ROOM 16384 /* a power of two */

struct rotated {
	unsigned int nr; /* so far; the newest is at nr - 1, all modulo the room */
	struct {
		struct folio *folio, *younger; /* younger: NULL for the head */
	} entry[ROTATED_ROOM];
};

/* A page that is being read from swap; its frame is known when it is put on a list. */
#define SWAP_IN_ROOM 128

struct swap_in {
	int32_t pid;
	uint32_t file; /* number of the swap device, 0: the slot is not known */
	uint64_t index;
	uint32_t flags; /* that workingset_refault() gave the folio */
};

struct swap_queue {
	unsigned int nr;
	struct swap_in entry[SWAP_IN_ROOM];
	struct folio *early; /* on a list before its read was seen: a full batch drained */
	int32_t early_pid;
	/* The write that was submitted last; mm_vmscan_write_folio of the same task names the folio. */
	int32_t write_pid;
	uint64_t write_dev, write_sector, write_pages;
};

#define STACKS_ROOM 16

/* A metadata folio that a scan moved on only because accesses were drawn for it: see lru_gen_metadata.c. */
#define GUESSED_ROOM 6

struct guessed_folio {
	const struct folio *folio;
	uint32_t flags; /* PG_referenced and PG_workingset as they were known */
	uint8_t refs;
	unsigned int tier; /* in which it was counted as protected */
};

/* Folios that wait in a CPU's batch because their owner said something of them, oldest first. */
struct advised_folio {
	struct folio *folio;
	bool undo; /* munlock, not mlock */
};

enum advice { ADVICE_COLD, ADVICE_LAZYFREE, ADVICE_MLOCK, NR_ADVICES };

struct advice_queue {
	struct advised_folio *entry;
	uint32_t first, nr, room; /* of those from the first on; room: in all */
};

/* What its tasks let go on a CPU without a reclaim call, newest last: perhaps MADV_PAGEOUT. */
#define GONE_ROOM 1024 /* a power of two; more than pages of one page table */

struct gone_folio {
	struct lruvec *lruvec;
	uint64_t index;
	uint32_t file, flags;
	int32_t pid;
	uint8_t order;
};

struct gone_queue {
	unsigned int nr; /* so far; the newest is at nr - 1, all modulo the room */
	struct gone_folio entry[GONE_ROOM];
};

#define SWAP_DEVICES 8

struct check {
	struct world *world;
	struct machine machine;
	const struct tape_event *event; /* the current one */
	uint64_t nr_events; /* up to it */
	struct expected_drain *draining; /* by CPU */
	struct insertion_run *run; /* by CPU */
	uint64_t *
		grown; /* by CPU: id of the memcg whose list the event before has let grow, 0: none */
	struct window_expected *expected; /* by the world's task number */
	struct reader_window *reader; /* by the world's reader number */
	uint64_t room_expected, room_readers;
	struct list_growth *growth; /* by CPU, like the next three; NULL if the tape has none */
	struct growth_burst *burst;
	struct rotation_queue *rotation;
	struct swap_queue *swap;
	struct rotated *rotated; /* of all CPUs */
	struct advice_queue *advice; /* by CPU and enum advice */
	struct gone_queue *gone; /* by CPU */
	void (*on_verdict)(void *ctx, const struct check_verdict *verdict);
	void *verdict_ctx;
	uint64_t **look; /* by pfn: verdicts.c */
	struct page_tables *tables; /* NULL: nobody asks for them */
	/* Whose folio was evicted by the isolation of this number: page_tables.c, foresee(). */
	const struct lruvec *foreseen;
	uint32_t last_isolation;
	struct ahead *ahead; /* NULL: there is nothing to know */
	uint32_t swap_file[SWAP_DEVICES]; /* numbers that stand for swap devices */
	unsigned int nr_swap_files;
	uint32_t nr_tallies;
	struct check_group *tally; /* by the world's memcg number */
	struct check_undecided undecided;
	const struct folio
		*about; /* that the event's decisions are about, where it is not the event's own */
	bool lossy; /* events have been lost */
	enum check_cause last_cause; /* of the last mismatch */
	unsigned int nr_to_be_asked; /* brackets */
	struct parked_scan parked[PARKED_SCANS];
	struct guessed_folio guessed[GUESSED_ROOM]; /* of the last scan */
	unsigned int nr_guessed;
	/* Frames of new stacks that wait to be put on a list, where allocations are on the tape; 0: none. */
	uint64_t stack_pfn[STACKS_ROOM];
	unsigned int nr_stacks; /* so far */
	uint64_t walks_from_ns; /* see check_walks_from() */
	uint32_t nr_snapshots; /* of the world's lru_gen, compared so far */
	struct lru_gen_before *lru_gen_before; /* while the next one is being read, else NULL */
	struct world_task *debugfs_task; /* in a command to lru_gen, NULL: nobody is */
	struct check_mismatch *explained;
	unsigned int nr_explain, nr_explained;
	bool failed;
};

static inline struct folio *check_known_folio(struct check *check, uint64_t pfn)
{
	struct folio *folio = memmap_folio(&check->machine.mm.memmap, pfn);

	return folio && folio_test(folio, FOLIO_alive) ? folio : NULL;
}

/* The task of the current event was only interrupted by what happens. */
static inline bool check_in_interrupt(const struct check *check)
{
	return check->event->flags & TRACE_FLAG_INTERRUPT;
}

static inline unsigned int check_cpu(const struct check *check)
{
	unsigned int nr = check->machine.mm.config.nr_cpus;

	return check->event->cpu < nr ? check->event->cpu : nr - 1;
}

static inline struct mem_cgroup *check_task_memcg(struct check *check, int32_t pid)
{
	struct world_task *task = world_task(check->world, pid);

	return machine_memcg(&check->machine, task ? task->memcg : WORLD_ROOT);
}

static inline bool check_is_metadata(const struct check *check, const struct folio *folio)
{
	return folio->file && check->world->file[folio->file].block_device;
}

extern const char *const check_lru_name[NR_LRU_LISTS];

/* ---- tally.c */

/** check_equal() - a decision of the memcg came out as predicted. */
void check_equal(struct check *check, const struct mem_cgroup *memcg, enum check_decision decision);

/** check_unequal() - it did not. @format: of both sides in words, "predicted|recorded". */
void __attribute__((format(printf, 4, 5)))
check_unequal(struct check *check, const struct mem_cgroup *memcg, enum check_decision decision,
	      const char *format, ...);

/** check_note_isolated() - what may explain decisions of this reclaim call, and later ones of the memcg. */
void check_note_isolated(struct check *check, struct reclaim_bracket *bracket,
			 const struct folio *folio);

/** check_foreign_eviction() - somebody whose reclaim is not predicted takes the folio. */
void check_foreign_eviction(struct check *check, const struct folio *folio);

/** check_isolation_counted() - an isolation's events are complete. @file: of file folios. */
void check_isolation_counted(struct check *check, const struct mem_cgroup *memcg, bool file,
			     bool flawed, uint64_t nr_taken);

/**
 * check_unsure() - an isolation was flawed lately, and the folios that it left in wrong places are
 * perhaps still there
 */
bool check_unsure(struct check *check, const struct mem_cgroup *memcg, bool file);

/** check_drifted() - the memcg's lists are not the kernel's any more: what they say is not counted. */
bool check_drifted(struct check *check, const struct mem_cgroup *memcg, bool file);

/* ---- folios.c */

/**
 * check_born() - the frame begins a new life; whatever the tape did not tell of the old one's end is over
 * Return: the folio, NULL if the order is impossible or memory ran out.
 */
struct folio *check_born(struct check *check, uint64_t pfn, struct mem_cgroup *memcg,
			 uint64_t order);

/** check_page_allocated() - the current event is mm_page_alloc. */
void check_page_allocated(struct check *check);

/** check_page_freed() - mm_page_free. */
void check_page_freed(struct check *check);

/** check_exec_begun() - a task has a new stack. */
void check_exec_begun(struct check *check);

/** check_folio_added() - mm_filemap_add_to_page_cache. */
void check_folio_added(struct check *check);

/** check_folio_dirtied() - writeback_dirty_folio. */
void check_folio_dirtied(struct check *check);

/** check_writeback() - folios that the current event has sent to the disk, or told to be there. */
void check_writeback(struct check *check);

/** check_pages_mapped() - page tables point to these pages of a file now; no event tells when not any more. */
void check_pages_mapped(struct check *check, uint64_t dev, uint64_t ino, uint64_t index,
			uint64_t last);

/* ---- lru.c */

/** check_inserted() - mm_lru_insertion. */
void check_inserted(struct check *check);

/** check_insertions_over() - the run of insertions on this CPU ended with the event before. */
void check_insertions_over(struct check *check, unsigned int cpu);

/** check_buffer_made() - a folio just added was made by a look-up of a block of metadata. */
void check_buffer_made(struct check *check, struct folio *folio);

/** check_buffer_found() - and found when its task looked again: the CPU goes on to something else. */
void check_buffer_found(struct check *check, unsigned int cpu);

/** check_buffer_touched() - block_touch_buffer: a metadata folio is accessed. */
void check_buffer_touched(struct check *check);

/** check_pages_read() - mm_filemap_get_pages. @read_end: of event_stream_next(). */
void check_pages_read(struct check *check, uint64_t read_end);

/** check_activated() - mm_lru_activate. */
void check_activated(struct check *check);

/** check_drained_by_reclaim() - reclaim drained this CPU: what the tape has not activated was not. */
void check_drained_by_reclaim(struct check *check);

/* ---- readahead.c */

/** check_readahead() - page_cache_sync_ra, or page_cache_async_ra: a window is asked for. */
void check_readahead(struct check *check, bool async);

/** check_window() - page_cache_ra_order: the window. */
void check_window(struct check *check);

/** check_plain_window() - page_cache_ra_unbounded: pages as asked, or what a window left over. */
void check_plain_window(struct check *check);

/** check_window_over() - the task does something else: a window that has no event yet gets none. */
void check_window_over(struct check *check);

/* ---- reclaim.c */

/** check_reclaim_begun() - a task enters reclaim. @memcg_reclaim: for a memcg's limit. */
void check_reclaim_begun(struct check *check, bool memcg_reclaim);

/**
 * check_reclaim_goes_on() - the current event's task, if in reclaim, has decided what it isolates next
 * Sizes are looked at after the last folios were put back and before the task's next event, while other
 * tasks go on.
 */
void check_reclaim_goes_on(struct check *check);

/** check_overhead_bounded() - anon came on a list: its memcg is not above its limit, whatever has been freed unseen. */
void check_overhead_bounded(struct check *check);

/** check_flushes() - statistics are about to be flushed: a kswapd that has ended has remembered the old ones. */
void check_flushes(struct check *check);

/** check_isolated() - mm_vmscan_lru_isolate. @foreseen: of event_stream_next(); 0: nothing was looked for */
void check_isolated(struct check *check, uint64_t foreseen);

/** check_isolation_done() - the batch is back on its lists. */
void check_isolation_done(struct check *check, struct reclaim_bracket *bracket);

/** check_would_evict() - the core would free this folio if it isolated it now. */
bool check_would_evict(const struct check *check, const struct folio *folio);

/** check_apply_isolation() - take what the tape says was taken; its count wins over the list's own idea. */
void check_apply_isolation(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_taken);

/** check_reclaim_ended() - a task leaves reclaim. @nr_reclaimed: as recorded, pages. */
void check_reclaim_ended(struct check *check, uint64_t nr_reclaimed);

/* ---- shadows.c */

/** check_slab_shrunk() - mm_shrink_slab_start. */
void check_slab_shrunk(struct check *check);

/** check_all_folios_known() - no folio of the subtree is older than the tape. */
bool check_all_folios_known(struct mem_cgroup *top);

/* ---- lru_gen.c */

/** check_lru_gen_before() - of each event, before it is looked at. */
void check_lru_gen_before(struct check *check);

/** check_lru_gen_survived() - of each event: does it say that what survived is not tried once more? */
void check_lru_gen_survived(struct check *check);

/** check_lru_gen_drained() - a reclaim call has begun, or a folio of a batch was inserted. */
void check_lru_gen_drained(struct check *check);

/** check_lru_gen_isolated() - mm_vmscan_lru_isolate. @foreseen: of event_stream_next() */
void check_lru_gen_isolated(struct check *check, uint64_t foreseen);

/** check_lru_gen_victim() - a folio is about to be evicted in a predicted call. */
void check_lru_gen_victim(struct check *check, struct reclaim_bracket *bracket,
			  struct folio *folio);

/** check_lru_gen_shrunk() - mm_vmscan_lru_shrink_inactive. */
void check_lru_gen_shrunk(struct check *check);

/** check_lru_gen_ended() - a task leaves reclaim. @nr_reclaimed: as recorded, pages. */
void check_lru_gen_ended(struct check *check, uint64_t nr_reclaimed);

/** check_lru_gen_activated() - mm_lru_activate. */
void check_lru_gen_activated(struct check *check);

/** check_lru_gen_eviction_over() - a command that evicts, if there is one, has ended. */
void check_lru_gen_eviction_over(struct check *check);

/** check_lru_gen_mark() - a mark: perhaps a command to lru_gen in debugfs, which has no event. */
void check_lru_gen_mark(struct check *check, const char *text);

/* ---- lru_gen_node.c */

/**
 * check_lru_gen_place() - the current event, an isolation, says where a reclaim from everybody is
 * Return: the walk is there and asks for bracket->request; false: by the rules nothing is isolated there.
 */
bool check_lru_gen_place(struct check *check, struct reclaim_bracket *bracket, uint64_t foreseen);

/** check_lru_gen_by_the_rules() - for lru_gen_preview(): what a folio's flags say. */
enum scan_fate check_lru_gen_by_the_rules(void *ctx, struct folio *folio, bool would_take);

/** check_lru_gen_would_go_on() - the tape shows the end of such a call. Return: the walk is not at its own. */
bool check_lru_gen_would_go_on(struct check *check, struct reclaim_bracket *bracket);

/* ---- lru_gen_snapshot.c */

/** check_lru_gen_start() - groups that were there and empty go on from the generations that they had. */
void check_lru_gen_start(struct check *check);

/** check_lru_gen_snapshots() - lru_gen_full as it was before the current event. */
void check_lru_gen_snapshots(struct check *check);

/* ---- place.c */

/**
 * check_place_by_request() - let the walk go on to what the tape shows to be isolated
 * Return: the walk asks for pages of this list now, its number may be another one.
 */
bool check_place_by_request(struct reclaim_bracket *bracket, enum lru_list lru, uint64_t nr);

/**
 * check_foresees_owners() - whose lists are isolated from must be told by what comes of it
 * Calls may walk several memcgs, and no event of growing lists names them.
 */
bool check_foresees_owners(const struct check *check);

/**
 * check_place_foreseen() - what comes of the isolation at hand says at which priority the walk is, and whose list it was
 * @follows: the walk was found to ask for such an isolation
 * Return: it does, after that; with the lists of the owner, as far as that is known.
 */
bool check_place_foreseen(struct check *check, struct reclaim_bracket *bracket, bool follows,
			  uint64_t foreseen);

/** check_place_by_victim() - an isolation's first victim says whose list it was. */
void check_place_by_victim(struct check *check, struct reclaim_bracket *bracket,
			   const struct folio *victim);

/**
 * check_place_again() - what is isolated has been looked at, and its event tells the priority
 * @priority: as recorded, or TAPE_VALUE_ABSENT
 * Where the walk is at another priority, or another memcg, it begins anew there. Targets are computed from the
 * sizes as they are now.
 */
void check_place_again(struct check *check, struct reclaim_bracket *bracket, uint64_t priority);

/* ---- victims.c */

/** check_folio_deleted() - mm_filemap_delete_from_page_cache: a victim, or truncation. */
void check_folio_deleted(struct check *check);

/** check_inactive_shrunk() - mm_vmscan_lru_shrink_inactive. */
void check_inactive_shrunk(struct check *check);

/** check_active_shrunk() - mm_vmscan_lru_shrink_active. */
void check_active_shrunk(struct check *check);

/**
 * check_must_evict() - the core would free this folio whatever the page tables say
 * Those whose references no event shows are not predicted: mapped files and all anonymous memory.
 */
bool check_must_evict(const struct check *check, const struct folio *folio);

/** check_next_victim() - the first isolated folio that reclaim should free now, NULL: none is left. */
struct folio *check_next_victim(const struct check *check, const struct reclaim_bracket *bracket);

/** check_evict() - reclaim for @target (NULL: global) has freed a folio: its shadow stays in its slot. */
void check_evict(struct check *check, struct folio *folio, struct mem_cgroup *target);

/** check_anon_victim() - the current mm_page_free: reclaim frees an anonymous folio that it isolated. */
void check_anon_victim(struct check *check, struct reclaim_bracket *bracket, struct folio *folio);

/* ---- putback.c */

/** check_list_grown() - mod_memcg_lruvec_state. */
void check_list_grown(struct check *check);

/** check_growth_over() - called before each event: what it is not part of is over. */
void check_growth_over(struct check *check, unsigned int cpu);

/**
 * check_growth_of() - the growth that the current event, an insertion or activation, tells the folio of
 * Return: valid until the next event; NULL if the tape has none for it.
 */
const struct list_growth *check_growth_of(struct check *check, uint64_t lru);

/**
 * check_shown() - an event shows that reclaim looks at this isolated folio
 * @up_to: one of the bracket's: how far such events have come
 * Return: it was taken, and comes after the last one.
 */
bool check_shown(struct reclaim_bracket *bracket, const struct folio *folio, unsigned int *up_to);

/** check_shown_last_first() - the same of one that is freed in the reverse of their order */
bool check_shown_last_first(struct reclaim_bracket *bracket, const struct folio *folio);

/** check_stranger() - reclaim has a folio that we have not isolated: it takes the youngest one's place. */
void check_stranger(struct check *check, struct reclaim_bracket *bracket, struct folio *folio);

/** check_isolation_settled() - shrinking is over: did the events speak of the folios that were taken? */
void check_isolation_settled(struct check *check, struct reclaim_bracket *bracket);

/** check_isolation_judged() - count an isolation as equal, or as flawed. */
void check_isolation_judged(struct check *check, struct reclaim_bracket *bracket);

/* ---- survivors.c */

/**
 * check_survivors_placed() - shrinking an inactive list is over: who stayed goes back, kept or active
 * Kernel: mm/vmscan.c, folio_check_references(), v6.12.
 */
void check_survivors_placed(struct check *check, struct reclaim_bracket *bracket);

/** check_deactivated_placed() - shrinking an active list is over: its folios go on. */
void check_deactivated_placed(struct check *check, struct reclaim_bracket *bracket);

/* ---- page_tables.c */

/** check_mapped() - the current event's task has the folio in its page tables from now on. */
void check_mapped(struct check *check, const struct folio *folio);

/** check_looked_again() - whatever the folio's eviction will say, it is not of its last active list. */
void check_looked_again(struct check *check, const struct folio *folio);

/** check_is_foreseen() - that the folio went from an active list was taken from the eviction at hand. */
bool check_is_foreseen(const struct check *check, const struct folio *folio);

/**
 * check_who_stays() - which folios of those taken from an active list stay there
 * @growth: of lists, one for each folio: as they were put back
 * @stay: filled, true for those that stay
 * Return: false if sizes and order contradict each other.
 */
bool check_who_stays(struct check *check, struct folio *const folio[], unsigned int nr_folios,
		     const struct list_growth *growth, unsigned int nr, bool *stay);

/* ---- ahead.c */

/** check_ahead_event() - of each event, before it is looked at. */
void check_ahead_event(struct check *check);

/**
 * check_seen_inactive() - a folio will be evicted or activated soon
 * @turnover_pages: before so many pages of active lists have been looked at
 * @isolation: set to the number of the isolation that evicts it, 0: none does
 */
bool check_seen_inactive(struct check *check, const struct folio *folio, uint64_t turnover_pages,
			 uint32_t *isolation);

/** check_stayed_between() - pages that some isolations, first to last, took and did not free; UINT32_MAX: not known. */
uint32_t check_stayed_between(const struct check *check, uint32_t first, uint32_t last);

/** check_ahead_free() - free what is known. */
void check_ahead_free(struct check *check);

/* ---- verdicts.c */

/** check_look_begins() - a new folio: nobody has looked at it. */
void check_look_begins(struct check *check, const struct folio *folio);

/** check_mapped_around() - fault-around may have mapped the folio, and made it young. */
void check_mapped_around(struct check *check, const struct folio *folio);

/** check_looked_at() - reclaim has done with an isolated folio, but for the end of its isolation. */
void check_looked_at(struct check *check, struct reclaim_bracket *bracket,
		     const struct folio *folio, enum check_outcome outcome);

/**
 * check_stayed() - an isolated folio was not evicted
 * @active: it goes to the active list
 */
void check_stayed(struct check *check, struct reclaim_bracket *bracket, struct folio *folio,
		  bool active);

/** check_looks_over() - the isolation is over: tell its verdicts. @nr_ref_keep: of the shrink event, pages. */
void check_looks_over(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_ref_keep,
		      uint64_t nr_unmap_fail);

/** check_looks_free() - free what was kept for them. */
void check_looks_free(struct check *check);

/* ---- swap.c */

/** check_swap_io() - block_bio_queue. */
void check_swap_io(struct check *check);

/** check_swap_io_ended() - block_rq_complete. */
void check_swap_io_ended(struct check *check);

/** check_folio_written() - mm_vmscan_write_folio. */
void check_folio_written(struct check *check);

/** check_swapped_in() - a folio of the swap cache comes on a list: which page it is, and how it refaulted. */
void check_swapped_in(struct check *check, struct folio *folio);

/** check_page_faulted() - page_fault_user. */
void check_page_faulted(struct check *check);

/* ---- split.c */

/**
 * check_split_at() - an event names a single page
 * @pfn: its frame
 * If it lies in a large anon folio, that has been split.
 * Return: the folio of that page, NULL: none is known.
 */
struct folio *check_split_at(struct check *check, uint64_t pfn);

/** check_split_tail() - reclaim takes less from a list than the folio at its tail has: it was split. */
void check_split_tail(struct check *check, const struct scan_request *request, uint64_t nr_taken);

/* ---- advice.c */

/** check_advised() - what the current event says of anon pages that the tape names. */
void check_advised(struct check *check);

/** check_advice_drained() - a list grew by a folio that no event names. Return: by one that was advised. */
bool check_advice_drained(struct check *check, unsigned int cpu, const struct list_growth *growth);

/** check_advice_over() - reclaim has drained this CPU: no batch holds anything. */
void check_advice_over(struct check *check, unsigned int cpu);

/** check_isolated_alone() - somebody who is in no reclaim call has taken the folio off its list. */
void check_isolated_alone(struct check *check, struct folio *folio);

/** check_gone() - a folio goes outside of reclaim calls; called before it does. */
void check_gone(struct check *check, const struct folio *folio);

/** check_pages_reclaimed() - mm_vmscan_reclaim_pages: the last that its task let go were reclaimed. */
void check_pages_reclaimed(struct check *check);

/** check_advice_free() - free what is kept for it. */
void check_advice_free(struct check *check);

/** check_drain_begun() - a list grows on this CPU: if it drains, these are the folios that it misses. */
void check_drain_begun(struct check *check, unsigned int cpu);

/** check_unrotate() - a folio is not where its rotation would have put it: it goes to its place before that. */
void check_unrotate(struct check *check, struct folio *folio);

/** check_rotate_later() - a folio's write has ended on this CPU, and reclaim has met it meanwhile. */
void check_rotate_later(struct check *check, struct folio *folio);

/** check_rotated() - lists grew by folios that no event names: those whose writes have ended were moved. */
void check_rotated(struct check *check, unsigned int cpu, const struct growth_burst *burst);

#endif
