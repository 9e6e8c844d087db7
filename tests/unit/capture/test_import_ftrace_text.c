// SPDX-License-Identifier: GPL-2.0-only
/* From trace text to the tape and back: heads of lines, texts of events, losses, order, damage. */
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

/* ---- Texts of events. */

/* Every written pattern of an event, in the table's order; fields as "name=value " where one fits. */
static const char *fields_of(const char *name, const char *text, unsigned int release)
{
	static char out[4096];
	const struct ftrace_pattern_source *source;
	struct ftrace_text_settings settings = { .page_shift = 12, .release = release };
	struct ftrace_text_doubts doubts = { 0 };

	for (size_t i = 0; (source = ftrace_pattern_source(i)); i++) {
		struct ftrace_pattern pattern;
		static struct ftrace_values values;
		size_t used = 0;
		bool fits;

		if (strcmp(source->name, name))
			continue;
		assert_true(ftrace_pattern_compile(source->text, &pattern));
		fits = ftrace_pattern_match(&pattern, &settings, text, strlen(text), &values,
					    &doubts);
		for (unsigned int c = 0; fits && c < pattern.nr_columns; c++) {
			const struct tape_field *column = &pattern.column[c];

			if (column->kind == TAPE_FIELD_LEFT_OUT)
				continue;
			if (column->kind == TAPE_FIELD_STRING)
				used += (size_t)snprintf(out + used, sizeof(out) - used, "%s=%s ",
							 column->name,
							 values.strings + (values.value[c] >> 32));
			else if (column->is_signed)
				used += (size_t)snprintf(out + used, sizeof(out) - used, "%s=%lld ",
							 column->name, (long long)values.value[c]);
			else
				used += (size_t)snprintf(out + used, sizeof(out) - used, "%s=%llu ",
							 column->name,
							 (unsigned long long)values.value[c]);
		}
		ftrace_pattern_free(&pattern);
		if (fits)
			return out;
	}
	return "does not fit";
}

