-- SPDX-License-Identifier: GPL-2.0-only
-- per-CPU batch drains of each run by batch and cause
SELECT run_id AS run, policy, tape, memory_pages, batch, cause, drains, folios,
       round(folios_per_drain, 2) AS folios_per_drain,
       round(drains_per_1000_folios, 2) AS drains_per_1000_folios
  FROM v_drain
  JOIN v_run USING (run_id)
 WHERE drains > 0
 ORDER BY run_id, batch_number, cause_number;
