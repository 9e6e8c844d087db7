/* SPDX-License-Identifier: GPL-2.0-only */
/* The event vocabulary as C names: enum event_kind and, per event, an enum of its slots. */
#ifndef SCHEMA_EVENTS_H
#define SCHEMA_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* What a tape_event is. Numbers are those of events.def. */
enum event_kind {
	EVENT_OTHER = 0, /* recorded, but not in events.def */
	EVENT_LOST = 255, /* not a tracepoint: events were lost here, see enum event_lost_slot */
#define EVENT(number, NAME, system, tracepoint) EVENT_##NAME = number,
#include "schema/events.def"
};

#define EVENT_KIND_LIMIT 256

/* Slots of EVENT_LOST in tape_event.value[]. */
enum event_lost_slot {
	EVENT_LOST_COUNT, /* events lost on this CPU, EVENT_LOST_UNKNOWN where the kernel did not say */
	EVENT_LOST_SINCE_NS, /* time of the last event seen before the loss, 0: none */
};

#define EVENT_LOST_UNKNOWN UINT64_MAX

/* Slots: MM_LRU_INSERTION_PFN and so on. */
enum event_slot {
#define FIELD(EVENT, slot, NAME, name, meaning) EVENT##_##NAME = slot,
#include "schema/events.def"
};

struct event_field_info {
	const char *name; /* in the kernel's format file */
	const char *meaning; /* unit or meaning, one phrase */
	bool is_text; /* a string, or bytes: else an integer */
};

struct event_info {
	enum event_kind kind;
	const char *system;
	const char *name; /* tracepoint */
	const struct event_field_info *field; /* by slot */
	unsigned int nr_fields;
};

/**
 * event_info_by_name() - look a tracepoint up in events.def
 * @system: trace subsystem, e.g. "pagemap"
 * @name: tracepoint, current or an older name of it
 *
 * Return: static data, or NULL if lrutape has no name for that event.
 */
const struct event_info *event_info_by_name(const char *system, const char *name);

/**
 * event_info_by_kind() - the vocabulary's entry of one kind
 * @kind: any value of enum event_kind
 *
 * Return: static data, or NULL for EVENT_OTHER, EVENT_LOST and numbers not in use.
 */
const struct event_info *event_info_by_kind(enum event_kind kind);

#endif
