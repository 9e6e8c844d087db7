// SPDX-License-Identifier: GPL-2.0-only
/* From trace text to the tape and back: heads of lines, losses, order, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "capture/import_ftrace_line.h"
#include "capture/import_ftrace_pattern.h"
#include "capture/import_ftrace_text.h"

/* ---- Heads of lines. */

static struct ftrace_line line_of(const char *text, enum ftrace_line_kind kind)
{
	struct ftrace_line line;

	memset(&line, 0xaa, sizeof(line));
	if (ftrace_line_read(text, strlen(text), &line) != kind)
		fail_msg("kind %d, not %d: %s", line.kind, kind, text);
	return line;
}

#define assert_bytes(expected, p, size)                                                            \
	do {                                                                                       \
		assert_int_equal(size, strlen(expected));                                          \
		assert_memory_equal(p, expected, strlen(expected));                                \
	} while (0)

static void head_with_flags(void **state)
{
	struct ftrace_line line = line_of(
		"         python3-8333    [001] d.h2.  1832.674455: mm_lru_activate: folio=0 pfn=0x1",
		FTRACE_LINE_EVENT);

	(void)state;
	assert_bytes("python3", line.comm, line.comm_size);
	assert_int_equal(line.pid, 8333);
	assert_int_equal(line.tgid, 0);
	assert_int_equal(line.cpu, 1);
	assert_int_equal(line.flags, 0x01 | 0x08);
	assert_int_equal(line.preempt_count, 2);
	assert_false(line.flags_unread);
	assert_int_equal(line.timestamp_ns, 1832674455000);
	assert_int_equal(line.tick_ns, 1000);
	assert_bytes("mm_lru_activate", line.name, line.name_size);
	assert_bytes("folio=0 pfn=0x1", line.text, line.text_size);
}

static void head_without_flags_column(void **state)
{
	struct ftrace_line line = line_of(
		"          <idle>-0       [000]   217.975284: sched_wake: a=1", FTRACE_LINE_EVENT);

	(void)state;
	assert_bytes("<idle>", line.comm, line.comm_size);
	assert_int_equal(line.pid, 0);
	assert_int_equal(line.flags, 0);
	assert_int_equal(line.timestamp_ns, 217975284000);
}

static void head_with_tgid(void **state)
{
	struct ftrace_line line = line_of(
		"     ThreadPool-8334    (   8333) [063] .....     1.000001: e: a=1",
		FTRACE_LINE_EVENT);

	(void)state;
	assert_int_equal(line.pid, 8334);
	assert_int_equal(line.tgid, 8333);
	assert_int_equal(line.cpu, 63);
	line = line_of("              dd-26751   (-------) [000] d..3.  1631.032301: e: a=1",
		       FTRACE_LINE_EVENT);
	assert_int_equal(line.tgid, 0);
	assert_int_equal(line.preempt_count, 3);
}

static void head_with_four_flag_columns(void **state)
{
	struct ftrace_line line = line_of(
		"              dd-26751   [000] dNs3  1631.032301: e: a=1", FTRACE_LINE_EVENT);

	(void)state;
	assert_int_equal(line.flags, 0x01 | 0x04 | 0x20 | 0x10);
	assert_int_equal(line.preempt_count, 3);
}

static void head_with_migrate_disable(void **state)
{
	struct ftrace_line line = line_of(
		"              dd-26751   [000] DlZa3  1631.032301: e: a=1", FTRACE_LINE_EVENT);

	(void)state;
	assert_int_equal(line.flags, 0x01 | 0x80 | 0x02 | 0x40 | 0x08);
	assert_int_equal(line.preempt_count, 0x3a);
}

static void unknown_flag_columns_are_told(void **state)
{
	struct ftrace_line line = line_of(
		"              dd-26751   [000] d..b.1.  1631.032301: e: a=1", FTRACE_LINE_EVENT);

	(void)state;
	assert_true(line.flags_unread);
	assert_int_equal(line.flags, 0);
}

