// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tape full of secrets is copied; the copy is searched for them, and held against the original
 * event by event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/anonymize.h"
#include "capture/anonymize_names.h"
#include "capture/anonymize_pfn.h"
#include "schema/tape_reader.h"
#include "schema/tape_writer.h"
#include "schema/warm_pages.h"

static const struct anonymize_options with_key = { .key = { { 0x0123456789abcdef, 42 } } };

static void path_of(char *path, size_t size, const char *name)
{
	const char *dir = getenv("TEST_TMP") ? getenv("TEST_TMP") : "/tmp";

	snprintf(path, size, "%s/anonymize-%d-%s.lrt", dir, (int)getpid(), name);
}

/* ---- the hash and the maps */

/* Appendix A of the paper: key 00..0f, input 00..0e, of which the first 8 bytes are the purpose. */
static void the_hash_is_siphash_2_4(void **state)
{
	const struct hash_key key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };

	(void)state;
	assert_int_equal(keyed_hash(&key, 0x0706050403020100, "\x08\x09\x0a\x0b\x0c\x0d\x0e", 7),
			 0xa129ca6149be45e5);
}

static void a_map_is_one_to_one_until_it_is_full(void **state)
{
	struct keyed_map map;
	uint64_t replaced;
	bool taken[16] = { false };

	(void)state;
	keyed_map_init(&map, &with_key.key, 1, 100, 115, 115);
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 16; i++) {
			assert_int_equal(keyed_map_get(&map, i * 1000, &replaced), 0);
			assert_in_range(replaced, 100, 115);
			assert_int_equal(taken[replaced - 100], round);
			taken[replaced - 100] = true;
		}
	assert_int_equal(keyed_map_get(&map, 7, &replaced), -1);
	keyed_map_free(&map);
}

static void a_map_widens_when_half_of_it_is_taken(void **state)
{
	struct keyed_map map;
	uint64_t replaced, greatest = 0;

	(void)state;
	keyed_map_init(&map, &with_key.key, 1, 0, 9, UINT64_MAX - 1);
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(keyed_map_get(&map, i, &replaced), 0);
		if (replaced > greatest)
			greatest = replaced;
	}
	assert_true(greatest > 1000000);
	keyed_map_free(&map);
}

static void blocks_change_places_within_their_zone(void **state)
{
	static const char zoneinfo[] =
		"Node 0, zone      DMA\n        spanned  4095\n  start_pfn:           1\n"
		"Node 0, zone    DMA32\n        spanned  1044480\n"
		"  start_pfn:           4096\n"
		"Node 0, zone   Normal\n        spanned  2097152\n"
		"  start_pfn:           1048576\n";
	struct pfn_map map = { 0 };
	unsigned int nr_moved = 0;
	bool taken[384] = { false };

	(void)state;
	for (uint64_t block = 0; block < 384; block++)
		assert_int_equal(pfn_map_use(&map, block << PFN_BLOCK_BITS | 17), 0);
	assert_int_equal(map.nr, 384);
	pfn_map_shuffle(&map, &with_key.key, zoneinfo);
	for (uint64_t block = 0; block < 384; block++) {
		uint64_t replaced = pfn_map_get(&map, block << PFN_BLOCK_BITS | 16);

		assert_int_equal(replaced & 0x1fff, 16);
		replaced >>= PFN_BLOCK_BITS;
		assert_int_equal(replaced < 128, block < 128);
		assert_in_range(replaced, 0, 383);
		assert_false(taken[replaced]);
		taken[replaced] = true;
		nr_moved += replaced != block;
	}
	assert_int_equal(pfn_map_get(&map, 5), 5); /* the only block of two zones */
	assert_int_equal(pfn_map_get(&map, UINT64_MAX), UINT64_MAX);
	assert_true(nr_moved > 300);
	pfn_map_free(&map);
}

static void addresses_move_together(void **state)
{
	const uint64_t first = UINT64_C(0x55d0c0a00000), kernel = UINT64_C(0xffff888012345678);
	struct anonymize_names names;
	uint64_t moved;

	(void)state;
	anonymize_names_init(&names, &with_key.key);
	moved = anonymize_address(&names, first);
	assert_int_not_equal(moved, first);
	assert_int_equal((moved ^ first) & ((1 << 30) - 1), 0); /* a 2 MiB folio stays aligned */
	assert_int_equal(moved >> 56, 0);
	assert_int_equal(anonymize_address(&names, first + 0x123), moved);
	assert_int_equal(anonymize_address(&names, first + 0x7000), moved + 0x7000);
	assert_int_equal(anonymize_address(&names, kernel), UINT64_C(0xff00000000000000));
	assert_int_equal(anonymize_address(&names, UINT64_MAX), UINT64_MAX);
	anonymize_names_free(&names);
}

