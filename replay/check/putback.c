// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where isolated folios went. mod_memcg_lruvec_state tells when a list grows, and by how much, but not by
 * which folio. That follows from its place:
 *
 *   growth, mm_lru_insertion or mm_lru_activate      of that folio
 *   isolate, victims, growth, growth, ..., shrink    the survivors, in the order they were taken
 *   none of these                                    folios whose write to swap has ended: swap.c
 *
 * So the kernel's word on each folio that it isolated is known, as long as our lists hold the same folios
 * in the same order. Whether they do, victims and writes tell: they name folios.
 */
#include "replay/check/parts.h"

#include <inttypes.h>

static struct reclaim_bracket *bracket_of(struct check *check, int32_t pid)
{
	struct world_task *task = world_task(check->world, pid);

	return task ? task->bracket : NULL;
}

void check_list_grown(struct check *check)
{
	const uint64_t *v = check->event->value;
	uint64_t item = v[MOD_MEMCG_LRUVEC_STATE_ITEM];
	int64_t pages = (int64_t)v[MOD_MEMCG_LRUVEC_STATE_VAL];

	if (!check->growth || item >= NR_LRU_LISTS || pages <= 0)
		return;
	if (!check->burst[check_cpu(check)].nr)
		check_drain_begun(check, check_cpu(check));
	check->growth[check_cpu(check)] = (struct list_growth){
		.pending = true,
		.flags = check->event->flags,
		.lru = (enum lru_list)item,
		.pid = check->event->pid,
		.memcg = v[MOD_MEMCG_LRUVEC_STATE_ID],
		.pages = (uint64_t)pages,
	};
}

const struct list_growth *check_growth_of(struct check *check, uint64_t lru)
{
	struct list_growth *growth = check->growth ? &check->growth[check_cpu(check)] : NULL;

	if (!growth || !growth->pending || growth->lru != lru)
		return NULL;
	growth->pending = false;
	return growth;
}

/* What folio_check_references() left behind. Only of folios whose references no event shows. */
static void set_referenced(struct folio *folio, const struct reclaim_bracket *bracket)
{
	const struct told_look *told = check_told(bracket, folio);

	if (bracket->applied.lru & 1)
		return;
	if (told) {
		check_told_leaves(folio, told);
		return;
	}
	if (!folio_test(folio, FOLIO_mapped | PG_swapbacked))
		return;
	if (folio_test(folio, FOLIO_old))
		folio_clear(folio, PG_referenced);
	else
		folio_set(folio, PG_referenced);
}

/* A survivor goes to this list's head. */
static void put_back(struct check *check, struct reclaim_bracket *bracket, struct folio *folio,
		     enum lru_list lru, uint64_t pages)
{
	struct mm *mm = &check->machine.mm;
	struct list_head one;

	if (folio_nr_pages(folio) != pages)
		bracket->flaw = "one that stayed has another size";
	folio_clear(folio, FOLIO_survivor | FOLIO_doubtful);
	if (check_must_evict(check, folio) && !(bracket->applied.lru & 1))
		check->undecided.survivors++;
	if (lru == LRU_UNEVICTABLE) {
		folio_set(folio, PG_unevictable);
	} else {
		set_referenced(folio, bracket);
		if (bracket->applied.lru & 1 && !(lru & 1) && mm->policy->examine_active)
			mm->policy->examine_active(mm, folio->lruvec, folio);
		folio_clear(folio, PG_unevictable | PG_active);
		if (lru & 1)
			folio_set(folio, PG_active | (folio_test(folio, PG_dirty | PG_writeback) ?
							      PG_reclaim :
							      0));
		/* What was written to after MADV_FREE is anon memory as before. */
		if (lru < LRU_INACTIVE_FILE) {
			folio_clear(folio, PG_lazyfree);
			folio_set(folio, PG_swapbacked);
		} else {
			folio_clear(folio, PG_swapbacked);
		}
	}
	check_stayed(check, bracket, folio, lru & 1);
	list_init(&one);
	list_move(&folio->lru, &one);
	mm->policy->putback(mm, &bracket->applied, &one);
}

