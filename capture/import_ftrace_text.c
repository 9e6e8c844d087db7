// SPDX-License-Identifier: GPL-2.0-only
/*
 * Line by line: the head (import_ftrace_line.c), the event's name, then its text by one of the
 * layouts known for that name (import_ftrace_pattern.c). A layout becomes an event type of the
 * tape when its first line comes.
 *
 * A text that fits no layout is either another kernel's way to print the event, or damage. While
 * no line of that event has fitted a written pattern it is taken for the former, and a layout is
 * made from its name=value pairs; later it is taken for the latter and counted as unread.
 */
#include "capture/import_ftrace_text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/import_ftrace_line.h"
#include "capture/import_ftrace_pattern.h"

#define NAMES_LIMIT                                                                                \
	2048u /* different events; a kernel has about 2000 tracepoints without syscalls */
#define NAME_SLOTS 4096u
#define LAYOUTS_LIMIT 3000u /* of all events: below the types that a tape may have */
#define LAYOUTS_PER_NAME 12u
#define NAME_BYTES 100u
#define TASKS_LIMIT (1u << 20)
#define EXAMPLE_BYTES 100

struct layout {
	struct ftrace_pattern pattern;
	bool declared;
	uint16_t type; /* of the tape */
	uint16_t slot[FTRACE_COLUMNS_LIMIT]; /* by column */
	unsigned int nr_slots;
};

/* Lines that came to nothing, of one event or without one. */
struct unread {
	uint64_t nr_lines, first_line;
	char example[EXAMPLE_BYTES + 1];
};

struct event_name {
	char *name; /* NULL: a free place in the table */
	const char *system;
	char *told_system; /* as the text has it, where it has one; else NULL */
	enum event_kind kind;
	struct layout *layout[LAYOUTS_PER_NAME];
	unsigned int nr_layouts, last;
	bool written_fits; /* a line has fitted a pattern of import_ftrace_patterns.def */
	uint64_t nr_events, nr_by_name, first_by_name;
	struct unread unread;
};

struct task {
	int32_t tid; /* 0: a free place */
	int32_t tgid;
	bool born_here; /* made while the trace ran: its fork tells more than we could */
	char comm[16];
};

struct cpu {
	struct tape_stream *stream;
	uint64_t text_ns; /* as the text has it */
	uint64_t tape_ns;
	uint64_t line;
};

struct import {
	struct import_job *job;
	ftrace_line_reader *read_line;
	struct ftrace_text_settings settings;
	struct ftrace_text_doubts doubts;
	struct ftrace_values values;
	struct event_name *name; /* NAME_SLOTS places, by hash */
	unsigned int nr_names, nr_layouts;
	struct unread no_name, no_head; /* too many names; lines that are none of a trace */
	struct cpu *cpu; /* FTRACE_CPU_LIMIT of them */
	struct task *task;
	unsigned int nr_tasks, task_room;
	bool tasks_full;
	uint64_t tick_text_ns; /* the text's time of the line before */
	uint32_t tick_cpu, tick_moves;
	uint64_t nr_flags_unread, first_flags_unread;
	uint64_t last_ended; /* number of a last line without newline */
	char call[2 * IMPORT_LINE_LIMIT + 64]; /* a system call's text, rewritten */
};

/* ---- What came to nothing. */

