// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anon pages that the tape names: in memory, in swap and back.
 *
 *   first touch --> in memory, mapped --(reclaim: not young)--> in swap cache, being written
 *                      ^        ^                                   |            |
 *                      |        '------ touched while it is there --'            v
 *                      '------- touched: swapped in, neighbours with it ---- in swap only
 *
 * A page's place in the page cache holds its folio, and while it is in swap only its shadow. Slots of
 * swap are given out one after the other; neighbours in swap are read together.
 */
#include "replay/engine/state.h"

#include <stdlib.h>
#include <string.h>

#define NO_SLOT UINT64_MAX
#define READ_TOGETHER_LIMIT 64 /* pages; page_cluster is 5 at most in any setting seen */

static struct page_cache *slots_of_pages(struct replay *replay)
{
	return &replay->swap.slot_of;
}

int replay_swap_init(struct replay *replay)
{
	struct run_swap *swap = &replay->swap;
	int64_t nr = replay->world->total_swap_pages;

	swap->nr_slots = nr > 0 ? (uint64_t)nr : 0;
	swap->next = replay->world->nr_swap_pages < nr ?
			     (uint64_t)(nr - replay->world->nr_swap_pages) :
			     0;
	swap->first = swap->next; /* what lies before is taken by others */
	swap->slot = calloc(swap->nr_slots + 1, sizeof(*swap->slot));
	return swap->slot && !page_cache_init(&swap->slot_of) ? 0 : -1;
}

void replay_swap_exit(struct replay *replay)
{
	free(replay->swap.slot);
	free(replay->swap.write);
	page_cache_exit(&replay->swap.slot_of);
}

/* ---- slots */

static uint64_t slot_of_page(struct replay *replay, uint32_t file, uint64_t index)
{
	uint64_t value = page_cache_slot(slots_of_pages(replay), file, index);

	return value ? value >> 1 : NO_SLOT;
}

/* Its page is in memory again, or gone. Kernel: mm/memcontrol-v1.c, memcg1_swapin(), v6.18. */
static void slot_used(struct replay *replay, struct swap_slot *entry)
{
	if (entry->out)
		mm_charge_swapped(replay->machine.mm.memcg[entry->memcg], -1);
	entry->out = false;
}

/* Kernel: mm/memcontrol-v1.c, memcg1_swapout(), v6.18. */
void replay_swapped_out(struct replay *replay, const struct folio *folio)
{
	for (uint64_t i = 0; i < folio_nr_pages(folio); i++) {
		uint64_t slot = slot_of_page(replay, folio->file, folio->index + i);

		if (slot == NO_SLOT || replay->swap.slot[slot].out)
			continue;
		replay->swap.slot[slot].out = true;
		mm_charge_swapped(replay->machine.mm.memcg[replay->swap.slot[slot].memcg], 1);
	}
}

static void free_slot(struct replay *replay, uint32_t file, uint64_t index)
{
	uint64_t slot = slot_of_page(replay, file, index);
	struct swap_slot *entry;

	if (slot == NO_SLOT)
		return;
	entry = &replay->swap.slot[slot];
	slot_used(replay, entry);
	mm_charge_swap(&replay->machine.mm, replay->machine.mm.memcg[entry->memcg], -1);
	entry->file = 0;
	if (page_cache_store(slots_of_pages(replay), file, index, 1, 0))
		replay->failed = true;
}

/* The next free slot in turn, NO_SLOT: none. */
static uint64_t take_slot(struct run_swap *swap)
{
	for (uint64_t n = swap->first; n < swap->nr_slots; n++) {
		uint64_t slot = swap->next++;

		if (swap->next >= swap->nr_slots)
			swap->next = swap->first;
		if (!swap->slot[slot].file)
			return slot;
	}
	return NO_SLOT;
}

/*
 * Kernel: mm/swapfile.c, folio_alloc_swap(), v6.18.
 * Differs: slots come in turn around all of swap; the kernel takes whole clusters, of each CPU its own on
 * devices that seek for free. A large folio's slots need not lie together, so that it is never split.
 */