static const struct {
	const char *name, *text, *fields;
} texts[] = {
	{ "mm_lru_insertion", "folio=000000003d44557a pfn=0x2e2493 lru=0 flags=Ma bd ",
	  "pfn=3024019 lru=0 flags=51 " },
	{ "mm_lru_insertion", "folio=000000003d44557a pfn=0x10 lru=2 flags= f    ",
	  "pfn=16 lru=2 flags=4 " },
	{ "mm_lru_insertion", "folio=000000003d44557a pfn=0x10 lru=2 flags= f",
	  "pfn=16 lru=2 flags=4 " },
	{ "mm_lru_insertion", "page=(____ptrval____) pfn=16 lru=3 flags=MasbdB",
	  "pfn=16 lru=3 flags=123 " },
	{ "mm_lru_insertion", "folio=1 pfn=0x10 lru=2 flags= f   x", "does not fit" },
	{ "mm_lru_insertion", "folio=1 pfn=0x10 lru=2 flags= f     B", "does not fit" },
	{ "mm_lru_insertion", "folio=1 pfn=0x10 lru=2 flags=M", "does not fit" },
	{ "mm_lru_activate", "folio=000000003d44557a pfn=0x10a2ab", "pfn=1090219 " },
	{ "mm_lru_activate", "page=ffffea0004288ac0 pfn=1090219", "pfn=1090219 " },
	{ "mm_filemap_add_to_page_cache", "dev 254:0 ino b3623c pfn=0x3077bb ofs=10121216 order=0",
	  "s_dev=266338304 i_ino=11756092 pfn=3176379 index=2471 order=0 " },
	{ "mm_filemap_add_to_page_cache", "dev 8:17 ino 1a page=00000000eead199c pfn=77 ofs=4096",
	  "s_dev=8388625 i_ino=26 pfn=77 index=1 " },
	{ "mm_filemap_add_to_page_cache", "dev 254:0 ino b3623c pfn=0x3077bb ofs=10121217 order=0",
	  "does not fit" }, /* no multiple of the page size */
	{ "mm_filemap_add_to_page_cache", "dev 254:0 ino b3623c pfn=0x3077bb ofs=0 order=256",
	  "does not fit" },
	{ "mm_filemap_delete_from_page_cache", "dev 254:0 ino 3c5c9 pfn=0x13d790 ofs=86016 order=9",
	  "s_dev=266338304 i_ino=247241 pfn=1300368 index=21 order=9 " },
	{ "mm_filemap_get_pages", "dev=254:0 ino=b3623c ofs=10121216-10125311",
	  "s_dev=266338304 i_ino=11756092 index=2471 last_index=2471 " },
	{ "mm_filemap_get_pages", "dev=254:0 ino=b3623c ofs=0-1048575",
	  "s_dev=266338304 i_ino=11756092 index=0 last_index=255 " },
	{ "mm_filemap_map_pages", "dev=254:0 ino=51423 ofs=856064-921599",
	  "s_dev=266338304 i_ino=332835 index=209 last_index=224 " },
	{ "mm_filemap_fault", "dev=254:0 ino=3c7e1 ofs=94208",
	  "s_dev=266338304 i_ino=247777 index=23 " },
	{ "mm_page_alloc",
	  "page=00000000f31d4143 pfn=0x127cca order=1 migratetype=2 "
	  "gfp_flags=__GFP_RECLAIMABLE|__GFP_IO|__GFP_FS|__GFP_NOWARN|__GFP_NORETRY|__GFP_COMP|__GFP_NOMEMALLOC",
	  "pfn=1211594 order=1 migratetype=2 gfp_flags=860368 " },
	{ "mm_page_alloc",
	  "page=(null) pfn=0x0 order=9 migratetype=1 gfp_flags=GFP_TRANSHUGE_LIGHT",
	  "pfn=18446744073709551615 order=9 migratetype=1 gfp_flags=1843402 " },
	{ "mm_page_free", "page=00000000edb06704 pfn=0x13d791 order=0", "pfn=1300369 order=0 " },
	{ "mm_page_free_batched", "page=00000000edb06704 pfn=0x13d791 order=0", "pfn=1300369 " },
	{ "mm_vmscan_memcg_reclaim_begin",
	  "order=0 gfp_flags=GFP_NOFS|__GFP_HIGHMEM|__GFP_MOVABLE|__GFP_NOWARN|__GFP_NORETRY|__GFP_HARDWALL",
	  "order=0 gfp_flags=1125450 " },
	{ "mm_vmscan_memcg_reclaim_begin", "order=0 gfp_flags=none", "order=0 gfp_flags=0 " },
	{ "mm_vmscan_memcg_reclaim_begin", "order=0 gfp_flags=GFP_KERNEL|0x4000000",
	  "order=0 gfp_flags=67112128 " },
	{ "mm_vmscan_memcg_reclaim_end", "nr_reclaimed=32", "nr_reclaimed=32 " },
	{ "mm_vmscan_direct_reclaim_begin", "order=3 gfp_flags=GFP_NOIO",
	  "order=3 gfp_flags=3072 " },
	{ "mm_vmscan_direct_reclaim_end", "nr_reclaimed=32", "nr_reclaimed=32 " },
	{ "mm_vmscan_memcg_softlimit_reclaim_begin", "order=3 gfp_flags=GFP_NOIO",
	  "order=3 gfp_flags=3072 " },
	{ "mm_vmscan_memcg_softlimit_reclaim_end", "nr_reclaimed=32", "nr_reclaimed=32 " },
	{ "mm_vmscan_node_reclaim_begin", "nid=0 order=3 gfp_flags=GFP_NOIO",
	  "nid=0 order=3 gfp_flags=3072 " },
	{ "mm_vmscan_node_reclaim_end", "nr_reclaimed=32", "nr_reclaimed=32 " },
	{ "mm_vmscan_lru_isolate",
	  "classzone=4 order=0 nr_requested=1 nr_scanned=1 nr_skipped=0 nr_taken=1 lru=inactive_file",
	  "highest_zoneidx=4 order=0 nr_requested=1 nr_scanned=1 nr_skipped=0 nr_taken=1 lru=2 " },
	{ "mm_vmscan_lru_isolate",
	  "isolate_mode=0 classzone=2 order=0 nr_requested=32 nr_scanned=32 nr_skipped=0 nr_taken=32 lru=active_anon",
	  "isolate_mode=0 highest_zoneidx=2 order=0 nr_requested=32 nr_scanned=32 nr_skipped=0 nr_taken=32 lru=1 " },
	{ "mm_vmscan_lru_shrink_inactive",
	  "nid=0 nr_scanned=32 nr_reclaimed=30 nr_dirty=1 nr_writeback=2 nr_congested=3 nr_immediate=4 "
	  "nr_activate_anon=5 nr_activate_file=6 nr_ref_keep=7 nr_unmap_fail=8 priority=12 "
	  "flags=RECLAIM_WB_FILE|RECLAIM_WB_ASYNC",
	  "nid=0 nr_scanned=32 nr_reclaimed=30 nr_dirty=1 nr_writeback=2 nr_congested=3 nr_immediate=4 "
	  "nr_activate0=5 nr_activate1=6 nr_ref_keep=7 nr_unmap_fail=8 priority=12 reclaim_flags=10 " },
	{ "mm_vmscan_lru_shrink_active",
	  "nid=0 nr_taken=1 nr_active=0 nr_deactivated=1 nr_referenced=0 priority=11 flags=RECLAIM_WB_ANON",
	  "nid=0 nr_taken=1 nr_active=0 nr_deactivated=1 nr_referenced=0 priority=11 reclaim_flags=1 " },
	{ "mm_vmscan_reclaim_pages",
	  "nid=0 nr_scanned=1 nr_reclaimed=1 nr_dirty=0 nr_writeback=0 nr_congested=0 nr_immediate=0 "
	  "nr_activate_anon=0 nr_activate_file=0 nr_ref_keep=0 nr_unmap_fail=0",
	  "nid=0 nr_scanned=1 nr_reclaimed=1 nr_dirty=0 nr_writeback=0 nr_congested=0 nr_immediate=0 "
	  "nr_activate0=0 nr_activate1=0 nr_ref_keep=0 nr_unmap_fail=0 " },
	{ "mm_vmscan_write_folio",
	  "page=00000000edb06704 pfn=0x13d791 flags=RECLAIM_WB_ANON|RECLAIM_WB_ASYNC",
	  "pfn=1300369 reclaim_flags=9 " },
	{ "mm_vmscan_writepage",
	  "page=00000000edb06704 pfn=5 flags=RECLAIM_WB_MIXED|RECLAIM_WB_SYNC",
	  "pfn=5 reclaim_flags=20 " },
	{ "mm_vmscan_kswapd_wake", "nid=0 order=9", "nid=0 order=9 " },
	{ "mm_vmscan_kswapd_wake", "nid=0 zid=2 order=9", "nid=0 zid=2 order=9 " },
	{ "mm_vmscan_kswapd_sleep", "nid=1", "nid=1 " },
	{ "mm_vmscan_throttled",
	  "nid=0 usec_timeout=100000 usect_delayed=0 reason=VMSCAN_THROTTLE_WRITEBACK",
	  "nid=0 usec_timeout=100000 usec_delayed=0 reason=1 " },
	{ "mm_shrink_slab_start",
	  "super_cache_scan+0x0/0x210 00000000e9e8fa5a: nid: 0 objects to shrink 1 gfp_flags GFP_HIGHUSER_MOVABLE "
	  "cache items 9 delta 2 total_scan 3 priority 12",
	  "shrinker=super_cache_scan+0x0/0x210 nid=0 nr_objects_to_shrink=1 gfp_flags=1051850 cache_items=9 "
	  "delta=2 total_scan=3 priority=12 " },
	{ "mm_shrink_slab_end",
	  "super_cache_scan+0x0/0x210 00000000e9e8fa5a: nid: 0 unused scan count 1 new scan count 2 total_scan 3 "
	  "last shrinker return val -1",
	  "shrinker=super_cache_scan+0x0/0x210 nid=0 unused_scan=1 new_scan=2 total_scan=3 retval=-1 " },
	{ "memcg_flush_stats", "memcg_id=1 stats_updates=129 force=1 needs_flush=0",
	  "id=1 stats_updates=129 force=1 needs_flush=0 " },
	{ "cgroup_rstat_locked", "root=0 id=1 level=0 cpu=-1 lock contended:0",
	  "root=0 id=1 level=0 cpu=-1 contended=0 " },
	{ "mod_memcg_lruvec_state", "memcg_id=3929 item=2 val=-256", "id=3929 item=2 val=-256 " },
	{ "mod_memcg_state", "memcg_id=3929 item=55 val=1", "id=3929 item=55 val=1 " },
	{ "count_memcg_events", "memcg_id=3566 item=0 val=1", "id=3566 item=0 val=1 " },
	{ "cgroup_attach_task",
	  "dst_root=4 dst_id=3929 dst_level=1 dst_path=/a pid=7 pid=26750 comm=x comm=sh",
	  "dst_root=4 dst_id=3929 dst_level=1 dst_path=/a pid=7 pid=26750 comm=x comm=sh " },
	{ "cgroup_mkdir", "root=4 id=3929 level=1 path=/my group",
	  "root=4 id=3929 level=1 path=/my group " },
	{ "cgroup_rmdir", "root=0 id=3929 level=1 path=/", "root=0 id=3929 level=1 path=/ " },
	{ "cgroup_release", "root=0 id=3929 level=1 path=/", "root=0 id=3929 level=1 path=/ " },
	{ "sched_process_fork", "comm=bash pid=26747 child_comm=a pid=1 b child_pid=26749",
	  "parent_comm=bash parent_pid=26747 child_comm=a pid=1 b child_pid=26749 " },
	{ "sched_process_exit", "comm=mkdir pid=26749 prio=120 group_dead=true",
	  "comm=mkdir pid=26749 prio=120 group_dead=1 " },
	{ "sched_process_exit", "comm=mkdir pid=26749 prio=120", "comm=mkdir pid=26749 prio=120 " },
	{ "sched_process_exec", "filename=/usr/bin/my dir pid=26749 old_pid=26749",
	  "filename=/usr/bin/my dir pid=26749 old_pid=26749 " },
	{ "task_newtask", "pid=26749 comm=bash clone_flags=1200000 oom_score_adj=-17",
	  "pid=26749 comm=bash clone_flags=18874368 oom_score_adj=-17 " },
	{ "writeback_dirty_folio", "bdi 254:0: ino=266338304 index=983134",
	  "name=254:0 ino=266338304 index=983134 " },
	{ "writeback_dirty_page", "bdi btrfs-1: ino=5 index=6", "name=btrfs-1 ino=5 index=6 " },
	{ "ext4_evict_inode", "dev 254,0 ino 11060050 nlink 0",
	  "dev=266338304 ino=11060050 nlink=0 " },
	{ "ext4_writepages",
	  "dev 254,0 ino 1059686 nr_to_write 1024 pages_skipped 0 range_start 0 range_end 9223372036854775807 "
	  "sync_mode 0 for_kupdate 0 range_cyclic 1 writeback_index 49152",
	  "dev=266338304 ino=1059686 nr_to_write=1024 pages_skipped=0 range_start=0 "
	  "range_end=9223372036854775807 sync_mode=0 for_kupdate=0 range_cyclic=1 writeback_index=49152 " },
	{ "ext4_writepages_result",
	  "dev 254,0 ino 1059686 ret 0 pages_written 63 pages_skipped 0 sync_mode 0 writeback_index 63",
	  "dev=266338304 ino=1059686 ret=0 pages_written=63 pages_skipped=0 sync_mode=0 writeback_index=63 " },
	{ "xfs_destroy_inode", "dev 254:0 ino 0x83 iflags 0x4", "dev=266338304 ino=131 iflags=4 " },
	{ "page_cache_sync_ra",
	  "dev=254:0 ino=3c5c9 index=0 req_count=1 order=0 size=0 async_size=0 ra_pages=2048 mmap_miss=0 prev_pos=-1",
	  "s_dev=266338304 i_ino=247241 index=0 req_count=1 order=0 size=0 async_size=0 ra_pages=2048 mmap_miss=0 "
	  "prev_pos=-1 " },
	{ "page_cache_async_ra",
	  "dev=254:0 ino=3c5c9 index=1 req_count=2 order=0 size=4 async_size=3 ra_pages=32 mmap_miss=0 prev_pos=820",
	  "s_dev=266338304 i_ino=247241 index=1 req_count=2 order=0 size=4 async_size=3 ra_pages=32 mmap_miss=0 "
	  "prev_pos=820 " },
	{ "page_cache_ra_order",
	  "dev=254:0 ino=3c5c9 index=0 order=0 size=4 async_size=3 ra_pages=2048",
	  "s_dev=266338304 i_ino=247241 index=0 order=0 size=4 async_size=3 ra_pages=2048 " },
	{ "page_cache_ra_unbounded", "dev=254:0 ino=3c5c9 index=0 nr_to_read=22 lookahead_size=512",
	  "s_dev=266338304 i_ino=247241 index=0 nr_to_read=22 lookahead_size=512 " },
	{ "mark_victim", "pid=12", "pid=12 " },
	{ "mark_victim",
	  "pid=12 comm=a total-vm=1kB anon-rss=2kB file-rss:3kB shmem-rss:4kB uid=0 pgtables=5kB oom_score_adj=-6",
	  "pid=12 comm=a total_vm=1 anon_rss=2 file_rss=3 shmem_rss=4 uid=0 pgtables=5 oom_score_adj=-6 " },
	{ "mm_migrate_pages",
	  "nr_succeeded=1 nr_failed=2 nr_thp_succeeded=0 nr_thp_failed=0 nr_thp_split=0 nr_split=0 "
	  "mode=MIGRATE_SYNC reason=compaction",
	  "succeeded=1 failed=2 thp_succeeded=0 thp_failed=0 thp_split=0 large_folio_split=0 mode=2 "
	  "reason_name=compaction " },
	{ "mm_migrate_pages", "nr_succeeded=1 nr_failed=2 mode=MIGRATE_ASYNC reason=compaction",
	  "succeeded=1 failed=2 mode=0 reason_name=compaction " },
	{ "page_fault_user", "address=0x7f20a4e21000 ip=0x5641d1a0e3f8 error_code=0x7",
	  "address=139778181959680 ip=94840689845240 error_code=7 " },
	{ "block_bio_queue", "254,0 W 95903168 + 8 [mapped_touch]",
	  "dev=266338304 rwbs=W sector=95903168 nr_sector=8 comm=mapped_touch " },
	{ "block_rq_complete", "254,0 WS () 95903136 + 32 be,0,4 [0]",
	  "dev=266338304 rwbs=WS cmd= sector=95903136 nr_sector=32 ioprio_class=be,0,4 error=0 " },
	{ "block_rq_complete", "254,0 R () 95903136 + 32 [0]",
	  "dev=266338304 rwbs=R cmd= sector=95903136 nr_sector=32 error=0 " },
};

