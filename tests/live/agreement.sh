# SPDX-License-Identifier: GPL-2.0-only
# A real kernel's decisions against ours, a floor per class of workload. The floors leave room for what
# runs beside; scripts/agreement shows the strict figures.
. "$TOP/tests/live/record.bash"

reason=$(why_no_tracing)
[[ -z $reason ]] || skip "$reason"
[[ $(uname -r) == 6.18* ]] || skip "only the rules of 6.18 are held against a live kernel; this is $(uname -r)"
[[ $(stat -f -c %T .) == tmpfs ]] && skip "$PWD is tmpfs, which has no page cache events: set TMPDIR"
[[ -n $(memcg_mount) ]] || skip "no memory cgroup is mounted"
grep -qs '0x.*[13579bdf]$' /sys/kernel/mm/lru_gen/enabled && skip "this kernel runs MGLRU"

. "$TOP/tests/live/classes.bash"

declare -A floor=(
	[random_reads]="victim 99 refault_verdict 99 isolate_request 98"
	[two_groups]="victim 97 refault_verdict 98"
	[taken_from]="victim 97 refault_verdict 97 reclaim_stop 97"
	[sequential]="victim 97 isolate_request 97"
	[reads_and_writes]="victim 97 refault_verdict 97"
	[grep]="victim 97 refault_verdict 97"
	[git_grep]="victim 97 refault_verdict 97"
	[compile]="victim 95 refault_verdict 97"
	[sqlite]="victim 95 refault_verdict 97"
	[anon_swap]="isolation 97 refault_verdict 95"
	[mapped]="isolation 97 refault_verdict 95"
)
class_files || fail "the workload's files cannot be made"
for class in random_reads two_groups taken_from sequential reads_and_writes grep git_grep compile sqlite anon_swap mapped; do
	if [[ $class == @(anon_swap|mapped) && $(wc -l </proc/swaps) != 1 ]]; then
		echo "$class: left out, something is swapped to already"
		continue
	fi
	for attempt in 1 2; do
		low=
		class_record "$class" "$class.lrt" || fail "$class: recording ended with status $?"
		while read -r decision equal decided share; do
			echo "$class: $decision: $equal of $decided equal, $share %"
			least=$(sed -n "s/.*\b$decision \([0-9]*\).*/\1/p" <<<"${floor[$class]}")
			[[ -z $least ]] && continue
			((decided > 0)) || low="$class: nothing decided of $decision"
			awk -v a="$share" -v b="$least" 'BEGIN { exit !(a < b) }' &&
				low="$class: $decision: $share %, the floor is $least %"
		done < <(class_shares "$class.lrt")
		if [[ $class == mapped ]]; then
			while read -r kind word right told share hidden; do
				[[ $word == @(old|young|around) ]] || continue
				echo "$class: $kind $word: $right of $told right, $share %; in a TLB all the same: $hidden"
				[[ $word == old ]] && ((100 * (right + hidden) < 98 * told)) &&
					low="$class: $kind pages found old: $share % are right, of $told the TLB hid $hidden; the floor is 98 %"
			done < <(class_verdicts "$class.lrt")
		fi
		[[ -z $low ]] && break
		((attempt == 2)) && fail "$low, in both attempts"
		echo "tried again: $low"
	done
done
