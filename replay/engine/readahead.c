// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readahead of a run's own: where it misses and the recorded kernel did not, the tape has no window to
 * bring in, and what the kernel's rules make of the run's page cache comes instead.
 */
#include "replay/engine/state.h"

#define REQUEST_LIMIT (UINT64_C(1) << 20) /* pages of one read; more is a broken tape */

/* The run's readahead of a reader, as of its last window. NULL without memory: the run has failed. */
static struct file_ra_state *ra_of(struct replay *replay, const struct world_reader *reader,
				   uint32_t file)
{
	const struct world_file *where = &replay->world->file[file];
	struct file_ra_state *ra;

	if (!machine_has_room(&replay->machine, (void **)&replay->ra, &replay->room_readers,
			      reader->number, sizeof(*replay->ra)))
		return NULL;
	ra = &replay->ra[reader->number];
	ra->ra_pages = where->ra_pages == UINT32_MAX ? READAHEAD_PRESET_PAGES : where->ra_pages;
	ra->max_order = where->max_order;
	ra->prev_page = reader->prev_page;
	ra->fadv_random = reader->fadv_random;
	return ra;
}

void replay_bring_window(struct replay *replay, struct mem_cgroup *memcg, uint32_t file,
			 const struct readahead_window *window, uint64_t first_asked,
			 uint64_t last_asked)
{
	uint64_t end =
		replay->world->file[file].seen_pages; /* the file has no more, for all we know */
	uint64_t last = window->start + window->size - 1;
	bool cut = last >= end;
	bool small = window->plain;

	if (cut && first_asked != READAHEAD_NO_PAGE && end <= first_asked)
		last = first_asked; /* somebody asks for it, so that it is there */
	else if (cut)
		last = end - 1;
	if (cut && (!end || last < window->start))
		return;
	for (uint64_t at = window->start, pages; at <= last; at += pages) {
		struct folio *folio = page_cache_folio(&replay->machine.cache, file, at);
		uint8_t order = small ? 0 : readahead_folio_order(window, at, last);
		bool asked;

		pages = folio ? folio->index + folio_nr_pages(folio) - at : UINT64_C(1) << order;
		if (folio || replay_any_present(replay, file, at, pages)) {
			/* What is there already ends the large folios of this window. */
			small = true;
			if (folio)
				continue;
			order = 0;
			pages = 1;
		}
		folio = replay_bring_in_for(replay, memcg, file, at, order, 0, false);
		if (!folio)
			return;
		replay_read_submitted(replay, folio);
		asked = at <= last_asked && at + pages > first_asked;
		replay_count(folio->lruvec->memcg, asked ? COUNT_misses : COUNT_readahead, pages);
		if (asked)
			folio_set(folio, FOLIO_demanded);
		if (!cut && window->mark / pages * pages == at)
			folio_set(folio, PG_readahead);
	}
}

struct folio *replay_read_missing(struct replay *replay, const struct world_reader *reader,
				  uint32_t file, uint64_t page, uint64_t last)
{
	struct file_ra_state *ra = ra_of(replay, reader, file);
	struct machine_pages pages = { &replay->machine.cache, file };
	struct readahead_cache cache = { machine_page_cached, &pages };
	struct readahead_window window;

	if (!ra)
		return NULL;
	if (last < page || last - page >= REQUEST_LIMIT)
		last = page + REQUEST_LIMIT - 1; /* read on until the file ends */
	replay_stimulus(replay, INFER_readahead_modelled);
	if (replay->world->readahead_seen)
		readahead_sync(ra, &cache, page, last - page + 1, &window);
	else /* which files are read at random cannot be told then */
		window = (struct readahead_window){ page, 1, READAHEAD_NO_PAGE, .plain = true };
	replay_bring_window(replay, replay_task_memcg(replay, replay->event->pid), file, &window,
			    page, last);
	return page_cache_folio(&replay->machine.cache, file, page);
}

void replay_read_marker(struct replay *replay, const struct world_reader *reader,
			struct folio *folio, uint64_t last)
{
	struct file_ra_state *ra = ra_of(replay, reader, folio->file);
	struct machine_pages pages = { &replay->machine.cache, folio->file };
	struct readahead_cache cache = { machine_page_cached, &pages };
	bool was_locked = folio_test(folio, PG_locked);
	struct readahead_window window;

	folio_clear(folio, PG_readahead);
	if (!ra || folio_test(folio, PG_writeback) ||
	    !readahead_async(ra, &cache, folio->index, folio_nr_pages(folio),
			     last > folio->index ? last - folio->index + 1 : 1, &window))
		return;
	replay_stimulus(replay, INFER_readahead_modelled);
	/* The reader holds a reference: what the window displaces is not this folio. */
	folio_set(folio, PG_locked);
	replay_bring_window(replay, replay_task_memcg(replay, replay->event->pid), folio->file,
			    &window, READAHEAD_NO_PAGE, READAHEAD_NO_PAGE);
	if (!was_locked)
		folio_clear(folio, PG_locked);
}

void replay_window_recorded(struct replay *replay)
{
	const uint64_t *v = replay->event->value;
	struct world_task *task = world_task(replay->world, replay->event->pid);
	struct run_task *mine = task ? replay_task(replay, task) : NULL;
	uint32_t file = world_file(replay->world, v[PAGE_CACHE_RA_ORDER_S_DEV],
				   v[PAGE_CACHE_RA_ORDER_I_INO]);
	const struct world_reader *reader = world_reader(replay->world, replay->event->pid, file);
	struct file_ra_state *ra;

	if (!mine || mine->skip_adds || !reader)
		return;
	ra = ra_of(replay, reader, file);
	if (!ra || v[PAGE_CACHE_RA_ORDER_ORDER] > FOLIO_ORDER_LIMIT ||
	    v[PAGE_CACHE_RA_ORDER_SIZE] > UINT32_MAX ||
	    v[PAGE_CACHE_RA_ORDER_ASYNC_SIZE] > v[PAGE_CACHE_RA_ORDER_SIZE])
		return;
	ra->start = v[PAGE_CACHE_RA_ORDER_INDEX];
	ra->size = v[PAGE_CACHE_RA_ORDER_SIZE];
	ra->async_size = v[PAGE_CACHE_RA_ORDER_ASYNC_SIZE];
	ra->order = (uint8_t)v[PAGE_CACHE_RA_ORDER_ORDER];
}