/* ---- names */

static void assert_comm(const char *comm, const char *expected)
{
	struct anonymize_names names;
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	anonymize_names_init(&names, &with_key.key);
	anonymize_comm(&names, comm, strlen(comm), to);
	fclose(to);
	assert_true(size <= 15);
	if (strchr(expected, '*'))
		assert_memory_equal(text, expected, strlen(expected) - 1);
	else
		assert_string_equal(text, expected);
	assert_null(strstr(text, "secret"));
	free(text);
	anonymize_names_free(&names);
}

static void kernel_threads_stay_recognisable(void **state)
{
	(void)state;
	assert_comm("kswapd0", "kswapd0");
	assert_comm("kdamond.12", "kdamond.12");
	assert_comm("khugepaged", "khugepaged");
	assert_comm("kthreadd", "kthreadd");
	assert_comm("migration/3", "migration/3");
	assert_comm("kworker/u8:2-secret", "kworker/*");
	assert_comm("jbd2/secret-8", "jbd2/*");
	assert_comm("kswapd-secret", "kswapd*");
	assert_comm("secret-service", "task-*");
	assert_comm("", "");
}

/* ---- a whole tape */

#define NR_FIELDS_MAX 12

static struct tape_field integer(const char *name, const char *ctype, uint16_t size, bool is_signed)
{
	return (struct tape_field){ .name = name,
				    .ctype = ctype,
				    .size = size,
				    .is_signed = is_signed,
				    .kind = TAPE_FIELD_INTEGER };
}

static struct tape_field text(const char *name)
{
	return (struct tape_field){
		.name = name, .ctype = "__data_loc char[]", .size = 4, .kind = TAPE_FIELD_STRING
	};
}

static uint16_t add_type(struct tape_writer *writer, const char *system, const char *name,
			 const char *filter, const struct tape_field *fields, unsigned int nr)
{
	const struct tape_type type = { .system = system,
					.name = name,
					.format = "",
					.filter = filter,
					.field = fields,
					.nr_fields = nr };
	uint16_t number;

	assert_int_equal(tape_writer_add_type(writer, &type, &number), 0);
	return number;
}

struct made {
	struct tape_writer *writer;
	uint64_t value[NR_FIELDS_MAX];
	char strings[512];
	size_t strings_size;
};

static void set(struct made *made, uint16_t type, unsigned int field, uint64_t value)
{
	made->value[tape_writer_type(made->writer, type)->field[field].slot] = value;
}

static void set_text(struct made *made, uint16_t type, unsigned int field, const char *value,
		     size_t size)
{
	memcpy(made->strings + made->strings_size, value, size);
	made->strings[made->strings_size + size] = '\0';
	set(made, type, field, (uint64_t)made->strings_size << 32 | size);
	made->strings_size += size + 1;
}

static void put(struct made *made, uint16_t type, uint32_t cpu, uint64_t ns, int32_t pid)
{
	const struct tape_event event = { .timestamp_ns = ns,
					  .cpu = cpu,
					  .pid = pid,
					  .type = type,
					  .value = made->value,
					  .strings = made->strings };

	assert_int_equal(tape_stream_event(tape_writer_stream(made->writer, cpu), &event), 0);
	made->strings_size = 0;
}

static void put_blob(struct made *made, uint32_t moment, const char *name, const char *data)
{
	const struct tape_blob blob = { .timestamp_ns = 5000000000,
					.moment = moment,
					.name = name,
					.data = data,
					.size = strlen(data) };

	assert_int_equal(tape_writer_add_blob(made->writer, &blob), 0);
}

