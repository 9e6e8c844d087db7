// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "schema/fidelity.h"
#include "tests/unit/schema/tape_text.h"

/* A tape as a text: lines "type SYSTEM:NAME [FILTER]", "blob NAME TEXT", "lost N", "event". */
static struct fidelity judge(const char *script)
{
	static const struct tape_field order = {
		"order", "u8", 40, 1, false, TAPE_FIELD_INTEGER, 0
	};
	char *copy = strdup(script), *rest = copy, *line, system[64], name[64], text[64];
	struct tape_writer *writer;
	struct tape_stream *stream;
	struct tape_reader *reader;
	struct tape_problem problem;
	struct fidelity fidelity;
	uint16_t number = 0;
	uint64_t now_ns = 0;
	unsigned int nr;

	assert_int_equal(0, tape_writer_create(scratch_path(), NULL, &writer, &problem));
	stream = tape_writer_stream(writer, 0);
	while ((line = strsep(&rest, "\n"))) {
		text[0] = '\0';
		if (sscanf(line, "type %63[^:]:%63s %63[^\n]", system, name, text) >= 2) {
			const struct tape_type type = { .system = system,
							.name = name,
							.format = "",
							.filter = text,
							.field = &order,
							.nr_fields = 1 };

			assert_int_equal(0, tape_writer_add_type(writer, &type, &number));
		} else if (sscanf(line, "blob %63s %63[^\n]", name, text) >= 1) {
			const struct tape_blob blob = { .name = name,
							.data = text,
							.size = strlen(text) };

			assert_int_equal(0, tape_writer_add_blob(writer, &blob));
		} else if (sscanf(line, "lost %u", &nr) == 1) {
			assert_int_equal(0, tape_stream_lost(stream, nr));
		} else if (sscanf(line, "events %u", &nr) == 1) {
			const uint64_t value[8] = { 0 };

			while (nr--) {
				const struct tape_event event = { .timestamp_ns = ++now_ns,
								  .type = number,
								  .value = value,
								  .strings = "" };

				assert_int_equal(0, tape_stream_event(stream, &event));
			}
		}
	}
	assert_int_equal(0, tape_writer_finish(writer, &problem));
	assert_int_equal(0, tape_reader_open(scratch_path(), &reader, &problem));
	fidelity_of_tape(reader, &fidelity);
	tape_reader_close(reader);
	unlink(scratch_path());
	free(copy);
	return fidelity;
}

#define NEW_KERNEL                                                                                 \
	"type pagemap:mm_lru_insertion\ntype pagemap:mm_lru_activate\n"                            \
	"type filemap:mm_filemap_add_to_page_cache\n"                                              \
	"type filemap:mm_filemap_delete_from_page_cache\ntype filemap:mm_filemap_get_pages\n"      \
	"type vmscan:mm_vmscan_lru_isolate\ntype cgroup:cgroup_attach_task\n"                      \
	"type sched:sched_process_fork\ntype kmem:mm_page_alloc order > 0\n"                       \
	"type kmem:mm_page_free order > 0\n"
#define OWN_GROUP                                                                                  \
	"blob lrutape/tasks 1 1 1 init\nblob lrutape/what command\nblob lrutape/memcg 9 /x 4096\n" \
	"blob lrutape/command_pid 9\n"

static void is(const struct fidelity *fidelity, enum fidelity_aspect aspect, const char *level)
{
	assert_string_equal(fidelity_level_name(aspect, fidelity->level[aspect]), level);
}

static void a_command_in_its_own_group_on_a_new_kernel_is_a(void **state)
{
	struct fidelity fidelity = judge(NEW_KERNEL OWN_GROUP);

	(void)state;
	assert_int_equal(fidelity.grade, 'A');
	is(&fidelity, FIDELITY_READS, "all");
	is(&fidelity, FIDELITY_ORDERS, "joined");
	is(&fidelity, FIDELITY_MEMCGS, "tasks");
	is(&fidelity, FIDELITY_FREES, "large");
	is(&fidelity, FIDELITY_START, "empty");
	is(&fidelity, FIDELITY_LOSSES, "none");
}