static void nanoseconds_are_kept(void **state)
{
	struct ftrace_line line = line_of(
		"cat-1 [000] 1832.674455123: mm_lru_activate:     folio=0 pfn=1",
		FTRACE_LINE_EVENT);

	(void)state;
	assert_int_equal(line.timestamp_ns, 1832674455123);
	assert_int_equal(line.tick_ns, 1);
	assert_bytes("folio=0 pfn=1", line.text, line.text_size);
}

static void comm_with_blanks_dashes_and_brackets(void **state)
{
	struct ftrace_line line;

	(void)state;
	line = line_of("     Web Content-77      [000] .....     1.000001: e: a=1",
		       FTRACE_LINE_EVENT);
	assert_bytes("Web Content", line.comm, line.comm_size);
	line = line_of("    kworker/u8:0-12      [000] .....     1.000001: e: a=1",
		       FTRACE_LINE_EVENT);
	assert_bytes("kworker/u8:0", line.comm, line.comm_size);
	line = line_of("        a-1 [000]-99      [003] .....     1.000001: e: a=1",
		       FTRACE_LINE_EVENT);
	assert_int_equal(line.pid, 99);
	assert_int_equal(line.cpu, 3);
	line = line_of("       tokio-rt-9-100     [000] .....     1.000001: e: a=1",
		       FTRACE_LINE_EVENT);
	assert_bytes("tokio-rt-9", line.comm, line.comm_size);
	assert_int_equal(line.pid, 100);
	line = line_of("                -5       [000] .....     1.000001: e: a=1",
		       FTRACE_LINE_EVENT);
	assert_bytes("", line.comm, line.comm_size);
}

/* The whole head of another line fits into 15 bytes; column 16 tells which dash is meant. */
static void comm_that_looks_like_a_head(void **state)
{
	struct ftrace_line line = line_of(
		" a-1 [0] 1.0: x:-8333    [001] .....     2.000001: e: a=1", FTRACE_LINE_EVENT);

	(void)state;
	assert_bytes("a-1 [0] 1.0: x:", line.comm, line.comm_size);
	assert_int_equal(line.pid, 8333);
	assert_bytes("e", line.name, line.name_size);
}

static void leading_blanks_may_be_lost(void **state)
{
	struct ftrace_line line = line_of("a-b-12 [001] ..... 2.000001: e: a=1", FTRACE_LINE_EVENT);

	(void)state;
	assert_bytes("a-b", line.comm, line.comm_size);
	assert_int_equal(line.pid, 12);
}

static void losses_with_and_without_number(void **state)
{
	struct ftrace_line line;

	(void)state;
	line = line_of("CPU:1 [LOST 123 EVENTS]", FTRACE_LINE_LOST);
	assert_int_equal(line.cpu, 1);
	assert_int_equal(line.lost, 123);
	line = line_of("CPU:12 [LOST EVENTS]", FTRACE_LINE_LOST);
	assert_int_equal(line.cpu, 12);
	assert_true(line.lost == UINT64_MAX);
	line = line_of("CPU:7 [204600 EVENTS DROPPED]", FTRACE_LINE_LOST);
	assert_int_equal(line.lost, 204600);
	line = line_of("CPU:7 [EVENTS DROPPED]", FTRACE_LINE_LOST);
	assert_true(line.lost == UINT64_MAX);
	line_of("CPU:7 [LOST 5 EVENTS", FTRACE_LINE_UNKNOWN);
}

static void remarks(void **state)
{
	struct ftrace_line line;

	(void)state;
	line_of("", FTRACE_LINE_REMARK);
	line_of("# tracer: nop", FTRACE_LINE_REMARK);
	line_of("#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION", FTRACE_LINE_REMARK);
	line_of("##### CPU 1 buffer started ####", FTRACE_LINE_REMARK);
	line_of("cpus=8", FTRACE_LINE_REMARK);
	line_of("version = 6", FTRACE_LINE_REMARK);
	line = line_of("# entries-in-buffer/entries-written: 205/410   #P:2", FTRACE_LINE_BUFFER);
	assert_int_equal(line.nr_in_buffer, 205);
	assert_int_equal(line.nr_written, 410);
	assert_int_equal(line.nr_cpus, 2);
}

