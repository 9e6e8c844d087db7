/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a warm start, blobs lrutape/warm_pages/N, whose blocks of page frames change places: the runs
 * of each block go where the block goes, and are told by rising pfn again.
 */
#ifndef CAPTURE_ANONYMIZE_WARM_H
#define CAPTURE_ANONYMIZE_WARM_H

#include <stdbool.h>

#include "capture/anonymize_names.h"
#include "capture/anonymize_pfn.h"
#include "schema/tape_reader.h"
#include "schema/tape_writer.h"

/** anonymize_warm_is() - whether this piece of a tape is one of them. */
bool anonymize_warm_is(const struct tape_blob *blob);

/**
 * anonymize_warm_learn() - tell @pfns of all blocks that they speak of
 * @usable: set to false if one of them is damaged or of another version: then all must be left out
 * Return: 0 or -1 without memory.
 */
int __attribute__((warn_unused_result))
anonymize_warm_learn(const struct tape_reader *reader, struct pfn_map *pfns, bool *usable);

/**
 * anonymize_warm_copy() - write them anew
 * @timestamp_ns: when they were taken, as the copy has it
 * @nr_blobs: set to how many there are now
 * Return: 0, -1 without memory or with names->out_of_memory, or an error of tape_writer_add_blob().
 */
int __attribute__((warn_unused_result))
anonymize_warm_copy(const struct tape_reader *reader, struct pfn_map *pfns,
		    struct anonymize_names *names, struct tape_writer *writer,
		    uint64_t timestamp_ns, unsigned int *nr_blobs);

#endif
