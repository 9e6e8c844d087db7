// SPDX-License-Identifier: GPL-2.0-only
#include "replay/engine/state.h"

#include <stdlib.h>
#include <string.h>

struct replay *replay_open(struct world *world, const struct policy_choice *choice,
			   int64_t memory_pages)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->world = world;
	if (machine_init(&replay->machine, world, choice, false)) {
		free(replay);
		return NULL;
	}
	if (replay_swap_init(replay) || replay_mapped_init(replay) || replay_foreign_init(replay)) {
		replay_close(replay);
		return NULL;
	}
	if (world->limited_memcg != WORLD_ROOT) {
		replay->limited = machine_memcg(&replay->machine, world->limited_memcg);
		if (memory_pages != REPLAY_MEMORY_RECORDED) {
			if (replay->limited->memsw_max_pages != MEMCG_UNLIMITED &&
			    replay->limited->max_pages != MEMCG_UNLIMITED)
				replay->limited->memsw_max_pages += memory_pages -
								    replay->limited->max_pages;
			replay->limited->max_pages = memory_pages;
			replay->machine.limit_given = replay->limited;
		}
	}
	replay_memory_init(replay, memory_pages);
	return replay;
}

void replay_foretell(struct replay *replay, struct future *future)
{
	if (replay->machine.mm.policy->next_use)
		replay->future = future;
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	for (uint64_t i = 0; i < replay->room_tasks; i++)
		free(replay->task[i].gather);
	free(replay->task);
	free(replay->reading);
	replay_perturb_end(replay);
	free(replay->ra);
	replay_swap_exit(replay);
	replay_mapped_exit(replay);
	free(replay->foreign);
	machine_exit(&replay->machine);
	free(replay);
}

int replay_log_adds(struct replay *replay, uint64_t limit)
{
	replay->machine.mm.lru_add_log = lru_add_log_open(limit);
	return replay->machine.mm.lru_add_log ? 0 : -1;
}

bool replay_failed(const struct replay *replay)
{
	return replay->failed || replay->machine.failed || replay->machine.mm.out_of_memory ||
	       replay->world->out_of_memory || (replay->future && future_failed(replay->future));
}

const struct mm *replay_mm(const struct replay *replay)
{
	return &replay->machine.mm;
}

const struct mem_cgroup *replay_memcg(const struct replay *replay, uint32_t number)
{
	return number < replay->machine.room_memcgs ? replay->machine.memcg[number] : NULL;
}

uint64_t replay_accesses(const struct replay *replay)
{
	return replay->accesses;
}

uint64_t replay_stimuli(const struct replay *replay, uint64_t *inferred)
{
	*inferred = replay->nr_inferred;
	return replay->nr_stimuli;
}

uint64_t replay_inferred(const struct replay *replay, enum infer_rule rule)
{
	return replay->inferred[rule];
}

#define LRU_GEN_CORE 1 /* bits of /sys/kernel/mm/lru_gen/enabled */
#define LRU_GEN_MM_WALK 2

uint64_t replay_walks_from(const struct replay *replay)
{
	const unsigned int enabled = replay->world->lru_gen_enabled;
	const bool walks_off = enabled & LRU_GEN_CORE && !(enabled & LRU_GEN_MM_WALK);

	return walks_off ? 0 : replay->machine.mm.walks_from_ns;
}

uint64_t replay_unknown(const struct replay *replay, uint64_t *asked, uint64_t *first_ns)
{
	*asked = replay->mapped.nr_asked;
	*first_ns = replay->mapped.first_unknown_ns;
	return replay->mapped.nr_unknown;
}

struct run_task *replay_task(struct replay *replay, const struct world_task *task)
{
	if (!machine_has_room(&replay->machine, (void **)&replay->task, &replay->room_tasks,
			      task->number, sizeof(*replay->task)))
		return NULL;
	return &replay->task[task->number];
}

/* One stimulus; @rule: how it was drawn from other events, NR_INFER_RULES: an event names it. */
void replay_stimulus(struct replay *replay, enum infer_rule rule)
{
	replay->nr_stimuli++;
	if (rule == NR_INFER_RULES)
		return;
	replay->nr_inferred++;
	replay->inferred[rule]++;
}

/* The task has been in user space since its event before. */
static bool begins_in_user_space(struct replay *replay, const struct tape_event *event)
{
	const struct world_reader *reader;

	switch (event->kind) {
	case EVENT_MM_FILEMAP_FAULT:
	case EVENT_MM_FILEMAP_MAP_PAGES:
		return true;
	case EVENT_MM_FILEMAP_GET_PAGES:
		reader = world_reader(replay->world, event->pid,
				      world_file(replay->world,
						 event->value[MM_FILEMAP_GET_PAGES_S_DEV],
						 event->value[MM_FILEMAP_GET_PAGES_I_INO]));
		return reader &&
		       reader->request_last != event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX];
	default:
		return false;
	}
}