static void a_named_group_began_with_pages(void **state)
{
	struct fidelity fidelity = judge(NEW_KERNEL "blob lrutape/tasks 1 1 1 init\n"
						    "blob lrutape/what cgroup /x\n"
						    "blob lrutape/memcg 9 /x 4096\n");

	(void)state;
	is(&fidelity, FIDELITY_START, "unseen");
	assert_int_equal(fidelity.grade, 'B');
	fidelity = judge(NEW_KERNEL "blob lrutape/tasks 1 1 1 init\nblob lrutape/what cgroup /x\n"
				    "blob lrutape/warm_pages/0 x\n");
	is(&fidelity, FIDELITY_START, "listed");
	assert_int_equal(fidelity.grade, 'A');
}

static void the_kernels_own_charges_are_best(void **state)
{
	struct fidelity fidelity = judge(NEW_KERNEL OWN_GROUP
					 "type memcg:mod_memcg_lruvec_state item < 5\n");

	(void)state;
	is(&fidelity, FIDELITY_MEMCGS, "events");
	is(&fidelity, FIDELITY_ORDERS, "events");
	fidelity = judge(NEW_KERNEL OWN_GROUP "type memcg:mod_memcg_lruvec_state id == 9\n");
	is(&fidelity, FIDELITY_MEMCGS, "tasks");
}

static void without_get_pages_hits_are_inferred(void **state)
{
	struct fidelity fidelity = judge(
		"type pagemap:mm_lru_activate\n"
		"type filemap:mm_filemap_add_to_page_cache\n"
		"type filemap:mm_filemap_delete_from_page_cache\n" OWN_GROUP);

	(void)state;
	is(&fidelity, FIDELITY_READS, "promotions");
	is(&fidelity, FIDELITY_MEMCGS, "snapshot");
	assert_int_equal(fidelity.grade, 'C');
	fidelity = judge(NEW_KERNEL "type xfs:xfs_file_buffered_read\n" OWN_GROUP);
	is(&fidelity, FIDELITY_READS, "all");
}

static void losses_cost_the_best_grades(void **state)
{
	struct fidelity fidelity = judge(NEW_KERNEL OWN_GROUP "events 5000\nlost 3\nevents 1\n");

	(void)state;
	is(&fidelity, FIDELITY_LOSSES, "few");
	assert_int_equal(fidelity.grade, 'B');
	fidelity = judge(NEW_KERNEL OWN_GROUP "events 5000\nlost 30\nevents 1\n");
	is(&fidelity, FIDELITY_LOSSES, "many");
	assert_int_equal(fidelity.grade, 'D');
}

static void mglru_that_tells_no_isolations_is_silent(void **state)
{
	struct fidelity fidelity = judge(NEW_KERNEL OWN_GROUP
					 "type vmscan:mm_vmscan_memcg_reclaim_begin\nevents 5\n");

	(void)state;
	is(&fidelity, FIDELITY_RECLAIM, "silent");
	assert_int_equal(fidelity.grade, 'B');
}

static void page_requests_are_a_stream(void **state)
{
	struct fidelity fidelity = judge("type lrutape:page_request\n");

	(void)state;
	assert_int_equal(fidelity.grade, 'S');
}

static void a_tape_of_nothing_is_d(void **state)
{
	struct fidelity fidelity = judge("type sched:sched_process_fork\n");

	(void)state;
	assert_int_equal(fidelity.grade, 'D');
	is(&fidelity, FIDELITY_MEMCGS, "inferred");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_in_its_own_group_on_a_new_kernel_is_a),
		cmocka_unit_test(a_named_group_began_with_pages),
		cmocka_unit_test(the_kernels_own_charges_are_best),
		cmocka_unit_test(without_get_pages_hits_are_inferred),
		cmocka_unit_test(losses_cost_the_best_grades),
		cmocka_unit_test(mglru_that_tells_no_isolations_is_silent),
		cmocka_unit_test(page_requests_are_a_stream),
		cmocka_unit_test(a_tape_of_nothing_is_d),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
