// SPDX-License-Identifier: GPL-2.0-only
#include "schema/task_names.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 16 /* TASK_COMM_LEN */

struct task_name {
	int32_t tid;
	bool used;
	char name[NAME_BYTES];
};

/* Open addressing; threads are never forgotten, as their events may lie behind their exit. */
struct task_names {
	const struct tape_reader *reader;
	struct task_name *slot;
	size_t nr, nr_slots;
};

static struct task_name *find(const struct task_names *names, int32_t tid)
{
	size_t i = ((uint32_t)tid * 2654435761u) & (names->nr_slots - 1);

	while (names->slot[i].used && names->slot[i].tid != tid)
		i = (i + 1) & (names->nr_slots - 1);
	return &names->slot[i];
}

static bool grow(struct task_names *names)
{
	struct task_names bigger = {
		.reader = names->reader,
		.nr = names->nr,
		.nr_slots = names->nr_slots ? 2 * names->nr_slots : 1024,
	};

	bigger.slot = calloc(bigger.nr_slots, sizeof(bigger.slot[0]));
	if (!bigger.slot)
		return false;
	for (size_t i = 0; i < names->nr_slots; i++)
		if (names->slot[i].used)
			*find(&bigger, names->slot[i].tid) = names->slot[i];
	free(names->slot);
	*names = bigger;
	return true;
}

static void set(struct task_names *names, int32_t tid, const char *name, size_t size)
{
	struct task_name *entry;

	if (size == 0)
		return;
	/* Without memory a name stays unknown, which is what it looks like. */
	if (2 * (names->nr + 1) > names->nr_slots && !grow(names))
		return;
	entry = find(names, tid);
	if (!entry->used)
		names->nr++;
	entry->used = true;
	entry->tid = tid;
	if (size > NAME_BYTES - 1)
		size = NAME_BYTES - 1;
	memcpy(entry->name, name, size);
	entry->name[size] = '\0';
}

/* Lines of "tid tgid memcg_inode comm"; the name may hold spaces, and may be empty. It ends at a NUL. */
static void read_task_list(struct task_names *names, const struct tape_blob *tasks)
{
	const char *line = tasks->data, *behind = tasks->data + tasks->size;

	while (line < behind) {
		const char *newline = memchr(line, '\n', (size_t)(behind - line)), *at = line;
		const char *end = newline ? newline : behind;
		long tid = strtol(line, NULL, 10);

		for (unsigned int i = 0; i < 3 && at < end; i++) {
			at = memchr(at, ' ', (size_t)(end - at));
			at = at ? at + 1 : end;
		}
		if (*line >= '0' && *line <= '9' && tid <= INT32_MAX)
			set(names, (int32_t)tid, at, strnlen(at, (size_t)(end - at)));
		line = newline ? newline + 1 : behind;
	}
}

struct task_names *task_names_new(const struct tape_reader *reader)
{
	struct task_names *names = calloc(1, sizeof(*names));
	const struct tape_blob *tasks = tape_reader_find_blob(reader, TAPE_MOMENT_START,
							      "lrutape/tasks");

	if (!names || !grow(names)) {
		free(names);
		return NULL;
	}
	names->reader = reader;
	set(names, 0, "<idle>", 6);
	if (tasks)
		read_task_list(names, tasks);
	return names;
}

/* A field that is there may have any value, all ones as well. */
static bool is_absent(const struct task_names *names, const struct tape_event *event,
		      unsigned int slot)
{
	const struct tape_type *type = tape_reader_type(names->reader, event->type);

	return type ? !(type->present >> slot & 1) : event->value[slot] == TAPE_VALUE_ABSENT;
}

static void set_from(struct task_names *names, const struct tape_event *event,
		     unsigned int pid_slot, unsigned int name_slot, bool is_path)
{
	const char *name, *slash;
	size_t size;

	if (is_absent(names, event, pid_slot) || is_absent(names, event, name_slot))
		return;
	name = tape_event_string(event, name_slot, &size);
	slash = is_path ? memrchr(name, '/', size) : NULL;
	if (slash) {
		size -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	set(names, (int32_t)event->value[pid_slot], name, size);
}

void task_names_note(struct task_names *names, const struct tape_event *event)
{
	switch (event->kind) {
	case EVENT_SCHED_PROCESS_FORK:
		set_from(names, event, SCHED_PROCESS_FORK_CHILD_PID, SCHED_PROCESS_FORK_CHILD_COMM,
			 false);
		break;
	case EVENT_SCHED_PROCESS_EXEC:
		set_from(names, event, SCHED_PROCESS_EXEC_PID, SCHED_PROCESS_EXEC_FILENAME, true);
		break;
	case EVENT_SCHED_PROCESS_EXIT:
		set_from(names, event, SCHED_PROCESS_EXIT_PID, SCHED_PROCESS_EXIT_COMM, false);
		break;
	case EVENT_TASK_NEWTASK:
		set_from(names, event, TASK_NEWTASK_PID, TASK_NEWTASK_COMM, false);
		break;
	case EVENT_CGROUP_ATTACH_TASK:
		set_from(names, event, CGROUP_ATTACH_TASK_PID, CGROUP_ATTACH_TASK_COMM, false);
		break;
	}
}

const char *task_names_get(const struct task_names *names, int32_t tid)
{
	const struct task_name *entry = find(names, tid);

	return entry->used ? entry->name : NULL;
}

void task_names_free(struct task_names *names)
{
	if (!names)
		return;
	free(names->slot);
	free(names);
}
