# SPDX-License-Identifier: GPL-2.0-only
# every named question.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
for question in runs settings counters locks drains agreement misses_by_memory refaults_over_time; do
	echo "-- $question"
	"$LRUTAPE" sql sample.db "$question" || exit
done
