/* SPDX-License-Identifier: GPL-2.0-only */
/* Which events are recorded, and with which filters. */
#ifndef CAPTURE_EVENT_SET_H
#define CAPTURE_EVENT_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture_problem.h"
#include "capture/swap_areas.h"

/* The events a kernel has. */
struct event_catalogue {
	struct event_name {
		char *system, *event;
	} * name;
	unsigned int nr;
};

struct event_choice {
	const char *system, *event; /* owned by the catalogue */
	char *filter; /* "" for none */
};

struct event_set {
	const char *name; /* of the set it starts from, "" if the user named all events */
	struct event_choice *choice; /* in order of choosing, each event once */
	unsigned int nr;
	char **missing; /* "SYSTEM:EVENT" of the set that this kernel has under no name */
	unsigned int nr_missing;
};

/**
 * event_catalogue_load() - read the events of a running kernel
 * @tracefs: directory
 * Return: 0, or -1 with the problem told.
 */
int __attribute__((warn_unused_result))
event_catalogue_load(const char *tracefs, struct event_catalogue *catalogue,
		     struct capture_problem *problem);

/** event_catalogue_add() - one more event. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result))
event_catalogue_add(struct event_catalogue *catalogue, const char *system, const char *event);

void event_catalogue_free(struct event_catalogue *catalogue);

/**
 * event_set_choose() - a set of events, changed as the user asked
 * @catalogue: must live as long as @set
 * @swap: what is swapped to: some events are worth their cost only there
 * @wish: NULL, or items separated by commas: the name of a set of event_sets.def; SYSTEM:EVENT without
 *        a set records just what is so listed, +SYSTEM:EVENT adds, -SYSTEM:EVENT takes away; both
 *        names may hold * and ?, and each item may end in " if FILTER". An event named without a
 *        filter is recorded without one. Of several sets the largest counts; without any name the
 *        first set is the start.
 * @set: filled on success, freed with event_set_free()
 * Return: 0, or -1 with the problem told: which item, and names near to it.
 */
int __attribute__((warn_unused_result))
event_set_choose(const struct event_catalogue *catalogue, const struct swap_areas *swap,
		 const char *wish, struct event_set *set, struct capture_problem *problem);

void event_set_free(struct event_set *set);

/** event_set_names() - "lru, pages, ..."; static. */
const char *event_set_names(void);

/** event_set_print() - the sets and what they are for, a line each, behind @indent. */
void event_set_print(FILE *to, const char *indent);

#endif
