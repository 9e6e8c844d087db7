/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an importer of another recorder's file gets and gives. An importer is one function and one
 * line of the table in import_command.c; it declares types, writes events and losses and tells
 * what it could not read. The command does the rest: options, blobs, messages, the file's name.
 */
#ifndef CAPTURE_IMPORT_H
#define CAPTURE_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/import_source.h"
#include "schema/tape_problem.h"
#include "schema/tape_writer.h"

#define IMPORT_NOTES_LIMIT 100u

struct import_options {
	uint32_t page_bytes; /* of the recorded machine, a power of two */
	unsigned int release; /* of the recorded kernel, major << 16 | minor, 0: unknown */
	const char *instance; /* of a source that has several buffers; NULL: the main one */
};

/* Lines or records of one event. */
struct import_tally {
	char *name;
	uint64_t nr_events;
	bool by_name; /* fields taken from name=value, not from a pattern for this event */
};

struct import_report {
	uint64_t nr_events;
	uint64_t nr_lines; /* or records */
	uint64_t nr_unread; /* of them, those that held something and became no event */
	uint64_t nr_losses, nr_lost; /* places, and events where the source has a count */
	uint64_t first_ns, last_ns; /* of the events */
	struct import_tally *tally;
	unsigned int nr_tallies;
	char *note[IMPORT_NOTES_LIMIT]; /* "line N: what: remedy", in the order found */
	unsigned int nr_notes; /* may be above the limit: those beyond it have no text */
	uint32_t nr_cpus; /* of the recorded machine as the source says, 0: it does not */
	char release[65]; /* of the recorded kernel as the source says, "": it does not */
};

struct import_job {
	struct import_source *input;
	struct tape_writer *tape;
	struct import_options options;
	struct import_report report;
	struct tape_problem problem; /* set when the importer fails */
};

/**
 * import_note() - tell the user something that is no failure
 * @format: a sentence without the file's name and without newline
 */
void __attribute__((format(printf, 2, 3)))
import_note(struct import_report *report, const char *format, ...);

/** import_add_tally() - Return: false when memory runs out. */
bool import_add_tally(struct import_report *report, const char *name, uint64_t nr_events,
		      bool by_name);

/** import_report_free() - free what it holds. */
void import_report_free(struct import_report *report);

/**
 * import_fail() - set job->problem
 * @format: "what, where: remedy", without the file's name
 * Return: @code
 */
int __attribute__((format(printf, 3, 4)))
import_fail(struct import_job *job, enum tape_error code, const char *format, ...);

/** import_fail_input() - the same for what import_source_problem() says. Return: its code. */
int import_fail_input(struct import_job *job);

/** import_fail_tape() - the same for what tape_writer_problem() says. Return: its code. */
int import_fail_tape(struct import_job *job);

#endif
