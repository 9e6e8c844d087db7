/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tape tells of accesses to mapped pages, and streams of accesses that agree with it.
 *
 * Loads and stores reach no tracepoint. A pass over the tape, in which the recorded policy is
 * followed by `check`, leaves for each page a line of facts in time:
 *
 *   touched   an access: a fault on the page
 *   young     reclaim looked and found it accessed since it last looked
 *   old       reclaim looked and found it not accessed since
 *   looked    reclaim cleared the bit, and nothing tells what it was; a probe does (`record --probe-referenced`)
 *   mapped    fault-around made it young: the next look tells nothing
 *   unmapped  no access before the next fault
 *   gone      freed by its owner
 *
 * Between two facts there was no access (before "old", and while unmapped), at least one (before
 * "young", if the bit was clear when the time began), or nobody knows. A stream is drawn, seeded, at the
 * rate that the page's own facts suggest, so that it agrees with each of them.
 */
#ifndef REPLAY_FACTS_H
#define REPLAY_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/policy/policy.h"
#include "replay/world/anon.h"
#include "replay/world/world.h"
#include "schema/tape_reader.h"

struct access_facts;

enum access_fact {
	FACT_TOUCHED,
	FACT_YOUNG,
	FACT_OLD,
	FACT_LOOKED,
	FACT_MAPPED,
	FACT_UNMAPPED,
	FACT_GONE,
/* The same looks on an active list, where a probe tells what they found: of time they say the same. */
#define FACT_OF_ACTIVE 8u
	FACT_ACTIVE_YOUNG = FACT_YOUNG | FACT_OF_ACTIVE,
	FACT_ACTIVE_OLD = FACT_OLD | FACT_OF_ACTIVE,
};

/* How unknown time is filled. */
enum access_fill {
	FILL_DRAWN, /* at the page's rate */
	FILL_NEVER, /* no unseen access */
	FILL_ALWAYS, /* accessed all the time */
};

struct access_stream {
	const struct access_facts *facts;
	enum access_fill fill;
	uint64_t seed;
};

/* An answer's standing. */
enum access_known {
	ACCESS_NONE, /* known: no access */
	ACCESS_SEEN, /* known: an access */
	ACCESS_DRAWN, /* not known: as the stream has it */
};

/**
 * facts_read() - the pass over the tape
 * @reader: at its first event, and there again afterwards
 * @choice: the recorded policy
 * @facts: set; ends with facts_close()
 * Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
facts_read(struct tape_reader *reader, const struct policy_choice *choice,
	   struct access_facts **facts);

/** facts_close() - free it; NULL is fine. */
void facts_close(struct access_facts *facts);

/** facts_pages() - pages that have facts. */
uint64_t facts_pages(const struct access_facts *facts);

/** facts_counted() - facts of one kind. */
uint64_t facts_counted(const struct access_facts *facts, enum access_fact kind);

/** facts_swap_times() - how long swap's device takes; a guess where the tape does not show it. */
struct swap_times facts_swap_times(const struct access_facts *facts);

/**
 * facts_accessed() - was a page accessed after one moment and not after another?
 * @dev, @ino, @index: the page, as the world names it
 * @after_ns, @until_ns: trace clock
 * @accessed: set: known, or as the stream has it
 * Return: whether the facts decide it.
 */
enum access_known facts_accessed(const struct access_stream *stream, uint64_t dev, uint64_t ino,
				 uint64_t index, uint64_t after_ns, uint64_t until_ns,
				 bool *accessed);

/**
 * facts_next_look() - how the recorded kernel's reclaim found a page when it looked next
 * @after_ns: trace clock
 * @ns: set to when it did
 * Return: FACT_YOUNG, FACT_OLD, FACT_ACTIVE_YOUNG, FACT_ACTIVE_OLD, FACT_LOOKED, FACT_UNMAPPED (found old); FACT_GONE: it did not look again
 * before the page was touched in sight, or ended.
 */
enum access_fact facts_next_look(const struct access_facts *facts, uint64_t dev, uint64_t ino,
				 uint64_t index, uint64_t after_ns, uint64_t *ns);

/** facts_was_mapped() - page tables pointed to a page just before a moment of the trace clock. */
bool facts_was_mapped(const struct access_facts *facts, uint64_t dev, uint64_t ino, uint64_t index,
		      uint64_t before_ns);

/**
 * facts_next_unseen() - a page's next access that no event of the tape will show
 * @after_ns: trace clock
 * Return: its time, UINT64_MAX: none before the page is unmapped, touched in sight or gone.
 */
uint64_t facts_next_unseen(const struct access_stream *stream, uint64_t dev, uint64_t ino,
			   uint64_t index, uint64_t after_ns);

/* For those who find facts, in the order of their times: check, and the pass itself. */

/** facts_open() - no facts yet. Return: NULL without memory. */
struct access_facts *facts_open(void);

/** facts_add() - one more. @ns: trace clock */
void facts_add(struct access_facts *facts, uint64_t dev, uint64_t ino, uint64_t index,
	       enum access_fact kind, uint64_t ns);

/** facts_is_mapped() - page tables point to a page, by its last fact. */
bool facts_is_mapped(const struct access_facts *facts, uint64_t dev, uint64_t ino, uint64_t index);

/** facts_set_swap_times() - as the tape shows them. */
void facts_set_swap_times(struct access_facts *facts, const struct swap_times *times);

/** facts_settle() - all are added. @end_ns: of the tape. Return: 0, or -1 without memory. */
int __attribute__((warn_unused_result)) facts_settle(struct access_facts *facts, uint64_t end_ns);

#endif
