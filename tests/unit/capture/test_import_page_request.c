// SPDX-License-Identifier: GPL-2.0-only
/* Access streams without a kernel behind them: oracleGeneral and plain page numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/import_oracle_general.h"
#include "capture/import_pages.h"

struct imported {
	struct import_job job;
	int err;
	struct tape_reader *reader;
	char path[256];
};

static void import_bytes(struct imported *imported, int (*import)(struct import_job *job),
			 const void *bytes, size_t size)
{
	const char *dir = getenv("TEST_TMP") ? getenv("TEST_TMP") : "/tmp";
	struct tape_problem problem;

	memset(imported, 0, sizeof(*imported));
	snprintf(imported->path, sizeof(imported->path), "%s/requests-%d.lrt", dir, (int)getpid());
	assert_int_equal(import_source_open_memory(bytes, size, &imported->job.input, &problem), 0);
	imported->job.options.page_bytes = 4096;
	assert_int_equal(tape_writer_create(imported->path, NULL, &imported->job.tape, &problem),
			 0);
	imported->err = import(&imported->job);
	assert_int_equal(tape_writer_finish(imported->job.tape, &problem), 0);
	if (imported->job.report.nr_events)
		assert_int_equal(tape_reader_open(imported->path, &imported->reader, &problem), 0);
}

static void imported_end(struct imported *imported)
{
	tape_reader_close(imported->reader);
	import_source_close(imported->job.input);
	import_report_free(&imported->job.report);
	unlink(imported->path);
}

static void assert_request(struct imported *imported, uint64_t ns, uint64_t id, uint64_t nr_pages)
{
	const struct tape_event *event;

	assert_int_equal(tape_reader_next(imported->reader, &event), 1);
	assert_int_equal(event->kind, EVENT_PAGE_REQUEST);
	assert_int_equal(event->timestamp_ns, ns);
	assert_int_equal(event->value[PAGE_REQUEST_ID], id);
	assert_int_equal(event->value[PAGE_REQUEST_SIZE], nr_pages);
}

static void put_record(unsigned char *to, uint32_t time, uint64_t id, uint32_t size, int64_t next)
{
	memcpy(to, &time, 4);
	memcpy(to + 4, &id, 8);
	memcpy(to + 12, &size, 4);
	memcpy(to + 16, &next, 8);
}

static void records_become_requests_in_pages(void **state)
{
	unsigned char file[4 * 24];
	struct imported imported;

	(void)state;
	put_record(file, 10, 0x1122334455667788, 1, 3);
	put_record(file + 24, 10, 2, 4096, -1);
	put_record(file + 48, 12, 3, 4097, INT64_MAX);
	put_record(file + 72, 11, 0x1122334455667788, 0, -1); /* time goes back */
	import_bytes(&imported, import_oracle_general, file, sizeof(file));
	assert_int_equal(imported.err, 0);
	assert_request(&imported, 10000000000, 0x1122334455667788, 1);
	assert_request(&imported, 10000000000, 2, 1);
	assert_request(&imported, 12000000000, 3, 2);
	assert_request(&imported, 12000000000, 0x1122334455667788, 1);
	assert_int_equal(imported.job.report.nr_notes, 1);
	imported_end(&imported);
}

static void a_cut_record_is_refused(void **state)
{
	unsigned char file[2 * 24];
	struct imported imported;

	(void)state;
	put_record(file, 10, 1, 1, -1);
	put_record(file + 24, 10, 2, 1, -1);
	import_bytes(&imported, import_oracle_general, file, sizeof(file) - 1);
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	assert_non_null(strstr(imported.job.problem.text, "ends inside record 2"));
	assert_int_equal(imported.job.report.nr_events, 1);
	imported_end(&imported);
	import_bytes(&imported, import_oracle_general, file, 0);
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	imported_end(&imported);
}

static void other_files_are_no_oracle_general(void **state)
{
	static const char text[] = "1,2,3,4\n5,6,7,8\n9,10,11,12\n13,14,15,16\n";
	unsigned char file[2 * 24];
	struct imported imported;

	(void)state;
	import_bytes(&imported, import_oracle_general, text, sizeof(text) - 1);
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	assert_non_null(strstr(imported.job.problem.text, "record 1"));
	imported_end(&imported);
	put_record(file, 10, 1, 1, -1);
	put_record(file + 24, 10, 2, 1, 1); /* a next request that is not after this one */
	import_bytes(&imported, import_oracle_general, file, sizeof(file));
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	assert_non_null(strstr(imported.job.problem.text, "record 2"));
	imported_end(&imported);
}

static void many_records_cross_every_buffer(void **state)
{
	size_t nr = 100000;
	unsigned char *file = malloc(nr * 24);
	struct imported imported;

	(void)state;
	for (size_t i = 0; i < nr; i++)
		put_record(file + i * 24, (uint32_t)i, i * 7, 4096, -1);
	import_bytes(&imported, import_oracle_general, file, nr * 24);
	assert_int_equal(imported.err, 0);
	assert_int_equal(imported.job.report.nr_events, nr);
	for (size_t i = 0; i < nr; i++)
		assert_request(&imported, i * 1000000000, i * 7, 1);
	imported_end(&imported);
	free(file);
}

static void lines_become_requests(void **state)
{
	static const char text[] = "# my loop\n7\n\n 0x1F \n18446744073709551615 # the last\n7";
	struct imported imported;

	(void)state;
	import_bytes(&imported, import_pages, text, sizeof(text) - 1);
	assert_int_equal(imported.err, 0);
	assert_int_equal(imported.job.report.nr_unread, 0);
	assert_request(&imported, 1000, 7, 1);
	assert_request(&imported, 2000, 31, 1);
	assert_request(&imported, 3000, UINT64_MAX, 1);
	assert_request(&imported, 4000, 7, 1);
	imported_end(&imported);
}

static void other_lines_are_counted(void **state)
{
	static const char text[] = "7\nseven\n-7\n0x\n7 8\n18446744073709551616\n0x-1\n";
	struct imported imported;

	(void)state;
	import_bytes(&imported, import_pages, text, sizeof(text) - 1);
	assert_int_equal(imported.err, 0);
	assert_int_equal(imported.job.report.nr_events, 1);
	assert_int_equal(imported.job.report.nr_unread, 6);
	assert_non_null(strstr(imported.job.report.note[0], "line 2"));
	imported_end(&imported);
	import_bytes(&imported, import_pages, "none\n", 5);
	assert_int_equal(imported.err, TAPE_ERR_CORRUPT);
	imported_end(&imported);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_become_requests_in_pages),
		cmocka_unit_test(a_cut_record_is_refused),
		cmocka_unit_test(other_files_are_no_oracle_general),
		cmocka_unit_test(many_records_cross_every_buffer),
		cmocka_unit_test(lines_become_requests),
		cmocka_unit_test(other_lines_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