/* Secret names hold "secret"; secret numbers are 7 digits that begin with 7771. */
static void make_secret_tape(const char *path)
{
	struct made made = { 0 };
	struct tape_problem problem;
	struct tape_field add[] = { integer("pfn", "unsigned long", 8, false),
				    integer("i_ino", "unsigned long", 8, false),
				    integer("index", "unsigned long", 8, false),
				    integer("s_dev", "dev_t", 4, false),
				    integer("order", "unsigned char", 1, false) };
	struct tape_field attach[] = { integer("dst_root", "int", 4, true),
				       integer("dst_level", "int", 4, true),
				       integer("dst_id", "u64", 8, false),
				       integer("pid", "int", 4, true),
				       text("dst_path"),
				       text("comm") };
	struct tape_field exec[] = { text("filename"), integer("pid", "pid_t", 4, true),
				     integer("old_pid", "pid_t", 4, true) };
	struct tape_field dirty[] = { text("name"), integer("ino", "ino_t", 8, false),
				      integer("index", "unsigned long", 8, false) };
	struct tape_field unknown[] = {
		text("note"),
		integer("uid", "int", 4, true),
		integer("nr", "long", 8, true),
		integer("call_site", "unsigned long", 8, false),
		{ .name = "mask",
		  .ctype = "unsigned long[2]",
		  .size = 16,
		  .kind = TAPE_FIELD_BYTES },
		{ .name = "ptr", .ctype = "void *", .size = 8, .kind = TAPE_FIELD_LEFT_OUT }
	};
	uint16_t add_to, attach_task, process_exec, dirty_folio, other;

	assert_int_equal(tape_writer_create(path, NULL, &made.writer, &problem), 0);
	add_to = add_type(made.writer, "filemap", "mm_filemap_add_to_page_cache", "order > 0", add,
			  5);
	attach_task = add_type(made.writer, "cgroup", "cgroup_attach_task",
			       "dst_path ~ \"*secret*\"", attach, 6);
	process_exec = add_type(made.writer, "sched", "sched_process_exec", "common_pid != 7771001",
				exec, 3);
	dirty_folio = add_type(made.writer, "writeback", "writeback_dirty_folio", "ino == 7771004",
			       dirty, 3);
	other = add_type(made.writer, "house", "made_event", "nr > 3", unknown, 6);

	put_blob(&made, TAPE_MOMENT_START, "lrutape/release", "6.18.44-secret+");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/uname",
		 "Linux 6.18.44-secret #1 SMP secret@secret 7771000 x86_64");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/command", "/opt/secret/run --key 7771000");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/command_pid", "7771001");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/hierarchy", "2 0 /mnt/secret");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/clock",
		 "trace_clock mono\nmonotonic_ns 4000000000\nrealtime_ns 7771000000000000\n"
		 "boottime_ns 4000000000\n");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/tasks",
		 "7771001 7771001 7771003 secret task\n7771002 7771001 1 kswapd1\n");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/cgroups",
		 "1 /\n7771003 /secret.slice\n7771005 /secret.slice/a secret b\n");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/memcg", "7771003 /secret.slice 67108864");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/source", "ftrace-text secret.txt\n");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/facts",
		 "page_size=4096\nfile_dev=8:777104\nsecret=/secret\n");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/of_tomorrow", "secret");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/what", "cgroup /secret.slice");
	put_blob(&made, TAPE_MOMENT_START, "lrutape/segment", "3");
	put_blob(
		&made, TAPE_MOMENT_START, "lrutape/warm_files",
		"file 9165712 7771004 5 /opt/secret dir/secret\ncachestat 5 0 0 0 0\ncached 0 4\n");
	put_blob(
		&made, TAPE_MOMENT_START, "/proc/self/mountinfo",
		"27 1 8:777104 / /secret rw - ext4 /dev/secret rw\n28 27 0:777105 / /x rw - tmpfs x rw\n");
	put_blob(&made, TAPE_MOMENT_START, "/proc/swaps",
		 "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
		 "/dev/secret                             partition\t1024\t0\t-2\n");
	put_blob(&made, TAPE_MOMENT_START, "/proc/stat", "cpu  1 2 3\nbtime 7771000\nctxt 9\n");
	put_blob(&made, TAPE_MOMENT_START, "/proc/vmstat", "nr_inactive_anon 5\n");
	put_blob(&made, TAPE_MOMENT_START, "/proc/cmdline", "root=/dev/secret");
	put_blob(&made, TAPE_MOMENT_START, "/proc/sys/vm/secret_path", "/secret\n");
	put_blob(&made, TAPE_MOMENT_START, "/sys/block/secret/dev", "8:777104\n");
	put_blob(&made, TAPE_MOMENT_START, "/sys/class/bdi/8:777104/read_ahead_kb", "128\n");
	put_blob(&made, TAPE_MOMENT_START, "/sys/class/bdi/0:777105-secret/read_ahead_kb", "64\n");
	put_blob(&made, TAPE_MOMENT_START, "/sys/kernel/debug/lru_gen",
		 "memcg     2 /secret.slice\n node     0\n          1   1000   5   7\n");
	put_blob(&made, TAPE_MOMENT_START, "/mnt/secret/secret.slice/memory.stat", "anon 4096\n");
	put_blob(&made, TAPE_MOMENT_END, "/sys/fs/cgroup/secret.slice/memory.current", "8192\n");

	set(&made, add_to, 0, 0x12345);
	set(&made, add_to, 1, 7771004);
	set(&made, add_to, 2, 3);
	set(&made, add_to, 3, 8 << 20 | 777104);
	set(&made, add_to, 4, 2);
	put(&made, add_to, 0, 1000, 7771001);
	set(&made, add_to, 0, UINT64_MAX); /* none */
	put(&made, add_to, 1, 1100, 0);
	assert_int_equal(tape_stream_lost(tape_writer_stream(made.writer, 1), 12), 0);
	assert_int_equal(tape_stream_lost(tape_writer_stream(made.writer, 0), EVENT_LOST_UNKNOWN),
			 0);

	set(&made, attach_task, 0, 0);
	set(&made, attach_task, 1, 1);
	set(&made, attach_task, 2, UINT64_C(5) << 32 | 7771003);
	set(&made, attach_task, 3, 7771002);
	set_text(&made, attach_task, 4, "/secret.slice", 13);
	set_text(&made, attach_task, 5, "secret task", 11);
	put(&made, attach_task, 1, 1200, 7771002);

	set_text(&made, process_exec, 0, "/opt/secret/secret task", 23);
	set(&made, process_exec, 1, 7771001);
	set(&made, process_exec, 2, (uint64_t)-1);
	put(&made, process_exec, 0, 1300, 7771001);

	set_text(&made, dirty_folio, 0, "8:777104", 8);
	set(&made, dirty_folio, 1, 7771004);
	set(&made, dirty_folio, 2, 9);
	put(&made, dirty_folio, 0, 1400, 7771001);

	set_text(&made, other, 0, "secret", 6);
	set(&made, other, 1, 7771000);
	set(&made, other, 2, (uint64_t)-12);
	set(&made, other, 3, 0xffffffff81234567);
	set_text(&made, other, 4, "secretsecret7777", 16);
	put(&made, other, 0, 1500, 7771001);
	assert_int_equal(tape_writer_finish(made.writer, &problem), 0);
}

