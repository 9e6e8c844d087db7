// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/machine.h"

#define GFP_MOVABLE 0x8
#define INSERTION_MAPPED 1
#define INSERTION_ANON 2
#define INSERTION_SWAPCACHE 8
#define INSERTION_SWAPBACKED 0x10
#define PFN_NONE UINT64_MAX
#define MAPPED_PAGES_LIMIT 512 /* of one fault-around window */

/* Isolated by reclaim, and a younger one was evicted before it: it survived. */
#define FOLIO_survivor (1u << 30)
/*
 * Should have been evicted, and no event says why it was not, or whether it was isolated at all:
 * perhaps a folio that the tape has never shown stood in its place. The next isolation will tell.
 */
#define FOLIO_doubtful (1u << 31)

/* One reclaim call of a task, from its begin event to its end event. */
struct reclaim_bracket {
	struct mem_cgroup *target; /* NULL: global */
	bool predicted; /* a memcg all of whose folios are known */
	struct reclaim_walk walk;
	bool has_request; /* the walk's next isolation, asked for ahead of time */
	struct scan_request request;
	bool isolated; /* folios are out, the shrink event has not come */
	struct scan_request applied; /* as the tape shows it */
	struct list_head taken;
	struct scan_result result;
	uint64_t strangers; /* pages of victims that were not among the isolated */
	bool confused; /* one of them was clean: two CPUs' events stand in the wrong order */
	uint64_t predicted_reclaimed; /* pages */
	bool total_unknown; /* folios were evicted whose writeback ended unseen */
};

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
};

struct check {
	struct world *world;
	struct machine machine;
	const struct tape_event *event; /* the current one */
	uint64_t nr_events; /* up to it */
	struct expected_drain *draining; /* by CPU */
	struct insertion_run *run; /* by CPU */
	uint32_t nr_tallies;
	struct check_tally (*tally)[NR_CHECK_DECISIONS]; /* by the world's memcg number */
	struct check_undecided undecided;
	uint64_t nr_foreign;
	struct check_mismatch *explained;
	unsigned int nr_explain, nr_explained;
	bool failed;
};

static const char *const lru_name[NR_LRU_LISTS] = {
	"inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable",
};

const char *check_name(enum check_decision decision)
{
	static const char *const name[NR_CHECK_DECISIONS] = {
#define DECISION(number, name, meaning) [number] = #name,
#include "replay/decisions.def"
	};

	return name[decision];
}

struct check *check_open(struct world *world, const struct policy_choice *choice,
			 unsigned int nr_explain)
{
	struct check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->world = world;
	if (machine_init(&check->machine, world, choice, true))
		goto err_free;
	check->draining = calloc(check->machine.mm.config.nr_cpus, sizeof(*check->draining));
	check->run = calloc(check->machine.mm.config.nr_cpus, sizeof(*check->run));
	check->nr_explain = nr_explain;
	check->explained = calloc(nr_explain + 1, sizeof(*check->explained));
	if (!check->draining || !check->run || !check->explained)
		goto err_exit;
	return check;

err_exit:
	free(check->draining);
	free(check->run);
	free(check->explained);
	machine_exit(&check->machine);
err_free:
	free(check);
	return NULL;
}

void check_close(struct check *check)
{
	struct world *world = check->world;

	for (uint64_t i = 0; i <= world->task_mask; i++) {
		if (!world->task[i])
			continue;
		free(world->task[i]->bracket);
		world->task[i]->bracket = NULL;
	}
	machine_exit(&check->machine);
	free(check->draining);
	free(check->run);
	free(check->tally);
	free(check->explained);
	free(check);
}

bool check_failed(const struct check *check)
{
	return check->failed || check->machine.failed || check->machine.mm.out_of_memory ||
	       check->world->out_of_memory;
}

const struct check_tally *check_tally(const struct check *check, uint32_t memcg,
				      enum check_decision decision)
{
	if (memcg >= check->nr_tallies || !check->tally[memcg][decision].decided)
		return NULL;
	return &check->tally[memcg][decision];
}

const struct check_undecided *check_undecided(const struct check *check)
{
	return &check->undecided;
}

uint64_t check_foreign(const struct check *check)
{
	return check->nr_foreign;
}

const struct check_mismatch *check_mismatch(const struct check *check, unsigned int i)
{
	return i < check->nr_explained ? &check->explained[i] : NULL;
}

/* ---- counting */

static struct check_tally *tally_of(struct check *check, const struct mem_cgroup *memcg,
				    enum check_decision decision, uint32_t *number)
{
	*number = machine_number(&check->machine, memcg);
	if (*number >= check->nr_tallies) {
		uint32_t nr = *number + 16;
		void *bigger = realloc(check->tally, nr * sizeof(*check->tally));

		if (!bigger) {
			check->failed = true;
			return NULL;
		}
		check->tally = bigger;
		memset(check->tally + check->nr_tallies, 0,
		       (nr - check->nr_tallies) * sizeof(*check->tally));
		for (uint32_t n = check->nr_tallies; n < nr; n++)
			for (int d = 0; d < NR_CHECK_DECISIONS; d++)
				check->tally[n][d].first_mismatch_ns = UINT64_MAX;
		check->nr_tallies = nr;
	}
	return &check->tally[*number][decision];
}

static void decided_equal(struct check *check, const struct mem_cgroup *memcg,
			  enum check_decision decision)
{
	uint32_t number;
	struct check_tally *tally = tally_of(check, memcg, decision, &number);