static void texts_of_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_string_equal(fields_of(texts[i].name, texts[i].text, 0), texts[i].fields);
}

static void every_event_with_fields_has_a_pattern(void **state)
{
	(void)state;
	for (int kind = 1; kind < EVENT_LOST; kind++) {
		const struct event_info *info = event_info_by_kind((enum event_kind)kind);
		const struct ftrace_pattern_source *source = NULL;
		bool found = false;

		/* Markers are printed as text under another name, tracing_mark_write. */
		if (!info || !strcmp(info->system, "lrutape") || !strcmp(info->system, "ftrace"))
			continue;
		for (size_t i = 0; !found && (source = ftrace_pattern_source(i)); i++) {
			const struct event_info *of = event_info_by_name(source->system,
									 source->name);

			found = of && of->kind == info->kind;
		}
		if (!found)
			fail_msg("no pattern for %s", info->name);
	}
}

/* What is spelt in the table as a field of events.def must be one, or it would land beside its slot. */
static void every_pattern_compiles_and_fills_all_slots_it_can(void **state)
{
	const struct ftrace_pattern_source *source;

	(void)state;
	for (size_t i = 0; (source = ftrace_pattern_source(i)); i++) {
		struct ftrace_pattern pattern;

		if (!ftrace_pattern_compile(source->text, &pattern))
			fail_msg("%s: %s", source->name, source->text);
		for (unsigned int c = 0; c < pattern.nr_columns; c++) {
			for (unsigned int d = 0; d < c; d++)
				assert_string_not_equal(pattern.column[c].name,
							pattern.column[d].name);
			assert_int_equal(pattern.column[c].offset % pattern.column[c].size, 0);
		}
		ftrace_pattern_free(&pattern);
	}
}