static bool is_secret_number(uint64_t number)
{
	return number / 1000 == 7771 || (number & 0xfffff) / 100 == 7771 ||
	       (number & UINT32_MAX) / 1000 == 7771 || number >> 32 == 0xffffffff;
}

static void assert_no_secret_text(const char *where, const char *data, size_t size)
{
	if (memmem(data, size, "secret", 6) || memmem(data, size, "7771", 4))
		fail_msg("%s: %.*s", where, (int)size, data);
}

static struct tape_reader *open_tape(const char *path)
{
	struct tape_problem problem;
	struct tape_reader *reader;

	if (tape_reader_open(path, &reader, &problem))
		fail_msg("%s", problem.text);
	return reader;
}

static void assert_event_has_no_secret(struct tape_reader *reader, const struct tape_event *event)
{
	const struct tape_type *type = tape_reader_type(reader, event->type);

	assert_false(is_secret_number((uint64_t)event->pid));
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		const struct tape_field *field = &type->field[i];
		size_t size;
		const char *data;

		if (field->kind == TAPE_FIELD_INTEGER) {
			if (event->value[field->slot] < UINT64_MAX - 100 &&
			    is_secret_number(event->value[field->slot]))
				fail_msg("%s: %s=%llu", type->name, field->name,
					 (unsigned long long)event->value[field->slot]);
		} else if (field->kind != TAPE_FIELD_LEFT_OUT) {
			data = tape_event_string(event, field->slot, &size);
			assert_no_secret_text(field->name, data, size);
		}
	}
}

