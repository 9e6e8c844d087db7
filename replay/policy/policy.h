/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reclaim policy is one const struct of functions; a patch is a named change of rules.
 *
 * All calls come from one thread, in trace order. Only init() may allocate or fail. Time is
 * never read; nothing is kept outside the lruvec's and the folio's private room.
 */
#ifndef REPLAY_POLICY_POLICY_H
#define REPLAY_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/mm/list_loop.h"
#include "replay/mm/mm.h"
#include "replay/mm/scan_control.h"
#include "replay/mm/workingset.h"

#define FOLIO_NEVER_USED UINT32_MAX

struct reclaim_policy {
	const char *name; /* also file, command line, results column */
	const char *summary; /* one line for lists */
	const char *source; /* kernel file and release, or paper */
	size_t folio_private_bytes; /* of folio.private[] */
	size_t lruvec_private_bytes; /* of lruvec.private */

	/*
	 * A yardstick, whose misses must be those of its algorithm and of nothing else: batches hold one
	 * folio, CPUs keep no charges in stock, reclaim frees no more than a charge lacks, and
	 * folio_accessed() is told of every access, not only of those that the kernel marks.
	 */
	bool exact;

	/* lru_add_drain() runs once before a lruvec is shrunk, by shrink_begin(); else before each isolation. */
	bool drains_before_lruvec;

	/* Its kernel has no active lists: what that emits in reclaim is told apart by this. */
	bool generations;

	/* folio_added() is the kernel's lru_add(): a drain runs replay/mm/lru_add.h's in its place. */
	bool kernel_lru_add;

	/* Optional: set up a new lruvec. Return: 0, or -1 without memory. */
	int (*init)(struct mm *mm, struct lruvec *lruvec);

	/* Optional: a memcg is new, memcg->online is set; or its directory is gone, and it is not. */
	void (*online_changed)(struct mm *mm, struct mem_cgroup *memcg);

	/* Required. A batch drained: put the folio, on no list yet, where its flags say. */
	void (*folio_added)(struct mm *mm, struct lruvec *lruvec, struct folio *folio);

	/* Required. The lru_activate batch drained this folio, which is on a list. */
	void (*folio_activated)(struct mm *mm, struct lruvec *lruvec, struct folio *folio);

	/* Required. The lru_move_tail batch drained this folio: reclaim is to meet it first. */
	void (*folio_rotated)(struct mm *mm, struct lruvec *lruvec, struct folio *folio);

	/* Required. The folio, on a list, leaves it: freed, truncated or isolated by others. */
	void (*folio_removed)(struct mm *mm, struct lruvec *lruvec, struct folio *folio);

	/* Required. folio_mark_accessed() on this CPU; the folio may be on no list yet. */
	void (*folio_accessed)(struct mm *mm, unsigned int cpu, struct folio *folio);

	/*
	 * Required. A folio, charged and on no list, comes back to a slot that held @shadow: decide
	 * where it starts by setting its flags. It is queued for insertion right after this.
	 */
	void (*refault)(struct mm *mm, struct folio *folio, struct shadow shadow);

	/*
	 * Required. A folio, isolated, is being reclaimed for @target (NULL: global): account for it
	 * and say what to leave in its slot.
	 */
	struct shadow (*evict)(struct mm *mm, struct folio *folio, struct mem_cgroup *target);

	/* Required. Once per priority, before the lruvecs below walk->top are shrunk. */
	void (*prepare_scan)(struct reclaim_walk *walk);

	/*
	 * Optional, both or none: reclaim from everybody comes to memcgs in an order of the policy's own. It
	 * is told when one has been shrunk by being asked for the next: walk->memcg, NULL at first. Return:
	 * NULL: no more in this round.
	 */
	bool (*has_own_order)(const struct mm *mm);
	struct mem_cgroup *(*next_memcg)(struct reclaim_walk *walk);

	/*
	 * Optional: kswapd begins a round. Return: it is to deactivate a batch of each memcg's anon folios first.
	 */
	bool (*ages_anon)(struct reclaim_walk *walk);

	/* Required. Start shrinking a lruvec: compute targets into walk->shrink_state. */
	void (*shrink_begin)(struct reclaim_walk *walk, struct lruvec *lruvec);

	/* Required. The next batch to isolate from it. Return: false when it has had enough. */
	bool (*shrink_next)(struct reclaim_walk *walk, struct lruvec *lruvec,
			    struct scan_request *request);

	/* Required. What came of that batch; its survivors are back on lists already. */
	void (*shrink_done)(struct reclaim_walk *walk, const struct scan_request *request,
			    const struct scan_result *result);

