// SPDX-License-Identifier: GPL-2.0-only
/* The pass over a tape that finds out what it tells of accesses to mapped pages: see replay/facts.h. */
#include <stdlib.h>

#include "replay/check/check.h"
#include "replay/event_stream.h"
#include "replay/facts.h"
#include "replay/mm/page_cache.h"

#define FOLIO_ORDER_LIMIT 13
#define CACHED 3

struct facts_pass {
	struct world world;
	struct access_facts *facts;
	struct page_cache cached; /* of the recorded kernel */
	const struct tape_event *event;
};

static void add_file_fact(struct facts_pass *pass, uint64_t dev, uint64_t ino, uint64_t index,
			  enum access_fact kind)
{
	facts_add(pass->facts, dev, ino, index, kind, pass->event->timestamp_ns);
}

static void anon_facts(struct facts_pass *pass)
{
	static const enum access_fact kind[] = {
		[ANON_NEW] = FACT_TOUCHED,	 [ANON_TOUCHED] = FACT_TOUCHED,
		[ANON_FREED] = FACT_GONE,	 [ANON_READ_AHEAD] = FACT_UNMAPPED,
		[ANON_UNMAPPED] = FACT_UNMAPPED, [ANON_EVICTED] = FACT_UNMAPPED,
		[ANON_COLD] = FACT_LOOKED,	 [ANON_LAZYFREE] = FACT_LOOKED,
		[ANON_PAGEOUT] = FACT_LOOKED,	 [ANON_LOCKED] = FACT_TOUCHED,
	};
	const struct anon_step *step;
	uint32_t nr;

	if (!pass->world.anon)
		return;
	step = anon_steps(pass->world.anon, &nr);
	for (uint32_t i = 0; i < nr; i++)
		for (uint64_t page = 0; step[i].what != ANON_UNLOCKED && page >> step[i].order == 0;
		     page++)
			add_file_fact(pass, ANON_DEV, pass->world.file[step[i].file].ino,
				      step[i].index + page, kind[step[i].what]);
}

static void file_folio(struct facts_pass *pass, uint64_t dev, uint64_t ino, uint64_t index,
		       uint64_t order, bool added)
{
	uint32_t file = world_file(&pass->world, dev, ino);
	struct world_task *task = world_task(&pass->world, pass->event->pid);

	if (order > FOLIO_ORDER_LIMIT)
		order = 0;
	for (uint64_t i = 0; i >> order == 0; i++) {
		if (!added && facts_is_mapped(pass->facts, dev, ino, index + i))
			add_file_fact(pass, dev, ino, index + i,
				      task && task->in_reclaim ? FACT_UNMAPPED : FACT_GONE);
		if (page_cache_store(&pass->cached, file, index + i, 1, added ? CACHED : 0))
			pass->world.out_of_memory = true;
	}
}

static void page_touched(struct facts_pass *pass, uint64_t dev, uint64_t ino, uint64_t index,
			 enum access_fact kind, bool around)
{
	uint32_t file = world_file(&pass->world, dev, ino);

	/* Fault-around maps what is there, once; a page that it does not find is faulted in by an event of its own. */
	if (around && (!page_cache_slot(&pass->cached, file, index) ||
		       (kind == FACT_MAPPED && facts_is_mapped(pass->facts, dev, ino, index))))
		return;
	add_file_fact(pass, dev, ino, index, kind);
	if (page_cache_store(&pass->cached, file, index, 1, CACHED))
		pass->world.out_of_memory = true;
}

static void faulted_around(struct facts_pass *pass)
{
	const uint64_t *v = pass->event->value;
	struct world_task *task = world_task(&pass->world, pass->event->pid);
	uint64_t first = v[MM_FILEMAP_MAP_PAGES_INDEX], last = v[MM_FILEMAP_MAP_PAGES_LAST_INDEX];
	uint64_t demanded = task ? world_faulted_page(&pass->world, task, first, last) : UINT64_MAX;

	for (uint64_t i = first; i <= last && i - first < MAPPED_PAGES_LIMIT; i++)
		page_touched(pass, v[MM_FILEMAP_MAP_PAGES_S_DEV], v[MM_FILEMAP_MAP_PAGES_I_INO], i,
			     i == demanded ? FACT_TOUCHED : FACT_MAPPED, true);
}