bool replay_add_to_swap(void *ctx, struct folio *folio)
{
	struct replay *replay = ctx;
	struct mm *mm = &replay->machine.mm;
	struct mem_cgroup *memcg = folio->lruvec->memcg;
	uint64_t nr = folio_nr_pages(folio);

	if (mm_swap_left(mm, memcg) < (int64_t)nr)
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t slot = take_slot(&replay->swap);

		if (slot == NO_SLOT) {
			while (i--)
				free_slot(replay, folio->file, folio->index + i);
			return false;
		}
		mm_charge_swap(mm, memcg, 1);
		replay->swap.slot[slot] = (struct swap_slot){ .file = folio->file,
							      .index = folio->index + i,
							      .memcg = memcg->index };
		if (page_cache_store(slots_of_pages(replay), folio->file, folio->index + i, 1,
				     slot << 1 | 1))
			replay->failed = true;
	}
	return true;
}

/* ---- writes */

static void write_done(struct replay *replay, const struct submitted_read *write)
{
	struct folio *folio = page_cache_folio(&replay->machine.cache, write->file, write->index);

	if (folio && folio_test(folio, PG_writeback))
		folio_end_writeback(&replay->machine.mm, replay_cpu(replay), folio);
}

static void writes_done(struct replay *replay)
{
	struct run_swap *swap = &replay->swap;

	while (swap->nr_writes) {
		const struct submitted_read *write =
			&swap->write[swap->first_write & (swap->room_writes - 1)];

		if (write->done_ns > swap->now_ns)
			return;
		swap->first_write++;
		swap->nr_writes--;
		write_done(replay, write);
	}
}

void replay_writes_done(struct replay *replay)
{
	replay->swap.now_ns = replay->event->timestamp_ns;
	writes_done(replay);
}

/*
 * Kernel: mm/vmscan.c, pageout(), v6.18.
 * Differs: the device does one page after the other.
 */
bool replay_write_out(void *ctx, struct folio *folio)
{
	struct replay *replay = ctx;
	struct run_swap *swap = &replay->swap;
	struct swap_times times = facts_swap_times(replay->mapped.stream.facts);

	if (replay->world->swap_is_synchronous || replay->machine.mm.policy->exact)
		return true;
	if (swap->nr_writes == swap->room_writes) {
		uint64_t room = swap->room_writes ? swap->room_writes * 2 : 1024;
		struct submitted_read *bigger = malloc(room * sizeof(*bigger));

		if (!bigger) {
			replay->failed = true;
			return true;
		}
		for (uint64_t i = 0; i < swap->nr_writes; i++)
			bigger[i] = swap->write[(swap->first_write + i) & (swap->room_writes - 1)];
		free(swap->write);
		swap->write = bigger;
		swap->room_writes = room;
		swap->first_write = 0;
	}
	swap->now_ns += times.submit_ns;
	swap->device_ns += times.page_ns;
	if (swap->device_ns < swap->now_ns + times.least_ns)
		swap->device_ns = swap->now_ns + times.least_ns;
	swap->write[(swap->first_write + swap->nr_writes++) & (swap->room_writes - 1)] =
		(struct submitted_read){
			.done_ns = swap->device_ns,
			.file = folio->file,
			.index = folio->index,
		};
	return false;
}

void replay_put_back(void *ctx)
{
	writes_done(ctx);
}

void replay_wait_for_device(struct replay *replay)
{
	struct run_swap *swap = &replay->swap;
	uint64_t nr = swap->nr_writes < SWAP_CLUSTER_MAX ? swap->nr_writes : SWAP_CLUSTER_MAX;
	const struct submitted_read *last;

	if (!nr)
		return;
	last = &swap->write[(swap->first_write + nr - 1) & (swap->room_writes - 1)];
	if (swap->now_ns < last->done_ns)
		swap->now_ns = last->done_ns;
	writes_done(replay);
}

/* Those that were submitted before it are done too by then. */
void replay_wait_for_write(void *ctx, struct folio *folio)
{
	struct replay *replay = ctx;
	struct run_swap *swap = &replay->swap;

	while (folio_test(folio, PG_writeback) && swap->nr_writes) {
		struct submitted_read write =
			swap->write[swap->first_write & (swap->room_writes - 1)];

		swap->first_write++;
		swap->nr_writes--;
		if (swap->now_ns < write.done_ns)
			swap->now_ns = write.done_ns;
		write_done(replay, &write);
	}
	if (folio_test(folio,
		       PG_writeback)) /* it was never in the queue: moved or written at once */
		folio_end_writeback(&replay->machine.mm, replay_cpu(replay), folio);
}

/* ---- pages come in */

