-- SPDX-License-Identifier: GPL-2.0-only
-- which decisions were not predicted, by tape, memcg and kind, and what stands before them on the tape
SELECT tape, memcg, decision, cause, count, percent_of_decided, meaning
  FROM v_disagreement
 WHERE memcg_id IS NOT NULL
 ORDER BY tape_id, memcg, decision, number;
