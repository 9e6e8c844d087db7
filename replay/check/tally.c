// SPDX-License-Identifier: GPL-2.0-only
#include "replay/check/parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const check_lru_name[NR_LRU_LISTS] = {
	"inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable",
};

/* What is counted of a memcg; NULL: memory ran out. */
static struct check_group *group_of(struct check *check, const struct mem_cgroup *memcg,
				    uint32_t *number)
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
		for (uint32_t n = check->nr_tallies; n < nr; n++) {
			for (int d = 0; d < NR_CHECK_DECISIONS; d++)
				check->tally[n].decision[d].first_mismatch_ns = UINT64_MAX;
			for (int file = 0; file < ANON_AND_FILE; file++)
				check->tally[n].drift[file].since_ns = UINT64_MAX;
		}
		check->nr_tallies = nr;
	}
	return &check->tally[*number];
}

void check_equal(struct check *check, const struct mem_cgroup *memcg, enum check_decision decision)
{
	uint32_t number;
	struct check_group *group = group_of(check, memcg, &number);

	if (!group)
		return;
	group->decision[decision].decided++;
	group->decision[decision].equal++;
}

void check_foreign_eviction(struct check *check, const struct folio *folio)
{
	check->undecided.foreign++;
	for (const struct mem_cgroup *memcg = folio->lruvec->memcg; memcg; memcg = memcg->parent) {
		uint32_t number;
		struct check_group *group = group_of(check, memcg, &number);

		if (group)
			group->foreign = true;
	}
}

static uint64_t pages_of(const struct mem_cgroup *memcg, bool file)
{
	const struct lruvec *lruvec = &memcg->lruvec[0];
	enum lru_list lru = file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;
	int64_t pages = lruvec_lru_size(lruvec, lru) + lruvec_lru_size(lruvec, lru + 1);

	return pages > 0 ? (uint64_t)pages : 0;
}

/* What was counted since the first of the flaws was behind the drift already. */
static void drift_begins(struct check *check, struct check_group *group, bool file,
			 unsigned int first)
{
	struct check_tally *tally = &group->decision[CHECK_isolation];
	uint64_t nr = group->nr_isolations[file] - group->flaw[file][first].number + 1;

	group->drift[file] = (struct check_drift){
		.since_ns = group->flaw[file][first].time_ns,
		.isolations = nr,
		.equal = nr - DRIFT_FLAWS,
	};
	check->undecided.drifted += nr;
	tally->decided -= nr;
	tally->equal -= nr - DRIFT_FLAWS;
	for (unsigned int i = 0; i < DRIFT_FLAWS; i++)
		tally->cause[group->flaw[file][i].cause]--;
}

void check_isolation_counted(struct check *check, const struct mem_cgroup *memcg, bool file,
			     bool flawed, uint64_t nr_taken)
{
	uint32_t number;
	struct check_group *group = group_of(check, memcg, &number);
	unsigned int last;

	if (!group)
		return;
	if (flawed)
		group->unsure_pages[file] = 2 * pages_of(memcg, file);
	else
		group->unsure_pages[file] -= nr_taken < group->unsure_pages[file] ?
						     nr_taken :
						     group->unsure_pages[file];
	if (group->drift[file].since_ns != UINT64_MAX) {
		group->drift[file].isolations++;
		group->drift[file].equal += !flawed;
		check->undecided.drifted++;
		return;
	}
	group->nr_isolations[file]++;
	/* Looks name folios: what is out of place is put right where it is met. */
	if (!flawed || check->world->looks_told)
		return;
	last = group->nr_flaws[file]++ % DRIFT_FLAWS;
	group->flaw[file][last].number = group->nr_isolations[file];
	group->flaw[file][last].time_ns = check->event->timestamp_ns;
	group->flaw[file][last].cause = check->last_cause;
	last = (last + 1) % DRIFT_FLAWS; /* the oldest that is kept */
	if (group->nr_flaws[file] >= DRIFT_FLAWS &&
	    group->nr_isolations[file] - group->flaw[file][last].number < DRIFT_WINDOW)
		drift_begins(check, group, file, last);
}

