// SPDX-License-Identifier: GPL-2.0-only
#include "replay/facts.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096
#define KIND_BITS 4 /* with the bit that says that an active list was looked at */
#define SLOTS_LIMIT 64 /* of one stretch of time: accesses that are drawn in it at most */
#define RATE_ROUNDS 16
#define PRIOR_WEIGHT 8 /* the prior counts as much as 1 / 8 access */
#define ONE 65536 /* fixed point */

/* A page and where its facts stand. */
struct fact_page {
	uint64_t dev, ino, index;
	uint32_t first, nr; /* of the settled facts */
	uint64_t gap_ns; /* mean time between two accesses */
	uint8_t last; /* kind of the last fact, while they are gathered */
};

/* While they are gathered: in the order of time, all pages together. */
struct found_fact {
	uint32_t page;
	uint64_t at; /* ns << KIND_BITS | kind */
};

struct access_facts {
	struct fact_page *page;
	uint32_t nr_pages, room_pages;
	uint32_t *hash; /* 1 + number */
	uint64_t hash_mask;
	struct found_fact *found;
	uint64_t nr_found, room_found;
	uint64_t *at; /* settled: by page */
	uint64_t end_ns;
	uint64_t round_ns; /* see find_round() */
	uint64_t counted[1 << KIND_BITS];
	struct swap_times swap_times;
	bool failed;
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t page_hash(uint64_t dev, uint64_t ino, uint64_t index)
{
	return mix(index * UINT64_C(0x9e3779b97f4a7c15) ^ mix(ino ^ dev << 32));
}

/* A virtual disk on a fast device: measured once, a guess anywhere else. */
static const struct swap_times guessed_times = {
	.submit_ns = 15000,
	.page_ns = 19000,
	.least_ns = 100000,
};

struct access_facts *facts_open(void)
{
	struct access_facts *facts = calloc(1, sizeof(*facts));

	if (facts)
		facts->swap_times = guessed_times;
	return facts;
}

void facts_set_swap_times(struct access_facts *facts, const struct swap_times *times)
{
	facts->swap_times = *times;
}

struct swap_times facts_swap_times(const struct access_facts *facts)
{
	return facts ? facts->swap_times : guessed_times;
}

void facts_close(struct access_facts *facts)
{
	if (!facts)
		return;
	free(facts->page);
	free(facts->hash);
	free(facts->found);
	free(facts->at);
	free(facts);
}

uint64_t facts_pages(const struct access_facts *facts)
{
	return facts->nr_pages;
}

uint64_t facts_counted(const struct access_facts *facts, enum access_fact kind)
{
	return facts->counted[kind];
}

/* Its place in the hash, an empty one if it has no facts yet. */
static uint32_t *find_page(const struct access_facts *facts, uint64_t dev, uint64_t ino,
			   uint64_t index)
{
	uint64_t i = page_hash(dev, ino, index) & facts->hash_mask;

	for (; facts->hash[i]; i = (i + 1) & facts->hash_mask) {
		const struct fact_page *page = &facts->page[facts->hash[i] - 1];

		if (page->index == index && page->ino == ino && page->dev == dev)
			break;
	}
	return &facts->hash[i];
}

static bool grow_pages(struct access_facts *facts)
{
	uint32_t room = facts->room_pages ? facts->room_pages * 2 : FIRST_ROOM;
	struct fact_page *page = realloc(facts->page, room * sizeof(*page));
	uint32_t *hash = calloc((size_t)room * 2, sizeof(*hash));

	if (page)
		facts->page = page;
	if (!page || !hash) {
		free(hash);
		facts->failed = true;
		return false;
	}
	free(facts->hash);
	facts->hash = hash;
	facts->hash_mask = (uint64_t)room * 2 - 1;
	facts->room_pages = room;
	for (uint32_t n = 0; n < facts->nr_pages; n++)
		*find_page(facts, page[n].dev, page[n].ino, page[n].index) = n + 1;
	return true;
}

void facts_add(struct access_facts *facts, uint64_t dev, uint64_t ino, uint64_t index,
	       enum access_fact kind, uint64_t ns)
{
	uint32_t *at;

