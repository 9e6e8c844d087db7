# SPDX-License-Identifier: GPL-2.0-only
# What a program says of its pages, and does to them: madvise, mlock, fadvise, truncation, shared memory,
# splice. One limited group for each, in one recording. The floors leave room for what runs beside: on a
# quiet machine all shares are 100 %.
. "$TOP/tests/live/record.bash"
. "$TOP/tests/live/classes.bash"

[[ $(uname -r) == 6.18* ]] || skip "only the rules of 6.18 are held against a live kernel; this is $(uname -r)"
[[ $(stat -f -c %T .) == tmpfs ]] && skip "$PWD is tmpfs, which has no page cache events: set TMPDIR"
[[ -n $(memcg_mount) ]] || skip "no memory cgroup is mounted"
grep -qs '0x.*[13579bdf]$' /sys/kernel/mm/lru_gen/enabled && skip "this kernel runs MGLRU"
[[ $(wc -l </proc/swaps) == 1 ]] || skip "something is swapped to already"
for event in exceptions/page_fault_user syscalls/sys_enter_madvise; do
	[[ -d /sys/kernel/tracing/events/$event ]] || skip "no $event on this machine"
done

"$BIN/random_read" --file data.a --file-size 32M --prepare >/dev/null || fail "no file to read"
declare -A floor=([isolation]=95 [victim]=97 [refault_verdict]=90 [insertion_list]=97)
for attempt in 1 2; do
	low=
	class_record advice advice.lrt || fail "recording ended with status $?"
	"$LRUTAPE" check --json advice.lrt >advice.json 2>/dev/null || fail "check ended with status $?"
	for kind in $advice_kinds; do
		decided_kinds=
		while read -r decision equal decided share; do
			least=${floor[$decision]:-}
			[[ -n $least ]] || continue
			echo "$kind: $decision: $equal of $decided equal, $share %"
			decided_kinds+=" $decision"
			awk -v a="$share" -v b="$least" 'BEGIN { exit !(a < b) }' &&
				low="$kind: $decision: $share %, the floor is $least %"
		done < <(class_shares advice.json "$kind")
		for decision in "${!floor[@]}"; do
			[[ " $decided_kinds " == *" $decision "* ]] || low="$kind: nothing decided of $decision"
		done
	done
	[[ -z $low ]] && break
	((attempt == 2)) && fail "$low, in both attempts"
	echo "tried again: $low"
done
