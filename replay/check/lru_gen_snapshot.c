// SPDX-License-Identifier: GPL-2.0-only
/*
 * lru_gen_full, as it was read while the recording ran, held against the core's generations and counters.
 *
 * The file is read in a while, in which the group may go on. A figure is right if it lies between the least
 * and the most that the core has had of it from when the reading begins to when it ends; where nothing moved,
 * that is one number. If a generation came or went meanwhile, nothing is compared.
 */
#include "replay/check/lru_gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_WORDS 8

/* A memcg's figures while the file is read. */
struct in_between {
	const struct mem_cgroup *memcg;
	const struct lru_gen_folio *least, *most, *after;
};

/* Of all memcgs, since the reading of the next snapshot began. */
struct lru_gen_before {
	unsigned int nr_memcgs;
	struct {
		struct lru_gen_folio least, most;
		bool in_motion; /* a generation came or went */
	} range[];
};

static bool lies_between(uint64_t x, uint64_t least, uint64_t most)
{
	return least <= x && x <= most;
}

static uint64_t pages_of(const struct lru_gen_folio *lrugen, int type, uint64_t seq)
{
	uint64_t pages = 0;

	for (int zone = 0; zone < MAX_NR_ZONES; zone++) {
		int64_t n = lrugen->nr_pages[lru_gen_from_seq(seq)][type][zone];

		pages += n > 0 ? (uint64_t)n : 0;
	}
	return pages;
}

/* One size, "N" or "Nx": no folio of the type is in that generation any more. */
static void compare_size(struct check *check, const struct in_between *in, int type, uint64_t seq,
			 const char *text)
{
	uint64_t least = pages_of(in->least, type, seq), most = pages_of(in->most, type, seq);
	bool used = seq >= in->after->min_seq[type];
	uint64_t recorded;
	char *end;

	recorded = strtoull(text, &end, 10);
	if (lies_between(recorded, least, most) && used == (*end != 'x') &&
	    seq <= in->after->max_seq)
		check_equal(check, in->memcg, CHECK_generation_size);
	else
		check_unequal(check, in->memcg, CHECK_generation_size,
			      "seq %" PRIu64 ": %" PRIu64 " to %" PRIu64 "%s (min %" PRIu64
			      ", max %" PRIu64 ")|%s",
			      seq, least, most, used ? "" : "x", in->after->min_seq[type],
			      in->after->max_seq, text);
}

/* As everywhere in check: after the comparison the recorded figures are what happened. */
static void follow_tier(struct lru_gen_folio *lrugen, int type, unsigned long tier,
			const unsigned long long recorded[3], char kind)
{
	if (kind == 'R') {
		lrugen->avg_refaulted[type][tier] = recorded[0];
		lrugen->avg_total[type][tier] = recorded[1];
	} else {
		lrugen->refaulted[type][tier] = recorded[0];
		lrugen->evicted[type][tier] = recorded[1];
		lrugen->protected[type][tier] = recorded[2];
	}
}

/* A tier's counters in a generation. @kind: 'R' of the averages, 'r' of the oldest generation. */
static void compare_tier(struct check *check, const struct in_between *in, int type, uint64_t seq,
			 unsigned long tier, const unsigned long long recorded[3], char kind)
{
	const struct lru_gen_folio *a = in->least, *b = in->most;
	const uint64_t average[3][2] = {
		{ a->avg_refaulted[type][tier], b->avg_refaulted[type][tier] },
		{ a->avg_total[type][tier], b->avg_total[type][tier] },
	};
	const uint64_t count[3][2] = {
		{ a->refaulted[type][tier], b->refaulted[type][tier] },
		{ a->evicted[type][tier], b->evicted[type][tier] },
		{ a->protected[type][tier], b -> protected[type][tier] },
	};
	const uint64_t(*ours)[2] = kind == 'R' ? average : count;

	if (kind == 'r' && seq != in->after->min_seq[type]) {
		check_unequal(check, in->memcg, CHECK_tier_counters, "min_seq %" PRIu64 "|%" PRIu64,
			      in->after->min_seq[type], seq);
		return;
	}
	for (int i = 0; i < (kind == 'R' ? 2 : 3); i++)
		if (!lies_between(recorded[i], ours[i][0], ours[i][1])) {
			check_unequal(check, in->memcg, CHECK_tier_counters,
				      "tier %lu%s: %" PRIu64 " %" PRIu64 " %" PRIu64
				      "|%llu %llu %llu",
				      tier, kind == 'R' ? ", averages" : "", ours[0][1], ours[1][1],
				      ours[2][1], recorded[0], recorded[1], recorded[2]);
			follow_tier(lruvec_lru_gen(&in->memcg->lruvec[0]), type, tier, recorded,
				    kind);
			return;
		}
	check_equal(check, in->memcg, CHECK_tier_counters);
}