static void what_is_no_trace_line(void **state)
{
	(void)state;
	line_of("Hello, I see this:", FTRACE_LINE_UNKNOWN);
	line_of("cat-12 [001] ..... 2.000001: vfs_read <-ksys_read", FTRACE_LINE_UNKNOWN);
	line_of("cat-12 [001] ..... 123456789: e: a=1",
		FTRACE_LINE_UNKNOWN); /* a clock without seconds */
	line_of("cat-12 [99999] ..... 2.000001: e: a=1", FTRACE_LINE_UNKNOWN);
	line_of("cat-99999999999 [001] ..... 2.000001: e: a=1", FTRACE_LINE_UNKNOWN);
	line_of("cat-12 [001] ..... 99999999999999.000001: e: a=1", FTRACE_LINE_UNKNOWN);
	line_of("cat-12 [001] ..... 2.000001", FTRACE_LINE_UNKNOWN);
	line_of("cat-12 [001]", FTRACE_LINE_UNKNOWN);
}

static void system_calls_have_no_colon(void **state)
{
	struct ftrace_line line;

	(void)state;
	line = line_of("cat-12 [001] ..... 2.000001: sys_pread64(fd: 3, pos: 0x40)",
		       FTRACE_LINE_EVENT);
	assert_bytes("sys_pread64", line.name, line.name_size);
	assert_bytes("(fd: 3, pos: 0x40)", line.text, line.text_size);
	line = line_of("cat-12 [001] ..... 2.000001: sys_pread64 -> 0x310", FTRACE_LINE_EVENT);
	assert_bytes(" -> 0x310", line.text, line.text_size);
}

/* ---- Sources. */

static struct import_source *source_of(const void *bytes, size_t size)
{
	struct import_source *source;
	struct tape_problem problem;

	assert_int_equal(import_source_open_memory(bytes, size, &source, &problem), 0);
	return source;
}

static void lines_of_all_kinds(void **state)
{
	struct import_source *source = source_of("one\r\n\ntwo\nthree", 15);
	struct import_line line;

	(void)state;
	assert_int_equal(import_source_line(source, &line), 1);
	assert_string_equal(line.text, "one");
	assert_true(line.ended);
	assert_int_equal(import_source_line(source, &line), 1);
	assert_string_equal(line.text, "");
	assert_int_equal(import_source_line(source, &line), 1);
	assert_string_equal(line.text, "two");
	assert_int_equal(import_source_line(source, &line), 1);
	assert_string_equal(line.text, "three");
	assert_int_equal(line.number, 4);
	assert_false(line.ended);
	assert_int_equal(import_source_line(source, &line), 0);
	import_source_close(source);
}

static void long_lines_are_cut_and_the_next_one_is_whole(void **state)
{
	size_t size = 1 << 20;
	char *text = malloc(size + 8);
	struct import_source *source;
	struct import_line line;

	(void)state;
	memset(text, 'x', size);
	memcpy(text + size, "\nafter\n", 8);
	source = source_of(text, size + 7);
	assert_int_equal(import_source_line(source, &line), 1);
	assert_true(line.cut);
	assert_int_equal(line.size, IMPORT_LINE_LIMIT);
	assert_int_equal(import_source_line(source, &line), 1);
	assert_string_equal(line.text, "after");
	assert_int_equal(line.number, 2);
	assert_int_equal(import_source_line(source, &line), 0);
	import_source_close(source);
	free(text);
}

/* 400 kB of numbered lines: more than any buffer in between. */
static char *numbered_lines(size_t *size)
{
	char *text = malloc(1 << 20);

	*size = 0;
	for (int i = 1; i <= 60000; i++)
		*size += (size_t)sprintf(text + *size, "%d\n", i);
	return text;
}

static unsigned char *pack(bool zstd, const char *text, size_t size, size_t *packed_size)
{
	unsigned char *packed = malloc(1 << 20);

	if (zstd) {
		*packed_size = ZSTD_compress(packed, 1 << 20, text, size, 3);
		assert_false(ZSTD_isError(*packed_size));
	} else {
		z_stream z = { 0 };

		assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
				 Z_OK);
		z.next_in = (unsigned char *)(uintptr_t)text;
		z.avail_in = (uInt)size;
		z.next_out = packed;
		z.avail_out = 1 << 20;
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		*packed_size = z.total_out;
		deflateEnd(&z);
	}
	return packed;
}

