# SPDX-License-Identifier: GPL-2.0-only
# compare without names: a patch and its base, a block for each tape and memory size.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
"$LRUTAPE" compare sample.db