/* TIER and three numbers a type, anon first, each with a letter that says what it is, or none. */
static void compare_tiers(struct check *check, const struct in_between *in, uint64_t seq,
			  char *const word[7])
{
	unsigned long tier = strtoul(word[0], NULL, 10);

	if (tier >= MAX_NR_TIERS)
		return;
	for (int type = 0; type < ANON_AND_FILE; type++) {
		unsigned long long n[3];
		char kind = 0, *end;

		for (int i = 0; i < 3; i++) {
			n[i] = strtoull(word[1 + 3 * type + i], &end, 10);
			kind = i ? kind : *end;
		}
		if (kind == 'R' || kind == 'r')
			compare_tier(check, in, type, seq, tier, n, kind);
	}
}

/* The memcg of a line "memcg ID PATH", if it is one whose folios are all known. */
static const struct mem_cgroup *memcg_of_line(struct check *check, const char *line, size_t size)
{
	const struct world *world = check->world;
	char text[WORLD_PATH_BYTES + 32], path[WORLD_PATH_BYTES];

	if (size >= sizeof(text))
		return NULL;
	memcpy(text, line, size);
	text[size] = '\0';
	if (sscanf(text, "memcg %*u %4095s", path) != 1)
		return NULL;
	for (uint32_t n = 1; n < world->nr_memcgs; n++)
		if (!strcmp(world->memcg[n].path, path)) {
			struct mem_cgroup *memcg = machine_memcg(&check->machine, n);

			return check_all_folios_known(memcg) ? memcg : NULL;
		}
	return NULL;
}

static unsigned int split(char *row, char *word[ROW_WORDS])
{
	unsigned int nr = 0;

	for (char *at = strtok(row, " "); at && nr < ROW_WORDS; at = strtok(NULL, " "))
		word[nr++] = at;
	return nr;
}

static bool is_number(const char *word)
{
	return !word[strspn(word, "0123456789")];
}

/*
 * Below a memcg's line and each node's: for each generation SEQ AGE ANON FILE, four tiers (seven words),
 * and a line of what page-table walks did (four words with letters, or six).
 */
static void compare_snapshot(struct check *check, const char *text)
{
	const struct lru_gen_before *before = check->lru_gen_before;
	struct in_between in = { 0 };
	unsigned int nid = 0;
	uint64_t seq = 0;

	for (const char *line = text; *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line)) {
		size_t size = strcspn(line, "\n");
		char row[256], *word[ROW_WORDS];
		unsigned int nr;

		if (!strncmp(line, "memcg ", 6)) {
			in.memcg = memcg_of_line(check, line, size);
			if (!in.memcg || in.memcg->index >= before->nr_memcgs)
				continue;
			in.least = &before->range[in.memcg->index].least;
			in.most = &before->range[in.memcg->index].most;
			in.after = lruvec_lru_gen(&in.memcg->lruvec[0]);
			if (before->range[in.memcg->index].in_motion) {
				check->undecided.snapshot_in_motion++;
				in.memcg = NULL;
			}
			continue;
		}
		if (!in.memcg || !in.least || size >= sizeof(row))
			continue;
		memcpy(row, line, size);
		row[size] = '\0';
		nr = split(row, word);
		if (nr == 2 && !strcmp(word[0], "node")) {
			nid = (unsigned int)strtoul(word[1], NULL, 10);
		} else if (nr == 4 && !nid && is_number(word[0]) && is_number(word[1])) {
			seq = strtoull(word[0], NULL, 10);
			/* Anon folios are followed only where their frees are on the tape. */
			if (check->world->single_frees)
				compare_size(check, &in, LRU_GEN_ANON, seq, word[2]);
			compare_size(check, &in, LRU_GEN_FILE, seq, word[3]);
		} else if (nr == 7 && !nid) {
			compare_tiers(check, &in, seq, word);
		}
	}
}

