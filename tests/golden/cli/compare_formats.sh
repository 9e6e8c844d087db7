# SPDX-License-Identifier: GPL-2.0-only
# compare as CSV and JSON: every number, also those that are equal.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
"$LRUTAPE" compare --csv --tape 1 sample.db
"$LRUTAPE" compare --json --memory 128M sample.db
