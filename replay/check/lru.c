// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/parts.h"

#include <inttypes.h>
#include <string.h>

/* The recorded list is what happens; ages and statistics follow it, not the prediction. */
static void force_active(struct check *check, struct folio *folio, bool active)
{
	struct lruvec *lruvec = folio->lruvec;
	int64_t pages = (int64_t)folio_nr_pages(folio);
	int file = folio_is_file_lru(folio);
	enum lruvec_stat_item item = file ? WORKINGSET_ACTIVATE_FILE : WORKINGSET_ACTIVATE_ANON;

	/* Under MGLRU the event comes after the flag has been read, and says nothing of the generation. */
	if (check->machine.mm.policy->generations || active == folio_test(folio, PG_active))
		return;
	if (folio_test(folio, FOLIO_refaulted)) {
		lruvec->stat[item] += active ? pages : -pages;
	} else if (active) {
		world_infer(check->world, world_reads_known(check->world) ?
						  INFER_read_at_insertion :
						  INFER_second_read);
		/* Not even read once: its shadow is older than the tape. Reads of metadata are not on it. */
		if (file && world_reads_known(check->world) && !folio_test(folio, PG_referenced) &&
		    !check_is_metadata(check, folio))
			lruvec->stat[item] += pages;
	}
	workingset_age_nonresident(lruvec, (uint64_t)(active ? pages : -pages));
	if (active)
		folio_set(folio, PG_active);
	else
		folio_clear(folio, PG_active);
}

static void compare_insertion(struct check *check, struct folio *folio, enum lru_list recorded)
{
	const struct mem_cgroup *memcg = folio->lruvec->memcg;
	enum lru_list predicted = folio_lru_list(folio);
	bool refault_active = folio_test(folio, FOLIO_refault_active);

	if (check->machine.mm.policy->generations)
		return;
	/* Two reads while it waited would make it active, and they are not on the tape. */
	if (!world_reads_known(check->world) && folio->file &&
	    !folio_test(folio, FOLIO_refaulted) && !check_is_metadata(check, folio))
		return;
	if (predicted == recorded)
		check_equal(check, memcg, CHECK_insertion_list);
	else
		check_unequal(check, memcg, CHECK_insertion_list, "pfn %" PRIx32 " to %s|to %s",
			      folio->pfn, check_lru_name[predicted], check_lru_name[recorded]);
	if (!folio_test(folio, FOLIO_refaulted))
		return;
	/* Read twice while it waited: active either way, so the list says nothing of the refault. */
	if (!refault_active && folio_test(folio, PG_active))
		return;
	if (refault_active == (recorded & 1))
		check_equal(check, memcg, CHECK_refault_verdict);
	else
		check_unequal(check, memcg, CHECK_refault_verdict, "pfn %" PRIx32 " %s|%s",
			      folio->pfn, refault_active ? "active" : "inactive",
			      recorded & 1 ? "active" : "inactive");
}

/* Where allocations are not on the tape, the first anon folio after an exec stands for the stack's page. */
static bool is_stack(struct check *check, uint64_t pfn, struct world_task *task)
{
	if (task && task->exec_begun) {
		task->exec_begun = false;
		return true;
	}
	for (unsigned int i = 0; i < STACKS_ROOM; i++)
		if (check->stack_pfn[i] == pfn + 1) {
			check->stack_pfn[i] = 0;
			return true;
		}
	return false;
}

/*
 * An anon folio: its add is no event. A file folio whose add the tape does not have, because it
 * came earlier or was filtered out, is left alone: neither its reads nor its end can be told.
 */
