-- SPDX-License-Identifier: GPL-2.0-only
-- what lru_add() cost natively in each run, measured: ns by folio and by hold, with the middle half
SELECT run_id AS run, policy, round(folios_per_hold, 1) AS folios_per_hold,
       round(ns_per_folio, 2) AS ns_per_folio,
       round(ns_per_folio_low, 2) || '..' || round(ns_per_folio_high, 2) AS middle_half,
       round(ns_per_hold, 1) AS ns_per_hold,
       round(ns_per_hold_low, 1) || '..' || round(ns_per_hold_high, 1) AS middle_half_hold,
       round(saturated_holds_per_second) AS saturated_holds_per_second, repeats, host
  FROM v_cost
 ORDER BY run_id;