/* Return: the last result of import_source_line(); *nr counts lines until one is wrong. */
static int read_numbered(const void *bytes, size_t size, int *nr, char *why)
{
	struct import_source *source = source_of(bytes, size);
	struct import_line line;
	int ret;

	bool right = true;

	*nr = 0;
	while ((ret = import_source_line(source, &line)) > 0) {
		right &= atoi(line.text) == *nr % 60000 + 1;
		*nr += right;
	}
	strcpy(why, ret < 0 ? import_source_problem(source)->text : "");
	import_source_close(source);
	return ret;
}

static void packed_files_read_like_plain_ones(void **state)
{
	size_t size, packed_size;
	char *text = numbered_lines(&size), why[256];
	int nr;

	(void)state;
	assert_int_equal(read_numbered(text, size, &nr, why), 0);
	assert_int_equal(nr, 60000);
	for (int zstd = 0; zstd <= 1; zstd++) {
		unsigned char *packed = pack(zstd, text, size, &packed_size);
		unsigned char *twice = malloc(2 * packed_size);

		assert_int_equal(read_numbered(packed, packed_size, &nr, why), 0);
		assert_int_equal(nr, 60000);
		memcpy(twice, packed, packed_size);
		memcpy(twice + packed_size, packed, packed_size);
		assert_int_equal(read_numbered(twice, 2 * packed_size, &nr, why), 0);
		assert_int_equal(nr, 120000);
		free(twice);
		free(packed);
	}
	free(text);
}

static void cut_and_damaged_files_fail_and_say_so(void **state)
{
	size_t size, packed_size;
	char *text = numbered_lines(&size), why[256];
	int nr;

	(void)state;
	for (int zstd = 0; zstd <= 1; zstd++) {
		unsigned char *packed = pack(zstd, text, size, &packed_size);

		for (size_t cut = 4; cut < packed_size; cut += packed_size / 23 + 1) {
			assert_int_equal(read_numbered(packed, cut, &nr, why), TAPE_ERR_CORRUPT);
			assert_non_null(strstr(why, "cut short"));
		}
		assert_int_equal(read_numbered(packed, packed_size - 1, &nr, why),
				 TAPE_ERR_CORRUPT);
		packed[packed_size / 2] ^= 0x55;
		packed[packed_size / 2 + 1] ^= 0x55;
		if (!zstd) { /* this zstd frame has no checksum: only gzip is sure to notice */
			assert_int_equal(read_numbered(packed, packed_size, &nr, why),
					 TAPE_ERR_CORRUPT);
			assert_non_null(strstr(why, "damaged"));
		}
		free(packed);
	}
	free(text);
}

/* ---- Whole imports, read back from the tape. */

struct imported {
	struct import_job job;
	int err;
	struct tape_reader *reader; /* NULL if nothing was imported */
	char path[256];
};

static void import_bytes(struct imported *imported, const void *bytes, size_t size,
			 unsigned int page_bytes)
{
	const char *dir = getenv("TEST_TMP") ? getenv("TEST_TMP") : "/tmp";
	struct tape_problem problem;

	memset(imported, 0, sizeof(*imported));
	snprintf(imported->path, sizeof(imported->path), "%s/import-%d.lrt", dir, (int)getpid());
	imported->job.input = source_of(bytes, size);
	imported->job.options.page_bytes = page_bytes;
	assert_int_equal(tape_writer_create(imported->path, NULL, &imported->job.tape, &problem),
			 0);
	imported->err = import_ftrace_text(&imported->job);
	assert_int_equal(tape_writer_finish(imported->job.tape, &problem), 0);
	if (imported->job.report.nr_events)
		assert_int_equal(tape_reader_open(imported->path, &imported->reader, &problem), 0);
}

static void import_text(struct imported *imported, const char *text)
{
	import_bytes(imported, text, strlen(text), 4096);
}

static void imported_end(struct imported *imported)
{
	tape_reader_close(imported->reader);
	import_source_close(imported->job.input);
	import_report_free(&imported->job.report);
	unlink(imported->path);
}

