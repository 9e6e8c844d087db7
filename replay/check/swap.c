// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folios on their way to swap and back.
 *
 *   block_bio_queue W, mm_vmscan_write_folio    the folio has that slot, its write begins
 *   block_rq_complete                           the write ends: the folio waits in lru_move_tail
 *   lists grow, by no folio that an event names the batch drains: to the tail
 *   mm_page_free in reclaim                     evicted: its shadow stays in the slot
 *   block_bio_queue R                           the page of that slot comes back: its refault
 *   mm_lru_insertion, swapcache                 in this frame
 *
 * Folios are queued for insertion on the CPU that reads them, in the order of the reads.
 */
#include "replay/check/parts.h"

#include <inttypes.h>
#include <string.h>

#define SECTORS_PER_PAGE 8
#define FAULT_PROTECTION 1 /* of a fault's error code: the page is mapped, but not so */

/* Return: number of the file that stands for a device's swap, made if @make; 0: none. */
static uint32_t swap_file(struct check *check, uint64_t dev, bool make)
{
	for (unsigned int i = 0; i < check->nr_swap_files; i++)
		if (check->world->file[check->swap_file[i]].dev == dev)
			return check->swap_file[i];
	if (!make || check->nr_swap_files == SWAP_DEVICES)
		return 0;
	check->swap_file[check->nr_swap_files] = world_file(check->world, dev, UINT64_MAX);
	return check->swap_file[check->nr_swap_files++];
}

static bool is_read(const struct check *check)
{
	const char *rwbs = tape_event_string(check->event, BLOCK_BIO_QUEUE_RWBS, NULL);

	return rwbs[rwbs[0] == 'F'] == 'R';
}

/* workingset_refault() happens now, in a frame that is still to be told. */
static uint32_t refault(struct check *check, uint64_t slot, uint64_t pages)
{
	struct folio folio = {
		.lruvec = mem_cgroup_lruvec(check_task_memcg(check, check->event->pid), 0),
		.flags = PG_swapbacked | PG_swapcache | FOLIO_in_fault,
	};

	while (folio.order < FOLIO_ORDER_LIMIT && 1u << folio.order < pages)
		folio.order++;
	check->machine.mm.policy->refault(&check->machine.mm, &folio, shadow_unpack(slot));
	if (folio.lruvec->memcg->swapped_pages >= (int64_t)pages)
		mm_charge_swapped(folio.lruvec->memcg, -(int64_t)pages);
	return folio.flags & (PG_active | PG_workingset | FOLIO_refaulted | FOLIO_refault_active);
}

/* It is on a list already. */
static void name_early(struct check *check, struct folio *folio, const struct swap_in *in)
{
	struct mem_cgroup *memcg = folio->lruvec->memcg;
	bool active = folio_test(folio, PG_active), predicted = in->flags & PG_active;
	uint64_t pages = folio_nr_pages(folio);

	/* Its list was taken as recorded when it was inserted, its age with it. */
	if (predicted)
		workingset_age_nonresident(folio->lruvec, -pages);
	if (predicted != active)
		folio->lruvec->stat[WORKINGSET_ACTIVATE_ANON] += active ? (int64_t)pages :
									  -(int64_t)pages;
	folio_set(folio, in->flags & (PG_workingset | FOLIO_refaulted));
	if (in->file)
		machine_swap_out(&check->machine, folio, in->file, in->index);
	if (!(in->flags & FOLIO_refaulted))
		return;
	if (predicted == active)
		check_equal(check, memcg, CHECK_refault_verdict);
	else
		check_unequal(check, memcg, CHECK_refault_verdict, "pfn %" PRIx32 " %s|%s",
			      folio->pfn, predicted ? "active" : "inactive",
			      active ? "active" : "inactive");
}

/* The folio that the task has allocated and not yet used, NULL where allocations are not on the tape. */
static struct folio *folio_to_read(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct folio *folio = NULL;

	if (check->world->allocs_seen && task && task->fresh_pfn) {
		folio = check_known_folio(check, task->fresh_pfn - 1);
		task->fresh_pfn = 0;
	}
	return folio && !folio->file ? folio : NULL;
}