static void gfp_names_by_release(void **state)
{
	(void)state;
	assert_string_equal(fields_of("mm_vmscan_direct_reclaim_begin",
				      "order=0 gfp_flags=GFP_ATOMIC", 6 << 16 | 1),
			    "order=0 gfp_flags=2592 "); /* 0xa20 */
	assert_string_equal(fields_of("mm_vmscan_direct_reclaim_begin",
				      "order=0 gfp_flags=GFP_ATOMIC", 6 << 16 | 18),
			    "order=0 gfp_flags=2080 "); /* 0x820 */
	assert_string_equal(fields_of("mm_vmscan_direct_reclaim_begin",
				      "order=0 gfp_flags=GFP_NOWAIT", 6 << 16 | 6),
			    "order=0 gfp_flags=2048 ");
	assert_string_equal(fields_of("mm_vmscan_direct_reclaim_begin",
				      "order=0 gfp_flags=GFP_NOWAIT", 6 << 16 | 18),
			    "order=0 gfp_flags=10240 ");
	/* Of releases before 5.0 only bits 0 to 7 are told. */
	assert_string_equal(fields_of("mm_vmscan_direct_reclaim_begin",
				      "order=0 gfp_flags=GFP_HIGHUSER_MOVABLE|__GFP_ZERO",
				      4 << 16 | 9),
			    "order=0 gfp_flags=202 ");
}

