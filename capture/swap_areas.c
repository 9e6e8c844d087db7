// SPDX-License-Identifier: GPL-2.0-only
#include "capture/swap_areas.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/text_file.h"

#define SECTOR_BYTES 512
#define ASK_EXTENTS 256
/* The kernel takes a filter of a page; one piece of swap takes up to 80 bytes of it. */
#define PIECES_LIMIT 32

struct piece {
	uint64_t first, end; /* sectors of the disk */
};

/* One file's or partition's pieces, in order, neighbours joined. */
struct pieces {
	uint64_t dev, disk; /* as events name them: bios bear the partition, requests the disk */
	unsigned int nr;
	struct piece piece[PIECES_LIMIT];
};

static uint64_t event_dev(dev_t dev)
{
	return (uint64_t)major(dev) << 20 | minor(dev);
}

/* A file of one number, or of two with a colon in between. Return: how many there are. */
static int read_numbers(const char *path, uint64_t *first, uint64_t *second)
{
	char *text = text_file_read(path, 256, NULL);
	int nr = text ? sscanf(text, "%" SCNu64 ":%" SCNu64, first, second) : 0;

	free(text);
	return nr;
}

/* Return: sectors from the start of its disk; 0 for a whole disk. */
static uint64_t partition_start(dev_t dev, uint64_t *disk)
{
	char path[96];
	uint64_t start = 0, number_major, number_minor;

	*disk = event_dev(dev);
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/start", major(dev), minor(dev));
	if (read_numbers(path, &start, &number_minor) < 1)
		return 0;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(dev), minor(dev));
	if (read_numbers(path, &number_major, &number_minor) == 2)
		*disk = number_major << 20 | number_minor;
	return start;
}

/* Return: there is room. */
static bool add_piece(struct pieces *pieces, uint64_t first, uint64_t end)
{
	struct piece *last = pieces->nr ? &pieces->piece[pieces->nr - 1] : NULL;

	if (last && last->end == first) {
		last->end = end;
		return true;
	}
	if (pieces->nr == PIECES_LIMIT)
		return false;
	pieces->piece[pieces->nr++] = (struct piece){ first, end };
	return true;
}

/* Return: where the whole file lies is known. */
static bool file_pieces(int fd, uint64_t start, struct pieces *pieces)
{
	struct fiemap *map = calloc(1, sizeof(*map) + ASK_EXTENTS * sizeof(map->fm_extents[0]));
	uint64_t at = 0;
	bool whole = false, asked = map;

	while (asked && !whole) {
		memset(map, 0, sizeof(*map));
		map->fm_start = at;
		map->fm_length = UINT64_MAX - at;
		map->fm_extent_count = ASK_EXTENTS;
		asked = !ioctl(fd, FS_IOC_FIEMAP, map) && map->fm_mapped_extents;
		for (uint32_t i = 0; asked && i < map->fm_mapped_extents; i++) {
			const struct fiemap_extent *extent = &map->fm_extents[i];
			uint64_t first = start + extent->fe_physical / SECTOR_BYTES;

			asked = !(extent->fe_flags & FIEMAP_EXTENT_UNKNOWN) &&
				add_piece(pieces, first, first + extent->fe_length / SECTOR_BYTES);
			whole = asked && extent->fe_flags & FIEMAP_EXTENT_LAST;
			at = extent->fe_logical + extent->fe_length;
		}
	}
	free(map);
	return whole;
}

static bool find_pieces(const char *path, struct pieces *pieces)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t start, bytes;
	struct stat stat;
	bool found = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &stat) && S_ISBLK(stat.st_mode)) {
		start = partition_start(stat.st_rdev, &pieces->disk);
		pieces->dev = event_dev(stat.st_rdev);
		found = !ioctl(fd, BLKGETSIZE64, &bytes) &&
			add_piece(pieces, start, start + bytes / SECTOR_BYTES);
	} else if (!fstat(fd, &stat) && S_ISREG(stat.st_mode) && major(stat.st_dev)) {
		/* Major 0 is no disk: a file system over several of them, or over a network. */
		start = partition_start(stat.st_dev, &pieces->disk);
		pieces->dev = event_dev(stat.st_dev);
		found = file_pieces(fd, start, pieces);
	}
	close(fd);
	return found;
}

/* /proc/swaps writes a blank in a name as \040. */
static void undo_escapes(char *name)
{
	char *to = name;
	unsigned int code;

	for (; *name; name++) {
		if (*name == '\\' && sscanf(name + 1, "%3o", &code) == 1) {
			*to++ = (char)code;
			name += 3;
		} else {
			*to++ = *name;
		}
	}
	*to = '\0';
}

static void print_filter(const struct pieces *pieces, FILE *to, bool follows)
{
	for (unsigned int i = 0; i < pieces->nr; i++) {
		fprintf(to, "%s(", i || follows ? " || " : "");
		if (pieces->dev != pieces->disk)
			fprintf(to, "(dev == %" PRIu64 " || dev == %" PRIu64 ")", pieces->dev,
				pieces->disk);
		else
			fprintf(to, "dev == %" PRIu64, pieces->dev);
		fprintf(to, " && sector >= %" PRIu64 " && sector < %" PRIu64 ")",
			pieces->piece[i].first, pieces->piece[i].end);
	}
}

int swap_areas_find(const char *proc_swaps, struct swap_areas *areas)
{
	char *copy = strdup(proc_swaps), *rest = copy, *line;
	unsigned int nr_pieces = 0;
	size_t size;
	FILE *to;

	memset(areas, 0, sizeof(*areas));
	to = open_memstream(&areas->filter, &size);
	if (!copy || !to) {
		free(copy);
		if (to)
			fclose(to);
		swap_areas_free(areas);
		return -1;
	}
	strsep(&rest, "\n"); /* the heading */
	while ((line = strsep(&rest, "\n"))) {
		struct pieces pieces = { 0 };
		char name[4096];

		if (sscanf(line, "%4095s", name) != 1)
			continue;
		areas->in_use = true;
		undo_escapes(name);
		if (!find_pieces(name, &pieces) || nr_pieces + pieces.nr > PIECES_LIMIT)
			continue;
		print_filter(&pieces, to, nr_pieces);
		nr_pieces += pieces.nr;
	}
	free(copy);
	if (fclose(to)) {
		swap_areas_free(areas);
		return -1;
	}
	if (!nr_pieces) {
		free(areas->filter);
		areas->filter = NULL;
	}
	return 0;
}

void swap_areas_free(struct swap_areas *areas)
{
	free(areas->filter);
	memset(areas, 0, sizeof(*areas));
}
