-- SPDX-License-Identifier: GPL-2.0-only
-- lruvec lock holds of each run by site, and folios per hold
SELECT run_id AS run, policy, tape, memory_pages, site, holds, folios,
       round(folios_per_hold, 2) AS folios_per_hold
  FROM v_lock_total
  JOIN v_run USING (run_id)
 WHERE holds > 0
 ORDER BY run_id, number = 0, number;