	if (facts->failed || (facts->nr_pages == facts->room_pages && !grow_pages(facts)))
		return;
	if (facts->nr_found == facts->room_found) {
		uint64_t room = facts->room_found ? facts->room_found * 2 : FIRST_ROOM;
		struct found_fact *bigger = realloc(facts->found, room * sizeof(*bigger));

		if (!bigger) {
			facts->failed = true;
			return;
		}
		facts->found = bigger;
		facts->room_found = room;
	}
	at = find_page(facts, dev, ino, index);
	if (!*at) {
		facts->page[facts->nr_pages++] =
			(struct fact_page){ .dev = dev, .ino = ino, .index = index };
		*at = facts->nr_pages;
	}
	facts->page[*at - 1].nr++;
	facts->page[*at - 1].last = kind & ~FACT_OF_ACTIVE;
	facts->found[facts->nr_found++] = (struct found_fact){ .page = *at - 1,
							       .at = ns << KIND_BITS | kind };
	facts->counted[kind & ~FACT_OF_ACTIVE]++;
}

bool facts_is_mapped(const struct access_facts *facts, uint64_t dev, uint64_t ino, uint64_t index)
{
	uint32_t number = facts->nr_pages ? *find_page(facts, dev, ino, index) : 0;
	uint8_t last = number ? facts->page[number - 1].last : FACT_GONE;

	return last != FACT_UNMAPPED && last != FACT_GONE;
}

static uint64_t fact_ns(uint64_t at)
{
	return at >> KIND_BITS;
}

static enum access_fact fact_kind(uint64_t at)
{
	return (enum access_fact)(at & ((1 << KIND_BITS) - 1) & ~FACT_OF_ACTIVE);
}

/* What is known of a stretch of time. */
enum stretch {
	STRETCH_NONE, /* no access */
	STRETCH_SOME, /* one or more */
	STRETCH_UNKNOWN,
};

/* A stretch between two facts; @from: GONE for before the first, @to: LOOKED for after the last. */
static enum stretch stretch_kind(enum access_fact from, enum access_fact to)
{
	bool clear = from == FACT_YOUNG || from == FACT_OLD || from == FACT_LOOKED;

	if (from == FACT_UNMAPPED || from == FACT_GONE ||
	    (clear && (to == FACT_OLD || to == FACT_UNMAPPED)))
		return STRETCH_NONE;
	return to == FACT_YOUNG && clear ? STRETCH_SOME : STRETCH_UNKNOWN;
}

/* What a page's known time says of how often it is accessed. */
struct page_evidence {
	uint64_t seen; /* times that were waited for while it was unmapped, one access each */
	uint64_t some; /* stretches with one or more */
	uint64_t some_ns, known_ns; /* the latter all of it */
};

/* From when page tables begin to point to a page to when they do not any more. */
struct stay {
	uint64_t from_ns;
	bool begun;
};

/* One more fact of a page. Return: it ends a stay, which began at stay->from_ns. */
static bool follow_stay(struct stay *stay, uint64_t at)
{
	enum access_fact kind = fact_kind(at);

	if (kind == FACT_UNMAPPED || kind == FACT_GONE)
		return stay->begun;
	if (!stay->begun)
		*stay = (struct stay){ .from_ns = fact_ns(at), .begun = true };
	return false;
}

static void gather(const struct access_facts *facts, const struct fact_page *page,
		   struct page_evidence *evidence)
{
	const uint64_t *at = &facts->at[page->first];

