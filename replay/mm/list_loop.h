/* SPDX-License-Identifier: GPL-2.0-only */
/* A loop of the kernel over a list of any length, in a form that can be timed: `lrutape replay --cost`. */
#ifndef REPLAY_MM_LIST_LOOP_H
#define REPLAY_MM_LIST_LOOP_H

#include <stdint.h>

struct folio;
struct lruvec;
struct mm;

struct list_loop {
	const char *name; /* the kernel's, of the function that loops, one word */
	/* Put folios, on no list yet, where the loop will meet them; @folio: oldest first. */
	void (*fill)(struct mm *mm, struct lruvec *lruvec, struct folio *const *folio, uint64_t nr);
	/* Loop until the list is used up. This is what is timed. Return: folios it handled. */
	uint64_t (*run)(struct mm *mm, struct lruvec *lruvec);
};

#endif