static void name(struct check *check, struct folio *folio, const struct swap_in *in)
{
	if (folio_test(folio, PG_lru)) {
		name_early(check, folio, in);
		return;
	}
	folio_set(folio, in->flags);
	if (in->file)
		machine_swap_out(&check->machine, folio, in->file, in->index);
}

static void read_begun(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct swap_queue *queue = &check->swap[check_cpu(check)];
	uint32_t file = swap_file(check, v[BLOCK_BIO_QUEUE_DEV], false);
	struct swap_in in = {
		.pid = check->event->pid,
		.file = file,
		.index = v[BLOCK_BIO_QUEUE_SECTOR] / SECTORS_PER_PAGE,
	};
	struct folio *folio;
	uint64_t slot = file ? page_cache_slot(&check->machine.cache, file, in.index) : 0;

	if (!slot_is_shadow(slot)) {
		if (!check->world->swap_io_only)
			return;
		in.file = 0; /* written before the tape began */
	} else {
		in.flags = refault(check, slot, v[BLOCK_BIO_QUEUE_NR_SECTOR] / SECTORS_PER_PAGE);
	}
	folio = folio_to_read(check);
	if (folio) {
		name(check, folio, &in);
		return;
	}
	if (queue->early && queue->early_pid == in.pid && folio_test(queue->early, FOLIO_alive)) {
		name_early(check, queue->early, &in);
		queue->early = NULL;
		return;
	}
	queue->early = NULL;
	if (queue->nr == SWAP_IN_ROOM) {
		memmove(queue->entry, queue->entry + 1, (SWAP_IN_ROOM - 1) * sizeof(in));
		queue->nr--;
	}
	queue->entry[queue->nr++] = in;
}

void check_swap_io(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct swap_queue *queue;

	if (!check->swap || check_in_interrupt(check))
		return;
	if (is_read(check)) {
		read_begun(check);
		return;
	}
	queue = &check->swap[check_cpu(check)];
	queue->write_pid = check->event->pid;
	queue->write_dev = v[BLOCK_BIO_QUEUE_DEV];
	queue->write_sector = v[BLOCK_BIO_QUEUE_SECTOR];
	queue->write_pages = v[BLOCK_BIO_QUEUE_NR_SECTOR] / SECTORS_PER_PAGE;
}

void check_swapped_in(struct check *check, struct folio *folio)
{
	struct swap_queue *queue;
	struct swap_in in;

	if (!check->swap)
		return;
	queue = &check->swap[check_cpu(check)];
	if (!queue->nr) {
		queue->early = folio;
		queue->early_pid = check->event->pid;
		return;
	}
	in = queue->entry[0];
	memmove(queue->entry, queue->entry + 1, --queue->nr * sizeof(in));
	name(check, folio, &in);
}

/* What mm_vmscan_write_folio names. A large folio is one write; if only one page of it is, it was split. */
static struct folio *written_folio(struct check *check)
{
	uint64_t pfn = check->event->value[MM_VMSCAN_WRITE_FOLIO_PFN];
	struct folio *folio = check_known_folio(check, pfn);
	const struct swap_queue *queue = check->swap ? &check->swap[check_cpu(check)] : NULL;

	if (!folio || (folio->order && queue && queue->write_pid == check->event->pid &&
		       queue->write_pages < folio_nr_pages(folio)))
		return check_split_at(check, pfn);
	return folio;
}

