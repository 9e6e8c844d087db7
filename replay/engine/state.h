/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of engine/ share: a run's state, and who calls whom.
 *
 *   engine.c  the loop: each stimulus to its place
 *   charge.c  limits: who has no room reclaims
 *   stock.c   charges that CPUs keep in stock
 *   high.c    memory.high: who is above it reclaims later
 *   foreign.c reclaim that somebody else asked for
 *   files.c   reads, and what they bring in
 *   readahead.c  windows of the run's own
 *   reads.c   reads that the device has not done yet
 *   counts.c  what was counted, handed out
 *   perturb.c what would be different the next time
 *   anon.c    anon folios that have no names: allocated, inserted, zapped
 *   swap.c    anon pages that the tape names: in memory, in swap and back
 *   advice.c  what an owner says of them: madvise, mlock
 *   mapped.c  accesses to mapped pages, seen and drawn
 */
#ifndef REPLAY_ENGINE_STATE_H
#define REPLAY_ENGINE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/engine/engine.h"
#include "replay/facts.h"
#include "replay/machine.h"
#include "replay/page_tables.h"
#include "replay/mm/mmu_gather.h"
#include "replay/mm/readahead.h"

/*
 * Descriptors: anon folios at their recorded frame, because their frees name it; file folios,
 * which may live longer or shorter than the recorded ones, in a range of their own.
 */
#define FILE_PFN_BASE (UINT64_C(1) << 31)

/* Allocated and on no list yet, seen on the tape only; not charged. */
#define FOLIO_fresh (1u << 30)
/* A zap has unmapped it, its batch is not complete; folio.index is the number of the task. */
#define FOLIO_gathered (1u << 29)

/* A fault, or fault-around, has set the young bit of a mapped folio since it was last looked at. */
#define FOLIO_young (1u << 27)

/* What a run remembers of a task. */
struct run_task {
	bool skip_adds; /* the recorded miss did not happen here: neither do its adds */
	struct mmu_gather *gather; /* a zap in progress, NULL before the first */
	uint32_t fault_file; /* a fault on a page that is not here, 0: none */
	uint64_t fault_index;
	bool fault_is_major; /* the page was not here when it began */
	bool fault_is_counted; /* as a major one */
	bool fault_copies; /* what is mapped is a copy of the page */
	uint64_t over_high_pages; /* charged above some memory.high, to be reclaimed */
	struct mem_cgroup *over_high; /* for which memcg; NULL before the first */
};

/*
 * How long a readahead's folios stay locked after it was submitted, unless somebody reads them before:
 * a guess, because no event tells when a device is done.
 */
#define READ_NS (5 * UINT64_C(1000000))

/* A folio whose read was submitted; named by its place, for the folio may go before. */
struct submitted_read {
	uint64_t done_ns;
	uint64_t index;
	uint32_t file;
};

#define PERTURB_SHARES 1024

struct late_flush {
	uint64_t due_ns;
	uint32_t memcg; /* number of the world's */
};

struct perturbation {
	uint64_t seed; /* 0: none, and nothing below is used */
	uint64_t state; /* of the generator */
	uint64_t flush_share; /* of PERTURB_SHARES, by which flushes come later */
	uint64_t last_flush_ns, next_flush_ns;
	struct late_flush *flush; /* recorded, and not done yet */
	uint32_t nr_flushes, room_flushes;
	uint32_t *drain_in; /* by CPU: folios in the first batch that is drained early; 0: was */
	uint64_t next_move_ns;
	unsigned int cpu_shift; /* what runs on a CPU of the tape runs so many CPUs on */
};

/* A page in swap. */
struct swap_slot {
	uint64_t index;
	uint32_t file; /* 0: the slot is free */
	uint16_t memcg; /* index: charged when it comes back */
	bool out; /* its page is nowhere else */
};

struct run_swap {
	struct page_cache slot_of; /* by place: slot << 1 | 1, 0: none */
	struct swap_slot *slot;
	uint64_t nr_slots, first, next;
	uint64_t last_slot, last_readahead, readahead_hits;
	uint64_t now_ns; /* trace clock; goes on while reclaim writes */
	uint64_t device_ns; /* when the device will have done all that was submitted */
	struct submitted_read *write; /* ring, in the order they will be done */
	uint64_t first_write, nr_writes, room_writes; /* the last a power of two */
};

