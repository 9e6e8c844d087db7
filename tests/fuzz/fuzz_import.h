/* SPDX-License-Identifier: GPL-2.0-only */
/* For fuzz targets of importers: the tape that an import makes of any bytes, and what its reader finds. */
#ifndef TESTS_FUZZ_FUZZ_IMPORT_H
#define TESTS_FUZZ_FUZZ_IMPORT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/import.h"
#include "schema/tape_reader.h"
#include "schema/tape_writer.h"

static inline void read_back(const char *path, const struct import_report *report)
{
	struct tape_problem problem;
	struct tape_reader *reader;
	const struct tape_event *event;
	uint64_t nr_events = 0, nr_losses = 0;
	int ret;

	if (tape_reader_open(path, &reader, &problem)) {
		fprintf(stderr, "%s\n", problem.text);
		abort();
	}
	while ((ret = tape_reader_next(reader, &event)) > 0) {
		if (event->kind == EVENT_LOST)
			nr_losses++;
		else
			nr_events++;
	}
	assert(ret == 0);
	assert(nr_events == report->nr_events);
	assert(nr_losses <= report->nr_losses); /* neighbours may be one on the tape */
	tape_reader_close(reader);
}

/* @writer_may_refuse: the importer hands on what the writer refuses, which keeps what came before */
static inline void import_and_read_back(int (*import)(struct import_job *job), const uint8_t *data,
					size_t size, const char *instance, bool writer_may_refuse)
{
	struct import_job job = { .options = { .page_bytes = 4096, .instance = instance } };
	struct tape_problem problem;
	char path[64];
	int fd = memfd_create("fuzz", 0);
	bool refused;

	assert(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (import_source_open_memory(data, size, &job.input, &problem))
		abort();
	if (tape_writer_create(path, NULL, &job.tape, &problem))
		abort();
	(void)!import(&job);
	refused = writer_may_refuse && tape_writer_problem(job.tape)->code != TAPE_OK;
	if (tape_writer_finish(job.tape, &problem) && !refused)
		abort();
	if (job.report.nr_events && !refused)
		read_back(path, &job.report);
	import_source_close(job.input);
	import_report_free(&job.report);
	close(fd);
}

#endif
