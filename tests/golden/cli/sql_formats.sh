# SPDX-License-Identifier: GPL-2.0-only
# free queries, tables and views by name, and the formats.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
"$LRUTAPE" sql sample.db "SELECT policy, memory_pages FROM run WHERE tape_id = 2 ORDER BY 1, 2"
"$LRUTAPE" sql sample.db v_pair
"$LRUTAPE" sql --csv sample.db "SELECT command, nr_lost, NULL AS absent, 0.1 FROM tape;"
"$LRUTAPE" sql --json sample.db "SELECT command, nr_lost, NULL AS absent, x'00ff' AS bytes FROM tape -- end"
"$LRUTAPE" sql --json sample.db "SELECT * FROM tape WHERE 0"
"$LRUTAPE" sql --json sample.db runs | head -n 2