	if (!tally)
		return;
	tally->decided++;
	tally->equal++;
}

/* The lruvec's sizes and the walk's place, as far as they bear on a decision. */
static void describe_state(struct check *check, const struct mem_cgroup *memcg, char *text)
{
	const struct lruvec *lruvec = &memcg->lruvec[0];
	const struct world_task *task = world_task(check->world, check->event->pid);
	const struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	int n = snprintf(text, CHECK_STATE_BYTES,
			 "lists (pages now, at the last flush): inactive_anon %" PRId64 " %" PRId64
			 ", active_anon %" PRId64 " %" PRId64 ", inactive_file %" PRId64 " %" PRId64
			 ", active_file %" PRId64 " %" PRId64 "; nonresident_age %" PRIu64,
			 lruvec_lru_size(lruvec, LRU_INACTIVE_ANON), lruvec->flushed[0],
			 lruvec_lru_size(lruvec, LRU_ACTIVE_ANON), lruvec->flushed[1],
			 lruvec_lru_size(lruvec, LRU_INACTIVE_FILE), lruvec->flushed[2],
			 lruvec_lru_size(lruvec, LRU_ACTIVE_FILE), lruvec->flushed[3],
			 lruvec->nonresident_age);

	if (bracket && n > 0 && n < CHECK_STATE_BYTES)
		snprintf(text + n, (size_t)(CHECK_STATE_BYTES - n),
			 "; in reclaim at priority %d, %" PRIu64 " of %" PRIu64
			 " pages reclaimed, may deactivate file %d",
			 bracket->walk.sc.priority, bracket->walk.sc.nr_reclaimed,
			 bracket->walk.sc.nr_to_reclaim, bracket->walk.sc.may_deactivate[1]);
}

static void __attribute__((format(printf, 4, 5)))
decided_unequal(struct check *check, const struct mem_cgroup *memcg, enum check_decision decision,
		const char *format, ...)
{
	char text[2 * CHECK_SIDE_BYTES], *recorded;
	struct check_mismatch *mismatch;
	struct check_tally *tally;
	uint32_t number;
	va_list args;

	tally = tally_of(check, memcg, decision, &number);
	if (!tally)
		return;
	tally->decided++;
	if (tally->first_mismatch_ns != UINT64_MAX && check->nr_explained == check->nr_explain)
		return;

	/* The format is "predicted|recorded". */
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	recorded = strchr(text, '|');
	assert(recorded);
	*recorded++ = '\0';
	if (tally->first_mismatch_ns == UINT64_MAX) {
		tally->first_mismatch_ns = check->event->timestamp_ns;
		snprintf(tally->predicted, CHECK_SIDE_BYTES, "%.*s", CHECK_SIDE_BYTES - 1, text);
		snprintf(tally->recorded, CHECK_SIDE_BYTES, "%.*s", CHECK_SIDE_BYTES - 1, recorded);
	}
	if (check->nr_explained == check->nr_explain)
		return;
	mismatch = &check->explained[check->nr_explained++];
	mismatch->timestamp_ns = check->event->timestamp_ns;
	mismatch->memcg = number;
	mismatch->cpu = check->event->cpu;
	mismatch->pid = check->event->pid;
	mismatch->decision = decision;
	snprintf(mismatch->predicted, CHECK_SIDE_BYTES, "%.*s", CHECK_SIDE_BYTES - 1, text);
	snprintf(mismatch->recorded, CHECK_SIDE_BYTES, "%.*s", CHECK_SIDE_BYTES - 1, recorded);
	describe_state(check, memcg, mismatch->state);
}

/* ---- folios */

static struct folio *known_folio(struct check *check, uint64_t pfn)
{
	struct folio *folio = memmap_folio(&check->machine.mm.memmap, pfn);

	return folio && folio_test(folio, FOLIO_alive) ? folio : NULL;
}

static unsigned int event_cpu(const struct check *check)
{
	unsigned int nr = check->machine.mm.config.nr_cpus;

	return check->event->cpu < nr ? check->event->cpu : nr - 1;
}

static struct mem_cgroup *task_memcg(struct check *check, int32_t pid)
{
	struct world_task *task = world_task(check->world, pid);

	return machine_memcg(&check->machine, task ? task->memcg : WORLD_ROOT);
}

/* The frame begins a new life: whatever the tape did not tell of the old one's end is over. */
static struct folio *born(struct check *check, uint64_t pfn, struct mem_cgroup *memcg,
			  uint64_t order)
{
	struct folio *old = known_folio(check, pfn);

	if (order > FOLIO_ORDER_LIMIT)
		return NULL;
	if (old)
		machine_forget(&check->machine, old);
	return mm_folio_born(&check->machine.mm, pfn, memcg, (uint8_t)order);
}

static bool is_metadata(const struct check *check, const struct folio *folio)
{
	return folio->file && check->world->file[folio->file].block_device;
}

static void page_allocated(struct check *check)
{
	const uint64_t *v = check->event->value;

	struct world_task *task = world_task(check->world, check->event->pid);

	if (v[MM_PAGE_ALLOC_PFN] == PFN_NONE || !(v[MM_PAGE_ALLOC_GFP_FLAGS] & GFP_MOVABLE))
		return;
	check->world->nr_stimuli++;
	if (task)
		task->fresh_pfn = v[MM_PAGE_ALLOC_PFN] + 1;
	born(check, v[MM_PAGE_ALLOC_PFN], task_memcg(check, check->event->pid),
	     v[MM_PAGE_ALLOC_ORDER]);
}

