/* SPDX-License-Identifier: GPL-2.0-only */
/* What was in memory before the first event: pages on LRU lists, and cached pages of named files. */
#ifndef CAPTURE_WARM_START_H
#define CAPTURE_WARM_START_H

#include "capture/capture_problem.h"
#include "capture/snapshot.h"

/**
 * warm_start_pages() - all pages on LRU lists, as lrutape/warm_pages/N
 * Take it when tracing is on: what changes meanwhile is in events. About 1 s for 25 GiB.
 * Return: 0, or -1 with the problem told, also for one of the tape.
 */
int __attribute__((warn_unused_result))
warm_start_pages(const struct snapshot_source *source, struct capture_problem *problem);

/**
 * warm_start_files() - cached pages of files, as lrutape/warm_files
 * @path: their names
 * Return: as above.
 */
int __attribute__((warn_unused_result))
warm_start_files(const struct snapshot_source *source, char *const *path, unsigned int nr,
		 struct capture_problem *problem);

#endif
