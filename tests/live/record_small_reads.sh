# SPDX-License-Identifier: GPL-2.0-only
# Order-0 preads under a limit of 64 MiB: every read, every page in and out of the page cache is there.
. "$TOP/tests/live/record.bash"

nr_reads=100000
[[ $(stat -f -c %T .) == tmpfs ]] && skip "$PWD is tmpfs, which has no page cache events: set TMPDIR"
[[ -n $(memcg_mount) ]] || skip "no memory cgroup is mounted"
"$BIN/random_read" --file data --file-size 192M --prepare || fail "random_read --prepare"

for attempt in 1 2; do
	record -o reads.lrt --memory 64M -- "$BIN/random_read" --file data --file-size 192M --reads $nr_reads
	((status == 0)) || fail "exit status $status"
	said 'no events lost' && break
	((attempt == 2)) && fail "events lost in both attempts"
	echo "tried again: this machine was so busy that events were lost"
done
cat said printed
verified reads.lrt

"$LRUTAPE" dump reads.lrt | grep -w "i_ino=$(stat -c %i data)" >text
nr_added=$(grep -c ' mm_filemap_add_to_page_cache: ' text)
nr_deleted=$(grep -c ' mm_filemap_delete_from_page_cache: ' text)
nr_got=$(grep -c ' mm_filemap_get_pages: ' text)
((nr_got == nr_reads)) || fail "$nr_got reads seen of $nr_reads"
at_least "pages added" "$nr_added" $((nr_reads / 5))
at_least "pages deleted" "$nr_deleted" 1000
# 16,384 pages fit under the limit, and what came in beyond that went out again.
((nr_added - nr_deleted <= 16384)) || fail "$nr_added pages in, $nr_deleted out: more than fit"
at_least "reclaims" "$(count reads.lrt mm_vmscan_memcg_reclaim_begin)" 100
# The command entered its group while tracing was on, and never before.
"$LRUTAPE" dump reads.lrt | grep ' cgroup_attach_task: ' | grep -q "lrutape-$recorder" ||
	fail "the command is not seen to enter lrutape-$recorder"
# What the recorder does by itself is not there.
"$LRUTAPE" dump reads.lrt | grep -- "-$recorder .* mm_filemap_get_pages: " && fail "the recorder recorded itself"
bytes=$(sed -n 's/.* \([0-9]*\)\.[0-9]* bytes an event.*/\1/p' said)
((bytes < 6)) || fail "$bytes bytes an event, expected less than 6"
