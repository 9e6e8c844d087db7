// SPDX-License-Identifier: GPL-2.0-only
/*
 * What must hold of every replay, over random tapes. A failure prints the seed that repeats it:
 *
 *   LRUTAPE_SEED=n      only the tape of this seed
 *   LRUTAPE_SEEDS=n     that many tapes for each property (preset 12)
 */
#include "replay/check/check.h"
#include "replay/engine/engine.h"
#include "replay/event_stream.h"
#include "replay/future.h"

#include "tests/unit/made_tape.h"

#define PRESET_SEEDS 12
#define EVENTS 1500
#define CPUS 4
#define FILES 3
#define FILE_PAGES 1024
#define ANON_FRAMES 64
#define ANON_PFN 0x100000
#define FLAGS_ANON 0x12 /* anon, swapbacked */
#define MEMCG_LIMIT 16
#define RUNS_LIMIT 32

/* ---- stimuli */

struct stimulus {
	uint64_t timestamp_ns;
	uint32_t cpu;
	int32_t pid;
	enum event_kind kind; /* EVENT_LOST: value[0] events */
	uint64_t value[14];
	unsigned int nr_values;
};

struct story {
	struct stimulus *stimulus;
	size_t nr, room;
	uint64_t random;
	uint64_t now_ns;
	uint8_t anon_order[ANON_FRAMES]; /* 1 + order of the living folio, 0: free */
	bool with_anon;
	bool with_nonsense; /* verdicts and values that no kernel would record */
};

static uint64_t seed; /* of the story being told */
static bool in_property; /* an assertion failed if this is still set at teardown */

static uint64_t draw(struct story *story, uint64_t limit)
{
	story->random ^= story->random << 13;
	story->random ^= story->random >> 7;
	story->random ^= story->random << 17;
	return (story->random >> 11) % limit;
}

static void tell_values(struct story *story, uint32_t cpu, int32_t pid, enum event_kind kind,
			const uint64_t *value, size_t nr)
{
	struct stimulus *stimulus;

	if (story->nr == story->room) {
		story->room = story->room ? story->room * 2 : 4096;
		story->stimulus = realloc(story->stimulus, story->room * sizeof(*stimulus));
		assert_non_null(story->stimulus);
	}
	stimulus = &story->stimulus[story->nr++];
	story->now_ns += 1 + draw(story, 2000);
	*stimulus = (struct stimulus){ .timestamp_ns = story->now_ns,
				       .cpu = cpu,
				       .pid = pid,
				       .kind = kind,
				       .nr_values = (unsigned int)nr };
	memcpy(stimulus->value, value, nr * sizeof(*value));
}

