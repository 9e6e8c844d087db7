/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small machine whose lists can be drawn. Folios have letters: the letter is the page frame.
 *
 *   "inactive [C B A] active [E D4]"    head (youngest) on the left, tail (next victim) on the
 *                                       right; D is a folio of order 4
 */
#ifndef TESTS_UNIT_MM_DRAWN_H
#define TESTS_UNIT_MM_DRAWN_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/mm/mm.h"
#include "replay/policy/policy.h"

#define DRAWING_BYTES 1024

struct drawn {
	struct mm mm;
	struct mem_cgroup *group; /* a child of the root */
	struct lruvec *lruvec; /* the group's */
};

extern const struct reclaim_policy policy_classic;

static inline struct mm_config drawn_config(void)
{
	return (struct mm_config){
		.policy = &policy_classic,
		.rules = *mm_rules_for_release("6.18"),
		.nr_nodes = 1,
		.nr_cpus = 2,
		.swappiness = 60,
	};
}

static inline struct drawn *drawn_open(struct mm_config config)
{
	struct drawn *drawn = calloc(1, sizeof(*drawn));

	assert_non_null(drawn);
	assert_int_equal(mm_init(&drawn->mm, &config), 0);
	drawn->group = mm_add_memcg(&drawn->mm, NULL, 100);
	assert_non_null(drawn->group);
	drawn->lruvec = mem_cgroup_lruvec(drawn->group, 0);
	return drawn;
}

static inline int drawn_setup(void **state)
{
	*state = drawn_open(drawn_config());
	return 0;
}

static inline void drawn_close(struct drawn *drawn)
{
	mm_exit(&drawn->mm);
	free(drawn);
}

static inline int drawn_teardown(void **state)
{
	drawn_close(*state);
	return 0;
}

/* A new folio of the group, on no list. */
static inline struct folio *drawn_folio_of(struct drawn *drawn, struct mem_cgroup *memcg,
					   uint64_t pfn, uint8_t order, uint32_t flags)
{
	struct folio *folio = mm_folio_born(&drawn->mm, pfn, memcg, order);

	assert_non_null(folio);
	folio_set(folio, flags);
	return folio;
}

static inline struct folio *drawn_folio(struct drawn *drawn, uint64_t pfn, uint32_t flags)
{
	return drawn_folio_of(drawn, drawn->group, pfn, 0, flags);
}

/* The same, at the head of the list that the flags say. */
static inline struct folio *drawn_listed(struct drawn *drawn, uint64_t pfn, uint32_t flags)
{
	struct folio *folio = drawn_folio(drawn, pfn, flags | PG_lru);

	lruvec_add_folio(drawn->lruvec, folio);
	return folio;
}

/* Folios of the group with these letters, the first at the tail: "ABC" draws as [C B A]. */
static inline void drawn_list(struct drawn *drawn, const char *letters, uint32_t flags)
{
	for (; *letters; letters++)
		drawn_listed(drawn, (unsigned char)*letters, flags);
}

static inline void drawn_add_range(struct drawn *drawn, uint64_t first, uint64_t nr, uint32_t flags)
{
	for (uint64_t pfn = first; pfn < first + nr; pfn++)
		drawn_listed(drawn, pfn, flags);
}

static inline struct folio *folio_at(struct drawn *drawn, uint64_t pfn)
{
	struct folio *folio = memmap_folio(&drawn->mm.memmap, pfn);

	assert_non_null(folio);
	return folio;
}

static inline size_t draw_folio(char *out, size_t at, const struct folio *folio)
{
	if (at + 16 >= DRAWING_BYTES)
		return at;
	if (folio->order)
		return at + (size_t)sprintf(out + at, "%c%u", (int)folio->pfn, folio->order);
	return at + (size_t)sprintf(out + at, "%c", (int)folio->pfn);
}

static inline size_t draw_list(char *out, size_t at, const struct list_head *list)
{
	out[at++] = '[';
	for (const struct list_head *pos = list->next; pos != list; pos = pos->next) {
		if (pos != list->next)
			out[at++] = ' ';
		at = draw_folio(out, at, list_entry(pos, const struct folio, lru));
	}
	out[at++] = ']';
	out[at] = '\0';
	return at;
}

static inline void drawn_assert_lists(const struct lruvec *lruvec, enum lru_list inactive,
				      const char *drawing, const char *file, int line)
{
	char text[DRAWING_BYTES + 64] = "inactive ";
	size_t at = draw_list(text, strlen(text), &lruvec->lists[inactive]);

	at += (size_t)sprintf(text + at, " active ");
	draw_list(text, at, &lruvec->lists[inactive + 1]);
	_assert_string_equal(text, drawing, file, line);
}

#define assert_file_lists(lruvec, drawing)                                                         \
	drawn_assert_lists(lruvec, LRU_INACTIVE_FILE, drawing, __FILE__, __LINE__)
#define assert_anon_lists(lruvec, drawing)                                                         \
	drawn_assert_lists(lruvec, LRU_INACTIVE_ANON, drawing, __FILE__, __LINE__)

/* What waits in a batch, oldest first: "ABC". */
static inline void drawn_assert_batch(const struct drawn *drawn, unsigned int cpu,
				      enum lru_batch which, const char *letters, const char *file,
				      int line)
{
	const struct folio_batch *batch = &drawn->mm.cpu[cpu].batch[which];
	char text[DRAWING_BYTES] = "";
	size_t at = 0;

	for (unsigned int i = 0; i < batch->nr; i++)
		at = draw_folio(text, at, batch->folio[i]);
	_assert_string_equal(text, letters, file, line);
}

#define assert_batch(drawn, cpu, which, letters)                                                   \
	drawn_assert_batch(drawn, cpu, which, letters, __FILE__, __LINE__)

/* Every lruvec keeps the policy's invariants. */
static inline void assert_mm_holds(const struct mm *mm)
{
	for (unsigned int i = 0; i < mm->nr_memcgs; i++)
		assert_true(mm->policy->check(mm, &mm->memcg[i]->lruvec[0]));
}

#endif
