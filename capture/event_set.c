// SPDX-License-Identifier: GPL-2.0-only
#include "capture/event_set.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "schema/events.h"

#define MAX_NAME 128 /* of system:event; the kernel's own limit is about as long */
#define NR_NEAR 3

enum {
#define EVENT_SET(name, summary) SET_##name,
#include "capture/event_sets.def"
	NR_SETS,
};

static const struct set_name {
	const char *name, *summary;
} set_names[NR_SETS] = {
#define EVENT_SET(name, summary) { #name, summary },
#include "capture/event_sets.def"
};

static const struct set_event {
	int set; /* in this one and those behind it */
	const char *system, *event, *filter;
	const char *lacking_system,
		*lacking_event; /* only where the kernel lacks this; NULL: always */
	bool with_swap; /* only where something is swapped to */
} set_events[] = {
#define SWAP_AREAS NULL
#define SET_EVENT(set, system, event, filter)                                                      \
	{ SET_##set, system, event, filter, NULL, NULL, false },
#define SET_INSTEAD(set, system, event, filter, lacking_system, lacking_event)                     \
	{ SET_##set, system, event, filter, lacking_system, lacking_event, false },
#define SET_WITH_SWAP(set, system, event, filter)                                                  \
	{ SET_##set, system, event, filter, NULL, NULL, true },
#include "capture/event_sets.def"
};

#define NR_SET_EVENTS (sizeof(set_events) / sizeof(set_events[0]))

/* Every name that an event of the vocabulary has or had. */
static const struct known_name {
	int kind;
	const char *system, *event;
} known_names[] = {
#define EVENT(number, NAME, system, tracepoint) { number, system, tracepoint },
#define ALSO(NAME, system, tracepoint) { EVENT_##NAME, system, tracepoint },
#include "schema/events.def"
};

#define NR_KNOWN_NAMES (sizeof(known_names) / sizeof(known_names[0]))

int event_catalogue_add(struct event_catalogue *catalogue, const char *system, const char *event)
{
	struct event_name *name;

	if ((catalogue->nr & (catalogue->nr - 1)) == 0) {
		name = reallocarray(catalogue->name, catalogue->nr ? 2 * catalogue->nr : 1,
				    sizeof(*name));
		if (!name)
			return -1;
		catalogue->name = name;
	}
	name = &catalogue->name[catalogue->nr];
	name->system = strdup(system);
	name->event = strdup(event);
	if (!name->system || !name->event) {
		free(name->system);
		free(name->event);
		return -1;
	}
	catalogue->nr++;
	return 0;
}

int event_catalogue_load(const char *tracefs, struct event_catalogue *catalogue,
			 struct capture_problem *problem)
{
	char **systems = tracefs_event_systems(tracefs);

	memset(catalogue, 0, sizeof(*catalogue));
	if (!systems)
		return capture_problem_set(problem,
					   "%s/events: cannot list the kernel's events: %s: run as "
					   "root",
					   tracefs, strerror(errno));
	for (int i = 0; systems[i]; i++) {
		char **events;

		/* Records of the function tracers; they have a format and cannot be enabled. */
		if (!strcmp(systems[i], "ftrace"))
			continue;
		events = tracefs_system_events(tracefs, systems[i]);
		for (int j = 0; events && events[j]; j++)
			if (event_catalogue_add(catalogue, systems[i], events[j])) {
				tracefs_list_free(events);
				tracefs_list_free(systems);
				event_catalogue_free(catalogue);
				return capture_problem_set(problem, "out of memory");
			}
		tracefs_list_free(events);
	}
	tracefs_list_free(systems);
	return 0;
}

void event_catalogue_free(struct event_catalogue *catalogue)
{
	for (unsigned int i = 0; i < catalogue->nr; i++) {
		free(catalogue->name[i].system);
		free(catalogue->name[i].event);
	}
	free(catalogue->name);
	memset(catalogue, 0, sizeof(*catalogue));
}

/* ---- near names */

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edit distance: letters to insert, drop or change. Both are shorter than MAX_NAME. */
static unsigned int name_distance(const char *a, const char *b)
{
	unsigned int row[MAX_NAME + 1], length = (unsigned int)strlen(b);

	for (unsigned int j = 0; j <= length; j++)
		row[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= length; j++) {
			unsigned int above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[length];
}

/* Writes "; near: a, b" with the best few names, or nothing if none is near. */
static void near_names(const struct event_catalogue *catalogue, const char *wanted, char *text,
		       size_t room)
{
	unsigned int best[NR_NEAR], index[NR_NEAR], nr = 0, used = 0;
	const char *event = strchr(wanted, ':');
	unsigned int limit = 2 + (unsigned int)strlen(wanted) / 4;

	event = event ? event + 1 : wanted;
	text[0] = '\0';
	for (unsigned int i = 0; i < catalogue->nr; i++) {
		const struct event_name *name = &catalogue->name[i];
		char whole[MAX_NAME];
		unsigned int distance, at;

		if ((size_t)snprintf(whole, sizeof(whole), "%s:%s", name->system, name->event) >=
		    sizeof(whole))
			continue;
		distance = strcmp(event, name->event) ? name_distance(wanted, whole) : 0;
		if (distance > limit)
			continue;
		for (at = nr; at > 0 && best[at - 1] > distance; at--)
			if (at < NR_NEAR) {
				best[at] = best[at - 1];
				index[at] = index[at - 1];
			}
		if (at == NR_NEAR)
			continue;
		best[at] = distance;
		index[at] = i;
		nr += nr < NR_NEAR;
	}
	for (unsigned int i = 0; i < nr && used < room; i++)
		used += (unsigned int)snprintf(
			text + used, room - used, "%s%s:%s",
			i ? ", " : "; near: ", catalogue->name[index[i]].system,
			catalogue->name[index[i]].event);
}

/* ---- choosing */

static int choice_index(const struct event_set *set, const struct event_name *name)
{
	for (unsigned int i = 0; i < set->nr; i++)
		if (set->choice[i].system == name->system && set->choice[i].event == name->event)
			return (int)i;
	return -1;
}

static int choice_add(struct event_set *set, const struct event_name *name, const char *filter)
{
	int at = choice_index(set, name);
	char *copy = strdup(filter);
	struct event_choice *more;

	if (!copy)
		return -1;
	if (at >= 0) {
		free(set->choice[at].filter);
		set->choice[at].filter = copy;
		return 0;
	}
	more = reallocarray(set->choice, set->nr + 1, sizeof(*more));
	if (!more) {
		free(copy);
		return -1;
	}
	set->choice = more;
	more[set->nr++] = (struct event_choice){ name->system, name->event, copy };
	return 0;
}

static void choice_drop(struct event_set *set, const struct event_name *name)
{
	int at = choice_index(set, name);

	if (at < 0)
		return;
	free(set->choice[at].filter);
	set->nr--;
	memmove(&set->choice[at], &set->choice[at + 1],
		(set->nr - (unsigned int)at) * sizeof(*set->choice));
}

static int missing_add(struct event_set *set, const char *system, const char *event)
{
	char **more;

	for (unsigned int i = 0; i < set->nr_missing; i++) {
		size_t length = strlen(system);

		if (!strncmp(set->missing[i], system, length) && set->missing[i][length] == ':' &&
		    !strcmp(set->missing[i] + length + 1, event))
			return 0;
	}
	more = reallocarray(set->missing, set->nr_missing + 1, sizeof(*more));
	if (!more)
		return -1;
	set->missing = more;
	if (asprintf(&more[set->nr_missing], "%s:%s", system, event) < 0)
		return -1;
	set->nr_missing++;
	return 0;
}

static const struct event_name *catalogue_find(const struct event_catalogue *catalogue,
					       const char *system, const char *event)
{
	for (unsigned int i = 0; i < catalogue->nr; i++)
		if (!strcmp(catalogue->name[i].system, system) &&
		    !strcmp(catalogue->name[i].event, event))
			return &catalogue->name[i];
	return NULL;
}

/* This kernel's name for a default event: today's, or any that it had in another release. */
static const struct event_name *find_under_any_name(const struct event_catalogue *catalogue,
						    const char *system, const char *event)
{
	const struct event_name *found = catalogue_find(catalogue, system, event);
	const struct event_info *info = event_info_by_name(system, event);

	for (size_t i = 0; !found && info && i < NR_KNOWN_NAMES; i++)
		if (known_names[i].kind == (int)info->kind)
			found = catalogue_find(catalogue, known_names[i].system,
					       known_names[i].event);
	return found;
}

/* Both filters for an event that an earlier line has already: what either of them lets pass. */
static int choice_widen(struct event_set *set, const struct event_name *name, const char *filter)
{
	int at = choice_index(set, name), ret;
	char *either;

	if (at < 0 || !*set->choice[at].filter)
		return choice_add(set, name, at < 0 ? filter : "");
	if (asprintf(&either, "(%s) || (%s)", set->choice[at].filter, filter) < 0)
		return -1;
	ret = choice_add(set, name, either);
	free(either);
	return ret;
}

static int choose_set(const struct event_catalogue *catalogue, int chosen,
		      const struct swap_areas *swap, struct event_set *set)
{
	for (size_t i = 0; i < NR_SET_EVENTS; i++) {
		const struct set_event *event = &set_events[i];
		const char *filter = event->filter ? event->filter : swap->filter;
		const struct event_name *name;

		if (event->set > chosen || !filter || (event->with_swap && !swap->in_use))
			continue;
		name = find_under_any_name(catalogue, event->system, event->event);
		if (event->lacking_system) {
			if (!name || find_under_any_name(catalogue, event->lacking_system,
							 event->lacking_event))
				continue;
		}
		if (!name	  ? missing_add(set, event->system, event->event) :
		    event->filter ? choice_add(set, name, filter) :
				    choice_widen(set, name, filter))
			return -1;
	}
	return 0;
}

/* Return: the set of that name, -1 if there is none. */
static int find_set(const char *name)
{
	for (int i = 0; i < NR_SETS; i++)
		if (!strcmp(name, set_names[i].name))
			return i;
	return -1;
}

/* One item of the wish: [+|-]SYSTEM:EVENT[ if FILTER]. */
static int choose_item(const struct event_catalogue *catalogue, char *item, struct event_set *set,
		       struct capture_problem *problem)
{
	char near[3 * MAX_NAME + 16], *filter, *event, *name = item + strspn(item, "+-");
	unsigned int nr = 0;

	filter = strstr(name, " if ");
	if (filter) {
		*filter = '\0';
		filter += strlen(" if ");
	}
	event = strchr(name, ':');
	if (!event || event == name || !event[1] || name - item > 1)
		return capture_problem_set(
			problem,
			"--events: \"%s\": neither a set (%s) nor SYSTEM:EVENT, as in "
			"kmem:mm_page_free; kmem:* is all of a system",
			item, event_set_names());
	if (strlen(name) >= MAX_NAME)
		return capture_problem_set(problem,
					   "--events: \"%s\": too long for an event's name", name);
	*event++ = '\0';
	for (unsigned int i = 0; i < catalogue->nr; i++) {
		const struct event_name *known = &catalogue->name[i];

		if (fnmatch(name, known->system, 0) || fnmatch(event, known->event, 0))
			continue;
		nr++;
		if (*item == '-')
			choice_drop(set, known);
		else if (choice_add(set, known, filter ? filter : ""))
			return capture_problem_set(problem, "out of memory");
	}
	event[-1] = ':';
	if (nr)
		return 0;
	near_names(catalogue, name, near, sizeof(near));
	return capture_problem_set(
		problem,
		"--events: %s: this kernel has no such event%s: all names are in "
		"available_events of tracefs",
		name, near);
}

const char *event_set_names(void)
{
	static const char names[] =
#define EVENT_SET(name, summary) ", " #name
#include "capture/event_sets.def"
		;

	return names + strlen(", ");
}

void event_set_print(FILE *to, const char *indent)
{
	for (int i = 0; i < NR_SETS; i++)
		fprintf(to, "%s%-6s %s\n", indent, set_names[i].name, set_names[i].summary);
}

/*
 * What the wish starts from: the set it names, or nothing if it names events without a sign, or
 * else the default. Names of sets are cut out of it.
 * Return: a set, -1 for nothing.
 */
static int take_set(char *wish)
{
	int chosen = -1;
	bool names_all = false;

	for (char *at = wish; *at;) {
		size_t length = strcspn(at, ",");
		char end = at[length];
		int set;

		at[length] = '\0';
		set = find_set(at);
		if (set > chosen)
			chosen = set;
		if (set >= 0)
			memset(at, ',', length);
		else
			names_all |= length && *at != '+' && *at != '-';
		at[length] = end;
		at += length + (end != '\0');
	}
	return chosen >= 0 || names_all ? chosen : 0;
}

int event_set_choose(const struct event_catalogue *catalogue, const struct swap_areas *swap,
		     const char *wish, struct event_set *set, struct capture_problem *problem)
{
	char *copy = strdup(wish ? wish : ""), *rest = copy, *item;
	int chosen;

	memset(set, 0, sizeof(*set));
	if (!copy)
		return capture_problem_set(problem, "out of memory");
	chosen = take_set(copy);
	set->name = chosen >= 0 ? set_names[chosen].name : "";
	if (choose_set(catalogue, chosen, swap, set)) {
		capture_problem_set(problem, "out of memory");
		goto err_free;
	}
	while ((item = strsep(&rest, ",")))
		if (*item && choose_item(catalogue, item, set, problem))
			goto err_free;
	if (set->nr == 0) {
		capture_problem_set(problem, "--events: nothing is left to record");
		goto err_free;
	}
	free(copy);
	return 0;

err_free:
	free(copy);
	event_set_free(set);
	return -1;
}

void event_set_free(struct event_set *set)
{
	for (unsigned int i = 0; i < set->nr; i++)
		free(set->choice[i].filter);
	for (unsigned int i = 0; i < set->nr_missing; i++)
		free(set->missing[i]);
	free(set->choice);
	free(set->missing);
	memset(set, 0, sizeof(*set));
}
