# SPDX-License-Identifier: GPL-2.0-only
# An existing cgroup, processes while they live, the whole machine: how long, what snapshots, what is told.
. "$TOP/tests/live/record.bash"

blob() { # tape name [moment]
	"$LRUTAPE" dump --blob "$2" --moment "${3:-start}" "$1"
}

mount=$(memcg_mount)
[[ -n $mount ]] || skip "no memory cgroup is mounted"
base=$mount/lrutape-$$
members=()
cleanup() {
	((${#members[@]})) && kill -9 "${members[@]}" 2>/dev/null
	wait "${members[@]}" 2>/dev/null
	for group in "$base/below" "$base"; do
		for _ in {1..50}; do
			[[ ! -d $group ]] || rmdir "$group" 2>/dev/null && break
			sleep 0.05
		done
	done
}
trap cleanup EXIT
mkdir "$base" "$base/below" || skip "cannot make a cgroup in $mount"
limit=memory.limit_in_bytes
[[ -f $base/$limit ]] || limit=memory.max
[[ -f $base/$limit ]] || skip "the memory controller is not enabled in $mount"
echo 40M >"$base/$limit"

# A cgroup, by its path in the hierarchy, until SIGINT.
start_record -o group.lrt --cgroup "/lrutape-$$"
wait_until 20 is_tracing || fail "no tracing"
"$BIN/anon_churn" --threads 1 --loops 1 --size 1 >/dev/null
kill -s INT "$recorder"
end_record
((status == 0)) || fail "cgroup: exit status $status"
verified group.lrt
[[ $(blob group.lrt lrutape/what) == "cgroup /lrutape-$$" ]] || fail "it does not tell what was recorded"
[[ $(blob group.lrt lrutape/memcg) == "$(stat -c %i "$base") /lrutape-$$ $((40 << 20))" ]] ||
	fail "memcg: $(blob group.lrt lrutape/memcg)"
blob group.lrt "$base/memory.stat" | grep -q . || fail "memory.stat of the group is not there"
blob group.lrt "$base/below/memory.stat" end | grep -q . || fail "memory.stat of the group below is not there"
[[ -d $base ]] || fail "the group was removed"
"$LRUTAPE" info --json group.lrt | grep -q '"start":"unseen"' || fail "its pages from before are not told of"

# By its directory, with a command beside it, which is not moved into the group.
record -o group.lrt --cgroup "$base" -- bash -c 'grep memory /proc/self/cgroup; grep "^0::" /proc/self/cgroup; true'
((status == 0)) || fail "cgroup with a command: exit status $status"
grep -q "lrutape-$$" printed && fail "the command was moved into the group"
record -o none.lrt --cgroup /no/such/group
((status == 1)) && said 'no such memory cgroup' || fail "an unknown cgroup: exit status $status"
[[ -e none.lrt ]] && fail "none.lrt is left"

# Processes, until the last one ends.
sleep 1.5 & members+=($!)
bash -c 'echo $$ >"$1/cgroup.procs"; exec sleep 0.5' - "$base" & members+=($!)
sleep 0.1
begin=${EPOCHREALTIME/./}
record -o pids.lrt --pid "${members[0]},${members[1]}"
took=$((${EPOCHREALTIME/./} - begin))
((status == 0)) || fail "pid: exit status $status"
((took > 1000000)) || fail "the recording did not wait for the last process: $took us"
verified pids.lrt
[[ $(blob pids.lrt lrutape/what) == "pid ${members[0]} ${members[1]}" ]] || fail "what: $(blob pids.lrt lrutape/what)"
blob pids.lrt "/proc/${members[0]}/maps" | grep -q sleep || fail "its mappings are not there"
blob pids.lrt "$base/memory.stat" | grep -q . || fail "memory.stat of a process's group is not there"
record -o none.lrt --pid "${members[0]}"
((status == 1)) && said 'no such process' || fail "a process that is gone: exit status $status"
members=()

# The whole machine, with counters in between.
record -o all.lrt --all --duration 1.2 --snapshot-every 0.25
((status == 0)) || fail "all: exit status $status"
verified all.lrt
at_least "snapshots between" "$("$LRUTAPE" dump --blobs all.lrt | grep -c '^[1-9][0-9]* .* /proc/vmstat$')" 3
blob all.lrt "$base/memory.stat" 2 | grep -q . || fail "cgroups are not in the snapshots between"

# A swap limit beside the memory limit.
if [[ -f $mount/memory.memsw.limit_in_bytes || -f $base/memory.swap.max ]]; then
	record -o swap.lrt --memory 64M --swap 16M -- true
	((status == 0)) || fail "swap: exit status $status"
	file=$mount/lrutape-$recorder/memory.memsw.limit_in_bytes want=$((80 << 20))
	[[ -f $mount/memory.memsw.limit_in_bytes ]] || file=$mount/lrutape-$recorder/memory.swap.max want=$((16 << 20))
	[[ $(blob swap.lrt "$file") == "$want" ]] || fail "swap limit: $(blob swap.lrt "$file"), expected $want"
else
	echo "not tried: --swap (this kernel does not account swap)"
fi
exit 0
