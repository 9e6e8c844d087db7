/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays that get one element more now and then.
 */
#ifndef REPLAY_WORLD_GROW_H
#define REPLAY_WORLD_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define GROW_FIRST 64 /* elements */

/**
 * grow_by_one() - room for an element behind the first @nr
 * @room: elements that *@array has room for; doubled. @bytes: of one element
 * What is new is not cleared. Return: false without memory, the array is as it was.
 */
static inline bool grow_by_one(void **array, uint32_t nr, uint32_t *room, size_t bytes)
{
	uint32_t bigger = *room ? *room * 2 : GROW_FIRST;
	void *more;

	if (nr < *room)
		return true;
	more = realloc(*array, bigger * bytes);
	if (!more)
		return false;
	*array = more;
	*room = bigger;
	return true;
}

#endif