static struct folio *inserted_anon(struct check *check, struct folio *folio, uint64_t flags,
				   const struct list_growth *growth)
{
	const struct tape_event *event = check->event;
	struct mem_cgroup *memcg = check_task_memcg(check, event->pid);
	struct world_task *task = world_task(check->world, event->pid);
	const bool allocated = folio && check->world->allocs_seen; /* named when it was read */
	unsigned int order = 0;

	if (!(flags & (INSERTION_ANON | INSERTION_SWAPBACKED))) {
		check->undecided.unseen_folio++;
		if (folio)
			machine_forget(&check->machine, folio);
		return NULL;
	}
	if (!folio && machine_anon_is_given(&check->machine, memcg))
		return NULL;
	if (!folio && growth) {
		uint32_t owner = world_memcg_by_id(check->world, growth->memcg);

		while (order < FOLIO_ORDER_LIMIT && UINT64_C(1) << order < growth->pages)
			order++;
		if (owner != WORLD_ROOT)
			memcg = machine_memcg(&check->machine, owner);
	} else if (!folio && check->world->allocs_seen &&
		   memcg == machine_memcg(&check->machine, check->world->command_memcg)) {
		memcg = check->machine.mm.root;
		world_infer(check->world, INFER_anon_of_before);
	} else if (!folio) {
		world_infer(check->world, INFER_anon_order_unknown);
		world_infer(check->world, INFER_anon_owner_by_inserter);
	}
	if (!folio)
		folio = check_born(check, event->value[MM_LRU_INSERTION_PFN], memcg, order);
	if (!folio)
		return NULL;
	world_infer(check->world, INFER_anon_added_at_insertion);
	/* While a stack is set up it counts as one that has no recency, see VM_STACK_INCOMPLETE_SETUP. */
	if (is_stack(check, folio->pfn, task)) {
		world_infer(check->world, INFER_exec_stack);
	} else {
		folio_set(folio, FOLIO_in_fault);
	}
	if (flags & INSERTION_SWAPBACKED)
		folio_set(folio, PG_swapbacked);
	if (flags & INSERTION_SWAPCACHE) {
		folio_set(folio, PG_swapcache);
		if (!allocated)
			check_swapped_in(check, folio);
	}
	check->world->nr_stimuli++;
	return folio;
}

static void folio_accessed(struct check *check, struct folio *folio);

void check_buffer_made(struct check *check, struct folio *folio)
{
	folio_set(folio, PG_referenced);
	check->run[check_cpu(check)].made = folio;
}

void check_buffer_found(struct check *check, unsigned int cpu)
{
	struct folio *folio = check->run[cpu].made;

	check->run[cpu].made = NULL;
	if (folio_test(folio, FOLIO_alive))
		folio_accessed(check, folio);
}

/*
 * The last one of a batch that drains as soon as it is added has filled it, and is found after that.
 * Return: the folio is one.
 */
static bool is_found_later(struct check *check, const struct folio *folio)
{
	unsigned int cpu = check_cpu(check);
	const struct insertion_run *run = &check->run[cpu];

	if (run->made != folio)
		return false;
	if (run->nr % check->machine.mm.config.rules.folio_batch_size == 0)
		return true;
	check_buffer_found(check, cpu);
	return false;
}

void check_inserted(struct check *check)
{
	struct mm *mm = &check->machine.mm;
	const uint64_t *v = check->event->value;
	struct folio *folio;
	uint64_t flags = v[MM_LRU_INSERTION_FLAGS];
	const struct list_growth *growth = check_growth_of(check, v[MM_LRU_INSERTION_LRU]);
	enum lru_list recorded;
	bool was_known, waited = false, found_later = false, put_back = false;

	if (v[MM_LRU_INSERTION_LRU] >= NR_LRU_LISTS)
		return;
	check_migrated(check);
	folio = check_known_folio(check, v[MM_LRU_INSERTION_PFN]);
	was_known = folio;
	recorded = (enum lru_list)v[MM_LRU_INSERTION_LRU];
	if (folio && folio_test(folio, FOLIO_in_add_batch)) {
		waited = true;
		found_later = is_found_later(check, folio);
		lru_batch_remove(mm, folio->cpu, BATCH_LRU_ADD, folio);
	} else if (folio && folio_test(folio, PG_lru) &&
		   (check->world->single_frees || !(flags & INSERTION_ANON && !folio->order))) {
		world_infer(check->world, INFER_reinserted);
		mm->policy->folio_removed(mm, folio->lruvec, folio);
		force_active(check, folio, recorded & 1);
		put_back = true;
	} else if (folio && folio_test(folio, FOLIO_isolated)) {
		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated | FOLIO_alone);
		force_active(check, folio, recorded & 1);
		put_back = true;
	} else {
		/* Frees of single pages may be filtered out: an old folio of this frame is over. */
		if (folio && folio_test(folio, PG_lru))
			folio = NULL;
		folio = inserted_anon(check, folio, flags, growth);
		if (!folio)
			return;
		was_known &= folio->order > 0;
	}
	if (flags & INSERTION_MAPPED && !(flags & INSERTION_ANON)) {
		folio_set(folio, FOLIO_mapped);
		check->world->file[folio->file].mapped = !check->world->mappings_seen;
	}
	if (recorded == LRU_UNEVICTABLE)
		folio_set(folio, PG_unevictable);
	else if (put_back)
		; /* its list was decided when it first came on one */
	else if (waited || folio_test(folio, FOLIO_refaulted) ||
		 (was_known && (flags & INSERTION_ANON) && !(flags & INSERTION_SWAPCACHE)))
		compare_insertion(check, folio, recorded);
	else
		check->undecided.unseen_folio++;
	if (recorded != LRU_UNEVICTABLE)
		force_active(check, folio, recorded & 1);
	mm->policy->folio_added(mm, folio->lruvec, folio);
	folio_set(folio, PG_lru);
	if (found_later)
		check_buffer_found(check, check_cpu(check));
	check->run[check_cpu(check)].ends_large = folio->order >=
						  mm->config.rules.lru_cached_order_limit;
}

