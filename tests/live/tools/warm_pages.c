// SPDX-License-Identifier: GPL-2.0-only
/* warm_pages TAPE: pages that its warm start lists, beside what /proc/vmstat counted at the same moment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/tape_reader.h"
#include "schema/warm_pages.h"

static uint64_t counted(const struct tape_reader *reader, const char *name)
{
	const struct tape_blob *blob = tape_reader_find_blob(reader, TAPE_MOMENT_START,
							     "/proc/vmstat");
	const char *at = blob ? strstr(blob->data, name) : NULL;

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	uint64_t nr = 0, nr_anon = 0, nr_file = 0, end_pfn = 0;
	const struct tape_blob *blob;
	struct tape_reader *reader;
	struct tape_problem problem;
	char name[64];

	if (argc != 2 || tape_reader_open(argv[1], &reader, &problem)) {
		fputs("usage: warm_pages TAPE\n", stderr);
		return 2;
	}
	for (unsigned int i = 0;; i++) {
		struct warm_pages_reader pages;
		struct warm_run run;
		int got;

		snprintf(name, sizeof(name), "lrutape/warm_pages/%u", i);
		blob = tape_reader_find_blob(reader, TAPE_MOMENT_START, name);
		if (!blob)
			break;
		if (warm_pages_open(&pages, blob->data, blob->size) || pages.first_pfn != end_pfn)
			return 1;
		end_pfn = pages.end_pfn;
		while ((got = warm_pages_next(&pages, &run)) > 0) {
			uint64_t nr_pages = run.nr_folios << run.order;

			nr += nr_pages;
			if (run.flags & WARM_PAGE_UNEVICTABLE)
				continue;
			if (run.flags & (WARM_PAGE_ANON | WARM_PAGE_SWAPBACKED))
				nr_anon += nr_pages;
			else
				nr_file += nr_pages;
		}
		if (got < 0)
			return 1;
	}
	printf("listed %" PRIu64 " anon %" PRIu64 " file %" PRIu64 " counted_anon %" PRIu64
	       " counted_file %" PRIu64 "\n",
	       nr, nr_anon, nr_file,
	       counted(reader, "nr_inactive_anon ") + counted(reader, "nr_active_anon "),
	       counted(reader, "nr_inactive_file ") + counted(reader, "nr_active_file "));
	tape_reader_close(reader);
	return 0;
}
