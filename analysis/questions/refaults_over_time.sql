-- SPDX-License-Identifier: GPL-2.0-only
-- refaults, anon and file, between each two recorded moments of each run
SELECT run_id AS run, policy, tape, memory_pages, round(seconds, 3) AS seconds,
       sum(CASE name WHEN 'workingset_refault_anon' THEN increase END) AS refault_anon,
       sum(CASE name WHEN 'workingset_refault_file' THEN increase END) AS refault_file
  FROM v_counter_at
  JOIN v_run USING (run_id)
 WHERE name IN ('workingset_refault_anon', 'workingset_refault_file')
 GROUP BY run_id, timestamp_ns
 ORDER BY run_id, timestamp_ns;
