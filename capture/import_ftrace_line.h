/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line of the text of tracefs `trace` and `trace_pipe`, or of `trace-cmd report`:
 *
 *            python3-8333    [001] .....  1832.674455: mm_filemap_add_to_page_cache: dev 254:0 ...
 *            COMM   -PID (TGID) [CPU] FLAGS TIMESTAMP: EVENT: TEXT
 *
 * TGID stands there with the option record-tgid only, FLAGS with the option irq-info only.
 * Kernel: kernel/trace/trace_output.c, trace_print_context(), trace_print_lat_fmt(), v4.9 to v6.18.
 */
#ifndef CAPTURE_IMPORT_FTRACE_LINE_H
#define CAPTURE_IMPORT_FTRACE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's own bound is 8192 CPUs (x86, CONFIG_MAXSMP). */
#define FTRACE_CPU_LIMIT 8192u

enum ftrace_line_kind {
	FTRACE_LINE_UNKNOWN, /* nothing of the below */
	FTRACE_LINE_EVENT,
	FTRACE_LINE_LOST, /* cpu and lost are set */
	FTRACE_LINE_REMARK, /* comments, blank lines, "CPU 1 buffer started", trace-cmd's heading */
	FTRACE_LINE_BUFFER, /* the comment that tells how many events the buffer held and saw */
};

struct ftrace_line {
	enum ftrace_line_kind kind;
	const char *comm;
	size_t comm_size;
	int32_t pid;
	int32_t tgid; /* 0: not in the text */
	uint32_t cpu;
	uint8_t flags; /* common_flags, as far as the column tells */
	uint8_t preempt_count; /* low nibble; migrate_disable in the high one */
	bool flags_unread; /* a flags column of an unknown shape: flags and preempt_count are 0 */
	uint64_t timestamp_ns;
	uint32_t tick_ns; /* resolution of the text: 1000 for six decimals */
	const char *system; /* of the event; NULL: not in the text */
	size_t system_size;
	const char *name; /* of the event */
	size_t name_size;
	const char *text; /* behind "EVENT: "; to the end of the line */
	size_t text_size;
	uint64_t lost; /* FTRACE_LINE_LOST: events, UINT64_MAX where the text has no number */
	uint64_t nr_in_buffer, nr_written; /* FTRACE_LINE_BUFFER */
	uint32_t nr_cpus; /* FTRACE_LINE_BUFFER: the kernel's count of CPUs, 0: not in the text */
};

/**
 * ftrace_line_read() - take a line apart
 * @text: NUL must follow the last byte
 * @size: bytes
 * @line: filled; points into @text
 * Return: line->kind.
 */
enum ftrace_line_kind ftrace_line_read(const char *text, size_t size, struct ftrace_line *line);

#endif