static const struct tape_event *next_event(struct imported *imported)
{
	const struct tape_event *event;

	assert_int_equal(tape_reader_next(imported->reader, &event), 1);
	return event;
}

static void assert_ended(struct imported *imported)
{
	const struct tape_event *event;

	assert_int_equal(tape_reader_next(imported->reader, &event), 0);
}

static bool has_note(const struct imported *imported, const char *part)
{
	for (unsigned int i = 0; i < imported->job.report.nr_notes; i++)
		if (strstr(imported->job.report.note[i], part))
			return true;
	return false;
}

static void events_come_back_in_their_slots(void **state)
{
	struct imported imported;
	const struct tape_event *event;
	size_t size;

	(void)state;
	import_text(
		&imported,
		"# tracer: nop\n"
		"             cat-7       [001] d..2.     1.000005: mm_filemap_get_pages: dev=254:0 ino=ff ofs=8192-16383\n"
		"              sh-8       [000] .....     1.000006: cgroup_mkdir: root=4 id=3929 level=1 path=/x\n");
	assert_int_equal(imported.err, 0);
	assert_int_equal(imported.job.report.nr_events, 2);
	assert_int_equal(imported.job.report.nr_unread, 0);
	event = next_event(&imported);
	assert_int_equal(event->kind, EVENT_MM_FILEMAP_GET_PAGES);
	assert_int_equal(event->timestamp_ns, 1000005000);
	assert_int_equal(event->cpu, 1);
	assert_int_equal(event->pid, 7);
	assert_int_equal(event->flags, 1);
	assert_int_equal(event->preempt_count, 2);
	assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_S_DEV], 254 << 20);
	assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_I_INO], 255);
	assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_INDEX], 2);
	assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX], 3);
	event = next_event(&imported);
	assert_int_equal(event->kind, EVENT_CGROUP_MKDIR);
	assert_string_equal(tape_event_string(event, CGROUP_MKDIR_PATH, &size), "/x");
	assert_int_equal(size, 2);
	assert_ended(&imported);
	imported_end(&imported);
}

static void fields_that_the_text_lacks_are_absent(void **state)
{
	struct imported imported;
	const struct tape_event *event;

	(void)state;
	import_text(&imported,
		    "kswapd0-7 [001] ..... 1.000005: mm_vmscan_kswapd_wake: nid=0 order=3\n");
	event = next_event(&imported);
	assert_int_equal(event->value[MM_VMSCAN_KSWAPD_WAKE_ORDER], 3);
	assert_true(event->value[MM_VMSCAN_KSWAPD_WAKE_ZID] == TAPE_VALUE_ABSENT);
	imported_end(&imported);
}

static void page_size_changes_indexes(void **state)
{
	static const char text[] =
		"cat-7 [001] ..... 1.000005: mm_filemap_get_pages: dev=254:0 ino=ff "
		"ofs=65536-196607\n";
	struct imported imported;
	const struct tape_event *event;

	(void)state;
	import_bytes(&imported, text, strlen(text), 65536);
	event = next_event(&imported);
	assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_INDEX], 1);
	assert_int_equal(event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX], 2);
	imported_end(&imported);
}

/* cpu 1 before cpu 0 inside one microsecond: the tape must not swap them. */
static void order_within_a_microsecond_is_that_of_the_lines(void **state)
{
	static const int cpus[] = { 1, 0, 0, 1, 0 };
	struct imported imported;

	(void)state;
	import_text(&imported, "a-1 [001] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=0\n"
			       "b-2 [000] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=1\n"
			       "b-2 [000] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=2\n"
			       "a-1 [001] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=3\n"
			       "b-2 [000] ..... 5.000002: mm_vmscan_kswapd_sleep: nid=4\n");
	for (unsigned int i = 0; i < 5; i++) {
		const struct tape_event *event = next_event(&imported);

		assert_int_equal(event->value[MM_VMSCAN_KSWAPD_SLEEP_NID], i);
		assert_int_equal(event->cpu, cpus[i]);
		assert_int_equal(event->timestamp_ns / 1000, i < 4 ? 5000001 : 5000002);
	}
	assert_ended(&imported);
	imported_end(&imported);
}