/* @shadow_counts: it may be a refault. Return: NULL without memory. */
static struct folio *bring_in(struct replay *replay, struct mem_cgroup *memcg, uint32_t file,
			      uint64_t index, uint64_t pfn, uint8_t order)
{
	struct folio *folio;

	replay_make_room(replay, memcg, INT64_C(1) << order);
	folio = mm_folio_born(&replay->machine.mm, replay_pfn(replay, pfn), memcg, order);
	if (!folio) {
		replay->failed = true;
		return NULL;
	}
	folio_set(folio, PG_swapbacked | FOLIO_in_fault);
	machine_add_file_folio(&replay->machine, folio, file, index, replay_cpu(replay), false);
	return folio;
}

void replay_anon_slot_freed(struct replay *replay, struct folio *folio)
{
	if (!folio_test_clear(folio, PG_swapcache))
		return;
	for (uint64_t i = 0; i < folio_nr_pages(folio); i++)
		free_slot(replay, folio->file, folio->index + i);
}

/*
 * A fault finds its page in the swap cache. Reclaim's flag on a page being written is the marker's bit: it
 * counts as a hit too, and is taken, so that the page is not rotated when it is written.
 * Kernel: mm/swap_state.c, swap_update_readahead(), v6.18.
 */
static void found_in_swap_cache(struct replay *replay, struct folio *folio)
{
	if (folio->order || !folio_test(folio, PG_readahead | PG_reclaim))
		return;
	folio_clear(folio, PG_readahead | PG_reclaim);
	replay->swap.readahead_hits++;
}

static void map_folio(struct replay *replay, struct folio *folio, bool write)
{
	if (!folio_test(folio, FOLIO_mapped) && folio_test(folio, PG_swapcache))
		found_in_swap_cache(replay, folio);
	replay_set_mapped(folio);
	if (!folio_test(folio, PG_swapcache))
		return;
	/* Kernel: mm/memory.c, should_try_to_free_swap(), v6.18. */
	if ((write || mm_swap_full(&replay->machine.mm, folio->lruvec->memcg)) &&
	    !folio_test(folio, PG_writeback)) {
		replay_anon_slot_freed(replay, folio);
	} else if (write) {
		folio_set(folio, PG_dirty);
	}
}

/*
 * How many slots are read together.
 * Kernel: mm/swap_state.c, swapin_nr_pages(), v6.18.
 */
static uint64_t readahead_pages(struct replay *replay, uint64_t slot)
{
	struct run_swap *swap = &replay->swap;
	uint64_t most = UINT64_C(1) << replay->world->page_cluster;
	uint64_t nr = swap->readahead_hits + 2;

	if (most > READ_TOGETHER_LIMIT)
		most = READ_TOGETHER_LIMIT;
	if (most <= 1)
		return 1;
	if (nr == 2) {
		if (slot != swap->last_slot + 1 && slot + 1 != swap->last_slot)
			nr = 1;
	} else {
		uint64_t rounded = 4;

		while (rounded < nr)
			rounded *= 2;
		nr = rounded;
	}
	if (nr > most)
		nr = most;
	if (nr < swap->last_readahead / 2)
		nr = swap->last_readahead / 2;
	if (!swap->readahead_hits)
		swap->last_slot = slot;
	swap->readahead_hits = 0;
	swap->last_readahead = nr;
	return nr;
}

static struct folio *read_slot(struct replay *replay, uint64_t slot)
{
	struct swap_slot entry = replay->swap.slot[slot];
	struct mm *mm = &replay->machine.mm;
	struct mem_cgroup *memcg = mm->memcg[entry.memcg];
	struct folio *folio;

	folio = bring_in(replay, memcg, entry.file, entry.index, PFN_NONE, 0);
	if (!folio)
		return NULL;
	slot_used(replay, &replay->swap.slot[slot]);
	folio_set(folio, PG_swapcache);
	replay_count(memcg, COUNT_pswpin, 1);
	return folio;
}

/*
 * Kernel: mm/swap_state.c, swap_cluster_readahead(), v6.18.
 * Differs: the same on devices that seek for free, where the kernel looks at neighbouring addresses.
 */
static struct folio *swap_in(struct replay *replay, uint32_t file, uint64_t index)
{
	uint64_t slot = slot_of_page(replay, file, index), nr, first;
	struct folio *folio;