static bool would_activate(const struct folio *folio)
{
	return folio_test(folio, PG_lru) && !folio_test(folio, PG_active | PG_unevictable);
}

static void activation_missing(struct check *check, struct expected_drain *drain, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct folio *folio = drain->folio[i];

		check->about = folio;
		if (folio_test(folio, FOLIO_alive) && would_activate(folio) &&
		    !check_is_metadata(check, folio) && !migrations_hold(check->world, folio->pfn))
			check_unequal(check, folio->lruvec->memcg, CHECK_activation,
				      "pfn %" PRIx32 " activated|not activated", folio->pfn);
	}
	check->about = NULL;
	drain->nr -= nr;
	memmove(drain->folio, drain->folio + nr, drain->nr * sizeof(drain->folio[0]));
}

/* The lru_activate batch drains on this CPU: these folios' events must come next, in this order. */
static void expect_drain(struct check *check, unsigned int cpu)
{
	struct mm *mm = &check->machine.mm;
	struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ACTIVATE];
	struct expected_drain *drain = &check->draining[cpu];

	if (drain->event != check->nr_events || drain->nr > 3 * FOLIO_BATCH_ROOM)
		activation_missing(check, drain, drain->nr);
	drain->event = check->nr_events;
	while (batch->nr) {
		struct folio *folio = batch->folio[0];

		lru_batch_remove(mm, cpu, BATCH_LRU_ACTIVATE, folio);
		if (would_activate(folio))
			drain->folio[drain->nr++] = folio;
	}
}

/*
 * A run of insertions that is no whole number of batches was lru_add_drain(), which empties the
 * lru_activate batch as well. Entries that nothing happens to have no event: they go here.
 */
void check_insertions_over(struct check *check, unsigned int cpu)
{
	struct mm *mm = &check->machine.mm;
	struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ACTIVATE];
	struct insertion_run *run = &check->run[cpu];

	if (run->nr % mm->config.rules.folio_batch_size && !run->ends_large) {
		if (!check->growth)
			lru_batch_drain(mm, cpu, BATCH_LRU_MOVE_TAIL, DRAIN_recorded);
		for (unsigned int i = batch->nr; i-- > 0;)
			if (!would_activate(batch->folio[i]))
				lru_batch_remove_at(mm, cpu, BATCH_LRU_ACTIVATE, i);
	}
	run->nr = 0;
	run->ends_large = false;
}

static void folio_accessed(struct check *check, struct folio *folio)
{
	struct mm *mm = &check->machine.mm;
	unsigned int cpu = check_cpu(check);
	struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ACTIVATE];
	unsigned int before = batch->nr;

	mm->policy->folio_accessed(mm, cpu, folio);
	if (batch->nr > before && (batch->nr >= mm->config.rules.folio_batch_size ||
				   folio->order >= mm->config.rules.lru_cached_order_limit))
		expect_drain(check, cpu);
}

/*
 * A read marks each folio it covers, but the first one only if the reader's previous read did not
 * end in it. Kernel: mm/filemap.c, filemap_read(), v6.18.
 */
void check_pages_read(struct check *check, uint64_t read_end)
{
	const uint64_t *v = check->event->value;
	uint32_t file = world_file(check->world, v[MM_FILEMAP_GET_PAGES_S_DEV],
				   v[MM_FILEMAP_GET_PAGES_I_INO]);
	struct world_reader *reader = world_reader(check->world, check->event->pid, file);
	uint64_t page = world_read_begin(check->world, check->event);
	bool first = true;

	if (!reader)
		return;
	check->world->nr_stimuli++;
	while (page <= read_end) {
		struct folio *folio = page_cache_folio(&check->machine.cache, file, page);
		uint64_t next = folio ? folio->index + folio_nr_pages(folio) : page + 1;

		if (!folio && !page_cache_slot(&check->machine.cache, file, page))
			check->world->file[file].has_older = true;
		if (folio &&
		    !(first && reader->prev_page >= folio->index && reader->prev_page < next))
			folio_accessed(check, folio);
		first = false;
		if (next <= page)
			break;
		page = next;
	}
}