static void page_freed(struct check *check)
{
	struct folio *folio = known_folio(check, check->event->value[MM_PAGE_FREE_PFN]);

	check->world->nr_stimuli++;
	if (folio)
		machine_forget(&check->machine, folio);
}

static void file_folio_added(struct check *check)
{
	const uint64_t *v = check->event->value;
	uint64_t order = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER];
	uint32_t file = world_file(check->world, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO]);
	struct world_task *task = world_task(check->world, check->event->pid);
	uint64_t index = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX];
	struct folio *folio;
	bool for_write;

	check->world->nr_stimuli++;
	if (order == TAPE_VALUE_ABSENT)
		order = 0; /* no such field up to 5.15, where file folios are single pages */
	folio = born(check, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN],
		     task_memcg(check, check->event->pid), order);
	if (!folio || !task)
		return;
	for_write = world_added_for_write(check->world, task, file, index);
	if (for_write)
		world_infer(check->world, INFER_added_for_write);
	machine_add_file_folio(&check->machine, folio, file, index, event_cpu(check), for_write);
	machine_lock_new(&check->machine, task, folio);
}

/* "MAJOR:MINOR", the name of a block device's bdi, as s_dev. Return: it is one. */
static bool parse_bdi(const char *name, uint64_t *dev)
{
	unsigned int major, minor;

	if (sscanf(name, "%u:%u", &major, &minor) != 2)
		return false;
	*dev = (uint64_t)major << 20 | minor;
	return true;
}

static void folio_dirtied(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct folio *folio;
	uint64_t dev;

	if (!parse_bdi(tape_event_string(check->event, WRITEBACK_DIRTY_FOLIO_NAME, NULL), &dev))
		return;
	check->world->nr_stimuli++;
	folio = page_cache_folio(&check->machine.cache,
				 world_file(check->world, dev, v[WRITEBACK_DIRTY_FOLIO_INO]),
				 v[WRITEBACK_DIRTY_FOLIO_INDEX]);
	if (!folio)
		return;
	folio_set(folio, PG_dirty);
	folio_clear(folio, PG_reclaim);
}

/* ---- insertion */

/* The recorded list is what happens; ages and statistics follow it, not the prediction. */
static void force_active(struct check *check, struct folio *folio, bool active)
{
	struct lruvec *lruvec = folio->lruvec;
	int64_t pages = (int64_t)folio_nr_pages(folio);
	int file = folio_is_file_lru(folio);
	enum lruvec_stat_item item = file ? WORKINGSET_ACTIVATE_FILE : WORKINGSET_ACTIVATE_ANON;

	if (active == folio_test(folio, PG_active))
		return;
	if (folio_test(folio, FOLIO_refaulted)) {
		lruvec->stat[item] += active ? pages : -pages;
	} else if (active) {
		world_infer(check->world, INFER_read_at_insertion);
		/* Not even read once: its shadow is older than the tape. */
		if (file && !folio_test(folio, PG_referenced))
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

	if (is_metadata(check, folio)) {
		check->undecided.metadata++;
		world_infer(check->world, INFER_block_device_accessed);
		return;
	}
	if (predicted == recorded)
		decided_equal(check, memcg, CHECK_insertion_list);
	else
		decided_unequal(check, memcg, CHECK_insertion_list, "pfn %" PRIx32 " to %s|to %s",
				folio->pfn, lru_name[predicted], lru_name[recorded]);
	if (!folio_test(folio, FOLIO_refaulted))
		return;
	/* Read twice while it waited: active either way, so the list says nothing of the refault. */
	if (!refault_active && folio_test(folio, PG_active))
		return;
	if (refault_active == (recorded & 1))
		decided_equal(check, memcg, CHECK_refault_verdict);
	else
		decided_unequal(check, memcg, CHECK_refault_verdict, "pfn %" PRIx32 " %s|%s",
				folio->pfn, refault_active ? "active" : "inactive",
				recorded & 1 ? "active" : "inactive");
}

/*
 * An anon folio: its add is no event. A file folio whose add the tape does not have, because it
 * came earlier or was filtered out, is left alone: neither its reads nor its end can be told.
 */
static struct folio *inserted_anon(struct check *check, struct folio *folio, uint64_t flags)
{
	const struct tape_event *event = check->event;
	struct mem_cgroup *memcg = task_memcg(check, event->pid);

	if (!(flags & INSERTION_ANON)) {
		check->undecided.unseen_folio++;
		if (folio)
			machine_forget(&check->machine, folio);
		return NULL;
	}
	if (!folio && machine_anon_is_given(&check->machine, memcg))
		return NULL;
	if (!folio) {
		folio = born(check, event->value[MM_LRU_INSERTION_PFN], memcg, 0);
		if (!folio)
			return NULL;
		world_infer(check->world, INFER_anon_order_unknown);
		world_infer(check->world, INFER_anon_owner_by_inserter);
	}
	world_infer(check->world, INFER_anon_added_at_insertion);
	if (flags & INSERTION_SWAPBACKED)
		folio_set(folio, PG_swapbacked);
	if (flags & INSERTION_SWAPCACHE)
		folio_set(folio, PG_swapcache);
	check->world->nr_stimuli++;
	return folio;
}

static void lru_inserted(struct check *check)
{
	struct mm *mm = &check->machine.mm;
	const uint64_t *v = check->event->value;
	struct folio *folio = known_folio(check, v[MM_LRU_INSERTION_PFN]);
	uint64_t flags = v[MM_LRU_INSERTION_FLAGS];
	enum lru_list recorded;
	bool was_known = folio, waited = false;

	if (v[MM_LRU_INSERTION_LRU] >= NR_LRU_LISTS)
		return;
	recorded = (enum lru_list)v[MM_LRU_INSERTION_LRU];
	if (folio && folio_test(folio, FOLIO_in_add_batch)) {
		waited = true;
		lru_batch_remove(mm, folio->cpu, BATCH_LRU_ADD, folio);
	} else if (folio && folio_test(folio, PG_lru) &&
		   !(flags & INSERTION_ANON && !folio->order)) {
		world_infer(check->world, INFER_reinserted);
		mm->policy->folio_removed(mm, folio->lruvec, folio);
		force_active(check, folio, recorded & 1);
	} else if (folio && folio_test(folio, FOLIO_isolated)) {
		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated);
		force_active(check, folio, recorded & 1);
	} else {
		/* Frees of single pages may be filtered out: an old folio of this frame is over. */
		if (folio && folio_test(folio, PG_lru))
			folio = NULL;
		folio = inserted_anon(check, folio, flags);
		if (!folio)
			return;
		was_known &= folio->order > 0;
	}
	if (flags & INSERTION_MAPPED && !(flags & INSERTION_ANON))
		folio_set(folio, FOLIO_mapped);
	if (recorded == LRU_UNEVICTABLE)
		folio_set(folio, PG_unevictable);
	else if (waited ||
		 (was_known && (flags & INSERTION_ANON) && !(flags & INSERTION_SWAPCACHE)))
		compare_insertion(check, folio, recorded);
	else
		check->undecided.unseen_folio++;
	if (recorded != LRU_UNEVICTABLE)
		force_active(check, folio, recorded & 1);
	mm->policy->folio_added(mm, folio->lruvec, folio);
	folio_set(folio, PG_lru);
	check->run[event_cpu(check)].ends_large = folio->order >=
						  mm->config.rules.lru_cached_order_limit;
}

