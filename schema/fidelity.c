// SPDX-License-Identifier: GPL-2.0-only
#include "schema/fidelity.h"

#include <assert.h>
#include <string.h>

static const struct {
	const char *name, *title;
} aspects[FIDELITY_ASPECTS] = {
#define ASPECT(NAME, name, title) { name, title },
#include "schema/fidelity.def"
};

static const struct level {
	enum fidelity_aspect aspect;
	const char *name, *meaning;
} levels[] = {
#define LEVEL(ASPECT_NAME, NAME, name, meaning) { FIDELITY_##ASPECT_NAME, name, meaning },
#include "schema/fidelity.def"
};

#define NR_LEVELS (sizeof(levels) / sizeof(levels[0]))

const char *fidelity_aspect_name(enum fidelity_aspect aspect)
{
	return aspects[aspect].name;
}

const char *fidelity_aspect_title(enum fidelity_aspect aspect)
{
	return aspects[aspect].title;
}

static const struct level *find_level(enum fidelity_aspect aspect, unsigned int level)
{
	for (size_t i = 0; i < NR_LEVELS; i++)
		if (levels[i].aspect == aspect && level-- == 0)
			return &levels[i];
	assert(!"no such level");
	return NULL;
}

const char *fidelity_level_name(enum fidelity_aspect aspect, unsigned int level)
{
	return find_level(aspect, level)->name;
}

const char *fidelity_level_meaning(enum fidelity_aspect aspect, unsigned int level)
{
	return find_level(aspect, level)->meaning;
}

static unsigned int level_by_name(enum fidelity_aspect aspect, const char *name)
{
	unsigned int level = 0;

	for (size_t i = 0; i < NR_LEVELS; i++) {
		if (levels[i].aspect != aspect)
			continue;
		if (!strcmp(levels[i].name, name))
			return level;
		level++;
	}
	assert(!"no such level");
	return 0;
}

bool fidelity_is(const struct fidelity *fidelity, enum fidelity_aspect aspect, const char *level)
{
	return fidelity->level[aspect] == level_by_name(aspect, level);
}

/* ---- what the tape has */

struct facts {
	const struct tape_reader *reader;
	const struct tape_type *of_kind[EVENT_KIND_LIMIT];
	uint64_t nr_events[EVENT_KIND_LIMIT];
	bool has_xfs_reads;
};

static void find_facts(const struct tape_reader *reader, struct facts *facts)
{
	const struct tape_type *type;

	memset(facts, 0, sizeof(*facts));
	facts->reader = reader;
	for (unsigned int i = 0; (type = tape_reader_type(reader, i)); i++) {
		facts->of_kind[type->kind] = type;
		facts->nr_events[type->kind] += tape_reader_type_events(reader, i);
		facts->has_xfs_reads |= !strcmp(type->name, "xfs_file_buffered_read");
	}
}

static bool has(const struct facts *facts, enum event_kind kind)
{
	return facts->of_kind[kind];
}

static bool has_field(const struct facts *facts, enum event_kind kind, unsigned int slot)
{
	return has(facts, kind) && facts->of_kind[kind]->present >> slot & 1;
}

static bool has_unfiltered(const struct facts *facts, enum event_kind kind)
{
	return has(facts, kind) && !facts->of_kind[kind]->filter[0];
}

/* The recorder's own filter keeps what the LRU lists move. */
static bool has_lruvec_state(const struct facts *facts)
{
	const struct tape_type *type = facts->of_kind[EVENT_MOD_MEMCG_LRUVEC_STATE];

	return type && (!type->filter[0] || !strcmp(type->filter, "item < 5"));
}

static const struct tape_blob *start_blob(const struct facts *facts, const char *name)
{
	return tape_reader_find_blob(facts->reader, TAPE_MOMENT_START, name);
}

static const char *reads(const struct facts *facts)
{
	if (has(facts, EVENT_PAGE_REQUEST))
		return "requests";
	if (has_unfiltered(facts, EVENT_MM_FILEMAP_GET_PAGES))
		return "all";
	if (facts->has_xfs_reads)
		return "xfs";
	if (!has(facts, EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE))
		return "none";
	/* Under MGLRU a second read only counts references: no activation tells of it. */
	return has(facts, EVENT_MM_LRU_ACTIVATE) ? "promotions" : "misses";
}

static const char *orders(const struct facts *facts)
{
	bool of_files = has_field(facts, EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE,
				  MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER);
	bool of_allocs = has(facts, EVENT_MM_PAGE_ALLOC);

	if (has_lruvec_state(facts))
		return "events";
	return of_files && of_allocs ? "joined" :
	       of_allocs	     ? "allocs" :
	       of_files		     ? "files" :
				       "none";
}

static const char *memcgs(const struct facts *facts)
{
	if (has_lruvec_state(facts))
		return "events";
	if (!start_blob(facts, "lrutape/tasks"))
		return "inferred";
	return has(facts, EVENT_CGROUP_ATTACH_TASK) && has(facts, EVENT_SCHED_PROCESS_FORK) ?
		       "tasks" :
		       "snapshot";
}