void check_buffer_touched(struct check *check)
{
	uint32_t file = world_touched_file(check->world, check->event);
	struct folio *folio = file ? page_cache_folio(&check->machine.cache, file,
						      world_touched_page(check->event)) :
				     NULL;

	if (!folio)
		return;
	check->world->nr_stimuli++;
	folio_accessed(check, folio);
}

static bool is_in_batch(const struct folio_batch *batch, const struct folio *folio)
{
	for (unsigned int i = 0; i < batch->nr; i++)
		if (batch->folio[i] == folio)
			return true;
	return false;
}

/* Where a folio stands among those expected, -1: nowhere. Accessed four times, it stands there twice. */
static int place_in_drain(const struct expected_drain *drain, const struct folio *folio)
{
	for (unsigned int i = 0; i < drain->nr; i++)
		if (drain->folio[i] == folio)
			return (int)i;
	return -1;
}

void check_activated(struct check *check)
{
	struct mm *mm = &check->machine.mm;
	unsigned int cpu = check_cpu(check);
	struct expected_drain *drain = &check->draining[cpu];
	struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ACTIVATE];
	struct folio *folio = check_known_folio(check, check->event->value[MM_LRU_ACTIVATE_PFN]);
	int place;

	check_growth_of(check, folio ? (uint64_t)folio_lru_list(folio) | 1 : LRU_ACTIVE_FILE);
	/* A single anon page's free may be filtered out: the frame is most likely somebody else's. */
	if (folio && folio_test(folio, PG_swapbacked) && !folio->order &&
	    !check->world->single_frees) {
		machine_forget(&check->machine, folio);
		folio = NULL;
	}
	if (!folio) {
		check->undecided.unseen_folio++;
		return;
	}
	place = place_in_drain(drain, folio);
	if (place < 0 && is_in_batch(batch, folio)) {
		/* A drain that somebody else caused, with the batch not yet full: all of it goes. */
		expect_drain(check, cpu);
		place = place_in_drain(drain, folio);
	}
	if (place >= 0) {
		activation_missing(check, drain, (unsigned int)place);
		drain->nr--;
		memmove(drain->folio, drain->folio + 1, drain->nr * sizeof(drain->folio[0]));
	}
	if (check_is_metadata(check, folio) && place < 0) {
		check->undecided.metadata++; /* not each look-up of a block is told */
	} else if (!world_reads_known(check->world) && !check_is_metadata(check, folio)) {
		world_infer(check->world, INFER_second_read);
		check->world->nr_stimuli++;
		workingset_age_nonresident(folio->lruvec, folio_nr_pages(folio));
	} else if (place >=
		   0) { /* those that should have come first have been counted as missing */
		check_equal(check, folio->lruvec->memcg, CHECK_activation);
	} else if (folio_test(folio, FOLIO_mapped | PG_swapbacked)) {
		/* A young page table entry that went: folio_mark_accessed(), and perhaps not the first. */
		check->undecided.zapped_young++;
		folio_clear(folio, PG_referenced);
		workingset_age_nonresident(folio->lruvec, folio_nr_pages(folio));
	} else {
		check_unequal(check, folio->lruvec->memcg, CHECK_activation,
			      "not activated|pfn %" PRIx32 " activated", folio->pfn);
		world_infer(check->world, INFER_read_at_insertion);
		folio_clear(folio, PG_referenced);
		workingset_age_nonresident(folio->lruvec, folio_nr_pages(folio));
	}
	if (folio_test(folio, PG_lru))
		mm->policy->folio_activated(mm, folio->lruvec, folio);
}

/* A drain by reclaim on this CPU is over: whatever it left in the batch was not activated. */
void check_drained_by_reclaim(struct check *check)
{
	unsigned int cpu = check_cpu(check);

	lru_batch_drain(&check->machine.mm, cpu, BATCH_LRU_MOVE_TAIL, DRAIN_reclaim);
	expect_drain(check, cpu);
	activation_missing(check, &check->draining[cpu], check->draining[cpu].nr);
}
