# SPDX-License-Identifier: GPL-2.0-only
# A task made by CLONE_INTO_CGROUP has no attach event: the recorder looks its memcg up and says so.
. "$TOP/tests/live/record.bash"

v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[[ -n $v2 ]] || skip "no cgroup2 is mounted"
[[ -n $(memcg_mount) ]] || skip "no memory cgroup is mounted"
group=$v2/lrutape-$$
trap 'rmdir "$group"' EXIT
mkdir "$group" || skip "cannot make a cgroup in $v2"
# With the memory controller there, the child's memcg is the new group; else (v1) it is its parent's.
[[ $(memcg_mount) != "$v2" || -f $group/memory.current ]] || echo +memory >"$v2/cgroup.subtree_control"

record -o clone.lrt -- "$BIN/clone_into" "$group" 3
((status == 77)) && skip "this kernel has no CLONE_INTO_CGROUP (5.7)"
((status == 0)) || fail "exit status $status"
verified clone.lrt
child=$(<printed)
"$LRUTAPE" dump --event lrutape:task_memcg clone.lrt >told
cat told
line=$(grep " pid=$child " told) || fail "nothing is told of process $child"
id=${line##* memcg=}
id=${id%% *}
((id > 0)) || fail "its memcg was not found: $line"
if [[ -f $group/memory.current ]]; then
	((id == $(stat -c %i "$group"))) || fail "memcg $id, expected that of $group"
else
	"$LRUTAPE" dump --blob lrutape/tasks --moment start clone.lrt | grep -q "^$recorder [0-9]* $id " ||
		fail "memcg $id is not that of its parents"
fi
# It stands between its newtask and its fork event.
"$LRUTAPE" dump clone.lrt | grep -E "task_newtask: pid=$child |task_memcg: pid=$child |child_pid=$child" |
	sed 's/.*: \([a-z_]*\): .*/\1/' | tr '\n' ' ' | grep -q '^task_newtask task_memcg sched_process_fork ' ||
	fail "its events stand in another order"
