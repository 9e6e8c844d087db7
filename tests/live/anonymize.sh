# SPDX-License-Identifier: GPL-2.0-only
# A fresh recording of this machine, with all its names, against its copy.
. "$TOP/tests/live/record.bash"
[[ $(stat -f -c %T .) == tmpfs ]] && skip "$PWD is tmpfs, which has no page cache events: set TMPDIR"
[[ -n $(memcg_mount) ]] || skip "no memory cgroup is mounted"

"$BIN/random_read" --file data --file-size 96M --prepare || fail "random_read --prepare"
record -o reads.lrt --warm --warm-file data --memory 32M -- "$BIN/random_read" --file data --file-size 96M --reads 30000
((status == 0)) || fail "exit status $status"

. "$TOP/tests/golden/anonymize.bash"
"$LRUTAPE" anonymize -o copy.lrt reads.lrt || fail "the tape is not copied"
all_of reads.lrt copy.lrt
((status == 0)) || exit 1

# What is written, when and of which file must hang together in the copy as well.
record -o writes.lrt --memory 32M -- "$BIN/mixed_io" --file data --ops 20000 --write-percent 30
((status == 0)) || fail "exit status $status"
(($(count writes.lrt block_rq_complete) > 0)) || fail "no write was completed while it was recorded"
"$LRUTAPE" anonymize -o written.lrt writes.lrt || fail "the tape is not copied"
all_of writes.lrt written.lrt
((status == 0)) || exit 1

# Anonymous pages are known by their addresses, and by where they lie in swap.
. "$TOP/tests/live/classes.bash"
if [[ $(wc -l </proc/swaps) != 1 ]]; then
	echo "no swap is made: something is swapped to already"
	exit 0
fi
class_with_swap record -o swapped.lrt --memory 8M -- "$BIN/logged_touch" --anon-pages 8000 --touches 30000
(($(count swapped.lrt page_fault_user) > 0 && $(count swapped.lrt mm_vmscan_write_folio) > 0)) ||
	fail "nothing was swapped out while it was recorded"
"$LRUTAPE" anonymize -o hidden.lrt swapped.lrt || fail "the tape is not copied"
all_of swapped.lrt hidden.lrt
exit $status
