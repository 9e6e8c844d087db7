/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes on folio_referenced(): what reclaim read in page tables of each folio that it looked at. A return probe that
 * can also fetch arguments (Linux 6.9) makes one event of a look, an older kernel makes two:
 *
 *   lrutape:folio_look         where it begins: the folio
 *   lrutape:folio_referenced   where it ends: how many page table entries were young; on 6.9 or newer the folio as well,
 *                              and the flags of the mappings that they are in
 *
 * In the kernel they are the events of a group of our own, lrutape_PID, in kprobe_events.
 */
#ifndef CAPTURE_REFERENCED_PROBE_H
#define CAPTURE_REFERENCED_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture_problem.h"

struct trace_instance;

struct referenced_probe {
	char group[32]; /* "": there is none */
	bool has_look; /* two events */
	/* A folio's address is that of its first page's struct page, and these lie in one row. */
	uint64_t first_page; /* address of that of frame 0; as if there were one */
	uint64_t page_bytes; /* of a struct page */
};

/** referenced_probe_clean_stale() - remove probes of dead recorders, with a line to @say for each recorder. */
void referenced_probe_clean_stale(const char *tracefs, FILE *say);

/**
 * referenced_probe_make() - define the events; nothing is enabled
 * @probe: set; ends with referenced_probe_remove(), after the instance that they were enabled in is gone
 * Return: 0, or -1 with the problem told and nothing left behind.
 */
int __attribute__((warn_unused_result))
referenced_probe_make(const char *tracefs, struct referenced_probe *probe,
		      struct capture_problem *problem);

/**
 * referenced_probe_calibrate() - find out how folios' addresses become frame numbers
 * Some folios of our own are put on LRU lists, whose events have both.
 * @instance: not tracing and with no event enabled; its buffers are empty again afterwards
 * Return: 0, or -1 with the problem told.
 */
int __attribute__((warn_unused_result))
referenced_probe_calibrate(struct referenced_probe *probe, struct trace_instance *instance,
			   struct capture_problem *problem);

/**
 * referenced_probe_learn() - the same from the text of such events
 * Return: 0, or -1: it has not two different frames, or they do not lie in one row.
 */
int __attribute__((warn_unused_result))
referenced_probe_learn(struct referenced_probe *probe, const char *text);

/**
 * referenced_probe_pfn() - frame of a folio
 * Return: 0 for an address that is none of theirs.
 */
static inline uint64_t referenced_probe_pfn(const struct referenced_probe *probe, uint64_t folio)
{
	return folio < probe->first_page ? 0 : (folio - probe->first_page) / probe->page_bytes;
}

/** referenced_probe_remove() - undefine the events. Return: 0 or a negative errno. */
int referenced_probe_remove(const char *tracefs, struct referenced_probe *probe);

#endif