	/*
	 * Optional, for check: the recorded kernel asked the same list for @nr pages, fewer or more than
	 * shrink_next() said, because it saw other sizes. Called before shrink_done().
	 */
	void (*shrink_follow)(struct reclaim_walk *walk, const struct scan_request *request,
			      uint64_t nr);

	/*
	 * Required. Take a request's folios off their list, oldest first onto the tail of @taken.
	 * They lose PG_lru and get FOLIO_isolated; sizes shrink by what was taken. @result comes zeroed.
	 */
	void (*isolate)(struct mm *mm, const struct scan_request *request, struct list_head *taken,
			struct scan_result *result);

	/*
	 * Required. An isolated folio's page tables were looked at: what becomes of its own flags?
	 * @young: one has referenced it, so that it stays. Return: and becomes active.
	 */
	bool (*references_checked)(struct mm *mm, struct folio *folio, bool young);

	/*
	 * Optional, for policies that request active lists: a folio taken from one is looked at; the
	 * flags it gets say where it goes. Return: it stays active.
	 */
	bool (*examine_active)(struct mm *mm, struct lruvec *lruvec, struct folio *folio);

	/* Required. Isolated folios go back where their flags say, in the order of @list. */
	void (*putback)(struct mm *mm, const struct scan_request *request, struct list_head *list);

	/* Required. The reclaim call is over for this memcg (or root). */
	void (*reclaim_end)(struct mm *mm, struct mem_cgroup *top);

	/* For policies with the ops of replay/mm/one_by_one.h: the folio to free next, NULL: none. */
	struct folio *(*victim)(struct mm *mm, struct lruvec *lruvec);

	/*
	 * Optional, for policies that know the future: the folio will be used at @use, a number that
	 * grows with time, FOLIO_NEVER_USED: not again. Called before folio_added(), and again with
	 * each access before folio_accessed().
	 */
	void (*next_use)(struct mm *mm, struct folio *folio, uint32_t use);

	/*
	 * Optional, for `replay --cost`: the policy's loops over lists, and the code that the rules choose
	 * for them, in words.
	 */
	const struct list_loop *loop;
	unsigned int nr_loops;
	const char *(*loop_shape)(const struct mm_rules *rules);

	/* Optional: invariants, for tests and sanitizer builds. */
	bool (*check)(const struct mm *mm, const struct lruvec *lruvec);
};

/* One setting of a patch. */
struct policy_param {
	const char *name; /* as results rows have it */
	const char *unit;
	int64_t preset, least, greatest;
	const char *help; /* one line */
};

struct policy_patch {
	const char *name; /* after the '+' */
	const char *base; /* the policy it changes */
	const char *release; /* whose code it changes: no other has that place; NULL: any */
	const char *summary;
	const char *source; /* mail, commit or release */
	const struct policy_param *param; /* its one setting, NULL: none */
	void (*apply)(struct mm_rules *rules, int64_t value);
};

/* A parsed --policy: base[@release][+patch[=value]]... */
#define POLICY_PATCH_LIMIT 8
#define POLICY_NAME_BYTES 128

struct policy_choice {
	char name[POLICY_NAME_BYTES]; /* as it stands in results: what the user gave, tidied */
	const struct reclaim_policy *base;
	struct mm_rules rules; /* of the release, after all patches */
	unsigned int nr_patches;
	const struct policy_patch *patch[POLICY_PATCH_LIMIT];
	int64_t value[POLICY_PATCH_LIMIT];
};

/**
 * policy_parse() - understand a policy's name
 * @text: base[@release][+patch[=value]]...
 * @release: of the tape, used where @text names none; may be a full uname -r
 * @choice: filled on success
 * @why: on failure a sentence with the nearest names, without newline
 * Return: 0 or -1.
 */
int __attribute__((warn_unused_result))
policy_parse(const char *text, const char *release, struct policy_choice *choice, char *why,
	     size_t why_bytes);

/**
 * policy_parse_rest() - the same for a base that is in no list: the user's own
 * @rest: [@release][+patch[=value]]...
 */
int __attribute__((warn_unused_result))
policy_parse_rest(const struct reclaim_policy *base, const char *rest, const char *release,
		  struct policy_choice *choice, char *why, size_t why_bytes);

/** policy_missing_op() - the name of a required op that a policy does not have, NULL: it has all. */
const char *policy_missing_op(const struct reclaim_policy *policy);

/** policy_base() - the i-th base policy, NULL past the last. */
const struct reclaim_policy *policy_base(unsigned int i);

/** policy_patch() - the i-th patch, NULL past the last. */
const struct policy_patch *policy_patch(unsigned int i);

#endif