/* Page tables point to these now, and nothing will tell when they do not any more. */
static void pages_mapped(struct check *check, uint64_t dev, uint64_t ino, uint64_t index,
			 uint64_t last)
{
	uint32_t file = world_file(check->world, dev, ino);

	for (uint64_t n = 0; index <= last && n < MAPPED_PAGES_LIMIT; index++, n++) {
		struct folio *folio = page_cache_folio(&check->machine.cache, file, index);

		if (folio)
			folio_set(folio, FOLIO_mapped);
	}
}

/* ---- access and activation */

static bool would_activate(const struct folio *folio)
{
	return folio_test(folio, PG_lru) && !folio_test(folio, PG_active | PG_unevictable);
}

static void activation_missing(struct check *check, struct expected_drain *drain, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct folio *folio = drain->folio[i];

		if (folio_test(folio, FOLIO_alive) && would_activate(folio) &&
		    !is_metadata(check, folio))
			decided_unequal(check, folio->lruvec->memcg, CHECK_activation,
					"pfn %" PRIx32 " activated|not activated", folio->pfn);
	}
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
static void insertions_over(struct check *check, unsigned int cpu)
{
	struct mm *mm = &check->machine.mm;
	struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ACTIVATE];
	struct insertion_run *run = &check->run[cpu];

	if (run->nr % mm->config.rules.folio_batch_size && !run->ends_large)
		for (unsigned int i = batch->nr; i-- > 0;)
			if (!would_activate(batch->folio[i]))
				lru_batch_remove_at(mm, cpu, BATCH_LRU_ACTIVATE, i);
	run->nr = 0;
	run->ends_large = false;
}

