// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses to mapped pages: what reclaim finds in page tables, and the faults on pages that this run
 * has taken away and the recorded kernel had not.
 *
 * For both a stream of accesses stands in that agrees with all facts of the tape (replay/facts.h). A run
 * remembers when each page was looked at last.
 */
#include "replay/engine/state.h"

#include <stdlib.h>

int replay_mapped_init(struct replay *replay)
{
	replay->mapped.tables = page_tables_open(&replay->machine);
	return !replay->mapped.tables || page_cache_init(&replay->mapped.looked) ||
			       page_cache_init(&replay->mapped.asked) ?
		     -1 :
		     0;
}

void replay_mapped_exit(struct replay *replay)
{
	page_cache_exit(&replay->mapped.looked);
	page_cache_exit(&replay->mapped.asked);
	page_tables_close(replay->mapped.tables);
	free(replay->mapped.due);
	free(replay->mapped.mmap_miss);
}

void replay_mapped(struct replay *replay, struct folio *folio)
{
	struct world_task *task = world_task(replay->world, replay->event->pid);

	/* Facts know of accesses, and whose they are nobody asks. */
	if (!replay->mapped.stream.facts && page_tables_map(replay->mapped.tables, task, folio))
		replay_set_mapped(folio);
}

static void unmapped(void *ctx, struct folio *folio, bool young, bool last)
{
	struct replay *replay = ctx;
	struct mm *mm = &replay->machine.mm;

	if (last)
		folio_clear(folio, FOLIO_mapped | FOLIO_young);
	if (!young)
		return;
	replay_stimulus(replay, INFER_zap_marks);
	mm->policy->folio_accessed(mm, replay_cpu(replay), folio);
}

/*
 * Kernel: mm/memory.c, zap_present_folio_ptes(), v6.18.
 * Differs: what was accessed after reclaim had looked at it counts as not young.
 */
void replay_space_gone(struct replay *replay)
{
	page_tables_space_gone(replay->mapped.tables, unmapped, replay);
}

void replay_imagine(struct replay *replay, const struct access_facts *facts, enum access_fill fill,
		    uint64_t seed, bool own)
{
	replay->mapped.own = own;
	replay->mapped.stream =
		(struct access_stream){ .facts = facts, .fill = fill, .seed = seed };
}

static void store_time(struct replay *replay, struct page_cache *times, const struct folio *folio,
		       uint64_t ns)
{
	if (page_cache_store(times, folio->file, folio->index, folio_nr_pages(folio), ns << 1 | 1))
		replay->failed = true;
}

static void looked(struct replay *replay, const struct folio *folio, uint64_t ns)
{
	store_time(replay, &replay->mapped.looked, folio, ns);
}

void replay_look_begins(struct replay *replay, struct folio *folio)
{
	looked(replay, folio, replay->event->timestamp_ns);
	store_time(replay, &replay->mapped.asked, folio, replay->event->timestamp_ns);
}

static uint64_t looked_at(struct replay *replay, const struct folio *folio)
{
	return page_cache_slot(&replay->mapped.looked, folio->file, folio->index) >> 1;
}

/* A look of the kernel's that was taken ahead of time stays taken. */
static void look_is_over(struct replay *replay, struct folio *folio)
{
	uint64_t now = replay->event->timestamp_ns;

	if (looked_at(replay, folio) < now)
		looked(replay, folio, now);
	store_time(replay, &replay->mapped.asked, folio, now);
}

/*
 * The recorded policy at the recorded size: what the kernel's own next look found, though it may have come
 * at another moment. A page's time is that of the last look so taken. Return: it is told.
 */
static bool own_look(struct replay *replay, struct folio *folio, bool *young)
{
	const struct world_file *file = &replay->world->file[folio->file];
	bool active = folio_test(folio, PG_active);
	enum access_fact found;
	uint64_t ns = 0;

	/* This run is a look ahead of the kernel: the one after it says nothing of the time until now. */
	if (looked_at(replay, folio) > replay->event->timestamp_ns)
		return false;
	found = facts_next_look(replay->mapped.stream.facts, file->dev, file->ino, folio->index,
				looked_at(replay, folio), &ns);
	switch (found) {
	case FACT_YOUNG:
		if (!active) /* else it became active here sooner than there */
			looked(replay, folio, ns);
		*young = true;
		return true;
	case FACT_LOOKED:
		if (!active)
			return false;
		looked(replay, folio, ns);
		return true;
	case FACT_ACTIVE_YOUNG:
	case FACT_ACTIVE_OLD:
		if (!active)
			return false;
		*young = found == FACT_ACTIVE_YOUNG;
		looked(replay, folio, ns);
		return true;
	case FACT_OLD:
	case FACT_UNMAPPED:
		*young = false;
		return true;
	default:
		return false;
	}
}

