// SPDX-License-Identifier: GPL-2.0-only
/*
 * Only the head of a line is perf's own; behind it, its text is read as that of the kernel. A task's
 * name may hold anything, so the head is found from its "[CPU]", at each place that looks like one.
 */
#include "capture/import_perf_script.h"

#include <string.h>

#include "capture/import_ftrace_text.h"
#include "capture/import_text.h"

static size_t word_size(const char *p)
{
	size_t size = 0;

	while (import_is_digit(p[size]) || (p[size] >= 'a' && p[size] <= 'z') ||
	       (p[size] >= 'A' && p[size] <= 'Z') || p[size] == '_' || p[size] == '-')
		size++;
	return size;
}

/* "SYSTEM:EVENT: TEXT", and in front of it the period where perf was told to print it. */
static bool read_event_name(const char *p, struct ftrace_line *line)
{
	size_t size;
	uint64_t period;
	const char *behind;

	p = import_skip_blanks(p);
	behind = import_read_number(p, UINT64_MAX / 16, &period);
	if (behind && *behind == ' ')
		p = import_skip_blanks(behind);
	size = word_size(p);
	if (!size || p[size] != ':')
		return false;
	line->system = p;
	line->system_size = size;
	p += size + 1;
	size = word_size(p);
	if (!size || p[size] != ':' || (p[size + 1] && p[size + 1] != ' '))
		return false;
	line->name = p;
	line->name_size = size;
	line->text = import_skip_blanks(p + size + 1);
	return true;
}

static bool read_loss(const char *p, struct ftrace_line *line)
{
	static const char *const headings[] = { "PERF_RECORD_LOST lost ",
						"PERF_RECORD_LOST_SAMPLES lost " };

	p = import_skip_blanks(p);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		const char *behind = p + strlen(headings[i]);

		if (strncmp(p, headings[i], strlen(headings[i])))
			continue;
		behind = import_read_number(behind, UINT64_MAX / 16, &line->lost);
		return behind && (!*behind || *behind == ' ');
	}
	return false;
}

/* The thread's id in front of the blanks before @p; "PID/TID" where perf was told to print both. */
static bool read_task(const char *start, const char *p, struct ftrace_line *line)
{
	const char *end, *from;
	uint64_t pid, tid;

	while (p > start && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	end = p;
	while (p > start && (import_is_digit(p[-1]) || p[-1] == '/' || p[-1] == '-'))
		p--;
	line->tgid = 0;
	if (p < end && *p == '-') { /* perf's -1: nobody knows */
		line->pid = 0;
		from = p;
	} else {
		from = p;
		p = import_read_number(p, INT32_MAX, &pid);
		if (!p)
			return false;
		tid = pid;
		if (*p == '/') {
			p = import_read_number(p + 1, INT32_MAX, &tid);
			if (!p)
				return false;
			line->tgid = (int32_t)pid;
		}
		if (p != end)
			return false;
		line->pid = (int32_t)tid;
	}
	if (from > start && from[-1] != ' ' && from[-1] != '\t')
		return false;
	while (from > start && (from[-1] == ' ' || from[-1] == '\t'))
		from--;
	while (start < from && (*start == ' ' || *start == '\t'))
		start++;
	line->comm = start;
	line->comm_size = (size_t)(from - start);
	/* ":TID" is perf's name for a task whose name it did not see; the kernel writes "<...>". */
	if (*start == ':' && line->comm_size > 1 &&
	    strspn(start + 1, "0123456789") == line->comm_size - 1) {
		line->comm = "<...>";
		line->comm_size = strlen(line->comm);
	}
	return true;
}

/* @bracket: a '['. */
static enum ftrace_line_kind read_head(const char *text, const char *bracket,
				       struct ftrace_line *line)
{
	uint64_t cpu;
	const char *p = import_read_number(bracket + 1, FTRACE_CPU_LIMIT - 1, &cpu);

	if (!p || *p != ']' || !read_task(text, bracket, line))
		return FTRACE_LINE_UNKNOWN;
	line->cpu = (uint32_t)cpu;
	p = import_read_time(import_skip_blanks(p + 1), &line->timestamp_ns, &line->tick_ns);
	if (!p)
		return FTRACE_LINE_UNKNOWN;
	if (read_loss(p, line))
		return FTRACE_LINE_LOST;
	return read_event_name(p, line) ? FTRACE_LINE_EVENT : FTRACE_LINE_UNKNOWN;
}

/* A caller of a call chain: blanks, its address, its name. */
static bool is_caller(const char *text)
{
	const char *p = import_skip_blanks(text);
	size_t digits = strspn(p, "0123456789abcdef");

	return p > text && digits >= 1 && digits <= 16 && p[digits] == ' ';
}

enum ftrace_line_kind perf_script_line_read(const char *text, size_t size, struct ftrace_line *line)
{
	line->kind = FTRACE_LINE_UNKNOWN;
	if (strlen(text) != size)
		return line->kind; /* a NUL: not text */
	line->flags = line->preempt_count = 0;
	line->flags_unread = false;
	for (const char *bracket = text; (bracket = strchr(bracket, '[')); bracket++) {
		line->kind = read_head(text, bracket, line);
		if (line->kind != FTRACE_LINE_UNKNOWN) {
			line->text_size = size - (size_t)(line->text - text);
			return line->kind;
		}
	}
	if (!*import_skip_blanks(text) || *text == '#' || is_caller(text))
		line->kind = FTRACE_LINE_REMARK;
	return line->kind;
}

int import_perf_script(struct import_job *job)
{
	return import_trace_text(job, perf_script_line_read,
				 "cat 123 [001] 1.234567: pagemap:mm_lru_activate: ...",
				 "print it with perf script's default fields");
}