#define tell(story, cpu, pid, KIND, ...)                                                           \
	tell_values(story, cpu, pid, EVENT_##KIND, (const uint64_t[]){ __VA_ARGS__ },              \
		    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Mostly near the beginning of a file, so that pages come again. */
static uint64_t draw_page(struct story *story)
{
	uint64_t limit = FILE_PAGES >> draw(story, 4);

	return draw(story, limit);
}

static int32_t draw_reader(struct story *story)
{
	static const int32_t pid[] = { GROUP_TASK, GROUP_TASK, GROUP_TASK + 1, OTHER_TASK };

	return pid[draw(story, sizeof(pid) / sizeof(pid[0]))];
}

static void tell_read(struct story *story, uint32_t cpu, int32_t pid)
{
	uint64_t ino = MADE_INO + draw(story, FILES), page = draw_page(story);
	uint64_t nr = draw(story, 4) ? 1 : 1 + draw(story, 70);

	for (uint64_t at = page; at < page + nr; at += 31)
		tell(story, cpu, pid, MM_FILEMAP_GET_PAGES, ino, MADE_DEV, at, page + nr - 1);
}

/* A miss: readahead's events, the adds of its window, the read. */
static void tell_miss(struct story *story, uint32_t cpu, int32_t pid)
{
	uint64_t ino = MADE_INO + draw(story, FILES), page = draw_page(story);
	uint64_t order = draw(story, 3) ? 0 : draw(story, 5), nr = 1 + draw(story, 4);

	page &= ~((UINT64_C(1) << order) - 1);
	tell(story, cpu, pid, PAGE_CACHE_SYNC_RA, ino, MADE_DEV, page, 32, 1, 0);
	tell(story, cpu, pid, PAGE_CACHE_RA_ORDER, ino, MADE_DEV, page, order, nr << order, 1);
	for (uint64_t i = 0; i < nr; i++)
		tell(story, cpu, pid, MM_FILEMAP_ADD_TO_PAGE_CACHE,
		     MADE_PFN + (ino - MADE_INO) * 2 * FILE_PAGES + page + (i << order), ino,
		     page + (i << order), MADE_DEV, order);
	tell(story, cpu, pid, MM_FILEMAP_GET_PAGES, ino, MADE_DEV, page, page);
}

static void tell_write(struct story *story, uint32_t cpu, int32_t pid)
{
	uint64_t ino = MADE_INO + draw(story, FILES), page = draw_page(story);

	for (uint64_t i = 0, nr = 1 + draw(story, 40); i < nr; i++)
		tell(story, cpu, pid, MM_FILEMAP_ADD_TO_PAGE_CACHE, MADE_PFN + page + i, ino,
		     page + i, MADE_DEV, 0);
}

static void tell_deletion(struct story *story, uint32_t cpu, int32_t pid)
{
	tell(story, cpu, pid, MM_FILEMAP_DELETE_FROM_PAGE_CACHE, MADE_PFN,
	     MADE_INO + draw(story, FILES), draw_page(story), MADE_DEV, draw(story, 3));
}

/* The recorded kernel's own evictions: no stimulus. */
static void tell_reclaim(struct story *story, uint32_t cpu, int32_t pid)
{
	tell(story, cpu, pid, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	for (uint64_t i = 0, nr = draw(story, 4); i < nr; i++) {
		uint64_t taken = draw(story, 33);

		tell(story, cpu, pid, MM_VMSCAN_LRU_ISOLATE, 4, 0, taken, taken, 0, taken,
		     draw(story, story->with_nonsense ? 6 : 2) + 2);
		tell_deletion(story, cpu, pid);
		tell(story, cpu, pid, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, taken, draw(story, 3));
	}
	if (!story->with_nonsense || draw(story, 4))
		tell(story, cpu, pid, MM_VMSCAN_MEMCG_RECLAIM_END, draw(story, 40));
}

static void tell_anon(struct story *story, uint32_t cpu, int32_t pid)
{
	uint64_t frame = draw(story, ANON_FRAMES), pfn = ANON_PFN + frame * 16;
	uint64_t order;

	if (story->anon_order[frame]) {
		tell(story, cpu, pid, MM_PAGE_FREE, pfn, story->anon_order[frame] - 1);
		story->anon_order[frame] = 0;
		return;
	}
	order = 1 + draw(story, 4);
	tell(story, cpu, pid, MM_PAGE_ALLOC, pfn, order, 8, 1);
	tell(story, cpu, pid, MM_LRU_INSERTION, pfn, 0, FLAGS_ANON);
	story->anon_order[frame] = (uint8_t)(order + 1);
}

/* Any event with any values, small or huge. */
static void tell_nonsense(struct story *story, uint32_t cpu, int32_t pid)
{
	static const enum event_kind kinds[] = {
		EVENT_MM_LRU_INSERTION,
		EVENT_MM_LRU_ACTIVATE,
		EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE,
		EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE,
		EVENT_MM_PAGE_ALLOC,
		EVENT_MM_PAGE_FREE,
		EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN,
		EVENT_MM_VMSCAN_MEMCG_RECLAIM_END,
		EVENT_MM_VMSCAN_DIRECT_RECLAIM_BEGIN,
		EVENT_MM_VMSCAN_DIRECT_RECLAIM_END,
		EVENT_MM_VMSCAN_LRU_ISOLATE,
		EVENT_MM_VMSCAN_LRU_SHRINK_INACTIVE,
		EVENT_MM_VMSCAN_LRU_SHRINK_ACTIVE,
		EVENT_MM_VMSCAN_KSWAPD_WAKE,
		EVENT_MM_VMSCAN_KSWAPD_SLEEP,
		EVENT_PAGE_CACHE_SYNC_RA,
		EVENT_PAGE_CACHE_ASYNC_RA,
		EVENT_PAGE_CACHE_RA_UNBOUNDED,
		EVENT_MM_FILEMAP_FAULT,
		EVENT_MM_FILEMAP_MAP_PAGES,
		EVENT_CGROUP_ATTACH_TASK,
		EVENT_CGROUP_MKDIR,
		EVENT_CGROUP_RMDIR,
		EVENT_SCHED_PROCESS_FORK,
		EVENT_SCHED_PROCESS_EXIT,
		EVENT_WRITEBACK_DIRTY_FOLIO,
		EVENT_PAGE_REQUEST,
	};
	enum event_kind kind = kinds[draw(story, sizeof(kinds) / sizeof(kinds[0]))];
	const struct event_info *info = event_info_by_kind(kind);
	uint64_t value[14];

	for (unsigned int i = 0; i < info->nr_fields; i++) {
		bool page = !strcmp(info->field[i].name, "pfn");

		switch (draw(story, 5)) {
		case 0:
			value[i] = draw(story, 4);
			break;
		case 1:
			value[i] = draw(story, 64);
			break;
		case 2:
			value[i] = UINT64_MAX >> draw(story, 64);
			break;
		default:
			value[i] = page ? MADE_PFN + draw(story, FILE_PAGES) : MADE_INO;
			break;
		}
		/* Nobody is given frame 0; opt takes it for none. */
		if (page && !value[i])
			value[i] = 1;
		/* A folio of 32 MiB in a group of 1 MiB only makes the test slow. */
		if (!strcmp(info->field[i].name, "order"))
			value[i] %= 16;
		if (!strcmp(info->field[i].name, "s_dev"))
			value[i] = MADE_DEV;
	}
	tell_values(story, cpu, pid, kind, value, info->nr_fields);
}

static void tell_one(struct story *story)
{
	uint32_t cpu = (uint32_t)draw(story, CPUS);
	int32_t pid = draw_reader(story);

	switch (draw(story, 20)) {
	default:
		tell_read(story, cpu, pid);
		break;
	case 0 ... 4:
		tell_miss(story, cpu, pid);
		break;
	case 5:
		tell_write(story, cpu, pid);
		break;
	case 6:
		tell_deletion(story, cpu, draw(story, 2) ? OTHER_TASK : KDAMOND_TASK);
		break;
	case 7:
		tell_reclaim(story, cpu, GROUP_TASK);
		break;
	case 8:
		if (!draw(story, 8))
			tell(story, cpu, OTHER_TASK, MEMCG_FLUSH_STATS,
			     draw(story, 2) ? 1 : GROUP_ID, 100, 1, 1);
		break;
	case 9 ... 10:
		if (story->with_anon)
			tell_anon(story, cpu, pid);
		break;
	case 11:
		if (!draw(story, 20))
			tell(story, cpu, OTHER_TASK, CGROUP_ATTACH_TASK, 0,
			     draw(story, 2) ? GROUP_ID : 1, 1, (uint64_t)draw_reader(story), 0, 0);
		break;
	case 12:
		if (!draw(story, 10))
			tell(story, cpu, 0, LOST, 1 + draw(story, 100));
		break;
	case 13:
		if (story->with_nonsense)
			tell_nonsense(story, cpu, draw(story, 2) ? pid : (int32_t)draw(story, 40));
		break;
	}
}

static void tell_story(struct story *story, bool with_anon, bool with_nonsense)
{
	memset(story, 0, sizeof(*story));
	story->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u;
	story->with_anon = with_anon;
	story->with_nonsense = with_nonsense;
	while (story->nr < EVENTS)
		tell_one(story);
}

/* ---- tapes */

/* How the same events lie in the file. */
struct layout {
	uint32_t frame_bytes;
	bool cpus_apart; /* one stream after the other, the last CPU first */
	uint64_t flush_every; /* events; a frame ends there */
};

static void write_stimulus(struct made_tape *tape, const struct stimulus *stimulus)
{
	if (stimulus->kind == EVENT_LOST) {
		made_lost(tape, stimulus->cpu, stimulus->value[0]);
		return;
	}
	tape->now_ns = stimulus->timestamp_ns - tape->step_ns;
	made_event_values(tape, stimulus->cpu, stimulus->pid, stimulus->kind, stimulus->value,
			  stimulus->nr_values, "/g");
}

static void write_tape(struct made_tape *tape, const struct story *story, uint64_t limit_pages,
		       const struct layout *layout)
{
	const struct tape_writer_options options = { .frame_bytes = layout->frame_bytes };

	made_tape_begin(tape, &options);
	if (limit_pages) /* otherwise nothing says who is in which group */
		made_machine(tape, limit_pages);
	else
		made_blob(tape, TAPE_MOMENT_START, "lrutape/facts", "memory_limit=2097152\n");
	for (uint32_t pass = 0; pass < (layout->cpus_apart ? CPUS : 1); pass++)
		for (size_t i = 0; i < story->nr; i++) {
			const struct stimulus *stimulus = &story->stimulus[i];

			if (layout->cpus_apart && stimulus->cpu != CPUS - 1 - pass)
				continue;
			write_stimulus(tape, stimulus);
			if (layout->flush_every && i % layout->flush_every == 0)
				assert_int_equal(tape_stream_flush(tape_writer_stream(
							 tape->writer, stimulus->cpu)),
						 0);
		}
	made_tape_read(tape);
}

/* ---- runs */

/* All that a run counts. */
struct outcome {
	uint64_t counter[MEMCG_LIMIT][NR_COUNTERS];
	struct lock_count lock[MEMCG_LIMIT][NR_LOCK_SITES];
	struct drain_count drain[NR_LRU_BATCHES][NR_DRAIN_CAUSES];
	uint64_t inferred[NR_INFER_RULES];
	uint64_t accesses, stimuli;
	int64_t resident_pages, listed_pages; /* at the end */
	uint64_t over_limit_events;
};

struct run_spec {
	const char *policy;
	int64_t memory_pages;
};

static int64_t stock_pages(const struct mm *mm)
{
	int64_t pages = 0;

	for (unsigned int cpu = 0; cpu < mm->config.nr_cpus; cpu++)
		for (unsigned int i = 0; i < MEMCG_STOCK_LIMIT; i++)
			pages += mm->cpu[cpu].stock[i].pages;
	return pages;
}

static void take_outcome(const struct replay *replay, struct outcome *outcome)
{
	const struct mm *mm = replay_mm(replay);
	uint64_t inferred;

	assert_true(mm->nr_memcgs <= MEMCG_LIMIT);
	for (unsigned int n = 0; n < mm->nr_memcgs; n++) {
		const struct lruvec *lruvec = &mm->memcg[n]->lruvec[0];

		memcpy(outcome->counter[n], lruvec->counter, sizeof(lruvec->counter));
		memcpy(outcome->lock[n], lruvec->lock, sizeof(lruvec->lock));
		for (int lru = 0; lru < NR_LRU_LISTS; lru++)
			outcome->listed_pages += lruvec->lru_size[lru];
	}
	memcpy(outcome->drain, mm->drain, sizeof(mm->drain));
	for (unsigned int rule = 0; rule < NR_INFER_RULES; rule++)
		outcome->inferred[rule] = replay_inferred(replay, (enum infer_rule)rule);
	outcome->accesses = replay_accesses(replay);
	outcome->stimuli = replay_stimuli(replay, &inferred);
	assert_true(inferred <= outcome->stimuli);
	outcome->resident_pages = mm->root->usage_pages - stock_pages(mm);
}

static void assert_holds(const struct replay *replay, struct outcome *outcome)
{
	const struct mm *mm = replay_mm(replay);

	for (unsigned int n = 0; n < mm->nr_memcgs; n++) {
		const struct mem_cgroup *memcg = mm->memcg[n];

		assert_true(mm->policy->check(mm, &memcg->lruvec[0]));
		outcome->over_limit_events += memcg->max_pages != MEMCG_UNLIMITED &&
					      memcg->usage_pages > memcg->max_pages;
	}
}

static void play(struct made_tape *tape, const struct run_spec *spec, unsigned int nr_runs,
		 struct outcome *outcome)
{
	struct replay *replay[RUNS_LIMIT];
	const struct tape_event *event;
	struct event_stream *stream;
	struct future *future;
	struct world world;
	uint64_t read_end;
	int ret;

	assert_int_equal(tape_reader_rewind(tape->reader), 0);
	assert_int_equal(world_init(&world, tape->reader), 0);
	assert_int_equal(future_read(tape->reader, &future), 0);
	memset(outcome, 0, nr_runs * sizeof(*outcome));
	for (unsigned int i = 0; i < nr_runs; i++) {
		struct policy_choice choice;
		char why[256];

		assert_int_equal(policy_parse(spec[i].policy, "6.18", &choice, why, sizeof(why)),
				 0);
		replay[i] = replay_open(&world, &choice, spec[i].memory_pages);
		assert_non_null(replay[i]);
		replay_foretell(replay[i], future);
	}
	stream = event_stream_open(tape->reader);
	assert_non_null(stream);
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(&world, event);
		for (unsigned int i = 0; i < nr_runs; i++) {
			replay_event(replay[i], event, read_end);
			assert_holds(replay[i], &outcome[i]);
		}
		world_event_done(&world, event, read_end);
	}
	assert_int_equal(ret, 0);
	event_stream_close(stream);
	for (unsigned int i = 0; i < nr_runs; i++) {
		replay_finish(replay[i]);
		assert_holds(replay[i], &outcome[i]);
		assert_false(replay_failed(replay[i]));
		take_outcome(replay[i], &outcome[i]);
		replay_close(replay[i]);
	}
	future_close(future);
	world_exit(&world);
}

static uint64_t sum(const struct outcome *outcome, enum counter which)
{
	uint64_t n = 0;

	for (int memcg = 0; memcg < MEMCG_LIMIT; memcg++)
		n += outcome->counter[memcg][which];
	return n;
}

/* ---- properties */

static const struct layout plain = { 0, false, 0 };
static const struct run_spec runs[] = {
	{ "classic", REPLAY_MEMORY_RECORDED },
	{ "classic", 700 },
	{ "classic+large_folio_lru_cache", REPLAY_MEMORY_RECORDED },
	{ "classic+large_folio_lru_cache=5", 400 },
};
#define NR_RUNS 4

static void for_each_seed(void (*property)(void))
{
	const char *one = getenv("LRUTAPE_SEED"), *many = getenv("LRUTAPE_SEEDS");
	uint64_t nr = many ? strtoull(many, NULL, 10) : PRESET_SEEDS;

	in_property = true;
	if (one) {
		seed = strtoull(one, NULL, 10);
		property();
	}
	for (seed = 1; !one && seed <= nr; seed++)
		property();
	in_property = false;
}

static int tell_seed(void **state)
{
	(void)state;
	if (in_property)
		fprintf(stderr, "LRUTAPE_SEED=%llu repeats it\n", (unsigned long long)seed);
	in_property = false;
	return 0;
}

static void assert_accounts(const struct outcome *outcome, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t came = sum(&outcome[i], COUNT_misses) + sum(&outcome[i], COUNT_readahead) +
				sum(&outcome[i], COUNT_anon_alloc);
		uint64_t went = sum(&outcome[i], COUNT_pgsteal_file) +
				sum(&outcome[i], COUNT_pgsteal_anon) +
				sum(&outcome[i], COUNT_truncated) +
				sum(&outcome[i], COUNT_foreign_evictions) +
				sum(&outcome[i], COUNT_anon_free);

		assert_int_equal(came - went, outcome[i].resident_pages);
		assert_int_equal(outcome[i].listed_pages, outcome[i].resident_pages);
	}
}

