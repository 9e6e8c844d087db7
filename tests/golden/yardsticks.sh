#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the yardsticks count over recorded tapes, as yardsticks.csv has it. On imported streams their
# numbers are facts: see oracle.sh. UPDATE_GOLDEN=1 (`make golden`) rewrites it.
set -eu
cd "$TOP/tests/golden"
policies=(--policy opt --policy lru --policy clock --policy fifo)

for tape in pread-6.18.lrt pread-6.18-text.lrt; do
	"$LRUTAPE" replay "${policies[@]}" --memory 50%,100% -o "$TEST_TMP/rows.db" "tapes/v1/$tape" 2>/dev/null
	"$LRUTAPE" sql --csv "$TEST_TMP/rows.db" "
		SELECT tape, memory_pages, policy, name, value FROM v_counter_total JOIN v_run USING (run_id)
		WHERE name IN ('accesses', 'misses', 'pgscan_file', 'pgsteal_file', 'workingset_refault_file')
		ORDER BY 1, 2, 3, 4" | tr -d '\r'
done | awk 'NR == 1 || !/^tape,/' >"$TEST_TMP/yardsticks.csv"
if [[ -n ${UPDATE_GOLDEN:-} ]]; then
	cp "$TEST_TMP/yardsticks.csv" .
fi
diff -u yardsticks.csv "$TEST_TMP/yardsticks.csv"
