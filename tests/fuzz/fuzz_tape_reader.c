// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a tape, first as they are, then with all checksums put right, because otherwise
 * hardly any input would get past the first one. What opens is read to its end, twice, and its
 * types and blobs are looked at.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "schema/tape_reader.h"
#include "schema/tape_types.h"
#include "schema/task_names.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/fuzz/fuzz_repair.h"

static uint64_t touch(const char *bytes, size_t size)
{
	uint64_t sum = (uint8_t)bytes[size]; /* the NUL as well */

	for (size_t i = 0; i < size; i++)
		sum += (uint8_t)bytes[i];
	return sum;
}

/* Return: a sum of all that an event says. */
static uint64_t touch_event(const struct tape_reader *reader, const struct tape_event *event)
{
	const struct tape_type *type = tape_reader_type(reader, event->type);
	uint64_t sum = event->timestamp_ns;
	const char *text;
	size_t size;

	if (event->kind == EVENT_LOST)
		return sum + event->value[EVENT_LOST_COUNT] + event->value[EVENT_LOST_SINCE_NS];
	for (unsigned int i = 0; i < type->nr_slots; i++)
		sum += event->value[i];
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		if (type->field[i].kind != TAPE_FIELD_STRING &&
		    type->field[i].kind != TAPE_FIELD_BYTES)
			continue;
		text = tape_event_string(event, type->field[i].slot, &size);
		sum += touch(text, size);
	}
	return sum;
}

static uint64_t read_events(struct tape_reader *reader, struct task_names *names, int *status)
{
	const struct tape_event *event;
	uint64_t sum = 0, last_ns = 0;

	while ((*status = tape_reader_next(reader, &event)) > 0) {
		assert(event->timestamp_ns >= last_ns);
		last_ns = event->timestamp_ns;
		if (names && event->kind != EVENT_LOST)
			task_names_note(names, event);
		sum += touch_event(reader, event);
	}
	return sum;
}

static void read_tape(const char *path)
{
	const struct tape_blob *blob;
	struct tape_problem problem;
	struct tape_reader *reader;
	struct task_names *names;
	int status, again;
	uint64_t sum;

	if (tape_reader_open(path, &reader, &problem)) {
		assert(problem.code != TAPE_OK && problem.text[0]);
		return;
	}
	for (unsigned int i = 0; tape_reader_type(reader, i); i++)
		assert(tape_reader_type(reader, i)->number == i);
	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++)
		touch(blob->data, blob->size);
	names = task_names_new(reader);
	sum = read_events(reader, names, &status);
	assert(status == 0 || tape_reader_problem(reader)->text[0]);
	task_names_free(names);
	assert(tape_reader_rewind(reader) == 0);
	assert(read_events(reader, NULL, &again) == sum && again == status);
	if (tape_reader_check(reader))
		assert(tape_reader_problem(reader)->text[0]);
	tape_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("tape", MFD_CLOEXEC);
	uint8_t *repaired = malloc(size + 1);
	char path[64];

	if (fd < 0 || !repaired)
		abort();
	memcpy(repaired, data, size);
	fuzz_repair_checksums(repaired, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	read_tape(path);
	if (pwrite(fd, repaired, size, 0) != (ssize_t)size)
		abort();
	read_tape(path);
	free(repaired);
	close(fd);
	return 0;
}
