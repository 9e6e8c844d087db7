// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/limits.h"

#include <stdlib.h>
#include <string.h>

#include "replay/world/snapshot.h"
#include "replay/world/world.h"

struct world_limit {
	uint64_t timestamp_ns;
	const char *directory; /* the tape reader's */
	size_t directory_size;
	int64_t pages; /* INT64_MAX: none */
	enum limit_kind { LIMIT_MAX, LIMIT_HIGH, LIMIT_SWAP, LIMIT_MEMSW, NR_LIMIT_KINDS } kind;
};

static bool add(struct world_limits *limits, const struct world_limit *limit)
{
	if (limits->nr == limits->room) {
		uint32_t room = limits->room ? limits->room * 2 : 64;
		struct world_limit *more = realloc(limits->row, room * sizeof(*more));

		if (!more)
			return false;
		limits->row = more;
		limits->room = room;
	}
	limits->row[limits->nr++] = *limit;
	return true;
}

/* Return: the file is one of limits. */
static bool read_limit(const struct tape_blob *blob, struct world_limit *limit)
{
	static const struct {
		const char *file;
		enum limit_kind kind;
	} files[] = { { "/memory.max", LIMIT_MAX },
		      { "/memory.limit_in_bytes", LIMIT_MAX },
		      { "/memory.high", LIMIT_HIGH },
		      { "/memory.swap.max", LIMIT_SWAP },
		      { "/memory.memsw.limit_in_bytes", LIMIT_MEMSW } };
	size_t size = strlen(blob->name);

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t tail = strlen(files[i].file);

		if (size <= tail || strcmp(blob->name + size - tail, files[i].file))
			continue;
		*limit = (struct world_limit){
			.timestamp_ns = blob->timestamp_ns,
			.directory = blob->name,
			.directory_size = size - tail,
			.pages = files[i].kind == LIMIT_SWAP ?
					 world_swap_limit_of_text(blob->data) :
					 world_limit_of_text(blob->data),
			.kind = files[i].kind,
		};
		return true;
	}
	return false;
}

int limits_read(struct world_limits *limits, const struct tape_reader *reader)
{
	const struct tape_blob *blob;
	struct world_limit limit;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++)
		if (blob->moment != TAPE_MOMENT_START && blob->name[0] == '/' &&
		    read_limit(blob, &limit) && !add(limits, &limit))
			return -1;
	return 0;
}

void limits_exit(struct world_limits *limits)
{
	free(limits->row);
	memset(limits, 0, sizeof(*limits));
}

/* Return: it was another one. */
static bool set(struct world_memcg *memcg, const struct world_limit *limit)
{
	int64_t *of[] = { &memcg->limit_pages, &memcg->high_pages, &memcg->swap_limit_pages,
			  &memcg->memsw_limit_pages };
	int64_t *pages = of[limit->kind];
	bool changed = *pages != limit->pages;

	*pages = limit->pages;
	return changed;
}

void limits_pass(struct world *world, uint64_t now_ns)
{
	struct world_limits *limits = &world->limits;

	for (; limits->next < limits->nr; limits->next++) {
		const struct world_limit *limit = &limits->row[limits->next];
		uint32_t n;

		if (limit->timestamp_ns > now_ns)
			return;
		n = world_memcg_of_directory(world, limit->directory, limit->directory_size);
		if (n == WORLD_ROOT || !set(&world->memcg[n], limit))
			continue;
		world_infer(world, INFER_limit_read);
		limits->nr_changes++;
	}
}

static bool is_of(const struct world_limit *limit, const char *path)
{
	size_t size = strlen(path);

	return size <= limit->directory_size &&
	       !memcmp(limit->directory + limit->directory_size - size, path, size);
}

void limits_of_new(struct world *world, uint32_t memcg, uint64_t now_ns)
{
	const struct world_limits *limits = &world->limits;
	bool seen[NR_LIMIT_KINDS] = { false };

	for (uint32_t i = limits->next; i < limits->nr; i++) {
		const struct world_limit *limit = &limits->row[i];

		if (limit->timestamp_ns < now_ns || seen[limit->kind] ||
		    !is_of(limit, world->memcg[memcg].path))
			continue;
		seen[limit->kind] = true;
		if (set(&world->memcg[memcg], limit)) {
			world_infer(world, INFER_limit_read);
			world->limits.nr_changes++;
		}
	}
}

bool limits_any(const struct world_limits *limits)
{
	for (uint32_t i = 0; i < limits->nr; i++)
		if (limits->row[i].kind <= LIMIT_HIGH && limits->row[i].pages != INT64_MAX)
			return true;
	return false;
}
