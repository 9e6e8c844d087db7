-- SPDX-License-Identifier: GPL-2.0-only
-- which runs there are: policy, tape, memory
SELECT run_id AS run, tape, policy, memory_pages, memory_mib, seed, accesses
  FROM v_run
 ORDER BY run_id;
