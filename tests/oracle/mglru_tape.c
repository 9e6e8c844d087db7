// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace of MGLRU in the compact text form, as a tape.
 *
 *   mglru_tape TAPE <TEXT
 *
 * One event a line, '~' in front where another task than the recorded one made it; numbers of inodes and
 * frames are hexadecimal. The header line names kernel, limit and zones.
 *
 *   a INO INDEX PFN ORDER    added to the page cache     d INO INDEX PFN ORDER   deleted
 *   g INO FIRST LAST         mm_filemap_get_pages        p INO FIRST LAST        mm_filemap_map_pages
 *   f INO INDEX              mm_filemap_fault            w INO INDEX             writeback_dirty_folio
 *   i PFN LRU FLAGS          mm_lru_insertion            v PFN                   mm_lru_activate
 *   b GFP / e NR             memcg reclaim begins and ends
 *   s SCANNED SKIPPED TAKEN LRU REQUESTED                                        mm_vmscan_lru_isolate
 *   k SCANNED RECLAIMED ACTIVATE0 ACTIVATE1 KEEP UNMAP_FAIL PRIORITY TYPE        mm_vmscan_lru_shrink_inactive
 *   m TEXT                   what the recorded task wrote: JOIN (it is in the group now), SNAP (its section of
 *                            lru_gen_full), PHASE +:FORCE and -:AGE:NR (debugfs), STAT (left out)
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/tape_writer.h"

#define GROUP_ID 100
#define TASK 10
#define OTHER_TASK 20
#define DATA_DEV (254u << 20 | 16)
#define BLOCK_DEVICE_INO                                                                           \
	0x100000 /* the least: a device number, whose inode is on no mounted device */
#define SLOTS 24
#define LINE_BYTES 8192

static struct tape_writer *writer;
static struct tape_stream *stream;
static uint64_t now_ns;
static int type_of[EVENT_KIND_LIMIT];

static void die(const char *what)
{
	fprintf(stderr, "mglru_tape: %s\n", what);
	exit(1);
}

static bool is_text(const char *field)
{
	return !strcmp(field, "name") || !strcmp(field, "buf") || !strcmp(field, "comm") ||
	       !strcmp(field, "dst_path");
}

static void declare(enum event_kind kind)
{
	const struct event_info *info = event_info_by_kind(kind);
	struct tape_field field[SLOTS];
	struct tape_type type = { .system = info->system,
				  .name = info->name,
				  .filter = "",
				  .format = "",
				  .field = field };
	uint16_t number;

	for (unsigned int i = 0; i < info->nr_fields; i++) {
		bool text = is_text(info->field[i].name);

		field[type.nr_fields++] = (struct tape_field){
			.name = info->field[i].name,
			.ctype = text ? "__data_loc char[]" : "u64",
			.offset = (uint16_t)(8 + 8 * i),
			.size = text ? 4 : 8,
			.kind = text ? TAPE_FIELD_STRING : TAPE_FIELD_INTEGER,
		};
	}
	if (tape_writer_add_type(writer, &type, &number))
		die("a type is refused");
	type_of[kind] = number + 1;
}

static void put_text(int32_t pid, enum event_kind kind, const uint64_t *value, unsigned int nr,
		     const char *text)
{
	uint64_t slots[SLOTS] = { 0 };
	struct tape_event event = { .timestamp_ns = now_ns += 1000,
				    .pid = pid,
				    .kind = (uint16_t)kind,
				    .value = slots,
				    .strings = text };
	const struct tape_type *type;

	if (!type_of[kind])
		declare(kind);
	type = tape_writer_type(writer, (unsigned int)type_of[kind] - 1);
	memcpy(slots, value, nr * sizeof(*slots));
	for (unsigned int i = 0; i < type->nr_fields; i++)
		if (type->field[i].kind == TAPE_FIELD_STRING)
			slots[type->field[i].slot] = strlen(text);
	event.type = type->number;
	if (tape_stream_event(stream, &event))
		die("an event is refused");
}

#define PUT(pid, KIND, ...)                                                                        \
	put_text(pid, EVENT_##KIND, (const uint64_t[]){ __VA_ARGS__ },                             \
		 sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), "")

static void blob(uint32_t moment, const char *name, const char *text)
{
	struct tape_blob blob = { .timestamp_ns = now_ns += moment ? 1000 : 0,
				  .moment = moment,
				  .name = name,
				  .data = text,
				  .size = strlen(text) };

	if (tape_writer_add_blob(writer, &blob))
		die("a snapshot is refused");
}

static uint64_t dev_of(uint64_t ino)
{
	return ino >= BLOCK_DEVICE_INO ? 4 : DATA_DEV;
}

