# SPDX-License-Identifier: GPL-2.0-only
# What a recorder leaves that was killed, the next one removes and says so.
. "$TOP/tests/live/record.bash"

mount=$(memcg_mount)
memory=()
[[ -n $mount ]] && memory=(--memory 64M)

start_record -o killed.lrt "${memory[@]}" -- bash -c 'echo $$ >command.pid; exec sleep 60'
wait_until 20 test -s command.pid || fail "the command does not start"
killed=$recorder
command=$(<command.pid)
kill -9 "$killed"
wait "$killed" 2>/dev/null
[[ -d $instances/lrutape-$killed ]] || fail "nothing was left behind: this test tests nothing"

# The command still runs in its group: that stays, the instance goes.
record -o next.lrt -- true
((status == 0)) || fail "exit status $status with leftovers around"
[[ -e $instances/lrutape-$killed ]] && fail "the instance of the killed recorder is still there"
said "lrutape-$killed: left by recorder $killed, which is gone: removed" || fail "it does not say what it removed"
if [[ -n $mount ]]; then
	[[ -d $mount/lrutape-$killed ]] || fail "a group with a running process is gone"
	kill -0 "$command" || fail "the running command was harmed"
	said 'still in it: 1 process;' || fail "it does not tell of the group"
fi
kill -9 "$command"
wait_until 5 bash -c "! kill -0 $command 2>/dev/null"

record -o last.lrt -- true
((status == 0)) || fail "exit status $status"
[[ -n $mount && -e $mount/lrutape-$killed ]] && fail "the group of the killed recorder is still there"
exit 0
