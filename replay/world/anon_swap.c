// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/anon_state.h"

#define SECTORS_PER_PAGE 8
#define SECTORS_LIMIT (1u << 20) /* of one request */
#define SUBMIT_LIMIT_NS 200000 /* between two writes of one reclaim */
#define BURST_LIMIT_NS UINT64_C(1000000000)
#define LONG_BURST 32 /* pages */
#define SHORT_BURST 4

static uint64_t sector_key(uint64_t dev, uint64_t sector)
{
	return dev << 42 ^ sector ^ UINT64_C(1) << 63;
}

void anon_bio_queued(struct anon_world *anon, const struct tape_event *event,
		     struct anon_task *task)
{
	const uint64_t *v = event->value;
	const char *rwbs = tape_event_string(event, BLOCK_BIO_QUEUE_RWBS, NULL);
	uint64_t sector = v[BLOCK_BIO_QUEUE_SECTOR], dev = v[BLOCK_BIO_QUEUE_DEV];
	const uint32_t *number;
	struct fresh fresh;

	if (rwbs && *rwbs == 'W') {
		task->write_sector = sector;
		task->write_dev = (uint32_t)dev;
		return;
	}
	number = key_map_find(&anon->swap.by_sector, sector_key(dev, sector));
	if (!rwbs || *rwbs != 'R' || !number || anon->page[*number].gone ||
	    task->fresh == ANON_NONE)
		return;
	fresh = anon->fresh[task->fresh];
	anon_forget_fresh(anon, task->fresh);
	for (uint64_t i = 0; i >> fresh.order == 0; i++) {
		number = key_map_find(&anon->swap.by_sector,
				      sector_key(dev, sector + i * SECTORS_PER_PAGE));
		if (!number || anon->page[*number].gone)
			continue;
		anon_page_came_in(anon, *number, fresh.pfn + i);
		if (*number != task->touched)
			anon_add_step(anon, ANON_READ_AHEAD, *number);
	}
}

static void write_submitted(struct anon_world *anon, struct anon_page *page, uint64_t ns)
{
	struct write_burst *burst = &anon->swap.burst;

	if (page->in_flight)
		return;
	if (burst->nr_outstanding && ns - burst->first_ns > BURST_LIMIT_NS)
		*burst = (struct write_burst){ 0 }; /* some end was not seen */
	if (!burst->nr_outstanding)
		*burst = (struct write_burst){ .first_ns = ns };
	burst->nr_outstanding++;
	page->in_flight = true;
}

void anon_write_completed(struct anon_world *anon, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	const char *rwbs = tape_event_string(event, BLOCK_RQ_COMPLETE_RWBS, NULL);
	struct write_burst *burst = &anon->swap.burst;
	uint64_t sector = v[BLOCK_RQ_COMPLETE_SECTOR];

	if (!rwbs || *rwbs != 'W' || v[BLOCK_RQ_COMPLETE_NR_SECTOR] > SECTORS_LIMIT)
		return;
	for (uint64_t i = 0; i < v[BLOCK_RQ_COMPLETE_NR_SECTOR]; i += SECTORS_PER_PAGE) {
		const uint32_t *number = key_map_find(
			&anon->swap.by_sector, sector_key(v[BLOCK_RQ_COMPLETE_DEV], sector + i));

		if (!number || !anon->page[*number].in_flight)
			continue;
		anon->page[*number].in_flight = false;
		burst->nr_done++;
		if (!burst->nr_outstanding || --burst->nr_outstanding)
			continue;
		if (burst->nr_done >= LONG_BURST) {
			anon->swap.long_ns += event->timestamp_ns - burst->first_ns;
			anon->swap.nr_long += burst->nr_done;
		} else if (burst->nr_done <= SHORT_BURST) {
			anon->swap.short_ns += event->timestamp_ns - burst->first_ns;
			anon->swap.nr_short++;
		}
	}
}

bool anon_swap_times(const struct anon_world *anon, struct swap_times *times)
{
	const struct anon_swap *swap = &anon->swap;

	if (!swap->nr_submits || !swap->nr_long)
		return false;
	times->submit_ns = swap->submit_ns / swap->nr_submits;
	times->page_ns = swap->long_ns / swap->nr_long;
	times->least_ns = swap->nr_short ? swap->short_ns / swap->nr_short : times->page_ns * 4;
	return true;
}

void anon_written_out(struct anon_world *anon, const struct tape_event *event,
		      struct anon_task *task)
{
	uint64_t pfn = event->value[MM_VMSCAN_WRITE_FOLIO_PFN];
	uint32_t number = anon_page_in_frame(anon, pfn);
	uint64_t sector = task->write_sector;
	uint8_t order;

	task->write_sector = 0;
	if (number == ANON_NONE)
		return;
	if (event->timestamp_ns - task->written_ns < SUBMIT_LIMIT_NS) {
		anon->swap.submit_ns += event->timestamp_ns - task->written_ns;
		anon->swap.nr_submits++;
	}
	task->written_ns = event->timestamp_ns;
	order = anon->page[number].order;
	for (uint64_t i = 0; i >> order == 0; i++) {
		number = anon_page_in_frame(anon, pfn + i);
		if (number == ANON_NONE)
			continue;
		anon_add_step(anon, ANON_UNMAPPED, number);
		if (!sector)
			continue;
		if (!key_map_put(&anon->swap.by_sector,
				 sector_key(task->write_dev, sector + i * SECTORS_PER_PAGE),
				 number))
			anon->failed = true;
		write_submitted(anon, &anon->page[number], event->timestamp_ns);
	}
}