/* An access to a page that reclaim has unmapped here and the recorded kernel had not. */
struct due_access {
	uint64_t ns, index;
	uint32_t file;
	uint16_t memcg; /* index: whose the page was */
};

struct run_mapped {
	struct page_tables *tables; /* of a run without facts */
	struct access_stream stream; /* facts NULL: no page counts as accessed but by a fault */
	uint32_t *mmap_miss; /* by file: as the kernel's struct file_ra_state has it */
	uint64_t room_mmap_miss;
	bool own; /* its facts are this policy's own at this size */
	struct page_cache looked; /* by place: when the young bit was cleared, ns << 1 | 1 */
	struct page_cache
		asked; /* the same of this run's own looks: own ones are of the kernel's time */
	struct due_access *due; /* heap, the soonest first */
	uint64_t nr_due, room_due;
	uint64_t nr_asked, nr_unknown, first_unknown_ns;
};

/* It works while others go on: as fast as the recorded one did. */
struct run_kswapd {
	struct reclaim_walk walk;
	bool awake;
	uint64_t next_ns; /* when its next isolation is due */
};

/* What a run has done of one foreign reclaim. */
struct run_foreign {
	uint64_t freed; /* pages */
	uint32_t nr_calls;
	int fruitless; /* calls that freed nothing */
};

struct replay {
	struct world *world;
	struct machine machine;
	const struct tape_event *event;
	struct run_task *task; /* by the world's task number */
	uint64_t room_tasks;
	uint64_t accesses;
	uint64_t nr_stimuli, nr_inferred; /* the second are part of the first */
	uint64_t inferred[NR_INFER_RULES];
	struct file_ra_state *ra; /* by the world's reader number */
	uint64_t room_readers;
	struct mem_cgroup *limited; /* NULL: none */
	int64_t machine_overhead_pages; /* taken from the zones for what is on no list */
	uint32_t overhead_at; /* see overhead_at() */
	struct submitted_read *reading; /* ring, in the order they will be done */
	uint64_t first_reading, nr_reading, room_reading; /* the last a power of two */
	struct future *future; /* NULL: the policy does not ask for it */
	struct future_range range; /* what the event touches, */
	uint32_t touch; /* from this number on */
	struct perturbation noise;
	struct run_swap swap;
	struct run_mapped mapped;
	struct run_foreign *foreign; /* by row */
	struct run_kswapd kswapd;
	bool failed;
};

static inline unsigned int replay_cpu(const struct replay *replay)
{
	unsigned int nr = replay->machine.mm.config.nr_cpus; /* 1 or more */
	unsigned int cpu = replay->event->cpu < nr ? replay->event->cpu : nr - 1;

	return replay->noise.cpu_shift && nr ? (cpu + replay->noise.cpu_shift) % nr : cpu;
}

static inline struct mem_cgroup *replay_task_memcg(struct replay *replay, int32_t pid)
{
	struct world_task *task = world_task(replay->world, pid);

	return machine_memcg(&replay->machine, task ? task->memcg : WORLD_ROOT);
}

static inline void replay_count(struct mem_cgroup *memcg, enum counter counter, uint64_t n)
{
	lruvec_count(mem_cgroup_lruvec(memcg, 0), counter, n);
}

/* ---- engine.c */

/** replay_task() - what the run remembers of a task; NULL without memory, then the run has failed. */
struct run_task *replay_task(struct replay *replay, const struct world_task *task);

/** replay_stimulus() - count one. @rule: how it was drawn from other events, NR_INFER_RULES: an event names it. */
void replay_stimulus(struct replay *replay, enum infer_rule rule);

/* ---- charge.c */

/** replay_hooks() - what reclaim asks of this run. */
struct reclaim_hooks replay_hooks(struct replay *replay);

/**
 * replay_make_room() - room for a folio that mm_folio_born() will charge: reclaim until its memcg has it
 * Kernel: mm/memcontrol.c, try_charge_memcg(), v6.18.
 * Differs: no OOM kill: after the retries the charge is forced.
 */
void replay_make_room(struct replay *replay, struct mem_cgroup *memcg, int64_t pages);

/* ---- stock.c */

/**
 * replay_stock_consume() - take a folio's charge from what the event's CPU has in stock for the memcg
 * Return: done: its charge may follow.
 * Kernel: mm/memcontrol.c, consume_stock(), v6.18, v6.12.
 */
