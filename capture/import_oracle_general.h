/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libCacheSim's oracleGeneral: records of 24 bytes, little endian, nothing before or behind them.
 *
 *   offset 0   u32  time, seconds
 *          4   u64  object
 *         12   u32  size, bytes
 *         16   s64  position of the object's next request, -1 or the greatest number: none
 */
#ifndef CAPTURE_IMPORT_ORACLE_GENERAL_H
#define CAPTURE_IMPORT_ORACLE_GENERAL_H

#include "capture/import.h"

/**
 * import_oracle_general() - read all of job->input into job->tape
 *
 * An object is a page_request of its size in base pages, at least one. The next position is not
 * kept, as the tape holds what it was made from; it serves to notice files that are something else.
 * A time before the last one is taken as the last one.
 *
 * Return: 0, or a negative enum tape_error with job->problem set; what came before is on the tape.
 */
int __attribute__((warn_unused_result)) import_oracle_general(struct import_job *job);

#endif
