// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/executable.h"

#include <stdlib.h>
#include <string.h>

#include "replay/world/world.h"

#define PAGES_LIMIT (UINT64_C(1) << 20) /* of a file: 4 GiB of it */
#define PAGES_STEP 1024
#define KNOWN 3 /* bits of a page's byte: enum executable, */
#define TOLD 4 /* and it is no guess, */
#define COPIED 8

static bool has_room(struct world *world, struct world_file *file, uint64_t end)
{
	uint64_t room = (end + PAGES_STEP - 1) / PAGES_STEP * PAGES_STEP;
	uint8_t *bigger;

	if (end <= file->exec_pages)
		return true;
	if (end > PAGES_LIMIT)
		return false;
	bigger = realloc(file->exec, room);
	if (!bigger) {
		world->out_of_memory = true;
		return false;
	}
	memset(bigger + file->exec_pages, EXECUTABLE_UNKNOWN, room - file->exec_pages);
	file->exec = bigger;
	file->exec_pages = (uint32_t)room;
	return true;
}

static enum executable known(const struct world_file *file, uint64_t index)
{
	return index < file->exec_pages ? (enum executable)(file->exec[index] & KNOWN) :
					  EXECUTABLE_UNKNOWN;
}

static void learn(struct world *world, uint32_t number, uint64_t index, uint64_t nr, bool is,
		  uint8_t flags)
{
	struct world_file *file = &world->file[number];

	if (!number || index >= PAGES_LIMIT || !has_room(world, file, index + nr))
		return;
	file->exec_known |= is;
	for (uint64_t i = index; i < index + nr; i++)
		if (flags || !(file->exec[i] & TOLD))
			file->exec[i] = (uint8_t)((file->exec[i] & COPIED) | flags |
						  (is ? EXECUTABLE : EXECUTABLE_NOT));
}

void executable_learn(struct world *world, uint32_t number, uint64_t index, uint64_t nr, bool is)
{
	if (is && number && !world->file[number].exec_known)
		world_infer(world, INFER_executable_part);
	learn(world, number, index, nr, is, 0);
}

void executable_told(struct world *world, uint32_t number, uint64_t index, uint64_t nr, bool is)
{
	learn(world, number, index, nr, is, TOLD);
}

void executable_copied(struct world *world, uint32_t number, uint64_t index)
{
	learn(world, number, index, 1, false, TOLD | COPIED);
}

bool executable_is_copied(const struct world *world, uint32_t number, uint64_t index)
{
	const struct world_file *file = &world->file[number];

	return index < file->exec_pages && file->exec[index] & COPIED;
}

enum executable executable_page(const struct world *world, uint32_t number, uint64_t index)
{
	const struct world_file *file = &world->file[number];

	if (!file->exec_known)
		return EXECUTABLE_UNKNOWN;
	for (uint64_t away = 0; away < PAGES_LIMIT; away++) {
		if (known(file, index + away))
			return known(file, index + away);
		if (away <= index && known(file, index - away))
			return known(file, index - away);
	}
	return EXECUTABLE_UNKNOWN;
}

uint64_t executable_end(const struct world *world, uint32_t number, uint64_t index)
{
	const struct world_file *file = &world->file[number];

	for (index++; index < file->exec_pages; index++)
		if (known(file, index) == EXECUTABLE_NOT)
			return index;
	return UINT64_MAX;
}

void executable_forget(struct world *world, uint32_t number)
{
	struct world_file *file = &world->file[number];

	free(file->exec);
	file->exec = NULL;
	file->exec_pages = 0;
	file->exec_known = false;
}