bool replay_stock_consume(struct replay *replay, struct mem_cgroup *memcg, int64_t pages);

/**
 * replay_stock_refill() - charge pages and keep them in stock
 * Kernel: mm/memcontrol.c, refill_stock(), v6.18, v6.12.
 * Differs: of seven full slots they make room in turn, not at random.
 */
void replay_stock_refill(struct replay *replay, struct mem_cgroup *memcg, int64_t pages);

/**
 * replay_stock_drain_all() - CPUs that have anything in stock for memcgs at or below @top give all back
 * Kernel: mm/memcontrol.c, drain_all_stock(), v6.18.
 */
void replay_stock_drain_all(struct replay *replay, const struct mem_cgroup *top);

/* ---- high.c */

/**
 * replay_charged() - there is room for a folio: if it is above memory.high, its task owes pages from now on
 * @pages: that mm_folio_born() will charge
 * @batch: charged with it, and part of it in stock
 * Kernel: mm/memcontrol.c, try_charge_memcg(), v6.18.
 */
void replay_charged(struct replay *replay, struct mem_cgroup *memcg, int64_t pages, int64_t batch);

/**
 * replay_over_high() - the event's task goes back to user space: it reclaims what it owes
 * Kernel: mm/memcontrol.c, mem_cgroup_handle_over_high(), v6.18.
 * Differs: nobody sleeps, and charges in interrupts owe nothing.
 */
void replay_over_high(struct replay *replay);

/** replay_owes() - the task has charged above memory.high, and not reclaimed for it yet. */
static inline bool replay_owes(const struct replay *replay, const struct world_task *task)
{
	return task->number < replay->room_tasks && replay->task[task->number].over_high_pages;
}

/* ---- foreign.c */

/** replay_foreign_init() - room for what the run has done of each. Return: 0, or -1 without memory. */
int replay_foreign_init(struct replay *replay);

/** replay_foreign_reclaim() - a call that somebody outside of its memcg had asked for has ended: this run is asked, too */
void replay_foreign_reclaim(struct replay *replay, const struct foreign_call *call);

/** replay_mapped() - the current event's task has a file folio in its page tables, which makes it young. */
void replay_mapped(struct replay *replay, struct folio *folio);

/** replay_space_gone() - the current event may have ended an address space: what was young there is marked. */
void replay_space_gone(struct replay *replay);

/** replay_follow_overhead() - the limited memcg's overhead as it is known now: see INFER_overhead_at_reclaim. */
void replay_follow_overhead(struct replay *replay);

/* ---- memory.c */

/** replay_memory_init() - the machine's memory, of another size if nothing has a limit. @memory_pages: or REPLAY_MEMORY_RECORDED */
void replay_memory_init(struct replay *replay, int64_t memory_pages);

/** replay_kswapd_woken() - mm_vmscan_kswapd_wake: if watermarks were boosted, they are here. */
void replay_kswapd_woken(struct replay *replay);

/** replay_kswapd() - time has passed, in which kswapd got on if it is awake. */
void replay_kswapd(struct replay *replay);

/**
 * replay_find_memory() - free pages for a folio that mm_folio_born() will take
 * Kernel: mm/page_alloc.c, __alloc_pages_slowpath(), v6.18.
 * Differs: kswapd begins at once, and each page takes as long as the recorded one's did on average; no compaction,
 * no OOM kill: after the retries the pages are taken from below the marks.
 */
void replay_find_memory(struct replay *replay, int64_t pages, const struct reclaim_hooks *hooks);

/* ---- perturb.c */

/** replay_perturb_event() - before each event: what the seed has drawn for this moment. */
void replay_perturb_event(struct replay *replay);

/** replay_flush() - memcg_flush_stats, or before 6.13 cgroup_rstat_locked: now, or as late as the seed says. */
void replay_flush(struct replay *replay);

/** replay_perturb_end() - free what the perturbation holds. */
void replay_perturb_end(struct replay *replay);

/* ---- files.c */

/** replay_folio_added() - mm_filemap_add_to_page_cache. */
void replay_folio_added(struct replay *replay);

/** replay_miss_recorded() - the recorded kernel missed this page: its adds happen here only if it is missing here too. */
void replay_miss_recorded(struct replay *replay, uint64_t dev, uint64_t ino, uint64_t index);

