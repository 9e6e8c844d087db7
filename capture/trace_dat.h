/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The container that trace-cmd writes, versions 6 and 7: what its parts are and where. Nothing in it is
 * believed: each length meets a limit and the file's end before it is used.
 *
 * Source: trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5) of trace-cmd 3.1, and files that it wrote.
 */
#ifndef CAPTURE_TRACE_DAT_H
#define CAPTURE_TRACE_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/ring_page.h"

struct trace_dat_format {
	char *system;
	char *text; /* of events/SYSTEM/EVENT/format */
};

/* A CPU's part of a buffer. */
struct trace_dat_cpu {
	uint32_t number;
	uint64_t offset, size; /* in the file */
};

/* The main buffer, or one of an instance. */
struct trace_dat_buffer {
	char *name; /* "" for the main one */
	uint64_t offset; /* of its section */
	uint32_t page_bytes;
	bool packed;
	struct trace_dat_cpu *cpu;
	uint32_t nr_cpus;
};

enum trace_dat_packing {
	TRACE_DAT_NONE,
	TRACE_DAT_ZSTD,
	TRACE_DAT_ZLIB,
	TRACE_DAT_OTHER, /* may be named in a file that packs nothing */
};

struct trace_dat {
	int fd;
	uint64_t file_bytes;
	unsigned int version; /* 6 or 7 */
	uint32_t page_bytes;
	enum trace_dat_packing packing;
	char packing_name[32];
	struct ring_page_layout layout;
	char *header_page;
	struct trace_dat_format *format;
	uint32_t nr_formats;
	char *comms; /* lines "PID NAME" */
	struct trace_dat_buffer *buffer; /* the main one first */
	uint32_t nr_buffers;
	char *uname; /* "SYSTEM NODE RELEASE MACHINE", "" where the file has none */
	char *clock; /* the trace clock's name, "" likewise */
	char **stats; /* per_cpu/cpuN/stats, in the file's order, each with a line "CPU: N" in front */
	uint32_t nr_stats;
	uint32_t nr_cpus; /* of the machine, 0 where the file does not say */
	int64_t offset_ns; /* to be added to each time */
	uint32_t tsc_mult,
		tsc_shift; /* times are cycles, ns = cycles * mult >> shift; 0: they are ns */
	bool has_time_shift; /* a guest's times, to be moved by a table: not done */
	bool has_text; /* a latency trace's text, instead of records */
	char why[200]; /* what was wrong, where: remedy */
	int read_errno; /* the file could not be read; 0: it breaks a rule of its format */
	bool out_of_memory;
};

/**
 * trace_dat_open() - read all but the records
 * @dat: filled; trace_dat_close() frees it, after a failure too
 * @fd: taken over
 * Return: 0, or -1: see why, read_errno and out_of_memory.
 */
int __attribute__((warn_unused_result))
trace_dat_open(struct trace_dat *dat, int fd, uint64_t file_bytes);

/** trace_dat_close() - free everything. */
void trace_dat_close(struct trace_dat *dat);

/* Pages of one CPU, one behind the other. */
struct trace_dat_pages {
	struct trace_dat *dat;
	uint32_t page_bytes;
	bool packed;
	uint64_t at, end; /* in the file */
	uint32_t nr_chunks; /* packed ones still to come */
	uint8_t *raw; /* packed chunk */
	uint8_t *data; /* pages */
	size_t data_at, data_end;
};

/** trace_dat_pages_open() - begin with a CPU of a buffer. Return: as trace_dat_open(). */
int __attribute__((warn_unused_result))
trace_dat_pages_open(struct trace_dat_pages *pages, struct trace_dat *dat,
		     const struct trace_dat_buffer *buffer, const struct trace_dat_cpu *cpu);

/**
 * trace_dat_pages_next() - the next page
 * @page: set; valid until the next call
 * @bytes: of it: the buffer's page size, or less for a last page that is cut
 * Return: 1: it is set. 0: there is none. -1: as trace_dat_open().
 */
int __attribute__((warn_unused_result))
trace_dat_pages_next(struct trace_dat_pages *pages, const uint8_t **page, size_t *bytes);

/** trace_dat_pages_close() - free its memory. */
void trace_dat_pages_close(struct trace_dat_pages *pages);

#endif
