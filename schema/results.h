/* SPDX-License-Identifier: GPL-2.0-only */
/* What a results database is known by. Its tables and views stand in schema/results.sql. */
#ifndef SCHEMA_RESULTS_H
#define SCHEMA_RESULTS_H

/* PRAGMA application_id, bytes 68 to 71 of the file: "LRUT". */
#define RESULTS_APPLICATION_ID 0x4c525554

/*
 * PRAGMA user_version, bytes 60 to 63 of the file. Goes up when a table or view changes its
 * meaning or loses a column; a new table, view or column leaves it alone.
 */
#define RESULTS_SCHEMA_VERSION 1

/*
 * memcg_id of what belongs to no memcg that the tape names. Real ids are inode numbers, which
 * start at 1.
 */
#define RESULTS_NO_MEMCG 0

#endif
