/* SPDX-License-Identifier: GPL-2.0-only */
/* What importers of plain access streams share: the type lrutape:page_request and its one stream. */
#ifndef CAPTURE_IMPORT_PAGE_REQUEST_H
#define CAPTURE_IMPORT_PAGE_REQUEST_H

#include "capture/import.h"

#define PAGE_REQUEST_PID 1 /* such streams have no tasks: one stands for all */

struct page_requests {
	struct import_job *job;
	struct tape_stream *stream;
	uint16_t type;
};

/** page_requests_begin() - declare the type. Return: 0, or negative with job->problem set. */
int __attribute__((warn_unused_result))
page_requests_begin(struct page_requests *requests, struct import_job *job);

/**
 * page_requests_add() - write one event and count it
 * @ns: not before the last one
 * @id: page or object
 * @nr_pages: base pages
 * Return: 0, or negative with job->problem set.
 */
int __attribute__((warn_unused_result))
page_requests_add(struct page_requests *requests, uint64_t ns, uint64_t id, uint64_t nr_pages);

/** page_requests_end() - complete the report. Return: as the others. */
int __attribute__((warn_unused_result)) page_requests_end(struct page_requests *requests);

#endif