static void anonymized(const char *from, const char *to, const struct anonymize_options *options,
		       struct anonymize_report *report)
{
	struct tape_problem problem;

	if (anonymize_tape(from, to, options, report, &problem))
		fail_msg("%s", problem.text);
}

static void no_secret_is_on_the_copy(void **state)
{
	struct anonymize_report report;
	const struct tape_event *event;
	const struct tape_blob *blob;
	struct tape_reader *reader;
	char from[256], to[256];
	unsigned int nr_events = 0;
	int got;

	(void)state;
	path_of(from, sizeof(from), "secret");
	path_of(to, sizeof(to), "copy");
	make_secret_tape(from);
	anonymized(from, to, &with_key, &report);
	assert_int_equal(report.nr_events, 6);
	assert_int_equal(report.nr_losses, 2);
	assert_int_equal(report.nr_filters_left_out, 3);
	assert_int_equal(report.nr_files_left_out, 3);
	assert_string_equal(report.left_out[0], "/proc/cmdline");
	assert_string_equal(report.left_out[1], "/proc/sys/vm/secret_path");
	assert_string_equal(report.left_out[2], "lrutape/of_tomorrow");
	anonymize_report_free(&report);

	reader = open_tape(to);
	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++) {
		assert_no_secret_text("name", blob->name, strlen(blob->name));
		assert_no_secret_text(blob->name, blob->data, blob->size);
	}
	for (unsigned int i = 0; tape_reader_type(reader, i); i++) {
		const char *filter = tape_reader_type(reader, i)->filter;

		assert_no_secret_text("filter", filter, strlen(filter));
		assert_true(*filter != '\0');
	}
	while ((got = tape_reader_next(reader, &event)) > 0)
		if (event->kind != EVENT_LOST) {
			assert_event_has_no_secret(reader, event);
			nr_events++;
		}
	assert_int_equal(got, 0);
	assert_int_equal(nr_events, 6);
	tape_reader_close(reader);
	unlink(from);
	unlink(to);
}

static const struct tape_event *next(struct tape_reader *reader)
{
	const struct tape_event *event;

	assert_int_equal(tape_reader_next(reader, &event), 1);
	return event;
}

static const char *blob_data(struct tape_reader *reader, uint32_t moment, const char *name)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, moment, name);

	if (!blob)
		fail_msg("no %s", name);
	return blob->data;
}

