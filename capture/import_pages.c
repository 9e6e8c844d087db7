// SPDX-License-Identifier: GPL-2.0-only
#include "capture/import_pages.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/import_page_request.h"

#define REQUEST_GAP_NS 1000

/* Return: 1: *page is set. 0: a remark or nothing. -1: neither. */
static int read_page(const char *text, uint64_t *page)
{
	int base = 10;
	char *end;

	while (*text == ' ' || *text == '\t')
		text++;
	if (!*text || *text == '#')
		return 0;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
		if (*text == '+' || *text == '-' || *text == ' ')
			return -1;
	} else if (*text < '0' || *text > '9') {
		return -1;
	}
	errno = 0;
	*page = strtoull(text, &end, base);
	if (errno || end == text)
		return -1;
	while (*end == ' ' || *end == '\t')
		end++;
	return *end && *end != '#' ? -1 : 1;
}

int import_pages(struct import_job *job)
{
	struct import_report *report = &job->report;
	struct page_requests requests;
	struct import_line line;
	uint64_t first_unread = 0;
	int err = page_requests_begin(&requests, job), ret = 0;

	while (!err && (ret = import_source_line(job->input, &line)) > 0) {
		uint64_t page;
		int is_page = line.cut ? -1 : read_page(line.text, &page);

		report->nr_lines++;
		if (is_page < 0) {
			if (!report->nr_unread++)
				first_unread = line.number;
		} else if (is_page) {
			err = page_requests_add(&requests, (report->nr_events + 1) * REQUEST_GAP_NS,
						page, 1);
		}
	}
	if (!err && ret < 0)
		err = import_fail_input(job);
	if (report->nr_unread)
		import_note(report,
			    "line %llu: is no page number: not on the tape (%llu such lines)",
			    (unsigned long long)first_unread,
			    (unsigned long long)report->nr_unread);
	if (!err && !report->nr_events)
		err = import_fail(
			job, TAPE_ERR_CORRUPT,
			"none of its %llu lines is a page number: write one a line, decimal or 0x",
			(unsigned long long)report->nr_lines);
	if (!err)
		err = page_requests_end(&requests);
	else if (page_requests_end(&requests))
		return job->problem.code;
	return err;
}