static void accounts_balance(void)
{
	struct outcome outcome[NR_RUNS];
	struct made_tape tape;
	struct story story;

	tell_story(&story, true, false);
	write_tape(&tape, &story, 500, &plain);
	play(&tape, runs, NR_RUNS, outcome);
	assert_accounts(outcome, NR_RUNS);
	made_tape_end(&tape);
	free(story.stimulus);
}

static void what_came_in_is_resident_reclaimed_or_freed(void **state)
{
	(void)state;
	for_each_seed(accounts_balance);
}

static uint64_t met[NR_COUNTERS]; /* by all stories together */

static void steals_are_scanned(void)
{
	struct outcome outcome[NR_RUNS];
	struct made_tape tape;
	struct story story;

	tell_story(&story, true, false);
	write_tape(&tape, &story, 500, &plain);
	play(&tape, runs, NR_RUNS, outcome);
	for (int i = 0; i < NR_RUNS; i++) {
		for (int n = 0; n < MEMCG_LIMIT; n++) {
			const uint64_t *c = outcome[i].counter[n];

			assert_true(c[COUNT_pgsteal_file] <= c[COUNT_pgscan_file]);
			assert_true(c[COUNT_pgsteal_anon] <= c[COUNT_pgscan_anon]);
			assert_int_equal(c[COUNT_pgsteal_file] + c[COUNT_pgsteal_anon],
					 c[COUNT_pgsteal_direct] + c[COUNT_pgsteal_kswapd]);
			assert_int_equal(c[COUNT_pgscan_file] + c[COUNT_pgscan_anon],
					 c[COUNT_pgscan_direct] + c[COUNT_pgscan_kswapd]);
			assert_true(c[COUNT_hits] <= c[COUNT_accesses]);
			assert_true(c[COUNT_workingset_activate_file] <=
				    c[COUNT_workingset_refault_file]);
			assert_true(c[COUNT_workingset_restore_file] <=
				    c[COUNT_workingset_activate_file]);
			assert_true(c[COUNT_pgdeactivate] <= c[COUNT_pgrefill]);
		}
		for (int c = 0; c < NR_COUNTERS; c++)
			met[c] += sum(&outcome[i], (enum counter)c);
		assert_int_equal(sum(&outcome[i], COUNT_accesses), outcome[i].accesses);
		/* Drains and insertions are one thing counted twice, but for the dead. */
		assert_true(sum(&outcome[i], COUNT_dead_at_drain) <=
			    sum(&outcome[i], COUNT_lru_insertions));
	}
	made_tape_end(&tape);
	free(story.stimulus);
}