/* "M" mapped, "a" anon, "s" swap cache, "b" swap backed, "d" mapped to disk, "B" has buffers. */
static uint64_t insertion_flags(const char *text)
{
	static const char letters[] = "Mafsb";
	static const uint64_t bits[] = { 1, 2, 4, 8, 0x10 };
	uint64_t flags = 0;

	for (int i = 0; letters[i]; i++)
		flags |= strchr(text, letters[i]) ? bits[i] : 0;
	return flags;
}

/* What the snapshots say of the machine, from the header line. */
static void begin(const char *line)
{
	char release[64], name[32], text[512], zones[256];
	unsigned long long limit;
	const char *at = strstr(line, " zones ");
	size_t used = 0;

	if (sscanf(line, "# %63s scenario %31s limit %llu", release, name, &limit) != 3 || !at ||
	    sscanf(at, " zones %255s", zones) != 1)
		die("no header line");
	blob(TAPE_MOMENT_START, "lrutape/release", release);
	/* A phase E:5 switches page-table walks off, before anything is mapped. */
	blob(TAPE_MOMENT_START, "/sys/kernel/mm/lru_gen/enabled",
	     strstr(line, " E:5 ") ? "0x0005\n" : "0x0007\n");
	blob(TAPE_MOMENT_START, "/proc/sys/vm/swappiness", "60\n");
	blob(TAPE_MOMENT_START, "/proc/self/mountinfo", "1 0 254:16 / /data rw\n");
	snprintf(text, sizeof(text), "1 /\n%d /%s\n", GROUP_ID, name);
	blob(TAPE_MOMENT_START, "lrutape/cgroups", text);
	snprintf(text, sizeof(text), "%d %d 1 mglru_work\n%d %d 1 other\n", TASK, TASK, OTHER_TASK,
		 OTHER_TASK);
	blob(TAPE_MOMENT_START, "lrutape/tasks", text);
	snprintf(text, sizeof(text), "%d /%s %llu\n", GROUP_ID, name, limit << 20);
	blob(TAPE_MOMENT_START, "lrutape/memcg", text);
	if (!strncmp(name, "swap", 4))
		blob(TAPE_MOMENT_START, "/proc/swaps",
		     "Filename Type Size Used Priority\n/data/swapfile file 65532 0 -2\n");
	for (char *zone = strtok(zones, ","); zone; zone = strtok(NULL, ",")) {
		char *start = strchr(zone, ':');

		if (!start)
			die("no zones");
		*start++ = '\0';
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"Node 0, zone %8s\n        present  1\n        managed  1\n  start_pfn: %s\n",
			zone, start);
	}
	blob(TAPE_MOMENT_START, "/proc/zoneinfo", text);
}

static unsigned int memcg_id;
static unsigned long long max_seq;
static char group[32];

/* "SNAP id=ID ops=N ROW;ROW;": the group's section. */
static void snapshot(char *text)
{
	static uint32_t moment;
	char file[LINE_BYTES + 64], *rows = strstr(text, "node ");
	int n;

	if (sscanf(text, "SNAP id=%u", &memcg_id) != 1 || !rows)
		die("a snapshot without its memcg");
	n = snprintf(file, sizeof(file), "memcg %u /%s\n", memcg_id, group);
	for (char *c = rows; *c; c++) {
		unsigned long long seq, age;
		char x;

		if (*c == ';')
			*c = '\n';
		/* A generation's row: seq, age and two sizes; others have letters behind their numbers. */
		if (*c == '\n' && sscanf(c + 1, "%llu %llu%c", &seq, &age, &x) == 3 && x == ' ' &&
		    seq > max_seq)
			max_seq = seq;
	}
	snprintf(file + n, sizeof(file) - (size_t)n, " %s\n", rows);
	blob(++moment, "/sys/kernel/debug/lru_gen_full", file);
}

/* It joins before it opens its file, whose metadata it reads, and says so after that. */
static void join(void)
{
	static bool joined;

	if (!joined)
		PUT(TASK, CGROUP_ATTACH_TASK, 0, GROUP_ID, 1, TASK);
	joined = true;
}

static void marker(char *text)
{
	char command[128];
	unsigned long long age, nr;

	if (!strncmp(text, "JOIN", 4)) {
		join();
	} else if (!strncmp(text, "SNAP", 4)) {
		snapshot(text);
	} else if (!strncmp(text, "PHASE +", 7)) {
		snprintf(command, sizeof(command), "lru_gen + %u 0 %llu 0", memcg_id, max_seq);
		put_text(TASK, EVENT_FTRACE_PRINT, NULL, 0, command);
	} else if (sscanf(text, "PHASE -:%llu:%llu", &age, &nr) == 2) {
		snprintf(command, sizeof(command), "lru_gen - %u 0 %llu 0 %llu", memcg_id,
			 max_seq - age, nr);
		put_text(TASK, EVENT_FTRACE_PRINT, NULL, 0, command);
	}
}