void check_folio_written(struct check *check)
{
	struct folio *folio = written_folio(check);
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	struct swap_queue *queue;

	if (!check->swap || !folio || !folio_test(folio, PG_swapbacked))
		return;
	if (!check->machine.mm.policy->generations && bracket && bracket->predicted &&
	    bracket->isolated) {
		bracket->result.nr_written += folio_nr_pages(folio);
		if (!check_shown(bracket, folio, &bracket->nr_written) &&
		    !folio_test(folio, FOLIO_isolated)) {
			check_stranger(check, bracket, folio);
			if (folio_test(folio, PG_lru)) {
				lruvec_del_folio(folio->lruvec, folio);
				folio_clear(folio, PG_lru);
				folio_set(folio, FOLIO_isolated);
				list_add_tail(&folio->lru, &bracket->taken);
			}
		}
	}
	if (bracket && bracket->predicted && bracket->isolated) {
		check_looked_at(check, bracket, folio, OUTCOME_written);
		folio_set(folio, FOLIO_old);
	} else if (!bracket) {
		check_isolated_alone(check, folio);
	}
	if (!folio_test(folio, PG_swapcache))
		mm_charge_swap(&check->machine.mm, folio->lruvec->memcg,
			       (int64_t)folio_nr_pages(folio));
	folio_set(folio, PG_swapcache);
	queue = &check->swap[check_cpu(check)];
	if (queue->write_pid != check->event->pid) {
		/* No write: a page of zeroes, or compressed memory. */
		machine_swap_out(&check->machine, folio, 0, 0);
		return;
	}
	machine_swap_out(&check->machine, folio, swap_file(check, queue->write_dev, true),
			 queue->write_sector / SECTORS_PER_PAGE);
	folio_set(folio, PG_writeback | PG_reclaim);
	queue->write_pid = -1;
}

/* Nothing will tell when the batch drains, but for being full, and for drains that others cause. */
static void rotate_by_batch(struct check *check, struct folio *folio)
{
	struct mm *mm = &check->machine.mm;
	unsigned int cpu = check_cpu(check);

	if (!folio_test(folio, PG_lru) || folio_test(folio, PG_unevictable))
		return;
	lru_batch_queue(mm, cpu, BATCH_LRU_MOVE_TAIL, folio);
	if (mm->cpu[cpu].batch[BATCH_LRU_MOVE_TAIL].nr >= mm->config.rules.folio_batch_size)
		lru_batch_drain(mm, cpu, BATCH_LRU_MOVE_TAIL, DRAIN_full);
}

void check_rotate_later(struct check *check, struct folio *folio)
{
	struct rotation_queue *queue;

	if (!check->rotation) {
		rotate_by_batch(check, folio);
		return;
	}
	queue = &check->rotation[check_cpu(check)];
	if (folio_test(folio, PG_lru))
		folio_clear(folio, FOLIO_moved);
	else
		folio_set(folio, FOLIO_moved);
	if (queue->nr == ROTATION_ROOM) {
		memmove(queue->folio, queue->folio + 1,
			(ROTATION_ROOM - 1) * sizeof(queue->folio[0]));
		queue->nr--;
	}
	queue->folio[queue->nr++] = folio;
}

/* Whether a batch of its rotation holds a reference, so that who writes to it is not its only user. */
static bool waits_for_rotation(const struct check *check, const struct folio *folio)
{
	for (unsigned int cpu = 0; check->rotation && cpu < check->machine.mm.config.nr_cpus; cpu++)
		for (unsigned int i = 0; i < check->rotation[cpu].nr; i++)
			if (check->rotation[cpu].folio[i] == folio)
				return true;
	return folio->nr_batches;
}

/*
 * A fault finds its page in the swap cache: the readahead marker is taken from it, which is the same bit as
 * reclaim's on a folio being written, so that this one is not rotated when that ends.
 * Kernel: mm/swap_state.c, swap_update_readahead(), v6.18.
 */
void check_page_faulted(struct check *check)
{
	const bool mapped = check->event->value[PAGE_FAULT_USER_ERROR_CODE] & FAULT_PROTECTION;
	const struct anon_step *step;
	uint32_t nr;

	if (!check->world->anon)
		return;
	step = anon_steps(check->world->anon, &nr);
	for (uint32_t i = 0; i < nr; i++) {
		struct folio *folio = step[i].what == ANON_TOUCHED ?
					      check_known_folio(check, step[i].pfn) :
					      NULL;

		if (!folio || !folio_test(folio, PG_swapcache))
			continue;
		if (!mapped && !folio->order)
			folio_clear(folio, PG_reclaim);
		if (!folio_test(folio, PG_writeback) &&
		    ((step[i].write && !waits_for_rotation(check, folio)) ||
		     (!mapped && mm_swap_full(&check->machine.mm, folio->lruvec->memcg))))
			check_slot_freed(check, folio);
	}
}

