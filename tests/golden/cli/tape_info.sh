# SPDX-License-Identifier: GPL-2.0-only
# What info and verify say of whole tapes.
cd "$TOP/tests/golden/tapes/v1" || exit 1
run() {
	echo "\$ lrutape $*"
	"$LRUTAPE" "$@" 2>&1
	echo "[status $?]"
}
run info example.lrt
run info --json example.lrt
run info mixed.lrt
run verify example.lrt mixed.lrt
