/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots of a tape without what would tell whose machine it was: by a table of the files that
 * may stay, anonymize_files.def.
 */
#ifndef CAPTURE_ANONYMIZE_FILES_H
#define CAPTURE_ANONYMIZE_FILES_H

#include "capture/anonymize_names.h"
#include "schema/tape_reader.h"

/**
 * anonymize_files_prepare() - learn what the others need
 * @names: the inode of the cgroups' root and where they are mounted are set if the tape tells it
 */
void anonymize_files_prepare(const struct tape_reader *reader, struct anonymize_names *names);

/**
 * anonymize_file() - what becomes of a snapshot's piece
 * @blob: as read
 * @shift_ns: added to times in it
 * @out: name and data, owned by the caller's free(); NULL both where the piece is left out
 *
 * Return: 0, or -1 without memory.
 */
int __attribute__((warn_unused_result))
anonymize_file(struct anonymize_names *names, const struct tape_blob *blob, int64_t shift_ns,
	       struct tape_blob *out);

#endif
