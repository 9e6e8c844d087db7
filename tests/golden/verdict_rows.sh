#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What check says of a bundled tape with swap: decisions, drifts, and verdicts on mapped pages by word, outcome,
# kind and trust. Random touches of a file and of anonymous memory under 6 MiB, by
#     lrutape record --memory 6M -- logged_touch --file data --file-pages 300 --anon-pages 3600 \
#         --touches 8000 --file-percent 20 --neighbour
# with a swap file of 256 MiB, anonymized. UPDATE_GOLDEN=1 (`make golden`) rewrites the rows.
set -eu
cd "$TOP/tests/golden"
tape=tapes/v1/mapped-swap-6.18.lrt

"$LRUTAPE" check --json --verdicts "$TEST_TMP/verdicts.csv" "$tape" | python3 -c '
import json, sys
checked = json.load(sys.stdin)
for row in checked["decisions"]:
    if row["memcg"] == checked["command_memcg"]:
        print("decision", row["decision"], row["decided"], row["equal"], sep=",")
for drift in checked["drifts"]:
    print("drift", drift["lists"], drift["isolations"], drift["equal"], sep=",")
for undecided in checked["undecided"]:
    print("undecided", undecided["what"], undecided["count"], "", sep=",")' >"$TEST_TMP/rows.csv"
cut -d, -f1-3,5 "$TEST_TMP/verdicts.csv" | tail -n +2 | tr , ' ' | sort | uniq -c |
	awk '{ printf "verdict,%s %s %s %s,%d,\n", $2, $3, $4, $5, $1 }' >>"$TEST_TMP/rows.csv"
if [[ -n ${UPDATE_GOLDEN:-} ]]; then
	cp "$TEST_TMP/rows.csv" verdicts.csv
fi
diff -u verdicts.csv "$TEST_TMP/rows.csv"
