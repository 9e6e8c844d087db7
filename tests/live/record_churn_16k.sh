# SPDX-License-Identifier: GPL-2.0-only
# Anonymous memory in 16 kB folios: each folio's allocation, insertion and free is there, and the patch that
# lets them wait in lru_add takes the lock a fraction as often. All of them together are more than the limit.
. "$TOP/tests/live/record.bash"

setting=/sys/kernel/mm/transparent_hugepage/hugepages-16kB
[[ -f $setting/enabled ]] || skip "this kernel has no 16 kB folios for anonymous memory"
# Opened for writing, and nothing written: a container's /sys may be read-only, even for root.
{ : >>$setting/enabled; } 2>/dev/null || skip "$setting/enabled cannot be written here"
before=$(cat "$setting/../hugepages-"*"kB/enabled")
nr_folios=$((4 * 5 * 1024))

for attempt in 1 2; do
	faults=$(<$setting/stats/anon_fault_alloc)
	record -o churn.lrt --memory 256M -- "$BIN/anon_churn" --thp-16k --threads 4 --loops 5
	((status == 0)) || fail "exit status $status"
	faults=$(($(<$setting/stats/anon_fault_alloc) - faults))
	said 'no events lost' && ((faults >= nr_folios)) && break
	((attempt == 2)) && fail "events lost, or no 16 kB folios to be had, in both attempts"
	echo "tried again: $faults of $nr_folios folios were 16 kB; $(grep -i lost said)"
done
cat said printed
verified churn.lrt
[[ $(cat "$setting/../hugepages-"*"kB/enabled") == "$before" ]] || fail "the THP settings have changed"

"$LRUTAPE" dump churn.lrt >text
at_least "allocations of order 2" "$(grep ' mm_page_alloc: ' text | grep -c 'order=2')" $nr_folios
at_least "frees of order 2" "$(grep ' mm_page_free: ' text | grep -c 'order=2')" $nr_folios
at_least "insertions" "$(grep -c ' mm_lru_insertion: ' text)" $nr_folios
grep -q 'mm_page_free: .*order=0' text && fail "a free of order 0 passed the default filter"

"$LRUTAPE" replay churn.lrt --policy classic --policy classic+large_folio_lru_cache -o churn.db
holds() { # policy
	"$LRUTAPE" sql --csv churn.db "SELECT holds FROM v_lock JOIN v_run USING (run_id)
		WHERE policy = '$1' AND memcg = 'together' AND site = 'all'" | tail -n 1 | tr -d '\r'
}
unpatched=$(holds classic) patched=$(holds classic+large_folio_lru_cache)
echo "lock holds: $unpatched, patched $patched"
((patched > 0 && unpatched >= 8 * patched)) || fail "the patch saves fewer holds than that"
exit 0