	*evidence = (struct page_evidence){ 0 };
	for (uint32_t i = 1; i < page->nr; i++) {
		enum access_fact from = fact_kind(at[i - 1]), to = fact_kind(at[i]);
		uint64_t ns = fact_ns(at[i]) - fact_ns(at[i - 1]);
		enum stretch kind = stretch_kind(from, to);

		if (kind == STRETCH_UNKNOWN || from == FACT_GONE)
			continue;
		evidence->known_ns += ns;
		if (kind == STRETCH_SOME) {
			evidence->some++;
			evidence->some_ns += ns;
		}
		evidence->seen += from == FACT_UNMAPPED && to == FACT_TOUCHED;
	}
}

/* x / (1 - exp(-x)): accesses to be expected where there is one or more. All in fixed point. */
static uint64_t expected_of_some(uint64_t x)
{
	if (x < 2 * ONE)
		return ONE + x / 2 + x * x / ONE / 12;
	return x + (x < 4 * ONE ? ONE / 4 : 0);
}

/*
 * The gap that makes the evidence likeliest, for accesses that are spread at random: the expectation of
 * what was seen under the last guess gives the next. @prior_ns: the mean of all pages; it counts little,
 * because pages differ by orders of magnitude.
 */
static uint64_t fit_gap(const struct page_evidence *evidence, uint64_t prior_ns)
{
	uint64_t time_ns = evidence->known_ns + prior_ns / PRIOR_WEIGHT + 1;
	uint64_t gap_ns = time_ns / (evidence->seen + evidence->some + 1) + 1;
	uint64_t each_ns = evidence->some ? evidence->some_ns / evidence->some : 0;

	for (int round = 0; round < RATE_ROUNDS; round++) {
		uint64_t times = each_ns / gap_ns > 1000 ? 1000 * ONE : each_ns * ONE / gap_ns;
		uint64_t nr = evidence->some * expected_of_some(times) + evidence->seen * ONE +
			      ONE / PRIOR_WEIGHT;

		gap_ns = (uint64_t)((unsigned __int128)time_ns * ONE / nr) + 1;
	}
	return gap_ns;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The time in which a page that nobody accesses again is reclaimed: a quarter of all stays are shorter. */
static int find_round(struct access_facts *facts)
{
	uint64_t *length = malloc((facts->nr_found + 1) * sizeof(*length)), nr = 0;

	if (!length)
		return -1;
	for (uint32_t n = 0; n < facts->nr_pages; n++) {
		const struct fact_page *page = &facts->page[n];
		struct stay stay = { 0 };

		for (uint32_t i = 0; i < page->nr; i++) {
			uint64_t at = facts->at[page->first + i];

			if (!follow_stay(&stay, at))
				continue;
			if (fact_kind(at) == FACT_UNMAPPED)
				length[nr++] = fact_ns(at) - stay.from_ns;
			stay = (struct stay){ 0 };
		}
	}
	qsort(length, nr, sizeof(*length), by_length);
	facts->round_ns = nr ? length[nr / 4] : 0;
	free(length);
	return 0;
}

static void fit_gaps(struct access_facts *facts)
{
	struct page_evidence evidence;
	uint64_t seen = 0, known_ns = 0, prior_ns;

	for (uint32_t n = 0; n < facts->nr_pages; n++) {
		gather(facts, &facts->page[n], &evidence);
		seen += evidence.seen + evidence.some;
		known_ns += evidence.known_ns;
	}
	prior_ns = known_ns / (seen + 1) + 1;
	for (uint32_t n = 0; n < facts->nr_pages; n++) {
		gather(facts, &facts->page[n], &evidence);
		facts->page[n].gap_ns = fit_gap(&evidence, prior_ns);
	}
}

int facts_settle(struct access_facts *facts, uint64_t end_ns)
{
	uint32_t first = 0;

	if (facts->failed)
		return -1;
	facts->at = malloc((facts->nr_found + 1) * sizeof(*facts->at));
	if (!facts->at)
		return -1;
	for (uint32_t n = 0; n < facts->nr_pages; n++) {
		facts->page[n].first = first;
		first += facts->page[n].nr;
		facts->page[n].nr = 0;
	}
	for (uint64_t i = 0; i < facts->nr_found; i++) {
		struct fact_page *page = &facts->page[facts->found[i].page];

		facts->at[page->first + page->nr++] = facts->found[i].at;
	}
	free(facts->found);
	facts->found = NULL;
	facts->end_ns = end_ns;
	if (find_round(facts))
		return -1;
	fit_gaps(facts);
	return 0;
}

/* ---- streams */

/* One stretch of a page's time, and the accesses drawn in it. */
struct drawn {
	uint64_t from_ns, to_ns;
	uint64_t seed;
	uint32_t nr_slots; /* of equal length, an access in each with this chance */
	uint64_t chance; /* of 2^32 */
	enum stretch kind;
};

/* @i: the stretch that ends with the page's i-th fact, page->nr: with the tape. */
static struct drawn draw(const struct access_stream *stream, const struct fact_page *page,
			 uint32_t i)
{
	const uint64_t *at = &stream->facts->at[page->first];
	struct drawn drawn = {
		.from_ns = i ? fact_ns(at[i - 1]) : 0,
		.to_ns = i < page->nr ? fact_ns(at[i]) : stream->facts->end_ns,
		.kind = stretch_kind(i ? fact_kind(at[i - 1]) : FACT_GONE,
				     i < page->nr ? fact_kind(at[i]) : FACT_LOOKED),
		.nr_slots = 1,
	};
	uint64_t ns, times;

	/* A fault makes a page young: that it was old then says that a look between is missing. */
	if (drawn.kind == STRETCH_UNKNOWN && i < page->nr &&
	    (fact_kind(at[i]) == FACT_UNMAPPED || fact_kind(at[i]) == FACT_OLD)) {
		uint64_t quiet_ns = (drawn.to_ns - drawn.from_ns) / 2;

		drawn.to_ns -= quiet_ns < stream->facts->round_ns / 2 ? quiet_ns :
									stream->facts->round_ns / 2;
	}
	ns = drawn.to_ns > drawn.from_ns ? drawn.to_ns - drawn.from_ns : 0;
	times = ns / page->gap_ns > SLOTS_LIMIT ? SLOTS_LIMIT * ONE : ns * ONE / page->gap_ns;

	if (stream->fill == FILL_DRAWN && drawn.kind != STRETCH_NONE) {
		drawn.nr_slots = (uint32_t)(times * 4 / ONE) + 1;
		if (drawn.nr_slots > SLOTS_LIMIT)
			drawn.nr_slots = SLOTS_LIMIT;
		drawn.chance = (times << 16) / drawn.nr_slots;
	}
	/* By the page's number, not by its address, which an anonymized tape has not. */
	drawn.seed = mix(mix(stream->seed + 1) ^ ((uint64_t)(page - stream->facts->page) << 32 |
						  i) * UINT64_C(0x9e3779b97f4a7c15));
	return drawn;
}

/* The time of a slot's access, 0: it has none. */
static uint64_t slot_access(const struct drawn *drawn, uint32_t slot)
{
	uint64_t random = mix(drawn->seed + slot);
	uint64_t ns = drawn->to_ns - drawn->from_ns;
	uint64_t first = (uint64_t)((unsigned __int128)ns * slot / drawn->nr_slots);
	uint64_t last = (uint64_t)((unsigned __int128)ns * (slot + 1) / drawn->nr_slots);

	if ((random & UINT32_MAX) >= drawn->chance)
		return 0;
	return drawn->from_ns + first + (((random >> 32) * (last - first)) >> 32) + 1;
}

/* "All the time" is ten times a round of the lists: more often says no more, and takes for ever. */
static uint64_t always_after(const struct access_stream *stream, uint64_t ns, uint64_t end_ns)
{
	uint64_t next = ns + stream->facts->round_ns / 10 + 1;

	return next <= end_ns ? next : UINT64_MAX;
}

/* The first access drawn after a moment, UINT64_MAX: none in this stretch. */
static uint64_t drawn_after(const struct access_stream *stream, const struct drawn *drawn,
			    uint64_t after_ns)
{
	uint64_t ns = drawn->to_ns > drawn->from_ns ? drawn->to_ns - drawn->from_ns : 0;
	uint64_t lone;
	bool any = false;

	if (drawn->kind == STRETCH_NONE || !ns || after_ns >= drawn->to_ns)
		return UINT64_MAX;
	if (stream->fill == FILL_ALWAYS && drawn->kind == STRETCH_UNKNOWN)
		return always_after(stream, after_ns > drawn->from_ns ? after_ns : drawn->from_ns,
				    drawn->to_ns);
	for (uint32_t slot = 0; slot < drawn->nr_slots; slot++) {
		uint64_t at = slot_access(drawn, slot);

		any |= at != 0;
		if (at > after_ns)
			return at;
	}
	if (any || drawn->kind == STRETCH_UNKNOWN)
		return UINT64_MAX;
	/* One there must have been. */
	lone = drawn->from_ns + 1 + (uint64_t)((unsigned __int128)mix(~drawn->seed) * ns >> 64);
	return lone > after_ns ? lone : UINT64_MAX;
}

/* The page's first fact after a moment. */
static uint32_t fact_after(const struct access_facts *facts, const struct fact_page *page,
			   uint64_t ns)
{
	const uint64_t *at = &facts->at[page->first];
	uint32_t low = 0, high = page->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (fact_ns(at[middle]) > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static const struct fact_page *known_page(const struct access_facts *facts, uint64_t dev,
					  uint64_t ino, uint64_t index)
{
	uint32_t number = facts->nr_pages ? *find_page(facts, dev, ino, index) : 0;

	return number ? &facts->page[number - 1] : NULL;
}

enum access_known facts_accessed(const struct access_stream *stream, uint64_t dev, uint64_t ino,
				 uint64_t index, uint64_t after_ns, uint64_t until_ns,
				 bool *accessed)
{
	const struct access_facts *facts = stream->facts;
	const struct fact_page *page = known_page(facts, dev, ino, index);
	enum access_known known = ACCESS_NONE;

	*accessed = false;
	if (!page)
		return ACCESS_NONE;
	for (uint32_t i = fact_after(facts, page, after_ns); i <= page->nr; i++) {
		const uint64_t *at = &facts->at[page->first];
		struct drawn drawn = draw(stream, page, i);

		if (drawn.kind != STRETCH_NONE) {
			if (drawn.kind == STRETCH_SOME && drawn.from_ns >= after_ns &&
			    drawn.to_ns <= until_ns) {
				*accessed = true;
				return ACCESS_SEEN;
			}
			known = ACCESS_DRAWN;
			*accessed |= drawn_after(stream, &drawn, after_ns) <= until_ns;
		}
		if (i == page->nr || fact_ns(at[i]) > until_ns)
			break;
		if (fact_kind(at[i]) == FACT_TOUCHED) {
			*accessed = true;
			return ACCESS_SEEN;
		}
		if (fact_ns(at[i]) == until_ns)
			break;
	}
	return known;
}

enum access_fact facts_next_look(const struct access_facts *facts, uint64_t dev, uint64_t ino,
				 uint64_t index, uint64_t after_ns, uint64_t *ns)
{
	const struct fact_page *page = known_page(facts, dev, ino, index);

	if (!page)
		return FACT_GONE;
	for (uint32_t i = fact_after(facts, page, after_ns); i < page->nr; i++) {
		uint64_t at = facts->at[page->first + i];

		*ns = fact_ns(at);
		switch (fact_kind(at)) {
		case FACT_YOUNG:
		case FACT_OLD:
		case FACT_LOOKED:
		case FACT_UNMAPPED:
			return (enum access_fact)(at & ((1 << KIND_BITS) - 1));
		case FACT_MAPPED:
			break;
		case FACT_TOUCHED:
		case FACT_GONE:
		default:
			return FACT_GONE;
		}
	}
	return FACT_GONE;
}

bool facts_was_mapped(const struct access_facts *facts, uint64_t dev, uint64_t ino, uint64_t index,
		      uint64_t before_ns)
{
	const struct fact_page *page = known_page(facts, dev, ino, index);
	uint32_t after = page ? fact_after(facts, page, before_ns - 1) : 0;
	enum access_fact last = after ? fact_kind(facts->at[page->first + after - 1]) : FACT_GONE;

	return last != FACT_UNMAPPED && last != FACT_GONE;
}

uint64_t facts_next_unseen(const struct access_stream *stream, uint64_t dev, uint64_t ino,
			   uint64_t index, uint64_t after_ns)
{
	const struct access_facts *facts = stream->facts;
	const struct fact_page *page = known_page(facts, dev, ino, index);

	if (!page)
		return UINT64_MAX;
	for (uint32_t i = fact_after(facts, page, after_ns); i <= page->nr; i++) {
		struct drawn drawn = draw(stream, page, i);
		uint64_t at = drawn_after(stream, &drawn, after_ns);
		enum access_fact kind;

		if (at != UINT64_MAX)
			return at;
		if (i == page->nr)
			break;
		kind = fact_kind(facts->at[page->first + i]);
		if (kind == FACT_TOUCHED || kind == FACT_UNMAPPED || kind == FACT_GONE)
			break;
	}
	return UINT64_MAX;
}
