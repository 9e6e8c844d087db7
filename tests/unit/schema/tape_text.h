/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests: small tapes, and all that a tape says as one text, so that two can be compared. */
#ifndef TESTS_UNIT_SCHEMA_TAPE_TEXT_H
#define TESTS_UNIT_SCHEMA_TAPE_TEXT_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/tape_reader.h"
#include "schema/tape_writer.h"

/* A scratch file's name, the same within a process. */
static inline const char *scratch_path(void)
{
	static char path[4096];
	const char *directory = getenv("TEST_TMP");

	if (!directory)
		directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	snprintf(path, sizeof(path), "%s/test_tape_%d.lrt", directory, (int)getpid());
	return path;
}

static inline void print_event(FILE *to, const struct tape_reader *reader,
			       const struct tape_event *event)
{
	const struct tape_type *type = tape_reader_type(reader, event->type);

	fprintf(to, "%" PRIu64 " cpu %u ", event->timestamp_ns, event->cpu);
	if (event->kind == EVENT_LOST) {
		fprintf(to, "lost %" PRId64 " since %" PRIu64 "\n",
			(int64_t)event->value[EVENT_LOST_COUNT], event->value[EVENT_LOST_SINCE_NS]);
		return;
	}
	fprintf(to, "pid %d flags %u preempt %u kind %u %s", event->pid, event->flags,
		event->preempt_count, event->kind, type->name);
	for (unsigned int i = 0; i < type->nr_fields; i++) {
		const struct tape_field *field = &type->field[i];
		const char *text;
		size_t size;

		if (field->kind == TAPE_FIELD_LEFT_OUT)
			continue;
		fprintf(to, " %s=", field->name);
		if (field->kind == TAPE_FIELD_INTEGER) {
			fprintf(to, "%" PRId64, (int64_t)event->value[field->slot]);
			continue;
		}
		text = tape_event_string(event, field->slot, &size);
		fprintf(to, "%zu:", size);
		for (size_t j = 0; j <= size; j++) /* the NUL as well */
			fprintf(to, "%02x", (unsigned char)text[j]);
	}
	fputc('\n', to);
}

/*
 * All events and blobs of a tape. *status: what ended it, 0 or an enum tape_error; *whole: neither
 * torn nor without its index. Return: owned by the caller; "" if the tape cannot be opened.
 */
static inline char *tape_text(const char *path, int *status, bool *whole)
{
	const struct tape_event *event;
	const struct tape_blob *blob;
	struct tape_problem problem;
	struct tape_reader *reader;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int got;

	*whole = false;
	*status = tape_reader_open(path, &reader, &problem);
	if (*status) {
		fclose(to);
		return text;
	}
	*whole = tape_reader_summary(reader)->has_index && !tape_reader_summary(reader)->torn;
	while ((got = tape_reader_next(reader, &event)) > 0)
		print_event(to, reader, event);
	*status = got;
	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++)
		fprintf(to, "blob %u %" PRIu64 " %s %zu %s\n", blob->moment, blob->timestamp_ns,
			blob->name, blob->size, blob->data);
	tape_reader_close(reader);
	fclose(to);
	return text;
}

static inline char *read_file(const char *path, size_t *size)
{
	FILE *from = fopen(path, "rb");
	char *data = NULL;
	long end;

	*size = 0;
	if (!from)
		return NULL;
	if (!fseek(from, 0, SEEK_END) && (end = ftell(from)) >= 0 && !fseek(from, 0, SEEK_SET)) {
		data = malloc((size_t)end + 1);
		*size = data ? fread(data, 1, (size_t)end, from) : 0;
	}
	fclose(from);
	return data;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
	FILE *to = fopen(path, "wb");

	if (!to || fwrite(data, 1, size, to) != size || fclose(to))
		abort();
}

#endif
