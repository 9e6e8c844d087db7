# SPDX-License-Identifier: GPL-2.0-only
# What the program says before any command: which there are, its version, and of one that is not there.
run() {
	echo "\$ lrutape $*"
	"$LRUTAPE" "$@" 2>&1
	echo "[status $?]"
}
run help
run --version
run
run nothing --help
