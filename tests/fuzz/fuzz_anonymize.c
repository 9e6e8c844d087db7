// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a piece of a tape's snapshots, after its name and a newline: what becomes of it is a text of
 * the size that is said, under a name of its own. A piece of a warm start's pages is read as one, too.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/anonymize_files.h"
#include "capture/anonymize_warm.h"
#include "schema/tape_writer.h"
#include "schema/warm_pages.h"
#include "tests/fuzz/fuzz_main.h"

static const struct hash_key key = { { 1, 2 } };

static void replace_file(const struct tape_blob *blob)
{
	struct anonymize_names names;
	struct tape_blob out;

	anonymize_names_init(&names, &key);
	if (anonymize_file(&names, blob, 1000, &out))
		abort();
	if (out.name) {
		assert(strlen(out.name) > 0);
		assert(out.data[out.size] == '\0');
	}
	free((char *)out.name);
	free((char *)out.data);
	anonymize_names_free(&names);
}

static void check_pages(struct tape_reader *reader)
{
	const struct tape_blob *blob;
	uint64_t end_pfn = 0;

	for (size_t i = 0; (blob = tape_reader_blob(reader, i)); i++) {
		struct warm_pages_reader pages;
		struct warm_run run;
		int got;

		if (warm_pages_open(&pages, blob->data, blob->size))
			abort();
		assert(pages.first_pfn >= end_pfn);
		end_pfn = pages.end_pfn;
		while ((got = warm_pages_next(&pages, &run)) > 0)
			;
		assert(got == 0);
	}
}

/* On two tapes, for that is how they are read and written. */
static void replace_pages(const struct tape_blob *blob)
{
	int from_fd = memfd_create("from", 0), to_fd = memfd_create("to", 0);
	struct anonymize_names names;
	struct pfn_map pfns = { 0 };
	struct tape_writer *writer;
	struct tape_problem problem;
	struct tape_reader *reader;
	char from[64], to[64];
	unsigned int nr_blobs;
	bool usable;

	assert(from_fd >= 0 && to_fd >= 0);
	snprintf(from, sizeof(from), "/proc/self/fd/%d", from_fd);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", to_fd);
	anonymize_names_init(&names, &key);
	if (tape_writer_create(from, NULL, &writer, &problem) ||
	    tape_writer_add_blob(writer, blob) || tape_writer_add_blob(writer, blob) ||
	    tape_writer_finish(writer, &problem) || tape_reader_open(from, &reader, &problem) ||
	    tape_writer_create(to, NULL, &writer, &problem) ||
	    anonymize_warm_learn(reader, &pfns, &usable))
		abort();
	pfn_map_shuffle(&pfns, &key, "");
	if (usable && anonymize_warm_copy(reader, &pfns, &names, writer, 0, &nr_blobs))
		abort();
	tape_reader_close(reader);
	if (tape_writer_finish(writer, &problem) || tape_reader_open(to, &reader, &problem))
		abort();
	check_pages(reader);
	tape_reader_close(reader);
	pfn_map_free(&pfns);
	anonymize_names_free(&names);
	close(from_fd);
	close(to_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct tape_blob blob = { .moment = TAPE_MOMENT_START };
	char *newline;

	assert(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	newline = memchr(text, '\n', size);
	if (newline && newline != text && !memchr(text, '\0', (size_t)(newline - text))) {
		*newline = '\0';
		blob.name = text;
		blob.data = newline + 1;
		blob.size = size - (size_t)(newline + 1 - text);
		replace_file(&blob);
		if (anonymize_warm_is(&blob) && strlen(blob.name) < 4096)
			replace_pages(&blob);
	}
	free(text);
	return 0;
}
