// SPDX-License-Identifier: GPL-2.0-only
/*
 * Belady's MIN: the folio that is used last, or never again, goes first. A bound, not a proposal:
 * it is told of each folio when it will be used next. A folio that is brought in stays in, even
 * if its own next use is the latest of all: a page cache cannot refuse what is being read.
 *
 * The folios stay on their list, in the order in which they came. Beside it they form a pairing
 * heap, the one used last on top; its links are page frames in the folio's own room:
 *
 *   root = [9] --child--> [7] --sibling--> [8] --sibling--> [2]       an access takes a folio out, most
 *                          |                |                         often a leaf, and puts it back
 *                        [3]              [8]--[1]                    with a later use; the victim is
 *                                                                     the root
 *
 * A folio that could not go waits aside in a queue: as many victims later it is put back into the
 * heap and tried again.
 */
#include "replay/mm/one_by_one.h"

#define NO_FRAME 0 /* a folio there, which no kernel has, is never freed */

struct opt_folio {
	uint32_t use; /* number of the next one, FOLIO_NEVER_USED */
	uint32_t child; /* first of those below */
	uint32_t sibling; /* next below the same parent; aside: the next younger */
	uint32_t prev; /* sibling before, or the parent; aside: the next older */
} __attribute__((may_alias));

struct opt_lruvec {
	uint32_t root;
	uint32_t aside_old, aside_young; /* ends of the queue */
	bool survived; /* the last victim could not go */
};

static_assert(sizeof(struct opt_folio) <= sizeof(((struct folio *)0)->private), "a folio's room");

static struct opt_folio *opt_folio(const struct folio *folio)
{
	return (struct opt_folio *)folio->private;
}

static struct opt_lruvec *opt_lruvec(const struct lruvec *lruvec)
{
	return lruvec->private;
}

static struct folio *frame_folio(const struct mm *mm, uint32_t frame)
{
	return memmap_folio((struct memmap *)&mm->memmap, frame);
}

static struct opt_folio *at(const struct mm *mm, uint32_t frame)
{
	return opt_folio(frame_folio(mm, frame));
}

/* ---- the heap */

/* Two heaps become one. Return: its root. */
static uint32_t heap_link(struct mm *mm, uint32_t a, uint32_t b)
{
	uint32_t top = at(mm, b)->use > at(mm, a)->use ? b : a;
	uint32_t low = top == a ? b : a;
	struct opt_folio *parent = at(mm, top), *child = at(mm, low);

	child->sibling = parent->child;
	child->prev = top;
	if (parent->child)
		at(mm, parent->child)->prev = low;
	parent->child = low;
	parent->sibling = parent->prev = NO_FRAME;
	return top;
}

/* The children of a folio that goes become one heap: pairs first, then all from the last on. */
static uint32_t heap_merge(struct mm *mm, uint32_t first)
{
	uint32_t pairs = NO_FRAME, root = NO_FRAME, next;

	for (; first; first = next) {
		uint32_t second = at(mm, first)->sibling, pair = first;

		next = second ? at(mm, second)->sibling : NO_FRAME;
		if (second)
			pair = heap_link(mm, first, second);
		at(mm, pair)->sibling = pairs;
		pairs = pair;
	}
	for (; pairs; pairs = next) {
		next = at(mm, pairs)->sibling;
		root = root ? heap_link(mm, root, pairs) : pairs;
	}
	if (root)
		at(mm, root)->sibling = at(mm, root)->prev = NO_FRAME;
	return root;
}

static void heap_insert(struct mm *mm, struct lruvec *lruvec, const struct folio *folio)
{
	struct opt_lruvec *opt = opt_lruvec(lruvec);
	struct opt_folio *o = opt_folio(folio);

	o->child = o->sibling = o->prev = NO_FRAME;
	opt->root = opt->root ? heap_link(mm, opt->root, folio->pfn) : folio->pfn;
}

static void heap_remove(struct mm *mm, struct lruvec *lruvec, const struct folio *folio)
{
	struct opt_lruvec *opt = opt_lruvec(lruvec);
	struct opt_folio *o = opt_folio(folio);
	uint32_t below = heap_merge(mm, o->child);

	o->child = NO_FRAME;
	if (folio->pfn == opt->root) {
		opt->root = below;
		return;
	}
	if (at(mm, o->prev)->child == folio->pfn)
		at(mm, o->prev)->child = o->sibling;
	else
		at(mm, o->prev)->sibling = o->sibling;
	if (o->sibling)
		at(mm, o->sibling)->prev = o->prev;
	o->sibling = o->prev = NO_FRAME;
	if (below)
		opt->root = heap_link(mm, opt->root, below);
}

/* ---- those aside; they have themselves as child, which no folio in the heap has */

static bool is_aside(const struct folio *folio)
{
	return folio->pfn != NO_FRAME && opt_folio(folio)->child == folio->pfn;
}