/* What is equal or belongs together on the original does so on the copy. */
static void the_copy_hangs_together(void **state)
{
	unsigned long long pid, tgid, id, other_id, limit, attach_pid;
	unsigned int major, minor, bdi_minor;
	struct anonymize_report report;
	const struct tape_event *event;
	struct tape_reader *reader;
	char from[256], to[256], path[256], other_path[256], name[512], comm[32], dev[32];
	uint64_t inode, device, pfn;

	(void)state;
	path_of(from, sizeof(from), "secret");
	path_of(to, sizeof(to), "copy");
	make_secret_tape(from);
	anonymized(from, to, &with_key, &report);
	anonymize_report_free(&report);
	reader = open_tape(to);

	assert_string_equal(blob_data(reader, 0, "lrutape/release"), "6.18.44");
	assert_string_equal(blob_data(reader, 0, "lrutape/uname"), "Linux 6.18.44 x86_64");
	assert_string_equal(blob_data(reader, 0, "lrutape/source"), "ftrace-text\n");
	assert_string_equal(blob_data(reader, 0, "lrutape/hierarchy"), "2 0 /sys/fs/cgroup");
	assert_string_equal(blob_data(reader, 0, "lrutape/clock"),
			    "trace_clock mono\nmonotonic_ns 4000000000\nboottime_ns 4000000000\n");
	assert_string_equal(blob_data(reader, 0, "/proc/stat"), "cpu  1 2 3\nctxt 9\n");
	assert_string_equal(blob_data(reader, 0, "/proc/vmstat"), "nr_inactive_anon 5\n");
	assert_non_null(strstr(blob_data(reader, 0, "/proc/swaps"), "partition\t1024\t0\t-2\n"));

	assert_int_equal(sscanf(blob_data(reader, 0, "lrutape/cgroups"),
				"1 /\n%llu %255s\n%llu %255s", &id, path, &other_id, other_path),
			 4);
	snprintf(name, sizeof(name), "%s/", path);
	assert_memory_equal(other_path, name, strlen(name));
	assert_int_equal(sscanf(blob_data(reader, 0, "lrutape/memcg"), "%llu %255s %llu", &other_id,
				other_path, &limit),
			 3);
	assert_int_equal(other_id, id);
	assert_string_equal(other_path, path);
	assert_int_equal(limit, 67108864);
	snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.stat", path);
	assert_string_equal(blob_data(reader, 0, name), "anon 4096\n");
	snprintf(name, sizeof(name), "/sys/fs/cgroup%s/memory.current", path);
	assert_string_equal(blob_data(reader, TAPE_MOMENT_END, name), "8192\n");
	snprintf(name, sizeof(name), "cgroup %s", path);
	assert_string_equal(blob_data(reader, 0, "lrutape/what"), name);
	snprintf(name, sizeof(name), "memcg     2 %s\n node     0\n          1   1000   5   7\n",
		 path);
	assert_string_equal(blob_data(reader, 0, "/sys/kernel/debug/lru_gen"), name);

	assert_int_equal(sscanf(blob_data(reader, 0, "lrutape/tasks"), "%llu %llu %llu %31s\n%llu",
				&pid, &tgid, &other_id, comm, &attach_pid),
			 5);
	assert_int_equal(tgid, pid);
	assert_int_equal(other_id, id);
	assert_non_null(strstr(blob_data(reader, 0, "lrutape/tasks"), " 1 kswapd1\n"));
	assert_int_equal(strtoull(blob_data(reader, 0, "lrutape/command_pid"), NULL, 10), pid);

	event = next(reader);
	assert_int_equal(event->timestamp_ns, 1000);
	assert_int_equal(event->pid, pid);
	inode = event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_I_INO];
	device = event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_S_DEV];
	pfn = event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN];
	assert_int_equal(pfn, 0x12345); /* the only block of page frames has nowhere to go */
	assert_int_equal(event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_INDEX], 3);
	assert_int_equal(event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_ORDER], 2);
	assert_int_equal(device >> 20, 8);
	assert_int_equal(sscanf(blob_data(reader, 0, "/proc/self/mountinfo"),
				"27 1 %u:%u\n28 27 0:%u\n", &major, &minor, &bdi_minor),
			 3);
	assert_int_equal(device, major << 20 | minor);
	snprintf(name, sizeof(name), "/sys/class/bdi/8:%u/read_ahead_kb", minor);
	assert_string_equal(blob_data(reader, 0, name), "128\n");
	snprintf(dev, sizeof(dev), "8:%u", minor);
	snprintf(name, sizeof(name), "page_size=4096\nfile_dev=%s\n", dev);
	assert_string_equal(blob_data(reader, 0, "lrutape/facts"), name);

	snprintf(name, sizeof(name), "file %u %llu 5 /", (unsigned int)device,
		 (unsigned long long)inode);
	assert_memory_equal(blob_data(reader, 0, "lrutape/warm_files"), name, strlen(name));
	assert_non_null(strstr(blob_data(reader, 0, "lrutape/warm_files"),
			       "\ncachestat 5 0 0 0 0\ncached 0 4\n"));

	event = next(reader);
	assert_int_equal(event->pid, 0);
	assert_int_equal(event->value[MM_FILEMAP_ADD_TO_PAGE_CACHE_PFN], UINT64_MAX);
	event = next(reader);
	assert_int_equal(event->kind, EVENT_LOST);
	assert_int_equal(event->value[EVENT_LOST_COUNT], 12);
	event = next(reader);
	assert_int_equal(event->kind, EVENT_CGROUP_ATTACH_TASK);
	assert_int_equal(event->value[CGROUP_ATTACH_TASK_DST_ID], UINT64_C(5) << 32 | id);
	assert_int_equal(event->value[CGROUP_ATTACH_TASK_PID], attach_pid);
	assert_string_equal(tape_event_string(event, CGROUP_ATTACH_TASK_DST_PATH, NULL), path);
	assert_string_equal(tape_event_string(event, CGROUP_ATTACH_TASK_COMM, NULL), comm);
	event = next(reader);
	assert_int_equal(event->kind, EVENT_LOST);
	assert_int_equal(event->value[EVENT_LOST_COUNT], EVENT_LOST_UNKNOWN);
	event = next(reader);
	assert_int_equal(event->value[SCHED_PROCESS_EXEC_PID], pid);
	assert_int_equal(event->value[SCHED_PROCESS_EXEC_OLD_PID], (uint64_t)-1);
	assert_string_equal(
		strrchr(tape_event_string(event, SCHED_PROCESS_EXEC_FILENAME, NULL), '/') + 1,
		comm);
	event = next(reader);
	assert_int_equal(event->value[WRITEBACK_DIRTY_FOLIO_INO], inode);
	assert_string_equal(tape_event_string(event, WRITEBACK_DIRTY_FOLIO_NAME, NULL), dev);
	event = next(reader);
	assert_int_equal(event->value[tape_reader_type(reader, 4)->field[2].slot], (uint64_t)-12);
	assert_int_equal(event->value[tape_reader_type(reader, 4)->field[1].slot], 0);
	assert_int_equal(event->value[tape_reader_type(reader, 4)->field[3].slot], 0);
	tape_reader_close(reader);
	unlink(from);
	unlink(to);
}

