/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A copy of a tape that may be sent away: names replaced, identities exchanged one to one, so that
 * a replay of the copy decides the same.
 */
#ifndef CAPTURE_ANONYMIZE_H
#define CAPTURE_ANONYMIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/keyed_map.h"
#include "schema/tape_problem.h"

struct anonymize_options {
	struct hash_key key;
	bool shift_time; /* the first event gets ANONYMIZE_FIRST_NS */
};

#define ANONYMIZE_FIRST_NS UINT64_C(1000000000000)

struct anonymize_report {
	uint64_t nr_events, nr_losses;
	uint64_t nr_pids, nr_inodes, nr_cgroups, nr_minors, nr_pfn_blocks;
	uint64_t nr_files, nr_files_left_out;
	char **left_out; /* names of the pieces left out, each once, sorted */
	uint64_t nr_left_out;
	uint64_t nr_filters_left_out; /* kernel-side filters that name what is replaced */
	bool torn;
	uint64_t torn_at; /* byte */
};

/**
 * anonymize_tape() - copy a tape
 * @from, @to: file names; @to is created or truncated, and of no use after a failure
 * @report: filled; its names are freed by anonymize_report_free(), also after a failure
 * @problem: filled on failure
 *
 * Return: 0 or a negative enum tape_error.
 */
int __attribute__((warn_unused_result))
anonymize_tape(const char *from, const char *to, const struct anonymize_options *options,
	       struct anonymize_report *report, struct tape_problem *problem);

/** anonymize_report_free() - free the names. */
void anonymize_report_free(struct anonymize_report *report);

#endif
