// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name of a task may hold anything but a NUL: blanks, dashes, brackets, even what looks like
 * the rest of such a line. The kernel pads it to 16 columns and it has at most 15 bytes, so the
 * dash in column 16 is the right one wherever the text still has its columns. Where it has not
 * (mails lose leading blanks) each "[CPU]" is tried from the left, and the first one with a whole
 * head around it is taken.
 */
#include "capture/import_ftrace_line.h"

#include <string.h>

#include "capture/import_text.h"

#define COMM_COLUMNS 16 /* Kernel: "%16s-%-7d " in trace_print_context() */

/* include/linux/trace_events.h, enum trace_flag_type, v6.18. */
enum {
	FLAG_IRQS_OFF = 0x01,
	FLAG_NEED_RESCHED_LAZY = 0x02,
	FLAG_NEED_RESCHED = 0x04,
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,
	FLAG_PREEMPT_RESCHED = 0x20,
	FLAG_NMI = 0x40,
	FLAG_BH_OFF = 0x80,
};

struct letter {
	char letter;
	uint8_t flags;
};

static const struct letter irqs_letters[] = {
	{ '.', 0 },
	{ 'd', FLAG_IRQS_OFF },
	{ 'D', FLAG_IRQS_OFF | FLAG_BH_OFF },
	{ 'b', FLAG_BH_OFF },
	{ 'X', 0 }, /* kernels that cannot tell */
	{ 0, 0 },
};

static const struct letter resched_letters[] = {
	{ '.', 0 },
	{ 'n', FLAG_NEED_RESCHED },
	{ 'p', FLAG_PREEMPT_RESCHED },
	{ 'N', FLAG_NEED_RESCHED | FLAG_PREEMPT_RESCHED },
	{ 'l', FLAG_NEED_RESCHED_LAZY },
	{ 'b', FLAG_NEED_RESCHED_LAZY | FLAG_NEED_RESCHED },
	{ 'L', FLAG_NEED_RESCHED_LAZY | FLAG_PREEMPT_RESCHED },
	{ 'B', FLAG_NEED_RESCHED_LAZY | FLAG_NEED_RESCHED | FLAG_PREEMPT_RESCHED },
	{ 0, 0 },
};

static const struct letter context_letters[] = {
	{ '.', 0 },
	{ 's', FLAG_SOFTIRQ },
	{ 'h', FLAG_HARDIRQ },
	{ 'H', FLAG_HARDIRQ | FLAG_SOFTIRQ },
	{ 'z', FLAG_NMI },
	{ 'Z', FLAG_NMI | FLAG_HARDIRQ },
	{ 0, 0 },
};

static bool letter_flags(const struct letter *table, char letter, uint8_t *flags)
{
	for (; table->letter; table++) {
		if (table->letter != letter)
			continue;
		*flags |= table->flags;
		return true;
	}
	return false;
}

static bool nibble(char c, uint8_t *value)
{
	if (c == '.')
		*value = 0;
	else if (import_is_digit(c))
		*value = (uint8_t)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*value = (uint8_t)(c - 'a' + 10);
	else
		return false;
	return true;
}

/* Four columns up to v5.15, five since; more than that are those of patched kernels. */
static bool read_flags(const char *p, size_t size, struct ftrace_line *line)
{
	uint8_t preempt, migrate = 0, flags = 0;

	if (size < 4 || size > 8)
		return false;
	if (size <= 5 && letter_flags(irqs_letters, p[0], &flags) &&
	    letter_flags(resched_letters, p[1], &flags) &&
	    letter_flags(context_letters, p[2], &flags) && nibble(p[3], &preempt) &&
	    (size == 4 || nibble(p[4], &migrate))) {
		line->flags = flags;
		line->preempt_count = (uint8_t)(migrate << 4 | preempt);
		return true;
	}
	for (size_t i = 0; i < size; i++)
		if (!strchr(".dDbXnpNlLBshHzZ0123456789abcdef", p[i]))
			return false;
	line->flags_unread = true;
	return true;
}

static bool is_name(char c)
{
	return import_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '.';
}