static void shifted_time_begins_at_a_round_number(void **state)
{
	struct anonymize_options options = with_key;
	struct anonymize_report report;
	struct tape_reader *reader;
	char from[256], to[256];

	(void)state;
	options.shift_time = true;
	path_of(from, sizeof(from), "secret");
	path_of(to, sizeof(to), "copy");
	make_secret_tape(from);
	anonymized(from, to, &options, &report);
	anonymize_report_free(&report);
	reader = open_tape(to);
	assert_int_equal(next(reader)->timestamp_ns, ANONYMIZE_FIRST_NS);
	assert_int_equal(next(reader)->timestamp_ns, ANONYMIZE_FIRST_NS + 100);
	assert_string_equal(
		blob_data(reader, 0, "lrutape/clock"),
		"trace_clock mono\nmonotonic_ns 1003999999000\nboottime_ns 1003999999000\n");
	tape_reader_close(reader);
	unlink(from);
	unlink(to);
}

/* ---- warm starts */

#define WARM_BLOCKS 64u
#define BLOCK_PAGES (1u << PFN_BLOCK_BITS)

static void put_warm(struct tape_writer *writer, const char *name, struct warm_pages_writer *pages,
		     uint64_t end_pfn)
{
	size_t size;
	uint8_t *bytes = warm_pages_finish(pages, end_pfn, &size);
	const struct tape_blob blob = {
		.moment = TAPE_MOMENT_START, .name = name, .data = (const char *)bytes, .size = size
	};

	assert_non_null(bytes);
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	free(bytes);
}

/* Block b holds b folios of two pages from its page 2b on, of memcg 100 + b; two blobs, the last block is half. */
static void make_warm_tape(const char *path)
{
	struct warm_pages_writer pages = { 0 };
	struct tape_problem problem;
	struct tape_writer *writer;

	assert_int_equal(tape_writer_create(path, NULL, &writer, &problem), 0);
	for (unsigned int block = 0; block < WARM_BLOCKS; block++) {
		if (block == WARM_BLOCKS / 2) {
			put_warm(writer, "lrutape/warm_pages/0", &pages, block * BLOCK_PAGES);
			pages.first_pfn = block * BLOCK_PAGES;
		}
		for (unsigned int i = 0; i < block; i++)
			assert_int_equal(warm_pages_add(&pages,
							block * BLOCK_PAGES + 2 * block + 2 * i, 1,
							WARM_PAGE_ACTIVE, 100 + block),
					 0);
	}
	put_warm(writer, "lrutape/warm_pages/1", &pages,
		 WARM_BLOCKS * BLOCK_PAGES - BLOCK_PAGES / 2);
	assert_int_equal(tape_writer_finish(writer, &problem), 0);
}