static void time_that_goes_back_is_refused_with_its_line(void **state)
{
	struct imported imported;

	(void)state;
	import_text(
		&imported,
		"a-1 [001] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=0\n"
		"b-2 [000] ..... 4.000001: mm_vmscan_kswapd_sleep: nid=1\n" /* another CPU may */
		"a-1 [001] ..... 5.000000: mm_vmscan_kswapd_sleep: nid=2\n");
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	assert_non_null(strstr(imported.job.problem.text, "line 3"));
	assert_non_null(strstr(imported.job.problem.text, "CPU 1"));
	assert_int_equal(imported.job.report.nr_events, 2);
	imported_end(&imported);
}

static void losses_are_on_the_tape(void **state)
{
	struct imported imported;
	const struct tape_event *event;

	(void)state;
	import_text(&imported, "a-1 [001] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=0\n"
			       "CPU:1 [LOST 12 EVENTS]\n"
			       "a-1 [001] ..... 5.000003: mm_vmscan_kswapd_sleep: nid=1\n"
			       "CPU:1 [LOST EVENTS]\n"
			       "a-1 [001] ..... 5.000004: mm_vmscan_kswapd_sleep: nid=2\n");
	assert_int_equal(imported.job.report.nr_losses, 2);
	assert_int_equal(imported.job.report.nr_lost, 12);
	assert_int_equal(next_event(&imported)->kind, EVENT_MM_VMSCAN_KSWAPD_SLEEP);
	event = next_event(&imported);
	assert_int_equal(event->kind, EVENT_LOST);
	assert_int_equal(event->value[EVENT_LOST_COUNT], 12);
	assert_int_equal(next_event(&imported)->kind, EVENT_MM_VMSCAN_KSWAPD_SLEEP);
	event = next_event(&imported);
	assert_int_equal(event->kind, EVENT_LOST);
	assert_true(event->value[EVENT_LOST_COUNT] == EVENT_LOST_UNKNOWN);
	imported_end(&imported);
}

static void unread_lines_are_counted_by_event_with_the_first_one(void **state)
{
	struct imported imported;

	(void)state;
	import_text(&imported, "hello\n"
			       "a-1 [001] ..... 5.000001: mm_lru_activate: folio=0 pfn=0x1\n"
			       "a-1 [001] ..... 5.000002: mm_lru_activate: folio=0 pf\n"
			       "a-1 [001] ..... 5.000003: mm_lru_activate: folio=0 pfn=\n"
			       "a-1 [001] ..... 5.000004: mm_lru_activate: folio=0 pfn=0x2\n");
	assert_int_equal(imported.err, 0);
	assert_int_equal(imported.job.report.nr_events, 2);
	assert_int_equal(imported.job.report.nr_unread, 3);
	assert_true(has_note(&imported,
			     "line 1: no trace line: not on the tape (1 such lines): hello"));
	assert_true(has_note(
		&imported,
		"line 3: mm_lru_activate is not readable: not on the tape (2 such lines)"));
	assert_true(has_note(&imported, ": a-1 [001] ..... 5.000002: mm_lru_activate: folio=0 pf"));
	imported_end(&imported);
}

static void another_kernels_text_is_taken_by_name(void **state)
{
	struct imported imported;
	const struct tape_event *event;

	(void)state;
	import_text(
		&imported,
		"a-1 [001] ..... 5.000001: mm_vmscan_lru_isolate: nr_taken=7 lru=inactive_file newer=1\n");
	assert_int_equal(imported.job.report.nr_unread, 0);
	assert_true(has_note(&imported, "has a text not known here (1 such lines)"));
	event = next_event(&imported);
	assert_int_equal(event->kind, EVENT_MM_VMSCAN_LRU_ISOLATE);
	assert_int_equal(event->value[MM_VMSCAN_LRU_ISOLATE_NR_TAKEN], 7);
	assert_true(event->value[MM_VMSCAN_LRU_ISOLATE_LRU] == TAPE_VALUE_ABSENT);
	imported_end(&imported);
}

