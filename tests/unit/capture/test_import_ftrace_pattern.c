// SPDX-License-Identifier: GPL-2.0-only
/* Texts of events: one of each kind and release, and patterns made of a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/import_ftrace_line.h"
#include "capture/import_ftrace_pattern.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_of_events),
		cmocka_unit_test(every_event_with_fields_has_a_pattern),
		cmocka_unit_test(every_pattern_compiles_and_fills_all_slots_it_can),
		cmocka_unit_test(gfp_names_by_release),
		cmocka_unit_test(names_and_values_of_unknown_events),
		cmocka_unit_test(pointers_are_left_out),
		cmocka_unit_test(known_fields_keep_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
