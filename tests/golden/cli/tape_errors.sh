# SPDX-License-Identifier: GPL-2.0-only
# Bad tapes and bad options: what dump, info and verify say, and how they end.
cd "$TOP/tests/golden/tapes/bad" || exit 1
run() {
	echo "\$ lrutape $*"
	"$LRUTAPE" "$@" 2>&1 >"$TEST_TMP/out"
	echo "[status $?, $(wc -l <"$TEST_TMP/out") lines]"
}
for tape in *.lrt; do
	run dump "$tape"
	run info "$tape"
	run verify "$tape"
done
run dump nosuch.lrt
run info .
run verify /dev/null
run verify ../../cli/tape_errors.sh
: >"$TEST_TMP/empty.lrt"
cd "$TEST_TMP" || exit 1
run dump empty.lrt
tape=$TOP/tests/golden/tapes/v1/example.lrt
cp "$tape" .
run dump
run dump example.lrt example.lrt
run dump --limit 0 example.lrt
run dump --limit x example.lrt
run dump --moment never example.lrt
run dump --nosuch example.lrt
run info
run info --nosuch example.lrt
run verify
run verify --nosuch example.lrt
echo '$ lrutape dump example.lrt >/dev/full'
"$LRUTAPE" dump example.lrt 2>&1 >/dev/full
echo "[status $?]"
