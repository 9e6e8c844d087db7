#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every counter of every policy over the bundled tapes, and how far check agrees with the kernel on
# them, row by row as results.csv and agreement.csv have it. A row never moves unexplained.
# UPDATE_GOLDEN=1 (`make golden`) rewrites both.
set -eu
cd "$TOP/tests/golden"
policies=(--policy classic --policy classic+large_folio_lru_cache)

rows() { # of one tape; its name stands in each row
	"$LRUTAPE" replay "${policies[@]}" "${@:2}" -o "$TEST_TMP/rows.db" "tapes/v1/$1" 2>/dev/null
	"$LRUTAPE" sql --csv "$TEST_TMP/rows.db" "
		SELECT tape, policy, memory_pages, 'counter' AS kind, name, value AS number, NULL AS folios
		  FROM v_counter_total JOIN v_run USING (run_id)
		UNION ALL
		SELECT tape, policy, memory_pages, 'lock', site, holds, folios
		  FROM v_lock_total JOIN v_run USING (run_id)
		UNION ALL
		SELECT tape, policy, memory_pages, 'drain', batch || ', ' || cause, drains, folios
		  FROM v_drain JOIN v_run USING (run_id)
		UNION ALL
		SELECT tape, policy, memory_pages, 'inferred', rule, count, NULL
		  FROM inferred JOIN v_run USING (run_id)
		ORDER BY 1, 3, 2, 4, 5" | tr -d '\r'
	"$LRUTAPE" sql --csv "$TEST_TMP/rows.db" "
		SELECT tape, memcg, decision, decided, equal FROM v_agreement WHERE memcg_id IS NOT NULL
		ORDER BY 1, 2, 3" | tr -d '\r' >>"$TEST_TMP/agreement.csv"
}

: >"$TEST_TMP/agreement.csv"
rows pread-6.18.lrt --memory 50%,100% >"$TEST_TMP/results.csv"
rows pread-6.18-text.lrt --memory 100% | tail -n +2 >>"$TEST_TMP/results.csv"
rows churn-mthp-6.18.lrt | tail -n +2 >>"$TEST_TMP/results.csv"
# By the rules of their own releases; 6.1 has no reads on its tapes.
policies=(--policy classic)
for series in 6.1 6.12; do
	rows vm-$series-classic-pread.lrt | tail -n +2 >>"$TEST_TMP/results.csv"
done
rows vm-6.12-classic-kswapd.lrt | tail -n +2 >>"$TEST_TMP/results.csv"
rows vm-6.12-classic-asked.lrt | tail -n +2 >>"$TEST_TMP/results.csv"
rows vm-6.12-classic-touches.lrt | tail -n +2 >>"$TEST_TMP/results.csv"
# With a probe on folio_referenced(): one event a look, and two.
for series in 6.12 6.1; do
	rows vm-$series-classic-told.lrt | tail -n +2 >>"$TEST_TMP/results.csv"
done
if [[ -n ${UPDATE_GOLDEN:-} ]]; then
	cp "$TEST_TMP/results.csv" "$TEST_TMP/agreement.csv" .
fi
diff -u results.csv "$TEST_TMP/results.csv"
diff -u agreement.csv "$TEST_TMP/agreement.csv"
