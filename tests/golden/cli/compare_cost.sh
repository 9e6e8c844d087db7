# SPDX-License-Identifier: GPL-2.0-only
# compare with a measured cost: a difference that is seen, one below the spread, one side not measured,
# two that were not measured in turns.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db costs || exit 1
"$LRUTAPE" compare sample.db classic@5.6 classic@5.6+inline_evictable+mb_after_atomic
echo ---- below the spread
"$LRUTAPE" compare sample.db classic@5.6 classic@5.6+inline_evictable
echo ---- one side
"$LRUTAPE" compare sample.db 8 11
echo ---- csv
"$LRUTAPE" compare --csv sample.db 8 10 | grep -e ^tape -e ,cost,
echo ---- question
"$LRUTAPE" sql sample.db costs