static void numbers_that_may_be_hexadecimal_are_told(void **state)
{
	struct imported imported;

	(void)state;
	import_text(&imported, "a-1 [001] ..... 5.000001: my_event: ino=12 x=1\n"
			       "a-1 [001] ..... 5.000002: my_event: ino=b3 x=1\n");
	assert_int_equal(imported.job.report.nr_events, 2);
	assert_true(has_note(&imported,
			     "my_event: ino holds numbers in some lines and other text in others"));
	imported_end(&imported);
}

static void system_calls_become_events(void **state)
{
	struct imported imported;
	const struct tape_event *event;
	const struct tape_type *type;

	(void)state;
	import_text(
		&imported,
		"a-1 [001] ..... 5.000001: sys_pread64(fd: 3, buf: 0x7ffe, count: 1000, pos: 0x2000)\n"
		"a-1 [001] ..... 5.000002: sys_pread64 -> 0xfffffffffffffff7\n"
		"a-1 [001] ..... 5.000003: sys_madvise(start: 0x7ffe0000, len_in: 0x60000, behavior: 0x14)\n");
	assert_int_equal(imported.job.report.nr_unread, 0);
	event = next_event(&imported);
	type = tape_reader_type(imported.reader, event->type);
	assert_string_equal(type->system, "syscalls");
	assert_string_equal(type->name, "sys_enter_pread64");
	assert_string_equal(type->field[2].name, "count");
	assert_int_equal(event->value[type->field[2].slot], 0x1000);
	assert_int_equal(event->value[type->field[3].slot], 0x2000);
	event = next_event(&imported);
	type = tape_reader_type(imported.reader, event->type);
	assert_string_equal(type->name, "sys_exit_pread64");
	assert_int_equal(event->value[type->field[0].slot], -9);
	event = next_event(&imported);
	assert_int_equal(event->kind, EVENT_SYS_ENTER_MADVISE);
	assert_int_equal(event->value[SYS_ENTER_MADVISE_START], 0x7ffe0000);
	assert_int_equal(event->value[SYS_ENTER_MADVISE_LEN], 0x60000);
	assert_int_equal(event->value[SYS_ENTER_MADVISE_BEHAVIOR], 20);
	imported_end(&imported);
}

static void tasks_are_listed_but_not_those_born_in_the_trace(void **state)
{
	struct imported imported;
	const struct tape_blob *blob;

	(void)state;
	import_text(
		&imported,
		"           <...>-9       (    8) [001] .....     5.000001: mm_vmscan_kswapd_sleep: nid=0\n"
		"     Web Content-9       (    8) [001] .....     5.000002: mm_vmscan_kswapd_sleep: nid=0\n"
		"              sh-3       [001] .....     5.000003: task_newtask: pid=5 comm=sh clone_flags=11 oom_score_adj=0\n"
		"              ls-5       [001] .....     5.000004: mm_vmscan_kswapd_sleep: nid=0\n"
		"          <idle>-0       [001] .....     5.000005: mm_vmscan_kswapd_sleep: nid=0\n");
	blob = tape_reader_find_blob(imported.reader, TAPE_MOMENT_START, "lrutape/tasks");
	assert_non_null(blob);
	assert_string_equal(blob->data, "3 0 0 sh\n9 8 0 Web Content\n");
	imported_end(&imported);
}

static void what_the_kernel_overwrote_is_told(void **state)
{
	struct imported imported;

	(void)state;
	import_text(&imported, "# entries-in-buffer/entries-written: 1/101   #P:2\n"
			       "a-1 [001] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=0\n");
	assert_true(has_note(&imported, "overwritten 100 of its 101 events"));
	assert_int_equal(imported.job.report.nr_cpus, 2);
	imported_end(&imported);
}

static void text_without_a_trace_line_is_no_trace(void **state)
{
	struct imported imported;

	(void)state;
	import_text(&imported, "Dear list,\nhere is my trace.\n");
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	assert_non_null(strstr(imported.job.problem.text, "none of its 2 lines is a trace line"));
	imported_end(&imported);
	import_text(&imported, "");
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	imported_end(&imported);
}