/* What follows "COMM-PID": the rest of the head. @p stands behind the PID's last digit. */
static bool read_behind_pid(const char *p, struct ftrace_line *line)
{
	const char *token;
	uint64_t value;

	if (*p != ' ' && *p != '\t')
		return false;
	p = import_skip_blanks(p);
	line->tgid = 0;
	if (*p == '(') {
		p = import_skip_blanks(p + 1);
		if (*p == '-') {
			while (*p == '-')
				p++;
		} else {
			p = import_read_number(p, INT32_MAX, &value);
			if (!p)
				return false;
			line->tgid = (int32_t)value;
		}
		p = import_skip_blanks(p);
		if (*p++ != ')')
			return false;
		p = import_skip_blanks(p);
	}
	if (*p++ != '[')
		return false;
	p = import_read_number(import_skip_blanks(p), FTRACE_CPU_LIMIT - 1, &value);
	if (!p || *p++ != ']')
		return false;
	line->cpu = (uint32_t)value;
	if (*p != ' ' && *p != '\t')
		return false;
	token = import_skip_blanks(p);

	line->flags = line->preempt_count = 0;
	line->flags_unread = false;
	p = import_read_time(token, &line->timestamp_ns, &line->tick_ns);
	if (!p) {
		for (p = token; *p && *p != ' ' && *p != '\t'; p++)
			;
		if (!read_flags(token, (size_t)(p - token), line))
			return false;
		p = import_read_time(import_skip_blanks(p), &line->timestamp_ns, &line->tick_ns);
		if (!p)
			return false;
	}
	if (*p != ' ' && *p != '\t')
		return false;
	line->name = p = import_skip_blanks(p);
	while (is_name(*p))
		p++;
	line->name_size = (size_t)(p - line->name);
	if (!line->name_size)
		return false;
	if (*p == ':' && (p[1] == ' ' || p[1] == '\t' || !p[1])) {
		line->text = import_skip_blanks(p + 1);
		return true;
	}
	/* The kernel writes system calls like calls: "sys_read(fd: 3, ...)" and "sys_read -> 0x0". */
	if (strncmp(line->name, "sys_", 4) || (*p != '(' && strncmp(p, " -> ", 4)))
		return false;
	line->text = p;
	return true;
}

static bool read_event_at(const char *start, const char *dash, struct ftrace_line *line)
{
	uint64_t pid;
	const char *p = import_read_number(dash + 1, INT32_MAX, &pid);

	if (*dash != '-' || !p || !read_behind_pid(p, line))
		return false;
	while (start < dash && *start == ' ')
		start++;
	line->comm = start;
	line->comm_size = (size_t)(dash - start);
	line->pid = (int32_t)pid;
	return true;
}

static bool read_event(const char *text, size_t size, struct ftrace_line *line)
{
	if (size > COMM_COLUMNS && text[COMM_COLUMNS] == '-' &&
	    read_event_at(text, text + COMM_COLUMNS, line))
		return true;
	/* A pid is at most 4194304, so that only few dashes are followed by a head. */
	for (const char *dash = text; (dash = strchr(dash, '-')); dash++)
		if (import_is_digit(dash[1]) && read_event_at(text, dash, line))
			return true;
	return false;
}

/* "CPU:1 [LOST 123 EVENTS]" of the kernel, "CPU:1 [123 EVENTS DROPPED]" of trace-cmd; both also without number. */
static bool read_lost(const char *p, struct ftrace_line *line)
{
	bool lost_word;
	uint64_t value;

	if (strncmp(p, "CPU:", 4))
		return false;
	p = import_read_number(p + 4, FTRACE_CPU_LIMIT - 1, &value);
	if (!p)
		return false;
	line->cpu = (uint32_t)value;
	p = import_skip_blanks(p);
	if (*p++ != '[')
		return false;
	lost_word = !strncmp(p, "LOST ", 5);
	if (lost_word)
		p += 5;
	line->lost = UINT64_MAX;
	if (import_is_digit(*p)) {
		p = import_read_number(p, UINT64_MAX - 1, &line->lost);
		if (!p || *p++ != ' ')
			return false;
	}
	return !strcmp(p, lost_word ? "EVENTS]" : "EVENTS DROPPED]");
}

/* "# entries-in-buffer/entries-written: 205/410   #P:2" */
static bool read_buffer_comment(const char *p, struct ftrace_line *line)
{
	static const char heading[] = "entries-in-buffer/entries-written:";
	uint64_t cpus;

	p = import_skip_blanks(p + 1);
	if (strncmp(p, heading, sizeof(heading) - 1))
		return false;
	p = import_read_number(import_skip_blanks(p + sizeof(heading) - 1), UINT64_MAX,
			       &line->nr_in_buffer);
	if (!p || *p != '/')
		return false;
	p = import_read_number(p + 1, UINT64_MAX, &line->nr_written);
	if (!p)
		return false;
	p = import_skip_blanks(p);
	line->nr_cpus = 0;
	if (!strncmp(p, "#P:", 3) && import_read_number(p + 3, FTRACE_CPU_LIMIT, &cpus))
		line->nr_cpus = (uint32_t)cpus;
	return true;
}

enum ftrace_line_kind ftrace_line_read(const char *text, size_t size, struct ftrace_line *line)
{
	const char *p;

	line->kind = FTRACE_LINE_UNKNOWN;
	line->system = NULL;
	if (strlen(text) != size)
		return line->kind; /* a NUL: not text */
	if (read_event(text, size, line)) {
		line->text_size = size - (size_t)(line->text - text);
		return line->kind = FTRACE_LINE_EVENT;
	}
	p = import_skip_blanks(text);
	if (read_lost(p, line))
		return line->kind = FTRACE_LINE_LOST;
	if (*p == '#')
		return line->kind = read_buffer_comment(p, line) ? FTRACE_LINE_BUFFER :
								   FTRACE_LINE_REMARK;
	if (!*p || !strncmp(p, "cpus=", 5) || !strncmp(p, "version = ", 10))
		return line->kind = FTRACE_LINE_REMARK;
	return line->kind;
}