/* A row of the start: sizes are 0 there, but which generations are in use, and the tiers' counters, are not. */
static void adopt_row(struct lru_gen_folio *lrugen, char *const word[ROW_WORDS], unsigned int nr,
		      bool min_seen[ANON_AND_FILE])
{
	if (nr == 4 && is_number(word[0]) && is_number(word[1])) {
		uint64_t seq = strtoull(word[0], NULL, 10);

		lrugen->max_seq = seq;
		for (int type = 0; type < ANON_AND_FILE; type++) {
			if (min_seen[type] || strchr(word[2 + type], 'x'))
				continue;
			lrugen->min_seq[type] = seq;
			min_seen[type] = true;
		}
		return;
	}
	for (int type = 0; nr == 7 && type < ANON_AND_FILE; type++) {
		unsigned long tier = strtoul(word[0], NULL, 10);
		unsigned long long n[3];
		char kind = 0, *end;

		for (int i = 0; i < 3; i++) {
			n[i] = strtoull(word[1 + 3 * type + i], &end, 10);
			kind = i ? kind : *end;
		}
		if (tier < MAX_NR_TIERS && (kind == 'R' || kind == 'r'))
			follow_tier(lrugen, type, tier, n, kind);
	}
}

static bool generations_hold(const struct lru_gen_folio *lrugen)
{
	for (int type = 0; type < ANON_AND_FILE; type++)
		if (lrugen->min_seq[type] > lrugen->max_seq ||
		    get_nr_gens(lrugen, type) < MIN_NR_GENS ||
		    get_nr_gens(lrugen, type) > MAX_NR_GENS)
			return false;
	return true;
}

void check_lru_gen_start(struct check *check)
{
	const struct mem_cgroup *memcg = NULL;
	struct lru_gen_folio was, *lrugen = NULL;
	bool min_seen[ANON_AND_FILE] = { false, false };
	unsigned int nid = 0;

	for (const char *line = check->world->lru_gen_start; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		size_t size = strcspn(line, "\n");
		char row[256], *word[ROW_WORDS];
		unsigned int nr;

		if (!strncmp(line, "memcg ", 6)) {
			if (lrugen && !generations_hold(lrugen))
				*lrugen = was; /* no such kernel: a torn file */
			memcg = memcg_of_line(check, line, size);
			lrugen = memcg ? lruvec_lru_gen(&memcg->lruvec[0]) : NULL;
			if (lrugen)
				was = *lrugen;
			min_seen[0] = min_seen[1] = false;
			nid = 0;
			continue;
		}
		if (!lrugen || size >= sizeof(row))
			continue;
		memcpy(row, line, size);
		row[size] = '\0';
		nr = split(row, word);
		if (nr == 2 && !strcmp(word[0], "node"))
			nid = (unsigned int)strtoul(word[1], NULL, 10);
		else if (!nid)
			adopt_row(lrugen, word, nr, min_seen);
	}
	if (lrugen && !generations_hold(lrugen))
		*lrugen = was;
}

static void remember(struct check *check)
{
	const struct mm *mm = &check->machine.mm;
	struct lru_gen_before *before = malloc(sizeof(*before) +
					       mm->nr_memcgs * sizeof(before->range[0]));

	if (!before) {
		check->failed = true;
		return;
	}
	before->nr_memcgs = mm->nr_memcgs;
	for (unsigned int i = 0; i < mm->nr_memcgs; i++) {
		before->range[i].least = *lruvec_lru_gen(&mm->memcg[i]->lruvec[0]);
		before->range[i].most = before->range[i].least;
		before->range[i].in_motion = false;
	}
	free(check->lru_gen_before);
	check->lru_gen_before = before;
}