static void count_unread(struct import *import, struct unread *unread,
			 const struct import_line *line)
{
	size_t size = line->size < EXAMPLE_BYTES ? line->size : EXAMPLE_BYTES;
	size_t used = 0;

	import->job->report.nr_unread++;
	if (unread->nr_lines++)
		return;
	unread->first_line = line->number;
	/* It goes to a terminal: without escapes, without the blanks in front. */
	for (size_t i = strspn(line->text, " "); i < size; i++) {
		unsigned char c = (unsigned char)line->text[i];

		unread->example[used++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	unread->example[used] = '\0';
}

/* ---- Tasks. */

static unsigned int task_place(const struct import *import, int32_t tid)
{
	unsigned int i = (uint32_t)tid * 2654435761u & (import->task_room - 1);

	while (import->task[i].tid && import->task[i].tid != tid)
		i = (i + 1) & (import->task_room - 1);
	return i;
}

static bool grow_tasks(struct import *import)
{
	unsigned int old_room = import->task_room;
	struct task *old = import->task;

	import->task_room = old_room ? 2 * old_room : 1024;
	import->task = calloc(import->task_room, sizeof(*import->task));
	if (!import->task) {
		import->task = old;
		import->task_room = old_room;
		return false;
	}
	for (unsigned int i = 0; i < old_room; i++)
		if (old[i].tid)
			import->task[task_place(import, old[i].tid)] = old[i];
	free(old);
	return true;
}

/* Return: NULL when memory or places run out. */
static struct task *get_task(struct import *import, int32_t tid, bool *is_new)
{
	struct task *task;

	*is_new = false;
	if (4 * (uint64_t)(import->nr_tasks + 1) > 3 * (uint64_t)import->task_room &&
	    !grow_tasks(import))
		return NULL;
	task = &import->task[task_place(import, tid)];
	if (task->tid)
		return task;
	if (import->nr_tasks == TASKS_LIMIT) {
		import->tasks_full = true;
		return NULL;
	}
	import->nr_tasks++;
	*is_new = true;
	task->tid = tid;
	return task;
}

static bool saw_task(struct import *import, const struct ftrace_line *line)
{
	static const char nameless[] = "<...>";
	struct task *task;
	bool is_new;

	if (!line->pid)
		return true;
	task = get_task(import, line->pid, &is_new);
	if (!task)
		return import->tasks_full;
	if (line->tgid && !task->tgid)
		task->tgid = line->tgid;
	if (!task->comm[0] && (line->comm_size != sizeof(nameless) - 1 ||
			       memcmp(line->comm, nameless, line->comm_size))) {
		size_t size = line->comm_size < sizeof(task->comm) ? line->comm_size :
								     sizeof(task->comm) - 1;

		memcpy(task->comm, line->comm, size);
		task->comm[size] = '\0';
	}
	return true;
}

static void saw_birth(struct import *import, uint64_t tid)
{
	struct task *task;
	bool is_new;

	if (!tid || tid > INT32_MAX)
		return;
	task = get_task(import, (int32_t)tid, &is_new);
	if (task && is_new)
		task->born_here = true;
}

static int compare_tids(const void *a, const void *b)
{
	const struct task *one = a, *other = b;

	return (one->tid > other->tid) - (one->tid < other->tid);
}

static int add_tasks_blob(struct import *import)
{
	struct import_job *job = import->job;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct tape_blob blob;
	int err;

	if (!out)
		return import_fail(job, TAPE_ERR_MEMORY, "no memory for the list of tasks");
	if (import->task_room)
		qsort(import->task, import->task_room, sizeof(*import->task), compare_tids);
	for (unsigned int i = 0; i < import->task_room; i++) {
		const struct task *task = &import->task[i];

		if (task->tid && !task->born_here)
			fprintf(out, "%d %d 0 %s\n", task->tid, task->tgid, task->comm);
	}
	if (fclose(out)) {
		free(text);
		return import_fail(job, TAPE_ERR_MEMORY, "no memory for the list of tasks");
	}
	blob = (struct tape_blob){
		.timestamp_ns = job->report.first_ns,
		.moment = TAPE_MOMENT_START,
		.name = "lrutape/tasks",
		.data = text,
		.size = size,
	};
	err = tape_writer_add_blob(job->tape, &blob);
	free(text);
	return err ? import_fail_tape(job) : 0;
}

/* ---- Names and layouts. */

static uint32_t hash_name(const char *name, size_t size)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash;
}

static struct layout *add_layout(struct import *import, struct event_name *name)
{
	struct layout *layout;

	if (name->nr_layouts == LAYOUTS_PER_NAME || import->nr_layouts == LAYOUTS_LIMIT)
		return NULL;
	layout = calloc(1, sizeof(*layout));
	if (!layout)
		return NULL;
	name->layout[name->nr_layouts++] = layout;
	import->nr_layouts++;
	return layout;
}

static bool add_written_layout(struct import *import, struct event_name *name, const char *text)
{
	struct layout *layout = add_layout(import, name);

	return layout && ftrace_pattern_compile(text, &layout->pattern);
}

static int fill_name(struct import *import, struct event_name *name)
{
	const struct ftrace_pattern_source *source;
	const struct event_info *info;

	/* Where the text has no system, those of the table have one. */
	name->system = name->told_system ? name->told_system : "unknown";
	for (size_t i = 0; (source = ftrace_pattern_source(i)); i++) {
		if (strcmp(source->name, name->name))
			continue;
		name->system = source->system;
		if (!add_written_layout(import, name, source->text))
			return TAPE_ERR_MEMORY;
	}
	if (!strncmp(name->name, "sys_enter_", 10) || !strncmp(name->name, "sys_exit_", 9))
		name->system = "syscalls";
	if (!strncmp(name->name, "sys_exit_", 9) &&
	    !add_written_layout(import, name, "ret={ret:hex}"))
		return TAPE_ERR_MEMORY;
	info = event_info_by_name(name->system, name->name);
	name->kind = info ? info->kind : EVENT_OTHER;
	return 0;
}

/* Return: 1: *found is set. 0: no room for another name. Negative: memory ran out. */
static int get_name(struct import *import, const struct ftrace_line *line,
		    struct event_name **found)
{
	const char *text = line->name;
	size_t size = line->name_size;
	unsigned int i = hash_name(text, size) & (NAME_SLOTS - 1);
	struct event_name *name;

	for (;; i = (i + 1) & (NAME_SLOTS - 1)) {
		name = &import->name[i];
		if (!name->name)
			break;
		if (!strncmp(name->name, text, size) && !name->name[size]) {
			*found = name;
			return 1;
		}
	}
	/* All written patterns must find room, whatever names came before. */
	if (size > NAME_BYTES || import->nr_names == NAMES_LIMIT ||
	    import->nr_layouts > LAYOUTS_LIMIT - 16)
		return 0;
	name->name = strndup(text, size);
	if (!name->name)
		return TAPE_ERR_MEMORY;
	if (line->system) {
		name->told_system = strndup(line->system, line->system_size < NAME_BYTES ?
								  line->system_size :
								  NAME_BYTES);
		if (!name->told_system)
			return TAPE_ERR_MEMORY;
	}
	import->nr_names++;
	*found = name;
	return fill_name(import, name) ? TAPE_ERR_MEMORY : 1;
}

static int declare(struct import *import, const struct event_name *name, struct layout *layout)
{
	struct ftrace_pattern *pattern = &layout->pattern;
	const struct tape_type *declared;
	struct tape_type type = {
		.system = name->system,
		.name = name->name,
		.format = "",
		.filter = "",
		.field = pattern->column,
		.nr_fields = pattern->nr_columns,
	};

	if (tape_writer_add_type(import->job->tape, &type, &layout->type))
		return import_fail_tape(import->job);
	declared = tape_writer_type(import->job->tape, layout->type);
	for (unsigned int i = 0; i < pattern->nr_columns; i++)
		layout->slot[i] = declared->field[i].slot;
	layout->nr_slots = declared->nr_slots;
	layout->declared = true;
	return 0;
}

/* The layout that @text fits, its values read; NULL for none. */
static struct layout *find_layout(struct import *import, struct event_name *name, const char *text,
				  size_t size)
{
	for (unsigned int tried = 0; tried < name->nr_layouts; tried++) {
		unsigned int i = (name->last + tried) % name->nr_layouts;

		if (!ftrace_pattern_match(&name->layout[i]->pattern, &import->settings, text, size,
					  &import->values, &import->doubts))
			continue;
		name->last = i;
		return name->layout[i];
	}
	return NULL;
}

static struct layout *make_layout(struct import *import, struct event_name *name, const char *text,
				  size_t size)
{
	bool is_call = !strcmp(name->system, "syscalls");
	struct layout *layout = add_layout(import, name);

	if (!layout)
		return NULL;
	if (ftrace_pattern_make(text, size, name->kind, !is_call, &layout->pattern) &&
	    ftrace_pattern_match(&layout->pattern, &import->settings, text, size, &import->values,
				 &import->doubts)) {
		name->last = name->nr_layouts - 1;
		return layout;
	}
	ftrace_pattern_free(&layout->pattern);
	free(layout);
	name->nr_layouts--;
	import->nr_layouts--;
	return NULL;
}

/* ---- Lines. */

static struct tape_stream *get_stream(struct import *import, uint32_t cpu)
{
	if (!import->cpu[cpu].stream)
		import->cpu[cpu].stream = tape_writer_stream(import->job->tape, cpu);
	return import->cpu[cpu].stream;
}

/* The time on the tape, see import_ftrace_text() about moves; 0 and *ns, or a failure. */
static int place_in_time(struct import *import, const struct ftrace_line *line, uint64_t number,
			 uint64_t *ns)
{
	struct cpu *cpu = &import->cpu[line->cpu];

	if (cpu->line && line->timestamp_ns < cpu->text_ns)
		return import_fail(
			import->job, TAPE_ERR_CORRUPT,
			"line %llu: time on CPU %u goes back by %llu ns since line %llu: give one trace "
			"in the kernel's order, recorded with trace_clock mono",
			(unsigned long long)number, line->cpu,
			(unsigned long long)(cpu->text_ns - line->timestamp_ns),
			(unsigned long long)cpu->line);
	if (line->timestamp_ns != import->tick_text_ns)
		import->tick_moves = 0;
	else if (line->cpu != import->tick_cpu && import->tick_moves + 1 < line->tick_ns)
		import->tick_moves++;
	import->tick_text_ns = line->timestamp_ns;
	import->tick_cpu = line->cpu;
	*ns = line->timestamp_ns + import->tick_moves;
	if (*ns < cpu->tape_ns)
		*ns = cpu->tape_ns;
	cpu->text_ns = line->timestamp_ns;
	cpu->tape_ns = *ns;
	cpu->line = number;
	return 0;
}

/* "sys_read(fd: 3, buf: 7ff0)" is event sys_enter_read "fd=0x3, buf=0x7ff0"; "sys_read -> 0x1" is sys_exit_read "ret=0x1". */
static void rewrite_call(struct import *import, struct ftrace_line *line, char name[NAME_BYTES + 1])
{
	bool is_exit = line->text[0] == ' ';
	size_t used = 0;
	const char *p = line->text;
	char *out = import->call;

	snprintf(name, NAME_BYTES + 1, "sys_%s_%.*s", is_exit ? "exit" : "enter",
		 (int)line->name_size - 4, line->name + 4);
	if (is_exit) {
		used = (size_t)snprintf(out, sizeof(import->call), "ret=%s", p + 4);
	} else {
		const char *end = line->text + line->text_size;

		p++;
		while (end > p && (end[-1] == ' ' || end[-1] == ')'))
			end--;
		while (p < end) {
			if (p[0] == ':' && p[1] == ' ' && used + 3 < sizeof(import->call)) {
				memcpy(out + used, "=0x", 3);
				used += 3;
				p += 2;
				if (p[0] == '0' && p[1] == 'x')
					p += 2; /* newer kernels say 0x themselves above 9 */
			} else if (used + 1 < sizeof(import->call)) {
				out[used++] = *p++;
			} else {
				break;
			}
		}
		out[used] = '\0';
	}
	line->name = name;
	line->name_size = strlen(name);
	line->text = out;
	line->text_size = used;
}

static int write_event(struct import *import, const struct event_name *name, struct layout *layout,
		       const struct ftrace_line *line, uint64_t ns)
{
	struct tape_stream *stream = get_stream(import, line->cpu);
	uint64_t value[FTRACE_COLUMNS_LIMIT + 64];
	const struct ftrace_pattern *pattern = &layout->pattern;
	struct tape_event event = {
		.timestamp_ns = ns,
		.cpu = line->cpu,
		.pid = line->pid,
		.kind = (uint16_t)name->kind,
		.type = layout->type,
		.flags = line->flags,
		.preempt_count = line->preempt_count,
		.value = value,
		.strings = import->values.strings,
	};

	if (!stream)
		return import_fail_tape(import->job);
	assert(layout->nr_slots <= sizeof(value) / sizeof(value[0]));
	for (unsigned int i = 0; i < layout->nr_slots; i++)
		value[i] = TAPE_VALUE_ABSENT;
	for (unsigned int i = 0; i < pattern->nr_columns; i++)
		if (pattern->column[i].kind != TAPE_FIELD_LEFT_OUT)
			value[layout->slot[i]] = import->values.value[i];
	if (name->kind == EVENT_TASK_NEWTASK)
		saw_birth(import, value[TASK_NEWTASK_PID]);
	else if (name->kind == EVENT_SCHED_PROCESS_FORK)
		saw_birth(import, value[SCHED_PROCESS_FORK_CHILD_PID]);
	return tape_stream_event(stream, &event) ? import_fail_tape(import->job) : 0;
}

static int read_event(struct import *import, struct ftrace_line *line,
		      const struct import_line *from)
{
	struct import_report *report = &import->job->report;
	char call_name[NAME_BYTES + 1];
	struct event_name *name;
	struct layout *layout;
	uint64_t ns = 0;
	int ret;

	if (line->text[0] == '(' || !strncmp(line->text, " -> ", 4))
		if (!strncmp(line->name, "sys_", 4) && line->text == line->name + line->name_size)
			rewrite_call(import, line, call_name);
	ret = get_name(import, line, &name);
	if (ret < 0)
		return import_fail(import->job, TAPE_ERR_MEMORY, "no memory for another event");
	if (!ret) {
		count_unread(import, &import->no_name, from);
		return 0;
	}
	layout = find_layout(import, name, line->text, line->text_size);
	/* A last line without newline may be cut: no layout is made of it. */
	if (!layout && !name->written_fits && from->ended)
		layout = make_layout(import, name, line->text, line->text_size);
	if (!layout) {
		count_unread(import, &name->unread, from);
		return 0;
	}
	if (!layout->declared) {
		ret = declare(import, name, layout);
		if (ret)
			return ret;
	}
	ret = place_in_time(import, line, from->number, &ns);
	if (ret)
		return ret;
	if (!saw_task(import, line))
		return import_fail(import->job, TAPE_ERR_MEMORY, "no memory for the list of tasks");
	ret = write_event(import, name, layout, line, ns);
	if (ret)
		return ret;

	if (line->flags_unread && !import->nr_flags_unread++)
		import->first_flags_unread = from->number;
	if (!layout->pattern.made)
		name->written_fits = true;
	else if (!name->nr_by_name++)
		name->first_by_name = from->number;
	name->nr_events++;
	if (!report->nr_events++ || ns < report->first_ns)
		report->first_ns = ns;
	if (ns > report->last_ns)
		report->last_ns = ns;
	return 0;
}

static int read_lost(struct import *import, const struct ftrace_line *line)
{
	struct tape_stream *stream = get_stream(import, line->cpu);
	bool known = line->lost != UINT64_MAX;

	if (!stream || tape_stream_lost(stream, known ? line->lost : EVENT_LOST_UNKNOWN))
		return import_fail_tape(import->job);
	import->job->report.nr_losses++;
	if (known)
		import->job->report.nr_lost += line->lost;
	return 0;
}

static void read_buffer(struct import *import, const struct ftrace_line *line, uint64_t number)
{
	struct import_report *report = &import->job->report;

	if (line->nr_cpus)
		report->nr_cpus = line->nr_cpus;
	if (line->nr_written > line->nr_in_buffer)
		import_note(
			report,
			"line %llu: the kernel had overwritten %llu of its %llu events before it printed the "
			"rest: the tape starts late; record with a larger buffer_size_kb",
			(unsigned long long)number,
			(unsigned long long)(line->nr_written - line->nr_in_buffer),
			(unsigned long long)line->nr_written);
}

static int read_lines(struct import *import)
{
	struct import_report *report = &import->job->report;
	struct import_line from;
	struct ftrace_line line;
	int ret, err = 0;

	while ((ret = import_source_line(import->job->input, &from)) > 0) {
		report->nr_lines++;
		if (!from.ended)
			import->last_ended = from.number;
		switch (from.cut ? FTRACE_LINE_UNKNOWN :
				   import->read_line(from.text, from.size, &line)) {
		case FTRACE_LINE_EVENT:
			err = read_event(import, &line, &from);
			break;
		case FTRACE_LINE_LOST:
			err = read_lost(import, &line);
			break;
		case FTRACE_LINE_BUFFER:
			read_buffer(import, &line, from.number);
			break;
		case FTRACE_LINE_REMARK:
			break;
		default:
			count_unread(import, &import->no_head, &from);
		}
		if (err)
			return err;
	}
	return ret < 0 ? import_fail_input(import->job) : 0;
}

/* ---- The end. */

static int compare_names(const void *a, const void *b)
{
	const struct event_name *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

static void note_name(struct import *import, const struct event_name *name)
{
	struct import_report *report = &import->job->report;

	if (name->nr_by_name && name->kind != EVENT_OTHER)
		import_note(
			report,
			"line %llu: %s has a text not known here (%llu such lines): only fields that stand "
			"there by their own name are on the tape",
			(unsigned long long)name->first_by_name, name->name,
			(unsigned long long)name->nr_by_name);
	for (unsigned int i = 0; i < name->nr_layouts; i++) {
		const struct ftrace_pattern *a = &name->layout[i]->pattern;

		for (unsigned int j = 0; a->made && j < i; j++) {
			const struct ftrace_pattern *b = &name->layout[j]->pattern;

			for (unsigned int c = 0; c < a->nr_columns && c < b->nr_columns; c++) {
				if (!b->made || strcmp(a->column[c].name, b->column[c].name) ||
				    a->column[c].kind == b->column[c].kind)
					continue;
				import_note(
					report,
					"%s: %s holds numbers in some lines and other text in others: if they "
					"are hexadecimal without 0x, those that look decimal are wrong on the tape",
					name->name, a->column[c].name);
				return;
			}
		}
	}
}

static void note_unread(struct import_report *report, const struct unread *unread, const char *what)
{
	if (!unread->nr_lines)
		return;
	import_note(report, "line %llu: %s: not on the tape (%llu such lines): %s",
		    (unsigned long long)unread->first_line, what,
		    (unsigned long long)unread->nr_lines, unread->example);
}

static int write_report(struct import *import)
{
	struct import_report *report = &import->job->report;
	struct event_name **sorted = calloc(import->nr_names + 1, sizeof(struct event_name *));
	unsigned int n = 0;
	char what[NAME_BYTES + 32];
	bool all_added = true;

	if (!sorted)
		return import_fail(import->job, TAPE_ERR_MEMORY, "no memory for the report");
	for (unsigned int i = 0; i < NAME_SLOTS; i++)
		if (import->name[i].name)
			sorted[n++] = &import->name[i];
	qsort(sorted, n, sizeof(struct event_name *), compare_names);
	note_unread(report, &import->no_head, "no trace line");
	for (unsigned int i = 0; i < n; i++) {
		if (sorted[i]->nr_events)
			all_added &= import_add_tally(report, sorted[i]->name, sorted[i]->nr_events,
						      sorted[i]->nr_by_name > 0);
		snprintf(what, sizeof(what), "%s is not readable", sorted[i]->name);
		note_unread(report, &sorted[i]->unread, what);
		note_name(import, sorted[i]);
	}
	note_unread(report, &import->no_name, "too many kinds of events");
	free(sorted);

	if (import->last_ended && report->nr_events)
		import_note(report, "line %llu: the last line has no newline: it may be cut",
			    (unsigned long long)import->last_ended);
	if (import->nr_flags_unread)
		import_note(
			report,
			"line %llu: the irq and preempt column has a shape not known here, in %llu lines: "
			"common_flags are 0 there, so work done in interrupts is taken for the task's",
			(unsigned long long)import->first_flags_unread,
			(unsigned long long)import->nr_flags_unread);
	if (import->doubts.nr_gfp_names)
		import_note(
			report,
			"%s: %llu names of gfp flags have no bit that is the same in all kernels: left out "
			"of gfp_flags",
			import->doubts.gfp_name, (unsigned long long)import->doubts.nr_gfp_names);
	if (import->tasks_full)
		import_note(report, "more than %u tasks: those beyond are missing in lrutape/tasks",
			    TASKS_LIMIT);
	return all_added ? 0 :
			   import_fail(import->job, TAPE_ERR_MEMORY, "no memory for the report");
}

static unsigned int log2_of(uint32_t power)
{
	return (unsigned int)__builtin_ctz(power);
}

int import_trace_text(struct import_job *job, ftrace_line_reader *read_line, const char *example,
		      const char *remedy)
{
	struct import *import = calloc(1, sizeof(*import));
	int err, report_err;

	if (!import)
		return import_fail(job, TAPE_ERR_MEMORY, "no memory to import it");
	import->job = job;
	import->read_line = read_line;
	import->settings.page_shift = log2_of(job->options.page_bytes);
	import->settings.release = job->options.release;
	import->name = calloc(NAME_SLOTS, sizeof(*import->name));
	import->cpu = calloc(FTRACE_CPU_LIMIT, sizeof(*import->cpu));
	if (!import->name || !import->cpu) {
		err = import_fail(job, TAPE_ERR_MEMORY, "no memory to import it");
		goto err_free;
	}
	err = read_lines(import);
	/* What was read may be kept, so its report and tasks are made after a failure, too. */
	report_err = write_report(import);
	if (!report_err && job->report.nr_events) {
		struct tape_problem first = job->problem;

		report_err = add_tasks_blob(import);
		if (err)
			job->problem = first;
	}
	if (!err)
		err = report_err;
	if (!err && !job->report.nr_events)
		err = import_fail(job, TAPE_ERR_CORRUPT,
				  "none of its %llu lines is a trace line like \"%s\": %s",
				  (unsigned long long)job->report.nr_lines, example, remedy);

err_free:
	for (unsigned int i = 0; import->name && i < NAME_SLOTS; i++) {
		for (unsigned int j = 0; j < import->name[i].nr_layouts; j++) {
			ftrace_pattern_free(&import->name[i].layout[j]->pattern);
			free(import->name[i].layout[j]);
		}
		free(import->name[i].name);
		free(import->name[i].told_system);
	}
	free(import->name);
	free(import->cpu);
	free(import->task);
	free(import);
	return err;
}

int import_ftrace_text(struct import_job *job)
{
	return import_trace_text(job, ftrace_line_read,
				 "cat-123 [001] ..... 1.234567: mm_lru_activate: ...",
				 "print the trace with its header columns");
}
