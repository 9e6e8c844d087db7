// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/lru_gen.h"

#include <stdlib.h>
#include <string.h>

const char *check_name(enum check_decision decision)
{
	static const char *const name[NR_CHECK_DECISIONS] = {
#define DECISION(number, name, meaning) [number] = #name,
#include "replay/decisions.def"
	};

	return name[decision];
}

#define CAUSE(number, name, meaning) { #name, meaning },
static const struct {
	const char *name, *meaning;
} causes[NR_CHECK_CAUSES] = {
#include "schema/causes.def"
};

const char *check_cause_name(enum check_cause cause)
{
	return causes[cause].name;
}

const char *check_cause_meaning(enum check_cause cause)
{
	return causes[cause].meaning;
}

static bool follow_growth(struct check *check)
{
	unsigned int nr = check->machine.mm.config.nr_cpus;

	check->growth = calloc(nr, sizeof(*check->growth));
	check->burst = calloc(nr, sizeof(*check->burst));
	check->rotation = calloc(nr, sizeof(*check->rotation));
	check->rotated = calloc(1, sizeof(*check->rotated));
	check->advice = calloc((size_t)nr * NR_ADVICES, sizeof(*check->advice));
	check->gone = calloc(nr, sizeof(*check->gone));
	return check->advice && check->gone && check->rotated && check->growth && check->burst &&
	       check->rotation && (check->tables = page_tables_open(&check->machine));
}

static void free_rooms(struct check *check)
{
	free(check->lru_gen_before);
	free(check->draining);
	free(check->run);
	free(check->expected);
	free(check->reader);
	free(check->growth);
	free(check->burst);
	free(check->rotation);
	free(check->swap);
	free(check->rotated);
	check_advice_free(check);
	check_looks_free(check);
	page_tables_close(check->tables);
	check_ahead_free(check);
	free(check->tally);
	free(check->explained);
}

struct check *check_open(struct world *world, const struct policy_choice *choice,
			 unsigned int nr_explain)
{
	struct check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->world = world;
	check->walks_from_ns = UINT64_MAX;
	if (machine_init(&check->machine, world, choice, true))
		goto err_free;
	check->draining = calloc(check->machine.mm.config.nr_cpus, sizeof(*check->draining));
	check->run = calloc(check->machine.mm.config.nr_cpus, sizeof(*check->run));
	check->nr_explain = nr_explain;
	check->explained = calloc(nr_explain + 1, sizeof(*check->explained));
	check->swap = calloc(check->machine.mm.config.nr_cpus, sizeof(*check->swap));
	if (!check->draining || !check->run || !check->explained || !check->swap)
		goto err_exit;
	if (world->growth_seen && !choice->base->generations && !follow_growth(check))
		goto err_exit;
	if (choice->base->generations)
		check_lru_gen_start(check);
	return check;

err_exit:
	free_rooms(check);
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
		check_bracket_free(world->task[i]->bracket);
		world->task[i]->bracket = NULL;
	}
	machine_exit(&check->machine);
	free_rooms(check);
	free(check);
}

enum foresight check_foresees(const struct check *check)
{
	if (!check->machine.mm.policy->generations)
		return check_foresees_owners(check) ? FORESEE_ISOLATIONS : FORESEE_NOTHING;
	return lru_gen_is_silent(check) ? FORESEE_VICTIMS : FORESEE_ISOLATIONS;
}

void check_foresee(struct check *check, const struct tape_event *event, const uint32_t *pfn,
		   unsigned int nr)
{
	struct world_task *task = nr ? world_task(check->world, event->pid) : NULL;
	struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	uint32_t *ahead;

	if (!bracket)
		return;
	ahead = realloc(bracket->ahead, nr * sizeof(*ahead));
	if (!ahead) {
		check->failed = true;
		return;
	}
	memcpy(ahead, pfn, nr * sizeof(*ahead));
	bracket->ahead = ahead;
	bracket->nr_ahead = nr;
	bracket->at_ahead = 0;
}

bool check_failed(const struct check *check)
{
	return check->failed || check->machine.failed || check->machine.mm.out_of_memory ||
	       check->world->out_of_memory;
}

const struct check_tally *check_tally(const struct check *check, uint32_t memcg,
				      enum check_decision decision)
{
	if (memcg >= check->nr_tallies || !check->tally[memcg].decision[decision].decided)
		return NULL;
	return &check->tally[memcg].decision[decision];
}

void check_tell_verdicts(struct check *check,
			 void (*on_verdict)(void *ctx, const struct check_verdict *verdict),
			 void *ctx)
{
	check->on_verdict = check->machine.mm.policy->generations ? NULL : on_verdict;
	check->verdict_ctx = ctx;
}

