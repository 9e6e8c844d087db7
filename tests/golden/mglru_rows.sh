#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What check finds on tapes of kernels that ran MGLRU, row by row as mglru.csv has it. mglru-* come from
# traces that hold lru_gen_full between their events (tests/oracle/mglru_tape.c), vm-* are by our recorder.
# UPDATE_GOLDEN=1 rewrites the rows.
set -eu
cd "$TOP/tests/golden"
echo "tape,memcg,decision,decided,equal" >"$TEST_TMP/mglru.csv"
for tape in tapes/v1/mglru-*.lrt tapes/v1/vm-*-mglru-*.lrt; do
	"$LRUTAPE" check -o "$TEST_TMP/rows.db" "$tape" >/dev/null
	"$LRUTAPE" sql --csv "$TEST_TMP/rows.db" "
		SELECT tape, memcg, decision, decided, equal FROM v_agreement WHERE memcg_id IS NOT NULL
		ORDER BY 1, 2, 3" | tr -d '\r' | tail -n +2 >>"$TEST_TMP/mglru.csv"
done
# The same kernels free-running: what lru_gen counts at the recorded limit, and what memory.stat says.
echo "tape,counter,kernel,replay" >"$TEST_TMP/mglru_free.csv"
for tape in tapes/v1/vm-*-mglru-*.lrt; do
	"$LRUTAPE" replay -o "$TEST_TMP/rows.db" "$tape" 2>/dev/null
	"$LRUTAPE" sql --csv "$TEST_TMP/rows.db" "
		SELECT tape, name, kernel, replay FROM v_accuracy JOIN v_run USING (run_id)
		WHERE (memcg LIKE '/lrutape-%' OR (memcg = '/' AND tape LIKE '%-global.lrt')) AND kernel ORDER BY number" | tr -d '\r' | tail -n +2 >>"$TEST_TMP/mglru_free.csv"
done
[[ -z ${UPDATE_GOLDEN:-} ]] || cp "$TEST_TMP/mglru.csv" "$TEST_TMP/mglru_free.csv" .
diff -u mglru_free.csv "$TEST_TMP/mglru_free.csv"
diff -u mglru.csv "$TEST_TMP/mglru.csv"
# Rows of the traces are equal, whatever the file says.
! awk -F, '/^mglru-/ && $4 != $5 { print "not equal: " $0; bad = 1 } END { exit !bad }' "$TEST_TMP/mglru.csv"
