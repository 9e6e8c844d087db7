-- SPDX-License-Identifier: GPL-2.0-only
-- what a patch changed in each counter, and how far that spreads over perturbed runs: seen, or noise
SELECT tape, memory_pages, patch, name, difference, spread_low, spread_high, pairs, seen
  FROM v_noise JOIN v_tape USING (tape_id)
 WHERE spread_low <> 0 OR spread_high <> 0
 ORDER BY tape_id, memory_pages, patch, number;