/* ---- Patterns made of a line. */

static const char *made_of(const char *text, enum event_kind kind)
{
	static char out[4096];
	struct ftrace_pattern pattern;
	struct ftrace_text_settings settings = { .page_shift = 12 };
	struct ftrace_text_doubts doubts = { 0 };
	static struct ftrace_values values;
	size_t used = 0;

	out[0] = '\0';
	assert_true(ftrace_pattern_make(text, strlen(text), kind, true, &pattern));
	assert_true(
		ftrace_pattern_match(&pattern, &settings, text, strlen(text), &values, &doubts));
	for (unsigned int c = 0; c < pattern.nr_columns; c++) {
		const struct tape_field *column = &pattern.column[c];

		if (column->kind == TAPE_FIELD_LEFT_OUT)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s:- ",
						 column->name);
		else if (column->kind == TAPE_FIELD_STRING)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s:'%s' ",
						 column->name,
						 values.strings + (values.value[c] >> 32));
		else
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s:%lld ",
						 column->name, (long long)values.value[c]);
	}
	ftrace_pattern_free(&pattern);
	return out;
}

static void names_and_values_of_unknown_events(void **state)
{
	(void)state;
	assert_string_equal(made_of("prev_comm=a b prev_pid=3 prev_state=S ==> next_comm=c",
				    EVENT_OTHER),
			    "prev_comm:'a b' prev_pid:3 prev_state:'S ==>' next_comm:'c' ");
	assert_string_equal(made_of("a=1, b=0x1f,c=-2 d=", EVENT_OTHER), "a:1 b:31 c:-2 d:'' ");
	assert_string_equal(made_of("bdi 254:0: ino=5 size=16384B", EVENT_OTHER),
			    "text:'bdi 254:0:' ino:5 size:'16384B' ");
	assert_string_equal(made_of("hello world", EVENT_OTHER), "text:'hello world' ");
	assert_string_equal(made_of("", EVENT_OTHER), "");
	assert_string_equal(made_of("cpu=1 cpu=2 text=3", EVENT_OTHER),
			    "cpu:1 cpu_2:2 text_value:3 ");
	assert_string_equal(made_of("comm=abc     pid=7   x=8", EVENT_OTHER),
			    "comm:'abc' pid:7 x:8 ");
}

