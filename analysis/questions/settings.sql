-- SPDX-License-Identifier: GPL-2.0-only
-- every setting of every run's policy and patches
SELECT run_id AS run, policy, name AS setting, value
  FROM v_setting
 ORDER BY run_id, name;