static void counters_are_in_the_relations_that_their_names_say(void **state)
{
	static const enum counter wanted[] = {
		COUNT_hits,
		COUNT_misses,
		COUNT_readahead,
		COUNT_workingset_refault_file,
		COUNT_workingset_activate_file,
		COUNT_workingset_restore_file,
		COUNT_pgactivate,
		COUNT_pgdeactivate,
		COUNT_pgsteal_file,
		COUNT_foreign_evictions,
		COUNT_truncated,
		COUNT_anon_free,
		COUNT_dead_at_drain,
	};

	(void)state;
	for_each_seed(steals_are_scanned);
	if (getenv("LRUTAPE_SEED") || getenv("LRUTAPE_SEEDS"))
		return;
	/* Stories in which nothing happens would prove nothing. */
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!met[wanted[i]])
			fail_msg("counter %d is 0 in all stories", (int)wanted[i]);
}

static void layouts_agree(void)
{
	static const struct layout layouts[] = {
		{ 256, false, 0 }, { 4096, true, 0 }, { 0, false, 7 }, { 1000, true, 3 }
	};
	struct outcome as_written[NR_RUNS], otherwise[NR_RUNS];
	struct made_tape tape;
	struct story story;

	tell_story(&story, true, false);
	write_tape(&tape, &story, 500, &plain);
	play(&tape, runs, NR_RUNS, as_written);
	made_tape_end(&tape);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		write_tape(&tape, &story, 500, &layouts[i]);
		play(&tape, runs, NR_RUNS, otherwise);
		assert_memory_equal(as_written, otherwise, sizeof(otherwise));
		made_tape_end(&tape);
	}
	free(story.stimulus);
}