bool check_unsure(struct check *check, const struct mem_cgroup *memcg, bool file)
{
	uint32_t number;
	struct check_group *group = group_of(check, memcg, &number);

	return group && group->unsure_pages[file];
}

bool check_drifted(struct check *check, const struct mem_cgroup *memcg, bool file)
{
	uint32_t number;
	struct check_group *group = group_of(check, memcg, &number);

	return group && group->drift[file].since_ns != UINT64_MAX;
}

/* The folio that a decision on insertion or activation is about. */
static const struct folio *subject(struct check *check)
{
	switch (check->event->kind) {
	case EVENT_MM_LRU_INSERTION:
		return check_known_folio(check, check->event->value[MM_LRU_INSERTION_PFN]);
	case EVENT_MM_LRU_ACTIVATE:
		return check_known_folio(check, check->event->value[MM_LRU_ACTIVATE_PFN]);
	default:
		return NULL;
	}
}

void check_note_isolated(struct check *check, struct reclaim_bracket *bracket,
			 const struct folio *folio)
{
	bracket->has_mapped |= folio_test(folio, FOLIO_mapped);
	if (!folio_test(folio, PG_dirty))
		return;
	bracket->has_dirty = true;
	for (const struct mem_cgroup *memcg = folio->lruvec->memcg; memcg; memcg = memcg->parent) {
		uint32_t number;
		struct check_group *group = group_of(check, memcg, &number);

		if (group)
			group->written = true;
	}
}

/* It comes active, was not read, and no eviction is known that it could come back from. */
static bool may_have_shadow(const struct check *check, const struct folio *folio)
{
	return check->event->kind == EVENT_MM_LRU_INSERTION && folio && folio->file &&
	       !folio_test(folio, FOLIO_refaulted | PG_active) &&
	       check->event->value[MM_LRU_INSERTION_LRU] & 1;
}

static enum check_cause cause_of(struct check *check, const struct check_group *group,
				 const struct mem_cgroup *memcg, enum check_decision decision)
{
	const struct world_task *task = world_task(check->world, check->event->pid);
	const struct reclaim_bracket *bracket = task ? task->bracket : NULL;
	const struct folio *folio = check->about ? check->about : subject(check);
	bool mapped = folio ? folio_test(folio, FOLIO_mapped) : bracket && bracket->has_mapped;
	bool dirty = folio   ? folio_test(folio, PG_dirty) :
		     bracket ? bracket->has_dirty || group->written :
			       false;

	if (check->lossy)
		return CHECK_CAUSE_lost_events;
	if (mapped)
		return CHECK_CAUSE_unseen_reference;
	if (decision == CHECK_insertion_list && may_have_shadow(check, folio))
		return CHECK_CAUSE_unseen_shadow;
	if (dirty && !check->world->writeback.seen)
		return CHECK_CAUSE_not_modelled;
	if (group->foreign)
		return CHECK_CAUSE_foreign_eviction;
	for (int lru = 0; lru < NR_LRU_LISTS; lru++)
		if (memcg->lruvec[0].unseen[lru])
			return CHECK_CAUSE_unseen_folio;
	return CHECK_CAUSE_unexplained;
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

void __attribute__((format(printf, 4, 5)))
check_unequal(struct check *check, const struct mem_cgroup *memcg, enum check_decision decision,
	      const char *format, ...)
{
	char text[2 * CHECK_SIDE_BYTES], *recorded;
	struct check_mismatch *mismatch;
	struct check_group *group;
	struct check_tally *tally;
	enum check_cause cause;
	uint32_t number;
	va_list args;

	group = group_of(check, memcg, &number);
	if (!group)
		return;
	tally = &group->decision[decision];
	cause = cause_of(check, group, memcg, decision);
	tally->decided++;
	tally->cause[cause]++;
	check->last_cause = cause;
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
	mismatch->cause = cause;
	snprintf(mismatch->predicted, CHECK_SIDE_BYTES, "%.*s", CHECK_SIDE_BYTES - 1, text);
	snprintf(mismatch->recorded, CHECK_SIDE_BYTES, "%.*s", CHECK_SIDE_BYTES - 1, recorded);
	describe_state(check, memcg, mismatch->state);
}