static void folio_accessed(struct check *check, struct folio *folio)
{
	struct mm *mm = &check->machine.mm;
	unsigned int cpu = event_cpu(check);
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
static void pages_read(struct check *check, uint64_t read_end)
{
	const uint64_t *v = check->event->value;
	uint32_t file = world_file(check->world, v[MM_FILEMAP_GET_PAGES_S_DEV],
				   v[MM_FILEMAP_GET_PAGES_I_INO]);
	struct world_reader *reader = world_reader(check->world, check->event->pid, file);
	uint64_t page = v[MM_FILEMAP_GET_PAGES_INDEX];
	bool first = true;

	if (!reader)
		return;
	check->world->nr_stimuli++;
	while (page <= read_end) {
		struct folio *folio = page_cache_folio(&check->machine.cache, file, page);
		uint64_t next = folio ? folio->index + folio_nr_pages(folio) : page + 1;

		if (folio &&
		    !(first && reader->prev_page >= folio->index && reader->prev_page < next))
			folio_accessed(check, folio);
		first = false;
		if (next <= page)
			break;
		page = next;
	}
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

static void lru_activated(struct check *check)
{
	struct mm *mm = &check->machine.mm;
	unsigned int cpu = event_cpu(check);
	struct expected_drain *drain = &check->draining[cpu];
	struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ACTIVATE];
	struct folio *folio = known_folio(check, check->event->value[MM_LRU_ACTIVATE_PFN]);
	int place;

	/* A single anon page's free may be filtered out: the frame is most likely somebody else's. */
	if (folio && folio_test(folio, PG_swapbacked) && !folio->order) {
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
	if (is_metadata(check, folio)) {
		check->undecided.metadata++;
	} else if (place >=
		   0) { /* those that should have come first have been counted as missing */
		decided_equal(check, folio->lruvec->memcg, CHECK_activation);
	} else {
		decided_unequal(check, folio->lruvec->memcg, CHECK_activation,
				"not activated|pfn %" PRIx32 " activated", folio->pfn);
		world_infer(check->world, INFER_read_at_insertion);
		folio_clear(folio, PG_referenced);
		workingset_age_nonresident(folio->lruvec, folio_nr_pages(folio));
	}
	if (folio_test(folio, PG_lru))
		mm->policy->folio_activated(mm, folio->lruvec, folio);
}

/* ---- reclaim */

static bool all_folios_known(struct mem_cgroup *top)
{
	for (struct mem_cgroup *memcg = top; memcg; memcg = mem_cgroup_next(top, memcg))
		if (memcg->lruvec[0].unseen[LRU_INACTIVE_FILE] ||
		    memcg->lruvec[0].unseen[LRU_ACTIVE_FILE])
			return false;
	return true;
}

/* Pages of the folio that a task has allocated and is being charged for. */
static uint64_t charge_pages(struct check *check, const struct world_task *task)
{
	struct folio *folio = task->fresh_pfn ? known_folio(check, task->fresh_pfn - 1) : NULL;

	return folio && !folio_test(folio, PG_lru | FOLIO_in_add_batch) && !folio->file ?
		       folio_nr_pages(folio) :
		       1;
}

static void bracket_advance(struct reclaim_bracket *bracket)
{
	bracket->has_request = reclaim_walk_next(&bracket->walk, &bracket->request);
}

/* Folios that are out, because the events of their putback were lost, go back. */
static void give_back(struct check *check, struct reclaim_bracket *bracket)
{
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next)
		folio_clear(list_entry(pos, struct folio, lru), FOLIO_survivor | FOLIO_doubtful);
	if (!list_empty(&bracket->taken))
		check->machine.mm.policy->putback(&check->machine.mm, &bracket->applied,
						  &bracket->taken);
}

/* Pages of a subtree that are charged and wait in lru_add batches. */
static int64_t waiting_pages(const struct check *check, const struct mem_cgroup *top)
{
	const struct mm *mm = &check->machine.mm;
	int64_t pages = 0;

	for (unsigned int cpu = 0; cpu < mm->config.nr_cpus; cpu++) {
		const struct folio_batch *batch = &mm->cpu[cpu].batch[BATCH_LRU_ADD];

		for (unsigned int i = 0; i < batch->nr; i++) {
			const struct mem_cgroup *memcg = batch->folio[i]->lruvec->memcg;

			while (memcg && memcg != top)
				memcg = memcg->parent;
			pages += memcg ? (int64_t)folio_nr_pages(batch->folio[i]) : 0;
		}
	}
	return pages;
}

/* The memcg is at its limit now; its own part of that which is on no list is the rest. */
static void note_overhead(struct check *check, struct mem_cgroup *target)
{
	int64_t listed = 0;

	if (target->max_pages == MEMCG_UNLIMITED)
		return;
	for (struct mem_cgroup *memcg = target; memcg; memcg = mem_cgroup_next(target, memcg)) {
		const struct lruvec *lruvec = &memcg->lruvec[0];
		for (int lru = 0; lru < NR_LRU_LISTS; lru++) {
			/* Anon folios that a replay cannot follow count as overhead. */
			if (lru >= LRU_INACTIVE_FILE || check->world->single_frees)
				listed += lruvec_lru_size(lruvec, (enum lru_list)lru);
			else
				listed += lruvec->unseen[lru];
		}
	}
	listed += waiting_pages(check, target);
	check->world->memcg[machine_number(&check->machine, target)].overhead_pages =
		target->max_pages > listed ? target->max_pages - listed : 0;
	world_infer(check->world, INFER_overhead_at_reclaim);
}

static void reclaim_begun(struct check *check, bool memcg_reclaim)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket;

	if (!task)
		return;
	if (task->bracket) /* its end event was lost */
		give_back(check, task->bracket);
	free(task->bracket);
	bracket = calloc(1, sizeof(*bracket));
	task->bracket = bracket;
	if (!bracket) {
		check->failed = true;
		return;
	}
	list_init(&bracket->taken);
	if (memcg_reclaim)
		bracket->target = machine_limit(machine_memcg(&check->machine, task->memcg));
	if (memcg_reclaim && !bracket->target && task->memcg != WORLD_ROOT) {
		/* A limit set after the start is in no event: the nearest memcg is the likeliest. */
		world_infer(check->world, INFER_limit_of_own_memcg);
		bracket->target = machine_memcg(&check->machine, task->memcg);
	}
	bracket->predicted = bracket->target && all_folios_known(bracket->target);
	if (bracket->predicted)
		note_overhead(check, bracket->target);
	if (!bracket->predicted) {
		if (memcg_reclaim)
			check->undecided.warm_group++;
		else
			check->undecided.global_reclaim++;
		return;
	}
	reclaim_walk_begin(&bracket->walk, &check->machine.mm, bracket->target,
			   charge_pages(check, task), true);
	bracket_advance(bracket);
}

static bool would_evict(const struct check *check, const struct folio *folio)
{
	return !folio_test(folio,
			   PG_unevictable | PG_dirty | PG_writeback | PG_swapbacked | PG_locked) &&
	       !folio->nr_batches && !is_metadata(check, folio); /* buffers hold metadata */
}

/*
 * The recorded list is not the predicted one: look whether the walk comes to it a little later,
 * so that one missed step does not count as many.
 */