/*
 * Kernel: mm/rmap.c, folio_referenced(), v6.18.
 * Differs: whose page tables they are is not told apart, and accesses are those of the run's stream.
 */
bool replay_referenced(void *ctx, struct folio *folio)
{
	struct replay *replay = ctx;
	struct run_mapped *mapped = &replay->mapped;
	const struct world_file *file = &replay->world->file[folio->file];
	uint64_t now = replay->event->timestamp_ns;
	enum access_known known = ACCESS_NONE;
	bool young = folio_test_clear(folio, FOLIO_young);

	if (!mapped->stream.facts || replay->machine.mm.policy->exact) {
		page_tables_looked(mapped->tables, folio);
		return young;
	}
	mapped->nr_asked++;
	if (mapped->own && !folio->order) {
		bool found = young;

		if (own_look(replay, folio, &found)) {
			store_time(replay, &mapped->asked, folio, now);
			return young || found;
		}
	}
	if (young) {
		look_is_over(replay, folio);
		return true;
	}
	for (uint64_t i = 0; i < folio_nr_pages(folio) && known != ACCESS_SEEN; i++) {
		uint64_t since = page_cache_slot(&mapped->asked, folio->file, folio->index + i);
		bool accessed;
		enum access_known page = facts_accessed(&mapped->stream, file->dev, file->ino,
							folio->index + i, since >> 1, now,
							&accessed);

		if (page > known || page == ACCESS_SEEN)
			known = page;
		if (page == ACCESS_SEEN)
			known = ACCESS_SEEN;
		young |= accessed;
	}
	if (known == ACCESS_DRAWN && !mapped->nr_unknown++)
		mapped->first_unknown_ns = now;
	look_is_over(replay, folio);
	return young;
}

/* ---- pages that will be missed */

static bool sooner(const struct due_access *a, const struct due_access *b)
{
	return a->ns < b->ns;
}

static void push(struct replay *replay, struct due_access due)
{
	struct run_mapped *mapped = &replay->mapped;
	uint64_t i;

	if (mapped->nr_due == mapped->room_due) {
		uint64_t room = mapped->room_due ? mapped->room_due * 2 : 1024;
		struct due_access *bigger = realloc(mapped->due, room * sizeof(*bigger));

		if (!bigger) {
			replay->failed = true;
			return;
		}
		mapped->due = bigger;
		mapped->room_due = room;
	}
	for (i = mapped->nr_due++; i && sooner(&due, &mapped->due[(i - 1) / 2]); i = (i - 1) / 2)
		mapped->due[i] = mapped->due[(i - 1) / 2];
	mapped->due[i] = due;
}

static struct due_access pop(struct run_mapped *mapped)
{
	struct due_access first = mapped->due[0], last = mapped->due[--mapped->nr_due];
	uint64_t i = 0, child;

	while ((child = 2 * i + 1) < mapped->nr_due) {
		if (child + 1 < mapped->nr_due &&
		    sooner(&mapped->due[child + 1], &mapped->due[child]))
			child++;
		if (!sooner(&mapped->due[child], &last))
			break;
		mapped->due[i] = mapped->due[child];
		i = child;
	}
	mapped->due[i] = last;
	return first;
}

void replay_page_unmapped(struct replay *replay, const struct folio *folio)
{
	struct run_mapped *mapped = &replay->mapped;
	const struct world_file *file = &replay->world->file[folio->file];
	uint64_t now = replay->event->timestamp_ns;

	if (!mapped->stream.facts)
		return;
	for (uint64_t i = 0; i < folio_nr_pages(folio); i++) {
		uint64_t ns = facts_next_unseen(&mapped->stream, file->dev, file->ino,
						folio->index + i, now);

		if (ns != UINT64_MAX)
			push(replay, (struct due_access){
					     .ns = ns,
					     .index = folio->index + i,
					     .file = folio->file,
					     .memcg = folio->lruvec->memcg->index,
				     });
	}
}

void replay_due_accesses(struct replay *replay)
{
	struct run_mapped *mapped = &replay->mapped;

	while (mapped->nr_due && mapped->due[0].ns <= replay->event->timestamp_ns) {
		struct due_access due = pop(mapped);
		struct folio *folio = page_cache_folio(&replay->machine.cache, due.file, due.index);

		if (folio && folio_test(folio, FOLIO_mapped))
			continue; /* a fault that the tape shows came first */
		replay_stimulus(replay, INFER_access_drawn);
		if (replay->world->file[due.file].dev == ANON_DEV)
			replay_touch_anon(replay, due.file, due.index);
		else
			replay_touch_unseen(replay, due.file, due.index,
					    replay->machine.mm.memcg[due.memcg]);
	}
}
