// SPDX-License-Identifier: GPL-2.0-only
#include "replay/world/world.h"

#include "tests/unit/made_tape.h"

static struct made_tape tape;
static struct world world;
static bool world_open;

static int begin(void **state)
{
	(void)state;
	made_tape_begin(&tape, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	if (world_open)
		world_exit(&world);
	world_open = false;
	made_tape_end(&tape);
	return 0;
}

static void start(const char *name, const char *text)
{
	made_blob(&tape, TAPE_MOMENT_START, name, text);
}

/* The world as the snapshots tell it, or the reader's error. */
static void open_world(void)
{
	assert_int_equal(world_init(&world, made_tape_read(&tape)), 0);
	world_open = true;
}

/* The same, and then all events. */
static void play(void)
{
	const struct tape_event *event;
	int ret;

	open_world();
	while ((ret = tape_reader_next(tape.reader, &event)) > 0) {
		world_event(&world, event);
		world_event_done(&world, event,
				 event->kind == EVENT_MM_FILEMAP_GET_PAGES ?
					 event->value[MM_FILEMAP_GET_PAGES_LAST_INDEX] :
					 0);
	}
	assert_int_equal(ret, 0);
}

static const char *memcg_of(int32_t pid)
{
	return world.memcg[world_task(&world, pid)->memcg].path;
}

static const struct world_memcg *memcg_at(const char *path)
{
	for (uint32_t n = 0; n < world.nr_memcgs; n++)
		if (!strcmp(world.memcg[n].path, path))
			return &world.memcg[n];
	fail_msg("no memcg %s", path);
	return NULL;
}

/* ---- tasks and memcgs */

static void tasks_start_where_the_snapshot_says(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	open_world();
	assert_string_equal(memcg_of(10), "/g");
	assert_string_equal(memcg_of(11), "/g");
	assert_string_equal(memcg_of(20), "/");
	assert_string_equal(memcg_of(4711), "/"); /* never heard of */
	assert_string_equal(world_task(&world, 10)->comm, "reader");
	assert_false(world.memcg_inferred);
}

static void child_starts_in_the_memcg_of_its_parent(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	made_event_text(&tape, 0, 10, SCHED_PROCESS_FORK, "worker", 10, 12, 0);
	made_event_text(&tape, 0, 12, SCHED_PROCESS_FORK, "deeper", 12, 13, 0);
	made_event_text(&tape, 0, 20, SCHED_PROCESS_FORK, "outside", 20, 21, 0);
	play();
	assert_string_equal(memcg_of(12), "/g");
	assert_string_equal(memcg_of(13), "/g");
	assert_string_equal(memcg_of(21), "/");
	assert_string_equal(world_task(&world, 13)->comm, "deeper");
}

static void attached_task_changes_its_memcg_and_its_children_follow(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	made_event_text(&tape, 0, 20, CGROUP_ATTACH_TASK, "/g", 0, 100, 1, 20, 0, 0);
	made_event_text(&tape, 0, 20, SCHED_PROCESS_FORK, "child", 20, 21, 0);
	made_event_text(&tape, 0, 10, CGROUP_ATTACH_TASK, "/", 0, 1, 0, 10, 0, 0);
	play();
	assert_string_equal(memcg_of(20), "/g");
	assert_string_equal(memcg_of(21), "/g");
	assert_string_equal(memcg_of(10), "/");
	assert_string_equal(memcg_of(11), "/g");
}

/* Memory is hierarchy 4 of v1 here: what happens in the others is not about memory. */
static void events_of_other_hierarchies_are_left_out(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	start("/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"
			       "cpu\t3\t10\t1\nmemory\t4\t12\t1\nmemory_x\t9\t1\t1\n");
	made_event_text(&tape, 0, 20, CGROUP_ATTACH_TASK, "/g", 3, 100, 1, 20, 0, 0);
	made_event_text(&tape, 0, 10, CGROUP_ATTACH_TASK, "/", 0, 1, 0, 10, 0, 0);
	made_event_text(&tape, 0, 20, CGROUP_MKDIR, "/other", 3, 1, 200, 0);
	made_event_text(&tape, 0, 20, CGROUP_RMDIR, "/g", 3, 1, 100, 0);
	made_event_text(&tape, 0, 11, CGROUP_ATTACH_TASK, "/new", 4, 300, 1, 11, 0, 0);
	play();
	assert_true(world.cgroup_v1);
	assert_int_equal(world.memory_hierarchy, 4);
	assert_string_equal(memcg_of(20), "/");
	assert_string_equal(memcg_of(10), "/g");
	assert_string_equal(memcg_of(11), "/new");
	assert_int_equal(world_memcg_by_id(&world, 200), WORLD_ROOT);
	assert_false(memcg_at("/g")->gone);
}

static void v2_is_hierarchy_0(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	start("/proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t12\t1\n");
	made_event_text(&tape, 0, 20, CGROUP_MKDIR, "/new", 0, 1, 200, 0);
	play();
	assert_false(world.cgroup_v1);
	assert_int_equal(world_memcg_by_id(&world, 200), world.nr_memcgs - 1);
}

/*   / - g - deep - deeper        parents are found by path, in whatever order the lines come
 *     \ g2                                                                                    */
static void memcgs_have_the_parents_that_their_paths_say(void **state)
{
	(void)state;
	start("lrutape/cgroups", "103 /g/deep/deeper\n101 /g2\n102 /g/deep\n100 /g\n1 /\n");
	start("lrutape/tasks", "10 10 103 a\n");
	open_world();
	assert_ptr_equal(&world.memcg[memcg_at("/g/deep/deeper")->parent], memcg_at("/g/deep"));
	assert_ptr_equal(&world.memcg[memcg_at("/g/deep")->parent], memcg_at("/g"));
	assert_int_equal(memcg_at("/g")->parent, WORLD_ROOT);
	assert_int_equal(memcg_at("/g2")->parent, WORLD_ROOT);
	for (uint32_t n = 1; n < world.nr_memcgs; n++)
		assert_true(world.memcg[n].parent < n);
	assert_int_equal(world.memcg[WORLD_ROOT].id, 1);
}

static void inode_of_a_removed_memcg_may_come_again(void **state)
{
	uint32_t first;

	(void)state;
	made_machine(&tape, 100);
	made_event_text(&tape, 0, 20, CGROUP_RMDIR, "/g", 0, 1, GROUP_ID, 0);
	made_event_text(&tape, 0, 20, CGROUP_MKDIR, "/g", 0, 1, GROUP_ID, 0);
	made_event_text(&tape, 0, 20, CGROUP_ATTACH_TASK, "/g", 0, GROUP_ID, 1, 20, 0, 0);
	open_world();
	first = world_memcg_by_id(&world, GROUP_ID);
	world_exit(&world);
	assert_int_equal(tape_reader_rewind(tape.reader), 0);
	assert_int_equal(world_init(&world, tape.reader), 0);
	for (const struct tape_event *event; tape_reader_next(tape.reader, &event) > 0;)
		world_event(&world, event);
	assert_true(world.memcg[first].gone);
	assert_int_not_equal(world_memcg_by_id(&world, GROUP_ID), first);
	assert_int_equal(world_task(&world, 20)->memcg, world_memcg_by_id(&world, GROUP_ID));
	assert_int_equal(world_task(&world, 10)->memcg, first); /* never moved */
}

static void kdamond_is_known_by_its_name(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	made_event_text(&tape, 0, 2, SCHED_PROCESS_FORK, "kdamond.1", 2, 31, 0);
	play();
	assert_true(world_task_is_kdamond(world_task(&world, 30)));
	assert_true(world_task_is_kdamond(world_task(&world, 31)));
	assert_false(world_task_is_kdamond(world_task(&world, 10)));
}

/* A tape without snapshots: who reclaimed for a limit was in the one limited group. */
static void tasks_that_reclaimed_are_one_group_where_no_snapshot_says(void **state)
{
	(void)state;
	made_event(&tape, 0, 50, MM_FILEMAP_ADD_TO_PAGE_CACHE, 1, 2, 3, 4, 0);
	made_event(&tape, 0, 51, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, 51, MM_VMSCAN_MEMCG_RECLAIM_END, 32);
	made_event(&tape, 0, 51, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, 52, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	made_event_text(&tape, 0, 51, SCHED_PROCESS_FORK, "child", 51, 53, 0);
	start("lrutape/facts", "memory_limit=409600\nanon_pages=2530\n");
	play();
	assert_true(world.memcg_inferred);
	assert_int_equal(world_task(&world, 51)->memcg, world.command_memcg);
	assert_int_not_equal(world.command_memcg, WORLD_ROOT);
	assert_int_equal(world_task(&world, 50)->memcg, WORLD_ROOT);
	assert_int_equal(world_task(&world, 52)->memcg, WORLD_ROOT);
	assert_int_equal(world_task(&world, 53)->memcg, world.command_memcg);
	assert_int_equal(world.inferred[INFER_task_in_reclaim_bracket], 1);
	assert_int_equal(world.memcg[world.command_memcg].limit_pages, 100);
}

/* ---- snapshots and facts */

static void machine_is_read_from_the_snapshot_at_the_start(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	start("/proc/sys/vm/swappiness", "10\n");
	start("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n"
			     "/swapfile file 1024 24 -2\n/dev/zram0 partition 40 0 5\n");
	made_blob(&tape, TAPE_MOMENT_END, "/proc/sys/vm/swappiness", "99\n");
	made_activation(&tape, 3, 10, 1);
	open_world();
	assert_string_equal(world.release, "6.18.44");
	assert_int_equal(world.swappiness, 10);
	assert_int_equal(world.total_swap_pages, 266);
	assert_int_equal(world.nr_swap_pages, 260);
	assert_int_equal(world.nr_cpus, 4);
}

static void tape_that_says_nothing_gets_the_kernels_presets(void **state)
{
	(void)state;
	open_world();
	assert_string_equal(world.release, "");
	assert_int_equal(world.swappiness, 60);
	assert_int_equal(world.total_swap_pages, 0);
	assert_int_equal(world.nr_cpus, 1);
	assert_int_equal(world.nr_memcgs, 1);
	assert_int_equal(world.limited_memcg, WORLD_ROOT);
}

static void limits_come_from_either_version_of_the_controller(void **state)
{
	(void)state;
	start("lrutape/cgroups", "100 /one\n101 /two\n102 /three\n103 /four\n");
	start("lrutape/tasks", "10 10 100 a\n");
	start("/sys/fs/cgroup/memory/one/memory.limit_in_bytes", "67108864\n");
	start("/sys/fs/cgroup/two/memory.max", "max\n");
	start("/sys/fs/cgroup/three/memory.max", "8192\n");
	start("/sys/fs/cgroup/memory/four/memory.limit_in_bytes", "9223372036854771712\n");
	start("/sys/fs/cgroup/memory/one/memory.swappiness", "0\n");
	start("/sys/fs/cgroup/memory/one/memory.memsw.limit_in_bytes", "100663296\n");
	start("/sys/fs/cgroup/two/memory.swap.max", "0\n");
	start("/sys/fs/cgroup/three/memory.swap.max", "max\n");
	start("/sys/fs/cgroup/three/memory.swap.current", "40960\n");
	open_world();
	assert_int_equal(memcg_at("/one")->memsw_limit_pages, 24576);
	assert_int_equal(memcg_at("/two")->swap_limit_pages, 0);
	assert_int_equal(memcg_at("/three")->swap_limit_pages, INT64_MAX);
	assert_int_equal(memcg_at("/three")->swapped_pages, 10);
	assert_int_equal(memcg_at("/one")->limit_pages, 16384);
	assert_int_equal(memcg_at("/two")->limit_pages, INT64_MAX);
	assert_int_equal(memcg_at("/three")->limit_pages, 2);
	assert_int_equal(memcg_at("/four")->limit_pages, INT64_MAX);
	assert_int_equal(memcg_at("/one")->swappiness, 0);
	assert_int_equal(memcg_at("/two")->swappiness, -1);
	assert_ptr_equal(&world.memcg[world.limited_memcg], memcg_at("/one"));
}

static void limit_of_the_recorded_command_goes_first(void **state)
{
	(void)state;
	start("/sys/fs/cgroup/memory/aaa/memory.limit_in_bytes", "4096\n");
	start("lrutape/cgroups", "99 /aaa\n100 /g\n");
	made_machine(&tape, 50);
	open_world();
	assert_ptr_equal(&world.memcg[world.command_memcg], memcg_at("/g"));
	assert_int_equal(world.limited_memcg, world.command_memcg);
	assert_int_equal(memcg_at("/g")->limit_pages, 50);
}

static const char stat_g[] = "cache 1\ninactive_anon 40960\nactive_anon 8192\n"
			     "inactive_file 409600\nactive_file 4096\nunevictable 0\n"
			     "total_inactive_file 999999999\n";
static const char stat_deep[] = "inactive_anon 4096\nactive_anon 8192\ninactive_file 204800\n"
				"active_file 0\nunevictable 0\n";
static const char vmstat[] = "nr_free_pages 5\nnr_inactive_anon 110\nnr_active_anon 2\n"
			     "nr_inactive_file 1000\nnr_active_file 1\nnr_unevictable 7\n";

/* v1's memory.stat counts the memcg alone; the root's /proc/vmstat counts everybody. */
static void v1_figures_are_each_memcgs_own(void **state)
{
	(void)state;
	start("lrutape/cgroups", "100 /g\n101 /g/deep\n");
	start("lrutape/tasks", "10 10 100 a\n");
	start("/proc/cgroups", "memory 4 2 1\n");
	start("/proc/vmstat", vmstat);
	start("/sys/fs/cgroup/memory/g/memory.stat", stat_g);
	start("/sys/fs/cgroup/memory/g/deep/memory.stat", stat_deep);
	open_world();
	assert_int_equal(memcg_at("/g")->unseen[0], 10);
	assert_int_equal(memcg_at("/g")->unseen[2], 100);
	assert_int_equal(memcg_at("/g/deep")->unseen[2], 50);
	assert_int_equal(memcg_at("/")->unseen[0], 110 - 10 - 1);
	assert_int_equal(memcg_at("/")->unseen[1],
			 0); /* 2 - 2 - 2: stale figures do not go below */
	assert_int_equal(memcg_at("/")->unseen[2], 1000 - 100 - 50);
	assert_int_equal(memcg_at("/")->unseen[4], 7);
}

static void v2_figures_are_of_subtrees(void **state)
{
	(void)state;
	start("lrutape/cgroups", "100 /g\n101 /g/deep\n");
	start("lrutape/tasks", "10 10 100 a\n");
	start("/proc/cgroups", "memory 0 2 1\n");
	start("/proc/vmstat", vmstat);
	start("/sys/fs/cgroup/g/memory.stat", stat_g);
	start("/sys/fs/cgroup/g/deep/memory.stat", stat_deep);
	open_world();
	assert_int_equal(memcg_at("/g")->unseen[2], 50);
	assert_int_equal(memcg_at("/g/deep")->unseen[2], 50);
	assert_int_equal(memcg_at("/")->unseen[2], 900);
}

/* 100 pages charged at the end, 40 of them on file lists: 60 are slab, page tables and anon. */
static void what_was_charged_and_is_on_no_list_is_overhead(void **state)
{
	(void)state;
	start("lrutape/cgroups", "100 /g\n");
	start("lrutape/tasks", "10 10 100 a\n");
	start("/proc/cgroups", "memory 4 2 1\n");
	start("/cg/g/memory.stat", "inactive_file 0\n");
	made_blob(&tape, TAPE_MOMENT_END, "/cg/g/memory.usage_in_bytes", "409600\n");
	made_blob(&tape, TAPE_MOMENT_END, "/cg/g/memory.stat",
		  "inactive_anon 81920\ninactive_file 122880\nactive_file 40960\n");
	open_world();
	assert_int_equal(memcg_at("/g")->overhead_pages, 60);
}

static void anon_pages_are_no_overhead_where_their_frees_are_on_the_tape(void **state)
{
	(void)state;
	start("lrutape/cgroups", "100 /g\n");
	start("lrutape/tasks", "10 10 100 a\n");
	start("/proc/cgroups", "memory 0 2 1\n");
	start("/cg/g/memory.stat", "inactive_file 0\n");
	made_blob(&tape, TAPE_MOMENT_END, "/cg/g/memory.current", "409600\n");
	made_blob(&tape, TAPE_MOMENT_END, "/cg/g/memory.stat",
		  "inactive_anon 81920\ninactive_file 122880\nactive_file 40960\n");
	made_event(&tape, 0, 10, MM_PAGE_FREE, 1, 0);
	open_world();
	assert_true(world.single_frees);
	assert_int_equal(memcg_at("/g")->overhead_pages, 40);
}

static void frees_behind_a_filter_are_not_all_frees(void **state)
{
	(void)state;
	made_type(&tape, EVENT_MM_PAGE_FREE, "order > 0", NULL);
	made_machine(&tape, 100);
	open_world();
	assert_false(world.single_frees);
}

/* import --assume: what the source did not hold. */
static void facts_of_the_user_stand_over_the_snapshots(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	start("/proc/sys/vm/swappiness", "60\n");
	start("lrutape/facts", "cold_start=1\nmemory_limit=819200\nanon_pages=2530\n"
			       "swappiness=7\ntotal_swap_pages=65536\n");
	open_world();
	assert_int_equal(memcg_at("/g")->limit_pages, 200);
	assert_int_equal(memcg_at("/g")->unseen[0], 2530);
	assert_int_equal(memcg_at("/g")->swappiness, 7);
	assert_int_equal(world.total_swap_pages, 65536);
	assert_int_equal(world.nr_swap_pages, 65536);
	assert_true(world.anon_pages_given);
}

/* Anon pages count in a file refault with swap only; without a word they are not scanned. */
static void told_anon_pages_mean_swap_and_no_scan_of_anon(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	start("lrutape/facts", "anon_pages=5\n");
	open_world();
	assert_true(world.nr_swap_pages > 0);
	assert_int_equal(memcg_at("/g")->swappiness, 0);
}

static void figures_beyond_any_machine_are_cut(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	start("/proc/vmstat", "nr_inactive_anon 9223372036854775807\n"
			      "nr_active_anon 9223372036854775807\n"
			      "nr_inactive_file 99999999999999999999999\n");
	start("/proc/swaps", "Filename\n/a file 9223372036854775807 0 1\n"
			     "/b file 9223372036854775807 0 1\n/c file 9223372036854775807 0 1\n"
			     "/d file 9223372036854775807 0 1\n/e file 9223372036854775807 0 1\n");
	start("lrutape/facts", "anon_pages=9223372036854775807\n");
	open_world();
	for (int i = 0; i < WORLD_LIST_STATS; i++)
		assert_true(world.memcg[WORLD_ROOT].unseen[i] <= INT64_C(1) << 50);
	assert_true(memcg_at("/g")->unseen[0] <= INT64_C(1) << 50);
	assert_true(world.total_swap_pages >= 0);
}

static void broken_lines_of_snapshots_are_passed_over(void **state)
{
	(void)state;
	start("lrutape/cgroups", "\n\nx /y\n100 /g\n101 ");
	start("lrutape/tasks",
	      "ten 10 100 a\n\n10 10 100 with space in it, and long\n11\n12 12 100");
	start("lrutape/memcg", "what");
	start("/proc/swaps", "");
	start("/proc/cgroups", "memory");
	start("/proc/self/mountinfo", "x\n1 2 3\n4 5 254:0 / /\n");
	start("/sys/fs/cgroup/g/memory.max", "");
	start("/memory.stat", "inactive_file 4096\n");
	open_world();
	assert_string_equal(memcg_of(10), "/g");
	assert_string_equal(memcg_of(12), "/g");
	assert_int_equal(memcg_at("/g")->limit_pages, INT64_MAX);
	assert_int_equal(world.nr_mounted, 1);
}

/* ---- files and readers */

static void file_is_device_and_inode(void **state)
{
	uint32_t a, b;

	(void)state;
	open_world();
	a = world_file(&world, MADE_DEV, 7);
	b = world_file(&world, MADE_DEV, 8);
	assert_int_not_equal(a, 0);
	assert_int_not_equal(a, b);
	assert_int_not_equal(world_file(&world, MADE_DEV + 1, 7), a);
	assert_int_equal(world_file(&world, MADE_DEV, 7), a);
}

/* 0:3 is mounted nowhere: the file system of block devices, whose pages are metadata. */
static void metadata_is_known_by_the_device_that_is_not_mounted(void **state)
{
	(void)state;
	start("/proc/self/mountinfo",
	      "22 1 254:0 / / rw - ext4 /dev/vda rw\n23 22 0:20 / /tmp rw\n");
	open_world();
	assert_true(world.file[world_file(&world, 3, 0xfe00000)].block_device);
	assert_false(world.file[world_file(&world, 20, 1)].block_device);
	assert_false(world.file[world_file(&world, 254 << 20, 1)].block_device);
	assert_false(world.file[world_file(&world, 253 << 20, 1)].block_device);
}

static void without_mounts_no_file_is_metadata(void **state)
{
	(void)state;
	open_world();
	assert_false(world.file[world_file(&world, 3, 0xfe00000)].block_device);
}

static void read_ends_where_the_last_one_of_that_task_and_file_did(void **state)
{
	uint32_t file;

	(void)state;
	made_machine(&tape, 100);
	made_read(&tape, 0, 10, 0, 5);
	made_read(&tape, 0, 10, 6, 9);
	made_read(&tape, 0, 11, 3, 3);
	play();
	file = world_file(&world, MADE_DEV, MADE_INO);
	assert_int_equal(world_reader(&world, 10, file)->prev_page, 9);
	assert_int_equal(world_reader(&world, 11, file)->prev_page, 3);
	assert_int_equal(world_reader(&world, 20, file)->prev_page, UINT64_MAX);
}

static void tables_grow_and_keep_what_they_hold(void **state)
{
	(void)state;
	open_world();
	for (uint32_t i = 1; i <= 5000; i++) {
		world_task(&world, (int32_t)i)->fresh_pfn = i;
		assert_int_equal(world_file(&world, MADE_DEV, i), i);
		world_reader(&world, (int32_t)i, i)->prev_page = i;
	}
	for (uint32_t i = 1; i <= 5000; i++) {
		assert_int_equal(world_task(&world, (int32_t)i)->fresh_pfn, i);
		assert_int_equal(world_task(&world, (int32_t)i)->number, i - 1);
		assert_int_equal(world_file(&world, MADE_DEV, i), i);
		assert_int_equal(world_reader(&world, (int32_t)i, i)->prev_page, i);
	}
	assert_false(world.out_of_memory);
}

/* ---- reclaim and readahead of a task */

static void task_is_in_reclaim_between_begin_and_end(void **state)
{
	const struct tape_event *event;
	static const bool expected[] = { true, false, true, false, true, false };

	(void)state;
	made_machine(&tape, 100);
	made_event(&tape, 0, 10, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, 10, MM_VMSCAN_MEMCG_RECLAIM_END, 0);
	made_event(&tape, 0, 10, MM_VMSCAN_DIRECT_RECLAIM_BEGIN, 0, 0);
	made_event(&tape, 0, 10, MM_VMSCAN_DIRECT_RECLAIM_END, 0);
	made_event(&tape, 0, 10, MM_VMSCAN_KSWAPD_WAKE, 0, 0, 0);
	made_event(&tape, 0, 10, MM_VMSCAN_KSWAPD_SLEEP, 0);
	open_world();
	for (unsigned int i = 0; tape_reader_next(tape.reader, &event) > 0; i++) {
		world_event(&world, event);
		assert_int_equal(world_task(&world, 10)->in_reclaim, expected[i]);
		assert_false(world_task(&world, 11)->in_reclaim);
	}
}

static void readahead_says_which_pages_were_asked_for(void **state)
{
	struct world_task *task;

	(void)state;
	made_machine(&tape, 100);
	made_event(&tape, 0, 10, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, 40, 32, 4, 0);
	made_event(&tape, 0, 11, PAGE_CACHE_SYNC_RA, MADE_INO, MADE_DEV, 7, 32, 0, 0);
	made_event(&tape, 0, 20, PAGE_CACHE_ASYNC_RA, MADE_INO, MADE_DEV, 40, 32, 4, 0);
	play();
	task = world_task(&world, 10);
	assert_int_equal(task->demand_file, world_file(&world, MADE_DEV, MADE_INO));
	assert_int_equal(task->demand_first, 40);
	assert_int_equal(task->demand_last, 43);
	assert_int_equal(world_task(&world, 11)->demand_last, 7);
	assert_true(world_task(&world, 20)->demand_first > world_task(&world, 20)->demand_last);
}

/* ---- limits written while the recording ran */

static void reading(uint32_t moment, const char *name, const char *text)
{
	const struct tape_blob blob = { .timestamp_ns = tape.now_ns + tape.step_ns / 2,
					.moment = moment,
					.name = name,
					.data = text,
					.size = strlen(text) };

	assert_int_equal(tape_writer_add_blob(tape.writer, &blob), 0);
}

static void new_memcg_with_a_task(void)
{
	made_event_text(&tape, 0, OTHER_TASK, CGROUP_MKDIR, "/new", 0, 1, 200, 0);
	made_event_text(&tape, 0, OTHER_TASK, CGROUP_ATTACH_TASK, "/new", 0, 200, 1, OTHER_TASK, 0,
			0);
}

static void memcg_made_on_the_tape_has_the_limit_of_its_first_reading(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	new_memcg_with_a_task();
	made_event(&tape, 0, OTHER_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	reading(1, "/sys/fs/cgroup/other/memory.max", "4096\n");
	reading(1, "/sys/fs/cgroup/new/memory.max", "81920\n");
	play();
	assert_int_equal(world.memcg[world_memcg_by_id(&world, 200)].limit_pages, 20);
	assert_int_equal(world.limits.nr_changes, 1);
	assert_int_equal(world.unlimited_memcg, WORLD_ROOT);
}

static void limit_that_was_changed_counts_from_its_reading(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	made_event(&tape, 0, GROUP_TASK, SCHED_PROCESS_EXIT, 99, 0);
	reading(1, "/sys/fs/cgroup/g/memory.max", "409600\n");
	reading(2, "/sys/fs/cgroup/g/memory.max", "204800\n");
	made_event(&tape, 0, GROUP_TASK, SCHED_PROCESS_EXIT, 99, 0);
	reading(3, "/sys/fs/cgroup/g/memory.max", "max\n");
	play();
	assert_int_equal(world.memcg[world_memcg_by_id(&world, GROUP_ID)].limit_pages, 50);
	assert_int_equal(world.limits.nr_changes, 1);
}

static void reclaim_for_a_limit_that_no_reading_shows_is_noted(void **state)
{
	(void)state;
	made_machine(&tape, 100);
	made_event(&tape, 0, GROUP_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	new_memcg_with_a_task();
	made_event(&tape, 0, OTHER_TASK, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	play();
	assert_string_equal(world.memcg[world.unlimited_memcg].path, "/new");
}

static void damaged_tape_fails_with_the_readers_sentence(void **state)
{
	FILE *file;
	long size;

	(void)state;
	for (int i = 0; i < 1000; i++) /* no snapshot: the world reads all events first */
		made_event(&tape, 0, 51, MM_VMSCAN_MEMCG_RECLAIM_BEGIN, 0, 0);
	made_tape_read(&tape);
	file = fopen(tape.path, "r+b");
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	/* Within the one frame of events, which is most of this tape. */
	for (long at = size / 3; at < size / 2; at += 8) {
		fseek(file, at, SEEK_SET);
		fputc(0x55, file);
	}
	fclose(file);
	tape_reader_close(tape.reader);
	tape.reader = NULL;
	{
		struct tape_problem problem;
		int ret = tape_reader_open(tape.path, &tape.reader, &problem);

		if (!ret)
			ret = world_init(&world, tape.reader);
		assert_true(ret < 0);
		if (tape.reader)
			assert_true(tape_reader_problem(tape.reader)->text[0]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tasks_start_where_the_snapshot_says),
		TEST(child_starts_in_the_memcg_of_its_parent),
		TEST(attached_task_changes_its_memcg_and_its_children_follow),
		TEST(events_of_other_hierarchies_are_left_out),
		TEST(v2_is_hierarchy_0),
		TEST(memcgs_have_the_parents_that_their_paths_say),
		TEST(inode_of_a_removed_memcg_may_come_again),
		TEST(kdamond_is_known_by_its_name),
		TEST(tasks_that_reclaimed_are_one_group_where_no_snapshot_says),
		TEST(machine_is_read_from_the_snapshot_at_the_start),
		TEST(tape_that_says_nothing_gets_the_kernels_presets),
		TEST(limits_come_from_either_version_of_the_controller),
		TEST(limit_of_the_recorded_command_goes_first),
		TEST(v1_figures_are_each_memcgs_own),
		TEST(v2_figures_are_of_subtrees),
		TEST(what_was_charged_and_is_on_no_list_is_overhead),
		TEST(anon_pages_are_no_overhead_where_their_frees_are_on_the_tape),
		TEST(frees_behind_a_filter_are_not_all_frees),
		TEST(facts_of_the_user_stand_over_the_snapshots),
		TEST(told_anon_pages_mean_swap_and_no_scan_of_anon),
		TEST(figures_beyond_any_machine_are_cut),
		TEST(broken_lines_of_snapshots_are_passed_over),
		TEST(file_is_device_and_inode),
		TEST(metadata_is_known_by_the_device_that_is_not_mounted),
		TEST(without_mounts_no_file_is_metadata),
		TEST(read_ends_where_the_last_one_of_that_task_and_file_did),
		TEST(tables_grow_and_keep_what_they_hold),
		TEST(task_is_in_reclaim_between_begin_and_end),
		TEST(readahead_says_which_pages_were_asked_for),
		TEST(memcg_made_on_the_tape_has_the_limit_of_its_first_reading),
		TEST(limit_that_was_changed_counts_from_its_reading),
		TEST(reclaim_for_a_limit_that_no_reading_shows_is_noted),
		TEST(damaged_tape_fails_with_the_readers_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
