// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/executable.h"

#include <stdlib.h>
#include <string.h>

#include "replay/world/world.h"

#define PAGES_LIMIT (UINT64_C(1) << 20) /* of a file: 4 GiB of it */
#define PAGES_STEP 1024

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

void executable_learn(struct world *world, uint32_t number, uint64_t index, uint64_t nr, bool is)
{
	struct world_file *file = &world->file[number];

	if (!number || index >= PAGES_LIMIT || !has_room(world, file, index + nr))
		return;
	if (is && !file->exec_known)
		world_infer(world, INFER_executable_part);
	file->exec_known |= is;
	memset(file->exec + index, is ? EXECUTABLE : EXECUTABLE_NOT, nr);
}

enum executable executable_page(const struct world *world, uint32_t number, uint64_t index)
{
	const struct world_file *file = &world->file[number];

	if (!file->exec_known)
		return EXECUTABLE_UNKNOWN;
	for (uint64_t away = 0; away < PAGES_LIMIT; away++) {
		if (index + away < file->exec_pages && file->exec[index + away])
			return (enum executable)file->exec[index + away];
		if (away <= index && index - away < file->exec_pages && file->exec[index - away])
			return (enum executable)file->exec[index - away];
	}
	return EXECUTABLE_UNKNOWN;
}

void executable_forget(struct world *world, uint32_t number)
{
	struct world_file *file = &world->file[number];

	free(file->exec);
	file->exec = NULL;
	file->exec_pages = 0;
	file->exec_known = false;
}