static void pointers_are_left_out(void **state)
{
	(void)state;
	assert_string_equal(made_of("page=00000000edb06704 x=1", EVENT_OTHER), "page:- x:1 ");
	assert_string_equal(made_of("page=0xffffea0004288ac0 q=(null)", EVENT_OTHER),
			    "page:- q:- ");
}

/* A slot of events.def that holds a number must never read as a place in the strings. */
static void known_fields_keep_their_kind(void **state)
{
	(void)state;
	assert_string_equal(made_of("pfn=0x10 lru=5 flags=active|x", EVENT_MM_LRU_INSERTION),
			    "pfn:16 lru:5 flags_text:'active|x' ");
	assert_string_equal(made_of("path=123 id=7 more=1", EVENT_CGROUP_MKDIR),
			    "path:'123' id:7 more:1 ");
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
		cmocka_unit_test(texts_of_events),
		cmocka_unit_test(every_event_with_fields_has_a_pattern),
		cmocka_unit_test(every_pattern_compiles_and_fills_all_slots_it_can),
		cmocka_unit_test(gfp_names_by_release),
		cmocka_unit_test(names_and_values_of_unknown_events),
		cmocka_unit_test(pointers_are_left_out),
		cmocka_unit_test(known_fields_keep_their_kind),
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