const char *check_outcome_name(enum check_outcome outcome)
{
	static const char *const name[] = { "evicted", "written", "kept", "activated",
					    "deactivated" };

	return name[outcome];
}

const char *check_word_name(enum check_word word)
{
	static const char *const name[] = { "old", "young", "around", "unknown" };

	return name[word];
}

const struct check_drift *check_drift(const struct check *check, uint32_t memcg, bool file)
{
	if (memcg >= check->nr_tallies || check->tally[memcg].drift[file].since_ns == UINT64_MAX)
		return NULL;
	return &check->tally[memcg].drift[file];
}

const struct check_undecided *check_undecided(const struct check *check)
{
	return &check->undecided;
}

bool check_undecided_kind(const struct check *check, unsigned int i,
			  struct check_undecided_kind *kind)
{
	const struct check_undecided_kind kinds[] = {
#define UNDECIDED(name, cause, meaning)                                                            \
	{ #name, meaning, CHECK_CAUSE_##cause, check->undecided.name },
#include "replay/check/undecided.def"
	};

	if (i >= sizeof(kinds) / sizeof(kinds[0]))
		return false;
	*kind = kinds[i];
	return true;
}

uint64_t check_walks_from(const struct check *check)
{
	return check->walks_from_ns;
}

const struct check_mismatch *check_mismatch(const struct check *check, unsigned int i)
{
	return i < check->nr_explained ? &check->explained[i] : NULL;
}

static void events_lost(struct check *check)
{
	check->draining[check_cpu(check)].nr = 0;
	check->lossy = true;
	check_looks_lost(check);
}

void check_event(struct check *check, const struct tape_event *event, uint64_t read_end)
{
	const uint64_t *v = event->value;
	const bool generations = check->machine.mm.policy->generations;
	unsigned int cpu;

	check->event = event;
	check->about = NULL;
	check->nr_events++;
	check_ahead_event(check);
	if (generations) {
		check_lru_gen_snapshots(check);
		check_lru_gen_before(check);
		check_lru_gen_survived(check);
	}
	cpu = check_cpu(check);
	if (check->growth)
		check_growth_over(check, cpu);
	if (check->run[cpu].made && event->kind != EVENT_MM_LRU_INSERTION &&
	    event->kind != EVENT_MOD_MEMCG_LRUVEC_STATE)
		check_buffer_found(check, cpu);
	if (event->kind == EVENT_MM_LRU_INSERTION)
		check->run[cpu].nr++;
	else if (check->run[cpu].nr && event->kind != EVENT_MOD_MEMCG_LRUVEC_STATE)
		check_insertions_over(check, cpu);
	switch (event->kind) {
	case EVENT_MM_FILEMAP_GET_PAGES:
	case EVENT_MM_FILEMAP_FAULT:
	case EVENT_PAGE_CACHE_SYNC_RA:
	case EVENT_PAGE_CACHE_ASYNC_RA:
	case EVENT_SCHED_PROCESS_EXIT:
		check_window_over(check);
		break;
	default:
		break;
	}
	if (event_ends_readahead(event)) {
		struct world_task *task = world_task(check->world, event->pid);

		if (task)
			machine_reads_submitted(&check->machine, task);
	}
	machine_time_passes(&check->machine, event->timestamp_ns);
	if (check->world->anon)
		check_advised(check);
	check_reclaim_goes_on(check);
	switch (event->kind) {
	case EVENT_MM_LRU_INSERTION:
		check_inserted(check);
		if (v[MM_LRU_INSERTION_LRU] < LRU_INACTIVE_FILE)
			check_overhead_bounded(check);
		if (generations)
			check_lru_gen_drained(check);
		break;
	case EVENT_MM_LRU_ACTIVATE:
		if (generations)
			check_lru_gen_activated(check);
		else
			check_activated(check);
		break;
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		check_folio_added(check);
		break;
	case EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE:
		check_folio_deleted(check);
		break;
	case EVENT_MM_FILEMAP_GET_PAGES:
		check_pages_read(check, read_end);
		break;
	case EVENT_MM_FILEMAP_MAP_PAGES:
		check_pages_mapped(check, v[MM_FILEMAP_MAP_PAGES_S_DEV],
				   v[MM_FILEMAP_MAP_PAGES_I_INO], v[MM_FILEMAP_MAP_PAGES_INDEX],
				   v[MM_FILEMAP_MAP_PAGES_LAST_INDEX]);
		break;
	case EVENT_MM_FILEMAP_FAULT:
		check_pages_mapped(check, v[MM_FILEMAP_FAULT_S_DEV], v[MM_FILEMAP_FAULT_I_INO],
				   v[MM_FILEMAP_FAULT_INDEX], v[MM_FILEMAP_FAULT_INDEX]);
		break;
	case EVENT_BLOCK_TOUCH_BUFFER:
		check_buffer_touched(check);
		break;
	case EVENT_PAGE_FAULT_USER:
		check_fault_begun(check);
		check_page_faulted(check);
		break;
	case EVENT_MM_PAGE_ALLOC:
		check_page_allocated(check);
		break;
	case EVENT_MM_PAGE_FREE:
		check_page_freed(check);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN:
		check_reclaim_begun(check, true);
		if (generations)
			check_lru_gen_drained(check);
		break;
	case EVENT_MM_VMSCAN_DIRECT_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_NODE_RECLAIM_BEGIN:
	case EVENT_MM_VMSCAN_KSWAPD_WAKE:
		check_reclaim_begun(check, false);
		if (generations)
			check_lru_gen_drained(check);
		break;
	case EVENT_MM_VMSCAN_MEMCG_RECLAIM_END:
	case EVENT_MM_VMSCAN_DIRECT_RECLAIM_END:
	case EVENT_MM_VMSCAN_MEMCG_SOFTLIMIT_RECLAIM_END:
	case EVENT_MM_VMSCAN_NODE_RECLAIM_END:
		if (generations)
			check_lru_gen_ended(check, v[MM_VMSCAN_MEMCG_RECLAIM_END_NR_RECLAIMED]);
		else
			check_reclaim_ended(check, v[MM_VMSCAN_MEMCG_RECLAIM_END_NR_RECLAIMED]);
		break;
	case EVENT_MM_VMSCAN_KSWAPD_SLEEP:
		if (generations)
			check_lru_gen_ended(check, 0);
		else
			check_reclaim_ended(check, 0);
		break;
	case EVENT_MM_VMSCAN_LRU_ISOLATE:
		if (generations)
			check_lru_gen_isolated(check, read_end);
		else
			check_isolated(check, check_foresees_owners(check) ? read_end : 0);
		break;
	case EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE:
		if (generations)
			check_lru_gen_shrunk(check);
		else
			check_inactive_shrunk(check);
		break;
	case EVENT_MM_VMSCAN_LRU_SHRINK_ACTIVE:
		check_active_shrunk(check);
		break;
	case EVENT_PAGE_CACHE_SYNC_RA:
		check_readahead(check, false);
		break;
	case EVENT_PAGE_CACHE_ASYNC_RA:
		machine_marker_met(&check->machine, event);
		check_readahead(check, true);
		break;
	case EVENT_PAGE_CACHE_RA_ORDER:
		check_window(check);
		break;
	case EVENT_PAGE_CACHE_RA_UNBOUNDED:
		check_plain_window(check);
		break;
	case EVENT_MM_SHRINK_SLAB_START:
		check_slab_shrunk(check);
		break;
	case EVENT_MOD_MEMCG_LRUVEC_STATE:
		check_list_grown(check);
		break;
	case EVENT_FOLIO_LOOK:
		check_look_begun(check);
		break;
	case EVENT_FOLIO_REFERENCED:
		check_look_told(check);
		break;
	case EVENT_MM_VMSCAN_WRITE_FOLIO:
		check_folio_written(check);
		break;
	case EVENT_BLOCK_BIO_QUEUE:
		check_swap_io(check);
		check_writeback(check);
		break;
	case EVENT_BLOCK_RQ_COMPLETE:
		check_swap_io_ended(check);
		check_writeback(check);
		break;
	case EVENT_MM_VMSCAN_RECLAIM_PAGES:
		check_pages_reclaimed(check);
		break;
	case EVENT_WRITEBACK_DIRTY_FOLIO:
		check_folio_dirtied(check);
		break;
	case EVENT_INODE_EVICTED:
		machine_inode_evicted(&check->machine, event);
		break;
	case EVENT_FTRACE_PRINT:
		if (generations)
			check_lru_gen_mark(check, tape_event_string(event, FTRACE_PRINT_BUF, NULL));
		break;
	case EVENT_SCHED_PROCESS_EXEC:
	case EVENT_SCHED_PROCESS_EXIT:
		page_tables_space_gone(check->tables, NULL, NULL);
		if (event->kind == EVENT_SCHED_PROCESS_EXEC)
			check_exec_begun(check);
		break;
	case EVENT_CGROUP_RMDIR:
		machine_memcg_removed(&check->machine, event);
		break;
	case EVENT_MEMCG_FLUSH_STATS:
	case EVENT_CGROUP_RSTAT_LOCKED:
		check_flushes(check);
		machine_flush(&check->machine, event);
		break;
	case EVENT_LOST:
		events_lost(check);
		break;
	default:
		break;
	}
}
