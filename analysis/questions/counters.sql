-- SPDX-License-Identifier: GPL-2.0-only
-- what each run counted, all memcgs together, counters of zero left out
SELECT run_id AS run, policy, tape, memory_pages, name AS counter, value, unit
  FROM v_counter_total
  JOIN v_run USING (run_id)
 WHERE value <> 0
 ORDER BY run_id, number;