static void warm_pages_go_where_their_block_goes(void **state)
{
	uint64_t memcg_of_block[WARM_BLOCKS] = { 0 }, nr_spoken = 0, nr_folios = 0, end_pfn = 0;
	bool seen[WARM_BLOCKS] = { false };
	struct anonymize_report report;
	const struct tape_blob *blob;
	struct tape_reader *reader;
	char from[256], to[256];
	unsigned int nr_moved = 0;

	(void)state;
	path_of(from, sizeof(from), "warm");
	path_of(to, sizeof(to), "copy");
	make_warm_tape(from);
	anonymized(from, to, &with_key, &report);
	assert_int_equal(report.nr_files_left_out, 0);
	assert_int_equal(report.nr_pfn_blocks, WARM_BLOCKS);
	anonymize_report_free(&report);
	reader = open_tape(to);
	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++) {
		struct warm_pages_reader pages;
		struct warm_run run;
		int got;

		if (strncmp(blob->name, "lrutape/warm_pages/", 19))
			continue;
		assert_int_equal(warm_pages_open(&pages, blob->data, blob->size), 0);
		assert_true(pages.first_pfn >= end_pfn);
		end_pfn = pages.end_pfn;
		nr_spoken += pages.end_pfn - pages.first_pfn;
		while ((got = warm_pages_next(&pages, &run)) > 0) {
			/* Where it lies in its block tells which block it was. */
			uint64_t was = run.pfn % BLOCK_PAGES / 2, is = run.pfn / BLOCK_PAGES;

			assert_in_range(was, 1, WARM_BLOCKS - 1);
			assert_int_equal(run.nr_folios, was);
			assert_int_equal(run.order, 1);
			assert_int_equal(run.flags, WARM_PAGE_ACTIVE);
			assert_false(seen[was]);
			seen[was] = true;
			assert_int_equal(memcg_of_block[is], 0);
			memcg_of_block[is] = run.memcg;
			assert_int_not_equal(run.memcg, 100 + was);
			nr_folios += run.nr_folios;
			nr_moved += is != was;
		}
		assert_int_equal(got, 0);
	}
	assert_int_equal(nr_spoken, WARM_BLOCKS * BLOCK_PAGES - BLOCK_PAGES / 2);
	assert_int_equal(nr_folios, WARM_BLOCKS * (WARM_BLOCKS - 1) / 2);
	assert_true(nr_moved > WARM_BLOCKS / 2);
	tape_reader_close(reader);
	unlink(from);
	unlink(to);
}

static void damaged_warm_pages_are_left_out(void **state)
{
	static const char bytes[40] = { 1 }; /* no runs, but bytes behind them */
	const struct tape_blob blob = { .name = "lrutape/warm_pages/0",
					.data = bytes,
					.size = sizeof(bytes) };
	struct anonymize_report report;
	struct tape_problem problem;
	struct tape_writer *writer;
	char from[256], to[256];

	(void)state;
	path_of(from, sizeof(from), "warm");
	path_of(to, sizeof(to), "copy");
	assert_int_equal(tape_writer_create(from, NULL, &writer, &problem), 0);
	assert_int_equal(tape_writer_add_blob(writer, &blob), 0);
	assert_int_equal(tape_writer_finish(writer, &problem), 0);
	anonymized(from, to, &with_key, &report);
	assert_int_equal(report.nr_left_out, 1);
	assert_string_equal(report.left_out[0], "lrutape/warm_pages/0");
	anonymize_report_free(&report);
	unlink(from);
	unlink(to);
}

static void a_tape_that_is_none_is_refused(void **state)
{
	struct anonymize_report report;
	struct tape_problem problem;
	char from[256], to[256];
	FILE *file;

	(void)state;
	path_of(from, sizeof(from), "none");
	path_of(to, sizeof(to), "copy");
	file = fopen(from, "w");
	assert_non_null(file);
	fputs("this is no tape, although it is longer than the header of one would be\n", file);
	fclose(file);
	assert_int_equal(anonymize_tape(from, to, &with_key, &report, &problem),
			 TAPE_ERR_NOT_A_TAPE);
	anonymize_report_free(&report);
	assert_int_not_equal(access(to, F_OK), 0);
	unlink(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_is_siphash_2_4),
		cmocka_unit_test(a_map_is_one_to_one_until_it_is_full),
		cmocka_unit_test(a_map_widens_when_half_of_it_is_taken),
		cmocka_unit_test(blocks_change_places_within_their_zone),
		cmocka_unit_test(addresses_move_together),
		cmocka_unit_test(kernel_threads_stay_recognisable),
		cmocka_unit_test(no_secret_is_on_the_copy),
		cmocka_unit_test(the_copy_hangs_together),
		cmocka_unit_test(shifted_time_begins_at_a_round_number),
		cmocka_unit_test(warm_pages_go_where_their_block_goes),
		cmocka_unit_test(damaged_warm_pages_are_left_out),
		cmocka_unit_test(a_tape_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