static void same_events_in_other_frames_change_nothing(void **state)
{
	(void)state;
	for_each_seed(layouts_agree);
}

static void repeats(void)
{
	struct outcome together[NR_RUNS], again[NR_RUNS], alone;
	struct made_tape tape;
	struct story story;

	tell_story(&story, true, false);
	write_tape(&tape, &story, 500, &plain);
	play(&tape, runs, NR_RUNS, together);
	play(&tape, runs, NR_RUNS, again);
	assert_memory_equal(together, again, sizeof(again));
	for (int i = 0; i < NR_RUNS; i++) {
		play(&tape, &runs[i], 1, &alone);
		assert_memory_equal(&together[i], &alone, sizeof(alone));
	}
	made_tape_end(&tape);
	free(story.stimulus);
}

static void same_tape_gives_the_same_counts_again_and_alone(void **state)
{
	(void)state;
	for_each_seed(repeats);
}

/*
 * File pages alone, and room enough for what may be held back: 31 folios in two batches of each
 * other CPU, and the windows in preparation. Anon pages are not reclaimed: they may force a charge.
 */
static void limit_holds(void)
{
	static const struct run_spec sizes[] = {
		{ "classic", REPLAY_MEMORY_RECORDED },
		{ "classic", 450 },
		{ "classic+large_folio_lru_cache", 1000 },
	};
	struct outcome outcome[3];
	struct made_tape tape;
	struct story story;

	tell_story(&story, false, false);
	write_tape(&tape, &story, 600, &plain);
	play(&tape, sizes, 3, outcome);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(outcome[i].over_limit_events, 0);
		assert_true(outcome[i].counter[1][COUNT_resident_max] > 300);
	}
	made_tape_end(&tape);
	free(story.stimulus);
}

