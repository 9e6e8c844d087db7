# SPDX-License-Identifier: GPL-2.0-only
# compare's choices: run numbers, names, one tape, one memory size, lines that are equal or zero.
sample=$BIN/tests/unit/replay/test_results_sample
[ -x "$sample" ] || { echo "the sample maker is not built"; exit 77; }
cd "$TEST_TMP" && "$sample" sample.db || exit 1
run() {
	echo "\$ lrutape compare $*"
	"$LRUTAPE" compare "$@" 2>&1
	echo "[status $?]"
}
run sample.db opt classic
run sample.db 3 7
run sample.db 1 3
run --tape pread.lrt --memory 128M sample.db
run --all --tape 2 --memory 67108864 sample.db
