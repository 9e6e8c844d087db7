-- SPDX-License-Identifier: GPL-2.0-only
-- the first decisions that were not predicted, one by one
SELECT tape, seconds, memcg, decision, cause, predicted, recorded
  FROM v_mismatch
 ORDER BY tape_id, number;