static void group_never_exceeds_its_limit(void **state)
{
	(void)state;
	for_each_seed(limit_holds);
}

/* More than any memory: nothing is reclaimed, so that only first reads miss. */
static void memory_without_end_reclaims_nothing(void)
{
	static const struct run_spec endless = { "classic", 1 << 20 };
	struct outcome outcome;
	struct made_tape tape;
	struct story story;

	tell_story(&story, true, false);
	write_tape(&tape, &story, 500, &plain);
	play(&tape, &endless, 1, &outcome);
	assert_int_equal(sum(&outcome, COUNT_reclaims), 0);
	assert_int_equal(sum(&outcome, COUNT_pgscan_file), 0);
	assert_true(sum(&outcome, COUNT_workingset_refault_file) <=
		    16 * sum(&outcome, COUNT_foreign_evictions));
	made_tape_end(&tape);
	free(story.stimulus);
}

static void with_room_for_all_nothing_is_reclaimed(void **state)
{
	(void)state;
	for_each_seed(memory_without_end_reclaims_nothing);
}

/* ---- every policy, release and patch of the catalogue */

/* "base", "base@release" and "base+patch", as far as they can be had. Return: their number. */
static unsigned int whole_catalogue(struct run_spec *spec, char (*name)[POLICY_NAME_BYTES],
				    unsigned int room)
{
	const struct mm_rules *rules;
	struct policy_choice choice;
	unsigned int nr = 0, nr_rules;
	char why[256];

	rules = mm_rules_list(&nr_rules);
	for (unsigned int i = 0; policy_base(i); i++)
		for (unsigned int r = 0; r < nr_rules; r++)
			for (unsigned int p = 0; !p || policy_patch(p - 1); p++) {
				assert_true(nr < room);
				snprintf(name[nr], POLICY_NAME_BYTES, "%s@%s%s%s",
					 policy_base(i)->name, rules[r].release, p ? "+" : "",
					 p ? policy_patch(p - 1)->name : "");
				if (policy_parse(name[nr], "6.18", &choice, why, sizeof(why)))
					continue;
				spec[nr] = (struct run_spec){ name[nr], nr % 2 ? 500 : 300 };
				nr++;
			}
	return nr;
}

