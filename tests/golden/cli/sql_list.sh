# SPDX-License-Identifier: GPL-2.0-only
# sql without a question lists what can be asked.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
"$LRUTAPE" sql sample.db