/* Those of an active list are back: first those that stay active, then the others. */
static void put_back_active(struct check *check, struct reclaim_bracket *bracket)
{
	const struct list_growth *growth = bracket->growth;
	struct folio *folio[ISOLATION_ROOM];
	bool stay[ISOLATION_ROOM];
	unsigned int nr = 0, next = 0;

	for (struct list_head *pos = bracket->taken.next;
	     pos != &bracket->taken && nr < ISOLATION_ROOM; pos = pos->next)
		folio[nr++] = list_entry(pos, struct folio, lru);
	if (!bracket->nr_growth)
		return;
	if (!check_who_stays(check, bracket, folio, nr, stay))
		bracket->flaw = "those that stayed have other sizes";
	for (int pass = 0; pass < 2; pass++)
		for (unsigned int i = 0; i < nr && next < bracket->nr_growth; i++) {
			if (stay[i] != !pass)
				continue;
			put_back(check, bracket, folio[i], growth[next].lru, growth[next].pages);
			next++;
		}
	if (next < bracket->nr_growth)
		bracket->flaw = "more stayed than were left";
	bracket->nr_growth = 0;
	bracket->growth_pages = 0;
}

static void survived(struct check *check, struct reclaim_bracket *bracket, struct folio *folio,
		     const struct list_growth *growth)
{
	if (folio->order && growth->pages == 1)
		check_split_at(check, folio->pfn);
	check_looked_again(check, folio);
	put_back(check, bracket, folio, growth->lru, growth->pages);
}

/*
 * The next that stays. Pages of a split folio that nothing maps any more get a slot that nobody needs and lose
 * it at once, without I/O; they are freed when the others are put back.
 */
static struct folio *next_survivor(const struct reclaim_bracket *bracket)
{
	for (struct list_head *pos = bracket->taken.next; pos != &bracket->taken; pos = pos->next) {
		struct folio *folio = list_entry(pos, struct folio, lru);

		if (!folio_test(folio, FOLIO_split) || !folio_test(folio, PG_swapcache) ||
		    folio->file)
			return folio;
	}
	return list_entry(bracket->taken.next, struct folio, lru);
}

static void survivor_seen(struct check *check, struct reclaim_bracket *bracket,
			  const struct list_growth *growth)
{
	if (!(bracket->applied.lru & 1)) {
		bracket->any_back = true;
		if (list_empty(&bracket->taken))
			bracket->flaw = "more stayed than were left";
		else
			survived(check, bracket, next_survivor(bracket), growth);
		return;
	}
	if (bracket->nr_growth == ISOLATION_ROOM)
		put_back_active(check, bracket);
	bracket->growth[bracket->nr_growth++] = *growth;
	bracket->growth_pages += growth->pages;
	if (bracket->growth_pages >= bracket->nr_taken)
		put_back_active(check, bracket);
}

static void end_burst(struct check *check, unsigned int cpu)
{
	if (check->burst[cpu].nr)
		check_rotated(check, cpu, &check->burst[cpu]);
	check->burst[cpu].nr = 0;
}

static void settle(struct check *check, unsigned int cpu)
{
	struct list_growth *growth = &check->growth[cpu];
	struct growth_burst *burst = &check->burst[cpu];
	struct reclaim_bracket *bracket = bracket_of(check, growth->pid);

	growth->pending = false;
	if (burst->nr == BURST_ROOM)
		end_burst(check, cpu);
	if (bracket && bracket->isolated && !(growth->flags & TRACE_FLAG_INTERRUPT) &&
	    bracket->applied.lruvec->memcg->id == growth->memcg)
		survivor_seen(check, bracket, growth);
	else
		burst->growth[burst->nr++] = *growth;
}