#define CATALOGUE_LIMIT 256

static void catalogue_keeps_accounts(void)
{
	static char name[CATALOGUE_LIMIT][POLICY_NAME_BYTES];
	static struct run_spec spec[CATALOGUE_LIMIT];
	static struct outcome outcome[RUNS_LIMIT];
	struct made_tape tape;
	struct story story;
	unsigned int nr = whole_catalogue(spec, name, CATALOGUE_LIMIT);

	tell_story(&story, true, seed % 2);
	write_tape(&tape, &story, 500, &plain);
	for (unsigned int i = 0; i < nr; i += RUNS_LIMIT) {
		unsigned int some = nr - i < RUNS_LIMIT ? nr - i : RUNS_LIMIT;

		play(&tape, spec + i, some, outcome);
		if (!story.with_nonsense)
			assert_accounts(outcome, some);
		for (unsigned int run = 0; run < some; run++)
			assert_true(sum(&outcome[run], COUNT_pgsteal_file) <=
				    sum(&outcome[run], COUNT_pgscan_file));
	}
	made_tape_end(&tape);
	free(story.stimulus);
}

static void every_policy_keeps_its_accounts_and_lists(void **state)
{
	(void)state;
	for_each_seed(catalogue_keeps_accounts);
}

/* Single pages, asked for one by one: loops, and pages near the beginning more often. */
static void tell_requests(struct story *story)
{
	uint64_t loop = 0;

	memset(story, 0, sizeof(*story));
	story->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u;
	while (story->nr < 2 * EVENTS) {
		uint64_t page = draw(story, 2) ? loop++ % 300 : draw(story, 1024 >> draw(story, 6));

		tell(story, 0, GROUP_TASK, PAGE_REQUEST, page, 1);
	}
}

