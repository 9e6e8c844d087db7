// SPDX-License-Identifier: GPL-2.0-only
#include "capture/import_page_request.h"

int page_requests_begin(struct page_requests *requests, struct import_job *job)
{
	static const struct tape_field fields[] = {
		{ .name = "id",
		  .ctype = "u64",
		  .offset = 8,
		  .size = 8,
		  .kind = TAPE_FIELD_INTEGER },
		{ .name = "size",
		  .ctype = "u64",
		  .offset = 16,
		  .size = 8,
		  .kind = TAPE_FIELD_INTEGER },
	};
	const struct event_info *info = event_info_by_kind(EVENT_PAGE_REQUEST);
	struct tape_type type = {
		.system = info->system,
		.name = info->name,
		.format = "",
		.filter = "",
		.field = fields,
		.nr_fields = 2,
	};
	static const char task[] = "1 1 0 requests\n";
	struct tape_blob blob = {
		.moment = TAPE_MOMENT_START,
		.name = "lrutape/tasks",
		.data = task,
		.size = sizeof(task) - 1,
	};

	requests->job = job;
	if (tape_writer_add_type(job->tape, &type, &requests->type) ||
	    tape_writer_add_blob(job->tape, &blob))
		return import_fail_tape(job);
	requests->stream = tape_writer_stream(job->tape, 0);
	return requests->stream ? 0 : import_fail_tape(job);
}

int page_requests_add(struct page_requests *requests, uint64_t ns, uint64_t id, uint64_t nr_pages)
{
	struct import_report *report = &requests->job->report;
	uint64_t value[2];
	struct tape_event event = {
		.timestamp_ns = ns,
		.pid = PAGE_REQUEST_PID,
		.kind = EVENT_PAGE_REQUEST,
		.type = requests->type,
		.value = value,
		.strings = "",
	};

	value[PAGE_REQUEST_ID] = id;
	value[PAGE_REQUEST_SIZE] = nr_pages;
	if (!report->nr_events++)
		report->first_ns = ns;
	report->last_ns = ns;
	return tape_stream_event(requests->stream, &event) ? import_fail_tape(requests->job) : 0;
}

int page_requests_end(struct page_requests *requests)
{
	struct import_report *report = &requests->job->report;

	if (report->nr_events &&
	    !import_add_tally(report, "page_request", report->nr_events, false))
		return import_fail(requests->job, TAPE_ERR_MEMORY, "no memory for the report");
	return 0;
}