/** replay_may_add_again() - what the task adds next does not hang on a recorded miss. */
void replay_may_add_again(struct replay *replay);

/**
 * replay_pages_read() - mm_filemap_get_pages. @read_end: of event_stream_next()
 * Kernel: mm/filemap.c, filemap_read(), v6.18: which folios of a read are marked.
 */
void replay_pages_read(struct replay *replay, uint64_t read_end);

/** replay_page_requested() - page_request of an imported access stream: each page is an access. */
void replay_page_requested(struct replay *replay);

/** replay_buffer_touched() - block_touch_buffer: a metadata folio is accessed. */
void replay_buffer_touched(struct replay *replay);

/** replay_folio_deleted() - mm_filemap_delete_from_page_cache. Reclaim's are verdicts and stay out. */
void replay_folio_deleted(struct replay *replay);

/** replay_bring_in() - a folio enters the page cache, charged to the event's task. @recorded_pfn: 0: none. Return: NULL: the run has failed. */
struct folio *replay_bring_in(struct replay *replay, uint32_t file, uint64_t index, uint8_t order,
			      uint64_t recorded_pfn, bool for_write);

/** replay_bring_in_for() - the same, charged to a memcg. */
struct folio *replay_bring_in_for(struct replay *replay, struct mem_cgroup *memcg, uint32_t file,
				  uint64_t index, uint8_t order, uint64_t recorded_pfn,
				  bool for_write);

/** replay_any_present() - one of these pages is in memory. */
bool replay_any_present(struct replay *replay, uint32_t file, uint64_t index, uint64_t nr);

/* ---- readahead.c */

/**
 * replay_read_missing() - a read needs a page that the recorded kernel had and this run has not
 * @last: the last page that the read asks for
 * Return: its folio, locked; NULL if it is behind the file's end, or the run has failed.
 */
struct folio *replay_read_missing(struct replay *replay, const struct world_reader *reader,
				  uint32_t file, uint64_t page, uint64_t last);

/** replay_read_marker() - a read meets the folio that starts the next window. @last: as above. */
void replay_read_marker(struct replay *replay, const struct world_reader *reader,
			struct folio *folio, uint64_t last);

/**
 * replay_bring_window() - the folios of a window that are not here yet
 * @memcg: is charged
 * @first_asked, @last_asked: pages that somebody waits for, READAHEAD_NO_PAGE: none
 * Kernel: mm/readahead.c, page_cache_ra_order(), page_cache_ra_unbounded(), v6.18.
 */
void replay_bring_window(struct replay *replay, struct mem_cgroup *memcg, uint32_t file,
			 const struct readahead_window *window, uint64_t first_asked,
			 uint64_t last_asked);

/** replay_window_recorded() - page_cache_ra_order: if the miss was this run's too, so is the window. */
void replay_window_recorded(struct replay *replay);
/**
 * replay_pfn() - a frame for a folio that may live longer or shorter than the recorded one
 * @recorded: where it lay; 0: nowhere
 * Return: near that where additions are to be measured, else beside the other folios of the run.
 */
uint64_t replay_pfn(struct replay *replay, uint64_t recorded);

/**
 * replay_touch_mapped_file() - a page of a file is accessed through page tables
 * @memcg: pays if it has to be read
 */
void replay_touch_mapped_file(struct replay *replay, uint32_t file, uint64_t index,
			      struct mem_cgroup *memcg);

/** replay_file_fault() - mm_filemap_fault: an access, which brings in what no recorded add will. */
void replay_file_fault(struct replay *replay);

/** replay_window_of_fault() - page_cache_ra_order: how far the recorded kernel reads around a fault. */
void replay_window_of_fault(struct replay *replay);

/** replay_touch_unseen() - the same where no event shows it: a fault maps the pages around it, if they are here. */
void replay_touch_unseen(struct replay *replay, uint32_t file, uint64_t index,
			 struct mem_cgroup *memcg);

/** replay_fault_over() - a task does something else: a page that its fault has not brought in is read now. */
void replay_fault_over(struct replay *replay);

/**
 * replay_faulted_around() - mm_filemap_map_pages
 * Kernel: mm/filemap.c, filemap_map_pages(), v6.18.
 */
void replay_faulted_around(struct replay *replay);

/* ---- reads.c */

