# SPDX-License-Identifier: GPL-2.0-only
# What dump prints of the tapes that every version must read.
cd "$TOP/tests/golden/tapes/v1" || exit 1
run() {
	echo "\$ lrutape dump $*"
	"$LRUTAPE" dump "$@" 2>&1
	echo "[status $?]"
}
run example.lrt
run --json example.lrt
run --limit 1 example.lrt
run --blobs example.lrt
run --json --blobs example.lrt
run --blob lrutape/release example.lrt
run --blob lrutape/release --moment end example.lrt
run --blob lrutape/release --moment 0 example.lrt
run --blob nosuch example.lrt
run --event mm_lru_activate --limit 1 example.lrt
run --event pagemap:mm_lru_activate --limit 1 example.lrt
run --event mm_lru_insertion example.lrt
run --event all --limit 3 mixed.lrt
run --event sched_process_fork --json mixed.lrt
run --event sched:sched_process_fork --event mm_lru_activate mixed.lrt
echo "all of mixed.lrt:"
"$LRUTAPE" dump mixed.lrt | cksum
"$LRUTAPE" dump --json mixed.lrt | cksum