static bool resynchronise(struct reclaim_bracket *bracket, enum lru_list recorded)
{
	struct reclaim_walk walk = bracket->walk;
	struct scan_request request;
	const struct scan_result nothing = { 0 };

	for (int step = 0; step < 8; step++) {
		reclaim_walk_done(&walk, &nothing);
		if (!reclaim_walk_next(&walk, &request))
			return false;
		if (request.lru == recorded) {
			bracket->walk = walk;
			bracket->request = request;
			return true;
		}
	}
	return false;
}

/* Take what the tape says was taken; its count wins over the list's own idea. */
static void apply_isolation(struct check *check, struct reclaim_bracket *bracket, uint64_t nr_taken)
{
	struct mm *mm = &check->machine.mm;

	bracket->result = (struct scan_result){ 0 };
	bracket->strangers = 0;
	bracket->confused = false;
	if (!nr_taken)
		return;
	mm->policy->isolate(mm, &bracket->applied, &bracket->taken, &bracket->result);
	while (bracket->result.nr_taken > nr_taken) {
		struct folio *folio = list_entry(bracket->taken.prev, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated);
		folio_set(folio, PG_lru);
		lruvec_add_folio_tail(folio->lruvec, folio);
		bracket->result.nr_taken -= folio_nr_pages(folio);
	}
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (!(bracket->applied.lru & 1) && would_evict(check, folio))
			bracket->predicted_reclaimed += folio_nr_pages(folio);
	}
}

/* A drain by reclaim on this CPU is over: whatever it left in the batch was not activated. */
static void drained_by_reclaim(struct check *check)
{
	unsigned int cpu = event_cpu(check);

	expect_drain(check, cpu);
	activation_missing(check, &check->draining[cpu], check->draining[cpu].nr);
}

static void isolation_done(struct reclaim_bracket *bracket, bool was_predicted)
{
	bracket->isolated = false;
	if (!was_predicted)
		return; /* the walk never asked for it */
	reclaim_walk_done(&bracket->walk, &bracket->result);
	bracket_advance(bracket);
}

static void lru_isolated(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	uint64_t lru = v[MM_VMSCAN_LRU_ISOLATE_LRU], nr = v[MM_VMSCAN_LRU_ISOLATE_NR_REQUESTED];
	bool follows;

	if (!bracket || !bracket->predicted || lru >= NR_LRU_LISTS)
		return;
	drained_by_reclaim(check);
	if (bracket->has_request && bracket->request.lru == lru &&
	    bracket->request.nr_to_scan == nr) {
		decided_equal(check, bracket->target, CHECK_isolate_request);
	} else if (bracket->has_request) {
		decided_unequal(check, bracket->target, CHECK_isolate_request,
				"%s, %" PRIu64 " pages|%s, %" PRIu64 " pages",
				lru_name[bracket->request.lru], bracket->request.nr_to_scan,
				lru_name[lru], nr);
	} else {
		decided_unequal(check, bracket->target, CHECK_isolate_request,
				"the call ends|%s, %" PRIu64 " pages", lru_name[lru], nr);
	}
	follows = bracket->has_request &&
		  (bracket->request.lru == lru || resynchronise(bracket, (enum lru_list)lru));
	give_back(check, bracket);
	bracket->applied = (struct scan_request){
		.lruvec = follows ? bracket->request.lruvec : mem_cgroup_lruvec(bracket->target, 0),
		.lru = (enum lru_list)lru,
		.nr_to_scan = nr,
	};
	bracket->has_request = follows;
	apply_isolation(check, bracket, v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN]);
	bracket->result.nr_scanned = v[MM_VMSCAN_LRU_ISOLATE_NR_SCANNED];
	bracket->isolated = true;
	/* An empty inactive isolation has no shrink event; an active one has. */
	if (!v[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN] && !(lru & 1))
		isolation_done(bracket, follows);
}

/* The first isolated folio that reclaim should free now, NULL: none is left. */
static struct folio *next_victim(const struct check *check, const struct reclaim_bracket *bracket)
{
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (!folio_test(folio, FOLIO_survivor) && would_evict(check, folio))
			return folio;
	}
	return NULL;
}

/*
 * The kernel did not take the doubtful folios that were expected next: they did survive the last
 * time, and others were isolated in their place.
 */
static void settle_doubtful(struct check *check, struct reclaim_bracket *bracket)
{
	struct scan_request more = bracket->applied;
	struct scan_result result = { 0 };
	struct folio *expected;

	more.nr_to_scan = 0;
	while ((expected = next_victim(check, bracket)) && folio_test(expected, FOLIO_doubtful)) {
		folio_set(expected, FOLIO_survivor);
		more.nr_to_scan += folio_nr_pages(expected);
	}
	if (more.nr_to_scan)
		check->machine.mm.policy->isolate(&check->machine.mm, &more, &bracket->taken,
						  &result);
}

static void compare_victim(struct check *check, struct reclaim_bracket *bracket,
			   struct folio *folio)
{
	struct folio *expected;

