#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a replay says of a memory size that was not recorded, against a recording at that size. One
# program was recorded twice on one kernel: a file of 60 MiB read four times by cat, at 96 MiB, where
# it fits, and at 48 MiB, where it does not. The replay sees the first recording only; the second
# one's own counter, of the kernel, says what is right.
set -eu
cd "$TOP/tests/golden/tapes/v1"

stat=$("$LRUTAPE" dump --blobs cat-48m-6.18.lrt | awk '$4 ~ "/p[0-9a-f]*/memory.stat$" { print $4; exit }')
kernel=$("$LRUTAPE" dump --blob "$stat" --moment end cat-48m-6.18.lrt |
	awk '$1 == "workingset_refault_file" { print $2 }')
"$LRUTAPE" replay --memory 96M,48M -o "$TEST_TMP/sizes.db" cat-96m-6.18.lrt
value() { # run counter
	"$LRUTAPE" sql --csv "$TEST_TMP/sizes.db" "
		SELECT value FROM v_counter_total WHERE run_id = $1 AND name = '$2'" | tail -n 1 | tr -d '\r'
}
printf 'refaults: %s at 96M; %s at 48M, %s by the kernel\n' "$(value 1 workingset_refault_file)" \
	"$(value 2 workingset_refault_file)" "$kernel"
[[ $kernel -gt 40000 ]]
[[ $(value 1 workingset_refault_file) -eq 0 ]]
[[ $(value 2 workingset_refault_file) -eq $kernel ]]
# Brought in by windows, as the kernel does, not page by page as they are missed.
[[ $(value 2 misses) -lt 1000 && $(value 2 readahead) -gt 50000 ]]