void replay_event(struct replay *replay, const struct tape_event *event, uint64_t read_end)
{
	const uint64_t *v = event->value;
	const struct foreign_call *call;

	replay->event = event;
	replay_perturb_event(replay);
	replay_reads_done(replay);
	replay_writes_done(replay);
	replay_due_accesses(replay);
	if (replay->world->anon)
		replay_anon_steps(replay);
	replay_kswapd(replay);
	machine_time_passes(&replay->machine, event->timestamp_ns);
	if (replay->future)
		replay->range = future_range(replay->world, event, read_end);
	if (event_ends_readahead(event)) {
		struct world_task *task = world_task(replay->world, event->pid);

		if (task)
			replay_reads_submitted(replay, task);
		if (task && replay_owes(replay, task) && begins_in_user_space(replay, event))
			replay_over_high(replay);
	}
	switch (event->kind) {
	case EVENT_MM_FILEMAP_GET_PAGES:
		replay_fault_over(replay);
		replay_zap_over(replay);
		replay_pages_read(replay, read_end);
		replay_may_add_again(replay);
		if (read_end >= v[MM_FILEMAP_GET_PAGES_LAST_INDEX])
			replay_over_high(replay);
		break;
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		replay_folio_added(replay);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		replay_folio_deleted(replay);
		break;
	case EVENT_PAGE_CACHE_SYNC_RA:
		replay_miss_recorded(replay, v[PAGE_CACHE_SYNC_RA_S_DEV],
				     v[PAGE_CACHE_SYNC_RA_I_INO], v[PAGE_CACHE_SYNC_RA_INDEX]);
		break;
	case EVENT_MM_FILEMAP_FAULT:
		replay_zap_over(replay);
		replay_file_fault(replay);
		break;
	case EVENT_MM_FILEMAP_MAP_PAGES:
		replay_fault_over(replay);
		replay_faulted_around(replay);
		break;
	case EVENT_PAGE_FAULT_USER:
		replay_over_high(replay);
		replay_fault_over(replay);
		break;
	case EVENT_SCHED_PROCESS_EXIT:
		replay_fault_over(replay);
		replay_space_gone(replay);
		replay_follow_overhead(replay);
		break;
	case EVENT_SCHED_PROCESS_EXEC:
		replay_space_gone(replay);
		replay_follow_overhead(replay);
		break;
	case EVENT_PAGE_CACHE_RA_ORDER:
		replay_window_of_fault(replay);
		replay_window_recorded(replay);
		break;
	case EVENT_PAGE_CACHE_ASYNC_RA:
		replay_may_add_again(replay);
		break;
	case EVENT_MM_PAGE_ALLOC:
		replay_zap_over(replay);
		if (!replay->world->anon)
			replay_page_allocated(replay);
		break;
	case EVENT_MM_LRU_INSERTION:
		if (!replay->world->anon)
			replay_inserted(replay);
		replay_follow_overhead(replay);
		break;
	case EVENT_MM_PAGE_FREE:
		if (!replay->world->anon)
			replay_page_freed(replay);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN:
		if (!world_foreign_call(replay->world, event->pid))
			replay_follow_overhead(replay);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_END:
		call = world_foreign_call(replay->world, event->pid);
		if (call)
			replay_foreign_reclaim(replay, call);
		break;
	case EVENT_MM_VMSCAN_KSWAPD_WAKE:
		replay_kswapd_woken(replay);
		break;
	case EVENT_BLOCK_TOUCH_BUFFER:
		replay_buffer_touched(replay);
		break;
	case EVENT_PAGE_REQUEST:
		replay_page_requested(replay);
		break;
	case EVENT_WRITEBACK_DIRTY_FOLIO:
		replay_folio_dirtied(replay);
		break;
	case EVENT_BLOCK_BIO_QUEUE:
	case EVENT_BLOCK_RQ_COMPLETE:
		replay_writeback(replay);
		break;
	case EVENT_INODE_EVICTED:
		machine_inode_evicted(&replay->machine, event);
		break;
	case EVENT_CGROUP_RMDIR:
		machine_memcg_removed(&replay->machine, event);
		break;
	case EVENT_MEMCG_FLUSH_STATS:
	case EVENT_CGROUP_RSTAT_LOCKED:
		replay_flush(replay);
		break;
	default:
		break;
	}
	replay->touch += (uint32_t)replay->range.nr;
}

void replay_finish(struct replay *replay)
{
	struct mm *mm = &replay->machine.mm;

	for (uint64_t i = 0; i < replay->room_tasks; i++)
		if (replay->task[i].gather)
			mmu_gather_finish(mm, replay->task[i].gather);
	for (unsigned int cpu = 0; cpu < mm->config.nr_cpus; cpu++)
		lru_add_drain(mm, cpu, DRAIN_end);
	/* The batches are the machine's; the figure stands with what the run is about. */
	replay_count(replay->limited ? replay->limited : mm->root, COUNT_batch_pages_max,
		     (uint64_t)mm->batch_pages_max);
}