static void put_aside(struct mm *mm, struct lruvec *lruvec, const struct folio *folio)
{
	struct opt_lruvec *opt = opt_lruvec(lruvec);
	struct opt_folio *o = opt_folio(folio);

	o->child = folio->pfn;
	o->sibling = NO_FRAME;
	o->prev = opt->aside_young;
	if (opt->aside_young)
		at(mm, opt->aside_young)->sibling = folio->pfn;
	else
		opt->aside_old = folio->pfn;
	opt->aside_young = folio->pfn;
}

static void take_from_aside(struct mm *mm, struct lruvec *lruvec, const struct folio *folio)
{
	struct opt_lruvec *opt = opt_lruvec(lruvec);
	struct opt_folio *o = opt_folio(folio);

	if (o->prev)
		at(mm, o->prev)->sibling = o->sibling;
	else
		opt->aside_old = o->sibling;
	if (o->sibling)
		at(mm, o->sibling)->prev = o->prev;
	else
		opt->aside_young = o->prev;
	o->child = o->sibling = o->prev = NO_FRAME;
}

static bool is_in_heap(const struct lruvec *lruvec, const struct folio *folio)
{
	return !is_aside(folio) &&
	       (opt_folio(folio)->prev || opt_lruvec(lruvec)->root == folio->pfn);
}

/* ---- the policy */

static void opt_take_out(struct mm *mm, struct lruvec *lruvec, const struct folio *folio)
{
	if (is_aside(folio))
		take_from_aside(mm, lruvec, folio);
	else if (is_in_heap(lruvec, folio))
		heap_remove(mm, lruvec, folio);
}

static void opt_folio_added(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	lruvec_add_folio(lruvec, folio);
	if (folio_lru_list(folio) != LRU_INACTIVE_FILE || folio->pfn == NO_FRAME)
		return;
	if (folio_test(folio, FOLIO_isolated)) {
		put_aside(mm, lruvec, folio);
		opt_lruvec(lruvec)->survived = true;
	} else {
		heap_insert(mm, lruvec, folio);
	}
}

static void opt_folio_removed(struct mm *mm, struct lruvec *lruvec, struct folio *folio)
{
	opt_take_out(mm, lruvec, folio);
	one_by_one_folio_removed(mm, lruvec, folio);
}

/* What an access changes was told before. */
static void opt_folio_accessed(struct mm *mm, unsigned int cpu, struct folio *folio)
{
	(void)mm, (void)cpu, (void)folio;
}

static void opt_next_use(struct mm *mm, struct folio *folio, uint32_t use)
{
	bool in_heap = is_in_heap(folio->lruvec, folio);

	if (in_heap)
		heap_remove(mm, folio->lruvec, folio);
	opt_folio(folio)->use = use;
	if (in_heap)
		heap_insert(mm, folio->lruvec, folio);
}

static struct folio *opt_victim(struct mm *mm, struct lruvec *lruvec)
{
	struct opt_lruvec *opt = opt_lruvec(lruvec);

	if (opt->aside_old && (!opt->survived || !opt->root)) {
		struct folio *again = frame_folio(mm, opt->aside_old);

		take_from_aside(mm, lruvec, again);
		heap_insert(mm, lruvec, again);
	}
	opt->survived = false;
	return opt->root ? frame_folio(mm, opt->root) : NULL;
}

/* No folio is used later than the one above it, and what leads to it is led back to. */
static bool opt_holds(const struct mm *mm, const struct lruvec *lruvec, const struct folio *folio)
{
	const struct opt_folio *o = opt_folio(folio);
	uint32_t prev = folio->pfn;

	if (folio->pfn == NO_FRAME)
		return true;
	if (is_aside(folio))
		return o->prev ? at(mm, o->prev)->sibling == folio->pfn :
				 opt_lruvec(lruvec)->aside_old == folio->pfn;
	if (!is_in_heap(lruvec, folio))
		return false;
	for (uint32_t child = o->child; child; child = at(mm, child)->sibling) {
		if (at(mm, child)->use > o->use || at(mm, child)->prev != prev)
			return false;
		prev = child;
	}
	return true;
}

static bool opt_check(const struct mm *mm, const struct lruvec *lruvec)
{
	const struct list_head *list = &lruvec->lists[LRU_INACTIVE_FILE];

	for (const struct list_head *pos = list->next; pos != list; pos = pos->next)
		if (!opt_holds(mm, lruvec, list_entry(pos, const struct folio, lru)))
			return false;
	return lruvec_check(lruvec);
}

const struct reclaim_policy policy_opt = {
	.name = "opt",
	.summary =
		"knows the future: the folio that is used last goes first; one at a time; a lower bound",
	.source = "Belady: A study of replacement algorithms for a virtual-storage computer, 1966",
	.folio_private_bytes = sizeof(struct opt_folio),
	.lruvec_private_bytes = sizeof(struct opt_lruvec),
	ONE_BY_ONE_OPS,
	.folio_added = opt_folio_added,
	.folio_removed = opt_folio_removed,
	.folio_accessed = opt_folio_accessed,
	.next_use = opt_next_use,
	.victim = opt_victim,
	.check = opt_check,
};
