// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/anon_state.h"

#include <stdlib.h>

#define PAGE_SHIFT 12
#define RANGE_LIMIT (UINT64_C(1) << 20) /* pages of one call that are looked at */

/* Advice, the same on x86, arm64 and most others. Kernel: include/uapi/asm-generic/mman-common.h, v6.18. */
#define ADVICE_FREE 8
#define ADVICE_COLD 20
#define ADVICE_PAGEOUT 21

/* Of mlockall. Kernel: include/uapi/asm-generic/mman.h, v6.18. */
#define LOCK_CURRENT 1
#define LOCK_FUTURE 2
#define LOCK_ON_FAULT 4

static void advised(struct anon_world *anon, const struct anon_task *task, enum anon_what what,
		    uint64_t start, uint64_t bytes)
{
	uint64_t first = start >> PAGE_SHIFT, nr = bytes >> PAGE_SHIFT;

	for (uint64_t i = 0; i < nr && i < RANGE_LIMIT; i++) {
		uint32_t number = anon_page_at(anon, task->mm, first + i);

		if (number == ANON_NONE)
			continue;
		if (what == ANON_LAZYFREE && anon->page[number].pfn == ANON_NONE) {
			anon_page_gone(anon, number);
			continue;
		}
		anon->page[number].lazyfree = what == ANON_LAZYFREE;
		anon_add_step(anon, what, number);
	}
}

static void madvised(struct anon_world *anon, const struct tape_event *event,
		     struct anon_task *task)
{
	const uint64_t *v = event->value;
	uint64_t start = v[SYS_ENTER_MADVISE_START], bytes = v[SYS_ENTER_MADVISE_LEN];

	task->populate_end = 0;
	task->locks_all = false;
	task->pages_out = v[SYS_ENTER_MADVISE_BEHAVIOR] == ADVICE_PAGEOUT;
	switch (v[SYS_ENTER_MADVISE_BEHAVIOR]) {
	case ADVICE_FREE:
		advised(anon, task, ANON_LAZYFREE, start, bytes);
		break;
	case ADVICE_COLD:
		advised(anon, task, ANON_COLD, start, bytes);
		break;
	case ADVICE_PAGEOUT:
		advised(anon, task, ANON_PAGEOUT, start, bytes);
		break;
	default:
		break;
	}
}

static void locked(struct anon_world *anon, const struct tape_event *event, struct anon_task *task)
{
	uint64_t start = event->value[SYS_ENTER_MLOCK_START];
	uint64_t bytes = event->value[SYS_ENTER_MLOCK_LEN];

	task->populate_first = start >> PAGE_SHIFT;
	task->populate_end = task->populate_first + (bytes >> PAGE_SHIFT);
	task->locks_all = false;
	advised(anon, task, ANON_LOCKED, start, bytes);
}

static void unlocked(struct anon_world *anon, const struct tape_event *event,
		     struct anon_task *task)
{
	task->populate_end = 0;
	task->locks_all = false;
	advised(anon, task, ANON_UNLOCKED, event->value[SYS_ENTER_MUNLOCK_START],
		event->value[SYS_ENTER_MUNLOCK_LEN]);
}

static int by_index(const void *a, const void *b)
{
	const struct anon_page *one = *(struct anon_page *const *)a;
	const struct anon_page *two = *(struct anon_page *const *)b;

	return (one->index > two->index) - (one->index < two->index);
}

/* All pages of the task's address space, in the order of addresses. */
static void advised_all(struct anon_world *anon, const struct anon_task *task, enum anon_what what)
{
	const struct anon_page **page;
	uint32_t nr = 0;

	if (!task->mm)
		return; /* all pages without an address */
	for (uint32_t n = anon->space[task->mm].first; n != ANON_NONE; n = anon->page[n].next)
		nr += !anon->page[n].gone;
	page = malloc((nr + 1) * sizeof(*page));
	if (!page) {
		anon->failed = true;
		return;
	}
	nr = 0;
	for (uint32_t n = anon->space[task->mm].first; n != ANON_NONE; n = anon->page[n].next)
		if (!anon->page[n].gone)
			page[nr++] = &anon->page[n];
	qsort(page, nr, sizeof(*page), by_index);
	for (uint32_t i = 0; i < nr && !anon->failed; i++)
		anon_add_step(anon, what, (uint32_t)(page[i] - anon->page));
	free(page);
}

static void locked_all(struct anon_world *anon, const struct tape_event *event,
		       struct anon_task *task)
{
	uint64_t flags = event->value[SYS_ENTER_MLOCKALL_FLAGS];

	task->populate_end = 0;
	task->locks_all = task->mm && flags & LOCK_CURRENT && !(flags & LOCK_ON_FAULT);
	anon->space[task->mm].lock_future = task->mm && flags & LOCK_FUTURE;
	if (flags & LOCK_CURRENT)
		advised_all(anon, task, ANON_LOCKED);
}

static void unlocked_all(struct anon_world *anon, struct anon_task *task)
{
	task->populate_end = 0;
	task->locks_all = false;
	anon->space[task->mm].lock_future = false;
	advised_all(anon, task, ANON_UNLOCKED);
}

void anon_advised(struct anon_world *anon, const struct tape_event *event, struct anon_task *task)
{
	task->fault_mm = 0;
	switch (event->kind) {
	case EVENT_SYS_ENTER_MADVISE:
		madvised(anon, event, task);
		break;
	case EVENT_SYS_ENTER_MLOCK:
		locked(anon, event, task);
		break;
	case EVENT_SYS_ENTER_MUNLOCK:
		unlocked(anon, event, task);
		break;
	case EVENT_SYS_ENTER_MLOCKALL:
		locked_all(anon, event, task);
		break;
	case EVENT_SYS_ENTER_MUNLOCKALL:
		unlocked_all(anon, task);
		break;
	default:
		break;
	}
}
