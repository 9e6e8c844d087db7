// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine/state.h"

#include <stdlib.h>

static void read_done(struct replay *replay, const struct submitted_read *read)
{
	struct folio *folio = page_cache_folio(&replay->machine.cache, read->file, read->index);

	if (folio)
		folio_clear(folio, PG_locked);
}

void replay_reads_done(struct replay *replay)
{
	while (replay->nr_reading) {
		const struct submitted_read *read =
			&replay->reading[replay->first_reading & (replay->room_reading - 1)];

		if (read->done_ns > replay->event->timestamp_ns)
			return;
		read_done(replay, read);
		replay->first_reading++;
		replay->nr_reading--;
	}
}

static void grow_reading(struct replay *replay)
{
	uint64_t room = replay->room_reading ? replay->room_reading * 2 : 1024;
	struct submitted_read *bigger = malloc(room * sizeof(*bigger));

	if (!bigger) {
		replay->failed = true;
		return;
	}
	for (uint64_t i = 0; i < replay->nr_reading; i++)
		bigger[i] =
			replay->reading[(replay->first_reading + i) & (replay->room_reading - 1)];
	free(replay->reading);
	replay->reading = bigger;
	replay->room_reading = room;
	replay->first_reading = 0;
}

void replay_read_submitted(struct replay *replay, struct folio *folio)
{
	if (replay->nr_reading == replay->room_reading)
		grow_reading(replay);
	if (replay->failed)
		return;
	folio_set(folio, PG_locked);
	replay->reading[(replay->first_reading + replay->nr_reading++) &
			(replay->room_reading - 1)] = (struct submitted_read){
		.done_ns = replay->event->timestamp_ns + READ_NS,
		.file = folio->file,
		.index = folio->index,
	};
}

void replay_reads_submitted(struct replay *replay, const struct world_task *task)
{
	struct folio **folio;
	uint32_t nr = machine_take_new(&replay->machine, task, &folio);

	for (uint32_t i = 0; i < nr; i++)
		replay_read_submitted(replay, folio[i]);
}
