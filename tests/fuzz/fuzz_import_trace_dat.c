// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as trace-cmd's file: the main buffer, and an instance called "tasks". What the import counts must be what the tape's
 * reader finds, and a tape that was finished must be readable to its end.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/import_trace_dat.h"
#include "schema/tape_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_back(const char *path, const struct import_report *report)
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

static void import(const uint8_t *data, size_t size, const char *instance)
{
	struct import_job job = { .options = { .page_bytes = 4096, .instance = instance } };
	struct tape_problem problem;
	char path[64];
	int fd = memfd_create("fuzz", 0);
	bool tape_is_good;

	assert(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (import_source_open_memory(data, size, &job.input, &problem))
		abort();
	if (tape_writer_create(path, NULL, &job.tape, &problem))
		abort();
	(void)!import_trace_dat(&job);
	/* A record whose text lies outside of it is refused by the writer, which keeps what came before. */
	tape_is_good = tape_writer_problem(job.tape)->code == TAPE_OK;
	if (tape_writer_finish(job.tape, &problem) && tape_is_good)
		abort();
	if (job.report.nr_events && tape_is_good)
		read_back(path, &job.report);
	import_source_close(job.input);
	import_report_free(&job.report);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import(data, size, NULL);
	import(data, size, "tasks");
	return 0;
}

#ifndef LRUTAPE_LIBFUZZER
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		static uint8_t bytes[1 << 20];
		size_t size;

		if (!file) {
			perror(argv[i]);
			return 1;
		}
		size = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		LLVMFuzzerTestOneInput(bytes, size);
	}
	return 0;
}
#endif