static void line_to_event(char *line)
{
	int32_t pid = *line == '~' ? OTHER_TASK : TASK;
	unsigned long long v[8] = { 0 };
	char kind, word[32] = "";

	line += *line == '~';
	kind = *line++;
	switch (kind) {
	case 'a':
	case 'd':
		if (sscanf(line, "%llx %llu %llx %llu", &v[0], &v[1], &v[2], &v[3]) != 4)
			die("a bad line");
		if (kind == 'a' && pid == TASK)
			join();
		if (kind == 'a')
			PUT(pid, MM_FILEMAP_ADD_TO_PAGE_CACHE, v[2], v[0], v[1], dev_of(v[0]),
			    v[3]);
		else
			PUT(pid, MM_FILEMAP_DELETE_FROM_PAGE_CACHE, v[2], v[0], v[1], dev_of(v[0]),
			    v[3]);
		break;
	case 'g':
	case 'p':
		if (sscanf(line, "%llx %llu %llu", &v[0], &v[1], &v[2]) != 3)
			die("a bad line");
		if (kind == 'g')
			PUT(pid, MM_FILEMAP_GET_PAGES, v[0], dev_of(v[0]), v[1], v[2]);
		else
			PUT(pid, MM_FILEMAP_MAP_PAGES, v[0], dev_of(v[0]), v[1], v[2]);
		break;
	case 'f':
		if (sscanf(line, "%llx %llu", &v[0], &v[1]) != 2)
			die("a bad line");
		PUT(pid, MM_FILEMAP_FAULT, v[0], dev_of(v[0]), v[1]);
		break;
	case 'w':
		if (sscanf(line, "%llx %llu", &v[0], &v[1]) != 2)
			die("a bad line");
		put_text(pid, EVENT_WRITEBACK_DIRTY_FOLIO, (const uint64_t[]){ v[0], v[1] }, 2,
			 "254:16");
		break;
	case 'i':
		if (sscanf(line, "%llx %llu %31s", &v[0], &v[1], word) != 3)
			die("a bad line");
		/* Anon folios are older than the group, or of no text: allocations are not in it. */
		if (strchr(word, 'a'))
			break;
		PUT(pid, MM_LRU_INSERTION, v[0], v[1], insertion_flags(word));
		break;
	case 'v':
		if (sscanf(line, "%llx", &v[0]) != 1)
			die("a bad line");
		PUT(pid, MM_LRU_ACTIVATE, v[0]);
		break;
	case 'b':
		PUT(pid, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
		break;
	case 'e':
		if (sscanf(line, "%llu", &v[0]) != 1)
			die("a bad line");
		PUT(pid, MM_VMSCAN_MEMCG_RECLAIM_END, v[0]);
		break;
	case 's':
		if (sscanf(line, "%llu %llu %llu %31s %llu", &v[0], &v[1], &v[2], word, &v[3]) != 5)
			die("a bad line");
		PUT(pid, MM_VMSCAN_LRU_ISOLATE, 3, 0, v[3], v[0], v[1], v[2],
		    strstr(word, "anon") || !strcmp(word, "0") ? 0 : 2);
		break;
	case 'k':
		if (sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %31s", &v[0], &v[1], &v[2],
			   &v[3], &v[4], &v[5], &v[6], word) != 8)
			die("a bad line");
		PUT(pid, MM_VMSCAN_LRU_SHRINK_INACTIVE, 0, v[0], v[1], 0, 0, 0, 0, v[2], v[3], v[4],
		    v[5], v[6], !strcmp(word, "file") ? 2 : 1);
		break;
	case 'm':
		marker(line + 1);
		break;
	default:
		die("an unknown kind of line");
	}
}

int main(int argc, char **argv)
{
	static char line[LINE_BYTES];
	struct tape_problem problem;

	if (argc != 2)
		die("usage: mglru_tape TAPE <TEXT");
	if (tape_writer_create(argv[1], NULL, &writer, &problem))
		die(problem.text);
	now_ns = 1000000000;
	stream = tape_writer_stream(writer, 0);
	if (!stream || !fgets(line, sizeof(line), stdin))
		die("nothing to read");
	if (sscanf(line, "# %*s scenario %31s", group) != 1)
		die("no header line");
	begin(line);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			line_to_event(line);
	}
	put_text(TASK, EVENT_FTRACE_PRINT, NULL, 0, "end");
	if (tape_writer_finish(writer, &problem))
		die(problem.text);
	return 0;
}