static void event_facts(struct facts_pass *pass)
{
	const uint64_t *v = pass->event->value;

	anon_facts(pass);
	switch (pass->event->kind) {
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		file_folio(pass, v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV],
			   v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO],
			   v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX],
			   v[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER], true);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		file_folio(pass, v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_S_DEV],
			   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_I_INO],
			   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_INDEX],
			   v[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_ORDER], false);
		break;
	case EVENT_MM_FILEMAP_FAULT:
		page_touched(pass, v[MM_FILEMAP_FAULT_S_DEV], v[MM_FILEMAP_FAULT_I_INO],
			     v[MM_FILEMAP_FAULT_INDEX], FACT_TOUCHED, false);
		break;
	case EVENT_MM_FILEMAP_MAP_PAGES:
		faulted_around(pass);
		break;
	default:
		break;
	}
}

/*
 * What the recorded kernel's reclaim found. Of evictions and writes to swap their own events tell; of those that
 * were kept next to all were young, the rest were locked. A probe tells of each, on active lists too.
 */
static bool kind_of_look(const struct facts_pass *pass, const struct check_verdict *verdict,
			 enum access_fact *kind)
{
	bool young = verdict->referenced > 0;

	if (!pass->world.looks_told) {
		*kind = verdict->outcome == OUTCOME_deactivated ? FACT_LOOKED : FACT_YOUNG;
		return verdict->word != WORD_old &&
		       (verdict->word != WORD_unknown || verdict->outcome != OUTCOME_activated);
	}
	if (!verdict->told || verdict->referenced < 0)
		return false;
	if (verdict->of_active)
		*kind = young ? FACT_ACTIVE_YOUNG : FACT_ACTIVE_OLD;
	else
		*kind = young ? FACT_YOUNG : FACT_OLD;
	return young ||
	       (verdict->outcome != OUTCOME_evicted && verdict->outcome != OUTCOME_written);
}

static void looked(void *ctx, const struct check_verdict *verdict)
{
	struct facts_pass *pass = ctx;
	enum access_fact kind;

	if (!kind_of_look(pass, verdict, &kind))
		return;
	for (uint64_t i = 0; i < verdict->pages; i++) {
		uint32_t file = verdict->file;
		uint64_t index = verdict->index + i;
		const struct world_file *of;

		if (!verdict->is_file &&
		    (!pass->world.anon ||
		     !anon_in_frame(pass->world.anon, verdict->pfn + i, &file, &index)))
			continue;
		of = &pass->world.file[file];
		if (facts_is_mapped(pass->facts, of->dev, of->ino, index))
			facts_add(pass->facts, of->dev, of->ino, index, kind, verdict->end_ns);
	}
}

static int pass_over(struct facts_pass *pass, struct tape_reader *reader, struct check *check)
{
	struct event_stream *stream = event_stream_open(reader);
	const uint32_t *victims;
	unsigned int nr_victims;
	uint64_t read_end;
	int ret;

	if (!stream)
		return TAPE_ERR_MEMORY;
	event_stream_foresee(stream, check_foresees(check));
	while ((ret = event_stream_next(stream, &pass->event, &read_end)) > 0) {
		world_event(&pass->world, pass->event);
		victims = event_stream_victims(stream, &nr_victims);
		check_foresee(check, pass->event, victims, nr_victims);
		check_event(check, pass->event, read_end);
		event_facts(pass);
		world_event_done(&pass->world, pass->event, read_end);
	}
	event_stream_close(stream);
	return ret;
}

int facts_read(struct tape_reader *reader, const struct policy_choice *choice,
	       struct access_facts **facts)
{
	struct facts_pass pass = { .facts = facts_open() };
	struct check *check = NULL;
	struct swap_times times;
	int ret = TAPE_ERR_MEMORY;

	if (!pass.facts)
		return ret;
	if (page_cache_init(&pass.cached))
		goto out_facts;
	ret = world_init(&pass.world, reader);
	if (ret) {
		ret = ret == -1 ? TAPE_ERR_MEMORY : ret;
		goto out_cached;
	}
	check = check_open(&pass.world, choice, 0);
	if (check)
		check_tell_verdicts(check, looked, &pass);
	ret = check ? check_look_ahead(check, reader) : TAPE_ERR_MEMORY;
	if (!ret)
		ret = pass_over(&pass, reader, check);
	if (!ret && pass.world.anon && anon_swap_times(pass.world.anon, &times))
		facts_set_swap_times(pass.facts, &times);
	if (!ret)
		ret = tape_reader_rewind(reader);
	if (!ret && (check_failed(check) || pass.world.out_of_memory ||
		     facts_settle(pass.facts, tape_reader_summary(reader)->last_ns)))
		ret = TAPE_ERR_MEMORY;
	if (check)
		check_close(check);
	world_exit(&pass.world);
out_cached:
	page_cache_exit(&pass.cached);
out_facts:
	if (ret)
		facts_close(pass.facts);
	else
		*facts = pass.facts;
	return ret;
}
