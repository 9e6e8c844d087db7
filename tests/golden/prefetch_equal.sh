#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# prefetch and batch_counters change no decision: over every bundled tape each counter, lock hold and drain is that of
# the policy without them.
set -eu
cd "$TEST_TMP"
nr=0
counted=0
for tape in "$TOP"/tests/golden/tapes/v1/*.lrt; do
	"$LRUTAPE" replay --policy lru_gen --policy lru_gen+prefetch --policy lru_gen+batch_counters -o runs.db "$tape" 2>said ||
		{ cat said; exit 1; }
	read -r runs rows differing < <(sqlite3 -separator ' ' runs.db "
		WITH said AS (
			SELECT run_id, 'counter ' || memcg_id || ' ' || name AS what, value FROM counter
			UNION ALL SELECT run_id, 'holds ' || memcg_id || ' ' || site, holds FROM lock_hold
			UNION ALL SELECT run_id, 'drains ' || batch || ' ' || cause, drains FROM drain)
		SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM said WHERE run_id = 1),
			(SELECT count(*) FROM (SELECT what, value FROM said GROUP BY what, value HAVING count(*) != 3))")
	[[ $runs == 3 && $differing == 0 ]] || { echo "${tape##*/}: $runs runs, $differing rows differ"; exit 1; }
	nr=$((nr + 1)) counted=$((counted + rows))
done
echo "$nr tapes, $counted rows"
((nr > 20 && counted > 500))
