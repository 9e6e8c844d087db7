// SPDX-License-Identifier: GPL-2.0-only
#include "capture/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void import_note(struct import_report *report, const char *format, ...)
{
	va_list args;
	char *text;

	if (report->nr_notes++ >= IMPORT_NOTES_LIMIT)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	report->note[report->nr_notes - 1] = text;
}

bool import_add_tally(struct import_report *report, const char *name, uint64_t nr_events,
		      bool by_name)
{
	struct import_tally *grown = reallocarray(report->tally, report->nr_tallies + 1,
						  sizeof(*grown));

	if (!grown)
		return false;
	report->tally = grown;
	grown += report->nr_tallies;
	grown->name = strdup(name);
	if (!grown->name)
		return false;
	grown->nr_events = nr_events;
	grown->by_name = by_name;
	report->nr_tallies++;
	return true;
}

void import_report_free(struct import_report *report)
{
	for (unsigned int i = 0; i < report->nr_tallies; i++)
		free(report->tally[i].name);
	free(report->tally);
	for (unsigned int i = 0; i < report->nr_notes && i < IMPORT_NOTES_LIMIT; i++)
		free(report->note[i]);
	*report = (struct import_report){ 0 };
}

int import_fail(struct import_job *job, enum tape_error code, const char *format, ...)
{
	size_t used;
	va_list args;

	job->problem.code = code;
	job->problem.byte = 0;
	used = (size_t)snprintf(job->problem.text, sizeof(job->problem.text),
				"%.100s: ", import_source_path(job->input));
	va_start(args, format);
	vsnprintf(job->problem.text + used, sizeof(job->problem.text) - used, format, args);
	va_end(args);
	return code;
}

int import_fail_input(struct import_job *job)
{
	job->problem = *import_source_problem(job->input);
	return job->problem.code;
}

int import_fail_tape(struct import_job *job)
{
	job->problem = *tape_writer_problem(job->tape);
	/* Never let a failure look like success, whatever the writer remembers of it. */
	if (job->problem.code == TAPE_OK)
		return import_fail(job, TAPE_ERR_MEMORY, "the tape takes no more: no memory");
	return job->problem.code;
}
