/* SPDX-License-Identifier: GPL-2.0-only */
/* The simplest access stream: a page number a line, decimal or with 0x, and '#' before remarks. */
#ifndef CAPTURE_IMPORT_PAGES_H
#define CAPTURE_IMPORT_PAGES_H

#include "capture/import.h"

/**
 * import_pages() - read all of job->input into job->tape
 *
 * Each line is a page_request of one base page. Such files have no time: requests are put one
 * microsecond apart.
 *
 * Return: 0, or a negative enum tape_error with job->problem set; what came before is on the tape.
 */
int __attribute__((warn_unused_result)) import_pages(struct import_job *job);

#endif