	if (folio_test(folio, PG_dirty)) {
		/* It was written back, and perhaps rotated: no event says when either ended. */
		check->undecided.writeback++;
		world_infer(check->world, INFER_writeback_ended);
		if (!folio_test(folio, FOLIO_isolated))
			bracket->strangers += folio_nr_pages(folio);
		bracket->total_unknown = true;
		return;
	}
	expected = next_victim(check, bracket);
	if (expected && expected != folio && folio_test(expected, FOLIO_doubtful)) {
		settle_doubtful(check, bracket);
		expected = next_victim(check, bracket);
	}
	if (folio == expected) {
		decided_equal(check, bracket->target, CHECK_victim);
		return;
	}
	if (is_metadata(check, folio)) {
		check->undecided.metadata++;
		return;
	}
	if (expected)
		decided_unequal(check, bracket->target, CHECK_victim,
				"pfn %" PRIx32 "|pfn %" PRIx32 "%s", expected->pfn, folio->pfn,
				folio_test(folio, FOLIO_isolated) ? "" : ", not isolated");
	else
		decided_unequal(check, bracket->target, CHECK_victim, "no victim|pfn %" PRIx32,
				folio->pfn);
	if (!folio_test(folio, FOLIO_isolated)) {
		bracket->strangers += folio_nr_pages(folio);
		bracket->confused = true;
		return;
	}
	for (struct list_head *pos = bracket->taken.next;
	     pos != &bracket->taken && pos != &folio->lru; pos = pos->next)
		folio_set(list_entry(pos, struct folio, lru), FOLIO_survivor);
}

static void evict(struct check *check, struct folio *folio, struct mem_cgroup *target)
{
	struct mm *mm = &check->machine.mm;
	uint64_t shadow = shadow_pack(mm->policy->evict(mm, folio, target));

	machine_evicted(&check->machine, folio, shadow);
	mm_folio_forget(mm, folio);
}

static void file_folio_deleted(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct folio *folio = known_folio(check, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN]);
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	uint64_t order = v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER];

	if (order == TAPE_VALUE_ABSENT || order > FOLIO_ORDER_LIMIT)
		order = 0;
	if (!folio || !folio->file) {
		/* In memory before the tape began. Truncation leaves no shadow in its place. */
		if (bracket)
			check->undecided.unseen_folio++;
		return;
	}
	if (bracket && bracket->predicted) {
		compare_victim(check, bracket, folio);
		evict(check, folio, bracket->target);
	} else if (bracket) {
		check->nr_foreign++;
		evict(check, folio, bracket->target);
	} else if (task && world_task_is_kdamond(task)) {
		world_infer(check->world, INFER_eviction_by_kdamond);
		check->nr_foreign++;
		evict(check, folio, NULL);
	} else {
		check->world->nr_stimuli++;
		machine_forget(&check->machine, folio);
		page_cache_store(
			&check->machine.cache,
			world_file(check->world, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
				   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO]),
			v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX], UINT64_C(1) << order, 0);
	}
}

/* Back to the tail they came from, the oldest last, as if they had never been isolated. */
static void return_doubtful(struct reclaim_bracket *bracket, struct list_head *list)
{
	while (!list_empty(list)) {
		struct folio *folio = list_entry(list->prev, struct folio, lru);

		list_del(&folio->lru);
		folio_clear(folio, FOLIO_isolated | FOLIO_survivor);
		folio_set(folio, PG_lru | FOLIO_doubtful);
		lruvec_add_folio_tail(bracket->applied.lruvec, folio);
	}
}

/* Who of the survivors becomes active is known by number only: those the core would first. */
static void place_survivors(struct check *check, struct reclaim_bracket *bracket,
			    uint64_t nr_active)
{
	for (int pass = 0; pass < 2; pass++) {
		struct list_head *pos;

		for (pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
			struct folio *folio = list_entry(pos, struct folio, lru);

			folio_clear(folio, FOLIO_survivor | FOLIO_doubtful);
			if (!nr_active || folio_test(folio, PG_active) ||
			    (!pass && would_evict(check, folio)))
				continue;
			folio_set(folio, PG_active | (folio->flags & PG_dirty ? PG_reclaim : 0));
			nr_active -= nr_active < folio_nr_pages(folio) ? nr_active :
									 folio_nr_pages(folio);
		}
	}
}

static void inactive_shrunk(struct check *check)
{
	const uint64_t *v = check->event->value;
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	struct mm *mm = &check->machine.mm;
	struct list_head doubtful, not_isolated;
	struct folio *folio;

	if (!bracket || !bracket->predicted || !bracket->isolated)
		return;
	list_init(&doubtful);
	list_init(&not_isolated);
	/* For each stranger that was evicted, the youngest of these was not isolated at all. */
	while (bracket->strangers && !list_empty(&bracket->taken)) {
		folio = list_entry(bracket->taken.prev, struct folio, lru);
		bracket->strangers -= folio_nr_pages(folio) < bracket->strangers ?
					      folio_nr_pages(folio) :
					      bracket->strangers;
		folio_set(folio, FOLIO_survivor);
		list_move(&folio->lru, &not_isolated);
	}
	/*
	 * The others, a recording that saw the group from its beginning says, were locked or held;
	 * elsewhere an unseen folio may have stood in their place.
	 */
	while ((folio = next_victim(check, bracket))) {
		check->undecided.survivors++;
		folio_set(folio, FOLIO_survivor);
		if (check->world->memcg_inferred || bracket->confused)
			list_move_tail(&folio->lru, &doubtful);
	}
	return_doubtful(bracket, &not_isolated);
	return_doubtful(bracket, &doubtful);
	place_survivors(check, bracket,
			v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE0] +
				v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_ACTIVATE1]);
	mm->policy->putback(mm, &bracket->applied, &bracket->taken);
	bracket->result.nr_scanned = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_SCANNED];
	bracket->result.nr_reclaimed = v[MM_VMSCAN_LRU_SHRINK_INACTIVE_NR_RECLAIMED];
	isolation_done(bracket, bracket->has_request);
}

