// SPDX-License-Identifier: GPL-2.0-only
#include "replay/read_calls.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12
#define NO_DESCRIPTOR UINT64_MAX

#define EARLY_READS 256 /* of a descriptor; what comes after them is not told */

struct pages {
	uint64_t first, last;
};

/* A task, at the pread64() it is in, or a descriptor of it. Key: pid << 32 | descriptor; of the task: all ones. */
struct entry {
	uint64_t key; /* plus 1; 0: a free place */
	uint64_t descriptor, position, last; /* task: of the call; pages; NO_DESCRIPTOR: in none */
	uint64_t dev, ino; /* descriptor: its file, 0 0: not known yet */
	struct pages *early; /* descriptor: read before its file was known */
	uint32_t nr_early;
};

struct read_calls {
	struct entry *entry; /* hash */
	uint64_t mask, nr;
	/* What is known and was not told yet: early reads of one descriptor, and the call that made them known. */
	struct tape_event event; /* of that call's end */
	struct pages known[EARLY_READS + 1];
	uint32_t nr_known, nr_told;
	uint64_t dev, ino;
	uint64_t value[4]; /* of the event made last */
};

struct read_calls *read_calls_open(void)
{
	struct read_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->mask = 255;
	calls->entry = calloc(calls->mask + 1, sizeof(*calls->entry));
	if (!calls->entry) {
		free(calls);
		return NULL;
	}
	return calls;
}

void read_calls_close(struct read_calls *calls)
{
	for (uint64_t i = 0; calls && i <= calls->mask; i++)
		free(calls->entry[i].early);
	if (calls)
		free(calls->entry);
	free(calls);
}

static struct entry *place(const struct read_calls *calls, uint64_t key)
{
	uint64_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & calls->mask;

	while (calls->entry[i].key && calls->entry[i].key != key + 1)
		i = (i + 1) & calls->mask;
	return &calls->entry[i];
}

static bool grow(struct read_calls *calls)
{
	struct read_calls bigger = { .mask = calls->mask * 2 + 1 };

	bigger.entry = calloc(bigger.mask + 1, sizeof(*bigger.entry));
	if (!bigger.entry)
		return false;
	for (uint64_t i = 0; i <= calls->mask; i++)
		if (calls->entry[i].key)
			*place(&bigger, calls->entry[i].key - 1) = calls->entry[i];
	free(calls->entry);
	calls->entry = bigger.entry;
	calls->mask = bigger.mask;
	return true;
}

static uint64_t key_of(int32_t pid, uint64_t descriptor)
{
	return (uint64_t)(uint32_t)pid << 32 | (descriptor & UINT32_MAX);
}

static struct entry *entry_of(struct read_calls *calls, uint64_t key)
{
	struct entry *entry = place(calls, key);

	if (entry->key)
		return entry;
	if ((calls->nr + 1) * 2 > calls->mask) {
		if (!grow(calls))
			return NULL;
		entry = place(calls, key);
	}
	calls->nr++;
	*entry = (struct entry){ .key = key + 1, .descriptor = NO_DESCRIPTOR };
	return entry;
}

static int begin_call(struct read_calls *calls, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	uint64_t count = v[SYS_ENTER_PREAD64_COUNT], pos = v[SYS_ENTER_PREAD64_POS];
	struct entry *task;

	if (!entry_of(calls, key_of(event->pid, v[SYS_ENTER_PREAD64_FD])))
		return TAPE_ERR_MEMORY;
	task = entry_of(calls, key_of(event->pid, NO_DESCRIPTOR));
	if (!task)
		return TAPE_ERR_MEMORY;
	task->descriptor = v[SYS_ENTER_PREAD64_FD];
	task->position = pos;
	task->last = pos + (count ? count - 1 : 0);
	return 0;
}

static void page_added(struct read_calls *calls, const struct tape_event *event)
{
	const uint64_t *v = event->value;
	uint64_t index = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX];
	struct entry *task = place(calls, key_of(event->pid, NO_DESCRIPTOR)), *descriptor;

	/* The page that was asked for: the file system's metadata and readahead lie elsewhere, mostly. */
	if (!task->key || task->descriptor == NO_DESCRIPTOR ||
	    index < task->position >> PAGE_SHIFT || index > task->last >> PAGE_SHIFT)
		return;
	descriptor = place(calls, key_of(event->pid, task->descriptor));
	descriptor->dev = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV];
	descriptor->ino = v[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO];
}

static int read_early(struct entry *descriptor, struct pages pages)
{
	if (!descriptor->early)
		descriptor->early = malloc(EARLY_READS * sizeof(*descriptor->early));
	if (!descriptor->early)
		return TAPE_ERR_MEMORY;
	if (descriptor->nr_early < EARLY_READS)
		descriptor->early[descriptor->nr_early++] = pages;
	return 0;
}

static int end_call(struct read_calls *calls, const struct tape_event *event)
{
	struct entry *task = place(calls, key_of(event->pid, NO_DESCRIPTOR)), *descriptor;
	int64_t nr_bytes = (int64_t)event->value[SYS_EXIT_PREAD64_RET];
	struct pages pages;

	if (!task->key || task->descriptor == NO_DESCRIPTOR)
		return 0;
	descriptor = place(calls, key_of(event->pid, task->descriptor));
	task->descriptor = NO_DESCRIPTOR;
	if (nr_bytes <= 0)
		return 0;
	pages.first = task->position >> PAGE_SHIFT;
	pages.last = (task->position + (uint64_t)nr_bytes - 1) >> PAGE_SHIFT;
	if (!descriptor->ino)
		return read_early(descriptor, pages);
	if (descriptor->nr_early)
		memcpy(calls->known, descriptor->early,
		       descriptor->nr_early * sizeof(*descriptor->early));
	calls->nr_known = descriptor->nr_early;
	calls->nr_told = descriptor->nr_early = 0;
	calls->known[calls->nr_known++] = pages;
	calls->event = *event;
	calls->dev = descriptor->dev;
	calls->ino = descriptor->ino;
	return 0;
}

bool read_calls_next(struct read_calls *calls, struct tape_event *read)
{
	if (calls->nr_told == calls->nr_known)
		return false;
	calls->value[MM_FILEMAP_GET_PAGES_I_INO] = calls->ino;
	calls->value[MM_FILEMAP_GET_PAGES_S_DEV] = calls->dev;
	calls->value[MM_FILEMAP_GET_PAGES_INDEX] = calls->known[calls->nr_told].first;
	calls->value[MM_FILEMAP_GET_PAGES_LAST_INDEX] = calls->known[calls->nr_told].last;
	calls->nr_told++;
	*read = calls->event;
	read->kind = EVENT_MM_FILEMAP_GET_PAGES;
	read->value = calls->value;
	read->strings = "";
	return true;
}

int read_calls_event(struct read_calls *calls, const struct tape_event *event)
{
	switch (event->kind) {
	case EVENT_SYS_ENTER_PREAD64:
		return begin_call(calls, event);
	case EVENT_MM_FILEMAP_ADD_TO_PAGE_CACHE:
		page_added(calls, event);
		return 0;
	case EVENT_SYS_EXIT_PREAD64:
		return end_call(calls, event);
	default:
		return 0;
	}
}