static void bytes_that_are_no_text_are_harmless(void **state)
{
	static const char bytes[] = "a-1 [001] ..... 5.000001: mm_vmscan_kswapd_sleep: nid=0\n"
				    "a-1 [001] ..... 5.0000\0 2: e: a=1\n\x1b[31m\xff\xfe\n";
	struct imported imported;

	(void)state;
	import_bytes(&imported, bytes, sizeof(bytes) - 1, 4096);
	assert_int_equal(imported.job.report.nr_events, 1);
	assert_int_equal(imported.job.report.nr_unread, 2);
	assert_false(has_note(&imported, "\x1b"));
	imported_end(&imported);
}

static void a_last_line_without_newline_is_told(void **state)
{
	struct imported imported;

	(void)state;
	import_text(&imported, "a-1 [001] ..... 5.000001: my_event: nid=0\n"
			       "a-1 [001] ..... 5.000002: my_event: nid=1");
	assert_int_equal(imported.job.report.nr_events, 2);
	assert_true(has_note(&imported, "may be cut"));
	imported_end(&imported);
	/* What was never seen whole is not believed. */
	import_text(&imported, "a-1 [001] ..... 5.000001: my_event: nid=0\n"
			       "a-1 [001] ..... 5.000002: my_event: nid=1 flags=0x");
	assert_int_equal(imported.job.report.nr_events, 1);
	assert_int_equal(imported.job.report.nr_unread, 1);
	imported_end(&imported);
}

/* A hostile text with a new event in each line must meet a limit, not the end of memory. */
static void endless_new_events_meet_a_limit(void **state)
{
	char *text = malloc(1 << 20);
	size_t size = 0;
	struct imported imported;

	(void)state;
	for (int i = 0; i < 5000; i++)
		size += (size_t)sprintf(text + size, "a-1 [0] 5.000001: e%d: x=1\n", i);
	import_bytes(&imported, text, size, 4096);
	assert_int_equal(imported.err, 0);
	assert_int_equal(imported.job.report.nr_lines, 5000);
	assert_int_equal(imported.job.report.nr_events + imported.job.report.nr_unread, 5000);
	assert_in_range(imported.job.report.nr_events, 2000, 3000);
	imported_end(&imported);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_with_flags),
		cmocka_unit_test(head_without_flags_column),
		cmocka_unit_test(head_with_tgid),
		cmocka_unit_test(head_with_four_flag_columns),
		cmocka_unit_test(head_with_migrate_disable),
		cmocka_unit_test(unknown_flag_columns_are_told),
		cmocka_unit_test(nanoseconds_are_kept),
		cmocka_unit_test(comm_with_blanks_dashes_and_brackets),
		cmocka_unit_test(comm_that_looks_like_a_head),
		cmocka_unit_test(leading_blanks_may_be_lost),
		cmocka_unit_test(losses_with_and_without_number),
		cmocka_unit_test(remarks),
		cmocka_unit_test(what_is_no_trace_line),
		cmocka_unit_test(system_calls_have_no_colon),
		cmocka_unit_test(lines_of_all_kinds),
		cmocka_unit_test(long_lines_are_cut_and_the_next_one_is_whole),
		cmocka_unit_test(packed_files_read_like_plain_ones),
		cmocka_unit_test(cut_and_damaged_files_fail_and_say_so),
		cmocka_unit_test(events_come_back_in_their_slots),
		cmocka_unit_test(fields_that_the_text_lacks_are_absent),
		cmocka_unit_test(page_size_changes_indexes),
		cmocka_unit_test(order_within_a_microsecond_is_that_of_the_lines),
		cmocka_unit_test(time_that_goes_back_is_refused_with_its_line),
		cmocka_unit_test(losses_are_on_the_tape),
		cmocka_unit_test(unread_lines_are_counted_by_event_with_the_first_one),
		cmocka_unit_test(another_kernels_text_is_taken_by_name),
		cmocka_unit_test(numbers_that_may_be_hexadecimal_are_told),
		cmocka_unit_test(system_calls_become_events),
		cmocka_unit_test(tasks_are_listed_but_not_those_born_in_the_trace),
		cmocka_unit_test(what_the_kernel_overwrote_is_told),
		cmocka_unit_test(text_without_a_trace_line_is_no_trace),
		cmocka_unit_test(bytes_that_are_no_text_are_harmless),
		cmocka_unit_test(a_last_line_without_newline_is_told),
		cmocka_unit_test(endless_new_events_meet_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