static void active_shrunk(struct check *check)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	uint64_t nr_active = check->event->value[MM_VMSCAN_LRU_SHRINK_ACTIVE_NR_ACTIVE];
	struct mm *mm = &check->machine.mm;
	bool any_mapped = false;

	if (!bracket || !bracket->predicted || !bracket->isolated)
		return;
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next)
		any_mapped |= folio_test(list_entry(pos, struct folio, lru), FOLIO_mapped);
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		/* Which ones stayed is not told, only how many: the oldest mapped ones stand for them. */
		if (nr_active >= folio_nr_pages(folio) &&
		    (!any_mapped || folio_test(folio, FOLIO_mapped)))
			nr_active -= folio_nr_pages(folio);
		else if (mm->policy->examine_active)
			mm->policy->examine_active(mm, folio->lruvec, folio);
	}
	mm->policy->putback(mm, &bracket->applied, &bracket->taken);
	isolation_done(bracket, bracket->has_request);
}

static void reclaim_ended(struct check *check, uint64_t nr_reclaimed)
{
	struct world_task *task = world_task(check->world, check->event->pid);
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;

	if (!bracket)
		return;
	if (bracket->predicted) {
		give_back(check, bracket);
		if (!bracket->has_request)
			decided_equal(check, bracket->target, CHECK_reclaim_stop);
		else
			decided_unequal(check, bracket->target, CHECK_reclaim_stop,
					"goes on with %s, %" PRIu64 " pages|stops",
					lru_name[bracket->request.lru],
					bracket->request.nr_to_scan);
		if (bracket->total_unknown)
			; /* counted with the victims that could not be decided */
		else if (bracket->predicted_reclaimed == nr_reclaimed)
			decided_equal(check, bracket->target, CHECK_reclaimed_total);
		else
			decided_unequal(check, bracket->target, CHECK_reclaimed_total,
					"%" PRIu64 " pages|%" PRIu64 " pages",
					bracket->predicted_reclaimed, nr_reclaimed);
		reclaim_walk_end(&bracket->walk);
	}
	free(bracket);
	task->bracket = NULL;
}

static void events_lost(struct check *check)
{
	check->draining[event_cpu(check)].nr = 0;
}

void check_event(struct check *check, const struct tape_event *event, uint64_t read_end)
{
	const uint64_t *v = event->value;
	unsigned int cpu;

	check->event = event;
	check->nr_events++;
	cpu = event_cpu(check);
	if (event->kind == EVENT_MM_LRU_INSERTION)
		check->run[cpu].nr++;
	else if (check->run[cpu].nr)
		insertions_over(check, cpu);
	if (event_ends_readahead(event)) {
		struct world_task *task = world_task(check->world, event->pid);

		if (task)
			machine_reads_submitted(&check->machine, task);
	}
	switch (event->kind) {
	case EVENT_MM_LRU_INSERTION:
		lru_inserted(check);
		break;
	case EVENT_MM_LRU_ACTIVATE:
		lru_activated(check);
		break;
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		file_folio_added(check);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		file_folio_deleted(check);
		break;
	case EVENT_MM_FILEMAP_GET_PAGES:
		pages_read(check, read_end);
		break;
	case EVENT_MM_FILEMAP_MAP_PAGES:
		pages_mapped(check, v[MM_FILEMAP_MAP_PAGES_S_DEV], v[MM_FILEMAP_MAP_PAGES_I_INO],
			     v[MM_FILEMAP_MAP_PAGES_INDEX], v[MM_FILEMAP_MAP_PAGES_LAST_INDEX]);
		break;
	case EVENT_MM_FILEMAP_FAULT:
		pages_mapped(check, v[MM_FILEMAP_FAULT_S_DEV], v[MM_FILEMAP_FAULT_I_INO],
			     v[MM_FILEMAP_FAULT_INDEX], v[MM_FILEMAP_FAULT_INDEX]);
		break;
	case EVENT_MM_PAGE_ALLOC:
		page_allocated(check);
		break;
	case EVENT_MM_PAGE_FREE:
		page_freed(check);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN:
		reclaim_begun(check, true);
		break;
	case EVENT_MM_VMSCAN_DIRECT_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_NODE_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_KSWAPD_WAKE:
		reclaim_begun(check, false);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_END:
	case EVENT_MM_VMSCAN_DIRECT_RECLAIM_END:
	case EVENT_MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_END:
	case EVENT_MM_VMSCAN_NODE_RECLAIM_END:
		reclaim_ended(check, event->value[MM_VMSCAN_MEMCG_RECLAIM_END_NR_RECLAIMED]);
		break;
	case EVENT_MM_VMSCAN_KSWAPD_SLEEP:
		reclaim_ended(check, 0);
		break;
	case EVENT_MM_VMSCAN_LRU_ISOLATE:
		lru_isolated(check);
		break;
	case EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE:
		inactive_shrunk(check);
		break;
	case EVENT_MM_VMSCAN_LRU_SHRINK_ACTIVE:
		active_shrunk(check);
		break;
	case EVENT_WRITEBACK_DIRTY_FOLIO:
		folio_dirtied(check);
		break;
	case EVENT_CGROUP_RMDIR:
		machine_memcg_removed(&check->machine, event);
		break;
	case EVENT_MEMCG_FLUSH_STATS:
	case EVENT_CGROUP_RSTAT_LOCKED:
		machine_flush(&check->machine, event);
		break;
	case EVENT_LOST:
		events_lost(check);
		break;
	default:
		break;
	}
}