static const char *frees(const struct facts *facts)
{
	if (!has(facts, EVENT_MM_PAGE_FREE))
		return "none";
	return has_unfiltered(facts, EVENT_MM_PAGE_FREE) ? "all" : "large";
}

static const char *reclaim(const struct facts *facts)
{
	uint64_t nr_calls = facts->nr_events[EVENT_MM_VMSCAN_MEMCG_RECLAIM_BEGIN] +
			    facts->nr_events[EVENT_MM_VMSCAN_DIRECT_RECLAIM_BEGIN] +
			    facts->nr_events[EVENT_MM_VMSCAN_KSWAPD_WAKE];

	if (!has(facts, EVENT_MM_VMSCAN_LRU_ISOLATE))
		return nr_calls ? "silent" : "none";
	/* 6.1 and 6.6 have the event, and their MGLRU does not use it. */
	return nr_calls && !facts->nr_events[EVENT_MM_VMSCAN_LRU_ISOLATE] ? "silent" : "told";
}

static const char *start(const struct facts *facts)
{
	const struct tape_blob *what = start_blob(facts, "lrutape/what");

	if (has(facts, EVENT_PAGE_REQUEST))
		return "empty";
	/* A group that is named was there before; one that was made for a command was not. */
	if (start_blob(facts, "lrutape/memcg") && start_blob(facts, "lrutape/command_pid") &&
	    (!what || !strncmp(what->data, "command", 7)))
		return "empty";
	return start_blob(facts, "lrutape/warm_pages/0") ? "listed" : "unseen";
}

static const char *losses(const struct facts *facts)
{
	const struct tape_summary *summary = tape_reader_summary(facts->reader);
	uint64_t nr = summary->nr_lost > summary->nr_overrun ? summary->nr_lost :
							       summary->nr_overrun;

	if (!nr && !summary->nr_losses_unknown)
		return "none";
	return nr <= summary->nr_events / 1000 ? "few" : "many";
}

/* ---- the grade */

static const struct {
	char grade;
	const char *meaning;
} grades[] = {
	{ 'A',
	  "all that a replay needs: recorded decisions can be checked one by one, policies compared" },
	{ 'B', "enough to check and to compare; what is not best below is uncertain at its edges" },
	{ 'C',
	  "recorded decisions can be checked in part; what other policies would hit is inferred" },
	{ 'D', "too little is known: counts and trends only" },
	{ 'S', "an access stream: policies can be compared, no kernel's decisions can be checked" },
};

static char grade_of(const struct fidelity *fidelity)
{
	if (fidelity_is(fidelity, FIDELITY_READS, "requests"))
		return 'S';
	if (fidelity_is(fidelity, FIDELITY_READS, "none") ||
	    fidelity_is(fidelity, FIDELITY_REMOVALS, "none") ||
	    fidelity_is(fidelity, FIDELITY_LOSSES, "many"))
		return 'D';
	if (!fidelity_is(fidelity, FIDELITY_READS, "all"))
		return 'C';
	if (!fidelity_is(fidelity, FIDELITY_LOSSES, "none") ||
	    !fidelity_is(fidelity, FIDELITY_RECLAIM, "told") ||
	    fidelity_is(fidelity, FIDELITY_START, "unseen") ||
	    fidelity_is(fidelity, FIDELITY_ORDERS, "files") ||
	    fidelity_is(fidelity, FIDELITY_ORDERS, "none") ||
	    fidelity_is(fidelity, FIDELITY_MEMCGS, "snapshot") ||
	    fidelity_is(fidelity, FIDELITY_MEMCGS, "inferred"))
		return 'B';
	return 'A';
}

void fidelity_of_tape(const struct tape_reader *reader, struct fidelity *fidelity)
{
	struct facts facts;

	find_facts(reader, &facts);
	const char *const name[FIDELITY_ASPECTS] = {
		[FIDELITY_READS] = reads(&facts),
		[FIDELITY_FAULTS] = has(&facts, EVENT_MM_FILEMAP_FAULT) ? "told" : "none",
		[FIDELITY_ORDERS] = orders(&facts),
		[FIDELITY_MEMCGS] = memcgs(&facts),
		[FIDELITY_REMOVALS] = has(&facts, EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE) ?
					      "told" :
					      "none",
		[FIDELITY_FREES] = frees(&facts),
		[FIDELITY_RECLAIM] = reclaim(&facts),
		[FIDELITY_READAHEAD] = has(&facts, EVENT_PAGE_CACHE_SYNC_RA) ? "told" : "guessed",
		[FIDELITY_DIRTY] = has(&facts, EVENT_WRITEBACK_DIRTY_FOLIO) ? "told" : "none",
		[FIDELITY_START] = start(&facts),
		[FIDELITY_LOSSES] = losses(&facts),
	};

	memset(fidelity, 0, sizeof(*fidelity));
	for (enum fidelity_aspect aspect = 0; aspect < FIDELITY_ASPECTS; aspect++)
		fidelity->level[aspect] = level_by_name(aspect, name[aspect]);
	fidelity->grade = grade_of(fidelity);
	for (size_t i = 0; i < sizeof(grades) / sizeof(grades[0]); i++)
		if (grades[i].grade == fidelity->grade)
			fidelity->grade_meaning = grades[i].meaning;
}
