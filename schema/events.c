// SPDX-License-Identifier: GPL-2.0-only
/* The event vocabulary as tables, made from events.def. */
#include "schema/events.h"

#include <stddef.h>
#include <string.h>

#define NR_FIELDS_MAX 16

/* One row per event; a field's slot is its index, so that holes show as NULL names. */
static const struct event_field_info fields[EVENT_KIND_LIMIT][NR_FIELDS_MAX] = {
#define FIELD(EVENT, slot, NAME, name, meaning) [EVENT_##EVENT][slot] = { name, meaning, false },
#define TEXT(EVENT, slot, NAME, name, meaning) [EVENT_##EVENT][slot] = { name, meaning, true },
#include "schema/events.def"
};

/* The event of each FIELD line: counting them gives nr_fields. */
static const unsigned char field_owner[] = {
#define FIELD(EVENT, slot, NAME, name, meaning) EVENT_##EVENT,
#include "schema/events.def"
};

static const struct {
	enum event_kind kind;
	const char *system, *name;
} names[] = {
#define EVENT(number, NAME, system, tracepoint) { EVENT_##NAME, system, tracepoint },
#define ALSO(NAME, system, tracepoint) { EVENT_##NAME, system, tracepoint },
#include "schema/events.def"
};

static struct event_info infos[EVENT_KIND_LIMIT];

/* Filled before main(), so that look-ups need no lock. */
static void __attribute__((constructor)) fill_infos(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct event_info *info = &infos[names[i].kind];

		if (info->name)
			continue; /* ALSO lines follow the EVENT line, whose name is the current one */
		info->kind = names[i].kind;
		info->system = names[i].system;
		info->name = names[i].name;
		info->field = fields[names[i].kind];
	}
	for (size_t i = 0; i < sizeof(field_owner); i++)
		infos[field_owner[i]].nr_fields++;
}

const struct event_info *event_info_by_name(const char *system, const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, name) && !strcmp(names[i].system, system))
			return &infos[names[i].kind];
	return NULL;
}

const struct event_info *event_info_by_kind(enum event_kind kind)
{
	if ((unsigned int)kind >= EVENT_KIND_LIMIT || !infos[kind].name)
		return NULL;
	return &infos[kind];
}