/*
 * Kernel: mm/swapfile.c, folio_free_swap(), v6.18.
 * Differs: a page that is shared after a fork keeps its slot in the kernel. Where waiting for a rotation takes PG_lru (6.12),
 * the fault drains that batch, and the slot is free after it; here it is kept until the page is written out again.
 */
void check_slot_freed(struct check *check, struct folio *folio)
{
	struct mem_cgroup *memcg = folio->lruvec->memcg;
	int64_t pages = (int64_t)folio_nr_pages(folio);

	if (folio_test_clear(folio, PG_swapcache) && memcg->swap_pages >= pages)
		mm_charge_swap(&check->machine.mm, memcg, -pages);
}

void check_swapped_page_freed(struct check *check)
{
	struct mem_cgroup *memcg = check_task_memcg(check, check->event->pid);

	if (memcg->swap_pages > 0)
		mm_charge_swap(&check->machine.mm, memcg, -1);
	if (memcg->swapped_pages > 0)
		mm_charge_swapped(memcg, -1);
}

static void write_ended(struct check *check, struct folio *folio)
{
	folio_clear(folio, PG_writeback);
	if (folio_test_clear(folio, PG_reclaim) && !folio_test(folio, FOLIO_alone))
		check_rotate_later(check, folio);
}

void check_swap_io_ended(struct check *check)
{
	const uint64_t *v = check->event->value;
	uint64_t first = v[BLOCK_RQ_COMPLETE_SECTOR] / SECTORS_PER_PAGE;
	uint64_t nr = v[BLOCK_RQ_COMPLETE_NR_SECTOR] / SECTORS_PER_PAGE;

	if (!check->swap)
		return;
	for (unsigned int i = 0; i < check->nr_swap_files; i++) {
		for (uint64_t n = 0; n < nr && n < 65536; n++) {
			struct folio *folio = page_cache_folio(&check->machine.cache,
							       check->swap_file[i], first + n);

			if (folio && folio_test(folio, PG_writeback) && folio->index == first + n)
				write_ended(check, folio);
		}
	}
}

static bool fits(const struct folio *folio, const struct list_growth *growth)
{
	return folio_test(folio, PG_lru) && !folio_test(folio, PG_unevictable) &&
	       folio->lruvec->memcg->id == growth->memcg &&
	       (folio_lru_list(folio) & ~1u) == growth->lru &&
	       folio_nr_pages(folio) == growth->pages;
}

static bool fits_any(const struct folio *folio, const struct growth_burst *burst)
{
	for (unsigned int i = 0; i < burst->nr; i++)
		if (fits(folio, &burst->growth[i]))
			return true;
	return false;
}

static bool fitted_by_any(const struct list_growth *growth, const struct rotation_queue *queue)
{
	for (unsigned int i = 0; i < queue->nr; i++)
		if (fits(queue->folio[i], growth))
			return true;
	return false;
}

/* Kernel: mm/swap.c, lru_move_tail(), v6.18. */
static void rotate(struct check *check, struct folio *folio)
{
	struct rotated *rotated = check->rotated;
	struct list_head *head = &folio->lruvec->lists[folio_lru_list(folio)];
	unsigned int i = rotated->nr++ % ROTATED_ROOM;

	rotated->entry[i].folio = folio;
	rotated->entry[i].younger = folio->lru.prev == head ?
					    NULL :
					    list_entry(folio->lru.prev, struct folio, lru);
	lruvec_del_folio(folio->lruvec, folio);
	folio_clear(folio, PG_active);
	lruvec_add_folio_tail(folio->lruvec, folio);
}

void check_unrotate(struct check *check, struct folio *folio)
{
	const struct rotated *rotated = check->rotated;
	unsigned int nr = !rotated ? 0 : rotated->nr < ROTATED_ROOM ? rotated->nr : ROTATED_ROOM;
	struct folio *younger = NULL;

	for (unsigned int i = 1; i <= nr; i++)
		if (rotated->entry[(rotated->nr - i) % ROTATED_ROOM].folio == folio) {
			younger = rotated->entry[(rotated->nr - i) % ROTATED_ROOM].younger;
			break;
		}
	lruvec_add_folio(folio->lruvec, folio);
	if (younger && younger != folio && folio_test(younger, PG_lru) &&
	    younger->lruvec == folio->lruvec && folio_lru_list(younger) == folio_lru_list(folio))
		list_move(&folio->lru, &younger->lru);
}