	if (slot == NO_SLOT)
		return NULL;
	nr = replay->world->swap_is_synchronous ? 1 : readahead_pages(replay, slot);
	first = slot & ~(nr - 1);
	for (uint64_t s = first; nr > 1 && s < first + nr && s < replay->swap.nr_slots; s++) {
		const struct swap_slot *entry = &replay->swap.slot[s];

		if (!entry->file ||
		    page_cache_folio(&replay->machine.cache, entry->file, entry->index))
			continue;
		folio = read_slot(replay, s);
		if (folio && s != slot)
			folio_set(folio, PG_readahead);
	}
	if (nr > 1)
		lru_add_drain(&replay->machine.mm, replay_cpu(replay), DRAIN_swap_readahead);
	folio = page_cache_folio(&replay->machine.cache, file, index);
	return folio ? folio : read_slot(replay, slot);
}

/*
 * A page is accessed that some event, or the stream of unseen accesses, tells of.
 * Kernel: mm/memory.c, do_swap_page(), v6.18.
 */
static void touch(struct replay *replay, uint32_t file, uint64_t index, bool write)
{
	struct folio *folio = page_cache_folio(&replay->machine.cache, file, index);

	replay->accesses++;
	if (!folio) {
		folio = swap_in(replay, file, index);
		if (!folio)
			return; /* freed here, or never seen to come */
		replay_count(folio->lruvec->memcg, COUNT_pgmajfault, 1);
	} else {
		replay_count(folio->lruvec->memcg, COUNT_hits, 1);
	}
	replay_count(folio->lruvec->memcg, COUNT_accesses, 1);
	replay_look_begins(replay, folio); /* what was found before is over */
	map_folio(replay, folio, write);
}

void replay_touch_anon(struct replay *replay, uint32_t file, uint64_t index)
{
	touch(replay, file, index, false);
}

/* ---- steps of the workload */

static void page_freed(struct replay *replay, const struct anon_step *step)
{
	struct folio *folio = page_cache_folio(&replay->machine.cache, step->file, step->index);

	replay_stimulus(replay, NR_INFER_RULES);
	free_slot(replay, step->file, step->index);
	if (!folio) {
		if (page_cache_store(&replay->machine.cache, step->file, step->index, 1, 0))
			replay->failed = true;
		return;
	}
	/* A large one goes with its first page; the steps of its others find nothing. */
	for (uint64_t i = 0; i < folio_nr_pages(folio); i++)
		free_slot(replay, folio->file, folio->index + i);
	replay_count(folio->lruvec->memcg, COUNT_anon_free, folio_nr_pages(folio));
	machine_leave_page_cache(&replay->machine, folio);
	replay_zap_folio(replay, folio);
}

static void page_new(struct replay *replay, const struct anon_step *step)
{
	struct mem_cgroup *memcg = machine_memcg(&replay->machine, step->memcg);
	uint64_t nr = UINT64_C(1) << step->order;
	struct folio *folio;

	replay_stimulus(replay, NR_INFER_RULES);
	for (uint64_t i = 0; i < nr; i++) {
		folio = page_cache_folio(&replay->machine.cache, step->file, step->index + i);
		free_slot(replay, step->file, step->index + i);
		if (folio)
			machine_forget(&replay->machine, folio); /* its unmapping was not seen */
		if (page_cache_store(&replay->machine.cache, step->file, step->index + i, 1, 0))
			replay->failed = true;
	}
	folio = bring_in(replay, memcg, step->file, step->index, step->pfn, step->order);
	if (!folio)
		return;
	replay_count(memcg, COUNT_anon_alloc, nr);
	replay_set_mapped(folio);
	replay_look_begins(replay, folio);
	if (step->locked)
		mlock_folio(&replay->machine.mm, replay_cpu(replay), folio);
}

void replay_anon_steps(struct replay *replay)
{
	uint32_t nr;
	const struct anon_step *step = anon_steps(replay->world->anon, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		switch (step[i].what) {
		case ANON_NEW:
			replay_zap_over(replay);
			page_new(replay, &step[i]);
			break;
		case ANON_TOUCHED:
			replay_zap_over(replay);
			replay_stimulus(replay, NR_INFER_RULES);
			touch(replay, step[i].file, step[i].index, step[i].write);
			break;
		case ANON_FREED:
			page_freed(replay, &step[i]);
			break;
		case ANON_COLD:
		case ANON_LAZYFREE:
		case ANON_PAGEOUT:
		case ANON_LOCKED:
		case ANON_UNLOCKED:
			replay_advised(replay, &step[i], !i || step[i - 1].what != step[i].what);
			break;
		case ANON_READ_AHEAD:
		case ANON_UNMAPPED:
		case ANON_EVICTED:
			break; /* what the recorded kernel decided */
		}
	}
}
