-- SPDX-License-Identifier: GPL-2.0-only
-- misses and share of accesses missed, by policy and memory size
SELECT tape, policy, memory_pages, memory_mib, seed, accesses, missed_accesses,
       round(missed_percent, 3) AS missed_percent, misses AS missed_pages,
       readahead AS readahead_pages
  FROM v_miss
 ORDER BY tape_id, policy, memory_pages IS NULL, memory_pages, seed;
