// SPDX-License-Identifier: GPL-2.0-only
#include "capture/import_oracle_general.h"

#include "capture/import_page_request.h"

#define RECORD_BYTES 24
#define RECORDS_AT_ONCE 4096
/* Positions count requests: no file has that many, and text read as numbers lies above. */
#define POSITION_LIMIT (INT64_C(1) << 48)

static uint64_t little_endian(const unsigned char *p, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static int read_record(struct page_requests *requests, const unsigned char *record,
		       uint64_t *last_ns, uint64_t *nr_back)
{
	struct import_report *report = &requests->job->report;
	uint64_t ns = little_endian(record, 4) * 1000000000;
	uint64_t id = little_endian(record + 4, 8);
	uint64_t page_bytes = requests->job->options.page_bytes;
	uint64_t nr_pages = (little_endian(record + 12, 4) + page_bytes - 1) / page_bytes;
	int64_t next = (int64_t)little_endian(record + 16, 8);

	if (next != -1 && next != INT64_MAX &&
	    (next > POSITION_LIMIT || next <= (int64_t)report->nr_lines))
		return import_fail(
			requests->job, TAPE_ERR_CORRUPT,
			"record %llu, at byte %llu: its next request is at %lld, which cannot be: this "
			"is no oracleGeneral file",
			(unsigned long long)report->nr_lines + 1,
			(unsigned long long)report->nr_lines * RECORD_BYTES, (long long)next);
	if (ns < *last_ns) {
		++*nr_back;
		ns = *last_ns;
	}
	*last_ns = ns;
	report->nr_lines++;
	return page_requests_add(requests, ns, id, nr_pages ? nr_pages : 1);
}

int import_oracle_general(struct import_job *job)
{
	struct page_requests requests;
	unsigned char records[RECORDS_AT_ONCE * RECORD_BYTES];
	uint64_t last_ns = 0, nr_back = 0;
	size_t got = sizeof(records);
	int err = page_requests_begin(&requests, job);

	while (!err && got == sizeof(records)) {
		if (import_source_read(job->input, records, sizeof(records), &got)) {
			err = import_fail_input(job);
			break;
		}
		for (size_t i = 0; !err && i + RECORD_BYTES <= got; i += RECORD_BYTES)
			err = read_record(&requests, records + i, &last_ns, &nr_back);
		if (!err && got % RECORD_BYTES)
			err = import_fail(
				job, TAPE_ERR_CORRUPT,
				"ends inside record %llu: get it whole, or keep what came before with "
				"--keep",
				(unsigned long long)job->report.nr_lines + 1);
	}
	if (!err && !job->report.nr_events)
		err = import_fail(job, TAPE_ERR_CORRUPT, "it is empty");
	if (nr_back)
		import_note(
			&job->report,
			"in %llu records time goes back: they have the time of the record before them",
			(unsigned long long)nr_back);
	if (!err)
		err = page_requests_end(&requests);
	else if (page_requests_end(&requests))
		return job->problem.code;
	return err;
}
