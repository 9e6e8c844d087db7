// SPDX-License-Identifier: GPL-2.0-only
#include "replay/mm/huge_room.h"

#include <sys/mman.h>

void *huge_room_map(bool dense)
{
	/* Twice the size holds an aligned one; what is around it goes back. */
	char *map = mmap(NULL, 2 * HUGE_ROOM_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (map == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)map % HUGE_ROOM_BYTES;
	if (before)
		munmap(map, before);
	munmap(map + before + HUGE_ROOM_BYTES, HUGE_ROOM_BYTES - before);
	if (dense)
		madvise(map + before, HUGE_ROOM_BYTES,
			MADV_HUGEPAGE); /* slower if it fails, not wrong */
	return map + before;
}

void huge_room_unmap(void *room)
{
	munmap(room, HUGE_ROOM_BYTES);
}