static void widen_tier(struct lru_gen_folio *least, struct lru_gen_folio *most,
		       const struct lru_gen_folio *now, int type, int tier)
{
#define WIDEN(member)                                                                              \
	do {                                                                                       \
		if (now->member < least->member)                                                   \
			least->member = now->member;                                               \
		if (now->member > most->member)                                                    \
			most->member = now->member;                                                \
	} while (0)
	WIDEN(avg_refaulted[type][tier]);
	WIDEN(avg_total[type][tier]);
	WIDEN(evicted[type][tier]);
	WIDEN(refaulted[type][tier]);
	WIDEN(protected[type][tier]);
}

static void widen(struct lru_gen_folio *least, struct lru_gen_folio *most,
		  const struct lru_gen_folio *now)
{
	for (int type = 0; type < ANON_AND_FILE; type++) {
		for (int gen = 0; gen < MAX_NR_GENS; gen++)
			for (int zone = 0; zone < MAX_NR_ZONES; zone++)
				WIDEN(nr_pages[gen][type][zone]);
		for (int tier = 0; tier < MAX_NR_TIERS; tier++)
			widen_tier(least, most, now, type, tier);
	}
#undef WIDEN
}

/* Before each event while the file is read: what the core has had meanwhile. */
static void widen_all(struct check *check)
{
	const struct mm *mm = &check->machine.mm;
	struct lru_gen_before *before = check->lru_gen_before;

	for (unsigned int i = 0; i < before->nr_memcgs; i++) {
		const struct lru_gen_folio *now = lruvec_lru_gen(&mm->memcg[i]->lruvec[0]);

		if (now->max_seq != before->range[i].least.max_seq ||
		    memcmp(now->min_seq, before->range[i].least.min_seq, sizeof(now->min_seq)))
			before->range[i].in_motion = true;
		widen(&before->range[i].least, &before->range[i].most, now);
	}
}

/* An eviction is counted a little before its event, the current one. */
static void add_eviction_at_hand(struct check *check)
{
	const struct mm *mm = &check->machine.mm;
	const struct reclaim_bracket *bracket = lru_gen_bracket(check);
	const struct folio *folio;
	struct lru_gen_folio *most;

	if (!bracket || !bracket->predicted ||
	    check->event->kind != EVENT_MM_FILEMAP_DELETE_FROM_PAGE_CACHE)
		return;
	folio = check_known_folio(check,
				  check->event->value[MM_FILEMAP_DELETE_FROM_PAGE_CACHE_PFN]);
	if (!folio || folio->lruvec->memcg->index >= check->lru_gen_before->nr_memcgs)
		return;
	most = &check->lru_gen_before->range[folio->lruvec->memcg->index].most;
	most->evicted[folio_is_file_lru(folio)][lru_tier_from_refs(
		lru_gen_rules(mm), folio_lru_refs(lru_gen_rules(mm), folio),
		folio_test(folio, PG_workingset))] += folio_nr_pages(folio);
}

void check_lru_gen_snapshots(struct check *check)
{
	const struct world *world = check->world;
	uint64_t now_ns = check->event->timestamp_ns;

	while (check->nr_snapshots < world->nr_lru_gen) {
		const struct world_lru_gen *next = &world->lru_gen[check->nr_snapshots];

		if (next->begin_ns >= now_ns)
			return;
		if (!check->lru_gen_before) {
			check_lru_gen_eviction_over(check);
			remember(check);
		}
		if (!check->lru_gen_before)
			return;
		widen_all(check);
		if (next->timestamp_ns >= now_ns)
			return;
		add_eviction_at_hand(check);
		compare_snapshot(check, next->text);
		free(check->lru_gen_before);
		check->lru_gen_before = NULL;
		check->nr_snapshots++;
	}
}
