-- SPDX-License-Identifier: GPL-2.0-only
-- how many of the kernel's recorded decisions were predicted, by tape and kind
SELECT tape, decision, decided, equal, decided - equal AS unequal,
       equal * 100000 / nullif(decided, 0) / 1000.0 AS equal_percent, -- rounded down
       round((first_mismatch_ns - first_ns) / 1e9, 6) AS first_mismatch_seconds
  FROM v_agreement
  JOIN (SELECT tape_id, first_ns FROM v_tape) USING (tape_id)
 WHERE memcg_id IS NULL
 ORDER BY tape_id, decision;