void check_drain_begun(struct check *check, unsigned int cpu)
{
	const struct rotation_queue *queue = &check->rotation[cpu];

	for (unsigned int i = 0; i < queue->nr; i++)
		if (folio_test(queue->folio[i], FOLIO_isolated))
			folio_set(queue->folio[i], FOLIO_out);
		else
			folio_clear(queue->folio[i], FOLIO_out);
}

/* How little is to be believed that a drain moved this folio, 0 to 2. */
static unsigned int doubt(const struct folio *folio)
{
	return folio_test(folio, FOLIO_out | PG_active) ? 2 : folio_test(folio, FOLIO_moved);
}

/*
 * The folios of a request are queued one after the other, some time after the request's event. One that
 * was isolated meanwhile may have been found off its list, and not queued; one that was isolated when the
 * drain began, and was put back since, was not moved unless the two CPUs' events stand in the wrong order.
 * They count only if there are not enough of the others.
 */
/*
 * A file system that has something to do after a write, ext4 for blocks that were new, ends it in a
 * worker, on whatever CPU that runs: the oldest that fits on any other CPU.
 */
static bool rotate_of_other_cpu(struct check *check, unsigned int cpu,
				const struct list_growth *growth)
{
	for (unsigned int other = 0; other < check->machine.mm.config.nr_cpus; other++) {
		struct rotation_queue *queue = &check->rotation[other];

		for (unsigned int at = 0; other != cpu && at < queue->nr; at++) {
			struct folio *folio = queue->folio[at];

			if (!folio->file || folio_test(folio, PG_swapbacked) ||
			    !fits(folio, growth))
				continue;
			queue->nr--;
			memmove(queue->folio + at, queue->folio + at + 1,
				(queue->nr - at) * sizeof(queue->folio[0]));
			rotate(check, folio);
			return true;
		}
	}
	return false;
}

void check_rotated(struct check *check, unsigned int cpu, const struct growth_burst *burst)
{
	struct rotation_queue *queue = &check->rotation[cpu];
	unsigned int room[3], nr[3] = { 0 }, left = 0, used = 0, moved = 0, elsewhere = 0;

	for (unsigned int i = 0; i < queue->nr; i++)
		nr[doubt(queue->folio[i])] += fits_any(queue->folio[i], burst);
	for (unsigned int i = 0; queue->nr && i < burst->nr; i++)
		left += fitted_by_any(&burst->growth[i], queue);
	for (unsigned int i = 0; i < 3; i++) {
		room[i] = nr[i] < left ? nr[i] : left;
		left -= room[i];
	}
	/* Others' folios, files' for instance, lie between ours in the batch. */
	for (unsigned int i = 0; i < burst->nr; i++) {
		bool explained = false;

		for (unsigned int at = used; at < queue->nr; at++) {
			struct folio *folio = queue->folio[at];

			if (!fits(folio, &burst->growth[i]) || !room[doubt(folio)])
				continue;
			room[doubt(folio)]--;
			rotate(check, folio);
			moved++;
			used = at + 1;
			explained = true;
			break;
		}
		if (!explained)
			elsewhere += check_advice_drained(check, cpu, &burst->growth[i]) ||
				     (!fitted_by_any(&burst->growth[i], queue) &&
				      rotate_of_other_cpu(check, cpu, &burst->growth[i]));
	}
	check->undecided.unnamed += burst->nr - moved - elsewhere;
	/* A batch that was full leaves those behind whose turn comes after it, another drain none. */
	if (moved && !(burst->growth[0].flags & TRACE_FLAG_INTERRUPT) &&
	    burst->nr % check->machine.mm.config.rules.folio_batch_size)
		used = queue->nr;
	queue->nr -= used;
	memmove(queue->folio, queue->folio + used, queue->nr * sizeof(queue->folio[0]));
}