static void yardsticks_measure(void)
{
	static const struct run_spec spec[] = {
		{ "opt", 150 },	    { "lru", 150 }, { "fifo", 150 }, { "clock", 150 },
		{ "classic", 150 }, { "lru", 151 }, { "lru", 200 },  { "lru", 290 },
		{ "lru", 301 },	    { "opt", 151 }, { "opt", 290 },
	};
	struct outcome outcome[11];
	struct made_tape tape;
	struct story story;

	tell_requests(&story);
	write_tape(&tape, &story, 0, &plain);
	play(&tape, spec, 11, outcome);
	for (int i = 1; i < 5; i++) /* nobody misses less than who knows the future */
		assert_true(sum(&outcome[0], COUNT_misses) <= sum(&outcome[i], COUNT_misses));
	assert_true(sum(&outcome[1], COUNT_misses) >= sum(&outcome[5], COUNT_misses));
	for (int i = 5; i < 8; i++) /* lists that hold all that smaller ones hold */
		assert_true(sum(&outcome[i], COUNT_misses) >= sum(&outcome[i + 1], COUNT_misses));
	assert_true(sum(&outcome[0], COUNT_misses) >= sum(&outcome[9], COUNT_misses));
	assert_true(sum(&outcome[9], COUNT_misses) >= sum(&outcome[10], COUNT_misses));
	assert_true(sum(&outcome[0], COUNT_misses) < sum(&outcome[1], COUNT_misses));
	made_tape_end(&tape);
	free(story.stimulus);
}

static void nobody_misses_less_than_opt_and_more_memory_never_hurts_lru(void **state)
{
	(void)state;
	for_each_seed(yardsticks_measure);
}

/* ---- tapes that no kernel recorded */

static void check_nonsense(struct made_tape *tape)
{
	const struct tape_event *event;
	struct policy_choice choice;
	struct event_stream *stream;
	struct world world;
	struct check *check;
	uint64_t read_end;
	char why[256];
	int ret;

	assert_int_equal(tape_reader_rewind(tape->reader), 0);
	assert_int_equal(world_init(&world, tape->reader), 0);
	assert_int_equal(policy_parse("classic", "6.18", &choice, why, sizeof(why)), 0);
	check = check_open(&world, &choice, 20);
	assert_non_null(check);
	stream = event_stream_open(tape->reader);
	while ((ret = event_stream_next(stream, &event, &read_end)) > 0) {
		world_event(&world, event);
		check_event(check, event, read_end);
		world_event_done(&world, event, read_end);
	}
	assert_int_equal(ret, 0);
	assert_false(check_failed(check));
	for (uint32_t n = 0; n < world.nr_memcgs; n++)
		for (int d = 0; d < NR_CHECK_DECISIONS; d++) {
			const struct check_tally *tally = check_tally(check, n,
								      (enum check_decision)d);

			if (!tally)
				continue;
			assert_true(tally->equal <= tally->decided);
			assert_int_equal(tally->equal == tally->decided,
					 tally->first_mismatch_ns == UINT64_MAX);
		}
	check_close(check);
	event_stream_close(stream);
	world_exit(&world);
}

static void nonsense_is_survived(void)
{
	struct outcome outcome[2];
	struct made_tape tape;
	struct story story;

	tell_story(&story, true, true);
	for (int known = 0; known < 2; known++) {
		write_tape(&tape, &story, known ? 500 : 0, &plain);
		play(&tape, runs + 1, 2, outcome);
		check_nonsense(&tape);
		made_tape_end(&tape);
	}
	free(story.stimulus);
}

static void nonsense_neither_crashes_nor_breaks_the_lists(void **state)
{
	(void)state;
	for_each_seed(nonsense_is_survived);
}

#define TEST(name) cmocka_unit_test_teardown(name, tell_seed)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_came_in_is_resident_reclaimed_or_freed),
		TEST(counters_are_in_the_relations_that_their_names_say),
		TEST(same_events_in_other_frames_change_nothing),
		TEST(same_tape_gives_the_same_counts_again_and_alone),
		TEST(group_never_exceeds_its_limit),
		TEST(with_room_for_all_nothing_is_reclaimed),
		TEST(every_policy_keeps_its_accounts_and_lists),
		TEST(nobody_misses_less_than_opt_and_more_memory_never_hurts_lru),
		TEST(nonsense_neither_crashes_nor_breaks_the_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