void check_growth_over(struct check *check, unsigned int cpu)
{
	uint16_t kind = check->event->kind;

	if (kind == EVENT_MM_VMSCAN_LRU_ISOLATE) {
		/* It holds the lock: whatever other CPUs did to the lists is over. */
		for (unsigned int other = 0; other < check->machine.mm.config.nr_cpus; other++) {
			if (check->growth[other].pending && other != cpu)
				settle(check, other);
			if (other != cpu)
				end_burst(check, other);
		}
	}
	if (check->growth[cpu].pending && kind != EVENT_MM_LRU_INSERTION &&
	    kind != EVENT_MM_LRU_ACTIVATE)
		settle(check, cpu);
	if (kind != EVENT_MOD_MEMCG_LRUVEC_STATE)
		end_burst(check, cpu);
	if (kind == EVENT_MM_VMSCAN_LRU_ISOLATE)
		check_advice_over(check, cpu);
}

bool check_shown(struct reclaim_bracket *bracket, const struct folio *folio, unsigned int *up_to)
{
	/* What was split takes more places than there are. */
	if (folio_test(folio, FOLIO_split) && folio_test(folio, FOLIO_isolated))
		return true;
	for (unsigned int i = *up_to; i < bracket->nr_order; i++) {
		if (bracket->order[i] != folio)
			continue;
		*up_to = i + 1;
		return true;
	}
	bracket->flaw = folio_test(folio, FOLIO_isolated) ? "they went in another order" :
							    "one that was not taken went";
	return false;
}

bool check_shown_last_first(struct reclaim_bracket *bracket, const struct folio *folio)
{
	for (unsigned int i = bracket->nr_left; i-- > 0;) {
		if (bracket->order[i] != folio)
			continue;
		bracket->nr_left = i;
		return true;
	}
	bracket->flaw = folio_test(folio, FOLIO_isolated) ? "they went in another order" :
							    "one that was not taken went";
	return false;
}

/* Its place among those taken, nr_order if it is none of them. */
static unsigned int place_of(const struct reclaim_bracket *bracket, const struct folio *folio)
{
	unsigned int i = 0;

	while (i < bracket->nr_order && bracket->order[i] != folio)
		i++;
	return i;
}

/*
 * A folio that was taken here, but not by the kernel. If younger ones went, it was not at the tail at
 * all; otherwise it is next there.
 */
void check_not_taken(struct check *check, struct reclaim_bracket *bracket, struct folio *folio)
{
	unsigned int shown = bracket->nr_freed > bracket->nr_written ? bracket->nr_freed :
								       bracket->nr_written;

	list_del(&folio->lru);
	folio_clear(folio, FOLIO_isolated | FOLIO_survivor | FOLIO_doubtful);
	folio_set(folio, PG_lru);
	if (place_of(bracket, folio) < shown)
		check_unrotate(check, folio);
	else
		lruvec_add_folio_tail(folio->lruvec, folio);
}

void check_stranger(struct check *check, struct reclaim_bracket *bracket, struct folio *folio)
{
	if (!list_empty(&bracket->taken) && folio_test(folio, PG_lru))
		check_not_taken(check, bracket, list_entry(bracket->taken.prev, struct folio, lru));
}

void check_isolation_judged(struct check *check, struct reclaim_bracket *bracket)
{
	bool file = bracket->applied.lru >= LRU_INACTIVE_FILE;

	if (!bracket->result.nr_taken)
		return;
	if (check_drifted(check, bracket->top, file))
		; /* counted apart */
	else if (!bracket->flaw)
		check_equal(check, bracket->top, CHECK_isolation);
	else
		check_unequal(check, bracket->top, CHECK_isolation, "%u folios of %s|%s",
			      bracket->nr_order, check_lru_name[bracket->applied.lru],
			      bracket->flaw);
	check_isolation_counted(check, bracket->top, file, bracket->flaw, bracket->result.nr_taken);
}

void check_isolation_settled(struct check *check, struct reclaim_bracket *bracket)
{
	put_back_active(check, bracket);
	while (!list_empty(&bracket->taken)) {
		if (!bracket->flaw)
			bracket->flaw = "fewer stayed than were left";
		check_not_taken(check, bracket, list_entry(bracket->taken.prev, struct folio, lru));
	}
	check_isolation_judged(check, bracket);
}
