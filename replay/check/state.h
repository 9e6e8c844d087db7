/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What check keeps: of a run, of a memcg, of a reclaim call, of a CPU. Who calls whom: parts.h.
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

/* What the probe told of one folio of an isolation: probe.c. */
struct told_look {
	bool known; /* it was asked about */
	bool stranger; /* our lists had not isolated it */
	int32_t referenced; /* page table entries that were young; -1: a lock was held */
	uint64_t vm_flags; /* of their mappings; TAPE_VALUE_ABSENT: not told */
};

/* One reclaim call of a task, from its begin event to its end event. */
struct reclaim_bracket {
	struct reclaim_bracket *outer; /* v1: that it is a part of, for a soft limit; NULL: none */
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
	struct told_look told[ISOLATION_ROOM]; /* by place in that order */
	unsigned int nr_told; /* up to which they were told */
	uint64_t look_pfn; /* that the probe's first event of a look named, plus 1; 0: none */
	unsigned int
		nr_dropped; /* after MADV_FREE: their frees come behind removals from the page cache */
	unsigned int nr_left; /* before this one, where they are shown last first */
	struct look_row {
		const struct folio *folio;
		uint64_t since; /* as verdicts.c keeps it */
		uint64_t index, pages;
		uint32_t file, pfn;
		bool is_file, dirty;
		struct told_look told;
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
	bool in_drain; /* the task's last event was of what it drains before it looks at sizes */
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
	while (bracket) {
		struct reclaim_bracket *outer = bracket->outer;

		free(bracket->ahead);
		free(bracket);
		bracket = outer;
	}
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

#define STACKS_ROOM 32

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

#endif