/** replay_read_submitted() - a folio is being read by the device, and locked. */
void replay_read_submitted(struct replay *replay, struct folio *folio);

/** replay_reads_done() - those that the device has done by the current event's time. */
void replay_reads_done(struct replay *replay);

/** replay_reads_submitted() - the task is past adding: its window goes to the device. */
void replay_reads_submitted(struct replay *replay, const struct world_task *task);

/* ---- anon.c */

/** replay_page_allocated() - mm_page_alloc. */
void replay_page_allocated(struct replay *replay);

/**
 * replay_inserted() - mm_lru_insertion: for an anon folio the first sign that it is one
 * Only that it came is taken, not where it went or when its batch drained.
 */
void replay_inserted(struct replay *replay);

/** replay_page_freed() - mm_page_free. */
void replay_page_freed(struct replay *replay);

/** replay_zap_folio() - its owner frees it, in a batch of the current task's zap; it is in no page cache. */
void replay_zap_folio(struct replay *replay, struct folio *folio);

/** replay_zap_over() - a task that allocates or reads is not in the middle of a zap any more. */
void replay_zap_over(struct replay *replay);

/* ---- swap.c */

/** replay_swap_init() - nothing is swapped out. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result)) replay_swap_init(struct replay *replay);

/** replay_swap_exit() - free it. */
void replay_swap_exit(struct replay *replay);

/** replay_anon_steps() - what the current event did to anon pages. */
void replay_anon_steps(struct replay *replay);

/** replay_anon_slot_freed() - an anon folio gives up its place in swap, if it has one. */
void replay_anon_slot_freed(struct replay *replay, struct folio *folio);

/** replay_touch_anon() - an anon page is accessed where no event shows it. */
void replay_touch_anon(struct replay *replay, uint32_t file, uint64_t index);

/** replay_writes_done() - those to swap that the device has done by the current event's time. */
void replay_writes_done(struct replay *replay);

/** replay_add_to_swap(), replay_write_out(), replay_wait_for_write(), replay_put_back() - see struct reclaim_hooks. */
bool replay_add_to_swap(void *ctx, struct folio *folio);

/** replay_swapped_out() - reclaim takes a folio that has slots in swap. */
void replay_swapped_out(struct replay *replay, const struct folio *folio);
bool replay_write_out(void *ctx, struct folio *folio);
void replay_wait_for_write(void *ctx, struct folio *folio);
void replay_put_back(void *ctx);

/** replay_wait_for_device() - who reclaims and gets nothing sleeps: as many writes as one isolation gives are done. */
void replay_wait_for_device(struct replay *replay);

/* ---- advice.c */

/** replay_advised() - the owner of an anon page says something of it: madvise, mlock. @first: of the call. */
void replay_advised(struct replay *replay, const struct anon_step *step, bool first);

/* ---- mapped.c */

/** replay_mapped_init() - no page was looked at. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result)) replay_mapped_init(struct replay *replay);

/** replay_mapped_exit() - free it. */
void replay_mapped_exit(struct replay *replay);

/** replay_look_begins() - a folio is mapped by an access of this moment. */
void replay_look_begins(struct replay *replay, struct folio *folio);

/** replay_referenced() - see struct reclaim_hooks. */
bool replay_referenced(void *ctx, struct folio *folio);

/** replay_page_unmapped() - reclaim took it: the next access that no event shows will miss it. */
void replay_page_unmapped(struct replay *replay, const struct folio *folio);

/** replay_due_accesses() - accesses to such pages up to the current event. */
void replay_due_accesses(struct replay *replay);

/* ---- writeback.c */

/** replay_folio_dirtied() - writeback_dirty_folio. */
void replay_folio_dirtied(struct replay *replay);

/** replay_writeback() - the event has sent pages to the disk, or told that they are there. */
void replay_writeback(struct replay *replay);

/**
 * replay_written_unseen() - the recorded kernel has evicted this page: it is clean
 * Nothing had told it, where a file system or a device does not say when it writes.
 */
void replay_written_unseen(struct replay *replay, uint32_t file, uint64_t index);

/* Page tables point to it, and an access has just set a young bit. */
static inline void replay_set_mapped(struct folio *folio)
{
	folio_set(folio, FOLIO_mapped | FOLIO_young);
	folio->lruvec->has_mapped = true;
}

#endif
